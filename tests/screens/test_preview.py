#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A jump in a recording that has not been read up to there: a preview of the interval, with its figures, until the
reading arrives. The workers of the main reading are stopped, so that it does not arrive by itself."""

import json
import os
import re
import signal
import subprocess
import sys
import time

from terminal import PROGRAM, READY, Checks, Terminal, need, unpack

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "source"))
from processes import Held  # noqa: E402

# What does not depend on what was before the interval.
FIGURES = ("host", "tid", "comm", "cpu_ns", "switches", "migrations")
MORE_FIGURES = (*FIGURES, "pid", "prio", "ready_ns", "blocked_ns")


class Opened:
    """A monitor whose main reading stands still near the start of the recording."""

    def __init__(self, recording, workers, *options):
        self.held = Held()
        self.terminal = Terminal("--no-cache", "--workers", str(workers), *options, recording, size=(120, 40),
                                 env=self.held.environment, ready=None)
        self.workers = []
        self.count = workers

    def __enter__(self):
        program = self.terminal.wait_program()
        self.workers = self.held.stop_midway(program, self.count)
        for pid in self.workers:
            os.kill(pid, signal.SIGSTOP)
        self.held.go_on(but=self.workers)
        self.terminal.wait(READY)
        return self

    def __exit__(self, *_):
        self.go_on()
        self.terminal.__exit__()

    def go_on(self):
        self.held.go_on()


def preview(t, begin, end=""):
    """Waits for the preview of that interval; returns the screen."""
    t.wait(rf"\A.*\[(2026-11-20 )?{re.escape(begin)}\d*, (2026-11-20 )?{re.escape(end)}.*reading \d+%, preview")
    return t.screen()


def jump(t, to):
    t.keys("b")
    t.wait("^Jump to")
    t.text(to).keys("Enter")


def reported(recording, shown, *options):
    run = subprocess.run([PROGRAM, "report", "cpu", "--json", "--begin", f"{shown['begin_ns']}ns", "--end",
                          f"{shown['end_ns']}ns", *options, recording], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)


def running(table, figures):
    """Those figures of all threads that ran: there are many others, some of which wait all the time."""
    return sorted(tuple(row[figure] for figure in figures) for row in table["rows"] if row["cpu_ns"])


def same_figures(checks, name, shown, report, figures):
    want = running(report, figures)
    checks.check(f"{name}: some threads", len(want) > 10, len(want))
    checks.equal(f"{name}: their figures", running(shown, figures), want)


def one_host(checks):
    recording = unpack("hotplug")
    with Opened(recording, 1, "--paused") as opened:
        t = opened.terminal
        jump(t, "+8s")
        preview(t, "14:29:44.015", "14:29:45.015")
        shown = t.written(t.path("early.json"))
        report = reported(recording, shown)
        same_figures(checks, "one host", shown, report, FIGURES)
        opened.go_on()
        t.wait_gone("preview")
        checks.contains("the same interval", t.screen(), r"\A PAUSED .*14:29:44\.015.*14:29:45\.015")
        read = t.written(t.path("read.json"))
        same_figures(checks, "one host, read", read, report, MORE_FIGURES)
        checks.check("only then threads without events", len(shown["rows"]) < len(read["rows"]))


def marks(checks):
    """An interval that has not been read cannot be chosen yet; nothing is lost."""
    with Opened(unpack("hotplug"), 1, "--paused") as opened:
        t = opened.terminal
        jump(t, "+8s")
        preview(t, "14:29:44.015", "14:29:45.015")
        t.keys("A")
        t.wait("press B to mark its end")
        t.keys("B")
        t.wait("not read up to there yet")
        checks.contains("the preview stays", t.sync(), r"\A.*14:29:44\.015.*14:29:45\.015.*preview")
        opened.go_on()
        t.wait_gone("preview")
        t.wait_read()
        t.keys("B")
        t.wait(r"interval from 14:29:44\.015 to 14:29:45\.015")


def selected(t):
    """The selected thread, of which Details shows more later on."""
    t.keys("Enter")
    t.wait("^ IDs ")
    return re.search(r"^ IDs +tid (\d+) ", "\n".join(t.sync()), re.M)[1]


def tids(t, name):
    return {row["tid"] for row in t.written(t.path(f"{name}.json"))["rows"]}


def choices(checks):
    """A row that was chosen in a preview is the same thread when the reading arrives;
    rows are not compared with those of another reading."""
    with Opened(unpack("hotplug"), 1, "--paused") as opened:
        t = opened.terminal
        jump(t, "+6s")
        preview(t, "14:29:42.015", "14:29:43.015")
        t.keys("C")
        jump(t, "+8s")
        preview(t, "14:29:44.015", "14:29:45.015")
        checks.lacks("no comparison with other rows", t.sync(), " vs ")
        t.keys("Down", "Down", "Space", "Up")
        before = selected(t)
        opened.go_on()
        t.wait_gone("preview")
        t.wait_read()
        checks.equal("Details", selected(t), before)
        t.keys("Escape")
        t.wait(" COMMAND")
        checks.equal("the selection", selected(t), before)
        checks.contains("compared", t.sync(), " vs ")
        t.keys("Escape", "f")
        t.wait(" COMMAND")
        rows = [line.split() for line in t.sync() if re.match(r" +\d+ +\d+ ", line)]
        checks.equal("what is highlighted", [words[0] for words in rows], [before])


def steps(checks):
    """What was chosen in a preview stays chosen in the next one, on the way there, and where its thread does nothing."""
    with Opened(unpack("hotplug"), 1, "--paused") as opened:
        t = opened.terminal
        jump(t, "+6s")
        preview(t, "14:29:42.015", "14:29:43.015")
        t.keys("Down", "Down", "Space", "Up")
        before = selected(t)
        there = 0
        for begin in ("14:29:43.015", "14:29:44.015", "14:29:45.015", "14:29:46.015", "14:29:47.015"):
            t.keys("Right")
            preview(t, begin)
            screen = "\n".join(t.sync())
            checks.check(f"{begin}: Details stay open", re.search(rf"^ IDs +tid {before} |^ +does not exist in this interval", screen, re.M),
                         screen)
            there += f"tid {before} " in screen
        checks.check("both occur", 0 < there < 5, there)
        for begin in ("14:29:46.015", "14:29:45.015", "14:29:44.015", "14:29:43.015", "14:29:42.015"):
            t.keys("Left")
            preview(t, begin)
        checks.contains("back: Details", t.sync(), rf"^ IDs +tid {before} ")
        t.keys("Escape")
        t.wait(" COMMAND")
        checks.equal("back: the selection", selected(t), before)
        t.keys("Escape", "f")
        t.wait(" COMMAND")
        rows = [line.split() for line in t.sync() if re.match(r" +\d+ +\d+ ", line)]
        checks.equal("back: what is highlighted", [words[0] for words in rows], [before])


def left(checks):
    """A choice whose thread is not in a preview is still there for f; the selection can be left meanwhile."""
    with Opened(unpack("hotplug"), 1, "--paused") as opened:
        t = opened.terminal
        jump(t, "+6s")
        preview(t, "14:29:42.015", "14:29:43.015")
        t.keys("Down", "Down", "Space", "Up")
        before = int(selected(t))
        t.keys("Escape")
        t.wait(" COMMAND")
        for step, begin in enumerate(("14:29:43.015", "14:29:44.015", "14:29:45.015", "14:29:46.015", "14:29:47.015")):
            t.keys("Right")
            preview(t, begin)
            if before not in tids(t, step):
                break
        else:
            raise AssertionError("the thread is in all of them")
        checks.lacks("f", t.press("f"), "no row is highlighted")
        checks.contains("f: only what is highlighted", t.screen(), "only highlighted .*0/0")
        t.keys("f", "Home")
        while before not in tids(t, f"back-{step}"):
            t.keys("Left")
            step -= 1
            preview(t, f"14:29:{43 + step}.015")
        checks.contains("the selection was left: still", t.sync(), r"[^\d]1/\d+ *$")


def three_hosts(checks):
    """While their clocks are being synchronised."""
    recording = unpack("three-tier")
    with Opened(recording, 3, "--paused") as opened:
        t = opened.terminal
        jump(t, "14:07:13")
        preview(t, "14:07:12.3", "14:07:13.3")
        shown = t.written(t.path("early.json"))
        same_figures(checks, "three hosts", shown, reported(recording, shown, "--no-sync"), FIGURES)
        opened.go_on()
        t.wait_gone("preview")
        t.wait_read()
        shown = t.written(t.path("read.json"))
        same_figures(checks, "three hosts, read", shown, reported(recording, shown), MORE_FIGURES)


def events(checks):
    """The events of an interval that was shown before clocks were compared: it keeps its place in the trace."""
    with Opened(unpack("three-tier"), 3, "--paused") as opened:
        t = opened.terminal
        t.keys("D")
        t.wait("^nothing is shown yet")
        jump(t, "+3s")
        preview(t, "14:06:46.3", "14:06:47.3")
        t.keys("D")
        t.wait("^ events of client, db, web")
        opened.go_on()
        t.wait_gone("preview")
        t.wait_read()
        t.wait(r" Dump .* \d+/\d+\+?$|no event in this interval")
        checks.contains("there are some", t.sync(), r"^ 14:07:0\d\.\d+ db ")


def moving(checks):
    """Steps count from where the jump goes, also if nothing is shown of it yet; pausing does not move."""
    with Opened(unpack("hotplug"), 1, "--paused") as opened:
        t = opened.terminal
        jump(t, "+8s")
        preview(t, "14:29:44.0")
        t.keys_at_once("Right", "Right")
        preview(t, "14:29:46.0")
        t.keys_at_once("Left", "Left", "Left")
        checks.contains("back", preview(t, "14:29:43.0"), r"\A PAUSED ")
        t.keys("F9")
        t.wait(r"\A REPLAY ")
        checks.contains("playing waits there", t.screen(), r"\A.*14:29:43\.0.*preview")
        t.keys("F9")
        t.wait(r"\A PAUSED ")
        checks.contains("pausing stays there", t.screen(), r"\A.*14:29:43\.0.*preview")
        t.keys("Left", "Left", "Left", "Left", "Left", "Left", "Left")
        t.wait(r"\A.*14:29:36\.0")
        checks.lacks("back to what has been read", t.screen(), r"preview")


def at_the_end(checks):
    recording = unpack("hotplug")
    with Opened(recording, 1, "--paused") as opened:
        t = opened.terminal
        t.keys(")")
        preview(t, "14:29:48.015", "14:29:48.8")
        shown = t.written(t.path("early.json"))
        same_figures(checks, "the end", shown, reported(recording, shown), FIGURES)
        t.keys("Left")
        preview(t, "14:29:47.015", "14:29:48.015")


def long_intervals(checks):
    """To read most of what is before it would take as long as to read all of it."""
    with Opened(unpack("hotplug"), 1, "--paused", "--interval", "5s") as opened:
        t = opened.terminal
        jump(t, "+8s")
        t.wait(r"\A.*reading \d+%, then 14:29:44")
        time.sleep(0.5)  # longer than it takes until a preview is read
        checks.contains("no preview", t.screen(), r"\A.*reading \d+%, then 14:29:44")
        opened.go_on()
        t.wait(r"\A PAUSED .*14:29:41\.0.*14:29:46\.0")


def from_the_start(checks):
    """--begin; and leaving while a preview is read."""
    with Opened(unpack("hotplug"), 1, "--begin", "+5s") as opened:
        t = opened.terminal
        checks.contains("--begin", preview(t, "14:29:41.0"), r"\A REPLAY ")
        t.keys_at_once(")", "q")
        checks.equal("q ends it", t.status(), 0)
        checks.check("the terminal is as before", t.modes_restored())


need("tmux", "zstd", "pgrep")
Checks().run(one_host, choices, steps, left, three_hosts, events, moving, at_the_end, long_intervals, from_the_start, marks)
