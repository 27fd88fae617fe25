#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Containers count the threads and processes that lived in the interval: not those that had exited before it. A trace of
programs alone does not show how many there are."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402


def forks(page):
    return sum(row["count"] for row in page.rows if row["name"] == "sched_process_fork")


def main():
    harness.need_program()
    checks = harness.Checks()
    for name in ("hotplug", "locks-pipes", "workqueue"):
        recording = harness.bundled(name)
        pages = [harness.run(table, recording, "-i", "1s") for table in ("containers", "hosts", "events")]
        before = None
        for containers, hosts, events in zip(*pages):
            got = sum(row["threads"] for row in containers.rows)
            at_end = sum(row["threads"] for row in hosts.rows)
            checks.true(got >= at_end, f"{name} at {containers.begin}: {got} threads lived, {at_end} at the end")
            if before:
                checks.true(got <= before + forks(events),
                            f"{name} at {containers.begin}: {got} threads lived: {before} and {forks(events)} new ones")
            before = at_end
        checks.true(len(pages[0]) > 2, f"{name}: few intervals")
    programs, = harness.report("hosts", harness.bundled("ctf2-ust")).rows
    checks.true(programs["events"] > 0, "programs have events")
    checks.equal([programs[name] for name in ("cpus", "threads", "fds")], [None] * 3, "CPUs, threads and fds of programs")
    checks.finish()


main()
