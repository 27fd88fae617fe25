#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One time for all hosts on the screen: what the Hosts pane says of the clocks, latencies over time, --no-sync, and
what another reference changes."""

import datetime
import json
import os
import re
import signal
import subprocess
import time

from terminal import PATIENCE, PROGRAM, Checks, Failed, Terminal, need, skip, unpack

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


INTERVAL = re.compile(r"\[(\d\d:\d\d:\d\d\.\d+), (\d\d:\d\d:\d\d\.\d+)\[")


def shown_ns(line):
    """The interval of the first line, ns since midnight."""
    found = INTERVAL.search(re.sub(r"\d{4}-\d\d-\d\d ", "", line))
    return tuple((datetime.datetime.strptime(t.split(".")[0], "%H:%M:%S") - datetime.datetime(1900, 1, 1)).seconds * 10**9
                 + int(t.split(".")[1].ljust(9, "0")) for t in found.groups()) if found else (0, 0)


class Workers:
    """The program's workers, stopped; each runs for a moment in turn()."""

    def __init__(self, terminal):
        self.terminal = terminal
        self.next = 0

    def send(self, number, pids):
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def pids(self):
        try:
            parent = str(self.terminal.program_pid())
        except (OSError, subprocess.CalledProcessError, ValueError, IndexError):
            return []
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat") as f:
                    if f.read().rsplit(")", 1)[1].split()[1] == parent:
                        found.append(int(pid))
            except OSError:
                pass
        return sorted(found)

    def turn(self):
        pids = self.pids()
        self.send(signal.SIGSTOP, pids)
        if pids:
            self.next += 1
            one = [pids[self.next % len(pids)]]
            self.send(signal.SIGCONT, one)
            time.sleep(0.002)
            self.send(signal.SIGSTOP, one)

    def stop_when(self, condition, what):
        """Lets them run a little in turn until the first line is as wanted."""
        until = time.monotonic() + PATIENCE
        while not condition(self.terminal.screen()[0]):
            self.turn()
            if time.monotonic() > until:
                raise Failed(f"waited for {what}: {self.terminal.screen()[0]}")

    def go_on(self):
        self.send(signal.SIGCONT, self.pids())


def slow_comparison(checks):
    """However long it takes to compare the clocks: in the end all is cut by them, and until then it says so."""
    with Terminal("--paused", "--begin", "+6s", RECORDING, size=(200, 50), ready=None) as t:
        workers = Workers(t)
        workers.stop_when(lambda line: "clocks: being compared" in line and len(set(shown_ns(line))) == 2, "data")
        time.sleep(3.5)  # this is what is tested: that no time makes it give up
        before = t.press("m", "a")
        checks.contains("data is shown, and marked", before, r"\A PAUSED .*clocks: being compared, times ±")
        checks.contains("of the host whose clock is behind", before, r"^ db +0\[")
        workers.go_on()
        t.wait_read()
        after = t.sync()
        begin = min(row["begin_ns"] for row in report("hosts"))
        checks.equal("--begin is relative to the final begin", shown_ns(after[0])[0],
                     (begin + 6 * 10**9) % (86400 * 10**9))
        wget = next(row for row in report("cpu", "--begin", "+6s", "--end", "+7s") if row["tid"] == 1453)
        checks.equal("what the report says of thread 1453", wget["cpu_ns"], 206796953)
        checks.contains("is on the screen", after, r"^ +1453 +1453 client .* 207ms .*wget$")
        offset = next(row["offset_ns"] for row in report("sync") if row["host"] == "db")
        marked = shown_ns(before[0])[0] + offset
        first, last = shown_ns(t.press("'", "a")[0])
        checks.check("a bookmark stays with what happened", first <= marked + 10**6 and marked < last,
                     f"{marked} in {first} {last}")


def moved_while_comparing(checks):
    """Where the user went to stays in view: by the clock of the host that the selected row is of."""
    with Terminal("--paused", RECORDING, size=(200, 50), ready=None) as t:
        workers = Workers(t)
        workers.stop_when(lambda line: re.search(r"being compared.*reading ([7-9]|[1-9]\d)%", line), "two seconds")
        before = t.press("Right")
        checks.contains("an interval on", before, r"\A PAUSED .*clocks: being compared")
        workers.go_on()
        t.wait_read()
        offset = next(row["offset_ns"] for row in report("sync") if row["host"] == "db")
        middle = sum(shown_ns(before[0])) // 2 + offset
        first, last = shown_ns(t.screen()[0])
        checks.check("the same is shown in other times", first <= middle < last, f"{middle} in {first} {last}")
        checks.contains("and said", t.screen(), r"clocks compared: times are others now, those of db moved on by 22\.29s$")


def narrow_marks(checks):
    """The mark is never cut."""
    for size, pattern in (((80, 24), r"\A PAUSED +\[14:06:4\d\.\d+, 14:06:4\d\.\d+\[ +clocks: times ±"),
                          ((60, 24), r"\A PAUSED +\[14:06:4\d.*\[ +clocks: times ±"),
                          ((50, 24), r"\A PAUSED +\[14:06:4\d.*\[ +clocks ±"),
                          ((40, 12), r"\A ?PAUSED +\[14:06:4\d, 14:06:4\d\[ +±")):
        with Terminal("--paused", RECORDING, size=size, ready=None) as t:
            workers = Workers(t)
            workers.stop_when(lambda line: re.search(r"±\d", line), "the mark")
            checks.contains(f"{size[0]}x{size[1]}", t.sync(), pattern)
            workers.go_on()
            t.wait_read()


Checks().run(one_time, slow_comparison, moved_while_comparing, narrow_marks, clocks_as_reported, latencies, another_reference, negative_latencies)
