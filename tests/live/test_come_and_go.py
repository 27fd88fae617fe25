#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions of a relayd that come and go: those that remain are read as if there had been no others."""
import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import sandbox
from fake_fleet import EVENT_NS, Fleet, Live

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "screens"))
from terminal import Checks, Terminal  # noqa: E402

SECOND = 10 ** 9
PER_SECOND = SECOND // EVENT_NS
PAGES = 20  # intervals until something expected counts as missing


def come_and_go(relay, sessions):
    """They are attached, and end."""
    n = len(relay.attached)
    relay.sessions += sessions
    sandbox.wait_until(lambda: len(relay.attached) == n + len(sessions), "all are attached")
    for session in sessions:
        relay.sessions.remove(session)


@contextlib.contextmanager
def report(*args):
    """The program's pages, one a second, for ever; and its messages so far."""
    with tempfile.TemporaryFile("w+") as err, \
            subprocess.Popen([os.environ["LTTNGTOP"], "report", *args, "--json", "--interval", "1s"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err, text=True) as process:
        def messages():
            err.seek(0)
            return err.read()

        try:
            yield map(json.loads, process.stdout), messages
        finally:
            process.send_signal(signal.SIGKILL)


def ticks(page):
    return sum(row["count"] for row in page["rows"] if row["name"] == "my_app:tick")


def test_copies_after_many(checks):
    """Two sessions with the same events of programs, after so many others that two of all have the same bit of 64."""
    with Fleet(Live("web", "steady", programs=True)) as relay, report("events", relay.relay_url) as (pages, messages):
        checks.check("one session", next((p for p in itertools.islice(pages, PAGES) if ticks(p) == PER_SECOND), None))
        come_and_go(relay, [Live("web", f"job-{i}", programs=True, is_idle=True) for i in range(63)])
        relay.sessions.append(Live("web", "second", programs=True))
        sandbox.wait_until(lambda: relay.attached[-1] == "second", "another session with the same events")
        counts = [ticks(page) for page in itertools.islice(pages, 8)]
        checks.equal("two sessions: events a second", counts[-3:], [PER_SECOND] * 3)
        checks.contains("two sessions: said", messages().splitlines(), "their events are counted once")


def test_place_is_kept(checks):
    """--max-sessions: one that breaks off keeps its place, and one that has ended leaves it to another."""
    with Fleet(Live("db", "s1")) as relay, Terminal("--max-sessions", "1", relay.relay_url, size=(120, 30), ready=None) as t:
        first = relay.session
        t.wait(r"^ db +0\[")
        first.is_cut = True
        t.keys("9")
        t.wait(r"^db +net:\S+/s1 +.*; retrying")
        relay.sessions += [Live("ci", "job-1"), Live("ci", "job-2")]
        checks.check("place: the others have none", t.wait(r"/job-1 +not attached") and t.wait(r"/job-2 +not attached"))
        first.is_cut = False
        checks.check("place: it is kept", t.wait(r"/s1 +attached") and t.wait(r"^ db +0\["))
        relay.sessions.remove(first)
        checks.check("place: the first of the others has it", t.wait(r"^ ci +0\[") and t.wait(r"/job-1 +attached"))
        checks.contains("place: the second one has none", t.screen(), r"/job-2 +not attached")
        t.keys("q")
        checks.equal("place: status", t.status(), 0)


if __name__ == "__main__":
    if not shutil.which("tmux"):
        print("skip the monitor of sessions that come and go: tmux is not installed")
        Checks().run(test_copies_after_many)
    Checks().run(test_copies_after_many, test_place_is_kept)
