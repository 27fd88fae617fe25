#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Damage in a recording costs the rest of its packet, in a packet's header the whole packet: it is reported and counted
as lost, with its time, and everything else counts as in the undamaged recording.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import made  # noqa: E402
from processes import PATIENCE_S, Held  # noqa: E402
from cases import check, finish  # noqa: E402

LTTNGTOP = os.environ["LTTNGTOP"]
DUMP = os.path.join(os.environ["BUILD"], "tests/source/dump_records")
SECOND, MS = 10 ** 9, 10 ** 6
BASE = 1_700_000_000 * SECOND
PACKETS, EVENTS, CPUS = 5, 50, 2
EVENT = len(made.switch(0, 1, 2))
HEAD = 32 + 52
PACKET = HEAD + EVENTS * EVENT
# Where in a packet: its magic number, UUID, stream; its size, after two times and the size of its content.
MAGIC, TRACE, STREAM, PACKET_SIZE = 0, 4, 20, 32 + 3 * 8


def make(directory):
    """Each packet lasts a second, its events fill the first 50 ms of it."""
    with made.Recording(directory) as recording:
        for cpu in range(CPUS):
            for i in range(PACKETS):
                begin = BASE + i * SECOND
                recording.packet(cpu, begin, begin + SECOND, made.turns(begin, MS, EVENTS, 2 * cpu + 1, 2 * cpu + 2))


def write(path, at, data):
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data)


def report(directory, reader="native"):
    """Events per host, standard error, exit status."""
    run = subprocess.run([LTTNGTOP, "report", "hosts", "--json", "--reader", reader, directory], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S, check=False)
    rows = [row for line in run.stdout.splitlines() for row in json.loads(line)["rows"]]
    return sum(row["events"] for row in rows), run.stderr, run.returncode


def records(directory, *options):
    run = subprocess.run([DUMP, "-R", "native", *options, directory], stdout=subprocess.PIPE, text=True, check=False)
    return run.stdout.splitlines()


def losses(lines):
    """(CPU, time, packets, start) of each loss."""
    found = (re.match(r"(\d+) LOST cpu=(\d+) tid=-1 (\d+) (\d+) (\d+) \d+$", line) for line in lines)
    return [(int(m[2]), int(m[1]), (int(m[3]), int(m[4])), int(m[5])) for m in found if m]


def times(lines, cpu):
    found = (re.match(rf"(\d+) SCHED_SWITCH cpu={cpu} ", line) for line in lines)
    return [int(m[1]) for m in found if m]


def check_damage(top, name, damage, kept, words, lost, packets=1):
    """kept: which events of CPU 0 are left, by packet. lost: (when it started, when it is reported: after it or,
    if nothing follows, where the stream ends), number of packets."""
    directory = os.path.join(top, name)
    make(directory)
    whole = records(directory)
    damage(os.path.join(directory, "ch_0"))
    lines = records(directory)
    expected = [BASE + packet * SECOND + i * MS for packet, n in enumerate(kept) for i in range(n)]
    check(f"{name}: the CPU's events", times(lines, 0) == expected, (len(times(lines, 0)), len(expected)))
    check(f"{name}: the other CPU's", times(lines, 1) == times(whole, 1) and len(times(whole, 1)) == PACKETS * EVENTS)
    check(f"{name}: lost", losses(lines) == [(0, lost[1], (0, packets), lost[0])], losses(lines))
    events, err, status = report(directory)
    check(f"{name}: exit status", status == 3, (status, err))
    check(f"{name}: said", words in err, err)
    check(f"{name}: events in the report", events == sum(kept) + PACKETS * EVENTS, events)


