# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes small kernel traces (CTF 1.8 or 2) for tests, with
events that no available recording has: old layouts, probes, IPv6."""

import json
import os
import struct
import sys

INTEGER = "integer {{ size = {}; align = 8; signed = {}; }}"
CODES = {"u8": ("B", 8, 0), "u16": ("H", 16, 0), "u32": ("I", 32, 0), "u64": ("Q", 64, 0), "s32": ("i", 32, 1),
         "s64": ("q", 64, 1)}

HEAD = """/* CTF 1.8 */
typealias integer {{ size = 8; align = 8; signed = 0; }} := uint8_t;
typealias integer {{ size = 32; align = 8; signed = 0; }} := uint32_t;
typealias integer {{ size = 64; align = 8; signed = 0; }} := uint64_t;
trace {{ major = 1; minor = 8; uuid = "{uuid}"; byte_order = le;
	packet.header := struct {{ uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; uint64_t stream_instance_id; }}; }};
env {{ hostname = "{host}"; domain = "kernel"; tracer_name = "lttng-modules"; tracer_major = 2; tracer_minor = 13;
	tracer_patchlevel = 9; }};
clock {{ name = "monotonic"; uuid = "{clock}"; freq = 1000000000; offset = 0; }};
typealias integer {{ size = 64; align = 8; signed = 0; map = clock.monotonic.value; }} := time_t;
stream {{ id = 0;
	event.header := struct {{ uint32_t id; time_t timestamp; }};
	packet.context := struct {{ time_t timestamp_begin; time_t timestamp_end; uint64_t content_size; uint64_t packet_size;
		uint64_t packet_seq_num; uint64_t events_discarded; uint32_t cpu_id; }}; }};
