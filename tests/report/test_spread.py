#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Percentiles, histograms and --log: against durations taken from babeltrace2's text, and against each other."""

import collections
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cases  # pylint: disable=wrong-import-position

BUILD = os.environ.get("BUILD", os.path.join(os.path.dirname(__file__), "..", "..", "build"))
PROGRAM = os.environ.get("LTTNGTOP", os.path.join(BUILD, "lttngtop"))
TRACES = os.path.join(BUILD, "traces")
RECORDING = os.path.join(TRACES, "locks-pipes")
PERMILLE = {"p50_ns": 500, "p90_ns": 900, "p99_ns": 990, "p999_ns": 999}
# not named by this tracer, by number (x86-64)
CALLS = {58: "vfork", 158: "arch_prctl", 318: "getrandom", 334: "rseq", 435: "clone3", 436: "close_range", 439: "faccessat2"}
PREEMPTED = 0x100  # bits of prev_state, beside TASK_RUNNING

EVENT = re.compile(r"\[(\d+)\.(\d{9})\] (?:\(.*?\) )?(\S+) (\S+): \{ cpu_id = \d+ \}, \{ (.*?) \}, \{ ?(.*?) ?\}$")


def report(*args, env=None, status=0):
    done = subprocess.run([PROGRAM, "report", *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=300,
                          check=False, env={**os.environ, **(env or {})})
    assert done.returncode == status, (args, done.returncode, done.stderr.decode(errors="replace"))
    return done.stdout.decode() if status in (0, 3) else done.stderr.decode()


def rows(*args):
    return json.loads(report(*args, "--json", "--no-sync", RECORDING))["rows"]


def number(fields, name):
    return int(re.search(rf"\b{name} = (-?\d+)", fields).group(1))


def events():
    """(ns, host, name, tid of the context, payload), in order of time."""
    text = subprocess.run(["babeltrace2", "--clock-seconds", RECORDING], capture_output=True, check=True,
                          timeout=300).stdout.decode(errors="replace")
    for line in text.splitlines():
        m = EVENT.match(line)
        if m:
            yield int(m[1]) * 10**9 + int(m[2]), m[3], m[4], number(m[5], "tid"), m[6]


def latencies(trace):
    """
    Wake-up to switch-in, as (host, tid, start, length); from its switch-out if a thread was woken while it was still
    running, on its way to block.
    """
    woken, found = {}, []
    runnable, early, left = set(), set(), {}
    for t, host, name, _, fields in trace:
        if name in ("sched_waking", "sched_wakeup_new"):
            thread = host, number(fields, "tid")
            if thread not in runnable:
                woken.setdefault(thread, t)
            early.add(thread)
        elif name == "sched_switch":
            gone = host, number(fields, "prev_tid")
            come = host, number(fields, "next_tid")
            woken.pop(gone, None)
            left[gone] = t
            (runnable.add if number(fields, "prev_state") in (0, PREEMPTED) else runnable.discard)(gone)
            if come[1] and come in woken:
                found.append((*come, woken[come], t - woken[come]))
            elif come[1] and come in early and come not in runnable:
                found.append((*come, left[come], t - left[come]))
            early.discard(come)
            woken.pop(come, None)
            runnable.add(come)
    return found


def slices(trace):
    """Switch-in to switch-out, likewise."""
    since, found = {}, []
    for t, host, name, _, fields in trace:
        if name != "sched_switch":
            continue
        gone = host, number(fields, "prev_tid")
        if gone in since and gone[1]:
            found.append((*gone, since.pop(gone), 0))
            found[-1] = (*found[-1][:3], t - found[-1][2])
        since[host, number(fields, "next_tid")] = t
    return found


def calls(trace):
    """Entry to exit of each call, likewise with its name."""
    entered, found = {}, []
    for t, host, name, tid, fields in trace:
        m = re.match(r"(?:compat_)?syscall_(entry|exit)_(.*)", name)
        call = m and m[2]
        if call == "unknown":
            call = CALLS.get(number(fields, "id"), call)
        if m and m[1] == "entry":
            entered[host, tid] = t, call
        elif m:
            begin, entry = entered.pop((host, tid), (None, None))
            if entry == call:
                found.append((host, tid, begin, t - begin, call))
    return found


def waits(trace):
    """
    Switch-out of a thread that blocks to its wake-up, as (host, tid, start, length). One that was woken while it was
    still running, on its way to block, only waits for a CPU.
    """
    since, early, found = {}, set(), []

    def end(thread, t):
        if thread in since:
            begin = since.pop(thread)
            found.append((*thread, begin, t - begin))

    for t, host, name, _, fields in trace:
        if name == "sched_switch":
            gone = host, number(fields, "prev_tid")
            if gone[1] and number(fields, "prev_state") not in (0, PREEMPTED):
                since[gone] = t
            come = host, number(fields, "next_tid")
            if come in early:
                early.discard(come)
                since.pop(come, None)
            end(come, t)
        elif name == "sched_waking":
            thread = host, number(fields, "tid")
            if thread not in since:
                early.add(thread)
            end(thread, t)
    return found


TRACE = list(events())


def logged(*args, cause=False):
    return sorted((r["host"], r["tid"], r["begin_ns"], r["length_ns"]) + ((r["cause"],) if cause else ())
                  for r in rows(*args, "--log"))


def same(got, want):
    assert len(want) > 500, len(want)
    missing, extra = collections.Counter(want), collections.Counter(got)
    missing, extra = missing - extra, extra - missing
    assert not missing and not extra, (len(want), len(got), list(missing)[:5], list(extra)[:5])


def test_log_of_wake_ups():
    same(logged("sched"), sorted(latencies(TRACE)))


def test_log_of_slices():
    same(logged("sched", "--of", "slice"), sorted(slices(TRACE)))


def test_log_of_calls():
    same(logged("syscalls", cause=True), sorted(calls(TRACE)))


def test_log_names_disks():
    """Also in requests before the state dump, when only their numbers were known."""
    disks = {r["name"] for r in rows("disks")}
    requests = rows("disks", "--log")
    found = collections.Counter(tuple(r["cause"].split()) for r in requests)
    assert len(requests) > 20 and all(name in disks and way in ("read", "write") for name, way in found), found
    assert rows("disks", "--log", "--where", "cause=vda*") == requests


def check_percentiles(row, values):
    values = sorted(values)
    assert row["count"] == len(values), (row, len(values))
    for name, permille in PERMILLE.items():
        exact = values[(len(values) * permille + 999) // 1000 - 1]
        assert abs(row[name] - exact) * 16 <= exact, (name, row, exact)
        assert values[0] <= row[name] <= values[-1], (name, row)


def test_percentiles_of_wake_ups():
    by_thread = collections.defaultdict(list)
    for host, tid, _, length in latencies(TRACE):
        by_thread[host, tid].append(length)
    found = {(r["host"], r["tid"]): r for r in rows("sched")}
    assert len(found) > 20 and found.keys() == by_thread.keys()
    for key, values in by_thread.items():
        check_percentiles(found[key], values)


def test_percentiles_of_calls():
    by_call = collections.defaultdict(list)
    for host, tid, _, length, call in calls(TRACE):
        by_call[host, tid, call].append(length)
    found = {(r["host"], r["tid"], r["name"]): r for r in rows("syscalls")}
    assert len(by_call) > 50 and by_call.keys() <= found.keys()
    for key, values in by_call.items():
        if found[key]["count"] == len(values):  # otherwise some started before the recording
            check_percentiles(found[key], values)


def test_merged_rows():
    """An interrupt's row covers all CPUs; its parts are those of each CPU."""
    parts = collections.defaultdict(collections.Counter)
    for r in rows("irqs", "--per-cpu", "--freq"):
        for b in r["freq"] or []:
            parts[r["host"], r["kind"], r["nr"]][b["from"], b["to"]] += b["count"]
    for r in rows("irqs", "--freq"):
        whole = {(b["from"], b["to"]): b["count"] for b in r["freq"] or []}
        assert whole == parts[r["host"], r["kind"], r["nr"]], r
        values = [i["length_ns"] for i in rows("irqs", "--log", "--host", r["host"]) if i["cause"] == r["name"]]
        if r["kind"] == "soft":
            check_percentiles(r, values)


def test_histograms_have_all_values():
    for table in ("sched", "syscalls", "irqs", "disks"):
        found = rows(table, "--freq")
        assert found, table
        for r in found:
            buckets = r["freq"] or []
            n = r["reads"] + r["writes"] if table == "disks" else r["count"]
            assert sum(b["count"] for b in buckets) <= n, r
            assert table != "sched" or sum(b["count"] for b in buckets) == n, r
            for b in buckets:
                assert b["count"] > 0 and (b["to"] - b["from"]) * 8 <= max(b["from"], 8), b
            assert [b["from"] for b in buckets] == sorted(b["from"] for b in buckets), r


def test_histograms_follow_the_instances():
    by_thread = collections.defaultdict(list)
    for host, tid, _, length in slices(TRACE):
        by_thread[host, tid].append(length)
    for r in rows("sched", "--freq", "--of", "slice"):
        for b in r["slice_freq"] or []:
            n = sum(b["from"] <= v < b["to"] for v in by_thread[r["host"], r["tid"]])
            assert b["count"] == n, (r, b, n)


def test_log_of_waits():
    same(logged("blocking"), sorted(waits(TRACE)))
    # each has what ended it, and they are those of the table's rows
    figures = collections.defaultdict(lambda: [0, 0, 0])
    for r in rows("blocking", "--log"):
        of_thread = figures[r["host"], r["tid"]]
        of_thread[0] += 1
        of_thread[1] += r["length_ns"]
        of_thread[2] = max(of_thread[2], r["length_ns"])
    wanted = collections.defaultdict(lambda: [0, 0, 0])
    for r in rows("blocking"):
        of_thread = wanted[r["host"], r["tid"]]
        of_thread[0] += r["count"]
        of_thread[1] += r["total_ns"]
        of_thread[2] = max(of_thread[2], r["max_ns"])
    assert figures == wanted
    causes = {r["cause"] for r in rows("blocking")} - {None}
    assert len(causes) > 5 and causes <= {r["cause"] for r in rows("blocking", "--log")}, causes


def test_log_of_waits_says_what_for():
    def sums(table):
        found = collections.Counter()
        for r in table:
            found[r["host"], r["tid"], r["syscall"], r["fd"], r["path"]] += r.get("count", 1)
        return found

    assert sums(rows("blocking", "--log")) == sums(rows("blocking"))
    chosen = rows("blocking", "--log", "--where", "call:futex file:0x")
    assert chosen and {r["syscall"] for r in chosen} == {"futex"}, chosen
    assert all(r["path"].startswith("0x") for r in chosen), chosen
    assert not {"syscall", "fd", "path"} & set(rows("sched", "--log")[0])


def test_intervals():
    """Durations that end in an interval belong to it: the log, the percentiles, the histogram."""
    seen = []
    for line in report("sched", "--log", "--json", "--no-sync", "--interval", "1s", RECORDING).splitlines():
        page = json.loads(line)
        for r in page["rows"]:
            assert page["begin_ns"] <= r["begin_ns"] + r["length_ns"] <= page["end_ns"], (page["begin_ns"], r)
            seen.append((r["host"], r["tid"], r["begin_ns"], r["length_ns"]))
    same(sorted(seen), sorted(latencies(TRACE)))
    for line in report("sched", "--freq", "--json", "--no-sync", "--interval", "1s", RECORDING).splitlines():
        for r in json.loads(line)["rows"]:
            assert sum(b["count"] for b in r["freq"] or []) == r["count"], r


def test_min():
    want = [i for i in latencies(TRACE) if i[3] >= 2000000]
    assert 0 < len(want) < 500
    assert logged("sched", "--min", "2ms") == sorted(want)
    assert logged("sched", "--min", "2ms", "--min", "1us") == logged("sched", "--min", "1us", "--min", "2ms") == sorted(want)
    middle = sorted(want, key=lambda i: i[3])[len(want) // 2][3]
    assert logged("sched", "--min", "2ms", "--max", f"{middle}ns") == sorted(i for i in want if i[3] <= middle)
    assert "'1' is not a duration" in report("sched", "--log", "--max", "1", RECORDING, status=2)


def lacks_memory(*args):
    done = subprocess.run([PROGRAM, "report", *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=300, check=False)
    return done.returncode == 3 and "instances did not fit into --model-memory" in done.stderr


def first_rows(recording, memory, *args):
    """Of a log that does not fit into the memory; a warning or 'incomplete' would be another exit status."""
    text = report("syscalls", "--log", "--limit", "9", "--model-memory", memory, "--json", "--no-sync", *args,
                  os.path.join(TRACES, recording))
    return json.loads(text)["rows"]


def test_first_rows():
    """--limit with --log needs memory for the rows that are printed, not for the whole log."""
    orders = {
        None: lambda r: (r["begin_ns"], r["length_ns"]),
        "begin": lambda r: -r["begin_ns"],
        "-begin": lambda r: r["begin_ns"],
        "length": lambda r: -r["length_ns"],
        "-length": lambda r: r["length_ns"],
    }
    for recording, memory in ("locks-pipes", "4700k"), ("hotplug", "8M"):
        args = "syscalls", "--log", "--json", "--no-sync", os.path.join(TRACES, recording)
        assert lacks_memory(*args, "--model-memory", memory), recording
        whole = json.loads(report(*args))["rows"]
        assert len(whole) > 15000, recording
        for order, key in orders.items():
            options = ("--sort", order) if order else ()
            found = first_rows(recording, memory, *options)
            assert [key(r) for r in found] == [key(r) for r in sorted(whole, key=key)[:9]], (recording, order)
        some = collections.Counter(r["tid"] for r in whole).most_common(3)[2][0]
        want = sorted((r for r in whole if r["tid"] == some and r["length_ns"] >= 1000), key=orders["length"])[:9]
        found = first_rows(recording, memory, "--sort", "length", "--tid", str(some), "--min", "1us")
        assert len(found) == 9 and [r["length_ns"] for r in found] == [r["length_ns"] for r in want], recording
        assert {r["tid"] for r in found} == {some}


def test_first_rows_that_may_still_change():
    """A thread may be renamed: what --comm matches at the end counts, so all rows are kept."""
    options = "--log", "--sort", "length", "--limit", "9", "--json", "--comm", "lttng*", "--no-sync", RECORDING
    whole = [r for r in rows("syscalls", "--log", "--comm", "lttng*")]
    found = json.loads(report("syscalls", *options))["rows"]
    assert len(whole) > 100 and [r["length_ns"] for r in found] == sorted((r["length_ns"] for r in whole), reverse=True)[:9]
    assert lacks_memory("syscalls", "--model-memory", "4M", *options)


def test_rows_that_only_have_another_distribution():
    """A thread that ran but, as events are missing, was not seen to be woken."""
    def got(*args):
        text = report("sched", *args, "--json", os.path.join(TRACES, "lossy-overwrite"), status=3)
        return json.loads(text)["rows"]

    counts = collections.Counter(r["tid"] for r in got("--log", "--of", "slice"))
    woken = {r["tid"] for r in got()}
    assert set(counts) > woken
    assert {r["tid"]: r["slice_count"] for r in got("--columns", "tid,count,slice_count,slice_max_ns")} == counts
    assert {r["tid"] for r in got("--columns", "tid,slice_max_ns")} == set(counts)
    assert {r["tid"] for r in got("--columns", "tid,comm,prio")} == woken
    assert {r["tid"]: sum(b["count"] for b in r["slice_freq"]) for r in got("--freq", "--of", "slice")} == counts
    row, = got("--sum-by", "host", "--columns", "host,rows,slice_count")
    assert (row["rows"], row["slice_count"]) == (len(counts), sum(counts.values()))


def test_text():
    """A line for each power of two, with a bar proportional to its share of the largest; in UTF-8 and in ASCII."""
    row = max(rows("sched", "--freq"), key=lambda r: r["count"])
    counts = collections.Counter()
    for b in row["freq"]:
        counts[b["from"].bit_length()] += b["count"]
    args = ("sched", "--freq", "--no-sync", "--host", row["host"], "--tid", str(row["tid"]), RECORDING)
    for locale, full, between in (("C.UTF-8", "█", "…"), ("C", "#", "..")):
        text = report(*args, env={"LC_ALL": locale})
        assert locale == "C.UTF-8" or text.isascii(), text
        lines = [line.split() for line in text.splitlines() if f" {between} " in line]
        assert len(lines) == max(counts) - min(counts) + 1, text
        for power, line in zip(range(min(counts), max(counts) + 1), lines):
            assert line[1] == between and int(line[3]) == counts[power], (power, line, counts)
            bar = line[4] if len(line) > 4 else ""
            assert bar.count(full) == counts[power] * 40 // max(counts.values()), (line, counts)
            assert bool(bar) == bool(counts[power]), line


def test_refusals():
    assert "does not apply to table 'cpu'" in report("cpu", "--freq", RECORDING, status=2)
    text = report("net", "--log", RECORDING, status=2)
    assert "does not apply to table 'net', only to disks, irqs" in text and "--log-file" in text, text
    assert "no distribution 'nap'" in report("sched", "--log", "--of", "nap", RECORDING, status=2)
    assert "'1ms' is not of the form COLUMN=VALUE" in report("sched", "--min", "1ms", RECORDING, status=2)
    assert "--of needs" in report("sched", "--of", "slice", RECORDING, status=2)
    assert "--min" in report("sched", "--log", "--min", "x", RECORDING, status=2)


if __name__ == "__main__":
    cases.run(globals())
