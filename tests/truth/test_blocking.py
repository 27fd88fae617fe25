#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits against the log that the waiting threads wrote themselves.

A thread notes the time before and after a call that may wait. The blocked part of it, from switch-out to wake-up, is
the time the table counts; the rest is the way into the call and, after the wake-up, onto the CPU and out of the call.
"""

import collections
import glob
import json
import os

import harness
import truth

STEP_NS = 500_000

# A wait in the log: the calls it consists of, the state of such a wait, whether its waker's name must show.
KINDS = {
    "futex-mutex": ({"futex"}, {"blocked"}, False),  # the log has the holder at the start, not the last one
    "futex-cond": ({"futex"}, {"blocked"}, True),
    "futex-sem": ({"futex"}, {"blocked"}, True),
    "futex-pi": ({"futex"}, {"blocked"}, True),
    "futex-timeout": ({"futex"}, {"timer"}, False),
    "join": ({"futex"}, {"blocked"}, False),
    "pipe-read": ({"read"}, {"blocked"}, True),
    "pipe-write": ({"write"}, {"blocked"}, True),
    "unix-read": ({"read"}, {"blocked"}, True),
    "waitpid": ({"wait4"}, {"blocked"}, True),
    "waitpid-many": ({"wait4"}, {"blocked"}, True),
    "nanosleep": ({"clock_nanosleep"}, {"timer"}, False),
    "hold-sleep": ({"clock_nanosleep"}, {"timer"}, False),
    "poll-timeout": ({"poll"}, {"timer"}, False),
    "timerfd-read": ({"read"}, {"timer"}, False),
    "epoll-timeout": ({"epoll_wait"}, {"timer"}, False),
    "select-timeout": ({"pselect6"}, {"timer"}, False),
    "eventfd-poll": ({"poll"}, {"blocked"}, True),
    "sigsuspend": ({"rt_sigsuspend"}, {"blocked"}, True),
    "sigwait": ({"rt_sigtimedwait"}, {"blocked"}, True),
    "sigwait-posixtimer": ({"rt_sigtimedwait"}, {"timer"}, False),
    "flock": ({"flock"}, {"blocked"}, True),
}
NOT_WAITS = {"whole-run", "burn"}
WITH_FD = {"pipe-read", "pipe-write", "unix-read", "timerfd-read", "flock"}

# A call that found its data did not sleep. The shortest real wait of the log is longer.
INSTANT_NS = 250_000

# The part of a logged wait that is not blocked: entering the call, each event recorded there, the way back to the CPU.
AROUND_NS = 1_800_000

# Longer ones, by kind, thread and number of the wait: (cause, time not blocked, in us).
LONGER = {
    ("futex-pi", 3742, 0): ("spins", 10190),
    ("futex-pi", 3742, 1): ("late", 4501),
    ("pipe-write", 3702, 2): ("slow", 2217),
    ("eventfd-poll", 3725, 0): ("slow", 3026),
}
CAUSES = {
    "spins": "the mutex' holder ran on the other CPU: the kernel spins for it and does not put the thread to sleep",
    "late": "woken, it waited for its CPU, which another thread had for 3.8 ms",
    "slow": "back on the CPU it took that long to leave the call: the guest's own CPU was away",
}
LOSSY = {"lossy", "lossy-overwrite"}

Wait = collections.namedtuple("Wait", "begin end tid state syscall fd total cause count")


def waits_of(path, offset):
    """The waits of every thread by tid: those that ended in each step, in monotonic time."""
    found = collections.defaultdict(list)
    pages = harness.run("blocking", "--interval", f"{STEP_NS}ns", "--comm", "lp*", path)
    for page in pages:
        for row in page.rows:
            found[row["tid"]].append(Wait(page.begin - offset, page.end - offset, row["tid"], row["state"],
                                          row["syscall"], row["fd"], row["total_ns"], row["cause"], row["count"]))
    return found




def check_log(checks, path, truth_dir):
    offset = truth.clock_offset_ns(truth.trace_dirs(path)[0])
    found = waits_of(path, offset)
    names = {row["tid"]: row["comm"] for row in harness.report("cpu", path).rows}
    numbers, unused = collections.Counter(), set(LONGER)
    for log in sorted(glob.glob(os.path.join(truth_dir, "web", "lp-*.jsonl"))):
        for line in open(log, encoding="utf-8"):
            entry = json.loads(line)
            what, tid = entry["what"], entry["tid"]
            if what in NOT_WAITS:
                continue
            calls, states, named = KINDS[what]
            begin, end = entry["begin_mono"], entry["end_mono"]
            mine = [w for w in found[tid] if begin < w.end and w.begin < end and w.syscall in calls and w.state in states]
            key = (what, tid, numbers[what, tid])
            numbers[what, tid] += 1
            rest = end - begin - sum(w.total for w in mine)
            text = f"{what} of {tid} at {begin}"
            if key in LONGER:
                unused.discard(key)
                checks.equal(rest // 1000, LONGER[key][1], f"{text}: us not blocked ({LONGER[key][0]})")
            else:
                checks.true(mine or end - begin < INSTANT_NS, f"{text}: no wait found")
                checks.true(0 <= rest <= AROUND_NS, f"{text}: {rest} of {end - begin} ns are not blocked")
            for wait in mine:
                checks.equal(wait.fd is not None, what in WITH_FD, f"{text}: has fd {wait.fd}")
                if named and entry["waker"]:
                    checks.equal(wait.cause, names[entry["waker"]], f"{text}: who ended it")
    for key in sorted(unused):
        checks.fail(f"no such wait any more: {key}")
    for cause, _ in LONGER.values():
        checks.true(cause in CAUSES, f"cause {cause} is not explained")


def ready_when_blocked(path):
    """What table cpu counts as blocked though it is none: threads woken as they were switched out wait for a CPU."""
    left = {(r["tid"], r["begin_ns"] + r["length_ns"]) for r in harness.report("sched", "--log", "--of", "slice", path).rows
            if r["cause"] == "blocked"}
    found = collections.Counter()
    for r in harness.report("sched", "--log", path).rows:
        if (r["tid"], r["begin_ns"]) in left:
            found[r["tid"]] += r["length_ns"]
    return found


def check_sums(checks, name, host, path):
    """A thread whose whole life is in the recording was blocked as long as its waits took; intervals add up."""
    waited, early = collections.Counter(), ready_when_blocked(path)
    for row in harness.report("blocking", path).rows:
        waited[row["tid"]] += row["total_ns"]
    lives = collections.Counter(row["tid"] for row in harness.report("cpu", path).rows)
    for row in harness.report("cpu", path).rows:
        if row["born_ns"] and row["exited_ns"] and lives[row["tid"]] == 1:
            checks.equal(waited[row["tid"]] + early[row["tid"]], row["blocked_ns"], f"{name}/{host}: waits of {row['tid']} {row['comm']}")
    parts = collections.Counter()
    for page in harness.run("blocking", "--interval", "500ms", path):
        for row in page.rows:
            parts[row["tid"]] += row["total_ns"]
    checks.equal(parts, waited, f"{name}/{host}: sum over intervals")


def main():
    harness.need_program()
    harness.need("babeltrace2")
    checks = harness.Checks()
    for name, directory, truth_dir in harness.recordings(also={"locks-pipes"}):
        if name in LOSSY or name == "large":
            continue
        if name == "locks-pipes":
            check_log(checks, os.path.join(directory, "web"), truth_dir)
        for host in harness.hosts(directory):
            check_sums(checks, name, host, os.path.join(directory, host))
    checks.finish()


if __name__ == "__main__":
    main()
