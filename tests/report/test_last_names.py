#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Tables about two threads or processes name each as it was called last in the interval, as babeltrace2's text shows it at
the switches around the interval's end, however it was called when it ran or was woken.
"""

import bisect
import collections
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cases  # pylint: disable=wrong-import-position

PROGRAM = os.environ["LTTNGTOP"]
TRACES = os.path.join(os.environ["BUILD"], "traces")
SWITCH = re.compile(r"\[(\d+)\.(\d{9})\] .* sched_switch: .*prev_comm = \"(.*?)\", prev_tid = (\d+),.*"
                    r"next_comm = \"(.*?)\", next_tid = (\d+),")
TABLES = {"preemption": (("by_tid", "by_comm"),), "relations": (("from_pid", "from_comm"), ("to_pid", "to_comm"))}


def pages(table, recording, *args):
    done = subprocess.run([PROGRAM, "report", table, "--json", *args, os.path.join(TRACES, recording)],
                          capture_output=True, timeout=300, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def names_seen(recording):
    """tid -> the times of its switches, its name at each, and whether it was switched out."""
    text = subprocess.run(["babeltrace2", "--clock-seconds", os.path.join(TRACES, recording)], capture_output=True,
                          check=True, timeout=300).stdout.decode(errors="replace")
    seen = collections.defaultdict(lambda: ([], [], []))
    for m in filter(None, map(SWITCH.match, text.splitlines())):
        for comm, tid, out in (m[3], m[4], True), (m[5], m[6], False):
            for values, value in zip(seen[int(tid)], (int(m[1]) * 10**9 + int(m[2]), comm, out)):
                values.append(value)
    return seen


def name_at(seen, tid, t_ns):
    """None: it ran, and had another name at its next switch, or there is none."""
    times, names, out = seen.get(tid, ((), (), ()))
    i = bisect.bisect_left(times, t_ns)
    return names[i - 1] if i and (out[i - 1] or names[i:i + 1] == [names[i - 1]]) else None


def test_last_in_the_interval():
    for recording in ("locks-pipes", "rpc-hog-local"):
        seen = names_seen(recording)
        renamed = {tid for tid, (_, names, _) in seen.items() if len(set(names)) > 1}
        assert renamed
        for table, ends in TABLES.items():
            checked = collections.Counter()
            for args in ((), ("--interval", "1s"), ("--interval", "130ms")):
                for page in pages(table, recording, *args):
                    for row in page["rows"]:
                        for tid, comm in ends:
                            want = name_at(seen, row[tid], page["end_ns"]) if row[tid] else None
                            assert want in (None, row[comm]), (table, args, page["begin_ns"], row, want)
                            checked[row[tid] in renamed] += want is not None
            print("#", recording, table, dict(checked))
            assert min(checked[True], checked[False]) > 5, (recording, table, checked)


cases.run(globals())
