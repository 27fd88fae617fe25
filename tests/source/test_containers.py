#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Containers of recordings made here: nested ones whose figures are known, as old and new tracers
describe them; names from cgroups; and what no kernel writes: namespaces in a circle, tens of thousands of
them, names that are not text."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "waits"))
import ctf  # noqa: E402
from cases import check, finish  # noqa: E402

PROGRAM = os.path.join(os.environ["BUILD"], "lttngtop")
MS = 10 ** 6
BEGIN = 10 ** 9
HOST_NS, OUTER, INNER = 0xeffffffc, 4026532318, 4026532320
LIMIT_S = 120
ID = "3f4e5d6c7b8a9f0e1d2c3b4a5f6e7d8c9b0a1f2e3d4c5b6a7f8e9d0c1b2a3f4e"


class Made(ctf.Trace):
    """Events 1 ms apart."""

    def __init__(self, host="made"):
        super().__init__(host)
        self.now = BEGIN

    def add_next(self, name, *fields):
        self.add(self.now, name, *fields)
        self.now += MS

    def process(self, tid, comm):
        self.add_next("lttng_statedump_process_state", ("tid", "s32", tid), ("pid", "s32", tid), ("ppid", "s32", 1),
                      ("name", "text", 16, comm), ("type", "s32", 0), ("mode", "s32", 5), ("submode", "s32", 0),
                      ("status", "s32", 5), ("cpu", "u32", 0))

    def namespace(self, tid, level, inode, vtid):
        self.add_next("lttng_statedump_process_pid_ns", ("tid", "s32", tid), ("vtid", "s32", vtid), ("vpid", "s32", vtid),
                      ("vppid", "s32", 0), ("ns_level", "s32", level), ("ns_inum", "u32", inode))

    def old_process(self, tid, comm, level, inode, vtid):
        """Before 2.13: one event for each namespace the task is in."""
        self.add_next("lttng_statedump_process_state", ("tid", "s32", tid), ("vtid", "s32", vtid), ("pid", "s32", tid),
                      ("vpid", "s32", vtid), ("ppid", "s32", 1), ("vppid", "s32", 0), ("name", "text", 16, comm),
                      ("type", "s32", 0), ("mode", "s32", 5), ("submode", "s32", 0), ("status", "s32", 5),
                      ("ns_level", "s32", level), ("ns_inum", "u32", inode))

    def fork(self, parent, parent_ns, tid, ns, vtids):
        self.add_next("sched_process_fork", ("parent_comm", "text", 16, ""), ("parent_tid", "s32", parent),
                      ("parent_pid", "s32", parent), ("parent_ns_inum", "u32", parent_ns), ("child_comm", "text", 16, "sh"),
                      ("child_tid", "s32", tid), ("vtids", "array", "s32", (vtids + [0] * 4)[:4]),
                      ("child_pid", "s32", tid), ("child_ns_inum", "u32", ns))

    def turns(self, *tids):
        """Each runs for 1 ms, the last one continues."""
        previous = 0
        for tid in tids:
            self.add_next("sched_switch", ("prev_comm", "text", 16, ""), ("prev_tid", "s32", previous),
                          ("prev_prio", "s32", 20), ("prev_state", "s64", 0), ("next_comm", "text", 16, ""),
                          ("next_tid", "s32", tid), ("next_prio", "s32", 20))
            previous = tid


