#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`record` and session daemons that hang, end or belong to others, and signals while it waits for one."""
import contextlib
import fcntl
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
from recorder import (APP, EVENTS, TOP, begin, check, check_counts, in_private_run, interrupt, no_private_run, touch,
                      write_script)
from sandbox import user

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "source"))
import processes  # noqa: E402


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
        with sandbox.stopped(*consumers(u)):
            line = ""
            while f"waiting for the session daemon to {purpose} session 'stuck'; ^C stops waiting" not in line:
                line = record.stderr.readline()
                assert line, "nothing is said"
            record.send_signal(signal.SIGINT)
            said = record.stderr.read()
            assert record.wait(sandbox.PATIENCE) == -signal.SIGINT, record.returncode
            assert re.search(what, said), said
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
        with sandbox.stopped(u.sessiond_pid()):
            for words in (("status",), ("stop",), ("refresh", "x"), ("--ust", EVENTS), ("--ust", EVENTS, "--session", "x"),
                          ("--ust", EVENTS, "--session", "x", "--", "true")):
                asks = u.start(TOP, "record", *words, stderr=subprocess.DEVNULL)
                sandbox.wait_until(lambda pid=asks.pid: waits_for_daemon(pid), "a question")
                asks.send_signal(signal.SIGINT)
                assert asks.wait(sandbox.PATIENCE) == -signal.SIGINT, f"{words}: {asks.returncode}"


