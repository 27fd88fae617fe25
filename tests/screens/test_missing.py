#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Events that were not recorded are not events that did not happen:
panes and reports without rows name the missing tracepoints.

The recording is made here and has only sched_switch.
"""
import os
import subprocess
import sys
import tempfile

from terminal import PROGRAM, ROOT, Checks, Terminal, need

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
IRQ = f"no irq_handler_entry, irq_handler_exit … events {RECORD} {IRQS}'"


def words(screen):
    """The text of a screen wherever its lines break."""
    return "".join("".join(screen).split())


def panes(directory):
    def test(checks):
        for size in ((200, 50), (80, 24)):
            with Terminal("--paused", directory, size=size, ready=r"\[.*, .*\[").wait_read() as t:
                t.wait("▼CPU%")
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
                            ("net", NET), ("irqs", IRQ), ("cpu", ""), ("cpus", ""), ("hosts", "")):
            run = subprocess.run([PROGRAM, "report", table, "--csv", directory], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, check=False)
            checks.equal(f"{table}: what is missing", run.stderr, f"lttngtop: {text}\n" if text else "")
            checks.equal(f"{table}: rows", len(run.stdout.splitlines()) > 1, not text)
            checks.equal(f"{table}: nothing that could be read was left", run.returncode, 0)
    test.__name__ = "reports"
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
    test.__name__ = "incomplete"
    return test


with tempfile.TemporaryDirectory() as place:
    path = os.path.join(place, "sched-only")
    with made.Recording(path, "web") as recording:
        recording.packet(0, BASE, BASE + 3 * SECOND, made.turns(BASE, STEP, 150))
    Checks().run(panes(path), reports(path), incomplete(path))
