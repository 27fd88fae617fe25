#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A live host's clock is set back: a session that starts after that has times before those already shown. Time
continues for all hosts, whether or not the session before it still runs."""
import os
import re
import shutil
import struct
import sys
import time

from fake_relay import ATTACH_UNKNOWN, INDEX_HUP
from test_clocks_apart import Machine, written

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "screens"))
from terminal import Checks, Terminal  # noqa: E402

HOUR = 3600 * 10 ** 9
BEGIN = time.time_ns() - 100 * HOUR  # by our clock; by theirs it is noon, 100 hours later
BOOT = 1_700_006_400 * 10 ** 9 + 12 * HOUR - 100 * HOUR
SHOWN = 5  # seconds of the time after that
STEP = 3 * 10 ** 9  # by which a clock is set forward
BEHIND = "{}: the clock of this session is 3600 s behind that of another one: shown as another host"


class Session(Machine):
    """A session of a kernel that counts the time since its boot; when that was is measured when the session starts."""

    def __init__(self, host, off_ns=0):
        super().__init__(host, -BEGIN)
        self.set_clock(off_ns)

    def set_clock(self, off_ns):
        text = written(self.session.host, 1, 2)[0]
        assert b"offset = 0;" in text
        self.session.metadata = {1001: (1, text.replace(b"offset = 0;", b"offset = %d;" % (BOOT + off_ns)))}

    def attach(self, payload):
        if self.session not in self.sessions:
            return struct.pack(">2I", ATTACH_UNKNOWN, 0)
        return super().attach(payload)

    def next_index(self, payload):
        return super().next_index(payload) if self.session in self.sessions else self.index(INDEX_HUP)

    def end(self):
        self.sessions.clear()

    def break_off(self):
        for connection in self.connections:
            connection.close()

    def start(self):
        self.sessions.append(self.session)


def seconds_shown(text):
    """The time of day at which the shown interval starts; 0: none is shown."""
    found = re.search(r"^ LIVE .*\[(?:\S+ )?(\d\d):(\d\d):(\d\d)", text, re.M)
    return sum(int(found[i]) * 60 ** (3 - i) for i in (1, 2, 3)) if found else 0


def wait_for_all(t, names, since=0):
    """Waits until all of these hosts run, SHOWN seconds after the time since that was shown; returns the later one."""
    def is_later(text):
        return seconds_shown(text) >= since + SHOWN and all(re.search(rf"^ {n} +0\[", text, re.M) for n in names)
    t.wait_for(is_later, f"{names} {SHOWN} s after {since}")
    return seconds_shown("\n".join(t.screen()))


def wait_for_one(t):
    """Waits until one has run for so long that its clock can be compared with others; returns the time shown."""
    return wait_for_all(t, ["one"], wait_for_all(t, ["one"]))


def check_again(checks, what, others=()):
    """A session ends, the clock is set back, and the session starts again."""
    with Session("one") as one, Terminal("--log", what, one.url, *(s.url for s in others), size=(140, 30), ready=None) as t:
        since = wait_for_one(t)
        one.end()
        t.wait(r"^ one +session ended")
        one.set_clock(-HOUR)
        one.start()
        wait_for_all(t, ["one", *(s.session.host for s in others)], since)
        checks.check(f"{what}: no second name", "one#2" not in "\n".join(t.screen()), t.screen())
        t.keys("q")
        checks.equal(f"{what}: status", t.status(), 0)
    with open(what, encoding="utf-8") as log:
        checks.equal(f"{what}: it says so", re.findall("warning: (.*: the clock .*)", log.read()), [BEHIND.format("one")])


def test_again(checks):
    check_again(checks, "alone")


def test_again_beside_others(checks):
    with Session("two") as two:
        check_again(checks, "beside", [two])


def test_forward_and_back(checks):
    """
    A host's clock was set forward before one session, and right again before the next one: that is another host's, which
    is shown.
    """
    def says_so(_):
        with open("and back", encoding="utf-8") as log:
            return re.findall("warning: (.*: the clock .*)", log.read())
    with Session("one") as one, Terminal("--log", "and back", one.url, size=(140, 30), ready=None) as t:
        since = wait_for_one(t)
        for off_ns in HOUR, 0:
            one.end()
            t.wait(r"^ one +session ended")
            one.set_clock(off_ns)
            one.start()
            if off_ns:
                since = wait_for_all(t, ["one"], wait_for_all(t, ["one"], since + 3600))
        checks.equal("and back: it says so", t.wait_for(says_so, "the warning"), [BEHIND.format("one")])
        wait_for_all(t, ["one"], since)
        t.keys("q")
        checks.equal("and back: status", t.status(), 0)


def test_both(checks):
    """
    Both sessions run: the two are two hosts. Which of them was started first is not known: a relayd may list the newest
    one first.
    """
    with Session("one") as one, Session("one", -HOUR) as other:
        other.end()
        with Terminal("--log", "both", one.url, other.url, size=(140, 30), ready=None) as t:
            since = wait_for_one(t)
            other.start()
            wait_for_all(t, ["one", "one#2"], since)
            t.keys("q")
            checks.equal("both: status", t.status(), 0)
    with open("both", encoding="utf-8") as log:
        checks.equal("both: it says so", re.findall("warning: (.*: the clock .*)", log.read()), [BEHIND.format("one#2")])


def test_set_forward(checks):
    """One of a host's sessions was started after its clock had been set forward: the other one is still that host's when
    it is attached again."""
    with Session("one") as one, Session("one", STEP) as later:
        later.end()
        with Terminal("--log", "forward", one.url, later.url, size=(140, 30), ready=None) as t:
            t.wait(r"^ one +0\[")
            later.start()
            t.keys("9")
            t.wait("attached, fills gaps")
            one.break_off()
            t.wait(rf"^one +{one.url} +.*the relayd went away")
            wait_for_all(t, ["one"], wait_for_all(t, ["one"]))
            checks.contains("forward: of the same host", t.screen(), "attached, fills gaps")
            t.keys("q")
            checks.equal("forward: status", t.status(), 0)
    with open("forward", encoding="utf-8") as log:
        checks.equal("forward: no other host", [line for line in log if "another host" in line], [])


def test_other_session(checks):
    """A relayd lists the session that starts after that by another name: the one before it never returns."""
    with Session("one") as one, Terminal(one.relay_url, size=(140, 30), ready=None) as t:
        since = wait_for_one(t)
        one.end()
        t.wait(r"^ one +session ended")
        one.set_clock(-HOUR)
        one.session.name = "later"
        one.start()
        wait_for_all(t, ["one"], since)
        checks.check("other: the one before it is not counted", t.wait(r"^ LIVE .* 1 host  "))
        t.keys("q")
        checks.equal("other: status", t.status(), 0)


if __name__ == "__main__":
    if not shutil.which("tmux"):
        print("skip a clock that is set back: tmux is not installed")
        sys.exit(77)
    Checks().run(test_again, test_again_beside_others, test_forward_and_back, test_both, test_other_session, test_set_forward)
