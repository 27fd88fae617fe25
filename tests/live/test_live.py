#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Live sessions end to end: recordings fed into a real relayd, reports and the monitor attached to it, and
whatever may happen to the relayd and its sessions meanwhile."""
import collections
import concurrent.futures
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import cases
import sandbox
import test_feed
from test_feed import PROGRAM, TRACES, Relayd, Viewer, finish, hosts_of, interrupt, urls_of

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "screens"))
from terminal import ROOT, Checks, Failed, Terminal, unpack  # noqa: E402

TABLES = ("hosts", "events", "cpus", "cpu", "io", "files", "disks", "net", "syscalls", "sched", "irqs", "perf", "probes")
SHARED_TABLES = {"containers": ("containers", "cpu"), "lossy": ("hosts", "events", "cpu", "files", "syscalls"),
                 "rotated": ("hosts", "sched"), "snapshot": ("hosts", "events", "cpu"),
                 "lossy-overwrite": ("hosts", "events", "sched", "syscalls")}
# The thread of the session daemon that starts a session: it is in a call when the recording starts, until the
# state dump is complete. A reader of the recording looks ahead and sees the call's end; live, the time until
# then counts as user time.
STARTS_SESSIONS = "Client manageme"
# Where packets are lost, handlers may have ended in them. How much later data has arrived when the loss is reported
# differs from recordings, where the streams are complete: so does the time charged to a handler whose exit was lost.
LOST_MODES = {"lossy"}
# Live, the relayd's beacons say that time advances before the packet arrives that says what was lost meanwhile: until
# then, what ran at the last event before still runs, and what was ready is. A recording's reader looks ahead.
UNTIL_BEACON = {"cpu_ns", "ready_ns"}
# The data of a CPU whose older packets were overwritten begins later. Live, that is not known before: threads that are
# woken to it are ready until they are seen. A recording's reader looks ahead, and knows that they may run there unseen.
# The column that says more of such threads; no other figure of a thread differs but those that follow from it.
BEGINS_LATER = {"snapshot: cpu": "ready_ns", "lossy-overwrite: sched": "count"}
AT_ONCE = 4  # reports; they mostly wait
OF_THE_WAY = {"source", "late_events", "reason"}  # columns that depend on the way of reading
recordings = {}
recorded_reports = {}


class Report:
    """A report in JSON, in the background."""

    def __init__(self, table, *args):
        self.table = table
        self.process = subprocess.Popen([PROGRAM, "report", table, "--json", "--no-sync", *args], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end(self, seconds=sandbox.PATIENCE):
        """Status, the object, stderr."""
        try:
            out, err = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            raise Failed(f"report {self.table} does not end: {out[:500]}{err}") from None
        return self.process.returncode, json.loads(out) if out else None, err

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def recorded(table, path, *args):
    """The same from the recording; remembered."""
    key = (table, path, args)
    if key not in recorded_reports:
        recorded_reports[key] = Report(table, *args, path).end()
    return recorded_reports[key]


def of_the_way(row, modes_lost=False):
    """Columns that depend on how a report was read."""
    if modes_lost:
        return OF_THE_WAY | UNTIL_BEACON | {"user_ns", "system_ns", "interrupted_ns"}
    return OF_THE_WAY | {"user_ns", "system_ns"} if row.get("comm") == STARTS_SESSIONS else OF_THE_WAY


def check_modes(row):
    """Figures that are not compared add up to one that is."""
    if row.get("user_ns") is not None:
        assert row["user_ns"] + row["system_ns"] + row["interrupted_ns"] == row["cpu_ns"], row


def figures(report, modes_lost=False):
    """Everything that does not depend on how it was read."""
    rows = []
    for row in report["rows"]:
        check_modes(row)
        without = of_the_way(row, modes_lost)
        rows.append({k: v for k, v in row.items() if k not in without})
    return {**report, "rows": rows}


def differences(live, wanted, modes_lost=False):
    live, wanted = figures(live, modes_lost), figures(wanted, modes_lost)
    found = [f"{k}: {live[k]}, recorded {wanted[k]}" for k in wanted if k != "rows" and live[k] != wanted[k]]
    if len(live["rows"]) != len(wanted["rows"]):
        found.append(f"{len(live['rows'])} rows, recorded {len(wanted['rows'])}")
    found += [f"{a}\nrecorded {b}" for a, b in zip(live["rows"], wanted["rows"]) if a != b][:3]
    return "\n".join(found)


def check_until_beacons(checks, name, live, wanted, path):
    """What runs until a beacon runs within the time that is unknown in the recording."""
    cpus = recorded("cpus", path)[1]
    unknown_ns = len(cpus["rows"]) * (cpus["end_ns"] - cpus["begin_ns"]) - sum(row["online_ns"] for row in cpus["rows"])
    more = [(row["comm"], {k: row[k] - other[k] for k in UNTIL_BEACON}) for row, other in zip(live["rows"], wanted["rows"])]
    checks.check(f"{name}: no thread has less time", all(ns >= 0 for _, of in more for ns in of.values()), more)
    checks.check(f"{name}: CPU time", sum(of["cpu_ns"] for _, of in more) <= unknown_ns, (unknown_ns, more))
    checks.check(f"{name}: ready time", all(of["ready_ns"] <= unknown_ns for _, of in more), (unknown_ns, more))


def check_later(checks, name, live, wanted):
    """Live, nothing is missing, and threads have run as long as in the recording."""
    column = BEGINS_LATER[name]
    live, wanted = ({row["tid"]: row for row in report["rows"]} for report in (live, wanted))
    checks.check(f"{name}: every thread", set(live) >= set(wanted), (sorted(live), sorted(wanted)))
    more = {tid: (live[tid][column], row[column]) for tid, row in wanted.items() if tid in live}
    checks.check(f"{name}: no {column} is less", all(a >= b for a, b in more.values()), more)
    checks.check(f"{name}: something is more", len(live) > len(wanted) or any(a > b for a, b in more.values()), more)
    if column == "ready_ns":
        times = {tid: (row["cpu_ns"], wanted[tid]["cpu_ns"] if tid in wanted else 0) for tid, row in live.items()}
        checks.check(f"{name}: the same CPU time", all(a == b for a, b in times.values()), times)


def check_same(checks, name, live, wanted):
    """The live report ended like the one on the recording, with the same figures."""
    status, report, err = live
    checks.equal(f"{name}: status", (status, err), (wanted[0], wanted[2]))
    if name in BEGINS_LATER:
        check_later(checks, name, report, wanted[1])
    elif report:
        found = differences(report, wanted[1], name.split(":")[0] in LOST_MODES)
        checks.check(name, not found, found)


def babeltrace_counts(path):
    """Events by host and class as babeltrace2 reads them."""
    counts = {}
    for host, directory in hosts_of(path).items():
        viewer = Viewer(f"bt-{os.path.basename(path)}-{host}", directory)
        viewer.wait()
        counts[host] = {k.decode(): n for k, n in test_feed.classes(viewer.path).items()}
        os.remove(viewer.path)
    return counts


# ---- (a) nothing lost, no difference ----

def feed_and_report(relayd, table, name, path, *args):
    feed = relayd.feed("--speed", "max", "--session", f"{name}-{table}", path)
    report = Report(table, *args, *urls_of(feed, len(hosts_of(path))))
    try:
        done = report.end()
    finally:
        report.kill()
        finish(feed, 0, f"feed {name} {table}")
    return done


def test_same_as_recorded(checks):
    jobs = [(table, name, path) for name, path in recordings.items() if not cases.few() or name in cases.FEW
            for table in SHARED_TABLES.get(name, TABLES)]
    with Relayd("relayd") as relayd, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        done = pool.map(lambda job: feed_and_report(relayd, *job), jobs)
        for (table, name, path), live in zip(jobs, done):
            check_same(checks, f"{name}: {table}", live, recorded(table, path))
            if name in LOST_MODES and table == "cpu":
                check_until_beacons(checks, f"{name}: {table}", live[1], recorded(table, path)[1], path)
            if table == "events":
                counts = collections.defaultdict(dict)
                for row in live[1]["rows"]:
                    counts[row["host"]][row["name"]] = row["count"]
                checks.equal(f"{name}: events as babeltrace2 counts them", dict(counts), babeltrace_counts(path))


# ---- (b) several hosts at once ----

def test_three_hosts_at_once(checks):
    path = recordings["three-tier"]
    with Relayd("relayd-three") as relayd:
        for way in ("relayd", "sessions"):
            for table in ("hosts", "cpu"):
                feed = relayd.feed("--speed", "max", "--session", f"{way}-{table}", path)
                urls = urls_of(feed, 3)
                report = Report(table, *([f"net://127.0.0.1:{relayd.live}"] if way == "relayd" else urls))
                check_same(checks, f"three hosts by their {way}: {table}", report.end(), recorded(table, path))
                finish(feed, 0, "feed")
        feed = relayd.feed("--speed", "8", "--session", "paced", path)
        report = Report("events", *urls_of(feed, 3))
        check_same(checks, "three hosts, paced", report.end(), recorded("events", path))
        finish(feed, 0, "feed")


def stored_bytes(relayd):
    return sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(relayd.output) for f in files)


def served_bytes(relayd):
    """What it has read of its files, which it does for viewers alone."""
    with open(f"/proc/{relayd.process.pid}/io", encoding="ascii") as file:
        return int(re.search(r"^rchar: (\d+)", file.read(), re.M)[1])


def test_attached_in_the_middle(checks):
    """Fewer events are seen, all correct: no extra events, and all CPU time of the seen events is accounted for."""
    path = recordings["hotplug"]
    all_events = recorded("hosts", path)[1]["rows"][0]["events"]
    tables = ("hosts", "cpus")
    with Relayd("relayd-middle") as relayd:
        feeds = [relayd.feed("--speed", "2", "--no-wait", "--session", f"middle-{table}", path) for table in tables]
        urls = [urls_of(feed, 1)[0] for feed in feeds]
        sandbox.wait_until(lambda: stored_bytes(relayd) > 2000000, "events in the relayd")
        (hosts_status, hosts, _), (cpus_status, cpus, _) = [r.end() for r in [Report(*a) for a in zip(tables, urls)]]
        for feed in feeds:
            finish(feed, 0, "feed")
    checks.equal("in the middle: status", (hosts_status, cpus_status), (0, 0))
    host, = hosts["rows"]
    checks.check("in the middle: events", 0 < host["events"] < all_events and host["threads"] > 0, host)
    checks.equal("in the middle: CPUs", len(cpus["rows"]), 2)
    for row in cpus["rows"]:
        checks.equal(f"in the middle: time of CPU {row['cpu']}", row["busy_ns"] + row["idle_ns"], row["online_ns"])


# ---- (c) busy and idle ----

def wait_for_viewer(url):
    """Waits until a viewer is attached to the session."""
    relay = url.partition("/host/")[0]

    def is_taken():
        sessions = json.loads(subprocess.check_output([PROGRAM, "list", "--json", relay]))["sessions"]
        return any(session["taken"] for session in sessions if session["url"] == url)
    sandbox.wait_until(is_taken, f"a viewer of {url}")


def test_idle_host_holds_nobody_up(checks):
    """The idle one is a user-space session whose program has
    ended: only the relayd's beacons show that its time advances."""
    if not sandbox.has_ust():
        print("skip busy and idle: built without lttng-ust")
        return
    intervals = 6
    with sandbox.Tracers("idle") as idle, Relayd("relayd-busy") as relayd:
        idle.start_live()
        feed = relayd.feed("--speed", "1", "--now", "--session", "busy", recordings["hotplug"])
        url, = urls_of(feed, 1)
        # if it held up the others, it would not be skipped while this test waits
        process = subprocess.Popen([PROGRAM, "report", "hosts", "--csv", "--interval", "500ms", "--stall-limit", "1h", url,
                                    idle.url()], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        too_late = threading.Timer(sandbox.PATIENCE * 2, process.kill)
        too_late.start()
        try:
            wait_for_viewer(idle.url())
            idle.trace(1)
            came = 0
            header = process.stdout.readline().strip().split(",")
            while came < intervals and (line := process.stdout.readline()):
                came += dict(zip(header, line.strip().split(",")))["host"] == "db"
            checks.equal("busy and idle: intervals come", came, intervals)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=sandbox.PATIENCE)
            checks.equal("busy and idle: interrupted", (process.returncode, err), (0, ""))
        finally:
            too_late.cancel()
            if process.poll() is None:
                process.kill()
            interrupt(feed, "feed")