def waits_for_daemon(pid):
    """Whether it sleeps with a connection."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        sleeps = file.read().rpartition(")")[2].split()[0] == "S"
    links = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            links.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return sleeps and any(link.startswith("socket:") for link in links)


def test_library_that_cannot_be_loaded():
    """That is the reason, for every verb; the daemon of another installation would not be reached: it is not started."""
    with user("no-library") as u:
        write_script(f"{u.home}/sessiond", 'touch "$LTTNG_HOME/was-started"\n')
        os.mkdir(f"{u.home}/lib")
        touch(f"{u.home}/lib/liblttng-ctl.so.0")
        u.env.update(LD_LIBRARY_PATH=f"{u.home}/lib", LTTNG_SESSIOND_PATH=f"{u.home}/sessiond")
        reason = f"^lttngtop: liblttng-ctl cannot be loaded: {u.home}/lib/liblttng-ctl.so.0: file too short; 'lttngtop doctor' prints what to do\n$"
        os.makedirs(f"{u.home}/lttng-traces/lttngtop-1")
        for words in (("--ust", EVENTS, "--", "true"), ("--ust", EVENTS), ("stop",), ("status",)):
            check(u.run(TOP, "record", *words), 1, "", reason)
        assert not os.path.exists(f"{u.home}/was-started")
        out = u.run(TOP, "doctor")[1]
        assert re.search(r"(?m)^  missing  library +liblttng-ctl cannot be loaded: .*file too short\n +-> .*LD_LIBRARY_PATH", out), out
    with user("library") as u:
        assert re.search(r"(?m)^  ok       library +liblttng-ctl can be loaded$", out := u.run(TOP, "doctor")[1]), out


def test_daemon_that_cannot_be_reached():
    """A daemon that was started in vain is ended."""
    if os.path.exists("/var/run/lttng/lttng-sessiond.pid"):
        return "there is root's session daemon, too"
    with user("unreachable") as u:
        write_script(f"{u.home}/sessiond", 'lttng-sessiond "$@" && cp "$LTTNG_HOME/.lttng/lttng-sessiond.pid" started && '
                     'rm "$LTTNG_HOME/.lttng/client-lttng-sessiond"\n')
        u.env["LTTNG_SESSIOND_PATH"] = f"{u.home}/sessiond"
        check(u.run(TOP, "record", "--ust", EVENTS, "--", "true"), 1, "", f"^lttngtop: '{u.home}/sessiond' starts, but does not answer: ")
        assert os.path.getsize(f"{u.home}/started") and not u.sessiond_pid(), "a session daemon is left"
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


def test_no_group():
    """Where nobody has created group 'tracing', joining it is no advice."""
    if reason := no_private_run():
        return reason
    with user("no-group") as u:
        script = """grep -v '^tracing:' /etc/group >group; mount --bind group /etc/group
                    exec setpriv --reuid=65534 --regid=65534 --clear-groups "$0" record -- true"""
        check(in_private_run(u, "sh", "-c", script, TOP), 1, "", "^lttngtop: only root can trace the kernel, because this machine has no "
              "group 'tracing' for other users: use sudo\n$")
    return None


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
                  f"^lttngtop: starting session 's': [^;]*; cannot reach relayd '{url}' from this machine: cannot connect: Connection refused: no lttng-relayd listens there\n$")
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
                                                    f"'{url}' from this machine: cannot connect: Connection refused: no lttng-relayd listens there\n$", out), out
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
        check(u.run(TOP, "record", "stop", "nosuch"), 1, "", "^lttngtop: no session daemon is running, so there are no sessions\n$")
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


def killed_record(u, *options):
    """A record of session 's', into the directory 'o', that was killed while its command ran."""
    record = u.start(TOP, "record", "--ust", EVENTS, "--session", "s", "--output", "o", *options, "--", "sh", "-c",
                     f"{shlex.quote(APP)} 50; touch ran; exec sleep 1000", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                     start_new_session=True)
    sandbox.wait_until(lambda: os.path.exists(f"{u.home}/ran"), "the command")
    record.kill()
    record.wait(sandbox.PATIENCE)
    os.killpg(record.pid, signal.SIGTERM)  # the command
    os.unlink(f"{u.home}/ran")
    assert "\ns: recording" in "\n" + u.run(TOP, "record", "status")[1], "its session is gone already"


def test_killed_record():
    """kill -9 of a record with a command: the next record ends its session, and the daemon that it had started."""
    with user("killed-record") as u:
        remains = f"{u.home}/lttngtop-{u.ids.get('user', os.geteuid())}"
        killed_record(u)
        check(u.run(TOP, "record", "--ust", EVENTS, "--session", "s", "--output", "p", "--", APP, "10"), 0, "", "recorded into")
        check_counts(f"{u.home}/o", 50)
        check_counts(f"{u.home}/p", 10)
        assert not u.sessiond_pid(), "a session daemon is left"
        assert not os.path.exists(remains), os.listdir(remains)

        shutil.rmtree(f"{u.home}/o")
        u.start_sessiond()
        killed_record(u)
        check(u.run(TOP, "record", "--ust", EVENTS, "--session", "t"), 0, "stop it: lttngtop record stop t\n$")
        check(u.run(TOP, "record", "status"), 0, r"^t: recording, [^\n]*\n$")
        check(u.run(TOP, "record", "stop", "t"), 0, "stopped")
        assert u.sessiond_pid(), "the user's session daemon was ended"
        assert not os.path.exists(remains), os.listdir(remains)


def test_killed_record_whose_name_is_used_again():
    """A later session with the name of one that a killed record has left is the user's."""
    with user("same-name", sessiond=True) as u:
        killed_record(u)
        check(u.run(TOP, "record", "stop", "s"), 0, "stopped")
        time.sleep(1.1)  # the daemon knows when a session was created in whole seconds
        check(u.run(TOP, "record", "--ust", EVENTS, "--session", "s"), 0, "stop it")
        check(u.run(TOP, "record", "--ust", EVENTS, "--session", "t"), 0, "stop it")
        check(u.run(TOP, "record", "status"), 0, r"^s: recording, [^\n]*\nt: recording, [^\n]*\n$")


def sessiond_of(home):
    """The pid in the pid file of the session daemon whose LTTNG_HOME this is, or None."""
    try:
        with open(f"{home}/.lttng/lttng-sessiond.pid", encoding="ascii") as file:
            return int(file.read())
    except FileNotFoundError:
        return None


