#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""report slice: its output contains the events of the interval, or those chosen in it, and no others, read back by the
program and by babeltrace2; the clocks of several hosts agree in it; and what it leaves behind on failure."""
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

for directory in ("truth", "source"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", directory))
import harness  # noqa: E402
import made  # noqa: E402
import shapes  # noqa: E402

PROGRAM = os.path.join(os.environ["BUILD"], "lttngtop")
ENV = {**os.environ, "TZ": "UTC", "LC_ALL": "C.UTF-8"}
STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
HEAD = 32  # bytes of a packet's header, before its context, as made.Recording writes it
checks = harness.Checks()


def run(*args, **kwargs):
    return subprocess.run([PROGRAM, "report", *args], env=ENV, capture_output=True, check=False, umask=0o022, **kwargs)


def for_others(path):
    """What is below it, or itself, that other users can read or enter."""
    found = [path] + [os.path.join(at, name) for at, inner, files in os.walk(path) for name in inner + files]
    return [p for p in found if os.stat(p).st_mode & 0o007]


def dump(*args):
    return run("dump", *args).stdout.splitlines()


def kept(line):
    """The text without known differences: empty strings, which babeltrace2 2.0 gets wrong."""
    return STRING.sub(b"", line)


def lost_in(text):
    return re.findall(rb"^lttngtop: incomplete: lost: (.*)$", text, re.M)


def check_same(name, path, choice, least, into):
    """A slice on the hosts' own clocks has what dump prints, byte by byte, and the same losses."""
    result = run("slice", "--no-sync", "-o", into, *choice, path)
    again = run("dump", "--no-sync", into)
    dumped = run("dump", "--no-sync", "--babeltrace", *choice, path)
    wanted = dumped.stdout.splitlines()
    checks.true(len(wanted) >= least, f"{name}: there are {len(wanted)} events")
    if "--begin" not in choice:
        checks.equal(lost_in(again.stderr), lost_in(dumped.stderr), f"{name}: losses")
    # what was lost in the interval; the slice itself does not show what was before its first packet
    lost = lost_in(run("cpus", "--no-sync", *choice, path).stderr if "--begin" in choice else dumped.stderr)
    checks.equal(lost_in(result.stderr), lost, f"{name}: losses of the interval")
    checks.equal(result.returncode, 3 if lost else 0, f"{name}: exit status: {result.stderr[:300]}")
    checks.equal(for_others(into), [], f"{name}: like a recording, not for other users")
    checks.true(dump("--no-sync", "--babeltrace", into) == wanted, f"{name}: the same events")
    theirs = subprocess.run(["babeltrace2", into], env=ENV, capture_output=True, check=False)
    if "ctf2" in name and harness.library_version() < (2, 1):
        return
    checks.equal(theirs.returncode, 0, f"{name}: babeltrace2 opens it")
    checks.true(list(map(kept, theirs.stdout.splitlines())) == list(map(kept, wanted)), f"{name}: babeltrace2 reads it")


def recordings(table):
    """The name, the directory and the entry of each recording in the table; some of those in CTF 2 have no truth files."""
    few = harness.few_or_all()
    for name, entry in table.items():
        found = harness.recording(name)
        archive = os.path.join(harness.SHARED, "traces-ctf2", name + ".tar.zst")
        if few and name not in few:
            print(f"skip {name}: only few recordings are compared")
        elif found:
            yield name, found[0], entry
        elif os.path.exists(archive):
            yield name, harness.unpack(archive, "recordings"), entry
        else:
            print(f"skip {name}: not there")


def check_recordings(directory):
    parts = {"three-tier": ("+24s", "+25.25s"), "rotated": ("+1s", "+2s"), "hotplug": ("+1s", "+1.5s"),
             "lossy-overwrite": ("+1s", "+3s"), "ctf2-three-tier": ("+24s", "+25s")}
    for name, path, (begin, end) in recordings(parts):
        check_same(name, path, ["--begin", begin, "--end", end], 100, os.path.join(directory, name))


# Few events, far apart; of a thread, of a call, by text, of several hosts; and so many that most packets have some.
CHOICES = {"three-tier": [["--where", "sched_process_exit"], ["--comm", "postgres"], ["--where", "call:openat | comm:sh*"],
                          ["--host", "web", "--where", "irq_handler_entry", "--begin", "+24s", "--end", "+26s"]],
           "rotated": [["--comm", "bash"]], "snapshot": [["--where", "sched_switch"]],
           "lossy": [["--where", "sched_process_fork"], ["--comm", "bash"]], "lossy-overwrite": [["--where", "read"]],
           "ctf2-kprobe": [["--where", "timer_expire_entry"]], "ctf2-ust": [["--where", "bin_info"], ["--where", "tracelog"]]}


