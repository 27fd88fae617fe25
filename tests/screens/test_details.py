#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Details of a thread: its disk I/O in the shown interval, as in `report io` for the same interval."""

import json
import os
import re
import subprocess

from terminal import PROGRAM, Checks, Terminal, need, skip, unpack

need("tmux", "zstd")
RECORDING = os.path.join(unpack("three-tier") or skip("no recording three-tier"), "db")
COLUMNS = "tid,comm,disk_read_bytes,disk_write_bytes,disk_writeback_bytes,disk_requests,disk_wait_ns"


def report(begin, end, *options):
    run = subprocess.run([PROGRAM, "report", "io", "--columns", COLUMNS, "--begin", begin, "--end", end, *options,
                          RECORDING], check=True, stdout=subprocess.PIPE, env={**os.environ, "TZ": "UTC"})
    return run.stdout.decode()


def at_disks(checks):
    with Terminal("--no-sync", "--paused", "--begin", "+4s", RECORDING, size=(160, 40),
                  ready=r"\[(2026-11-20 )?14:0").wait_read() as t:
        begin, end = re.search(r"\[(?:\S+ )?(\S+), (?:\S+ )?(\S+)\[", t.sync()[0]).groups()
        rows = json.loads(report(begin, end, "--json"))["rows"]
        busy = {r["tid"] for r in rows if r["tid"] and r["disk_requests"]}
        idle = {r["tid"] for r in rows if r["tid"] and not (r["disk_read_bytes"] or r["disk_write_bytes"])} - busy
        checks.check("threads that had disks do something, and others", busy and idle, rows)
        for tid in sorted(busy)[:3] + sorted(idle)[:1]:
            t.keys("F4")
            t.wait("^Filter:")
            t.keys("C-u").text(f"tid:{tid}").keys("Enter")
            t.wait(f"filter: tid:{tid}")
            t.keys("Home", "Enter")
            t.wait("^ ids ")
            screen = "\n".join(t.sync())
            # the text report's output, whose columns have the same formats
            words = report(begin, end, "--tid", str(tid)).splitlines()[2].split()
            read, written, back, requests, took = words[-5:]
            line = f" at disks  read {read}, written {written}" + (f" ({back} of it by write-back)" if back != "0" else "") + \
                f", {requests} request{'' if requests == '1' else 's'} that took {took}"
            if tid in busy:
                checks.check(f"{tid}: {line}", line in screen, screen)
            else:
                checks.check(f"{tid}: nothing of disks", "at disks" not in screen, screen)
            t.keys("Escape")
            t.wait("▼CPU%")


Checks().run(at_disks)
