#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What scripts rely on in `report`: the three formats agree,
filters and intervals clip as documented, exit statuses."""

import collections
import csv
import functools
import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

BUILD = os.environ.get("BUILD", os.path.join(os.path.dirname(__file__), "..", "..", "build"))
PROGRAM = os.environ.get("LTTNGTOP", os.path.join(BUILD, "lttngtop"))
TRACES = os.path.join(BUILD, "traces")

# the columns of the row's key after host, and those left out when all of it is 0
TABLES = {
    "hosts": ((), ("events", "lost_events", "lost_packets", "backward_steps", "late_events")),
    "events": (("name",), ("count",)),
    "cpus": (("cpu",), ("busy_ns", "idle_ns", "irq_ns", "softirq_ns", "online_ns", "switches")),
    "cpu": (("tid",), ("cpu_ns", "ready_ns", "blocked_ns", "switches", "migrations")),
    "io": (("tid",), ("read_bytes", "write_bytes", "syscalls", "disk_read_bytes", "disk_write_bytes", "disk_requests",
                      "disk_wait_ns")),
    "files": (("pid", "fd", "opened_ns"), ()),
    "disks": (("dev",), ("reads", "writes", "read_bytes", "write_bytes", "queue_max", "queue", "waiting")),
    "net": (("name",), ("rx_packets", "rx_bytes", "tx_packets", "tx_bytes")),
    "irqs": (("kind", "nr"), ("count", "total_ns", "raise_max_ns")),
    "syscalls": (("tid", "name"), ("count", "total_ns", "errors")),
    "sched": (("tid",), ("count", "total_ns")),
    "perf": (("tid", "counter"), ("value",)),
    "probes": (("name",), ("count",)),
}
PROGRESS_AFTER = 1  # seconds: PROGRESS_AFTER_US
NO_SUMS = ("raise_max_ns", "queue_max", "queue", "waiting")
THREADS = ("cpu", "io", "syscalls", "sched", "perf")

failures = 0
count = 0


def check(condition, text):
    global failures, count
    count += 1
    if not condition:
        failures += 1
        print("not ok", text)


@functools.lru_cache(maxsize=64)
def run(*args, status=0, zone="UTC"):
    """Each report once, however many checks are of it."""
    done = subprocess.run([PROGRAM, "report", *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300, check=False, env={**os.environ, "TZ": zone})
    check(done.returncode == status, f"report {' '.join(args)}: status {done.returncode}, not {status}: "
                                     f"{done.stderr.decode(errors='replace')[:300]}")
    return done.stdout.decode()


def pages(*args, **kwargs):
    return [json.loads(line) for line in run(*args, "--json", **kwargs).splitlines()]


def page(*args, **kwargs):
    found = pages(*args, **kwargs)
    check(len(found) == 1, f"{args}: {len(found)} objects instead of one")
    return found[0]


def recording(name):
    path = os.path.join(TRACES, name)
    if not os.path.isdir(path):
        print(f"skip {name}: not unpacked in {TRACES}")
        return None
    return path


# Text leaves these columns out if no row has them.
OFTEN_UNKNOWN = {"uid", "user", "exe", "cmdline", "cgroup", "kernel", "boot_id", "clock", "reason", "container",
                 "frequency_khz"}


def as_csv(value):
    """A JSON value as its CSV cell."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def sort_key(value):
    return (value is not None, value if value is not None else 0)


