#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
What every table of `report` can do with its rows: order, limit, columns, totals. Expected results are computed from the
whole table's rows as JSON, which other tests (truth, compare) verify.
"""
import csv
import json
import os
import re
import subprocess

import cases

PROGRAM = os.environ["LTTNGTOP"]
TRACE = os.path.join(os.environ["BUILD"], "traces", "three-tier")


def run(*args, status=0, trace=TRACE):
    """The output on stdout, or on stderr if the status is not 0."""
    done = subprocess.run([PROGRAM, "report", *args, trace], stdin=subprocess.DEVNULL, capture_output=True, timeout=300,
                          check=False)
    assert done.returncode == status, (args, done.returncode, done.stderr)
    return (done.stderr if status else done.stdout).decode()


def rows(*args):
    return json.loads(run(*args, "--json"))["rows"]


def text_lines(*args):
    """The words of each line below the header."""
    return [line.split() for line in run(*args, "--utc").splitlines()[2:]]


def test_states_are_in_the_help():
    """Every state that a table accepts; no other is accepted."""
    text = subprocess.run([PROGRAM, "report", "--help"], stdin=subprocess.DEVNULL, capture_output=True, check=True).stdout.decode()
    states = text.split("  state:NAME ")[1].split("  call:NAME ")[0]
    for table, least in ("cpu", 9), ("cpus", 4), ("blocking", 10), ("sync", 6):
        said = run(table, "--where", "state:nope", status=2)
        known = re.search("use one of (.*)", said)[1].split(", ")
        assert len(known) >= least, known
        for state in known:
            assert re.search(rf"\b{state}\b", states), (table, state)


def test_sort():
    whole = rows("cpu")
    for column in ("cpu_ns", "switches", "comm", "born_ns", "prio", "last_cpu"):
        columns, ascends = ("--columns", column), column in ("comm", "prio", "last_cpu")
        values = [r[column] for r in (rows("cpu", *columns) if column == "last_cpu" else whole)]
        known = sorted((v for v in values if v is not None), key=lambda v: v.encode() if isinstance(v, str) else v)
        unknown = [None] * values.count(None)
        assert (len(unknown) > 0) == (column in ("born_ns", "prio", "last_cpu")), column
        # unknown values are last in either direction
        up, down = ("", "-") if ascends else ("-", "")
        assert [r[column] for r in rows("cpu", *columns, "--sort", up + column)] == known + unknown, column
        assert [r[column] for r in rows("cpu", *columns, "--sort", down + column)] == known[::-1] + unknown, column


def test_sort_by_texts():
    """Every text column of some tables, also one that is put together from several cells."""
    tried = set()
    for table in "blocking", "cpu", "cpus", "disks", "files", "irqs", "net", "relations", "syscalls":
        help_text = run(table, "--help")
        for name, what in re.findall(r"^  ([a-z]\w*) {2,}((?:.|\n {10,})*)", help_text, re.M):
            if not re.search(r"\(text\b[^()]*\)$", what):
                continue
            up = [r[name] for r in rows(table, "--columns", name, "--sort", name)]
            known = sorted((v for v in up if v is not None), key=str.encode)
            assert up == known + [None] * up.count(None), (table, name)
            down = [r[name] for r in rows(table, "--columns", name, "--sort", "-" + name)]
            assert down == known[::-1] + [None] * up.count(None), (table, name)
            if len(set(known)) > 1:
                tried.add((table, name))
    assert {("blocking", "what"), ("blocking", "path"), ("cpu", "comm"), ("irqs", "name"), ("syscalls", "name")} <= tried, tried


def test_sort_is_stable_by_key():
    got = [(r["switches"], r["host"], r["tid"]) for r in rows("cpu", "--sort", "switches")]
    assert got == sorted(got, key=lambda r: (-r[0], r[1], r[2]))


def test_unit_may_be_left_out():
    assert rows("cpu", "--sort", "cpu_ns") != rows("cpu", "--sort", "ready_ns")
    assert rows("sched", "--sort", "max") == rows("sched", "--sort", "max_ns")
    assert rows("cpu", "--sort", "cpu") == rows("cpu", "--sort", "cpu_ns") != rows("cpu", "--sort", "last_cpu")
    for unit in ("ms", "000000"):
        limit = "5" + unit
        some = [r for r in rows("cpu") if r["cpu_ns"] >= 5_000_000]
        assert rows("cpu", "--min", f"cpu={limit}") == rows("cpu", "--where", f"cpu>={limit}") == some != [], limit
    assert rows("cpu", "--columns", "host,cpu%") == rows("cpu", "--columns", "host,cpu_ns%")
    # a text column is meant, not user_ns
    assert "column 'user' can only be compared" in run("cpu", "--min", "user=5ms", status=2)
    assert "column 'user' can only be compared" in run("cpu", "--where", "user>5ms", status=2)


def test_headings_are_names():
    """Of a column, in any case; names come first, and a heading of several columns is refused."""
    for table, heading, name in (("connections", "again", "retransmits"), ("cpu", "CPU TIME", "cpu_ns"), ("cpu", "Cpu", "last_cpu")):
        columns = ("--columns", f"host,tid,{name}") if table == "cpu" else ()
        assert rows(table, "--sort", heading, *columns) == rows(table, "--sort", name, *columns), heading
    assert rows("cpu", "--columns", "TID,CPU TIME,CPU%") == rows("cpu", "--columns", "tid,cpu_ns,cpu_percent") != []
    for limit in ("Ready>1ms", "usr time>1ms"):
        name = {"R": "ready_ns", "u": "user_ns"}[limit[0]]
        assert rows("cpu", "--where", limit) == rows("cpu", "--where", name + ">1ms") != [], limit
        assert rows("cpu", "--min", limit.replace(">", "=")) == rows("cpu", "--min", name + "=1ms"), limit
    assert rows("cpu", "--where", "(CPU%>20 | CPU TIME>=50ms) tid>5") == rows("cpu", "--where", "cpu_percent>20 | cpu_ns>=50ms tid>5")
    assert "no column 'process'" in run("relations", "--sort", "process", status=2)
    assert "did you mean 'user_ns'?" in run("cpu", "--where", "USRTIME>1ms", status=2)
    assert "(ns; headed CPU TIME)" in " ".join(run("cpu", "--help").split())


def test_shares():
    """Percentages are of the host's rows, including those a limit leaves out, but not those that a filter does."""
    for options in ((), ("--where", "comm:apache2"), ("--sum-by", "comm"), ("--limit", "7")):
        got = rows("cpu", "--columns", "host,comm,cpu_ns,cpu_ns%,switches,switches%", *options)
        whole = rows("cpu", *(o for o in options if o not in ("--limit", "7")))
        assert got
        for row in got:
            for figure in ("cpu_ns", "switches"):
                total = sum(r[figure] for r in whole if r["host"] == row["host"])
                share = row[f"{figure}_share"]
                assert abs(share - 100 * row[figure] / total) < 1e-9, row
    sums = {}
    for row in rows("syscalls", "--columns", "host,count%"):
        sums[row["host"]] = sums.get(row["host"], 0) + row["count_share"]
    assert len(sums) == 3 and all(abs(total - 100) < 1e-6 for total in sums.values()), sums
    intervals = run("syscalls", "--columns", "host,count%", "--interval", "2s", "--json").splitlines()
    assert len(intervals) > 2
    for interval in map(json.loads, intervals):
        for host in {row["host"] for row in interval["rows"]}:
            total = sum(row["count_share"] for row in interval["rows"] if row["host"] == host)
            assert abs(total - 100) < 1e-6, (host, total, interval["begin_ns"])
    for column in ("failed", "count"):
        whole = rows("syscalls", "--columns", f"host,{column},{column}%", "--where", "comm:apache2")
        total = sum(r[column] for r in whole)
        assert total and all(abs(r[f"{column}_share"] - 100 * r[column] / total) < 1e-9 for r in whole), column
    for table, column in (("disks", "queue_max"), ("cpu", "threads"), ("sched", "slice_max")):
        assert "has no shares: its values cannot be summed" in run(table, "--columns", f"{column}%", status=2), column
    assert "column 'net_pages' has no shares: its values may be negative" in run("memory", "--columns", "net_pages%", status=2)
    headers = run("bottleneck", "--columns", "total%,total_percent").splitlines()[1].split("  ")
    assert len(set(headers)) == len(headers) == 2, headers
    assert "CPU TIME%" in run("cpu", "--columns", "host,comm,cpu_ns%").splitlines()[1]
    assert "column 'max_ns' has no share" in run("sched", "--columns", "max%", status=2)
    assert "has no column 'cpus'" in run("cpu", "--columns", "cpus%", status=2)


