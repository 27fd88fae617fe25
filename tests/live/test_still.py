#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A session that was stopped while something ran, or a machine that froze: its relayd keeps saying that nothing
happens. Threads that ran at that time are not shown as running for ever."""
import json
import os
import shutil
import struct
import subprocess
import sys
import threading

import fake_relay
from fake_relay import Relay, Session

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "screens"))
from terminal import PROGRAM, Checks, Terminal  # noqa: E402

TRACE = os.path.join(os.environ["BUILD"], "traces", "hotplug", "db", "kernel")
SECOND = 10 ** 9
PACKETS = 3  # of each stream: its CPUs are busy then


class Still(Relay):
    """After some packets each stream only has beacons, for as many seconds as it takes to continue or be closed."""

    def __init__(self, seconds):
        session = Session([TRACE])
        session.streams = [s for s in session.streams if len(s.packets) > PACKETS]
        for s in session.streams:
            s.packets = s.packets[:PACKETS]
        self.last = max(s.packets[-1][4] for s in session.streams)
        self.beacons, self.seconds = 0, seconds
        self.may_end = threading.Event()
        super().__init__(session)

    def is_over(self):
        return self.beacons >= self.seconds * 10 * len(self.session.streams) and self.may_end.is_set()

    def at_end(self, stream):
        if self.is_over():
            return self.index(fake_relay.INDEX_HUP)
        self.beacons = min(self.beacons + 1, self.seconds * 10 * len(self.session.streams))
        at = self.last + self.beacons // len(self.session.streams) * SECOND // 10
        return self.index(fake_relay.INDEX_INACTIVE, packet=(0, 0, 0, 0, at, 0, stream.class_id))

    def at_last_end(self):
        pass

    def list(self, payload):
        return struct.pack(">I", 0) if self.is_over() else super().list(payload)


def test_report(checks):
    """It may have continued to run for up to two seconds: then no CPU is online, and no thread accumulates time."""
    with Still(8) as relay:
        relay.may_end.set()
        done = subprocess.run([PROGRAM, "report", "cpus", "--json", "--interval", "1s", "--from-start", relay.url],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    pages = [json.loads(line) for line in done.stdout.splitlines()]
    ran = [sum(row["busy_ns"] for row in page["rows"]) for page in pages]
    checks.check("the report reaches the end of the beacons", len(pages) > 6, (done.stderr, len(pages)))
    checks.check("it ran", ran and ran[0] > SECOND // 2, ran)
    checks.check("nothing runs in the end", len(pages) > 6 and not any(ran[-3:]), ran)
    checks.check("nor is online", all(row["online_ns"] == 0 for page in pages[-3:] for row in page["rows"]), done.stdout)


def test_nothing_comes(checks):
    """Until --duration is over: nobody interrupted it."""
    class Silent(Relay):
        def next_index(self, payload):
            return self.index(fake_relay.INDEX_RETRY)

    with Silent(Session([TRACE])) as relay:
        for words in (("report", "cpu"), ("report", "dump"), ("attach", "-n", "*")):
            done = subprocess.run([PROGRAM, *words, "--duration", "500ms", relay.url], capture_output=True, text=True, check=False)
            checks.equal(f"{words}: nothing comes", (done.returncode, done.stderr), (1, "lttngtop: no event within 500ms\n"))


def test_monitor(checks):
    if not shutil.which("tmux"):
        print("skip the monitor of a session that stands still: tmux is not installed")
        return
    with Still(8) as relay, Terminal("--from-start", relay.url, size=(120, 30), ready=None) as t:
        checks.check("since when", t.wait(r"^ db +no events since \d\d:\d\d:\d\d"))
        t.keys("q")
        checks.equal("status", t.status(), 0)


if not os.path.isdir(TRACE):
    print("skip a session that stands still: the recording hotplug is not unpacked")
    sys.exit(77)
Checks().run(test_report, test_nothing_comes, test_monitor)
