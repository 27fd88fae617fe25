#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
critical-path and critical-totals of many threads: those selected by --tid, --pid and --comm, otherwise the threads of
requests. Each path is the one the thread has alone (tests/report/test_critical.py and tests/truth verify those); the
selection is worked out from table cpu.
"""
import collections
import json
import os
import re
import subprocess

import cases

PROGRAM = os.environ["LTTNGTOP"]
TRACES = os.path.join(os.environ["BUILD"], "traces")
OF_PATH = ("path_host", "path_tid", "path_comm")


def run(*args, status=0, trace="three-tier"):
    """The output on stdout, and on stderr."""
    done = subprocess.run([PROGRAM, "report", *args, os.path.join(TRACES, trace)], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=300, check=False)
    assert done.returncode == status, (args, done.returncode, done.stderr)
    return done.stdout.decode(), done.stderr.decode()


def rows(*args, **kwargs):
    return json.loads(run(*args, "--json", **kwargs)[0])["rows"]


def paths_of(*args, **kwargs):
    """Segments by (host, tid) of the path's thread, in the order in which they come."""
    paths = collections.defaultdict(list)
    for row in rows("critical-path", *args, **kwargs):
        paths[row["path_host"], row["path_tid"]].append(row)
    return paths


def bare(pieces):
    return [{key: value for key, value in piece.items() if key not in OF_PATH} for piece in pieces]


def check_as_alone(paths):
    for (host, tid), pieces in paths.items():
        alone = rows("critical-path", "--host", host, "--tid", str(tid))
        assert all(piece[key] is None for piece in alone for key in OF_PATH)
        assert bare(alone) == bare(pieces), (host, tid)


def check_totals(paths, *args):
    """The totals are the sums of the segments of all paths."""
    sums = collections.Counter()
    for pieces in paths.values():
        for p in pieces:
            process = p["tid"] if p["tid"] <= 0 or p["pid"] < 0 else p["pid"]
            sums[p["host"], process, p["state"], p["wire"]] += p["duration_ns"]
    totals = rows("critical-totals", *args)
    assert sums and {(r["host"], r["pid"], r["state"], r["wire"]): r["total_ns"] for r in totals} == sums


def test_threads_of_a_name():
    threads = {(r["host"], r["tid"]) for r in rows("cpu", "--host", "client", "--comm", "wget")}
    paths = paths_of("--host", "client", "--comm", "wget")
    assert len(threads) > 1 and set(paths) == threads
    check_as_alone(paths)
    check_totals(paths, "--host", "client", "--comm", "wget")


def test_tids_and_pids():
    apache = [r for r in rows("cpu", "--host", "web", "--comm", "apache2") if r["cpu_ns"]]
    process = collections.Counter(r["pid"] for r in apache).most_common(1)[0][0]
    paths = paths_of("--pid", str(process))
    assert set(paths) == {("web", r["tid"]) for r in rows("cpu", "--pid", str(process))} and len(paths) > 1
    check_as_alone(paths)
    some = [tid for _, tid in paths][:2]
    assert paths_of(*(word for tid in some for word in ("--tid", str(tid)))) == {("web", t): paths["web", t] for t in some}
    # one number that threads of several hosts have
    assert {host for host, _ in paths_of("--tid", "1")} == {"client", "db", "web"}


def test_window():
    """Within a window: the threads that ran in it, and the paths' part in it."""
    whole = json.loads(run("critical-path", "--comm", "wget", "--json")[0])
    middle = (whole["begin_ns"] + whole["end_ns"]) // 2
    early = paths_of("--comm", "wget", "--end", f"{middle}ns")
    born = {(r["host"], r["tid"]): r["born_ns"] for r in rows("cpu", "--comm", "wget")}
    assert set(early) == {who for who, born_ns in born.items() if born_ns < middle} and set(early) != set(born)
    assert all(piece["end_ns"] <= middle for pieces in early.values() for piece in pieces)


