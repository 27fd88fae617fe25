#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One kernel in several recordings: every event counts once, also those that only one of them has, and the table of
hosts tells them apart. Two machines with the same name are two."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "waits"))
import ctf  # noqa: E402
from cases import check, finish  # noqa: E402

LTTNGTOP = os.environ["LTTNGTOP"]
BASE, MS = 1_700_000_000 * 10 ** 9, 10 ** 6


def report(table, *sources):
    run = subprocess.run([LTTNGTOP, "report", table, "--json", *sources], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, check=False)
    return json.loads(run.stdout)["rows"], run.stderr, run.returncode


def switch(trace, time, prev, following, **more):
    trace.add(BASE + time, "sched_switch", ("prev_comm", "text", 16, f"t{prev}"), ("prev_tid", "s32", prev),
              ("prev_prio", "s32", 20), ("prev_state", "s64", 0), ("next_comm", "text", 16, f"t{following}"),
              ("next_tid", "s32", following), ("next_prio", "s32", 20), **more)


def receive(trace, time):
    trace.add(BASE + time, "netif_receive_skb", ("skbaddr", "u64", 1), ("len", "u32", 100), ("name", "string", "eth0"))


def send(trace, time):
    trace.add(BASE + time, "net_dev_queue", ("skbaddr", "u64", 1), ("len", "u32", 1000), ("name", "string", "eth0"))


def other(trace, time):
    trace.add(BASE + time, "power_cpu_idle", ("state", "u32", 1))


def record(path, name, steps, *kinds, host="db", clock=None):
    """A recording of these kinds of events in these steps of 10 ms; each trace has times of its own."""
    trace = ctf.Trace(host)
    late = len(name)  # ns
    for i in steps:
        for kind in kinds:
            at = i * 10 * MS + late
            if kind == "switch":
                switch(trace, at, 1 + i % 2, 2 - i % 2)
            else:
                {"receive": receive, "send": send, "other": other}[kind](trace, at + MS)
    directory = os.path.join(path, name, "kernel")
    trace.write(directory, trace=name, clock=clock or host)
    return directory


def counts(*sources):
    rows, _, _ = report("events", *sources)
    return {row["name"]: row["count"] for row in rows}


def same(top):
    one = record(top, "same-a", range(1000), "switch", "receive", "send")
    two = record(top, "same-b1", range(1000), "switch", "receive", "send")
    for table in ("cpu", "net", "events", "cpus"):
        check(f"the same events: {table}", report(table, one, two)[0] == report(table, one)[0],
              (report(table, one, two), report(table, one)))
    rows, said, status = report("hosts", two, one)
    check("the same events: one host", [(row["host"], row["events"], row["late_events"]) for row in rows] == [("db", 3000, 0)], rows)
    words = f"recorded 2 times, counted once: from {one}; gaps from {two}"
    check("the same events: the reason", rows[0]["reason"] == words, rows)
    check("the same events: said", (said, status) == (f"lttngtop: warning: db: {words}\n", 0), (said, status))
    check("one recording: no reason", report("hosts", one)[0][0]["reason"] is None)


def another_day(top):
    """Only sessions that recorded the same events are counted, not those of another time."""
    one, two = (record(top, name, range(100), "switch", "send") for name in ("day-a", "day-b1"))
    for name, kinds in (("day-c", ("switch", "send", "receive")), ("day-d", ("switch",))):
        later = record(top, name, range(6000, 6100), *kinds)
        reason = report("hosts", two, later, one)[0][0]["reason"]
        check(f"another day: {len(kinds)} kinds", reason == f"recorded 2 times, counted once: from {one}; gaps from {two}", reason)


def parts(top):
    """Events missing in one come from the other; the one that has more is read first."""
    less = record(top, "part-b", range(1000), "switch", "other")
    more = record(top, "part-aa", range(1000), "switch", "receive", "send")
    found = counts(less, more)
    check("parts: every kind once", found == {"sched_switch": 1000, "power_cpu_idle": 1000, "netif_receive_skb": 1000,
                                              "net_dev_queue": 1000}, found)
    rows, _, _ = report("net", less, more)
    check("parts: bytes", [(row["rx_bytes"], row["tx_bytes"]) for row in rows] == [(114000, 1000000)], rows)
    reason = report("hosts", less, more)[0][0]["reason"]
    check("parts: the one with more", f"from {more}; gaps from {less}" in reason, reason)


