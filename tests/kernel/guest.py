# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests with their own kernels (QEMU), in which the program is tried as an administrator would.

A test is a function whose only argument is a guest:

    def test_cpu(g):
        g.sh("lttngtop record --set minimal --output /tmp/r -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'")
        rows = g.report("cpu", "/tmp/r")
        ...

    guest.main(globals())

main() boots a guest of each release in $LAB_RELEASES (default: "12 13 forky"; missing images are made where
that is possible, see tests/kernel/image), runs all test_* functions in it, and ends it. The guest has the
program in /usr/local/bin.
A guest that died is booted again for the next test. @booted({"variant": "prio-fixed"}, releases=("12",)) gives a test a
guest with these options of Guest, in these releases only; with options for several guests, the test gets that many
arguments. Consecutive tests with the same options share their guests. Where the processors are busy with other work,
$LAB_PATIENCE (180) sets how many seconds a guest may take to answer.

If time is short, $LAB_UNTIL, in seconds since the epoch, is when the last test may start; a guest that is not up within
QUICK_BOOT_SECONDS then means that the machine is too slow for such tests. Tests not run are skipped, and listed.

    with Guest("12", name="db", variant="prio-fixed") as db: ...    # a guest of your own; all have one ssh configuration

    db.run("false")                      (1, "", ""): exit status, standard output, standard error of a shell command
    db.sh("uname -r")                    its output; AssertionError unless its status is 0
    db.start("sleep 9")                  a Popen, of ssh: the command ends with its connection; unless terminal=False
                                         it has a terminal there, and its lines end in CR LF
    db.push("file", "/tmp"), db.fetch("/tmp/dir", ".")     copies files and directories
    db.forward(5344)                     a port of this machine's loopback that leads to the guest's port 5344 ...
    db.backward(5343)                    ... and a port of the guest's loopback that leads to this machine's
    db.terminal("lttngtop --local")      screens.terminal.Terminal: the program on a terminal in the guest
    db.wait_sessiond()                   until the session daemon answers, after "systemctl restart lttng-sessiond"
    db.report("cpu", "/tmp/r", "--comm", "dd")   rows of a report made there, from its JSON
    db.freeze(), db.thaw(), db.reset(), db.kill()          what happens to machines
    db.log()                             what its kernel wrote to the console
    ENV                                  an environment in which ssh knows the guests by name (record --host root@db)

