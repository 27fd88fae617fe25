#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A frame is written at once: a slow line shows no half of one, and a frame costs one system call."""
import os

from terminal import Checks, Terminal, need

need("tmux")
RECORDING = os.path.join(os.environ["BUILD"], "traces", "three-tier")
FRAMES = 6


def writes(pid):
    """The number of write calls that the process has made."""
    with open(f"/proc/{pid}/io", encoding="ascii") as file:
        return int(dict(line.split(": ") for line in file)["syscw"])


def frames(checks):
    with Terminal("--paused", "--no-cache", RECORDING, size=(100, 30)).wait_read() as t:
        pid = t.program_pid()
        before = writes(pid)
        for i in range(FRAMES):
            t.keys(str(1 + i % 2 * 4))
            t.wait("▼CPU%" if i % 2 == 0 else "CALL")
        made = writes(pid) - before
        checks.check(f"{FRAMES} panes drawn by {made} writes", FRAMES // 2 <= made <= FRAMES + 2)
        t.keys("q")
        checks.equal("q", t.status(), 0)


Checks().run(frames)
