#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Pressure of hosts and containers, computed again from babeltrace2's text: which threads run, are ready, or sleep
uninterruptibly while a disk request is pending that they got or whose first bio was theirs, or else that they inserted or
issued. A disk's requests count from their insertion until it has been given its first one; so do those that the kernel may
merge, if the trace does not say when.

That the kernel calls such sleeps iowait is compared with the recorded machine's own /proc/stat, which counts the time a
CPU was idle while a thread that had gone to sleep on it waited. No recorded machine has a copy of /proc/pressure.
"""

import collections
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "truth"))
sys.path.insert(0, os.path.join(HERE, ".."))
import cases  # noqa: E402
import harness  # noqa: E402
import truth  # noqa: E402

BUNDLED = ("locks-pipes", "rpc-hog-local", "three-tier")
COLUMNS = ("cpu_some_ns", "cpu_full_ns", "io_some_ns", "io_full_ns")
HOST_PID_NS = 0xeffffffc
TICK_NS = 10_000_000  # of /proc/stat

EVENT = re.compile(r"\[(\d+)\.(\d{9})\] (?:\(.*?\) )?(?:\S+ )?([\w:]+): \{ cpu_id = (\d+) \}, \{ ?(.*?) ?\}, \{ ?(.*) ?\}$")
WANTED = re.compile(r" (sched_(switch|waking|wakeup_new|process_fork|process_exit)|block_(rq_(insert|issue|complete|requeue|merge)|bio_(front|back)merge|getrq)|"
                    r"lttng_statedump_process_(state|pid_ns)): ")


def fields(text):
    return dict(f.split(" = ", 1) for f in text.split(", ") if " = " in f)


def number(text):
    """The value of an integer, or of an enumeration, whose number follows its labels."""
    return int(re.search(r"(-?\d+)\D*$", text)[1])


class Threads:
    """What the events of one host say about its threads."""

    def __init__(self, path):
        self.events, self.namespace = [], {}
        self.merges = any(b"block_rq_merge" in open(file, "rb").read()
                          for file in glob.glob(os.path.join(path, "**/metadata"), recursive=True))
        text = subprocess.run(["babeltrace2", "--clock-seconds", path], stdout=subprocess.PIPE, check=True).stdout
        for line in text.decode(errors="replace").splitlines():
            event = EVENT.match(line)
            if not event:
                continue
            context = fields(event[5])
            inode = int(context.get("pid_ns", 0))
            if inode and "tid" in context and int(context["tid"]):
                self.namespace[int(context["tid"])] = inode
            if WANTED.search(line):
                self.events.append((int(event[1] + event[2]), event[3], int(event[4]), fields(event[6])))
        for _, name, _, f in self.events:
            if name == "sched_process_fork" and int(f.get("child_ns_inum", 0)):
                self.namespace[int(f["child_tid"])] = int(f["child_ns_inum"])

    def walk(self):
        """Each event's time, and the state of threads until then: run, ready, io; others are absent."""
        self.running, self.slept_on, self.kinds = {}, {}, {}
        self.state, self.sleeps, self.owner, self.requests = {}, {}, {}, collections.Counter()
        self.asks = {}  # first sector of a bio -> its thread
        self.got, self.given = {}, set()  # requests that are not inserted yet -> their threads; disks that have been given some
        exiting = set()
        for _, name, cpu, f in self.events:
            if name == "sched_switch" and cpu not in self.running:
                self.running[cpu] = int(f["prev_tid"])
                self.change(self.running[cpu], "run")
        for time, name, cpu, f in self.events:
            yield time, self.kinds
            if name == "sched_switch":
                prev, following, left = int(f["prev_tid"]), int(f["next_tid"]), number(f["prev_state"])
                self.running[cpu] = following
                self.sleeps[prev] = left & 2 and not left & 0x400
                self.slept_on[prev] = cpu
                self.change(prev, "gone" if prev in exiting and left & 0x70 or left & 0x30 else
                            "ready" if left & 0x100 or not left & 0x3ff else
                            "stopped" if left & 0xc else "sleep")
                self.change(following, "run")
            elif name in ("sched_waking", "sched_wakeup_new"):
                if self.state.get(int(f["tid"])) not in ("run", "ready", "gone"):
                    self.change(int(f["tid"]), "ready")
            elif name == "sched_process_fork":
                self.change(int(f["child_tid"]), "new")
            elif name == "sched_process_exit":
                exiting.add(int(f["tid"]))
            elif name == "lttng_statedump_process_state":
                if int(f["tid"]) not in self.state and number(f["status"]) in (1, 2):
                    self.change(int(f["tid"]), "ready")
            elif name.startswith("block_"):
                self.request(name, cpu, f)
        yield 2**63, self.kinds

    def change(self, tid, state):
        self.state[tid] = state
        kind = state
        if state == "sleep":
            kind = "io" if self.sleeps.get(tid) and self.requests[tid] > 0 else None
        if tid and kind in ("run", "ready", "io"):
            self.kinds[tid] = kind
        else:
            self.kinds.pop(tid, None)

    def count(self, tid, by):
        if tid is None:
            return
        self.requests[tid] += by
        if tid in self.state:
            self.change(tid, self.state[tid])

    def request(self, name, cpu, f):
        sectors, sector = int(f["nr_sector"]), int(f["sector"])
        key = f["dev"], -1 if not sectors and number(f["rwbs"]) & 0x500 else sector
        if name == "block_getrq" or name.startswith("block_bio_"):
            self.asks.setdefault(sector, self.running.get(cpu, 0))
        if name == "block_getrq" and f["dev"] in self.given and (self.merges or number(f["rwbs"]) & 0x700):
            self.count(self.got.pop(key, None), -1)
            self.got[key] = self.running.get(cpu, 0)
            self.count(self.got[key], 1)
        elif name == "block_bio_frontmerge":
            if (f["dev"], sector + sectors) in self.owner:
                self.owner[key] = self.owner.pop((f["dev"], sector + sectors))
            elif (f["dev"], sector + sectors) in self.got:
                self.got[key] = self.got.pop((f["dev"], sector + sectors))
        elif name in ("block_rq_insert", "block_rq_issue", "block_rq_requeue"):
            if key not in self.owner:
                # a request that is issued without insertion is its first bio's
                got = self.got.get(key) if name == "block_rq_insert" else None
                self.owner[key] = self.running.get(cpu, 0) if got is None else got, sectors
                self.count(self.owner[key][0], 1)
            self.count(self.got.pop(key, None), -1)
            if name == "block_rq_issue" and sectors:
                self.given.add(f["dev"])
                self.count(self.owner[key][0], -1)
                self.owner[key] = self.asks.get(sector, self.owner[key][0]), sectors
                self.count(self.owner[key][0], 1)
                for taken in [s for s in self.asks if sector <= s < sector + sectors]:
                    del self.asks[taken]
        elif name == "block_rq_merge" and key in self.got:
            self.count(self.got.pop(key), -1)
        elif key in self.owner:
            who, left = self.owner.pop(key)
            if name == "block_rq_complete" and 0 < sectors < left:
                self.owner[f["dev"], sector + sectors] = who, left - sectors
            elif name == "block_rq_complete" and not sectors and left:
                self.owner[key] = who, left
            else:
                self.count(who, -1)


