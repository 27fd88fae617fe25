#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Random keys, mouse events, texts and sizes for the monitor, on recordings in random combinations: FUZZ_SESSIONS of them,
starting at FUZZ_SEED; the same seed types the same. More: make fuzz.

Whatever is typed, the monitor never dies, never hangs, restores the terminal, and no sanitizer reports anything.
"""
import fcntl
import os
import pty
import random
import re
import select
import signal
import struct
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cases  # pylint: disable=wrong-import-position

LTTNGTOP = os.environ["LTTNGTOP"]
TRACES = os.path.join(os.environ["BUILD"], "traces")
PATIENCE_S = float(os.environ.get("PATIENCE", "60"))
INPUTS = 250  # at most, in each session
SANITIZER = re.compile(rb"AddressSanitizer|LeakSanitizer|UndefinedBehavior|runtime error:")

ESCAPES = ["\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F", "\x1b[2~", "\x1b[3~", "\x1b[Z",
           "\x1bOP", "\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[15~", "\x1b[17~", "\x1b[18~", "\x1b[19~", "\x1b[20~", "\x1b[1;2C",
           "\x1b[1;5D", "\x1b", "\x1b\x1b", "\x1b[<", "\x1b[M", "\x1b[200~pasted\nlines\x1b[201~", "\x1b[", "\x1b[999999;999999;9~"]
# not 'q', nor ^C, ^\ and ^Z: they end or stop it
KEYS = [chr(c) for c in range(0x20, 0x7f) if chr(c) != "q"] + ["\r", "\t", "\x7f", "\x0c", "\x12", "\x15", "\x17", "\x04"]
TEXTS = ["+30s\r", "-1h\r", "0\r", "99999999999999999999\r", "12:00:00\r", "2031-01-01\r", "comm:a*\r", "tid:1 or pid:\r", "((((\r",
         "/[\r", "cpu_percent > 5\r", "host:web\r", "tree:1\r", "%s%n\r", "\u6f22\u5b57\r", "\u00e9\u0301" * 40 + "\r", "A" * 500 + "\r",
         "\udcff\udcfe\r", "../../x\r", "\x1b[31m\r"]
STARTS = [["--interval", "10ms"], ["--begin", "+1s"], ["--paused"], ["--ascii"], ["--no-sync"], ["--no-cache"], [], []]


class Session:
    def __init__(self, seed, directory):
        self.random = random.Random(seed)
        self.typed, self.printed, self.status = [], b"", None
        self.entered = False  # whether it has taken the whole screen, where the terminal can restore it
        names = [name for name in sorted(os.listdir(TRACES)) if os.path.isdir(os.path.join(TRACES, name))]
        self.arguments = self.random.choice(STARTS) + [
            os.path.join(TRACES, name) for name in self.random.sample(names, self.random.choice((1, 1, 1, 2)))]
        environment = {"TERM": self.random.choice(("tmux-256color", "xterm-256color", "xterm-256color", "vt100", "linux")),
                       "LC_ALL": self.random.choice(("C.UTF-8", "C.UTF-8", "C")), "HOME": directory, "PATH": os.environ["PATH"],
                       "TZ": "UTC"}
        environment.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS") or k.startswith("GCOV_")})
        self.errors = os.path.join(directory, "stderr")
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(directory)
            os.dup2(os.open(self.errors, os.O_WRONLY | os.O_CREAT, 0o600), 2)
            os.execve(LTTNGTOP, [LTTNGTOP, *self.arguments], environment)
        self.resize(80, 24)

    def resize(self, columns, lines):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self, seconds):
        """Reads what is printed until nothing comes for so long; whether there is more to come."""
        while select.select([self.terminal], [], [], seconds)[0]:
            try:
                self.printed += os.read(self.terminal, 65536)
            except OSError:  # its last process has ended
                return False
            self.entered = self.entered or b"\x1b[?1049h" in self.printed
            self.printed = self.printed[-100000:]
        return True

    def type(self):
        """One random input; whether the program still reads."""
        kind = self.random.random()
        if kind < 0.55:
            text = self.random.choice(KEYS)
        elif kind < 0.75:
            text = self.random.choice(ESCAPES)
        elif kind < 0.85:
            text = self.random.choice("/\\gb:F*n") + self.random.choice(TEXTS)
        elif kind < 0.95:
            end = self.random.choice("Mm")
            text = f"\x1b[<{self.random.choice((0, 0, 0, 1, 2, 64, 65))};{self.random.randint(0, 90)};{self.random.randint(0, 30)}{end}"
        else:
            text = f"\x1b[<0;{self.random.randint(1, 80)};{self.random.randint(1, 30)}M" * 2
        if kind > 0.98:
            self.resize(*self.random.choice(((1, 1), (20, 5), (80, 24), (200, 60), (80, 24), (500, 3))))
        self.typed.append(text)
        try:
            os.write(self.terminal, text.encode("utf-8", "surrogateescape"))
        except OSError:
            return False
        return self.read(self.random.choice((0, 0, 0.002, 0.02)))

    def end(self):
        """Asks the program to end, if it has not yet; its status, or None if it had to be killed."""
        until = time.monotonic() + PATIENCE_S
        os.kill(self.pid, signal.SIGTERM)
        while time.monotonic() < until:
            self.read(0.02)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.terminal)
                return status
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)
        return None


def said(path):
    with open(path, "rb") as file:
        return file.read()


def run(seed):
    """What went wrong, as text; "": nothing."""
    with tempfile.TemporaryDirectory() as directory:
        session = Session(seed, directory)
        begun = session.read(0.3)
        for _ in range(session.random.randint(INPUTS // 4, INPUTS)):
            if not begun or not session.type():
                break
        status, errors = session.end(), said(session.errors)
    problem = ""
    if status is None:
        problem = "does not end when told to"
    elif os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGTERM:
        problem = f"died of signal {os.WTERMSIG(status)}"
    elif os.WIFEXITED(status) and os.WEXITSTATUS(status) not in (0, 128 + signal.SIGTERM):
        problem = f"exit status {os.WEXITSTATUS(status)}"
    elif SANITIZER.search(errors):
        problem = "a sanitizer reports"
    elif session.entered and b"\x1b[?1049l" not in session.printed[-2000:]:
        problem = "the terminal is not restored"
    if problem:
        problem += f"\n{session.arguments}\n{session.typed[-25:]}\n{errors.decode(errors='replace')[:4000]}"
    return problem


def main():
    first = int(os.environ.get("FUZZ_SEED", "1"))
    for seed in range(first, first + int(os.environ.get("FUZZ_SESSIONS", "6"))):
        problem = run(seed)
        cases.check(f"seed {seed}", not problem, problem)
    cases.finish()


if __name__ == "__main__":
    main()
