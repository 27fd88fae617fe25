#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The end of a live session: its last events are shown, though they do not fill an interval, and nothing is missing."""

import json
import os
import subprocess

from live_pane import Live, feed, sandbox
from terminal import PROGRAM, Checks, Terminal, unpack

RECORDING = os.path.join(unpack("hotplug"), "db")
FIGURES = ("tid", "comm", "cpu_ns", "ready_ns", "switches", "migrations")


def running(table):
    return sorted(tuple(row[figure] for figure in FIGURES) for row in table["rows"] if row["cpu_ns"])


def ends(checks):
    with Live("live-end", "6", recording=RECORDING) as t:
        t.resize(120, 30)
        t.wait(r"^ ENDED +\[.*14:29:48\.015110323, .*14:29:48\.76")
        screen = t.screen()
        checks.lacks("nothing is missing", screen, "incomplete")
        checks.contains("the only host", screen, r"\A ENDED .*  1 host  ")
        checks.contains("its CPUs are not offline", t.press("9"), r"^ *0 .*\bunknown\b")
        checks.lacks("none of them", t.screen(), "offline")
        checks.equal("but there", [row["cpus"] for row in t.written(t.path("hosts.json"))["rows"]], [2])
        t.press("1")
        shown = t.written(t.path("end.json"))
        run = subprocess.run([PROGRAM, "report", "cpu", "--json", "--begin", f"{shown['begin_ns']}ns", RECORDING],
                             stdout=subprocess.PIPE, text=True, check=True)
        report = json.loads(run.stdout)
        checks.equal("to the last event", shown["end_ns"], report["end_ns"])
        checks.check("some threads", len(running(report)) > 10, report)
        checks.equal("as recorded", running(shown), running(report))
        for text, answer in (("15:00:00", r"there is no 15:00:00\.000 between the start, 14:29:\S+, and the end, "),
                             ("+500s", r"2026-11-20 14:3\d:\S+ is after the end, ")):
            t.keys("b").wait("^Jump to")
            t.text(text).keys("Enter")
            checks.check(f"jump to {text}", t.wait(answer + r"14:29:48\.\d+, which is\s+shown instead"))
        t.keys(")")
        t.wait(r"\A ENDED ")
        t.keys("Left")
        t.wait(r"\A.*14:29:47\.015110323, .*14:29:48\.015110323\[")
        checks.lacks("it has data there: it is not away", t.screen(), r"\A.*(away|silent)")
        t.keys(")")
        t.wait(r"\A ENDED .*14:29:48\.015110323, .*14:29:48\.76")


def ends_after_a_reboot(checks):
    """The machine before the reboot is not waited for: the one after it is counted in its place."""
    before = os.path.join(unpack("three-tier"), "db")
    with Live("live-reboot", "10", recording=before, all_sessions=True) as t:
        t.resize(120, 30)
        t.wait(r"^ ENDED +\[.*14:06:5.* 1 host  ")
        t.keys("L", "End")
        t.wait(r"^│ [0-9:.]+ +db: the session has ended")
        after = feed(t.ports, RECORDING, "--speed", "6")
        try:
            checks.check("one host is there", t.wait(r"^ LIVE +\[.*14:29:4.*  lag \S+  1 host  "))
            checks.check("it has ended, too", t.wait(r"^ ENDED +\[.*14:29:48\.76\S*\[  (?!lag).*1 host  "))
            checks.check("a message that came while the box was open", t.wait(
                r"^│ [0-9:.]+ +db: the session has ended(( \(2 times\)|(.*\n)+│ [0-9:.]+ +db: the session has ended))"))
        finally:
            after.kill()
            after.wait()


def goes_on_while_awaited(checks):
    """Nothing has ended while a session is attached whose first event is still to come."""
    live = Live("live-awaited", "6", recording=RECORDING, all_sessions=True)
    with live as t:
        t.resize(120, 30)
        live.user.start_sessiond()
        for command in ("create awaited --live=100000 "
                        f"--set-url=net://127.0.0.1:{t.ports[0]}:{t.ports[1]}", "enable-event -u -a", "start"):
            status, out, err = live.user.run("lttng", "--no-sessiond", *command.split())
            checks.equal(f"lttng {command.split()[0]}", status, 0)
        t.keys("9")
        t.wait(r"/awaited +attached")
        t.wait(r"^ db +session ended at [0-9:]+; waiting")
        checks.contains("something may come", t.sync(), r"\A LIVE .* 1 host, away  ")
        live.user.run("lttng", "--no-sessiond", "destroy", "awaited")
        checks.check("nothing will", t.wait(r"\A ENDED .* 1 host  "))


def comes_later(checks):
    """A session that does not exist yet is missing only until it is attached: a slow machine may be late."""
    user = sandbox.User(os.path.join(os.getcwd(), "live-later"))
    try:
        ports = user.start_relayd()[0]
        with Terminal(f"net://127.0.0.1:{ports[2]}/host/db/live", size=(160, 30), ready=None) as t:
            t.wait(r"^db +net:\S+ +no such session; retrying")
            feeder = feed(ports, RECORDING, "--speed", "6")
            try:
                checks.check("it is there: nothing is missing", t.wait(r"^ LIVE +\[(?!.*incomplete)"))
            finally:
                feeder.kill()
                feeder.wait()
    finally:
        user.end()


os.chmod(".", 0o755)
Checks().run(comes_later, ends, ends_after_a_reboot, goes_on_while_awaited)
