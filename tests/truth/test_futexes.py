#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits for futexes, each by its address, exactly as the
switches, wake-ups and calls in babeltrace2's text give them."""

import collections
import re
import subprocess

import harness

LINE = re.compile(r"\[(\d+)\] (?:\S+ )?([\w:.+-]+): \{ cpu_id = \d+ \}, (.*)", re.S)
RUNNABLE = {0, 256}  # prev_state of a thread that was preempted


def integer(field, text):
    m = re.search(rf"\b{field} = (?:\( \S+ : container = )?(-?(?:0x)?[0-9A-Fa-f]+)", text)
    return int(m[1], 0) if m else None


def waits_of(directory):
    """(tid, address) -> [waits, their time, the longest]; from switch-out to wake-up, or else to switch-in."""
    found = collections.defaultdict(lambda: [0, 0, 0])
    inside, since = {}, {}
    proc = subprocess.Popen(["babeltrace2", "--no-delta", "--clock-cycles", directory], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True)
    for line in proc.stdout:
        m = LINE.match(line)
        if not m:
            continue
        ts, name, rest = int(m[1]), m[2], m[3]
        context, _, payload = rest.partition("}, {")
        tid = integer("tid", context)
        if name == "syscall_entry_futex":
            inside[tid] = integer("uaddr", payload)
        elif name.startswith(("syscall_exit_", "syscall_entry_")):
            inside.pop(tid, None)
        elif name == "sched_switch":
            payload = rest if not payload else payload
            prev, state = integer("prev_tid", payload), integer("prev_state", payload)
            if state not in RUNNABLE and prev in inside:
                since[prev] = ts
            ended = integer("next_tid", payload)  # woken before it left its CPU
        elif name == "sched_waking":
            ended = integer("tid", payload or rest)
        if name in ("sched_switch", "sched_waking") and ended in since and ended in inside:
            waited = ts - since.pop(ended)
            row = found[ended, inside[ended]]
            row[0], row[1], row[2] = row[0] + 1, row[1] + waited, max(row[2], waited)
    proc.wait()
    return dict(found)


def main():
    harness.need_program()
    harness.need("babeltrace2")
    checks = harness.Checks()
    for name, directory, _ in harness.recordings({"locks-pipes", "three-tier"}):
        for host in harness.hosts(directory):
            path = f"{directory}/{host}"
            want = waits_of(path)
            got = collections.defaultdict(lambda: [0, 0, 0])
            for r in harness.report("blocking", path).rows:
                if r["syscall"] == "futex":
                    checks.true(r["path"] is not None, f"{name}: {host}: a futex of {r['tid']} has an address")
                    row = got[r["tid"], int(r["path"] or "0", 16)]  # rows also differ by what ended the wait
                    row[0], row[1], row[2] = row[0] + r["count"], row[1] + r["total_ns"], max(row[2], r["max_ns"])
            checks.equal(dict(got), want, f"{name}: {host}: waits by thread and address")
            if name == "locks-pipes":
                several = collections.Counter(tid for tid, _ in want)
                checks.true(max(several.values()) > 1, f"{name}: a thread waits for several: {several}")
    checks.finish()


if __name__ == "__main__":
    main()
