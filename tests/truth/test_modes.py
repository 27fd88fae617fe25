#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""User and system time against the samples of the guests' kernels.

Their total CPU time is exact (test_cpu.py compares it); its division is only estimated: at each tick, of 4 ms
(CONFIG_HZ=250, CONFIG_TICK_CPU_ACCOUNTING), the CPU's current mode counts for the time since the last tick, and the
exact sum is divided as the ticks are (cputime_adjust()). If a thread ran for N ticks and was in user space for a share
p of them, the estimate is N*p ticks with a standard deviation of sqrt(N*p*(1-p)): four of these are allowed, and two
ticks for the ends. A tick in an interrupt counts as system time, and /proc counts in units of 10 ms. So only threads
that ran for long are compared. Page faults are system time for the kernel; here they belong to the mode they happen in,
as the trace has at most one event for each, so up to FAULT_NS for each of a thread's faults may be user time here.
"""

import math
import os

import harness
import known
import oracle
import truth
import windows

TICK_NS = 4_000_000       # CONFIG_HZ=250
USER_HZ_NS = 10_000_000   # /proc/PID/stat and /proc/stat
LEAST_NS = 200_000_000    # a thread that ran for less has too few ticks
FAULT_NS = 150_000        # the longest average time of a page fault, under emulation
MAJOR_FAULT_NS = 2_000_000  # and of one that reads from the disk
LOSSY = {"lossy", "lossy-overwrite"}
COLUMNS = ("cpu_ns", "user_ns", "system_ns", "interrupted_ns")


def tolerance(cpu_ns, user_ns, unit_ns):
    ticks = max(cpu_ns // TICK_NS, 1)
    share = min(max(user_ns / max(cpu_ns, 1), 0), 1)
    return int(TICK_NS * (2 + 4 * math.sqrt(ticks * share * (1 - share)))) + unit_ns


def explained(minor, major, want, got):
    """How much of the difference page faults can explain: kernel time, which the trace cannot tell from user time."""
    return min(max(got - want, 0), minor * FAULT_NS + major * MAJOR_FAULT_NS)


def adds_up(checks, what, row):
    checks.equal(row["user_ns"] + row["system_ns"] + row["interrupted_ns"], row["cpu_ns"], f"{what}: the parts of")


def check_lives(checks, name, host, directory, truth_dir, first, last):
    """The payload's processes with one thread and without children: getrusage(), as their parent found it."""
    rows = harness.report("cpu", directory).by("tid")
    for p in truth.runit(truth_dir):
        if not p["schedstat"] or p["start_mono"] <= first or p["end_mono"] >= last or p["pid"] not in rows:
            continue
        user_ns, system_ns = p["utime_us"] * 1000, p["stime_us"] * 1000
        row = rows[p["pid"]]
        if abs(user_ns + system_ns - p["schedstat"][0]) > 10_000 or p["schedstat"][0] < LEAST_NS:
            continue
        who = f"{p['pid']}:{p['label']}"
        of_faults = explained(p["minflt"], p["majflt"], user_ns, row["user_ns"])
        adds_up(checks, f"{name}/{host} {who}", row)
        checks.same(name, host, "life_user_ns", who, user_ns + of_faults, row["user_ns"],
                    tolerance(row["cpu_ns"], row["user_ns"], row["interrupted_ns"]))
        checks.same(name, host, "life_system_ns", who, system_ns - of_faults, row["system_ns"] + row["interrupted_ns"],
                    tolerance(row["cpu_ns"], row["user_ns"], row["interrupted_ns"]))


def stat_times(snapshot, pid, tid):
    """(block, utime in ns, minor and major page faults) of a thread"""
    block = snapshot.get(f"/proc/{pid}/task/{tid}/stat")
    numbers = block and block.text[block.text.rindex(")") + 2:].split()
    return block and (block, int(numbers[11]) * USER_HZ_NS, int(numbers[7]), int(numbers[9]))


def check_threads(checks, name, host, directory, offset, start, end):
    """Every thread that existed at both snapshots, between its own two stamps."""
    pids = {tid: pid for tid, (pid, _) in start.threads().items() if tid in end.threads()}
    before = {tid: stat_times(start, pid, tid) for tid, pid in pids.items()}
    after = {tid: stat_times(end, pid, tid) for tid, pid in pids.items()}
    tids = sorted(tid for tid in pids if before[tid] and after[tid])
    begins = {tid: before[tid][0].mono + offset for tid in tids}
    ends = {tid: after[tid][0].mono + offset for tid in tids}
    w = windows.Windows(directory, "cpu", begins, ends, COLUMNS)
    for tid in tids:
        who = f"{tid}:{start.comm(pids[tid], tid)}".replace(" ", "_")
        row = dict(zip(COLUMNS, w.get(tid)))
        adds_up(checks, f"{name}/{host} {who}", row)
        if row["cpu_ns"] < LEAST_NS:
            continue
        want = after[tid][1] - before[tid][1]
        want += explained(after[tid][2] - before[tid][2], after[tid][3] - before[tid][3], want, row["user_ns"])
        checks.same(name, host, "user_ns", who, want, row["user_ns"],
                    tolerance(row["cpu_ns"], row["user_ns"], row["interrupted_ns"] + USER_HZ_NS))


def main():
    harness.need_program()
    harness.need("babeltrace2")
    harness.TRACES.append(os.path.join(harness.SHARED, "traces-k612"))
    checks = harness.Checks(known.only("life_user_ns", "life_system_ns", "user_ns"), known.CAUSES)
    for name, directory, truth_dir in harness.recordings():
        if name in LOSSY:
            continue  # most of the activity that the kernel counted never reached the trace
        for host in harness.hosts(directory):
            path = os.path.join(directory, host)
            offset = truth.clock_offset_ns(truth.trace_dirs(path)[0])
            trace = oracle.of(path)
            said = os.path.join(truth_dir, host)
            check_lives(checks, name, host, path, said, trace.first, trace.last)
            start = truth.Snapshot(os.path.join(said, "snap-start.txt"))
            end = truth.Snapshot(os.path.join(said, "snap-end.txt"))
            if trace.first > start.begin or trace.last < end.end:
                continue  # the snapshots of `snapshot` were taken outside the recording
            check_threads(checks, name, host, path, offset, start, end)
    checks.finish()


if __name__ == "__main__":
    main()
