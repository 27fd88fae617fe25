#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The memory a worker needs for an endless live session: its metadata, programs that come and go."""
import contextlib
import os
import re
import struct
import subprocess
import sys

import cases
import fake_relay
import sandbox
from fake_relay import Relay, Session
from sandbox import wait_until
from test_live_source import ALL_FIELDS, KPROBE, Dump, count_kind, dump, events, failure, kinds

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "source"))
import processes  # noqa: E402

AT_ONCE, BATCHES = 16, 20  # programs: together more than EVENT_TRACES_MAX
EVENTS = 4                 # events of each, and half as many of another kind
OF_EACH = EVENTS + EVENTS // 2
KEPT_MAX = 8               # KiB for a program that has ended; a trace that stays takes about 85

# Freed memory is returned at once where possible: a fragmented heap would look like a growing one.
os.environ["GLIBC_TUNABLES"] = "glibc.malloc.mmap_threshold=4096:glibc.malloc.trim_threshold=4096"

# sanitizers hold back freed memory for a while: its size then means nothing, but all else is checked
MEMORY_COUNTS = not cases.sanitized()


def private_kib(pid):
    """Memory that belongs to the process alone: not a file's, not a ring's."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return int(re.search(r"^RssAnon:\s*(\d+) kB", status.read(), re.M)[1])


class Growing(Relay):
    """Each answer about a stream says that the metadata has
    grown: by a comment. After its packets a stream is silent."""
    pieces = 0
    last_pieces = None
    worker = None

    def piece(self, metadata):
        """A packet of metadata, like those before it."""
        self.pieces += 1
        text = b"/* %d */\n" % self.pieces
        size = 8 * (37 + len(text))
        return metadata[:20] + struct.pack("<III", 0, size, size) + metadata[32:37] + text

    def next_index(self, payload):
        stream = self.session.stream(struct.unpack(">Q", payload)[0])
        if stream.next == len(stream.packets) and self.pieces < self.last_pieces:
            last = max(s.packets[-1][4] for s in self.session.streams)
            answer = self.index(fake_relay.INDEX_INACTIVE, packet=(0, 0, 0, 0, last + self.pieces, 0, stream.class_id))
        else:
            answer = super().next_index(payload)
        return answer[:60] + struct.pack(">I", fake_relay.NEW_METADATA)

    def get_metadata(self, payload):
        stream_id, = struct.unpack(">Q", payload)
        if stream_id not in self.sent_metadata:
            return super().get_metadata(payload)
        data = self.piece(self.session.metadata[stream_id][1])
        if self.pieces in (self.last_pieces // 2, self.last_pieces - 10):
            self.used.append(private_kib(processes.workers(self.worker.process.pid)[0]))
        return struct.pack(">QI", len(data), 1) + data


def test_metadata_grows():
    """The previous metadata is freed; every event is read with the old or the new metadata."""
    session = Session([KPROBE], timer_us=1000)
    with Growing(session) as relay:
        relay.used, relay.last_pieces = [], 400
        relay.worker = Dump(relay.url, *ALL_FIELDS)
        live = relay.worker.wait()
    assert failure(live) is None, failure(live)
    assert relay.pieces >= relay.last_pieces, relay.pieces
    assert events(live) == events(dump(os.path.dirname(KPROBE), *ALL_FIELDS))
    print("KiB of the worker:", *relay.used)
    assert not MEMORY_COUNTS or relay.used[1] <= relay.used[0] + 512, relay.used


def test_endless_metadata():
    """All traces together may take no more than a single one: a relayd that keeps sending metadata is given up on."""
    class Endless(Relay):
        piece = b"/* CTF 1.8 */ /*" + b" " * (8 << 20) + b"*/\n"
        sent = 0

        def attach(self, payload):
            answer = super().attach(payload)
            more = [self.stream_entry(5000 + i, 5000 + i, 1, "metadata") for i in range(50)]
            n = struct.unpack(">I", answer[4:8])[0]
            return struct.pack(">2I", fake_relay.ATTACH_OK, n + len(more)) + answer[8:] + b"".join(more)

        def get_metadata(self, payload):
            if struct.unpack(">Q", payload)[0] < 5000:
                return super().get_metadata(payload)
            self.sent += 1
            return struct.pack(">QI", len(self.piece), 1) + self.piece

    with Endless(Session([KPROBE])) as relay:
        relay.worker = Dump(relay.url)
        lines = relay.worker.wait()
    got = failure(lines)
    assert got and "bytes of metadata" in got[0], got
    assert 7 <= relay.sent <= 12, relay.sent


class Portions(Relay):
    """Sends a first portion of the metadata, and the rest only when a packet has been waiting for it for several requests."""
    first = 0        # bytes
    after = 3        # requests without an answer
    last_status = 2  # of the answers in between: nothing new
    rest_sent = False

    def get_metadata(self, payload):
        stream_id, = struct.unpack(">Q", payload)
        data = self.session.metadata[stream_id][1]
        if stream_id not in self.sent_metadata:
            self.sent_metadata.add(stream_id)
            return struct.pack(">QI", self.first, 1) + data[:self.first]
        if fake_relay.PACKET not in self.commands:
            return struct.pack(">QI", 0, 2)
        self.after -= 1
        if self.after > 0 or self.rest_sent:
            return struct.pack(">QI", 0, self.last_status)
        self.rest_sent = True
        return struct.pack(">QI", len(data) - self.first, 1) + data[self.first:]


def test_metadata_comes_in_portions():
    """Packets wait for the metadata that they need, at the end of the session too."""
    recorded = events(dump(os.path.dirname(KPROBE)))
    metadata = Session([KPROBE]).metadata[1001][1]
    within = 20  # bytes, of a description that is cut
    for first in (metadata.index(b"stream {"), metadata.index(b"event {", len(metadata) // 2) + within):
        with Portions(Session([KPROBE], timer_us=1000)) as relay:
            relay.first = first
            live = dump(relay.url)
        assert failure(live) is None, (first, failure(live))
        assert relay.rest_sent and events(live) == recorded, first


def test_metadata_stays_incomplete():
    """The wait for more is bounded, and ends at once if the relayd says that there will not be more."""
    for last_status, text in (2, "was not completed for 1 s"), (3, "damaged metadata"):
        with Portions(Session([KPROBE], timer_us=1000)) as relay:
            relay.first, relay.after, relay.last_status = 500, 1000000, last_status
            live = dump(relay.url, "-t", "1")
        got = failure(live)
        assert got and text in got[0] and "metadata: line" in got[0], got
        asked = relay.commands.count(fake_relay.METADATA)
        assert asked < 100 and (asked > 10) == (last_status == 2), asked


class Early(Relay):
    """
    Two traces, of the second of which there is only the first part of the metadata: no packets come in its streams, only
    beacons, until the test says that all is over. Those of the first trace then end, too.
    """
    first = 0  # bytes of the second trace's metadata
    is_over = False
    beacons = 0

    def get_metadata(self, payload):
        stream_id, = struct.unpack(">Q", payload)
        trace_id, data = self.session.metadata[stream_id]
        self.session.metadata[stream_id] = trace_id, data if trace_id == 1 else data[:self.first]
        return super().get_metadata(payload)

    def next_index(self, payload):
        stream = self.session.stream(struct.unpack(">Q", payload)[0])
        if stream.trace_id != 1:
            stream.next = len(stream.packets)
        return super().next_index(payload)

    def at_end(self, stream):
        if self.is_over:
            return super().at_end(stream)
        self.beacons += 1
        last = max(s.packets[-1][4] for s in self.session.streams)
        return self.index(fake_relay.INDEX_INACTIVE, packet=(0, 0, 0, 0, last + 1000 * self.beacons, 0, stream.class_id))

    def at_last_end(self):
        if self.is_over:
            super().at_last_end()


def test_trace_without_events():
    """A program that ended at once leaves a trace whose metadata describes no stream: others do not wait for it."""
    recorded = events(dump(os.path.dirname(KPROBE)))
    with Early(Session([KPROBE, KPROBE], timer_us=1000)) as relay:
        relay.first = relay.session.metadata[1002][1].index(b"stream {")
        d = Dump(relay.url)
        try:
            wait_until(lambda: d.process.poll() is not None or events(list(d.lines)) == recorded, "the first trace's events")
            assert d.process.poll() is None, failure(d.stop())
            relay.is_over = True
            assert failure(d.wait()) is None, failure(d.lines)
        finally:
            d.stop()


class Printer:
    """'report dump' of a live session, which prints whose event each is."""

    def __init__(self, url, path):
        self.path = path
        with open(path, "w", encoding="utf-8") as out:
            self.process = subprocess.Popen([os.environ["LTTNGTOP"], "report", "dump", "--babeltrace", "--no-sync", url],
                                            stdin=subprocess.DEVNULL, stdout=out)

    def pids(self):
        """The pids of the programs whose events it has printed, once per event."""
        with open(self.path, encoding="utf-8") as out:
            return [int(pid) for pid in re.findall(r"ust_app:\((\d+)\)", out.read())]

    def end(self):
        self.process.terminate()
        return self.process.wait()


def count_user(d):
    return count_kind(d, "OTHER") + count_kind(d, "MESSAGE")


def run_batch(ust, d, printer, before):
    """
    Programs side by side, each until its events have been read: a relayd gives no
    data of a program that has ended before its streams are listed.
    """
    with contextlib.ExitStack() as stack:
        apps = [ust.user.start(ust.app, str(EVENTS), "0", "wait", stdin=subprocess.PIPE) for _ in range(AT_ONCE)]
        for app in apps:
            stack.callback(app.communicate)
        events_now = (before + AT_ONCE) * OF_EACH
        wait_until(lambda: d.process.poll() is not None or count_user(d) == events_now, "the events")
        assert d.process.poll() is None, failure(d.stop())
        wait_until(lambda: printer.process.poll() is not None or len(printer.pids()) == events_now, "the events, printed")
        assert printer.process.poll() is None, printer.end()
    return [app.pid for app in apps]


def test_programs_come_and_go():
    """A session with per-process buffers: over time it has more traces than can exist at once."""
    lacks = sandbox.missing()
    if lacks:
        return f"{lacks} is not installed"
    if not sandbox.has_ust():
        return "built without lttng-ust"
    os.chmod(".", 0o755)
    pids, used = [], []
    with contextlib.ExitStack() as stack:
        ust = stack.enter_context(sandbox.Tracers("home"))
        for name in ("s1", "s2"):
            ust.start_live(name, "lttng_ust_trace*:*", "--buffers-pid", "--subbuf-size=4K")
        d = Dump(ust.url("s1"))
        stack.callback(d.stop)
        printer = Printer(ust.url("s2"), "printed")
        stack.callback(printer.end)
        wait_until(lambda: "READY" in kinds(list(d.lines)), "attached")
        for _ in range(BATCHES):
            pids += run_batch(ust, d, printer, len(pids))
            wait_until(lambda: count_kind(d, "STREAM") == count_kind(d, "STREAM_END"), "the ends of the streams")
            used.append(private_kib(processes.workers(d.process.pid)[0]))
    assert sorted(printer.pids()) == sorted(pids * OF_EACH)
    print("KiB of the worker:", *used)
    settled = BATCHES // 4
    kept = (used[-1] - used[settled]) / ((BATCHES - 1 - settled) * AT_ONCE)
    assert not MEMORY_COUNTS or kept < KEPT_MAX, used
    return None


if __name__ == "__main__":
    cases.run(globals())