# ---- (d) relayds that stop, die and come back ----

def test_stopped_relayd(checks):
    """Stopped for a while: nothing is lost."""
    path = recordings["kprobe"]
    with Relayd("relayd-stopped") as relayd:
        feed = relayd.feed("--speed", "1", "--session", "stopped", path)
        report = Report("cpu", *urls_of(feed, 1))
        sandbox.wait_until(lambda: stored_bytes(relayd) > 100000, "events in the relayd")
        relayd.process.send_signal(signal.SIGSTOP)
        sandbox.wait_until_it_keeps_waiting(relayd.live)
        relayd.process.send_signal(signal.SIGCONT)
        check_same(checks, "relayd stopped", report.end(), recorded("cpu", path))
        finish(feed, 0, "feed")


def test_killed_relayd(checks):
    """The data read so far is printed, with a note that it is incomplete; the other relayd's host is complete."""
    killed_path, other_path = recordings["hotplug"], hosts_of(recordings["three-tier"])["web"]
    with Relayd("relayd-killed") as killed, Relayd("relayd-other") as other:
        feeds = [killed.feed("--speed", "2", "--session", "killed", killed_path),
                 other.feed("--speed", "4", "--session", "other", other_path)]
        report = Report("hosts", *(urls_of(feed, 1)[0] for feed in feeds))
        sandbox.wait_until(lambda: served_bytes(killed) > 3000000, "packets that were given to the viewer")
        killed.process.kill()
        status, figures_read, err = report.end()
        feeds[0].communicate(timeout=sandbox.PATIENCE)
        finish(feeds[1], 0, "feed")
    rows = {row["host"]: row for row in figures_read["rows"]}
    checks.equal("relayd killed: status", status, 3)
    checks.check("relayd killed: why", "relayd went away" in err and "/host/db/killed" in err, err)
    checks.check("relayd killed: what was read",
                 0 < rows["db"]["events"] < recorded("hosts", killed_path)[1]["rows"][0]["events"], rows["db"])
    wanted, = recorded("hosts", other_path)[1]["rows"]
    checks.equal("relayd killed: the other host", rows["web"]["events"], wanted["events"])


