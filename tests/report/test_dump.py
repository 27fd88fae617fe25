#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""report dump --no-sync --babeltrace writes what babeltrace2 writes, to the byte, for every recording: the project's,
those of ../shared, and one made here with every kind of field. Where they may differ is a list here; an entry that is
not needed fails. Then dump's other features: a part of the events, JSON, corrected time.
"""
import contextlib
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402

PROGRAM = os.path.join(os.environ["BUILD"], "lttngtop")
SHARED = os.environ.get("SHARED", "")
ENV = {**os.environ, "TZ": "UTC", "LC_ALL": "C.UTF-8"}

# A single interval of it: seconds from its start.
PART_OF = {"large": ("14:34:30", "14:34:31")}

# Differences: name → what is different
STALE = "babeltrace2 before 2.0.5 prints the value that an empty string had before"
# Recordings in which time goes backwards within a stream: babeltrace2 stops there.
STOPS = {"sync_scp": "babeltrace2 2.0 stops where time goes back"} if harness.library_version() < (2, 1) else {}
LABELS = "babeltrace2 2.1 writes several labels of a value in braces and in an order of its own"
ALLOWED = ({STALE} if harness.library_version() < (2, 0, 5) else set()) | (
    {LABELS} if harness.library_version() >= (2, 1) else set())

STRING = re.compile(rb'("(?:[^"\\]|\\.)*")')
LABELLED = re.compile(rb'\( (?:\{ )?("(?:[^"\\]|\\.)*"(?:, "(?:[^"\\]|\\.)*")+)(?: \})? : container')
checks = harness.Checks()
used = set()


def dump(*args):
    return subprocess.run([PROGRAM, "report", "dump", *args], env=ENV, capture_output=True, check=False)


def differs_by_stale_text(ours, theirs):
    """Whether they differ only in strings that are empty in the program's output."""
    a, b = STRING.split(ours), STRING.split(theirs)
    return len(a) == len(b) and all(x == y or x == b'""' for x, y in zip(a, b))


def labels_in_order(line):
    return LABELLED.sub(lambda m: b"( " + b", ".join(sorted(STRING.findall(m[1]))) + b" : container", line)


def compare(name, ours, theirs):
    """Two lists of lines."""
    checks.equal(len(ours), len(theirs), f"{name}: number of events")
    for at, (a, b) in enumerate(zip(ours, theirs)):
        if a == b:
            continue
        if LABELS in ALLOWED and labels_in_order(a) == labels_in_order(b):
            used.add(LABELS)
            continue
        if not differs_by_stale_text(a, b):
            checks.fail(f"{name}: event {at}:\n  {a[:400]}\n  {b[:400]}")
            return
        used.add(STALE)


def compare_recording(name, path):
    part = PART_OF.get(name)
    ours = dump("--no-sync", "--babeltrace", *(("--begin", part[0], "--end", part[1]) if part else ()), path)
    if harness.is_ctf2(path) and harness.library_version() < (2, 1):
        print(f"skip {name}: this babeltrace2 does not read CTF 2")
        return
    arguments = ["--begin", part[0], "--end", part[1]] if part else []
    theirs = subprocess.run(["babeltrace2", *arguments, path], env=ENV, capture_output=True, check=False)
    checks.true(ours.returncode in (0, 3), f"{name}: exit status {ours.returncode}: {ours.stderr[:300]}")
    if name in STOPS:
        used.add(STOPS[name])
        count = theirs.stdout.count(b"\n")
        checks.true(theirs.returncode != 0 and 0 < count < ours.stdout.count(b"\n"), f"{name}: stops")
        return
    ours, theirs = ours.stdout.splitlines(), theirs.stdout.splitlines()
    if part:
        # babeltrace2 also takes an event exactly at the end.
        theirs = [line for line in theirs if line[1:].split(b"]")[0] < part[1].encode()]
    checks.true(theirs or name in ("cpgraph", "match_tables"), f"{name}: there are events")
    compare(name, ours, theirs)


def conformance():
    top = os.path.join(SHARED, "conformance")
    if not SHARED or not os.path.isdir(top):
        print("skip conformance: ../shared is absent")
        return
    for name in sorted(os.listdir(top)):
        path = os.path.join(top, name)
        if any("metadata" in files for _, _, files in os.walk(path)):
            compare_recording(name, path)


def ctf2():
    """babeltrace2 2.1.2's output for a recording in CTF 2; older versions cannot read it."""
    found = harness.recording("ctf2-ust")
    text = os.path.join(SHARED, "traces-ctf2", "ctf2-ust.txt")
    if not found or not SHARED or not os.path.exists(text):
        print("skip CTF 2: ctf2-ust or its text in ../shared is absent")
        return

    def with_clock(line):
        second, rest = line[1:].split(b".", 1)
        return time.strftime("[%H:%M:%S.", time.gmtime(int(second))).encode() + rest

    with open(text, "rb") as lines:
        theirs = [with_clock(line.rstrip(b"\n")) for line in lines]
    checks.true(theirs == dump("--no-sync", "--babeltrace", found[0]).stdout.splitlines(), "CTF 2: the same text")


