#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Network file systems: which files are on one, the bytes
transferred to and from them, and the servers that were waited for.

The expected fds and bytes come from a second reading of the recording: babeltrace2's text, in which mount() says where
the share is and for how long; and from what the programs that ran there were told to transfer.
"""

import collections
import os
import re
import subprocess

import harness
import truth

NAME = "cifs-list-k612"
SERVER = "10.77.0.13"
LINE = re.compile(r"\[(\d+)\] (?:\S+ )?([\w:.+-]+): \{ cpu_id = \d+ \}, (.*)", re.S)
MOVES = {"read": "r", "pread64": "r", "readv": "r", "write": "w", "pwrite64": "w", "writev": "w", "sendfile": "rw",
         "sendfile64": "rw", "splice": "rw", "copy_file_range": "rw"}


def integer(field, text):
    m = re.search(rf"\b{field} = (-?\d+)", text)
    return int(m[1]) if m else None


def string(field, text):
    m = re.search(rf'\b{field} = "((?:[^"\\]|\\.)*)"', text)
    return m[1] if m else None


class Reading:
    """Mounts, working directories and fds of all processes, by the text of their calls."""

    def __init__(self, directory):
        self.cwd, self.mounts, self.open, self.calls = {}, [], {}, {}
        self.moved = collections.defaultdict(lambda: [0, 0])   # tid -> [read, written]
        self.files = collections.defaultdict(lambda: [0, 0])   # (pid, fd, path, time of opening) -> [read, written]
        self.times = []                                        # [mounted, unmounted]
        proc = subprocess.Popen(["babeltrace2", "--no-delta", "--clock-cycles", directory], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True)
        for line in proc.stdout:
            m = LINE.match(line)
            if m:
                self.event(int(m[1]), m[2], *m[3].split("}, {", 1) if "}, {" in m[3] else ("", m[3]))
        proc.wait()

    def event(self, ts, name, context, payload):
        tid, pid = integer("tid", context), integer("pid", context)
        if name == "sched_process_fork":
            child, parent = integer("child_pid", payload), integer("parent_pid", payload)
            if child == integer("child_tid", payload):
                self.cwd[child] = self.cwd.get(parent)
                self.open.update({(child, fd): (*what[:-1], ts) for (p, fd), what in self.open.items() if p == parent})
        elif name.startswith("syscall_entry_"):
            self.calls[tid] = (name[14:], payload)
        elif name.startswith("syscall_exit_"):
            call, arguments = self.calls.pop(tid, (None, ""))
            if call == name[13:]:
                self.returned(ts, tid, pid, call, arguments, integer("ret", payload))

    def path(self, pid, text):
        return text if text.startswith("/") else os.path.normpath(os.path.join(self.cwd.get(pid) or "?", text))

    def returned(self, ts, tid, pid, call, arguments, ret):
        if call == "close":
            self.open.pop((pid, integer("fd", arguments)), None)
        if ret < 0:
            return
        if call == "chdir":
            self.cwd[pid] = self.path(pid, string("filename", arguments))
        elif call == "mount" and string("type", arguments) in ("cifs", "nfs4"):
            self.mounts.append(self.path(pid, string("dir_name", arguments)))
            self.times.append([ts, None])
        elif call == "umount" and string("name", arguments) in self.mounts:
            self.mounts.remove(string("name", arguments))
            self.times[-1][1] = ts
        elif call in ("openat", "open"):
            path = string("filename", arguments)
            self.open.pop((pid, ret), None)
            if any((self.path(pid, path) + "/").startswith(mount + "/") for mount in self.mounts):
                self.open[pid, ret] = (path, ts)
        elif call in ("dup2", "dup3", "dup", "fcntl"):
            if call == "fcntl" and "F_DUPFD" not in arguments and integer("cmd", arguments) not in (0, 1030):
                return
            what = self.open.get((pid, integer("oldfd" if call in ("dup2", "dup3") else
                                               "fildes" if call == "dup" else "fd", arguments)))
            self.open.pop((pid, ret), None)
            if what:
                self.open[pid, ret] = (what[0], ts)
        elif call in MOVES:
            ends = (("fd_in", "fd_out") if call in ("splice", "copy_file_range") else ("in_fd", "out_fd")) \
                if MOVES[call] == "rw" else ("fd", "fd")
            for way, which, field in ((0, "r", ends[0]), (1, "w", ends[1])):
                what = self.open.get((pid, integer(field, arguments)))
                if which in MOVES[call] and what:
                    self.moved[tid][way] += ret
                    self.files[pid, integer(field, arguments), *what][way] += ret


def check_bytes(checks, directory, said):
    want = Reading(os.path.join(directory, "web"))
    offset = truth.clock_offset_ns(truth.trace_dirs(os.path.join(directory, "web"))[0])
    checks.true(len(want.times) == 1 and want.times[0][1], "one mount, and its end")

    rows = harness.report("io", directory).rows
    got = {row["tid"]: [row["read_bytes_netfs"], row["write_bytes_netfs"]] for row in rows
           if row["host"] == "web" and (row["read_bytes_netfs"] or row["write_bytes_netfs"])}
    checks.equal(got, dict(want.moved), "bytes of threads")
    checks.equal([r for r in rows if r["host"] == "db" and r["read_bytes_netfs"] + r["write_bytes_netfs"]], [],
                 "the server's own files are not on the network")
    for row in rows:
        for way in ("read", "write"):
            checks.equal(sum(row[f"{way}_bytes_{c}"] for c in ("disk", "net", "pipe", "other", "netfs")),
                         row[f"{way}_bytes"], f"{way} classes of {row['tid']}")

    # from the programs' own instructions, and the kernel's figures for them
    by_label = {p["label"]: p for p in truth.runit(said)}
    checks.equal(got[by_label["dd-write"]["pid"]], [0, 16 * 32768], "dd bs=32k count=16")
    checks.equal(got[by_label["cat"]["pid"]][0], by_label["cat"]["io"]["wchar"], "cat copies three files")

    files = [r for r in harness.report("files", "--columns", "host,pid,fd,path,kind,peer,opened_ns,read_bytes,write_bytes",
                                       directory).rows if r["kind"] == "netfs"]
    moved = {(r["pid"], r["fd"], r["path"], r["opened_ns"] - offset): [r["read_bytes"], r["write_bytes"]] for r in files
             if r["read_bytes"] or r["write_bytes"]}
    checks.equal(moved, dict(want.files), "bytes of files")
    checks.equal({(r["host"], r["peer"]) for r in files}, {("web", SERVER)}, "their server")
    begin, end = (t + offset for t in want.times[0])
    checks.true(all(begin < r["opened_ns"] < end for r in files), "opened while it was mounted")


def check_waits(checks, directory, said):
    """Waits in calls on its files are ended by the kernel's thread
    for the share, by the server's packets or by a worker's."""
    tids = {p["pid"] for p in truth.runit(said) if p["label"] not in ("mount", "umount")}
    rows = [r for r in harness.report("blocking", directory).rows
            if r["host"] == "web" and r["tid"] in tids and (r["path"] or "").startswith("/net")]
    checks.true(len(rows) >= 10, f"waits in calls on its files: {len(rows)}")
    ours = [r for r in rows if r["cause"] == SERVER]
    checks.true(sum(r["total_ns"] for r in ours) > 0.9 * sum(r["total_ns"] for r in rows),
                f"they wait for the server: {[(r['syscall'], r['state'], r['cause'], r['total_ns']) for r in rows]}")


def main():
    harness.need_program()
    harness.need("babeltrace2")
    below = os.path.join(harness.SHARED, "traces-k612")
    archives = os.path.join(below, f"{NAME}.tar.zst"), os.path.join(below, "truth", f"{NAME}.truth.tar.zst")
    if not all(os.path.exists(a) for a in archives):
        harness.skip(f"{NAME} is not in {below}")
    checks = harness.Checks()
    directory = harness.unpack(archives[0], "recordings")
    said = os.path.join(harness.unpack(archives[1], "truth"), "truth", "web")
    check_bytes(checks, directory, said)
    check_waits(checks, directory, said)
    checks.finish()


if __name__ == "__main__":
    main()
