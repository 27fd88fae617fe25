#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A terminal that is closed ends the monitor as SIGHUP does, whatever the terminal: without a word, and no process is
left."""
import os
import pty
import select
import sys
import tempfile
import time

from terminal import PROGRAM, Checks, need, unpack

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "source"))
from processes import wait_for, workers  # noqa: E402

HUNG_UP = 128 + 1


def run(term, *options):
    """The exit status and the errors of a monitor whose terminal is closed once it shows something."""
    with tempfile.TemporaryFile("w+") as errors:
        pid, master = pty.fork()
        if pid == 0:
            os.dup2(errors.fileno(), 2)
            os.environ.update(TERM=term, LC_ALL="C.UTF-8")
            os.execv(PROGRAM, [PROGRAM, "--no-cache", *options, unpack("three-tier")])
        shown, until = b"", time.monotonic() + 60
        while b"CPU" not in shown and time.monotonic() < until:
            if select.select([master], [], [], 1)[0]:
                shown += os.read(master, 65536)
        started = workers(pid)
        os.close(master)
        _, status = os.waitpid(pid, 0)
        wait_for("end of the workers", lambda: not any(os.path.exists(f"/proc/{w}") for w in started))
        errors.seek(0)
        return os.waitstatus_to_exitcode(status), errors.read(), b"CPU" in shown


def closed(checks):
    for term, *options in (("xterm-256color",), ("tmux-256color",), ("xterm-256color", "--no-mouse"), ("vt100",), ("linux",)):
        name = " ".join([term, *options])
        status, errors, shown = run(term, *options)
        checks.check(f"{name}: it was shown", shown)
        # a hang-up may also come as a signal to the process group
        checks.check(f"{name}: ends as by SIGHUP", status == HUNG_UP, status)
        checks.equal(f"{name}: says nothing", errors, "")


need("zstd")
Checks().run(closed)
