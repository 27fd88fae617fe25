#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Small traces that demand much memory: endless names, forks of a large file table."""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "waits"))
import ctf  # noqa: E402
from cases import check, finish, sanitized  # noqa: E402

PROGRAM = os.environ["LTTNGTOP"]
BEGIN = 10**18
# sanitizers pad every allocation, and hold back freed memory for a while
MB = (3 if sanitized() else 1) << 20


class Recording(ctf.Trace):
    """A host with one CPU: an event every microsecond, unless time is set."""

    now = BEGIN

    def event(self, name, *fields):
        self.now += 1000
        self.add(self.now, name, *fields)

    def switch(self, prev, following, comm):
        self.event("sched_switch", ("prev_comm", "text", 16, ""), ("prev_tid", "s32", prev), ("prev_prio", "s32", 20),
                   ("prev_state", "s64", 0), ("next_comm", "text", 16, comm), ("next_tid", "s32", following),
                   ("next_prio", "s32", 20))

    def fork(self, parent, child):
        self.event("sched_process_fork", ("parent_comm", "text", 16, ""), ("parent_tid", "s32", parent),
                   ("parent_pid", "s32", parent), ("child_comm", "text", 16, "child"), ("child_tid", "s32", child),
                   ("child_pid", "s32", child))

    def open(self, path, fd):
        self.event("syscall_entry_openat", ("dfd", "s32", -100), ("filename", "string", path), ("flags", "s32", 0),
                   ("mode", "u16", 0))
        self.event("syscall_exit_openat", ("ret", "s64", fd))

    def close(self, fd):
        self.event("syscall_entry_close", ("fd", "u32", fd))
        self.event("syscall_exit_close", ("ret", "s64", 0))

    def read(self, fd, size):
        self.event("syscall_entry_read", ("fd", "u32", fd), ("count", "u64", size))
        self.event("syscall_exit_read", ("ret", "s64", size))


