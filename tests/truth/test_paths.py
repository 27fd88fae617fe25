#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Critical paths and accounting against the logs of the recorded programs: how long they ran, which of them
waited for which, how long a server worked on which request.
"""

import collections
import glob
import json
import os
import sys

import cases
import harness
import truth

MS = 1_000_000


def lines(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.strip()]


class Clocks:
    """The guests' CLOCK_MONOTONIC against each other, measured from outside before and after the recording."""

    def __init__(self, truth_dir):
        with open(os.path.join(truth_dir, "meta.json"), encoding="utf-8") as f:
            meta = json.load(f)
        self.points = {host: [(clock[host]["best_guest_mono"],
                               (clock[host]["host_minus_guest_mono_lo"] + clock[host]["host_minus_guest_mono_hi"]) / 2)
                              for clock in (meta["clock_before"], meta["clock_after"])]
                       for host in meta["clock_before"]}

    def offset(self, host, mono):
        (t0, o0), (t1, o1) = self.points[host]
        return o0 + (o1 - o0) * (mono - t0) / (t1 - t0)

    def convert(self, mono, host, to):
        """CLOCK_MONOTONIC of a host converted to another one's."""
        outside = mono + self.offset(host, mono)
        there = outside - self.offset(to, mono)
        return outside - self.offset(to, there)


def overlap(intervals, begin, end):
    """ns of [begin, end[ that the intervals cover."""
    covered, at = 0, begin
    for a, b in sorted(intervals):
        a, b = max(a, at), min(b, end)
        if b > a:
            covered += b - a
            at = b
    return covered


# ---- RPC: a server's 100 ms of CPU appear under the client that waited for them ----

# The most a server does beside the request's 100 ms while a client waits for it: accept, a thread, reading, its log
# line, sending, softirqs; these guests are emulated in software.
SERVER_EXTRA_NS = 17 * MS
# The times of a slice differ by 150 us, and the server's two
# threads may be kept off the CPU when one hands over to the other.
LESS_NS = 3 * MS


def worked(server, mode, call, begin, end):
    """
    Time in [begin, end[ that the server burnt, according to its log, and for which the client had to wait: a server
    with threads for the client itself, others for every client. Minimum and maximum: it may have been preempted.
    """
    mine = [s for s in server if s["req"] == "hog" and (mode != "thread" or s["peer_port"] == call["lport"])]
    most = overlap([(s["locked_mono"], s["done_mono"]) for s in mine], begin, end)
    idle = sum(s["done_mono"] - s["locked_mono"] - s["cpu_ns"] for s in mine
               if s["locked_mono"] < end and s["done_mono"] > begin)
    return most - max(idle, 0), most


def check_rpc(checks, name, directory, truth_dir):
    client_host = "web" if name.endswith("-local") else "client"
    clocks = Clocks(truth_dir)
    offset = truth.clock_offset_ns(truth.trace_dirs(os.path.join(directory, client_host))[0])
    calls = 0
    for path in sorted(glob.glob(os.path.join(truth_dir, client_host, "rpcc-*.jsonl"))):
        mode = os.path.basename(path).split("-")[2].split(".")[0] if "conc" in path else "thread"
        server = lines(os.path.join(truth_dir, "web", f"rpcd-{mode}.jsonl"))
        for call in lines(path):
            least, most = worked(server, mode, call, *(clocks.convert(call[w], client_host, "web")
                                                       for w in ("send_mono", "reply_mono")))
            window = ("--ref", client_host, "--begin", harness.stamp(call["send_mono"] + offset),
                      "--end", harness.stamp(call["reply_mono"] + offset), directory)
            charged = sum(r["cpu_sub_ns"] for r in harness.report("accounting", *window, sync=True).rows
                          if (r["client_host"], r["client_pid"]) == (client_host, call["pid"])
                          and (r["host"], r["pid"]) == ("web", server[0]["pid"]))
            # it is charged for work done while it waits, not while it still runs
            ran = sum(r["cpu_ns"] + r["ready_ns"] for r in
                      harness.report("cpu", "--host", client_host, "--tid", call["pid"], *window, sync=True).rows)
            checks.true(least - ran - LESS_NS <= charged <= most + SERVER_EXTRA_NS,
                        f"{name}: {call['label']} call {call['n']} ({call['req']}): server's CPU time charged to the client: "
                        f"{charged} ns; by the logs {least:.0f} to {most:.0f}, while the client ran for {ran}")
            calls += 1
    checks.equal(calls, 24, f"{name}: calls checked")
    # the client is charged, not a machine that a packet only passed through
    clients = {r["client_comm"] for r in harness.report("accounting", directory, sync=True).rows
               if r["client_pid"] is not None and r["comm"] == "rpcd"}
    checks.equal(clients, {"rpcc"}, f"{name}: clients of rpcd")