def in_packets(top):
    all_kept = [EVENTS] * PACKETS
    # an event of an unknown class in the middle of the third packet
    check_damage(top, "event", lambda path: write(path, 2 * PACKET + HEAD + 20 * EVENT, b"\xff\xff\xff\x7f"),
                 all_kept[:2] + [20] + all_kept[3:],
                 f"ch_0: the rest of the packet at byte {2 * PACKET} is left out: an event that the metadata does not declare",
                 (BASE + 2 * SECOND + 19 * MS, BASE + 3 * SECOND))
    # a time beyond 2^63 ns, which babeltrace2 refuses too
    check_damage(top, "time", lambda path: write(path, 2 * PACKET + HEAD + 20 * EVENT + 4, struct.pack("<Q", 2 ** 63 + 1)),
                 all_kept[:2] + [20] + all_kept[3:],
                 f"ch_0: the rest of the packet at byte {2 * PACKET} is left out: the time of an event is before 1970 or after the year 2262",
                 (BASE + 2 * SECOND + 19 * MS, BASE + 3 * SECOND))
    events, err, status = report(os.path.join(top, "time"), "babeltrace2")
    check("time, babeltrace2: left out and said", (events, status) == (CPUS * PACKETS * EVENTS - 1, 3) and
          ": events whose time is before 1970 or after the year 2262 are left out" in err, (events, err, status))
    # a clock by which the first packet of each CPU is before 1970: its events are not taken for events at the epoch
    directory = os.path.join(top, "early")
    make(directory)
    metadata = os.path.join(directory, "metadata")
    with open(metadata, encoding="ascii") as file:
        text = file.read()
    with open(metadata, "w", encoding="ascii") as file:
        file.write(text.replace("offset = 0;", f"offset_s = -{BASE // SECOND + 1}; offset = 500000000;"))
    for reader in ("native", "babeltrace2"):
        events, err, status = report(directory, reader)
        check(f"before 1970, {reader}: left out and said", (events, status) == (CPUS * (PACKETS - 1) * EVENTS, 3) and
              "before 1970 or after the year 2262" in err, (events, err, status))
    # bytes of a value: another value, which cannot be noticed
    directory = os.path.join(top, "value")
    make(directory)
    write(os.path.join(directory, "ch_0"), 2 * PACKET + HEAD + 20 * EVENT + 60, b"\x55")
    check("value: nothing to say", report(directory) == (CPUS * PACKETS * EVENTS, "", 0), report(directory))


def in_heads(top):
    """Only that packet is lost: the next one is found by its magic number."""
    at = 2 * PACKET
    second = (BASE + 2 * SECOND, BASE + 3 * SECOND)
    for name, offset, data, words in (("magic number", MAGIC, b"\0", "wrong magic number"),
                                      ("uuid", TRACE, b"\0", "the packet belongs to another trace"),
                                      ("stream", STREAM, b"\7", "the packet's stream is unknown"),
                                      ("packet of no size", PACKET_SIZE, bytes(8), "a packet of an impossible size"),
                                      ("packet smaller than its content", PACKET_SIZE, struct.pack("<Q", 8 * 200),
                                       "a packet of an impossible size")):
        check_damage(top, name, lambda path, offset=offset, data=data: write(path, at + offset, data),
                     [EVENTS, EVENTS, 0, EVENTS, EVENTS], f"ch_0: the packet at byte {at} is left out: {words}", second)
        if name != "uuid":
            continue
        check_damage(top, "first " + name, lambda path: write(path, TRACE, b"\0"), [0] + [EVENTS] * 4,
                     f"ch_0: the packet at byte 0 is left out: {words}", (BASE + SECOND, BASE + SECOND))
        last, end = 4 * PACKET, BASE + 3 * SECOND + (EVENTS - 1) * MS
        check_damage(top, "last " + name, lambda path: write(path, last + TRACE, b"\0"), [EVENTS] * 4 + [0],
                     f"ch_0: the packet at byte {last} is left out: {words}", (end, end))
    # the content is complete, and so is the next packet
    last = BASE + 2 * SECOND + (EVENTS - 1) * MS
    check_damage(top, "packet beyond its file", lambda path: write(path, at + PACKET_SIZE, struct.pack("<Q", 1 << 60)),
                 [EVENTS] * PACKETS, f"ch_0: the rest of the packet at byte {at} is left out: a packet of an impossible size",
                 (last, BASE + 3 * SECOND))


def several_heads(top):
    """The number of lost packets follows from the next one's number, and is not higher."""
    def both(path):
        write(path, 2 * PACKET, b"\0")
        write(path, 3 * PACKET, b"\0")
    check_damage(top, "two heads", both, [EVENTS, EVENTS, 0, 0, EVENTS],
                 f"ch_0: the packet at byte {2 * PACKET} is left out: wrong magic number", (BASE + 2 * SECOND, BASE + 4 * SECOND), 2)


