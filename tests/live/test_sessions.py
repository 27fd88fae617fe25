#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Two live sessions of one kernel, as two people may record it: events count once, and the screen tells them apart."""
import os
import shutil
import sys

import sandbox
from test_feed import TRACES, Relayd, finish, interrupt, urls_of
from test_live import Report, differences, recorded

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "screens"))
from terminal import Checks, Terminal  # noqa: E402

RECORDING = os.path.join(TRACES, "hotplug")
SESSIONS = ("anna", "bert")


def without_reason(report):
    return {**report, "rows": [{k: v for k, v in row.items() if k != "reason"} for row in report["rows"]]}


def test_report(checks):
    for table in ("hosts", "io", "cpus"):
        with Relayd(f"relayd-{table}") as relayd:
            feeds = [relayd.feed("--speed", "max", "--session", name, RECORDING) for name in SESSIONS]
            urls = [urls_of(feed, 1)[0] for feed in feeds]
            status, report, err = Report(table, *urls).end()
            for feed in feeds:
                finish(feed, 0, "feed")
        found = differences(without_reason(report), without_reason(recorded(table, RECORDING)[1]))
        checks.check(f"two sessions: {table}", not found, found)
        checks.equal(f"two sessions: {table}: status", status, 0)
        words = f"db: recorded 2 times, counted once: from {urls[0]}; gaps from {urls[1]}"
        checks.check(f"two sessions: {table}: said", words in err, err)


def test_monitor(checks):
    if not shutil.which("tmux"):
        print("skip the monitor of two sessions: tmux is not installed")
        return
    with Relayd("relayd-monitor") as relayd:
        feeds = [relayd.feed("--now", "--session", name, RECORDING) for name in SESSIONS]
        urls = [urls_of(feed, 1)[0] for feed in feeds]
        with Terminal(*urls, size=(200, 40), ready=None) as t:
            t.wait("^ db +0")
            t.keys("9")
            checks.check("one session is taken", t.wait(rf"^db +{urls[0]} +attached *$"))
            checks.check("the other one fills gaps", t.wait(rf"^db +{urls[1]} +attached, fills gaps *$"))
            checks.check("the reason", t.wait("recorded 2 times, c"))
            # the one that is read ends: the other one takes its place
            interrupt(feeds[0], "feed")
            checks.check("the other one is taken", t.wait(rf"^db +{urls[1]} +attached *$"))
            t.wait_gone("recorded 2 times")
            t.keys("q")
            checks.equal("monitor: status", t.status(), 0)
        interrupt(feeds[1], "feed")


def test_third_session(checks):
    """A session that has ended is no longer counted."""
    if not shutil.which("tmux"):
        print("skip the third of three sessions: tmux is not installed")
        return
    with Relayd("relayd-third") as relayd:
        feeds = [relayd.feed("--now", "--session", name, RECORDING) for name in SESSIONS]
        for feed in feeds:
            urls_of(feed, 1)
        with Terminal(f"net://127.0.0.1:{relayd.live}", size=(200, 40), ready=None) as t:
            t.wait("^ db +0")
            t.keys("9")
            t.wait("recorded 2 times, c")
            interrupt(feeds[0], "feed")
            t.wait_gone("recorded 2 times")
            feeds[0] = relayd.feed("--now", "--session", "cleo", RECORDING)
            said = t.wait(r"recorded (\d+) times, c")
            checks.equal("the one that has ended is not counted", said[1], "2")
        for feed in feeds:
            interrupt(feed, "feed")


if __name__ == "__main__":
    sandbox.begin(RECORDING)
    Checks().run(test_report, test_monitor, test_third_session)
