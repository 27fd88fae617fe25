#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A session that traces a kernel and programs is two sessions of one host and name for a relayd, one per consumer daemon;
several session daemons may have sessions of one name, too. All are read, as babeltrace2 does, and each stays with its viewer."""
import collections
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import sandbox
from fake_relay import ATTACH_OK, ATTACH_TAKEN, ATTACH_UNKNOWN, INDEX_OK, INDEX_RETRY, Hangup, Relay
from test_clocks_apart import TICK, written
from test_feed import TRACES, Relayd, finish, urls_of
from test_hosts import record_programs

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "screens"), os.path.join(HERE, "..", "waits")]
from terminal import PROGRAM, Checks, Terminal  # noqa: E402

KERNEL, PROGRAMS = 1, 2  # sessions, each with one stream and one trace of that number


class Pair(Relay):
    """Two sessions of one name, for ever. Like the real one, it has one viewer per session."""

    def __init__(self):
        names = {KERNEL: b"sched_switch", PROGRAMS: b"my_app_event"}
        self.told, self.data, self.viewers = {}, {}, {}
        self.names, self.sent, self.of = names, dict.fromkeys(names, 0), threading.local()
        sessions = [SimpleNamespace(host="web", name="both", timer_us=100000, clients=0, streams=[None], metadata={i: None})
                    for i in names]
        super().__init__(*sessions)

    def made(self, number, begin, end):
        """The metadata, and a packet: the same trace, as of a kernel or of programs."""
        text, data = written("web", begin, end)
        text = text.replace(b"sched_switch", self.names[number])
        return (text if number == KERNEL else text.replace(b'"kernel"', b'"ust"').replace(b"lttng-modules", b"lttng-ust")), data

    def attach(self, payload):
        number = struct.unpack(">Q", payload[:8])[0]
        if number not in self.names:
            return struct.pack(">2I", ATTACH_UNKNOWN, 0)
        if self.sessions[number - 1].clients:
            return struct.pack(">2I", ATTACH_TAKEN, 0)
        self.sessions[number - 1].clients = 1
        self.of.number = number
        self.viewers.setdefault(number, []).append(time.monotonic())
        self.sent_metadata.discard(100 + number)
        self.told[number] = time.time_ns()
        return struct.pack(">2I", ATTACH_OK, 2) + self.stream_entry(100 + number, number, 1, "metadata") + \
            self.stream_entry(number, number, 0, "channel0_0")

    def serve(self, connection):
        super().serve(connection)
        self.left(getattr(self.of, "number", None))

    def left(self, number):
        if number:
            self.sessions[number - 1].clients = 0

    def new_streams(self, payload):
        return struct.pack(">2I", 2, 0)

    def get_metadata(self, payload):
        stream_id, = struct.unpack(">Q", payload)
        if stream_id in self.sent_metadata:
            return struct.pack(">QI", 0, 2)
        self.sent_metadata.add(stream_id)
        text = self.made(stream_id - 100, 1, 2)[0]
        return struct.pack(">QI", len(text), 1) + text

    def next_index(self, payload):
        number, = struct.unpack(">Q", payload)
        begin, end = self.told[number] + 1, time.time_ns()
        if end - begin < TICK:
            return self.index(INDEX_RETRY)
        self.told[number] = end
        self.data[number] = self.made(number, begin, end)[1]
        self.sent[number] += len(range(begin, end, TICK // 2))
        bits = 8 * len(self.data[number])
        return self.index(INDEX_OK, packet=(0, bits, bits, begin, end, 0, 0))

    def packet(self, payload):
        data = self.data[struct.unpack(">Q", payload[:8])[0]]
        return struct.pack(">3I", 1, len(data), 0) + data


class Unnoticed(Pair):
    """The connection of the kernel's viewer breaks, which the relayd notices when told to."""
    breaks = False

    def left(self, number):
        if number != KERNEL:
            super().left(number)

    def next_index(self, payload):
        if self.breaks and self.of.number == KERNEL:
            self.breaks = False
            raise Hangup
        return super().next_index(payload)


