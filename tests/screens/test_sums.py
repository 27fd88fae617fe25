#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Percentiles and sums in panes: a column chosen in the setup, rows summed up with G and opened with Enter, against
babeltrace2's text; saved with the settings."""

import collections
import math
import os
import re
import subprocess
import tempfile

from terminal import Checks, Terminal, need, skip, unpack

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
    """The number of each call, the durations of those that began in the recording, and the number of each by thread."""
    text = subprocess.run(["babeltrace2", RECORDING], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True).stdout
    inside, counts, durations = {}, collections.Counter(), collections.defaultdict(list)
    of_thread = collections.Counter()
    for m in filter(None, map(EVENT.match, text.splitlines())):
        t, edge, call, tid = (int(m[1]) * 60 + int(m[2])) * 10**9 + int(m[3]), m[4], shown(m[5]), int(m[6])
        if edge == "entry":
            inside[tid] = (call, t)
            continue
        entered = inside.pop(tid, None)
        if call in ("clone", "clone3", "fork", "vfork") and " ret = 0 " in m.string:
            continue  # it returns in the child, too, which did not make the call
        counts[call] += 1
        of_thread[tid, call] += 1
        if entered and entered[0] == call:
            durations[call].append(t - entered[1])
    return counts, durations, of_thread


def table(screen):
    """header → text, of each row of the list; of a text of several words, the first."""
    start = next(i for i, line in enumerate(screen) if line.startswith(" CPU  I/O ")) + 1
    heads = list(re.finditer(r"[^\s▼▲]+", screen[start]))
    rows = []
    for line in filter(str.strip, screen[start + 1:]):
        words = list(re.finditer(r"\S+", line))
        at = {**{w.start(): w[0] for w in words}, **{-w.end(): w[0] for w in words}}
        rows.append({h[0]: at.get(-h.end()) or at.get(h.start()) for h in heads})
    return rows


def in_ns(text):
    m = re.fullmatch(r"([\d.]+)(ns|µs|ms|s)", text)
    return float(m[1]) * UNITS[m[2]]


def open_at(home=HOME, recording=RECORDING):
    return Terminal("--interval", "10s", recording, size=(160, 110), ready=r"^ END", env={"XDG_CONFIG_HOME": home})


def summed(checks):
    counts, durations, _ = calls()
    with open_at() as t:
        t.keys("5")
        t.wait("▼TOTAL")
        t.choose("F2", "─ Setup", r"p90 ")
        t.choose("F2", "─ Setup", r"p99 ")
        checks.contains("percentiles of each row", t.sync(), r"\bp90\b.* p99\b")
        t.choose("G", "─ Sum up", r" call\b")
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
        t.keys("w")
        t.wait(r"this row sums up \d+ rows: press Enter to show them")
        single = next(row["CALL"] for row in table(t.sync()) if row["ROWS"] == "1")
        t.keys("F4")
        t.wait("^Filter:")
        t.text(f"call:{single}").keys("Enter", "Home", "w")
        t.wait("this row sums up 1 row: press Enter to show it$")
        t.keys("F4")
        t.wait("^Filter:")
        t.keys("C-u", "Enter")
        t.choose("F2", "─ Setup", "Save: ")
        t.wait(r"settings saved to\s+/")
        t.choose("G", "─ Sum up", r" all\b")
        rows = table(t.sync())
        checks.equal("all", [int(row["COUNT"]) for row in rows], [sum(counts.values())])
        t.keys("t")
        t.wait("these rows are sums: press G to show each row")
        checks.equal("t: nothing changes", table(t.sync()), rows)
        t.keys("C")
        t.wait(r"the\s+same\s+recorded\s+time,\s+of\s+each\s+row\s+instead\s+of\s+sums;\s+C\s+ends\s+it")
        checks.lacks("sums are not compared", t.sync(), r"\bROWS\b")
        t.keys("G")
        t.wait("sums cannot be compared")
        t.keys("C")
        checks.contains("they return", t.sync(), r"\bROWS\b")
        t.choose("G", "─ Sum up", r"show each row")
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


def place(screen):
    """The number of the selected row, and of all rows."""
    found = next(re.search(r" (\d+)/(\d+)$", line) for line in screen if line.startswith(" CPU  I/O "))
    return int(found[1]), int(found[2])


def open_each(checks, t, what, look=None, most=8):
    """Opens the first rows of the sums that are shown, and goes back from each; look(sum, rows) checks its rows."""
    sums = t.press("Home")
    opened = 0
    for n, row in enumerate(table(sums)[:most]):
        t.keys("Home", *["Down"] * n)
        before = t.sync()
        t.keys("Enter")
        if t.wait("^(showing) the rows of this sum; press Esc to go back to the sums|^no filter finds rows of an unknown user")[1]:
            opened += 1
            shown = t.sync()
            checks.equal(f"{what}: number of rows of {row}", place(shown)[1], int(row["ROWS"]))
            checks.lacks(f"{what}: rows of {row}", shown, r"\bROWS\b")
            if look:
                look(row, table(shown))
            t.keys("Escape")
        checks.equal(f"{what}: back from {row}", t.sync(), before)
    checks.check(f"{what}: some were opened", opened, sums)


