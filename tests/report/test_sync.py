#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of several hosts on one time: sync, matches, times and clipping of the other tables, the options for it."""

import collections
import os
import re
import shutil
import sys
import tempfile

import test_report as base
from test_report import check, check_intervals, page, pages, recording, run, total

STATES = ("reference", "absent", "incomplete", "approximate", "accurate", "failed")
RHO = 500e-6  # no two clocks differ by more in rate
FLOW = re.compile(r"^(\d+(\.\d+){3}|\[[0-9a-f:]+\]):\d+>(\d+(\.\d+){3}|\[[0-9a-f:]+\]):\d+$")


def by(data, key):
    return {row[key]: row for row in data["rows"]}


def check_sync(path):
    data = page("sync", path)
    rows = by(data, "host")
    check(sorted(rows) == data["hosts"] and len(rows) == len(data["rows"]), "sync: a row per host")
    refs = [h for h, r in rows.items() if r["state"] == "reference"]
    check(len(refs) == 1, f"sync: references {refs}")
    for host, row in rows.items():
        check(row["state"] in STATES and row["ref"] == refs[0], f"sync: {row}")
        check(row["matched"] >= row["used"] > 0, f"sync: {row}")
        check(isinstance(row["drift_ppm"], float) and abs(row["drift_ppm"]) < 1e6 * RHO, f"sync: drift {row}")
        if host == refs[0]:
            check((row["offset_ns"], row["drift_ppm"], row["bound_ns"]) == (0, 0, 0), f"sync: reference {row}")
            continue
        check(row["state"] == "accurate" and 0 < row["bound_ns"] < 1000000, f"sync: {row}")
        for way in ("to", "from"):
            check(0 < row[f"latency_{way}_min_ns"] <= row[f"latency_{way}_median_ns"], f"sync: latency {row}")
        check(row["negative"] == 0, f"sync: negative {row}")
    return refs[0], rows


def check_formats_of_own(path):
    for table in ("sync", "matches", "latencies"):
        data, lines = page(table, path), run(table, path, "--csv").splitlines()
        check(lines[0].split(",") == list(data["rows"][0]) and len(lines) == len(data["rows"]) + 1, f"{table}: CSV")
        # a line of totals would not say which host it is about
        check(len(run(table, path).splitlines()) == len(data["rows"]) + 2, f"{table}: text")


def check_times(path, sync):
    """Times in other tables are those of the hosts' own clocks, moved by the offset; durations are the same."""
    for table, keys, columns in (("hosts", ("host",), ("begin_ns", "end_ns")),
                                 ("cpu", ("host", "tid", "comm"), ("born_ns", "exited_ns")),
                                 ("files", None, ("opened_ns", "closed_ns"))):
        own, moved = page(table, path, "--no-sync"), page(table, path)
        check(len(own["rows"]) == len(moved["rows"]), f"{table}: as many rows")
        # files of one fd are told apart by their times, whose order does not change
        pairs = [(a, b) for a, b in zip(own["rows"], moved["rows"]) if not keys or all(a[k] == b[k] for k in keys)]
        check(len(pairs) == len(own["rows"]), f"{table}: the same rows in the same order")
        some = 0
        for a, b in pairs:
            check({k: v for k, v in a.items() if k not in columns} ==
                  {k: v for k, v in b.items() if k not in columns}, f"{table}: {a} is not {b} but for the times")
            for column in columns:
                check((a[column] is None) == (b[column] is None), f"{table}: {column} of {a} and {b}")
                if a[column] is None:
                    continue
                some += 1
                slack = RHO * abs(moved["end_ns"] - b[column]) + 1000
                check(abs(b[column] - a[column] - sync[a["host"]]["offset_ns"]) <= slack,
                      f"{table}: {column} moved by {b[column] - a[column]}, the offset is {sync[a['host']]['offset_ns']}")
        check(some > 2, f"{table}: no times")
    hosts = page("hosts", path)
    check((hosts["begin_ns"], hosts["end_ns"]) == (min(r["begin_ns"] for r in hosts["rows"]),
                                                   max(r["end_ns"] for r in hosts["rows"])), "begin and end of the whole")


