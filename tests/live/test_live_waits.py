#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Critical paths of several live hosts are those of their recordings; and whatever
happens to one host, the figures of the others do not change.
"""
import json
import os
import signal
import subprocess
import sys
import time

import sandbox
import test_feed
from test_feed import PROGRAM, TRACES, Relayd, check, finish, hosts_of, urls_of
from test_live import of_the_way

PATH = os.path.join(TRACES, "three-tier")
TABLES = ("cpu", "syscalls", "files", "blocking")
TIMES = {"born_ns", "exited_ns", "opened_ns", "closed_ns"}  # on reference time, not the host's own
SLACK_NS = 1000  # rounding errors of clock maps
NOT_KNOWN = "it arrived before the hosts' clocks were known"
SAME = ("host", "tid", "comm", "state", "cause", "call", "wire")


# A relayd under load occasionally sends an error instead of a new session's metadata, and the viewer ends there.
NO_METADATA = "Error updating trace metadata"
ATTEMPTS = 4


class NotAttached(Exception):
    pass


def start(table, *args):
    return subprocess.Popen([PROGRAM, "report", table, "--json", *args], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end(process, what, words=""):
    """The pages of a report that ends well and prints this message, or nothing; None: anything."""
    out, err = process.communicate(timeout=sandbox.PATIENCE * 2)
    if NO_METADATA in err:
        raise NotAttached
    check(process.returncode == 0, f"{what}: status {process.returncode}: {err}")
    if words is not None:
        check(words in err and err.count("lttngtop: ") == bool(words), f"{what}: says {err!r}, not {words!r}")
    return [json.loads(line) for line in out.splitlines()]


def recorded(table, *args):
    return end(start(table, *args, PATH), f"{table} of the recording")[0]


def feed_each(relayd, session, *args):
    """A feed for each host: all start at once, so that their clocks differ by when they were recorded."""
    feeds = {host: relayd.feed("--session", session, *args, path) for host, path in hosts_of(PATH).items()}
    return feeds, [urls_of(feed, 1)[0] for feed in feeds.values()]


def end_feeds(feeds):
    for feed in feeds.values():
        feed.kill()
        feed.communicate()


def fed(relayd, table, *args, words=""):
    for attempt in range(ATTEMPTS):
        feeds, urls = feed_each(relayd, f"{table}-{attempt}", "--speed", "max", "--now")
        try:
            pages = end(start(table, *args, *urls), f"live {table}", words)
        except NotAttached:
            end_feeds(feeds)
            continue
        for feed in feeds.values():
            finish(feed, 0, f"feed for {table}")
        return pages
    raise NotAttached


def fed_together(relayd, table, *args):
    """The same with one feed, on the recordings' clocks."""
    for _ in range(ATTEMPTS):
        feed = relayd.feed("--speed", "max", PATH)
        try:
            pages = end(start(table, *args, *urls_of(feed, 3)), f"live {table}")
        except NotAttached:
            end_feeds({"all": feed})
            continue
        finish(feed, 0, f"feed for {table}")
        return pages
    raise NotAttached


def clients():
    rows = [r for r in recorded("cpu", "--host", "client", "--comm", "wget")["rows"] if r["exited_ns"]]
    return [str(r["tid"]) for r in sorted(rows, key=lambda r: r["born_ns"])]


def test_same_clocks(relayd):
    """If the clocks are known beforehand, or left alone, live and recorded paths are the same to the ns."""
    offsets = [a for r in recorded("sync", "--ref", "client")["rows"] if r["host"] != "client"
               for a in ("--offset", f"{r['host']}={r['offset_ns']}")]
    check(len(offsets) == 4, f"offsets of the other two hosts: {offsets}")
    for clocks in (["--no-sync"], ["--ref", "client", *offsets]):
        for table in ("critical-path", "critical-totals", "accounting"):
            args = clocks if table == "accounting" else [*clocks, "--host", "client", "--tid", clients()[-1]]
            live, = fed_together(relayd, table, *args)
            whole = recorded(table, *args)
            hosts = {r["host"] for r in whole["rows"]}
            check(len(whole["rows"]) > 3 and (len(hosts) == 3 or "--no-sync" in clocks), f"{table} {args}: {whole}")
            check(live == whole, f"{table} {args}: live differs from recorded")


def at(rows, ns):
    """The segment at this offset from the path's start; no segment is shorter than the uncertainty of the clocks."""
    for row in rows:
        if row["begin_ns"] - rows[0]["begin_ns"] <= ns < row["end_ns"] - rows[0]["begin_ns"]:
            return {k: row[k] for k in SAME}
    return None


