#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording opened for a range of time, compared with all of it.

Random ranges, some of a few microseconds, some that start or end with an event or are empty, and ranges that cover the
recording: the events are those that babeltrace2 prints for the range; their contents are those found when everything is
read; which thread runs at the start; losses. Recordings of one packet and of a thousand, with index files and without,
rotated, with lost events, with overlapping snapshots, of old tracers.
"""
import bisect
import collections
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402

BUILD = os.environ["BUILD"]
DUMP = os.path.join(BUILD, "tests/source/dump_records")
RANGES = 8
TILES = 5
LINE = re.compile(r"\[(\d+)\.(\d{9})\] \(\S+\) (?:\S+ )?(\S+): \{ cpu_id = (\d+) \},")

# Recordings of ../shared by name; babeltrace2 cannot print the snapshots together, since their packets overlap.
SHARED = ["lossy", "rotated", "snapshot", "lossy-overwrite/db/*", "disk-io"]
CONFORMANCE = ["cp_net_softirq", "net_matching", "io_full_kernel"]


class Recording:
    """Everything, from babeltrace2 and from a worker, by time."""

    def __init__(self, path):
        self.path = path
        self.printed = self.babeltrace()
        self.records = Records(path)
        self.begin, self.end = self.printed[0][0], self.printed[-1][0] + 1
        self.times = sorted({ns for ns, _, _ in self.printed})

    def babeltrace(self, *options):
        out = subprocess.run(["babeltrace2", "--clock-seconds", *options, self.path], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True, errors="replace", check=False).stdout
        matches = map(LINE.match, out.splitlines())
        return [(int(m[1]) * 10 ** 9 + int(m[2]), int(m[4]), m[3]) for m in matches if m]

    def printed_in(self, begin, end):
        return [e for e in self.printed if begin <= e[0] < end]


class Records:
    """A worker's output: events and losses as (ns, cpu, what …), the thread each CPU starts with."""

    def __init__(self, path, begin=0, end=2 ** 64 - 1, parts=1):
        self.events, self.texts, self.lost, self.starts, self.problems, self.hosts = [], [], [], {}, [], 0
        self.switches = collections.defaultdict(list)  # CPU → (ns, fields)
        out = subprocess.run([DUMP, "-p", str(parts), "-r", f"{begin}:{end}", path], stdout=subprocess.PIPE,
                             check=False, encoding="utf-8", errors="surrogateescape").stdout
        for line in out.splitlines():
            if line.startswith("#"):
                self.problems += [line] if "failed" in line else []
                continue
            ns, kind, cpu, tid, *rest = line.split(" ", 4)
            ns, cpu, rest = int(ns), int(cpu[4:]), rest[0] if rest else ""
            name = re.search(r"class=(\S+)", rest)
            if kind == "LOST":
                events, packets, since, _ = map(int, rest.split())
                self.lost.append((ns, cpu, events, packets, since))
            elif kind == "CPU_START":
                first = int(re.search(r"(?:tid|w0)=(-?\d+)|^(-?\d+)", rest)[0].split("=")[-1])
                if first >= 0:  # else only that the CPU's data begins is known
                    self.starts[cpu] = first
            elif kind == "TRACE":
                self.hosts += 1
            elif name and kind not in ("CLASS", "CONTEXT"):
                self.events.append((ns, cpu, name[1]))
                # counters are reported when they change: a range repeats the initial ones
                self.texts.append((ns, cpu, kind, tid, re.sub(r" perf=\S+", "", rest)))
                if kind == "SCHED_SWITCH":
                    self.switches[cpu].append((ns, rest))


def by_cpu(events):
    """Workers' and babeltrace2's order of simultaneous events differs between CPUs, not within one."""
    return sorted(events, key=lambda e: e[:2])


def first_difference(what, got, wanted):
    for a, b in zip(got, wanted):
        if a != b:
            return [f"{what}: {a}, not {b}"]
    return [f"{what}: {len(got)}, not {len(wanted)}"] if len(got) != len(wanted) else []


def offline_until(text):
    """What a switch says about its CPU, which may have gone offline then."""
    return int((re.search(r" w9=(\d+)", text) or [0, 0])[1])


def check_start(recording, records, begin, end):
    """
    The thread that ran at the start: the next of the CPU's last switch before it, unless events were lost since, the
    CPU was offline, or the recording's switches are inconsistent.
    """
    wrong, checked = [], 0
    for cpu, tid in records.starts.items():
        switches = recording.records.switches[cpu]
        at = bisect.bisect_left(switches, (begin,))
        last, first = switches[at - 1] if at else None, switches[at] if at < len(switches) else None
        lost = any(on == cpu and last and last[0] <= ns and since <= (first[0] if first else end)
                   for ns, on, _, _, since in recording.records.lost)
        if not last or not first or lost or offline_until(last[1]) > begin:
            continue
        runs = int(re.search(r"next_tid=(\d+)", last[1])[1])
        if runs != int(re.search(r"prev_tid=(\d+)", first[1])[1]):
            continue
        checked += 1
        if tid != runs:
            wrong.append(f"CPU {cpu} begins with thread {tid}, not {runs}")
    return wrong, checked


