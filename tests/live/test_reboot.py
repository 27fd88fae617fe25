#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A rebooted machine has another clock but keeps its name, whether or not its session has the same name as before.
If its relayd was away and no longer knows the session, the monitor says what to do."""
import os
import re
import sys

import sandbox
from fake_fleet import Fleet, Live
from fake_relay import INDEX_HUP, Session
from test_feed import TRACES, Relayd, interrupt, urls_of
from test_clock_set_back import wait_for_all
from test_hosts import Steady
from test_live import recordings, restart

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "screens"))
from terminal import Checks, Terminal  # noqa: E402

RECORDING = os.path.join(TRACES, "hotplug")
TRACE = os.path.join(RECORDING, "db", "kernel")
HOUR = 3600 * 10 ** 9
THERE = r"^ db +(0\[|no events since )"


class Machine(Steady):
    """A session of db, which can be rebooted: an hour later, with another clock."""
    boots = 1

    def __init__(self, name):
        super().__init__(Session([TRACE], host="db", name=name))

    def boot(self):
        for stream_id, (trace_id, text) in self.session.metadata.items():
            text = re.sub(rb"(offset = )(\d+)", lambda m: m[1] + str(int(m[2]) + 3600 * 10 ** 9).encode(), text, count=1)
            self.session.metadata[stream_id] = (trace_id, re.sub(rb"4fa7f3a0-|0000000\d-", b"0000000%d-" % self.boots, text))

    def reboot(self, name):
        """Another session, of the next boot."""
        self.boots += 1
        self.session.name = name
        self.boot()
        self.sessions.append(self.session)

    def at_end(self, stream):
        return super().at_end(stream) if self.session in self.sessions else self.index(INDEX_HUP)

    def break_off(self):
        for connection in self.connections:
            connection.close()


def source_lines(t):
    return [line for line in t.screen() if re.match(r"^db\S* +net:", line)]


def wait_one_line(t):
    return t.wait_for(lambda text: len(re.findall(r"^ db ", text, re.M)) == 1, "a single line of db")


def test_same_session(checks):
    with Machine("s1") as machine, Terminal("--log", "log", machine.url, size=(120, 40), ready=None) as t:
        t.wait(THERE)
        first = t.wait(r"^ \S+.*\[(\S+ )?(\d\d):")[2]
        machine.boot()
        machine.break_off()
        t.wait(rf"^ LIVE.*\[(\S+ )?{(int(first) + 1) % 24:02}:")
        checks.check("the same session: under its name", t.wait(THERE))
        t.keys("9")
        t.wait(r"^db +net:.* attached")
        checks.equal("the same session: one source", len(source_lines(t)), 1)
        checks.check("the same session: no second name", "db#2" not in "\n".join(t.screen()), t.screen())
        checks.check("the same session: the first boot has faded, an hour after it", wait_one_line(t))
        t.keys("q")
        checks.equal("the same session: status", t.status(), 0)
        with open("log", encoding="utf-8") as log:
            checks.equal("the same session: not taken as the machine it was", re.findall("reading them as those of.*", log.read()), [])


def test_other_session(checks):
    with Machine("before") as before, Machine("after") as after:
        after.boot()
        after.sessions.clear()
        with Terminal(before.url, after.url, size=(120, 40), ready=None) as t:
            t.wait(THERE)
            before.sessions.clear()
            t.wait(r"^ db +session ended at [0-9:]+; waiting")
            after.sessions.append(after.session)
            t.keys("9")
            checks.check("another session: under its name", t.wait(rf"^db +{after.url} +attached"))
            checks.check("another session: no second name", "db#2" not in "\n".join(t.screen()), t.screen())
            t.wait(THERE)
            checks.check("another session: the first one has faded", wait_one_line(t))
            # the first one's clock returns while the other one runs: they are two
            before.sessions.append(before.session)
            checks.check("both at once: two names", t.wait(rf"^db#2 +{before.url} +attached"))
            t.keys("q")
            checks.equal("another session: status", t.status(), 0)


def test_listed_session(checks):
    """Sessions named by date, which a relayd lists only while they run: the one of the earlier boot never returns."""
    with Machine("s1") as machine, Terminal(machine.relay_url, size=(120, 40), ready=None) as t:
        t.wait(THERE)
        machine.sessions.clear()
        t.wait(r"^ db +session ended at [0-9:]+; waiting")
        machine.reboot("s2")
        checks.check("a listed session: under its name", t.wait(THERE))
        checks.check("a listed session: the first one has faded", wait_one_line(t))
        checks.check("a listed session: the first boot is not counted", t.wait(r"^ AWAY 1/1 "))
        machine.sessions.clear()
        t.wait(r"^ db +session ended at [0-9:]+; waiting")
        machine.sessions.append(machine.session)
        checks.check("a listed session: the same one again", t.wait(THERE))
        machine.sessions.clear()
        t.wait(r"^ db +session ended at [0-9:]+; waiting")
        machine.reboot("s1")
        checks.check("a listed session: a name that ended before", t.wait(THERE))
        checks.check("a listed session: no earlier boot is counted", t.wait(r"^ AWAY 1/1 "))
        t.keys("9")
        checks.check("a listed session: attached again", t.wait(r"^db +net:\S+/s1 +attached"))
        t.keys("q")
        checks.equal("a listed session: status", t.status(), 0)


def test_clock_behind(checks):
    """A machine without a battery for its clock: a boot starts at an earlier time than the one before ended."""
    with Fleet(Live("db", "before", boot="1")) as relay, Terminal(relay.relay_url, size=(120, 40), ready=None) as t:
        since = wait_for_all(t, ["db"], wait_for_all(t, ["db"]))  # so long that its clock can be compared with others
        relay.sessions.clear()
        t.wait(r"^ db +session ended at [0-9:]+; waiting")
        relay.sessions.append(Live("db", "after", boot="2", offset_ns=-HOUR))
        checks.check("a clock that is behind: there", wait_for_all(t, ["db"], since))
        checks.check("a clock that is behind: the first boot is not counted", t.wait(r"^ LIVE .* 1 host  "))
        t.keys("q")
        checks.equal("a clock that is behind: status", t.status(), 0)


def test_relayd_restarted(checks):
    with Relayd("relayd") as relayd:
        feed = relayd.feed("--now", recordings["hotplug"])
        with Terminal(*urls_of(feed, 1), size=(160, 40), ready=None) as t:
            t.wait(r"^ db +0\[")
            relayd.process.kill()
            t.wait(r"^ db .*cannot connect: Connection refused")
            restart(relayd)
            checks.check("restarted: what to do", t.wait(
                "^ db .*no such session since the relayd was away: run 'lttngtop record' on that host again"))
            t.keys("q")
            checks.equal("restarted: status", t.status(), 0)
        interrupt(feed, "feed") if feed.poll() is None else feed.communicate()


if __name__ == "__main__":
    sandbox.begin(RECORDING, tmux=True)
    recordings["hotplug"] = RECORDING
    Checks().run(test_same_session, test_other_session, test_listed_session, test_clock_behind, test_relayd_restarted)
