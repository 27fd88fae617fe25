#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`record` with real tracers: user space, since that works everywhere; every refusal where there is no kernel tracer.

babeltrace2 and `report events` count what was recorded; the commands printed by --dry-run are run with the real lttng.
"""
import collections
import contextlib
import fcntl
import glob
import json
import os
import re
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import cases
import sandbox

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "source"))
import processes  # noqa: E402

BUILD = os.environ["BUILD"]
EVENTS = "lttng_ust_trace*:*"
LEVEL = "lttng_ust_tracelog:LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO"

# In lttng-modules 2.13 and later (instrumentation/events, lttng-context-*.c), but not in the bundled recordings.
KNOWN_EVENTS = {"block_rq_requeue", "block_rq_merge", "block_split", "block_bio_remap", "block_rq_remap", "signal_generate",
                "signal_deliver"}
KNOWN_CONTEXTS = {"net_ns"}

TOP = os.path.abspath("lttngtop")
APP = os.path.abspath("ust_app")


def expected(*counts):
    """The events ust_app emits when called with each of these counts."""
    events = collections.Counter()
    for n in counts:
        events += collections.Counter({"lttng_ust_tracef:event": n, LEVEL: n // 2})
    return dict(events)


def babeltrace_counts(path):
    """Messages about the machine that 'record --live' itself emits, with the same provider, do not count."""
    text = subprocess.run(["babeltrace2", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    return dict(collections.Counter(re.match(r"\[\S+\] \(\S+\) (?:\S+ )?(lttng_ust\S+): ", line).group(1)
                                    for line in text.splitlines() if 'msg = "lttngtop.json ' not in line))


def count(path):
    return sum(babeltrace_counts(path).values())


def report_counts(path):
    text = subprocess.run([TOP, "report", "events", "--json", path], check=True, stdout=subprocess.PIPE).stdout
    counts = collections.Counter()
    for row in json.loads(text)["rows"]:
        counts[row["name"]] += row["count"]
    return dict(counts)


def check_counts(path, *counts):
    """Both readers find in a recording exactly what ust_app emitted."""
    for reader in (babeltrace_counts, report_counts):
        assert reader(path) == expected(*counts), f"{reader.__name__}: {reader(path)}, not {expected(*counts)}"


def check(result, status, out="", err=""):
    """A result of User.run(); out and err are patterns, '' means that there must be no output."""
    for what, pattern, text in (("stdout", out, result[1]), ("stderr", err, result[2])):
        assert re.search(pattern, text, re.S) if pattern else not text, f"{what} is not {pattern!r}: {result}"
    assert result[0] == status, f"status is not {status}: {result}"


@contextlib.contextmanager
def user(name, sessiond=False, path=None):
    u = sandbox.User(name, path)
    try:
        if sessiond:
            u.start_sessiond()
        yield u
    finally:
        u.end()


def test_command():
    """Without a daemon: one is started, and ended with the recording. The command's status and stdout are unchanged."""
    with user("command") as u:
        result = u.run(TOP, "record", "--ust", EVENTS, "--output", "o", "--", APP, "20000", "5")
        check(result, 5, "", rf"cost: {count(f'{u.home}/o')} events, \d+\.\d MB on disk, \d+\.\d{{3}} s of CPU by LTTng's "
              "consumer daemons(?: since they started)?\n"
              f"recorded into {u.home}/o\nview it: lttngtop {u.home}/o\n$")
        check_counts(f"{u.home}/o", 20000)
        assert not u.sessiond_pid(), "a session daemon is left"
        result = u.run(TOP, "record", "--ust", EVENTS, "--", "sh", "-c", "echo text; kill -9 $$")
        check(result, 128 + 9, "^text\n$", "recorded into")
        check(u.run(TOP, "record", "--ust", EVENTS, "--", "./nowhere"), 127, "", "cannot run './nowhere': not found")
        check(u.run(TOP, "record", "--ust", EVENTS, "--", u.home), 126, "", "not executable")
        os.mkdir(f"{u.home}/bin")
        touch(f"{u.home}/bin/plain")
        u.env["PATH"] += f":{u.home}/bin"
        check(u.run(TOP, "record", "--ust", EVENTS, "--", "plain"), 126, "", "cannot run 'plain': not executable")
        assert not u.sessiond_pid(), "a session daemon is left"


def test_limit_of_files():
    """The command has that of the caller, not the one that lttngtop gives itself."""
    with user("limit", sessiond=True) as u:
        check(u.run("sh", "-c", 'ulimit -S -n 200; exec "$@"', "sh", TOP, "record", "--ust", EVENTS, "--", "sh", "-c", "ulimit -S -n"), 0,
              "^200\n$", "recorded into")


def test_nothing_recorded():
    """No program has the events; and there is a recording of the same second."""
    with user("nothing") as u:
        check(u.run(TOP, "record", "--ust", "no_such:*", "--", "true"), 0, "",
              rf"recorded into {u.home}/lttng-traces/lttngtop-[\d-]+\nnothing was recorded: [^\n]*\n$")
        now = time.time()
        for second in range(60):
            name = time.strftime("lttngtop-%Y%m%d-%H%M%S", time.localtime(now + second))
            os.makedirs(f"{u.home}/lttng-traces/{name}/ust", exist_ok=True)
        check(u.run(TOP, "record", "--ust", EVENTS, "--", APP, "5"), 0, "",
              rf"recorded into {u.home}/lttng-traces/lttngtop-\d+-\d+-2\nview it: ")


def test_default_names():
    """Sessions started in the same second, with recordings elsewhere, have different names."""
    with user("default-names", sessiond=True) as u:
        now = time.time()
        taken = {time.strftime("lttngtop-%Y%m%d-%H%M%S", time.localtime(now + second)) for second in range(60)}
        for name in taken:
            assert u.run("lttng", "--no-sessiond", "create", name, f"--output={u.home}/o-{name}")[0] == 0
        check(u.run(TOP, "record", "--ust", EVENTS, "--output", "o"), 0, r"^session 'lttngtop-\d+-\d+-2' records into ")
        name = re.search(r"lttngtop-\d+-\d+-2", u.run(TOP, "record", "status")[1]).group(0)
        check(u.run(TOP, "record", "stop", name), 0, "stopped")
        # what is only printed depends on no session
        assert re.search("^lttng create (lttngtop-[0-9]+-[0-9]+) ", u.run(TOP, "record", "--ust", EVENTS, "--dry-run")[1]).group(1) in taken


def consumers(u):
    """The consumer daemons of its session daemon."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                name, fields = stat.read().rsplit(")", 1)
            if "lttng-consumerd" in name and int(fields.split()[1]) == u.sessiond_pid():
                found.append(int(pid))
    return found


def check_daemon_that_hangs(name, options, purpose, what):
    """Recording a command, while the consumer daemons are stopped: what it waits for, and says after ^C."""
    with user(name, sessiond=True) as u:
        record = u.start(TOP, "record", "--ust", EVENTS, "--session", "stuck", "--output", "o", *options, "--", "sleep", "1",
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        sandbox.wait_until(lambda: consumers(u), "consumer daemon")
        sandbox.wait_until(lambda: os.path.exists(f"{u.home}/o/lttngtop.json"), "recording")
        held = consumers(u)
        for pid in held:
            os.kill(pid, signal.SIGSTOP)
        try:
            line = ""
            while f"waiting for the session daemon to {purpose} session 'stuck'; ^C stops waiting" not in line:
                line = record.stderr.readline()
                assert line, "nothing is said"
            record.send_signal(signal.SIGINT)
            said = record.stderr.read()
            assert record.wait(sandbox.PATIENCE) == -signal.SIGINT, record.returncode
            assert re.search(what, said), said
        finally:
            for pid in held:
                os.kill(pid, signal.SIGCONT)
        result = u.run(TOP, "record", "status")
        # the daemon may have done what it was asked by then
        if "stuck" in result[1]:
            check(u.run(TOP, "record", "stop", "stuck"), 0, "session 'stuck' stopped")
        check(u.run(TOP, "record", "status"), 0, "^no sessions\n$")


def test_daemon_that_hangs():
    """It does not end the session: that is said, and ^C ends the wait."""
    check_daemon_that_hangs("hangs", [], "end", "session 'stuck' has not ended: .*'lttngtop record stop stuck'")


def test_snapshot_that_hangs():
    """The same for the snapshot after the command; the session is left alone."""
    check_daemon_that_hangs("hangs-too", ["--snapshot"], "take a snapshot of", "taking a snapshot of session 'stuck' into '.*': the session "
                            "daemon does not finish it: .*; the session still records: .*'lttngtop record stop stuck'\n$")


def test_interrupted_question():
    """Ctrl-C ends what only asks a session daemon that does not answer."""
    with user("silent") as u:
        u.start_sessiond()
        daemon = u.sessiond_pid()
        os.kill(daemon, signal.SIGSTOP)
        try:
            for words in (("status",), ("stop",), ("refresh", "x"), ("--ust", EVENTS), ("--ust", EVENTS, "--session", "x"),
                          ("--ust", EVENTS, "--session", "x", "--", "true")):
                asks = u.start(TOP, "record", *words, stderr=subprocess.DEVNULL)
                sandbox.wait_until(lambda pid=asks.pid: waits_for_daemon(pid), "a question")
                asks.send_signal(signal.SIGINT)
                assert asks.wait(sandbox.PATIENCE) == -signal.SIGINT, f"{words}: {asks.returncode}"
        finally:
            os.kill(daemon, signal.SIGCONT)


def waits_for_daemon(pid):
    """Whether it sleeps with a connection."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        sleeps = file.read().rpartition(")")[2].split()[0] == "S"
    links = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            links.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return sleeps and any(link.startswith("socket:") for link in links)


