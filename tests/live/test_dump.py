#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A session that was attached after its state dump: the monitor says so and what to do, until a dump arrives."""
import os
import sys

import sandbox
from test_feed import Relayd, interrupt, urls_of

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "screens"), os.path.join(HERE, "..", "waits")]
import ctf  # noqa: E402
from terminal import Checks, Terminal  # noqa: E402

BASE, MS = 1_700_000_000 * 10 ** 9, 10 ** 6
WORDS = "no state dump seen: run 'lttngtop record refresh SESSION' on that host"


def switch(trace, time, prev, following):
    trace.add(time, "sched_switch", ("prev_comm", "text", 16, f"t{prev}"), ("prev_tid", "s32", prev),
              ("prev_prio", "s32", 20), ("prev_state", "s64", 0), ("next_comm", "text", 16, f"t{following}"),
              ("next_tid", "s32", following), ("next_prio", "s32", 20))


def dump(trace, time):
    for tid in range(1, 41):
        trace.add(time + tid, "lttng_statedump_process_state", ("tid", "s32", tid), ("vtid", "s32", tid), ("pid", "s32", tid),
                  ("vpid", "s32", tid), ("ppid", "s32", 1), ("name", "text", 16, f"task{tid}"), ("type", "s32", 0),
                  ("mode", "s32", 5), ("submode", "s32", 0), ("status", "s32", 5), ("ns_level", "u32", 0))
    trace.add(time + 100, "lttng_statedump_end")


def record(name, seconds, dump_at):
    """Two tasks alternate; after this many seconds there is a dump of forty tasks."""
    trace = ctf.Trace(name)
    for i in range(seconds * 10):
        if i == dump_at * 10:
            dump(trace, BASE + i * 100 * MS - MS)
        switch(trace, BASE + i * 100 * MS, 1 + i % 2, 2 - i % 2)
    trace.write(f"{name}/kernel")
    return name


def test_late(checks):
    with Relayd("relayd-late") as relayd:
        feed = relayd.feed("--now", record("late", 14, 8))
        with Terminal(*urls_of(feed, 1), size=(180, 30), ready=None) as t:
            checks.check("reported once, with the known tasks", t.wait(f"^late: 2 tasks known, {WORDS}"))
            checks.check("in the host's line", t.wait(f"^ late .* tasks 2 .*{WORDS}"))
            t.keys("9", "Enter")
            checks.check("whole in what Enter opens", t.wait(f"^ {WORDS}$"))
            t.keys("Escape")
            checks.check("gone once a dump comes", t.wait("^ late .* tasks 40 ") and t.wait_gone(WORDS))
            t.keys("q")
            checks.equal("late: status", t.status(), 0)
        interrupt(feed, "feed")


def test_in_time(checks):
    """No message for a host whose dump was seen; there is one for another host beside it."""
    with Relayd("relayd-time") as relayd:
        feeds = [relayd.feed("--now", record(name, 14, at)) for name, at in (("early", 0), ("never", 13))]
        with Terminal(*(urls_of(feed, 1)[0] for feed in feeds), size=(180, 30), ready=None) as t:
            t.wait(f"^ never .* tasks 2 .*{WORDS}")
            line = next(line for line in t.screen() if line.startswith(" early"))
            checks.check("in time: all are known, nothing is said", "tasks 40" in line and WORDS not in line, line)
            t.keys("q")
            checks.equal("in time: status", t.status(), 0)
        for feed in feeds:
            interrupt(feed, "feed")


if __name__ == "__main__":
    sandbox.begin(tmux=True)
    Checks().run(test_late, test_in_time)
