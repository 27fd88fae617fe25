#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings that grow while they are read: their complete part is shown, and nothing else.

Packets, index entries and metadata are written step by step, also in halves. Each step waits until its effect is seen.
"""
import mmap
import os
import shutil
import signal
import struct
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.environ["SRCDIR"], "tests", "waits"))
import ctf  # noqa: E402
from cases import check, finish  # noqa: E402

DUMP = os.path.join(os.environ["BUILD"], "tests", "source", "dump_records")
LTTNGTOP = os.environ["LTTNGTOP"]
PATIENCE = 60
NEVER = 1000  # seconds until a silent stream is no longer waited for


class Growing:
    """A recording, written as its tracer would: the metadata stays open until close()."""

    def __init__(self, directory, ctf2=False, index=False):
        self.trace, self.directory, self.ctf2, self.index = ctf.Trace("grows"), directory, ctf2, index
        self.uuid = b"growing growing!"
        self.sizes, self.seqs, self.written = {}, {}, 0
        self.make_directory()

    def make_directory(self):
        os.makedirs(self.directory)
        self.metadata = open(os.path.join(self.directory, "metadata"), "wb", buffering=0)
        self.sizes, self.written = {}, 0

    def text(self):
        as_text = "-".join(self.uuid.hex()[a:b] for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))
        return (self.trace.metadata2(self.uuid, as_text, as_text) if self.ctf2 else self.trace.metadata(as_text, as_text)).encode()

    def declare(self, part=1.0):
        """Appends the rest of the metadata, or a part of it."""
        text = self.text()
        until = self.written + int(part * (len(text) - self.written))
        self.metadata.write(text[self.written:until])
        self.written = until

    def packet(self, cpu, begin, end, *times, name="event"):
        for time in times:
            self.trace.add(time, name, ("value", "u32", time), cpu=cpu)
        data = b"".join(data for of, time, data in self.trace.events if of == cpu and time in times)
        bits = 8 * (32 + 52 + len(data))
        seq = self.seqs[cpu] = self.seqs.get(cpu, -1) + 1
        return (struct.pack("<I16sIQ", 0xc1fc1fc1, self.uuid, 0, cpu) +
                struct.pack("<QQQQQQI", begin, end, bits, bits, seq, 0, cpu) + data)

    def append(self, cpu, data):
        with open(os.path.join(self.directory, f"channel0_{cpu}"), "ab") as file:
            file.write(data)
        self.sizes.setdefault(cpu, 0)

    def entry(self, cpu, begin, end, packet):
        """The packet's entry in the index, after the index header if it is the first one."""
        size = self.sizes.get(cpu, 0)
        self.sizes[cpu] = size + len(packet)
        head = b"" if size else struct.pack(">IIII", 0xc1f1dcc1, 1, 1, 72)
        return head + struct.pack(">9Q", size, 8 * len(packet), 8 * len(packet), begin, end, 0, 0, cpu, 0)

    def append_index(self, cpu, data):
        os.makedirs(os.path.join(self.directory, "index"), exist_ok=True)
        with open(os.path.join(self.directory, "index", f"channel0_{cpu}.idx"), "ab") as file:
            file.write(data)

    def add(self, cpu, begin, end, *times, name="event"):
        """A whole packet."""
        packet = self.packet(cpu, begin, end, *times, name=name)
        self.append(cpu, packet)
        if self.index:
            self.append_index(cpu, self.entry(cpu, begin, end, packet))

    def close(self):
        self.metadata.close()


