#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Three machines in a live monitor for a long time: its memory does not grow, and the CPU time it needs is printed.

LTTNGTOP_SOAK gives the seconds, at least 600; without it the test is skipped. For two thirds of the time processes come
and go on all of them, then they are idle. The monitor's data has small limits, which are reached soon under load, but at
rest only after an hour: so the load comes first. The first half of each part is a warm-up, after which memory must not
grow.
"""
import contextlib
import os
import re
import sys
import time

import guest
import relay

sys.path.append(os.path.join(guest.HERE, "..", "source"))
import processes  # noqa: E402

SECONDS = int(os.environ.get("LTTNGTOP_SOAK", "0"))
SHORTEST = 600
LIMIT_MIB = {"--history-size": 1, "--wait-memory": 4, "--model-memory": 8}
BASE_MIB = 24      # the monitor's memory beside that: libraries, names, the screen
WORKER_MIB = 32    # a worker, whatever it reads
GROWTH_MIB = 2     # what an allocator may add after the warm-up …
GROWTH_SHARE = 0.05  # … or this share, if that is more
SAMPLE_S = 2
LOAD = "i=0; while :; do i=$((i+1)); /bin/cat /proc/self/stat >/tmp/f$((i%50)); /bin/true; sleep 0.05; done"
HOSTS = ({"name": "client", "address": "10.77.0.11"}, {"name": "web", "address": "10.77.0.12"},
         {"name": "db", "address": "10.77.0.13"})


def anonymous_mib(pid):
    """Memory that belongs to the process alone: not a file's, not a ring's."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return int(re.search(r"^RssAnon:\s*(\d+) kB", status.read(), re.M)[1]) / 1024


def cpu_s(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def events_per_s(header):
    """As the monitor's first line says."""
    number, unit = re.search(r" ([\d.]+)([kM]?) ev/s", header).groups()
    return float(number) * {"": 1, "k": 1e3, "M": 1e6}[unit]


def growth(samples):
    """How much a straight line through the samples, (seconds, MiB), rises from the first to the last of them."""
    n = len(samples)
    t_mean, y_mean = sum(t for t, _ in samples) / n, sum(y for _, y in samples) / n
    square = sum((t - t_mean) ** 2 for t, _ in samples)
    return sum((t - t_mean) * (y - y_mean) for t, y in samples) / square * (samples[-1][0] - samples[0][0])


def judge(what, samples):
    """After the warm-up; returns what is wrong, "" if nothing is."""
    steady = samples[len(samples) // 2:]
    rise, level = growth(steady), max(mib for _, mib in steady)
    print(f"# {what}: {samples[0][1]:.1f} MiB at first, {steady[0][1]:.1f} after {steady[0][0] - samples[0][0]:.0f} s, "
          f"{steady[-1][1]:.1f} after {steady[-1][0] - samples[0][0]:.0f} s: {rise:+.2f} MiB", flush=True)
    if rise > max(GROWTH_MIB, GROWTH_SHARE * level):
        return f"{what}: grows by {rise:.2f} MiB in {steady[-1][0] - steady[0][0]:.0f} s; "
    return ""


class Watched:
    """The monitor and its workers."""

    def __init__(self, terminal):
        self.terminal, self.parent = terminal, terminal.program_pid()
        self.workers = processes.workers(self.parent)

    def cpu(self):
        return cpu_s(self.parent), sum(map(cpu_s, self.workers))

    def watch(self, what, seconds):
        """Watches them for that long; returns what is wrong with their memory."""
        parent, workers, rates = [], [], []
        start, before = time.monotonic(), self.cpu()
        while time.monotonic() < start + seconds:
            t = time.monotonic()
            parent.append((t, anonymous_mib(self.parent)))
            workers.append((t, sum(map(anonymous_mib, self.workers))))
            rates.append(events_per_s(self.terminal.screen()[0]))
            time.sleep(SAMPLE_S)
        assert processes.workers(self.parent) == self.workers, "a worker was started again"
        took = time.monotonic() - start
        used = [100 * (after - earlier) / took for earlier, after in zip(before, self.cpu())]
        print(f"# {what}: {sum(rates) / len(rates):.0f} events/s, the monitor used {used[0]:.1f} % of a CPU, its workers "
              f"{used[1]:.1f} %, in {took:.0f} s", flush=True)
        wrong = judge(f"{what}: the monitor", parent) + judge(f"{what}: its workers", workers)
        for name, samples, most in (("the monitor", parent, sum(LIMIT_MIB.values()) + BASE_MIB),
                                    ("its workers", workers, WORKER_MIB * len(self.workers))):
            if samples[-1][1] > most:
                wrong += f"{what}: {name}: {samples[-1][1]:.1f} MiB, more than {most}; "
        return wrong


@guest.booted(*HOSTS)
def test_soak(*guests):
    """Memory after the warm-up, under load and idle."""
    assert SECONDS >= SHORTEST, f"LTTNGTOP_SOAK is {SECONDS}, it takes {SHORTEST} at least"
    options = [word for name, mib in LIMIT_MIB.items() for word in (name, f"{mib}M")]
    with contextlib.ExitStack() as stack:
        relayd = stack.enter_context(relay.Relayd(*guests))
        for g in guests:
            g.sh(f"lttngtop record --set waits --session s {relayd.options}")
        t = stack.enter_context(guest.terminal.Terminal(*options, "--no-cache", relayd.url, size=(200, 40)))
        for g in guests:
            t.wait(rf"^ {g.name} .* tasks +[1-9]", guest.PATIENCE)
        watched = Watched(t)
        loads = [g.start(LOAD) for g in guests]
        for load in loads:
            stack.callback(load.kill)
        wrong = watched.watch("under load", SECONDS * 2 / 3)
        for load in loads:
            load.kill()
        wrong += watched.watch("at rest", SECONDS / 3)
        for g in guests:
            assert re.search(rf"^ {g.name} .* tasks +[1-9]", "\n".join(t.screen()), re.M), t.screen()
        t.keys("q")
        t.wait("ENDED", guest.PATIENCE)
    assert not wrong, wrong


if __name__ == "__main__":
    if not SECONDS:
        print("skip soak: LTTNGTOP_SOAK, for how many seconds, is not set")
        sys.exit(77)
    guest.main(globals())
