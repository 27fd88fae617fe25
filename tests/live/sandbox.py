# SPDX-License-Identifier: GPL-2.0-or-later
"""Private tracers for tests: session daemons and relayds of an ordinary user, below a directory, on their own ports.

Only one set of root's daemons can exist per machine, so a test that runs as root uses user
65534 here. Every process that is started is ended by its pid.
"""
import contextlib
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

NOBODY = 65534
PATIENCE = 60  # seconds: the machine may be slow and busy


def missing():
    """The first tool these tests need that is not installed, or None."""
    for tool in ("lttng", "lttng-sessiond", "lttng-relayd", "babeltrace2"):
        if not shutil.which(tool):
            return tool
    return None


def has_ust():
    """Whether the program that emits events (ust_app) was built, and with lttng-ust."""
    program = os.path.join(os.environ["BUILD"], "tests/live/ust_app")
    return os.path.exists(program) and subprocess.run([program, "0"], stdout=subprocess.DEVNULL, check=False).returncode == 0


def begin(recording=None, tmux=False, ust=False):
    """
    To be called first: skips the test, with the reason, if LTTng, the recording, tmux or the program that emits events
    is missing. Allows the daemons' user to work below the current directory.
    """
    why = missing() or ("tmux" if tmux and not shutil.which("tmux") else None)
    if why:
        why += " is not installed"
    elif recording and not os.path.isdir(recording):
        why = f"there is no recording {recording}"
    elif ust and not has_ust():
        why = "built without lttng-ust"
    if why:
        print(f"skip {os.path.basename(sys.argv[0])}: {why}")
        sys.exit(77)
    os.chmod(".", 0o755)