def check_formats(table, path):
    data = page(table, path)
    check(list(data) == ["schema", "table", "begin_ns", "end_ns", "hosts", "lost", "rows"], f"{table}: keys of the object")
    check(data["schema"] == 1 and data["table"] == table, f"{table}: schema and table")
    check(set(data["lost"]) == {"events", "packets"}, f"{table}: lost")
    rows = list(csv.DictReader(io.StringIO(run(table, "--csv", path))))
    check(len(rows) == len(data["rows"]), f"{table}: CSV has {len(rows)} rows, JSON {len(data['rows'])}")
    for a, b in zip(data["rows"], rows):
        check({k: as_csv(v) for k, v in a.items()} == b, f"{table}: CSV {b} is not JSON {a}")
        check(not any(isinstance(v, float) for v in a.values()), f"{table}: a float in {a}")
    text = run(table, path).splitlines()
    shown = [line.split()[:2] for line in text[2:] if line.split()[1] != "total"]
    check(len(shown) == len(data["rows"]), f"{table}: text has {len(shown)} lines for {len(data['rows'])} rows")
    columns = re.split(r"  +", text[1].strip())
    if data["rows"]:
        unknown = {k for k in OFTEN_UNKNOWN if k in data["rows"][0] and all(row[k] is None for row in data["rows"])}
        check(len(columns) == len(data["rows"][0]) - len(unknown), f"{table}: text has the columns {columns}")
        check(sorted(host for host, _ in shown) == sorted(row["host"] for row in data["rows"]),
              f"{table}: other hosts in the text")


def check_order(table, path):
    data = page(table, path)
    keys, counters = TABLES[table]
    order = [(data["hosts"].index(r["host"]),) + tuple(sort_key(r[k]) for k in keys) for r in data["rows"]]
    check(order == sorted(order), f"{table}: rows are not in the order of host and key")
    for row in data["rows"]:
        check(not counters or any(row[c] for c in counters), f"{table}: a row of zeros: {row}")
        for column in ("avg_ns", "min_ns", "max_ns", "stdev_ns"):
            check(column not in row or (row[column] is None) == (row["min_ns"] is None), f"{table}: {row}")


def total(rows, table):
    """key -> sums of the counters"""
    keys, counters = TABLES[table]
    sums = collections.defaultdict(collections.Counter)
    for row in rows:
        for c in counters:
            if isinstance(row[c], int) and c not in NO_SUMS:
                sums[(row["host"],) + tuple(row[k] for k in keys)][c] += row[c]
    return {k: dict(v) for k, v in sums.items() if any(v.values())}


def check_intervals(table, path, length):
    whole, parts = page(table, path), pages(table, path, "--interval", length)
    check(parts[0]["begin_ns"] == whole["begin_ns"] and parts[-1]["end_ns"] == whole["end_ns"], f"{table}: ends")
    for a, b in zip(parts, parts[1:]):
        check(a["end_ns"] == b["begin_ns"], f"{table}: intervals do not touch")
        check(a["end_ns"] - a["begin_ns"] == parts[0]["end_ns"] - parts[0]["begin_ns"], f"{table}: unequal intervals")
    rows = [row for p in parts for row in p["rows"]]
    check(total(rows, table) == {k: {c: n for c, n in v.items()} for k, v in total(whole["rows"], table).items()},
          f"{table}: the sum over intervals of {length} is not the whole")
    for what in ("events", "packets"):
        check(sum(p["lost"][what] for p in parts) == whole["lost"][what], f"{table}: lost {what}")
    lines = list(csv.DictReader(io.StringIO(run(table, path, "--interval", length, "--csv"))))
    check(len(lines) == len(rows), f"{table}: CSV of intervals has {len(lines)} rows, JSON {len(rows)}")
    begins = [p["begin_ns"] for p in parts for _ in p["rows"]]
    check([int(line["interval_begin_ns"]) for line in lines] == begins, f"{table}: interval_begin_ns")


def check_cut(path):
    """[b, m[ and [m, e[ add up to [b, e[, however m is written."""
    whole = page("cpu", path)
    begin, end = whole["begin_ns"], whole["end_ns"]
    middle = (begin + end) // 2
    first, second = page("cpu", path, "--end", f"{middle}ns"), page("cpu", path, "--begin", f"{middle}ns")
    check((first["begin_ns"], first["end_ns"], second["begin_ns"], second["end_ns"]) == (begin, middle, middle, end),
          "edges of a cut")
    check(total(first["rows"] + second["rows"], "cpu") == total(whole["rows"], "cpu"), "two halves are not the whole")
    for other in (f"+{middle - begin}ns", f"-{end - middle}ns", str(middle)):
        check(page("cpu", path, f"--begin={other}") == second, f"--begin {other}")
        check(page("cpu", path, f"--end={other}") == first, f"--end {other}")
    check(page("cpu", path, "--begin", "+0s", "--end", "+9d") == whole, "more than the record")
    late = page("cpu", path, "--begin", "+9d")
    check((late["begin_ns"], late["end_ns"], late["rows"]) == (end, end, []), "behind the record")
    early = page("cpu", path, "--end", "@1")
    check((early["begin_ns"], early["end_ns"], early["rows"]) == (begin, begin, []), "before the record")


