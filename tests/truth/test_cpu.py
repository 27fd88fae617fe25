#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU time, run slices and idle time against the guests' kernels' counts."""

import os
import re

import harness
import known
import oracle
import truth
import windows

SLICE_NS = 150_000       # how far the kernel's and the trace's edge of a slice may be apart
LIFE_NS = 50_000_000     # a life this long must agree within 1 % if that is more
IDLE_NS = 50_000_000     # and idle time within 3 % or this much
# most of the activity that the kernel counted never reached the trace; what was recorded lies between these snapshots
LOSSY = {"lossy": ("snap-start.txt", "snap-end.txt"), "lossy-overwrite": ("snap-0.txt", "snap-2.txt")}
# what ran as events were lost that their packet's counter, which reads 0, does not show
UNSEEN = {("lossy", 404)}


def check_threads(checks, name, host, directory, offset, start, end):
    """Every thread that existed at both snapshots, between its own two stamps."""
    before, after = start.threads(), end.threads()
    tids = sorted(set(before) & set(after))
    begins = {tid: before[tid][1].mono + offset for tid in tids}
    ends = {tid: after[tid][1].mono + offset for tid in tids}
    w = windows.Windows(directory, "cpu", begins, ends, ("switches", "cpu_ns"))
    for tid in tids:
        pid = before[tid][0]
        who = f"{tid}:{start.comm(pid, tid)}".replace(" ", "_")
        run0, _, slices0 = truth.schedstat(before[tid][1].text)
        run1, _, slices1 = truth.schedstat(after[tid][1].text)
        switches, cpu_ns = w.get(tid)
        checks.same(name, host, "slices", who, slices1 - slices0, switches)
        checks.same(name, host, "cpu_ns", who, run1 - run0, cpu_ns, SLICE_NS * max(slices1 - slices0, 1))


