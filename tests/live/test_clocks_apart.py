#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Live hosts whose clocks are hours apart and that exchange no packets: each is shown as its data arrives, without
waiting for the others' clocks; hosts that share a clock, and those whose clocks agree, stay as they are."""
import contextlib
import itertools
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from types import SimpleNamespace

from fake_relay import INDEX_OK, INDEX_RETRY, Relay

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "screens"), os.path.join(HERE, "..", "waits")]
import ctf  # noqa: E402
from terminal import PROGRAM, Checks, Terminal  # noqa: E402

SECOND = 10 ** 9
TICK = SECOND // 10
HOURS = 2 * 3600 * SECOND
ROUNDS = 60  # intervals until something expected counts as missing: a few are enough


def written(host, begin, end, clock=None):
    """The metadata, and a packet: two tasks alternate on a CPU."""
    trace = ctf.Trace(host)
    for i, at in enumerate(range(begin, end, TICK // 2)):
        prev = 1 + i % 2
        trace.add(at, "sched_switch", ("prev_comm", "text", 16, f"t{prev}"), ("prev_tid", "s32", prev),
                  ("prev_prio", "s32", 20), ("prev_state", "s64", 0), ("next_comm", "text", 16, f"t{3 - prev}"),
                  ("next_tid", "s32", 3 - prev), ("next_prio", "s32", 20))
    with tempfile.TemporaryDirectory() as directory:
        trace.write(f"{directory}/kernel", clock=clock)
        with open(f"{directory}/kernel/metadata", "rb") as metadata, open(f"{directory}/kernel/channel0_0", "rb") as data:
            return metadata.read(), data.read()


class Machine(Relay):
    """A kernel that never ends, whose clock is off by off_ns; clock: what its identity is derived from."""

    def __init__(self, host, off_ns=0, clock=None):
        self.off_ns, self.told, self.data = off_ns, 0, b""
        stream = SimpleNamespace(id=1, trace_id=1, name="channel0_0")
        super().__init__(SimpleNamespace(host=host, name="s", timer_us=100000, clients=0, streams=[stream], late=[],
                                         metadata={1001: (1, written(host, 1, 2, clock)[0])}))

    def now(self):
        return time.time_ns() + self.off_ns

    def attach(self, payload):
        self.sent_metadata.clear()
        self.told = self.now()
        return super().attach(payload)

    def next_index(self, payload):
        begin, end = self.told + 1, self.now()
        if end - begin < TICK:
            return self.index(INDEX_RETRY)
        self.told = end
        self.data = written(self.session.host, begin, end)[1]
        bits = 8 * len(self.data)
        return self.index(INDEX_OK, packet=(0, bits, bits, begin, end, 0, 0))

    def packet(self, payload):
        return struct.pack(">3I", 1, len(self.data), 0) + self.data


@contextlib.contextmanager
def apart():
    """Two machines; the clock of the second one is hours ahead."""
    with Machine("slow") as slow, Machine("fast", HOURS) as fast:
        yield slow, fast


def test_monitor(checks):
    if not shutil.which("tmux"):
        print("skip the monitor of clocks apart: tmux is not installed")
        return
    with apart() as (slow, fast), Terminal(slow.url, fast.url, size=(140, 30), ready=None) as t:
        checks.check("both are there", t.wait(r"^ fast +0\[") and t.wait(r"^ slow +0\["))
        checks.check("it says what the times are by", t.wait(r"^ LIVE .* clocks: by arrival, times ±[5-9]\d\dms"))
        t.keys("9")
        checks.check("and which hosts", t.wait(r"^(fast +slow|slow +fast) +absent .* by arrival"))
        t.keys("q")
        checks.equal("status", t.status(), 0)


@contextlib.contextmanager
def lines_of(*args):
    """The program's lines, for ever."""
    with subprocess.Popen([PROGRAM, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout
        finally:
            process.kill()


def test_in_order(checks):
    """Events of all hosts as one list: those of the host that is ahead are among the other's."""
    with apart() as (slow, fast), lines_of("attach", "--sched", "-f", "-n", "t*", slow.url, fast.url) as lines:
        turns, last = 0, None
        for line in itertools.islice(lines, 2000):
            turns += line.split(":")[0] != last
            last = line.split(":")[0]
            if turns > 10:
                break
    checks.check("they take turns", turns > 10, turns)


def test_report(checks):
    """An interval has what both hosts did at the same time."""
    with apart() as (slow, fast), lines_of("report", "hosts", "--json", "--interval", "1s", slow.url, fast.url) as lines:
        pages = 0
        for line in itertools.islice(lines, ROUNDS):
            pages = pages + 1 if len(json.loads(line)["rows"]) == 2 else 0
            if pages > 3:
                break
    checks.equal("pages of both", pages, 4)


def test_own_clocks(checks):
    """If the clocks agree, every host stays on its own, as with --no-sync."""
    with Machine("one") as one, Machine("other") as other, \
            lines_of("report", "sync", "--json", "--interval", "1s", one.url, other.url) as lines:
        rows = [row for line in itertools.islice(lines, 8) for row in json.loads(line)["rows"]]
    checks.equal("clocks agree: nobody is moved", {(row["ref"], row["offset_ns"]) for row in rows}, {(None, None)})
    with apart() as (slow, fast), \
            lines_of("report", "hosts", "--json", "--no-sync", "--interval", "1s", slow.url, fast.url) as lines:
        pages = [[row["host"] for row in json.loads(line)["rows"]] for line in itertools.islice(lines, 4)]
    checks.equal("--no-sync: the other one's time has not come", pages, [["slow"]] * 4)


def test_shared_clock(checks):
    """Hosts of one clock are moved together, however late some of their events arrive."""
    with Machine("slow") as slow, Machine("fast", HOURS, clock="same") as fast, \
            Machine("inside", HOURS - SECOND, clock="same") as inside, \
            lines_of("report", "sync", "--json", "--interval", "1s", *(m.url for m in (slow, fast, inside))) as lines:
        offsets = {}
        for line in itertools.islice(lines, ROUNDS):
            offsets = {row["host"]: row["offset_ns"] for row in json.loads(line)["rows"]}
            if offsets["slow"] or offsets["fast"]:
                break
    checks.check("the same offset", offsets["fast"] == offsets["inside"] and offsets["fast"] != offsets["slow"], offsets)


if __name__ == "__main__":
    Checks().run(test_monitor, test_in_order, test_report, test_own_clocks, test_shared_clock)
