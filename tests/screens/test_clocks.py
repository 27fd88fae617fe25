#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One time for all hosts on the screen: what the Hosts pane shows of the clocks,
latencies over time, --no-sync, and what another reference changes."""

import contextlib
import datetime
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from terminal import PROGRAM, READY, Checks, Terminal, need, skip, unpack

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "source"))
from processes import Held, workers  # noqa: E402

need("tmux", "zstd")
RECORDING = unpack("three-tier") or skip("no recording three-tier")


def open_at(*options, size=(160, 50), env=None):
    return Terminal("--paused", *options, RECORDING, size=size, env=env).wait_read()


def report(*options):
    run = subprocess.run([PROGRAM, "report", *options, "--json", RECORDING], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)["rows"]


def row_of(screen, host, after):
    """The row of a host in the list whose header contains after, as words."""
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
        checks.contains("where they do not overlap", screen, r"^ client recorded from 14:07:01\.303")
        checks.contains("nothing is said of clocks", t.press("9"), r"own clock \(--no-sync\)")
    with Terminal("--paused", os.path.join(RECORDING, "web")).wait_read() as t:
        t.press("9")
        checks.contains("the clock of a host alone", t.press("Enter"), r" Clock [\s\S]* one host: no clock to synchronise with")


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
        t.wait("latency on the corrected clocks")
        screen = t.sync()
        checks.contains("state, offset, bound, drift", screen,
                        r"^ db accurate, \+22\.29s to the time of web within \d+µs, drift -9\.\d\d ppm")
        found = re.search(r"the latest (\d+) packets", "\n".join(screen))
        checks.equal("as many packets as the report has", int(found.group(1)), len(of_db))
        checks.lacks("none before it was sent", screen, "negative")
        before = next(k for k, line in enumerate(screen) if "on the hosts' own clocks" in line)
        after = next(k for k, line in enumerate(screen) if "on the corrected clocks" in line)
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
        t.wait("works only in a critical path|does not work in this pane|no thread")
        checks.contains("Esc: back", t.press("Escape"), "DRIFT ppm")
    for name, size, env in (("clock-80x24", (80, 24), None), ("clock-ascii-80x24", (80, 24), {"LC_ALL": "C"})):
        with open_at(size=size, env=env) as t:
            t.keys("9")
            t.wait("DRIFT ppm")
            t.keys("Down", "Enter")
            t.wait("latency on the corrected clocks")
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
    """Clocks that are set wrong by hand: packets arrive before they were sent, and stand out."""
    with open_at("--offset", "db=0", "--offset", "client=0", "--offset", "web=0", size=(120, 40)) as t:
        t.keys("9")
        t.wait("DRIFT ppm")
        t.keys("Down", "Enter")
        t.wait("latency on the corrected clocks")
        screen = t.sync()
        checks.contains("how many", screen, r"^ \S+ +[1-9]\d* negative +\w+")
        raw = "\n".join(t.screen(styles=True))
        checks.check("they stand out", re.search(r"\x1b\[[0-9;]*48;5;124m[<x]", raw) or
                     re.search(r"\x1b\[[0-9;]*41m[<x]", raw), raw[-3000:])


INTERVAL = re.compile(r"\[(\d\d:\d\d:\d\d\.\d+), (\d\d:\d\d:\d\d\.\d+)\[")


def shown_ns(line):
    """The interval of the first line, ns since midnight."""
    found = INTERVAL.search(re.sub(r"\d{4}-\d\d-\d\d ", "", line))
    return tuple((datetime.datetime.strptime(t.split(".")[0], "%H:%M:%S") - datetime.datetime(1900, 1, 1)).seconds * 10**9
                 + int(t.split(".")[1].ljust(9, "0")) for t in found.groups()) if found else (0, 0)


COMPARED_AND_READ = r"\A PAUSED .*clocks: being synchronised.*reading [1-9]\d%"


class Comparing:
    """
    A monitor in the middle of its first reading: the hosts' clocks are being synchronised, and the worker of web is
    stopped once its ring has been full. For less than 10 s: otherwise it would count as hung.
    """
    def __init__(self, *options, size=(200, 50), recording=RECORDING):
        self.held = Held()
        self.terminal = Terminal("--paused", "--workers", "3", *options, recording, size=size, ready=None,
                                 env=self.held.environment)
        self.stopped = []

    def __enter__(self):
        t = self.terminal.__enter__()
        self.held.stop_midway(t.wait_program(), 3)
        self.stopped = workers(self.held.program, "/web/")
        self.stop_web()
        t.wait(READY)
        return self

    def __exit__(self, *args):
        self.held.go_on()
        self.terminal.__exit__(*args)

    def stop_web(self):
        for pid in self.stopped:
            os.kill(pid, signal.SIGSTOP)
        self.held.go_on(but=self.stopped)

    def until(self, pattern):
        """
        Refills web's ring as often as necessary, each time with a fifth of the recording, once the program has had a
        second to compare what the ring held.
        """
        until = time.monotonic() + 1
        while not re.search(pattern, self.terminal.sync()[0]):
            if time.monotonic() < until:
                continue
            self.held.fill_rings(self.stopped)
            self.stop_web()
            until = time.monotonic() + 1

    def finish(self):
        self.held.go_on()
        self.terminal.wait_read()


def slow_comparison(checks):
    """However long synchronisation takes, in the end all is
    cut on the final clocks, and until then the screen says so."""
    with Comparing("--begin", "+6s") as monitor:
        t = monitor.terminal
        t.wait(r"^ db +0\[")
        time.sleep(3.5)  # this is tested: that no amount of time makes it give up
        before = t.press("m", "a")
        checks.contains("data is shown, and marked", before, r"\A PAUSED .*clocks: being synchronised")
        checks.contains("of the host whose clock is behind", before, r"^ db +0\[")
        monitor.finish()
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
    """The place that the user went to stays in view: on the clock of the host of the selected row."""
    with Comparing() as monitor:
        t = monitor.terminal
        t.wait(COMPARED_AND_READ)
        first = shown_ns(t.sync()[0])
        before = t.press("Right")
        checks.contains("still synchronised", before, r"\A PAUSED .*clocks: being synchronised")
        checks.equal("an interval on", shown_ns(before[0])[0], first[1])
        monitor.held.go_on()
        said = t.wait(r"clocks synchronised: times of (\w+) moved on by (\S+)$")
        checks.equal("the move is said", said.groups(), ("db", "22.29s"))
        t.wait_read()
        offset = next(row["offset_ns"] for row in report("sync") if row["host"] == "db")
        middle = sum(shown_ns(before[0])) // 2 + offset
        first, last = shown_ns(t.screen()[0])
        checks.check("the same is shown in other times", first <= middle < last, f"{middle} in {first} {last}")


@contextlib.contextmanager
def copied():
    """A copy of the recording, which may be removed."""
    with tempfile.TemporaryDirectory() as directory:
        yield shutil.copytree(RECORDING, os.path.join(directory, "three-tier"))


def host_that_vanishes(checks):
    """The recordings are read twice, and one can be gone by then: panes of a thread, known by its host's number, are closed."""
    for keys in (["Enter"], ["a"], ["w"], ["Enter", "w"]):
        with copied() as recording, Comparing(recording=recording) as monitor:
            t = monitor.terminal
            t.wait(COMPARED_AND_READ)
            name = " ".join(keys)
            checks.lacks(f"{name}: a pane", t.press("F4", *"host:db", "Enter", *keys), r"^ +TID +PID +HOST ")
            shutil.rmtree(os.path.join(recording, "client"))
            monitor.held.go_on()
            t.wait(r"\A PAUSED .* 2 hosts ")
            checks.contains(f"{name}: is closed", t.sync(), r"^ +TID +PID +HOST ")
            checks.contains(f"{name}: the filter still finds rows", t.sync(), r"^ +\d+ +\d+ db ")


