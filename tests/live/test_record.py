#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`record` with real tracers: user space, since that works everywhere; every refusal where there is no kernel tracer.

babeltrace2 and `report events` count what was recorded; the commands printed by --dry-run are run with the real lttng.
"""
import contextlib
import glob
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import threading
import time

import cases
import sandbox
from recorder import (APP, BUILD, EVENTS, TOP, begin, check, check_counts, count, expected, in_private_run,
                      no_private_run, touch)
from sandbox import user

# In lttng-modules 2.13 and later (instrumentation/events, lttng-context-*.c), but not in the bundled recordings.
KNOWN_EVENTS = {"block_rq_requeue", "block_rq_merge", "block_split", "block_bio_remap", "block_rq_remap", "signal_generate",
                "signal_deliver"}
KNOWN_CONTEXTS = {"net_ns"}


def test_command():
    """Without a daemon: one is started, and ended with the recording. The command's status and stdout are unchanged."""
    with user("command") as u:
        result = u.run(TOP, "record", "--log", "log", "--ust", EVENTS, "--output", "o", "--", APP, "20000", "5")
        check(result, 5, "", rf"cost: {count(f'{u.home}/o')} events, \d+\.\d MB on disk, \d+\.\d{{3}} s of CPU by LTTng's "
              "consumer daemons(?: since they started)?\n"
              f"recorded into {u.home}/o\nview it: lttngtop {u.home}/o\n$")
        check_counts(f"{u.home}/o", 20000)
        with open(f"{u.home}/log", encoding="utf-8") as log:
            noted = re.findall(r"(?m)^[-0-9]{10} [0-9:.]{12} note: (.*)$", log.read())
        assert noted == result[2].splitlines(), (noted, result[2])
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


def test_containers():
    """The first process of each container has the same ID there: they are two processes."""
    inside = ["unshare", "--user", "--map-current-user", "--pid", "--fork"]
    with user("containers") as u:
        if u.run(*inside, "true")[0] != 0:
            return "no permission to create a PID namespace"
        command = shlex.join(inside)
        check(u.run(TOP, "record", "--ust", EVENTS, "--output", "o", "--", "sh", "-c",
                    f"{command} {shlex.quote(APP)} 5 & {command} {shlex.quote(APP)} 9 & {shlex.quote(APP)} 3; wait"), 0, "", "recorded into")
        check_counts(f"{u.home}/o", 5, 9, 3)
        rows = json.loads(u.run(TOP, "report", "emitters", "--json", "--columns", "tid,container,events", "o")[1])["rows"]
        assert sorted(row["events"] for row in rows) == [3 + 1, 5 + 2, 9 + 4], rows
        assert len({row["container"] for row in rows}) == 3 and [row["tid"] for row in rows].count(1) == 2, rows

        # Process 1 of the containers is not the host's, but it is for a recorder in the same container.
        def emitters(path, user_id):
            text = u.run(TOP, "report", "emitters", "--json", "--where", f"user:{user_id}", path)[1]
            return [row["tid"] for row in json.loads(text)["rows"]]
        assert emitters("o", 0) == [], "they are not init"
        check(u.run(*inside, "--mount-proc", TOP, "record", "--ust", EVENTS, "--output", "p", "--", APP, "5"), 0, "", "recorded into")
        assert len(emitters("p", u.ids.get("user", os.getuid()))) == 1, "the user is not known"
    return None


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
        check(u.run(TOP, *ust), 1, "", "no session daemon is running, and '/nowhere/sessiond' cannot be started: "
              "not found; 'lttngtop doctor' prints what to install\n$")
        del u.env["LTTNG_SESSIOND_PATH"]
        home, u.env["LTTNG_HOME"] = u.env["LTTNG_HOME"], "/proc/1"
        check(u.run(TOP, *ust), 1, "", "'lttng-sessiond' fails to start: it cannot create a directory in '/proc/1': [^;]*; set "
              "LTTNG_HOME to another one\n$")
        u.env["LTTNG_HOME"] = home
        if not no_private_run():
            check(in_private_run(u, "sh", "-c", "rmdir /run/lttng; exec env \"$@\"", "sh", "LTTNG_HOME=/nowhere", "LTTNG_SESSIOND_PATH=false", TOP, *ust), 1, "", "'false' fails to start: run "
                  "it by hand to see why\n$")
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
        assert u.run("lttng", "--no-sessiond", "create", "lttngtop-\033]0;t\007", "--output", f"{u.home}/e")[0] == 0
        check(u.run(TOP, "record", "stop"), 0, r"^session 'lttngtop-\\x1b\]0;t\\x07' stopped\n")
        assert u.run("lttng", "--no-sessiond", "create", "a b", "--output", f"{u.home}/a b")[0] == 0
        check(u.run(TOP, "record", "stop", "a b"), 0, "^session 'a b' stopped\n")
        check(u.run(TOP, "record", "stop", "a/b"), 2, "", "^lttngtop: 'a/b' is not a valid session name: no '/', ")
        check(u.run(TOP, *ust, "--output", "/proc/o"), 1, "", "^lttngtop: cannot create directory '/proc/o': ")
        with socket.socket() as deaf:  # bound, so that nobody else listens there
            deaf.bind(("127.0.0.1", 0))
            url = f"net://127.0.0.1:{deaf.getsockname()[1]}"
            check(u.run(TOP, *ust, "--live", url), 1, "", f"cannot reach relayd '{url}' from this machine: cannot connect: Connection refused")
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
                  f"session 'b': channel 'user': [^;]*; cannot reach relayd '{url}' from this machine: cannot connect: Connection refused: no lttng-relayd listens there\n$")
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


