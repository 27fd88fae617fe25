#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions of a relayd that come and go: those that remain are read as if there had been no others."""
import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile

import sandbox
from fake_fleet import EVENT_NS, Fleet, Live

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "screens"))
from terminal import Checks  # noqa: E402

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


if __name__ == "__main__":
    Checks().run(test_copies_after_many)