def test_limit():
    best = rows("syscalls", "--sort", "total_ns")
    assert rows("syscalls", "--sort", "total_ns", "--limit", "5") == best[:5]
    assert rows("syscalls", "--limit", "5") == rows("syscalls")[:5]
    assert rows("syscalls", "--limit", "1000000") == rows("syscalls")


def test_limit_is_of_each_interval():
    pages = [json.loads(line) for line in run("cpu", "--json", "--interval", "1s", "--sort", "cpu_ns", "--limit", "2").splitlines()]
    assert len(pages) == 10 and all(len(page["rows"]) == 2 for page in pages)
    assert all(page["rows"][0]["cpu_ns"] >= page["rows"][1]["cpu_ns"] for page in pages)


def test_columns():
    got = rows("cpu", "--columns", "comm,cpu_percent,cpu_ns,host")
    assert list(got[0]) == ["comm", "cpu_percent", "cpu_ns", "host"]
    length_ns = {r["host"]: r["end_ns"] - r["begin_ns"] for r in rows("hosts")}
    # the hosts' clocks differ by less than 100 ppm, and percentages are on the host's own clock
    assert all(abs(r["cpu_percent"] * length_ns[r["host"]] - 100 * r["cpu_ns"]) <= 1e-2 * r["cpu_ns"] for r in got)
    assert run("cpu", "--csv", "--columns", "tid,switches").splitlines()[0] == "tid,switches"
    # columns that text leaves out if nothing is known are written on request
    assert "USER" in run("cpu").splitlines()[1]
    assert "CGROUP" not in run("cpu").splitlines()[1]
    assert run("cpu", "--columns", "tid,cgroup").splitlines()[1].split() == ["TID", "CGROUP"]


