#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of odd shapes (CTF 1.8) from a seed: what the format allows but no available tracer writes.

Alignments, bit fields across byte boundaries, both byte orders in one trace, nested types, headers and contexts of any
layout, lengths and tags far from their fields, times of few bits, counters that jump. Some events have the names of
tracepoints, and their wanted fields at odd places and of odd types.

    shapes.py SEED DIRECTORY [small] [calm]    writes one
"""
import os
import random
import struct
import sys

UUID = b"shapes shapes sh"
UUID_TEXT = "-".join(UUID.hex()[a:b] for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))

# The wanted fields of some tracepoints: name → (field, kind of type)
WANTED = {
    "sched_switch": (("prev_comm", "text"), ("prev_tid", "int"), ("prev_prio", "int"), ("prev_state", "int"),
                     ("next_comm", "text"), ("next_tid", "int"), ("next_prio", "int")),
    "sched_wakeup": (("comm", "text"), ("tid", "int"), ("prio", "int"), ("target_cpu", "int")),
    "sched_process_fork": (("parent_comm", "text"), ("parent_tid", "int"), ("parent_pid", "int"), ("child_comm", "text"),
                           ("vtids", "ints"), ("child_tid", "int"), ("child_pid", "int"), ("child_ns_inum", "int")),
    "sched_process_exec": (("filename", "text"), ("tid", "int"), ("old_tid", "int")),
    "irq_handler_entry": (("irq", "int"), ("name", "text")),
    "block_rq_issue": (("dev", "int"), ("sector", "int"), ("nr_sector", "int"), ("bytes", "int"), ("rwbs", "int"),
                       ("tid", "int"), ("comm", "text")),
    "net_dev_queue": (("skbaddr", "int"), ("len", "int"), ("name", "text"), ("network_header", "network")),
    "net_if_receive_skb": (("network_header", "network"), ("skbaddr", "int"), ("len", "int"), ("name", "text")),
    "syscall_entry_openat": (("dfd", "int"), ("filename", "text"), ("flags", "int"), ("mode", "int")),
    "syscall_entry_connect": (("fd", "int"), ("family", "int"), ("dport", "int"), ("v4addr", "address"),
                              ("v6addr", "address")),
    "syscall_entry_unknown": (("id", "int"), ("args", "ints")),
    "syscall_exit_pipe2": (("ret", "int"), ("fildes", "ints")),
    "syscall_exit_accept4": (("ret", "int"), ("family", "int"), ("sport", "int"), ("v4addr", "address"),
                             ("v6addr", "address")),
    "lttng_statedump_process_state": (("tid", "int"), ("pid", "int"), ("ppid", "int"), ("name", "text"), ("type", "int"),
                                      ("vtid", "int"), ("vpid", "int"), ("ns_level", "int"), ("ns_inum", "int"),
                                      ("cpu", "int"), ("file_table_address", "int")),
    "lttng_statedump_file_descriptor": (("file_table_address", "int"), ("fd", "int"), ("flags", "int"),
                                        ("filename", "text")),
    "lttng_statedump_network_interface": (("name", "text"), ("address_ipv4", "int")),
    "do_sys_probe": (("ip", "int"), ("parent_ip", "int")),
}
CONTEXT = (("pid", "int"), ("tid", "int"), ("procname", "text"), ("ppid", "int"), ("prio", "int"), ("vtid", "int"),
           ("vpid", "int"), ("pid_ns", "int"), ("uid", "int"), ("perf_cpu_cycles", "int"), ("perf_thread_faults", "int"))
HEADERS = {
    "ipv4": (("version", 4), ("ihl", 4), ("tos", 8), ("tot_len", 16), ("id", 16), ("frag_off", 16), ("ttl", 8),
             ("protocol", 8), ("saddr", "address"), ("daddr", "address"), ("transport_header", "transport")),
    "ipv6": (("version", 4), ("payload_len", 16), ("nexthdr", 8), ("saddr", "address"), ("daddr", "address"),
             ("transport_header", "transport")),
    "tcp": (("source_port", 16), ("dest_port", 16), ("seq", 32), ("ack_seq", 32), ("data_offset", 4), ("reserved", 3),
            ("flags", 9), ("window_size", 16)),
    "udp": (("source_port", 16), ("dest_port", 16), ("len", 16), ("check", 16)),
}


class Bits:
    """A packet as it is written."""

    def __init__(self):
        self.data, self.at = bytearray(), 0

    def align(self, to):
        self.at = (self.at + to - 1) // to * to
        self.data.extend(bytes(-(-self.at // 8) - len(self.data)))

    def put(self, size, order, value):
        self.put_at(self.at, size, order, value)
        self.at += size

    def put_at(self, at, size, order, value):
        self.data.extend(bytes(max(0, -(-(at + size) // 8) - len(self.data))))
        value &= (1 << size) - 1
        done = 0
        while done < size:
            n = min(size - done, 8 - at % 8)
            mask = (1 << n) - 1
            if order == "le":
                part, shift = value >> done, at % 8
            else:
                part, shift = value >> (size - done - n), 8 - at % 8 - n
            self.data[at // 8] = self.data[at // 8] & ~(mask << shift) & 0xff | (part & mask) << shift
            done += n
            at += n


class Int:
    def __init__(self, size, align=1, signed=False, order=None, encoding=False, clock=False):
        self.size, self.align, self.signed, self.order, self.encoding = size, align, signed, order, encoding
        self.clock, self.labels = clock, None

    def text(self):
        text = f"integer {{ size = {self.size}; align = {self.align}; signed = {int(self.signed)};"
        text += f" byte_order = {self.order};" if self.order else ""
        text += " encoding = UTF8;" if self.encoding else ""
        text += " map = clock.c.value;" if self.clock else ""
        text += " }"
        return f"enum : {text} {{ {self.labels} }}" if self.labels else text

    def set(self, bits, trace, value):
        bits.align(self.align)
        bits.put(self.size, self.order or trace.order, value)
        return bits.at - self.size

    def write(self, bits, trace, _scope):
        value = trace.value(self.size)
        self.set(bits, trace, value)
        return value


class Float:
    def __init__(self, double, align):
        self.double, self.align = double, align

    def text(self):
        digits = (11, 53) if self.double else (8, 24)
        return f"floating_point {{ exp_dig = {digits[0]}; mant_dig = {digits[1]}; align = {self.align}; }}"

    def write(self, bits, trace, _scope):
        bits.align(self.align)
        for byte in struct.pack("<d" if self.double else "<f", trace.rng.uniform(-1e6, 1e6)):
            bits.put(8, trace.order, byte)


class String:
    align = 8

    def text(self):
        return "string"

    def write(self, bits, trace, _scope):
        bits.align(8)
        for byte in trace.characters() + b"\0":
            bits.put(8, trace.order, byte)


class Array:
    """length: a number; for a sequence (the path of a field, the name by which the scope knows its value)."""

    def __init__(self, element, length):
        self.element, self.length, self.align = element, length, element.align

    def text(self):
        return self.element.text()

    def suffix(self):
        return f"[{self.length if isinstance(self.length, int) else self.length[0]}]"

    def write(self, bits, trace, scope):
        bits.align(self.align)
        count = self.length if isinstance(self.length, int) else scope[self.length[1]]
        characters = iter(trace.characters()) if isinstance(self.element, Int) and self.element.size <= 8 else ()
        for _ in range(count):
            code = next(iter(characters), None) if characters else None
            if code is None:
                self.element.write(bits, trace, scope)
            else:
                self.element.set(bits, trace, code)


class Variant:
    align = 1

    def __init__(self, tag, options):
        self.tag, self.options = tag, options

    def text(self):
        inside = "".join(f"{kind.text()} _{name}{suffix(kind)};\n" for name, kind in self.options)
        return f"variant <{self.tag[0]}> {{\n{inside}}}"

    def write(self, bits, trace, scope):
        self.options[scope[self.tag[1]]][1].write(bits, trace, scope)


class Struct:
    def __init__(self, fields, align=1):
        self.fields, self.minimum = fields, align
        self.align = max([align] + [kind.align for _, kind in fields])

    def text(self):
        inside = "".join(f"{kind.text()} _{name}{suffix(kind)};\n" for name, kind in self.fields)
        return f"struct {{\n{inside}}}" + (f" align({self.minimum})" if self.minimum > 1 else "")

    def write(self, bits, trace, scope):
        bits.align(self.align)
        for name, kind in self.fields:
            if isinstance(kind, Count):
                scope[name] = kind.write_count(bits, trace)
            elif isinstance(kind, Tag):
                scope[name] = kind.write_tag(bits, trace)
            else:
                kind.write(bits, trace, scope)


def suffix(kind):
    return kind.suffix() + suffix(kind.element) if isinstance(kind, Array) else ""


class Count(Int):
    """The length of a sequence."""

    def write_count(self, bits, trace):
        count = min(trace.rng.choice((0, 0, 1, 2, 3, 5, 16, 40)), (1 << self.size) - 1)
        self.set(bits, trace, count)
        return count


class Tag(Int):
    """Labels of single values and ranges, one of them for each option."""

    def __init__(self, names, rng, size, align, signed, order):
        super().__init__(size, align, signed, order)
        low = -(1 << size - 1) if signed else 0
        high = low + (1 << size) - 1
        room = high - low + 1
        step = max(1, room // len(names))
        self.ranges, labels = [], []
        for i, name in enumerate(names):
            first = low + i * step
            last = rng.choice((first, first + (step - 1) // 2, first + step - 1))
            self.ranges.append((first, last))
            labels.append(f'"_{name}" = {first}' + (f" ... {last}" if last > first else ""))
        rng.shuffle(labels)
        self.labels = ", ".join(labels)

    def write_tag(self, bits, trace):
        option = trace.rng.randrange(len(self.ranges))
        self.set(bits, trace, trace.rng.randint(*self.ranges[option]))
        return option


class Shapes:
    """Random types; each field of a trace has a different name, so that paths mean what they seem to mean."""

    def __init__(self, rng, order):
        self.rng, self.order, self.n_names = rng, order, 0
        self.mixed = rng.random() < 0.3
        # babeltrace2 2.0 aborts on lengths and tags in elements and in an event's own context
        self.deep, self.plain = rng.random() < 0.05, False

    def name(self):
        self.n_names += 1
        return f"f{self.n_names}"

    def place(self, size=None, most=64):
        """(size, align, signed, order): the other byte order only for whole bytes."""
        rng = self.rng
        size = size or rng.choice((1, 3, 5, 7, 8, 8, 13, 16, 16, 24, 27, 32, 32, 33, 48, 63, 64, 64))
        size = min(size, most)
        order = None
        if self.mixed and rng.random() < 0.3:
            order = rng.choice(("le", "be"))
        if order and order != self.order:
            size = -(-size // 8) * 8
            return size, rng.choice((8, 16, 32)), rng.random() < 0.5, order
        return size, rng.choice((1, 1, 2, 4, 8, 8, 8, 16, 32, 64)), rng.random() < 0.5, order

    def integer(self, size=None, most=64):
        size, align, signed, order = self.place(size, most)
        number = Int(size, align, signed, order)
        if self.rng.random() < 0.15:
            number.labels = "A = 0, B, C = 5 ... 7" if size >= 4 else "A = 0"
        return number

    def count(self):
        size, align, _, order = self.place(most=16)
        return Count(max(size, 3), align, False, order)

    def sequence(self, element):
        """The fields that belong to it."""
        length = self.name()
        return [(length, self.count()), (self.name(), Array(element, (f"_{length}", length)))]

    def variant(self, options, name=None):
        tag = self.name()
        size, align, signed, order = self.place(most=64)
        size = max(size, 4)
        kind = Tag([option for option, _ in options], self.rng, size, align, signed, order)
        return [(tag, kind)] + self.filler(0.2) + [(name or self.name(), Variant((f"_{tag}", tag), options))]

    def filler(self, chance):
        return [(self.name(), self.integer())] if self.rng.random() < chance else []

    def any(self, depth):
        """Some fields: one, or several that belong together."""
        rng = self.rng
        kind = rng.choice(("int", "int", "int", "float", "string", "array", "sequence", "struct", "variant", "shared"))
        if depth <= 0 and kind in ("struct", "variant", "shared") or self.plain and kind in ("sequence", "variant", "shared"):
            kind = "int"
        if kind == "int":
            return [(self.name(), self.integer())]
        if kind == "float":
            return [(self.name(), Float(rng.random() < 0.5, rng.choice((8, 16, 32, 64))))]
        if kind == "string":
            return [(self.name(), String())]
        if kind == "array":
            return [(self.name(), Array(self.element(depth), rng.choice((0, 1, 2, 3, 7))))]
        if kind == "sequence":
            return self.sequence(self.element(depth))
        if kind == "struct":
            return [(self.name(), self.struct(depth - 1))]
        if kind == "shared":  # two sequences of the same length, one of them more deeply nested
            length = self.name()
            inner = Struct([(self.name(), Array(self.element(depth - 1), (f"_{length}", length)))])
            return [(length, self.count()), (self.name(), Array(self.integer(), (f"_{length}", length))),
                    (self.name(), inner)]
        return self.variant([(self.name(), self.option(depth - 1)) for _ in range(rng.randint(1, 4))])

    def option(self, depth):
        return self.rng.choice((self.integer, String, lambda: self.struct(depth)))()

    def element(self, depth):
        choice = self.rng.random()
        if choice < 0.6 or depth <= 0:
            return self.integer()
        if choice < 0.7:
            return String()
        if choice < 0.8:
            return Array(self.integer(), self.rng.choice((0, 1, 3)))
        return self.struct(depth - 1 if self.deep else 0, simple=not self.deep)

    def struct(self, depth, most=4, simple=False):
        fields = []
        for _ in range(self.rng.randint(0, most)):
            fields += [(self.name(), self.element(0))] if simple else self.any(depth)
        return Struct(fields, self.rng.choice((1, 1, 1, 8, 16, 64)))

    # ---- wanted fields ----

    def wanted(self, name, kind):
        rng = self.rng
        if kind == "int" and rng.random() < 0.03:
            return self.any(1)  # not readable: named
        if isinstance(kind, int):
            return [(name, Int(kind, rng.choice((1, 8)), False))]
        if kind == "int":
            return [(name, self.integer())]
        if kind == "network":
            return self.variant([(h, self.header(h)) for h in ("unknown", "ipv4", "ipv6")], name)
        if kind == "transport":
            return self.variant([(h, self.header(h)) for h in ("unknown", "tcp", "udp")], name)
        if kind == "text" and rng.random() < 0.3:
            return [(name, String())]
        if kind == "address" and rng.random() < 0.2:
            return [(name, Int(32, 8, False, rng.choice(("be", None)) if self.mixed or self.order == "be" else None))]
        if kind == "text":
            size = 8 if rng.random() < 0.9 else rng.choice((5, 7))
            element = Int(size, 8, rng.random() < 0.5, None, size == 8 and rng.random() < 0.5)
        elif kind == "address":
            element = Int(rng.choice((8, 16)), 8, False)
        else:
            element = self.integer()
        if self.plain or rng.random() < 0.5:
            return [(name, Array(element, rng.choice((16, 16, 4, 1, 20)) if kind != "ints" else rng.choice((0, 2, 6))))]
        fields = self.sequence(element)
        return [fields[0], (name, fields[1][1])]

    def header(self, name):
        fields = []
        for field, kind in HEADERS.get(name, ()):
            fields += self.wanted(field, kind)
        return Struct(fields)

    def payload(self, table):
        """The table's fields in any order, others among them."""
        fields = []
        for name, kind in self.rng.sample(table, len(table) if self.rng.random() < 0.8 else len(table) // 2):
            if self.rng.random() < 0.5:
                fields += self.any(2)
            fields += self.wanted(name, kind)
        if not fields or self.rng.random() < 0.5:
            fields += self.any(2)
        return Struct(fields, self.rng.choice((1, 1, 8, 32)))


class Header:
    """The header of the events of a stream: compact, large, or one of its own."""

    def __init__(self, shapes, rng):
        self.kind = rng.choice(("compact", "large", "own", "own"))
        self.fields = []
        if self.kind == "own":
            self.bits = rng.choice((16, 27, 32, 32, 45, 64))
            id_bits = rng.choice((8, 13, 16, 32, 64, 64))
            self.fields = [("id", Int(id_bits, rng.choice((1, 8, 16)))),
                           ("timestamp", Int(self.bits, rng.choice((1, 8, 32)), clock=True))]
            rng.shuffle(self.fields)
            for _ in range(rng.randrange(3)):
                self.fields.insert(rng.randrange(len(self.fields) + 1), (shapes.name(), shapes.integer()))
            self.greatest = (1 << id_bits) - 1
            self.type = Struct(self.fields, rng.choice((1, 8, 8, 32)))
        else:
            self.bits, self.greatest = (27, 32)[self.kind == "large"], (1 << 32) - 1
            self.natural = rng.random() < 0.3

    def text(self):
        if self.kind == "own":
            inside = "".join(f"{kind.text()} {name if name in ('id', 'timestamp') else '_' + name};\n"
                             for name, kind in self.fields)
            return f"struct {{\n{inside}}}" + (f" align({self.type.minimum})" if self.type.minimum > 1 else "")
        size, most = ((5, 31), (16, 65535))[self.kind == "large"]
        align = self.aligns()
        kinds = [Int(size, align[0]), Int(self.bits, align[1], clock=True), Int(32, align[2]), Int(64, align[3], clock=True)]
        kinds[0].labels = f"compact = 0 ... {most - 1}, extended = {most}"
        number, time, long_number, long_time = (kind.text() for kind in kinds)
        return (f"struct {{ {number} id;\nvariant <id> {{ struct {{ {time} timestamp; }} compact;\n"
                f"struct {{ {long_number} id; {long_time} timestamp; }} extended; }} v; }} align({max(8, align[0])})")

    def aligns(self):
        """The ID, the short time, the long ID and time."""
        if self.kind == "compact":
            return (1, 1, 32, 64) if self.natural else (1, 1, 8, 8)
        return (16, 32, 32, 64) if self.natural else (8, 8, 8, 8)

    def write(self, bits, trace, number, time, before):
        order = trace.order
        if self.kind == "own":
            bits.align(self.type.align)
            for name, kind in self.fields:
                if name in ("id", "timestamp"):
                    kind.set(bits, trace, number if name == "id" else time)
                else:
                    kind.write(bits, trace, {})
            return
        most, align = ((31, 5), (65535, 16))[self.kind == "large"], self.aligns()
        bits.align(max(8, align[0]))
        bits.align(align[0])
        if number < most[0] and time - before < 1 << self.bits and trace.rng.random() < 0.9:
            bits.put(most[1], order, number)
            bits.align(align[1])
            bits.put(self.bits, order, time)
        else:
            bits.put(most[1], order, most[0])
            # the structure's alignment comes first
            bits.align(max(align[2:]))
            bits.put(32, order, number)
            bits.align(align[3])
            bits.put(64, order, time)


class CalmContext(Struct):
    """A context as LTTng records it: whole bytes, mostly those of the event before but for perf counters, its last
    fields. In some, other fields follow the counters, or bytes are not whole."""

    def __init__(self, shapes, rng):
        names = [(name, kind) for name, kind in CONTEXT if name == "tid" or rng.random() < 0.7]
        if rng.random() < 0.2:
            rng.shuffle(names)
        size, align = rng.choice((32, 64)), rng.choice((8, 8, 1))
        fields = [(name, Array(Int(8, 8, encoding=True), 16) if kind == "text" else
                   Int(size, align, rng.random() < 0.5)) for name, kind in names]
        for _ in range(rng.randrange(3)):
            fields.insert(rng.randrange(len(fields) + 1), (shapes.name(), shapes.integer()))
        super().__init__(fields, 8)
        self.latest = {}

    def write(self, bits, trace, scope):
        bits.align(self.align)
        chance = trace.rng.choice((1, 1, 0.7))
        for name, kind in self.fields:
            keep = trace.rng.random() < chance
            if isinstance(kind, Array):
                text = trace.characters()[:16].ljust(16, b"\0")
                text = self.latest[name] = self.latest.get(name, text) if keep else text
                for byte in text:
                    kind.element.set(bits, trace, byte)
                continue
            value = trace.value(kind.size) if name != "tid" else trace.rng.randint(0, 3)
            if keep and not name.startswith("perf_"):
                value = self.latest.get(name, value)
            self.latest[name] = value
            kind.set(bits, trace, value)


class Stream:
    """A class of streams: its contexts, its events."""

    def __init__(self, shapes, rng, number, names, calm):
        self.number, self.header = number, Header(shapes, rng)
        if calm:
            self.context = CalmContext(shapes, rng)
        else:
            self.context = shapes.payload(CONTEXT) if rng.random() < 0.6 else None
        self.events = []
        ids = set()
        for name in names:
            event = rng.choice((len(self.events), rng.randrange(40), rng.randrange(1 << 16), rng.randrange(1 << 63)))
            event &= self.header.greatest
            if event in ids:
                continue
            ids.add(event)
            shapes.plain = not shapes.deep
            own = shapes.payload(CONTEXT[:4]) if rng.random() < self.own_chance() else None
            shapes.plain = False
            table = WANTED.get(name, ())
            self.events.append((event, name, own, shapes.payload(table)))
        self.packet = [("timestamp_begin", Int(64, 8, clock=True)), ("timestamp_end", Int(64, 8, clock=True)),
                       ("content_size", Int(rng.choice((32, 64)), 8)), ("packet_size", Int(rng.choice((32, 64)), 8))]
        if rng.random() < 0.7:
            self.packet.append(("packet_seq_num", Int(64, rng.choice((1, 8)))))
        if rng.random() < 0.7:
            self.packet.append(("events_discarded", Int(rng.choice((32, 64)), rng.choice((1, 8, 64)))))
        if rng.random() < 0.8:
            self.packet.append(("cpu_id", Int(rng.choice((8, 12, 32)), rng.choice((1, 8)))))
        rng.shuffle(self.packet)
        for _ in range(rng.randrange(3)):
            self.packet.insert(rng.randrange(len(self.packet) + 1), (shapes.name(), shapes.integer()))

    def own_chance(self):
        return 0.02 if isinstance(self.context, CalmContext) else 0.2

    def text(self):
        text = f"stream {{ id = {self.number};\nevent.header := {self.header.text()};\n"
        known = ("timestamp_begin", "timestamp_end", "content_size", "packet_size", "packet_seq_num", "events_discarded",
                 "cpu_id")
        inside = "".join(f"{kind.text()} {'' if name in known else '_'}{name};\n" for name, kind in self.packet)
        text += f"packet.context := struct {{\n{inside}}};\n"
        text += f"event.context := {self.context.text()};\n" if self.context else ""
        text += "};\n"
        for number, name, own, fields in self.events:
            text += f'event {{ name = "{name}"; id = {number}; stream_id = {self.number};\n'
            text += f"context := {own.text()};\n" if own else ""
            text += f"fields := {fields.text()};\n}};\n"
        return text


class Trace:
    """small: few events and fields, for traces that are read very often; calm: contexts as LTTng records them."""

    def __init__(self, seed, small=False, calm=False):
        rng = self.rng = random.Random(seed)
        self.order = rng.choice(("le", "le", "be"))
        self.shapes = Shapes(rng, self.order)
        self.domain = rng.choice(("kernel", "kernel", "kernel", "ust"))
        self.freq = rng.choice((10 ** 9, 10 ** 9, 1000, 3 * 10 ** 9, 1193182))
        self.offset_s, self.offset = rng.choice((0, 1_600_000_000)), rng.choice((0, 0, 12345))
        self.header = [("magic", Int(32, 8))] + ([("uuid", Array(Int(8, 8), 16))] if rng.random() < 0.7 else [])
        self.header.append(("stream_id", Int(rng.choice((8, 16, 32, 64)), rng.choice((1, 8, 64)))))
        if rng.random() < 0.5:
            self.header.append(("stream_instance_id", Int(rng.choice((16, 64)), 8)))
        names = rng.sample(sorted(WANTED), rng.randint(3, 8)) + [f"event{i}" for i in range(rng.randint(1, 3))]
        if rng.random() < 0.6 and "sched_switch" not in names:
            names.append("sched_switch")
        rng.shuffle(names)
        del names[2 if small else len(names):]
        n = 1 if small else rng.choice((1, 1, 2, 3))
        self.streams = [Stream(self.shapes, rng, i * rng.choice((1, 7)), names[i::n], calm) for i in range(n)]

    # ---- values ----

    def value(self, size):
        rng = self.rng
        most = (1 << size) - 1
        return rng.choice((0, 1, most, most >> 1, (most >> 1) + 1, rng.randint(0, most), rng.randint(0, most),
                           rng.randint(0, min(most, 100))))

    def characters(self):
        rng = self.rng
        n = rng.choice((0, 1, 5, 15, 16, 17, 30)) if rng.random() < 0.99 else 5000
        return bytes(rng.choice((97, 98, 32, 0x7f, 0xc3, 0xa9, rng.randint(1, 255))) for _ in range(n))

    # ---- writing ----

    def metadata(self):
        header = "".join(f"{kind.text()} {name}{suffix(kind)};\n" for name, kind in self.header)
        text = "/* CTF 1.8 */\n"
        text += f'trace {{ major = 1; minor = 8; uuid = "{UUID_TEXT}"; byte_order = {self.order};\n'
        text += f"packet.header := struct {{\n{header}}};\n}};\n"
        text += f'env {{ hostname = "shapes"; domain = "{self.domain}"; tracer_name = "shapes"; tracer_major = 1; }};\n'
        text += f"clock {{ name = c; freq = {self.freq}; offset_s = {self.offset_s}; offset = {self.offset}; }};\n"
        return text + "".join(stream.text() for stream in self.streams)

    def write(self, directory):
        os.makedirs(directory)
        with open(os.path.join(directory, "metadata"), "w", encoding="ascii") as file:
            file.write(self.metadata())
        instance = 0
        for stream in self.streams:
            for cpu in range(self.rng.choice((1, 2, 3))):
                with open(os.path.join(directory, f"stream{stream.number}_{cpu}"), "wb") as file:
                    file.write(self.file(stream, cpu, instance))
                instance += 1

    def file(self, stream, cpu, instance):
        rng = self.rng
        time, out = rng.randrange(10 ** 6, 10 ** 9), b""
        seq, discarded = rng.choice((0, 5)), rng.choice((0, 0, 3))
        for _ in range(rng.randint(1, 5)):
            packet, time = self.one_packet(stream, {"cpu_id": cpu, "packet_seq_num": seq, "events_discarded": discarded},
                                           instance, time)
            out += packet
            seq += rng.choice((1, 1, 1, 4))
            discarded += rng.choice((0, 0, 0, 1, 1000))
            time += rng.choice((0, 10, 10 ** 6))
        return out

    def one_packet(self, stream, values, instance, time):
        rng, bits, places = self.rng, Bits(), {}
        values = dict(values, timestamp_begin=time, magic=0xc1fc1fc1, stream_id=stream.number,
                      stream_instance_id=instance)
        bits.align(8)
        for name, kind in self.header:
            if name == "uuid":
                bits.align(8)
                for byte in UUID:
                    bits.put(8, self.order, byte)
            else:
                kind.set(bits, self, values[name])
        bits.align(max(kind.align for _, kind in stream.packet))
        for name, kind in stream.packet:
            if name.startswith("f"):
                kind.write(bits, self, {})
            else:
                places[name] = (kind.set(bits, self, values.get(name, 0)), kind.size)
        for _ in range(rng.choice((0, 1, 3, 20, 40)) if stream.events else 0):
            before = time
            time += rng.choice((0, 1, 100, 10 ** 4, 10 ** 6, 1 << 26, (1 << 27) - 1, 1 << 27, 1 << 31) if rng.random() < 0.2
                               else (1, 50, 1000))
            number, _, own, fields = rng.choice(stream.events)
            stream.header.write(bits, self, number, time, before)
            scope = {}
            for part in (stream.context, own, fields):
                if part:
                    part.write(bits, self, scope)
        time += rng.choice((0, 1, 1000))
        content = bits.at
        bits.align(8)
        size = bits.at + 8 * rng.choice((0, 0, 1, 7, 100))
        for name, value in (("timestamp_end", time), ("content_size", content), ("packet_size", size)):
            bits.put_at(*places[name], self.order, value)
        return bytes(bits.data).ljust(size // 8, b"\xa5"), time


if __name__ == "__main__":
    Trace(int(sys.argv[1]), small="small" in sys.argv[3:], calm="calm" in sys.argv[3:]).write(sys.argv[2])