def pressure(threads, begin, end, members):
    """members(tid): whether it counts; None: the host."""
    sums, last = dict.fromkeys(COLUMNS, 0), None
    for time, kinds in threads.walk():
        if last is not None:
            ns = min(time, end) - max(last, begin)
            here = [kind for tid, kind in kinds.items() if members is None or members(tid)] if ns > 0 else []
            runs, ready, io = "run" in here, "ready" in here, "io" in here
            if ns > 0:
                sums["cpu_some_ns"] += ns * ready
                sums["cpu_full_ns"] += ns * (ready and not runs)
                sums["io_some_ns"] += ns * io
                sums["io_full_ns"] += ns * (io and not runs and not ready)
        last = time
    if members is None:
        sums["cpu_full_ns"] = None
    return sums


def compare(directory, *args):
    checked = collections.Counter()
    for host in harness.hosts(directory):
        path = os.path.join(directory, host)
        threads = Threads(path)
        for report in harness.run("pressure", *args, path):
            for row in report.rows:
                inode = int(row["container"].rsplit(":", 1)[1]) if row["container"] else None
                members = None if inode is None else lambda tid, n=inode: threads.namespace.get(tid) == n
                want = pressure(threads, report.begin, report.end, members)
                got = {k: row[k] for k in COLUMNS}
                assert got == want, (directory, host, row["container"], args, got, want)
                checked["container" if inode else "host"] += 1
                checked.update(k for k in COLUMNS if got[k])
    return checked


