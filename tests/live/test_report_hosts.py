#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of a report on a relayd's hosts that come while it runs: one that has no events at first, one whose sessions
end and that comes again, one that is rebooted; and how long a report lasts. Another host, in whose time the pages are, is there all the time."""
import json
import os
import re
import signal
import struct
import sys
import threading

import fake_relay
import sandbox
from fake_relay import Relay, Session
from test_feed import TRACES, trace_of
from test_live import Report, recorded, recordings

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "screens"))
from terminal import Checks  # noqa: E402

SECOND = 10 ** 9


def offset_of(metadata):
    """That of the only trace's clock, of 1 GHz."""
    (_, text), = metadata.values()
    return int(re.search(rb"offset = (\d+)", text)[1])


class Lasting(Relay):
    """A host that has beacons after its recording, up to now_ns, until it is stopped."""

    def __init__(self, path):
        row, = recorded("hosts", path)[1]["rows"]
        super().__init__(Session([trace_of(path)], host=row["host"]))
        self.begin_ns, self.now_ns = row["begin_ns"], row["end_ns"]
        self.offset_ns = offset_of(self.session.metadata)

    def at_end(self, stream):
        return self.index(fake_relay.INDEX_INACTIVE, packet=(0, 0, 0, 0, self.now_ns - self.offset_ns, 0, stream.class_id))

    def at_last_end(self):
        pass


class Coming(Relay):
    """A host whose sessions are announced one after the other, with the same events at other times. It has beacons, as far
    as the other host's time, until that reaches the first event; and ends after the last one."""
    asked = 0

    def __init__(self, path, lasting):
        self.row, = recorded("hosts", path)[1]["rows"]
        super().__init__(Session([trace_of(path)], host=self.row["host"]))
        self.lasting = lasting
        self.recorded = dict(self.session.metadata)
        self.sessions.clear()

    def come(self, name, begin_ns, boot=0):
        self.begin_ns = begin_ns
        self.asked = 0
        shift = begin_ns - self.row["begin_ns"]
        for stream_id, (trace_id, text) in self.recorded.items():
            text = re.sub(rb"(offset = )(\d+)", lambda m: m[1] + str(int(m[2]) + shift).encode(), text, count=1)
            if boot:
                uuid = re.search(rb'clock \{.*?uuid = "?([0-9a-f-]+)"?;', text, re.S)[1]
                text = text.replace(uuid, b"%08x" % boot + uuid[8:])
            self.session.metadata[stream_id] = (trace_id, text)
        self.sent_metadata.clear()
        for stream in self.session.streams:
            stream.next = 0
        self.session.name = name
        self.sessions.append(self.session)

    def next_index(self, payload):
        self.asked += 1
        if self.lasting.now_ns < self.begin_ns:
            stream = self.session.stream(struct.unpack(">Q", payload)[0])
            until = self.lasting.now_ns - offset_of(self.session.metadata)
            return self.index(fake_relay.INDEX_INACTIVE, packet=(0, 0, 0, 0, until, 0, stream.class_id))
        return super().next_index(payload)


class Pages:
    """Those of a report of CPUs on both, as they come."""

    def __init__(self, lasting, coming):
        self.lasting, self.pages = lasting, []
        self.report = Report("cpus", "--interval", "1s", "--stall-limit", "100s", lasting.url, coming.relay_url)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        self.pages += map(json.loads, self.report.process.stdout)

    def go_to(self, ns):
        """Lets time pass until then, and waits for the pages."""
        self.lasting.now_ns = ns
        sandbox.wait_until(lambda: self.pages and self.pages[-1]["end_ns"] > ns - SECOND, f"pages until {ns}")

    def end(self):
        self.report.process.send_signal(signal.SIGINT)
        self.report.process.wait(sandbox.PATIENCE)
        self.thread.join()
        return self.report.process.returncode, self.report.process.stderr.read()


def rows_of(pages, host):
    return [(page, row) for page in pages for row in page["rows"] if row["host"] == host]


def check_pages(checks, name, pages, host, times):
    """All of the host's switches are in pages of its time, and no CPU of it was on-line for longer than a page."""
    rows = rows_of(pages, host)
    switches = sum(row["switches"] for row in recorded("cpus", recordings["kprobe"])[1]["rows"])
    for page, row in rows:
        checks.check(f"{name}: on-line at most as long as the page", row["online_ns"] <= page["end_ns"] - page["begin_ns"], row)
    for begin_ns, end_ns in times:
        found = sum(row["switches"] for page, row in rows if page["end_ns"] > begin_ns and page["begin_ns"] < end_ns)
        checks.equal(f"{name}: switches from {begin_ns} on", found, switches)


def run(checks, name, boots):
    """A host comes, without events for a while, and comes again after its end, with events on the same page."""
    times = []
    with Lasting(recordings["hotplug"]) as lasting, Coming(recordings["kprobe"], lasting) as coming:
        pages = Pages(lasting, coming)
        length = coming.row["end_ns"] - coming.row["begin_ns"]
        try:
            pages.go_to(lasting.now_ns)
            for number, boot in enumerate(boots):
                edge_ns = lasting.begin_ns + (lasting.now_ns - lasting.begin_ns) // SECOND * SECOND
                begin_ns = edge_ns + (SECOND if number else 6 * SECOND) + SECOND // 2
                pages.go_to(edge_ns + SECOND + SECOND // 4)
                times.append((begin_ns, begin_ns + length))
                coming.come(f"session-{number}", begin_ns, boot)
                sandbox.wait_until(lambda: coming.asked > 50, "it is attached")
                pages.go_to(begin_ns - SECOND // 8)
                pages.go_to(begin_ns + length + SECOND)
                sandbox.wait_until(lambda: not coming.sessions, "its session has ended")
                pages.go_to(begin_ns + length + 4 * SECOND)
        finally:
            status, err = pages.end()
    checks.equal(f"{name}: status", (status, err), (0, ""))
    check_pages(checks, name, pages.pages, coming.row["host"], times)
    return pages.pages


def test_comes_again(checks):
    run(checks, "comes again", (0, 0))


def test_is_rebooted(checks):
    """It is another host of the same name, which pages have once."""
    pages = run(checks, "is rebooted", (0, 1))
    checks.equal("is rebooted: names", sorted(pages[-1]["hosts"]), ["client", "db"])


def test_shortest_duration(checks):
    """It ends at once, not never."""
    with Lasting(recordings["hotplug"]) as lasting:
        report = Report("cpus", "--duration", "1ns", lasting.url)
        try:
            _, err = report.process.communicate(timeout=sandbox.PATIENCE)
        finally:
            report.process.kill()
        checks.equal("--duration 1ns: nothing had come", (report.process.returncode, "no event" in err), (1, True))


if __name__ == "__main__":
    sandbox.begin(os.path.join(TRACES, "kprobe"))
    recordings.update((name, os.path.join(TRACES, name)) for name in ("kprobe", "hotplug"))
    Checks().run(test_comes_again, test_is_rebooted, test_shortest_duration)