# ---- wget: the path is as long as the program ran ----

def check_wget(checks, name, directory, truth_dir):
    disk = {}
    offset = truth.clock_offset_ns(truth.trace_dirs(os.path.join(directory, "client"))[0])
    for process in truth.runit(os.path.join(truth_dir, "client")):
        label, tid = process["label"], process["pid"]
        segments = harness.report("critical-path", "--host", "client", "--tid", tid, "--ref", "client", directory,
                                  sync=True).rows
        for a, b in zip(segments, segments[1:]):
            checks.equal(b["begin_ns"], a["end_ns"], f"{name}: {label}: segments meet")
        length = segments[-1]["end_ns"] - segments[0]["begin_ns"]
        elapsed = process["end_mono"] - process["start_mono"]
        # the stopwatch is its parent's, which runs from the start to the fork, and from being woken to the end
        start, end = process["start_mono"] + offset, process["end_mono"] + offset
        parents = sum(r["cpu_ns"] + r["ready_ns"] for begin, until in ((start, segments[0]["begin_ns"]),
                                                                       (segments[-1]["end_ns"], end))
                      for r in harness.report("cpu", "--host", "client", "--tid", process["ppid"], directory,
                                              "--begin", harness.stamp(begin), "--end", harness.stamp(until)).rows)
        checks.true(abs(length + parents - elapsed) <= elapsed / 100,
                    f"{name}: {label}: path of {length} ns, its parent {parents}, ran for {elapsed} ns")
        checks.true(length < elapsed and parents < 3 * MS, f"{name}: {label}: its parent ran for {parents} ns")
        cpu = sum(s["duration_ns"] for s in segments if s["state"] == "running" and s["tid"] == tid)
        used = (process["utime_us"] + process["stime_us"]) * 1000
        checks.true(abs(cpu - used) <= used / 100, f"{name}: {label}: ran {cpu} ns on its path, getrusage says {used}")
        disk[label] = sum(s["duration_ns"] for s in segments if s["state"] == "block_device" and s["host"] == "web")
    checks.equal(sorted(disk), ["wget-cold", "wget-hot"], f"{name}: programs")
    checks.true(disk["wget-cold"] > 50 * MS, f"{name}: disk waits on the server, cold: {disk}")
    checks.equal(disk["wget-hot"], 0, f"{name}: disk waits on the server, hot")


# ---- a network file system: its pages go over the network, through the kernel's workers ----

