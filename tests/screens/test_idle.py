#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Key i: the replay skips what is idle, however long it is, and nothing that is not.

The recordings are made here. A replay this slow takes minutes to get there by itself.
"""
import os
import sys
import tempfile

from terminal import ROOT, Checks, Terminal, need

sys.path.insert(0, os.path.join(ROOT, "tests", "source"))
import made  # noqa: E402

need("tmux")
SECOND = 10 ** 9
BASE = 1_700_000_000 * SECOND  # 22:13:20 in UTC
STEP = SECOND // 100


def activity(directory, host, seconds):
    """One CPU, busy in the first second and in those given, with a sign of life in all between."""
    with made.Recording(directory, host) as recording:
        for second in range(seconds[-1] + 1):
            begin = BASE + second * SECOND
            busy = second in (0, *seconds)
            # a thread runs, and for the other half of the time the CPU is idle; or for a moment only
            events = made.turns(begin, STEP if busy else STEP // 100, 100 if busy else 2, 0, 1)
            recording.packet(0, begin, begin + SECOND, events)


def skipped_to(*paths, keys=()):
    """How many seconds after BASE the interval begins that is shown after an idle minute."""
    with Terminal("--paused", "--no-sync", "--speed", "0.1", "--begin", "+0s", "--interval", "1s", *paths,
                  size=(120, 24), ready=r"\[.*, .*\[").wait_read() as t:
        if keys:
            t.press(*keys)
        t.keys("i", "F9")
        begin = t.wait(r"\[[\d-]+ 22:(1[4-9]):(\d\d)\.\d+, ")
        return 60 * (int(begin.group(1)) - 13) + int(begin.group(2)) - 20


def long_idle(checks):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "web")
        activity(path, "web", (100,))
        checks.equal("to the next activity", skipped_to(path), 100)


def other_host(checks):
    """What comes first counts, on whichever host."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "web")
        activity(path, "web", (100, 130))
        other = os.path.join(directory, "db")
        activity(other, "db", (70, 120))
        checks.equal("to the other host's activity", skipped_to(path, other), 70)
        checks.equal("unless it is hidden", skipped_to(path, other, keys=("H", "Space", "Escape")), 100)


Checks().run(long_idle, other_host)