def check_cuts(path):
    """All data is cut at the same reference time: parts add up to the whole."""
    whole = page("cpu", path)
    begin, end = whole["begin_ns"], whole["end_ns"]
    middle = begin + (end - begin) // 2
    first, second = page("cpu", path, "--end", f"{middle}ns"), page("cpu", path, "--begin", f"{middle}ns")
    check((first["begin_ns"], first["end_ns"], second["begin_ns"], second["end_ns"]) == (begin, middle, middle, end),
          "edges of a cut")
    check(total(first["rows"] + second["rows"], "cpu") == total(whole["rows"], "cpu"), "two halves are not the whole")
    check(page("cpu", path, "--begin", f"-{end - middle}ns") == second, "--begin from the end")
    # the whole is also that on the hosts' own clocks
    own = page("cpu", path, "--no-sync")
    check(total(own["rows"], "cpu") == total(whole["rows"], "cpu"), "clocks change a duration")
    check(own["end_ns"] - own["begin_ns"] > end - begin, "these hosts' clocks are far apart")
    for part in (first, second):
        for row in page("hosts", path, "--begin", f"{part['begin_ns']}ns", "--end", f"{part['end_ns']}ns")["rows"]:
            check(part["begin_ns"] <= row["begin_ns"] + 1 and row["end_ns"] <= part["end_ns"] + 1, f"hosts of a part: {row}")


