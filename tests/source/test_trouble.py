#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A worker that dies or hangs: its host is incomplete and says why, the others are whole, exit status 3.

The report is stopped while its workers fill their rings: the one of the larger
recording then waits for room in the middle of it, and is killed or stopped there.
"""
import json
import os
import signal
import subprocess
import sys
import time

LTTNGTOP = os.environ["LTTNGTOP"]
TRACES = os.path.join(os.environ["BUILD"], "traces")
VICTIM, OTHER = os.path.join(TRACES, "hotplug"), os.path.join(TRACES, "kprobe")
PATIENCE_S = 60

failed = 0


def check(name, good, why=""):
    global failed
    failed += not good
    print(f"{'ok' if good else 'not ok'} {name}{'' if good else ': ' + str(why)}")


def workers(parent):
    """pid -> command line of the children."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as stat, open(f"/proc/{pid}/cmdline") as cmdline:
                if int(stat.read().rsplit(")", 1)[1].split()[1]) == parent:
                    found[int(pid)] = cmdline.read().replace("\0", " ")
        except OSError:
            pass
    return found


def sleeps(pid):
    """Asleep for a while: not only for a page."""
    for _ in range(10):
        with open(f"/proc/{pid}/stat") as stat:
            if stat.read().rsplit(")", 1)[1].split()[0] != "S":
                return False
        time.sleep(0.005)
    return True


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.002)
    raise RuntimeError(f"no {what} within {PATIENCE_S} s")


def victim_of(report):
    return next((pid for pid, line in workers(report.pid).items() if "--worker" in line and VICTIM in line), None)


def run_with(number):
    """The report on both recordings, the victim's worker getting the signal in the middle: rows, stderr, status."""
    report = subprocess.Popen([LTTNGTOP, "report", "hosts", "--json", "--workers", "1", VICTIM, OTHER],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def catch():
        os.kill(report.pid, signal.SIGCONT)
        found = wait_for("worker", lambda: victim_of(report))
        os.kill(report.pid, signal.SIGSTOP)
        try:
            wait_for("worker that waits for room", lambda: sleeps(found))
        except OSError:
            return None  # one of an earlier pass, which was on its way out
        return found
    victim = wait_for("worker", catch)
    os.kill(victim, number)
    os.kill(report.pid, signal.SIGCONT)
    out, err = report.communicate(timeout=PATIENCE_S)
    rows = {row["host"]: row["events"] for row in json.loads(out)["rows"]}
    return rows, err, report.returncode


def whole():
    out = subprocess.run([LTTNGTOP, "report", "hosts", "--json", VICTIM, OTHER], stdout=subprocess.PIPE, check=True)
    return {row["host"]: row["events"] for row in json.loads(out.stdout)["rows"]}


def main():
    expected = whole()
    for name, number, words in (("dies", signal.SIGKILL, "died: signal 9"), ("hangs", signal.SIGSTOP, "it hangs")):
        rows, err, status = run_with(number)
        check(f"{name}: exit status", status == 3, status)
        check(f"{name}: the reason", words in err and VICTIM in err, err)
        check(f"{name}: the other host is whole", rows.get("client") == expected["client"], rows)
        check(f"{name}: what was read stays", 0 < rows.get("db", 0) < expected["db"], rows)
    sys.exit(failed > 0)


main()
