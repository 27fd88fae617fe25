#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
`attach --sched`: a thread's switches, migrations, wake-ups and page faults are exactly those in babeltrace2's text, with
their times, CPUs, addresses and partners.
"""
import collections
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cases  # noqa: E402

BUILD = os.environ.get("BUILD", os.path.join(os.path.dirname(__file__), "..", "..", "build"))
PROGRAM = os.environ.get("LTTNGTOP", os.path.join(BUILD, "lttngtop"))
THREADS = 12  # the busiest ones of each recording

EVENT = re.compile(r'\[(\d+)\.(\d{9})\] \S+ (\w+): \{ cpu_id = (\d+) \}, \{ (.*?) \}, \{ ?(.*?) ?\}$')

# Linux, include/linux/sched.h: what prev_state says of a thread that leaves its CPU (128: TASK_REPORT_IDLE).
STATES = {0: "preempted", 1: "blocked", 2: "blocked", 4: "stopped", 8: "traced", 16: "ended", 32: "ended", 64: "parked",
          128: "idle", 256: "preempted"}


def value(name, fields):
    return int(re.search(rf"\b{name} = (\w+)", fields)[1], 0)


def thread(fields, prefix=""):
    tid = value(f"{prefix}tid", fields)
    return f'{re.search(rf"{prefix}comm = .(.*?)., {prefix}tid", fields)[1]}/{tid}' if tid else "the idle task"


def lines_of(name, cpu, tid, comm, fields):
    """(thread, text) of each line that the event causes."""
    if name == "sched_switch":
        yield (value("prev_tid", fields),
               f"switched out, {STATES[value('prev_state', fields)]}; {thread(fields, 'next_')} runs")
        yield value("next_tid", fields), f"switched in on CPU {cpu}, after {thread(fields, 'prev_')}"
    elif name == "sched_waking":
        yield tid, f"wakes {thread(fields)}"
        yield value("tid", fields), f"woken while {comm}/{tid} runs on CPU {cpu}" if tid else f"woken on CPU {cpu}"
    elif name == "sched_migrate_task":
        yield value("tid", fields), f"migrated from CPU {value('orig_cpu', fields)} to {value('dest_cpu', fields)}"
    elif name.startswith("x86_exceptions_page_fault_"):
        yield tid, f"page fault at {value('address', fields):#x}"


def judge(recording):
    """{thread: [(ns, text)]}, by babeltrace2."""
    text = subprocess.run(["babeltrace2", "--clock-seconds", "--no-delta", recording], stdout=subprocess.PIPE, check=True,
                          stderr=subprocess.DEVNULL, timeout=300).stdout.decode(errors="replace")
    found = collections.defaultdict(list)
    for m in filter(None, map(EVENT.match, text.splitlines())):
        comm = re.search(r'procname = "(.*?)"', m[5])[1]
        for tid, line in lines_of(m[3], m[4], value("tid", m[5]), comm, m[6]):
            if tid:
                found[tid].append((int(m[1] + m[2]), line))
    return found


def ours(recording, tids):
    args = [arg for tid in tids for arg in ("-p", str(tid))]
    out = subprocess.run([PROGRAM, "attach", "--sched", "--json", "--no-sync", *args, recording], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=True, timeout=300).stdout
    found = collections.defaultdict(list)
    for event in map(json.loads, out.splitlines()):
        if event["event"] == "sched":
            found[event["tid"]].append((event["ts_ns"], event["text"]))
    return found


def compare(name, kinds):
    recording = os.path.join(BUILD, "traces", name)
    wanted = judge(recording)
    tids = sorted(wanted, key=lambda tid: -len(wanted[tid]))[:THREADS]
    found = ours(recording, tids)
    for tid in tids:
        extra, missing = (collections.Counter(a) - collections.Counter(b) for a, b in
                          ((found[tid], wanted[tid]), (wanted[tid], found[tid])))
        assert not extra and not missing, f"{tid}: {sorted(extra)[:3]} instead of {sorted(missing)[:3]}"
    seen = {kind for tid in tids for _, text in wanted[tid] for kind in kinds if text.startswith(kind)}
    assert seen == set(kinds), f"the recording has only {seen}"


def test_page_faults():
    compare("workqueue", ("page fault", "switched in", "switched out", "wakes", "woken", "migrated"))


def test_pipes():
    compare("locks-pipes", ("switched in", "switched out", "wakes", "woken", "migrated"))


if __name__ == "__main__":
    cases.run(globals())