def check_chosen(directory):
    for name, path, choices in recordings(CHOICES):
        for number, choice in enumerate(choices):
            what = f"{name} {' '.join(choice)}"
            check_same(what, path, choice, 1, os.path.join(directory, f"{name}-{number}"))


def check_clocks(path, directory):
    """Three hosts whose clocks are 22 s apart: in the slice they are corrected as in the program."""
    events = [json.loads(line) for line in dump("--json", path)]
    middle = (events[0]["time_ns"] + events[-1]["time_ns"]) // 2
    begin, end = f"{middle}ns", f"{middle + 10**9}ns"
    into = os.path.join(directory, "clocks")
    result = run("slice", "-o", into, "--begin", begin, "--end", end, path)
    checks.equal(result.returncode, 0, f"slice: {result.stderr[:300]}")
    wanted = [e for e in events if middle <= e["time_ns"] < middle + 10**9]
    found = [json.loads(line) for line in dump("--json", "--no-sync", into)]
    checks.equal(sorted({e["host"] for e in found}), ["client", "db", "web"], "slice: hosts")
    for host in ("client", "db", "web"):
        a, b = ([e for e in some if e["host"] == host] for some in (wanted, found))
        checks.equal(len(a), len(b), f"slice: events of {host}")
        off = max(abs(x["time_ns"] - y["time_ns"]) for x, y in zip(a, b))
        checks.true(off < 100_000, f"slice: times of {host} are those that were corrected, off by {off} ns")
        checks.true(all(x["name"] == y["name"] and x["fields"] == y["fields"] for x, y in zip(a, b)),
                    f"slice: fields of {host}")
    one = os.path.join(directory, "one")
    run("slice", "-o", one, "--begin", begin, "--end", end, "--host", "db", path)
    checks.equal(os.listdir(one), ["db"], "--host")
    checks.equal(os.listdir(os.path.join(one, "db")), ["kernel"], "the trace of the kernel")


def check_failures(path, directory):
    full = os.path.join(directory, "full")
    os.makedirs(full)
    with open(os.path.join(full, "mine"), "w", encoding="utf-8") as file:
        file.write("mine")
    result = run("slice", "-o", full, path)
    checks.equal((result.returncode, b"is not empty" in result.stderr), (1, True), "a directory that is not empty")
    checks.equal(os.listdir(full), ["mine"], "is left alone")
    nothing = os.path.join(directory, "nothing")
    result = run("slice", "-o", nothing, "--begin", "+1000s", path)
    checks.equal((result.returncode, os.path.exists(nothing)), (1, False), f"no packet: {result.stderr}")
    small = os.path.join(directory, "small")
    result = run("slice", "-o", small, path, preexec_fn=limit_files)
    checks.equal((result.returncode, b"cannot write" in result.stderr, os.path.exists(small)), (1, True, False),
                 f"no space: {result.stderr}")
    os.makedirs(small)
    run("slice", "-o", small, path, preexec_fn=limit_files)
    checks.equal(os.listdir(small), [], "no space: nothing is left in a directory that was there")
    result = run("slice", "-o", small, "--where", "syscall", path, preexec_fn=limit_files)
    checks.equal((result.returncode, b"cannot write" in result.stderr, os.listdir(small)), (1, True, []),
                 f"no space for chosen events: {result.stderr}")
    result = run("slice", "-o", nothing, "--comm", "nobody", path)
    checks.equal((result.returncode, result.stderr, os.path.exists(nothing)),
                 (1, b"lttngtop: no event passes the filter\n", False), "no event is chosen")
    # in the recording itself, which could no longer be read
    whole = os.path.join(directory, "whole")
    shutil.copytree(path, whole)
    inside = os.path.join(whole, "cut")
    for chosen in ([], ["--no-sync"], ["--where", "sched_switch"], ["--no-sync", "--where", "sched_switch"]):
        result = run("slice", "-o", inside, "--begin", "+1s", "--end", "+1.5s", *chosen, whole)
        checks.equal((result.returncode, b"' lies in '" in result.stderr, os.path.exists(inside)), (1, True, False),
                     f"into its SOURCE {chosen}: {result.stderr}")
    # before anything is written, also of hosts whose clocks are not corrected and that are read first
    reference = next(row["host"] for row in json.loads(run("sync", "--json", whole).stdout)["rows"] if row["state"] == "reference")
    os.rename(os.path.join(whole, reference), os.path.join(whole, "a"))
    with open(os.path.join(whole, "a", "lttngtop.json"), "w", encoding="ascii") as f:
        f.write("{")
    result = run("slice", "-o", inside, whole)
    checks.equal((b"missing from the slice" in result.stderr, b"' lies in '" in result.stderr), (False, True),
                 f"before it writes: {result.stderr}")
    for options in (["--where", "inode:7"], ["--comm", "x", "--reader", "babeltrace2"], ["--json"], ["--interval", "1s"]):
        result = run("slice", "-o", os.path.join(directory, "usage"), *options, path)
        checks.equal(result.returncode, 2, f"usage: {options}")
    result = run("slice", "-o", os.path.join(directory, "usage"), "--limit", "10", path)
    checks.equal((result.returncode, result.stderr.splitlines()[:1]),
                 (2, [b"lttngtop: --limit does not apply to slice: choose events with --begin, --end and --where"]), "usage: --limit")
    checks.equal(run("slice", path).returncode, 2, "usage: no --output")
    checks.equal(run("cpu", "-o", "x", path).returncode, 2, "usage: --output of a table")
    checks.true(not os.path.exists(os.path.join(directory, "usage")), "usage: nothing is made")


