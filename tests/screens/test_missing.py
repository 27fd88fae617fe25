#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Events that were not recorded are not events that did not happen:
panes and reports without rows name the missing tracepoints.

The recordings are made here: one has only sched_switch, the other only system calls, as 'lttng enable-event -k
--syscall --all' records them.
"""
import json
import os
import subprocess
import sys
import tempfile

from terminal import PROGRAM, ROOT, Checks, Terminal, need, skip, unpack

sys.path.insert(0, os.path.join(ROOT, "tests", "source"))
import made  # noqa: E402

need("tmux")
SECOND = 10 ** 9
BASE = 1_700_000_000 * SECOND
STEP = SECOND // 50

RECORD = "were recorded: use 'lttngtop record --set full' or 'lttng enable-event -k"
CALLS = f"no system calls {RECORD} --syscall --all'"
DISK = f"no block_rq_issue, block_rq_complete events {RECORD} block_rq_issue,block_rq_complete'"
NET = f"no net_dev_queue, net_if_receive_skb events {RECORD} net_dev_queue,net_if_receive_skb'"
WAKE = f"no sched_waking, sched_wakeup_new events {RECORD} sched_waking,sched_wakeup_new'"
IRQS = "irq_handler_entry,irq_handler_exit,irq_softirq_raise,irq_softirq_entry,irq_softirq_exit"
SWITCH = f"no sched_switch events {RECORD} sched_switch'"
SWITCH_WAKE = f"no sched_switch, sched_waking … events {RECORD} sched_switch,sched_waking,sched_wakeup_new'"
IRQ = f"no irq_handler_entry, irq_handler_exit … events {RECORD} {IRQS}'"


def words(screen):
    """The text of a screen wherever its lines break."""
    return "".join("".join(screen).split())


def panes(directory):
    def test(checks):
        for size in ((200, 50), (80, 24)):
            with Terminal("--paused", directory, size=size, ready=r"\[.*, .*\[").wait_read() as t:
                t.wait("▼CPU%")
                checks.contains(f"{size}: line 2 claims nothing", t.screen()[1:2], r" tasks 2 .* fds - +disk - +net -$")
                for key, texts in (("2", [CALLS]), ("4", [CALLS]), ("5", [CALLS]), ("6", [WAKE]), ("7", [DISK, NET, IRQ])):
                    shown = words(t.press(key))
                    checks.check(f"{size}: pane {key} says what is missing", all(words([text]) in shown for text in texts), shown)
                    checks.check(f"{size}: pane {key} claims nothing", "inthisinterval" not in shown, shown)
                shown = words(t.press("1", "Enter"))
                checks.check(f"{size}: details, too", words([CALLS]) in shown, shown)
                shown = words(t.press("1", "F4", "x", "Enter", "7"))
                checks.check(f"{size}: a filter is said first", "nothingmatchesthefilter" in shown, shown)
    test.__name__ = "panes"
    return test


def reports(directory):
    def test(checks):
        for table, text in (("io", CALLS), ("files", CALLS), ("syscalls", CALLS), ("sched", WAKE), ("disks", DISK),
                            ("net", NET), ("irqs", IRQ), ("cpu", ""), ("cpus --columns busy_ns", ""), ("hosts", "")):
            run = subprocess.run([PROGRAM, "report", *table.split(), "--csv", directory], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, check=False)
            checks.equal(f"{table}: what is missing", run.stderr, f"lttngtop: {text}\n" if text else "")
            checks.equal(f"{table}: rows", len(run.stdout.splitlines()) > 1, not text)
            checks.equal(f"{table}: nothing that could be read was left", run.returncode, 0)
    test.__name__ = "reports"
    return test


def report(table, *sources):
    run = subprocess.run([PROGRAM, "report", *table.split(), "--json", *sources], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, check=False)
    return run.returncode, run.stderr, json.loads(run.stdout)["rows"]


def no_switches(calls, switches):
    """Threads 1 and 2 alternate in calling the kernel, but may have slept all the time in between."""
    def test(checks):
        for table, figures, known in (
                ("cpus", ("busy_ns", "idle_ns", "switches", "busy_percent", "state", "running"), {"online_ns": 149 * STEP + 1}),
                ("containers", ("cpu_ns", "ready_ns", "waited", "blocked_ns", "cpu_percent"), {"syscalls": 150}),
                ("cpu --sum-by host", ("cpu_ns", "ready_ns", "blocked_ns", "switches"), None)):
            status, error, rows = report(f"{table} --columns {','.join((*figures, *(known or ())))}", calls)
            checks.equal(f"{table}: what is missing", (status, error), (0, f"lttngtop: {SWITCH}\n"))
            checks.equal(f"{table}: no figure", rows, [{**dict.fromkeys(figures), **known}] if known else [])
        for table in ("cpu", "preemption", "accounting", "critical-totals --tid 1", "bottleneck", "sched"):
            status, error, rows = report(table, calls)
            checks.equal(f"{table}: what is missing", (status, error, rows),
                         (0, f"lttngtop: {SWITCH if table == 'cpu' else SWITCH_WAKE}\n", []))
        status, error, rows = report("cpus --columns irq_ns,softirq_ns,irq_percent,busy_ns", switches)
        checks.equal("interrupts were not recorded", (status, error, [list(row.values()) for row in rows]),
                     (0, f"lttngtop: {IRQ}\n", [[None, None, None, 149 * STEP + 1]]))
        status, error, rows = report("io", calls)
        checks.equal("what was recorded is not missing", (status, error, [(row["tid"], row["syscalls"]) for row in rows]),
                     (0, "", [(1, 75), (2, 75)]))
        status, error, rows = report("cpus --sum-by host --columns host,busy_ns", calls, switches)
        checks.equal("two hosts: one has it", [(row["host"], row["busy_ns"] is None) for row in rows],
                     [("calls", True), ("web", False)])
        checks.equal("two hosts: which one lacks it", (status, error), (0, f"lttngtop: calls: {SWITCH}\n"))
        status, error, rows = report("cpus --sum-by all --columns busy_ns", calls, switches)
        checks.equal("their sum is not known", [row["busy_ns"] for row in rows], [None])
    test.__name__ = "no_switches"
    return test


def no_switches_shown(directory):
    def test(checks):
        for size, meter in (((200, 50), r"0\[ unknown  \] +- "), ((50, 24), r"\? +- ")):
            with Terminal("--paused", directory, size=size, ready=r"\[.*, .*\[").wait_read() as t:
                screen = t.sync()
                checks.check(f"{size}: the meters are empty", t.wait(rf"^ calls +{meter}"), screen)
                checks.check(f"{size}: and the timeline", t.wait(r"\?{20}"), screen)
                checks.check(f"{size}: nor is there CPU time", words([SWITCH]) in words(screen), screen)
                checks.lacks(f"{size}: no share", screen, "100%")
                screen = t.press("2", "Enter")
                checks.check(f"{size}: details: state", t.wait(r"^ +state +unknown$"), screen)
                checks.lacks(f"{size}: details: no CPU time", screen, "on a CPU")
    test.__name__ = "no_switches_shown"
    return test


def incomplete(directory):
    """The last packet's second half was never written."""
    def test(checks):
        data = os.path.join(directory, "ch_0")
        os.truncate(data, os.path.getsize(data) * 3 // 4)
        for size, mark in (((200, 50), "incomplete"), ((80, 24), "inc")):
            with Terminal("--paused", directory, size=size, ready=r"\[.*, .*\[") as t:
                checks.check(f"{size}: line 1 says so", t.wait(rf"\A PAUSED .*\b{mark}"), t.screen()[0])
                shown = words(t.press("L"))
                checks.check(f"{size}: the messages say what", "ch_0" in shown, shown)
        others = unpack("three-tier") or skip("no recording three-tier")
        with Terminal("--paused", "--no-sync", others, directory, ready=r"\[.*, .*\[").wait_read() as t:
            checks.check("beside other hosts, too, first of all", "ch_0" in words(t.press("L")), t.screen())
    test.__name__ = "incomplete"
    return test


def between_sessions(checks):
    """The time between two sessions of a host is reported, with its start."""
    sources = [unpack(name) or skip(f"no recording {name}") for name in ("three-tier", "rpc-hog-local")]
    with Terminal("--paused", *sources, size=(120, 60)).wait_read() as t:
        said = [line for line in t.press("L", "End") if "not recorded for" in line]
        checks.lacks("once, though the recordings are first read for their clocks", said, r"times\)")
        checks.contains("with its start", said, r"web: not recorded for 70 s, from 2026-11-20 14:07:15 UTC")


with tempfile.TemporaryDirectory() as place:
    path = os.path.join(place, "sched-only")
    with made.Recording(path, "web") as recording:
        recording.packet(0, BASE, BASE + 3 * SECOND, made.turns(BASE, STEP, 150))
    calls_path = os.path.join(place, "calls-only")
    with made.Recording(calls_path, "calls", event=made.CALL) as recording:
        times = [BASE + i * STEP for i in range(150)]
        recording.packet(0, BASE, times[-1], [(time, made.call(time, 1 + i % 2)) for i, time in enumerate(times)])
    Checks().run(panes(path), reports(path), no_switches(calls_path, path), no_switches_shown(calls_path), between_sessions,
                 incomplete(path))
