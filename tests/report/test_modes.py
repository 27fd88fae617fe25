#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
How CPU time was spent: the parts add up to the CPU time, for every thread, process and interval, and for a small
recording they follow from its events in babeltrace2's text.
"""

import collections
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import cases  # pylint: disable=wrong-import-position
import harness  # pylint: disable=wrong-import-position

BUILD = os.environ.get("BUILD", os.path.join(os.path.dirname(__file__), "..", "..", "build"))
PROGRAM = os.environ.get("LTTNGTOP", os.path.join(BUILD, "lttngtop"))
PARTS = ("user_ns", "system_ns", "interrupted_ns")
SMALL = ("locks-pipes", "kprobe")
BUNDLED = ("kprobe", "hotplug", "locks-pipes", "lossy-overwrite", "rpc-hog-local", "three-tier")
FURTHER = (("traces", "containers"), ("traces-k612", "disk-io-k612"), ("traces-k612", "users-k612"))

EVENT = re.compile(r"\[(\d+)\.(\d{9})\] (?:\S+ )?([\w:.+-]+): \{ cpu_id = (\d+) \}, \{ (.*?) \}(?:, \{ ?(.*?) ?\})?$")
RT_SIGRETURN = 15  # not named by this tracer (x86-64)
WAITS = 5          # status in the state dump


def recording(name):
    return os.path.join(BUILD, "traces", name)


def reports(*args, status=(0,)):
    done = subprocess.run([PROGRAM, "report", *args, "--json", "--no-sync"], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=300, check=False)
    assert done.returncode in status, (args, done.returncode, done.stderr.decode(errors="replace"))
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def report(*args, **kwargs):
    only, = reports(*args, **kwargs)
    return only


def assert_parts(rows, where):
    for row in rows:
        parts = [row[part] for part in PARTS]
        assert all(isinstance(part, int) and part >= 0 for part in parts), (where, row)
        assert sum(parts) == row["cpu_ns"], (where, row)


def totals(rows, *keys):
    """key -> the columns of its rows, summed"""
    sums = collections.defaultdict(collections.Counter)
    for row in rows:
        sums[tuple(row[key] for key in keys)].update({part: row[part] for part in ("cpu_ns", *PARTS)})
    return {key: parts for key, parts in sums.items() if parts["cpu_ns"]}


def assert_recording(directory, interval):
    lossy = (0, 3)
    whole = report("cpu", directory, status=lossy)
    assert_parts(whole["rows"], directory)
    assert any(row["user_ns"] for row in whole["rows"]) and any(row["system_ns"] for row in whole["rows"])
    pieces = reports("cpu", "--interval", interval, directory, status=lossy)
    assert len(pieces) > 3, len(pieces)
    for piece in pieces:
        assert_parts(piece["rows"], (directory, piece["begin_ns"]))
    # intervals clip it like CPU time: nothing is lost or counted twice at their edges, even inside calls
    keys = "host", "tid"
    assert totals([row for piece in pieces for row in piece["rows"]], *keys) == totals(whole["rows"], *keys), directory
    for by, keys in (("process", ("host",)), ("host", ("host",)), ("all", ())):
        sums = report("cpu", "--sum-by", by, directory, status=lossy)["rows"]
        assert_parts(sums, (directory, by))
        assert totals(sums, *keys) == totals(whole["rows"], *keys), (directory, by)


def test_parts_are_the_cpu_time():
    for name in BUNDLED:
        assert_recording(recording(name), "20ms" if name == "kprobe" else "250ms")


def test_parts_of_further_recordings():
    archives = [os.path.join(harness.SHARED, where, name + ".tar.zst") for where, name in FURTHER]
    if not all(os.path.exists(archive) for archive in archives):
        return "the recordings in ../shared are not here"
    for archive in archives:
        assert_recording(harness.unpack(archive, "recordings"), "250ms")
    return None


def test_cut():
    """--begin and --end anywhere, some inside calls and handlers."""
    directory = recording("kprobe")
    whole = report("cpu", directory)
    begin, end = whole["begin_ns"], whole["end_ns"]
    cuts = [begin + (end - begin) * i // 7 for i in range(8)]
    sums = collections.defaultdict(collections.Counter)
    for a, b in zip(cuts, cuts[1:]):
        rows = report("cpu", "--begin", f"{a}ns", "--end", f"{b}ns", directory)["rows"]
        assert_parts(rows, (a, b))
        for key, parts in totals(rows, "tid").items():
            sums[key].update(parts)
    assert sums == totals(whole["rows"], "tid")


def test_kernel_threads_have_no_program():
    for name in SMALL:
        rows = report("cpu", "--columns", "tid,comm,kernel,cpu_ns,user_ns", recording(name))["rows"]
        kernel = [row for row in rows if row["kernel"]]
        assert len(kernel) > 5 and not any(row["user_ns"] for row in kernel), kernel


# ---- from the events ----

def number(fields, name):
    return int(re.search(rf"\b{name} = (-?\d+)", fields).group(1))


def text(fields, name):
    return re.search(rf'\b{name} = "(.*?)"', fields).group(1)


def read_events(directory):
    """(ns, name, cpu, context, payload)"""
    out = subprocess.run(["babeltrace2", "--clock-seconds", "--no-delta", directory], capture_output=True, check=True,
                         timeout=300).stdout.decode(errors="replace")
    matches = [EVENT.match(line) for line in out.splitlines()]
    assert all(matches), out.splitlines()[[bool(m) for m in matches].index(False)]
    return [(int(m[1]) * 10**9 + int(m[2]), m[3], int(m[4]), m[5], m[6] or "") for m in matches]


class Cpu:
    def __init__(self, begin):
        self.since, self.tid, self.comm, self.handlers = begin, None, "", []


class Machine:
    """Replays the events; spent[tid] = {part: ns}."""

    def __init__(self, events):
        self.spent = collections.defaultdict(collections.Counter)
        self.inside = {}     # tid -> True: in the kernel, False: in user space; absent: not known yet
        self.woken, self.seen, self.kernel = set(), set(), {2}
        self.begin, self.end = events[0][0], events[-1][0] + 1
        self.cpus = collections.defaultdict(lambda: Cpu(self.begin))
        self.look_ahead(events)
        for event in events:
            self.apply(*event)
        for cpu in self.cpus.values():
            self.credit(cpu, self.end)

    def look_ahead(self, events):
        """Kernel threads; which thread runs on each CPU when the recording starts, and whether a call of it ends."""
        first_call = {}
        for _, name, number_, context, payload in events:
            if number(context, "ppid") == 2:
                self.kernel.add(number(context, "tid"))
            if name == "lttng_statedump_process_state" and number(payload, "type") == 1:
                self.kernel.add(number(payload, "tid"))
            if self.cpus[number_].tid is not None:
                continue
            if name.startswith(("syscall_", "lttng_statedump_")):
                first_call.setdefault(number_, not name.startswith("syscall_entry_"))
            if name == "sched_switch":
                cpu = self.cpus[number_]
                cpu.tid, cpu.comm = number(payload, "prev_tid"), text(payload, "prev_comm")
                self.seen.add(cpu.tid)
                if number_ in first_call:
                    self.inside[cpu.tid] = first_call[number_]

    def part(self, cpu):
        own = cpu.comm.startswith("ksoftirqd/") and cpu.tid in self.kernel
        if cpu.handlers and not (own and cpu.handlers[-1][0] == "soft"):
            return "interrupted_ns"
        return "system_ns" if cpu.tid in self.kernel or self.inside.get(cpu.tid) else "user_ns"

    def credit(self, cpu, now):
        if cpu.tid:
            self.spent[cpu.tid][self.part(cpu)] += now - cpu.since
        cpu.since = now

    def enter(self, cpu, handler):
        if handler[0] == "soft":
            cpu.handlers = []
        elif handler in cpu.handlers:
            del cpu.handlers[cpu.handlers.index(handler):]
        cpu.handlers.append(handler)

    def leave(self, cpu, handler):
        if handler in cpu.handlers:
            while cpu.handlers.pop() != handler:
                pass

    def switch(self, cpu, payload):
        prev, state = number(payload, "prev_tid"), number(payload, "prev_state")
        cpu.handlers = []
        if state & 0x183 not in (0, 0x100) or state & 0x402 == 0x402 or state & 0x40:
            self.inside.setdefault(prev, True)
        cpu.tid, cpu.comm = number(payload, "next_tid"), text(payload, "next_comm")
        if cpu.tid in self.woken:
            self.inside.setdefault(cpu.tid, True)
        self.woken.discard(cpu.tid)
        self.seen.add(cpu.tid)

    def apply(self, now, name, number_, context, payload):
        cpu = self.cpus[number_]
        self.credit(cpu, now)
        tid = number(context, "tid")
        if name == "sched_switch":
            self.switch(cpu, payload)
        elif name.startswith("syscall_entry_"):
            self.inside[tid] = not (name == "syscall_entry_unknown" and number(payload, "id") == RT_SIGRETURN)
        elif name.startswith("syscall_exit_"):
            self.inside[tid] = False
        elif name in ("irq_handler_entry", "irq_softirq_entry"):
            self.enter(cpu, ("hard", number(payload, "irq")) if "handler" in name else ("soft", number(payload, "vec")))
        elif name in ("irq_handler_exit", "irq_softirq_exit"):
            self.leave(cpu, ("hard", number(payload, "irq")) if "handler" in name else ("soft", number(payload, "vec")))
        elif name in ("sched_waking", "sched_wakeup_new"):
            self.woken.add(number(payload, "tid"))
            self.seen.add(number(payload, "tid"))
        elif name == "sched_process_fork":
            self.inside[number(payload, "child_tid")] = True
            self.seen.add(number(payload, "child_tid"))
        elif name == "lttng_statedump_process_state" and number(payload, "status") == WAITS:
            if number(payload, "tid") not in self.seen:
                self.inside.setdefault(number(payload, "tid"), True)


def test_parts_from_the_events():
    for name in SMALL:
        machine = Machine(read_events(recording(name)))
        got = totals(report("cpu", recording(name))["rows"], "tid")
        want = {(tid,): dict(parts) for tid, parts in machine.spent.items() if sum(parts.values())}
        assert set(got) == set(want), (name, set(got) ^ set(want))
        wrong = [(key, dict(got[key]), want[key]) for key in want
                 if any(got[key][part] != want[key].get(part, 0) for part in PARTS)]
        assert not wrong, (name, len(wrong), wrong[:5])
        assert all(sum(parts[part] for parts in want.values() if part in parts) > 10**6 for part in PARTS)


if __name__ == "__main__":
    cases.run(globals())
