# SPDX-License-Identifier: GPL-2.0-or-later
"""The metadata of a trace of odd shapes (shapes.py) in CTF 2, for the same bytes."""
import json

import shapes

ORDERS = {"le": "little-endian", "be": "big-endian"}
ROLES = {
    "magic": "packet-magic-number", "uuid": "metadata-stream-uuid", "stream_id": "data-stream-class-id",
    "stream_instance_id": "data-stream-id", "timestamp_begin": "default-clock-timestamp",
    "timestamp_end": "packet-end-default-clock-timestamp", "content_size": "packet-content-length",
    "packet_size": "packet-total-length", "packet_seq_num": "packet-sequence-number",
    "events_discarded": "discarded-event-record-counter-snapshot", "id": "event-record-class-id",
    "timestamp": "default-clock-timestamp",
}


class Writer:
    """Field classes of one trace. The position of a length or tag is noted when it is met."""

    def __init__(self, order):
        self.order, self.where = order, {}

    def integer(self, kind, roles=()):
        sign = "signed" if kind.signed else "unsigned"
        of = {"type": f"fixed-length-{sign}-integer", "length": kind.size, "alignment": kind.align,
              "byte-order": ORDERS[kind.order or self.order]}
        return dict(of, roles=list(roles)) if roles else of

    def location(self, name):
        origin, path = self.where[name]
        return {"origin": origin, "path": path}

    def structure(self, kind, origin, path=(), roles=None):
        members = []
        for name, member in kind.fields:
            at = (*path, name)
            if isinstance(member, (shapes.Count, shapes.Tag)):
                self.where[name] = (origin, list(at))
            role = (roles or {}).get(name)
            members.append({"name": name, "field-class": self.integer(member, [role]) if role else
                            self.field(member, origin, at)})
        return {"type": "structure", "member-classes": members, "minimum-alignment": kind.align}

    def field(self, kind, origin, path):
        if isinstance(kind, shapes.Int):
            return self.integer(kind)
        if isinstance(kind, shapes.Float):
            return {"type": "fixed-length-floating-point-number", "length": 64 if kind.double else 32,
                    "alignment": kind.align, "byte-order": ORDERS[self.order]}
        if isinstance(kind, shapes.String):
            return {"type": "null-terminated-string"}
        if isinstance(kind, shapes.Struct):
            return self.structure(kind, origin, path)
        if isinstance(kind, shapes.Array):
            element = {"element-field-class": self.field(kind.element, origin, path), "minimum-alignment": kind.align}
            if isinstance(kind.length, int):
                return {"type": "static-length-array", "length": kind.length, **element}
            return {"type": "dynamic-length-array", "length-field-location": self.location(kind.length[1]), **element}
        ranges = self.ranges[kind.tag[1]]
        return {"type": "variant", "selector-field-location": self.location(kind.tag[1]),
                "options": [{"name": name, "selector-field-ranges": [list(of)], "field-class": self.field(option, origin, path)}
                            for (name, option), of in zip(kind.options, ranges)]}

    ranges = {}

    def header(self, header):
        origin = "event-record-header"
        if header.kind == "own":
            return self.structure(header.type, origin, (), ROLES)
        most, size = ((31, 5), (65535, 16))[header.kind == "large"]
        align = header.aligns()
        number, time, long_number, long_time = (shapes.Int(size, align[0]), shapes.Int(header.bits, align[1]),
                                                shapes.Int(32, align[2]), shapes.Int(64, align[3]))
        forms = {"compact": shapes.Struct([("timestamp", time)]),
                 "extended": shapes.Struct([("id", long_number), ("timestamp", long_time)])}
        ranges = {"compact": [0, most - 1], "extended": [most, most]}
        variant = {"type": "variant", "selector-field-location": {"origin": origin, "path": ["id"]},
                   "options": [{"name": name, "selector-field-ranges": [ranges[name]],
                                "field-class": self.structure(form, origin, (), ROLES)} for name, form in forms.items()]}
        return {"type": "structure", "minimum-alignment": max(8, align[0]), "member-classes": [
            {"name": "id", "field-class": self.integer(number, [ROLES["id"]])}, {"name": "v", "field-class": variant}]}


def tags(kind):
    """Everything in it, by name."""
    found = {}
    for name, inner in getattr(kind, "fields", getattr(kind, "options", ())):
        found.update({name: inner} if isinstance(inner, shapes.Tag) else tags(inner))
    return found | (tags(kind.element) if isinstance(kind, shapes.Array) else {})


def metadata(trace):
    """None: CTF 2 has no such tags."""
    writer = Writer(trace.order)
    for stream in trace.streams:
        for kind in [stream.context] + [part for event in stream.events for part in event[2:]]:
            found = tags(kind) if kind else {}
            if any(tag.size == 64 and not tag.signed for tag in found.values()):
                return None
            writer.ranges = dict(writer.ranges, **{name: tag.ranges for name, tag in found.items()})
    blob = {"type": "static-length-blob", "length": 16, "roles": [ROLES["uuid"]]}
    header = [{"name": name, "field-class": blob if name == "uuid" else writer.integer(kind, [ROLES[name]])}
              for name, kind in trace.header]
    fragments = [
        {"type": "preamble", "version": 2, "uuid": list(shapes.UUID)},
        {"type": "trace-class", "environment": {"hostname": "shapes", "domain": trace.domain, "tracer_name": "shapes",
                                                "tracer_major": 1},
         "packet-header-field-class": {"type": "structure", "member-classes": header}},
        {"type": "clock-class", "id": "c", "frequency": trace.freq, "origin": "unix-epoch",
         "offset-from-origin": {"seconds": trace.offset_s, "cycles": trace.offset}}]
    for stream in trace.streams:
        fragments += stream_fragments(writer, stream)
    return "".join(f"\x1e{json.dumps(fragment)}\n" for fragment in fragments)


def stream_fragments(writer, stream):
    of = {"type": "data-stream-class", "id": stream.number, "default-clock-class-id": "c",
          "packet-context-field-class": writer.structure(shapes.Struct(stream.packet), "packet-context", (), ROLES),
          "event-record-header-field-class": writer.header(stream.header)}
    if stream.context:
        of["event-record-common-context-field-class"] = writer.structure(stream.context, "event-record-common-context")
    fragments = [of]
    for number, name, own, fields in stream.events:
        of = {"type": "event-record-class", "id": number, "data-stream-class-id": stream.number, "name": name}
        if own:
            of["specific-context-field-class"] = writer.structure(own, "event-record-specific-context")
        of["payload-field-class"] = writer.structure(fields, "event-record-payload")
        fragments.append(of)
    return fragments
