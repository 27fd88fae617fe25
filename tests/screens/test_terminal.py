#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The terminal is left as it was found, however the program ends."""

import os
import pty
import re
import select
import signal
import subprocess
import time

from terminal import PATIENCE, PROGRAM, Checks, Terminal, need, skip, unpack

need("tmux", "zstd", "pgrep")
RECORDING = unpack("kprobe") or skip("no recording kprobe")


def restored(checks, what, t, status):
    checks.equal(f"{what}: exit status", t.status(), status)
    checks.check(f"{what}: modes restored", t.modes_restored())
    t.wait("^ENDED")
    text = "\n".join(t.screen(styles=True))
    checks.check(f"{what}: left the alternate screen", "CPU%" not in text, text)
    cursor, mouse = t.tmux("display-message", "-p", "#{cursor_flag} #{mouse_any_flag}").split()
    checks.equal(f"{what}: the cursor is visible, the mouse the terminal's", (cursor, mouse), ("1", "0"))


def ends(checks):
    for key in ("q", "F10"):
        with Terminal("--paused", RECORDING) as t:
            t.keys(key)
            restored(checks, key, t, 0)
            checks.equal(f"{key}: nothing on stderr", t.stderr(), "")
    for name in ("TERM", "HUP", "INT", "QUIT"):
        with Terminal(RECORDING) as t:
            t.signal(name)
            restored(checks, f"SIG{name}", t, 128 + int(getattr(signal, "SIG" + name)))
    with Terminal("--paused", RECORDING) as t:
        t.keys("C-c")
        restored(checks, "Ctrl-C", t, 130)
    with Terminal("--paused", RECORDING) as t:
        t.keys("C-\\")
        restored(checks, "Ctrl-\\", t, 131)
        checks.equal("Ctrl-\\: nothing on stderr", t.stderr(), "")


def without_other_screen(checks):
    """A terminal that has no alternate screen: the last line is cleared for the shell, what was shown stays."""
    for end in ("q", "TERM", "SEGV"):
        with Terminal("--paused", RECORDING, env={"TERM": "vt100", "ASAN_OPTIONS": "handle_segv=0"}) as t:
            if end == "q":
                t.keys(end)
            else:
                t.signal(end)
            t.status()
            t.wait("^ENDED")
            checks.lacks(f"vt100, {end}: no function bar", t.screen(), "F1Help|F10Quit")
            checks.contains(f"vt100, {end}: what was shown", t.screen(), "COMMAND")


def crashes(checks):
    for name, word in (("SEGV", "segmentation fault"), ("ABRT", "abort"), ("BUS", "bus error")):
        with Terminal("--paused", RECORDING, env={"ASAN_OPTIONS": "handle_segv=0:handle_abort=0:handle_sigbus=0"}) as t:
            t.signal(name)
            restored(checks, f"SIG{name}", t, 128 + int(getattr(signal, "SIG" + name)))
            said = t.stderr()
            checks.check(f"SIG{name}: says the version and what happened", re.search(rf"lttngtop \d.* crashed: {word}", said), said)
            checks.check(f"SIG{name}: backtrace", len(re.findall(r"\[0x[0-9a-f]+\]|\+0x[0-9a-f]+\)", said)) >= 3, said)


def no_workers_left(checks):
    with Terminal("--paused", RECORDING) as t:
        pid = t.program_pid()
        workers = subprocess.run(["pgrep", "-P", str(pid)], stdout=subprocess.PIPE, text=True, check=False).stdout.split()
        t.signal("KILL")
        t.status()
        until = time.monotonic() + 10
        while any(os.path.exists(f"/proc/{w}") for w in workers) and time.monotonic() < until:
            time.sleep(0.02)
        checks.check("no worker outlives the program", not any(os.path.exists(f"/proc/{w}") for w in workers), workers)


