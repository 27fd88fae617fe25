#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets that an index lists and the data file lacks, as a full disk or an incomplete copy leaves it: they are reported
and counted as lost, and so is a file of which only the index is left. Files that the tracer itself removed are not."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402

PROGRAM = os.path.join(os.environ["BUILD"], "lttngtop")
PACKETS = 5         # of the stream
PACKET = 1 << 20    # bytes
checks = harness.Checks()


def hosts(path, *args):
    """(exit status, stderr, lost packets, events)"""
    run = subprocess.run([PROGRAM, "report", "hosts", "--json", *args, path], capture_output=True, text=True, check=False)
    rows = json.loads(run.stdout)["rows"] if run.stdout else []
    return run.returncode, run.stderr, sum(row["lost_packets"] for row in rows), sum(row["events"] for row in rows)


def rename(kernel, new):
    """The stream's file and index get another name."""
    os.rename(os.path.join(kernel, "ch_0"), os.path.join(kernel, new))
    os.rename(os.path.join(kernel, "index", "ch_0.idx"), os.path.join(kernel, "index", f"{new}.idx"))


def check_cut(path, directory):
    for kept in (3, 0):
        copy = os.path.join(directory, f"cut-{kept}")
        shutil.copytree(path, copy)
        os.truncate(os.path.join(copy, "web", "kernel", "ch_0"), kept * PACKET)
        for args in ([], ["--begin", "+1s"]):
            status, err, lost, _ = hosts(copy, *args)
            checks.equal((status, lost), (3, PACKETS - kept), f"{kept} packets left {args}: {err}")
            checks.true(f"ch_0: the index lists {PACKETS} packets, the file has {kept}" in err, f"{kept} packets left: {err}")


def check_removed(path, directory):
    copy = os.path.join(directory, "removed")
    kernel = os.path.join(copy, "web", "kernel")
    shutil.copytree(path, copy)
    os.remove(os.path.join(kernel, "ch_0"))
    status, err, lost, events = hosts(copy)
    checks.equal((status, lost), (3, PACKETS), f"file removed: {err}")
    checks.true(f"ch_0: the index lists {PACKETS} packets, the file is missing" in err, f"file removed: {err}")
    checks.true(events > 0, "file removed: the other stream is read")


def check_rotated(path, directory):
    """With --tracefile-count the oldest files of a stream go, and an index may be left of them."""
    copy = os.path.join(directory, "rotated")
    kernel = os.path.join(copy, "web", "kernel")
    shutil.copytree(path, copy)
    rename(kernel, "ch_0_1")
    shutil.copy(os.path.join(kernel, "index", "ch_0_1.idx"), os.path.join(kernel, "index", "ch_0_0.idx"))
    status, err, lost, _ = hosts(copy)
    checks.equal((status, err, lost), (0, "", 0), "an index of a removed file of a stream that goes on")


def check_useless(path, directory):
    """An index that is damaged or has no entries is ignored: it is only a help."""
    for name, size in (("empty", 0), ("head", 16), ("half", 40)):
        copy = os.path.join(directory, name)
        shutil.copytree(path, copy)
        os.truncate(os.path.join(copy, "web", "kernel", "index", "ch_0.idx"), size)
        checks.equal(hosts(copy)[:3], (0, "", 0), f"index: {name}")


def main():
    harness.need_program()
    found = harness.recording("locks-pipes")
    if not found:
        harness.skip("there is no recording locks-pipes")
    with tempfile.TemporaryDirectory() as directory:
        for check in (check_cut, check_removed, check_rotated, check_useless):
            check(found[0], directory)
    checks.finish()


main()
