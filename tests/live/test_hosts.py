#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Several live hosts: three at their own speed, attached before they start and in the middle; two with programs that
`record` traces; kernel and user space in one session; a relayd that misbehaves while the monitor reads another one."""
import collections
import contextlib
import glob
import json
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import time

import fake_relay
import sandbox
from fake_relay import Relay, Session
from test_feed import BUILD, PROGRAM, TRACES, Relayd, finish, hosts_of, trace_of, urls_of
from test_live import Report, check_same, recorded, recordings, wait_all
from recorder import SSH, expected

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "screens"))
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "source"))
import processes  # noqa: E402
from terminal import Checks, Terminal  # noqa: E402

APP = os.path.join(BUILD, "tests/live/ust_app")
EVENTS = "lttng_ust_trace*:*"


# ---- three hosts ----

def feed_each(relayd, path, name, *args):
    """Every host of a recording by a feed of its own, so that all start at once; the processes and the URLs."""
    feeds = [relayd.feed("--session", name, *args, directory) for directory in hosts_of(path).values()]
    return feeds, [urls_of(feed, 1)[0] for feed in feeds]


def test_three_hosts_from_the_begin(checks):
    path = recordings["three-tier"]
    with Relayd("relayd-begin") as relayd:
        feeds, urls = feed_each(relayd, path, "begin")
        report = Report("cpu", *urls)
        check_same(checks, "three hosts at their own speed: cpu", report.end(), recorded("cpu", path))
        for feed in feeds:
            finish(feed, 0, "feed")


def size_of(directory):
    return sum(os.path.getsize(os.path.join(of, name)) for of, _, names in os.walk(directory) for name in names)


def stop_midway(relayd, feeds):
    """(host, session) → (feed, bytes): each is stopped when the relayd has that much of it."""
    running = dict(feeds)

    def all_stopped():
        for (host, session), (feed, size) in list(running.items()):
            if sum(map(size_of, glob.glob(os.path.join(relayd.output, host, f"{session}*")))) >= size:
                feed.send_signal(signal.SIGSTOP)
                del running[host, session]
        return not running

    sandbox.wait_until(all_stopped, "the relayd has some of each")


def viewers(relayd):
    """How many are attached."""
    done = subprocess.run([PROGRAM, "list", "--json", f"net://127.0.0.1:{relayd.live}"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.count('"clients":1')


def test_three_hosts_in_the_middle(checks):
    """Fewer events of each are seen, and every one is correct."""
    path = recordings["three-tier"]
    tables = ("hosts", "cpus", "events")
    with Relayd("relayd-middle") as relayd:
        runs = [feed_each(relayd, path, f"middle-{table}", "--no-wait") for table in tables]
        feeds = [feed for of, _ in runs for feed in of]
        stop_midway(relayd, {(name, f"middle-{table}"): (feed, size_of(directory) // 5) for table, (of, _) in zip(tables, runs)
                             for feed, (name, directory) in zip(of, hosts_of(path).items())})
        reports = [Report(table, *urls) for table, (_, urls) in zip(tables, runs)]
        sandbox.wait_until(lambda: viewers(relayd) == len(feeds), "the reports are attached")
        for feed in feeds:
            feed.send_signal(signal.SIGCONT)
        done = [report.end() for report in reports]
        for feeds, _ in runs:
            for feed in feeds:
                finish(feed, 0, "feed")
    checks.equal("in the middle: status", [(status, err) for status, _, err in done], [(0, "")] * 3)
    hosts, cpus, events = ({(row["host"], row.get("cpu", row.get("name"))): row for row in report["rows"]}
                           for _, report, _ in done)
    all_hosts, all_events = ({(row["host"], row.get("name")): row for row in recorded(table, path)[1]["rows"]}
                             for table in ("hosts", "events"))
    checks.equal("in the middle: hosts", set(hosts), set(all_hosts))
    for key, row in hosts.items():
        whole = all_hosts[key]
        checks.check(f"in the middle: events of {key[0]}", 0 < row["events"] < whole["events"], row)
        checks.equal(f"in the middle: end of {key[0]}", row["end_ns"], whole["end_ns"])
    checks.equal("in the middle: CPUs", len(cpus), 6)
    for (host, cpu), row in cpus.items():
        checks.equal(f"in the middle: time of {host}'s CPU {cpu}", row["busy_ns"] + row["idle_ns"], row["online_ns"])
    checks.equal("in the middle: no event too many", [k for k, row in events.items() if row["count"] > all_events[k]["count"]],
                 [])


def events_of(page, host):
    return {row["name"]: row["count"] for row in page["rows"] if row["host"] == host}


def report_with_a_later_host(checks, name, paths, has_begun, *args):
    """Pages of a report on a relayd, which gets a second host after the report has begun with the first one."""
    with Relayd(f"relayd-{name}".replace(" ", "-")) as relayd:
        first = relayd.feed("--session", "first", paths[0])
        urls_of(first, 1)
        report = Report("events", *args, f"net://127.0.0.1:{relayd.live}")
        lines = has_begun(relayd, first, report)
        first.send_signal(signal.SIGSTOP)
        later = relayd.feed("--speed", "max", "--session", "later", paths[1])
        urls_of(later, 1)
        sandbox.wait_until(lambda: viewers(relayd) == 2, "the report reads both")
        first.send_signal(signal.SIGCONT)
        out, err = report.process.communicate(timeout=sandbox.PATIENCE)
        checks.equal(f"{name}: status", (report.process.returncode, err), (0, ""))
        for feed in (first, later):
            finish(feed, 0, "feed")
    return [json.loads(line) for line in lines + out.splitlines()]


def test_host_that_comes_later(checks):
    """A relayd stands for its sessions "now and later": also for those of a host that was not there when the report began.
    The clock of db is half a minute behind that of web."""
    paths = {host: hosts_of(recordings["three-tier"])[host] for host in ("web", "db")}

    def has_some(relayd, feed, _):
        stop_midway(relayd, {("web", "first"): (feed, size_of(paths["web"]) // 5)})
        return []

    report, = report_with_a_later_host(checks, "a later host", list(paths.values()), has_some)
    for host, path in paths.items():
        checks.equal(f"a later host: {host}", events_of(report, host), events_of(recorded("events", path)[1], host))
    pages = report_with_a_later_host(checks, "in intervals", list(reversed(paths.values())),
                                     lambda _, __, r: [r.process.stdout.readline()], "--interval", "1s")
    checks.equal("in intervals: not there at the start", pages[0]["hosts"], ["db"])
    checks.equal("in intervals: then it is", pages[-1]["hosts"], ["db", "web"])
    with_both = [page for page in pages if events_of(page, "web")]
    checks.check("in intervals: some", len(with_both) > 2, [page["hosts"] for page in pages])
    for page in pages:
        times = [f"--{edge}={page[edge + '_ns']}ns" for edge in ("begin", "end")]
        for host, path in paths.items():
            if events_of(page, host):
                checks.equal(f"in intervals: {host} from {page['begin_ns']}", events_of(page, host),
                             events_of(recorded("events", path, *times)[1], host))


def test_host_that_comes_again(checks):
    """All sessions of a host have ended, and it is not followed; while others run, a relayd may list another one of it."""
    paths = hosts_of(recordings["three-tier"])
    for part, edge in (("early", "--end"), ("late", "--begin")):
        subprocess.run([PROGRAM, "report", "slice", "-o", f"web-{part}", edge, "+4s", paths["web"]], check=True,
                       stdout=subprocess.DEVNULL)
    with Relayd("relayd-again") as relayd:
        first = relayd.feed("--session", "first", paths["db"])
        urls_of(first, 1)
        report = Report("events", "--stall-limit", "1s", f"net://127.0.0.1:{relayd.live}")
        stop_midway(relayd, {("db", "first"): (first, size_of(paths["db"]) // 5)})
        for part in ("early", "late"):
            feed = relayd.feed("--speed", "max", "--session", part, f"web-{part}")
            urls_of(feed, 1)
            finish(feed, 0, f"web's {part} session")
        first.send_signal(signal.SIGCONT)
        status, page, _ = report.end()
        finish(first, 0, "the other host")
    checks.equal("again: status", status, 0)
    checks.equal("again: hosts", page["hosts"], ["db", "web"])
    parts = [collections.Counter(events_of(recorded("events", f"web-{part}")[1], "web")) for part in ("early", "late")]
    checks.equal("again: events", events_of(page, "web"), dict(parts[0] + parts[1]))

# ---- programs ----

def counts_of(report):
    """host → event → count"""
    found = {}
    for row in report["rows"]:
        found.setdefault(row["host"], {})[row["name"]] = row["count"]
    return found


def test_two_hosts_with_programs(checks):
    """Two hosts (UTS namespaces) whose sessions `record --host` makes: a live report counts every event of both."""
    if os.geteuid() or subprocess.run(["unshare", "--uts", "true"], check=False, stderr=subprocess.DEVNULL).returncode:
        print("skip two hosts with programs: not root, or no UTS namespaces")
        return
    os.makedirs("bin")
    with open("bin/ssh", "w", encoding="ascii") as file:
        file.write(SSH.format(base=os.getcwd(), uid=sandbox.NOBODY))
    os.chmod("bin/ssh", 0o755)
    shutil.copy(APP, "ust_app")
    env = {**os.environ, "PATH": os.path.abspath("bin") + ":" + os.environ["PATH"]}
    runs = {"alpha": (20000, 30), "beta": (500,)}
    users = [sandbox.User(name) for name in (*runs, "relay")]
    try:
        (control, data, live), _ = users[-1].start_relayd()

        def record(*argv):
            done = subprocess.run([PROGRAM, "record", *argv, "--host", "alpha", "--host", "beta"], env=env, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
            checks.equal(f"record {argv[0]}: status", (done.returncode, done.stderr), (0, ""))
            return done.stdout

        out = record("--ust", EVENTS, "--live", f"net://127.0.0.1:{control}:{data}", "--live-port", str(live),
                     "--live-timer", "100ms", "--session", "s")
        url = re.search("^view it: lttngtop (.*)$", out, re.M).group(1)
        reports = [Report(table, f"{url}/host/{host}/s") for table, host in (("events", "alpha"), ("emitters", "beta"))]
        taken = f"{PROGRAM} list --json {url} | grep -o '\"clients\":1' | wc -l"
        sandbox.wait_until(lambda: subprocess.check_output(taken, shell=True).strip() == b"2", "two viewers")
        for host, counts in runs.items():
            for n in counts:
                subprocess.run(["ssh", host, shlex.join([os.path.abspath("ust_app"), str(n)])], env=env, check=True)
        record("stop", "s")
        (status, events, err), (_, emitters, _) = [report.end() for report in reports]
        checks.equal("two hosts with programs: status", (status, err), (0, ""))
        checks.equal("programs of alpha: every event", counts_of(events), {"alpha": expected(*runs["alpha"])})
        checks.equal("programs of beta: who emitted", [(r["host"], r["comm"], r["tid"] == r["pid"], r["events"])
                                                       for r in emitters["rows"]], [("beta", "ust_app", True, 750)])
    finally:
        for user in users:
            user.end()


def plain_metadata(trace):
    return subprocess.run(["babeltrace2", "--output-format=ctf-metadata", trace], stdout=subprocess.PIPE, text=True,
                          check=True).stdout


def clock_of(text):
    """uuid and offset of the only clock."""
    return re.search(r'clock \{.*?uuid = "?([0-9a-f-]+)"?;.*?\boffset = (\d+);', text, re.S).groups()


def record_programs(home, path, counts):
    """A recording of programs: its trace, and the number of events each emitted, by pid."""
    user = sandbox.User(home)
    app, program = user.bring(APP), user.bring(PROGRAM)
    script = "; ".join(f"{app} {n} & echo $! {n} >>{user.home}/pids; wait" for n in counts)
    try:
        user.start_sessiond(*(["--default-trace-format=ctf-1.8"] if sandbox.has_ctf2() else []))
        status, _, err = user.run(program, "record", "--ust", EVENTS, "--output", f"{user.home}/recording", "--", "sh", "-c", script)
        assert status == 0, err
    finally:
        user.end()
    shutil.copytree(trace_of(f"{user.home}/recording"), path)
    with open(f"{user.home}/pids", encoding="ascii") as file:
        return {int(pid): int(n) + int(n) // 2 for pid, n in (line.split() for line in file)}


def test_kernel_and_programs(checks):
    """As one live session: how much each program emitted, while the kernel's figures stay the same."""
    kernel = trace_of(recordings["kprobe"])
    shutil.copytree(kernel, "both/client/kernel")
    # as if they had run on that host while it was recorded: they must not have the IDs of its threads
    taken = {row["tid"] for row in recorded("cpu", recordings["kprobe"])[1]["rows"]}
    for attempt in range(20):
        shutil.rmtree("both/client/ust", ignore_errors=True)
        emitted = record_programs(f"programs-{attempt}", "both/client/ust/uid/65534/64-bit", (400, 30))
        if not taken & set(emitted):
            break
    theirs, text = plain_metadata(kernel), plain_metadata("both/client/ust/uid/65534/64-bit")
    begin_ns = recorded("hosts", recordings["kprobe"])[1]["begin_ns"]
    shift = begin_ns + 200000000 - recorded("hosts", "both/client/ust")[1]["begin_ns"]
    uuid, offset = clock_of(text)
    for old, new in ((uuid, clock_of(theirs)[0]), (f"offset = {offset};", f"offset = {int(offset) + shift};"),
                     *((re.search(rf"{key} = .*?;", text).group(0), re.search(rf"{key} = .*?;", theirs).group(0))
                       for key in ("hostname", "trace_name"))):
        checks.check(f"metadata: {old}", old in text)
        text = text.replace(old, new)
    with open("both/client/ust/uid/65534/64-bit/metadata", "w", encoding="utf-8") as file:
        file.write("/* CTF 1.8 */\n" + text)
    recorded_reports_of = {table: Report(table, "both").end() for table in ("hosts", "cpu", "emitters")}
    with Relayd("relayd-both") as relayd:
        for table, wanted in recorded_reports_of.items():
            feed = relayd.feed("--speed", "max", "--session", f"both-{table}", "both")
            report = Report(table, urls_of(feed, 1)[0])
            check_same(checks, f"kernel and programs: {table}", report.end(), wanted)
            finish(feed, 0, "feed")
    rows = recorded_reports_of["emitters"][1]["rows"]
    checks.equal("kernel and programs: who emitted", {r["tid"]: r["events"] for r in rows}, emitted)
    alone = recorded("cpu", recordings["kprobe"])[1]["rows"]
    checks.equal("kernel and programs: threads", recorded_reports_of["cpu"][1]["rows"], alone)
    checks.equal("kernel and programs: events", recorded_reports_of["hosts"][1]["rows"][0]["events"],
                 recorded("hosts", recordings["kprobe"])[1]["rows"][0]["events"] + sum(emitted.values()))