def report(table, *args):
    return subprocess.run([PROGRAM, "report", table, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=LIMIT_S, check=False)


def containers(*args):
    run = report("containers", "--json", *args)
    return {row["container"]: row for row in json.loads(run.stdout)["rows"]} if run.stdout else {}, run


def brief(rows):
    return {name: (row["parent"], row["nesting"], row["processes"], row["cpu_ns"] // MS) for name, row in rows.items()}


NESTED = {"host": (None, 0, 1, 1), "outer:4026532318": ("host", 1, 1, 2), "inner:4026532320": ("outer:4026532318", 2, 2, 3)}


def nested():
    made = Made()
    made.process(10, "plain")
    made.namespace(10, 0, HOST_NS, 10)
    made.process(20, "outer")
    made.namespace(20, 1, OUTER, 1)
    made.namespace(20, 0, HOST_NS, 20)
    made.process(30, "inner")
    made.namespace(30, 2, INNER, 1)
    made.namespace(30, 1, OUTER, 5)
    made.namespace(30, 0, HOST_NS, 30)
    made.fork(30, INNER, 31, INNER, [31, 6, 2])
    made.turns(10, 20, 30, 20, 31, 30, 0, 0)
    for name, ctf2 in (("nested", False), ("nested2", True)):
        made.write(name, ctf2)
        rows, run = containers(name)
        check(f"{name}: status", (run.returncode, run.stderr) == (0, ""), run.stderr)
        check(f"{name}: rows", brief(rows) == NESTED, brief(rows))
    rows, run = containers("--reader", "babeltrace2", "nested")
    check("the same by babeltrace2", brief(rows) == NESTED, (brief(rows), run.stderr))
    pages = [json.loads(line) for line in report("containers", "--json", "--interval", "5ms", "nested").stdout.splitlines()]
    total = sum(row["cpu_ns"] for page in pages for row in page["rows"])
    check("intervals add up", len(pages) > 1 and total == 6 * MS, total)
    # of a container, the process and its name are those of the first one in it
    outer, inner = (name for name in NESTED if name != "host")
    for term, wanted in (("pid:20", {outer}), ("pid:31", set()), ("comm:inner", {inner}), ("comm:plain", set())):
        for sign, names in (("", wanted), ("!", set(NESTED) - wanted)):
            rows, run = containers("--where", sign + term, "nested")
            check(f"--where {sign}{term}", set(rows) == names, (set(rows), run.stderr))


def old():
    made = Made()
    made.old_process(10, "plain", 0, HOST_NS, 10)
    made.old_process(20, "outer", 1, OUTER, 1)
    made.old_process(20, "outer", 0, HOST_NS, 20)
    for level, inode, vtid in ((2, INNER, 1), (1, OUTER, 5), (0, HOST_NS, 30)):
        made.old_process(30, "inner", level, inode, vtid)
    made.turns(10, 20, 30, 20, 30, 30, 0, 0)
    made.write("old")
    rows, run = containers("old")
    wanted = {**NESTED, "inner:4026532320": ("outer:4026532318", 2, 1, 3)}
    check("tracers before 2.13", (run.returncode, run.stderr, brief(rows)) == (0, "", wanted), (brief(rows), run.stderr))


def named():
    """record's side-car knows the cgroups; names in one written by somebody else are treated as text all the same."""
    cgroups = {20: f"/system.slice/docker-{ID}.scope", 30: "/lxc.payload.w\u001b[31m\u202eb/init.scope"}
    with open("nested/lttngtop.json", "w", encoding="utf-8") as file:
        json.dump({"schema": 1, "host": "made", "processes": [{"pid": pid, "start_ns": 0, "cgroup": path}
                                                              for pid, path in cgroups.items()]}, file)
    rows, run = containers("nested")
    names = set(rows)
    check("names by cgroups", {"host", "docker:3f4e5d6c7b8a"} <= names and len(names) == 3, (names, run.stderr))
    check("without what moves the cursor", all(name.isprintable() for name in names), names)
    check("in the threads' column", {row["container"] for row in json.loads(report("cpu", "--json", "nested").stdout)["rows"]}
          == {name for name in names if name != "host"} | {None}, names)
    check("in text", run.returncode == 0 and "docker:3f4e5d6c7b8a" in report("cpu", "nested").stdout)
    with open("nested/lttngtop.json", "w", encoding="utf-8") as file:
        json.dump({"schema": 1, "cgroups": {str(OUTER): f"/system.slice/docker-{ID}.scope", str(INNER): 7, "x": "/lxc/x"}}, file)
    rows, run = containers("nested")
    check("names by namespaces", {"host", "docker:3f4e5d6c7b8a"} <= set(rows) and len(rows) == 3, (rows, run.stderr))
    check("one that is not a path", "a name in 'cgroups' is not a string" in run.stderr, run.stderr)


def circle():
    made = Made()
    for tid, comm, own, other in ((20, "a\x1b[31m\r", OUTER, INNER), (30, "b", INNER, OUTER), (40, "self", 77, 77)):
        made.process(tid, comm)
        made.namespace(tid, 2, own, 1)
        made.namespace(tid, 1, other, 1)
    made.turns(20, 30, 40, 0, 0)
    made.write("circle")
    rows, run = containers("circle")
    check("in a circle", (run.returncode, len(rows)) == (0, 4), (rows, run.stderr))
    check("each is in the other", rows["b:4026532320"]["parent"].startswith("a") and rows["self:77"]["parent"] == "self:77",
          rows)
    text = report("containers", "circle").stdout
    check("a name that moves the cursor does not", text.replace("\n", "").isprintable(), repr(text))


def many(n=30000):
    made = Made()
    made.process(1, "init")
    for i in range(n):
        made.namespace(100 + i, 1 + i % 33, 10 ** 9 + i, 1)
    made.turns(1, 100, 101, 0)
    made.write("many")
    rows, run = containers("many")
    check(f"{n} namespaces", (run.returncode, run.stderr, len(rows)) == (0, "", n - n // 33 + 1), (len(rows), run.stderr))
    rows, run = containers("--model-memory", "4M", "many")
    total = sum(row["cpu_ns"] for row in rows.values())
    check("in little memory", run.returncode == 3 and 0 < len(rows) < n // 2 and total == 3 * MS,
          (run.returncode, len(rows), total, run.stderr))
    check("which is said", "--model-memory" in run.stderr, run.stderr)


nested()
old()
named()
circle()
many()
finish()
