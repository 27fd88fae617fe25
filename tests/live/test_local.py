#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`--local` with real daemons, tracing programs instead of the kernel: what is shown, and that nothing is left behind.

Every way to end it: q, Ctrl-C, SIGTERM, kill -9 of the monitor, and of the keeper too; then the next start cleans up.
"""
import contextlib
import fcntl
import glob
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import threading
import time

import cases
import sandbox

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "screens"))
from terminal import Terminal  # noqa: E402

EVENTS = "lttng_ust_trace*:*"
LEVEL = "lttng_ust_tracelog:LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO"


class Local(sandbox.User):
    """A user with a runtime directory, the program, and a traced program."""

    def __init__(self, name):
        super().__init__(name)
        self.runtime = os.path.join(self.home, "run")
        os.mkdir(self.runtime, 0o700)
        if self.ids:
            os.chown(self.runtime, sandbox.NOBODY, sandbox.NOBODY)
        self.env.update(XDG_RUNTIME_DIR=self.runtime, TERM="xterm-256color", LC_ALL="C.UTF-8")
        self.top = self.bring(os.environ["LTTNGTOP"])
        self.app = self.bring(os.path.join(os.path.abspath(os.environ["BUILD"]), "tests/live/ust_app"))
        self.base = os.path.join(self.runtime, "lttngtop")

    def report(self, *command, events=EVENTS, options=()):
        return self.run(self.top, "report", "events", "--json", "--local", "--ust", events, *options, *(["--", *command] if command
                        else []))

    def noted(self):
        """The processes that runs have noted, name: pid."""
        found = {}
        for path in glob.glob(f"{self.base}/*/processes"):
            with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
                for line in file:
                    pid = int(line.split()[0])
                    with contextlib.suppress(OSError), open(f"/proc/{pid}/comm", encoding="ascii") as comm:
                        found[comm.read().strip()] = pid
        return found

    def check_gone(self):
        """Nothing is left: no directory, no daemon."""
        sandbox.wait_until(lambda: not os.path.exists(self.base), "end of all that was started")
        assert not self.sessiond_pid(), "a session daemon is left"


def counts_of(text):
    counts = {}
    for row in json.loads(text)["rows"]:
        counts[row["name"]] = counts.get(row["name"], 0) + row["count"]
    return counts


def expected(n):
    return {"lttng_ust_tracef:event": n, LEVEL: n // 2}


@contextlib.contextmanager
def user(name):
    u = Local(name)
    try:
        yield u
    finally:
        u.end()


class Monitor:
    """The monitor on a terminal of its own."""

    def __init__(self, u, *options, command=("--local", "--ust", EVENTS), inside=()):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, b"\x18\x00\x50\x00\x00\x00\x00\x00")
        self.text = ""
        self.process = u.start(*inside, u.top, *command, *options, stdin=slave, stdout=slave, stderr=slave,
                               start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        with contextlib.suppress(OSError):  # which says that nobody uses the terminal any more
            while True:
                self.text += os.read(self.master, 65536).decode(errors="replace")

    def press(self, keys):
        os.write(self.master, keys)

    def await_text(self, text, after=0):
        sandbox.wait_until(lambda: text in self.text[after:] or not self.reader.is_alive(), f"'{text}' on the screen")
        assert text in self.text[after:], f"ended with {self.process.returncode}: {self.text[-2000:]!r}"

    def await_events(self):
        """Waits until the screen shows an event of the traced program."""
        self.await_text("LIVE")  # keys are for the list from now on
        self.press(b"0")
        self.await_text("tracef")

    def end(self, how, status):
        how()
        assert self.process.wait(sandbox.PATIENCE) == status, f"{self.process.returncode}: {self.text[-2000:]!r}"

    def keeper(self):
        """The process that looks after the tracing: the leader of a session of its own."""
        started = children(self.process.pid)
        keepers = [p for p in started if os.getsid(p) == p]
        assert len(keepers) == 1, f"keepers: {keepers} of {started}"
        return keepers[0]


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(p) for p in file.read().split()]


MONITOR_SIGNALS = {signal.SIGWINCH, signal.SIGCONT, signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


def caught(pid):
    """The signals for which the process has handlers."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        mask = int(re.search(r"^SigCgt:\s+(\w+)$", file.read(), re.M).group(1), 16)
    return {s for s in signal.Signals if mask >> (s - 1) & 1}