def own_ns(pieces, host, tid):
    return sum(p["duration_ns"] for p in pieces if (p["host"], p["tid"]) == (host, tid) and not p["wire"])


def check_requests(trace, servers):
    """
    Every thread that was created and ended in the recording is there, except servers (by name), LTTng's tools and
    kernel threads, or another path runs through it for at least half of the time that its own does.
    """
    paths = paths_of(trace=trace)
    threads = {(r["host"], r["tid"]): r for r in rows("cpu", trace=trace)}
    assert paths
    for (host, tid) in paths:
        thread = threads[host, tid]
        assert thread["comm"] not in servers and not thread["tracing"], thread
    for (host, tid), thread in threads.items():
        if thread["born_ns"] is None or thread["exited_ns"] is None or thread["tracing"] or \
                thread["comm"] in servers or (host, tid) in paths or not thread["cpu_ns"]:
            continue
        alone = own_ns(rows("critical-path", "--host", host, "--tid", str(tid), trace=trace), host, tid)
        assert any(2 * own_ns(pieces, host, tid) >= alone for pieces in paths.values()), thread
    for who, pieces in paths.items():
        assert all(own_ns(pieces, *other) * 2 < own_ns(of_other, *other) or
                   2 * own_ns(of_other, *who) >= own_ns(pieces, *who)
                   for other, of_other in paths.items() if other != who), who
    return paths


def test_requests():
    paths = check_requests("three-tier", {"postgres", "apache2"})
    check_totals(paths)
    # four pages were fetched, all on one path: that of the thread that ran wget four times
    wgets = {r["tid"] for r in rows("cpu", "--host", "client", "--comm", "wget")}
    through = [who for who, pieces in paths.items() if wgets & {p["tid"] for p in pieces if p["host"] == "client"}]
    assert len(wgets) == 4 and len(through) == 1, through
    assert {p["comm"] for p in paths[through[0]]} >= {"wget", "apache2", "postgres"}


RESOURCES = {"running": "cpu", "preempted": "cpu_wait", "interrupted": "interrupts", "ipi": "interrupts",
             "block_device": "disk", "network": "network", "timer": "timer", "user_input": "user_input",
             "unknown": "unexplained"}


def resource_of(piece):
    if piece["state"] == "blocked":
        return "lock" if piece["call"] == "futex" else "unexplained"
    return RESOURCES[piece["state"]]


def check_bottleneck(*args, **kwargs):
    """The sums over the segments of the paths."""
    sums, others, longest = collections.Counter(), collections.Counter(), collections.defaultdict(collections.Counter)
    for who, pieces in paths_of(*args, **kwargs).items():
        for p in pieces:
            for host in (p["host"], "all"):
                key = host, resource_of(p)
                sums[key] += p["duration_ns"]
                others[key] += p["duration_ns"] if p["host"] != who[0] else 0
                longest[key][who] += p["duration_ns"]
    whole_ns = sum(ns for (host, _), ns in sums.items() if host == "all")
    if len({host for host, _ in sums}) == 2:
        sums = {key: ns for key, ns in sums.items() if key[0] != "all"}
    got = rows("bottleneck", *args, **kwargs)
    assert len(got) == len(sums) > 3
    for row in got:
        key = row["host"], row["resource"]
        assert (row["total_ns"], row["for_others_ns"]) == (sums[key], others[key]), row
        assert row["paths"] == len(longest[key]) and row["max_ns"] == max(longest[key].values()), row
        assert longest[key][row["max_host"], row["max_tid"]] == row["max_ns"], row
        assert abs(row["total_percent"] - 100 * row["total_ns"] / whole_ns) < 1e-9, row
    check_of_all_hosts(got, *args, **kwargs)
    return [row for row in got if row["host"] != "all"]


