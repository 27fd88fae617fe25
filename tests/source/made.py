# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings made packet by packet, of kinds that tracers seldom write: streams that start with empty packets,
counters that jump, fields of other types. Two threads alternate on each CPU, so that every figure is known."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "waits"))
import ctf  # noqa: E402

UUID = b"made made made m"
UUID_TEXT = "-".join(UUID.hex()[a:b] for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))
CONTEXT = "\tevent.context := struct { integer { size = 32; align = 8; signed = 1; } _pid;\n" \
          "\t\tinteger { size = 32; align = 8; signed = 1; } _tid; }; };\n"
COMM = "integer { size = 8; align = 8; signed = 1; encoding = UTF8; base = 10; } "
INT = "integer { size = 32; align = 8; signed = 1; } "
SWITCH = {"_prev_comm[16]": COMM, "_prev_tid": INT, "_prev_prio": INT,
          "_prev_state": "integer { size = 64; align = 8; signed = 1; } ",
          "_next_comm[16]": COMM, "_next_tid": INT, "_next_prio": INT}
CALL = ("syscall_exit_getpid", {"_ret": "integer { size = 64; align = 8; signed = 1; } "})


def switch(time, prev, following, blocked=False, pid=1):
    """An event: the thread prev is switched out for the following one."""
    data = struct.pack("<IQii", 0, time, pid, prev)
    data += b"prev".ljust(16, b"\0") + struct.pack("<iiq", prev, 20, 1 if blocked else 0)
    return data + b"next".ljust(16, b"\0") + struct.pack("<ii", following, 20)


def call(time, tid, ret=0, pid=1):
    """An event of CALL: a system call of the thread ends."""
    return struct.pack("<IQii", 0, time, pid, tid) + struct.pack("<q", ret)


def turns(begin, step, count, first=1, second=2):
    """count switches, step ns apart: first runs until begin, second from then on, and so on."""
    return [(begin + i * step, switch(begin + i * step, *((first, second) if i % 2 == 0 else (second, first))))
            for i in range(count)]


class Recording:
    """A kernel trace with one event class, written when the with statement's block ends."""

    def __init__(self, directory, host="made", switch_fields=None, event=None):
        self.directory, self.host = directory, host
        self.name, self.fields = event or ("sched_switch", {**SWITCH, **(switch_fields or {})})
        self.streams = {}

    def packet(self, cpu, begin, end, events=(), discarded=0, seq=None, cpu_id=None):
        """One packet of the CPU's stream, with events as turns() returns them."""
        packets = self.streams.setdefault(cpu, [])
        data = b"".join(data for _, data in events)
        bits = 8 * (32 + 52 + len(data))
        head = struct.pack("<I16sIQ", 0xc1fc1fc1, UUID, 0, cpu)
        head += struct.pack("<QQQQQQI", begin, end, bits, bits, len(packets) if seq is None else seq, discarded,
                            cpu if cpu_id is None else cpu_id)
        packets.append(head + data)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.makedirs(self.directory)
        for cpu, packets in self.streams.items():
            with open(os.path.join(self.directory, f"ch_{cpu}"), "wb") as file:
                file.write(b"".join(packets))
        head = ctf.HEAD.format(uuid=UUID_TEXT, clock=UUID_TEXT, host=self.host)
        head = head[:head.rindex("};")] + CONTEXT
        fields = "".join(f"\t{kind}{name};\n" for name, kind in self.fields.items())
        with open(os.path.join(self.directory, "metadata"), "w", encoding="ascii") as file:
            file.write(head)
            file.write(f'event {{ name = "{self.name}"; id = 0; stream_id = 0; fields := struct {{\n{fields}}}; }};\n')


def add_index(directory):
    """The index files that a relayd writes beside the streams."""
    os.mkdir(os.path.join(directory, "index"))
    for name in os.listdir(directory):
        if not name.startswith("ch_"):
            continue
        with open(os.path.join(directory, name), "rb") as file:
            data = file.read()
        index, at = struct.pack(">4I", 0xc1f1dcc1, 1, 0, 56), 0
        while at < len(data):
            begin, end, content, size, _, discarded = struct.unpack_from("<6Q", data, at + 32)
            index += struct.pack(">7Q", at, size, content, begin, end, discarded, 0)
            at += size // 8
        with open(os.path.join(directory, "index", name + ".idx"), "wb") as file:
            file.write(index)