def one_after_the_other(top):
    """Where the first one ends the second one is read; also where
    it pauses, except for the events that show that it does."""
    early = record(top, "turn-a", range(0, 600), "switch", "send")
    late = record(top, "turn-bb", range(400, 1000), "switch", "send")
    found = counts(early, late)
    check("overlap: every event once", found == {"sched_switch": 1000, "net_dev_queue": 1000}, found)
    record(top, "pause-a", [*range(0, 300), *range(700, 1000)], "switch")
    record(top, "pause-bb", range(0, 1000), "switch")
    found = counts(os.path.join(top, "pause-a"), os.path.join(top, "pause-bb"))
    check("a pause: it is filled, and nothing counts twice", found["sched_switch"] in range(795, 803), found)
    apart = [record(top, "apart-a", range(0, 100), "switch"), record(top, "apart-bb", range(500, 600), "switch")]
    rows, said, _ = report("hosts", *apart)
    check("no overlap: all of both", (rows[0]["events"], rows[0]["reason"], said) == (200, None, ""), (rows, said))


def set_clock(directory, by_ms):
    """As if the clock had been set by that before the session started; it was 0 at 1970-01-01 00:00:10."""
    path = os.path.join(directory, "metadata")
    with open(path, encoding="ascii") as file:
        text = file.read()
    assert "offset = 0;" in text
    with open(path, "w", encoding="ascii") as file:
        file.write(text.replace("offset = 0;", f"offset = {10 ** 10 + by_ms * MS};"))
    return directory


def clock_set(top):
    """The clock was set between two recordings. Where one seems to repeat the other but does not, events are missing."""
    words = "its clock was set between recordings: where their times overlap, only one is counted (the other: late_events)"

    def found(name, steps, by_ms, more=(), *options):
        """Of a recording of steps 0 to 99 and one of these, made after the clock was set; of each more kinds of events."""
        paths = [set_clock(record(top, f"{n}-set-{name}", of, "switch", *(["send"] if n in more else [])), by)
                 for n, of, by in (("a", range(100), 0), ("bb", steps, by_ms))]
        rows, said, status = report("hosts", *paths, *options)
        other = report("hosts", *reversed(paths), *options)[0]
        check(f"clock set: {name}: one host, in both orders", len(rows) == 1 and rows[0]["events"] == other[0]["events"], (rows, other))
        lines = [line for line in said.splitlines() if words in line]
        check(f"clock set: {name}: said once", len(lines) < 2 and bool(lines) == (status == 3), (said, status))
        check(f"clock set: {name}: each event is counted, late, or a copy",
              name in ("copy", "part") or options[:1] == ("--begin",) or
              rows[0]["events"] + rows[0]["late_events"] == (len(steps) + 100), rows)
        check(f"clock set: {name}: nothing else", "recorded 2 times" not in said or name in ("copy", "part"), said)
        return rows[0]["events"], rows[0]["reason"], status

    for reader in ("native", "babeltrace2"):
        events, reason, status = found(f"back-{reader}", range(100, 200), -500, (), "--reader", reader)
        check(f"clock set: back, {reader}", (events < 200, reason, status) == (True, words, 3), (events, reason, status))
    for begin in ("+700ms", "-600ms"):
        check(f"clock set: back, from {begin}", found(f"late{begin}", range(100, 200), -500, (), "--begin", begin)[2] == 3)
    check("clock set: back, but not so far", found("gap", range(300, 400), -500) == (200, None, 0))
    check("clock set: forward", found("forward", range(100, 200), 500) == (200, None, 0))
    for by_ms in (-300, 300):
        check(f"clock set: by {by_ms} ms, inside the other", found("copy", range(20, 60), by_ms, ("a",))[2] == 0)
        shutil.rmtree(os.path.join(top, "a-set-copy"))
        shutil.rmtree(os.path.join(top, "bb-set-copy"))
    check("clock set: one that starts before the other ends", found("part", range(80, 200), -500)[2] == 3)


def one_name_in_another(top):
    paths = [os.path.join(top, name) for name in ("once-10", "once-1")]
    for i, path in enumerate(paths):
        os.rename(record(top, f"run-{i}", range(500 * i, 500 * i + 100), "switch"), path)
    names = report("hosts", *paths)[0][0]["source"].split(", ")
    check("one name is a part of the other", sorted(names) == sorted(paths), names)


def times(*sources):
    """CPU time of each thread, and of the CPU: busy, idle, known."""
    threads = {row["tid"]: row["cpu_ns"] for row in report("cpu", *sources)[0]}
    return threads, [tuple(row[k] for k in ("busy_ns", "idle_ns", "online_ns")) for row in report("cpus", *sources)[0]]