def check_losses(recording, records, begin, end):
    """Losses that end in the range are reported as usual; others only if they reach into it, at its edge."""
    last = {cpu: ns for ns, cpu, _ in recording.records.events}  # a later loss is reported there
    wrong = []
    for loss in recording.records.lost:
        if begin <= loss[0] < end and loss[4] >= begin and loss not in records.lost:
            wrong.append(f"lost: {loss} is missing")
    for ns, cpu, events, packets, since in records.lost:
        whole = [l for l in recording.records.lost
                 if l[1:4] == (cpu, events, packets) and l[4] < end and (l[0] >= begin or l[0] == last[cpu])]
        if not begin <= ns < end or not whole:
            wrong.append(f"lost: {(ns, cpu, events, packets, since)} is not of this range")
    return wrong


def check_range(recording, begin, end, parts=1, direct=False):
    records = Records(recording.path, begin, end, parts)
    wrong = [f"failed: {p}" for p in records.problems]
    printed = recording.printed_in(begin, end)
    if direct:
        text = [f"{ns // 10 ** 9}.{ns % 10 ** 9:09}" for ns in (begin, end - 1)]
        again = recording.babeltrace("--begin", text[0], "--end", text[1])
        wrong += first_difference("babeltrace2 --begin --end", by_cpu(again), by_cpu(printed))
    wrong += first_difference("events", by_cpu(records.events), by_cpu(printed))
    wrong += first_difference("records", by_cpu(records.texts), by_cpu(
        [t for t in recording.records.texts if begin <= t[0] < end]))
    wrong += check_losses(recording, records, begin, end)
    if not records.hosts:
        wrong.append("no host is named")
    starts, checked = check_start(recording, records, begin, end)
    return wrong + starts, len(records.events), checked


def random_ranges(recording, rng):
    span = recording.end - recording.begin
    for i in range(RANGES):
        length = int(span * 10 ** rng.uniform(-5, -0.3))
        begin = recording.begin + rng.randrange(span)
        if i % 4 == 1:
            begin = rng.choice(recording.times)
        if i % 4 == 2:
            begin = rng.choice(recording.times) + 1
        if i % 4 == 3:  # ends with an event
            yield begin, max(recording.times[min(bisect.bisect(recording.times, begin + length),
                                                 len(recording.times) - 1)], begin + 1)
        else:
            yield begin, begin + max(length, 1)
    yield recording.begin - 10 ** 9, recording.begin
    yield recording.begin - 10 ** 9, recording.begin + 1
    yield recording.end, recording.end + 10 ** 9
    yield recording.end - 1, recording.end + 10 ** 9
    yield recording.begin, recording.end
    edges = [recording.begin + span * i // TILES for i in range(TILES)] + [recording.end]
    yield from zip(edges, edges[1:])


def check(path, name, rng):
    recording = Recording(path)
    if len(recording.printed) != len(recording.records.events):
        print(f"not ok {name}: {len(recording.printed)} events printed, {len(recording.records.events)} read")
        return False
    n = events = starts = 0
    failures = []
    for begin, end in random_ranges(recording, rng):
        wrong, some, checked = check_range(recording, begin, end, parts=1 + n % 2, direct=n % 6 == 0)
        failures += [f"[{begin}, {end}[: {text}" for text in wrong]
        n, events, starts = n + 1, events + some, starts + checked
    if not events:
        failures.append("no event")
    if not starts and any(recording.records.switches.values()) and not recording.records.lost:
        failures.append("no CPU's first thread was compared")
    print(f"{'not ok' if failures else 'ok'} {name}: {n} ranges, {events} events, {starts} CPUs' first threads")
    for text in failures[:20]:
        print("    " + text)
    return not failures


def recordings():
    for name in ("hotplug/db/kernel", "kprobe/client/kernel", "three-tier/web/kernel"):
        path = os.path.join(BUILD, "traces", name)
        if os.path.isdir(path):
            yield path, name
    if harness.few_or_all():
        return
    for name in SHARED:
        found = harness.recording(name.split("/")[0])
        below = name.split("/")[1:]
        if found:
            directory = os.path.join(found[0], *below)
            parent = os.path.dirname(directory)
            for path in sorted(os.path.join(parent, n) for n in os.listdir(parent)) if below else [directory]:
                yield path, os.path.relpath(path, os.path.dirname(found[0]))
    for name in CONFORMANCE if "SHARED" in os.environ else []:
        for directory, _, files in sorted(os.walk(os.path.join(os.environ["SHARED"], "conformance", name))):
            if "metadata" in files:
                yield directory, os.path.relpath(directory, os.environ["SHARED"])


def main():
    seed = int(os.environ.get("SEED", random.randrange(10 ** 6)))
    rng = random.Random(seed)
    failed = tested = 0
    if not os.access(DUMP, os.X_OK):
        print("skip ranges: tests/source/dump_records is not built")
        return 0
    harness.need("babeltrace2")
    for path, name in [(p, p) for p in sys.argv[1:]] or recordings():
        tested += 1
        failed += not check(path, name, rng)
    if "SHARED" not in os.environ:
        print("skip ranges of rotated, lossy and snapshot recordings: ../shared is absent")
    print(f"seed {seed}")
    return 1 if failed or not tested else 0


sys.exit(main())
