#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Who ran instead: the pane equals the report for the interval,
computed from frames; Details name the threads that ran most."""

import json
import os
import re
import subprocess

from terminal import PROGRAM, Checks, Terminal, need, skip, unpack

need("tmux", "zstd")
RECORDING = unpack("rpc-hog-local") or skip("no recording rpc-hog-local")


def report(begin, end):
    run = subprocess.run([PROGRAM, "report", "preemption", "--json", "--no-sync", "--begin", begin, "--end", end,
                          "--sort", "total_ns", RECORDING], check=True, stdout=subprocess.PIPE,
                         env={**os.environ, "TZ": "UTC"})
    return json.loads(run.stdout)["rows"]


def open_pane():
    t = Terminal("--no-sync", "--paused", "--begin", "+2s", RECORDING, size=(160, 40),
                 ready=r"\[(2026-11-20 )?14:0").wait_read()
    t.keys("P")
    t.wait("Panes")
    t.keys("Home", *["Down"] * 10, "Enter")
    t.wait("RAN INSTEAD")
    return t


def rows_of(screen):
    at = next(i for i, line in enumerate(screen) if "RAN INSTEAD" in line)
    return [line.split() for line in screen[at + 1:] if re.match(r" *\d+ ", line)]


def as_reported(checks):
    with open_pane() as t:
        screen = t.sync()
        begin, end = re.search(r"\[(?:\S+ )?(\S+), (?:\S+ )?(\S+)\[", screen[0]).groups()
        rows = report(begin, end)
        shown = rows_of(screen)
        checks.check("there are some", len(shown) > 10, screen)
        want = [(str(r["tid"]), str(r["by_tid"]), str(r["count"])) for r in rows[:10]]
        checks.equal("as reported", [(words[0], words[2], words[4]) for words in shown[:10]], want)
        # the first row's thread
        mine = sorted((r for r in rows if r["tid"] == rows[0]["tid"]), key=lambda r: -r["total_ns"])[:3]
        names = [f"{r['by_comm']}/{r['by_tid']}" if r["by_tid"] else "idle" for r in mine]
        lines = [line for line in t.press("Home", "Enter") if "while the CPU ran" in line]
        checks.check("in Details", len(lines) == 1 and lines[0].split()[0] == "ready", lines)
        found = re.sub(r".*while the CPU ran ", "", lines[0]).split(", ")
        checks.equal("the three that ran most", [part.rsplit(" ", 1)[0].strip() for part in found], names)


Checks().run(as_reported)
