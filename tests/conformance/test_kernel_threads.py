#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""States of threads, where they ran, names, parents: read from the reports ns by ns.

A thread's state shows as the time that grows: cpu_ns, ready_ns, blocked_ns or none of them. The state dump's
"waiting" (the case's Wait, cause unknown) is blocked time here.
"""

import case
import harness

GROWS = {"Wait": "blocked_ns", "Usermode": "cpu_ns", "System call": "cpu_ns", "Wait for CPU": "ready_ns", "Wait blocked": "blocked_ns"}
FIRST, END = 1, 81

# Where the program differs by definition.
# A fork's child is ready from its wake-up on, and the case has no sched_wakeup_new.
NEVER_WOKEN = {("tid21", 25)}
# A thread's parent is the parent of its process, not the thread that created it.
PARENTS = {21: 0}
# Seen only as the thread that is switched out: its process is not known.
NO_PROCESS = {100}
# The thread that runs when the recording starts (its CPU's first switch says so) is credited
# from there; in the case it is unknown or does not exist yet.
RUNS_FROM_BEGIN = {"proc30": (30, 1, 12), "lttng-sessiond": (100, 1, 35)}


def main():
    c = case.Case("kernel_threads")
    checks = harness.Checks()
    by_ns = {t: {r["tid"]: r for r in rows} for t, rows in c.each_ns("cpu").items()}
    tids = {t["name"]: t["tid"] for t in c.expected["threads"]}

    def growing(tid, t):
        row = by_ns.get(t, {}).get(tid)
        return {k for k in ("cpu_ns", "ready_ns", "blocked_ns") if row and row[k]}

    for name, states in c.expected["thread_states"].items():
        tid = tids[name]
        early = RUNS_FROM_BEGIN.get(name, (None, 0, 0))
        for s in states:
            want = {GROWS[s["state"]]} if s["state"] in GROWS and (name, s["begin"]) not in NEVER_WOKEN else set()
            for t in range(s["begin"], min(s["begin"] + s["duration"], END)):
                expect = {"cpu_ns"} if early[1] <= t < early[2] else want
                checks.equal(growing(tid, t), expect, f"{name} at {t}: {s['state']}")
    for query in c.expected["queries"]:
        t, arg, want = query["t"], query["arg"], query["expect"]
        row = by_ns.get(t, {}).get(arg)
        what = f"{query['query']}({arg}) at {t}"
        if query["query"] == "getThreadOnCpu":
            running = {tid for tid in by_ns.get(t, {}) if "cpu_ns" in growing(tid, t)}
            if want is not None:
                checks.true(want in running, f"{what}: {running} run")
            elif 0 <= arg <= 1 and FIRST <= t < END:
                checks.true(running <= {tid for tid, b, e in RUNS_FROM_BEGIN.values() if b <= t < e} | {11},
                            f"{what}: nobody known to run: {running}")
        elif want is not None and row is not None:  # a thread whose times do not grow has no row
            column = {"getParentPid": "ppid", "getProcessId": "pid", "getExecutableName": "comm"}[query["query"]]
            checks.equal(row[column], PARENTS.get(arg, want) if column == "ppid" else want, what)
    rows = {r["tid"]: r for r in c.rows("cpu", FIRST, END)}
    for thread in c.expected["threads"]:
        row = rows.get(thread["tid"])
        if row:
            process = None if thread["tid"] in NO_PROCESS else thread["pid"]
            checks.equal((row["comm"], row["pid"]), (thread["name"], process), f"{thread}: name and process")
            if thread["ppid"] > 0:
                checks.equal(row["ppid"], PARENTS.get(thread["tid"], thread["ppid"]), f"{thread}: parent")
    for key in ("active_threads_in_range", "threads_on_cpu_in_range"):
        for want in c.expected[key]:
            begin, end = max(want["begin"], FIRST), min(want["end"] + 1, END)
            got = {r["tid"] for r in c.rows("cpu", begin, end) if r["cpu_ns"]}
            early = {tid for tid, b, e in RUNS_FROM_BEGIN.values() if b < end and begin < e}
            if key == "active_threads_in_range":
                checks.equal(got, set(want["tids"]) | early, f"running in {want}")
            else:
                checks.true(set(want["tids"]) <= got, f"running in {want}: {got}")
    calls = {(r["tid"], r["name"]): r for r in c.rows("syscalls", FIRST, END)}
    for s in c.expected["thread_states"]["tid11"]:
        if s["state"] == "System call":
            row = calls.get((11, s["label"]))
            checks.equal(row and (row["count"], row["total_ns"]), (1, s["duration"]), f"tid11 in {s['label']}")
    checks.finish()


if __name__ == "__main__":
    main()
