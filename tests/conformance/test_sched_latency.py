#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Wake-up to switch-in.

The case treats every wake-up as one of a blocked thread. Three of its threads had been switched out with prev_state 0,
still able to run, and one was running: not wake-ups of blocked threads, which alone count as latency here. Their time
since the preemption is ready_ns.
"""

import case
import harness

# (tid, wake-up) -> since when the thread was ready; None: it was running
RUNNABLE_SINCE = {(3, 3): 2, (4, 6): 5, (1, 10): 1, (2, 3): None}


def main():
    c = case.Case("sched_latency")
    checks = harness.Checks()
    sched = c.each_ns("sched")
    cpu = c.each_ns("cpu")
    seen = 0
    used = set()
    for want in c.expected["segments"]:
        tid, woken, switched = want["tid"], want["wakeup"], want["switch"]
        what = f"{want['name']} {tid} woken at {woken}, in at {switched}"
        row = {r["tid"]: r for r in sched.get(switched, [])}.get(tid)
        if (tid, woken) in RUNNABLE_SINCE:
            used.add((tid, woken))
            checks.equal(row, None, f"{what}: was runnable, no latency")
            since = RUNNABLE_SINCE[tid, woken]
            ready = sum(r["ready_ns"] for t, rows in cpu.items() for r in rows
                        if r["tid"] == tid and since is not None and since <= t < switched)
            checks.equal(ready, 0 if since is None else switched - since, f"{what}: time runnable")
            continue
        seen += 1
        checks.equal(row and {k: row[k] for k in ("count", "min_ns", "max_ns", "total_ns", "avg_ns", "stdev_ns")},
                     {"count": 1, "min_ns": want["latency"], "max_ns": want["latency"], "total_ns": want["latency"],
                      "avg_ns": want["latency"], "stdev_ns": 0}, what)
        prio = {r["tid"]: r["prio"] for r in c.rows("cpu", switched, switched + 1)}.get(tid)
        checks.equal(prio, want["prio"], f"{what}: priority")
    checks.equal(used, set(RUNNABLE_SINCE), "every exception is needed")
    checks.equal(sum(r["count"] for r in harness.report("sched", c.ctf).rows), seen, "no further latency")
    checks.finish()


if __name__ == "__main__":
    main()
