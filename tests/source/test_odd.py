#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Odd recordings: readable events count, unreadable ones are reported, and nothing is silently lost.

Made here packet by packet (made.py), so that every figure is known.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import made  # noqa: E402
from cases import check, finish, sanitized  # noqa: E402

LTTNGTOP = os.environ["LTTNGTOP"]
LIMIT_S = 60
SECOND = 10 ** 9
BASE = 1_700_000_000 * SECOND
EMPTY = 3000


def report(table, *arguments):
    """Objects of --json, standard error, exit status."""
    run = subprocess.run([LTTNGTOP, "report", table, "--json", *arguments], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, timeout=LIMIT_S, check=False)
    return [json.loads(line) for line in run.stdout.splitlines()], run.stderr, run.returncode


def events_of(directory, *arguments):
    pages, err, status = report("hosts", *arguments, directory)
    return sum(row["events"] for page in pages for row in page["rows"]), err, status


def cpu_times(page):
    return {row["tid"]: row["cpu_ns"] for row in page["rows"]}


def check_turns(name, directory, begin, count, cpus=1):
    """count switches per CPU, 1 ms apart from begin on: the
    recording is that long, and every ns of it belongs to a thread."""
    end = begin + (count - 1) * 10 ** 6 + 1
    pages, err, status = report("cpu", directory)
    check(f"{name}: nothing to say", (status, err) == (0, ""), (status, err))
    check(f"{name}: the record", (pages[0]["begin_ns"], pages[0]["end_ns"]) == (begin, end), pages[0])
    check(f"{name}: CPU time", sum(cpu_times(pages[0]).values()) == cpus * (end - begin), cpu_times(pages[0]))
    check(f"{name}: events", events_of(directory)[0] == count * cpus, events_of(directory)[0])
    pages, err, status = report("cpu", "--interval", "10ms", directory)
    sums = sum(sum(cpu_times(page).values()) for page in pages)
    check(f"{name}: by intervals", sums == cpus * (end - begin), sums)
    check(f"{name}: the last interval ends with the record", pages[-1]["end_ns"] == end, pages[-1]["end_ns"])
    pages, err, status = report("cpu", "--workers", "2", "--begin", "+10ms", "--end", "+20ms", directory)
    check(f"{name}: a part", sum(cpu_times(pages[0]).values()) == cpus * 10 ** 7, pages)


def quiet_start(top):
    """The switch timer wrote packets while nothing happened, for longer than a worker reads ahead."""
    for cpus in (1, 2):
        path = os.path.join(top, f"quiet-{cpus}")
        begin = BASE + EMPTY * SECOND
        with made.Recording(path) as recording:
            for cpu in range(cpus):
                for i in range(EMPTY):
                    recording.packet(cpu, BASE + i * SECOND, BASE + (i + 1) * SECOND)
                recording.packet(cpu, begin, begin + SECOND, made.turns(begin, 10 ** 6, 100, 2 * cpu + 1, 2 * cpu + 2))
        check_turns(f"quiet start, {cpus} CPUs", path, begin, 100, cpus)


def quiet_one(top):
    """One CPU is quiet for long, the recording starts with the other one."""
    path = os.path.join(top, "quiet-one")
    begin = BASE + SECOND
    with made.Recording(path) as recording:
        for i in range(EMPTY):
            recording.packet(0, BASE + i * SECOND, BASE + (i + 1) * SECOND)
        late = BASE + EMPTY * SECOND
        recording.packet(0, late, late + SECOND, made.turns(late, 10 ** 6, 10))
        recording.packet(1, BASE, begin + SECOND, made.turns(begin, 10 ** 6, 10, 3, 4))
    pages, err, status = report("cpus", path)
    check("one quiet CPU: exit status", status == 0, err)
    check("one quiet CPU: begin", pages[0]["begin_ns"] == begin, pages[0])
    busy = {row["cpu"]: row["busy_ns"] for row in pages[0]["rows"]}
    check("one quiet CPU: both are busy all the time", busy == dict.fromkeys((0, 1), pages[0]["end_ns"] - begin), busy)


