#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""NFS: files, bytes and waits of a mount(), and the path to the server, whose trace is the same.

Expected are the fds and bytes that a second reading finds in babeltrace2's text, the kernel's own count of the mount
(mountstats), what the programs were told to move, and the threads that the packets of port 2049 are sent by.
"""

import collections
import os
import re
import subprocess
import tempfile

import harness
import test_at_disk
import test_netfs

NAME, HOST, SERVER = "nfs", "nfs", "10.77.0.13"
PORT = 2049
SIZE, WRITTEN = 300_000, 8 * 32768


def text_of(path):
    done = subprocess.run(["babeltrace2", "--no-delta", "--clock-cycles", path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=True)
    return done.stdout.splitlines()


def mountstats(path):
    """(bytes that applications read and wrote, bytes read from and written to the server) on the NFS mount."""
    with open(path, encoding="ascii") as f:
        part = f.read().split("with fstype nfs4 ", 1)[1]
    n = [int(x) for x in re.search(r"^\s*bytes:\s*(.*)$", part, re.M)[1].split()]
    return n[0], n[1], n[4], n[5]


def check_bytes(checks, directory, want):
    rows = harness.report("io", directory).rows
    got = {row["tid"]: [row["read_bytes_netfs"], row["write_bytes_netfs"]] for row in rows
           if row["read_bytes_netfs"] or row["write_bytes_netfs"]}
    checks.equal(got, dict(want.moved), "bytes of threads")
    counted = mountstats(os.path.join(directory, "mountstats"))
    checks.equal((sum(r for r, _ in got.values()), sum(w for _, w in got.values())), counted[:2], "bytes of applications")
    checks.equal(counted, (3 * SIZE, WRITTEN, 3 * SIZE, WRITTEN), "bytes of the load")
    checks.equal({r["comm"]: got[r["tid"]] for r in rows if r["tid"] in got},
                 {"cat": [2 * SIZE, 0], "dd": [0, WRITTEN], "sha256sum": [SIZE, 0]}, "who moved them")
    files = [r for r in harness.report("files", "--columns", "pid,fd,path,kind,peer,read_bytes,write_bytes", directory).rows
             if r["kind"] == "netfs"]
    moved = collections.Counter()
    for (pid, fd, path, _), (read, written) in want.files.items():
        moved[pid, fd, os.path.basename(path)] += read + written
    mine = collections.Counter()
    for r in files:
        mine[r["pid"], r["fd"], os.path.basename(r["path"])] += r["read_bytes"] + r["write_bytes"]
    checks.equal(+mine, +moved, "bytes of files")
    checks.equal({r["peer"] for r in files}, {SERVER}, "their server")
    return {r["comm"]: r["tid"] for r in rows if r["tid"] in got}


def check_service(checks, directory):
    """Relations go through the server's port, though the client's is lower, with and without the SYN."""
    for begin in ((), ("--begin", "+400ms")):
        with tempfile.TemporaryDirectory() as below:
            sliced = os.path.join(below, "sliced")
            subprocess.run([harness.PROGRAM, "report", "slice", *begin, "-o", sliced, directory], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            objects = {r["object"] for r in harness.report("relations", sliced).rows if r["kind"] == "inet"}
        checks.true(f"{SERVER}:{PORT}" in objects, f"through the service: {objects}")
        checks.true(all(int(o.rsplit(":", 1)[1]) not in range(665, 1024) for o in objects), f"not through a client's port: {objects}")


def check_waits(checks, directory, tids):
    """Calls on its files wait for the server, whichever thread or interrupt ends their waits."""
    calls = {"read", "openat", "fsync", "getdents64"}
    rows = [r for r in harness.report("blocking", directory).rows if r["tid"] in tids.values() and r["syscall"] in calls]
    ours = [r for r in rows if r["cause"] == SERVER]
    on_it = [r for r in rows if (r["path"] or "").startswith(("/mnt", "f3"))]
    checks.true(len(ours) >= 5 and {r["tid"] for r in ours} == set(tids.values()), f"waits for the server: {ours}")
    checks.true(on_it and all(r["cause"] == SERVER for r in on_it), f"waits in calls on its files: {on_it}")


def check_paths(checks, directory, tids, lines):
    """From the thread that waits to the worker that wakes it, and on to the server's thread that sent the reply."""
    servers, workers = set(), collections.defaultdict(set)
    for line in lines:
        tid = re.search(r"\btid = (\d+)", line)
        name = re.search(r'\bprocname = "([^"]*)"', line)
        if " net_dev_queue:" in line and f"source_port = {PORT}" in line and name[1] == "nfsd":
            servers.add(int(tid[1]))
        elif " sched_waking:" in line and name[1].startswith("kworker/u"):
            workers[int(re.findall(r"\btid = (\d+)", line)[-1])].add(int(tid[1]))
    checks.true(servers, "nfsd sends from its port")
    for name, tid in tids.items():
        total = collections.Counter()
        for s in harness.report("critical-path", "--tid", str(tid), directory).rows:
            total[s["tid"]] += s["end_ns"] - s["begin_ns"]
        checks.true(sum(total[t] for t in servers) > 0, f"{name}: the path leads to nfsd: {dict(total)}")
        checks.true(workers[tid] and sum(total[t] for t in workers[tid]) > 0, f"{name}: by way of the worker that wakes it")


def main():
    harness.need_program()
    harness.need("babeltrace2")
    checks = harness.Checks()
    directory = harness.bundled(NAME)
    path = os.path.join(directory, HOST)
    want = test_netfs.Reading(path)
    checks.true(len(want.times) == 1 and want.times[0][1], "one mount, and its end")
    test_at_disk.check_sums(checks, f"{NAME} by {test_at_disk.INTERVAL}", path, (0,), "--interval", test_at_disk.INTERVAL)
    tids = check_bytes(checks, directory, want)
    check_waits(checks, directory, tids)
    check_service(checks, directory)
    check_paths(checks, directory, tids, text_of(path))
    checks.finish()


if __name__ == "__main__":
    main()