def check_cifs(checks, name, directory, truth_dir):
    offset = truth.clock_offset_ns(truth.trace_dirs(os.path.join(directory, "web"))[0])
    labels = set()
    for process in truth.runit(os.path.join(truth_dir, "web")):
        label, tid = process["label"], process["pid"]
        segments = harness.report("critical-path", "--host", "web", "--tid", tid, "--ref", "web", directory,
                                  sync=True).rows
        start, end = process["start_mono"] + offset, process["end_mono"] + offset
        checks.true(start <= segments[0]["begin_ns"] and segments[-1]["end_ns"] <= end,
                    f"{name}: {label}: the path ends with the process: {segments[-1]['end_ns'] - end} ns after it was waited for")
        labels.add(label)
        wires = sorted((s for s in segments if s["wire"] and s["tid"] > 0), key=lambda s: -s["duration_ns"])
        for s in wires[:5]:  # nobody runs while waiting for the packet
            ran = sum(r["cpu_ns"] for r in harness.report("cpu", "--host", s["host"], "--tid", s["tid"], "--ref", "web", directory,
                                                          "--begin", harness.stamp(s["begin_ns"]),
                                                          "--end", harness.stamp(s["end_ns"]), sync=True).rows)
            checks.true(ran < MS / 100, f"{name}: {label}: {s['comm']} ran for {ran} ns of a packet's {s['duration_ns']}")
        if "fsync" not in process["cmd"]:
            continue
        length, sums = segments[-1]["end_ns"] - segments[0]["begin_ns"], collections.Counter()
        for s in segments:
            idle = s["host"] == "web" and s["comm"].startswith("kworker/") and s["state"] in ("timer", "block_device")
            sums["idle workers" if idle else s["host"]] += s["duration_ns"]
        checks.equal(sums["idle workers"], 0, f"{name}: {label}: waited for workers that had no work")
        checks.true(sums["db"] > 0.7 * length, f"{name}: {label}: on the server: {dict(sums)} of {length} ns")
    checks.true(len(labels) >= 7, f"{name}: processes checked: {sorted(labels)}")
    # whose requests the server answers, though a thread of the kernel receives all the replies
    clients = {r["client_comm"] for r in harness.report("accounting", directory, sync=True).rows
               if r["comm"].startswith("smbd") and r["host"] == "db"}
    checks.true({"ls", "dd", "mount.cifs"} <= clients and "cifsd" not in clients, f"{name}: clients of smbd: {clients}")
    check_own_use(checks, name, directory, False)


# ---- locks and pipes: every thread's own log of its waits and their wakers ----

# Waits that a timer ends.
TIMED = {"nanosleep", "hold-sleep", "poll-timeout", "timerfd-read", "epoll-timeout", "select-timeout",
         "futex-timeout", "sigwait-posixtimer"}
# No other thread ends these, or the log does not name it.
ALONE = {"burn", "whole-run"}

# Waits whose waker is not on the path: (what, cause): number.
NOT_FOUND = {
    ("waitpid", "came when all was done: no wait"): 1,
    ("waitpid-many", "came when all was done: no wait"): 1,
    ("pipe-read", "came when all was done: no wait"): 1,
    ("pipe-write", "came when all was done: no wait"): 1,
    ("futex-pi", "the kernel spun until the lock's owner let it go"): 1,
}


def check_waits(checks, name, directory, truth_dir):
    offset = truth.clock_offset_ns(truth.trace_dirs(os.path.join(directory, "web"))[0])
    by_tid = collections.defaultdict(list)
    for path in glob.glob(os.path.join(truth_dir, "web", "lp-*.jsonl")):
        for wait in lines(path):
            by_tid[wait["tid"]].append(wait)
    found, not_found = 0, collections.Counter()
    for tid, waits in sorted(by_tid.items()):
        segments = harness.report("critical-path", "--host", "web", "--tid", tid, directory).rows
        for wait in waits:
            begin, end = wait["begin_mono"] + offset, wait["end_mono"] + offset
            inside = [s for s in segments if s["begin_ns"] < end and s["end_ns"] > begin]
            states = collections.Counter()
            for s in inside:
                own = s["tid"] == tid
                states[s["state"], own] += min(s["end_ns"], end) - max(s["begin_ns"], begin)
            what = f"{name}: {wait['what']} of {tid} at {wait['begin_mono']}"
            checks.equal(sum(states.values()), end - begin, f"{what}: the path tiles it")
            if wait["what"] in TIMED:
                checks.true(states["timer", True] >= 0.8 * (end - begin), f"{what}: timer: {dict(states)}")
            elif wait["waker"] and wait["waker"] != tid and wait["what"] not in ALONE:
                who = {s["tid"] for s in inside} | {s["from_tid"] for s in inside}
                if wait["waker"] in who:
                    found += 1
                elif states["running", True] + states["preempted", True] == end - begin:
                    spun = wait["what"] == "futex-pi" and end - begin > MS
                    not_found[wait["what"], "the kernel spun until the lock's owner let it go" if spun else
                              "came when all was done: no wait"] += 1
                else:
                    checks.fail(f"{what}: woken by {wait['waker']}, the path has {sorted(map(str, who))}: {dict(states)}")
    checks.equal(dict(not_found), NOT_FOUND, f"{name}: waits without their waker")
    checks.true(found >= 100, f"{name}: {found} waits with their waker on the path")


# ---- the end of each record; what a process used itself ----

