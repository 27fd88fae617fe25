#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Workers that were taken over: whatever they do to the descriptors they share, `q` and SIGTERM end the monitor.

The test takes the worker's descriptors (pidfd_getfd) and does with them what the worker could do itself:
it clears their O_NONBLOCK; the worker is stopped, so that it neither reads nor writes any more.
"""

import ctypes
import errno
import fcntl
import os
import signal
import subprocess
import time

from terminal import PATIENCE, Checks, Failed, Terminal, need, skip, unpack

SYS_PIDFD_GETFD = 438
libc = ctypes.CDLL(None, use_errno=True)


def workers(parent):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as stat, open(f"/proc/{pid}/cmdline") as cmdline:
                if int(stat.read().rsplit(")", 1)[1].split()[1]) == parent and "--worker" in cmdline.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def take_over(worker):
    """Clears O_NONBLOCK of all it has in common with the parent."""
    pidfd = os.pidfd_open(worker)
    for name in os.listdir(f"/proc/{worker}/fd"):
        fd = libc.syscall(SYS_PIDFD_GETFD, pidfd, int(name), 0)
        if fd < 0 and ctypes.get_errno() in (errno.EPERM, errno.ENOSYS):
            skip("not allowed to take a worker's descriptors")
        if fd >= 0:
            fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) & ~os.O_NONBLOCK)
            os.close(fd)
    os.close(pidfd)


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.002)
    raise Failed(f"no {what} within {PATIENCE} s")


def program_of(terminal):
    try:
        return terminal.program_pid()
    except (OSError, ValueError, IndexError, subprocess.CalledProcessError):
        return None


def sleeps(pid):
    """Asleep for a while: not only for a page."""
    for _ in range(20):
        with open(f"/proc/{pid}/stat") as stat:
            if stat.read().rsplit(")", 1)[1].split()[0] != "S":
                return False
        time.sleep(0.005)
    return True


def start():
    """A monitor whose only worker was taken over in the midst of the recording, and that has read what there was."""
    terminal = Terminal("--workers", "1", unpack("hotplug"), ready=None)
    try:
        program = wait_for("program", lambda: program_of(terminal))
        worker = wait_for("worker", lambda: workers(program))[0]
        # stopped, so that the ring fills and the worker waits for room
        os.kill(program, signal.SIGSTOP)
        wait_for("worker that waits for room", lambda: sleeps(worker))
        os.kill(worker, signal.SIGSTOP)
        take_over(worker)
        os.kill(program, signal.SIGCONT)
        terminal.wait("F1Help|F1He")
        terminal.keys("Z")  # any key: the last one that is sure to be seen
        wait_for("monitor that waits for its worker", lambda: sleeps(program))
        return terminal
    except BaseException:
        terminal.__exit__()
        raise


def test_q(checks):
    with start() as t:
        t.keys("q")
        checks.equal("q ends the monitor", t.status(), 0)
        checks.check("q: the terminal is as before", t.modes_restored())


def test_sigterm(checks):
    with start() as t:
        t.signal("TERM")
        checks.equal("SIGTERM ends the monitor", t.status(), 128 + signal.SIGTERM)
        checks.check("SIGTERM: the terminal is as before", t.modes_restored())


need("tmux", "zstd", "pgrep")
Checks().run(test_q, test_sigterm)