def check_filters(path):
    for table in ("cpu", "disks", "files"):
        whole = page(table, path)
        for host in whole["hosts"]:
            only = page(table, path, "--host", host)
            check(only["hosts"] == [host], f"{table}: --host {host} shows {only['hosts']}")
            check(only["rows"] == [r for r in whole["rows"] if r["host"] == host], f"{table}: --host {host}")
            check((only["begin_ns"], only["end_ns"]) == (whole["begin_ns"], whole["end_ns"]), "the grid is that of all")
        check(page(table, path, "--host", "c*", "--host", "db")["hosts"] ==
              [h for h in whole["hosts"] if h[0] == "c" or h == "db"], f"{table}: two --host")
    for table in THREADS:
        whole = page(table, path)["rows"]
        row = whole[len(whole) // 2]
        for option, column in (("--tid", "tid"), ("--pid", "pid"), ("--comm", "comm")):
            value = str(row[column])
            check(page(table, path, option, value)["rows"] == [r for r in whole if str(r[column]) == value],
                  f"{table}: {option} {value}")
        both = page(table, path, "--comm", "k*", "--comm", "rcu_*", "--host", "web")["rows"]
        check(both == [r for r in whole if r["host"] == "web" and r["comm"].startswith(("k", "rcu_"))],
              f"{table}: filters together")
    whole = page("files", path)["rows"]
    check(page("files", path, "--pid", "1")["rows"] == [r for r in whole if r["pid"] == 1], "files: --pid")
    check(page("files", path, "--tid", "1")["rows"] == [r for r in whole if r["pid"] == 1], "files: --tid")


def check_per_cpu(path):
    merged, apart = page("irqs", path)["rows"], page("irqs", path, "--per-cpu")["rows"]
    check(all(r["cpu"] is None for r in merged) and all(r["cpu"] is not None for r in apart), "irqs: cpu")
    check(total(merged, "irqs") == total(apart, "irqs"), "irqs: the CPUs' sum is not the merged row")
    for row in merged:
        own = [r for r in apart if all(r[k] == row[k] for k in ("host", "kind", "nr")) and r["count"]]
        check(row["min_ns"] == min((r["min_ns"] for r in own if r["min_ns"] is not None), default=None), f"irqs: {row}")
        check(row["max_ns"] == max((r["max_ns"] for r in own if r["max_ns"] is not None), default=None), f"irqs: {row}")


def check_usage(path):
    for args in (["nosuch", path], ["cpu"], ["cpu", "--json", "--csv", path], ["cpu", "--per-cpu", path],
                 ["disks", "--tid", "1", path], ["net", "--comm", "x", path], ["counters", path],
                 ["cpu", "--begin", "+2s", "--end", "+1s", path], ["cpu", "--begin", "soon", path],
                 ["cpu", "--interval", "1", path]):
        check(run(*args, status=2) == "", f"{args}: output in spite of wrong usage")
    check(run("cpu", "/nonexistent", status=1) == "", "no source")
    some = page("hosts", "/nonexistent", path, status=3)
    check(len(some["rows"]) >= 1, "one of two sources")
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([PROGRAM, "report", "cpu", path], stdout=full, stderr=subprocess.PIPE, timeout=60,
                              check=False)
    check(done.returncode == 1, f"full disk: status {done.returncode}")
    check(done.stderr.count(b"\n") == 1 and b"No space left" in done.stderr, f"full disk: {done.stderr}")
    # a reader that closes the pipe, with SIGPIPE ignored as some callers have it
    for ignored, statuses in ((True, (1,)), (False, (-signal.SIGPIPE,))):
        kwargs = {"restore_signals": not ignored}
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([PROGRAM, "report", "cpu", path], stdout=writer, stderr=subprocess.PIPE, timeout=60,
                              check=False, **kwargs)
        os.close(writer)
        check(done.returncode in statuses, f"closed pipe: status {done.returncode}, not in {statuses}")


def check_days(path):
    """In a zone where it becomes midnight during the recording: text has the date of times of the second day."""
    zone, midnight_ns = "EARLY-9:52:48", 1795183632 * 10**9  # 14:07:12 UTC
    of_day = r"23:59:5\d\.\d{9}|11-21 00:00:0\d\.\d{9}|-"
    options = ("cpu", "--columns", "born_ns,exited_ns", "--sort", "born_ns", path)
    born = [row["born_ns"] for row in page(*options)["rows"]]
    check(born == [row["born_ns"] for row in page(*options, zone=zone)["rows"]], "days: JSON depends on the time zone")
    lines = run(*options, zone=zone).splitlines()
    check(lines[1].split() == ["BORN", "EXITED"], f"days: {lines[:2]}")
    for line in lines[2:]:
        check(re.fullmatch(rf" *({of_day}) +({of_day})", line), f"days: {line}")
    dated = len(re.findall(r"(?m)^ *11-21", "\n".join(lines[2:])))
    check(0 < dated == len([ns for ns in born if ns and ns >= midnight_ns]), f"days: {dated} born on the second")
    check(not re.search(r" 11-2\d", "\n".join(run(*options).splitlines()[1:])), "days: a date on the day of the heading")


def check_interrupt(path):
    """
    SIGINT before a recording has been read: the data so far, as complete objects, and the status of the signal. The
    report waits meanwhile, as nobody reads what it writes.
    """
    end_ns = page("hosts", path)["end_ns"]
    for command in (["report", "cpu", "--json", "--interval", "1ms"], ["report", "dump", "--json"], ["attach", "-n", "*", "--json"]):
        with subprocess.Popen([PROGRAM, *command, path], bufsize=0, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            first = child.stdout.readline()  # its pipe is full soon
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=600)
        check(child.returncode == 128 + signal.SIGINT, f"{command}: SIGINT: status {child.returncode}: {err.decode(errors='replace')}")
        check(b"interrupted: the rest was not read\n" in err, f"{command}: SIGINT: {err}")
        lines = [json.loads(line) for line in [first, *out.splitlines()]]
        if command[1] == "cpu":
            check(lines[-1]["end_ns"] < end_ns, "SIGINT: it read to the end")
            check(all(a["end_ns"] == b["begin_ns"] for a, b in zip(lines, lines[1:])), "SIGINT: intervals")


def check_quiet_terminal(path):
    """A short report writes no progress, even on a terminal."""
    leader, follower = pty.openpty()
    began = time.monotonic()
    done = subprocess.run([PROGRAM, "report", "hosts", path], stdout=subprocess.PIPE, stderr=follower, timeout=60,
                          check=False)
    is_slow = time.monotonic() - began > PROGRESS_AFTER
    os.close(follower)
    ready = select.select([leader], [], [], 0)[0]
    said = b""
    try:
        said = os.read(leader, 4096) if ready else b""
    except OSError:
        pass
    os.close(leader)
    check(done.returncode == 0 and (not said or is_slow), f"terminal: {said}")


def main():
    if not os.access(PROGRAM, os.X_OK):
        print(f"skip {os.path.basename(sys.argv[0])}: {PROGRAM} is not built")
        return 77
    three, kprobe = recording("three-tier"), recording("kprobe")
    for path in filter(None, (three, kprobe)):
        for table in TABLES:
            check_formats(table, path)
            check_order(table, path)
    if kprobe:
        for table in TABLES:
            for length in ("97ms", "1234567890ns"):
                check_intervals(table, kprobe, length)
        check_cut(kprobe)
        check_usage(kprobe)
        check_quiet_terminal(kprobe)
    if three:
        for table in ("cpus", "cpu", "io", "syscalls", "irqs"):
            check_intervals(table, three, "3s")
        check_filters(three)
        check_per_cpu(three)
        check_days(three)
        check_interrupt(three)
    if not count:
        return 77
    print(f"{'not ok' if failures else 'ok'} {os.path.basename(sys.argv[0])}: {count} checks, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
