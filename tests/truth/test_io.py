#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Bytes read and written against /proc/PID/io, call by call where the kernel counts differently.

rchar and wchar (fs/read_write.c) count the results of read, write and their relatives, sendfile and copy_file_range;
not those of splice, tee, vmsplice and the socket calls; and in addition the reads of execve itself. A process' io
includes its ended threads and the children it has waited for. So, between two stamps:

    rchar = read_bytes - bytes of calls it does not count + what execve reads
            + the whole lives of the children that ended meanwhile
"""

import collections
import os
import re

import harness
import known
import oracle
import truth
import windows

LOSSY = {"lossy", "lossy-overwrite"}

# What execve reads of a dynamically linked program: the first 256 bytes, 13 program
# headers, the interpreter's name; and the interpreter's header and 9 program headers.
EXEC_READS = 256 + 13 * 56 + 28 + 64 + 9 * 56
EXEC_READS_OF = {
    b"/opt/lab/runit": 256 + 10 * 56,   # static
    b"/opt/lab/snap": 256 + 10 * 56,
    b"/usr/bin/fio": EXEC_READS + 56,   # one header more
    b"/usr/bin/lttng": EXEC_READS + 56,
    b"/usr/bin/pgbench": 256 + EXEC_READS + 56,  # a script, then its perl
    b"/usr/bin/stress-ng": EXEC_READS + 2 * 56,
}


class Lives:
    """The parent of each process, and the bytes it moved, from the program's rows corrected as above."""

    def __init__(self, trace, rows, start):
        self.trace = trace
        self.process = dict(trace.contexts)
        self.children = collections.defaultdict(list)
        for tid, (pid, _) in start.threads().items():
            self.process[tid] = pid
        for m, block in start.matching(r"/proc/(\d+)/stat"):
            ppid = int(re.search(r"\) \S (\d+)", block.text)[1])
            self.children[ppid].append(int(m[1]))
        self.before = {int(m[1]): block for m, block in start.matching(r"/proc/(\d+)/io")}
        for fork in trace.forks:
            self.process.setdefault(fork.child_tid, fork.child_pid)
            if fork.child_tid == fork.child_pid and fork.child_pid not in self.children[fork.parent_pid]:
                self.children[fork.parent_pid].append(fork.child_pid)
        self.moved = collections.defaultdict(lambda: [0, 0])
        for row in rows:
            self.moved[row["pid"]][0] += row["read_bytes"]
            self.moved[row["pid"]][1] += row["write_bytes"]
        self.uncounted = collections.defaultdict(list)
        for call in trace.calls:
            (read, rchar), (written, wchar) = oracle.Oracle.bytes_of(call)
            if (read, written) != (rchar, wchar):
                self.uncounted[self.process.get(call.tid)].append((call.ts, read - rchar, written - wchar))
        self.execs = collections.defaultdict(list)
        for ts, tid, program in trace.execs:
            self.execs[self.process.get(tid)].append((ts, EXEC_READS_OF.get(program, EXEC_READS)))

    def corrections(self, pid, begin, end):
        """The amounts to add to the program's figures of a process between two times."""
        read = sum(n for ts, n in self.execs[pid] if begin <= ts < end)
        read -= sum(r for ts, r, _ in self.uncounted[pid] if begin <= ts < end)
        return read, -sum(w for ts, _, w in self.uncounted[pid] if begin <= ts < end)

    def ended_children(self, pid, begin, end):
        read = written = 0
        for child in self.children[pid]:
            if begin <= self.trace.exits.get(child, 0) < end:
                r, w = self.life(child)
                read, written = read + r, written + w
        return read, written

    def life(self, pid):
        """rchar and wchar of a process at its end, its waited-for children included."""
        begin, end = self.trace.first, self.trace.last + 1
        read, written = self.moved[pid]
        if pid in self.before:
            # Its bytes before its stamp include those the program saw before it.
            block = self.before[pid]
            io = truth.key_values(block.text)
            begin = block.mono
            read, written = self.since_stamp(pid)
            read, written = read + io["rchar"], written + io["wchar"]
        for r, w in (self.corrections(pid, begin, end), self.ended_children(pid, begin, end)):
            read, written = read + r, written + w
        return read, written

    def since_stamp(self, pid):
        return self.window.get(pid)