def check_incomplete(path, directory):
    """One of two sources cannot be read: the other one is written, and the missing data is reported."""
    broken = os.path.join(directory, "broken", "web", "kernel")
    os.makedirs(broken)
    with open(os.path.join(broken, "metadata"), "w", encoding="utf-8") as file:
        file.write("/* CTF 1.8 */ nonsense")
    into = os.path.join(directory, "incomplete")
    result = run("slice", "--no-sync", "-o", into, "--end", "+1s", os.path.join(path, "db"),
                 os.path.join(directory, "broken"))
    checks.equal(result.returncode, 3, f"incomplete: exit status: {result.stderr}")
    checks.true(b"incomplete: not everything could be read" in result.stderr, f"incomplete: said: {result.stderr}")
    checks.equal(os.listdir(into), ["db"], "incomplete: the other host")


def check_truncated(path, directory):
    """A file that ends within a packet: its complete events are written, the loss is reported and shows in the slice."""
    for name, size in (("truncated", 3500000), ("unpadded", -1000)):
        source = os.path.join(directory, name)
        shutil.copytree(path, source)
        file = os.path.join(source, "web", "kernel", "ch_0")
        os.truncate(file, size if size > 0 else os.path.getsize(file) + size)
        wanted = dump("--no-sync", "--babeltrace", source)
        for choice in ([], ["--begin", "+1s"], ["--begin", "+6s"], ["--where", "sched_switch"]):
            into = os.path.join(directory, f"{name}-{'-'.join(choice)}")
            result = run("slice", "--no-sync", "-o", into, *choice, source)
            checks.equal(result.returncode, 3, f"{name} {choice}: exit status: {result.stderr}")
            checks.true(b"kernel/ch_0: the rest of the packet at byte" in result.stderr, f"{name} {choice}: {result.stderr}")
            checks.equal(lost_in(run("dump", "--no-sync", into).stderr), [b"1 packet"],
                         f"{name} {choice}: the slice says what is missing")
        checks.true(dump("--no-sync", "--babeltrace", os.path.join(directory, f"{name}-")) == wanted, f"{name}: its events")
    ends_before = run("slice", "--no-sync", "-o", os.path.join(directory, "before"), "--end", "+2s", source)
    checks.equal((ends_before.returncode, ends_before.stderr), (0, b""), "nothing is missing before the truncated packet")


def check_counts(directory):
    """What was written, in words."""
    begin = 10**9
    for packets, words in ((1, "1 trace, 1 packet,"), (2, "1 trace, 2 packets,")):
        path, into = (os.path.join(directory, f"{packets}-{kind}", "made", "kernel") for kind in ("counted", "written"))
        with made.Recording(path) as recording:
            for i in range(packets):
                recording.packet(0, begin + i, begin + i, made.turns(begin + i, 1, 1))
        said = run("slice", "--no-sync", "-o", into, path).stdout.decode()
        size = os.path.getsize(os.path.join(path, "ch_0"))
        checks.equal(said, f"{into}: {words} {size} bytes\n", f"{packets} packets are counted")


