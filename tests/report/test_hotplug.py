#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
A CPU that goes offline, without thread IDs in the events: LTTng adds no contexts by default. The last event before is a
switch to the CPU's migration thread; the first ones after it need not show which thread runs.

A CPU whose data begins later: it came online then, or its older packets were overwritten. In that case threads that are
ready may have run there, and how long they were ready is not known.

No available recording is like that, so this test writes the traces.
"""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "truth"))
sys.path.insert(0, os.path.join(HERE, "..", "waits"))
sys.path.insert(0, os.path.join(HERE, "..", "source"))
sys.path.insert(0, os.path.join(HERE, ".."))
import cases  # noqa: E402
import ctf  # noqa: E402
import harness  # noqa: E402
import made  # noqa: E402

BEGIN, MS = 10**18, 10**6
TRACE = "offline/host/kernel"


def switch(trace, ms, cpu, prev, following):
    """prev, following: command and TID."""
    trace.add(BEGIN + ms * MS, "sched_switch", ("prev_comm", "text", 16, prev[0]), ("prev_tid", "s32", prev[1]),
              ("prev_prio", "s32", 20), ("prev_state", "s64", 1), ("next_comm", "text", 16, following[0]),
              ("next_tid", "s32", following[1]), ("next_prio", "s32", 20), cpu=cpu)


def write(stays):
    """CPU 1 works for 100 ms, then its migration thread runs, until 600 ms if it stays online."""
    trace, work, migration, idle = ctf.Trace("host"), ("work", 7), ("migration/1", 16), ("swapper/1", 0)
    for ms in range(0, 1001, 100):
        switch(trace, ms, 0, ("swapper/0", 0), ("other", 8))
        switch(trace, ms + 10, 0, ("other", 8), ("swapper/0", 0))
    switch(trace, 0, 1, idle, work)
    switch(trace, 100, 1, work, migration)
    trace.add(BEGIN + 600 * MS, "sched_waking", ("comm", "text", 16, "work"), ("tid", "s32", 7), ("prio", "s32", 20),
              ("target_cpu", "s32", 1), cpu=1)
    switch(trace, 600, 1, migration if stays else idle, work)
    switch(trace, 700, 1, work, idle)
    switch(trace, 1010, 1, idle, work)
    shutil.rmtree("offline", ignore_errors=True)
    trace.write(TRACE)


def times():
    """busy and online of CPU 1, CPU time of the migration thread, in ms."""
    cpu = next(row for row in harness.run("cpus", TRACE)[0].rows if row["cpu"] == 1)
    threads = {row["tid"]: row["cpu_ns"] // MS for row in harness.run("cpu", TRACE)[0].rows}
    return cpu["busy_ns"] // MS, cpu["online_ns"] // MS, threads.get(16, 0)


def test_offline():
    write(stays=False)
    assert times() == (200, 510, 0), times()


def test_stays_online():
    write(stays=True)
    assert times() == (700, 1010, 500), times()


def ready(first_packet):
    """How long two threads that alternate on CPU 0 for 2 s are ready, in all; CPU 1's data begins after 1 s."""
    path = f"later-{first_packet}"
    shutil.rmtree(path, ignore_errors=True)
    with made.Recording(path) as recording:
        recording.packet(0, BEGIN, BEGIN + 2000 * MS, made.turns(BEGIN, 10 * MS, 200))
        recording.packet(1, BEGIN + 1000 * MS, BEGIN + 2000 * MS, made.turns(BEGIN + 1000 * MS, 10 * MS, 100, 3, 4),
                         seq=first_packet)
    return sum(row["ready_ns"] for row in harness.report("cpu", path).rows if row["tid"] in (1, 2)) // MS


def test_came_online():
    assert 1970 <= ready(0) <= 2000, ready(0)


def test_older_packets_overwritten():
    assert 970 <= ready(7) <= 1000, ready(7)


if __name__ == "__main__":
    harness.need_program()
    cases.run(globals())
