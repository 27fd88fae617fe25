#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
--sum-by of every table and everything that its rows can have in common: each figure is what the rows of the whole
table, as JSON, add up to or have as their extreme.
"""
import collections
import json
import os
import re
import subprocess

import cases

PROGRAM = os.environ["LTTNGTOP"]
TRACES = os.path.join(os.environ["BUILD"], "traces")
WHAT = ("thread", "process", "comm", "user", "container", "file", "call", "peer", "host", "all")
# the column that tells what the rows have in common; the first one that the table has
COLUMNS = {"thread": ("tid",), "process": ("pid",), "comm": ("comm",), "user": ("user",), "container": ("container",),
           "file": ("path", "object"), "call": ("syscall", "call", "name"), "peer": ("peer",)}
OF_THREADS = set("thread process comm user container".split())
# what the rows of a table can have in common besides host and all
EXPECTED = collections.defaultdict(set, {
    "cpu": OF_THREADS, "io": OF_THREADS, "syscalls": OF_THREADS | {"call"}, "sched": OF_THREADS,
    "preemption": OF_THREADS, "memory": OF_THREADS, "emitters": OF_THREADS, 
    "files": OF_THREADS - {"thread"} | {"file", "peer"},
    "blocking": OF_THREADS | {"file", "call"}, "relations": {"file"}, "connections": OF_THREADS - {"thread"} | {"peer"},
    "critical-path": OF_THREADS | {"file", "call"}, "critical-totals": OF_THREADS - {"thread"},
    "accounting": OF_THREADS - {"thread"},
})
UNLIKE = {"perf", "pressure", "sync"}
NAMES = {"host", "tid", "pid", "comm", "uid", "user", "container", "path", "object", "call", "syscall", "name", "peer"}
# not to be told from the rows' own figures; tests/report/test_tables.py checks the deviation
OTHERS = {"stdev_ns", "raise_avg_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns"}
PARTS = {"p50_ns": 0.5, "p90_ns": 0.9, "p99_ns": 0.99, "p999_ns": 0.999}


def run(*args, status=0, trace="three-tier"):
    done = subprocess.run([PROGRAM, "report", *args, os.path.join(TRACES, trace)], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=300, check=False)
    assert done.returncode == status, (args, done.returncode, done.stderr)
    return (done.stderr if status else done.stdout).decode()


def rows(*args, **kwargs):
    """Without those of all hosts together, see test_requests.py."""
    return [row for row in json.loads(run(*args, "--json", **kwargs))["rows"] if row.get("host") != "all"]


def tables():
    """Those that --help describes, but for what is not a table or only comes with another option."""
    text = subprocess.run([PROGRAM, "report", "--help"], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    lines = text.stdout.decode().split("\nTables:\n")[1].split("\n\n")[0].splitlines()
    names = [found[1] for found in (re.match(r"  (\w\S*)  ", line) for line in lines) if found]
    assert len(names) > 20, names
    return [name for name in names if name not in ("dump", "slice", "instances")]


def column_of(whole, table, what):
    if table == "syscalls" and what == "call":
        return "name"
    return next((name for name in COLUMNS.get(what, ()) if name in whole[0]), None)


def groups_of(whole, table, what):
    """Rows by (host, what they have in common)."""
    host = "host" if "host" in whole[0] else "from_host"
    column = column_of(whole, table, what)
    groups = collections.defaultdict(list)
    for row in whole:
        groups[() if what == "all" else (row[host],) if what == "host" else (row[host], row[column])].append(row)
    return groups


def merged(name, group):
    """What a column of a sum should say; ... where the rows alone do not tell."""
    values = [row[name] for row in group if row[name] is not None]
    if name in OTHERS:
        return ...
    if name in ("avg_ns", "latency_avg_ns"):
        if "total_ns" not in group[0] or "errors" in group[0]:
            return ...  # a call that began before the record counts, but has no duration
        count, total = sum(row["count"] for row in group), sum(row["total_ns"] for row in group)
        return (2 * total + count) // (2 * count) if count else None
    if values and isinstance(values[0], dict):
        return dict(sum((collections.Counter(value) for value in values), collections.Counter()))
    if not values:
        return None
    if "min_ns" in name:
        return min(values)
    if "max" in name or name == "queue_max":
        return max(values)
    return sum(values)


def check_figures(table, what, row, group):
    """Whether the figures of a row are those of the group together; returns how many were there to compare."""
    seen = 0
    for name in set(row) & set(group[0]) - NAMES - {"rows"}:
        expected = merged(name, group)
        seen += expected is not ... and row[name] is not None
        # nothing is known, or nothing happened
        assert expected is ... or row[name] == expected or (not row[name] and not expected) or \
            (isinstance(expected, float) and abs(row[name] - expected) < 1e-6), \
            (table, what, name, row, expected)
    return seen


def check_sums(table, what, whole):
    column = column_of(whole, table, what)
    sums = rows(table, "--sum-by", what)
    assert what in ("host", "all") or column, (table, what)
    groups = groups_of(whole, table, what)
    seen = 0
    assert len(sums) == len(groups), (table, what, len(sums), len(groups))
    for row in sums:
        group = groups.pop(() if what == "all" else (row["host"],) if what == "host" else (row["host"], row[column]))
        assert row["rows"] == len(group), (table, what, row)
        seen += check_figures(table, what, row, group)
    assert seen or set(sums[0]) <= NAMES | {"rows"}, (table, what)


def check_hosts(table, what, whole):
    """The rows do not say what they have in common: the sums of each host are its rows."""
    sums = groups_of(rows(table, "--sum-by", what), table, "host")
    for host, group in groups_of(whole, table, "host").items():
        together = {name: merged(name, sums[host]) for name in sums[host][0] if name not in NAMES}
        assert together["rows"] == len(group), (table, what, together)
        check_figures(table, what, {n: v for n, v in together.items() if v is not ...}, group)


def check_table(table, whole, kinds):
    for what in kinds:
        if table in UNLIKE:
            assert f"rows of table '{table}' cannot be summed" in run(table, "--sum-by", what, status=2)
            continue
        if what not in EXPECTED[table] | {"host", "all"}:
            assert f"rows of table '{table}' have no {what}" in run(table, "--sum-by", what, status=2), (table, what)
            continue
        if not whole:
            assert rows(table, "--sum-by", what) == []
        elif what == "container":
            check_sums_of_host(table, what, whole)
        elif what != "host" and what != "all" and not column_of(whole, table, what):
            check_hosts(table, what, whole)
        else:
            check_sums(table, what, whole)


def check_sums_of_host(table, what, whole):
    """In this recording, all rows of a host have it in common: no thread lives in a container."""
    by_host, sums = rows(table, "--sum-by", "host"), rows(table, "--sum-by", what)
    assert whole and sums and all(row[what] is None for row in sums)
    bare = [{name: value for name, value in row.items() if name != "container"} for row in sums]
    by_name = lambda row: row["host"]
    assert sorted(bare, key=by_name) == sorted(by_host, key=by_name), (table, what)


def test_errors_of_calls():
    whole = rows("syscalls")
    for what in ("call", "process", "all"):
        sums = rows("syscalls", "--sum-by", what)
        assert sum(n for row in sums for n in row["errors"].values()) == sum(n for row in whole for n in row["errors"].values()) > 99


def test_every_table():
    empty = []
    for n, table in enumerate(tables()):
        whole = rows(table)
        empty += [] if whole else [table]
        check_table(table, whole, WHAT[n % 3::3] if cases.sanitized() else WHAT)
    assert set(empty) <= {"probes", "emitters", "memory"}, empty


def test_what_is_common_is_shown():
    """Also where the table itself shows it only with --columns."""
    whole = rows("files", "--columns", "host,peer,read_bytes")
    expected = groups_of(whole, "files", "peer")
    assert len(expected) > 10
    assert {(r["host"], r["peer"]): r["read_bytes"] for r in rows("files", "--sum-by", "peer")} == \
        {key: sum(r["read_bytes"] for r in group) for key, group in expected.items()}
    assert run("files", "--sum-by", "peer").splitlines()[1].split()[:3] == ["HOST", "PEER", "ROWS"]
    assert run("files", "--sum-by", "peer", "--csv").splitlines()[0].startswith("host,peer,rows,")


def test_processes():
    """Of their threads only those are summed up that are rows of the table; the process has the name of its main thread."""
    whole = rows("cpu", "--columns", "host,tid,pid,comm,cpu_ns,switches")
    names = {(r["host"], r["pid"]): r["comm"] for r in whole if r["tid"] == r["pid"]}
    others = [r for r in whole if r["tid"] != r["pid"] and r["cpu_ns"] and (r["host"], r["pid"]) in names]
    assert others
    for row in others[:5]:
        args = ("--host", row["host"], "--tid", str(row["tid"]), "--sum-by", "process")
        got, = rows("cpu", *args)
        assert (got["rows"], got["cpu_ns"], got["pid"]) == (1, row["cpu_ns"], row["pid"]), got
        assert got["comm"] == names[row["host"], row["pid"]], (got, row)
    for table in ("cpu", "syscalls"):
        limit = "switches=10" if table == "cpu" else "count=10"
        some = rows(table, "--where", limit.replace("=", ">="))
        counts = collections.Counter((r["host"], r["pid"]) for r in some)
        got = rows(table, "--where", limit.replace("=", ">="), "--sum-by", "process")
        assert {(r["host"], r["pid"]): r["rows"] for r in got} == counts, table


def test_longest():
    """When the longest was, too, which belongs to one of the rows that are summed up."""
    for table, what, column in (("sched", "comm", "comm"), ("syscalls", "call", "name"), ("relations", "host", None)):
        names = ("wait_max_ns", "wait_max_at_ns") if table == "relations" else ("max_ns", "max_at_ns")
        columns = ",".join(("host", *names, *([column] if column else [])))
        key = lambda r: (r["host"], r[column] if column else None)
        longest = collections.defaultdict(lambda: (-1, set()))
        for r in rows(table, "--columns", columns):
            best, at = longest[key(r)]
            ns = r[names[0]] or 0
            if ns >= best:
                longest[key(r)] = ns, (at if ns == best else set()) | {r[names[1]]}
        got = rows(table, "--sum-by", what, "--columns", columns)
        assert len(got) == len(longest), table
        for r in got:
            best, at = longest[key(r)]
            assert (r[names[0]] or 0) == best and r[names[1]] in at, (table, r, best, at)
    # times of different hosts
    assert "has no column 'max_at_ns'" in run("sched", "--sum-by", "all", "--columns", "max_at_ns", status=2)


def test_distributions():
    """Histograms are added up bucket by bucket, and percentiles follow from that."""
    for table in ("sched", "syscalls", "irqs", "disks"):
        whole = rows(table, "--freq")
        for what in ("all", "host", *(EXPECTED[table] & {"process", "comm", "call"})):
            groups = groups_of(whole, table, what)
            for row in rows(table, "--sum-by", what, "--freq"):
                column = column_of(whole, table, what)
                group = groups[() if what == "all" else (row["host"],) if what == "host" else (row["host"], row[column])]
                buckets = collections.Counter()
                for bucket in (b for r in group for b in r["freq"] or []):
                    buckets[bucket["from"], bucket["to"]] += bucket["count"]
                assert [((b["from"], b["to"]), b["count"]) for b in row["freq"] or []] == sorted(buckets.items()), row
                check_percentiles(row, sorted(buckets.items()))


def test_longest_queue():
    """It may be the one with which an interval begins, in which nothing else happens."""
    def queues(*options):
        pages = map(json.loads, run("disks", "--json", "-i", "1ms", *options).splitlines())
        return {page["begin_ns"]: [row["queue_max"] for row in page["rows"]] for page in pages if page["rows"]}

    whole = queues()
    assert max(map(len, whole.values())) > 1
    assert queues("--sum-by", "all") == {begin: [max(lengths)] for begin, lengths in whole.items()}


def check_percentiles(row, buckets):
    count = sum(n for _, n in buckets)
    for name, part in PARTS.items():
        before = 0
        for (low, high), n in buckets:
            before += n
            if before >= part * count:
                assert low <= row[name] < high, (name, row)
                break
        assert count or row[name] is None, row


def test_shares_follow_from_the_sums():
    whole = rows("bottleneck")
    for what in ("host", "all"):
        for row in rows("bottleneck", "--sum-by", what, "--columns", "total_ns,total_percent" + (",host" * (what == "host"))):
            expected = sum(r["total_percent"] for r in whole if what == "all" or r["host"] == row["host"])
            assert abs(row["total_percent"] - expected) < 1e-6, (what, row)
    whole = rows("cpu", "--columns", "host,comm,cpu_percent")
    for row in rows("cpu", "--sum-by", "comm", "--columns", "host,comm,cpu_percent"):
        expected = sum(r["cpu_percent"] for r in whole if (r["host"], r["comm"]) == (row["host"], row["comm"]))
        assert abs(row["cpu_percent"] - expected) < 1e-6, row
    row, = rows("cpu", "--sum-by", "all", "--columns", "host_percent,cpu_ns")
    online_ns = sum(r["online_ns"] for r in rows("cpus"))
    assert abs(row["host_percent"] - 100 * row["cpu_ns"] / online_ns) < 1e-6
    by_host = {r["host"]: r["total_ns"] for r in rows("critical-totals", "--sum-by", "host")}
    for row in rows("critical-totals", "--columns", "host,total_ns,total_ns%"):
        total = by_host[row["host"]]
        assert abs(row["total_ns_share"] - 100 * row["total_ns"] / total) < 1e-6, row


def test_totals_of_paths():
    """A line for each host below the text of what is on the paths."""
    for table, column in (("critical-path", "duration_ns"), ("critical-totals", "total_ns")):
        expected = collections.Counter()
        for row in rows(table):
            expected[row["host"]] += row[column]
        lines = [line.split() for line in run(table, "--columns", f"host,comm,{column}").splitlines()]
        totals = {words[0]: words[2] for words in lines if words[1:2] == ["total"]}
        assert set(totals) == set(expected), totals
        assert all(abs(float(text.rstrip("mµs")) / (1 if "ms" not in text else 1e3) - expected[host] / 1e9) < 0.01
                   for host, text in totals.items()), (totals, expected)


def test_sums_of_paths_are_sorted_by_time():
    lines = [line.split() for line in run("critical-path", "--sum-by", "comm", "--columns", "duration_ns,comm").splitlines()]
    best = sorted(rows("critical-path", "--sum-by", "comm"), key=lambda row: -row["duration_ns"])
    assert [line[-1] for line in lines[2:] if line[-1] != "total"] == [row["comm"] for row in best]


cases.run(globals())
