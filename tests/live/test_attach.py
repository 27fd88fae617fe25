#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`attach` on live sessions: a feed gives the same lines as its recording, and an interrupt ends it cleanly."""
import json
import os
import signal
import subprocess
import sys

import sandbox
import test_feed
from test_feed import PROGRAM, TRACES, Relayd, check, finish, hosts_of, interrupt, urls_of

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "screens"))
from terminal import unpack  # noqa: E402


def start(*args):
    return subprocess.Popen([PROGRAM, "attach", *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def end(process, what, status=(0,)):
    try:
        out, err = process.communicate(timeout=sandbox.PATIENCE * 4)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    check(process.returncode in status, f"{what}: status {process.returncode}: {err[:300]}")
    return out


def whose(lines):
    """
    Objects by thread, in order: threads of one host may come in any order at one instant. Not the times of losses, which
    differ, and with them what calls waited for: live, it is not known if an event follows.
    """
    threads = {}
    objects = [json.loads(line) for line in lines.splitlines()]
    are_lost = any(o["event"] == "lost" for o in objects)
    for o in objects:
        if are_lost:
            o.pop("waits", None)
        if o["event"] != "lost":
            threads.setdefault((o["host"], o["tid"]), []).append(o)
    return threads


def test_same_as_recorded(relayd, name, *args, status=(0,)):
    path = unpack(name)
    feed = relayd.feed("--speed", "max", "--session", f"attach-{name}-{len(args)}", path)
    live = start("--json", *args, *urls_of(feed, len(hosts_of(path))))
    got = whose(end(live, f"{name} live", status))
    finish(feed, 0, f"feed of {name}")
    want = whose(end(start("--json", *args, path), f"{name} recorded", status))
    check(want, f"{name}: nothing was recorded")
    for who in sorted(set(want) | set(got)):
        a, b = got.get(who, []), want.get(who, [])
        check(a == b, f"{name} {who}: {len(a)} objects live, {len(b)} recorded; the first that differs: "
              + str(next(((x, y) for x, y in zip(a, b) if x != y), None))[:600])


def test_parts_add_up(relayd):
    """Of every call that waited, also where the clocks of its host became known meanwhile."""
    path = os.path.join(TRACES, "three-tier")
    feed = relayd.feed("--speed", "4", "--sync", "--session", "attach-parts", path)
    lines = end(start("--json", "-n", "wget", *urls_of(feed, 3)), "three-tier live").splitlines()
    finish(feed, 0, "feed of three-tier")
    calls = [o for o in map(json.loads, lines) if o.get("off_cpu_ns")]
    hosts = {segment["host"] for o in calls for segment in o["waits"]}
    check(len(calls) > 10 and hosts == {"client", "web", "db"}, f"{len(calls)} calls waited, for hosts {hosts}")
    for o in calls:
        what = f"{o['name']} of {o['tid']} at {o['begin_ns']}"
        ends = [o["begin_ns"], *(segment["end_ns"] for segment in o["waits"])]
        check([segment["begin_ns"] for segment in o["waits"]] == ends[:-1], f"{what}: gaps: {o['waits']}")
        # the duration is by the host's own clock; others drift from it
        check(abs(ends[-1] - ends[0] - o["duration_ns"]) <= 1000 + o["duration_ns"] / 10000,
              f"{what}: {ends[-1] - ends[0]} ns of {o['duration_ns']}")


def test_interrupt(relayd):
    path = os.path.join(TRACES, "locks-pipes")
    feed = relayd.feed("--speed", "1", "--now", "--session", "attach-interrupt", path)
    live = start("-n", "*", *urls_of(feed, len(hosts_of(path))))
    line = live.stdout.readline()
    check(line.startswith("[pid "), f"the first line: {line}")
    live.send_signal(signal.SIGINT)
    out = end(live, "interrupted")
    check(not out or out.endswith("\n"), f"the last line is cut: {out[-100:]}")
    interrupt(feed, "feed of locks-pipes")


def main():
    sandbox.begin(os.path.join(TRACES, "three-tier"))
    with Relayd("relayd") as relayd:
        test_same_as_recorded(relayd, "locks-pipes", "-n", "*", "--no-sync")
        test_same_as_recorded(relayd, "three-tier", "-n", "postgres", "-n", "apache2", "--no-sync", "-y")
        for name in ("lossy-overwrite", "lossy"):
            if unpack(name):
                test_same_as_recorded(relayd, name, "-n", "*", "--no-sync", status=(3,))
        test_parts_add_up(relayd)
        test_interrupt(relayd)
    failed = test_feed.failures
    print(f"{'not ok' if failed else 'ok'} {os.path.basename(sys.argv[0])}: {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