def version_of(tool):
    """The version printed by a program's --version, e.g. (2, 16)."""
    out = subprocess.run([tool, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
    found = re.search(r"(\d+)\.(\d+)", out)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def has_ctf2():
    """Whether LTTng writes CTF 2 by default."""
    return version_of("lttng") >= (2, 15)


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {PATIENCE} s")
        time.sleep(0.02)


def free_ports(n):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]


def wait_for_ports(*ports, address="127.0.0.1"):
    """Waits until a process listens on each of them; a relayd opens its ports one by one."""
    def listens(port):
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as s:
            return s.connect_ex((address, port)) == 0
    for port in ports:
        wait_until(lambda port=port: listens(port), f"a listener on port {port}")


def unread(port):
    """The number of bytes sent to the listener on the port that it has not received."""
    with open("/proc/net/tcp", encoding="ascii") as file:
        rows = [line.split() for line in file.readlines()[1:]]
    return sum(int(row[4].split(":")[1], 16) for row in rows if int(row[1].split(":")[1], 16) == port and row[3] == "01")


def wait_until_it_keeps_waiting(*ports):
    """Waits until data has been sent to one of these ports, whose process is stopped."""
    wait_until(lambda: any(map(unread, ports)), f"somebody who sends to a port of {ports}")


def processes_with(setting):
    """The command lines of the processes whose environments contain this, such as "HOME=/tmp/x/": other tests have the same user."""
    found = []
    for process in glob.glob("/proc/[0-9]*"):
        with contextlib.suppress(OSError), open(f"{process}/environ", "rb") as environ, open(f"{process}/cmdline", "rb") as words:
            if setting.encode() in environ.read():
                found.append(words.read().replace(b"\0", b" ").decode(errors="replace"))
    return found


def has_ipv6():
    """Whether ::1 is available."""
    try:
        with socket.socket(socket.AF_INET6) as s:
            s.bind(("::1", 0))
    except OSError:
        return False
    return True


class User:
    """An ordinary user whose home contains LTTng's files and sockets."""

    def __init__(self, home, path=None):
        self.home = os.path.abspath(home)
        os.makedirs(self.home)
        self.ids = {}
        if os.geteuid() == 0:
            os.chown(self.home, NOBODY, NOBODY)
            self.ids = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        self.env = {**os.environ, "HOME": self.home, "LTTNG_HOME": self.home, "TMPDIR": self.home}
        self.env.pop("XDG_RUNTIME_DIR", None)  # its own is none of this home
        if path:
            self.env["PATH"] = path + ":" + self.env["PATH"]
        self.processes = []

    def bring(self, program):
        """Copies the program to the home directory: this user may not have access to the build directory."""
        return shutil.copy(program, self.home)

    def start(self, *argv, **more):
        more = {"stdin": subprocess.DEVNULL, **more}
        process = subprocess.Popen(argv, cwd=self.home, env=self.env, text=True, **self.ids, **more)
        self.processes.append(process)
        return process

    def run(self, *argv, **more):
        """Runs a command and waits for it; returns status, stdout, stderr."""
        done = subprocess.run(argv, cwd=self.home, env=self.env, stdin=subprocess.DEVNULL, text=True, timeout=PATIENCE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **self.ids, **more)
        return done.returncode, done.stdout, done.stderr

    def sessiond_pid(self):
        try:
            with open(os.path.join(self.home, ".lttng/lttng-sessiond.pid"), encoding="ascii") as file:
                return int(file.read())
        except (OSError, ValueError):
            return None

    def start_sessiond(self, *options):
        self.start("lttng-sessiond", "--no-kernel", "--quiet", *options)
        wait_until(lambda: self.sessiond_pid() and self.run("lttng", "--no-sessiond", "list")[0] == 0, "session daemon")

    def start_relayd(self, ipv6=False):
        """Starts a relayd; returns its control, data and live
        ports (the live port on ::1 if ipv6) and its directory."""
        ports = free_ports(3)
        output = os.path.join(self.home, "relayd")
        options = [f"--{name}-port=tcp://127.0.0.1:{port}" for name, port in zip(("control", "data"), ports)]
        options.append(f"--live-port={'tcp6://[::1]' if ipv6 else 'tcp://127.0.0.1'}:{ports[2]}")
        self.start("lttng-relayd", *options, "--output", output, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        wait_for_ports(*ports[:2])
        wait_for_ports(ports[2], address="::1" if ipv6 else "127.0.0.1")
        return ports, output

    def end(self):
        pid = self.sessiond_pid()
        if pid and pid not in [p.pid for p in self.processes]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            wait_until(lambda: not self.sessiond_pid(), "end of the session daemon")
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


@contextlib.contextmanager
def user(name, sessiond=False, path=None):
    """An ordinary user, with a session daemon or without, whose processes end with the context."""
    u = User(name, path)
    try:
        if sessiond:
            u.start_sessiond()
        yield u
    finally:
        u.end()


@contextlib.contextmanager
def stopped(*pids):
    """These processes do not run while the context lasts."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


class Tracers:
    """A user's session daemon and relayd, and a program whose events they trace. A context manager."""

    def __init__(self, home, ipv6=False):
        self.user = User(home)
        self.ipv6 = ipv6
        self.address = "::1" if ipv6 else "127.0.0.1"  # of the live port

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            stack.callback(self.user.end)
            self.app = self.user.bring(os.path.join(os.path.abspath(os.environ["BUILD"]), "tests/live/ust_app"))
            self.user.start_sessiond()
            (self.control, self.data, self.live), self.output = self.user.start_relayd(self.ipv6)
            self.relayd = self.user.processes[-1]
            stack.pop_all()
        return self

    def __exit__(self, *_):
        if self.relayd.poll() is None:
            self.relayd.send_signal(signal.SIGCONT)
        self.user.end()

    def url(self, name="s1"):
        """The URL of a live session."""
        return f"net://127.0.0.1:{self.live}/host/{os.uname().nodename}/{name}"

    def lttng(self, *argv):
        status, out, err = self.user.run("lttng", "--no-sessiond", *argv)
        assert status == 0, f"lttng {argv}: {out}{err}"

    def create_live(self, name, *options):
        self.lttng("create", name, "--live=100000", f"--set-url=net://127.0.0.1:{self.control}:{self.data}", *options)

    def start_live(self, name="s1", events="lttng_ust_trace*:*", *channel):
        """Starts a live session that records these events, in a channel with these options."""
        self.create_live(name)
        self.lttng("enable-channel", "--userspace", "-s", name, "ch", *channel)
        self.lttng("enable-event", "--userspace", "-s", name, "-c", "ch", events)
        self.lttng("start", name)

    def trace(self, count):
        assert self.user.run(self.app, str(count))[0] == 0