# ---- messages when there is nothing to read ----

def test_refusals(checks):
    with Relayd("refusing") as relayd:
        url = f"net://127.0.0.1:{relayd.live}"
        status, _, err = Report("hosts", url).end()
        checks.check("no session", status == 1 and f"{url}: no live session found" in err, err)
        for sources in ((url, recordings["hotplug"]), (recordings["hotplug"], url, url)):
            status, report, err = Report("hosts", *sources).end()
            checks.equal("no session beside a recording: status", status, 3)
            checks.equal("no session beside a recording: hosts", [row["host"] for row in report["rows"]], ["db"])
            checks.equal("no session beside a recording: said once", err.count(f"{url}: no live session found\n"), 1)
        status, _, err = Report("hosts", f"{url}/host/web/none").end()
        checks.check("no such session", status == 1 and "no such session" in err, err)
        feed = relayd.feed("--session", "taken", recordings["hotplug"])
        taken, = urls_of(feed, 1)
        viewer = Report("hosts", "--interval", "200ms", taken)
        wait_for_viewer(taken)
        status, _, err = Report("hosts", taken).end()
        checks.check("taken", status == 1 and "taken by another viewer" in err, err)
        status, _, err = Report("hosts", url, recordings["kprobe"]).end()
        checks.check("taken, beside a recording", status == 3 and "no live session" not in err, err)
        other = relayd.feed("--speed", "max", "--session", "free", recordings["kprobe"])
        urls_of(other, 1)
        status, report, err = Report("hosts", url).end()
        checks.check("one of two taken", status == 3 and "another viewer" in err and len(report["rows"]) == 1, (report, err))
        finish(other, 0, "feed")
        intervals = (json.loads(line) for line in viewer.process.stdout)
        checks.check("it has read", any(row["events"] for interval in intervals for row in interval["rows"]))
        viewer.process.send_signal(signal.SIGINT)
        viewer.process.stdout.read()
        checks.equal("interrupted", (viewer.process.wait(sandbox.PATIENCE), viewer.process.stderr.read()), (0, ""))
        interrupt(feed, "feed")


