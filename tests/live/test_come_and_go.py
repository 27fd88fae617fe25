#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions of a relayd that come and go: those that remain are read as if there had been no others."""
import contextlib
import itertools
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

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
        checks.contains("two sessions: said", messages().splitlines(), "their events are counted about once; add the context vtid")


def test_copies_end(checks):
    """Two sessions with the same events of programs, of which one ends."""
    with Fleet(Live("web", "steady", programs=True), Live("web", "second", programs=True)) as relay, \
            Terminal(relay.relay_url, size=(160, 30), ready=None) as t:
        t.wait("^ LIVE")
        t.keys("9")
        checks.check("copies: said", t.wait(r"lttng-ust \S+ +programs traced by several sessions"))
        relay.sessions.pop()
        t.wait(r"/second +the session has ended")
        checks.check("copies: said no longer", t.wait_gone(r"lttng-ust \S+ +programs traced by several sessions"))
        t.keys("q")
        checks.equal("copies: status", t.status(), 0)


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


def test_why_it_is_away(checks):
    """A host whose session breaks off, after another one of it has ended: the reason is that of the former."""
    with Fleet(Live("web", "a-1")) as relay, Terminal(relay.relay_url, size=(140, 30), ready=None) as t:
        t.wait(r"^ web +0\[")
        second = Live("web", "a-2")
        relay.sessions.append(second)
        t.keys("9")
        t.wait(r"/a-2 +attached, fills gaps")
        relay.sessions.remove(relay.session)
        t.wait(r"/a-1 +the session has ended")
        second.is_cut = True
        checks.check("away: why", t.wait(r"^ web +away since [0-9:]+: .*went away; retrying"))
        second.is_cut = False
        checks.check("away: back", t.wait(r"^ web +0\["))
        t.keys("q")
        checks.equal("away: status", t.status(), 0)


class Damaged(Live):
    """Sends nonsense a moment after each time it was attached, while it is told to."""
    is_damaged, broken_at = True, 0

    def __init__(self, *args):
        super().__init__(*args)
        self.begun = []  # when it was attached

    def begin(self):
        super().begin()
        self.begun.append(time.monotonic())

    def index(self):
        if self.is_damaged and time.monotonic() - self.begun[-1] > 0.5:
            self.broken_at = time.monotonic()
            return b"\xff" * 64
        return super().index()


def test_damaged_data(checks):
    """A session that breaks off each time soon after it was attached is fetched again less and less often."""
    session = Damaged("web", "s1")
    with Fleet(session) as relay, Terminal("--log", "damaged", relay.relay_url, size=(120, 30), ready=None) as t:
        sandbox.wait_until(lambda: len(session.begun) == 4, "attached several times")
        sandbox.wait_until(lambda: session.broken_at > session.begun[3], "another break")
        session.is_damaged = False
        sandbox.wait_until(lambda: len(session.begun) == 5, "attached again")
        pause = session.begun[4] - session.broken_at
        checks.check("damaged: the fourth pause", pause > 3.9, pause)
        with open("damaged", encoding="utf-8") as log:
            lines = [line for line in log if "nonsense" in line]
        checks.check("damaged: said", 1 <= len(lines) <= 2, lines)
        # it is as new after it has run for a while
        time.sleep(9)
        session.is_damaged = True
        sandbox.wait_until(lambda: len(session.begun) == 6, "attached again after a while")
        pause = session.begun[5] - session.broken_at
        checks.check("damaged: the first pause after it has run, not the fifth", pause < 7.9, pause)
        t.keys("q")
        checks.equal("damaged: status", t.status(), 0)


def test_past_of_listed(checks):
    """The past of a session that was found in a relayd's list is read again, as that of one given by its URL."""
    with Fleet(Live("web", "s1")) as relay, Terminal(relay.relay_url, size=(120, 30), ready=None) as t:
        t.wait(r"^ LIVE .* 50 ev/s")
        t.keys("D")
        checks.check("past: events", t.wait("next_comm"))
        t.keys("q")
        checks.equal("past: status", t.status(), 0)


def test_not_followed(checks):
    """A report reads a session with the name of one that has ended, as it does any other new one."""
    with Fleet(Live("web", "steady"), Live("web", "s1", programs=True)) as relay, \
            report("events", relay.relay_url) as (pages, _):
        checks.check("not followed: read", next((p for p in itertools.islice(pages, PAGES) if ticks(p) == PER_SECOND), None))
        relay.sessions.pop()
        checks.check("not followed: ended", next((p for p in itertools.islice(pages, PAGES) if ticks(p) == 0), None))
        relay.sessions.append(Live("web", "s1", programs=True))
        checks.check("not followed: read again", next((p for p in itertools.islice(pages, PAGES) if ticks(p)), None))


class Long(Fleet):
    """Its list does not arrive at once: more sessions follow, which are not live."""

    def list(self, payload):
        stored = [Live("web", f"stored-{i}") for i in range(20000)]
        whole = super().list(payload)
        return struct.pack(">I", len(self.sessions) + len(stored)) + whole[4:] + b"".join(
            struct.pack(">Q3I64s255s", 10 ** 6 + i, 0, 0, 2, s.host.encode(), s.name.encode()) for i, s in enumerate(stored))


def test_given_twice(checks):
    """A relayd, or one of its sessions, too: each session is read once."""
    for what in ("relay_url", "url"):
        with Long(Live("web", "s1", programs=True)) as relay, \
                report("events", relay.relay_url, getattr(relay, what)) as (pages, _):
            counts = [ticks(page) for page in itertools.islice(pages, 6)]
            checks.equal(f"{what} given, too: attached once", relay.attached, ["s1"])
            checks.equal(f"{what} given, too: events a second", counts[-3:], [PER_SECOND] * 3)