MATTERS = {"cpu": "cpu_ns", "io": "read_bytes", "irqs": "total_ns", "syscalls": "total_ns", "sched": "max_ns",
           "disks": "read_bytes", "net": "rx_bytes", "blocking": "total_ns", "events": "count", "files": "read_bytes"}


def test_text_is_in_the_order_of_what_matters():
    for table, column in MATTERS.items():
        assert run(table).splitlines()[2:] == run(table, "--sort", column).splitlines()[2:], table
    best = rows("cpu", "--sort", "cpu_ns")
    got = [line[:2] for line in text_lines("cpu") if line[1] != "total"]
    assert got == [[r["host"], str(r["tid"])] for r in best]
    for args, column in ((("io", "--sum-by", "process"), "read_bytes"), (("cpu", "--sum-by", "comm"), "cpu_ns"),
                         (("syscalls", "--sum-by", "call"), "total_ns"), (("sched", "--sum-by", "host"), "max_ns")):
        assert run(*args) == run(*args, "--sort", column), args


def test_totals():
    sums, counts = {}, {}
    for r in rows("cpu"):
        sums[r["host"]] = sums.get(r["host"], 0) + r["switches"]
        counts[r["host"]] = counts.get(r["host"], 0) + 1
    assert min(counts.values()) > 1
    for args in ((), ("--limit", "1"), ("--limit", "7", "--sort", "-tid")):
        lines = text_lines("cpu", "--columns", "host,tid,switches", *args)
        assert [line for line in lines if line[1] == "total"] == [[h, "total", str(s)] for h, s in sorted(sums.items())]


def test_no_totals_of_different_things():
    assert not [line for line in text_lines("perf") if "total" in line]  # page faults and migrations
    assert not [line for line in text_lines("hosts") if "total" in line]  # a row of each host
    assert not [line for line in text_lines("sched", "--columns", "host,tid,avg_ns,max_ns") if "total" in line]


