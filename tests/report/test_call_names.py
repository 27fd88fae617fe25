#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A call whose name strace and the tracer spell differently is found by both names."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "waits"), os.path.join(HERE, "..")]
import cases  # noqa: E402
import ctf  # noqa: E402

BEGIN = 1700000000 * 10 ** 9
NAMES = {"newfstat": "fstat", "newstat": "stat", "newuname": "uname"}  # the tracer's: strace's


def recording():
    trace = ctf.Trace("web")
    trace.add(BEGIN, "sched_switch", ("prev_comm", "text", 16, "swapper/0"), ("prev_tid", "s32", 0), ("prev_prio", "s32", 20),
              ("prev_state", "s64", 0), ("next_comm", "text", 16, "cp"), ("next_tid", "s32", 5), ("next_prio", "s32", 20))
    for n, name in enumerate(NAMES):
        trace.add(BEGIN + 100 * n + 10, f"syscall_entry_{name}", ("fd", "u64", 3))
        trace.add(BEGIN + 100 * n + 50, f"syscall_exit_{name}", ("ret", "s64", 0))
    directory = os.path.abspath("recording")
    trace.write(os.path.join(directory, "kernel"))
    return directory


source = recording()


def found(filter_text):
    run = subprocess.run([os.environ["LTTNGTOP"], "report", "syscalls", "--json", "--where", filter_text, source],
                         stdout=subprocess.PIPE, check=True)
    return [row["name"] for row in json.loads(run.stdout)["rows"]]


def test_both():
    for name, shown in NAMES.items():
        assert found(f"call:{name}") == [name], found(f"call:{name}")
        assert found(f"call:{shown}") == [name], found(f"call:{shown}")
    assert found("call:fst*") == ["newfstat"], found("call:fst*")
    assert found("call:fstatfs") == [], found("call:fstatfs")
    assert sorted(found("!call:fstat")) == ["newstat", "newuname"], found("!call:fstat")


cases.run(globals())
