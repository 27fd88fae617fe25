#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a worker makes of live sessions: one served from a recording, hostile ones, real user-space ones."""
import collections
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import traceback

import cases
import fake_relay
import sandbox
from fake_relay import Hangup, Relay, Session

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "source"))
import made  # noqa: E402

BUILD = os.environ["BUILD"]
DUMP = os.path.join(BUILD, "tests/source/dump_records")
KPROBE = os.path.join(BUILD, "traces/kprobe/client/kernel")
WEB = os.path.join(BUILD, "traces/three-tier/web/kernel")
DB = os.path.join(BUILD, "traces/three-tier/db/kernel")
HOTPLUG = os.path.join(BUILD, "traces/hotplug/db/kernel")
LEFT_OUT = {"SESSION", "TRACE", "STREAM", "CPU_START", "READY", "BEACON", "STREAM_END", "CLASS"}


class Dump:
    """dump_records on a source, in the background."""

    def __init__(self, source, *options):
        self.process = subprocess.Popen([DUMP, "-w", os.environ["LTTNGTOP"], *options, source], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, text=True, errors="replace")
        self.lines = []
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        self.lines += (line.rstrip("\n") for line in self.process.stdout)

    def wait(self, limit=60):
        self.process.wait(limit)
        self.thread.join()
        return self.lines

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        return self.wait()


def dump(source, *options, limit=60):
    d = Dump(source, *options)
    try:
        return d.wait(limit)
    finally:
        d.stop()


def kind_of(line):
    return line.split()[1]


def kinds(lines):
    return [kind_of(line) for line in lines if line[:1].isdigit()]


def times(lines):
    return [int(line.split()[0]) for line in lines if line[:1].isdigit() and int(line.split()[0])]


def failure(lines):
    """Text and cause from '# failed: TEXT (CAUSE)', None if it ended well."""
    found = re.findall(r"^# failed: (.*) \(([^()]*)\)$", "\n".join(lines), re.M)
    return found[0] if found else None


def events(lines):
    """The lines common to a live session and a recording: all but what only a reader that looks ahead knows."""
    return [re.sub(r"( present=0x\w+| w9=\d+)", "", line) if " SCHED_SWITCH " in line else line
            for line in lines if line[:1].isdigit() and line.split()[1] not in LEFT_OUT]


def expect_failure(lines, cause, text):
    got = failure(lines)
    assert got and got[1] == cause and text in got[0], f"{got}, not '{text}' ({cause})"


# ---- a recording served live ----

def test_same_records_as_the_recording():
    with Relay(Session([KPROBE])) as relay:
        live = dump(relay.url)
    recorded = dump(os.path.dirname(KPROBE))
    assert failure(live) is None, failure(live)
    assert events(live) == events(recorded)
    assert {line for line in live if " CLASS " in line} == {line for line in recorded if " CLASS " in line}
    all_kinds = kinds(live)
    assert all_kinds.index("READY") < all_kinds.index("SCHED_SWITCH") and all_kinds.index("TRACE") < all_kinds.index("STREAM")
    assert all_kinds.count("STREAM") == all_kinds.count("STREAM_END") == 2
    assert not {"CPU_START", "BACKWARD"} & set(all_kinds)
    assert all(not int(line.rsplit("present=", 1)[1].split()[0], 16) & 0x80 for line in live if " SCHED_SWITCH " in line)


ALL_FIELDS = ("-F", "3 0 18446744073709551615")


def test_all_fields_as_in_the_recording():
    with Relay(Session([KPROBE])) as relay:
        live = dump(relay.url, *ALL_FIELDS)
    recorded = dump(os.path.dirname(KPROBE), *ALL_FIELDS)
    assert failure(live) is None, failure(live)
    assert kinds(live).count("FIELDS") > 10000
    assert events(live) == events(recorded)


def test_dump_of_the_session():
    """report dump writes the same for a live session as for the recording."""
    def text(*args):
        return subprocess.run([os.environ["LTTNGTOP"], "report", "dump", "--no-sync", "--babeltrace", *args],
                              stdout=subprocess.PIPE, check=True, timeout=60).stdout
    with Relay(Session([KPROBE])) as relay:
        live = text(relay.url)
    recorded = text(os.path.dirname(KPROBE))
    assert live.count(b"\n") > 10000
    assert live == recorded


