#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Percentiles and sums in panes: a column chosen in the setup, rows summed up with G, against babeltrace2's text; saved
with the settings."""

import collections
import math
import os
import re
import subprocess
import tempfile

from terminal import Checks, Failed, Terminal, need, skip, unpack

need("tmux", "zstd", "babeltrace2")
RECORDING = os.path.join(unpack("workqueue") or skip("no recording workqueue"), "kmem")
HOME = tempfile.mkdtemp(prefix="sums-")
EVENT = re.compile(r"^\[\d\d:(\d\d):(\d\d)\.(\d{9})\] \(\S+\) \S+ syscall_(entry|exit)_(\w+): \{ cpu_id = \d+ \}, \{ tid = (\d+),")
UNITS = {"ns": 1, "µs": 10**3, "ms": 10**6, "s": 10**9}
ERROR, ROUNDING = 1 / 16, 0.006  # of a percentile, of three digits


def shown(call):
    """As in the column, of 16 characters; this tracer has no name for number 125 of x86-64."""
    call = "capget" if call == "unknown" else call
    return call if len(call) <= 16 else call[:15] + "…"


def calls():
    """The number of each call, and the durations of those that began in the recording."""
    text = subprocess.run(["babeltrace2", RECORDING], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True).stdout
    inside, counts, durations = {}, collections.Counter(), collections.defaultdict(list)
    for m in filter(None, map(EVENT.match, text.splitlines())):
        t, edge, call, tid = (int(m[1]) * 60 + int(m[2])) * 10**9 + int(m[3]), m[4], shown(m[5]), int(m[6])
        if edge == "entry":
            inside[tid] = (call, t)
            continue
        counts[call] += 1
        entered = inside.pop(tid, None)
        if entered and entered[0] == call:
            durations[call].append(t - entered[1])
    return counts, durations


def choose(t, key, title, item):
    t.keys(key)
    t.wait(title)
    t.keys("Home")
    for _ in range(60):
        marked = [line for line in t.sync() if line.startswith("│")]
        number = next((i for i, line in enumerate(marked) if re.search(item, line)), None)
        if number is not None:
            break
        t.keys("PgDn")
    else:
        raise Failed(f"no {item} in {marked}")
    t.keys("Home", *["Down"] * number, "Enter")


def table(screen):
    """header → text, of each row of the list, by columns that are separated by blanks."""
    start = next(i for i, line in enumerate(screen) if "ROWS" in line)
    head = screen[start].replace("▼", " ").replace("▲", " ").split()
    return [dict(zip(head, line.split())) for line in screen[start + 1:] if line.strip() and not line.startswith(" F1")]


def in_ns(text):
    m = re.fullmatch(r"([\d.]+)(ns|µs|ms|s)", text)
    return float(m[1]) * UNITS[m[2]]


def open_at():
    return Terminal("--interval", "10s", RECORDING, size=(160, 110), ready=r"^ END", env={"XDG_CONFIG_HOME": HOME})


def summed(checks):
    counts, durations = calls()
    with open_at() as t:
        t.keys("5")
        t.wait("▼TOTAL")
        choose(t, "F2", "─ Setup", r"p90 ")
        choose(t, "F2", "─ Setup", r"p99 ")
        checks.contains("percentiles of each row", t.sync(), r"\bp90\b.* p99\b")
        choose(t, "G", "─ Sum up", r" call\b")
        rows = table(t.sync())
        got = {row["CALL"]: int(row["COUNT"]) for row in rows}
        checks.equal("number of each call", got, dict(counts))
        for row in rows:
            values = sorted(durations[row["CALL"]])
            for name, share in (("p90", 0.9), ("p99", 0.99)):
                if not values:
                    checks.equal(f"{row['CALL']}: {name}", row[name], "-")
                    continue
                wanted = values[max(math.ceil(share * len(values)), 1) - 1]
                checks.check(f"{row['CALL']}: {name}", abs(in_ns(row[name]) - wanted) <= (ERROR + ROUNDING) * wanted + 1,
                             f"{row[name]}, not {wanted}")
        t.keys("Enter")
        t.wait(r"this row sums up \d+ rows: press G")
        choose(t, "F2", "─ Setup", "Save: ")
        t.wait("settings saved to /")
        choose(t, "G", "─ Sum up", r" all\b")
        rows = table(t.sync())
        checks.equal("all", [int(row["COUNT"]) for row in rows], [sum(counts.values())])
        t.keys("C")
        checks.lacks("sums are not compared", t.sync(), r"\bROWS\b")
        t.keys("G")
        t.wait("sums cannot be compared")
        t.keys("C")
        checks.contains("they return", t.sync(), r"\bROWS\b")
        choose(t, "G", "─ Sum up", r"show each row")
        checks.lacks("each row", t.sync(), r"\bROWS\b")
        t.keys("8")
        t.wait("OTHERS")
        t.keys("G")
        t.wait("the rows of this pane cannot be summed up")
        t.keys("q")
        checks.equal("left well", t.status(), 0)
    with open_at() as t:
        t.keys("5")
        t.wait(r"\bROWS\b")
        checks.equal("saved", {row["CALL"]: int(row["COUNT"]) for row in table(t.sync())}, dict(counts))


Checks().run(summed)