def check_damaged(directory):
    """The packets after a damaged one are written, and their numbers show that one is missing."""
    begin, second = 10**9, 10**9
    for name, offset, data, words, missing in (
            ("magic", 0, b"\0", "the packet at byte {} is left out: wrong magic number", 1),
            ("size", HEAD + 16, b"\0\1", "the packet at byte {} is left out: it has an impossible size", 1),
            ("end", HEAD + 8, b"\1" + bytes(7), "the packet at byte {} is left out: it ends before it starts", 1),
            ("length", HEAD + 24, b"\xff" * 7, "the rest of the packet at byte {} is left out: it is not in the file", 0)):
        path, into = (os.path.join(directory, f"{name}-{kind}", "made", "kernel") for kind in ("head", "written"))
        with made.Recording(path) as recording:
            for i in range(5):
                recording.packet(0, begin + i * second, begin + (i + 1) * second - 1,
                                 made.turns(begin + i * second, 10**6, 10))
        file = os.path.join(path, "ch_0")
        at = os.path.getsize(file) // 5 * 2
        with open(file, "r+b") as stream:
            stream.seek(at + offset)
            stream.write(data)
        for choice in ([], ["--where", "sched_switch"]):
            shutil.rmtree(into, ignore_errors=True)
            result = run("slice", "--no-sync", "-o", into, *choice, path)
            checks.equal(result.returncode, 3, f"damaged {name} {choice}: exit status: {result.stderr}")
            checks.true(words.format(at).encode() in result.stderr, f"damaged {name} {choice}: {result.stderr}")
            checks.true(b"events are missing" not in result.stderr, f"damaged {name} {choice}: missing: {result.stderr}")
            events = [event["time_ns"] for event in map(json.loads, dump("--no-sync", "--json", into))]
            checks.equal(events, [begin + i * second + k * 10**6 for i in range(5) if i != 2 or not missing for k in range(10)],
                         f"damaged {name} {choice}: events")
            checks.equal(lost_in(run("dump", "--no-sync", into).stderr), [b"1 packet"],
                         f"damaged {name} {choice}: the slice says what is missing")


def check_overlap(directory):
    """Two snapshots overlap. Which copy of a packet is read does not depend on the names of their directories, and one
    that is not complete is not taken."""
    for name, first, second in (("named", "a", "b"), ("renamed", "b", "a")):
        path = os.path.join(directory, name)
        for part, packets in ((first, range(4)), (second, range(2, 6))):
            with made.Recording(os.path.join(path, part, "kernel")) as recording:
                for i in packets:
                    recording.packet(0, 10**9 * i + 1, 10**9 * (i + 1), made.turns(10**9 * i + 1, 10**6, 10), seq=i)
        for cut in (False, True):
            file = os.path.join(path, first, "kernel", "ch_0")
            os.truncate(file, os.path.getsize(file) - 100 * cut)
            for choice in ([], ["--where", "sched_switch"]):
                what, into = f"overlap {name} {cut} {choice}", os.path.join(directory, f"{name}-{cut}-{len(choice)}")
                result = run("slice", "--no-sync", "-o", into, *choice, path)
                # events are chosen from what is read, which is the copy that was recorded first
                checks.equal(result.returncode, 3 if cut and choice else 0, f"{what}: exit status: {result.stderr}")
                for words in (b"events are missing", b"it is not in the file"):
                    checks.true(words not in result.stderr, f"{what}: {result.stderr}")
                checks.equal(len(dump("--no-sync", into)), len(dump("--no-sync", *choice, path)) if choice else 60,
                             f"{what}: events")


def check_counter(directory):
    """The counter of lost events may fall to 0 for one packet: its old value is not a loss afterwards."""
    path = os.path.join(directory, "counter", "made", "kernel")
    with made.Recording(path) as recording:
        for i, discarded in enumerate((0, 50, 50, 0, 50, 57)):
            recording.packet(0, 10**9 * i, 10**9 * (i + 1) - 1, made.turns(10**9 * i, 10**6, 10), discarded=discarded)
    # a number in the first packet's counter says only that events were lost
    for begin, lost, read in ((0, 57, 57), (1, 57, 8), (2, 7, 7), (3, 7, 7), (4, 7, 7)):
        for choice in ([], ["--where", "sched_switch"]):
            into = os.path.join(directory, f"counter-{begin}-{len(choice)}")
            result = run("slice", "--no-sync", "-o", into, "--begin", f"@{begin}", *choice, path)
            checks.true(choice or lost_in(result.stderr) == [f"{lost} events".encode()],
                        f"counter from {begin}: {result.stderr}")
            shown = run("dump", "--no-sync", into).stderr
            checks.equal(lost_in(shown), [f"{read} events".encode()],
                         f"counter from {begin}, {choice}: in the slice: {shown}")