def test_two_traces_in_one_session():
    with Relay(Session([WEB, DB])) as relay:
        lines = dump(relay.url)
    assert failure(lines) is None, failure(lines)
    traces = [line for line in lines if " TRACE " in line]
    assert len(traces) == 2 and all(any(f'w0="{host}"' in t for t in traces) for host in ("web", "db")), traces
    count = sum(len([k for k in events(dump(os.path.dirname(t)))]) for t in (WEB, DB))
    assert len(events(lines)) == count, (len(events(lines)), count)
    assert times(lines) == sorted(times(lines))


def test_beacons_move_the_time_on():
    class Idle(Relay):
        """After its packets each stream says for a while that
        nothing happens, every other time that it does not know."""
        asked = 0

        def at_end(self, stream):
            self.asked += 1
            if self.asked > 200:
                return self.index(fake_relay.INDEX_HUP)
            if self.asked // 2 % 2:
                return self.index(fake_relay.INDEX_RETRY)
            last = max(s.packets[-1][4] for s in self.session.streams)
            return self.index(fake_relay.INDEX_INACTIVE,
                              packet=(0, 0, 0, 0, last + self.asked * 1000, 0, stream.class_id))

        def at_last_end(self):
            pass

        def list(self, payload):
            return super().list(payload) if self.asked <= 200 else struct.pack(">I", 0)

    with Idle(Session([KPROBE])) as relay:
        lines = dump(relay.url)
    assert failure(lines) is None, failure(lines)
    beacons = [int(line.split()[0]) for line in lines if " BEACON " in line]
    assert len(beacons) > 10 and beacons == sorted(set(beacons)), len(beacons)
    assert times(lines) == sorted(times(lines))


def test_late_stream():
    session = Session([KPROBE])
    session.late = [session.streams.pop()]
    with Relay(session) as relay:
        lines = dump(relay.url)
    if failure(lines):  # it started before the time already reported
        expect_failure(lines, "backward", "time went back")
    else:
        assert kinds(lines).count("STREAM") == 2


def test_session_without_streams():
    session = Session([])
    with Relay(session) as relay:
        d = Dump(relay.url)
        sandbox.wait_until(lambda: relay.commands.count(fake_relay.NEW_STREAMS) > 5, "questions for streams")
        assert d.process.poll() is None, d.stop()
        relay.sessions.clear()
        lines = d.wait()
    assert failure(lines) is None and kinds(lines) == ["SESSION", "READY"], lines


def test_ipv6():
    class Relay6(Relay):
        family, address = socket.AF_INET6, "::1"

    if not sandbox.has_ipv6():
        return "::1 is not available"
    recorded = events(dump(os.path.dirname(KPROBE)))
    with Relay6(Session([KPROBE])) as relay:
        path = f":{relay.port}/host/web/s1"
        expect_failure(dump("net4://127.0.0.1" + path), "unreachable", "Connection refused")
        assert events(dump(relay.url)) == recorded
    with Relay6(Session([KPROBE])) as relay:
        assert events(dump(f"net6://[::1]:{relay.port}/host/web/s1")) == recorded
    return None


def totals(lines):
    """From dump -q: the number of each kind common to a live session and a recording."""
    found = dict(re.findall(r"^# ([A-Z_]+) (\d+)$", "\n".join(lines), re.M))
    return {kind: n for kind, n in found.items() if kind not in LEFT_OUT | {"CONTEXT"}}


def test_parent_is_slow():
    """A worker whose ring is full accepts pending answers and
    keeps polling: its relayd serves one viewer after the other."""
    class Small(Relay):
        def serve(self, connection):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
            super().serve(connection)

    with Small(Session([HOTPLUG])) as relay:
        d = Dump(relay.url, "-q")
        try:
            sandbox.wait_until(lambda: relay.commands, "a worker")
            os.kill(d.process.pid, signal.SIGSTOP)
            for _ in range(2):  # by then all packets that it holds have arrived
                asked = relay.commands.count(fake_relay.PACKET)
                polls = relay.commands.count(fake_relay.NEW_STREAMS)
                sandbox.wait_until(lambda polls=polls: relay.commands.count(fake_relay.NEW_STREAMS) > polls + 5, "polls")
            assert 0 < relay.commands.count(fake_relay.PACKET) == asked < sum(len(s.packets) for s in relay.session.streams)
            os.kill(d.process.pid, signal.SIGCONT)
            lines = d.wait()
        finally:
            d.stop()
    assert failure(lines) is None, failure(lines)
    recorded = totals(dump(os.path.dirname(HOTPLUG), "-q"))
    assert len(recorded) > 20 and totals(lines) == recorded, (totals(lines), recorded)