def check_recording(checks, name, host, path, said):
    trace = oracle.of(path)
    status = (harness.INCOMPLETE,) if name in LOSSY else (harness.COMPLETE,)
    rows = harness.report("io", path, status=status).rows

    # Against the second reading: every thread's bytes.
    want = collections.defaultdict(lambda: [0, 0])
    for call in trace.calls:
        (read, _), (written, _) = oracle.Oracle.bytes_of(call)
        want[call.tid][0] += read
        want[call.tid][1] += written
    got = collections.defaultdict(lambda: [0, 0])
    for row in rows:
        if row["tid"] is None: # 'other': disk requests without a known author
            assert not (row["read_bytes"] or row["write_bytes"] or row["syscalls"]), row
            continue
        got[row["tid"]][0] += row["read_bytes"]
        got[row["tid"]][1] += row["write_bytes"]
    for tid in sorted(set(want) | set(got)):
        checks.same(name, host, "read_calls", tid, want[tid][0], got[tid][0])
        checks.same(name, host, "write_calls", tid, want[tid][1], got[tid][1])
    if name in LOSSY:
        return

    start = truth.Snapshot(os.path.join(said, "snap-start.txt"))
    end = truth.Snapshot(os.path.join(said, "snap-end.txt"))
    lives = Lives(trace, rows, start)
    covered = trace.first <= start.begin and trace.last >= end.end
    if covered:
        offset = truth.clock_offset_ns(truth.trace_dirs(path)[0])
        after = {int(m[1]): block for m, block in end.matching(r"/proc/(\d+)/io")}
        begins = {pid: block.mono + offset for pid, block in lives.before.items()}
        ends = {pid: (after[pid].mono if pid in after else end.end) + offset for pid in begins}
        lives.window = windows.Windows(path, "io", begins, ends, ("read_bytes", "write_bytes"), key=("pid",))
        for pid in sorted(set(lives.before) & set(after)):
            a, b = lives.before[pid], after[pid]
            io0, io1 = truth.key_values(a.text), truth.key_values(b.text)
            read, written = lives.window.get(pid)
            for r, w in (lives.corrections(pid, a.mono, b.mono), lives.ended_children(pid, a.mono, b.mono)):
                read, written = read + r, written + w
            who = f"{pid}:{start.comm(pid)}".replace(" ", "_")
            checks.same(name, host, "rchar", who, io1["rchar"] - io0["rchar"], read)
            checks.same(name, host, "wchar", who, io1["wchar"] - io0["wchar"], written)
        # Threads of processes with several: their own bytes, without the dead and the children.
        threads = {int(m[2]): (int(m[1]), b) for m, b in start.matching(r"/proc/(\d+)/task/(\d+)/io")}
        later = {int(m[2]): b for m, b in end.matching(r"/proc/(\d+)/task/(\d+)/io")}
        both = sorted(set(threads) & set(later))
        if both:
            w = windows.Windows(path, "io", {t: threads[t][1].mono + offset for t in both},
                                {t: later[t].mono + offset for t in both}, ("read_bytes", "write_bytes"))
            uncounted = collections.defaultdict(lambda: [0, 0])
            for call in trace.calls:
                if call.tid in threads and call.tid in later and \
                        threads[call.tid][1].mono <= call.ts < later[call.tid].mono:
                    (read, rchar), (written, wchar) = oracle.Oracle.bytes_of(call)
                    uncounted[call.tid][0] += read - rchar
                    uncounted[call.tid][1] += written - wchar
            for tid in both:
                io0, io1 = truth.key_values(threads[tid][1].text), truth.key_values(later[tid].text)
                read, written = w.get(tid)
                checks.same(name, host, "thread_rchar", tid, io1["rchar"] - io0["rchar"], read - uncounted[tid][0])
                checks.same(name, host, "thread_wchar", tid, io1["wchar"] - io0["wchar"], written - uncounted[tid][1])
    for p in truth.runit(said):
        if p["io"] and p["start_mono"] > trace.first and p["end_mono"] < trace.last:
            read, written = lives.life(p["pid"])
            who = f"{p['pid']}:{p['label']}"
            checks.same(name, host, "life_rchar", who, p["io"]["rchar"], read)
            checks.same(name, host, "life_wchar", who, p["io"]["wchar"], written)


def main():
    harness.need_program()
    harness.need("babeltrace2")
    checks = harness.Checks(known.only("read_calls", "write_calls", "rchar", "wchar", "thread_rchar", "thread_wchar",
                                       "life_rchar", "life_wchar"), known.CAUSES)
    for name, directory, truth_dir in harness.recordings():
        for host in harness.hosts(directory):
            check_recording(checks, name, host, os.path.join(directory, host), os.path.join(truth_dir, host))
    checks.finish()


if __name__ == "__main__":
    main()