def check_lives(checks, name, host, directory, truth_dir, first, last):
    """The payload's leaders: their schedstat as their parent found it after they had ended."""
    lives = [p for p in truth.runit(truth_dir) if p["schedstat"] and p["start_mono"] > first and p["end_mono"] < last]
    if not lives:
        return
    # A program of the payload may run more than once under one label, but pids do not repeat.
    rows = harness.report("cpu", directory).by("tid")
    for p in lives:
        run_ns, _, slices = p["schedstat"]
        row = rows.get(p["pid"])
        who = f"{p['pid']}:{p['label']}"
        if not checks.true(row is not None, f"{name}/{host}: no row of {who}"):
            continue
        checks.same(name, host, "life_slices", who, slices, row["switches"])
        tolerance = max(run_ns // 100 if run_ns > LIFE_NS else 0, SLICE_NS * max(slices, 1))
        checks.same(name, host, "life_cpu_ns", who, run_ns, row["cpu_ns"], tolerance)
        checks.true(row["born_ns"] is not None and row["exited_ns"] is not None,
                    f"{name}/{host}: {who} was born and ended within the record")


def check_idle(checks, name, host, directory, offset, start, end, trace):
    """/proc/stat's idle + iowait. The kernel's idle stops while an interrupt is handled, CONTRACT's does not."""
    a, b = start.get("/proc/stat"), end.get("/proc/stat")
    before, after = truth.cpu_idle_ns(a.text), truth.cpu_idle_ns(b.text)
    rows = harness.report("cpus", "--begin", harness.stamp(a.mono + offset), "--end", harness.stamp(b.mono + offset),
                          directory).by("cpu")
    for cpu in sorted(set(before) & set(after)):
        want = after[cpu] - before[cpu]
        # The jiffies of an offline CPU stop or continue arbitrarily: see check_hotplug.
        if name == "hotplug" and cpu == 1:
            continue
        got = rows[cpu]["idle_ns"] - trace.idle_irq_ns_in(cpu, a.mono, b.mono)
        checks.same(name, host, "idle_ns", f"cpu{cpu}", want, got, max(want * 3 // 100, IDLE_NS))
        checks.equal(rows[cpu]["online_ns"], b.mono - a.mono, f"{name}/{host}: cpu{cpu} was online all the time")


def check_schedstat(checks, name, host, directory, offset, start, end):
    """/proc/schedstat: slices of any task on each CPU. busy + idle = online there, to the ns."""
    a, b = start.get("/proc/schedstat"), end.get("/proc/schedstat")
    def slices(text):
        return {int(c): int(rest.split()[8]) for c, rest in re.findall(r"^cpu(\d+) (.*)$", text, re.M)}
    before, after = slices(a.text), slices(b.text)
    span = ("--begin", harness.stamp(a.mono + offset), "--end", harness.stamp(b.mono + offset))
    total = sum(row["switches"] for row in harness.report("cpu", *span, directory).rows)
    checks.same(name, host, "all_slices", "all", sum(after.values()) - sum(before.values()), total)


def check_hotplug(checks, name, host, directory, offset, truth_dir):
    """hotplug.log: before and after each write to cpu1/online, by the guest's own clock."""
    with open(os.path.join(truth_dir, "hotplug.log")) as f:
        lines = f.read().split("\n")
    steps, at = [], 0
    while at < len(lines) and lines[at]:
        steps.append((lines[at].split()[0], int(lines[at + 1]), int(lines[at + 2])))
        at += 3
    checks.true([s[0] for s in steps] == ["off", "on", "off", "on"], f"{name}: four steps in hotplug.log")
    for (_, off_begin, off_end), (_, on_begin, on_end) in zip(steps[::2], steps[1::2]):
        # From the end of going offline to the start of going online it is offline.
        row = harness.report("cpus", "--begin", harness.stamp(off_end + offset),
                             "--end", harness.stamp(on_begin + offset), directory).by("cpu")
        one = row.get(1, {"online_ns": 0, "idle_ns": 0, "busy_ns": 0, "switches": 0})
        for column in ("online_ns", "idle_ns", "busy_ns", "switches"):
            checks.same(name, host, f"offline_{column}", f"cpu1@{off_end}", 0, one[column])
        checks.equal(row[0]["online_ns"], on_begin - off_end, f"{name}: cpu0 stays online")
        # Over the whole step it was online no longer than the two switchings took.
        row = harness.report("cpus", "--begin", harness.stamp(off_begin + offset),
                             "--end", harness.stamp(on_end + offset), directory).by("cpu")
        offline = (on_end - off_begin) - row[1]["online_ns"]
        checks.true(on_begin - off_end <= offline <= on_end - off_begin,
                    f"{name}: offline for {offline} ns, recorded {on_begin - off_end} to {on_end - off_begin}")
    # While it was online it was there from switching on to switching off.
    for (_, _, on_end), (_, off_begin, _) in zip(steps[1::2], steps[2::2]):
        row = harness.report("cpus", "--begin", harness.stamp(on_end + offset),
                             "--end", harness.stamp(off_begin + offset), directory).by("cpu")
        checks.equal(row[1]["online_ns"], off_begin - on_end, f"{name}: cpu1 online between the two")


def check_lossy(checks, name, host, directory, offset, start, end):
    """Time in which events were lost is no thread's: none has run or been ready for longer than the kernel counted."""
    before, after = start.threads(), end.threads()
    tids, some = sorted(set(before) & set(after)), (harness.COMPLETE, harness.INCOMPLETE)
    begins = {tid: before[tid][1].mono + offset for tid in tids}
    ends = {tid: after[tid][1].mono + offset for tid in tids}
    w, ran = windows.Windows(directory, "cpu", begins, ends, ("cpu_ns", "ready_ns"), status=some), 0
    for tid in tids:
        run0, wait0, slices0 = truth.schedstat(before[tid][1].text)
        run1, wait1, slices1 = truth.schedstat(after[tid][1].text)
        slack = SLICE_NS * max(slices1 - slices0, 1)
        cpu_ns, ready_ns = w.get(tid)
        who = f"{name}/{host}: {tid}:{start.comm(before[tid][0], tid)}"
        checks.true(cpu_ns <= run1 - run0 + slack or (name, tid) in UNSEEN,
                    f"{who} runs for {cpu_ns} ns, the kernel counted {run1 - run0}")
        checks.true(ready_ns <= wait1 - wait0 + slack, f"{who} is ready for {ready_ns} ns, the kernel counted {wait1 - wait0}")
        ran += cpu_ns > 0
    checks.true(ran >= 4, f"{name}/{host}: {ran} threads ran")
    span = ("--begin", harness.stamp(start.begin + offset), "--end", harness.stamp(end.end + offset))
    for row in harness.report("cpus", *span, directory, status=some).rows:
        checks.true(row["online_ns"] * 2 < end.end - start.begin, f"{name}/{host}: CPU {row['cpu']} is known for {row['online_ns']} ns")


def check_fits(checks, name, host, directory):
    """
    No thread is credited with more time than its life has; one that exits still runs for a while. In a snapshot, a
    CPU's data may begin long after the other's: what it ran at first did not run there all the time before.
    """
    cpu = harness.report("cpu", directory)
    for row in cpu.rows:
        if row["born_ns"] is None or row["exited_ns"] is not None:
            continue
        life = cpu.end - row["born_ns"]
        spent = row["cpu_ns"] + row["ready_ns"] + row["blocked_ns"]
        checks.true(spent <= life, f"{name} {host}: {row['tid']} {row['comm']} lived {life} ns and is credited with {spent}")


def main():
    harness.need_program()
    harness.need("babeltrace2")
    checks = harness.Checks(known.only("slices", "cpu_ns", "life_slices", "life_cpu_ns", "idle_ns", "all_slices"),
                            known.CAUSES)
    for name, directory, truth_dir in harness.recordings():
        for host in harness.hosts(directory):
            path = os.path.join(directory, host)
            offset = truth.clock_offset_ns(truth.trace_dirs(path)[0])
            said = os.path.join(truth_dir, host)
            if name in LOSSY:
                check_lossy(checks, name, host, path, offset, *(truth.Snapshot(os.path.join(said, s)) for s in LOSSY[name]))
                continue
            trace = oracle.of(path)
            check_lives(checks, name, host, path, said, trace.first, trace.last)
            check_fits(checks, name, host, path)
            start = truth.Snapshot(os.path.join(said, "snap-start.txt"))
            end = truth.Snapshot(os.path.join(said, "snap-end.txt"))
            if trace.first > start.begin or trace.last < end.end:
                continue  # the snapshots of `snapshot` were taken outside the recording
            check_threads(checks, name, host, path, offset, start, end)
            check_schedstat(checks, name, host, path, offset, start, end)
            check_idle(checks, name, host, path, offset, start, end, trace)
            if name == "hotplug":
                check_hotplug(checks, name, host, path, offset, said)
    checks.finish()


if __name__ == "__main__":
    main()