class Follower:
    """A worker that follows the directory; its records as they arrive."""

    def __init__(self, directory, patience=NEVER):
        self.process = subprocess.Popen([DUMP, "-f", "-w", LTTNGTOP, "-t", str(patience), directory],
                                        stdout=subprocess.PIPE, text=True)
        self.lines, self.news = [], threading.Condition()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with self.news:
                self.lines.append(line.rstrip("\n"))
                self.news.notify()
        with self.news:
            self.lines.append("")
            self.news.notify()

    def of_kind(self, kind):
        return [line for line in self.lines if f" {kind} " in line]

    def times(self):
        return [int(line.split()[0]) for line in self.of_kind("OTHER")]

    def wait(self, name, condition):
        with self.news:
            good = self.news.wait_for(lambda: condition() or "" in self.lines, PATIENCE) and condition()
        check(name, good, self.lines[-12:])

    def wait_for(self, name, *times):
        """Waits until exactly these events have arrived, in this order."""
        with self.news:
            self.news.wait_for(lambda: len(self.times()) >= len(times) or "" in self.lines, PATIENCE)
        check(name, self.times() == list(times), f"{self.times()}, not {list(times)}; {self.lines[-12:]}")

    def wait_for_stream(self, name, cpu):
        """Waits until the CPU's first packet was seen: so was everything written before it."""
        self.wait(name, lambda: any(f" cpu={cpu} " in line for line in self.of_kind("STREAM")))

    def end(self, name):
        """The source ended by itself."""
        self.wait(f"{name}: ends", lambda: "" in self.lines and self.process.wait(PATIENCE) == 0)
        self.stop()

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()


def test_packets(name, ctf2):
    """Without an index a packet exists once its last byte does."""
    growing = Growing(f"{name}-packets", ctf2)
    packets = [growing.packet(0, 10, 100, 20, 30), growing.packet(0, 110, 200, 120, 130),
               growing.packet(0, 210, 300, 220)]
    growing.declare()
    growing.append(0, b"")
    follower = Follower(growing.directory)
    growing.append(0, packets[0] + packets[1][:20])
    follower.wait_for(f"{name}: the first packet", 20, 30)
    growing.append(0, packets[1][20:-1])
    growing.add(1, 110, 400, 140)
    follower.wait_for_stream(f"{name}: a packet that lacks a byte", 1)
    check(f"{name}: it is not read", follower.times() == [20, 30], follower.lines)
    growing.append(0, packets[1][-1:] + packets[2])
    follower.wait_for(f"{name}: it is complete", 20, 30, 120, 130, 140, 220)
    check(f"{name}: nothing is wrong", not follower.of_kind("NOTE") + follower.of_kind("LOST"), follower.lines)
    growing.append(0, growing.packet(0, 310, 400, 320)[:-1])
    growing.close()
    follower.end(name)
    check(f"{name}: a truncated packet is reported at the end", len(follower.of_kind("NOTE")) == 1 and len(follower.times()) == 6,
          follower.lines)


def test_index(name, ctf2):
    """With an index a packet exists once its entry does."""
    growing = Growing(f"{name}-index", ctf2, index=True)
    second = growing.packet(0, 110, 200, 120)
    growing.packet(0, 0, 0, name="event")
    growing.declare()
    growing.add(0, 10, 100, 20)
    growing.add(1, 10, 100, 30)
    follower = Follower(growing.directory)
    follower.wait_for(f"{name}: packets with entries", 20, 30)
    growing.append(0, second)
    entry = growing.entry(0, 110, 200, second)
    growing.append_index(0, entry[:-1])
    growing.add(1, 100, 300, 105, 250)
    growing.add(2, 100, 300)
    follower.wait_for_stream(f"{name}: half an entry", 2)
    check(f"{name}: its packet is not read", follower.times() == [20, 30], follower.lines)
    growing.append_index(0, entry[-1:])
    follower.wait_for(f"{name}: it is complete", 20, 30, 105, 120)
    growing.add(0, 210, 400, 220)
    growing.close()
    follower.end(name)
    check(f"{name}: all", follower.times() == [20, 30, 105, 120, 220, 250], follower.lines)