def nothing_in_between(top):
    """Seconds that nobody recorded are credited to nothing; a session that continues another one is not interrupted."""
    early, late = (record(top, name, steps, "switch") for name, steps in
                   (("gap-a", range(0, 100)), ("gap-bb", range(6000, 6200))))
    sent, later = (record(top, name, steps, "send") for name, steps in
                   (("sent-a", range(0, 100)), ("sent-bb", range(6000, 6200))))
    threads, cpus = zip(times(early), times(late))
    found = times(early, late)
    check("a gap: threads", found[0] == {tid: threads[0][tid] + threads[1][tid] for tid in (1, 2)}, (found, threads))
    check("a gap: the CPU", found[1] == [tuple(map(sum, zip(cpus[0][0], cpus[1][0])))], (found, cpus))
    check("a gap: in both orders", times(late, early) == found, times(late, early))
    rows = report("cpu", early, late, "--columns", "tid,cpu_percent,host_percent")[0]
    of_cpu, of_host = (sum(row[name] for row in rows) for name in ("cpu_percent", "host_percent"))
    check("a gap: percentages do not include it", abs(of_cpu - 100) < 0.1 and abs(of_host - 100) < 0.1, rows)
    rates = [report("net", *of, "--columns", "name,tx_rate")[0][0]["tx_rate"] for of in ([sent], [sent, later])]
    check("a gap: nor do rates", abs(rates[0] / rates[1] - 1) < 0.02, rates)
    longest = report("preemption", early, late)[0]
    check("a gap: nobody waited in it", longest and max(row["max_ns"] for row in longest) <= 10 * MS, longest)
    record(top, "chunk-a", range(0, 100), "switch")
    record(top, "chunk-b", range(100, 200), "switch")
    whole = times(record(top, "chunk-w", range(0, 200), "switch"))
    found = times(os.path.join(top, "chunk-a"), os.path.join(top, "chunk-b"))
    check("parts: as the whole", found == whole, (found, whole))


class WithContexts(ctf.Trace):
    """Each event has its thread's TID, PID and UID."""
    NAMES = "tid", "pid", "uid"

    def add(self, time, name, *fields, cpu=0, tid=0):
        super().add(time, name, *fields, cpu=cpu)
        self.events[-1] = cpu, time, self.events[-1][2][:12] + struct.pack("<3i", tid, 500 + tid, 1000 + tid) + \
            self.events[-1][2][12:]

    def metadata(self, uuid, clock):
        text = "".join(ctf.INTEGER.format(32, 1) + f" _{name}; " for name in self.NAMES)
        return super().metadata(uuid, clock).replace("uint32_t cpu_id; }; };",
                                                     f"uint32_t cpu_id; }}; event.context := struct {{ {text}}}; }};")


def contexts(top):
    """What only one recording has of each thread, with events that are mostly taken from the other one."""
    plain = record(top, "plain", range(100), "switch", "receive", "send")
    trace = WithContexts("db")
    for i in range(100):
        switch(trace, i * 10 * MS + 100, 1 + i % 2, 2 - i % 2, tid=1 + i % 2)
        trace.add(BASE + i * 10 * MS + MS, "power_cpu_idle", ("state", "u32", 1), tid=2 - i % 2)
    trace.write(os.path.join(top, "contexts"), trace="contexts", clock="db")
    rows, _, _ = report("cpu", plain, os.path.join(top, "contexts"), "--columns", "tid,pid,uid")
    check("contexts", [[row[name] for name in WithContexts.NAMES] for row in rows] == [[1, 501, 1001], [2, 502, 1002]], rows)


def two_machines(top):
    for n in ("1", "22"):
        record(top, f"machine-{n}", range(1000), "switch", host="localhost", clock=f"clock {n}")
    rows, said, status = report("hosts", os.path.join(top, "machine-1"), os.path.join(top, "machine-22"))
    check("two machines", [(row["host"], row["events"], row["reason"]) for row in rows] ==
          [("localhost", 1000, None), ("localhost#2", 1000, None)], rows)
    check("two machines: nothing to say", (said, status) == ("", 0), (said, status))


with tempfile.TemporaryDirectory() as directory:
    for test in (same, another_day, parts, one_after_the_other, clock_set, one_name_in_another, nothing_in_between, contexts,
                 two_machines):
        test(directory)
finish()
