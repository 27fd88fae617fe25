#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts whose clocks are some seconds off are not late: data that arrives as fast as it did at first is neither
skipped nor called late; data that arrives later than that is."""
import os
import re
import shutil
import signal
import struct
import sys
import time

import sandbox
from fake_fleet import Fleet, Live
from test_feed import TRACES, Relayd, interrupt, trace_of, urls_of
from test_live import wait_all

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "screens"))
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "source"))
from processes import preload  # noqa: E402
from terminal import Checks, Terminal  # noqa: E402

RECORDING = os.path.join(TRACES, "hotplug")
FIRST_NS = 1795184976015110323  # of its events
OFF = 17  # seconds


def shifted(name, seconds):
    """The recording of a separate machine, whose clock is ahead by that much when its first event is fed now."""
    path = os.path.join(name, "kernel")
    shutil.copytree(trace_of(RECORDING), path)
    metadata = os.path.join(path, "metadata")
    with open(metadata, "rb") as file:
        text = file.read()
    by = time.time_ns() + seconds * 10 ** 9 - FIRST_NS
    text = re.sub(rb"(offset = )(\d+)", lambda m: m[1] + str(int(m[2]) + by).encode(), text, count=1)
    text = text.replace(b"4fa7f3a0-", f"{ord(name[0]):08x}-".encode())
    with open(metadata, "wb") as file:
        file.write(text)
    return name


def read_log(name):
    with open(f"log-{name}", encoding="utf-8", errors="replace") as log:
        return log.read()


def test_clock_off(checks):
    for name, seconds in (("behind", -OFF), ("ahead", OFF)):
        with Relayd(f"relayd-{name}") as relayd:
            feed = relayd.feed("--session", name, "--hostname", name, shifted(name, seconds))
            with Terminal("--max-lag", "3s", "--log", f"log-{name}", *urls_of(feed, 1), size=(120, 30), ready=None) as t:
                t.wait(rf"^ {name} +0\[")
                checks.check(f"{name}: not late", t.wait(r"^ LIVE .* lag [01]\.\ds"))
                checks.check(f"{name}: to the end", t.wait(rf"^ {name} +session ended at [0-9:]+; waiting"))
                checks.equal(f"{name}: never attached again", re.findall("too far behind.*", read_log(name)), [])
                t.keys("q")
                checks.equal(f"{name}: status", t.status(), 0)
            interrupt(feed, "feed")


def shown_second(t):
    return re.match(r" LIVE +\[(?:[0-9-]+ )?[0-9]+:[0-9]+:([0-9]+)", t.screen()[0])


def test_host_that_hangs(checks):
    """It is waited for, makes no other host late, and the others' figures continue meanwhile."""
    with Relayd("relayd-hangs") as hangs, Relayd("relayd-goes-on") as other:
        feeds = [relay.feed("--now", "--session", name, "--hostname", name, RECORDING)
                 for relay, name in ((hangs, "hangs"), (other, "well"))]
        urls = [urls_of(feed, 1)[0] for feed in feeds]
        with Terminal("--max-lag", "3s", *urls, size=(120, 30), ready=None) as t:
            wait_all(t, r"^ hangs +0\[", r"^ well +0\[")
            t.keys("F4").wait("^Filter:")
            t.text("host:hangs").keys("Enter").wait(r"filter: host:hangs  \d+/")
            t.keys("a").wait("^ .* on hangs ")
            hangs.process.send_signal(signal.SIGSTOP)
            checks.check("it is waited for", wait_all(t, r"^ hangs +no data since \d\d:\d\d:\d\d", "^ LIVE .* waiting for hangs"))
            seconds = set()
            sandbox.wait_until(lambda: seconds.add(shown_second(t)[1]) or len(seconds) > 2, "the other host's time to continue")
            checks.check("its figures do, and it is not late", wait_all(t, r"^ well +0\[", r"^ LIVE .* lag [01]\.\ds"))
            t.keys("t")
            headers = set()
            for _ in range(20):
                headers.add(t.sync()[0])
                time.sleep(0.1)
            checks.check("that its worker is asked for other fields is no sign of life",
                         all("waiting for hangs" in header for header in headers), "\n".join(headers))
            hangs.process.send_signal(signal.SIGCONT)
            checks.check("it is back", wait_all(t, r"^ hangs +(0\[|away)"))
            t.keys("q")
            checks.equal("hangs: status", t.status(), 0)
        for feed in feeds:
            interrupt(feed, "feed")


def test_our_clock_set(checks):
    """The monitor's own clock is set while it runs: no host is late."""
    sessions = [Live(host, "s1") for host in ("web", "db")]
    with Fleet(*sessions) as relay, open("step", "w+b", buffering=0) as step:
        step.write(struct.pack("=q", 0))
        env = {"SET_CLOCK": os.path.abspath("step"), **preload("live", "set_clock.so")}
        with Terminal("--max-lag", "5s", "--log", "log-set", relay.relay_url, size=(120, 30), env=env, ready=None) as t:
            wait_all(t, r"^ web +0\[", r"^ db +0\[", r"^ LIVE .* lag [01]\.\ds")
            seen = set()
            for seconds in (30, -30):
                step.seek(0)
                step.write(struct.pack("=q", seconds))
                seen.clear()
                sandbox.wait_until(lambda: seen.add(str(shown_second(t))) or len(seen) > 4, "the hosts' time to continue")
            checks.check("our clock set: not late", t.wait(r"^ LIVE .* lag [01]\.\ds"), t.screen())
            t.keys("q")
            checks.equal("our clock set: status", t.status(), 0)
        checks.equal("our clock set: never attached again", re.findall("too far behind.*", read_log("set")), [])
        checks.equal("our clock set: attached once", sorted(relay.attached), ["s1", "s1"])


if __name__ == "__main__":
    sandbox.begin(RECORDING, tmux=True)
    Checks().run(test_clock_off, test_host_that_hangs, test_our_clock_set)