def late_switch(top):
    """Without a context, only the first switch shows who ran before it, however many events come first."""
    for count in (100, 10000):
        path = os.path.join(top, f"late-switch-{count}")
        trace = made.ctf.Trace("late")
        for i in range(count):
            trace.add(BASE + i * 5 * SECOND // count, "timer_hrtimer_start", ("hrtimer", "u64", 1))
        for second, prev, following in ((5, 1, 0), (6, 0, 1)):
            trace.add(BASE + second * SECOND, "sched_switch", ("prev_comm", "text", 16, "one"), ("prev_tid", "s32", prev),
                      ("prev_prio", "s32", 20), ("prev_state", "s64", 0), ("next_comm", "text", 16, "one"),
                      ("next_tid", "s32", following), ("next_prio", "s32", 20))
        trace.write(path, most=1000)
        pages, err, status = report("cpu", "--interval", "1s", path)
        check(f"first switch after {count} events: exit status", status == 0, err)
        check(f"first switch after {count} events: CPU time", [cpu_times(page) for page in pages] ==
              5 * [{1: SECOND}] + [{1: 0}, {1: 1}], pages)


def at_zero(top):
    """0 ns since the epoch is a time like any other."""
    for begin in (0, 1):
        path = os.path.join(top, f"at-{begin}")
        with made.Recording(path) as recording:
            recording.packet(0, begin, begin + SECOND, made.turns(begin, 10 ** 6, 100))
        check_turns(f"first event at {begin} ns", path, begin, 100)


def abort(top):
    """Counters that no tracer writes make some versions of the library abort: its output before that counts. It
    delivers messages in batches of 15, of which it loses the last one. Other versions deliver everything."""
    for name, second in (("events_discarded", {"discarded": 2 ** 64 - 1}), ("packet_seq_num", {"seq": 2 ** 64 - 1})):
        path = os.path.join(top, name)
        with made.Recording(path) as recording:
            for i in range(8):
                begin = BASE + i * SECOND
                recording.packet(0, begin, begin + SECOND, made.turns(begin, 10 ** 6, 90), **(second if i == 4 else {}))
        events, err, status = events_of(path)
        check(f"{name}: exit status", status == 3 or (status == 0 and events == 8 * 90), (status, err))
        check(f"{name}: what was decoded", events >= 4 * 90 - 15, events)


def refused(top):
    """Fields of types that no tracer uses, CPUs that no machine has: they are named, and the rest counts."""
    float_type = "floating_point { exp_dig = 8; mant_dig = 24; align = 8; byte_order = le; } "
    structure = "struct { integer { size = 32; align = 8; signed = 1; } _x; } "
    cases = {"float": ({"_prev_tid": float_type}, {}, "sched_switch: field 'prev_tid' has a type that cannot be read"),
             "structure": ({"_prev_tid": structure}, {}, "sched_switch: field 'prev_tid' has a type"),
             "cpu_id": ({}, {"cpu_id": 4096}, "ch_0: its cpu_id is above 4095"),
             "last CPU": ({}, {"cpu_id": 4095}, None)}
    for name, (fields, options, words) in cases.items():
        path = os.path.join(top, name)
        with made.Recording(path, switch_fields=fields) as recording:
            recording.packet(0, BASE, BASE + SECOND, made.turns(BASE, 10 ** 6, 50), **options)
        events, err, status = events_of(path)
        check(f"{name}: events", events == 50, events)
        check(f"{name}: exit status", status == (3 if words else 0), (status, err))
        check(f"{name}: said once", err.count(words) == 1 if words else not err, err)


def huge_packet(top):
    """A packet that claims to be of gigabytes, in a file with holes: the next one is searched for. The first one's loss is
    before the record."""
    path = os.path.join(top, "huge packet")
    with made.Recording(path) as recording:
        for i in range(3):
            recording.packet(0, BASE + i * SECOND, BASE + (i + 1) * SECOND, made.turns(BASE + i * SECOND, 10 ** 6, 50))
    with open(os.path.join(path, "ch_0"), "r+b") as file:
        file.seek(32 + 16)
        file.write(struct.pack("<QQ", 8 * (3 << 30), 8 * (3 << 30)))
        file.truncate(4 << 30)  # the holes are left out, too
    pages, err, status = report("hosts", path)
    row = pages[0]["rows"][0]
    check("huge packet: the following ones count", (row["events"], row["lost_packets"], status) == (100, 1, 3), (row, err))
    check("huge packet: said", "the packet at byte 0 is left out: more than 1 GiB" in err, err)


def large_packets(path, cpus, size, filler=0):
    """Three packets of each CPU, 50 events each; the first one is of size bytes. Its rest is padding, except for an event with
    filler bytes."""
    heads = []
    with made.Recording(path) as recording:
        for cpu in range(cpus):
            for i in range(3):
                begin = BASE + i * SECOND
                events = made.turns(begin, 10 ** 6, 50, 2 * cpu + 1, 2 * cpu + 2)
                if filler and i == 0:
                    events.append((begin + SECOND // 2, struct.pack("<IQii", 1, begin + SECOND // 2, 1, 1)))
                recording.packet(cpu, begin, begin + SECOND, events)
            heads.append(len(recording.streams[cpu][0]))
    for cpu, head in enumerate(heads):
        with open(os.path.join(path, f"ch_{cpu}"), "r+b") as file:
            data = file.read()
            file.seek(32 + 16)
            file.write(struct.pack("<QQ", 8 * (head + filler), 8 * size))
            file.truncate(head)
            file.seek(size)
            file.write(data[head:])
    with open(os.path.join(path, "metadata"), "a", encoding="ascii") as metadata:
        metadata.write('event { name = "filler"; id = 1; stream_id = 0; fields := struct { integer { size = 8; align = 8; }'
                       f" _bytes[{filler}]; }}; }};\n")


def padding(top):
    """Packets of many CPUs: together they are larger than the memory of a worker, which does not need their padding."""
    path = os.path.join(top, "padding")
    large_packets(path, 5, 1 << 30)
    events, err, status = events_of(path, "--workers", "1")
    check("padding: all events, nothing said", (events, status, err) == (750, 0, ""), (events, status, err))


def damaged_head(top):
    """The packet after a large one with a damaged head is found. Not behind bytes that look like heads and are not, each of
    which takes time: so many are no accident."""
    for name, heads, found in ("", 1000, True), (" full of heads", 1 << 20, False):
        path = os.path.join(top, "damaged head" + name)
        large_packets(path, 1, 100 << 20)
        with open(os.path.join(path, "ch_0"), "r+b") as file:
            file.write(bytes(4))
            file.seek(1 << 20)
            file.write(struct.pack("<I", 0xc1fc1fc1) * heads)
        events, err, status = events_of(path)
        check(f"damaged head{name}: the following packets", events == (100 if found else 0), events)
        check(f"damaged head{name}: said", "wrong magic number" in err, err)
        check(f"damaged head{name}: exit status", status == (3 if found else 1), (status, err))


def huge_packets(top):
    """Packets that fit into a worker's address space one at a time: where one cannot be mapped, the next one is read."""
    if sanitized():  # they need an address space without limits
        return
    path = os.path.join(top, "huge packets")
    size = 300 << 20
    large_packets(path, 2, size, size - (1 << 20))
    run = subprocess.run(["prlimit", f"--as={525 << 20}", LTTNGTOP, "report", "hosts", "--json", "--workers", "1", path],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT_S, check=False)
    row = json.loads(run.stdout)["rows"][0]
    check("huge packets: only one is left out", (row["events"], run.returncode) == (251, 3), (row, run.stderr))
    check("huge packets: said", "the packet at byte 0 is left out: packets exceed the address space of a worker, 525 MiB: "
          "use more --workers" in run.stderr, run.stderr)


def many(length, count):
    """Fields without elements."""
    return "".join(f"uint8_t a{i}[{length}]; " for i in range(count))


def empty_fields(top):
    """Sequences without elements, which take time but no bits, are limited in a packet: what follows is left out. What
    `dump` reads of an event counts, too."""
    for name, count, counted, dumped in (("few", 1000, True, True), ("many", 2500, True, False), ("too many", 4000, False, False)):
        path = os.path.join(top, "empty fields, " + name)
        with made.Recording(path) as recording:
            recording.packet(0, BASE, BASE + SECOND, [(BASE + i, struct.pack("<BIB", 0, (BASE + i) % 2 ** 32, 0))
                                                      for i in range(1000)])
        with open(os.path.join(path, "metadata"), "r+", encoding="ascii") as metadata:
            text = metadata.read()
            text = text[:text.index("event.context")] + "};\n"
            for old, new in (("{ uint32_t id; time_t ", "{ uint8_t id; short_t "),
                             ("stream { id", "typealias integer { size = 32; align = 8; map = clock.monotonic.value; } := "
                                             "short_t;\nstream { id")):
                assert text.count(old) == 1
                text = text.replace(old, new)
            metadata.seek(0)
            metadata.write(text + 'event { name = "empty"; id = 0; stream_id = 0; fields := struct {\n'
                           f"uint8_t len; {many('len', count)}}}; }};\n")
            metadata.truncate()
        events, err, status = events_of(path)
        said = "too many empty fields" in err
        check(f"{name} empty fields: counted", (events == 1000, said, status) == (counted, not counted, 0 if counted else 3),
              (events, err))
        run = subprocess.run([LTTNGTOP, "report", "dump", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             timeout=LIMIT_S, check=False)
        check(f"{name} empty fields: dumped", (run.stdout.count(" empty") == 1000, "too many empty fields" in run.stderr) ==
              (dumped, not dumped), (run.stdout.count(" empty"), run.stderr))


def empty_fields_of_packets(top):
    """The limit is that of a stream, not of each of its packets: otherwise a file of small packets would take hours. Packets
    with many bits and few steps make up for others."""
    path = os.path.join(top, "empty fields of packets")
    with made.Recording(path) as recording:
        for i, heavy in enumerate((True, True, True, True, False, True)):
            begin = BASE + i * SECOND
            events = [(begin, struct.pack("<IQiiB", 1, begin, 1, 1, 0))] if heavy else made.turns(begin, 1000, 1000)
            recording.packet(0, begin, begin + SECOND, events)
    with open(os.path.join(path, "metadata"), "a", encoding="ascii") as metadata:
        metadata.write(f"struct many {{ {many('event.fields.len', 500)} }};\n"
                       'event { name = "empty"; id = 1; stream_id = 0; fields := struct { uint8_t len;\n' +
                       "".join(f"struct many m{i}; " for i in range(150)) + "}; };\n")
    events, err, status = events_of(path)
    check("empty fields of packets: exit status", status == 3, (events, err, status))
    check("empty fields of packets: the first one", "packet at byte 210 is left out: too many empty fields" in err, err)
    check("empty fields of packets: two", "lost: 2 packets\n" in err, err)


def empty_fields_of_head(top):
    """The same in the context of a packet: it is left out, not all of its file. However large a packet is, the limit is the
    same for its head, which is first read without knowing the packet's size."""
    for many_of, fits in ((10, True), (2000, False)):
        path = os.path.join(top, f"empty fields of a head, {many_of}")
        with made.Recording(path) as recording:
            for i in range(3):
                recording.packet(0, BASE + i * SECOND, BASE + (i + 1) * SECOND, made.turns(BASE + i * SECOND, 10 ** 6, 200 if i == 2 else 2))
            for i, packet in enumerate(recording.streams[0]):
                packet = bytearray(packet[:84] + struct.pack("BB", i == 1, 0) + packet[84:])
                struct.pack_into("<QQ", packet, 32 + 16, 8 * len(packet), 8 * len(packet))
                recording.streams[0][i] = packet
        with open(os.path.join(path, "metadata"), "r+", encoding="ascii") as metadata:
            text = metadata.read()
            assert text.count("uint32_t cpu_id; ") == 1
            text = text.replace("uint32_t cpu_id; ", "uint32_t cpu_id; enum : uint8_t { none = 0, many = 1 } which; uint8_t len; "
                                "variant <which> { struct { } none; struct { " + "".join(f"struct many m{i}; " for i in range(300)) +
                                "} many; } v; ")
            text = text.replace("stream { id", f"struct many {{ {many('stream.packet.context.len', many_of)} }};\nstream {{ id")
            metadata.seek(0)
            metadata.write(text)
        events, err, status = events_of(path)
        check(f"empty fields of a head, {many_of}: events", (events, status) == ((204, 0) if fits else (202, 3)), (events, err))
        check(f"empty fields of a head, {many_of}: said", ("left out: too many empty fields" in err) != fits, err)


def refused_cpus(top):
    """However many there are, one line says so."""
    path = os.path.join(top, "refused CPUs")
    with made.Recording(path) as recording:
        for i in range(5):
            recording.packet(i, BASE, BASE + SECOND, made.turns(BASE, 10 ** 6, 10), cpu_id=4096 + i)
    events, err, status = events_of(path, "--workers", "1")
    check("several refused CPUs: figures", (events, status) == (50, 3), (events, status, err))
    check("several refused CPUs: said once", err.count("above") == 1 and "and 4 more: its cpu_id is above 4095" in err, err)


def too_large(top):
    """An event larger than its packet ends the packet: it is reported; the events before it count."""
    path = os.path.join(top, "too large")
    with made.Recording(path, switch_fields={"_next_prio": made.INT, "_more[1000000]": made.COMM}) as recording:
        recording.packet(0, BASE, BASE + SECOND, made.turns(BASE, 10 ** 6, 3))
    events, err, status = events_of(path)
    check("event larger than its packet: exit status", status == 3, (status, err))
    check("event larger than its packet: said", "an event is larger than its packet" in err, err)
    check("event larger than its packet: no event", events == 0, events)


def rename_field(directory, name, other):
    """In the metadata: the field keeps its place, but no longer has a meaning."""
    with open(os.path.join(directory, "metadata"), "r+", encoding="ascii") as metadata:
        text = metadata.read()
        assert name in text
        metadata.seek(0)
        metadata.write(text.replace(name, other))
        metadata.truncate()


def wrong_end(top):
    """The last packet of a stream's first file claims to end after all others: these are not repetitions."""
    for name in ("numbered", "without numbers"):
        path = os.path.join(top, "wrong end " + name)
        os.mkdir(path)
        for i in range(3):
            part, begin = os.path.join(path, str(i)), BASE + i * SECOND
            with made.Recording(part) as recording:
                end = begin + (1000 if i == 0 else 1) * SECOND
                recording.packet(0, begin, end, made.turns(begin, 10 ** 6, 50), seq=i)
            if name != "numbered":
                rename_field(part, "packet_seq_num", "other")
        events, err, _ = events_of(path)
        check(f"wrong end, {name}: events", events == 3 * 50, (events, err))


def wrong_begin(top):
    """A packet that starts after its end is left out: the times of its events cannot be relied on. The next one is
    found by its magic number, or else by the packet's size."""
    for name in ("by magic number", "by size"):
        path = os.path.join(top, "wrong begin " + name)
        with made.Recording(path) as recording:
            for i in range(4):
                begin = BASE + i * SECOND
                recording.packet(0, begin + (1 << 42 if i in (1, 3) else 0), begin + SECOND,
                                 made.turns(begin, 10 ** 6, 50))
        if name == "by size":
            rename_field(path, " magic;", " other;")
        pages, err, status = report("hosts", path)
        row = pages[0]["rows"][0]
        check(f"packet that ends before it begins, next {name}: figures",
              (row["events"], row["lost_packets"], status) == (100, 2, 3), pages)
        check(f"packet that ends before it begins, next {name}: said", "a packet that ends before it begins" in err, err)


def gaps(top):
    """A clock that jumps by years: the empty intervals are one page, aligned to the grid, and sums stay correct."""
    years, jump = os.path.join(top, "years"), 20 * 365 * 86400 * SECOND
    with made.Recording(years) as recording:
        events = made.turns(BASE, 10 ** 6, 50) + [(BASE + jump, made.switch(BASE + jump, 1, 2))]
        recording.packet(0, BASE, BASE + jump, events)
    for table, options in (("cpu", ()), ("hosts", ()), ("accounting", ()), ("sync", ()),
                           ("critical-path", ("--host", "made", "--tid", "1"))):
        pages, err, status = report(table, "--interval", "1s", *options, years)
        check(f"gap: {table}: exit status", status == 0, err)
        check(f"gap: {table}: pages", [(p["begin_ns"] - BASE, p["end_ns"] - BASE, p.get("gap")) for p in pages] ==
              [(0, SECOND, None), (SECOND, jump, True), (jump, jump + 1, None)], pages)
    pages = report("cpu", "--interval", "1s", years)[0]
    check("gap: sums", sum(sum(cpu_times(page).values()) for page in pages) == jump + 1, pages)
    pages = report("cpu", "--interval", "1s", "--begin", "+100s", "--end", "+5000s", years)[0]
    check("gap: a part of it", [page["end_ns"] - page["begin_ns"] for page in pages] == [4900 * SECOND], pages)
    for form, lines in (("--csv", 7), ("--utc", 17)):  # with the totals of three pages
        out = subprocess.run([LTTNGTOP, "report", "cpu", "--interval", "1s", form, years], stdout=subprocess.PIPE,
                             text=True, timeout=LIMIT_S, check=True).stdout.splitlines()
        check(f"gap: {form}", len(out) <= lines, out)
    # a busy host beside it
    other = os.path.join(top, "busy")
    with made.Recording(other, "busy") as recording:
        recording.packet(0, BASE, BASE + 1100 * SECOND, made.turns(BASE, SECOND, 1100))
    pages = report("cpu", "--interval", "1s", "--no-sync", years, other)[0]
    check("gap: not while another host is busy", len(pages) == 1102 and sum("gap" in page for page in pages) == 1,
          len(pages))
    # a short jump gives ordinary intervals
    short = os.path.join(top, "short")
    with made.Recording(short) as recording:
        recording.packet(0, BASE, BASE + 900 * SECOND, made.turns(BASE, 900 * SECOND, 2))
    pages = report("cpu", "--interval", "1s", short)[0]
    check("gap: a short one", len(pages) == 901 and not any("gap" in page for page in pages), len(pages))


def strange_index(top):
    """An index that is not an ordinary file is as good as none: nobody waits for it, or reads it for ever."""
    for name, make in (("fifo", os.mkfifo), ("device", lambda path: os.symlink("/dev/zero", path)),
                       ("loop", lambda path: os.symlink(os.path.basename(path), path)), ("directory", os.mkdir)):
        path = os.path.join(top, "index-" + name)
        with made.Recording(path) as recording:
            recording.packet(0, BASE, BASE + SECOND, made.turns(BASE, 10 ** 6, 50))
        stream = next(os.path.join(where, file) for where, _, files in os.walk(path) for file in files
                      if file != "metadata")
        os.makedirs(os.path.join(os.path.dirname(stream), "index"))
        make(os.path.join(os.path.dirname(stream), "index", os.path.basename(stream) + ".idx"))
        check_turns(f"index: {name}", path, BASE, 50)


THIRD_FORM = """/* CTF 1.8 */
typealias integer { size = 5; align = 1; signed = false; } := uint5_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; }; };
env { hostname = "third"; domain = "kernel"; tracer_name = "lttng-modules"; tracer_major = 2; tracer_minor = 13; };
clock { name = "c"; freq = 1000000000; offset = 0; };
typealias integer { size = 27; align = 1; signed = false; map = clock.c.value; } := short_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := long_t;
stream {
  packet.context := struct { long_t timestamp_begin; long_t timestamp_end; uint64_t content_size; uint64_t packet_size;
    uint32_t cpu_id; };
  event.header := struct {
    enum : uint5_t { compact = 0 ... 4, third = 5, compact = 6 ... 30, extended = 31 } id;
    variant <id> {
      struct { short_t timestamp; } compact;
      struct { short_t timestamp; integer { size = 64; align = 1; signed = false; } more; } third;
      struct { uint32_t id; long_t timestamp; } extended;
    } v;
  } align(8);
};
event { name = "one"; id = 0; fields := struct { uint32_t _x; }; };
event { name = "five"; id = 5; fields := struct { uint32_t _x; }; };
"""


def third_form(top):
    """An event header that is like LTTng's except for one ID."""
    path = os.path.join(top, "third")
    os.mkdir(path)
    with open(os.path.join(path, "metadata"), "w", encoding="ascii") as file:
        file.write(THIRD_FORM)
    events = struct.pack("<IIIQIII", 0 | 1000 << 5, 1, 5 | 2000 << 5, 77, 2, 0 | 3000 << 5, 3)
    bits = 8 * (40 + len(events))
    with open(os.path.join(path, "stream_0"), "wb") as file:
        file.write(struct.pack("<IQQQQI", 0xc1fc1fc1, 1000, 3000, bits, bits, 0) + events)
    out = subprocess.run([LTTNGTOP, "report", "dump", path], stdout=subprocess.PIPE, text=True, timeout=LIMIT_S,
                         check=False).stdout
    check("header with a third form", [(line[15:19], line[-3]) for line in out.splitlines()] ==
          [("1000", "1"), ("2000", "2"), ("3000", "3")], out)


def texts(top):
    """Arrays of texts: only the innermost dimension is one."""
    number, character = "integer { size = 8; align = 8; } ", "integer { size = 8; align = 8; encoding = UTF8; } "
    path = os.path.join(top, "texts")
    fields = {"_next_prio": made.INT, "_fixed[2][3]": character, "_len": number, "_counted[2][_len]": character,
              "_none[100000][0]": character, "_after": number}
    with made.Recording(path, switch_fields=fields) as recording:
        recording.packet(0, BASE, BASE + SECOND, [(BASE, made.switch(BASE, 1, 2) + b"abcde\0\4ijklmn\0p\x2a")])
    out = subprocess.run([LTTNGTOP, "report", "dump", path], stdout=subprocess.PIPE, text=True, timeout=LIMIT_S,
                         check=False).stdout
    for expected in ('fixed = [ [0] = "abc", [1] = "de" ], len = 4, counted = [ [0] = "ijkl", [1] = "mn" ], none = [',
                     "after = 42 }"):
        check(f"arrays of texts: {expected}", expected in out, out)


def limits(top):
    """Fields nested too deeply, or too many to be kept: the worker that reads them is not taken for one that lies."""
    number = "integer { size = 8; align = 8; } "
    cases = {"deep": ({"_d" + "[1]" * 60: "struct { " + number + "x" + "[1]" * 20 + "; } "}, None),
             "many": ({"_d[1024]": "struct { " + "".join(f"struct {{ }} a{i}; " for i in range(100)) + "} ",
                       "_x": number}, " = { } ... } ] }"),
             "no option": ({"_tag": "enum : " + number + "{ A, B, C, D, E, F, G, H } ",
                            "_d": "variant <_tag> { struct { variant <_tag> { } v; } A; " + number + "H; } "},
                           'd = { 7 } }')}
    for name, (fields, end) in cases.items():
        path = os.path.join(top, "limits " + name)
        with made.Recording(path, switch_fields=fields) as recording:
            recording.packet(0, BASE, BASE + SECOND, [(time, data + b"\7" * (1 + (name == "no option")))
                                                      for time, data in made.turns(BASE, 10 ** 6, 3)])
        run = subprocess.run([LTTNGTOP, "report", "dump", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             timeout=LIMIT_S, check=False)
        lines = run.stdout.splitlines()
        check(f"{name}: events", len(lines) == (3 if end else 0) and all(line.endswith(end) for line in lines),
              [line[-80:] for line in lines])
        note = "sched_switch: it has too many fields to show them all"
        check(f"{name}: exit status", run.returncode == (0 if end else 3), (run.returncode, run.stderr))
        check(f"{name}: said", note in run.stderr if not end else not run.stderr, run.stderr)


def write_labels(path, classes):
    """A recording with an event of each class, whose labels take nearly 1 MiB."""
    with made.Recording(path) as recording:
        recording.packet(0, BASE, BASE + SECOND, [(BASE + i, struct.pack("<IQiiB", i, BASE + i, 1, 1, 3))
                                                  for i in range(1, classes + 1)])
    with open(os.path.join(path, "metadata"), "a", encoding="ascii") as metadata:
        labels = ", ".join(f"{'x' * 1000}{i}" for i in range(900))
        metadata.write("typealias enum : integer { size = 8; align = 8; } { " + labels + " } := labelled;\n")
        for i in range(1, classes + 1):
            metadata.write(f'event {{ name = "e{i}"; id = {i}; stream_id = 0; fields := struct {{ labelled _x; }}; }};\n')


def many_labels(top):
    """Classes whose labels are too many to be kept together: the last ones are shown without."""
    path, classes = os.path.join(top, "many labels"), 80
    write_labels(path, classes)
    run = subprocess.run([LTTNGTOP, "report", "dump", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         timeout=LIMIT_S, check=False)
    lines = run.stdout.splitlines()
    check("many labels: exit status", (run.returncode, run.stderr) == (0, ""), (run.returncode, run.stderr))
    check("many labels: events", len(lines) == classes and all(": container = 3 )" in line for line in lines), len(lines))
    check("many labels: the first ones have them", "xxx3" in lines[0] and "xxx3" not in lines[-1], (lines[0], lines[-1]))


def many_labels_of_several(top):
    """The same in two traces of a directory that is followed: they share a limit."""
    path, classes = os.path.join(top, "many labels of several"), 40
    for part in ("a", "b"):
        write_labels(os.path.join(path, part), classes)
        rename_field(os.path.join(path, part), "uuid[16]", "other[16]")
        rename_field(os.path.join(path, part), 'domain = "kernel"', 'domain = "other"')
    rename_field(os.path.join(path, "b"), f'trace {{ major = 1; minor = 8; uuid = "{made.UUID_TEXT[0]}',
                 'trace { major = 1; minor = 8; uuid = "0')
    run = subprocess.run([LTTNGTOP, "report", "dump", "--follow", "--stall-limit", "100ms", "--end", "+1us", path],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT_S, check=False)
    lines = run.stdout.splitlines()
    check("many labels of several: said", "nonsense" not in run.stderr, run.stderr)
    check("many labels of several: events",
          len(lines) == 2 * classes and all(": container = 3 )" in line for line in lines), (len(lines), run.stderr))
    with_labels = sum("xxx3" in line for line in lines)
    check("many labels of several: the first ones have them", classes < with_labels < 2 * classes, with_labels)


def main():
    with tempfile.TemporaryDirectory() as top:
        quiet_start(top)
        quiet_one(top)
        late_switch(top)
        at_zero(top)
        abort(top)
        refused(top)
        refused_cpus(top)
        huge_packet(top)
        padding(top)
        damaged_head(top)
        huge_packets(top)
        empty_fields(top)
        empty_fields_of_packets(top)
        empty_fields_of_head(top)
        too_large(top)
        wrong_end(top)
        wrong_begin(top)
        gaps(top)
        strange_index(top)
        third_form(top)
        texts(top)
        limits(top)
        many_labels(top)
        many_labels_of_several(top)
    finish()


main()