# Panes and a menu for which the recordings are read again.
READ_AGAIN = {"a": ["a"], "D": ["D"], "w": ["w"], "l": ["6", "l"]}


def asked_while_comparing(checks):
    """What is read again must wait for the clocks, which is said; then it comes by itself."""
    for name, keys in READ_AGAIN.items():
        with Comparing("--begin", "+1s") as monitor:
            t = monitor.terminal
            t.wait(COMPARED_AND_READ)
            t.press("F4", *"host:db", "Enter", *keys)
            checks.check(f"{name}: why not yet", t.wait("clocks are synchronised once everything has been read"))
            monitor.finish()
            if name in "aD":
                checks.check(f"{name}: then what there is", t.wait(r" \d+/\d+\+?$|no event in this interval"))


def recordings_that_vanish(checks):
    """If nothing can be read the second time, times stay as they are, and nothing else is promised."""
    with copied() as recording, Comparing(recording=recording) as monitor:
        t = monitor.terminal
        t.wait(COMPARED_AND_READ)
        t.press("F4", *"host:db", "Enter", *READ_AGAIN["l"])
        t.wait("│ clocks are synchronised once everything has been read +│")
        shutil.rmtree(recording)
        monitor.held.go_on()
        checks.check("times are not corrected", t.wait(r"\A .*clocks: not corrected"))
        checks.contains("the open list says why", t.sync(), "│ the recordings cannot be read again +│")
        t.press("Escape")
        for name, keys in READ_AGAIN.items():
            t.press(*keys)
            checks.check(f"{name}: why not", t.wait("the recordings cannot be read again"))
            t.press("Escape")


def narrow_marks(checks):
    """The mark is never clipped."""
    for size, pattern, unknown in (
            ((80, 24), r"\A PAUSED +\[14:06:4\d\.\d+, 14:06:4\d\.\d+\[ +clocks: times ±", r"\A PAUSED .* clocks unsure\b"),
            ((60, 24), r"\A PAUSED +\[14:06:4\d.*\[ +clocks: times ±", r"\A PAUSED .* clocks unsure\b"),
            ((50, 24), r"\A PAUSED +\[14:06:4\d.*\[ +clocks ±", r"\A PAUSED .* clocks (unsure\b|\?)"),
            ((40, 12), r"\A ?PAUSED +\[14:06:4\d, 14:06:4\d\[ +±", r"\A ?PAUSED .* clocks \?")):
        with Comparing(size=size) as monitor:
            checks.check(f"{size[0]}x{size[1]}: nothing known yet", monitor.terminal.wait(unknown))
            monitor.until(r"±\d")
            checks.contains(f"{size[0]}x{size[1]}", monitor.terminal.sync(), pattern)
            monitor.finish()


Checks().run(one_time, slow_comparison, moved_while_comparing, host_that_vanishes, asked_while_comparing, recordings_that_vanish, narrow_marks, clocks_as_reported, latencies, another_reference, negative_latencies)
