#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One time for all hosts on the screen: what the Hosts pane says of the clocks, latencies over time, --no-sync, and
what another reference changes."""

import json
import re
import subprocess

from terminal import PROGRAM, Checks, Terminal, need, skip, unpack

need("tmux", "zstd")
RECORDING = unpack("three-tier") or skip("no recording three-tier")


def open_at(*options, size=(160, 50), env=None):
    return Terminal("--paused", *options, RECORDING, size=size, env=env).wait_read()


def report(*options):
    run = subprocess.run([PROGRAM, "report", *options, "--json", RECORDING], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)["rows"]


def row_of(screen, host, after):
    """The row of a host in the list whose head contains after, as words."""
    i = next(k for k, line in enumerate(screen) if after in line)
    return next(line for line in screen[i + 1:] if line.startswith(host)).split()


def one_time(checks):
    with open_at() as t:
        checks.contains("the hosts' records overlap", t.press(")", "Left", "Left"),
                        r"^ client +0\[[\s\S]*^ db +0\[[\s\S]*^ web +0\[")
        checks.contains("the span is that of the corrected records", t.screen(), r"^14:07:05 .* 14:07:15$")
    with open_at("--no-sync") as t:
        screen = t.press("(")
        checks.contains("--no-sync: every host on its own clock", screen, r"^14:06:43 .* 14:07:15$")
        checks.contains("where they do not overlap", screen, r"^ client record begins at 14:07:01\.303")
        checks.contains("nothing is said of clocks", t.press("9"), r"own clock \(--no-sync\)")


def clocks_as_reported(checks):
    with open_at(size=(200, 50)) as t:
        t.press(")")
        screen = t.press("9")
        for row in report("sync"):
            shown = row_of(screen, row["host"], "DRIFT ppm")
            checks.check(f"{row['host']}: state and packets",
                         shown[1:5] == [row["ref"], row["state"], str(row["matched"]), str(row["used"])],
                         f"{shown} {row}")
            number, unit = re.fullmatch(r"(−?[\d.]+)(s|ms|µs|ns)?", shown[5].replace("-", "−")).groups()
            factor = {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9, None: 0}[unit]
            offset = float(number.replace("−", "-")) * factor
            checks.check(f"{row['host']}: offset", abs(offset - row["offset_ns"] / 1e9) < 0.006, f"{shown} {row}")


def latencies(checks):
    matches = [row for row in report("matches") if not row["ambiguous"]]
    of_db = [row for row in matches if "db" in (row["from_host"], row["to_host"])]
    with open_at() as t:
        t.keys("9")
        t.wait("DRIFT ppm")
        t.keys("Down", "Enter")
        t.wait("latency by the corrected clocks")
        screen = t.sync()
        checks.contains("state, offset, bound, drift", screen,
                        r"^ db accurate, \+22\.29s to the time of web within \d+µs, drift -9\.\d\d ppm")
        found = re.search(r"the latest (\d+) packets", "\n".join(screen))
        checks.equal("as many packets as the report has", int(found.group(1)), len(of_db))
        checks.lacks("none before it was sent", screen, "negative")
        before = next(k for k, line in enumerate(screen) if "by the hosts' own clocks" in line)
        after = next(k for k, line in enumerate(screen) if "by the corrected clocks" in line)
        rows = [line[10:] for line in screen[before + 1:after]]
        checks.check("before: sent and received lie apart", {c for line in rows[:2] for c in line} >= {">"} and
                     not any("<" in line for line in rows[:2]) and any("<" in line for line in rows[-2:]), rows)
        rows = [line[10:] for line in screen[after + 1:]]
        dots = sum(c in "<>x" for line in rows for c in line)
        checks.check("after: together", dots > 50 and any("x" in line for line in rows), rows)
        screen = t.press("Down")
        checks.contains("Down: the next host", screen, r"^ web reference")
        checks.contains("and round", t.press("Down"), r"^ client accurate, \+4\.86s to the time of web")
        t.keys("w")
        t.wait("only in a critical path|this pane has no list|no thread")
        checks.contains("Esc: back", t.press("Escape"), "DRIFT ppm")
    for name, size, env in (("clock-80x24", (80, 24), None), ("clock-ascii-80x24", (80, 24), {"LC_ALL": "C"})):
        with open_at(size=size, env=env) as t:
            t.keys("9")
            t.wait("DRIFT ppm")
            t.keys("Down", "Enter")
            t.wait("latency by the corrected clocks")
            screen = t.sync()
            checks.expected(name, screen)
            if env:
                checks.check("ASCII only", "\n".join(screen).isascii(), "\n".join(screen))
            t.resize(40, 8)
            t.wait_for(lambda text: len(text.split("\n")) <= 8, "40x8")
            checks.contains("tiny", t.sync(), "db accurate")


def another_reference(checks):
    with open_at("--ref", "db") as t:
        checks.contains("the time of db", t.screen(), r"^14:06:43 .* 14:06:5\d$")
        t.keys("9")
        t.wait("DRIFT ppm")
        screen = t.sync()
        checks.equal("db is the reference", row_of(screen, "db", "DRIFT ppm")[1:3], ["db", "reference"])
    with open_at("--offset", "db=20000000000", "--offset", "client=0") as t:
        t.keys("9")
        t.wait("DRIFT ppm")
        checks.contains("an offset by hand", t.sync(), r"^db +\S+ +\S+ +\d+ +\d+ +20\.00s")


def negative_latencies(checks):
    """Clocks that are set wrong by hand: packets come before they were sent, and stand out."""
    with open_at("--offset", "db=0", "--offset", "client=0", "--offset", "web=0", size=(120, 40)) as t:
        t.keys("9")
        t.wait("DRIFT ppm")
        t.keys("Down", "Enter")
        t.wait("latency by the corrected clocks")
        screen = t.sync()
        checks.contains("how many", screen, r" [1-9]\d* negative$")
        raw = "\n".join(t.screen(styles=True))
        checks.check("they stand out", re.search(r"\x1b\[[0-9;]*48;5;124m[<x]", raw) or
                     re.search(r"\x1b\[[0-9;]*41m[<x]", raw), raw[-3000:])


Checks().run(one_time, clocks_as_reported, latencies, another_reference, negative_latencies)
