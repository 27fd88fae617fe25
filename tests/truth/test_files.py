#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Open files at the end of the recording against the listing of /proc/PID/fd."""

import os
import re

import harness
import known
import oracle
import truth

LOSSY = {"lossy", "lossy-overwrite"}

# How /proc shows files of a kind, and the path the program may give for them.
UNNAMED = re.compile(r"(anon_inode|socket|pipe|/memfd|/dmabuf|net):")


def same_path(shown, path, kind):
    """null is honest; a name must be right. Deleted files keep the name they were opened with."""
    if path is None or UNNAMED.match(shown):
        return True
    shown, path = shown.removesuffix(" (deleted)"), path.removesuffix(" (deleted)")
    # Opened by a relative name: the program does not know the directory.
    return shown == path or (not path.startswith("/") and shown.endswith("/" + path.lstrip("./")))


def main():
    harness.need_program()
    harness.need("babeltrace2")
    checks = harness.Checks(known.only("fd_missing", "fd_extra", "fd_path"), known.CAUSES)
    for name, directory, truth_dir in harness.recordings():
        if name in LOSSY:
            continue
        for host in harness.hosts(directory):
            path = os.path.join(directory, host)
            first, last = oracle.span(path)
            end = truth.Snapshot(os.path.join(truth_dir, host, "snap-end.txt"))
            if first > end.begin or last < end.end:
                continue
            offset = truth.clock_offset_ns(truth.trace_dirs(path)[0])
            lives = {}
            for row in harness.report("files", path).rows:
                lives.setdefault(row["pid"], []).append(row)
            for m, block in end.matching(r"/proc/(\d+)/fd"):
                pid, now = int(m[1]), block.mono + offset
                shown = truth.fds(block.text)
                if not shown:
                    continue
                have = {row["fd"]: row for row in lives.get(pid, [])
                        if (row["opened_ns"] is None or row["opened_ns"] <= now)
                        and (row["closed_ns"] is None or row["closed_ns"] > now)}
                who = f"{pid}:{end.comm(pid)}".replace(" ", "_")
                for fd in sorted(set(shown) | set(have)):
                    target = shown.get(fd)
                    if fd not in have:
                        checks.same(name, host, "fd_missing", f"{who}:{fd}:{target}".replace(" ", "_"), 1, 0)
                    elif target is None:
                        checks.same(name, host, "fd_extra", f"{who}:{fd}:{have[fd]['path']}".replace(" ", "_"), 0, 1)
                    else:
                        row = have[fd]
                        checks.same(name, host, "fd_path", f"{who}:{fd}:{target}:{row['path']}".replace(" ", "_"),
                                    1, int(same_path(target, row["path"], row["kind"])))
    checks.finish()


if __name__ == "__main__":
    main()
