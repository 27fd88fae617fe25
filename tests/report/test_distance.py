#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The distances between the requests of a disk, from the sectors that babeltrace2 prints, against table disks."""
import collections
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402

ISSUE = re.compile(r" block_rq_issue: .*\bdev = (\d+), sector = (\d+), nr_sector = (\d+), .*\brwbs = (\d+)")
READ_OR_WRITE = 1 << 0 | 1 << 2
DISCARD = 1 << 1
SECTOR = 512
COLUMNS = "host,dev,distance_count,distance_avg_bytes,distance_max_bytes,distance_p50_bytes,distance_p90_bytes,distance_p99_bytes"


def distances(directory):
    """Of each disk, how far each request starts from the end of the one before it, in bytes."""
    out = subprocess.run(["babeltrace2", directory], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    found, end = collections.defaultdict(list), {}
    for line in out.stdout.splitlines():
        request = ISSUE.search(line)
        if not request:
            continue
        dev, sector, n, rwbs = map(int, request.groups())
        if not n or not rwbs & READ_OR_WRITE or rwbs & DISCARD:
            continue
        if dev in end:
            found[dev].append(abs(sector - end[dev]) * SECTOR)
        end[dev] = sector + n
    return found


def check_disk(checks, what, row, values):
    values.sort()
    n, total = len(values), sum(values)
    checks.equal(row["distance_count"], n, f"{what}: how many")
    checks.equal(row["distance_avg_bytes"], (2 * total + n) // (2 * n), f"{what}: mean")
    checks.equal(row["distance_max_bytes"], values[-1], f"{what}: longest")
    for name, permille in (("p50", 500), ("p90", 900), ("p99", 990)):
        exact = values[-(-n * permille // 1000) - 1]
        got = row[f"distance_{name}_bytes"]
        checks.true(abs(got - exact) * 16 <= exact, f"{what}: {name} is {exact}, not {got}")


def check_histogram(checks, what, row, values):
    counts = [(b["from"], b["to"], b["count"]) for b in row["distance_freq"]]
    wanted = [(low, high, sum(low <= v < high for v in values)) for low, high, _ in counts]
    checks.equal(counts, wanted, f"{what}: buckets")
    checks.equal(sum(n for _, _, n in counts), len(values), f"{what}: all of them")


def report(directory, *options):
    done = subprocess.run([harness.PROGRAM, "report", "disks", "--no-sync", *options, directory], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, 3), (options, done)
    return done.stdout


def main():
    harness.need_program()
    harness.need("babeltrace2")
    checks = harness.Checks()
    seen = 0
    for name, host in (("writeback", "wb"), ("disk-io", "db")):
        found = harness.bundled(name) if name == "writeback" else (harness.recording(name) or [None])[0]
        if not found:
            print(f"skip {name}: not there")
            continue
        directory = os.path.join(found, host)
        judged = distances(directory)
        rows = {row["dev"]: row for row in json.loads(report(directory, "--json", "--columns", COLUMNS))["rows"]}
        freq = {row["dev"]: row for row in
                json.loads(report(directory, "--json", "--freq", "--of", "distance"))["rows"]}
        for dev, values in judged.items():
            check_disk(checks, f"{name}/{host}: {dev}", rows[dev], values)
            check_histogram(checks, f"{name}/{host}: {dev}", freq[dev], values)
            seen += len(values)
        lines = [line.split() for line in report(directory, "--freq", "--of", "distance").splitlines()]
        bars = [line for line in lines if len(line) > 3 and line[1] == "…"]
        checks.equal(sum(int(line[3]) for line in bars), sum(map(len, judged.values())), f"{name}: lines of the text")
        checks.true(not any(line[2].endswith("s") for line in bars), f"{name}: no durations in {bars[:2]}")
    checks.true(seen > 50, f"only {seen} requests")
    done = subprocess.run([harness.PROGRAM, "report", "disks", "--log", "--of", "distance", "/"], capture_output=True, check=False)
    checks.true(done.returncode == 2 and b"--log is of durations" in done.stderr, f"--log: {done}")
    checks.finish()


main()