def test_damage(name, ctf2):
    """A packet with an invalid header is left out, and so is a file of another trace; neither holds anything back."""
    growing = Growing(f"{name}-damage", ctf2, index=True)
    uuid, growing.uuid = growing.uuid, b"others'  packets"
    other = growing.packet(1, 10, 100, 40)
    growing.uuid = uuid
    growing.seqs.clear()
    growing.declare()
    growing.append(1, other)
    growing.append_index(1, growing.entry(1, 10, 100, other))
    growing.add(0, 10, 100, 20)
    follower = Follower(growing.directory)
    follower.wait_for(f"{name}: before the damage", 20)
    for begin in (110, 210):
        packet = b"\0" + growing.packet(0, begin, begin + 90, begin + 10)[1:]
        growing.append(0, packet)
        growing.append_index(0, growing.entry(0, begin, begin + 90, packet))
    growing.add(0, 310, 400, 320)
    follower.wait_for(f"{name}: behind the damage", 20, 320)
    growing.close()
    follower.end(name)
    notes = [line.split('"')[-2] for line in follower.of_kind("NOTE")]
    check(f"{name}: said", len(notes) == 2 and notes[0].endswith("channel0_1: the packet belongs to another trace") and
          "is left out: wrong magic number" in notes[1], notes)
    lost = [line.split() for line in follower.of_kind("LOST")]
    check(f"{name}: lost", sum(int(line[5]) for line in lost) == 2, lost)


def test_metadata(name, ctf2):
    """Metadata may arrive later than the events it declares, and in halves."""
    growing = Growing(f"{name}-metadata", ctf2)
    growing.trace.add(20, "event", ("value", "u32", 20))
    growing.trace.events.clear()
    growing.declare(0.5)
    follower = Follower(growing.directory)
    first = growing.packet(0, 10, 100, 20)
    growing.append(0, first)
    growing.declare()
    follower.wait_for(f"{name}: its metadata was half written", 20)
    growing.add(0, 110, 200, 120, 130, name="later")
    growing.add(1, 110, 300, 115)
    follower.wait_for_stream(f"{name}: an event that is not declared", 1)
    growing.declare(0.5)
    growing.add(2, 110, 300)
    follower.wait_for_stream(f"{name}: half of the declaration", 2)
    check(f"{name}: it waits", follower.times() == [20], follower.lines)
    growing.declare()
    follower.wait_for(f"{name}: it is declared", 20, 115, 120, 130)
    check(f"{name}: by its name", sum("class=later" in line for line in follower.of_kind("OTHER")) == 2, follower.lines)
    check(f"{name}: nothing is wrong", not follower.of_kind("NOTE") + follower.of_kind("LOST"), follower.lines)
    growing.close()
    follower.end(name)


def test_new_stream(name, ctf2):
    """CPUs come online; an empty file may belong to one that will have data soon."""
    growing = Growing(f"{name}-stream", ctf2)
    growing.trace.add(1, "event", ("value", "u32", 1))
    growing.trace.events.clear()
    growing.declare()
    growing.add(0, 10, 100, 20)
    follower = Follower(growing.directory)
    follower.wait_for(f"{name}: one CPU", 20)
    growing.append(3, b"")
    growing.add(0, 110, 200, 120)
    growing.add(3, 100, 200, 115)
    follower.wait_for(f"{name}: another one", 20, 115, 120)
    check(f"{name}: two streams", len(follower.of_kind("STREAM")) == 2, follower.lines)
    growing.close()
    follower.end(name)


def test_silence(name, ctf2):
    """A silent stream is waited for, but not for ever; its data is counted later."""
    growing = Growing(f"{name}-silence", ctf2)
    growing.trace.add(1, "event", ("value", "u32", 1))
    growing.trace.events.clear()
    growing.declare()
    growing.add(0, 10, 100, 20)
    growing.add(1, 10, 100, 30)
    follower = Follower(growing.directory, patience=1)
    follower.wait_for(f"{name}: both", 20, 30)
    growing.add(0, 110, 500, 120, 400)
    follower.wait_for(f"{name}: one continues", 20, 30, 120, 400)
    growing.add(1, 110, 200, 130)
    growing.add(0, 510, 600, 520)
    follower.wait_for(f"{name}: the other one is late", 20, 30, 120, 400, 500, 520)
    check(f"{name}: as a step back", len(follower.of_kind("BACKWARD")) == 1, follower.lines)
    growing.close()
    follower.end(name)


