#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The side-car of a machine that only a shell can look at: as messages that the kernel's log turned into events."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "waits"))
import ctf  # noqa: E402

PROGRAM = os.environ["LTTNGTOP"]
BOOT = 1700000000
MESSAGES = (
    f"lttngtop.list\thost web\tnow 100.25 {BOOT + 100}.250000000 100.25 100\tkernel 6.1.0-test\tpasswd eva:x:1000:1000::/:/bin/sh",
    f"lttngtop.list\thost web\tnow 100.25 {BOOT + 100}.250000000 100.25 100\tprocess 812 150 1000 1000\texe /bin/dd"
    "\tcgroup /a.slice\tcmdline dd bs=1",
    "lttngtop.list\thost another\tkernel 9.9",
    "hello from a script",
)


def rows(table, source, *options):
    run = subprocess.run([PROGRAM, "report", table, "--json", *options, source], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, check=False)
    assert run.returncode == 0 and not run.stderr, f"{table}: {run.returncode} {run.stderr}"
    return json.loads(run.stdout)["rows"]


def check(ctf2):
    source = os.path.abspath(f"web{2 if ctf2 else 1}")
    trace = ctf.Trace("web")
    for n, text in enumerate(MESSAGES):
        trace.add((BOOT + 200 + n) * 10 ** 9, "lttng_logger", ("msg", "sequence", text))
    trace.add((BOOT + 205) * 10 ** 9, "lttng_statedump_process_state", ("tid", "s32", 812), ("pid", "s32", 812), ("ppid", "s32", 1),
              ("name", "text", 16, "dd"), ("type", "s32", 0), ("mode", "s32", 5), ("submode", "s32", 0), ("status", "s32", 2),
              ("cpu", "u32", 0))
    trace.add((BOOT + 210) * 10 ** 9, "sched_switch", ("prev_comm", "text", 16, "dd"), ("prev_tid", "s32", 812),
              ("prev_prio", "s32", 20), ("prev_state", "s64", 0), ("next_comm", "text", 16, "swapper/0"), ("next_tid", "s32", 0),
              ("next_prio", "s32", 20))
    trace.write(os.path.join(source, "kernel"), ctf2)
    host, = rows("hosts", source)
    assert host["kernel"] == "6.1.0-test", host
    counts = {row["name"]: row["count"] for row in rows("events", source)}
    assert counts["lttng_logger"] == 1, f"what the machine says of itself is nothing that happened there: {counts}"
    row, = (row for row in rows("cpu", source) if row["tid"] == 812)
    found = [row[key] for key in ("user", "exe", "cmdline", "cgroup")]
    assert found == ["eva", "/bin/dd", "dd bs=1", "/a.slice"], found


for version in (False, True):
    check(version)