Guests can reach only what is forwarded and, if they have an address (Guest(address="10.77.0.11")), each other. Their
disks are discarded. KVM is used where the processor has it (vmx or svm: a /dev/kvm of another kind runs only kernels
made for it), otherwise emulation on one of this machine's processors, which is about ten times slower.
"""
import atexit
import contextlib
import glob
import json
import math
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "screens"))
import terminal  # noqa: E402

PROGRAM = terminal.PROGRAM
PATIENCE = int(os.environ.get("LAB_PATIENCE", "180"))  # seconds: an emulated machine on a slow one, under load
END_SECONDS = 10  # a machine whose connection was lost may be about to end
UNTIL = float(os.environ.get("LAB_UNTIL", "inf"))
QUICK_BOOT_SECONDS = 90
# Until a guest answers; observed: 25 s alone, 320 s among others.
BOOT_SECONDS = QUICK_BOOT_SECONDS if UNTIL < math.inf else max(600, 2 * PATIENCE)
RELEASES = os.environ.get("LAB_RELEASES", "12 13 forky").split()

# What a kernel that crashed wrote → why: faults in lttng-modules that lttngtop cannot avoid (lttngtop-record(1)).
CRASHES = {
    "client_stream_id+": "its lttng-modules freed a channel that LTTng's consumer still used",  # 2.13 to 2.16, seen once
}

DIRECTORY = tempfile.mkdtemp(prefix="lab-", dir="/tmp")  # short, since it contains sockets
SSH_CONFIG = os.path.join(DIRECTORY, "ssh_config")
ENV = {**os.environ, "PATH": os.path.join(DIRECTORY, "bin") + ":" + os.environ["PATH"]}
atexit.register(shutil.rmtree, DIRECTORY, ignore_errors=True)


class Missing(Exception):
    """Something that a guest needs is missing here."""


class Late(AssertionError):
    """Something did not happen in time."""


def image_of(release):
    """The directory of the image, which is made if necessary."""
    for tool in ("qemu-system-x86_64", "ssh", "tmux"):
        if not shutil.which(tool):
            raise Missing(f"{tool} is not installed")
    done = subprocess.run([os.path.join(HERE, "image"), release], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode:
        raise Missing(re.sub("^skip ", "", done.stderr.strip().split("\n")[-1]))
    return done.stdout.strip()


# One processor whose clock counts instructions, one per ns: no load on the host changes a figure.
COUNTED = ["-accel", "tcg", "-icount", "shift=0,sleep=on", "-cpu", "max,la57=off,pku=off,svm=off", "-smp", "1"]


def acceleration():
    """QEMU's options for the processors. Emulated ones take turns in one thread: in parallel, one may execute a breakpoint
    that another has already replaced, which ends the kernel (int3) while tracepoints are enabled."""
    with open("/proc/cpuinfo", encoding="ascii") as file:
        if re.search(r"^flags.* (vmx|svm)\b", file.read(), re.M) and os.access("/dev/kvm", os.R_OK | os.W_OK):
            return ["-accel", "kvm", "-cpu", "host", "-smp", "2"]
    return ["-accel", "tcg,thread=single", "-cpu", "max,la57=off,pku=off,svm=off", "-smp", "2"]


def clock_options(counted):
    """For the guest's kernel, which does not trust the clocks of emulated processors to agree (they are this
    machine's): it would read a device's clock, which costs more than the rest of a tracepoint. And the frequency
    that it measures is wrong when this machine is busy."""
    if counted:
        return "tsc=reliable"
    with open("/proc/cpuinfo", encoding="ascii") as file:
        text = file.read()
    frequency = re.search(r"^cpu MHz\s*: (\S+)$", text, re.M)
    if not frequency or not re.search(r"^flags.* constant_tsc .*hypervisor", text, re.M):  # elsewhere it is not the clock's
        return ""
    return f"tsc=reliable tsc_early_khz={float(frequency[1]) * 1000:.0f}"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


NETWORK_PORT = free_port()


def wait_until(condition, what, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Late(f"{what}: not within {seconds} s")
        time.sleep(0.1)


def prepare_ssh():
    """An ssh that knows the guests, placed first in the PATH of ENV."""
    if os.path.exists(SSH_CONFIG):
        return
    os.mkdir(os.path.join(DIRECTORY, "bin"))
    with open(SSH_CONFIG, "w", encoding="ascii") as file:
        file.write(f"Include {DIRECTORY}/*.host\nUser root\nHostName 127.0.0.1\nStrictHostKeyChecking no\n"
                   "UserKnownHostsFile /dev/null\nLogLevel ERROR\nBatchMode yes\nIdentitiesOnly yes\nConnectTimeout 60\n"
                   f"ControlPath {DIRECTORY}/%n.ssh\n")
    for tool in ("ssh", "scp"):
        path = os.path.join(DIRECTORY, "bin", tool)
        with open(path, "w", encoding="ascii") as file:
            file.write(f'#!/bin/sh\nexec {shutil.which(tool)} -F {SSH_CONFIG} "$@"\n')
        os.chmod(path, 0o755)


class Crashed(Exception):
    """A kernel's crash that is no fault of the program."""