def check_matches(path, reference, sync):
    data = page("matches", path)
    rows = data["rows"]
    check(len(rows) > 100, f"matches: {len(rows)} rows")
    check([r["sent_ns"] for r in rows] == sorted(r["sent_ns"] for r in rows), "matches: order")
    used = collections.Counter()
    for row in rows:
        check(row["received_ns"] - row["sent_ns"] == row["latency_ns"], f"matches: latency {row}")
        check(FLOW.match(row["flow"] or ""), f"matches: flow {row}")
        check(not (row["used"] and row["ambiguous"]), f"matches: ambiguous, and used {row}")
        offset = {r["host"]: r["offset_ns"] for r in sync.values()}
        moved = offset[row["to_host"]] - offset[row["from_host"]]
        check(abs(row["latency_ns"] - row["raw_latency_ns"] - moved) <= 2 * RHO * (data["end_ns"] - data["begin_ns"]),
              f"matches: raw latency {row}")
        check(data["begin_ns"] <= row["sent_ns"] < data["end_ns"], f"matches: outside {row}")
        if row["used"]:
            check(row["from_host"] != row["to_host"] and row["latency_ns"] > 0, f"matches: used {row}")
            used[frozenset((row["from_host"], row["to_host"]))] += 1
    for host, row in sync.items():
        if host != reference:
            neighbours = [n for pair, n in used.items() if host in pair]
            check(row["used"] <= max(neighbours), f"matches: {used}, sync says {row['used']} of {host}")
    db = page("matches", path, "--host", "db")
    check(db["hosts"] == ["db"] and db["rows"] == [r for r in rows if "db" in (r["from_host"], r["to_host"])],
          "matches: --host")
    middle = rows[len(rows) // 2]["sent_ns"]
    halves = [page("matches", path, option, f"{middle}ns")["rows"] for option in ("--end", "--begin")]
    check(halves[0] + halves[1] == rows and halves[1][0]["sent_ns"] == middle, "matches: two halves")
    check([r for p in pages("matches", path, "--interval", "1s") for r in p["rows"]] == rows, "matches: --interval")
    own = page("matches", path, "--no-sync")["rows"]
    check(len(own) == len(rows) and all(r["latency_ns"] == r["raw_latency_ns"] for r in own), "matches: --no-sync")


PERCENTILES = (("p50_ns", 500), ("p90_ns", 900), ("p99_ns", 990))


def percentile(values, permille):
    return sorted(values)[(len(values) * permille + 999) // 1000 - 1]


def check_latencies(path, sync):
    """Each direction's row is computed from that direction's packets in table matches, before and after correction."""
    packets = collections.defaultdict(list)
    for row in page("matches", path)["rows"]:
        if row["from_host"] != row["to_host"]:
            packets[row["from_host"], row["to_host"]].append(row)
    rows = page("latencies", path)["rows"]
    check([(r["from_host"], r["to_host"]) for r in rows] == sorted(packets) and len(rows) >= 4, f"latencies: {rows}")
    for row in rows:
        own = packets[row["from_host"], row["to_host"]]
        for prefix in ("", "raw_"):
            values = sorted(p[f"{prefix}latency_ns"] for p in own)
            wanted = {f"{prefix}{name}": percentile(values, permille) for name, permille in PERCENTILES}
            wanted[f"{prefix}min_ns"], wanted[f"{prefix}max_ns"] = values[0], values[-1]
            wanted[f"{prefix}negative"] = sum(v < 0 for v in values)
            check({k: row[k] for k in wanted} == wanted, f"latencies: {row}, not {wanted}")
        check(row["packets"] == len(own), f"latencies: packets {row}, not {len(own)}")
        check(row["negative"] == 0 <= row["min_ns"], f"latencies: corrected {row}")
        if abs(sync[row["from_host"]]["offset_ns"] - sync[row["to_host"]]["offset_ns"]) > row["max_ns"]:
            check(row["raw_negative"] in (0, row["packets"]), f"latencies: raw {row}")
    check(any(r["raw_negative"] for r in rows), "latencies: these hosts' own clocks are far apart")
    db = page("latencies", path, "--host", "db")["rows"]
    check(db == [r for r in rows if "db" in (r["from_host"], r["to_host"])] and db, "latencies: --host")
    parts = [r for p in pages("latencies", path, "--interval", "1s") for r in p["rows"]]
    for row in rows:
        of_it = [p for p in parts if (p["from_host"], p["to_host"]) == (row["from_host"], row["to_host"])]
        check(sum(p["packets"] for p in of_it) == row["packets"] and min(p["min_ns"] for p in of_it) == row["min_ns"] and
              max(p["max_ns"] for p in of_it) == row["max_ns"], f"latencies: --interval: {of_it}, whole {row}")
    for row in page("latencies", path, "--no-sync")["rows"]:
        check(all(row[k] == row[f"raw_{k}"] for k in ("negative", "min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns")),
              f"latencies: --no-sync {row}")


def check_latency_sums(path):
    """Sums of directions: of all their packets; percentiles, from buckets, to 1/16. The same buckets as a histogram."""
    packets = collections.defaultdict(list)
    for row in page("matches", path)["rows"]:
        if row["from_host"] != row["to_host"]:
            for by in ("host", row["from_host"]), ("all", None), (row["from_host"], row["to_host"]):
                packets[by].append(row["latency_ns"])
    for by, hosts in (("host", {"client", "db", "web"}), ("all", {None})):
        rows = page("latencies", path, "--sum-by", by)["rows"]
        check({r.get("host") for r in rows} == hosts, f"latencies: sums by {by}: {rows}")
        for row in rows:
            own = packets[by, row.get("host")]
            check((row["packets"], row["min_ns"], row["max_ns"]) == (len(own), min(own), max(own)), f"latencies: sum {row}")
            for name, permille in (("p50_ns", 500), ("p90_ns", 900), ("p99_ns", 990), ("p999_ns", 999)):
                exact = percentile(own, permille)
                check(abs(row[name] - exact) <= exact / 16, f"latencies: {name} of {row}: {exact}")
    for row in page("latencies", path, "--freq")["rows"]:
        own = packets[row["from_host"], row["to_host"]]
        check(sum(b["count"] for b in row["freq"]) == len(own) > 0 and
              all(b["count"] == sum(b["from"] <= ns < b["to"] for ns in own) for b in row["freq"]), f"latencies: --freq {row}")
    # the hosts' own clocks are seconds apart: packets seem to arrive before they were sent
    for row in page("latencies", path, "--no-sync", "--freq")["rows"]:
        below = sum(b["count"] for b in row["freq"] if b["from"] == 0)
        check(below == row["negative"] and sum(b["count"] for b in row["freq"]) == row["packets"], f"latencies: {row}")
    run("latencies", path, "--log", status=2)  # table matches has each packet


def check_options(path, sync):
    for host in sync:
        rows = by(page("sync", path, "--ref", host), "host")
        check(all(r["ref"] == host for r in rows.values()) and rows[host]["state"] == "reference", f"--ref {host}")
        for other in sync:
            moved = sync[other]["offset_ns"] - sync[host]["offset_ns"]
            check(abs(rows[other]["offset_ns"] - moved) < 2000000, f"--ref {host}: {rows[other]}, not {moved}")
    one = page("sync", path, "--host", "client")
    check(one["hosts"] == ["client"] and one["rows"] == [sync["client"]], "sync: --host")

    own = by(page("hosts", path, "--no-sync"), "host")
    args = ["--ref", "web"]
    offsets = {"client": -1234567, "db": 7000000000, "web": 0}
    for host in ("client", "db"):
        args += ["--offset", f"{host}={offsets[host]}"]
    moved = page("hosts", path, *args)
    for row in moved["rows"]:
        for column in ("begin_ns", "end_ns"):
            check(row[column] == own[row["host"]][column] + offsets[row["host"]], f"--offset: {column} of {row}")
    check(moved["begin_ns"] == min(r["begin_ns"] for r in moved["rows"]), "--offset: begin")
    for host, row in by(page("sync", path, *args), "host").items():
        check((row["offset_ns"], row["ref"]) == (offsets[host], "web"), f"--offset: {row}")
        if host != "web":
            check((row["state"], row["bound_ns"], row["used"]) == ("approximate", None, 0), f"--offset: how exact is unknown: {row}")
    check(page("hosts", path, "--ref=web", "--offset", "client=-1234567ns", "--offset=db=7s") == moved, "--offset: units")
    # db follows web, whose offset is wrong by seconds: then db's is, too, and packets go back in time
    rows = by(page("sync", path, "--ref", "client", "--offset", "web=5s"), "host")
    packets = [r for r in page("latencies", path, "--ref", "client", "--offset", "web=5s")["rows"]
               if {r["from_host"], r["to_host"]} == {"client", "web"}]
    for host in ("db", "web"):
        check((rows[host]["state"], rows[host]["bound_ns"], rows[host]["reason"]) ==
              ("approximate", None, "it depends on an offset set by hand"), f"--offset of a host on the way: {rows[host]}")
    check(rows["web"]["negative"] == sum(r["negative"] for r in packets) > 0, f"--offset: packets back in time: {rows['web']}")
    check(rows["web"]["matched"] == sum(r["packets"] for r in packets), f"--offset: packets with the reference: {rows['web']}")
    check(all(r["reason"] is None for r in sync.values()), "sync: nothing was set by hand")
    one = page("hosts", os.path.join(path, "db"), "--offset", "db=1s")
    check(one["begin_ns"] == own["db"]["begin_ns"], "--offset of the only host, which is the reference")

    ports = {int(end.rsplit(":", 1)[1]) for r in page("matches", path)["rows"] for end in r["flow"].split(">")}
    ignore = [a for port in sorted(ports) if port < 32768 for a in ("--ignore-port", str(port))]
    none = page("sync", path, *ignore)
    check(all(r["used"] == 0 and r["state"] in ("absent", "reference") for r in none["rows"]), f"--ignore-port: {none}")
    check({r["reason"] for r in none["rows"] if r["state"] == "absent"} ==
          {"no packet between it and another host was recorded except on ignored ports"}, f"--ignore-port: the reason: {none}")
    check({r["host"]: (r["begin_ns"], r["end_ns"]) for r in page("hosts", path, *ignore)["rows"]} ==
          {h: (r["begin_ns"], r["end_ns"]) for h, r in own.items()}, "--ignore-port: hosts keep their own clocks")


def copy_without_date(path, directory, host, begin_ns):
    """A copy of the recording in which the host's clock starts in 1970, as it does where no battery keeps it."""
    copy = os.path.join(directory, host)
    shutil.copytree(path, copy)
    metadata = os.path.join(copy, host, "kernel", "metadata")
    with open(metadata, "rb+") as file:
        text = file.read()
        offset = re.search(rb"offset = (\d{15,})", text)
        # as long as before: the packets of the metadata keep their sizes
        file.seek(offset.start(1))
        file.write(str(int(offset[1]) - begin_ns + 10 ** 7).encode().rjust(len(offset[1])))
    return copy


def check_without_date(path):
    """A host whose clock has no date: times of the others that would be before 1970 on it are at its beginning."""
    own = by(page("hosts", path, "--no-sync"), "host")
    args = ("cpu", "--interval", "500ms", "--columns", "host,tid,cpu_ns,switches")
    expected = pages(*args, path)
    with tempfile.TemporaryDirectory() as directory:
        for host in own:
            copy = copy_without_date(path, directory, host, own[host]["begin_ns"])
            reference = next(r["ref"] for r in page("sync", copy)["rows"])
            if reference != host:
                check(pages(*args, copy) == expected, f"{host} without a date: intervals")
            begin, = {r["begin_ns"] for r in page("hosts", copy, "--ref", host)["rows"] if r["host"] == host}
            check(begin == 10 ** 7, f"{host} without a date: it starts at {begin}")
            rows = page("hosts", copy, "--ref", host)["rows"]
            check(all(r["begin_ns"] < r["end_ns"] < 10 ** 11 for r in rows), f"{host} without a date, as reference: {rows}")


def check_one_host(path):
    """A single host is its own reference: nothing changes."""
    data = page("sync", path)
    check(len(data["rows"]) == 1 and not data["rows"][0]["offset_ns"] and data["rows"][0]["used"] == 0, f"one host: {data}")
    for args in (("cpu",), ("files",), ("hosts", "--begin", "+1s"), ("cpu", "--end", "-1s")):
        check(page(*args, path) == page(*args, path, "--no-sync"), f"one host: {args}")


def check_usage(path):
    for args in (("sync", "--no-sync"), ("sync", "--tid", "1"), ("cpu", "--ref", "nosuch"), ("cpu", "--offset", "db"),
                 ("cpu", "--offset", "=5"), ("cpu", "--ref", "web", "--offset", "web=1s"),
                 ("cpu", "--no-sync", "--offset", "web=1s"), ("cpu", "--offset", "db=soon"), ("cpu", "--offset", "nosuch=5"),
                 ("cpu", "--ignore-port", "0"), ("cpu", "--ignore-port", "65536"), ("matches", "--pid", "1"),
                 ("sync", "--per-cpu")):
        check(run(args[0], path, *args[1:], status=2) == "", f"{args}: output in spite of wrong usage")


def main():
    if not os.access(base.PROGRAM, os.X_OK):
        print(f"skip {os.path.basename(sys.argv[0])}: {base.PROGRAM} is not built")
        return 77
    three, kprobe = recording("three-tier"), recording("kprobe")
    if three and kprobe:
        reference, sync = check_sync(three)
        check_formats_of_own(three)
        check_times(three, sync)
        check_cuts(three)
        for table in ("cpus", "irqs"):
            check_intervals(table, three, "1700ms")
        check_matches(three, reference, sync)
        check_latencies(three, sync)
        check_latency_sums(three)
        check_options(three, sync)
        check_without_date(three)
        check_one_host(kprobe)
        check_usage(three)
    if not base.count:
        return 77
    print(f"{'not ok' if base.failures else 'ok'} {os.path.basename(sys.argv[0])}: {base.count} checks, "
          f"{base.failures} failed")
    return 1 if base.failures else 0


if __name__ == "__main__":
    sys.exit(main())