# ---- refusals ----

def test_refusals():
    class Taken(Relay):
        answer = fake_relay.ATTACH_TAKEN

        def attach(self, payload):
            return struct.pack(">2I", self.answer, 0)

    with Taken(Session([KPROBE])) as relay:
        expect_failure(dump(relay.url), "taken", "taken by another viewer")
        relay.answer = fake_relay.ATTACH_UNKNOWN
        expect_failure(dump(relay.url), "no session", "the session is gone")
        relay.answer = fake_relay.ATTACH_NOT_LIVE
        expect_failure(dump(relay.url), "no session", "not a live session")
        relay.answer = 77
        expect_failure(dump(relay.url), "other", "77")
        expect_failure(dump(relay.relay_url + "/host/web/other"), "no session", "no such session")
        expect_failure(dump(relay.relay_url + "/host/other/s1"), "no session", "no such session")
        port = relay.port
    expect_failure(dump(f"net://127.0.0.1:{port}/host/a/b"), "unreachable", "Connection refused")
    expect_failure(dump("net://name.invalid/host/a/b"), "unreachable", "cannot find the address")


def test_what_answers_is_no_relayd():
    class Other(Relay):
        reply = struct.pack(">Q3I", 1, 9, 9, 1)

        def connect(self, payload):
            if not self.reply:
                raise Hangup
            return self.reply

    with Other(Session([KPROBE])) as relay:
        expect_failure(dump(relay.url), "unreachable", "not a port for viewers")
        relay.reply = b""
        expect_failure(dump(relay.url), "unreachable", "not a port for viewers")


# ---- damage ----

def hostile(name, override, limit_s="3"):
    """A relayd one of whose methods is replaced: the worker fails, or ends, and the parent outlives it."""
    class Hostile(Relay):
        pass

    setattr(Hostile, name, override)
    with Hostile(Session([KPROBE])) as relay:
        return dump(relay.url, "-q", "-t", limit_s)


def test_connection_breaks():
    def break_off(self, payload):
        raise Hangup

    for name in ("list", "create"):
        expect_failure(hostile(name, break_off), "gone", "the relayd went away")
    for name in ("attach", "get_metadata", "next_index", "packet"):
        lines = hostile(name, break_off)
        expect_failure(lines, "gone", "the relayd went away")


def test_silence():
    for name in ("connect", "list", "attach", "get_metadata", "next_index", "packet"):
        expect_failure(hostile(name, lambda self, payload: None, "1"), "unreachable" if name == "connect" else "gone",
                       "the relayd does not answer for 1 s")


def test_wrong_lengths():
    huge = struct.pack(">QI", 2 ** 60, 1)
    for name, answer in (("get_metadata", huge), ("get_metadata", struct.pack(">QI", 0, 1)),
                         ("packet", struct.pack(">3I", 1, 2 ** 31, 0)), ("packet", struct.pack(">3I", 1, 0, 0)),
                         ("attach", struct.pack(">2I", 1, 2 ** 32 - 1)), ("list", struct.pack(">I", 2 ** 32 - 1))):
        lines = hostile(name, lambda self, payload, answer=answer: answer + b"\0" * 100000, "2")
        assert failure(lines), f"{name}: {lines}"


def test_garbage():
    for byte in (b"\0", b"\xff", b"A"):
        for name in ("connect", "list", "create", "attach", "get_metadata", "next_index", "packet"):
            lines = hostile(name, lambda self, payload, byte=byte: byte * 50000, "1")
            assert failure(lines) or kinds(lines) == [], f"{name}: {lines}"


def test_changed_stream_class():
    """The class that the index gives a packet does not matter: the packet contains it too."""
    class Changed(Relay):
        def next_index(self, payload):
            answer = super().next_index(payload)
            return answer[:48] + struct.pack(">Q", len(self.commands)) + answer[56:]

    with Changed(Session([KPROBE])) as relay:
        live = dump(relay.url)
    assert failure(live) is None and events(live) == events(dump(os.path.dirname(KPROBE)))


