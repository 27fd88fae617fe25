#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of several live hosts: the clocks while packets arrive, a critical path, a host that falls silent."""
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import sandbox
import test_feed
from test_feed import PROGRAM, TRACES, Relayd, check, finish, urls_of

STALL_LIMIT = 1  # seconds


def report(*args):
    done = subprocess.run([PROGRAM, "report", "--json", *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=sandbox.PATIENCE * 4, check=False)
    check(done.returncode == 0, f"report {args}: status {done.returncode}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def fed(relayd, path, n, *args):
    feed = relayd.feed("--speed", "max", path)
    done = report(*args, *urls_of(feed, n))
    finish(feed, 0, f"feed for {args}")
    return done


def test_sync(relayd):
    """Live estimates agree with those of the whole recording, within the bounds of both."""
    path = os.path.join(TRACES, "three-tier")
    whole = {row["host"]: row for row in report("sync", path, "--ref", "web")[0]["rows"]}
    pages = fed(relayd, path, 3, "sync", "--ref", "web", "--interval", "2s")
    check(len(pages) > 2, f"sync, live: {len(pages)} pages")
    for a, b in zip(pages, pages[1:]):
        check(a["end_ns"] == b["begin_ns"], "sync, live: intervals touch")
        for x, y in zip(a["rows"], b["rows"]):
            check(x["matched"] <= y["matched"], f"sync, live: {x}, then {y}")
    for row in pages[-1]["rows"]:
        end = whole[row["host"]]
        check(row["state"] in ("accurate", "reference") and row["ref"] == "web", f"sync, live: {row}")
        check(abs(row["offset_ns"] - end["offset_ns"]) <= row["bound_ns"] + end["bound_ns"],
              f"sync, live: {row} is not what the recording says: {end}")


def test_path(relayd):
    """A host's paths do not depend on how it is read."""
    path = os.path.join(TRACES, "kprobe")
    busy = max(report("cpu", path)[0]["rows"], key=lambda row: row["switches"])
    args = ("--host", busy["host"], "--tid", str(busy["tid"]), "--no-sync")
    for table in ("critical-path", "critical-totals"):
        live, = fed(relayd, path, 1, table, *args)
        whole, = report(table, path, *args)
        check(len(whole["rows"]) >= 3, f"{table}: {len(whole['rows'])} rows")
        check(live == whole, f"{table}: live differs from recorded")


def test_silent_host(relayd, other):
    """One host's relayd is stopped past the stall limit: the other
    host's intervals continue, and in the end everything is there."""
    path = os.path.join(TRACES, "hotplug")
    whole = report("hosts", path)[0]["rows"][0]["events"]
    feeds = [relay.feed("--speed", "1", "--now", "--session", "silent", "--hostname", name, path)
             for name, relay in (("goes-on", relayd), ("stops", other))]
    urls = [urls_of(feed, 1)[0] for feed in feeds]
    process = subprocess.Popen([PROGRAM, "report", "hosts", "--json", "--interval", "500ms", "--stall-limit",
                                f"{STALL_LIMIT}s", *urls], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    events, n, alone, stopped = {"goes-on": 0, "stops": 0}, 0, 0, None
    last = None
    try:
        for line in process.stdout:
            data = json.loads(line)
            n += 1
            check(last in (None, data["begin_ns"]), "a silent host: intervals touch")
            last = data["end_ns"]
            for row in data["rows"]:
                events[row["host"]] += row["events"]
            alone += [row["host"] for row in data["rows"]] == ["goes-on"]
            if stopped is None and n == 3:
                other.process.send_signal(signal.SIGSTOP)
                stopped = time.monotonic()
            if stopped and alone >= 3:
                other.process.send_signal(signal.SIGCONT)
                stopped = 0
        status, err = process.wait(sandbox.PATIENCE), process.stderr.read()
    finally:
        if process.poll() is None:
            process.kill()
        other.process.send_signal(signal.SIGCONT)
    for feed in feeds:
        finish(feed, 0, "feed of a silent host")
    check(status == 0 and "silent: skipped" in err, f"a silent host: status {status}: {err}")
    # the host returned only after these
    check(alone >= 3, f"a silent host: it was left out of {alone} intervals")
    check(events == {"goes-on": whole, "stops": whole}, f"a silent host: {events}, not {whole} each")


def test_nobody_sends(relayd):
    """The only host is silent past the stall limit: its events are waited for, not taken to be over."""
    path = os.path.join(TRACES, "hotplug")
    whole = report("hosts", path)[0]["rows"][0]["events"]
    feed = relayd.feed("--speed", "1", "--now", "--session", "alone", "--hostname", "stops", path)
    printed, said = Path("printed"), Path("said")
    with printed.open("wb") as out, said.open("wb") as err:
        process = subprocess.Popen([PROGRAM, "report", "dump", "--stall-limit", f"{STALL_LIMIT}s", urls_of(feed, 1)[0]],
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=err)
    try:
        sandbox.wait_until(lambda: printed.stat().st_size > 0, "first events")
        relayd.process.send_signal(signal.SIGSTOP)
        sandbox.wait_until(lambda: b"silent" in said.read_bytes(), "silent host")
        relayd.process.send_signal(signal.SIGCONT)
        status = process.wait(sandbox.PATIENCE)
    finally:
        process.kill()
        relayd.process.send_signal(signal.SIGCONT)
    finish(feed, 0, "feed of the only host")
    events = printed.read_bytes().count(b"\n")
    check((status, events) == (0, whole), f"the only host is silent: status {status}, {events} events of {whole}")


def main():
    sandbox.begin(os.path.join(TRACES, "three-tier"))
    with Relayd("relayd") as relayd, Relayd("other") as other:
        test_sync(relayd)
        test_path(relayd)
        test_silent_host(relayd, other)
        test_nobody_sends(relayd)
    failed = test_feed.failures
    print(f"{'not ok' if failed else 'ok'} {os.path.basename(sys.argv[0])}: {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
