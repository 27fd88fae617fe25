#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Workers that were taken over: whatever they do to the descriptors they share, `q` and SIGTERM end the monitor.

The test takes the worker's descriptors (pidfd_getfd) and does what the worker itself could do with them: it clears
their O_NONBLOCK; the worker is stopped, so that it neither reads nor writes any more.
"""

import ctypes
import errno
import fcntl
import os
import signal
import sys

from terminal import READY, Checks, Terminal, need, skip, unpack

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "source"))
from processes import Held, wait_for, waits  # noqa: E402

SYS_PIDFD_GETFD = 438
libc = ctypes.CDLL(None, use_errno=True)


def take_over(worker):
    """Clears O_NONBLOCK of every descriptor it shares with the parent."""
    pidfd = os.pidfd_open(worker)
    for name in os.listdir(f"/proc/{worker}/fd"):
        fd = libc.syscall(SYS_PIDFD_GETFD, pidfd, int(name), 0)
        if fd < 0 and ctypes.get_errno() in (errno.EPERM, errno.ENOSYS):
            skip("not allowed to take a worker's descriptors")
        if fd >= 0:
            fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) & ~os.O_NONBLOCK)
            os.close(fd)
    os.close(pidfd)


def start():
    """A monitor whose only worker was taken over in the middle
    of the recording, and that has read all data there was."""
    held = Held()
    terminal = Terminal("--workers", "1", unpack("hotplug"), env=held.environment, ready=None)
    try:
        program = terminal.wait_program()
        worker = held.stop_midway(program, 1)[0]
        os.kill(worker, signal.SIGSTOP)
        take_over(worker)
        held.go_on(but=[worker])
        terminal.wait(READY)
        terminal.keys("Z")  # any key: the last one that is certain to be seen
        wait_for("monitor that waits for its worker", lambda: waits(program))
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
