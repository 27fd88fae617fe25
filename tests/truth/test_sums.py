#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Intervals of any length add up to the whole; rows + idle = online time in each, to the ns."""

import collections

import cases
import harness

# table: (key columns, counters, columns whose minimum and maximum hold over intervals)
TABLES = {
    "hosts": ((), ("events", "lost_events", "lost_packets", "backward_steps", "late_events"), (), ()),
    "events": (("name",), ("count",), (), ()),
    "cpus": (("cpu",), ("busy_ns", "idle_ns", "irq_ns", "softirq_ns", "online_ns", "switches"), (), ()),
    "cpu": (("tid",), ("cpu_ns", "ready_ns", "blocked_ns", "switches", "migrations"), (), ()),
    "io": (("tid",), tuple(f"{way}_bytes{kind}" for way in ("read", "write")
                           for kind in ("", "_disk", "_net", "_pipe", "_other", "_netfs")) + ("syscalls",), (), ()),
    "containers": (("ns",), ("cpu_ns", "ready_ns", "blocked_ns", "read_bytes", "write_bytes", "read_bytes_net",
                             "write_bytes_net", "syscalls"), (), ()),
    "files": (("pid", "fd", "opened_ns"), ("read_bytes", "write_bytes"), (), ()),
    "disks": (("dev",), ("reads", "writes", "read_bytes", "write_bytes"), ("latency_min_ns",),
              ("latency_max_ns", "queue_max")),
    "net": (("name",), ("rx_packets", "rx_bytes", "tx_packets", "tx_bytes"), (), ()),
    "syscalls": (("tid", "name"), ("count", "total_ns"), ("min_ns",), ("max_ns",)),
    "sched": (("tid",), ("count", "total_ns"), ("min_ns",), ("max_ns",)),
    "irqs": (("kind", "nr"), ("count", "total_ns"), ("min_ns",), ("max_ns", "raise_max_ns")),
    "perf": (("tid", "counter"), ("value",), (), ()),
    "probes": (("name",), ("count",), (), ()),
}
INTERVALS = ("137ms",)
MORE_INTERVALS = ("1s", "2718281828ns")
MORE = {"cpus", "cpu", "io"}
LARGE_INTERVALS = ("1900ms",)
LARGE = {"large"}
INCOMPLETE = {"lossy", "lossy-overwrite"}


def sums(table, rows):
    """key -> counters and extremes; the io classes must add up to their total."""
    keys, counters, least, greatest = TABLES[table]
    total = collections.defaultdict(collections.Counter)
    for row in rows:
        have = total[(row["host"],) + tuple(row[k] for k in keys)]
        for column in counters:
            have[column] += row[column] or 0
        for call, n in (row.get("errors") or {}).items() if table == "syscalls" else ():
            have["errors." + call] += n
        for column in least:
            if row[column] is not None:
                have[column] = min(have[column], row[column]) if column in have else row[column]
        for column in greatest:
            if row.get(column) is not None:
                have[column] = max(have[column], row[column])
    return {key: {c: n for c, n in have.items() if n} for key, have in total.items() if any(have.values())}


def compare(checks, what, got, want):
    checks.checked += 1
    for key in sorted(set(got) | set(want), key=str):
        g, w = got.get(key, {}), want.get(key, {})
        bad = {c: (g.get(c, 0), w.get(c, 0)) for c in set(g) | set(w) if g.get(c, 0) != w.get(c, 0)}
        if bad:
            checks.fail(f"{what}: {key}: intervals' sum and whole: {bad}")


def identity(checks, what, cpus, cpu):
    for c, t in zip(cpus, cpu):
        checks.equal((c.begin, c.end), (t.begin, t.end), f"{what}: both tables' interval")
        running = collections.Counter()
        other = collections.Counter()
        for row in t.rows:
            running[row["host"]] += row["cpu_ns"]
        for row in c.rows:
            checks.equal(row["busy_ns"] + row["idle_ns"], row["online_ns"],
                         f"{what}: {row['host']} cpu{row['cpu']} [{c.begin}, {c.end}[: busy + idle")
            checks.true(0 <= row["irq_ns"] + row["softirq_ns"] <= row["online_ns"],
                        f"{what}: {row['host']} cpu{row['cpu']}: interrupts within the time online")
            other[row["host"]] += row["online_ns"] - row["idle_ns"]
        for host in set(running) | set(other):
            checks.equal(running[host], other[host], f"{what}: {host} [{c.begin}, {c.end}[: threads' time + idle")


def main():
    harness.need_program()
    checks = harness.Checks()
    sanitized = cases.sanitized()
    for name, directory, _ in harness.recordings():
        parts = {}
        status = (harness.INCOMPLETE,) if name in INCOMPLETE else (harness.COMPLETE,)
        for table in MORE if sanitized else TABLES:
            whole = harness.report(table, directory, status=status)
            want = sums(table, whole.rows)
            if table in ("cpus", "cpu"):
                parts[table, None] = [whole]
            if table == "io":
                for row in whole.rows:
                    for way in ("read", "write"):
                        checks.equal(sum(row[f"{way}_bytes_{k}"] for k in ("disk", "net", "pipe", "other", "netfs")),
                                     row[f"{way}_bytes"], f"{name}: {way} classes of {row['host']} {row['tid']}")
            for length in LARGE_INTERVALS if name in LARGE else INTERVALS + (MORE_INTERVALS if table in MORE else ()):
                reports = harness.run(table, "--interval", length, directory, status=status)
                parts[table, length] = reports
                compare(checks, f"{name}: {table} by {length}", sums(table, [r for x in reports for r in x.rows]), want)
                checks.equal(reports[0].begin, whole.begin, f"{name}: {table} by {length}: begin")
                checks.equal(reports[-1].end, whole.end, f"{name}: {table} by {length}: end")
                for a, b in zip(reports, reports[1:]):
                    checks.equal(b.begin, a.end, f"{name}: {table} by {length}: no gap")
        for length in {key[1] for key in parts if key[0] == "cpus"}:
            identity(checks, f"{name} by {length}", parts["cpus", length], parts["cpu", length])
    checks.finish()


if __name__ == "__main__":
    main()
