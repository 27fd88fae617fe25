#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A wait in a call that names a file has that path: the one that babeltrace2 shows in the call's entry."""
import bisect
import collections
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cases  # noqa: E402

PROGRAM, TRACES = os.environ["LTTNGTOP"], os.path.join(os.environ["BUILD"], "traces")
ENTRY = re.compile(r"^\[(\d+)\.(\d+)\] .*? syscall_entry_(\w+): .*?\btid = (\d+)")
NAME = re.compile(r'\b(?:filename|pathname|path|newname|dir_name|name) = "([^"]*)"')
NOT_FILES = {"newuname", "memfd_create", "prctl"}


def entries(recording):
    """By tid: the times of its calls' entries, and (call, the path in it or None)."""
    text = subprocess.run(["babeltrace2", "--clock-seconds", os.path.join(TRACES, recording)], capture_output=True,
                          check=True, timeout=300).stdout.decode(errors="replace")
    found = collections.defaultdict(lambda: ([], []))
    for line in text.splitlines():
        m = ENTRY.match(line)
        if not m:
            continue
        name = NAME.search(line.rsplit("}, {", 1)[-1])
        times, calls = found[int(m[4])]
        times.append(int(m[1]) * 10**9 + int(m[2]))
        calls.append((m[3], name[1] if name and m[3] not in NOT_FILES else None))
    return found


def waits(recording):
    done = subprocess.run([PROGRAM, "report", "blocking", "--log", "--json", "--no-sync",
                           os.path.join(TRACES, recording)], capture_output=True, check=True, timeout=300)
    tables = json.loads(done.stdout)
    return [row for table in (tables if isinstance(tables, list) else [tables]) for row in table["rows"]]


def test_paths():
    seen = collections.Counter()
    for recording in ("nfs", "hotplug", "locks-pipes", "workqueue"):
        calls = entries(recording)
        for row in waits(recording):
            times, named = calls[row["tid"]]
            at = bisect.bisect_right(times, row["begin_ns"]) - 1
            if at < 0 or named[at][0] != row["syscall"] or not named[at][1]:
                continue
            given = named[at][1]
            assert row["path"] and row["fd"] is None, (recording, row, given)
            if given.startswith("/"):
                assert row["path"] == given, (recording, row, given)
            else:
                assert ("/" + row["path"]).endswith("/" + given.rstrip("/")), (recording, row, given)
            seen[row["syscall"]] += 1
    print("#", dict(seen))
    assert sum(seen.values()) >= 40 and {"execve", "openat", "newfstatat"} <= seen.keys(), seen


cases.run(globals())