"""


def integer2(size, signed=0, **more):
    return {"type": f"fixed-length-{'signed' if signed else 'unsigned'}-integer", "length": size, "alignment": 8,
            "byte-order": "little-endian", **more}


def structure2(members):
    return {"type": "structure", "member-classes": [{"name": name, "field-class": fc} for name, fc in members]}


def head2(host, uuid, uuid_text, clock):
    """The fragments of CTF 2 before the event record classes: like HEAD."""
    time = integer2(64, roles=["default-clock-timestamp"])
    header = structure2([("magic", integer2(32, roles=["packet-magic-number"])),
                         ("uuid", {"type": "static-length-blob", "length": 16, "roles": ["metadata-stream-uuid"]}),
                         ("stream_id", integer2(32, roles=["data-stream-class-id"])),
                         ("stream_instance_id", integer2(64, roles=["data-stream-id"]))])
    context = structure2([("timestamp_begin", time),
                          ("timestamp_end", integer2(64, roles=["packet-end-default-clock-timestamp"])),
                          ("content_size", integer2(64, roles=["packet-content-length"])),
                          ("packet_size", integer2(64, roles=["packet-total-length"])),
                          ("packet_seq_num", integer2(64, roles=["packet-sequence-number"])),
                          ("events_discarded", integer2(64, roles=["discarded-event-record-counter-snapshot"])),
                          ("cpu_id", integer2(32))])
    event = structure2([("id", integer2(32, roles=["event-record-class-id"])), ("timestamp", time)])
    return [{"type": "preamble", "version": 2, "uuid": list(uuid)},
            {"type": "trace-class", "namespace": "lttng.org,2009", "name": "", "uid": uuid_text,
             "environment": {"hostname": host, "domain": "kernel", "tracer_name": "lttng-modules", "tracer_major": 2,
                             "tracer_minor": 13, "tracer_patchlevel": 9},
             "packet-header-field-class": header},
            {"type": "clock-class", "id": "monotonic", "name": "monotonic", "uid": clock, "frequency": 1000000000,
             "origin": "unix-epoch", "offset-from-origin": {"seconds": 0, "cycles": 0}},
            {"type": "data-stream-class", "id": 0, "default-clock-class-id": "monotonic",
             "packet-context-field-class": context, "event-record-header-field-class": event}]


def uuid_of(seed):
    """As bytes and as text."""
    uuid = (seed * 16).encode()[:16]
    return uuid, "-".join(uuid.hex()[a:b] for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))


class Record:
    """A structure and its value at once: ("name", "u32", 5), ("name", "text", 16, "comm"), ("name", "sequence", "text"), ("name", "array", "u8", [..]),
    ("name", "struct", [fields]), ("name", "variant", {option: [fields]}, option)."""

    def __init__(self, fields):
        self.text, self.members, self.data = "", [], b""
        for field in fields:
            self.add(*field)

    def add(self, name, kind, *rest):
        if kind == "text":
            self.text += f"integer {{ size = 8; align = 8; signed = 1; encoding = UTF8; }} _{name}[{rest[0]}];\n"
            self.members.append((name, {"type": "static-length-string", "length": rest[0]}))
            self.data += rest[1].encode().ljust(rest[0], b"\0")
        elif kind == "string":
            self.text += f"string _{name};\n"
            self.members.append((name, {"type": "null-terminated-string"}))
            self.data += rest[0].encode() + b"\0"
        elif kind == "sequence":  # of text, preceded by its length
            data = rest[0].encode()
            self.text += f"{INTEGER.format(32, 0)} __{name}_length;\n"
            self.text += f"integer {{ size = 8; align = 8; signed = 1; encoding = UTF8; }} _{name}[__{name}_length];\n"
            self.members.append((f"_{name}_length", integer2(32)))
            self.members.append((name, {"type": "dynamic-length-string",
                                        "length-field-location": {"path": [f"_{name}_length"]}}))
            self.data += struct.pack("<I", len(data)) + data
        elif kind == "array":
            code, size, signed = CODES[rest[0]]
            self.text += f"{INTEGER.format(size, signed)} _{name}[{len(rest[1])}];\n"
            self.members.append((name, {"type": "static-length-array", "length": len(rest[1]), "minimum-alignment": 8,
                                        "element-field-class": integer2(size, signed)}))
            self.data += struct.pack(f"<{len(rest[1])}{code}", *rest[1])
        elif kind == "variant":
            options = {option: Record(fields) for option, fields in rest[0].items()}
            tags = ", ".join(f'"_{option}" = {n}' for n, option in enumerate(options))
            self.text += f"enum : {INTEGER.format(8, 0)} {{ {tags} }} _{name}_type;\n"
            self.text += f"variant <_{name}_type> {{\n"
            self.text += "".join(f"struct {{\n{r.text}}} _{option};\n" for option, r in options.items())
            self.text += f"}} _{name};\n"
            self.members.append((f"{name}_type", integer2(8)))
            self.members.append((name, {
                "type": "variant", "selector-field-location": {"path": [f"{name}_type"]},
                "options": [{"name": option, "selector-field-ranges": [[n, n]], "field-class": structure2(r.members)}
                            for n, (option, r) in enumerate(options.items())]}))
            self.data += bytes([list(options).index(rest[1])]) + options[rest[1]].data
        else:
            code, size, signed = CODES[kind]
            self.text += f"{INTEGER.format(size, signed)} _{name};\n"
            self.members.append((name, integer2(size, signed)))
            self.data += struct.pack(f"<{code}", rest[0])


class Trace:
    """Events, each CPU's in order; those with the same name all have the same fields."""

    def __init__(self, host):
        self.host, self.classes, self.events = host, {}, []

    def add(self, time, name, *fields, cpu=0):
        record = Record(fields)
        number, text, _ = self.classes.setdefault(name, (len(self.classes), record.text, record.members))
        assert text == record.text, f"{name} with other fields"
        self.events.append((cpu, time, struct.pack("<IQ", number, time) + record.data))

    def packets(self, cpu, uuid, most):
        """Those of a CPU, of at most so many events each."""
        events = [(time, data) for of, time, data in self.events if of == cpu]
        for number, first in enumerate(range(0, len(events), most)):
            packed = events[first:first + most]
            data = b"".join(event for _, event in packed)
            bits = 8 * (32 + 52 + len(data))
            yield (struct.pack("<I16sIQ", 0xc1fc1fc1, uuid, 0, cpu) +
                   struct.pack("<QQQQQQI", packed[0][0], packed[-1][0], bits, bits, number, 0, cpu) + data)

    def write(self, directory, ctf2=False, trace=None, clock=None, most=sys.maxsize):
        """trace, clock: what the UUIDs of the trace and its clock are derived from; by default the host name.
        most: the events of a packet."""
        os.makedirs(directory)
        uuid, as_text = uuid_of(trace or self.host)
        clock = uuid_of(clock or self.host)[1]
        for cpu in {cpu for cpu, _, _ in self.events}:
            with open(os.path.join(directory, f"channel0_{cpu}"), "wb") as file:
                file.writelines(self.packets(cpu, uuid, most))
        with open(os.path.join(directory, "metadata"), "w", encoding="ascii") as file:
            file.write(self.metadata2(uuid, as_text, clock) if ctf2 else self.metadata(as_text, clock))

    def metadata(self, uuid, clock):
        return HEAD.format(uuid=uuid, clock=clock, host=self.host) + "".join(
            f'event {{ name = "{name}"; id = {number}; stream_id = 0; fields := struct {{\n{text}}}; }};\n'
            for name, (number, text, _) in self.classes.items())

    def metadata2(self, uuid, uuid_text, clock):
        fragments = head2(self.host, uuid, uuid_text, clock)
        for name, (number, _, members) in self.classes.items():
            fragments.append({"type": "event-record-class", "id": number, "data-stream-class-id": 0, "name": name,
                              "payload-field-class": structure2(members)})
        return "".join(f"\x1e{json.dumps(fragment)}\n" for fragment in fragments)