def is_worker(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return b"--worker" in file.read().split(b"\0")


def forever(u):
    """A command that traces for ever."""
    return ["sh", "-c", f"while :; do {u.app} 100; sleep 0.1; done"]


def test_report():
    """All events of a command are there; its status and output are unchanged; nothing is left."""
    with user("report") as u:
        status, out, err = u.report("sh", "-c", f"echo text; {u.app} 3000; exit 7")
        assert (status, err) == (7, "text\n") and counts_of(out) == expected(3000), (status, out, err)
        u.check_gone()
        status, out, err = u.report("true")
        assert (status, out) == (0, "") and "nothing was recorded: none of the events occurred" in err, (status, out, err)
        status, out, err = u.report("sh", "-c", "kill -9 $$")
        assert status == 128 + 9 and not out, (status, out, err)
        u.check_gone()


def test_duration():
    """--duration ends the report, and a command that still runs, with whatever it has started."""
    with user("duration") as u:
        for seconds in (3, 10, 40):  # a busy machine may need longer until the program has emitted its events
            status, out, err = u.report("sh", "-c", f"{u.app} 50; sleep 1000 & echo $!; wait", options=["--duration", f"{seconds}s"])
            if err and out and counts_of(out) == expected(50):
                break
        assert status == 128 + signal.SIGTERM and counts_of(out) == expected(50), (status, out, err)
        assert not os.path.exists(f"/proc/{int(err)}/exe"), "what the command has started still runs"
        u.check_gone()


def test_ways_out():
    """q, Ctrl-C, SIGTERM, SIGHUP: the monitor's status, and nothing is left once it has ended."""
    with user("ways") as u:
        for how, status in ((lambda m: m.press(b"q"), 0), (lambda m: os.killpg(m.process.pid, signal.SIGINT), 130),
                            (lambda m: m.process.terminate(), 143),
                            (lambda m: m.process.send_signal(signal.SIGHUP), 129)):
            m = Monitor(u)
            m.await_text("Help")
            app = u.start(*forever(u), stdout=subprocess.DEVNULL)
            m.await_events()
            app.kill()
            app.wait()
            assert u.noted().get("lttng-relayd"), "no relayd is noted"
            m.end(lambda m=m, how=how: how(m), status)
            assert not os.path.exists(u.base) and not u.sessiond_pid(), f"left behind with status {status}"


def test_interrupted_start():
    """Ctrl-C while tracing is being set up: it ends at once, with nothing left."""
    with user("start") as u:
        os.mkdir(f"{u.home}/bin")
        with open(f"{u.home}/bin/lttng-relayd", "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nexec sleep 1000\n")  # never accepts a viewer
        os.chmod(f"{u.home}/bin/lttng-relayd", 0o755)
        u.env["PATH"] = f"{u.home}/bin:{u.env['PATH']}"
        m = Monitor(u)
        sandbox.wait_until(lambda: "sleep" in u.noted(), "relayd")
        pid = u.noted()["sleep"]
        m.end(lambda: os.killpg(m.process.pid, signal.SIGINT), -signal.SIGINT)
        assert not os.path.exists(u.base) and not os.path.exists(f"/proc/{pid}/exe"), "something is left"


def waits_for_daemon(keeper):
    """Whether it waits for an answer of the session daemon: no other connection of the keeper is a Unix stream."""
    with open(f"/proc/{keeper}/wchan", encoding="ascii") as file:
        return file.read().startswith("unix_stream")


def asks_daemon(pid):
    """The same for a request that has a thread of its own."""
    for path in glob.glob(f"/proc/{pid}/task/*/wchan"):
        with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
            if file.read().startswith("unix_stream"):
                return True
    return False


def test_daemon_that_hangs():
    """Ctrl-C while the session daemon does not answer: it still ends, though not at once, and says so."""
    with user("hangs") as u:
        u.start_sessiond()
        with sandbox.stopped(u.sessiond_pid()):
            m = Monitor(u)
            sandbox.wait_until(lambda: "lttng-relayd" in u.noted(), "relayd")
            relayd = u.noted()["lttng-relayd"]
            sandbox.wait_until(lambda: waits_for_daemon(m.keeper()), "question to the session daemon")
            os.killpg(m.process.pid, signal.SIGINT)
            assert m.process.wait(3 * sandbox.PATIENCE) == -signal.SIGINT, m.text
            m.await_text("LTTng does not answer")
            sandbox.wait_until(lambda: not os.path.exists(f"/proc/{relayd}/exe"), "end of the relayd")


def test_start_while_another_starts():
    """Another run that is starting or ending is waited for, which is said, until Ctrl-C, or if the parent dies."""
    with user("second") as u:
        os.mkdir(u.base, 0o700)
        with open(f"{u.base}/lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for path in (u.base, f"{u.base}/lock"):
                os.chmod(path, 0o700)
                os.chown(path, *((sandbox.NOBODY, sandbox.NOBODY) if u.ids else (-1, -1)))
            for number in (signal.SIGINT, signal.SIGKILL):
                m = Monitor(u)
                m.await_text("waiting for another lttngtop that starts or ends tracing")
                keeper = m.keeper()
                m.process.send_signal(number)
                assert m.process.wait(sandbox.PATIENCE) == -number, m.text
                sandbox.wait_until(lambda: not os.path.exists(f"/proc/{keeper}/exe"), "end of the keeper")


def test_slow_end():
    """Signals while the session daemon takes its time to end: the terminal may change its size; Ctrl-C does not wait."""
    for number in (None, signal.SIGINT):
        with user(f"slow-end-{number}") as u:
            u.start_sessiond()
            m = Monitor(u)
            m.await_text("Help")
            with sandbox.stopped(u.sessiond_pid()):
                m.press(b"q")
                m.await_text("\x1b[?1006;1000l")  # it leaves the screen
                sandbox.wait_until(lambda m=m: not caught(m.process.pid) & MONITOR_SIGNALS, "end of its own handling of signals")
                m.process.send_signal(signal.SIGWINCH)
                time.sleep(0.5)
                assert m.process.poll() is None, f"{m.process.returncode}: it did not wait: {m.text[-500:]!r}"
                if number:
                    m.end(lambda m=m: m.process.send_signal(number), -number)
            assert number or m.process.wait(sandbox.PATIENCE) == 0, m.text
            assert "does not answer" not in m.text, m.text[-500:]
            sandbox.wait_until(lambda u=u: not os.path.exists(u.base), "end of all that was started")


def test_interrupted_end():
    """Ctrl-C after --duration, while the session daemon takes its time: what was started is still ended and removed."""
    with user("late") as u:
        u.start_sessiond()
        report = u.start(u.top, "report", "events", "--local", "--ust", EVENTS, "--duration", "2s", stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE)
        sandbox.wait_until(lambda: any(is_worker(pid) for pid in children(report.pid)), "a worker")
        with sandbox.stopped(u.sessiond_pid()):
            sandbox.wait_until(lambda: not any(is_worker(pid) for pid in children(report.pid)), "end of the worker")
            time.sleep(0.5)
            report.send_signal(signal.SIGINT)
            time.sleep(0.5)
            assert report.poll() is None, f"{report.returncode}: it did not wait: {report.stderr.read()}"
        err = report.communicate(timeout=sandbox.PATIENCE)[1]
        assert "does not answer" not in err and not os.path.exists(u.base), err


def test_command_on_screen():
    """The command's output does not disturb the screen: it appears after the screen is left; the status is the command's.
    Its session is the only one.
    """
    with user("screen") as u:
        m = Monitor(u, "--", "sh", "-c", f"echo its-out''put; for i in $(seq 40); do {u.app} 100; sleep 0.1; done; exit 3")
        m.await_events()
        assert "its-output" not in m.text, "on the screen"
        sandbox.wait_until(lambda: "sh" not in u.noted(), "end of the command")
        m.await_text("session ended at")
        m.await_text("ENDED")
        m.end(lambda: m.press(b"q"), 3)
        assert "waiting for another one" not in m.text, m.text[-2000:]
        m.await_text("its-output")
        u.check_gone()


def test_kill():
    """kill -9 of the monitor: the processes it started end at once."""
    with user("kill") as u:
        m = Monitor(u, "--", *forever(u))
        m.await_events()
        m.end(m.process.kill, -signal.SIGKILL)
        u.check_gone()


def start_time(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return int(file.read().rpartition(")")[2].split()[19])


def kill_all(m):
    """The monitor and its keeper; when they are gone they have released their locks."""
    keeper = m.keeper()
    os.kill(keeper, signal.SIGKILL)
    m.end(m.process.kill, -signal.SIGKILL)
    sandbox.wait_until(lambda: not os.access(f"/proc/{keeper}/exe", os.F_OK), "end of the keeper")


def test_next_start():
    """kill -9 of all: the next start ends and removes what is
    left, but not a process that merely reuses a noted pid."""
    with user("next") as u:
        m = Monitor(u, "--", *forever(u))
        m.await_events()
        noted = u.noted()
        kill_all(m)
        mine, other = u.start("sleep", "1000"), u.start("sleep", "1000")
        with open(f"{u.base}/{m.process.pid}/processes", "a", encoding="ascii") as file:
            file.write(f"{other.pid} 0\n")  # a relayd that had ended at once: another tool took its ports
            file.write(f"{other.pid}\n")  # a damaged line
            file.write(f"{mine.pid} {start_time(mine.pid)}\n{other.pid} {start_time(other.pid) + 1}\n")
        assert f"local-{m.process.pid}" in u.run("lttng", "--no-sessiond", "list")[1], "the session is gone already"

        n = Monitor(u)
        n.await_text("Help")
        assert mine.wait(sandbox.PATIENCE) == -signal.SIGTERM and other.poll() is None, "the wrong process was ended"
        sessions = u.run("lttng", "--no-sessiond", "list")[1]
        assert f"local-{m.process.pid}" not in sessions and f"local-{n.process.pid}" in sessions, sessions
        assert not os.path.exists(f"{u.base}/{m.process.pid}"), "the directory is left"
        for name, pid in noted.items():
            sandbox.wait_until(lambda pid=pid: not os.path.exists(f"/proc/{pid}/exe") or not os.access(f"/proc/{pid}/exe", 0),
                               f"end of {name}")
        n.end(lambda: n.press(b"q"), 0)
        u.check_gone()


def test_next_start_while_the_daemon_hangs():
    """The session of a killed run is waited for, which is said, until Ctrl-C, also if one came before; a later start removes it."""
    with user("next-hangs") as u:
        u.start_sessiond()
        m = Monitor(u)
        m.await_text("Help")
        kill_all(m)
        session = f"local-{m.process.pid}"
        says = f"waiting for the session daemon to remove session '{session}'; ^C stops waiting"
        with sandbox.stopped(u.sessiond_pid()):
            n = Monitor(u)
            n.await_text(says)
            n.end(lambda: os.killpg(n.process.pid, signal.SIGINT), -signal.SIGINT)
            n = Monitor(u)
            sandbox.wait_until(lambda: any(asks_daemon(p) for p in children(n.process.pid)), "question to the session daemon")
            os.killpg(n.process.pid, signal.SIGINT)
            n.await_text(says)
            assert n.process.poll() is None, "the first Ctrl-C stops the waiting"
            n.end(lambda: os.killpg(n.process.pid, signal.SIGINT), -signal.SIGINT)
        assert os.path.exists(f"{u.base}/{m.process.pid}/session"), "the session is forgotten"
        status, _, err = u.report(u.app, "50")
        assert (status, err) == (0, ""), (status, err)
        assert session not in u.run("lttng", "--no-sessiond", "list")[1], "the session is left"
        sandbox.wait_until(lambda: not os.path.exists(u.base), "end of all that was started")


def test_daemon_that_recovers():
    """The end of the recording is given up while the session daemon hangs: once it answers, nothing is left."""
    with user("recovers") as u:
        u.start_sessiond()
        daemon = u.sessiond_pid()
        m = Monitor(u, "--", "sh", "-c", f"kill -STOP {daemon}")
        m.await_text("Help")
        try:
            m.await_text("to end session")
            keeper = m.keeper()
            os.kill(keeper, signal.SIGTERM)
            sandbox.wait_until(lambda: not pending(keeper) >> (signal.SIGTERM - 1) & 1, "the keeper gives up")
        finally:
            os.kill(daemon, signal.SIGCONT)
        m.end(lambda: m.press(b"q"), 0)
        assert "may be left" not in m.text, m.text[-2000:]
        assert "local-" not in u.run("lttng", "--no-sessiond", "list")[1], "the session is left"
        sandbox.wait_until(lambda: not os.path.exists(u.base), "end of all that was started")


def pending(pid):
    """The mask of signals that wait for the process."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"^ShdPnd:\s+(\w+)$", file.read(), re.M).group(1), 16)


def test_runtime_directory_of_others():
    """As after su: the one of the environment is another user's, or does not exist."""
    with user("su") as u:
        for path in ("/proc/1", "/run/user/nobody-has-this"):
            u.env["XDG_RUNTIME_DIR"] = path
            status, out, err = u.report(u.app, "50")
            assert (status, err) == (0, "") and counts_of(out) == expected(50), (status, out, err)


def test_two_at_once():
    """Each has its own relayd and events; the session daemon ends with the last one, whichever started it."""
    with user("two") as u:
        first, second = Monitor(u), None
        first.await_text("Help")
        second = Monitor(u)
        second.await_text("Help")
        assert len(os.listdir(u.base)) == 4, os.listdir(u.base)  # two runs, lock, sessiond
        first.end(lambda: first.press(b"q"), 0)
        assert u.sessiond_pid() and len(os.listdir(u.base)) == 3, "the session daemon was ended under the second"
        app = u.start(*forever(u), stdout=subprocess.DEVNULL)
        second.await_events()
        app.kill()
        second.end(lambda: second.press(b"q"), 0)
        u.check_gone()


def test_daemon_stays():
    """A session daemon that was already running, with a session of its own, is used and left alone."""
    with user("daemon") as u:
        u.start_sessiond()
        pid = u.sessiond_pid()
        assert u.run("lttng", "--no-sessiond", "create", "mine", "--output", f"{u.home}/mine")[0] == 0
        status, out, err = u.report(u.app, "70")
        assert status == 0 and counts_of(out) == expected(70), (status, out, err)
        assert u.sessiond_pid() == pid and not os.path.exists(u.base), "the daemon, or the directory"
        assert re.search(r"1\) mine", u.run("lttng", "--no-sessiond", "list")[1]), "the session"


def test_relayd_dies():
    """The monitor stays; everything is removed when it is left."""
    with user("relayd") as u:
        m = Monitor(u, "--", *forever(u))
        m.await_events()
        os.kill(u.noted()["lttng-relayd"], signal.SIGKILL)
        m.press(b"L")
        sandbox.wait_until(lambda: "lttng-relayd" not in u.noted(), "end of relayd")
        m.press(b"qq")
        m.end(lambda: None, 128 + signal.SIGTERM)
        u.check_gone()


def no_mounts():
    if os.geteuid() or subprocess.run(["unshare", "--mount", "true"], check=False, stderr=subprocess.DEVNULL).returncode:
        return "not root, or no mounts of its own"
    return None


AS_NOBODY = ["setpriv", f"--reuid={sandbox.NOBODY}", f"--regid={sandbox.NOBODY}", "--clear-groups"]


def mount_runtime(size, u):
    """A shell command after which the run's directory is a tmpfs of that size."""
    return f"mount -t tmpfs -o size={size},mode=700,uid={sandbox.NOBODY},gid={sandbox.NOBODY} tmpfs {u.runtime}"


def with_disk_of(size, u):
    """Starts a program for which there is only one other disk, of that size."""
    mount = f"{mount_runtime(size, u)} && mount -t tmpfs -o size={size},mode=1777 tmpfs /var/tmp"
    return ["unshare", "--mount", "sh", "-c", f'{mount} && exec {" ".join(AS_NOBODY)} "$@"', "sh"]


def test_small_disk():
    """The relayd may store at most half of the free space: /run is memory that others need, too."""
    with user("small") as u:
        if no_mounts():
            return no_mounts()
        inside = with_disk_of("64m", u)
        u.ids = {}
        command = ["--local", "--buffer-size", "1M", "--ust", EVENTS]
        with Terminal(*inside[1:], u.top, *command, "--", *forever(u), program=inside[0], env=u.env, ready="LIVE") as t:
            lttng = [*AS_NOBODY, "lttng", "--no-sessiond", "--mi=xml", "list"]
            name = re.search("<name>(local-.*?)</name>", u.run(*lttng)[1])[1]
            status, out, err = u.run(*lttng, name)
            assert status == 0, (out, err)
            size, count = (int(re.search(f"<{name}>(\\d+)</{name}>", out)[1]) for name in ("tracefile_size", "tracefile_count"))
            assert 0 < size * count * os.sysconf("SC_NPROCESSORS_CONF") <= 32 << 20, out
            t.keys("q")
            assert t.status() == 128 + signal.SIGTERM, t.status()
    return None


def stores(disk):
    """Directories of relayds on the disk."""
    return set(glob.glob(f"{disk}/lttngtop-*"))


def test_disk():
    """If /run is too small for the buffers, the relayd stores them on a disk,
    and none of them is left: not for long after kill -9 of all."""
    with open("/proc/mounts", encoding="utf-8") as file:
        if no_mounts() or re.search(r" /var/tmp (tmpfs|ramfs) ", file.read()):
            return no_mounts() or "/var/tmp is memory"
    # other programs of this user may use /var/tmp, too
    with tempfile.TemporaryDirectory(dir="/var/tmp") as disk, user("disk") as u:
        os.chmod(disk, 0o1777)
        mount = f"{mount_runtime('16m', u)} && mount --bind {disk} /var/tmp && echo mounted && exec sleep 1000"
        with subprocess.Popen(["unshare", "--mount", "sh", "-c", mount], stdout=subprocess.PIPE, text=True) as holder:
            try:
                assert holder.stdout.readline() == "mounted\n"
                u.ids = {}
                check_disk(u, ["nsenter", f"--mount=/proc/{holder.pid}/ns/mnt", *AS_NOBODY], disk)
            finally:
                holder.kill()
    return None


def check_disk(u, inside, disk):
    def monitor():
        return Monitor(u, "--", *forever(u), command=("--local", "--buffer-size", "8M", "--ust", EVENTS), inside=inside)

    m = monitor()
    m.await_events()
    found = stores(disk)
    assert len(found) == 1, found
    left = found.copy().pop()
    assert os.listdir(f"{left}/relayd"), "nothing is stored there"
    kill_all(m)
    assert os.path.isdir(left), "it is gone already"

    n = monitor()
    n.await_events()
    assert not os.path.exists(left) and len(stores(disk)) == 1, stores(disk)
    n.end(lambda: n.press(b"q"), 128 + signal.SIGTERM)
    assert not stores(disk) and not u.sessiond_pid(), stores(disk)


def test_full_disk():
    """
    The message says which disk is full, and what to do about it: the relayd only ends the session. It is another program
    that fills the disk, here the traced command, as the relayd itself takes no more than half of it.
    """
    if no_mounts():
        return no_mounts()
    with user("full") as u:
        inside = with_disk_of("2m", u)
        said = rf"the relayd's disk is full, in '{u.base}/\d+': free some space there"
        u.ids = {}  # the started program mounts first
        fill = f"head -c 2M /dev/zero >{u.runtime}/full 2>&-"
        much = ["--", "sh", "-c", f"{fill}; while :; do {u.app} 5000; done"]
        status, out, err = u.run(*inside, u.top, "report", "events", "--local", "--ust", EVENTS, "--duration", "100s", *much)
        assert re.search(said, err) and status == 128 + signal.SIGTERM, (status, out, err)
        with Terminal(*inside[1:], u.top, "--local", "--ust", EVENTS, *much, program=inside[0], env=u.env, size=(200, 30),
                      ready=None) as t:
            t.wait(r"^ CPU +I/O |disk is full")  # there is a pane to choose, or there never was an event
            t.keys("9")
            t.wait("the relayd's disk is full")
            t.keys("q")
            assert t.status() == 128 + signal.SIGTERM, t.status()
    return None


def test_no_room():
    """If it cannot be noted what the next start has to remove, nothing is started."""
    if no_mounts():
        return no_mounts()
    with user("room") as u:
        inside = [*with_disk_of("16k", u), "sh", "-c", f'head -c 16384 /dev/zero >{u.runtime}/full; exec "$0" "$@"', u.top]
        u.ids = {}
        status, out, err = u.run(*inside, "report", "events", "--local", "--ust", EVENTS, "--", u.app, "100")
        assert status == 1 and not out, (status, out, err)
        assert re.search(rf"cannot write '{u.base}/\d+/processes': No space left on device", err), err
        assert not u.sessiond_pid(), "a session daemon is left"
    return None


RELAYD_THAT_LOCKS = """#!/bin/sh
# A relayd after whose start no other process can be noted.
until [ -s {base}/*/processes ]; do sleep 0.02; done
chmod 400 {base}/*/processes
exec {relayd} "$@"
"""


def test_command_that_cannot_start():
    """If tracing cannot start once the command's process waits for it, the reason is printed, and nothing is left."""
    with user("cannot") as u:
        os.mkdir("locks")
        with open("locks/lttng-relayd", "w", encoding="ascii") as file:
            file.write(RELAYD_THAT_LOCKS.format(base=u.base, relayd=shutil.which("lttng-relayd")))
        os.chmod("locks/lttng-relayd", 0o755)
        u.env["PATH"] = f"{os.getcwd()}/locks:{u.env['PATH']}"
        status, out, err = u.report("touch", f"{u.home}/made")
        assert status == 1 and not out, (status, out, err)
        assert re.fullmatch(rf"lttngtop: cannot write '{u.base}/\d+/processes': Permission denied\n", err), err
        assert not os.path.exists(f"{u.home}/made"), "the command ran"
        u.check_gone()


def test_without_words():
    """The sessions of the relayd on this machine, at its usual ports: on a loopback of the test's own."""
    if os.geteuid() or not shutil.which("ip") or subprocess.run(["unshare", "--net", "true"], check=False,
                                                                stderr=subprocess.DEVNULL).returncode:
        return "not root, no ip, or no network namespaces"
    with user("words") as u:
        u.ids = {}  # the started program enters the network first
        with subprocess.Popen(["unshare", "--net", "sh", "-c", "ip link set lo up && echo up && exec sleep 1000"],
                              stdout=subprocess.PIPE, text=True) as network:
            try:
                assert network.stdout.readline() == "up\n"
                inside = ["nsenter", f"--net=/proc/{network.pid}/ns/net", "setpriv", f"--reuid={sandbox.NOBODY}",
                          f"--regid={sandbox.NOBODY}", "--clear-groups", "--"]
                check_without_words(u, inside)
                u.end()
            finally:
                network.kill()
    return None


def check_without_words(u, inside):
    def run(*argv):
        return u.run(*inside, *argv)

    relayd = u.start(*inside, "lttng-relayd", "--output", f"{u.home}/relayd", stderr=subprocess.DEVNULL)
    sandbox.wait_until(lambda: run(u.top, "list")[0] == 0, "relayd")
    status, out, err = run(u.top)
    assert status == 1 and not out and "cannot be traced yet" in err and "lttngtop net://HOST" in err, f"no session: {status} {err}"

    u.start(*inside, "lttng-sessiond", "--no-kernel", "--quiet")
    sandbox.wait_until(lambda: run("lttng", "--no-sessiond", "list")[0] == 0, "session daemon")
    for command in (["create", "stored", "--set-url=net://127.0.0.1"], ["enable-event", "-u", EVENTS], ["start"]):
        assert run("lttng", "--no-sessiond", *command)[0] == 0, command
    status, _, err = run(u.top)
    assert status == 1 and "has none; 1 session there is not live: created without '--live'\n" in err, (status, err)
    assert run("lttng", "--no-sessiond", "destroy")[0] == 0
    assert run(u.top, "record", "--ust", EVENTS, "--live", "net://127.0.0.1", "--live-timer", "200ms", "--session", "theirs")[0] == 0
    m = Monitor(u, command=(), inside=inside)
    m.await_text("Help")
    app = u.start(*inside, *forever(u), stdout=subprocess.DEVNULL)
    m.await_events()
    app.kill()
    m.end(lambda: m.press(b"q"), 0)
    assert "theirs: recording" in run(u.top, "record", "status")[1], "the session was ended"
    check_chooser(u, inside)
    assert not os.path.exists(u.base), "something of its own was started"
    relayd.kill()
    relayd.wait()
    u.start(*inside, "lttng-relayd", "--output", f"{u.home}/relayd2", stderr=subprocess.DEVNULL)
    sandbox.wait_until(lambda: run(u.top, "list")[0] == 0, "another relayd")
    status, out, err = run(u.top, "record", "status", "theirs")
    gone = ("lttngtop: session 'theirs': viewers do not see it at 'net://127.0.0.1': the relayd there was started later, "
            "or is not the one at 'net://127.0.0.1:5342'; stop the session and record again\n")
    assert (status, err) == (1, gone), (status, out, err)
    # one of that name, of another host
    recording = shutil.copytree(os.path.join(os.environ["BUILD"], "traces", "nfs"), f"{u.home}/recording")
    subprocess.run(["chmod", "-R", "a+rX", recording], check=True)
    u.start(*inside, u.top, "feed", "--to", "net://127.0.0.1", "--session", "theirs", "--hostname", "elsewhere", recording,
            stdout=subprocess.DEVNULL)
    sandbox.wait_until(lambda: "elsewhere" in run(u.top, "list")[1], "a session of another host")
    status, out, err = run(u.top, "record", "status", "theirs")
    assert (status, err) == (1, gone), (status, out, err)


def check_chooser(u, inside):
    """Several sessions: which ones are opened."""
    if not shutil.which("tmux"):
        print("skip the choice of sessions: tmux is not installed")
        return
    assert u.run(*inside, u.top, "record", "--ust", EVENTS, "--live", "net://127.0.0.1", "--session", "ours")[0] == 0
    host = os.uname().nodename

    def choose(*keys):
        t = Terminal(*inside[1:], u.top, program=inside[0], env={"HOME": u.home, "TZ": "UTC"}, size=(120, 30), ready=None)
        t.wait(rf"\[ \] {host} +ours +free")
        t.wait(rf"\[ \] {host} +theirs +free")
        return t.keys(*keys)

    def check_opened(t, *urls):
        t.wait("WAITING")
        for url in urls:
            t.wait(rf"{re.escape(url)}(\s|$)")
        shown = re.findall(r"net://\S+", "\n".join(t.screen()))
        assert sorted(shown) == sorted(urls), shown
        t.keys("q")
        assert t.status() == 0

    local = "net://localhost"
    ours, theirs = (f"{local}/host/{host}/{name}" for name in ("ours", "theirs"))
    with choose("Down", "Enter") as t:
        check_opened(t, theirs)
    with choose("Space", "Enter") as t:
        check_opened(t, ours)
    with choose("a") as t:
        t.wait(rf"\[x\] {host} +ours +free")
        t.keys("Enter")
        check_opened(t, local, ours, theirs)
    with choose("Down", "Space") as t:
        t.wait(rf"\[x\] {host} +theirs")
        for command in (["create", "later", "--live=200000", "--set-url=net://127.0.0.1"], ["enable-event", "-u", EVENTS], ["start"]):
            assert u.run(*inside, "lttng", "--no-sessiond", *command)[0] == 0, command
        t.wait(rf"\[ \] {host} +later +free")
        assert u.run(*inside, "lttng", "--no-sessiond", "destroy", "later")[0] == 0
        t.wait(rf"\[ \] {host} +later +gone")
        t.keys("Enter")
        check_opened(t, theirs)
    with choose("q") as t:
        assert t.status() == 0 and t.modes_restored(), t.stderr()
    with choose("C-c") as t:
        assert t.status() == 130 and t.modes_restored(), t.stderr()
    with choose() as t:
        t.resize(20, 12)
        t.wait("^SpaceMark  aAll  Ent$")
        t.keys("q")
        assert t.status() == 0, t.stderr()


SLOW_RELAYD = """#!/usr/bin/env python3
# A relayd that takes viewers at once, and only a second later anything else.
import os, socket, sys, time
port = next(int(a.rsplit(":", 1)[1]) for a in sys.argv if a.startswith("--live-port="))
server = socket.create_server(("127.0.0.1", port))
os.set_inheritable(server.fileno(), False)
time.sleep(1)
os.execv("{relayd}", sys.argv)
"""


def test_relayd_opens_ports_one_after_the_other():
    with user("slow-relayd") as u:
        os.mkdir("slow")
        with open("slow/lttng-relayd", "w", encoding="ascii") as file:
            file.write(SLOW_RELAYD.format(relayd=shutil.which("lttng-relayd")))
        os.chmod("slow/lttng-relayd", 0o755)
        u.env["PATH"] = f"{os.getcwd()}/slow:{u.env['PATH']}"
        status, out, err = u.report(u.app, "100")
        assert status == 0 and counts_of(out) == expected(100), (status, out, err)
        u.check_gone()


SSH = """#!/bin/sh
# Instead of ssh: a host is a user of its own; ports of the loopback are the same on both sides.
while [ "${{1#-}}" != "$1" ]; do shift; done
case $1 in
down*) printf 'no \\033]0;route\\007\\n' >&2; exit 255;;
endless) exec yes;;
silent) exec sleep 600;;
tardy) until [ -e {base}/go ]; do sleep 0.1; done;;
bare) export LTTNG_SESSIOND_PATH=/nowhere;;
lacking) PATH={base}/lacking:$PATH;;
csh) # in quotes it accepts neither newlines nor '!'
    if [ $(printf %s "$2" | wc -l) != 0 ] || printf %s "$2" | grep -q '![^ ]'; then echo Unmatched >&2; exit 1; fi;;
esac
export LTTNG_HOME={base}/$1 HOME={base}/$1
shift
exec sh -c "$*"
"""


def sessions(u):
    return re.findall(r"cluster-\S+", u.run("lttng", "--no-sessiond", "list")[1])


def write_program(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    os.chmod(path, 0o755)


@contextlib.contextmanager
def cluster(*names):
    """Users that are hosts, each with a session daemon, and the one that traces them."""
    write_program("bin/ssh", SSH.format(base=os.getcwd()))
    with contextlib.ExitStack() as stack:
        hosts = [stack.enter_context(user(name)) for name in names]
        for host in hosts:
            host.start_sessiond()
        u = stack.enter_context(user("-".join(["here", *names])))
        u.env["PATH"] = f"{os.getcwd()}/bin:{u.env['PATH']}"
        yield u, *hosts
        u.check_gone()
        for host in hosts:
            assert not sessions(host), f"a session of {host.home} is left"


def cluster_monitor(u, *hosts):
    return Monitor(u, command=["cluster", "--ust", EVENTS, *(f"--host={host}" for host in hosts)])


def ssh_of(m, n):
    """The process that is the monitor's connection to the n-th host."""
    def is_it(pid):
        with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
            return re.search(rf"cluster-\S+-{n}\b", file.read())
    return next(pid for pid in children(m.keeper()) if is_it(pid))


def test_cluster():
    """Machines are traced while they are shown; when the monitor
    ends, in whatever way, their tracing stops by itself."""
    with cluster("web", "db") as (u, web, db):
        def kill_both(m):
            os.kill(m.keeper(), signal.SIGKILL)
            m.process.kill()

        for how, status in ((lambda m: m.press(b"q"), 0), (lambda m: m.process.kill(), -signal.SIGKILL), (kill_both, -signal.SIGKILL)):
            m = cluster_monitor(u, "web", "db")
            m.await_text("Help")
            apps = [there.start(*forever(there), stdout=subprocess.DEVNULL) for there in (web, db)]
            m.await_events()
            for app in apps:
                app.kill()
            assert len(sessions(web)) == len(sessions(db)) == 1, f"{sessions(web)} {sessions(db)}"
            m.end(lambda m=m, how=how: how(m), status)
            sandbox.wait_until(lambda: not sessions(web) and not sessions(db), "end of the sessions there")
        m = cluster_monitor(u, "silent", "web")
        sandbox.wait_until(lambda: sessions(web), "the session of the other one")
        m.end(lambda: m.press(b"\x03"), -signal.SIGINT)


def test_cluster_without_some():
    """Hosts that fail are named, with the reason and what to do; the others are shown. Without any, there is no monitor."""
    with cluster("east", "west") as (u, east, west):
        m = cluster_monitor(u, "east", "down", "bare", "endless", "west", "down2")
        for host in ("down", "down2"):
            m.await_text(rf"{host}: no \x1b]0;route\x07")
            m.await_text(f"warning: host '{host}': ssh cannot reach it or cannot forward ports from it: try 'ssh {host} true'; "
                         "it may also be this machine, or a machine that is given twice")
        m.await_text("warning: host 'bare': lttng failed there: see 'lttngtop doctor --host bare'")
        m.await_text("warning: host 'endless': it sent too much before its tracing began")
        m.await_text("LIVE")
        m.await_text("4 warnings, which L shows; the last: host '")
        assert len(sessions(east)) == len(sessions(west)) == 1, f"{sessions(east)} {sessions(west)}"
        apps = [there.start(*forever(there), stdout=subprocess.DEVNULL) for there in (east, west)]
        m.await_events()
        for app in apps:
            app.kill()
        m.end(lambda: m.press(b"q"), 0)
        m = cluster_monitor(u, "down", "bare", "down2")
        m.end(lambda: None, 1)
        m.await_text("lttngtop: no host could be traced")
        for host in ("down", "bare", "down2"):
            m.await_text(f"warning: host '{host}': ")


def test_cluster_that_waits():
    """A host that takes long does not hold up the others; it is shown when it records."""
    with cluster("prompt", "tardy") as (u, prompt, tardy):
        m = cluster_monitor(u, "prompt", "tardy")
        m.await_text("warning: host 'tardy': its tracing has not begun yet; it is shown once it has")
        m.await_text("LIVE")
        assert sessions(prompt) and not sessions(tardy), f"{sessions(prompt)} {sessions(tardy)}"
        with open("go", "w", encoding="ascii"):
            pass
        sandbox.wait_until(lambda: sessions(tardy), "the session of the tardy one")
        app = tardy.start(*forever(tardy), stdout=subprocess.DEVNULL)
        m.await_events()
        app.kill()
        m.end(lambda: m.press(b"q"), 0)


def test_cluster_that_loses_a_host():
    """The connection to a host ends: the monitor says so, at once and among the messages, and shows the others."""
    with cluster("stays", "goes") as (u, stays, goes):
        m = cluster_monitor(u, "stays", "goes")
        m.await_text("LIVE")
        os.kill(ssh_of(m, 2), signal.SIGTERM)
        lost = "host 'goes': the ssh connection was lost; it is not traced any more"
        m.await_text(lost)
        sandbox.wait_until(lambda: not sessions(goes), "the end of its session")
        m.text = ""
        m.press(b"L")
        m.await_text(lost)
        m.press(b"\x1b")
        app = stays.start(*forever(stays), stdout=subprocess.DEVNULL)
        m.await_events()
        app.kill()
        m.end(lambda: m.press(b"q"), 0)


def test_cluster_with_csh():
    """A host where csh is the login shell."""
    with cluster("csh") as (u, csh):
        m = cluster_monitor(u, "csh")
        m.await_text("LIVE")
        app = csh.start(*forever(csh), stdout=subprocess.DEVNULL)
        m.await_events()
        app.kill()
        m.end(lambda: m.press(b"q"), 0)


def test_cluster_of_a_host_that_lacks_things():
    """Tracepoints of the set that a host's kernel lacks are among the messages."""
    lacks = "lacking: this kernel's tracer has no tracepoint 'sched_process_free', so these will be missing: "
    write_program(f"{os.getcwd()}/lacking/lttng", """#!/bin/sh
        [ "$*" != "list --kernel" ] || echo 'sched_switch sched_process_fork sched_process_exec sched_process_exit
            lttng_statedump_start lttng_statedump_end lttng_statedump_process_state lttng_statedump_process_pid_ns
            lttng_statedump_process_cgroup_ns lttng_statedump_cpu_topology'
        echo Done.\n""")
    with cluster() as (u, *_):
        m = Monitor(u, command=["cluster", "--set", "minimal", "--host", "lacking"])
        m.await_text(lacks)
        m.press(b"L")
        m.await_text("Messages and data quality")
        m.await_text("lacking: this kernel's tracer has no tracepoint", m.text.index("Messages and data quality"))
        m.press(b"\x1bq")
        m.end(lambda: None, 0)
        lacking = set(re.findall(r"no (?:tracepoint|context) '(\w+)'", m.text))
        assert lacking == {"sched_process_free"}, lacking


def test_refusals():
    """Impossible requests are reported, with the right status, and nothing is left."""
    with user("refusals") as u:
        cases = [
            (2, "--local takes no SOURCE", ["report", "events", "--local", "--ust", EVENTS, "recording/"]),
            (2, "option '--ust' needs '--local'", ["report", "events", "--ust", EVENTS, "recording/"]),
            (2, "option '--set' needs '--local' or a COMMAND\n", ["--set", "full", "recording/"]),
            (2, "option '--pid' needs '--local' or a COMMAND\n", ["--pid", "1", "recording/"]),
            (2, "nothing to record", ["report", "events", "--local", "--set", "none"]),
            (127, "cannot run './nowhere': not found", ["report", "events", "--local", "--ust", EVENTS, "--", "./nowhere"]),
            (1, "the monitor needs a terminal", ["--local", "--ust", EVENTS]),
            (1, "the monitor needs a terminal", ["--", "true"]),
            (2, "no machine given", ["cluster"]),
            (2, "cluster takes no SOURCE", ["cluster", "--host", "web", "recording/"]),
            (2, "'-x' is not a valid host", ["cluster", "--host", "-x"]),
            (2, "option '--host' does not apply to the monitor", ["--host", "web", "recording/"]),
        ]
        if not os.path.exists("/var/run/lttng/client-lttng-sessiond"):
            cases.append((1, "only root and members of group 'tracing'.* missing +permission +neither root",
                          ["report", "cpu", "--local"]))
        for status, text, arguments in cases:
            done = u.run(u.top, *arguments)
            assert done[0] == status and re.search(text, done[2], re.S) and not done[1], f"{arguments}: {done}"
            u.check_gone()
        os.mkdir(f"{u.home}/few")
        os.symlink(shutil.which("lttng-sessiond"), f"{u.home}/few/lttng-sessiond")
        path, u.env["PATH"] = u.env["PATH"], f"{u.home}/few"
        done = u.report()
        assert done[0] == 1 and "cannot start lttng-relayd: not found; 'lttngtop doctor' prints" in done[2], done
        u.env["PATH"] = path
        u.check_gone()
        os.mkdir(u.base)
        os.chmod(u.base, 0o755)
        done = u.report()
        assert done[0] == 1 and f"'{u.base}' is not a directory that only this user can access" in done[2], done
        os.rmdir(u.base)


def main():
    sandbox.begin(ust=True)
    cases.run(globals())


if __name__ == "__main__":
    main()