# a filter, and its condition for a row of the whole table
FILTERS = {
    "cpu": [
        ("pid:15", lambda r: r["pid"] == 15),
        ("host:web comm:apache2", lambda r: r["host"] == "web" and "apache2" in r["comm"]),
        ("comm:postgres | comm:apache2", lambda r: "postgres" in r["comm"] or "apache2" in r["comm"]),
        ("!comm:kworker switches>=3", lambda r: "kworker" not in r["comm"] and r["switches"] >= 3),
        ("cpu>5ms cpu_ns<1s", lambda r: 5_000_000 < r["cpu_ns"] < 1_000_000_000),
        ("migrations=1 | (switches>100 !host:db)",
         lambda r: r["migrations"] == 1 or (r["switches"] > 100 and r["host"] != "db")),
        ("comm=rcu_*", lambda r: r["comm"].startswith("rcu_")),
        ("born>+3s", lambda r: (r["born_ns"] or 0) > BEGIN_NS + 3_000_000_000),
        ("!born_ns>0ns", lambda r: r["born_ns"] is None),
        ("sys", lambda r: "sys" in r["comm"].lower() or "sys" in r["host"]),
    ],
    "io": [("write>64k", lambda r: r["write_bytes"] > 65536),
           ("read_bytes_disk=0 write_bytes_disk>=1k", lambda r: not r["read_bytes_disk"] and r["write_bytes_disk"] >= 1024)],
    "syscalls": [("call:epoll_*", lambda r: r["name"].startswith("epoll_")),
                 ("errors>0", lambda r: len(r["errors"]) > 0), ("errors>0.5", lambda r: len(r["errors"]) > 0)],
    "files": [("file:/etc/", lambda r: "/etc/" in (r["path"] or "")), ("kind=inet", lambda r: r["kind"] == "inet")],
    "blocking": [("state:block_device", lambda r: r["state"] == "block_device"),
                 ("state:disk", lambda r: r["state"] == "block_device"),
                 ("state:unexplained|state:in*", lambda r: r["state"] in ("blocked", "interrupted", "user_input"))],
    "disks": [("dev=254:0 writes>140", lambda r: r["dev"] == 254 << 20 and r["writes"] > 140)],
    "events": [("used=no count>10", lambda r: not r["used"] and r["count"] > 10)],
}
BEGIN_NS = json.loads(run("hosts", "--json"))["begin_ns"]


def test_where():
    for table, filters in FILTERS.items():
        whole = rows(table)
        for text, holds in filters:
            expected = [r for r in whole if holds(r)]
            assert rows(table, "--where", text) == expected, (table, text)
            assert expected, (table, text)