def test_rotation(name, ctf2):
    """An archive is moved away while it is read, another one is started; the oldest is removed."""
    root = f"{name}-rotation"
    growing = Growing(os.path.join(root, "now"), ctf2)
    growing.trace.add(1, "event", ("value", "u32", 1))
    growing.trace.events.clear()
    growing.declare()
    growing.add(0, 10, 100, 20)
    follower = Follower(root)
    follower.wait_for(f"{name}: before", 20)
    growing.add(0, 110, 200, 120)
    growing.close()
    os.makedirs(os.path.join(root, "archives"))
    os.rename(growing.directory, os.path.join(root, "archives", "old"))
    growing.directory = os.path.join(root, "next")
    growing.make_directory()
    growing.declare()
    growing.add(0, 210, 300, 220)
    follower.wait_for(f"{name}: after", 20, 120, 220)
    shutil.rmtree(os.path.join(root, "archives"))
    growing.add(0, 310, 400, 320)
    follower.wait_for(f"{name}: the archive is removed", 20, 120, 220, 320)
    check(f"{name}: one trace, one stream", len(follower.of_kind("TRACE")) == len(follower.of_kind("STREAM")) == 1,
          follower.lines)
    growing.add(0, 410, 500, 420)
    follower.wait_for(f"{name}: the last", 20, 120, 220, 320, 420)
    shutil.rmtree(root)
    follower.end(f"{name}: all is removed")
    check(f"{name}: nothing is lost", not follower.of_kind("NOTE") + follower.of_kind("LOST"), follower.lines)
    growing.close()


def archive_later(root, ctf2, patience):
    """An archive whose metadata is not readable yet, the next archive, which is complete, and their follower."""
    old = Growing(os.path.join(root, "old"), ctf2)
    old.trace.add(1, "event", ("value", "u32", 1))
    old.trace.events.clear()
    old.add(0, 10, 100, 20)
    old.add(0, 110, 200, 120)
    growing = Growing(os.path.join(root, "next"), ctf2)
    growing.trace, growing.seqs = old.trace, old.seqs
    growing.declare()
    growing.add(0, 210, 300, 220)
    growing.add(1, 210, 300, 230)
    return old, growing, Follower(root, patience)


def test_archive_later(name, ctf2):
    """An archive becomes readable after the next one: its events come first."""
    root = f"{name}-archive"
    old, growing, follower = archive_later(root, ctf2, NEVER)
    follower.wait(f"{name}: the next one is seen", lambda: follower.of_kind("READY"))
    other = Growing(os.path.join(root, "other"), ctf2)
    other.uuid = b"another trace..."
    other.add(0, 10, 500, 25)
    other.declare()
    follower.wait(f"{name}: and another trace later", lambda: len(follower.of_kind("TRACE")) == 2)
    check(f"{name}: they wait for the archive", not follower.times(), follower.lines)
    old.declare()
    follower.wait_for_stream(f"{name}: the archive is read", 0)
    growing.add(0, 310, 500, 320, 420)
    growing.add(1, 310, 500)
    for writer in (old, growing, other):
        writer.close()
    follower.end(name)
    check(f"{name}: every event", follower.times() == [20, 25, 120, 220, 230, 320, 420], follower.times())
    check(f"{name}: nothing is lost", not follower.of_kind("NOTE") + follower.of_kind("LOST"), follower.lines)


def test_archive_too_late(name, ctf2):
    """It becomes readable when the next one is already being read: no event of either is left out."""
    old, growing, follower = archive_later(f"{name}-archive", ctf2, 1)
    follower.wait_for(f"{name}: the next one is read", 220, 230)
    old.declare()
    growing.add(1, 310, 400, 330)
    follower.wait(f"{name}: then the archive", lambda: len(follower.times()) == 5)
    growing.add(0, 310, 500, 420, 430)
    growing.add(1, 410, 500)
    old.close()
    growing.close()
    follower.end(name)
    check(f"{name}: then the next one continues", len(follower.times()) == 7 and follower.times()[5:] == [420, 430],
          follower.times())
    check(f"{name}: nothing is lost", not follower.of_kind("NOTE") + follower.of_kind("LOST"), follower.lines)