def test_killed_record_of_another_daemon():
    """With another LTTNG_HOME nothing is waited for, and the session is not forgotten; nor is it looked for when its daemon is gone."""
    with user("other-home") as u:
        remains = f"{u.home}/lttngtop-{u.ids.get('user', os.geteuid())}"
        mine = u.env["LTTNG_HOME"]
        killed_record(u)
        other = f"{u.home}/other"
        os.mkdir(other)
        os.chmod(other, 0o777)
        u.env["LTTNG_HOME"] = other
        u.start("lttng-sessiond", "--no-kernel", "--quiet")
        sandbox.wait_until(lambda: sessiond_of(other) and u.run("lttng", "--no-sessiond", "list")[0] == 0, "session daemon")
        record = [TOP, "record", "--ust", EVENTS, "--session", "t", "--output", "q", "--", "true"]
        check(u.run(*record), 0, "", "recorded into")
        assert sessiond_of(other), "the other session daemon was ended"
        u.env["LTTNG_HOME"] = mine
        check(u.run(TOP, "record", "status"), 0, r"^s: recording, [^\n]*\n$")
        check(u.run(*record[:5], "u", "--output", "r", "--", "true"), 0, "", "recorded into")
        assert not u.sessiond_pid(), "the session daemon is left"
        assert not os.path.exists(remains), os.listdir(remains)

        u.start_sessiond()
        shutil.rmtree(f"{u.home}/o")
        killed_record(u)
        os.kill(u.sessiond_pid(), signal.SIGKILL)
        u.env["LTTNG_HOME"] = other
        sandbox.wait_until(lambda: u.processes[-2].poll() is not None, "the daemon's end")  # before the killed record
        check(u.run(*record[:5], "v", "--output", "v", "--", "true"), 0, "", "recorded into")
        assert not os.path.exists(remains), os.listdir(remains)
        u.env["LTTNG_HOME"] = mine


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def test_end_while_another_starts():
    """At its end, too, record waits for another run that starts or ends, which is said, until ^C."""
    with user("both-end", sessiond=True) as u:
        remains = f"{u.home}/lttngtop-{u.ids.get('user', os.geteuid())}"
        with open("said", "w", encoding="utf-8") as file:
            record = u.start(TOP, "record", "--ust", EVENTS, "--output", "o", "--", "sh", "-c",
                             "touch ran; until [ -e go ]; do sleep 0.05; done", stdout=subprocess.DEVNULL, stderr=file)
        sandbox.wait_until(lambda: os.path.exists(f"{u.home}/ran"), "the command")
        with open(f"{remains}/lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            touch(f"{u.home}/go")
            sandbox.wait_until(lambda: "waiting for another lttngtop that starts or ends tracing" in read("said"), "a message")
            record.send_signal(signal.SIGINT)
            assert record.wait(sandbox.PATIENCE) == -signal.SIGINT, record.returncode
        assert "recorded into" in read("said") and os.listdir(remains) == ["lock"], (read("said"), os.listdir(remains))
        check(u.run(TOP, "record", "--ust", EVENTS, "--output", "p", "--", "true"), 0, "", "recorded into")
        assert not os.path.exists(remains), os.listdir(remains)


def test_notes_that_cannot_be_written():
    """A directory for them that is not this user's, or is not there, does not keep it from recording."""
    with user("no-notes", sessiond=True) as u:
        u.env["XDG_RUNTIME_DIR"] = f"{u.home}/no/such"
        for path in ("/proc/1", f"{u.home}/no/such"):
            u.env["TMPDIR"] = path
            check(u.run(TOP, "record", "--ust", EVENTS, "--", APP, "10"), 0, "", r"^session '[^\n]*\n[^\n]*\ncost: [^\n]*\nrecorded into ")


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
        assert not os.listdir(f"{u.home}/q"), os.listdir(f"{u.home}/q")
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


if __name__ == "__main__":
    begin()
    cases.run(globals())
