#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Block bytes against diskstats, packets against /proc/net/dev."""

import os

import harness
import known
import oracle
import truth

LOSSY = {"lossy", "lossy-overwrite"}
SECTOR = 512


def check_disks(checks, name, host, path, offset, start, end):
    a, b = start.get("/proc/diskstats"), end.get("/proc/diskstats")
    before, after = truth.diskstats(a.text), truth.diskstats(b.text)
    rows = harness.report("disks", "--begin", harness.stamp(a.mono + offset), "--end", harness.stamp(b.mono + offset),
                          path).by("name")
    for disk in sorted(before):
        reads, read_sectors, writes, write_sectors = (y - x for x, y in zip(before[disk][1:], after[disk][1:]))
        row = rows.pop(disk, {"reads": 0, "writes": 0, "read_bytes": 0, "write_bytes": 0})
        checks.same(name, host, "disk_read_bytes", disk, read_sectors * SECTOR, row["read_bytes"])
        checks.same(name, host, "disk_write_bytes", disk, write_sectors * SECTOR, row["write_bytes"])
        checks.same(name, host, "disk_reads", disk, reads, row["reads"])
        checks.same(name, host, "disk_writes", disk, writes, row["writes"])
    for disk, row in rows.items():
        checks.fail(f"{name}/{host}: a disk {disk} the guest does not have: {row}")


def check_net(checks, name, host, path, offset, start, end):
    a, b = start.get("/proc/net/dev"), end.get("/proc/net/dev")
    before, after = truth.net_dev(a.text), truth.net_dev(b.text)
    rows = harness.report("net", "--begin", harness.stamp(a.mono + offset), "--end", harness.stamp(b.mono + offset),
                          path).by("name")
    for card in sorted(before):
        want = (y - x for x, y in zip(before[card], after[card]))
        row = rows.pop(card, {})
        for column, value in zip(("rx_bytes", "rx_packets", "tx_bytes", "tx_packets"), want):
            checks.same(name, host, column, card, value, row.get(column, 0))
    for card, row in rows.items():
        checks.fail(f"{name}/{host}: an interface {card} the guest does not have: {row}")


def main():
    harness.need_program()
    checks = harness.Checks(known.only("disk_read_bytes", "disk_write_bytes", "disk_reads", "disk_writes",
                                       "rx_packets", "tx_packets", "rx_bytes", "tx_bytes"), known.CAUSES)
    for name, directory, truth_dir in harness.recordings():
        if name in LOSSY:
            continue
        for host in harness.hosts(directory):
            path = os.path.join(directory, host)
            first, last = oracle.span(path)
            start = truth.Snapshot(os.path.join(truth_dir, host, "snap-start.txt"))
            end = truth.Snapshot(os.path.join(truth_dir, host, "snap-end.txt"))
            if first > start.begin or last < end.end:
                continue
            offset = truth.clock_offset_ns(truth.trace_dirs(path)[0])
            check_disks(checks, name, host, path, offset, start, end)
            check_net(checks, name, host, path, offset, start, end)
    checks.finish()


if __name__ == "__main__":
    main()