def opened(checks):
    """Enter on a sum shows exactly its rows, Esc the sums again."""
    counts, _, of_thread = calls()
    with open_at(tempfile.mkdtemp(prefix="sums-")) as t:
        def of_call(row, rows):
            wanted = {str(tid): n for (tid, call), n in of_thread.items() if call == row["CALL"]}
            checks.equal(f"threads that called {row['CALL']}", {r["TID"]: int(r["COUNT"]) for r in rows}, wanted)

        def by_thread(row, rows):
            wanted = {call: n for (tid, call), n in of_thread.items() if str(tid) == row["TID"]}
            checks.equal(f"calls of {row['TID']}", {r["CALL"]: int(r["COUNT"]) for r in rows}, wanted)

        t.keys("5")
        t.wait("▼TOTAL")
        t.choose("G", "─ Sum up", r" call\b")
        open_each(checks, t, "call", of_call)
        t.choose("G", "─ Sum up", r" thread\b")
        open_each(checks, t, "thread", by_thread)
        for by in ("process", "comm", "user", "container", "host"):
            t.choose("G", "─ Sum up", rf" {by}\b")
            open_each(checks, t, by)
        t.choose("G", "─ Sum up", r" all\b")
        t.keys("Enter")
        t.wait("^showing")
        screen = t.sync()
        checks.equal("all: every row", place(screen)[1], len(of_thread))
        checks.lacks("without a filter", screen, "filter:")
        t.keys("Escape")
        t.choose("G", "─ Sum up", r" call\b")
        # beside a filter, and in other forms of the list
        t.keys("F4").text("comm:work | comm:(udev").keys("Enter")
        open_each(checks, t, "call, of two names")
        t.keys("F4", "Escape")
        t.choose("G", "─ Sum up", r"show each row")
        t.keys("t")
        t.choose("G", "─ Sum up", r" call\b")
        open_each(checks, t, "call, of processes", of_call)
        # another filter has taken the place of the sum's
        t.keys("Home", "Enter")
        t.wait("^showing")
        t.keys("F4", "Escape", "Escape")
        screen = t.sync()
        checks.equal("no way back", place(screen)[1], len(of_thread))
        checks.lacks("but each row", screen, r"\bROWS\b")
        t.keys("4")
        t.wait(r"▼READ/s WRITE/s")
        for by in ("file", "process", "comm", "peer"):
            t.choose("G", "─ Sum up", rf" {by}\b")
            open_each(checks, t, f"files by {by}")
        t.keys("q")
        checks.equal("left well", t.status(), 0)


def of_hosts(checks):
    """Sums keep hosts apart, and so do their rows."""
    recording = unpack("three-tier") or skip("no recording three-tier")
    with open_at(tempfile.mkdtemp(prefix="sums-"), recording) as t:
        t.wait("▼CPU%")
        t.choose("G", "─ Sum up", r" comm\b")
        open_each(checks, t, "comm of several hosts")
        t.choose("G", "─ Sum up", r" host\b")
        open_each(checks, t, "hosts")
        t.keys("q")
        checks.equal("left well", t.status(), 0)


def errors_of_hosts(checks):
    """The last column of text has what is left of the line."""
    recording = unpack("three-tier") or skip("no recording three-tier")
    run = subprocess.run([os.environ["LTTNGTOP"], "report", "syscalls", "--sum-by", "host", "--csv", "--columns", "host,errors",
                          recording], stdout=subprocess.PIPE, check=True, text=True)
    kinds = {line.split(",", 1)[0]: line.count(":") for line in run.stdout.splitlines()[1:]}
    with Terminal("--interval", "10s", recording, size=(240, 30), ready=r"^ END") as t:
        t.keys("5")
        t.wait("ERRORS")
        t.choose("G", "─ Sum up", r" host\b")
        t.wait(r"^HOST +ROWS")
        lines = [line for line in t.sync() if re.match(r"(client|db) ", line)]
        found = {line.split()[0]: line.split(" E", 1)[1] for line in lines}
        checks.check("all of them", max(kinds.values()) > 5 and not any("…" in text for text in found.values()) and
                     all(text.count(":") == kinds[host] for host, text in found.items()), f"{found} {kinds}")
        t.keys("q")


Checks().run(summed, opened, of_hosts, errors_of_hosts)
