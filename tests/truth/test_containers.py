#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Containers of the recording that has some, against what its machine reported: how they are nested, and the
CPU time of those that came and went while it was recorded, from wait4(). In every recording the rows of a
host add up to its threads.
"""

import json
import os
import re

import harness

HOST_PID_NS = 4026531836
CPU_TOLERANCE = 0.005  # of the processes that runit waited for: wait4() also counts those around the containers


def said(truth, name):
    """What the shells printed about themselves: label -> inode of their pid namespace."""
    with open(os.path.join(truth, "client", name), encoding="utf-8") as f:
        return {m[1]: int(m[2]) for m in re.finditer(r"^(\w+) .*pid:\[(\d+)\]", f.read(), re.M)}


def check_tree(checks, rows, truth):
    by_ns = {row["ns"]: row for row in rows}
    chains = (said(truth, "pre.out"), ("P1", "P2")), (said(truth, "nest.out"), ("L1", "L2", "L3"))
    expected = {HOST_PID_NS}
    for inodes, labels in chains:
        outer = by_ns[HOST_PID_NS]
        for depth, label in enumerate(labels, 1):
            row = by_ns.get(inodes[label])
            expected.add(inodes[label])
            if not checks.true(row, f"{label}: no row of {inodes[label]}"):
                continue
            checks.equal(row["parent"], outer["container"], f"{label}: in")
            checks.equal(row["nesting"], depth, f"{label}: nesting")
            checks.equal(row["container"], f"{row['comm']}:{row['ns']}", f"{label}: name")
            checks.equal(row["comm"], "bash", f"{label}: first process")
            outer = row
    checks.equal(set(by_ns), expected, "namespaces")


def check_cpu(checks, directory, rows, truth):
    """What ran below runit: three containers and, outside them, unshare, which made the first one."""
    with open(os.path.join(truth, "client", "runit.jsonl"), encoding="utf-8") as f:
        waited = json.loads(f.readline())
    inside = set(said(truth, "nest.out").values())
    threads = harness.report("cpu", directory).rows
    leader = [t for t in threads if t["pid"] == waited["pid"]]
    checks.equal(len(leader), 1, "threads of the process that runit started")
    got = sum(row["cpu_ns"] for row in rows if row["ns"] in inside) + sum(t["cpu_ns"] for t in leader)
    want = (waited["utime_us"] + waited["stime_us"]) * 1000
    checks.true(abs(got - want) <= CPU_TOLERANCE * want, f"CPU time {got} ns instead of {want} ns")


SUMS = {"cpu": ("cpu_ns", "ready_ns", "blocked_ns"),
        "io": ("read_bytes", "write_bytes", "read_bytes_disk", "write_bytes_disk", "read_bytes_net", "write_bytes_net",
               "syscalls")}


def check_sums(checks, name, directory, rows):
    for table, columns in SUMS.items():
        threads = harness.report(table, directory, status=(harness.COMPLETE, harness.INCOMPLETE)).rows
        for host in {row["host"] for row in rows}:
            for column in columns:
                checks.equal(sum(row[column] for row in rows if row["host"] == host),
                             sum(row[column] for row in threads if row["host"] == host), f"{name}/{host}: {column}")


def main():
    harness.need_program()
    checks = harness.Checks()
    for name, directory, truth in harness.recordings(also={"containers"}):
        rows = harness.report("containers", directory, status=(harness.COMPLETE, harness.INCOMPLETE)).rows
        if name == "containers":
            check_tree(checks, rows, truth)
            check_cpu(checks, directory, rows, truth)
        else:
            checks.equal({row["kind"] for row in rows}, {"host"}, f"{name}: kinds of rows")
        if name != "large":
            check_sums(checks, name, directory, rows)
    checks.finish()


main()