def check_first_counter(directory):
    """The counter of a stream's first packet may have grown before the recording, which says no number: 1 counts."""
    path, into = (os.path.join(directory, f"first-{kind}", "made", "kernel") for kind in ("counter", "written"))
    with made.Recording(path) as recording:
        for cpu, counters in enumerate(((50, 50, 57), (3000, 3002))):
            for i, discarded in enumerate(counters):
                recording.packet(cpu, 10**9 * i, 10**9 * (i + 1) - 1, made.turns(10**9 * i, 10**6, 10), discarded=discarded)
    for what, result in (("slice", run("slice", "--no-sync", "-o", into, path)), ("read", run("hosts", path)),
                         ("read from the slice", run("hosts", into))):
        checks.equal(lost_in(result.stderr), [b"11 events"], f"first packets' counters: {what}: {result.stderr}")


def check_early_end(directory):
    """Old tracers write events after a packet's end: they are in the interval although their packet ends before it."""
    path = os.path.join(directory, "early", "made", "kernel")
    with made.Recording(path) as recording:
        for i, discarded in enumerate((0, 5, 5, 7)):
            begin = 10**9 * (10 + i)
            recording.packet(0, begin, begin + 5 * 10**8, made.turns(begin, 10**8, 10), discarded=discarded)
    for begin, end, lost in ((0, 99, 7), (11.75, 99, 2), (12, 99, 2), (12.45, 12.75, 0), (13.75, 99, 0), (13.95, 99, 0)):
        for choice in ([], ["--where", "sched_switch"]):
            choice = [*choice, "--begin", f"@{begin}", "--end", f"@{end}"]
            into = os.path.join(directory, f"early-{begin}-{len(choice)}")
            result = run("slice", "--no-sync", "-o", into, *choice, path)
            wanted = dump("--no-sync", *choice, path)
            checks.true(dump("--no-sync", into) == wanted, f"early end, {choice}: {len(wanted)} events: {result.stderr}")
            shown = run("dump", "--no-sync", into).stderr if wanted else b""
            checks.equal(lost_in(shown), [f"{lost} events".encode()] * (lost > 0),
                         f"early end, {choice}: losses: {shown}")


def check_open_packets(directory):
    """lttng-crash leaves the end of packets that were still open at 0; they end with their last events."""
    path = os.path.join(directory, "open", "made", "kernel")
    with made.Recording(path) as recording:
        for cpu in (0, 1):
            if cpu:
                recording.packet(cpu, 10**9, 2 * 10**9, made.turns(10**9, 10**7, 50, 3, 4))
            recording.packet(cpu, 2 * 10**9, 0, made.turns(2 * 10**9, 10**7, 50, 2 * cpu + 1, 2 * cpu + 2))
    for number, (choice, least) in enumerate((([], 150), (["--begin", "@2.1", "--end", "@2.3"], 40), (["--tid", "3"], 50))):
        check_same(f"open packets {number}", path, choice, least, os.path.join(directory, f"open-{number}"))
    with open(os.path.join(directory, "open-0", "made", "kernel", "ch_0"), "rb") as file:
        checks.equal(struct.unpack_from("<QQ", file.read(), HEAD), (2 * 10**9, 2 * 10**9 + 49 * 10**7),
                     "open packets: times in the slice")