def test_times_are_compared_to_the_ns():
    whole = rows("matches")
    some = whole[len(whole) // 2]["sent_ns"]
    for ns in (some - 1, some, some + 1):
        for comparison, holds in ("=", ns.__eq__), ("<", ns.__gt__), (">=", ns.__le__):
            assert rows("matches", "--where", f"sent_ns{comparison}{ns}") == [r for r in whole if holds(r["sent_ns"])], \
                (comparison, ns - some)


def test_bare_words_are_parts_of_what_is_printed():
    for table, words in (("cpu", ("epoll", "blocked", "apache", "web")), ("files", ("10.77", "postgres", "locale")),
                         ("syscalls", ("epoll", "postgres"))):
        whole = rows(table)
        for word in words:
            assert rows(table, "--where", word) == [
                r for r in whole if any(word in v.lower() for v in r.values() if isinstance(v, str))], (table, word)
    assert not rows("cpu", "--where", "epoll") and rows("syscalls", "--where", "epoll")


def test_what_was_waited_in():
    """The call with its fd and its object, either of which may be missing."""
    whole = rows("blocking", "--columns", "syscall,fd,path,what")
    assert any(r["fd"] is None and r["path"] for r in whole) and any(r["fd"] is not None and r["path"] for r in whole)
    for r in whole:
        inside = " ".join(str(v) for v in (r["fd"], r["path"]) if v is not None)
        assert r["what"] == (r["syscall"] and f"{r['syscall']}({inside})"), r


def test_no_host():
    for option, value in (("--host", "nowhere"), ("--where", "host:nowhere")):
        done = subprocess.run([PROGRAM, "report", "cpu", option, value, TRACE], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=True)
        assert done.stderr == f"lttngtop: warning: no host matches {option}\n", done.stderr


def test_where_is_repeated():
    assert rows("cpu", "--where", "host:web", "--where", "comm:apache2 | comm:kworker") == \
        rows("cpu", "--where", "host:web (comm:apache2 | comm:kworker)")


def test_min_and_max():
    assert rows("cpu", "--min", "cpu=5ms", "--max", "switches=100") == \
        rows("cpu", "--where", "cpu_ns>=5000000 switches<=100")


def test_where_of_a_path():
    whole = rows("critical-path", "--host", "client", "--tid", "1453")
    assert rows("critical-path", "--host", "client", "--tid", "1453", "--where", "state:network") == \
        [r for r in whole if r["state"] == "network"] != []
    assert rows("critical-path", "--host", "client", "--tid", "1453", "--where", "comm:apache2 !tid:1459") == \
        [r for r in whole if r["comm"] == "apache2" and r["tid"] != 1459] != []


def half_up(total, count):
    return (2 * total + count) // (2 * count)


def merged(group, dist=False):
    """The sum of rows, from the rows themselves."""
    def column(name):
        return [r[name] for r in group if r[name] is not None]

    if not dist:
        return {k: sum(column(k)) for k in group[0] if k in ADDED}
    count, total = sum(column("count")), sum(column("total_ns"))
    return {"count": count, "total_ns": total, "min_ns": min(column("min_ns"), default=None),
            "max_ns": max(column("max_ns"), default=None)}


ADDED = {"cpu_ns", "ready_ns", "blocked_ns", "switches", "migrations", "read_bytes", "write_bytes", "read_bytes_disk",
         "write_bytes_net", "syscalls", "reads", "writes", "busy_ns", "online_ns", "count"}

# table, the common key, the same of a row of the whole table
SUMS = [
    ("cpu", "process", lambda r: (r["host"], r["pid"])),
    ("cpu", "comm", lambda r: (r["host"], r["comm"])),
    ("cpu", "host", lambda r: (r["host"],)),
    ("cpu", "all", lambda r: ()),
    ("io", "comm", lambda r: (r["host"], r["comm"])),
    ("files", "file", lambda r: (r["host"], r["path"])),
    ("files", "process", lambda r: (r["host"], r["pid"])),
    ("disks", "all", lambda r: ()),
    ("cpus", "host", lambda r: (r["host"],)),
    ("syscalls", "call", lambda r: (r["host"], r["name"])),
    ("syscalls", "thread", lambda r: (r["host"], r["tid"], r["pid"], r["comm"])),
    ("syscalls", "all", lambda r: ()),
    ("sched", "process", lambda r: (r["host"], r["pid"])),
]


def test_sums_are_those_of_the_rows():
    for table, what, key in SUMS:
        groups, dist = {}, table in ("syscalls", "sched")
        for r in rows(table):
            groups.setdefault(key(r), []).append(r)
        sums = rows(table, "--sum-by", what)
        names = [k for k in sums[0] if k in ("host", "tid", "pid", "comm", "path", "name")]
        if what == "process":
            names.remove("comm")
        assert [tuple(r[k] for k in names) for r in sums] and len(sums) == len(groups), (table, what)
        for r in sums:
            group = groups[tuple(r[k] for k in names)]
            for name, value in merged(group, dist).items():
                assert r[name] == value, (table, what, name, r)
            assert r["rows"] == len(group), (table, what, r)
            timed = [g for g in group if dist and g["avg_ns"] is not None]
            if timed and table == "sched":
                assert r["avg_ns"] == half_up(r["total_ns"], r["count"])
                square = sum(g["count"] * (g["stdev_ns"] ** 2 + (g["total_ns"] / g["count"]) ** 2) for g in timed)
                variance = square / r["count"] - (r["total_ns"] / r["count"]) ** 2
                assert abs(r["stdev_ns"] - max(variance, 0) ** 0.5) <= 2 + r["stdev_ns"] / 1000, (table, what, r)


def test_sums_are_in_the_order_of_host_and_key():
    for table, what, name in (("cpu", "process", "pid"), ("cpu", "comm", "comm"), ("cpu", "host", "host"), ("io", "user", "uid"),
                              ("files", "file", "path"), ("syscalls", "call", "name"), ("syscalls", "thread", "tid"),
                              ("blocking", "comm", "comm"), ("relations", "host", "host")):
        page = json.loads(run(table, "--json", "--sum-by", what))
        order = [(page["hosts"].index(r["host"]), r[name] is not None, r[name]) for r in page["rows"]]
        assert order == sorted(order) and len({host for host, _, _ in order}) == len(page["hosts"]), (table, what, order)
        lines = list(csv.DictReader(run(table, "--csv", "--sum-by", what).splitlines()))
        assert [r[name] for r in lines] == ["" if r[name] is None else str(r[name]) for r in page["rows"]], (table, what)


def test_sums_are_chosen_and_ordered():
    sums = rows("cpu", "--sum-by", "comm")
    assert rows("cpu", "--sum-by", "comm", "--min", "rows=3") == [r for r in sums if r["rows"] >= 3] != []
    assert rows("cpu", "--sum-by", "comm", "--where", "switches>10") != sums
    best = rows("cpu", "--sum-by", "comm", "--sort", "cpu", "--limit", "3", "--columns", "comm,cpu_ns")
    assert [r["cpu_ns"] for r in best] == sorted((r["cpu_ns"] for r in sums), reverse=True)[:3]
    filtered = [r for r in rows("cpu") if r["switches"] > 10]
    assert sum(r["rows"] for r in rows("cpu", "--sum-by", "comm", "--where", "switches>10")) == len(filtered)


def test_what_has_no_sum():
    assert "rows of table 'perf' cannot be summed" in run("perf", "--sum-by", "host", status=2)
    assert "rows of table 'sync' cannot be summed" in run("sync", "--sum-by", "host", status=2)
    assert "a log is of single durations" in run("sched", "--log", "--sum-by", "comm", status=2)
    assert "'instances' is what --log prints of another table" in run("instances", status=2)
    assert "rows of table 'disks' have no file" in run("disks", "--sum-by", "file", status=2)
    assert "'proces' is not one of thread|process" in run("cpu", "--sum-by", "proces", status=2)
    assert "a sum of table 'cpu' has no column 'prio'" in run("cpu", "--sum-by", "comm", "--sort", "prio", status=2)


def test_wrong_usage():
    assert "table 'cpu' has no column 'swiches': did you mean 'switches'?" in run("cpu", "--sort", "swiches", status=2)
    assert "option '--columns': table 'cpu' has no column ''" in run("cpu", "--columns", "tid,", status=2)
    assert "not a number from 1" in run("cpu", "--limit", "0", status=2)
    assert "option '--where': column 8: unknown term 'bogus:'" in run("cpu", "--where", "comm:a bogus:x", status=2)
    for text, column in (("cpu_ns%>15", 1), ("a CPU>1s", 3), (">5", 1), ("comm:a | cpu_ns >5", 17)):
        message = run("cpu", "--where", text, status=2)
        assert f"option '--where': column {column}: " in message, (text, message)
    assert not rows("cpu", "--where", '"cpu_ns%>15"')
    for text, column in (('"CPU TIME">1ms', 1), ('comm:a | !"CPU TIME"!=1ms', 11), ('("no column">=1ms)', 2)):
        message = run("cpu", "--where", text, status=2)
        works = text[column - 1:].replace('"', "").rstrip(")")
        assert f"option '--where': column {column}: " in message and f" as a column, write '{works}'" in message, message
    assert rows("cpu", "--where", "CPU TIME>1ms") and not rows("cpu", "--where", '"CPU TIME" "no column"')
    assert "rows of table 'disks' have no pid" in run("disks", "--where", "writes>1 pid:1", status=2)
    assert "rows of table 'cpus' have no call" in run("cpus", "--where", "call:read", status=2)
    assert "table 'disks' has no column 'switches'" in run("disks", "--where", "switches>1", status=2)
    assert "option '--min': 'cpu' is not of the form COLUMN=VALUE" in run("cpu", "--min", "cpu", status=2)
    assert "option '--max': column 'ready_ns' needs a duration such as 5ms, not '1x'" in run("cpu", "--max", "ready_ns=1x", status=2)
    for words in (("dump",), ("slice", "-o", "x")):
        assert "only host:, pid:, tid:, comm:, tree:, user:" in run(*words, "--where", "state:blocked", status=2)
    assert "--sort does not apply to dump" in run("dump", "--sort", "x", status=2)
    assert "--limit does not apply to slice" in run("slice", "-o", "x", "--limit", "1", status=2)


cases.run(globals())
