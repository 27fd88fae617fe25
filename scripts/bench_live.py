# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of scripts/bench about live sessions: `feed`, a relayd and the program on one machine.

They share its processors: what is measured is the whole chain, and of a machine with few processors its rates are
bounds from below. LIVE_MINUTES (10) is how long the memory's row takes.
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

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "live"))
import sandbox  # noqa: E402

EVENTS_PER_S = 100000   # at least, at which CPU time and memory are measured
TIMER_MS = 200          # live timer, the default of feed
PACED_S = 10            # length of a run; its first two seconds do not count
SHARE = 0.7             # of what the chain does at most: where the first try begins
GROWTH_MS, LATE_MS = 100, 1000  # a lag that grows by more, or gets longer, is none that is kept up with
TRIES = 5
MINUTES = float(os.environ.get("LIVE_MINUTES", "10"))

WANTED = {
    "live_latency_worst": ("<=", TIMER_MS + 50),
    "live_rate_1_host": (">=", EVENTS_PER_S / 1000),
    "live_rate_2_hosts": (">=", EVENTS_PER_S / 1000),
    "live_rate_4_hosts": (">=", EVENTS_PER_S / 1000),
    "live_memory": ("<=", 150),
}


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

    def feed(self, speed, host=0):
        """Waits until the session is there; its URL."""
        feed = subprocess.Popen([self.bench.program, "feed", *self.to, "--now", "--speed", str(speed), "--hostname", f"h{host}",
                                 "--session", "bench", self.recording], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True)
        self.feeds.append(feed)
        return feed.stdout.readline().strip()

    def forget_stored(self, host):
        """What the relayd has written of that host's sessions, which have ended."""
        shutil.rmtree(os.path.join(self.output, host), ignore_errors=True)


class Run:
    """What tests/bench/live_probe.c saw of one."""

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


def probe(bench, recording, hosts, speed, seconds, batch=1):
    with Chain(bench, recording) as chain:
        urls = [chain.feed(speed, host) for host in range(hosts)]
        done = subprocess.run([os.path.join(bench.build, "tests/bench/live_probe"), str(seconds),
                               str(1 if speed == "max" else speed), str(batch), *urls], check=True, stdout=subprocess.PIPE,
                              text=True, env={**os.environ, "LTTNGTOP": bench.program})
        return Run(done.stdout)


def latency(bench, recording):
    """From an event, by the session's clock, until it is in what the history's next interval is made of."""
    if bench.wants("live_latency_worst", "live_latency_median"):
        run = probe(bench, recording, 1, 1, PACED_S)
        bench.row("live_latency_worst", run.worst_ms, f"ms, live timer {TIMER_MS} ms")
        bench.row("live_latency_median", run.median_ms, f"ms, live timer {TIMER_MS} ms")


def sustained(bench, recording, hosts, events, length_s):
    """The rate of a run whose lag did not grow, in events/s; at most what lets the recording last for the run."""
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
    """How many at their own speed: a faster one's clock would run ahead of those of the sessions behind it."""
    return math.ceil(EVENTS_PER_S / (events / length_s))


def memory(bench, recording, events, length_s, limit_mb):
    """The monitor on sessions that begin again whenever the recording is through."""
    if not bench.wants("live_memory", "live_memory_rate"):
        return
    hosts = range(hosts_for(events, length_s))
    with Chain(bench, recording) as chain:
        urls = [chain.feed(1, host) for host in hosts]
        begin = time.monotonic()
        since = [begin] * len(urls)
        fed_s = 0
        with bench.monitor_of("--history-size", f"{limit_mb}M", "--wait-memory", f"{limit_mb}M", *urls) as monitor:
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


def rows(bench, recording, limit_mb):
    """limit_mb: what history and wait graph may hold each while memory is measured."""
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