# ---- a relayd that misbehaves ----

class Steady(Relay):
    """After its packets its time advances without events for as long as a viewer asks."""

    def __init__(self, *sessions):
        super().__init__(*sessions)
        self.begun = time.monotonic()

    def attach(self, payload):
        self.sent_metadata.clear()
        for stream in self.session.streams:
            stream.next = 0
        return super().attach(payload)

    def at_end(self, stream):
        last = max(s.packets[-1][4] for s in self.session.streams)
        ns = last + int((time.monotonic() - self.begun) * 1e9)
        return self.index(fake_relay.INDEX_INACTIVE, packet=(0, 0, 0, 0, ns, 0, stream.class_id))

    def at_last_end(self):
        pass


class Fickle(Steady):
    """Answers commands as mode says; without one, correctly."""
    mode = None

    def next_index(self, payload):
        if self.mode == "hangs up":
            raise fake_relay.Hangup
        if self.mode == "garbage":
            return b"\xff" * 50000
        if self.mode == "silent":
            return None
        return super().next_index(payload)

    def attach(self, payload):
        if self.mode == "wrong length":
            return struct.pack(">2I", 1, 2 ** 32 - 1) + b"\0" * 100000
        return super().attach(payload)

    def get_metadata(self, payload):
        if self.mode == "endless metadata":
            return struct.pack(">QI", 2 ** 60, 1) + b"\0" * 100000
        return super().get_metadata(payload)

    def break_off(self):
        """Every attached viewer has to connect again."""
        for connection in self.connections:
            connection.close()