def hang_up(listener):
    with contextlib.suppress(OSError):
        while True:
            listener.accept()[0].close()


def answer_once(listener):
    with listener.accept()[0] as connection:
        listener.close()
        connection.recv(1)
        connection.send(b"0")


def test_refusals():
    """Missing things are reported, and nothing is left behind."""
    ust = ["record", "--ust", EVENTS]
    with user("refusals") as u:
        check(u.run(TOP, *ust, "--no-sessiond"), 1, "", "no session daemon is running: start one with 'lttng-sessiond --daemonize'")
        for verb in ("stop", "status", "snapshot"):
            check(u.run(TOP, "record", verb), 1, "", "no session daemon|root's session daemon is running, but")
        u.env["LTTNG_SESSIOND_PATH"] = "/nowhere/sessiond"
        check(u.run(TOP, *ust), 1, "", "no session daemon is running, and '/nowhere/sessiond' cannot be started")
        del u.env["LTTNG_SESSIOND_PATH"]
        if not os.path.exists("/var/run/lttng/client-lttng-sessiond"):
            check(u.run(TOP, "record"), 1, "", "only root and members of group 'tracing' can trace the kernel: .*"
                  "use sudo, or run 'sudo usermod -aG tracing")
        assert not u.sessiond_pid(), "a session daemon is left"

        u.start_sessiond()
        for verb in ("stop", "snapshot"):
            check(u.run(TOP, "record", verb), 1, "", "no session that 'lttngtop record' named was found")
            check(u.run(TOP, "record", verb, "x"), 1, "", "there is no session 'x'")
        check(u.run(TOP, "record", "status"), 0, "^no sessions\n$")
        check(u.run(TOP, *ust, "--session", "x"), 0, "session 'x' records into")
        check(u.run(TOP, *ust, "--session", "x"), 1, "", "session 'x' already exists")
        check(u.run(TOP, "record", "status"), 0, "^x: recording, [^\n]*lost 0 events 0 packets\n$")
        check(u.run(TOP, "record", "snapshot", "x"), 1, "", "session 'x' does not take snapshots")
        check(u.run(TOP, "record", "stop"), 1, "", "no session that 'lttngtop record' named was found")
        for name in ("lttngtop-1", "lttngtop-2"):
            check(u.run(TOP, *ust, "--session", name), 0, "stop it: lttngtop record stop")
        check(u.run(TOP, "record", "stop"), 1, "", r"more than one session \('lttngtop-1', 'lttngtop-2'\): give its name")
        check(u.run(TOP, "record", "status", "--session", "x"), 0, "^x: recording, [^\n]*\n$")
        check(u.run(TOP, "record", "stop", "--session", "no-such"), 1, "", "there is no session 'no-such'")
        check(u.run(TOP, "record", "stop", "--session", "lttngtop-2"), 0, "session 'lttngtop-2' stopped")
        for name in ("x", "lttngtop-1"):
            check(u.run(TOP, "record", "stop", name), 0, f"session '{name}' stopped")

        check(u.run(TOP, *ust, "--output", "."), 1, "", "directory '[^']*' is not empty")
        check(u.run(TOP, *ust, "--output", ".lttng/agent.port"), 1, "", "is not a directory")
        check(u.run(TOP, *ust, "--session", "x" * 254), 0, "stop it")
        check(u.run(TOP, "record", "stop", "x" * 254), 0, "stopped")
        check(u.run(TOP, *ust, "--session", "x" * 255), 2, "", "a session name has at most 254 bytes")
        assert u.run("lttng", "--no-sessiond", "create", "e\033]0;t\007", "--output", f"{u.home}/e")[0] == 0
        check(u.run(TOP, "record", "status"), 0, r"^e\\x1b\]0;t\\x07: stopped, ")
        assert u.run("lttng", "--no-sessiond", "destroy", "--all")[0] == 0
        assert u.run("lttng", "--no-sessiond", "create", "a b", "--output", f"{u.home}/a b")[0] == 0
        check(u.run(TOP, "record", "stop", "a b"), 0, "^session 'a b' stopped\n")
        check(u.run(TOP, "record", "stop", "a/b"), 2, "", "^lttngtop: 'a/b' is not a valid session name: no '/', ")
        check(u.run(TOP, *ust, "--output", "/proc/o"), 1, "", "^lttngtop: cannot create directory '/proc/o': ")
        with socket.socket() as deaf:  # bound, so that nobody else listens there
            deaf.bind(("127.0.0.1", 0))
            url = f"net://127.0.0.1:{deaf.getsockname()[1]}"
            check(u.run(TOP, *ust, "--live", url), 1, "", f"cannot reach relayd '{url}' from this machine: Connection refused")
        with socket.socket() as rude:  # accepts connections and hangs up
            rude.bind(("127.0.0.1", 0))
            rude.listen()
            threading.Thread(target=hang_up, args=(rude,), daemon=True).start()
            url = f"net://127.0.0.1:{rude.getsockname()[1]}"
            check(u.run(TOP, *ust, "--live", url), 1, "", "session 'lttngtop-[^']*': channel 'user': ")
            rude.shutdown(socket.SHUT_RDWR)
        with socket.socket() as brief:  # a relayd that stops once it has been found to answer
            brief.bind(("127.0.0.1", 0))
            brief.listen(0)
            threading.Thread(target=answer_once, args=(brief,), daemon=True).start()
            url = f"net://127.0.0.1:{brief.getsockname()[1]}"
            check(u.run(TOP, *ust, "--live", url, "--session", "b"), 1, "",
                  f"session 'b': channel 'user': [^;]*; cannot reach relayd '{url}' from this machine: Connection refused\n$")
        with socket.socket() as mute:  # like a relayd that is stopped
            mute.bind(("127.0.0.1", 0))
            mute.listen()
            url = f"net://127.0.0.1:{mute.getsockname()[1]}"
            check(u.run(TOP, *ust, "--live", url), 1, "", f"cannot reach relayd '{url}' from this machine: it accepts connections, but does not answer")
        check(u.run(TOP, "record", "status"), 0, "^no sessions\n$")


def test_output_that_cannot_be_written():
    """Said with the reason before anything is recorded, also of a flight recorder; nothing is created or removed."""
    with user("unwritable", sessiond=True) as u:
        os.mkdir(f"{u.home}/ro", 0o555)
        for how in ([], ["--snapshot"]):
            ust = ["record", "--ust", EVENTS, *how, "--output"]
            check(u.run(TOP, *ust, "ro", "--", "true"), 1, "", f"^lttngtop: cannot write to directory '{u.home}/ro': Permission denied\n$")
            check(u.run(TOP, *ust, "ro/a/b", "--", "true"), 1, "", f"^lttngtop: cannot create directory '{u.home}/ro/a/b': Permission denied\n$")
            check(u.run(TOP, *ust, "/proc/o", "--", "true"), 1, "", "^lttngtop: cannot create directory '/proc/o': [^\n]*\n$")
            assert os.listdir(f"{u.home}/ro") == [], os.listdir(f"{u.home}/ro")
            # what was created to find out is removed
            check(u.run(TOP, *ust, "new/" + "x" * 300, "--", "true"), 1, "", "^lttngtop: cannot create directory '.*': File name too long\n$")
            assert not os.path.exists(f"{u.home}/new")
        check(u.run(TOP, "record", "status"), 0, "^no sessions\n$")


def in_private_run(u, *argv):
    """As root, where no daemon of the machine is visible."""
    script = 'mount -t tmpfs none /run && mkdir -p /run/lttng && exec "$@"'
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", *argv], cwd=u.home, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=sandbox.PATIENCE, check=False)
    return done.returncode, done.stdout, done.stderr


