#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel cuts a name after 15 bytes, inside a character too: attach and reports know what is whole of it."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402

ARCHIVE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "traces", "three-tier.tar.zst")
OLD, NEW, SHOWN = b"kworker/0:1".ljust(16, b"\0"), "мойпроцесс".encode()[:15] + b"\0", "мойпроц"


def renamed(target):
    """Host db of three-tier, in which the program OLD is named NEW."""
    shutil.copytree(os.path.join(harness.unpack(ARCHIVE, "traces"), "db"), target)
    count = 0
    for directory, _, files in os.walk(target):
        for name in files:
            path = os.path.join(directory, name)
            os.chmod(path, 0o644)
            with open(path, "rb") as f:
                data = f.read()
            count += data.count(OLD)
            with open(path, "wb") as f:
                f.write(data.replace(OLD, NEW))
    return count


def output(*args):
    return subprocess.run([harness.PROGRAM, *args], env={**os.environ, "LC_ALL": "C.UTF-8"}, stdout=subprocess.PIPE,
                          text=True, check=True).stdout


with tempfile.TemporaryDirectory() as base:
    target = os.path.join(base, "db")
    assert renamed(target) > 10
    tids = {row["tid"] for row in json.loads(output("report", "cpu", "--json", "--comm", SHOWN, target))["rows"]}
    print("ok report" if tids == {594} else f"not ok report: {tids}")
    lines = output("attach", "-q", "-n", SHOWN, "--sched", target).splitlines()
    print("ok attach" if any("switched in" in line for line in lines) else f"not ok attach: {lines[:3]}")
