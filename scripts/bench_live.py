# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of scripts/bench that measure live sessions: `feed`, a relayd and the program on one machine.

They share its processors, so the whole chain is measured; on a machine with few processors its rates
are lower bounds. The row on memory takes LIVE_MINUTES (10).
"""
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TESTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests")
sys.path += [os.path.join(TESTS, "live"), os.path.join(TESTS, "source")]
import made  # noqa: E402
import sandbox  # noqa: E402

EVENTS_PER_S = 100000   # lowest rate at which CPU time and memory are measured
TIMER_MS = 200          # live timer, feed's default
PACED_S = 10            # length of a run; its first two seconds do not count
SHARE = 0.7             # of the chain's maximum: where the first attempt starts
GROWTH_MS, LATE_MS = 100, 1000  # a lag that grows by more, or keeps growing, means that the monitor cannot keep up
TRIES = 5
MINUTES = float(os.environ.get("LIVE_MINUTES", "10"))

WANTED = {
    "live_latency_worst": ("<=", TIMER_MS + 50),
    "live_rate_1_host": (">=", EVENTS_PER_S / 1000),
    "live_rate_2_hosts": (">=", EVENTS_PER_S / 1000),
    "live_rate_4_hosts": (">=", EVENTS_PER_S / 1000),
    "live_memory": ("<=", 150),
    "live_10_hosts_latency_worst": ("<=", TIMER_MS + 50),
    "live_100_hosts_memory": ("<=", 150),
    "live_100_hosts_cpu": ("<=", 15),
}

LIGHT_HOSTS = (1, 10, 100, 300)
LIGHT_RATE, LIGHT_CPUS, LIGHT_S = 100, 2, 40  # for each host: events/s, CPUs, length of its session
SETTLE_S, WATCH_S = 8, 15                     # minimum before it is measured, and for how long
ATTACH_S = 20                                 # at most, until all are attached
KEYS = 20


def kill(process):
    if process.poll() is None:
        process.kill()
    process.communicate()


class Chain:
    """A relayd of its own, and feeds of one recording as hosts h0, h1, …"""

    def __init__(self, bench, recording):
        self.bench, self.recording = bench, recording
        self.directory = tempfile.mkdtemp(prefix="lttngtop-bench-")
        os.chmod(self.directory, 0o755)
        self.user = sandbox.User(os.path.join(self.directory, "relayd"))
        (control, data, self.live), self.output = self.user.start_relayd()
        self.to = ["--to", f"net://127.0.0.1:{control}:{data}", "--live-port", str(self.live), "--live-timer", f"{TIMER_MS}ms"]
        self.feeds = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for feed in self.feeds:
            kill(feed)
        self.user.end()
        shutil.rmtree(self.directory, ignore_errors=True)

    def feed_all(self, n):
        """Feeds every host of the recording, each in a session of its own; returns their URLs."""
        feed = subprocess.Popen([self.bench.program, "feed", *self.to, "--now", "--session", "bench", self.recording],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.feeds.append(feed)
        return [feed.stdout.readline().strip() for _ in range(n)]

    def feed(self, speed, host=0):
        """Waits until the session exists; returns its URL."""
        feed = subprocess.Popen([self.bench.program, "feed", *self.to, "--now", "--speed", str(speed), "--hostname", f"h{host}",
                                 "--session", "bench", self.recording], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True)
        self.feeds.append(feed)
        return feed.stdout.readline().strip()

    def forget_stored(self, host):
        """What the relayd has written of that host's sessions, which have ended."""
        shutil.rmtree(os.path.join(self.output, host), ignore_errors=True)