# ---- a recording with every kind of field ----

METADATA = r"""/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le;
	packet.header := struct { integer { size = 32; align = 8; signed = 0; base = hex; } magic;
		integer { size = 32; align = 8; signed = 0; } stream_id; }; };
env { %s };
clock { name = mono; freq = 1000000000; offset_s = 1700000000; offset = 0; };
typealias integer { size = 8; align = 8; signed = 0; } := u8;
typealias integer { size = 32; align = 8; signed = 0; } := u32;
typealias integer { size = 64; align = 8; signed = 0; } := u64;
typealias integer { size = 64; align = 8; signed = 0; map = clock.mono.value; } := ts;
stream { id = 0;
	packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 content_size; u64 packet_size; u32 cpu_id;
		integer { size = 8; align = 8; signed = 1; base = 2; } extra; };
	event.header := struct { u32 id; ts timestamp; };
	event.context := struct { u32 _c; }; };
event { id = 0; stream_id = 0; name = "made:all"; context := struct { u8 own; }; fields := struct {
	integer { size = 8; align = 8; signed = 1; base = 2; } bin;
	integer { size = 8; align = 8; signed = 1; base = 8; } oct;
	integer { size = 5; align = 1; signed = 1; base = 8; } oct5;
	integer { size = 3; align = 1; signed = 1; base = 16; } hex3;
	integer { size = 16; align = 8; signed = 1; base = x; } hex;
	integer { size = 16; align = 8; signed = 0; base = octal; } uoct;
	integer { size = 64; align = 8; signed = 1; base = hexadecimal; } hex64;
	integer { size = 32; align = 8; signed = 0; byte_order = be; } network;
	string s;
	integer { size = 8; align = 8; signed = 0; encoding = UTF8; } chars[6];
	floating_point { exp_dig = 8; mant_dig = 24; align = 8; } f;
	floating_point { exp_dig = 11; mant_dig = 53; align = 8; } d;
	enum : u8 { "a b\"c" = 0 ... 3, B = 2, A = 7, "B" = 9 } two_labels;
	enum : u8 { "a b\"c" = 0 ... 3, B = 2, A = 7, "B" = 9 } unknown;
	enum : u8 { "a b\"c" = 0 ... 3, B = 2, A = 7, "B" = 9 } again;
	enum : integer { size = 8; align = 8; signed = 1; base = 16; } { X = -5 ... -1, Y = 0 } negative;
	u8 n; u8 seq[n]; struct { u8 x; struct { } y; } st[2]; u8 none[0]; string words[2];
	enum : u8 { o1 = 0, o2 = 1 } tag;
	variant <tag> { u8 o1; struct { string q; } o2; } v;
	u8 two[2][2];
	ts later;
}; };
event { id = 1; stream_id = 0; name = "made:none"; fields := struct { }; };
"""


def all_kinds(time):
    data = struct.pack("<IQIB", 0, time, 5, 9) + bytes([0xfb, 0xfb, 0x1b | 5 << 5])
    data += struct.pack("<hHq", -2, 0o777, -3) + struct.pack(">I", 4711)
    data += b"a\"b'c?\\d\n\t\x01\x1b\x7f\xc3\xa9\xff\x80%s\0" + b"ab\0cde" + struct.pack("<fd", 1.5, -1e300)
    data += bytes([2, 5, 9]) + struct.pack("b", -3) + bytes([2, 10, 20]) + bytes([1, 2]) + b"one\0two\0"
    return data + bytes([1]) + b"qq\0" + bytes([1, 2, 3, 4]) + struct.pack("<Q", time + 5)


def make(directory, env, event_name="made:all"):
    os.makedirs(directory)
    events = all_kinds(5) + struct.pack("<IQI", 1, 6, 6) + struct.pack("<IQI", 1, 12000000006, 7) + \
        all_kinds(86400 * 3 * 10**9)
    bits = 8 * (8 + 37 + len(events))
    with open(os.path.join(directory, "metadata"), "w", encoding="utf-8") as file:
        file.write((METADATA % env).replace("made:all", event_name))
    with open(os.path.join(directory, "stream"), "wb") as file:
        file.write(struct.pack("<IIQQQQIb", 0xc1fc1fc1, 0, 5, 86400 * 3 * 10**9, bits, bits, 3, -2) + events)