# ---- the monitor ----

def wait_all(t, *patterns):
    """Waits until the screen shows all of them at once."""
    return t.wait_for(lambda text: all(re.search(p, text, re.M) for p in patterns), patterns)


def interval_of(screen):
    return screen[0].split("[", 1)[-1].split("[")[0]


def wait_intervals(t, n):
    """Waits until this many more intervals have been shown."""
    for _ in range(n):
        shown = interval_of(t.sync())
        t.wait_for(lambda text, shown=shown: interval_of(text.split("\n")) != shown, "the next interval")


def written(t, name):
    """The file that the monitor's list is written to."""
    path = os.path.join(os.getcwd(), name)
    t.keys("x")
    t.wait("^Write to")
    t.keys("C-u").text(path).keys("Enter")
    t.wait(r"^\d+ rows? of cpu written to")
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def busy_threads(page, host):
    return {row["tid"]: (row["comm"], row["cpu_ns"], row["switches"]) for row in page["rows"]
            if row["host"] == host and row["cpu_ns"]}


def check_interval(checks, t, name, host, stored, back=1):
    """Some intervals before the shown one: CPU time of each thread is that of the trace the relayd stored.

    That trace may still grow. If it ends with a switch to migration/N, only the CPU's next event shows whether the
    CPU was offline, and the time until then counts for the thread."""
    t.keys(*["Left"] * back)
    t.sync()
    t.wait(r"^ LIVE PAUSED")
    page = written(t, f"{name.replace(' ', '-')}.json")
    shown = busy_threads(page, host)
    deadline = time.monotonic() + sandbox.PATIENCE
    while True:
        _, report, _ = Report("cpu", "--begin", str(page["begin_ns"]), "--end", str(page["end_ns"]), stored).end()
        wanted = busy_threads(report, host)
        if wanted == shown or time.monotonic() > deadline:
            break
        time.sleep(0.5)
    checks.check(f"{name}: there are threads", len(wanted) > 3, report)
    checks.equal(f"{name}: figures", shown, wanted)
    t.keys(")")