def no_private_run():
    """Why in_private_run() is not possible; None: it is."""
    if os.geteuid() or subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/run"], check=False,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        return "not root, or no mount namespaces"
    return None


def test_daemon_of_root():
    """A user who may not use it is not told that there is none."""
    if reason := no_private_run():
        return reason
    with user("of-root") as u:
        script = """export HOME="$PWD" LTTNG_HOME="$PWD"
                    lttng-sessiond --no-kernel --daemonize && "$0" record --ust "$1" --session s >/dev/null
                    for verb in status stop "snapshot s"; do
                        setpriv --reuid=65534 --regid=65534 --clear-groups "$0" record $verb && echo "$verb succeeds"
                    done
                    "$0" record stop s; kill $(cat /run/lttng/lttng-sessiond.pid)"""
        check(in_private_run(u, "sh", "-c", script, TOP, EVENTS), 0, "^session 's' stopped\n",
              "^(lttngtop: root's session daemon is running, but this user may not use it: use sudo, or join group 'tracing'\n){3}$")
    return None


def test_daemon_of_group():
    """Members of group 'tracing' use root's daemon: its consumer daemons are theirs."""
    if reason := no_private_run():
        return reason
    if subprocess.run(["getent", "group", "tracing"], check=False, stdout=subprocess.DEVNULL).returncode:
        return "no group 'tracing'"
    with user("of-group") as u:
        script = """export HOME="$PWD" LTTNG_HOME="$PWD"
                    top() { setpriv --reuid=65534 --regid=65534 --groups=tracing "$0" record "$@"; }
                    lttng-sessiond --no-kernel --daemonize
                    daemon=$(cat /run/lttng/lttng-sessiond.pid)
                    top --ust "$1" --session s --output o >/dev/null
                    for child in $(cat /proc/$daemon/task/*/children); do
                        grep -q consumerd /proc/$child/comm || continue
                        kill -9 $child; until grep -q '^State:.Z' /proc/$child/status; do sleep 0.02; done
                    done
                    top stop s; kill $daemon"""
        check(in_private_run(u, "sh", "-c", script, TOP, EVENTS), 0, "", f"^lttngtop: recording into '{u.home}/o': session 's' has ended "
              "early: LTTng's consumer daemon has died: ")
    return None


def test_kernel_as_root():
    """root's daemon without kernel tracing; one that record starts where lttng-modules are missing."""
    if reason := no_private_run():
        return reason
    with user("root") as u:
        script = """lttng-sessiond --no-kernel --daemonize
                    "$0" record --set minimal --output o; status=$?
                    kill $(cat /run/lttng/lttng-sessiond.pid); exit $status"""
        check(in_private_run(u, "sh", "-c", script, TOP), 1, "", "no kernel tracer: .*started without kernel tracing: run 'lttngtop doctor'")
        result = in_private_run(u, TOP, "record", "--set", "minimal", "--output", "o", "--", "true")
        if result[0]:
            check(result, 1, "", "no kernel tracer: lttng-modules are missing")
        script = '"$0" record --set minimal --output o2 -- true; test ! -e /run/lttng/lttng-sessiond.pid'
        assert in_private_run(u, "sh", "-c", script, TOP)[0] == 0, "a session daemon is left"
        script = """mkdir small && mount -t tmpfs -o size=64k none small &&
                    exec "$0" record --ust "$1" --output small/o -- "$2" 100000"""
        check(in_private_run(u, "sh", "-c", script, TOP, EVENTS, APP), 1, "",
              rf"the disk is full; what was recorded before is in '{u.home}/small/o': ")
    return None


def test_start_stop():
    with user("start", sessiond=True) as u:
        check(u.run(TOP, "record", "--ust", EVENTS, "--output", "a b"), 0,
              rf"view it: lttngtop '{u.home}/a b'\nstop it: lttngtop record stop lttngtop-\d+-\d+\n$")
        u.run(APP, "1000")
        u.run(APP, "11")
        check(u.run(TOP, "record", "status"), 0, r"^lttngtop-[\d-]+: recording, \S+/a b, lost 0 events 0 packets\n$")
        result = u.run(TOP, "record", "stop")
        # the consumers of concurrent tests are among those counted before, and may have ended
        check(result, 0, rf"stopped\nview it: [^\n]*\ncost: {count(f'{u.home}/a b')} events, \d+\.\d MB on disk, "
              r"\d+\.\d{3} s of CPU by LTTng's consumer daemons(?: since they started)?\n$")
        u.run(TOP, "record", "--ust", EVENTS, "--output", "without", "--session", "without")
        os.remove(f"{u.home}/without/lttngtop.json")
        check(u.run(TOP, "record", "stop", "without"), 0, r"\ncost: .* daemons since they started\n$")
        check_counts(f"{u.home}/a b", 1000, 11)
        check(u.run(TOP, "record", "status"), 0, "^no sessions\n$")


def test_snapshots():
    """A flight recorder keeps the past until a snapshot is requested, more than once."""
    with user("snapshots", sessiond=True) as u:
        check(u.run(TOP, "record", "--ust", EVENTS, "--snapshot", "--output", "o"), 0, "take a snapshot: lttngtop record")
        for n, counts in ((100, [100]), (30, [100, 30])):
            u.run(APP, str(n))
            result = u.run(TOP, "record", "snapshot")
            check(result, 0, "^snapshot in .*\nview it: lttngtop ")
            check_counts(result[1].splitlines()[0].removeprefix("snapshot in "), *counts)
        check(u.run(TOP, "record", "status"), 0, "recording, flight recorder, ")
        check(u.run(TOP, "record", "stop"), 0, "stopped\n$")
        result = u.run(TOP, "record", "--ust", EVENTS, "--snapshot", "--output", "p", "--", APP, "50")
        check(result, 0, "", "recorded into ")
        check_counts(re.search("recorded into (.*)", result[2]).group(1), 50)


def test_snapshot_that_fails():
    """Which session, where, and what to do."""
    with user("no-snapshot", sessiond=True) as u:
        check(u.run(TOP, "record", "snapshot", "x"), 1, "", "^lttngtop: there is no session 'x': 'lttngtop record status' lists those that exist\n$")
        check(u.run(TOP, "record", "--ust", EVENTS, "--snapshot", "--output", "o", "--session", "s"), 0, "take a snapshot")
        u.run(APP, "10")
        os.chmod(f"{u.home}/o", 0o555)
        failed = f"^lttngtop: taking a snapshot of session 's' into '{u.home}/o': "
        check(u.run(TOP, "record", "snapshot", "s"), 1, "", failed + "[^;]*; the session still records: once this is fixed, run "
              "'lttngtop record snapshot s' again\n$")
        os.chmod(f"{u.home}/o", 0o755)
        check(u.run(TOP, "record", "snapshot", "s"), 0, "^snapshot in ")
        check(u.run(TOP, "record", "stop", "s"), 0, "stopped")
        check(u.run(TOP, "record", "--ust", EVENTS, "--snapshot", "--output", "p", "--session", "s", "--", "chmod", "555", "p"), 1, "",
              "\n" + failed[1:].replace("/o'", "/p'") + "[^;]*; the session was removed, and what it had in memory is lost\n$")
        check(u.run(TOP, "record", "status"), 0, "^no sessions\n$")


def test_trackers():
    with user("trackers", sessiond=True) as u:
        command = ["sh", "-c", f"{shlex.quote(APP)} 100; exec {shlex.quote(APP)} 30"]
        check(u.run(TOP, "record", "--ust", EVENTS, "--output", "o", "--track-command", "--", *command), 0, "", "recorded")
        check_counts(f"{u.home}/o", 30)
        check(u.run(TOP, "record", "--ust", EVENTS, "--output", "p", "--vpid", "1", "--", APP, "100"), 0, "", "recorded")
        assert not glob.glob(f"{u.home}/p/**/metadata", recursive=True), "another process was recorded"