# A thread of a CPU that goes offline is the last one on it, and runs on its path until the CPU is online again.
OFFLINE = {("hotplug", "db", "own CPU time", "20"): ("offline", -7302194230)}


def check_own_use(checks, name, directory, sync):
    """
    A process uses at most the CPU time of its threads, and nothing after its host's record has ended. All of that time is
    on its own account or on those of its clients; several may wait for it at a time.
    """
    used, charged = collections.Counter(), collections.Counter()
    for row in harness.report("cpu", directory, sync=sync).rows:
        used[row["host"], row["pid"]] += row["cpu_ns"]
    rows = harness.report("accounting", directory, sync=sync).rows
    own = [r for r in rows if r["client_pid"] is None]
    checks.true(len(own) > 20, f"{name}: few processes: {len(own)}")
    for row in own:
        who, got = (row["host"], row["pid"]), row["cpu_self_ns"]
        # lengths by the reference's clock differ a little from those by the host's own
        tolerance = used[who] // 10000 if sync else 0
        checks.same(name, who[0], "own CPU time", who[1], min(used[who], got), got, tolerance)
    for row in rows:
        charged[row["host"], row["pid"]] += row["cpu_self_ns" if row["client_pid"] is None else "cpu_sub_ns"]
    for who, want in used.items():
        tolerance = want // 10000 if sync else 0
        checks.same(name, who[0], "charged CPU time", who[1], want, min(want, charged[who]), tolerance)


def check_nfsd(checks, name, directory):
    """A server may be a thread of the kernel: what it does for a client is charged to that."""
    used = {r["client_comm"]: r["cpu_sub_ns"] for r in harness.report("accounting", directory).rows if r["comm"] == "nfsd"}
    checks.true(used.get("sha256sum", 0) > MS and "nfsd" not in used, f"{name}: clients of nfsd: {used}")


def check_ends(checks, name, directory):
    """A thread's path ends with its host's record, though others are longer."""
    ends = {row["host"]: row["end_ns"] for row in harness.report("hosts", directory, sync=True).rows}
    last = max(ends.values())
    for host, end in ends.items():
        row = max((r for r in harness.report("cpu", directory, "--host", host, sync=True).rows if r["exited_ns"] is None),
                  key=lambda r: r["blocked_ns"])
        path = harness.report("critical-path", directory, "--host", host, "--tid", row["tid"], sync=True).rows
        checks.true(path and path[-1]["end_ns"] <= end, f"{name}: {row['comm']} of {host} ends {path[-1]['end_ns'] - end} ns late")
    checks.true(any(end < last for end in ends.values()), f"{name}: all hosts end together")


def check_if_there(checks, name, check):
    """For the recordings of another kernel."""
    below = os.path.join(harness.SHARED, "traces-k612")
    archives = os.path.join(below, f"{name}.tar.zst"), os.path.join(below, "truth", f"{name}.truth.tar.zst")
    if not all(os.path.exists(a) for a in archives):
        print(f"skip {name}: not in {below}")
    elif not sys.argv[1:] or name in sys.argv[1:]:
        check(checks, name, harness.unpack(archives[0], "recordings"),
              os.path.join(harness.unpack(archives[1], "truth"), "truth"))


def main():
    harness.need_program()
    checks = harness.Checks(OFFLINE, {"offline": "the path continues while the CPU is offline"})
    names = {"rpc-hog-local", "locks-pipes"} | (set() if cases.few() else {"rpc-hog", "web-cold-hot"})
    for name, directory, truth_dir in harness.recordings(names):
        if name.startswith("rpc"):
            check_rpc(checks, name, directory, truth_dir)
        elif name.startswith("web"):
            check_wget(checks, name, directory, truth_dir)
        else:
            check_waits(checks, name, directory, truth_dir)
    for name in ("three-tier", "locks-pipes", "hotplug"):
        directory = harness.bundled(name)
        for sync in (False, True):
            check_own_use(checks, name, directory, sync)
    check_nfsd(checks, "nfs", harness.bundled("nfs"))
    check_ends(checks, "three-tier", harness.bundled("three-tier"))
    check_if_there(checks, "cifs-list-k612", check_cifs)
    checks.finish()


if __name__ == "__main__":
    main()