def between_packets(top):
    """Bytes that are not a packet, with a magic number among them, longer than what is read at once."""
    def insert(path):
        with open(path, "rb") as file:
            data = file.read()
        with open(path, "wb") as file:
            file.write(data[:3 * PACKET] + (struct.pack("<I", 0xc1fc1fc1) + b"no" * 500) * 300 + data[3 * PACKET:])
    check_damage(top, "between packets", insert, [EVENTS] * PACKETS,
                 f"ch_0: the packet at byte {3 * PACKET} is left out: the packet belongs to another trace", (BASE + 3 * SECOND,) * 2)


def without_uuid(top):
    """Kernel tracers 2.14 to 2.16 end snapshots with empty packets whose UUID is all zeros: nothing is wrong."""
    directory = os.path.join(top, "without uuid")
    with made.Recording(directory) as recording:
        for i, count in enumerate((EVENTS, 0, EVENTS, 0)):
            recording.packet(0, BASE + i * SECOND, BASE + (i + 1) * SECOND, made.turns(BASE + i * SECOND, MS, count))
    for packet in (PACKET, 2 * PACKET + HEAD):
        write(os.path.join(directory, "ch_0"), packet + TRACE, bytes(16))
    check("without uuid: nothing to say", report(directory) == (2 * EVENTS, "", 0), report(directory))


def foreign(top):
    """A data file of another trace is not decoded, whatever its packets would mean here; nor is one without any."""
    directory, other = os.path.join(top, "foreign"), os.path.join(top, "other")
    make(directory)
    make(other)
    with open(os.path.join(other, "ch_0"), "rb") as file:
        data = file.read()
    for name, content, words in (("ch_7", data.replace(made.UUID, made.UUID[::-1]), "the packet belongs to another trace"),
                                 ("text", b"text\n" * 100, "wrong magic number")):
        path = os.path.join(directory, name)
        with open(path, "wb") as file:
            file.write(content)
        events, err, status = report(directory)
        check(f"foreign file {name}: what is left", (status, events) == (3, CPUS * PACKETS * EVENTS), (status, events))
        check(f"foreign file {name}: said", f"{path}: {words}" in err and err.count(words) == 1, err)
        os.unlink(path)


def cut(top):
    check_damage(top, "cut off", lambda path: os.truncate(path, 3 * PACKET + HEAD + 10 * EVENT + 5),
                 [EVENTS, EVENTS, EVENTS, 10, 0], f"ch_0: the rest of the packet at byte {3 * PACKET} is left out: the file ends",
                 (BASE + 3 * SECOND + 9 * MS,) * 2)


def unfinished(top):
    """A recording that is being written ends with its last complete packet; damage before that is still damage."""
    for name, size in (("whole", 3 * PACKET), ("in an event", 3 * PACKET + HEAD + 10 * EVENT + 5),
                       ("in a head", 3 * PACKET + 40), ("in a magic number", 3 * PACKET + 2)):
        directory = os.path.join(top, f"unfinished, {name}")
        make(directory)
        os.truncate(os.path.join(directory, "ch_0"), size)
        lines = records(directory, "-u")
        check(f"unfinished, {name}: complete packets", times(lines, 0) ==
              [BASE + packet * SECOND + i * MS for packet in range(3) for i in range(EVENTS)], len(times(lines, 0)))
        check(f"unfinished, {name}: nothing is wrong", not any(" NOTE " in line or " LOST " in line for line in lines),
              lines[-3:])
        write(os.path.join(directory, "ch_0"), PACKET, b"\0")
        lines = records(directory, "-u")
        check(f"unfinished, {name}: damage", len(times(lines, 0)) == 2 * EVENTS and len(losses(lines)) == 1, losses(lines))


