# SPDX-License-Identifier: GPL-2.0-or-later
"""A relayd with generated live sessions, which come, go and break off on request.

    session = Live("web", "s1")
    with Fleet(session) as relay: ... relay.sessions.append(Live("web", "s2")) ...

Each session has one stream, in which something happens all the time, by a clock of its own. It ends when it is removed
from Fleet.sessions, and is no longer listed then.
"""
import itertools
import os
import struct
import sys
import time

from fake_relay import ATTACH_OK, ATTACH_UNKNOWN, INDEX_HUP, INDEX_INACTIVE, INDEX_OK, INDEX_RETRY, Hangup, Relay

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "waits"))
import ctf  # noqa: E402

PACKET_NS = 200 * 10 ** 6  # of each packet
EVENT_NS = PACKET_NS // 10
STREAMS_NONE, STREAMS_CLOSED = 2, 4
METADATA_NEW, METADATA_NONE = 1, 2


class Live:
    """
    A session of a kernel, in which two tasks alternate, or of programs, in which one emits my_app:tick: then sessions of
    one host have the same events. boot: what the identity of the clock is derived from. offset_ns: what that clock
    shows at our time 0. is_idle: no events.
    """
    timer_us, clients = 100000, 0

    def __init__(self, host, name, boot=None, offset_ns=0, programs=False, is_idle=False):
        self.host, self.name, self.boot, self.offset_ns = host, name, boot or host, offset_ns
        self.programs, self.is_idle = programs, is_idle
        self.is_cut = False  # its connections break off, and new ones
        self.streams, self.metadata = [None], {1: None}  # as many as there are
        self.told, self.data = 0, b""

    def now(self):
        return time.time_ns() + self.offset_ns

    def events(self, begin, end):
        trace = ctf.Trace(self.host)
        for i, at in enumerate(range(begin, end, EVENT_NS)):
            if self.programs:
                trace.add(at, "my_app:tick", ("n", "u32", i))
                continue
            prev = 1 + i % 2
            trace.add(at, "sched_switch", ("prev_comm", "text", 16, f"t{prev}"), ("prev_tid", "s32", prev),
                      ("prev_prio", "s32", 20), ("prev_state", "s64", 0), ("next_comm", "text", 16, f"t{3 - prev}"),
                      ("next_tid", "s32", 3 - prev), ("next_prio", "s32", 20))
        return trace

    def text(self):
        text = self.events(0, 1).metadata(ctf.uuid_of(self.name)[1], ctf.uuid_of(self.boot)[1])
        if self.programs:
            text = text.replace('domain = "kernel"', 'domain = "ust"').replace("lttng-modules", "lttng-ust")
        return text.encode()

    def begin(self):
        self.told = self.now() // PACKET_NS * PACKET_NS

    def index(self):
        """The answer for its next packet."""
        if self.now() - self.told < PACKET_NS:
            return Relay.index(INDEX_RETRY)
        begin, self.told = self.told, self.told + PACKET_NS
        if self.is_idle:
            return Relay.index(INDEX_INACTIVE, packet=(0, 0, 0, 0, begin, 0, 0))
        self.data, = self.events(begin, self.told).packets(0, ctf.uuid_of(self.name)[0], sys.maxsize)
        bits = 8 * len(self.data)
        return Relay.index(INDEX_OK, packet=(0, bits, bits, begin, self.told - 1, 0, 0))


class Fleet(Relay):
    def __init__(self, *sessions):
        super().__init__(*sessions)
        self.numbers = itertools.count(1)
        self.known = {}     # by number
        self.attached = []  # the names of sessions, as they were attached
        self.lists = 0      # how often they were listed

    def number(self, session):
        for number, known in self.known.items():
            if known is session:
                return number
        number = next(self.numbers)
        self.known[number] = session
        return number

    def list(self, payload):
        self.lists += 1
        listed = list(self.sessions)
        return struct.pack(">I", len(listed)) + b"".join(
            struct.pack(">Q3I64s255s", self.number(s), s.timer_us, s.clients, 2, s.host.encode(), s.name.encode())
            for s in listed)

    def of(self, number):
        """The session; its connection breaks off if it is cut."""
        session = self.known[number]
        if session.is_cut:
            raise Hangup
        return session

    def attach(self, payload):
        number, = struct.unpack(">Q", payload[:8])
        session = self.of(number)
        if session not in self.sessions:
            return struct.pack(">2I", ATTACH_UNKNOWN, 0)
        self.attached.append(session.name)
        self.sent_metadata.discard(2 * number)
        session.begin()
        return struct.pack(">2I", ATTACH_OK, 2) + self.stream_entry(2 * number, number, 1, "metadata") + \
            self.stream_entry(2 * number + 1, number, 0, "channel0_0")

    def new_streams(self, payload):
        session = self.of(struct.unpack(">Q", payload)[0])
        return struct.pack(">2I", STREAMS_NONE if session in self.sessions else STREAMS_CLOSED, 0)

    def get_metadata(self, payload):
        stream, = struct.unpack(">Q", payload)
        if stream in self.sent_metadata:
            return struct.pack(">QI", 0, METADATA_NONE)
        self.sent_metadata.add(stream)
        data = self.of(stream // 2).text()
        return struct.pack(">QI", len(data), METADATA_NEW) + data

    def next_index(self, payload):
        session = self.of(struct.unpack(">Q", payload)[0] // 2)
        return session.index() if session in self.sessions else self.index(INDEX_HUP)

    def packet(self, payload):
        data = self.of(struct.unpack(">QQI", payload)[0] // 2).data
        return struct.pack(">3I", 1, len(data), 0) + data
