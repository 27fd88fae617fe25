#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""No process is missed: every fork, name and end, however short its life."""

import collections
import os

import harness
import known
import oracle
import truth

LOSSY = {"lossy", "lossy-overwrite"}
COMM_MAX = 15


def main():
    harness.need_program()
    harness.need("babeltrace2")
    checks = harness.Checks(known.only("forks", "exits", "born", "exited", "comm"), known.CAUSES)
    for name, directory, truth_dir in harness.recordings():
        if name in LOSSY:
            continue
        for host in harness.hosts(directory):
            path = os.path.join(directory, host)
            trace = oracle.of(path)
            offset = truth.clock_offset_ns(truth.trace_dirs(path)[0])
            rows = harness.report("cpu", path).rows
            lives = collections.defaultdict(list)
            for row in rows:
                lives[row["tid"]].append(row)
            _, by_name = truth.expected_events(os.path.join(truth_dir, host + ".events.txt"))
            checks.same(name, host, "forks", "all", by_name.get("sched_process_fork", 0),
                        sum(row["born_ns"] is not None for row in rows))
            checks.same(name, host, "exits", "all", by_name.get("sched_process_exit", 0),
                        sum(row["exited_ns"] is not None for row in rows))
            # The exact instant of each, and the process each thread belongs to.
            for fork in trace.forks:
                checks.true(any(row["born_ns"] == fork.ts + offset and row["pid"] == fork.child_pid
                                for row in lives[fork.child_tid]),
                            f"{name}/{host}: thread {fork.child_tid} of {fork.child_pid} born at {fork.ts + offset}:"
                            f" {[(r['pid'], r['born_ns']) for r in lives[fork.child_tid]]}")
            for tid, ts in trace.exits.items():
                checks.true(any(row["exited_ns"] == ts + offset for row in lives[tid]),
                            f"{name}/{host}: thread {tid} ended at {ts + offset}:"
                            f" {[r['exited_ns'] for r in lives[tid]]}")
            # Names at the end of the recording, as /proc showed them.
            snapshot = truth.Snapshot(os.path.join(truth_dir, host, "snap-end.txt"))
            if trace.first > snapshot.begin or trace.last < snapshot.end:
                continue
            for tid, (pid, block) in snapshot.threads().items():
                for row in lives[tid]:
                    if row["exited_ns"] is None and not any(ts > block.mono for ts, t, _ in trace.execs if t == tid):
                        # /proc shows a kernel thread's full name, a kworker's with what it works on.
                        comm = snapshot.comm(pid, tid)
                        same = comm[:COMM_MAX] == row["comm"] or row["comm"].startswith("kworker") and comm.startswith(row["comm"])
                        checks.same(name, host, "comm", f"{tid}:{comm}:{row['comm']}".replace(" ", "_"), 0, int(not same))
                        checks.equal(row["pid"], pid, f"{name}/{host}: process of {tid}")
    checks.finish()


if __name__ == "__main__":
    main()