def stored_trace(relayd, host, session):
    """The latest one with that name."""
    directory = os.path.join(relayd.output, host)
    return max((os.path.join(directory, d) for d in os.listdir(directory) if d.startswith(session)), key=os.path.getctime)


def restart(relayd):
    ports = zip(("control", "data", "live"), (relayd.control, relayd.data, relayd.live))
    relayd.process = relayd.user.start("lttng-relayd", *[f"--{name}-port=tcp://127.0.0.1:{port}" for name, port in ports],
                                       "--output", relayd.output, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_monitor_of_a_relayd_that_dies(checks):
    """Its host is marked as away, with the reason; nothing else changes. It returns after a gap."""
    db, web = recordings["hotplug"], hosts_of(recordings["three-tier"])["web"]
    with Relayd("monitor-dies") as dies, Relayd("monitor-lives") as lives:
        feeds = [dies.feed("--now", "--session", "s-db", db), lives.feed("--now", "--session", "s-web", web)]
        with Terminal(*(urls_of(feed, 1)[0] for feed in feeds), size=(120, 30), ready=None) as t:
            wait_all(t, r"^ db +0\[", r"^ web +0\[")
            wait_intervals(t, 2)
            dies.process.kill()
            wait_all(t, r"^ db +away since [0-9:]+: \S", r"^ web +0\[")
            checks.check("relayd killed: why, and the other host continues",
                         wait_all(t, r"^ db .*cannot connect: Connection refused", r"^ web +0\[", r"^ LIVE .* (1 of 2 hosts|1/2) "))
            feeds[0].communicate(timeout=sandbox.PATIENCE)
            wait_intervals(t, 2)
            check_interval(checks, t, "the other host meanwhile", "web", stored_trace(lives, "web", "s-web"))
            restart(dies)
            t.wait(r"^ db .*no such session")
            feeds[0] = dies.feed("--now", "--session", "s-db", db)
            urls_of(feeds[0], 1)
            checks.check("relayd restarted: the host is back", t.wait(r"^ db +0\[██"))
            finish(feeds[1], 0, "feed of web")
            checks.check("the other one ended", t.wait(r"^ web +session ended at [0-9:]+; waiting"))
            wait_intervals(t, 3)
            check_interval(checks, t, "the host that is back", "db", stored_trace(dies, "db", "s-db"))
            t.keys("q")
            checks.equal("monitor: status", t.status(), 0)
        interrupt(feeds[0], "feed of db")


def test_monitor_of_a_relayd_that_stops(checks):
    """Slightly past the stall limit: its host is skipped, the other one continues; nothing is lost."""
    db, web = recordings["hotplug"], hosts_of(recordings["three-tier"])["web"]
    with Relayd("monitor-stops") as stops, Relayd("monitor-goes-on") as other:
        feeds = [stops.feed("--now", "--session", "s-db", db), other.feed("--now", "--session", "s-web", web)]
        with Terminal("--stall-limit", "1s", *(urls_of(feed, 1)[0] for feed in feeds), size=(120, 30), ready=None) as t:
            wait_all(t, r"^ db +0\[", r"^ web +0\[")
            wait_intervals(t, 2)
            stops.process.send_signal(signal.SIGSTOP)
            checks.check("relayd stopped: silent", wait_all(t, r"^ db +silent since", r"^ web +0\[", r"^ LIVE .* (1 of 2 hosts|1/2) "))
            stops.process.send_signal(signal.SIGCONT)
            checks.check("relayd continues: back", wait_all(t, r"^ db +0\[", r"^ LIVE .*  2 hosts"))
            finish(feeds[1], 0, "feed of web")
            for back in (1, 3, 5):
                check_interval(checks, t, f"after a stop, {back} back", "db", stored_trace(stops, "db", "s-db"), back)
            t.keys("q")
            checks.equal("stopped: status", t.status(), 0)
        interrupt(feeds[0], "feed of db")


def test_monitor_of_a_session_recreated(checks):
    with Relayd("recreated") as relayd:
        with Terminal(f"net://127.0.0.1:{relayd.live}", size=(120, 30), ready=None) as t:
            for turn in ("first", "second"):
                feed = relayd.feed("--now", "--session", "again", recordings["kprobe"])
                urls_of(feed, 1)
                checks.check(f"a session for the {turn} time", t.wait(r"^ client +0\["))
                finish(feed, 0, "feed")
                checks.check(f"its end, the {turn} time", t.wait(r"^ client +session ended at [0-9:]+; waiting"))
            t.keys("q")
            checks.equal("recreated: status", t.status(), 0)


def test_demo(checks):
    """One command, which goes on until it is ended, and leaves nothing behind."""
    script = os.path.join(ROOT, "scripts/demo-live")
    with Terminal(script, PROGRAM, recordings["three-tier"], program="bash", env={"TMPDIR": os.getcwd()}, ready=None) as t:
        checks.check("demo: live", t.wait(r"^ LIVE .* ev/s"))
        children = subprocess.run(["pgrep", "-a", "-P", str(t.program_pid())], stdout=subprocess.PIPE, text=True, check=True)
        port = int(re.search(r"--live-port tcp://127.0.0.1:(\d+)", children.stdout).group(1))
        t.keys("L").wait("Messages")
        sandbox.wait_until(lambda: re.search("(client|db|web): the session has ended", "\n".join(t.keys("End").screen())), "an end")
        checks.check("demo: live again", t.keys("Escape").wait(r"^ LIVE .*  3 hosts"))
        t.keys("q")
        checks.equal("demo: status", (t.status(), t.stderr()), (0, ""))
    with socket.socket() as s:
        checks.check("demo: the relayd has ended", s.connect_ex(("127.0.0.1", port)) != 0)
    feeds = subprocess.run(["pgrep", "-f", f"feed .*--live-port {port} "], stdout=subprocess.PIPE, text=True, check=False).stdout
    checks.equal("demo: so have the feeds", feeds, "")
    checks.check("demo: its files are gone", not [n for n in os.listdir(".") if n.startswith("lttngtop-demo")])


def without_sidecar(path):
    """The recording, as a copy where it has an lttngtop.json: feed streams traces only, so live rows have no names."""
    if not glob.glob(os.path.join(path, "**", "lttngtop.json"), recursive=True):
        return path
    return shutil.copytree(path, os.path.basename(path), ignore=shutil.ignore_patterns("lttngtop.json"))


def main():
    sandbox.begin(os.path.join(TRACES, "three-tier"))
    # relayds before 2.15 refuse CTF 2: test_feed.py
    recordings.update((name, without_sidecar(os.path.join(TRACES, name))) for name in sorted(os.listdir(TRACES))
                      if not name.startswith("ctf2-"))
    for name in SHARED_TABLES:
        path = unpack(name)
        if path:
            recordings[name] = path
        else:
            print(f"skip the recording {name}: it is not there")
    tests = [f for n, f in sorted(globals().items()) if n.startswith("test_") and callable(f)]
    if not shutil.which("tmux"):
        print("skip the monitor on live sessions: tmux is not installed")
        tests = [f for f in tests if "Terminal" not in f.__code__.co_names]
    Checks().run(*tests)


if __name__ == "__main__":
    main()