def test_more_traces_than_there_can_be():
    """Limits at one time: data and metadata beyond them are left out, with one message; the rest is read."""
    class Many(Relay):
        """After the real trace's streams come those of 300 others: metadata, and data in the last of them."""
        extra = 300

        def attach(self, payload):
            answer = super().attach(payload)
            n = struct.unpack(">I", answer[4:8])[0]
            more = [self.stream_entry(5000 + i, 5000 + i, 1, "metadata") for i in range(self.extra)]
            more.append(self.stream_entry(9000, 5000 + self.extra - 1, 0, "late_0"))
            return struct.pack(">2I", fake_relay.ATTACH_OK, n + len(more)) + answer[8:] + b"".join(more)

        def get_metadata(self, payload):
            stream_id, = struct.unpack(">Q", payload)
            if stream_id < 5000:
                return super().get_metadata(payload)
            text = b"" if stream_id in self.sent_metadata else b"/* CTF 1.8 */\n"
            self.sent_metadata.add(stream_id)
            return struct.pack(">QI", len(text), 1 if text else 2) + text

        left_out = 0

        def next_index(self, payload):
            if struct.unpack(">Q", payload)[0] != 9000:
                return super().next_index(payload)
            self.left_out += 1
            stream = self.session.streams[0]
            if self.left_out <= len(stream.packets):
                return self.index(fake_relay.INDEX_OK, 0, stream.packets[self.left_out - 1])
            return self.index(fake_relay.INDEX_INACTIVE if self.left_out < 40 else fake_relay.INDEX_HUP,
                              packet=(0, 0, 0, 0, self.left_out, 0, 0))

        def packet(self, payload):
            stream_id, offset, length = struct.unpack(">QQI", payload)
            return super().packet(struct.pack(">QQI", 1 if stream_id == 9000 else stream_id, offset, length))

    with Many(Session([KPROBE])) as relay:
        lines = dump(relay.url)
    assert failure(lines) is None, failure(lines)
    notes = [line for line in lines if " NOTE " in line]
    assert len(notes) == 1 and "more than 256 traces" in notes[0], notes
    assert [e for e in events(lines) if " NOTE " not in e] == events(dump(os.path.dirname(KPROBE)))
    assert relay.left_out > 1


class Spawning(Relay):
    """Each time it is asked for new streams it has more, in the trace that it serves, and it always says that there are."""
    each = 1000
    spawned = 0

    def __init__(self):
        super().__init__(Session([KPROBE], timer_us=60 * 10 ** 6))

    def new_streams(self, payload):
        first = 10000 + self.spawned
        self.spawned += self.each
        return struct.pack(">2I", 1, self.each) + b"".join(
            self.stream_entry(first + i, 1, 0, f"late_{i}") for i in range(self.each))

    def next_index(self, payload):
        return self.index(fake_relay.INDEX_RETRY, fake_relay.NEW_STREAM)


def test_ever_more_streams():
    """The limit is on those that a session has at a time, not on those of one answer."""
    class More(Spawning):
        def new_streams(self, payload):
            return struct.pack(">2I", 1, 65000) if self.spawned else super().new_streams(payload)

    with More() as relay:
        lines = dump(relay.url)
    expect_failure(lines, "other", "the relayd sent nonsense: 65000 streams")