class Run:
    """The measurements of one run of tests/bench/live_probe.c."""

    def __init__(self, text):
        self.lags_ms = [float(ms) for ms in re.findall(r"^second \d+ \d+ ([\d.]+)$", text, re.M)]
        values = re.search(r"^all (\d+) ([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+)$", text, re.M).groups()
        self.events = int(values[0])
        self.seconds, self.worst_ms, self.median_ms, self.cpu_s = map(float, values[1:])

    def rate(self):
        return self.events / self.seconds

    def keeps_up(self):
        lags = self.lags_ms[2:]
        first, second = lags[:len(lags) // 2], lags[len(lags) // 2:]
        return bool(first) and statistics.median(second) <= statistics.median(first) + GROWTH_MS and max(lags) <= LATE_MS


def probe_of(bench, urls, speed, seconds, batch):
    done = subprocess.run([os.path.join(bench.build, "tests/bench/live_probe"), str(seconds),
                           str(1 if speed == "max" else speed), str(batch), *urls], check=True, stdout=subprocess.PIPE,
                          text=True, env={**os.environ, "LTTNGTOP": bench.program})
    return Run(done.stdout)


def probe(bench, recording, hosts, speed, seconds, batch=1):
    with Chain(bench, recording) as chain:
        return probe_of(bench, [chain.feed(speed, host) for host in range(hosts)], speed, seconds, batch)


def latency(bench, recording):
    """From an event, by the session's clock, until it is part of the history's next interval."""
    if bench.wants("live_latency_worst", "live_latency_median"):
        run = probe(bench, recording, 1, 1, PACED_S)
        bench.row("live_latency_worst", run.worst_ms, f"ms, live timer {TIMER_MS} ms")
        bench.row("live_latency_median", run.median_ms, f"ms, live timer {TIMER_MS} ms")


def sustained(bench, recording, hosts, events, length_s):
    """The highest rate at which the lag did not grow, in events/s; limited so that the recording lasts for a run."""
    most = probe(bench, recording, hosts, "max", PACED_S, 256).rate()
    rate = min(SHARE * most, hosts * events / PACED_S)
    for _ in range(TRIES):
        run = probe(bench, recording, hosts, rate * length_s / (hosts * events), PACED_S - 1)
        if run.keeps_up():
            return run.rate()
        rate *= SHARE
    return 0


def rates(bench, recording, events, length_s):
    for hosts, name in ((1, "live_rate_1_host"), (2, "live_rate_2_hosts"), (4, "live_rate_4_hosts")):
        if bench.wants(name):
            bench.row(name, sustained(bench, recording, hosts, events, length_s) / 1000, "k events/s, lag steady")
    if bench.wants("live_cpu"):
        run = probe(bench, recording, hosts_for(events, length_s), 1, PACED_S)
        bench.row("live_cpu", run.cpu_s / run.events * 1e5, "CPU s per 100 k events")


def hosts_for(events, length_s):
    """Number of hosts that can be fed at their own speed: a
    faster one's clock would run ahead of the other sessions'."""
    return math.ceil(EVENTS_PER_S / (events / length_s))


def memory(bench, recording, events, length_s, limit_mb):
    """The monitor on sessions that start again when the recording is over."""
    if not bench.wants("live_memory", "live_memory_rate"):
        return
    hosts = range(hosts_for(events, length_s))
    with Chain(bench, recording) as chain:
        urls = [chain.feed(1, host) for host in hosts]
        begin = time.monotonic()
        since = [begin] * len(urls)
        fed_s = 0
        with bench.monitor_of("--history-size", f"{limit_mb}M", "--wait-memory", f"{limit_mb}M",
                              "--recall-memory", "0", *urls) as monitor:
            while time.monotonic() < begin + 60 * MINUTES:
                if monitor.read(0.2) is None:
                    raise RuntimeError("the monitor has ended")
                for host in hosts:
                    if chain.feeds[host].poll() is None:
                        continue
                    fed_s += length_s
                    chain.forget_stored(f"h{host}")
                    chain.feed(1, host)
                    chain.feeds[host] = chain.feeds.pop()
                    since[host] = time.monotonic()
            fed_s += sum(min(length_s, time.monotonic() - s) for s in since)
            bench.row("live_memory", monitor.held_bytes() / 1e6 - 2 * limit_mb,
                      f"MB beyond the limits, {MINUTES:g} min")
            bench.row("live_memory_rate", fed_s * events / length_s / (time.monotonic() - begin) / 1000, "k events/s meanwhile")


# ---- many light hosts ----

def make_light(directory, hosts):
    """A recording of that many hosts, on each of which two
    threads alternate on every CPU, LIGHT_RATE times a second."""
    step = 10**9 * LIGHT_CPUS // LIGHT_RATE
    for host in range(hosts):
        with made.Recording(os.path.join(directory, f"h{host:03}", "kernel"), host=f"h{host:03}") as recording:
            for cpu in range(LIGHT_CPUS):
                begin = 10**9 + (step * (host * LIGHT_CPUS + cpu)) // (hosts * LIGHT_CPUS)
                events = made.turns(begin, step, LIGHT_S * 10**9 // step, 10 + 2 * cpu, 11 + 2 * cpu)
                recording.packet(cpu, begin, events[-1][0], events)


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


class Usage:
    """CPU time of the monitor and of its workers since this was created, in % of a processor."""

    def __init__(self, monitor):
        self.monitor, self.begin = monitor, time.monotonic()
        self.before = {pid: cpu_ticks(pid) for pid in monitor.processes()}

    def parent_and_workers(self):
        scale = 100 / os.sysconf("SC_CLK_TCK") / (time.monotonic() - self.begin)
        used = {pid: (cpu_ticks(pid) - self.before.get(pid, 0)) * scale for pid in self.monitor.processes()}
        parent = used.pop(str(self.monitor.pid))
        return parent, sum(used.values())


def key_latency(monitor):
    """The median time from a key until something is drawn, in ms."""
    times = []
    for i in range(KEYS):
        while monitor.read(0.05):
            pass
        begin = time.monotonic()
        os.write(monitor.terminal, b"j" if i % 2 else b"k")
        monitor.read(1)
        times.append(time.monotonic() - begin)
    return 1000 * statistics.median(times)


def attached(monitor):
    """The sessions that its workers read: each has two sockets,
    a connection and its ring's; so has the worker itself."""
    sessions = 0
    for pid in monitor.processes()[1:]:
        links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
        sessions += sum(link.startswith("socket:") for link in links) // 2 - 1
    return sessions


def settle(monitor, hosts):
    begin = time.monotonic()
    while time.monotonic() < begin + SETTLE_S or attached(monitor) < hosts:
        monitor.read(0.2)
        if time.monotonic() > begin + ATTACH_S:
            raise RuntimeError(f"{attached(monitor)} of {hosts} sessions are attached after {ATTACH_S} s")


def light_monitor(bench, recording, hosts):
    with Chain(bench, recording) as chain:
        urls = chain.feed_all(hosts)
        with bench.monitor_of("--max-sessions", str(hosts), *urls) as monitor:
            settle(monitor, hosts)
            usage, end = Usage(monitor), time.monotonic() + WATCH_S
            while time.monotonic() < end:
                monitor.read(0.2)
            parent, workers = usage.parent_and_workers()
            row = f"live_{hosts}_hosts"
            bench.row(f"{row}_processes", len(monitor.processes()), "with the monitor")
            bench.row(f"{row}_memory", monitor.held_bytes() / 1e6, "MB, monitor and workers")
            bench.row(f"{row}_cpu", parent + workers, "% of a CPU, both")
            bench.row(f"{row}_cpu_parent", parent, "% of a CPU")
            bench.row(f"{row}_cpu_workers", workers, "% of a CPU")
            bench.row(f"{row}_key", key_latency(monitor), "ms from a key to the screen")


def light(bench):
    """The cost of many hosts that are nearly idle."""
    if sandbox.missing():
        return
    for hosts in LIGHT_HOSTS:
        row = f"live_{hosts}_hosts"
        figures = [f"{row}_{what}" for what in ("processes", "memory", "cpu", "cpu_parent", "cpu_workers", "key")]
        late = [f"{row}_latency_{what}" for what in ("worst", "median")]
        if not bench.wants(*figures, *late):
            continue
        with tempfile.TemporaryDirectory(prefix="lttngtop-bench-") as directory:
            make_light(directory, hosts)
            if bench.wants(*figures):
                light_monitor(bench, directory, hosts)
            if bench.wants(*late):
                with Chain(bench, directory) as chain:
                    run = probe_of(bench, chain.feed_all(hosts), 1, SETTLE_S + WATCH_S, 1)
                bench.row(late[0], run.worst_ms, f"ms, live timer {TIMER_MS} ms")
                bench.row(late[1], run.median_ms, f"ms, live timer {TIMER_MS} ms")


def rows(bench, recording, limit_mb):
    """limit_mb: what the history and the wait graph may each hold while memory is measured."""
    missing = sandbox.missing()
    if missing:
        print(f"{missing} is not installed: no figures of live sessions")
        return
    text = subprocess.run([bench.program, "report", "hosts", "--csv", "--no-sync", recording], check=True,
                          stdout=subprocess.PIPE, text=True).stdout.splitlines()
    row = dict(zip(text[0].split(","), text[1].split(",")))
    events, length_s = int(row["events"]), (int(row["end_ns"]) - int(row["begin_ns"])) / 1e9
    latency(bench, recording)
    rates(bench, recording, events, length_s)
    memory(bench, recording, events, length_s, limit_mb)
