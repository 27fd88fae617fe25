#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Who ran instead: a thread's culprits add up to its ready time, in every interval of every recording; and they are found
again from babeltrace2's text, by comparing when threads were ready with the threads that the CPUs ran.
"""

import bisect
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cases  # pylint: disable=wrong-import-position

BUILD = os.environ.get("BUILD", os.path.join(os.path.dirname(__file__), "..", "..", "build"))
PROGRAM = os.environ.get("LTTNGTOP", os.path.join(BUILD, "lttngtop"))
TRACES = os.path.join(BUILD, "traces")
SHARED = os.environ.get("SHARED", "")
RECORDINGS = ("locks-pipes", "rpc-hog-local", "three-tier", "hotplug", "lossy-overwrite")
PREEMPTED = 0x100  # bits of prev_state, beside TASK_RUNNING
GONE = 0x10 | 0x20  # EXIT_DEAD, EXIT_ZOMBIE

EVENT = re.compile(r"\[(\d+)\.(\d{9})\] (?:\(.*?\) )?(\S+) (sched_(?:switch|waking|wakeup|wakeup_new|migrate_task)): "
                   r"\{ cpu_id = (\d+) \}, \{ .*? \}, \{ ?(.*?) ?\}$")


def reports(table, recording, *args):
    """The report's rows of each interval."""
    done = subprocess.run([PROGRAM, "report", table, "--json", "--no-sync", *args, os.path.join(TRACES, recording)],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
    assert done.returncode in (0, 3), (table, recording, done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def sums(rows, key, value):
    found = collections.Counter()
    for r in rows:
        found[key(r)] += r[value]
    return {k: v for k, v in found.items() if v}


def culprit(r):
    return r["host"], r["tid"], r["by_tid"], r["by_comm"] if r["by_tid"] is None else None


# ---- sums ----

def test_together_they_are_the_time_ready():
    for recording in RECORDINGS:
        for args in ((), ("--interval", "1s"), ("--interval", "130ms"), ("--begin", "+1s", "--end", "+1111ms")):
            whole, parts = reports("cpu", recording, *args), reports("preemption", recording, *args)
            assert len(whole) == len(parts)
            for threads, rows in zip(whole, parts):
                assert threads["begin_ns"] == rows["begin_ns"]
                ready = sums(threads["rows"], lambda r: (r["host"], r["tid"]), "ready_ns")
                assert ready == sums(rows["rows"], lambda r: (r["host"], r["tid"]), "total_ns"), (recording, args)


def test_intervals_add_up():
    """Interval edges change no sum: neither of time, nor of waits, which count once."""
    for recording in RECORDINGS[:3]:
        whole = reports("preemption", recording)[0]["rows"]
        parts = [r for i in reports("preemption", recording, "--interval", "70ms") for r in i["rows"]]
        assert len(whole) > 100
        for figure in ("total_ns", "count"):
            assert sums(whole, culprit, figure) == sums(parts, culprit, figure), (recording, figure)
        for r in whole:
            assert r["count"] > 0 and r["max_ns"] <= r["total_ns"] <= r["count"] * r["max_ns"], r


def test_intervals_of_half_a_recording():
    """Only CPU 0 recorded from the start: where the other one moved threads is not known."""
    archive = os.path.join(SHARED, "traces", "snapshot.tar.zst")
    if not os.path.exists(archive):
        return
    with tempfile.TemporaryDirectory() as top:
        subprocess.run(["tar", "-xf", archive, "-C", top], check=True)
        recording = os.path.join(top, "snapshot")
        whole = reports("preemption", recording)[0]["rows"]
        for length in ("10ms", "250ms"):
            parts = [r for i in reports("preemption", recording, "--interval", length) for r in i["rows"]]
            for figure in ("total_ns", "count"):
                assert sums(whole, culprit, figure) == sums(parts, culprit, figure), (length, figure)


def test_little_memory():
    whole = reports("preemption", "three-tier")[0]["rows"]
    few = reports("preemption", "three-tier", "--model-memory", "1M")[0]["rows"]
    assert any(r["tid"] is None for r in few)
    ready = reports("cpu", "three-tier", "--model-memory", "1M")[0]["rows"]
    assert sum(r["total_ns"] for r in few) == sum(r["ready_ns"] for r in ready)
    assert sum(r["total_ns"] for r in few) == sum(r["total_ns"] for r in whole)


# ---- found again ----

def number(fields, name):
    return int(re.search(rf"\b{name} = (-?\d+)", fields).group(1))


def overlay(recording, end_ns):
    """
    From the text: the threads each CPU ran, as ([start], [tid]), and the waits: [(host, tid,
    [(cpu, start)], end)], with where it waited from which time on. One that has not ended lasts until end_ns.
    """
    text = subprocess.run(["babeltrace2", "--clock-seconds", os.path.join(TRACES, recording)], capture_output=True,
                          check=True, timeout=300).stdout.decode(errors="replace")
    ran, state, waits, waking = {}, {}, [], {}

    def ready(thread, cpu, t):
        state[thread] = [(cpu, t)]

    for line in text.splitlines():
        m = EVENT.match(line)
        if not m:
            continue
        t, host, name, cpu, fields = int(m[1]) * 10**9 + int(m[2]), m[3], m[4], (m[3], int(m[5])), m[6]
        if name == "sched_switch":
            gone, come = (host, number(fields, "prev_tid")), (host, number(fields, "next_tid"))
            times, tids = ran.setdefault(cpu, ([0], [gone[1]]))
            times.append(t)
            tids.append(come[1])
            waking[cpu] = None
            left = number(fields, "prev_state")
            if gone[1] and left in (0, PREEMPTED):
                ready(gone, cpu, t)
            else:
                state[gone] = "gone" if left & GONE else "blocked"
            if come[1] and isinstance(state.get(come), list):
                waits.append((*come, state[come], t))
            state[come] = "runs"
            continue
        thread = host, number(fields, "tid")
        if name == "sched_migrate_task":
            if isinstance(state.get(thread), list):
                # on its way to a run queue it has not waited yet
                begin = state[thread][0][1] if waking.get(cpu) == thread else t
                placed = [] if waking.get(cpu) == thread else state[thread]
                state[thread] = placed + [((host, number(fields, "dest_cpu")), begin)]
                waking[cpu] = None
        elif name == "sched_wakeup":
            if waking.get(cpu) == thread:
                waking[cpu] = None
        elif state.get(thread, "blocked") == "blocked":
            ready(thread, (host, number(fields, "target_cpu")), t)
            if name == "sched_waking":
                waking[cpu] = thread
    return ran, waits + [(*thread, s, end_ns) for thread, s in state.items() if isinstance(s, list)]


def shares(ran, places, end):
    """ns of a wait by the tid that ran."""
    mine = collections.Counter()
    for i, (cpu, begin) in enumerate(places):
        until = places[i + 1][1] if i + 1 < len(places) else end
        times, tids = ran[cpu]
        at = bisect.bisect_right(times, begin) - 1
        while at < len(times) and times[at] < until:
            stop = times[at + 1] if at + 1 < len(times) else until
            mine[tids[at]] += max(min(stop, until) - max(times[at], begin), 0)
            at += 1
    return mine


def found_again(recording, end_ns):
    """ns, number of waits, longest wait, by (host, tid, tid that ran)."""
    ran, waits = overlay(recording, end_ns)
    total, count, longest = collections.Counter(), collections.Counter(), collections.Counter()
    for host, tid, places, end in waits:
        for by, ns in shares(ran, places, end).items():
            total[host, tid, by] += ns
            count[host, tid, by] += ns > 0
            longest[host, tid, by] = max(longest[host, tid, by], ns)
    return {k: (total[k], count[k], longest[k]) for k in total if total[k]}


def test_found_again():
    for recording in ("locks-pipes", "rpc-hog-local"):
        found = reports("preemption", recording)[0]
        want, rows = found_again(recording, found["end_ns"]), found["rows"]
        got = {(r["host"], r["tid"], r["by_tid"]): (r["total_ns"], r["count"], r["max_ns"])
               for r in rows if r["by_tid"] is not None}
        assert len(want) > 200, len(want)
        differ = {k: (want.get(k), got.get(k)) for k in want.keys() | got.keys() if want.get(k) != got.get(k)}
        assert not differ, (recording, len(differ), list(differ.items())[:5])
        assert all(r["by_tid"] is not None for r in rows)


# ---- in paths and after calls ----

def ran_longest(recording):
    """The tids that ran longest in a wait (several: equally long), by (tid, begin, end) of the wait."""
    ran, waits = overlay(recording, 1 << 63)
    found = {}
    for _, tid, places, end in waits:
        mine = shares(ran, places, end) if end < 1 << 63 else {}
        found[tid, places[0][1], end] = {by for by, ns in mine.items() if ns and ns == max(mine.values())}
    return found


def most_ready(recording, n):
    rows = [r for r in reports("cpu", recording)[0]["rows"] if r["ready_ns"]]
    return sorted(rows, key=lambda r: -r["ready_ns"])[:n]


def switched_out(recording):
    """(tid, time) of switches from threads that could have run on, and the names that threads have had."""
    text = subprocess.run(["babeltrace2", "--clock-seconds", os.path.join(TRACES, recording)], capture_output=True,
                          check=True, timeout=300).stdout.decode(errors="replace")
    found, names = set(), collections.defaultdict(set)
    for m in filter(None, map(EVENT.match, text.splitlines())):
        if m[4] != "sched_switch":
            continue
        tid = number(m[6], "prev_tid")
        names[tid].add(re.search(r'prev_comm = "(.*?)"', m[6]).group(1))
        if number(m[6], "prev_state") in (0, PREEMPTED):
            found.add((tid, int(m[1]) * 10**9 + int(m[2])))
    return found, names


def test_on_the_path():
    """A piece in which a thread was ready names the one that ran longest meanwhile, also after a wake-up."""
    for recording in ("locks-pipes", "rpc-hog-local"):
        want, (left, names) = ran_longest(recording), switched_out(recording)
        tids = [a for r in most_ready(recording, 20) for a in ("--tid", str(r["tid"]))]
        rows = [r for r in reports("critical-path", recording, *tids)[0]["rows"]
                if r["state"] == "preempted" and r["tid"] == r["path_tid"]]
        seen = collections.Counter()
        for r in rows:
            by = want.get((r["tid"], r["begin_ns"], r["end_ns"]))
            if by is None:
                seen["cut"] += 1
                continue
            assert r["cause_tid"] in by, (recording, r, by)
            assert r["cause"] in (names[r["cause_tid"]] if r["cause_tid"] else {"idle"}), r
            kind = "preempted" if (r["tid"], r["begin_ns"]) in left else "woken"
            seen[kind, "idle" if r["cause_tid"] == 0 else "thread"] += 1
        print("#", recording, dict(seen))
        assert seen["woken", "thread"] >= 30 and seen["cut"] <= len(rows) // 50, (recording, seen)


CULPRIT = re.compile(r"(?P<preempted>, preempted by|(?P<woken> while)) (?P<name>.*)/(?P<tid>\d+)(?(woken) ran)(?=[,;\]])")


def test_after_calls():
    """attach says after a call who ran longest in the longest of its waits for a CPU, and if that followed a wake-up."""
    for recording in ("locks-pipes", "rpc-hog-local"):
        want = ran_longest(recording)
        by_tid = collections.defaultdict(list)
        for (tid, begin, end), by in want.items():
            by_tid[tid].append((begin, end, by))
        (left, names), told = switched_out(recording), collections.Counter()
        for row in most_ready(recording, 12):
            args = [PROGRAM, "attach", "-p", str(row["tid"]), "--no-sync", os.path.join(TRACES, recording)]
            calls = [json.loads(line) for line in subprocess.check_output(args + ["--json"], timeout=300).splitlines()]
            # as text, a thread does not begin with the call that made it
            calls = [c for c in calls if c["event"] == "call" and
                     (c["name"] not in ("clone", "clone3", "fork", "vfork") or c["ret"] or c["begin_ns"])]
            lines = [x for x in subprocess.check_output(args, timeout=300, text=True).splitlines()
                     if x[:3] not in ("+++", "---")]
            assert len(calls) == len(lines), (row, len(calls), len(lines))
            for call, line in zip(calls, lines):
                end = (call["begin_ns"] or 0) + (call["duration_ns"] or 0)
                waits = [w for w in by_tid[row["tid"]] if call["begin_ns"] and call["begin_ns"] <= w[0] and w[1] <= end]
                longest = max(waits, key=lambda w: w[1] - w[0], default=(0, 0, {0}))
                said = CULPRIT.search(line)
                if not re.search(r"[\[;] ?ready ", line):
                    assert not said
                    continue
                assert (int(said["tid"]) if said else 0) in longest[2], (recording, line, longest)
                if said:
                    assert said["name"] in names[int(said["tid"])], line
                    kind = "woken" if said["woken"] else "preempted"
                    assert (kind == "preempted") == ((row["tid"], longest[0]) in left), (recording, line, longest)
                    told[kind] += 1
        print("#", recording, dict(told))
        assert min(told["woken"], told["preempted"]) >= 10, (recording, told)


def test_the_hog():
    """A client that is not served waits for the server, which computes for another client."""
    rows = [r for r in reports("preemption", "rpc-hog-local", "--comm", "rpcc")[0]["rows"] if r["by_tid"]]
    worst = max(rows, key=lambda r: r["max_ns"])
    assert worst["by_comm"] == "rpcd" and worst["max_ns"] > 10 * 10**6, worst


cases.run(globals())