def test_signals():
    """SIGTERM is passed on to the command; the recording ends cleanly."""
    with user("signals", sessiond=True) as u:
        script = f"{shlex.quote(APP)} 10; echo ready; exec sleep 600"
        for number in (signal.SIGTERM, signal.SIGINT):
            output = f"o{number.value}"
            p = u.start(TOP, "record", "--ust", EVENTS, "--output", output, "--", "sh", "-c", script,
                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            assert p.stdout.readline() == "ready\n"
            p.send_signal(number)
            assert p.wait(sandbox.PATIENCE) == 128 + number, p.returncode
            check_counts(f"{u.home}/{output}", 10)
        check(u.run(TOP, "record", "status"), 0, "^no sessions\n$")


def test_live():
    """To a relayd, which writes what it receives: every event."""
    with user("live", sessiond=True) as u:
        (control, data, live), output = u.start_relayd()
        url = f"net://127.0.0.1:{control}:{data}"
        result = u.run(TOP, "record", "--ust", EVENTS, "--live", url, "--live-timer", "100ms", "--session", "s",
                       "--live-port", str(live), "--", APP, "5000")
        check(result, 0, "", f"session 's' records to {url}\nview it: lttngtop net://127.0.0.1:{live}/host/[^/]+/s\n$")
        check_counts(output, 5000)
        nobody, = sandbox.free_ports(1)
        check(u.run(TOP, "record", "--ust", EVENTS, "--live", url, "--live-timer", "100ms", "--session", "t", "--live-port",
                    str(nobody)), 0, "stop it", f"no relayd accepts viewers at '127.0.0.1:{nobody}': Connection refused; "
              "use --live-port to give its port")
        check(u.run(TOP, "record", "status"), 0, "^t: recording, live every 100ms, ")
        check(u.run(TOP, "record", "stop", "t"), 0, "^session 't' stopped\n$")
        # lttng can stream to a relayd that only stores, too
        for verb in (["create", "stored", f"--set-url={url}"], ["enable-event", "-u", EVENTS], ["start"]):
            assert u.run("lttng", "--no-sessiond", *verb)[0] == 0, verb
        check(u.run(TOP, "record", "stop", "stored"), 0, rf"^session 'stored' stopped\nsent to tcp4://127.0.0.1:{control}/[^\n]*\n$")


def test_live_view():
    """From record through the relayd into report: every event, and the report ends with the session."""
    with user("view", sessiond=True) as u:
        (control, data, live), _ = u.start_relayd()
        result = u.run(TOP, "record", "--ust", EVENTS, "--live", f"127.0.0.1:{control}:{data}", "--live-timer",
                       "100ms", "--session", "s", "--live-port", str(live))
        check(result, 0, "stop it")
        url, = re.findall("^view it: lttngtop (.*)$", out := result[1], re.M)
        assert url == f"net://127.0.0.1:{live}/host/{socket.gethostname()}/s", out
        report = u.start(TOP, "report", "events", "--json", url, stdout=subprocess.PIPE)
        sandbox.wait_until(lambda: ", 1 client(s)" in u.run("babeltrace2", "-i", "lttng-live",
                                                            f"net://127.0.0.1:{live}")[1], "attached viewer")
        for n in (3000, 20):
            u.run(APP, str(n))
        check(u.run(TOP, "record", "stop", "s"), 0, "stopped")
        text, _ = report.communicate(timeout=sandbox.PATIENCE)
        counts = {row["name"]: row["count"] for row in json.loads(text)["rows"]}
        assert report.returncode == 0 and counts == expected(3000, 20), f"{report.returncode}, {counts}"


DUMP = "lttng_ust_statedump:start"


def count_dumps(path):
    """How often a recording has it; also 0 while there is nothing to read yet."""
    done = subprocess.run([TOP, "report", "events", "--json", path], check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    return sum(row["count"] for row in json.loads(done.stdout or '{"rows": []}')["rows"] if row["name"] == DUMP)


def redumpers():
    """The processes that repeat state dumps, by pid: they keep running when their parents end."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/comm"):
        with contextlib.suppress(OSError):
            with open(path, encoding="ascii") as comm, open(path.replace("comm", "cmdline"), encoding="ascii") as cmdline:
                if comm.read() == "lttngtop: dump\n" and TOP in cmdline.read():
                    found[int(path.split("/")[2])] = True
    return set(found)


@contextlib.contextmanager
def traced_app(u):
    """A program that waits until the block ends."""
    app = u.start(APP, "1", "0", "wait", stdin=subprocess.PIPE)
    try:
        yield
    finally:
        app.stdin.close()
        app.wait(sandbox.PATIENCE)


def test_refresh():
    """`record refresh` repeats the state dump; for a session that only records, too."""
    with user("refresh", sessiond=True) as u:
        check(u.run(TOP, "record", "--ust", "lttng_ust_statedump:*", "--output", "o"), 0, "stop it")
        with traced_app(u):
            sandbox.wait_until(lambda: any(os.path.getsize(file) for file in glob.glob(f"{u.home}/o/ust/uid/*/*/user_*")),
                               "the dump of the start")
            check(u.run(TOP, "record", "refresh"), 0, "^state dump of session 'lttngtop-[^']*' repeated\n$")
        check(u.run(TOP, "record", "refresh", "nosuch"), 1, "", "there is no session 'nosuch'")
        name = re.match("([^:]*): ", u.run(TOP, "record", "status")[1]).group(1)
        assert u.run("lttng", "--no-sessiond", "stop", name)[0] == 0
        check(u.run(TOP, "record", "refresh"), 1, "", f"session '{name}' is not running")
        check(u.run(TOP, "record", "stop"), 0, "stopped")
        assert count_dumps(f"{u.home}/o") == 2, "the dump of the start, and the one asked for"
        assert not redumpers(), "only live sessions repeat it by themselves"


def test_repeated_dumps():
    """--live repeats the state dump by itself until the session
    ends: by record stop, by lttng, by its command, or killed."""
    with user("repeated", sessiond=True) as u:
        (control, data, live), output = u.start_relayd()

        def record(name, period, *command):
            return u.run(TOP, "record", "--ust", "lttng_ust_statedump:*", "--live", f"127.0.0.1:{control}:{data}", "--session",
                         name, "--live-timer", "100ms", "--live-port", str(live), "--statedump-period", period, *command)

        with traced_app(u):
            check(record("a", "200ms"), 0, "stop it")
            sandbox.wait_until(lambda: sum(count_dumps(d) for d in glob.glob(f"{output}/*/a-*")) >= 4, "repeated dumps")
            assert len(redumpers()) == 1, redumpers()
            check(u.run(TOP, "record", "stop", "a"), 0, "stopped")
            sandbox.wait_until(lambda: not redumpers(), "the end of the repeater")

            check(record("b", "1h"), 0, "stop it")
            sandbox.wait_until(lambda: len(redumpers()) == 1, "a repeater")  # it names itself once it runs
            start = int(time.time())
            sandbox.wait_until(lambda: int(time.time()) > start, "another second: sessions have no finer time of creation")
            for command in (("destroy", "b"), ("create", "b")):  # another session with that name is not affected
                assert u.run("lttng", "--no-sessiond", *command)[0] == 0
            sandbox.wait_until(lambda: not redumpers(), "the end of the repeater of a destroyed session")
            assert u.run("lttng", "--no-sessiond", "destroy", "b")[0] == 0

            check(record("c", "0"), 0, "stop it")
            assert not redumpers(), "0 means never"
            check(u.run(TOP, "record", "stop", "c"), 0, "stopped")
            check(record("d", "200ms", "--", "sh", "-c", "exit 3"), 3, "", "session 'd' records")
            assert not redumpers(), "it ends with the command"

            check(record("e", "1h"), 0, "stop it")
            sandbox.wait_until(lambda: len(redumpers()) == 1, "a repeater")
            os.kill(u.sessiond_pid(), signal.SIGKILL)
            sandbox.wait_until(lambda: not redumpers(), "the end of the repeater without a session daemon")


def test_lost_relayd():
    """A relayd that died: the session still ends, and lost data is reported."""
    with user("lost", sessiond=True) as u:
        (control, data, live), _ = u.start_relayd()
        relayd = u.processes[-1]
        ust = ["record", "--ust", EVENTS, "--live", f"127.0.0.1:{control}:{data}", "--live-port", str(live)]
        lost = f"session '[^']*' has ended, but relayd 'net://127.0.0.1:{control}' does not answer: what it had not received is"
        check(u.run(TOP, *ust, "--session", "s"), 0, "stop it")
        u.run(APP, "10")
        relayd.kill()
        relayd.wait()
        check(u.run(TOP, "record", "stop", "s"), 1, "", lost)
        check(u.run(TOP, "record", "status"), 0, "^no sessions\n$")


RELAYD_HEADER = struct.Struct(">QQII")  # circuit, bytes that follow, command, its version
CREATE_TRACE_CHUNK = 19  # the first command of a session's start


def at_start(listener, port, act):
    """Passes a session daemon's requests on to a relayd, and calls act() when a session is started. If that is false, the
    relayd is gone."""
    with contextlib.suppress(OSError):
        while True:
            here = listener.accept()[0]
            there = socket.create_connection(("127.0.0.1", port))
            threading.Thread(target=answers_to, args=(there, here), daemon=True).start()
            threading.Thread(target=requests_to, args=(here, there, act), daemon=True).start()


def end(process):
    process.kill()
    process.wait()


def answers_to(there, here):
    with contextlib.suppress(OSError), here, there:
        while data := there.recv(4096):
            here.sendall(data)
        here.shutdown(socket.SHUT_RDWR)


def requests_to(here, there, act):
    received = b""
    with contextlib.suppress(OSError), here, there:
        while data := here.recv(4096):
            received += data
            while len(received) >= RELAYD_HEADER.size:
                _, size, command, _ = RELAYD_HEADER.unpack_from(received)
                if command == CREATE_TRACE_CHUNK and not act():
                    here.shutdown(socket.SHUT_RDWR)
                    return
                received = received[RELAYD_HEADER.size + size:]
            there.sendall(data)
        there.shutdown(socket.SHUT_RDWR)


def test_relayd_that_stops_before_the_start():
    """Once it has accepted the session: the reason is named, and nothing is left, neither here nor on hosts."""
    with user("brief", sessiond=True) as u, user("relay-here") as relay, user("relay-there") as other:
        (control, data, live), _ = relay.start_relayd()
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()

            def stop():
                listener.shutdown(socket.SHUT_RDWR)  # first: it must not accept anybody who sees that the relayd is gone
                end(relay.processes[-1])
            threading.Thread(target=at_start, args=(listener, control, stop), daemon=True).start()
            url = f"net://127.0.0.1:{listener.getsockname()[1]}:{data}"
            check(u.run(TOP, "record", "--ust", EVENTS, "--live", url, "--live-port", str(live), "--session", "s"), 1, "",
                  f"^lttngtop: starting session 's': [^;]*; cannot reach relayd '{url}' from this machine: Connection refused\n$")
        check(u.run(TOP, "record", "status"), 0, "^no sessions\n$")

        (control, data, live), _ = other.start_relayd()
        url = f"net://127.0.0.1:{control}:{data}"
        relayd = other.processes[-1]
        write_script(f"{u.home}/bin/ssh", f"""case $2 in
            *'lttng start'*) touch {u.home}/go; while [ -e {u.home}/go ]; do sleep 0.05; done;; esac; sh -c "$2"\n""")
        u.env["PATH"] = f"{u.home}/bin:{u.env['PATH']}"
        os.chmod(u.home, 0o777)
        record = u.start(TOP, "record", "--ust", EVENTS, "--live", url, "--live-port", str(live), "--session", "t", "--host", "h",
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        sandbox.wait_until(lambda: os.path.exists(f"{u.home}/go"), "the start")
        end(relayd)
        os.remove(f"{u.home}/go")
        out = record.communicate(timeout=sandbox.PATIENCE)[0]
        assert record.returncode == 1 and re.search("\nlttngtop: no host could be recorded; cannot reach relayd "
                                                    f"'{url}' from this machine: Connection refused\n$", out), out
        check(u.run(TOP, "record", "status"), 0, "^no sessions\n$")


def test_killed_daemon():
    """A session daemon that is killed takes its sessions with it: the message says where their data is."""
    if os.path.exists("/var/run/lttng/lttng-sessiond.pid"):
        return "there is root's session daemon, too"
    with user("killed", sessiond=True) as u:
        pid_file = f"{u.home}/.lttng/lttng-sessiond.pid"
        check(u.run(TOP, "record", "--ust", EVENTS), 0, "stop it")
        os.kill(u.sessiond_pid(), signal.SIGKILL)
        where = f"no session daemon is running, and sessions end with it; the latest recording, '(lttngtop-[^']*)', is in '{u.home}/lttng-traces/\\1'\n$"
        sandbox.wait_until(lambda: re.search(where, u.run(TOP, "record", "stop")[2]), "the end of the session daemon")
        check(u.run(TOP, "record", "stop"), 1, "", where)
        check(u.run(TOP, "record", "stop", "nosuch"), 1, "", "^lttngtop: no session daemon is running: see lttng-sessiond")
        os.unlink(pid_file)
        script = f"kill -9 $(cat {shlex.quote(pid_file)}); while lttng --no-sessiond list; do :; done >/dev/null 2>&1"
        check(u.run(TOP, "record", "--ust", EVENTS, "--output", "o", "--", "sh", "-c", script), 1, "",
              f"the session daemon ended before the command; what had been recorded by then is in '{u.home}/o'\n$")
        os.unlink(pid_file)
        script += "; sleep 0.1"
        ended = "the session daemon ended before the command; "
        check(u.run(TOP, "record", "--ust", EVENTS, "--snapshot", "--output", "p", "--session", "s", "--", "sh", "-c", script), 1, "",
              f"\nlttngtop: {ended}what session 's' had in memory is lost\n$")
        os.unlink(pid_file)
        (control, data, live), _ = u.start_relayd()
        check(u.run(TOP, "record", "--ust", EVENTS, "--live", f"127.0.0.1:{control}:{data}", "--live-port", str(live),
                    "--", "sh", "-c", script), 1, "", f"\nlttngtop: {ended}the relayd keeps what it received\n$")
        os.unlink(pid_file)
    return None


def test_killed_consumer():
    """A consumer daemon that is killed: sessions end early, and their session daemon can record no more."""
    died = "LTTng's consumer daemon has died: restart lttng-sessiond before recording again "

    def kill(u):
        for pid in consumers(u):
            os.kill(pid, signal.SIGKILL)
        sandbox.wait_until(lambda: all(processes.state_and_parent(pid)[0] == "Z" for pid in consumers(u)), "the consumer's end")

    for number, how in enumerate((["--output", "o"], ["--snapshot", "--output", "o"], ["--live"])):
        with user(f"consumer-{number}", sessiond=True) as u:
            if "--live" in how:
                (control, data, live), _ = u.start_relayd()
                how += [f"127.0.0.1:{control}:{data}", "--live-port", str(live)]
            check(u.run(TOP, "record", "--ust", EVENTS, "--session", "s", *how), 0, "stop it|take a snapshot")
            u.run(APP, "100")
            kill(u)
            if "--snapshot" in how:
                check(u.run(TOP, "record", "snapshot", "s"), 1, "", f"^lttngtop: taking a snapshot of session 's' into '{u.home}/o': {died}"
                      r"\([^)]*\); what it had in memory is lost\n$")
                check(u.run(TOP, "record", "stop", "s"), 0, "stopped")
            else:
                into = f"recording into '{u.home}/o': " if "--output" in how else ""
                check(u.run(TOP, "record", "stop", "s"), 1, "", rf"^lttngtop: {into}session 's' has ended early: {died}\([^)]*\)\n$")
            check(u.run(TOP, "record", "--ust", EVENTS, "--session", "t", "--output", "o2"), 1, "", rf"session 't': .*: {died}")
            check(u.run(TOP, "record", "status"), 0, "^no sessions\n$")


def interrupt(u, ready, *argv):
    """Runs in a process group of its own, which gets SIGINT once ready() holds; returns the Popen."""
    p = u.start(*argv, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    sandbox.wait_until(ready, "the moment for an interrupt")
    os.killpg(p.pid, signal.SIGINT)
    return p


def runs_in(group, name):
    """Whether a program with that name is in the process group."""
    def is_one(pid):
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            program, rest = stat.read().split("(", 1)[1].rsplit(")", 1)
        state, _, number = rest.split()[:3]
        return program == name and int(number) == group and state not in "ZX"
    return bool(processes.find(is_one))


def interrupted_start(u, app, *options):
    """The answer of a record that SIGINT interrupts while the tracer waits for a stopped program to start recording."""
    for _ in range(5):
        app.send_signal(signal.SIGSTOP)
        record = u.start(TOP, "record", "--ust", EVENTS, "--session", "s", *options, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        processes.wait_for("record that waits", lambda: processes.waits(record.pid))
        record.send_signal(signal.SIGINT)
        app.send_signal(signal.SIGCONT)
        out = record.communicate(timeout=sandbox.PATIENCE)[0]
        assert record.returncode == -signal.SIGINT, f"{record.returncode}: {out}"
        check(u.run(TOP, "record", "status"), 0, "^no sessions\n$")
        if "nothing is left" not in out:  # a slow machine was still setting up
            break
    return out


def test_interrupted_start():
    """^C before it is known how to stop the session: it is removed, and that is said."""
    with user("late", sessiond=True) as u:
        app = u.start(APP, "1", "0", "wait", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        sandbox.wait_until(lambda: "ust_app" in u.run("lttng", "--no-sessiond", "list", "--userspace")[1], "registration")
        out = interrupted_start(u, app, "--output", "o")
        assert out == f"lttngtop: interrupted; session 's' was removed; what it had recorded is in '{u.home}/o'\n", out
        assert os.path.exists(f"{u.home}/o/lttngtop.json")
        out = interrupted_start(u, app, "--output", "p", "--snapshot")
        assert out == "lttngtop: interrupted; session 's' and what it had recorded were removed\n", out
        assert not os.path.exists(f"{u.home}/p"), os.listdir(f"{u.home}/p")
        os.mkdir(f"{u.home}/q")
        os.chmod(f"{u.home}/q", 0o777)
        interrupted_start(u, app, "--output", "q", "--snapshot")
        assert os.path.isdir(f"{u.home}/q"), "a directory of the user's is gone"
        app.stdin.close()

        (control, data, live), _ = u.start_relayd()
        records = []

        def interrupt_it():
            sandbox.wait_until(lambda: records, "record")
            records[0].send_signal(signal.SIGINT)
            return True

        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            threading.Thread(target=at_start, args=(listener, control, interrupt_it), daemon=True).start()
            records.append(u.start(TOP, "record", "--ust", EVENTS, "--session", "s", "--live", f"127.0.0.1:{listener.getsockname()[1]}:{data}",
                                   "--live-port", str(live), stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
            out = records[0].communicate(timeout=sandbox.PATIENCE)[0]
            listener.shutdown(socket.SHUT_RDWR)
        assert out == "lttngtop: interrupted; session 's' was removed; the relayd keeps what it received\n", out
        check(u.run(TOP, "record", "status"), 0, "^no sessions\n$")


def touch(path):
    with open(path, "w", encoding="ascii"):
        pass


def test_interrupted_start_of_daemon():
    """The session daemon that record starts is not left behind after an interrupt."""
    with user("starting") as u:
        write_script(f"{u.home}/slow", f"""lttng-sessiond "$@"; echo >{u.home}/started
            until [ -e {u.home}/go ]; do sleep 0.05; done\n""")
        u.env["LTTNG_SESSIOND_PATH"] = f"{u.home}/slow"
        record = interrupt(u, lambda: os.path.exists(f"{u.home}/started"), TOP, "record", "--ust", EVENTS)
        touch(f"{u.home}/go")
        status = record.wait(sandbox.PATIENCE)
        assert status == -signal.SIGINT, status
        assert not u.sessiond_pid(), "a session daemon is left"


def is_locked(u):
    """Whether a session daemon of the user exists, or is starting."""
    path = os.path.join(u.home, ".lttng", "lttng-sessiond.lck")
    if not os.path.exists(path):
        return False
    with open(path, "rb") as file:
        lock = fcntl.fcntl(file, fcntl.F_GETLK, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0))
    return struct.unpack("hhqqi4x", lock)[0] != fcntl.F_UNLCK


def stop_on_its_way(u):
    """A session daemon that is stopped when it has its lock and does not answer yet."""
    while True:
        daemon = u.start("lttng-sessiond", "--no-kernel", "--quiet")
        sandbox.wait_until(lambda: is_locked(u), "lock of the session daemon")
        daemon.send_signal(signal.SIGSTOP)
        if not os.path.exists(os.path.join(u.home, ".lttng", "client-lttng-sessiond")):
            return daemon
        daemon.send_signal(signal.SIGCONT)
        daemon.terminate()
        daemon.wait()


def test_daemon_on_its_way():
    """A session daemon that has just been started is waited for, as after booting."""
    with user("on-its-way") as u:
        daemon = stop_on_its_way(u)
        record = u.start(TOP, "record", "--ust", EVENTS, "--output", "r", "--", "true", stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT)
        with contextlib.suppress(ProcessLookupError):  # it has ended: see below
            processes.wait_for("record that waits", lambda: processes.waits(record.pid))
        daemon.send_signal(signal.SIGCONT)
        out = record.communicate(timeout=sandbox.PATIENCE)[0]
        assert record.returncode == 0, f"{record.returncode}: {out}"
        assert u.sessiond_pid() == daemon.pid, "another session daemon was started"


def test_interrupted_setup_elsewhere():
    """A host removes what it set up after ssh was interrupted."""
    base = os.path.abspath("interrupted")
    write_script(f"{base}/local/ssh", f"PATH={base}/remote:$PATH; setsid sh -c \"$2\" 2>/dev/null | cat\n")
    write_script(f"{base}/remote/lttng", f"""echo "$@" >>{base}/log
        case $1 in enable-event) until [ -e {base}/go ]; do sleep 0.05; done;; esac\n""")

    def log():
        if not os.path.exists(f"{base}/log"):
            return [""]
        with open(f"{base}/log", encoding="ascii") as file:
            return file.read().splitlines() or [""]

    with user("interrupter") as u:
        u.env["PATH"] = f"{base}/local:" + u.env["PATH"]
        os.chmod(base, 0o777)
        record = interrupt(u, lambda: log()[-1].startswith("enable-event"), TOP, "record", "--ust", EVENTS,
                           "--session", "s", "--host", "h")
        # only then is the connection gone on the remote side
        sandbox.wait_until(lambda: not runs_in(record.pid, "cat"), "the end of the connection")
        touch(f"{base}/go")
        status = record.wait(sandbox.PATIENCE)
        assert status == -signal.SIGINT, status
        sandbox.wait_until(lambda: log()[-1] == "destroy s", "the end of the session")
        assert "start s" not in log(), log()


def test_undone_setup():
    """A setup that fails somewhere is undone where it may have succeeded: the host's answer was lost."""
    base = os.path.abspath("undone")
    write_script(f"{base}/local/ssh", f"""echo $1 >>{base}/ssh; export HOST=$1 PATH={base}/remote:$PATH
        [ $1 != down ] || exit 255
        sh -c "$2" || exit
        case $2 in *'lttng create'*) [ $1 != lost ] || exit 255;; esac\n""")
    write_script(f"{base}/remote/uname", "echo $HOST\n")
    write_script(f"{base}/remote/lttng", f"""echo "$@" >>{base}/log.$HOST
        [ "$1" = --no-sessiond ] && shift
        case $1 in
        create) echo Session created; [ "$2" = --list-options ] || touch {base}/session.$HOST;;
        list) [ -e {base}/session.$HOST ];;
        stop) echo Warning: Tracing already stopped >&2;;
        destroy) rm {base}/session.$HOST;;
        esac\n""")
    os.chmod(base, 0o777)
    hosts = ["--host", "good", "--host", "lost", "--host", "down"]
    with user("undoer", path=f"{base}/local") as u:
        for how in (["--live", "net://127.0.0.1"], ["--output", "o"]):
            result = u.run(TOP, "record", "--ust", EVENTS, "--session", "s", *hosts, *how)
            check(result, 3, "stop --host good (--output [^ ]* )?s\n", "host 'down': ssh cannot reach it.*host 'lost': ssh cannot reach it")
            assert glob.glob(f"{base}/session.*") == [f"{base}/session.good"], "a session is left"
            os.remove(f"{base}/session.good")
            assert "already stopped" not in result[2], result
            with open(f"{base}/ssh", encoding="ascii") as file:
                assert file.read().split().count("down") == 1, "it was never reached, but is tried again"
            os.remove(f"{base}/ssh")