def test_process(name, ctf2):
    """A process ends, as its metadata shows: its streams hold back no other process. The session may have more."""
    root = f"{name}-process"
    first, second = (Growing(os.path.join(root, "ust", "pid", f"app-{pid}"), ctf2) for pid in (1, 2))
    second.uuid = b"another process."
    for growing in (first, second):
        growing.trace.add(1, "event", ("value", "u32", 1))
        growing.trace.events.clear()
        growing.declare()
        growing.add(0, 10, 100, 20)
    first.append(1, b"")
    follower = Follower(root)
    follower.wait(f"{name}: both", lambda: len(follower.of_kind("TRACE")) == 2)
    first.add(0, 110, 200, 120)
    first.close()
    second.add(0, 110, 400, 130, 350)
    follower.wait_for(f"{name}: one has ended", 20, 20, 120, 130, 350)
    follower.wait(f"{name}: so has its stream", lambda: len(follower.of_kind("STREAM_END")) == 1)
    third = Growing(os.path.join(root, "ust", "pid", "app-3"), ctf2)
    third.uuid = b"a third process."
    third.add(0, 410, 500, 420)
    third.declare()
    second.add(0, 410, 500, 430)
    follower.wait_for(f"{name}: another one follows", 20, 20, 120, 130, 350, 420, 430)
    check(f"{name}: nothing is wrong", not follower.of_kind("NOTE") + follower.of_kind("LOST"), follower.lines)
    second.close()
    third.close()
    follower.stop()


def test_interrupt(name, ctf2):
    """A report that is interrupted has the data written by then, also that which waited for an idle stream."""
    growing = Growing(f"{name}-interrupt", ctf2)
    growing.trace.add(1, "event", ("value", "u32", 1))
    growing.trace.events.clear()
    growing.declare()
    growing.add(0, 10, 1000, 20, 120, 220)
    growing.add(1, 10, 100, 30)
    command = [LTTNGTOP, "report", "dump", "--follow", "--no-sync", "--stall-limit", f"{NEVER}s", growing.directory]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as report:
        lines = [report.stdout.readline(), report.stdout.readline()]
        report.send_signal(signal.SIGINT)
        out, err = report.communicate(timeout=PATIENCE)
    lines += out.splitlines()
    check(f"{name}: every event", len(lines) == 4, lines)
    check(f"{name}: ends well", report.returncode == 0, (report.returncode, err))
    growing.close()


def test_shorter(name, ctf2):
    """A file becomes shorter in the middle of a packet: the next file of the stream is not affected."""
    root = f"{name}-shorter"
    first, second = (range(begin, begin + mmap.PAGESIZE // 8) for begin in (120, 110000))  # two pages each
    left = (mmap.PAGESIZE - 84 - 12) // 16 + 1  # events with a header in the first page, which remains
    growing = Growing(os.path.join(root, "one"), ctf2)
    growing.trace.add(1, "event", ("value", "u32", 1))
    growing.trace.events.clear()
    growing.declare()
    follower = Follower(root)
    growing.add(0, 110, 100000, *first, name="later")
    growing.add(1, 110, 1000000, 115)
    follower.wait_for_stream(f"{name}: an event that is not declared", 1)
    os.truncate(os.path.join(growing.directory, "channel0_0"), mmap.PAGESIZE)
    growing.declare()
    follower.wait_for(f"{name}: what is left", 115, *first[:left])
    growing.close()
    growing.directory = os.path.join(root, "two")
    growing.make_directory()
    growing.declare()
    growing.add(0, 110000, 200000, *second)
    follower.wait(f"{name}: the next file is read", lambda: any(int(line.split()[0]) == 200000 for line in follower.of_kind("BEACON")))
    check(f"{name}: all of it", follower.times() == [115, *first[:left], *second], follower.lines[-12:])
    growing.close()
    follower.end(name)
    check(f"{name}: said", len(follower.of_kind("NOTE")) == 1 and "shorter" in follower.of_kind("NOTE")[0],
          follower.of_kind("NOTE"))


def main():
    if not os.path.exists(DUMP):
        print("skip following: tests/source/dump_records is not built")
        return 0
    for ctf2 in (False, True):
        for test in (test_packets, test_index, test_damage, test_metadata, test_new_stream, test_silence, test_rotation,
                     test_archive_later, test_archive_too_late, test_process,
                     test_interrupt, test_shorter):
            test(f"CTF {2 if ctf2 else '1.8'}, {test.__name__[5:].replace('_', ' ')}", ctf2)
    finish()


if __name__ == "__main__":
    main()