def counts(*arguments):
    """The events of each kind in a report of some seconds."""
    done = subprocess.run([PROGRAM, "report", "events", "--json", *arguments], stdin=subprocess.DEVNULL, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return {row["name"]: row["count"] for row in json.loads(done.stdout)["rows"]}, (done.returncode, done.stderr)


def test_both_are_read(checks):
    for what in ("relay_url", "url"):
        with Pair() as relay:
            found, ended = counts("--duration", "4s", getattr(relay, what))
        checks.equal(f"{what}: the events of both", sorted(found), ["my_app_event", "sched_switch"])
        # the last ones are later than the report's end
        checks.check(f"{what}: all of them", all(found.get(relay.names[i].decode(), 0) > n / 2 for i, n in relay.sent.items()),
                     (found, relay.sent))
        checks.equal(f"{what}: status", ended, (0, ""))


def test_each_is_read_again(checks):
    """While the relayd takes the former viewer for attached, the one of the kernel is not given the other session."""
    if not shutil.which("tmux"):
        print("skip the monitor of two sessions of one name: tmux is not installed")
        return
    with Unnoticed() as relay, Terminal(relay.url, size=(140, 30), ready=None) as t:
        t.wait(r"^ web +0\[")
        sandbox.wait_until(lambda: len(relay.viewers) == 2, "both to be attached")
        t.keys("9")
        relay.breaks = True
        checks.check("it says why it waits", t.wait(r"^web +net:\S+/both +taken by another viewer"))
        checks.check("the programs' session stays", t.wait(r"^web +net:\S+/both +attached"))
        relay.sessions[KERNEL - 1].clients = 0
        t.wait_gone(r"^web +net:\S+/both +taken by another viewer")
        sandbox.wait_until(lambda: len(relay.viewers[KERNEL]) == 2, "the kernel's session to be attached again")
        checks.equal("the programs' session was attached once", len(relay.viewers[PROGRAMS]), 1)
        t.keys("q")
        checks.equal("status", t.status(), 0)


def test_taken(checks):
    """A second viewer does not get the one that the first one has left free."""
    with Pair() as relay:
        relay.sessions[KERNEL - 1].clients = 1
        found, (status, err) = counts("--duration", "2s", relay.relay_url)
        checks.equal("the free one is read", list(found), ["my_app_event"])
        checks.check("the other one is reported", "taken by another viewer" in err and status == 3, (status, err))


def test_real_relayd(checks):
    """Two feeds of one host and name, a kernel's and programs': all events of both, as babeltrace2 counts them."""
    emitted = record_programs("programs", "programs/ust/uid/65534/64-bit", (400, 30))
    sources = (os.path.join(TRACES, "kprobe"), "programs")
    wanted = collections.Counter()
    for source in sources:
        lines = subprocess.check_output(["babeltrace2", "--no-delta", source], text=True, stderr=subprocess.DEVNULL)
        wanted.update(re.findall(r"^\[\S+\] \S+ ([\w:]+): \{", lines, re.M))
    checks.equal("events of the programs", sum(n for name, n in wanted.items() if ":" in name), sum(emitted.values()))
    with Relayd("relayd") as relayd:
        feeds = [relayd.feed("--speed", "max", "--now", "--hostname", "web", "--session", "both", source) for source in sources]
        urls = {urls_of(feed, 1)[0] for feed in feeds}
        checks.equal("one URL", len(urls), 1)
        found, ended = counts(*urls)
        for feed in feeds:
            finish(feed, 0, "feed")
    checks.equal("a real relayd: the events of both", found, dict(wanted))
    checks.equal("a real relayd: status", ended, (0, ""))


if __name__ == "__main__":
    sandbox.begin(os.path.join(TRACES, "hotplug"))
    tests = [test_both_are_read, test_each_is_read_again, test_taken]
    if sandbox.has_ust():
        tests.append(test_real_relayd)
    else:
        print("skip a real relayd: built without lttng-ust")
    Checks().run(*tests)
