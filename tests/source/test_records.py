#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The records of a worker against babeltrace2's text for the same recording.

Every event of every CPU in the same order at the same time; every payload field a record has; the fields of system
calls that event/syscalls.def names; headers of packets; and for each event the context and the perf counters that the
records so far add up to.
"""
import os
import re
import struct
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cases  # noqa: E402

BUILD = os.environ["BUILD"]
SRCDIR = os.environ["SRCDIR"]
DUMP = os.path.join(BUILD, "tests/source/dump_records")
M64 = 2 ** 64 - 1

SYSCALL_WORDS = {"fd": 1, "fd2": 2, "cmd": 3, "flags": 4, "arg": 5, "path": 6, "family": 7, "port": 8}
CONTEXT = ["pid", "ppid", "prio", "vtid", "vpid", "pid_ns", "cgroup_ns", "uid"]
# Words of a packet's record: index → name in the trace, all options of the variant together.
HEADER_WORDS = {8: "source_port", 9: "dest_port", 10: "seq", 11: "ack_seq", 12: "flags", 13: "id", 14: "tot_len",
                16: "frag_off"}

LINE = re.compile(r"\[(\d+)\.(\d{9})\] \(\S+\) (?:\S+ )?(\S+): \{ cpu_id = (\d+) \},(.*)$")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]')
FIELD = re.compile(r'(\w+) = (?:\( "[^"]*" : container = (\d+) \)|("(?:[^"\\]|\\.)*")|(-?0x[0-9A-Fa-f]+|-?\d+)\b)')
RECORD = re.compile(r'(\w+)=("[^"]*"|\S+)')


def number(text):
    if text.startswith("0") and len(text) > 1 and text[1] not in "xX":
        return int(text, 8)
    return int(text, 0)


def fields_of(text):
    out = {}
    for name, container, string, integer in FIELD.findall(text):
        if name not in out:
            out[name] = string[1:-1] if string else number(container or integer)
    return out


def top_level_groups(text):
    """The texts of "{ … }, { … }"."""
    groups, depth, start = [], 0, 0
    for token in TOKEN.finditer(text):
        if token[0] == "{":
            depth += 1
            start = token.end() if depth == 1 else start
        elif token[0] == "}":
            depth -= 1
            if depth == 0:
                groups.append(text[start:token.start()])
    return groups


def syscall_table():
    text = open(os.path.join(SRCDIR, "src/event/syscalls.def")).read()
    table = {}
    for name, fields in re.findall(r'^SYSCALL\((\w+),[^"]*"([^"]*)"\)', text, re.M):
        table[name] = [(f.split(":")[0], f.split(":")[1].split("@")[0].split("|")) for f in fields.split()]
    return table


SYSCALLS = syscall_table()


def babeltrace_events(path):
    """(cpu, ns, name, context fields, payload fields, all text) in the order printed."""
    with subprocess.Popen(["babeltrace2", "--clock-seconds", path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, errors="surrogateescape") as process:
        for line in process.stdout:
            match = LINE.match(line)
            if not match:
                continue
            seconds, ns, name, cpu, rest = match.groups()
            groups = top_level_groups(rest)
            yield (int(cpu), int(seconds) * 10 ** 9 + int(ns), name, groups[0] if len(groups) > 1 else "",
                   groups[-1] if groups else "")


class Records:
    """The records of a source, with their accumulated state at each event."""

    def __init__(self, path, parts):
        self.by_cpu = {}
        self.problems = []
        self.contexts = {}
        self.perf_names = []
        self.perf = {}
        out = subprocess.run([DUMP, "-p", str(parts), path], stdout=subprocess.PIPE, check=False,
                             encoding="utf-8", errors="surrogateescape").stdout
        for line in out.splitlines():
            self.add(line)

    def add(self, line):
        if line.startswith("#"):
            if " failed: " in line:
                self.problems.append(line)
            return
        ns, kind, cpu, tid, *rest = line.split(" ", 4)
        cpu, tid, rest = int(cpu[4:]), int(tid[4:]), rest[0] if rest else ""
        values = dict(RECORD.findall(rest))
        if kind == "CONTEXT":
            words = [int(w) for w in rest.split()]
            procname = struct.pack("<2q", *words[-2:]).split(b"\0")[0]
            self.contexts[tid or (0, cpu)] = dict(zip(CONTEXT, words), procname=procname.decode("latin-1"))
        elif kind == "PERF_NAMES":
            name = re.search(r'w0="([^"]*)"', rest).group(1)
            if name not in self.perf_names:
                self.perf_names.append(name)
        elif "class" in values and kind != "CLASS":
            if "perf" in values:
                self.perf[cpu] = [int(v) for v in values["perf"].split(",")]
            self.by_cpu.setdefault(cpu, []).append(
                (int(ns), values.pop("class"), kind, tid, values, self.contexts.get(tid or (0, cpu)),
                 self.perf.get(cpu), rest))


SEEN = set()  # strings that were in a trace


def same(record, trace):
    """babeltrace2 prints the previous string again where a string is empty; the record has it empty."""
    if isinstance(trace, str):
        if record == '""' and trace in SEEN:
            return True
        SEEN.add(trace)
        return record == '"' + trace + '"'
    return int(record, 0) & M64 == trace & M64


def compare_event(record, context_text, payload_text, perf_names):
    """The differences, as a list of texts."""
    _, name, kind, tid, values, context, perf, rest = record
    wrong = []
    if "\\" in payload_text or "\\" in context_text:
        return wrong
    payload, expected = fields_of(payload_text), fields_of(context_text)
    if "tid" in expected and tid != expected["tid"]:
        wrong.append(f"tid {tid}, not {expected['tid']}")
    states = [(f"context {key}", (context or {}).get(key), expected[key]) for key in CONTEXT + ["procname"] if key in expected]
    counters = dict(zip(perf_names, perf or ()))
    states += [(key, counters.get(key), value) for key, value in expected.items() if key.startswith("perf_")]
    wrong += [f"{what} {value}, not {true}" for what, value, true in states if value != true]
    for key, value in values.items():
        if key in payload and not re.match(r"w\d+$", key) and not same(value, payload[key]):
            wrong.append(f"{key} {value}, not {payload[key]}")
    if kind == "SYSCALL_ENTRY":
        call = re.sub(r"^(compat_)?(syscall_entry|sys)_", "", name)
        for member, alternatives in SYSCALLS.get(call, []):
            for field in alternatives:
                if field in payload and member in SYSCALL_WORDS:
                    if not same(values["w%d" % SYSCALL_WORDS[member]], payload[field]):
                        wrong.append(f"{member} {values['w%d' % SYSCALL_WORDS[member]]}, not {payload[field]}")
                    break
    if kind in ("NET_QUEUE", "NET_RECEIVE") and "version" in payload:
        words = re.findall(r" ([0-9a-f]+)(?= |$)", rest.split(" present=")[0])[-18:]
        for index, field in HEADER_WORDS.items():
            if field in payload and int(words[index], 16) != payload[field]:
                wrong.append(f"{field} {int(words[index], 16)}, not {payload[field]}")
        addresses = re.findall(r"addr = \[ ((?:\[\d+\] = \d+,? ?)+)\]", payload_text)
        for index, text in zip((4, 6), addresses):
            groups = [int(v) for v in re.findall(r"= (\d+)", text)]
            raw = struct.pack("<2Q", int(words[index], 16), int(words[index + 1], 16))
            wanted = bytes(groups) if len(groups) == 4 else struct.pack(">8H", *groups)
            if raw[:len(wanted)] != wanted:
                wrong.append(f"address {raw.hex()}, not {wanted.hex()}")
    return wrong


def check(path, parts):
    records = Records(path, parts)
    position = dict.fromkeys(records.by_cpu, 0)
    wrong, n, fields = list(records.problems), 0, 0
    for cpu, ns, name, context, payload in babeltrace_events(path):
        here = records.by_cpu.get(cpu, [])
        if position.get(cpu, 0) >= len(here):
            wrong.append(f"{ns} {name} on cpu {cpu} is missing")
            break
        record = here[position[cpu]]
        position[cpu] += 1
        n += 1
        if record[0] != ns or record[1] != name:
            wrong.append(f"{record[0]} {record[1]} on cpu {cpu} where {ns} {name} should be")
            break
        fields += len(record[4])
        wrong += [f"{ns} {name} on cpu {cpu}: {text}" for text in compare_event(record, context, payload,
                                                                                records.perf_names)]
        if len(wrong) > 20:
            break
    rest = sum(len(r) for r in records.by_cpu.values()) - n
    if rest and not wrong:
        wrong.append(f"{rest} records too many")
    if n == 0:
        wrong.append("no event")
    return n, fields, wrong


def is_ctf2(directory):
    with open(os.path.join(directory, "metadata"), "rb") as metadata:
        return metadata.read(1) == b"\x1e"


def library_version():
    out = subprocess.run(["pkg-config", "--modversion", "babeltrace2"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return tuple(map(int, out.split(".")))


def directories():
    """The available recordings, one trace each: babeltrace2 merges hosts, whose CPUs have the same numbers."""
    roots, few = [os.path.join(BUILD, "traces")], cases.few()
    if "SHARED" in os.environ and not few:
        roots += [os.path.join(os.environ["SHARED"], "conformance", name) for name in
                  ("cp_net_softirq", "net_matching", "io_full_kernel", "kernel_threads", "sched_latency")]
    for root in roots:
        for directory, names, files in os.walk(root):
            names.sort()
            if few and directory == roots[0]:
                names[:] = [name for name in names if name in cases.FEW]
            if "metadata" in files and (not is_ctf2(directory) or library_version() >= (2, 1)):
                yield directory


def main():
    failed = tested = 0
    if not os.access(DUMP, os.X_OK):
        print("skip records: tests/source/dump_records is not built")
        return 0
    for path in sys.argv[1:] or directories():
        is_small = os.path.getsize(os.path.join(path, "metadata")) < 2 ** 17 and not cases.few()
        for parts in (1, 2) if is_small or not tested else (2,):
            n, fields, wrong = check(path, parts)
            tested += 1
            failed += bool(wrong)
            print(f"{'not ok' if wrong else 'ok'} {os.path.relpath(path, BUILD)} with {parts} workers: "
                  f"{n} events, {fields} fields")
            for text in wrong:
                print("    " + text)
    if not tested:
        print("skip records: no recordings")
    return 1 if failed else 0


sys.exit(main())