def made_recordings(directory):
    environments = {
        "host": 'hostname = "ho st\\"x";',
        "process": 'hostname = "web"; domain = "ust"; procname = "my\\"program"; vpid = 77;',
        "program": 'procname = "my program"; domain = "ust";',
        "number": 'vpid = 4; domain = "ust";',
        "nobody": 'domain = "ust";',
    }
    for name, env in environments.items():
        path = os.path.join(directory, name)
        make(path, env)
        compare_recording(f"made, {name}", path)
    return os.path.join(directory, "host")


def check_made_forms(path):
    text = dump(path).stdout.decode()
    checks.true("ho st\"x made:all: { cpu_id = 3, extra = 0b11111110 }, { c = 5 }" in text, "text names the host")
    checks.true(r'\n\t\x01\e\x7fé\xff\x80%s"' in text, f"what cannot be printed is escaped: {text[:500]}")
    event = json.loads(dump("--json", path).stdout.splitlines()[0])
    checks.equal(event["time_ns"], 1700000000000000005, "JSON: time")
    checks.equal((event["host"], event["cpu"], event["name"]), ('ho st"x', 3, "made:all"), "JSON: whose and which")
    checks.equal(event["packet"], {"cpu_id": 3, "extra": -2}, "JSON: packet")
    checks.equal((event["context"], event["event_context"]), ({"c": 5}, {"own": 9}), "JSON: contexts")
    fields = event["fields"]
    checks.equal(fields["two_labels"], {"value": 2, "labels": ['a b"c', "B"]}, "JSON: enum")
    checks.equal(fields["negative"], {"value": -3, "labels": ["X"]}, "JSON: signed enum")
    checks.equal((fields["seq"], fields["st"], fields["none"], fields["two"]),
                 ([10, 20], [{"x": 1, "y": {}}, {"x": 2, "y": {}}], [], [[1, 2], [3, 4]]), "JSON: arrays")
    checks.equal((fields["v"], fields["words"], fields["d"], fields["hex64"]),
                 ({"o2": {"q": "qq"}}, ["one", "two"], -1e300, -3), "JSON: variant, texts, numbers")
    checks.equal(fields["s"], "a\"b'c?\\d\\x0a\\x09\\x01\\x1b\\x7fé\\xff\\x80%s", "JSON: text")


def check_terminal(directory):
    """Names that would control a terminal: babeltrace2's bytes into a pipe, none of them to a terminal."""
    path = os.path.join(directory, "evil")
    make(path, 'hostname = "ho\x1b[31mst"; domain = "ust"; procname = "p\x9bm\x7f";', "made:\x1b]0;t\x07all")
    compare_recording("made, evil", path)
    piped = dump("--no-sync", "--babeltrace", path).stdout
    checks.true(b"ho\x1b[31mst:p\xc2\x9bm\x7f made:\x1b]0;t\x07all: " in piped, f"into a pipe: {piped[:300]}")
    master, slave = pty.openpty()
    with subprocess.Popen([PROGRAM, "report", "dump", "--no-sync", "--babeltrace", path], env=ENV, stdout=slave) as process:
        os.close(slave)
        shown = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while True:
                shown += os.read(master, 65536)
    os.close(master)
    checks.equal(process.returncode, 0, "to a terminal: status")
    checks.true(rb"ho\x1b[31mst:p\xc2\x9bm\x7f made:\x1b]0;t\x07all: " in shown, f"to a terminal: {shown[:300]}")
    checks.equal(re.findall(rb"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]", shown), [], "to a terminal: nothing controls it")
    checks.true("é".encode() in shown and len(shown.splitlines()) == len(piped.splitlines()), "to a terminal: the same events")


# ---- a part of the events ----