class Guest:
    """A machine; it is up once the object exists. Use it with "with"."""

    def __init__(self, release="12", name="guest", variant=None, cmdline="", memory_mib=1024, clock_offset_s=0, counted=False,
                 address=None):
        self.release, self.name, self.variant, self.counted = release, name, variant, counted
        self.memory_mib, self.clock_offset_s, self.address = memory_mib, clock_offset_s, address
        self.image = image_of(release)
        prepare_ssh()
        self.console = os.path.join(DIRECTORY, name + ".console")
        self.monitor = os.path.join(DIRECTORY, name + ".monitor")
        self.port = free_port()
        with open(os.path.join(DIRECTORY, name + ".host"), "w", encoding="ascii") as file:  # in place of an earlier guest's
            file.write(f"Host {name}\nPort {self.port}\nIdentityFile {self.image}/key\n")
        self.cmdline = f"root=/dev/vda rw console=ttyS0 oops=panic panic=-1 net.ifnames=0 systemd.hostname={name} " \
            f"systemd.show_status=0 systemd.default_device_timeout_sec=900 systemd.default_timeout_start_sec=900 " \
            f"random.trust_cpu=on fsck.mode=skip mitigations=off no_timer_check " \
            f"{clock_options(counted)} " + cmdline + \
            (f" lab.variant={variant}" if variant else "")
        self.process = self.start_machine()
        try:
            self.connect()
            self.push(PROGRAM, "/usr/local/bin/lttngtop")
        except BaseException:
            self.kill()
            raise

    def start_machine(self):
        start = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() + self.clock_offset_s))
        with open(self.console + ".qemu", "w", encoding="ascii") as log:
            return subprocess.Popen(
                ["qemu-system-x86_64", *(COUNTED if self.counted else acceleration()), "-m", str(self.memory_mib), "-nodefaults",
                 "-no-user-config", "-display", "none", "-no-reboot", "-rtc", f"base={start}", "-kernel", f"{self.image}/vmlinuz",
                 "-initrd", f"{self.image}/initrd.img", "-append", self.cmdline, "-serial", f"file:{self.console}",
                 "-qmp", f"unix:{self.monitor},server=on,wait=off", "-drive",
                 f"if=virtio,file={self.image}/disk,format=raw,snapshot=on,cache=unsafe", "-device", "virtio-rng-pci",
                 "-nic", f"user,model=virtio,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-:22",
                 *self.network()],
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, "TMPDIR": "/var/tmp"})

    def network(self):
        """QEMU's options for a second interface, eth1, to all guests of this program that have one."""
        if not self.address:
            return []
        return ["-nic", f"socket,model=virtio,mcast=230.0.0.1:{NETWORK_PORT},localaddr=127.0.0.1,"
                f"mac=52:54:00:77:00:{int(self.address.rsplit('.', 1)[1]):02x}"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def connect(self):
        """Waits until the guest answers; the first connection carries all later ones."""
        def answers():
            if self.process.poll() is not None:
                raise AssertionError(f"the guest ended: {self.log()[-2000:]}{self.complaint()}")
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self.ssh("-fNM", self.name, timeout=70).returncode == 0
            return False
        wait_until(answers, f"boot of {self.name}", BOOT_SECONDS)
        wait_until(lambda: self.run("systemctl is-system-running")[1].strip() in ("running", "degraded"), "end of the boot",
                   BOOT_SECONDS)
        if self.address:
            self.sh(f"ip link set eth1 up; ip address add {self.address}/24 dev eth1")
        if self.run("systemctl is-active lttng-sessiond")[0] == 0:
            self.wait_sessiond()

    def wait_sessiond(self):
        """Waits until the session daemon has loaded the tracer's modules and answers."""
        wait_until(lambda: self.run("lttng --no-sessiond list")[0] == 0, "the session daemon")

    def ssh(self, *arguments, timeout=PATIENCE, **more):
        return subprocess.run(["ssh", *arguments], env=ENV, timeout=timeout, check=False, text=True,
                              **{"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **more})

    # commands

    def run(self, command, timeout=PATIENCE):
        done = self.ssh(self.name, command, timeout=timeout, stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors="replace")
        if done.returncode == 255:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(END_SECONDS)
            if self.process.poll() is not None:
                self.died_of(command)
        return done.returncode, done.stdout, done.stderr

    def died_of(self, command):
        log = self.log()
        for where, why in CRASHES.items():
            if re.search(rf"RIP: \S*:{re.escape(where)}", log):
                raise Crashed(f"the kernel of {self.name} crashed: {why}")
        raise AssertionError(f"the guest died of {command!r} ({self.process.returncode}):\n{log[-3000:]}{self.complaint()}")

    def sh(self, command, timeout=PATIENCE):
        status, out, err = self.run(command, timeout)
        assert status == 0, f"{command!r}: status {status}\n{out[-2000:]}{err[-2000:]}"
        return out

    def start(self, command, terminal=True, **more):
        return subprocess.Popen(["ssh", "-tt" if terminal else "-T", self.name, command], env=ENV, text=True,
                                **{"stdin": subprocess.PIPE, **more})

    def push(self, path, to):
        self.copy(path, f"{self.name}:{to}")

    def fetch(self, path, to):
        self.copy(f"{self.name}:{path}", to)

    def copy(self, path, to):
        done = subprocess.run(["scp", "-qrp", path, to], env=ENV, timeout=PATIENCE, check=False, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, text=True)
        assert done.returncode == 0, f"copying {path} to {to}: {done.stderr}"

    def forward(self, port):
        here = free_port()
        assert self.ssh("-O", "forward", "-L", f"127.0.0.1:{here}:127.0.0.1:{port}", self.name).returncode == 0, port
        return here

    def backward(self, port, there=0):
        done = self.ssh("-O", "forward", "-R", f"127.0.0.1:{there}:127.0.0.1:{port}", self.name, stdout=subprocess.PIPE)
        assert done.returncode == 0, port
        return there or int(done.stdout)

    def terminal(self, command, **more):
        return terminal.Terminal("-tt", self.name, f"LC_ALL=C.UTF-8 {command}", program=os.path.join(DIRECTORY, "bin/ssh"),
                                 **more)

    def report(self, table, recording, *options):
        """The rows of the report. Status 3 (something was lost) is a failure."""
        command = shlex.join(["lttngtop", "report", table, "--json", *options, recording])
        return json.loads(self.sh(command))["rows"]

    # power and processors

    def log(self):
        try:
            with open(self.console, encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def complaint(self):
        with open(self.console + ".qemu", encoding="utf-8", errors="replace") as file:
            return file.read()

    def freeze(self):
        """Returns once the guest has stopped: on a busy machine a signal takes a while to act."""
        self.process.send_signal(signal.SIGSTOP)
        wait_until(self.is_frozen, "the stop of the machine")

    def is_frozen(self):
        """Whether all of its threads, including its processors, are stopped."""
        states = set()
        for path in glob.glob(f"/proc/{self.process.pid}/task/*/stat"):
            with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
                states.add(file.read().rsplit(")", 1)[1].split()[0])
        return states == {"T"}

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def reset(self):
        """Like its reset button: the disk stays, nothing is written first."""
        self.tell_qemu("set-action", reboot="reset")
        self.tell_qemu("system_reset")
        self.ssh("-O", "exit", self.name)
        self.connect()
        self.tell_qemu("set-action", reboot="shutdown")  # a panic ends it again

    def tell_qemu(self, command, **arguments):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.monitor)
            with s.makefile("rw") as file:
                file.readline()
                for request in ({"execute": "qmp_capabilities"}, {"execute": command, "arguments": arguments}):
                    file.write(json.dumps(request) + "\n")
                    file.flush()
                    reply = json.loads(file.readline())
                    while "event" in reply:
                        reply = json.loads(file.readline())
                    assert "return" in reply, f"{command}: {reply}"

    def kill(self):
        """Like a power failure."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        if os.path.exists(f"{DIRECTORY}/{self.name}.ssh"):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.ssh("-O", "exit", self.name, timeout=20)


def check_near(what, expected, found, share=0.01):
    """Compares a figure with the kernel's."""
    assert found is not None and abs(found - expected) <= share * expected, f"{what}: {found}, the kernel counted {expected}"


def check_cpu_time(what, truth, found):
    """CPU time of a process of load: interrupts in the meantime may be counted or not."""
    least, most = truth["cpu_ns"] * 0.99, truth["cpu_ns"] * 1.01 + truth["interrupts_ns"]
    assert least <= found <= most, f"{what}: {found}, the kernel counted {truth['cpu_ns']} and interrupts {truth['interrupts_ns']}"


def row_of(rows, **key):
    """The only row with these values."""
    found = [row for row in rows if all(row[name] == value for name, value in key.items())]
    assert len(found) == 1, f"{key}: {len(found)} rows of {len(rows)}"
    return found[0]


def run_test(test, guests):
    """Runs a test; returns whether it passed."""
    name = f"{guests[0].release}: {test.__name__}"
    start = time.monotonic()
    try:
        skipped = test(*guests)
        print(f"skip {name}: {skipped}" if skipped else f"ok {name} ({time.monotonic() - start:.0f} s)")
        return True
    except Crashed as error:
        print(f"skip {name}: {error}")
        return True
    except (AssertionError, subprocess.SubprocessError, terminal.Failed) as error:
        if isinstance(error, subprocess.TimeoutExpired):
            kill(guests)  # one hangs: the next test gets new ones
        line = error.__traceback__.tb_next.tb_lineno if error.__traceback__.tb_next else 0
        print(f"not ok {name}: {type(error).__name__} at line {line}: {error}")
        return False


def booted(*options, releases=None):
    """For a test: it runs in these releases, and takes guests with these options, one dictionary per guest."""
    def mark(test):
        test.releases, test.options = releases, options
        return test
    return mark


def kill(guests):
    for g in guests:
        g.kill()


def boot(release, options):
    """A guest for each of the options."""
    guests = []
    start = time.monotonic()
    try:
        for more in options:
            guests.append(Guest(release, **more))
    except BaseException as error:
        kill(guests)
        if isinstance(error, Late) and UNTIL < math.inf:
            raise Missing(f"this machine is too slow for LAB_UNTIL: {error}") from None
        raise
    print(f"# {release}: {', '.join(g.name for g in guests)} up after {time.monotonic() - start:.0f} s", flush=True)
    return guests


def run_tests(tests, release):
    """Returns how many failed."""
    guests, has, failed = [], None, 0
    left = list(tests)
    try:
        for test in tests:
            if time.time() > UNTIL:
                raise Missing("LAB_UNTIL is over")
            options = getattr(test, "options", ({},))
            if release not in (getattr(test, "releases", None) or [release]):
                print(f"skip {release}: {test.__name__}: only in {', '.join(test.releases)}")
                left.remove(test)
                continue
            if options != has or any(g.process.poll() is not None for g in guests):
                kill(guests)
                guests = []
                guests, has = boot(release, options), options
            left.remove(test)
            failed += not run_test(test, guests)
            sys.stdout.flush()
    except Missing as missing:
        names = f", not run: {', '.join(test.__name__ for test in left)}" if left else ""
        print(f"skip {release}: {missing}{names}")
    except AssertionError as error:
        failed += 1
        print(f"not ok {release}: {error}")
    finally:
        kill(guests)
    return failed


def main(names):
    """Runs the functions test_* among the names, or those on the command line, in a guest of each release; exits."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    tests = [f for n, f in names.items() if n.startswith("test_") and (not sys.argv[1:] or n in sys.argv[1:])]
    failed = sum(run_tests(tests, release) for release in RELEASES)
    sys.exit(1 if failed else 0)