def test_full_output():
    """If nobody can know of a session, because its name could not be printed, it does not stay."""
    def full(u, *argv):
        return u.run("sh", "-c", 'exec "$@" >/dev/full', "sh", TOP, *argv)
    none = "(no available recording session|No recording sessions available)"
    lacks_room = "lttngtop: cannot write to standard output: No space left on device"
    with user("full") as u:
        check(full(u, "record", "--ust", EVENTS, "--session", "s", "--output", "o"), 1, "",
              f"^{lacks_room}; session 's' was removed; what it had recorded is in '{u.home}/o'\n$")
        assert not u.sessiond_pid(), "a session daemon is left"
    with user("full-daemon", sessiond=True) as u:
        check(full(u, "record", "--ust", EVENTS, "--session", "s"), 1, "", lacks_room)
        check(u.run("lttng", "--no-sessiond", "list"), 0, none)
        check(u.run(TOP, "record", "--ust", EVENTS, "--session", "s", "--output", "o"), 0, "records into")
        for verb in "status", "stop":
            check(full(u, "record", verb, "s"), 1, "", f"^{lacks_room}\n$")
        check(u.run("lttng", "--no-sessiond", "list"), 0, none)


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


def test_place_of_another_user():
    """root may record into another user's directory; a session whose directory is root's need not be root's."""
    if reason := no_private_run():
        return reason
    with user("place") as u:
        script = """lttng-sessiond --no-kernel --daemonize && mkdir d && chown 65534 d &&
                    "$0" record --ust "$1" --output d && "$0" record stop
                    mkdir roots && lttng -n create lttngtop-other --output "$PWD/roots" >/dev/null
                    "$0" record stop; "$0" record stop lttngtop-other
                    kill $(cat /run/lttng/lttng-sessiond.pid)
                    test -f d/lttngtop.json && ! test -e roots/lttngtop.json"""
        status, out, err = in_private_run(u, "sh", "-c", script, TOP, EVENTS)
        assert status == 0 and len(re.findall("^session '.*' stopped$", out, re.M)) == 2, (out, err)
        assert re.fullmatch("lttngtop: session 'lttngtop-other' may be another user's: give its name if it is meant\n"
                            "lttngtop: warning: .*/roots/lttngtop.json': it may be another user's recording\n", err), err
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
            check_counts(snapshot_of(u.run(TOP, "record", "snapshot")), *counts)
        check(u.run(TOP, "record", "status"), 0, "recording, flight recorder, ")
        check(u.run(TOP, "record", "stop"), 0, "stopped\n$")
        result = u.run(TOP, "record", "--ust", EVENTS, "--snapshot", "--output", "p", "--", APP, "50")
        check(result, 0, "", "recorded into ")
        check_counts(re.search("recorded into (.*)", result[2]).group(1), 50)


def snapshot_of(result):
    check(result, 0, "^snapshot in .*\nview it: lttngtop ")
    return result[1].splitlines()[0].removeprefix("snapshot in ")


def test_snapshots_in_one_second():
    """Each has a directory of its own, which is named."""
    with user("at-once", sessiond=True) as u:
        check(u.run(TOP, "record", "--ust", EVENTS, "--snapshot", "--output", "o"), 0, "take a snapshot: lttngtop record")
        u.run(APP, "100")
        first = snapshot_of(u.run(TOP, "record", "snapshot"))
        u.run(APP, "30")
        second = snapshot_of(u.run(TOP, "record", "snapshot"))
        check_counts(first, 100)
        check_counts(second, 100, 30)
        check(u.run(TOP, "record", "stop"), 0, "stopped\n$")
        assert os.path.exists(f"{u.home}/o/lttngtop.json")


def test_no_snapshot():
    """Of a flight recorder of which no snapshot was taken, nothing is left, not even what would describe it."""
    with user("none", sessiond=True) as u:
        check(u.run(TOP, "record", "--ust", EVENTS, "--snapshot", "--output", "o"), 0, "take a snapshot: lttngtop record")
        check(u.run(TOP, "record", "stop"), 0, "stopped\n$")
        assert not os.listdir(f"{u.home}/o"), os.listdir(f"{u.home}/o")
        assert u.run("lttng", "--no-sessiond", "create", "other", "--snapshot", "--output", f"{u.home}/p")[0] == 0
        check(u.run(TOP, "record", "stop", "other"), 0, "stopped\n$")
        assert not os.path.exists(f"{u.home}/p/lttngtop.json"), "a side-car of nothing"


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
                    str(nobody)), 0, f"^session 't' records to {url}\nstop it", f"no relayd accepts viewers at '127.0.0.1:{nobody}': cannot connect: Connection refused: no lttng-relayd listens there; "
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
        check(u.run(TOP, "record", "status", "s"), 0, "^s: recording, live every ")
        relayd.kill()
        relayd.wait()
        why = (f"^lttngtop: session 's': cannot reach relayd 'net://127.0.0.1:{control}' from this machine: cannot connect: Connection refused: no lttng-relayd listens there; "
               "once it runs again, stop the session and record again\n$")
        for verb, text in ("status", "^s: recording, live every "), ("refresh", "^state dump of session 's' repeated\n$"):
            check(u.run(TOP, "record", verb, "s"), 1, text, why)
        check(u.run(TOP, "record", "status"), 1, "^s: recording, live every ", why)
        relayd.wait()
        check(u.run(TOP, "record", "stop", "s"), 1, "", lost)
        check(u.run(TOP, "record", "status"), 0, "^no sessions\n$")


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


if __name__ == "__main__":
    begin()
    cases.run(globals())