def in_ns(text):
    """"1.24s", "251ms", "469µs"."""
    number, unit = re.fullmatch(r"([\d.]+)(s|ms|µs|ns)", text).groups()
    return float(number) * {"s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1}[unit]


def check_of_all_hosts(got, *args, **kwargs):
    """Rows of all hosts come last, match a filter by that name only, and are no part of sums, shares and totals."""
    overall = [row for row in got if row["host"] == "all"]
    of_hosts = [row for row in got if row["host"] != "all"]
    assert got == of_hosts + overall
    assert rows("bottleneck", *args, "--where", "host:all", **kwargs) == overall
    assert rows("bottleneck", *args, "--where", "!host:all", **kwargs) == of_hosts
    host = of_hosts[0]["host"]
    assert rows("bottleneck", *args, "--where", f"host:{host}", **kwargs) == [r for r in got if r["host"] == host]
    total_ns = sum(row["total_ns"] for row in of_hosts)
    row, = rows("bottleneck", *args, "--sum-by", "all", **kwargs)
    assert (row["rows"], row["total_ns"]) == (len(of_hosts), total_ns), row
    sums = {row["host"]: row["total_ns"] for row in rows("bottleneck", *args, "--sum-by", "host", **kwargs)}
    assert sum(sums.values()) == total_ns and "all" not in sums
    sums["all"] = total_ns
    for row in rows("bottleneck", *args, "--columns", "host,total_ns,total_ns%", **kwargs):
        assert abs(row["total_ns_share"] - 100 * row["total_ns"] / sums[row["host"]]) < 1e-9, row
    lines = [line.split() for line in run("bottleneck", *args, "--columns", "host,resource,paths", **kwargs)[0].splitlines()]
    assert sum(line[0] == "all" for line in lines) == len(overall) and ["all", "total"] not in [line[:2] for line in lines]
    lines = [line.split() for line in run("bottleneck", *args, "--columns", "host,resource,total_ns", **kwargs)[0].splitlines()]
    for of, ns in ((line[0], in_ns(line[2])) for line in lines if line[1:2] == ["total"]):
        assert abs(ns - sums[of]) <= sums[of] / 100, (of, ns, sums)  # written with three digits


def test_bottleneck():
    check_bottleneck()
    # a request computes, and waits, on all three hosts
    got = check_bottleneck("--host", "client", "--comm", "wget")
    assert {r["host"] for r in got if r["for_others_ns"]} == {"web", "db"}
    assert all(r["for_others_ns"] == (0 if r["host"] == "client" else r["total_ns"]) for r in got)
    # those of a single thread
    tid = str(rows("cpu", "--host", "client", "--comm", "wget")[0]["tid"])
    alone = rows("bottleneck", "--host", "client", "--tid", tid, "--where", "!host:all")
    pieces = rows("critical-path", "--host", "client", "--tid", tid)
    assert sum(r["total_ns"] for r in alone) == sum(p["duration_ns"] for p in pieces) > 0
    assert all(r["paths"] == 1 and r["max_tid"] == int(tid) for r in alone)


def test_bottleneck_of_a_lock():
    """Threads that pass on a lock: its holders show what they waited for."""
    assert {"cpu", "timer"} <= {r["resource"] for r in check_bottleneck(trace="locks-pipes")}


def test_requests_of_one_host():
    paths = paths_of("--host", "client")
    assert paths and {host for host, _ in paths} == {"client"}
    assert {piece["host"] for pieces in paths.values() for piece in pieces} == {"client", "web", "db"}


def test_requests_of_a_local_server():
    """Client and server on one machine; the client runs for the whole recording."""
    paths = check_requests("rpc-hog-local", {"rpcd"})
    assert any("rpcc" in {p["comm"] for p in pieces} for pieces in paths.values())


def test_nobody():
    out, err = run("critical-totals", "--comm", "nobody-of-that-name")
    assert len(out.splitlines()) == 2 and "none of the selected threads ran in this interval" in err
    err = run("critical-path", "--begin", "+1s", "--end", "+1000001us")[1]
    assert "select threads with --tid, --pid or --comm" in err


if __name__ == "__main__":
    cases.run(globals())
