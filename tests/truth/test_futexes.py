#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits for futexes, each by its address, and who ended them, exactly
as the switches, wake-ups and calls in babeltrace2's text give them."""

import collections
import re
import subprocess

import harness

LINE = re.compile(r"\[(\d+)\] (?:\S+ )?([\w:.+-]+): \{ cpu_id = \d+ \}, (.*)", re.S)
CPU = re.compile(r"cpu_id = (\d+)")
INTERRUPTS = {f"{name}_{edge}": step for name in ("irq_handler", "irq_softirq", "softirq", "timer_hrtimer_expire")
              for edge, step in (("entry", 1), ("exit", -1))}
RUNNABLE = {0, 256}  # prev_state of a thread that was preempted


def integer(field, text):
    m = re.search(rf"\b{field} = (?:\( \S+ : container = )?(-?(?:0x)?[0-9A-Fa-f]+)", text)
    return int(m[1], 0) if m else None


def waits_of(directory):
    """
    (tid, address) -> [waits, their time, the longest]; from switch-out to wake-up. And (pid of the waker, pid,
    address) -> the same, for waits ended by a thread in futex() or one that exits, not by an interrupt.
    """
    found, ended_by = collections.defaultdict(lambda: [0, 0, 0]), collections.defaultdict(lambda: [0, 0, 0])
    inside, since, pids, exiting, depth = {}, {}, {}, set(), collections.Counter()
    proc = subprocess.Popen(["babeltrace2", "--no-delta", "--clock-cycles", directory], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True)
    for line in proc.stdout:
        m = LINE.match(line)
        if not m:
            continue
        ts, name, rest = int(m[1]), m[2], m[3]
        context, _, payload = rest.partition("}, {")
        tid, cpu = integer("tid", context), int(CPU.search(line)[1])
        pids[tid] = integer("pid", context)
        if name in INTERRUPTS:
            depth[cpu] = max(0, depth[cpu] + INTERRUPTS[name])
        elif name in ("syscall_entry_exit", "syscall_entry_exit_group", "sched_process_exit"):
            exiting.add(tid)
        if name == "syscall_entry_futex":
            inside[tid] = integer("uaddr", payload)
        elif name.startswith(("syscall_exit_", "syscall_entry_")):
            inside.pop(tid, None)
        ended, by = None, None
        if name == "sched_switch":
            payload = rest if not payload else payload
            prev, state = integer("prev_tid", payload), integer("prev_state", payload)
            if state not in RUNNABLE and prev in inside:
                since[prev] = ts
            since.pop(integer("next_tid", payload), None)  # woken before it left its CPU: it was ready
            depth[cpu] = 0
        elif name == "sched_waking":
            ended = integer("tid", payload or rest)
            by = tid if not depth[cpu] and (tid in inside or tid in exiting) else None
        if ended in since and ended in inside:
            waited = ts - since.pop(ended)
            rows = [found[ended, inside[ended]]]
            if by is not None and by != ended:
                rows.append(ended_by[pids[by], pids[ended], inside[ended]])
            for row in rows:
                row[0], row[1], row[2] = row[0] + 1, row[1] + waited, max(row[2], waited)
    proc.wait()
    return dict(found), dict(ended_by)


def main():
    harness.need_program()
    harness.need("babeltrace2")
    checks = harness.Checks()
    for name, directory, _ in harness.recordings({"locks-pipes", "three-tier"}):
        for host in harness.hosts(directory):
            path = f"{directory}/{host}"
            want, want_ended = waits_of(path)
            got = collections.defaultdict(lambda: [0, 0, 0])
            for r in harness.report("blocking", path).rows:
                if r["syscall"] == "futex":
                    checks.true(r["path"] is not None, f"{name}: {host}: a futex of {r['tid']} has an address")
                    row = got[r["tid"], int(r["path"] or "0", 16)]  # rows also differ by what ended the wait
                    row[0], row[1], row[2] = row[0] + r["count"], row[1] + r["total_ns"], max(row[2], r["max_ns"])
            checks.equal(dict(got), want, f"{name}: {host}: waits by thread and address")
            got = {(r["from_pid"], r["to_pid"], int(r["object"] or "0", 16)): [r["count"], r["wait_ns"], r["wait_max_ns"]]
                   for r in harness.report("relations", path).rows if r["kind"] == "futex"}
            checks.equal(got, want_ended, f"{name}: {host}: who ended them, by address")
            if name == "locks-pipes":
                of_pair = collections.Counter((a, b) for a, b, _ in want_ended)
                checks.true(max(of_pair.values()) > 1, f"{name}: two processes and several futexes: {of_pair}")
                several = collections.Counter(tid for tid, _ in want)
                checks.true(max(several.values()) > 1, f"{name}: a thread waits for several: {several}")
    checks.finish()


if __name__ == "__main__":
    main()
