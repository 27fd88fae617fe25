#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writeback by inode: the writers' own /proc/self/io, and the pages that the kernel says it passed on to the disk.

The kernel thread passes on one inode after another; the writers have ended by then. A page that was deleted while dirty
is not written. The threads' sums are the disk's figures in every interval, also after the writers' ends.
"""

import collections
import os
import re
import subprocess

import harness
import test_at_disk

NAME, HOST = "writeback", "wb"
PAGE = 4096
DEVICE = 254 << 20  # the inode of the block device itself has its number: data of the file system


def writers(directory):
    """tid -> bytes of its pages that were dirty when it ended: those of its file, and the page that says so."""
    out = {}
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), encoding="ascii") as f:
            tid, written, cancelled = (int(x) for x in f.read().split())
        out[tid] = written - cancelled + PAGE
    return out


def passed_on(path):
    """inode -> bytes, by the text of writeback_single_inode; tid -> the inodes that it dirtied pages of."""
    text = subprocess.run(["babeltrace2", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    written, dirtied = collections.Counter(), collections.defaultdict(set)
    for line in text.splitlines():
        m = re.search(r" writeback_single_inode: .* ino = (\d+), .*wrote = (\d+)", line)
        if m:
            written[int(m[1])] += int(m[2]) * PAGE
        m = re.search(r" writeback_mark_inode_dirty: .*?\btid = (\d+), .* ino = (\d+), .*flags = 4 ", line)
        if m:
            dirtied[int(m[1])].add(int(m[2]))
    return written, dirtied


def main():
    harness.need_program()
    harness.need("babeltrace2")
    checks = harness.Checks()
    directory = harness.bundled(NAME)
    path = os.path.join(directory, HOST)
    want = writers(os.path.join(directory, "truth"))
    test_at_disk.check_sums(checks, f"{NAME} by {test_at_disk.INTERVAL}", path, (0,), "--interval", test_at_disk.INTERVAL)
    rows = test_at_disk.check_sums(checks, NAME, path, (0,))[0].rows
    by_tid = {r["tid"]: r for r in rows}
    checks.equal(len(want), 3, "writers")
    for tid, written in want.items():
        checks.equal(by_tid[tid]["disk_writeback_bytes"], written, f"written back for {tid}")
        checks.equal(by_tid[tid]["disk_write_bytes"], written, f"written for {tid}")
    written, dirtied = passed_on(path)
    for tid in want:
        checks.equal(sum(written[ino] for ino in dirtied[tid]), want[tid], f"passed on of the inodes of {tid}")
    # nobody is charged for the file system's own data, and for inodes that were dirty before
    known = set().union(*dirtied.values()) - {DEVICE}
    checks.true(written[DEVICE] > 0, "the file system's own data was written back")
    back = sum(r["disk_writeback_bytes"] for r in rows)
    checks.true(back <= sum(n for ino, n in written.items() if ino in known), f"written back for threads: {back}")
    checks.finish()


if __name__ == "__main__":
    main()