def report(directory, table, *args):
    """The rows, the exit status, the messages, and the peak memory use."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen([PROGRAM, "report", table, "--json", *args, directory], stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        text = out.read()
        rows = json.loads(text)["rows"] if text else []
        return rows, process.returncode, err.read().decode(), usage.ru_maxrss * 1024


def names_of_processes(rows):
    return {row["comm"] for row in rows if row["comm"] and row["comm"].startswith("proc")}


def test_names(directory):
    """File names beyond all limits do not cost a process its name."""
    flood, processes = 1500, 200
    trace = Recording("flood")
    trace.switch(0, 1, "opens")
    for i in range(flood):
        trace.open(f"/{i:08d}" + "n" * 4000, 3 + i)
    last = 1
    for i in range(processes):
        trace.switch(last, 1000 + i, f"proc{i}")
        last = 1000 + i
    trace.write(directory)
    wanted = {f"proc{i}" for i in range(processes)}

    rows, status, said, _ = report(directory, "cpu")
    check("names: all processes", names_of_processes(rows) == wanted and status == 0, (len(rows), status, said))
    rows, status, said, _ = report(directory, "files")
    check("names: all files", status == 0 and len({row["path"] for row in rows}) == flood, (status, said))
    # a quarter of it is for file names: two thirds of them do not fit
    little = ("--model-memory", "8M")
    rows, status, said, _ = report(directory, "cpu", *little)
    check("little memory: all processes", names_of_processes(rows) == wanted, len(rows))
    check("little memory: said where no file is shown, too", status == 3, status)
    rows, status, said, _ = report(directory, "files", *little)
    paths = [row["path"] for row in rows]
    check("little memory: some files have no name, all have rows",
          len(rows) == flood and 0 < paths.count(None) < flood and len(set(paths)) > 300, len(set(paths)))
    check("little memory: that is said", status == 3 and "names did not fit into --model-memory" in said, (status, said))


def test_names_in_turn(directory):
    """The names of files that were closed long ago make room."""
    flood = 3000
    trace = Recording("turn")
    trace.switch(0, 1, "opens")
    for i in range(flood):
        trace.now = BEGIN + 10**8 * i
        trace.open(f"/{i:08d}" + "n" * 4000, 3)
        trace.read(3, i + 1)
        trace.close(3)
    trace.write(directory)
    rows, status, said, memory = report(directory, "io", "--model-memory", "8M")
    check("names in turn", status == 0 and rows[0]["read_bytes"] == flood * (flood + 1) // 2, (status, said))
    check("names in turn: memory", memory < 60 * MB, f"{memory // MB} MB")


def test_forks(directory):
    """A file table is not copied for each child that inherits it."""
    fds, forks = 1000, 1000
    trace = Recording("forks")
    trace.switch(0, 1, "parent")
    for fd in range(fds):
        trace.open(f"/f{fd}", fd)
    for i in range(forks):
        trace.fork(1, 1000 + i)
    trace.switch(1, 1500, "child")
    trace.read(7, 100)
    trace.write(directory)

    rows, status, said, memory = report(directory, "hosts")
    check("forks: fds", status == 0 and rows[0]["fds"] == fds * (forks + 1), (status, rows))
    rows, status, said, memory = report(directory, "io")
    check("forks: bytes", [(row["tid"], row["read_bytes"]) for row in rows if row["read_bytes"]] == [(1500, 100)])
    # as rows they take 200 MB
    check("forks: memory", memory < 100 * MB, f"{memory // MB} MB")
    rows, status, said, memory = report(directory, "files", "--pid", "1500")
    check("forks: rows of files", status == 0 and len(rows) == fds, (status, len(rows), said))
    by_fd = {row["fd"]: row for row in rows}
    check("forks: names of files", all(by_fd[fd]["path"] == f"/f{fd}" for fd in range(fds)))
    check("forks: bytes of files", by_fd[7]["read_bytes"] == 100 and by_fd[8]["read_bytes"] == 0)


def totals(rows, *columns):
    return [sum(row[column] for row in rows) for column in columns]


def test_tasks(directory):
    """More processes than fit: their sums are the same."""
    tasks = 5000
    trace = Recording("tasks")
    trace.switch(0, 1, "parent")
    for i in range(tasks):
        trace.fork(1, 1000 + i)
        trace.switch(1, 1000 + i, "child")
        trace.read(7, 100)
        trace.switch(1000 + i, 1, "parent")
    trace.write(directory)
    figures = ("cpu_ns", "switches")
    all_rows, status, said, _ = report(directory, "cpu")
    check("tasks: all fit", status == 0 and len(all_rows) == tasks + 1, (status, len(all_rows), said))
    little = ("--model-memory", "2M")
    rows, status, said, _ = report(directory, "cpu", *little)
    others = [row for row in rows if row["tid"] is None]
    check("tasks: that is said", status == 3 and "did not fit into --model-memory" in said, (status, said))
    check("tasks: one row for those without", len(others) == 1 and others[0]["comm"] == "other" and
          others[0]["pid"] is None and 100 < len(rows) < tasks / 2, (others, len(rows)))
    check("tasks: sums", totals(rows, *figures) == totals(all_rows, *figures), totals(rows, *figures))
    cpus, _, _, _ = report(directory, "cpus", *little)
    check("tasks: rows and idle are all time",
          totals(rows, "cpu_ns") == [cpus[0]["online_ns"] - cpus[0]["idle_ns"]], cpus)
    rows, status, _, _ = report(directory, "io", *little)
    check("tasks: bytes", totals(rows, "read_bytes", "syscalls") == [100 * tasks, tasks])
    rows, status, _, _ = report(directory, "syscalls", *little)
    check("tasks: calls", totals(rows, "count") == [tasks])
    rows, status, _, _ = report(directory, "files", *little)
    check("tasks: bytes of files", totals(rows, "read_bytes") == [100 * tasks])
    hosts, _, _, _ = report(directory, "hosts", *little)
    check("tasks: alive", hosts[0]["threads"] == tasks + 1, hosts)


def test_forks_that_do_not_fit(directory):
    """Inherited files that do not fit become one row."""
    rows, status, said, memory = report(directory, "files", "--model-memory", "32M")
    others = [row for row in rows if row["fd"] is None]
    check("little memory: one row for inherited files", status == 3 and len(others) == 1 and
          others[0]["path"] == "other" and "did not fit into --model-memory" in said, (status, others, said))
    check("little memory: files that were used", totals(rows, "read_bytes") == [100])
    check("little memory: memory", memory < 150 * MB, f"{memory // MB} MB")


with tempfile.TemporaryDirectory() as scratch:
    test_names(os.path.join(scratch, "names"))
    test_names_in_turn(os.path.join(scratch, "turn"))
    test_forks(os.path.join(scratch, "forks"))
    test_forks_that_do_not_fit(os.path.join(scratch, "forks"))
    test_tasks(os.path.join(scratch, "tasks"))
finish()