def check_choice():
    found = harness.recording("three-tier")
    if not found:
        print("skip choice: no three-tier")
        return
    path = found[0]
    lines = dump("--json", path).stdout.splitlines()
    events = [json.loads(line) for line in lines]
    times = [e["time_ns"] for e in events]
    checks.equal(times, sorted(times), "corrected times of all hosts are in order")
    own = [json.loads(line)["time_ns"] for line in dump("--json", "--no-sync", path).stdout.splitlines()]
    checks.true(len(own) == len(times) and times[-1] - times[0] < own[-1] - own[0] - 10**9, "clocks are corrected")

    def equal(what, wanted, *options):
        found = [json.loads(line) for line in dump("--json", *options, path).stdout.splitlines()]
        checks.true(wanted, f"{what}: there are some")
        checks.equal(len(found), len(wanted), f"{what}: number of events")
        checks.true(found == wanted, f"{what}: the same events")

    some = next(e for e in events if e["comm"] == "postgres")
    middle = times[len(times) // 2]
    equal("host", [e for e in events if e["host"] == "db"], "--host", "db")
    equal("comm", [e for e in events if e["comm"] and e["comm"].startswith("post")], "--comm", "post*")
    idle = [e for e in events if e["context"]["procname"] == "swapper/0"]
    equal("idle", idle, "--comm", "swapper/0")
    equal("idle by a filter", idle, "--where", "comm:swapper/0")
    checks.equal({e["comm"] for e in idle}, {"swapper/0"}, "the name of the idle task")
    equal("tid", [e for e in events if e["tid"] == some["tid"]], "--tid", str(some["tid"]))
    equal("pid", [e for e in events if e["pid"] == some["pid"]], "--pid", str(some["pid"]))
    equal("tid and comm", [e for e in events if e["tid"] == some["tid"] and e["comm"] == "postgres"],
          "--tid", str(some["tid"]), "--comm", "postgres")
    equal("interval", [e for e in events if middle <= e["time_ns"] < middle + 10**7],
          "--begin", f"{middle}ns", "--end", f"{middle + 10**7}ns")
    def is_of(event, *calls):
        return event["name"] in {f"syscall_{way}_{call}" for way in ("entry", "exit") for call in calls}

    for name, chosen, where in (
            ("call by strace's name", lambda e: is_of(e, "newuname"), "call:uname"),
            ("call and host", lambda e: is_of(e, "openat") and e["host"] == "web", "call:openat host:web"),
            ("thread or thread", lambda e: e["tid"] == some["tid"] or (e["comm"] or "") == "bash",
             f"tid:{some['tid']} | comm:ba?h"),
            ("not a process", lambda e: e["pid"] != some["pid"] and is_of(e, "read"), f"!pid:{some['pid']} call:read"),
            ("part of the name", lambda e: e["name"] == "sched_wakeup_new", "sched_wakeup_new")):
        equal(name, [e for e in events if chosen(e)], "--where", where)
    equal("several --where", [e for e in events if e["host"] == "db" and is_of(e, "recvfrom")],
          "--where", "host:db", "--where", "call:recvfrom")
    equal("--where in an interval", [e for e in events if middle <= e["time_ns"] < middle + 10**8 and is_of(e, "mprotect")],
          "--begin", f"{middle}ns", "--end", f"{middle + 10**8}ns", "--where", "call:mprotect")
    switches = [e for e in events if e["name"] == "sched_switch" and e["time_ns"] >= middle]
    for n, wanted, *options in ((1000, events[:1000]), (1, events[:1]), (10**7, events),
                                (10, switches[:10], "--begin", f"{middle}ns", "--where", "sched_switch")):
        equal(f"--limit {n} {options}", wanted, "--limit", str(n), *options)
    result = dump("--limit", "3", "--begin", f"{middle}ns", "--where", "sched_switch|nosuchevent", path)
    checks.equal((result.returncode, result.stderr, result.stdout.count(b"\n")), (0, b"", 3),
                 "--limit: nothing is said of what was not read")
    tree = next(e for e in events if e["comm"] == "bash")["pid"]
    below = [json.loads(line) for line in dump("--json", "--where", f"tree:{tree}", path).stdout.splitlines()]
    own = [e for e in below if e["pid"] == tree]
    checks.true(own == [e for e in events if e["pid"] == tree] and len(below) > len(own) > 10,
                f"--where tree: {len(own)} of {len(below)}")
    whole, parts = dump(path).stdout, dump("--workers", "6", path).stdout
    checks.true(whole == parts, "the same with any number of workers")
    checks.true(whole == dump("--reader", "babeltrace2", path).stdout, "the same with babeltrace2's reader")


def check_usage():
    for options in (["--csv"], ["--dot"], ["--interval", "1s"], ["--per-cpu"], ["--json", "--babeltrace"]):
        checks.equal(dump(*options, "/").returncode, 2, f"usage: {options}")
    checks.equal(dump().returncode, 2, "usage: no source")
    for where in ("state:blocked", "count>3", "file:x", "nothing:x", "("):
        result = dump("--where", where, "/")
        checks.true(result.returncode == 2 and b"option '--where': " in result.stderr, f"usage: {where}: {result.stderr}")
    result = subprocess.run([PROGRAM, "report", "cpu", "--babeltrace", "/"], capture_output=True, check=False)
    checks.equal(result.returncode, 2, "usage: --babeltrace of a table")


def main():
    harness.need_program()
    harness.need("babeltrace2")
    check_usage()
    check_choice()
    with tempfile.TemporaryDirectory() as directory:
        check_made_forms(made_recordings(directory))
        check_terminal(directory)
        for name, path, _ in harness.recordings(user_space=True):
            compare_recording(name, path)
        ctf2()
        conformance()
    if not harness.few_or_all() and SHARED and os.path.isdir(os.path.join(SHARED, "conformance")):
        checks.equal(sorted(used), sorted(ALLOWED | set(STOPS.values())), "every allowed difference is there")
    checks.finish()


main()
