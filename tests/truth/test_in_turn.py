#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of one host, made one after the other: together they have the figures of each alone, added up. Nothing is
known of the time in between, and what ran when a later one started is credited from its start."""

import collections
import os

import harness

FIGURES = {
    "cpus": (("host", "cpu"), ("busy_ns", "idle_ns", "irq_ns", "softirq_ns", "online_ns", "switches")),
    "cpu": (("host", "tid"), ("cpu_ns", "user_ns", "system_ns", "interrupted_ns", "switches")),
}
HOSTS = {
    "client": ("three-tier", "kprobe"),
    "web": ("three-tier", "rpc-hog-local", "locks-pipes"),
}


def figures(table, *recordings):
    keys, names = FIGURES[table]
    found = collections.Counter()
    for row in harness.report(table, *recordings).rows:
        for name in names:
            found[(*(row[key] for key in keys), name)] += row[name]
    # threads of which nothing is known but that they existed
    return +found


def main():
    harness.need_program()
    checks = harness.Checks()
    for host, names in HOSTS.items():
        recordings = [os.path.join(harness.bundled(name), host) for name in names]
        for table in FIGURES:
            want = sum((figures(table, recording) for recording in recordings), collections.Counter())
            checks.true(len(want) > 6, f"{host}: few figures in {table}")
            # in any order, also of the workers that read them
            for order in (recordings, recordings[::-1], recordings):
                got = figures(table, *order)
                for key in want | got:
                    checks.same("+".join(names), host, table, key[1:], want[key], got[key])
    checks.finish()


if __name__ == "__main__":
    main()
