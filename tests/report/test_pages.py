#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Pages and page faults: a trace of random switches, allocations and faults is counted again from babeltrace2's text, as a
whole, in intervals, and summed up. The same trace is given to lttng-memtop, and the conformance case kernel_memory has
balances worked out by hand.

No recording at hand has these events, so this test writes the trace. Known faults of lttng-memtop:

order    it counts an allocation or a freeing of several pages as one page
failed   it counts an allocation that failed
idle     events on an idle CPU are in no row
balance  pages freed after it has seen as many pages freed as allocated are not counted
"""

import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "conformance"))
sys.path.insert(0, os.path.join(HERE, "..", "waits"))
sys.path.insert(0, os.path.join(HERE, ".."))
import case  # noqa: E402
import cases  # noqa: E402
import ctf  # noqa: E402
import harness  # noqa: E402

BEGIN = 10**18
TRACE = "pages/host/kernel"
CPUS, THREADS = 2, (0, 101, 102, 103, 104, 105, 106)
COUNTS = ("allocated_pages", "freed_pages", "allocations", "frees", "failures", "user_faults", "kernel_faults")
NO_PFN = 2**64 - 1

EVENT = re.compile(r"\[(\d+)\.(\d{9})\] (?:\(.*?\) )?(?:\S+ )?(\w+): \{ cpu_id = (\d+) \}, \{ ?(.*?) ?\}$")


class Kernel(ctf.Trace):
    now = BEGIN

    def event(self, cpu, name, *fields):
        self.now += 1000
        self.add(self.now, name, *fields, cpu=cpu)

    def switch(self, cpu, prev, following):
        self.event(cpu, "sched_switch", ("prev_comm", "text", 16, f"comm-{prev}"), ("prev_tid", "s32", prev),
                   ("prev_prio", "s32", 20), ("prev_state", "s64", 0), ("next_comm", "text", 16, f"comm-{following}"),
                   ("next_tid", "s32", following), ("next_prio", "s32", 20))

    def exit(self, cpu, tid):
        self.event(cpu, "sched_process_exit", ("comm", "text", 16, f"comm-{tid}"), ("tid", "s32", tid),
                   ("prio", "s32", 20))

    def fork(self, cpu, parent, child):
        self.event(cpu, "sched_process_fork", ("parent_comm", "text", 16, ""), ("parent_tid", "s32", parent),
                   ("parent_pid", "s32", parent), ("child_comm", "text", 16, ""), ("child_tid", "s32", child),
                   ("child_pid", "s32", child))

    def alloc(self, cpu, order, pfn=5):
        self.event(cpu, "kmem_mm_page_alloc", ("page", "u64", 1), ("pfn", "u64", pfn), ("order", "u32", order),
                   ("gfp_flags", "u32", 0), ("migratetype", "s32", 0))

    def free(self, cpu, order):
        self.event(cpu, "kmem_mm_page_free", ("page", "u64", 1), ("pfn", "u64", 5), ("order", "u32", order))

    def free_batched(self, cpu):
        self.event(cpu, "kmem_mm_page_free_batched", ("page", "u64", 1), ("pfn", "u64", 5))

    def fault(self, cpu, where):
        self.event(cpu, f"x86_exceptions_page_fault_{where}", ("address", "u64", 1), ("ip", "u64", 1),
                   ("error_code", "u8", 6))


def write(directory, seed=1, events=6000):
    """Threads that come and go on two CPUs, with idle time, performing the counted actions at random."""
    rng, trace, running, born = random.Random(seed), Kernel("host"), [0] * CPUS, 200
    for cpu in range(CPUS):  # lttng-analyses starts where all streams have started
        trace.free_batched(cpu)
    for cpu in range(CPUS):
        running[cpu] = THREADS[cpu + 1]
        trace.switch(cpu, 0, running[cpu])
        trace.free(cpu, cpu)
    for _ in range(events):
        cpu = rng.randrange(CPUS)
        what = rng.randrange(20)
        if what < 4:
            following = rng.choice([t for t in THREADS if t == 0 or t not in running])
            if following != running[cpu]:
                trace.switch(cpu, running[cpu], following)
                running[cpu] = following
        elif what == 4 and running[cpu]:
            trace.fork(cpu, running[cpu], born)
            trace.switch(cpu, running[cpu], born)
            trace.alloc(cpu, 0)
            trace.exit(cpu, born)
            trace.free(cpu, 1)
            trace.switch(cpu, born, 0)
            running[cpu] = 0
            born += 1
        elif what < 9:
            trace.alloc(cpu, rng.choice((0, 0, 0, 1, 3, 9)))
        elif what == 9:
            trace.alloc(cpu, rng.choice((0, 4)), NO_PFN)
        elif what < 13:
            trace.free(cpu, rng.choice((0, 0, 2, 10)))
        elif what == 13:
            trace.free_batched(cpu)
        else:
            trace.fault(cpu, rng.choice(("user", "user", "kernel")))
    shutil.rmtree(os.path.dirname(directory), ignore_errors=True)
    trace.write(directory)


def directory():
    if not os.path.exists("pages"):
        write(TRACE)
    return "pages"


# ---- from babeltrace2's text ----

def events_of(path):
    text = subprocess.run(["babeltrace2", "--clock-seconds", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in text.splitlines():
        event = EVENT.match(line)
        fields = dict(f.split(" = ", 1) for f in event[5].split(", ")) if event[5] else {}
        yield int(event[1] + event[2]), event[3], int(event[4]), fields


def counted(path, begin=0, end=2**63):
    """tid, None if idle -> its counts in [begin, end[."""
    running, sums = {}, collections.defaultdict(collections.Counter)
    for time, name, cpu, fields in events_of(path):
        if name == "sched_switch":
            running[cpu] = int(fields["next_tid"])
        if not begin <= time < end:
            continue
        c = sums[running.get(cpu) or None]
        pages = 1 << int(fields.get("order", 0))
        if name == "kmem_mm_page_alloc" and int(fields["pfn"]) == NO_PFN:
            c["failures"] += 1
        elif name == "kmem_mm_page_alloc":
            c.update(allocations=1, allocated_pages=pages)
        elif name == "kmem_mm_page_free":
            c.update(frees=1, freed_pages=pages)
        elif name.startswith("x86_exceptions_page_fault_"):
            c[name.rsplit("_", 1)[1] + "_faults"] += 1
    return {tid: c for tid, c in sums.items() if c}


def frees_beyond_balance(path):
    """tid -> pages freed after as many events of freeing as of allocation."""
    running, balance, unseen = {}, 0, collections.Counter()
    for _, name, cpu, fields in events_of(path):
        if name == "sched_switch":
            running[cpu] = int(fields["next_tid"])
        elif name == "kmem_mm_page_alloc":
            balance += 1
        elif name == "kmem_mm_page_free":
            if not balance:
                unseen[running.get(cpu) or None] += 1
            balance = max(balance - 1, 0)
    return unseen


def rows_of(report):
    assert all(r["net_pages"] == r["allocated_pages"] - r["freed_pages"] for r in report.rows), report.rows
    return {r["tid"]: collections.Counter({k: r[k] for k in COUNTS if r[k]}) for r in report.rows}


# ---- tests ----

def test_as_babeltrace2_has_it():
    whole = harness.report("memory", directory())
    want = counted(TRACE)
    assert rows_of(whole) == want
    assert want[None] and len(want) > 100 and all(sum(c[k] for c in want.values()) for k in COUNTS)
    assert all(r["comm"] == f"comm-{r['tid']}" for r in whole.rows if r["tid"])


def test_intervals():
    pieces = harness.run("memory", "--interval", "777us", directory())
    assert len(pieces) > 5
    for piece in pieces:
        assert rows_of(piece) == counted(TRACE, piece.begin, piece.end), piece.begin


def test_sums():
    want = sum(counted(TRACE).values(), collections.Counter())
    for by in ("host", "all"):
        row, = harness.report("memory", "--sum-by", by, directory()).rows
        assert {k: row[k] for k in COUNTS} == want, (by, row)
        assert row["net_pages"] == want["allocated_pages"] - want["freed_pages"]


def test_little_memory():
    """Threads that do not fit are counted as one."""
    write("many/host/kernel", seed=2, events=40000)
    want = counted("many/host/kernel")
    few = harness.report("memory", "--model-memory", "1M", "many", status=(0, 3))
    assert len(few.rows) < len(want) > 1000, (len(few.rows), len(want))
    sums = sum((collections.Counter({k: r[k] for k in COUNTS}) for r in few.rows), collections.Counter())
    assert sums == sum(want.values(), collections.Counter())


def test_what_is_not_recorded_is_null():
    trace = Kernel("host")
    trace.switch(0, 0, 101)
    trace.alloc(0, 3)
    trace.fault(0, "kernel")
    trace.switch(0, 101, 0)
    shutil.rmtree("part", ignore_errors=True)
    trace.write("part/host/kernel")
    row, = harness.report("memory", "part").rows
    assert {k: row[k] for k in COUNTS} == {
        "allocated_pages": 8, "freed_pages": None, "allocations": 1, "frees": None, "failures": 0, "user_faults": None,
        "kernel_faults": 1}, row
    assert row["net_pages"] is None


def test_nothing_recorded():
    done = subprocess.run([harness.PROGRAM, "report", "memory", os.path.join(harness.BUILD, "traces", "kprobe")],
                          capture_output=True, text=True, check=True)
    assert "kmem_mm_page_alloc" in done.stderr, done.stderr
    assert len(done.stdout.splitlines()) <= 2, done.stdout


def test_conformance():
    """Balances after each event, in bytes; the case starts with one page that is freed twice."""
    c = case.Case("kernel_memory")
    for time, want in c.expected["allocated_bytes_after"]:
        rows = c.rows("memory", 1, time + 1)
        assert sum(r["net_pages"] for r in rows) * 4096 == want, (time, rows)


def test_lttng_memtop():
    if not shutil.which("lttng-memtop-mi"):
        return "lttng-memtop-mi is not installed"
    path = os.path.dirname(os.path.abspath(TRACE))
    directory()
    done = subprocess.run(["lttng-memtop-mi", "--limit", "1000000", os.path.join(path, "kernel")],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
    ours, used, seen = rows_of(harness.report("memory", "pages")), collections.Counter(), 0
    unseen = frees_beyond_balance(TRACE)
    for result in json.loads(done.stdout)["results"]:
        kind = result["class"]
        if kind not in ("allocd", "freed"):
            continue
        theirs = {row[0]["tid"]: row[1]["value"] for row in result["data"]}
        assert theirs and set(theirs) <= set(ours), kind
        for tid, c in ours.items():
            calls, pages, failed, beyond = (
                (c["allocations"], c["allocated_pages"], c["failures"], 0) if kind == "allocd" else
                (c["frees"], c["freed_pages"], 0, unseen[tid]))
            if tid is None:
                assert tid not in theirs and 0 not in theirs
                used.update(idle=calls > 0)
                continue
            assert theirs.get(tid, 0) == calls + failed - beyond, (kind, tid, theirs.get(tid), c)
            used.update(order=pages != calls, failed=failed > 0, balance=beyond > 0)
            seen += 1
    assert seen == 2 * (len(ours) - 1)
    assert all(used[fault] for fault in ("order", "failed", "idle", "balance")), used
    return None


if __name__ == "__main__":
    harness.need_program()
    harness.need("babeltrace2")
    cases.run(globals())