def test_numbers_start_again(checks):
    """A session is created again, then its relayd is restarted and gives it the number that it had first."""
    def create():
        n = len(relay.attached)
        relay.sessions.append(Live("web", "s1"))
        checks.check(f"restart: attached {n + 1} times",
                     t.wait_for(lambda _: len(relay.attached) == n + 1, "to be attached again") or True)

    with Fleet() as relay, Terminal(relay.relay_url, size=(120, 30), ready=None) as t:
        create()
        t.wait(r"^ web +0\[")
        t.keys("9")
        for _ in range(2):
            t.wait(r"/s1 +attached")
            relay.sessions.clear()
            t.wait(r"/s1 +the session has ended")
            if len(relay.attached) == 2:
                relay.known.clear()
                relay.numbers = itertools.count(1)
            create()
        checks.check("restart: read", t.wait(r"/s1 +attached"))
        t.keys("q")
        checks.equal("restart: status", t.status(), 0)


def inputs_shown(t):
    """The lines of the sessions, and how many more there are."""
    lines = [line for line in t.screen() if re.match(r"^\S+ +net:\S+/host/", line)]
    more = re.search(r"^ +and (\d+) more", "\n".join(t.screen()), re.M)
    return lines, int(more[1]) if more else 0


def test_ended_are_forgotten(checks):
    """Sessions that have new names each time: only the last ones remain in the list, below the one that runs."""
    with Fleet(Live("web", "a-1")) as relay, \
            Terminal("--log", "forgotten", relay.relay_url, size=(140, 30), ready=None) as t:
        t.wait(r"^ web +0\[")
        come_and_go(relay, [Live("web", f"auto-{i}") for i in range(40)])
        runs = Live("web", "runs")
        relay.sessions.append(runs)
        t.keys("9")
        checks.check("forgotten: there", t.wait(r"/runs +attached"))
        for i in range(2):
            come_and_go(relay, [Live("web", f"more-{i}-{n}") for n in range(40)])
        sandbox.wait_until(lambda: sum(len(x) if isinstance(x, list) else x for x in inputs_shown(t)) <= 34, "the list to shrink")
        lines, more = inputs_shown(t)
        checks.check("forgotten: those that run come first", re.search(r"/a-1 +attached", lines[0]) and
                     re.search("/runs +attached", lines[1]), lines)
        checks.equal("forgotten: the last that ended remain", len(lines) + more, 34)
        checks.check("forgotten: the others are read on", t.wait(r"^ LIVE .* 50 ev/s"))
        # one that was forgotten comes again
        relay.sessions.append(Live("web", "auto-0"))
        checks.check("forgotten: attached again", t.wait(r"/auto-0 +attached"))
        relay.sessions.remove(runs)
        checks.check("forgotten: known to have ended", t.wait(r"/runs +the session has ended"))
        n = relay.lists
        sandbox.wait_until(lambda: relay.lists >= n + 4, "more lists without it")
        checks.contains("forgotten: the last one that ended remains", t.screen(), r"/runs +the session has ended")
        t.keys("q")
        checks.equal("forgotten: status", t.status(), 0)
    with open("forgotten", encoding="utf-8") as log:
        checks.equal("forgotten: no error", [line for line in log if " error" in line], [])


def test_ended_hosts(checks):
    """Hosts that never return: only the last ones are waited for. One that returns is there, under its name."""
    with Fleet(Live("web", "steady")) as relay, Terminal(relay.relay_url, size=(140, 60), ready=None) as t:
        hosts = [Live(f"vm{i:02}", "s1") for i in range(40)]
        relay.sessions += hosts[:4]
        t.wait(r"^ LIVE .* 5 hosts ")
        del relay.sessions[1:]
        t.wait(r"^ LIVE .* 1 of 5 hosts \(4 away\)")
        checks.check("ended hosts: waited for", t.wait("^ vm00 +session ended at [0-9:]+; waiting for another one$"))
        relay.sessions += hosts[4:]
        t.wait(r"^ LIVE .* 37 of 41 hosts \(4 away\)")
        del relay.sessions[1:]
        checks.check("ended hosts: 32 are waited for", t.wait(r"^ LIVE .* 1 of 33 hosts \(32 away\)"))
        checks.check("ended hosts: for the last ones", t.wait("^ vm1[0-9] +session ended at [0-9:.]+; waiting for another one$"))
        checks.contains("ended hosts: not for the first ones", t.screen(), "^ vm00 +session ended at [0-9:.]+$")
        relay.sessions.append(hosts[0])
        checks.check("ended hosts: one returns", t.wait(r"^ LIVE .* 2 of 34 hosts \(32 away\)"))
        checks.check("ended hosts: under its name", t.wait(r"^ vm00 +0\["))
        t.keys("q")
        checks.equal("ended hosts: status", t.status(), 0)


if __name__ == "__main__":
    if not shutil.which("tmux"):
        print("skip the monitor of sessions that come and go: tmux is not installed")
        Checks().run(test_copies_after_many)
    Checks().run(test_copies_after_many, test_copies_end, test_place_is_kept, test_past_of_listed, test_why_it_is_away,
                 test_damaged_data, test_ended_are_forgotten, test_ended_hosts, test_numbers_start_again, test_given_twice,
                 test_not_followed)
