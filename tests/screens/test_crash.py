#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""However the monitor dies, the terminal is as before, and what happened can be read on it."""
import os
import resource
import signal
import tempfile

import cases
from terminal import PROGRAM, Checks, Terminal, need, unpack

need("tmux", "zstd")
CRASHES = (("SEGV", "segmentation fault"), ("BUS", "bus error"), ("ABRT", "abort"), ("FPE", "arithmetic error"),
           ("ILL", "illegal instruction"), ("TRAP", "a library stopped it"))
SIGSTKFLT = 16  # has no name in older versions of Python
OTHERS = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE, signal.SIGALRM, signal.SIGXCPU, signal.SIGPROF, signal.SIGVTALRM,
          signal.SIGIO, signal.SIGPWR, signal.SIGSYS, SIGSTKFLT, signal.SIGRTMIN, signal.SIGRTMAX)
WRAPPER = '#!/bin/sh\nexec {} "$@" 2>&1\n'


def monitor_on_terminal(directory):
    """Its standard error is the terminal, as in a user's shell."""
    script = os.path.join(directory, "monitor")
    with open(script, "w") as f:
        f.write(WRAPPER.format(PROGRAM))
    os.chmod(script, 0o755)
    return Terminal("--pause", "--no-cache", unpack("three-tier"), program=script, size=(100, 60))


def check_end(checks, name, t, status):
    checks.equal(f"{name}: exit status", t.status(), status)
    t.wait("ENDED")
    checks.check(f"{name}: modes restored", t.modes_restored())
    checks.lacks(f"{name}: the screen before is shown again", t.screen(), "PID|F10|^ PAUSE")


def test_signals(checks):
    with tempfile.TemporaryDirectory() as directory:
        for name, text in CRASHES:
            with monitor_on_terminal(directory) as t:
                t.signal(name)
                check_end(checks, name, t, 128 + signal.Signals["SIG" + name])
                checks.contains(f"{name}: what happened", t.screen(), f"crashed: {text}")


def test_other_signals(checks):
    """Those that end a program, and that nobody means to send to this one."""
    with tempfile.TemporaryDirectory() as directory:
        for number in OTHERS:
            with monitor_on_terminal(directory) as t:
                t.signal(str(int(number)))
                check_end(checks, f"signal {int(number)}", t, 128 + number)


def test_output_held(checks):
    """Ctrl-S does not hold up the output, which would also hold up the program's end."""
    with tempfile.TemporaryDirectory() as directory, monitor_on_terminal(directory) as t:
        t.keys("C-s")
        t.wait("this key does nothing here")
        t.signal("TERM")
        check_end(checks, "Ctrl-S, SIGTERM", t, 128 + signal.SIGTERM)


def test_memory(checks):
    """GLib ends a program that it cannot give memory, by a signal of its own."""
    if cases.sanitized():
        print("skip no memory: a sanitizer reserves more than the limit")
        return
    with tempfile.TemporaryDirectory() as directory, monitor_on_terminal(directory) as t:
        resource.prlimit(t.program_pid(), resource.RLIMIT_AS, (1 << 20, resource.RLIM_INFINITY))
        t.keys("b")
        check_end(checks, "no memory", t, 1)
        checks.contains("no memory: said so", t.screen(), r"^lttngtop: out of memory: failed to allocate \d+ bytes$")


Checks().run(test_signals, test_other_signals, test_output_held, test_memory)
