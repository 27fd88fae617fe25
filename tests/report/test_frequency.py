#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Frequencies of CPUs: the mean over time, for the whole and for intervals, computed again from babeltrace2's text.

The recordings declare power_cpu_frequency, but no guest ever changed a frequency, so this test writes the trace.
"""

import os
import random
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "truth"))
sys.path.insert(0, os.path.join(HERE, "..", "waits"))
sys.path.insert(0, os.path.join(HERE, ".."))
import cases  # noqa: E402
import ctf  # noqa: E402
import harness  # noqa: E402

BEGIN = 10**18
TRACE = "frequency/host/kernel"
EVENT = re.compile(r"\[(\d+)\.(\d{9})\] .*power_cpu_frequency: \{ cpu_id = \d+ \}, \{ state = (\d+), cpu_id = (\d+) \}$")


def write():
    """CPU 2 never changes; the events of CPU 1 come on CPU 0, those of CPU 0 only in the second half."""
    rng, trace, now = random.Random(1), ctf.Trace("host"), BEGIN
    for i in range(3000):
        now += rng.randrange(1000, 2_000_000)
        on = rng.randrange(3)
        trace.add(now, "sched_switch", ("prev_comm", "text", 16, ""), ("prev_tid", "s32", 0), ("prev_prio", "s32", 20),
                  ("prev_state", "s64", 0), ("next_comm", "text", 16, ""), ("next_tid", "s32", 0),
                  ("next_prio", "s32", 20), cpu=on)
        if i % 3 == 0:
            of = rng.randrange(2) if i > 1500 else 1
            trace.add(now, "power_cpu_frequency", ("state", "u32", rng.randrange(800_000, 4_000_000)),
                      ("cpu_id", "u32", of), cpu=0)
    shutil.rmtree("frequency", ignore_errors=True)
    trace.write(TRACE)


def changes():
    """CPU -> [(time, kHz)]"""
    text = subprocess.run(["babeltrace2", "--clock-seconds", TRACE], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = {}
    for event in filter(None, map(EVENT.search, text.splitlines())):
        found.setdefault(int(event[4]), []).append((int(event[1] + event[2]), int(event[3])))
    return found


def mean(steps, begin, end):
    """The mean over the part of [begin, end[ in which it is known; None if there is no such part."""
    total = known = 0
    for (time, khz), (until, _) in zip(steps, steps[1:] + [(end, 0)]):
        ns = max(0, min(until, end) - max(time, begin))
        total, known = total + ns * khz, known + ns
    return total / known if known > 1000 else None


def compare(report):
    found, known = changes(), 0
    for row in report.rows:
        want = mean(found.get(row["cpu"], []), report.begin, report.end)
        if want is None:
            assert row["frequency_khz"] is None, (report.begin, row)
            continue
        # whole microseconds: less than one is cut from each, at up to 4 GHz
        steps = sum(report.begin <= t < report.end for t, _ in found[row["cpu"]]) + 2
        assert abs(row["frequency_khz"] - want) <= 1 + steps * 1000 * 4_000_000 / (report.end - report.begin), (row, want)
        known += 1
    return known


def test_whole():
    write()
    whole = harness.report("cpus", "frequency")
    assert {r["cpu"]: r["frequency_khz"] is not None for r in whole.rows} == {0: True, 1: True, 2: False}
    assert compare(whole) == 2


def test_intervals():
    write()
    pieces = harness.run("cpus", "--interval", "97ms", "frequency")
    known = [compare(piece) for piece in pieces]
    assert len(pieces) > 20 and known[1] == 1 and known[-2] == 2, known


def test_recordings_have_none():
    rows = harness.report("cpus", os.path.join(harness.BUILD, "traces", "kprobe")).rows
    assert rows and all(r["frequency_khz"] is None for r in rows)


if __name__ == "__main__":
    harness.need_program()
    harness.need("babeltrace2")
    cases.run(globals())