# ---- tests ----

def test_hosts():
    for name in BUNDLED:
        checked = compare(os.path.join(harness.BUILD, "traces", name))
        assert checked["host"] and checked["cpu_some_ns"], name


def test_intervals():
    assert compare(os.path.join(harness.BUILD, "traces", "locks-pipes"), "--interval", "1s")["host"] > 3
    directory = os.path.join(harness.BUILD, "traces", "locks-pipes")
    whole, = harness.report("pressure", directory).rows
    pieces = [r for i in harness.run("pressure", "--interval", "37ms", directory) for r in i.rows]
    for column in ("cpu_some_ns", "io_some_ns", "io_full_ns"):
        assert sum(r[column] for r in pieces) == whole[column], column


def test_disks():
    archives = [os.path.join(harness.SHARED, *path) + ".tar.zst" for path in (("traces", "disk-io"), ("traces-k612", "disk-io-k612"))]
    if not all(os.path.exists(archive) for archive in archives):
        return "the recordings in ../shared are not here"
    for archive in archives:
        checked = compare(harness.unpack(archive, "recordings"))
        assert checked["io_some_ns"] and checked["io_full_ns"], archive
    return None


def test_containers():
    found = harness.recording("containers")
    if not found:
        return "the recording containers is not here"
    checked = compare(found[0])
    assert checked["container"] > 2 and checked["cpu_full_ns"]
    return None


def test_text_starts_with_the_most_delayed():
    """JSON keeps the order of the keys, which is not that of the figures here."""
    source = harness.bundled("three-tier")
    want = {row["host"]: row["cpu_some_ns"] for row in harness.report("pressure", source).rows if row["container"] is None}
    assert sorted(want, key=want.get, reverse=True) != sorted(want), want
    text = subprocess.run([harness.PROGRAM, "report", "pressure", "--columns", "host,cpu_some_ns", source], stdout=subprocess.PIPE,
                          check=True, text=True).stdout
    hosts = [line.split()[0] for line in text.splitlines() if line.split()[:1] and line.split()[0] in want]
    assert hosts == sorted(want, key=want.get, reverse=True), text


def iowait_ns(text):
    return {int(m[1]): int(m[2].split()[4]) * TICK_NS for m in re.finditer(r"^cpu(\d+) (.*)$", text, re.M)}


def test_iowait_of_the_kernel():
    """/proc/stat excludes interrupts during a CPU's idle time, which are some percent of it there."""
    found = harness.recording("disk-io")
    if not found:
        return "the recording disk-io is not here"
    directory, known = found
    for host in harness.hosts(directory):
        first, last = (truth.Snapshot(os.path.join(known, host, f"snap-{at}.txt")).get("/proc/stat")
                       for at in ("start", "end"))
        threads = Threads(os.path.join(directory, host))
        offset = truth.clock_offset_ns(truth.trace_dirs(os.path.join(directory, host))[0])
        begin, end = first.mono + offset, last.mono + offset
        sums, before = collections.Counter(), None
        for time, kinds in threads.walk():
            ns = min(time, end) - max(before, begin) if before else 0
            for cpu in {threads.slept_on.get(t) for t, kind in kinds.items() if kind == "io"} if ns > 0 else ():
                sums[cpu] += ns * (threads.running.get(cpu) == 0)
            before = time
        wants = {cpu: ns - iowait_ns(first.text)[cpu] for cpu, ns in iowait_ns(last.text).items()}
        for cpu, want in wants.items():
            assert want > 1_000_000_000
            assert want - 2 * TICK_NS <= sums[cpu] <= want * 1.10, (host, cpu, sums[cpu], want)
    return None


if __name__ == "__main__":
    harness.need_program()
    harness.need("babeltrace2")
    cases.run(globals())