def check_uncut(directory):
    """A packet that ends in an event of an unknown class cannot be stepped through: if an event of it is chosen, all of
    it is copied, which is said."""
    path, into = (os.path.join(directory, name, "made", "kernel") for name in ("unknown", "copied"))
    with made.Recording(path) as recording:
        events = made.turns(10**9, 10**6, 10)
        recording.packet(0, 10**9, events[-1][0], events + [(0, struct.pack("<IQii", 9, events[-1][0], 1, 1))])
        recording.packet(0, 2 * 10**9, 2 * 10**9 + 10**7, made.turns(2 * 10**9, 10**6, 10))
    choice = ["--tid", "1"]
    result = run("slice", "--no-sync", "-o", into, *choice, path)
    checks.equal(result.returncode, 3, f"uncut: exit status: {result.stderr}")
    checks.true(b"lttngtop: 1 packet could not be cut and contains other events, too\n" in result.stderr,
                f"uncut: said: {result.stderr}")
    every, chosen, found = ([(e["time_ns"], e["fields"]) for e in map(json.loads, dump("--no-sync", "--json", *options))]
                            for options in ([path], [*choice, path], [into]))
    checks.equal((len(every), len(chosen)), (20, 10), "uncut: events")
    checks.true(found == every[:10] + chosen[5:], f"uncut: the packet, and chosen events of the next one: {found}")


def check_hosts(directory):
    """A host without events in the slice has no directory in it."""
    path, of = os.path.join(directory, "hosts"), {"early": "early/kernel", "late": "late/ust/uid/1000/64-bit"}
    for host, first in (("early", 1), ("late", 3)):
        with made.Recording(os.path.join(path, of[host]), host) as recording:
            begin = first * 10**9
            recording.packet(0, begin, begin + 10**8, made.turns(begin, 10**6, 10, first, first + 1))
    for choice, left in ((["--tid", "1"], "early"), (["--tid", "3"], "late"), (["--end", "@2"], "early"), (["--begin", "@3"], "late"),
                         (["--begin", "@3", "--where", "sched_switch"], "late")):
        into = os.path.join(directory, f"hosts-{'-'.join(choice)}")
        result = run("slice", "--no-sync", "-o", into, *choice, path)
        checks.equal((result.returncode, result.stderr), (0, b""), f"hosts {choice}: exit status")
        checks.equal([(os.path.relpath(at, into), sorted(names)) for at, inner, names in os.walk(into)
                      if not inner],
                     [(of[left], ["ch_0", "metadata"])], f"hosts {choice}: directories")
        checks.equal(len(dump("--no-sync", into)), 5 if "--tid" in choice else 10, f"hosts {choice}: events")


def events_of(*args):
    """Dumped events without their hosts' states, in any order."""
    return sorted((e["time_ns"], e["name"], json.dumps(e["fields"])) for e in map(json.loads, dump("--no-sync", "--json", *args)))


def check_shapes(directory):
    """Traces as the format allows them: chosen events and no others, unless it is said that packets could not be cut."""
    cut = uncut = 0
    # 126: events that begin within a byte
    for seed in [*range(1, 17), 126]:
        path, into = (os.path.join(directory, f"{seed}-{name}", "made", "kernel") for name in ("shapes", "chosen"))
        shapes.Trace(seed).write(path)
        every = events_of(path)
        if not every:
            continue
        choice = ["--where", every[0][1]]
        wanted = events_of(*choice, path)
        result = run("slice", "--no-sync", "-o", into, *choice, path)
        found = events_of(into)
        checks.true(result.returncode in (0, 3) and b"are missing" not in result.stderr, f"shape {seed}: {result.stderr}")
        if b"could not be cut" in result.stderr:
            uncut += 1
            checks.true(set(wanted) <= set(found) <= set(every), f"shape {seed}: {choice}: whole packets")
        else:
            cut += 1
            checks.true(found == wanted, f"shape {seed}: {choice}: {len(found)} events instead of {len(wanted)}")
    checks.true(cut and uncut, f"shapes: {cut} were cut, {uncut} not")


def limit_files():
    """Files larger than 1.5 MB cannot be written, as on a full disk; the workers' memory is smaller."""
    import resource
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 19, 3 << 19))


def main():
    harness.need_program()
    harness.need("babeltrace2")
    with tempfile.TemporaryDirectory() as directory:
        found = harness.recording("three-tier")
        if found:
            check_clocks(found[0], directory)
            check_failures(found[0], directory)
            check_incomplete(found[0], directory)
        found = harness.recording("locks-pipes")
        if found:
            check_truncated(found[0], directory)
        check_counts(directory)
        check_damaged(directory)
        check_overlap(directory)
        check_counter(directory)
        check_first_counter(directory)
        check_early_end(directory)
        check_open_packets(directory)
        check_uncut(directory)
        check_hosts(directory)
        check_shapes(directory)
        check_recordings(directory)
        check_chosen(directory)
    checks.finish()


main()