# the host's line about it
MISBEHAVIOUR = {
    "hangs up": "the relayd went away",
    "wrong length": "the relayd sent nonsense: 4294967295 streams",
    "endless metadata": "the relayd sent nonsense: 1152921504606846976 bytes of metadata",
    "garbage": "the relayd sent nonsense: status 4294967295 of an index",
    "silent": "the relayd does not answer for 9 s",
}
AT_THE_BEGIN = {"wrong length", "endless metadata"}  # only asked at the start


def workers(t):
    return processes.workers(t.program_pid())


def test_monitor_of_a_hostile_relayd(checks):
    """It reports what is wrong with that host, retries, and continues with the other one, read by the same worker.

    Both send only beacons after their recording, at whose end something runs: after two seconds they stand still."""
    there = r" +(0\[|no events since )"
    hosts = hosts_of(recordings["three-tier"])
    with contextlib.ExitStack() as stack:
        good = stack.enter_context(Steady(Session([trace_of(hosts["web"])])))
        bad = stack.enter_context(Fickle(Session([trace_of(hosts["client"])], host="client")))
        stack.enter_context(processes.one_cpu())
        t = stack.enter_context(Terminal("--stall-limit", "3s", good.url, bad.url, size=(120, 30), ready=None))
        wait_all(t, "^ web" + there, "^ client" + there)
        before = workers(t)
        checks.equal("hostile: one worker for both", len(before), 1)
        for mode, words in MISBEHAVIOUR.items():
            came = bad.commands.count(fake_relay.CONNECT)
            bad.mode = mode
            if mode in AT_THE_BEGIN:
                bad.break_off()
            checks.check(f"{mode}: why", t.wait(rf"^ client away since [0-9:]+: .*{words}"))
            sandbox.wait_until(lambda: bad.commands.count(fake_relay.CONNECT) > came + 1, f"{mode}: tried again")
            checks.check(f"{mode}: the other one continues", t.wait("^ web" + there))
            bad.mode = None
            bad.break_off()
            checks.check(f"{mode}: back again", t.wait("^ client" + there))
            checks.equal(f"{mode}: the same worker", workers(t), before)
        checks.equal("hostile: the other one was never attached again", good.commands.count(fake_relay.ATTACH), 1)
        t.keys("q")
        checks.equal("hostile: status", t.status(), 0)


def main():
    sandbox.begin(os.path.join(TRACES, "three-tier"))
    recordings.update((name, os.path.join(TRACES, name)) for name in sorted(os.listdir(TRACES)))
    tests = [test_three_hosts_from_the_begin, test_three_hosts_in_the_middle, test_host_that_comes_later, test_host_that_comes_again]
    if sandbox.has_ust():
        tests += [test_two_hosts_with_programs, test_kernel_and_programs]
    else:
        print("skip programs: built without lttng-ust")
    if shutil.which("tmux"):
        tests.append(test_monitor_of_a_hostile_relayd)
    else:
        print("skip the monitor of a hostile relayd: tmux is not installed")
    Checks().run(*tests)


if __name__ == "__main__":
    main()
