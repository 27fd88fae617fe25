#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The clocks of recordings of several hosts against their true difference, measured
from outside before and after each recording, to less than 1 us.

At every matched packet the corrected time must be right within the bound; if a pair exchanged 20 packets in each
direction the bound must be 1 ms or less. With every host as the reference, and for every two hosts of three.
"""

import collections
import itertools
import json
import os
import subprocess

import harness
import truth

ENOUGH_PACKETS = 20
BOUND_MAX_NS = 1000000
TRUTH_ERROR_NS = 1000


NO_HEADERS = "received packets have no headers: receive offload (GRO) was off"


def report(table, *args):
    """Incomplete if unknown packets arrived, with a message."""
    command = [harness.PROGRAM, "report", table, "--json", *args]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=600)
    if done.returncode != (harness.INCOMPLETE if NO_HEADERS in done.stderr.decode() else harness.COMPLETE):
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout)["rows"]


class Clock:
    """A guest's clock against that of the machine that ran it."""

    def __init__(self, meta, host, path):
        self.offset = truth.clock_offset_ns(truth.trace_dirs(path)[0])
        ends = [meta["clock_before"][host], meta["clock_after"][host]]
        self.guest = [e["best_guest_mono"] for e in ends]
        self.ahead = [(e["host_minus_guest_mono_lo"] + e["host_minus_guest_mono_hi"]) / 2 for e in ends]
        self.drift = (self.ahead[1] - self.ahead[0]) / (self.guest[1] - self.guest[0])

    def true_time(self, ts):
        mono = ts - self.offset
        return mono + (self.ahead[0] + self.drift * (mono - self.guest[0]))

    def at(self, true_time):
        mono = (true_time - self.ahead[0] + self.drift * self.guest[0]) / (1 + self.drift)
        # Once more, for the digits a float does not have.
        mono = round(mono)
        return round(mono + (true_time - self.true_time(mono + self.offset)) / (1 + self.drift)) + self.offset


def check(checks, name, sources, clocks, *options):
    what = f"{name} {' '.join(os.path.basename(s) for s in sources)} {' '.join(options)}"
    rows = {r["host"]: r for r in report("sync", *options, *sources)}
    raw, corrected = (report("matches", *o, *options, *sources) for o in (["--no-sync"], []))
    key = lambda r: (r["from_host"], r["to_host"], r["flow"], r["raw_latency_ns"])
    checks.equal(sorted(map(key, raw)), sorted(map(key, corrected)), f"{what}: the same matches")
    own = {(key(r), r["part"]): collections.deque() for r in raw}
    for r in raw:
        own[key(r), r["part"]].append(r)
    exchanged = collections.Counter()
    points = 0
    for r in corrected:
        o = own[key(r), r["part"]].popleft()
        exchanged[r["from_host"], r["to_host"]] += 1
        checks.true(r["latency_ns"] >= 0, f"{what}: latency {r}")
        for end, time in (("from_host", "sent_ns"), ("to_host", "received_ns")):
            row = rows[r[end]]
            if row["ref"] is None or row["ref"] == r[end]:
                continue
            true = clocks[row["ref"]].at(clocks[r[end]].true_time(o[time]))
            checks.true(abs(r[time] - true) <= row["bound_ns"] + TRUTH_ERROR_NS,
                        f"{what}: {r[end]} at {o[time]}: {r[time] - true} ns off, bound {row['bound_ns']}")
            points += 1
    checks.true(points > 0, f"{what}: nothing matched")
    for a, b in itertools.combinations(clocks, 2):
        if min(exchanged[a, b], exchanged[b, a]) < ENOUGH_PACKETS:
            continue
        for host in (a, b):
            if rows[host]["ref"] in (a, b):
                checks.true(rows[host]["bound_ns"] <= BOUND_MAX_NS, f"{what}: bound {rows[host]}")
                checks.true(rows[host]["state"] in ("reference", "accurate"), f"{what}: state {rows[host]}")
    # The offset at the end, of each host.
    ends = {r["host"]: r["end_ns"] for r in report("hosts", "--no-sync", *sources)}
    for host, row in rows.items():
        if row["ref"] is None or row["ref"] == host:
            continue
        true = clocks[row["ref"]].at(clocks[host].true_time(ends[host])) - ends[host]
        checks.true(abs(row["offset_ns"] - true) <= row["bound_ns"] + TRUTH_ERROR_NS,
                    f"{what}: offset of {host} at the end {row['offset_ns']}, truly {true}, bound {row['bound_ns']}")
        checks.equal(row["negative"], 0, f"{what}: negative latencies of {host}")


def main():
    harness.need_program()
    checks = harness.Checks()
    used = 0
    for name, directory, truth_dir in harness.recordings():
        hosts = harness.hosts(directory)
        if len(hosts) < 2:
            continue
        if not report("matches", directory):
            rows = report("sync", directory)
            checks.true(all(r["state"] == "absent" and r["ref"] is None and r["reason"] == NO_HEADERS for r in rows),
                        f"{name}: no match, no clock {rows}")
            continue
        with open(os.path.join(truth_dir, "meta.json"), encoding="utf-8") as f:
            meta = json.load(f)
        paths = {host: os.path.join(directory, host) for host in hosts}
        clocks = {host: Clock(meta, host, paths[host]) for host in hosts}
        check(checks, name, [directory], clocks)
        for host in hosts:
            check(checks, name, [directory], clocks, "--ref", host)
        for a, b in itertools.combinations(hosts, 2):
            if len(hosts) > 2 and report("matches", paths[a], paths[b]):
                check(checks, name, [paths[a], paths[b]], {h: clocks[h] for h in (a, b)})
        used += 1
    checks.true(used > 0, "no recording whose hosts exchange packets")
    checks.finish()


if __name__ == "__main__":
    main()
