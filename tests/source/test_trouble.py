#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A worker that dies or hangs: its host is incomplete and says why, the others are complete, exit status 3.

The report is stopped while its workers fill their rings: that of the larger recording then waits
for room in the middle of it, and is killed or stopped there.
"""
import json
import os
import signal
import subprocess

from cases import check, finish

from processes import PATIENCE_S, Held, called, workers

LTTNGTOP = os.environ["LTTNGTOP"]
TRACES = os.path.join(os.environ["BUILD"], "traces")
VICTIM, OTHER = os.path.join(TRACES, "hotplug"), os.path.join(TRACES, "kprobe")


def run_with(number):
    """The report on both recordings, whose victim's worker gets the signal in the middle: rows, stderr, status."""
    held = Held()
    report = subprocess.Popen([LTTNGTOP, "report", "hosts", "--json", "--workers", "1", VICTIM, OTHER],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, **held.environment})

    held.stop_midway(report.pid, 2)
    victim = workers(report.pid, VICTIM)[0]
    check("how it is called", called(victim) == ("lttngtop: db", "lttngtop: db"), called(victim))
    check("how the program is called", called(report.pid)[0] == "lttngtop", called(report.pid))
    os.kill(victim, number)
    held.go_on(but=[victim])
    out, err = report.communicate(timeout=PATIENCE_S)
    rows = {row["host"]: row["events"] for row in json.loads(out)["rows"]}
    return rows, err, report.returncode


def whole():
    out = subprocess.run([LTTNGTOP, "report", "hosts", "--json", VICTIM, OTHER], stdout=subprocess.PIPE, check=True)
    return {row["host"]: row["events"] for row in json.loads(out.stdout)["rows"]}


def main():
    expected = whole()
    for name, number, words in (("dies", signal.SIGKILL, "died: signal 9"), ("hangs", signal.SIGSTOP, "was ended: no heartbeat for 10 s")):
        rows, err, status = run_with(number)
        check(f"{name}: exit status", status == 3, status)
        check(f"{name}: the reason", words in err and VICTIM in err, err)
        check(f"{name}: the other host is whole", rows.get("client") == expected["client"], rows)
        check(f"{name}: what was read stays", 0 < rows.get("db", 0) < expected["db"], rows)
    finish()


main()