def shrinks(top):
    """The worker waits for room in its ring in the middle of a packet while the file loses the rest of it."""
    directory, events = os.path.join(top, "shrinks"), 100_000
    with made.Recording(directory) as recording:
        recording.packet(0, BASE, BASE + 1000 * SECOND, made.turns(BASE, MS, events))
    held = Held()
    with subprocess.Popen([DUMP, "-R", "native", directory], stdout=subprocess.PIPE, text=True,
                          env={**os.environ, **held.environment}) as process:
        held.stop_midway(process.pid, 1)
        os.truncate(os.path.join(directory, "ch_0"), 4096)
        held.go_on()
        lines = process.communicate(timeout=PATIENCE_S)[0].splitlines()
    found = times(lines, 0)
    check("shrinks: exit status", process.returncode == 1, process.returncode)
    check("shrinks: said", any("the file became shorter while it was read" in line for line in lines), lines[-5:])
    check("shrinks: what was read counts", 1000 < len(found) < events, len(found))
    check("shrinks: nothing else", found == [BASE + i * MS for i in range(len(found))] and
          not any(" BACKWARD " in line for line in lines), lines[-5:])
    check("shrinks: lost", losses(lines) == [(0, found[-1] + MS, (0, 1), found[-1] + MS)], losses(lines))


def nothing(top):
    """Metadata that describe an event of no bits: a packet could hold any number of them."""
    directory = os.path.join(top, "nothing")
    os.makedirs(directory)
    u32, time = ("integer { size = %d; align = 8; %s}" % each for each in ((32, ""), (64, "map = clock.c.value; ")))
    with open(os.path.join(directory, "metadata"), "w", encoding="ascii") as file:
        file.write(f"""/* CTF 1.8 */
trace {{ major = 1; minor = 8; byte_order = le; packet.header := struct {{ {u32} magic; }}; }};
clock {{ name = c; freq = 1000000000; }};
stream {{ packet.context := struct {{ {time} timestamp_begin; {time} timestamp_end; {u32} content_size;
	{u32} packet_size; }}; }};
event {{ name = "nothing"; fields := struct {{ }}; }};
""")
    with open(os.path.join(directory, "data"), "wb") as file:
        file.write(struct.pack("<IQQII", 0xc1fc1fc1, 5, 10, 288, 288) + bytes(8))
    events, err, status = report(directory)
    check("event of no bits", (status, events) == (3, 1), (status, events))
    check("event of no bits: said", "an event takes no bits" in err, err)


def one_metadata(top):
    """One trace in two directories, as of two snapshots. Their metadata are equal until one of them is damaged: the other
    one describes both. Two that are both valid, but different, are declined."""
    directories = [os.path.join(top, "snapshots", name) for name in ("snapshot-1", "snapshot-2")]
    for i, directory in enumerate(directories):
        with made.Recording(directory) as recording:
            begin = BASE + i * SECOND
            recording.packet(0, begin, begin + SECOND, made.turns(begin, MS, EVENTS))
    with open(os.path.join(directories[0], "metadata"), encoding="ascii") as file:
        text = file.read()
    whole = records(os.path.join(top, "snapshots"))
    for damaged in directories:
        path = os.path.join(damaged, "metadata")
        with open(path, "w", encoding="ascii") as file:
            file.write(text.replace("event.header", "event;header") + "/* longer */")
        events, err, status = report(os.path.join(top, "snapshots"), "auto")
        name = os.path.basename(damaged)
        check(f"metadata of {name}: all events", (status, events) == (3, 2 * EVENTS), (status, events))
        check(f"metadata of {name}: said", re.search(rf"{name}\b.*metadata", err), err)
        check(f"metadata of {name}: times", times(records(os.path.join(top, "snapshots")), 0) == times(whole, 0))
        with open(path, "w", encoding="ascii") as file:
            file.write("/* other */\n" + text)
        events, err, status = report(os.path.join(top, "snapshots"))
        check(f"metadata of {name} differ", (status, events) == (1, 0) and "different metadata" in err, (status, events, err))
        with open(path, "w", encoding="ascii") as file:
            file.write(text)


def main():
    with tempfile.TemporaryDirectory() as top:
        in_packets(top)
        in_heads(top)
        several_heads(top)
        between_packets(top)
        without_uuid(top)
        one_metadata(top)
        foreign(top)
        cut(top)
        unfinished(top)
        nothing(top)
        shrinks(top)
    finish()


main()