def test_moving_clocks(relayd):
    """
    Clock maps that change while the packets arrive: the bounds of both readings limit how far segments on other hosts
    may be moved; less does not count. All times are the client's own, which no map changes.
    """
    tid = clients()[-1]
    args = ("--ref", "client", "--host", "client", "--tid", tid)
    whole, (live,) = recorded("critical-path", *args)["rows"], fed(relayd, "critical-path", *args, words=NOT_KNOWN)
    live = live["rows"]
    check(live and whole[-1]["end_ns"] - whole[0]["begin_ns"] == live[-1]["end_ns"] - live[0]["begin_ns"],
          f"path of {tid}: its length, {live[:1]}")
    bounds = {r["host"]: r["bound_ns"] for r in recorded("sync", "--ref", "client")["rows"]}
    for page in fed(relayd, "sync", "--ref", "client", "--interval", "1s")[-4:]:
        for r in page["rows"]:
            check(r["bound_ns"] is not None, f"clocks, live: {r}")
            bounds[r["host"]] = max(bounds[r["host"]], r["bound_ns"] or 0)
    off = 2 * max(bounds.values()) + SLACK_NS
    check(off < 10000000, f"bounds: {bounds}")
    seen = {host: 0 for host in bounds}
    for row in whole:
        begin, end_ns = (row[k] - whole[0]["begin_ns"] for k in ("begin_ns", "end_ns"))
        if end_ns - begin <= 2 * off:
            continue
        seen[row["host"]] += end_ns - begin
        for ns in (begin + off, (begin + end_ns) // 2, end_ns - off - 1):
            check(at(live, ns) == {k: row[k] for k in SAME}, f"path of {tid} after {ns} ns: {at(live, ns)}, recorded {row}")
    check(len(seen) == 3 and min(seen.values()) > 50000000, f"path of {tid}: compared by host: {seen}")
    for own in ("running", "preempted", "timer"):
        sums = [sum(r["duration_ns"] for r in rows if r["host"] == "client" and r["state"] == own) for rows in (live, whole)]
        check(sums[0] == sums[1], f"path of {tid}: {own} on the client: {sums}")


def own_figures(report, host):
    rows = []
    for row in report["rows"]:
        without = TIMES | of_the_way(row)
        if row["host"] == host:
            rows.append({k: v for k, v in row.items() if k not in without})
    return rows


def judge(table, trouble, live, feeds):
    whole = recorded(table)
    for host in ("client", "web"):
        check(len(own_figures(whole, host)) > 3, f"{table} of {host}: nothing to compare")
        check(own_figures(live, host) == own_figures(whole, host), f"{table} of {host}, db {trouble}: not the recording's")
        finish(feeds[host], 0, f"feed of {host}, db {trouble}")
    if trouble == "killed":
        check(own_figures(live, "db") != own_figures(whole, "db"), f"{table}: db was not {trouble} in time")
    finish(feeds["db"], -signal.SIGKILL if trouble == "killed" else 0, "feed of db")


def test_others_go_on(relayd, trouble):
    """The feed of one host is killed, or stopped for a while: the other hosts' rows are those of their recordings."""
    tables = TABLES
    for attempt in range(ATTEMPTS):
        runs = []
        for table in tables:
            feeds, urls = feed_each(relayd, f"{trouble}-{table}-{attempt}", "--speed", "2", "--now")
            # a killed feed is known to be gone; a short limit would skip hosts of a busy machine
            runs.append((table, feeds, start(table, "--stall-limit", "500ms" if trouble == "late" else "60s", *urls)))
        time.sleep(2.5)
        for number in {"killed": [signal.SIGKILL], "late": [signal.SIGSTOP, signal.SIGCONT]}[trouble]:
            for _, feeds, _ in runs:
                feeds["db"].send_signal(number)
            time.sleep(1.5 if number == signal.SIGSTOP else 0)
        tables = []
        for table, feeds, run in runs:
            try:
                if trouble == "killed" and feeds["db"].wait(sandbox.PATIENCE) == 0:
                    run.communicate(timeout=sandbox.PATIENCE * 2)
                    raise NotAttached  # it had ended before
                judge(table, trouble, end(run, f"{table} with a host {trouble}", None)[0], feeds)
            except NotAttached:
                end_feeds(feeds)
                tables.append(table)
        if not tables:
            return
    raise NotAttached


def main():
    sandbox.begin(PATH)
    with Relayd("relayd") as relayd:
        test_same_clocks(relayd)
        test_moving_clocks(relayd)
        test_others_go_on(relayd, "killed")
        test_others_go_on(relayd, "late")
    failed = test_feed.failures
    print(f"{'not ok' if failed else 'ok'} {os.path.basename(sys.argv[0])}: {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