def memory_of(pid):
    """KiB of the process that it started, its only worker."""
    worker, = subprocess.run(["pgrep", "-P", str(pid)], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    with open(f"/proc/{worker}/status", encoding="ascii") as status:
        return int(re.search(r"^VmRSS:\s+(\d+)", status.read(), re.M)[1])


def test_endless_series_of_streams():
    """Streams that end are forgotten, however many come."""
    class Series(Spawning):
        each = 100

        def next_index(self, payload):
            if struct.unpack(">Q", payload)[0] < 10000:
                return super().next_index(payload)
            return self.index(fake_relay.INDEX_HUP, fake_relay.NEW_STREAM)

    with Series() as relay:
        d = Dump(relay.url, "-t", "1")
        try:
            sizes = []
            for n in (2000, 8000):
                sandbox.wait_until(lambda n=n: relay.spawned > n or d.process.poll() is not None, "more streams")
                assert d.process.poll() is None, d.stop()
                sizes.append(memory_of(d.process.pid))
        finally:
            d.stop()
    # sanitizers keep what is freed for a while
    assert cases.sanitized() or sizes[1] - sizes[0] < 3000, sizes  # if they were kept, it would be more than 1 KiB for each


class Held(Spawning):
    """Each of its further streams has one packet, which waits for the first ones: these never have anything."""

    def __init__(self, size, then=None):
        """then: how many it says that there are in addition once the first ones are gone."""
        super().__init__()
        self.then, self.served, self.gone = then, set(), 0
        stream = self.session.streams[0]
        offset, bits, _, *facts = stream.packets[0]
        self.bytes = stream.data[offset:offset + min(size, bits // 8)].ljust(size, b"\0")
        self.first = (0, 8 * size, 8 * size, *facts)

    def new_streams(self, payload):
        if not self.spawned:
            return super().new_streams(payload)
        return struct.pack(">2I", 1, self.then) if self.then and self.gone == self.each else struct.pack(">2I", 2, 0)

    def next_index(self, payload):
        stream, = struct.unpack(">Q", payload)
        if stream < 10000:
            return super().next_index(payload)
        if stream not in self.served:
            self.served.add(stream)
            return self.index(fake_relay.INDEX_OK, packet=self.first)
        self.gone += 1
        return self.index(fake_relay.INDEX_HUP)

    def packet(self, payload):
        return struct.pack(">3I", 1, len(self.bytes), 0) + self.bytes


def test_series_of_streams_that_wait():
    """Streams that are gone count while their packets wait, and so do the bytes of these."""
    with Held(4096, then=65000) as relay:
        lines = dump(relay.url)
    expect_failure(lines, "other", "the relayd sent nonsense: 65000 streams")
    with Held(60 << 20) as relay:
        lines = dump(relay.url)
    expect_failure(lines, "other", "the relayd sent nonsense: streams that end, with 566231040 bytes that wait for others")


def test_packets_of_ones():
    """Each counts as a loss, damage is reported, and reading continues."""
    class Ones(Relay):
        def packet(self, payload):
            length = struct.unpack(">QQI", payload)[2]
            return struct.pack(">3I", 1, length, 0) + b"\xff" * length

    session = Session([KPROBE])
    with Ones(session) as relay:
        lines = dump(relay.url)
    assert failure(lines) is None, failure(lines)
    assert not {"SCHED_SWITCH", "OTHER"} & set(kinds(lines))
    lost = sum(int(line.split()[5]) for line in lines if " LOST " in line)
    assert "NOTE" in kinds(lines) and lost == sum(len(s.packets) for s in session.streams), lost


def test_beacons_without_a_pause():
    class Busy(Relay):
        asked = 0

        def next_index(self, payload):
            self.asked += 1
            stream = self.session.stream(struct.unpack(">Q", payload)[0])
            return self.index(fake_relay.INDEX_INACTIVE, packet=(0, 0, 0, 0, self.asked, 0, stream.class_id))

    with Busy(Session([KPROBE])) as relay:
        d = Dump(relay.url, "-t", "1")
        sandbox.wait_until(lambda: count_kind(d, "BEACON") > 10, "beacons")
        beacons = times(d.stop())
    assert beacons == sorted(set(beacons))


def test_time_goes_back():
    class Back(Relay):
        """Each stream first says that nothing happened until long after its packets."""
        told = set()

        def next_index(self, payload):
            stream = self.session.stream(struct.unpack(">Q", payload)[0])
            if stream.id in self.told:
                return super().next_index(payload)
            self.told.add(stream.id)
            return self.index(fake_relay.INDEX_INACTIVE,
                              packet=(0, 0, 0, 0, stream.packets[-1][4], 0, stream.class_id))

    with Back(Session([KPROBE])) as relay:
        lines = dump(relay.url)
    assert failure(lines) is None, failure(lines)
    # Nothing is missing; late events are reported at the time reached.
    recorded = dump(os.path.dirname(KPROBE))
    counts = [collections.Counter(kind for kind in map(kind_of, events(found)) if kind not in ("BACKWARD", "CONTEXT"))
              for found in (lines, recorded)]
    assert counts[0] == counts[1], counts
    assert 1 <= kinds(lines).count("BACKWARD") <= 2 and times(lines) == sorted(times(lines)), kinds(lines).count("BACKWARD")

    session = Session([KPROBE])
    stream = session.streams[0]
    offset, bits, content, begin, *rest = stream.packets[1]
    at = stream.data.index(struct.pack("<Q", begin), offset, offset + 100)
    begin = stream.packets[0][4] - 5000
    stream.data = stream.data[:at] + struct.pack("<Q", begin) + stream.data[at + 8:]
    stream.packets[1] = (offset, bits, content, begin, *rest)
    with Relay(session) as relay:
        lines = dump(relay.url)
    assert failure(lines) is None, failure(lines)
    assert "BACKWARD" in kinds(lines) and times(lines) == sorted(times(lines))


def test_endless_again():
    class Again(Relay):
        def next_index(self, payload):
            return self.index(fake_relay.INDEX_RETRY)

    with Again(Session([KPROBE])) as relay:
        d = Dump(relay.url, "-t", "1")
        # it asks once per live timer, 200 ms, or less often; for a stream every 5 ms at most
        sandbox.wait_until(lambda: relay.commands.count(fake_relay.NEW_STREAMS) > 20 or d.process.poll() is not None, "polls")
        assert d.process.poll() is None, d.stop()  # it sends heartbeats
        asked, polls = (relay.commands.count(c) for c in (fake_relay.NEXT_INDEX, fake_relay.NEW_STREAMS))
        assert asked < polls * 40 * len(relay.session.streams), f"asked {asked} times"
        lines = d.stop()
    assert kinds(lines) == ["SESSION", "READY"], lines


class Standing(Relay):
    """The tracer of its last stream stands still."""
    def __init__(self):
        super().__init__(Session([KPROBE]))
        self.still = self.session.streams[-1]

    def is_served(self):
        return all(s.next == len(s.packets) for s in self.session.streams if s is not self.still)

    def next_index(self, payload):
        if struct.unpack(">Q", payload)[0] != self.still.id or self.is_served():
            return super().next_index(payload)
        return self.index(fake_relay.INDEX_RETRY)


def test_stream_that_stands_still():
    """It does not hide the others, and what it has at last is late, but not lost."""
    def plain(lines):
        return [line for line in events(lines) if kind_of(line) not in ("NOTE", "BACKWARD", "CONTEXT", "PERF_NAMES")]

    recorded = plain(dump(os.path.dirname(KPROBE)))
    with Standing() as relay:
        lines = dump(relay.url, "-t", "1")
    assert failure(lines) is None, failure(lines)
    notes = [line.split("w0=")[1] for line in lines if " NOTE " in line]
    assert notes == ['"ch_1: silent: skipped until data arrives again"'], notes
    assert kinds(lines).count("BACKWARD") == 1 and times(lines) == sorted(times(lines))
    assert len(plain(lines)) == len(recorded)
    alone = plain(lines[:next(i for i, line in enumerate(lines) if " BACKWARD " in line)])
    of_others = [line for line in recorded if line.split()[2] == "cpu=0"]
    assert alone == of_others[:len(alone)] and len(alone) > len(of_others) / 2


# ---- losses ----

def test_loss_before_a_pause():
    """It comes at its time among the events of other streams, even if its own goes on only much later."""
    directory = os.path.join(os.getcwd(), "made", "kernel")
    with made.Recording(directory) as recording:
        recording.packet(0, 10000, 20000, made.turns(11000, 1000, 5))
        recording.packet(0, 50000, 60000, made.turns(50000, 1000, 5), discarded=7)
        recording.packet(0, 70000, 80000, made.turns(75000, 1000, 5), discarded=7)
        recording.packet(1, 10000, 40000, made.turns(11500, 1000, 28, 3, 4))
        recording.packet(1, 40000, 80000, made.turns(40500, 1000, 38, 3, 4))
    made.add_index(directory)

    class Pausing(Relay):
        def next_index(self, payload):
            """After the loss, the first stream has nothing until the other one has been read."""
            first, other = self.session.streams
            if struct.unpack(">Q", payload)[0] == first.id and first.next == 2 and other.next < 2:
                return self.index(fake_relay.INDEX_INACTIVE, packet=(0, 0, 0, 0, 70000, 0, first.class_id))
            if struct.unpack(">Q", payload)[0] == other.id and first.next < 2:
                return self.index(fake_relay.INDEX_RETRY)
            return super().next_index(payload)

    with Pausing(Session([directory])) as relay:
        live = dump(relay.url)
    recorded = dump(os.path.dirname(directory))
    assert failure(live) is None and kinds(live).count("LOST") == 1, live
    assert events(live) == events(recorded), live


def test_report_of_a_stream_that_stands_still():
    with Standing() as relay:
        report = subprocess.run([os.environ["LTTNGTOP"], "report", "hosts", "--json", "--stall-limit", "500ms", relay.url],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    host, = json.loads(report.stdout)["rows"]
    assert report.returncode == 3 and "ch_1: silent: skipped until data arrives again" in report.stderr, report.stderr
    assert host["backward_steps"] == 1 and host["late_events"] == 0, host


# ---- real tracers ----

def count_kind(d, kind):
    return sum(1 for k in kinds(list(d.lines)) if k == kind)


def count_user(d):
    """Events of ust_app: those of tracef() are of a separate kind."""
    return count_kind(d, "OTHER") + count_kind(d, "MESSAGE")


def test_user_space_session(ust):
    ust.start_live()
    d = Dump(ust.url())
    sandbox.wait_until(lambda: "READY" in kinds(list(d.lines)), "attached, without a stream")
    expect_failure(dump(ust.url()), "taken", "taken by another viewer")
    ust.trace(100)
    sandbox.wait_until(lambda: count_user(d) == 150, "events of one program")
    ust.trace(1000)
    sandbox.wait_until(lambda: count_user(d) == 1650, "events of two programs")
    sandbox.wait_until(lambda: count_kind(d, "BEACON") > 3, "beacons")
    ust.lttng("destroy", "s1")
    lines = d.wait()
    assert failure(lines) is None, failure(lines)
    assert count_user(d) == 1650 and times(lines) == sorted(times(lines))
    expect_failure(dump(ust.url()), "no session", "no such session")


def test_from_start(ust):
    ust.start_live()
    ust.trace(100)
    d = Dump(ust.url(), "-s")
    sandbox.wait_until(lambda: count_user(d) == 150, "events of before")
    ust.trace(10)
    sandbox.wait_until(lambda: count_user(d) == 165, "events that come")
    ust.lttng("destroy", "s1")
    lines = d.wait()
    assert failure(lines) is None and times(lines) == sorted(times(lines)), failure(lines)


def test_relayd_stops_and_dies(ust):
    ust.start_live()
    d = Dump(ust.url(), "-t", "4")
    sandbox.wait_until(lambda: "READY" in kinds(list(d.lines)), "attached")
    ust.trace(100)
    sandbox.wait_until(lambda: count_user(d) == 150, "events before")
    ust.relayd.send_signal(signal.SIGSTOP)
    sandbox.wait_until_it_keeps_waiting(ust.live)
    ust.relayd.send_signal(signal.SIGCONT)
    ust.trace(100)
    sandbox.wait_until(lambda: count_user(d) == 300, "nothing lost over a short stop")
    ust.relayd.send_signal(signal.SIGSTOP)
    expect_failure(dump(ust.url(), "-t", "1"), "unreachable", "the relayd does not answer for 1 s")
    ust.relayd.send_signal(signal.SIGCONT)
    ust.relayd.kill()
    expect_failure(d.wait(), "gone", "the relayd went away")
    ust.relayd.wait()


def run(test, *args):
    name = test.__name__[5:].replace("_", " ")
    try:
        skipped = test(*args)
    except Exception as error:  # pylint: disable=broad-except
        print(f"not ok {name}: {error}")
        traceback.print_exc(file=sys.stdout)
        return False
    print(f"skip {name}: {skipped}" if skipped else f"ok {name}", flush=True)
    return True


def main():
    tests = [test for name, test in sorted(globals().items()) if name.startswith("test_")]
    wanted = sys.argv[1:]
    failed = 0
    tool = sandbox.missing()
    lacks = f"{tool} is not installed" if tool else None if sandbox.has_ust() else "built without lttng-ust"
    os.chmod(".", 0o755)  # another user's daemons work below it
    for number, test in enumerate(tests):
        if wanted and not any(w in test.__name__ for w in wanted):
            continue
        if test.__code__.co_argcount == 0:
            failed += not run(test)
        elif lacks:
            print(f"skip {test.__name__[5:]}: {lacks}")
        else:
            with sandbox.Tracers(f"home{number}") as ust:
                failed += not run(test, ust)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
