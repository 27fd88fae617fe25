#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Critical paths as reports: segments cover the time, totals
are their sums, windows and intervals clip them, refusals."""

import calendar
import collections
import os
import re
import subprocess
import sys
import time

import test_report as base
from test_report import check, page, pages, recording, run

STATES = {"running", "preempted", "interrupted", "timer", "block_device", "network", "user_input", "ipi", "blocked",
          "unknown"}
LINKS = {None, "wakeup", "fork", "network"}


def path_of(path, host, tid, *args, **kwargs):
    return page("critical-path", path, "--host", host, "--tid", str(tid), *args, **kwargs)


def check_tiles(data, what, whole=None):
    """Segments follow each other without gap or overlap and lie inside the interval."""
    rows = data["rows"]
    for row in rows:
        check(row["begin_ns"] < row["end_ns"] and row["duration_ns"] == row["end_ns"] - row["begin_ns"], f"{what}: {row}")
        check(row["state"] in STATES and row["link"] in LINKS and row["host"] in data["hosts"], f"{what}: {row}")
        check(row["wire"] is False or row["state"] == "network", f"{what}: wire: {row}")
        check((row["from_host"] is None) == (row["from_tid"] is None), f"{what}: from: {row}")
    for a, b in zip(rows, rows[1:]):
        check(a["end_ns"] == b["begin_ns"], f"{what}: {a} is not followed by {b}")
    if rows:
        check(data["begin_ns"] <= rows[0]["begin_ns"] and rows[-1]["end_ns"] <= data["end_ns"], f"{what}: outside")
    if rows and whole is not None:
        check((rows[0]["begin_ns"], rows[-1]["end_ns"]) == whole, f"{what}: covers {rows[0]['begin_ns']} "
                                                                 f"to {rows[-1]['end_ns']}, not {whole}")


KEYS = ("host", "tid", "pid", "state", "cause", "call", "fd", "object", "wire")


def clip(rows, begin, end):
    """(start, end, what) of the segments inside the window."""
    return [(max(r["begin_ns"], begin), min(r["end_ns"], end), *(r[k] for k in KEYS)) for r in rows
            if r["begin_ns"] < end and r["end_ns"] > begin]


def check_windows(path, host, tid, whole):
    """The path of a window is a part of the whole path; intervals put together are the whole."""
    begin, end = whole["rows"][0]["begin_ns"], whole["rows"][-1]["end_ns"]
    third = (end - begin) // 3
    for a, b in ((begin + third, end - third), (begin, begin + 1), (begin + third + 7, begin + third + 100000)):
        part = path_of(path, host, tid, "--begin", f"{a}ns", "--end", f"{b}ns")
        check((part["begin_ns"], part["end_ns"]) == (a, b), "window: its ends")
        check_tiles(part, f"{host} {tid} in a window", (a, b))
        check(clip(part["rows"], a, b) == clip(whole["rows"], a, b), f"{host} {tid}: not the whole path's part")
    parts = pages("critical-path", path, "--host", host, "--tid", str(tid), "--interval", "700ms")
    check(parts[0]["begin_ns"] == whole["begin_ns"] and parts[-1]["end_ns"] == whole["end_ns"], "intervals: ends")
    for part in parts:
        check_tiles(part, f"{host} {tid} in intervals")
        check(clip(part["rows"], part["begin_ns"], part["end_ns"]) ==
              clip(whole["rows"], part["begin_ns"], part["end_ns"]), f"{host} {tid}: an interval is not the whole's part")
    check(sum(r["duration_ns"] for p in parts for r in p["rows"]) == end - begin, "intervals do not sum up")


def check_totals(path, host, tid, whole):
    """A row of critical-totals is the sum of the segments with its host, process and state."""
    data = page("critical-totals", path, "--host", host, "--tid", str(tid))
    sums = collections.Counter()
    for r in whole["rows"]:
        pid = r["pid"] if r["tid"] > 0 and r["pid"] is not None else r["tid"]
        sums[r["host"], pid, r["state"], r["wire"]] += r["duration_ns"]
    rows = {(r["host"], r["pid"], r["state"], r["wire"]): r["total_ns"] for r in data["rows"]}
    check(len(rows) == len(data["rows"]), f"{host} {tid}: a row of critical-totals is there twice")
    check(rows == dict(sums), f"{host} {tid}: totals {rows} are not the path's sums {dict(sums)}")
    order = [(data["hosts"].index(r["host"]), r["pid"]) for r in data["rows"]]
    check(order == sorted(order), "critical-totals: order")


def check_threads(path, name):
    """Every twentieth thread, and the shortest-lived ones."""
    cpu = page("cpu", path)
    rows = [r for r in cpu["rows"] if r["tid"] > 0 and r["cpu_ns"]]
    short = [r for r in rows if r["born_ns"] and r["exited_ns"]][:10]
    for row in rows[::20] + short:
        whole = path_of(path, row["host"], row["tid"])
        what = f"{name}: {row['host']} {row['tid']} {row['comm']}"
        check(whole["rows"], f"{what}: no path")
        check_tiles(whole, what)
        check((whole["begin_ns"], whole["end_ns"]) == (cpu["begin_ns"], cpu["end_ns"]), f"{what}: interval")
        if row in short:
            check(whole["rows"][-1]["end_ns"] >= row["exited_ns"] - 1000000, f"{what}: ends before the thread")
        # the thread's own time is on its own path
        own = sum(r["duration_ns"] for r in whole["rows"] if r["state"] == "running" and r["host"] == row["host"]
                  and r["tid"] == row["tid"])
        check(own <= row["cpu_ns"], f"{what}: {own} ns of it running, but {row['cpu_ns']} ns on a CPU")


def check_three(path):
    """wget on the client waits for apache, which waits for PostgreSQL."""
    wgets = [r for r in page("cpu", path, "--comm", "wget", "--host", "client")["rows"]]
    check(wgets, "no wget in the recording")
    seen = set()
    for row in wgets:
        whole = path_of(path, "client", row["tid"])
        check(whole["hosts"] == ["client", "db", "web"], f"hosts of a path: {whole['hosts']}")
        check_totals(path, "client", row["tid"], whole)
        seen |= {(r["host"], r["state"]) for r in whole["rows"]}
        seen |= {("wire", r["host"]) for r in whole["rows"] if r["wire"]}
        alone = path_of(os.path.join(path, "client"), "client", row["tid"])
        check({r["host"] for r in alone["rows"]} == {"client"}, "one host alone")
        check(alone["rows"][-1]["end_ns"] - alone["rows"][0]["begin_ns"] > 0, "one host alone: length")
    for wanted in (("web", "running"), ("db", "running"), ("wire", "web"), ("wire", "client")):
        check(wanted in seen, f"no path of wget has {wanted}: {seen}")
    check_windows(path, "client", wgets[0]["tid"], path_of(path, "client", wgets[0]["tid"]))


def check_formats(path):
    """The order and names of columns are the same in all three formats."""
    row = max(page("cpu", path)["rows"], key=lambda r: r["switches"])
    for table in ("critical-path", "critical-totals"):
        args = (table, path, "--host", row["host"], "--tid", str(row["tid"]))
        data = page(*args)
        csv_lines = run(*args, "--csv").splitlines()
        check(csv_lines[0].split(",") == list(data["rows"][0]), f"{table}: CSV header {csv_lines[0]}")
        check(len(csv_lines) == len(data["rows"]) + 1, f"{table}: lines of CSV")
        hosts = [r["host"] for r in data["rows"]]
        totals = sum(hosts.count(host) > 1 for host in set(hosts))
        check(len(run(*args).splitlines()) == len(data["rows"]) + 2 + totals, f"{table}: lines of text")


def check_refusals(three, kprobe):
    tid = str(page("cpu", kprobe)["rows"][0]["tid"])
    for args in ((kprobe, "--tid", tid, "--host", "nosuch"), (three, "--host", "nosuch"),
                 (kprobe, "--tid", tid, "--wait-memory", "none")):
        for table in ("critical-path", "critical-totals"):
            check(run(table, *args, status=2) == "", f"{table} {args}: output in spite of wrong usage")
    for table in ("critical-path", "critical-totals"):
        check(run(table, kprobe, "--tid", "999999", status=1) == "", f"{table}: a thread that does not exist")


def errors(*args):
    return subprocess.run([base.PROGRAM, "report", *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          timeout=300, check=False).stderr


def check_memory(path):
    """With little memory the path starts later, the rest is the same, and the report says so."""
    row = max(page("cpu", path)["rows"], key=lambda r: r["switches"])
    whole = path_of(path, row["host"], row["tid"])
    some = path_of(path, row["host"], row["tid"], "--wait-retention", "500ms")
    check_tiles(some, "--wait-retention")
    check(some["rows"][-1]["end_ns"] == whole["rows"][-1]["end_ns"], "--wait-retention: end")
    begin = some["rows"][0]["begin_ns"]
    check(whole["rows"][0]["begin_ns"] < begin <= whole["end_ns"] - 500000000, f"--wait-retention: begins at {begin}")
    check(clip(some["rows"], begin, whole["end_ns"]) == clip(whole["rows"], begin, whole["end_ns"]),
          "--wait-retention: what is kept differs")
    # with little memory the end is kept; for a window that ends early, the end of the window
    little = path_of(path, row["host"], row["tid"], "--wait-memory", "128k", status=3)
    check_tiles(little, "--wait-memory")
    begin = little["rows"][0]["begin_ns"]
    for args in (("critical-path", "--host", row["host"], "--tid", str(row["tid"])), ("accounting",)):
        for memory, said in (("128k", 1), ("256M", 0)):
            err = errors(*args, path, "--wait-memory", memory)
            check(err.count("was dropped: --wait-memory is too small") == said, f"{args} with {memory}: {err}")
        for kept, window, said in (("500ms", (), 1), ("500ms", ("--begin", "-400ms"), 0), ("1h", (), 0)):
            err = errors(*args, path, "--wait-retention", kept, *window)
            check(err.count("was dropped: --wait-retention is too short") == said, f"{args} keeping {kept}: {err}")
            if said:
                day, ns = re.search(r"data before (\S+ \S+)\.(\d{9}) was", err).groups()
                ns = calendar.timegm(time.strptime(day, "%Y-%m-%d %H:%M:%S")) * 10 ** 9 + int(ns)
                check(abs(whole["end_ns"] - 500 * 10 ** 6 - ns) < 10 ** 6, f"{args} keeping {kept}: before {ns}: {err}")
    check(whole["rows"][0]["begin_ns"] < begin < whole["end_ns"], f"--wait-memory: begins at {begin}")
    check(clip(little["rows"], begin, whole["end_ns"]) == clip(whole["rows"], begin, whole["end_ns"]),
          "--wait-memory: what is kept differs")
    end = whole["begin_ns"] + 300000000
    early = path_of(path, row["host"], row["tid"], "--wait-memory", "128k", "--end", f"{end}ns", status=3)
    check(early["end_ns"] == end and early["rows"], "--wait-memory: a window before what is kept of the whole")
    if early["rows"]:
        begin = early["rows"][0]["begin_ns"]
        # its last wait may be explained by data beyond the part that was read
        till = max(r["begin_ns"] for r in early["rows"])
        check(clip(early["rows"], begin, till) == clip(whole["rows"], begin, till), "--wait-memory: the window differs")


def check_nothing_left(path):
    """A thread of which nothing is left in memory is not one that does not exist."""
    for option, value, status, said in (("--wait-memory", "1", 3, "no thread to be shown is in the data that is left"),
                                        ("--wait-retention", "1ms", 0, "in the time that --wait-retention keeps")):
        done = subprocess.run([base.PROGRAM, "report", "critical-path", "--host", "client", "--tid", "1453", path, option,
                               value], capture_output=True, text=True, timeout=300, check=False)
        check((done.returncode, done.stderr.count(said)) == (status, 1) and "no row matches" not in done.stderr,
              f"nothing left with {option}: {done.returncode}, {done.stderr}")


def check_exited(path):
    """After its exit a thread still runs, and waits for a CPU, until it is switched out: part of its path."""
    row, = page("cpu", path, "--tid", "476")["rows"]
    whole = path_of(path, row["host"], 476)
    last = whole["rows"][-1]["end_ns"]
    check(last > row["exited_ns"] + 10000000, f"476 exits at {row['exited_ns']}, its path ends at {last}")
    for begin in (row["exited_ns"], row["exited_ns"] + 1, last - 1, last):
        part = page("critical-path", path, "--tid", "476", "--comm", "*", "--begin", f"{begin}ns")
        check(clip(part["rows"], begin, last) == clip(whole["rows"], begin, last), f"476 from {begin}: {part['rows']}")


def check_names(path):
    """A shell that executes a program has its new name only from then on: it is the last name in the interval."""
    exec_ns = 1795183632644425423  # sched_process_exec of thread 1442 of client: bash becomes sleep
    for end, name, other in ((exec_ns - 1000000000, "bash", "sleep"), (exec_ns + 1000000, "sleep", "bash")):
        until = ("--end", f"{end}ns")
        segments = path_of(path, "client", 1442, *until)["rows"]
        totals = page("critical-totals", path, "--host", "client", "--tid", "1442", *until)["rows"]
        accounts = page("accounting", path, *until)["rows"]
        for what, rows in (("critical-path", segments), ("critical-totals", totals), ("accounting", accounts)):
            names = {r["comm"] for r in rows if r["pid"] == 1442 and r["host"] == "client"}
            check(names == {name}, f"{what} until {end}: the name of 1442 is {names}, not {name}")
        for comm, found in ((name, True), (other, False)):
            rows = page("critical-path", path, "--host", "client", "--pid", "1442", "--comm", comm, *until)["rows"]
            check(bool(rows) == found, f"until {end}: {len(rows)} segments with --comm {comm}")
            check(not rows or rows == page("critical-path", path, "--host", "client", "--pid", "1442", *until)["rows"],
                  f"until {end}: --comm {comm} changes the path")


def check_followed(path):
    """Live, the thread may come after the first page; a page without it is empty."""
    row = next(r for r in page("cpu", path)["rows"] if r["comm"] == "lp-locker" and r["born_ns"])
    found = []
    for seconds in (5, 50):
        if not any(p["rows"] for p in found):
            found = pages("critical-path", path, "--host", row["host"], "--tid", str(row["tid"]), "--interval", "1s",
                          "--follow", "--duration", f"{seconds}s")
    check(any(p["rows"] for p in found), f"following, thread {row['tid']} was not found in {len(found)} pages")
    for p in found:
        check(not p["rows"] or p["end_ns"] > row["born_ns"], f"thread {row['tid']} in a page before it: {p['rows']}")
    check(found and not found[0]["rows"], "following, the thread is in the first page already")


def main():
    if not os.access(base.PROGRAM, os.X_OK):
        print(f"skip {os.path.basename(sys.argv[0])}: {base.PROGRAM} is not built")
        return 77
    three, kprobe, hotplug, pipes, nfs = map(recording, ("three-tier", "kprobe", "hotplug", "locks-pipes", "nfs"))
    if kprobe and hotplug and three and pipes and nfs:
        check_threads(kprobe, "kprobe")
        check_threads(hotplug, "hotplug")
        check_three(three)
        check_names(three)
        check_formats(kprobe)
        check_refusals(three, kprobe)
        check_memory(kprobe)
        check_nothing_left(three)
        check_followed(pipes)
        check_exited(nfs)
        row = max(page("cpu", kprobe)["rows"], key=lambda r: r["switches"])
        whole = path_of(kprobe, row["host"], row["tid"])
        check_windows(kprobe, row["host"], row["tid"], whole)
        check_totals(kprobe, row["host"], row["tid"], whole)
        check(path_of(kprobe, row["host"], row["tid"], "--no-sync") == whole, "one host: --no-sync changes its path")
    if not base.count:
        return 77
    print(f"{'not ok' if base.failures else 'ok'} {os.path.basename(sys.argv[0])}: {base.count} checks, "
          f"{base.failures} failed")
    return 1 if base.failures else 0


if __name__ == "__main__":
    sys.exit(main())