def test_signal_while_hosts_hang():
    """SIGTERM ends the wait for each step; a setup that had succeeded is undone where the host answers."""
    base = os.path.abspath("hanging")
    write_script(f"{base}/local/ssh", f"""export HOST=$1 PATH={base}/remote:$PATH
        if [ $1 = hangs ]; then
            case $2 in *"$HANG"*) touch {base}/waiting.$HOST; exec sleep 600;; esac
        fi
        sh -c "$2"\n""")
    write_script(f"{base}/remote/uname", "echo $HOST\n")
    write_script(f"{base}/remote/lttng", f"""case $1 in
        create) touch {base}/session.$HOST; echo created;;
        --no-sessiond) [ $2 != list ] || [ -e {base}/session.$HOST ];;
        destroy) rm {base}/session.$HOST;;
        esac\n""")
    os.chmod(base, 0o777)
    hosts = ["--host", "good", "--host", "hangs"]
    steps = {"lttng start": ["--ust", EVENTS, "--session", "s", "--live", "net://127.0.0.1"], "lttng stop": ["stop", "s"],
             "lttng snapshot": ["snapshot", "s"], "regenerate": ["refresh", "s"],
             "ls -A": ["--ust", EVENTS, "--session", "s", "--output", "o"]}
    with user("hanger", path=f"{base}/local") as u:
        for step, words in steps.items():
            u.env["HANG"] = step
            record = u.start(TOP, "record", *words, *hosts, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            sandbox.wait_until(lambda: os.path.exists(f"{base}/waiting.hangs"), f"{step}: waits")
            record.send_signal(signal.SIGTERM)
            err = record.communicate(timeout=sandbox.PATIENCE)[1]
            assert record.returncode == -signal.SIGTERM, f"{step}: {record.returncode}, {err}"
            assert "host 'hangs': interrupted" in err, f"{step}: {err}"
            os.remove(f"{base}/waiting.hangs")
            assert not glob.glob(f"{base}/session.*"), f"{step}: a session is left"


def test_dry_run():
    """The real lttng accepts the commands that --dry-run prints, and records the same."""
    with user("dry", sessiond=True) as u:
        (control, data, _), relayd = u.start_relayd()
        cases = [
            (["--output", "a b"], ["100"], f"{u.home}/a b"),
            (["--output", "t", "--track-command"], ["100"], f"{u.home}/t"),
            (["--output", "n", "--buffer-size", "100000"], ["100"], f"{u.home}/n"),
            (["--output", "s", "--snapshot"], ["100"], f"{u.home}/s"),
            (["--live", f"127.0.0.1:{control}:{data}"], ["100"], relayd),
        ]
        for i, (options, arguments, path) in enumerate(cases):
            result = u.run(TOP, "record", "--dry-run", "--session", f"dry-{i}", "--ust", EVENTS, *options,
                           "--", APP, *arguments)
            check(result, 0, "^lttng create dry-")
            done = u.run("sh", "-e", "-c", result[1])
            assert done[0] == 0, f"{options}: {done[2]}"
            check_counts(path, 100)
        check(u.run(TOP, "record", "status"), 0, "^no sessions\n$")


def metadata_names():
    """Names of events and of fields of event contexts in the bundled recordings."""
    events, contexts = set(), set()
    for path in glob.glob(f"{BUILD}/traces/*/*/kernel/metadata"):
        text = subprocess.run(["babeltrace2", "--output-format=ctf-metadata", os.path.dirname(path)], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        events |= set(re.findall(r'^event \{\s*name = "?([\w:]+)"?;', text, re.M))
        for block in re.findall(r"event\.context := struct \{(.*?)\};", text, re.S):
            contexts |= {name.lstrip("_") for name in re.findall(r"(\w+)(?:\[\d+\])?;", block)}
    return events, contexts


def test_kernel_names():
    """Every name that --dry-run gives to the kernel tracer is one it knows."""
    events, contexts = metadata_names()
    if not events:
        return "no recordings"
    assert "sched_switch" in events and "procname" in contexts, "names of the recordings not found"
    with user("names") as u:
        for name in ("minimal", "waits", "full"):
            text = u.run(TOP, "record", "--dry-run", "--set", name, "--perf", "page-fault")[1]
            enabled = set(re.search(r" for n in ([^;]+);", text).group(1).split())
            added = set(re.findall(r"--type=(\w\S+)", text)) | set(re.search(r" for c in ([^;]+);", text).group(1).split())
            assert len(enabled) > 8 and len(added) > 3
            assert enabled <= events | KNOWN_EVENTS, enabled - events - KNOWN_EVENTS
            added = {c.replace(":", "_").replace("-", "_") for c in added}
            assert added <= contexts | KNOWN_CONTEXTS, added - contexts - KNOWN_CONTEXTS
    return None


SSH = """#!/bin/sh
# Instead of ssh: a host is a directory with a session daemon of its own and a name of its own.
case $1 in
down*) exit 255;;
bare) export LTTNG_SESSIOND_PATH=/nowhere;;
esac
export LTTNG_HOME={base}/$1 HOME={base}/$1
exec unshare --uts sh -c 'hostname "$0"; exec setpriv --reuid={uid} --regid={uid} --clear-groups sh -c "$1"' "$1" "$2"
"""


def test_two_hosts():
    """--host: both hosts stream to one relayd, every event of each; a host that fails leaves nothing behind."""
    if os.geteuid() or subprocess.run(["unshare", "--uts", "true"], check=False, stderr=subprocess.DEVNULL).returncode:
        return "not root, or no UTS namespaces"
    os.makedirs("bin")
    with open("bin/ssh", "w", encoding="ascii") as file:
        file.write(SSH.format(base=os.getcwd(), uid=sandbox.NOBODY))
    os.chmod("bin/ssh", 0o755)
    with user("alpha") as alpha, user("beta") as beta, user("relay") as relay:
        (control, data, live), output = relay.start_relayd()
        env = {**os.environ, "PATH": os.path.abspath("bin") + ":" + os.environ["PATH"]}
        apps = " && ".join(f"ssh {name} {shlex.quote(shlex.join([APP, str(n)]))}" for name, n in (("alpha", 3000), ("beta", 200)))
        base = [TOP, "record", "--ust", EVENTS, "--live", f"net://127.0.0.1:{control}:{data}", "--live-port", str(live),
                "--host", "alpha"]

        def run(*argv):
            done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, timeout=sandbox.PATIENCE, check=False)
            return done.returncode, done.stdout, done.stderr

        check(run(*base, "--host", "beta", "--session", "s", "--", "sh", "-c", apps), 0, "",
              f"view it: lttngtop net://127.0.0.1:{live}\n$")
        for name, n in (("alpha", 3000), ("beta", 200)):
            check_counts(f"{output}/{name}", n)
        check(run(*base, "--host", "beta", "--session", "t"), 0, "stop it: lttngtop record stop --host alpha --host beta t\n")
        check(run(TOP, "record", "status", "--host", "alpha", "t"), 0, "^alpha:\n.*(t: \\[active|session `t`)")
        check(run(TOP, "record", "refresh", "--host", "alpha", "--host", "beta", "t"), 0, "^state dump of session 't' repeated\n$")
        check(run(*base, "--session", "t"), 1, "", "host 'alpha': lttng failed there")
        check(run(TOP, "record", "status", "--host", "alpha", "t"), 0, "^alpha:\n.*(t: \\[active|session `t`)")
        check(run(TOP, "record", "stop", "--host", "alpha", "--host", "beta", "t"), 0, "^session 't' stopped\\n$")
        # those that fail are named and left out, with the exit status; the command runs all the same
        down = "lttngtop: warning: host '{0}': ssh cannot reach it: try 'ssh {0} true'\n"
        lacking = ("lttngtop: warning: host 'bare': lttng failed there: see its messages above, or 'lttngtop doctor --host bare'\n")
        for command, status in ((["true"], 3), (["sh", "-c", "exit 7"], 7)):
            check(run(*base, "--host", "down1", "--host", "bare", "--host", "beta", "--host", "down2", "--session", "u", "--", *command),
                  status, "", f"^{down.format('down1')}{down.format('down2')}bare: .*{lacking}session 'u' records")
        check(run(*base, "--host", "down1", "--session", "u"), 3, "stop it: lttngtop record stop --host alpha u\n",
              f"^{down.format('down1')}$")
        # that of the first run is not touched
        check(run(*base, "--host", "beta", "--session", "u"), 3, "stop it: lttngtop record stop --host beta u\n",
              "warning: host 'alpha': lttng failed there: ")
        check(run(TOP, "record", "stop", "--host", "alpha", "--host", "beta", "u"), 0, "^session 'u' stopped\n$")
        check(run(TOP, "record", "--ust", EVENTS, "--host", "down1", "--host", "down2", "--session", "t"), 1, "",
              f"^{down.format('down1')}{down.format('down2')}lttngtop: no host could be recorded\n$")

        # Without --live: recorded there, fetched at the end, and nothing is left there.
        there = ["--host", "alpha", "--host", "beta"]
        files = [TOP, "record", "--ust", EVENTS, *there]
        fetched = os.path.abspath("fetched")

        def check_fetched(path, *names_counts):
            for name, *counts in names_counts:
                check_counts(f"{path}/{name}", *counts)
            for u in (alpha, beta):
                assert not glob.glob(f"{u.home}/.cache/lttngtop/*"), f"left on {u.home}"

        check(run(*files, "--output", fetched, "--session", "f", "--", "sh", "-c", apps), 0, "",
              f"session 'f' records on other hosts, fetched into {fetched}\n.*view it: lttngtop {fetched}\n$")
        check_fetched(fetched, ("alpha", 3000), ("beta", 200))
        check(run(*files, "--output", fetched, "--session", "f"), 1, "", "is not empty")
        check(run(*files, "--output", f"{fetched}2"), 0,
              rf"stop it: lttngtop record stop --host alpha --host beta --output {fetched}2 lttngtop-\d+-\d+\n$")
        check(run("sh", "-c", apps), 0)
        check(run(TOP, "record", "stop", *there, "--output", f"{fetched}2"), 0,
              rf"^session 'lttngtop-\d+-\d+' stopped\nfetched into {fetched}2\nview it: ")
        check_fetched(f"{fetched}2", ("alpha", 3000), ("beta", 200))
        check(run(TOP, "record", "stop", *there), 1, "", "no session that 'lttngtop record' named was found: give its name")

        # A host that cannot be reached or whose recording cannot be stored keeps it, and does not hold up the others.
        kept = f"{fetched}-kept"
        check(run(*files, "--output", kept, "--session", "k"), 0, "stop it: ")
        check(run("sh", "-c", apps), 0)
        os.makedirs(kept)
        touch(f"{kept}/alpha")
        rest = f"end it on the other hosts, later: lttngtop record stop --host alpha --host down --output {kept} k"
        check(run(TOP, "record", "stop", *there, "--host", "down", "--output", kept, "k"), 1,
              f"^fetched into {kept}\nview it: lttngtop {kept}\n{rest}\n$", "host 'down': ssh cannot reach it: try 'ssh down true'; fetching "
              f"'[^']*', which was kept on the host: host 'alpha': cannot create directory '{kept}/alpha'")
        assert os.listdir(f"{alpha.home}/.cache/lttngtop") == ["k"], "alpha's recording is lost"
        os.remove(f"{kept}/alpha")
        check(run(TOP, "record", "stop", "--host", "alpha", "--output", kept, "k"), 0, "^session 'k' stopped\nfetched into ")
        check_fetched(kept, ("alpha", 3000), ("beta", 200))
        assert os.path.exists(f"{kept}/alpha/lttngtop.json"), "without what its processes were"

        kept += "2"
        check(run(*files, "--output", kept, "--session", "l", "--", "sh", "-c", f"{apps}; mkdir {kept}; touch {kept}/beta"), 1, "",
              f"\nend it on the other hosts, later: lttngtop record stop --host beta --output {kept} l\n")
        os.remove(f"{kept}/beta")
        check(run(TOP, "record", "stop", "--host", "beta", "--output", kept, "l"), 0, "^session 'l' stopped\nfetched into ")
        check_fetched(kept, ("alpha", 3000), ("beta", 200))

        # A remote flight recorder: each snapshot is fetched.
        check(run(*files, "--snapshot", "--output", f"{fetched}3"), 0, "take a snapshot: lttngtop record snapshot --host alpha")
        for number, total in (("1", 3000), ("2", 6000)):
            check(run("sh", "-c", apps), 0)
            check(run(TOP, "record", "snapshot", *there, "--output", f"{fetched}3/{number}"), 0, f"^fetched into {fetched}3/{number}\n")
            assert babeltrace_counts(f"{fetched}3/{number}/alpha")["lttng_ust_tracef:event"] == total
        check(run(TOP, "record", "stop", *there), 0, "^session 'lttngtop-[^']*' stopped\n$")
        check(run(TOP, "record", "snapshot", *there, "nosuch"), 1, "", "host 'beta': lttng failed there")
        check(run(*files, "--host", "down", "--output", f"{fetched}4", "--", "sh", "-c", apps), 3, "", down.format("down"))
        check_fetched(f"{fetched}4", ("alpha", 3000), ("beta", 200))
        check(run(TOP, "record", "stop", *there, "--host", "down"), 1, "", "host 'down': ssh cannot reach it")
        script = run(*files, "--dry-run", "--session", "d", "--output", f"{fetched}5", "--", "sh", "-c", apps)[1]
        assert run("sh", "-e", "-c", script)[0] == 0, script
        check_fetched(f"{fetched}5", ("alpha", 3000), ("beta", 200))
        for u in (alpha, beta):
            check(u.run("lttng", "--no-sessiond", "list"), 0, "(no available recording session|No recording sessions available)")
    return None


def write_script(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)


def test_host_that_lacks_things():
    """--host, where the kernel tracer lacks a tracepoint or a context, or would crash the kernel with one."""
    base = os.path.abspath("lacking")
    write_script(f"{base}/local/ssh", f"PATH={base}/remote:$PATH exec sh -c \"$2\"\n")
    write_script(f"{base}/remote/lttng", f"""echo "$@" >>{base}/log
        case "$*" in
        "create --list-options") cat {base}/options;;
        "list --kernel") cat {base}/names;;
        "--no-sessiond list s") exit 1;;
        *--type=net_ns*) echo 'Error: net_ns: Context unavailable on this kernel' >&2; exit 1;;
        esac\n""")
    write_script(f"{base}/remote/cat", f"""[ "$1" = /sys/module/lttng_tracer/version ] || exec /bin/cat "$@"
        read v <{base}/version && echo $v\n""")
    script = subprocess.run([TOP, "record", "--dry-run"], check=True, stdout=subprocess.PIPE, text=True).stdout
    listed = [name for name in re.search(r" for n in ([^;]+);", script).group(1).split() if name != "block_rq_remap"]
    nobody, = sandbox.free_ports(1)

    def record(version, *options, row="      {} (loglevel: TRACE_EMERG (0)) (type: tracepoint)\n", format_option=""):
        with open(f"{base}/version", "w", encoding="ascii") as file:
            file.write(version)
        with open(f"{base}/options", "w", encoding="ascii") as file:
            file.write("--live\n" + format_option + "--shm-path\n")
        with open(f"{base}/names", "w", encoding="utf-8") as file:
            file.writelines(map(row.format, listed))
        with open(f"{base}/log", "w", encoding="ascii"):
            pass
        done = subprocess.run([TOP, "record", "--live", "net://127.0.0.1", "--live-port", str(nobody), "--session", "s",
                               "--host", "h", *options], env={**os.environ, "PATH": f"{base}/local:" + os.environ["PATH"]},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=sandbox.PATIENCE, check=False)
        with open(f"{base}/log", encoding="ascii") as file:  # the host's process checks for its session
            log = [line for line in file.read().splitlines() if line != "--no-sessiond list s"]
        return (done.returncode, done.stdout, done.stderr), log

    # lttng 2.16 writes the second, in a locale without that character the third, and can choose a format
    newer = {"format_option": "--trace-format\n"}
    for more in ({}, {"row": "  🞂 `{}`\n", **newer}, {"row": "  > `{}`\n", **newer}):
        result, log = record("2.13.10\n", **more)
        check(result, 0, "stop it", "warning: h: this kernel's tracer has no tracepoint 'block_rq_remap', so these will be "
              "missing: disk requests to stacked devices\n.*warning: h: this kernel's tracer has no context 'net_ns', .*missing: its network namespace\n")
        assert result[2].count("will be missing") == 2, result
        assert log[0] == "create --list-options" and log[1].startswith("create s ") and log[-1] == "start s", log
        assert log[1].endswith(" --trace-format=ctf-1.8") == bool(more), log[1]
        enabled, = (line for line in log if line.startswith("enable-event ") and "sched_switch" in line)
        assert sorted(enabled.split()[-1].split(",")) == sorted(listed), enabled
    assert any("--type=uid" in line for line in log) and not any("--type=prio" in line for line in log), log
    result, log = record("2.13.10\n", "--event", "block_rq_remap")
    check(result, 1, "", "this kernel has no tracepoint block_rq_remap\n.*host 'h': lttng failed there")
    assert log[-1] == "destroy s", log
    result, log = record("2.13.10\n", "--event", "sched_switch", row="  🞂 `{}`\n")
    check(result, 0, "stop it", "no context 'net_ns'")
    result, log = record("2.13.10\n", "--context", "net_ns")
    check(result, 1, "", "Error: net_ns: .*host 'h': lttng failed there")
    assert log[-1] == "destroy s", log
    for version, refused in (("2.13.0\n", True), ("2.13.9-rc1\n", True), ("2.13.10\n", True), ("", True),
                             ("2.13.11\n", False), ("2.13.18\n", False), ("2.14.0\n", False)):
        result, log = record(version, "--context", "prio")
        assert any("--type=prio" in line for line in log) != refused, f"{version}: {log}"
        assert not log if refused else log[-1] == "start s", f"{version}: {log}"
        if refused and version:
            check(result, 1, "", f"context prio: lttng-modules {version.strip()} crashes the kernel with it: "
                  "update to 2.13.11 or later\n.*host 'h': lttng failed there")
    result, log = record("2.13.9\n", "--context", "prio", "--unsafe")
    check(result, 0, "stop it", "context prio: lttng-modules 2.13.9 crashes the kernel with it")
    assert any("--type=prio" in line for line in log), log
    result, log = record("2.13.18\n", "--kprobe", "a=no_such_symbol_of_any_kernel")
    if os.access("/proc/kallsyms", os.R_OK):
        check(result, 1, "", "this kernel has no symbol no_such_symbol_of_any_kernel")
        assert log[-1] == "destroy s", log
    result, log = record("2.13.18\n", "--perf", "L1-dcache-loads")
    check(result, 1, "", "this machine does not list counter L1-dcache-loads")
    assert not log, log


def main():
    sandbox.begin(ust=True)
    # Copies that the other user can reach.
    shutil.copy(os.environ["LTTNGTOP"], TOP)
    shutil.copy(f"{BUILD}/tests/live/ust_app", APP)
    cases.run(globals())


if __name__ == "__main__":
    main()
