#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Bytes that disks read and wrote for threads: against the disks, a second reading, and /proc/PID/io.

The threads' sums are the disks' figures, in every interval. The second reading looks up, for each sector of a completed
request, the last thread seen to ask for it. The kernel counts read_bytes when a bio is submitted, and write_bytes when a
page gets dirty or is written directly, for the process and, once they have been waited for, its children;
cancelled_write_bytes when a dirty page is dropped, for the process that drops it. Most processes end before their pages
are written back.
"""

import collections
import os
import sys

import cases
import harness
import known
import oracle
import truth

LOSSY = {"lossy", "lossy-overwrite"}
INTERVAL = "137ms"
SECTOR = 512
WRITE, DISCARD, READ, AHEAD = 1, 2, 4, 8  # of rwbs
ASKS = ("block_getrq", "block_bio_backmerge", "block_bio_frontmerge")
FLUSHERS = ("kworker/u", "kswapd")


def check_sums(checks, name, path, status, *options):
    """In every interval, host by host."""
    disks = harness.run("disks", path, *options, status=status)
    threads = harness.run("io", path, *options, status=status)
    checks.equal([(r.begin, r.end) for r in threads], [(r.begin, r.end) for r in disks], f"{name}: intervals")
    for d, t in zip(disks, threads):
        want, got = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
        for row in d.rows:
            want[row["host"]].update(read=row["read_bytes"], write=row["write_bytes"], requests=row["reads"] + row["writes"])
        for row in t.rows:
            got[row["host"]].update(read=row["disk_read_bytes"], write=row["disk_write_bytes"],
                                    requests=row["disk_requests"])
        for host in set(want) | set(got):
            checks.equal(+got[host], +want[host], f"{name}/{host}: threads' and disks' sums of [{d.begin}, {d.end}[")
    return threads


def by_sectors(path):
    """tid -> (bytes read, bytes written) on completion."""
    asked, moved = {}, collections.defaultdict(lambda: [0, 0])
    for name, tid, field in oracle.of(path).blocks:
        if name not in (*ASKS, "block_rq_issue", "block_rq_complete"):
            continue
        where = [(field["dev"], field["sector"] + i) for i in range(field["nr_sector"])]
        if name in ASKS:
            for at in where:
                asked[at] = tid
        elif name == "block_rq_issue":
            for at in where:
                asked.setdefault(at, tid)
        elif not field["rwbs"] & DISCARD and field["rwbs"] & (WRITE | READ | AHEAD):
            for at in where:
                moved[asked.pop(at, None)][1 if field["rwbs"] & WRITE else 0] += SECTOR
    return moved


def check_threads(checks, name, host, path, rows):
    want, got = by_sectors(path), collections.defaultdict(lambda: [0, 0])
    back = 0  # in the kernel threads' own context, and on behalf of others
    for row in rows:
        checks.true(row["disk_writeback_bytes"] <= row["disk_write_bytes"], f"{name}/{host}: part of the bytes written: {row}")
        back += row["disk_writeback_bytes"]
        if row["disk_read_bytes"] or row["disk_write_bytes"]:
            got[row["tid"]][0] += row["disk_read_bytes"]
            got[row["tid"]][1] += row["disk_write_bytes"] - row["disk_writeback_bytes"]
    flushers = {row["tid"] for row in rows if row["comm"].startswith(FLUSHERS)}
    checks.equal(sum(got[tid][1] for tid in flushers) + back, sum(want[tid][1] for tid in flushers),
                 f"{name}/{host}: written back")
    for tid in flushers:
        want[tid][1] = got[tid][1]
    for tid in set(want) | set(got):
        checks.equal(got[tid], want[tid], f"{name}/{host}: bytes of {tid} at the disks")


def descendants(trace, pid):
    """The process, those it forked, and theirs."""
    found = {pid}
    for fork in trace.forks:
        if fork.parent_pid in found:
            found.add(fork.child_pid)
    return found


def check_lives(checks, name, host, path, said, rows):
    """
    Payload processes that started and ended in the recording; their children are processes, not threads, here. Returns
    the number of bytes written back for them.
    """
    back = 0
    payload = [p for p in truth.runit(said) if p["io"]]
    trace = oracle.of(path) if payload else None
    for p in payload:
        if p["start_mono"] <= trace.first or p["end_mono"] >= trace.last:
            continue
        lives = descendants(trace, p["pid"])
        who = f"{p['pid']}:{p['label']}"
        read, write, late = (sum(r[f"disk_{what}_bytes"] for r in rows if r["pid"] in lives)
                             for what in ("read", "write", "writeback"))
        checks.same(name, host, "at_disk_read", who, p["io"]["read_bytes"], read)
        checks.same(name, host, "at_disk_write", who, p["io"]["write_bytes"] - p["io"]["cancelled_write_bytes"], write)
        back += late
    return back


def main():
    harness.need_program()
    harness.need("babeltrace2")
    harness.TRACES.append(os.path.join(harness.SHARED, "traces-k612"))
    checks = harness.Checks(known.only("at_disk_read", "at_disk_write"), known.CAUSES)
    back, least = 0, 1
    # of the few, none has bytes that were written back
    for name, directory, truth_dir in harness.recordings(harness.carried() if cases.few() else None):
        if name not in harness.carried():
            least = 7 << 20
        status = (harness.INCOMPLETE,) if name in LOSSY else (harness.COMPLETE,)
        check_sums(checks, f"{name} by {INTERVAL}", directory, status, "--interval", INTERVAL)
        for host in harness.hosts(directory):
            path = os.path.join(directory, host)
            rows = check_sums(checks, name, path, status)[0].rows
            if name not in LOSSY:
                check_threads(checks, name, host, path, rows)
                back += check_lives(checks, name, host, path, os.path.join(truth_dir, host), rows)
    checks.true(sys.argv[1:] or back >= least, f"only {back} bytes were written back for payload processes")
    checks.finish()


if __name__ == "__main__":
    main()
