#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
`attach`: calls that the tracer has no name for are known by their number, which is x86-64's, but not in 32-bit programs,
whose numbers are others: 3 is close() for the one and read() for the other.
"""
import json
import os
import subprocess
import sys

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path += [os.path.join(TESTS, "truth"), os.path.join(TESTS, "waits")]
import ctf  # noqa: E402
import harness  # noqa: E402

CLOSE = 3


def record(directory):
    trace = ctf.Trace("web")
    trace.add(10, "sched_switch", ("prev_comm", "text", 16, "swapper/0"), ("prev_tid", "s32", 0), ("prev_prio", "s32", 20),
              ("prev_state", "s64", 0), ("next_comm", "text", 16, "mixed"), ("next_tid", "s32", 7),
              ("next_prio", "s32", 20))
    trace.add(20, "syscall_entry_fadvise64", ("fd", "s32", 3))
    trace.add(30, "syscall_exit_fadvise64", ("ret", "s64", 0))
    for start, prefix in ((40, ""), (60, "compat_")):
        trace.add(start, prefix + "syscall_entry_unknown", ("id", "s32", CLOSE), ("args", "array", "u64", [5, 0, 0, 0, 0, 0]))
        trace.add(start + 10, prefix + "syscall_exit_unknown", ("id", "s32", CLOSE), ("ret", "s64", 0))
    trace.write(directory)


def main():
    harness.need_program()
    checks = harness.Checks()
    record("numbers")
    done = subprocess.run([harness.PROGRAM, "attach", "--json", "--no-waits", "-p", "7", "numbers"], text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    calls = [(line["name"], line["begin_ns"]) for line in map(json.loads, done.stdout.splitlines())
             if line["event"] == "call"]
    checks.equal(calls, [("fadvise64", 20), ("close", 40), ("unknown", 60)], f"calls {done.stderr}")
    checks.finish()


main()