def terminal_goes(checks):
    """The other end of the terminal is closed: the program ends, without spinning."""
    pid, fd = pty.fork()
    if not pid:
        os.environ.update(TERM="xterm")
        os.execv(PROGRAM, [PROGRAM, RECORDING])
    seen = b""
    until = time.monotonic() + PATIENCE
    while b"F10" not in seen and time.monotonic() < until:
        if select.select([fd], [], [], 0.1)[0]:
            seen += os.read(fd, 65536)
    os.close(fd)
    status = None
    while time.monotonic() < until and status is None:
        done, value = os.waitpid(pid, os.WNOHANG)
        if done:
            status = value
        time.sleep(0.02)
    if status is None:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    checks.check("ends when the terminal goes", status is not None and os.waitstatus_to_exitcode(status) == 129,
                 status)


def no_terminal(checks):
    run = subprocess.run([PROGRAM, RECORDING], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, timeout=PATIENCE, check=False)
    checks.equal("no terminal: exit status", run.returncode, 1)
    checks.check("no terminal: no escapes into the pipe", run.stdout == "", run.stdout)
    checks.check("no terminal: says so", "needs a terminal" in run.stderr, run.stderr)
    with Terminal(RECORDING, env={"TERM": "no-such-terminal"}, ready=None) as t:
        checks.equal("unknown terminal: exit status", t.status(), 1)
        checks.check("unknown terminal: says so", "cannot use the terminal 'no-such-terminal'" in t.stderr(), t.stderr())
    with Terminal(RECORDING, env={"TERM": "dumb"}, ready=None) as t:
        checks.equal("dumb terminal: exit status", t.status(), 1)
        checks.check("dumb terminal: says why", re.search("cannot use the terminal 'dumb': its cursor cannot be moved",
                                                          t.stderr()), t.stderr())
        checks.lacks("dumb terminal: nothing on the screen", t.screen(), "CPU|\\[")
    with Terminal(RECORDING, env={"TERM": ""}, ready=None) as t:
        checks.equal("TERM not set: exit status", t.status(), 1)
        checks.check("TERM not set: says so", "TERM is not set" in t.stderr(), t.stderr())
    with Terminal("/no/such/source", ready=None) as t:
        checks.equal("no source: exit status", t.status(), 1)
        checks.check("no source: says so", "/no/such/source" in t.stderr(), t.stderr())
        checks.check("no source: modes", t.modes_restored())


def idle(checks):
    with Terminal("--paused", RECORDING).wait_read() as t:
        t.sync()
        pid = t.program_pid()

        def ticks():
            with open(f"/proc/{pid}/stat") as f:
                return sum(int(x) for x in f.read().rsplit(")", 1)[1].split()[11:13])
        before = ticks()
        time.sleep(2)
        used = ticks() - before
        checks.check("idle while paused", used <= 2, f"{used} ticks in 2 s")


def mouse(checks):
    def flag(t):
        return t.tmux("display-message", "-p", "#{mouse_any_flag}").strip()

    def click(t, button, x, y):
        """A button (64, 65: the wheel) pressed and let go at column x, row y, as a terminal reports it."""
        for b in (button, 3) if button < 64 else (button,):
            t.text("\x1b[M" + chr(32 + b) + chr(33 + x) + chr(33 + y))
        return t.sync()

    with Terminal("--paused", RECORDING).wait_read() as t:
        screen = t.sync()
        checks.equal("asks for the mouse", flag(t), "1")
        head = next(i for i, line in enumerate(screen) if "COMMAND" in line)
        checks.contains("a click selects", click(t, 0, 10, head + 4)[head - 1:head], r" 4/\d+$")
        checks.contains("the wheel moves", click(t, 65, 10, head + 4)[head - 1:head], r" 7/\d+$")
        checks.contains("a click on a head sorts", click(t, 0, screen[head].index("READY") + 1, head), "▼READY")
        begin = t.screen()[0]
        checks.check("a click into the strip jumps", click(t, 0, 60, 2)[0] != begin, begin)
        checks.contains("a click on the function bar", click(t, 0, 1, 23), "─ Help")
    with Terminal("--paused", "--no-mouse", RECORDING).wait_read() as t:
        t.sync()
        checks.equal("--no-mouse leaves it", flag(t), "0")


Checks().run(ends, without_other_screen, crashes, no_workers_left, terminal_goes, no_terminal, idle, mouse)
