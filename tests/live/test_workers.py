#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Several live sessions in one worker: one that dies, or stops, does not take any of them down for good."""
import contextlib
import os
import re
import signal
import shutil
import subprocess
import sys

import fake_relay
import sandbox
from fake_relay import Session
from test_feed import PROGRAM, TRACES, hosts_of, trace_of
from test_hosts import Steady
from test_live import wait_all

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "screens"), os.path.join(HERE, "..", "source")]
import processes  # noqa: E402
from terminal import Checks, Terminal  # noqa: E402


class Counting(Steady):
    """Knows how often it had been attached when a viewer last came to the end of what was recorded."""
    read_after = 0

    def at_end(self, stream):
        self.read_after = self.commands.count(fake_relay.ATTACH)
        return super().at_end(stream)


@contextlib.contextmanager
def three_sessions():
    """Relays, each with a session of its own, and one CPU for their readers."""
    with contextlib.ExitStack() as stack:
        relays = [stack.enter_context(Counting(Session([trace_of(path)], host=name)))
                  for name, path in hosts_of(os.path.join(TRACES, "three-tier")).items()]
        stack.enter_context(processes.one_cpu())
        yield relays


def wait_for_hosts(t):
    """All three are there; after their recordings they send only beacons, and stand still."""
    wait_all(t, *(rf"^ {host} +(0\[|no events since )" for host in ("client", "db", "web")))


def attached(relays):
    """How often each session was; their relayds are asked for their lists by other connections."""
    return [relay.commands.count(fake_relay.ATTACH) for relay in relays]


def read_log():
    with open("log", encoding="utf-8", errors="replace") as log:
        return log.read()


def check_back(checks, t, relays, before, name):
    """All are attached once more, by another worker; the one whose turn it was, by a worker of its own."""
    wait_for_hosts(t)
    sandbox.wait_until(lambda: min(attached(relays)) > 1, f"{name}: attached again")
    wait_for_hosts(t)
    now = processes.workers(t.program_pid())
    checks.check(f"{name}: by another worker", len(now) in (1, 2) and not set(now) & set(before), (before, now))


def test_killed_worker(checks):
    with three_sessions() as relays, Terminal("--log", "log", *(relay.url for relay in relays), size=(120, 30), ready=None) as t:
        wait_for_hosts(t)
        before = processes.workers(t.program_pid())
        checks.equal("killed: one worker for all", len(before), 1)
        checks.equal("killed: how it is called", processes.called(before[0]), ("lttngtop: live",) * 2)
        os.kill(before[0], signal.SIGKILL)
        check_back(checks, t, relays, before, "killed")
        for relay in relays:
            checks.check(f"killed: why, of {relay.session.host}",
                         re.search(rf"worker for '{relay.url}' died: signal 9", read_log()), read_log())
        t.keys("q")
        checks.equal("killed: status", t.status(), 0)


def test_stopped_worker(checks):
    """A worker that hangs is killed, and the monitor continues meanwhile."""
    with three_sessions() as relays, Terminal("--log", "log", *(relay.url for relay in relays), size=(120, 30), ready=None) as t:
        wait_for_hosts(t)
        before = processes.workers(t.program_pid())
        os.kill(before[0], signal.SIGSTOP)
        t.keys("?")
        t.wait("Help .Esc closes")
        t.keys("Escape")
        check_back(checks, t, relays, before, "stopped")
        checks.check("stopped: why", "was ended: no heartbeat for 10 s" in read_log(), read_log())
        t.keys("q")
        checks.equal("stopped: status", t.status(), 0)


def test_report(checks):
    """A report waits for sessions whose worker died, and says that data is missing."""
    with three_sessions() as relays:
        report = subprocess.Popen([PROGRAM, "report", "hosts", "--csv", *(relay.url for relay in relays)],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        sandbox.wait_until(lambda: all(r.commands.count(fake_relay.PACKET) > 3 for r in relays), "packets")
        worker, = processes.workers(report.pid)
        os.kill(worker, signal.SIGKILL)
        sandbox.wait_until(lambda: attached(relays) == [2, 2, 2], "attached again")
        report.send_signal(signal.SIGINT)
        out, err = report.communicate(timeout=sandbox.PATIENCE)
        checks.equal("report: hosts", len(out.splitlines()), 4)
        checks.equal("report: status", report.returncode, 3)
        checks.equal("report: why", len(re.findall(r"worker for '[^']*' died: signal 9", err)), 3)


def test_report_with_many_workers(checks):
    """However many workers of a session have died, it is attached again: it was read after each."""
    with three_sessions() as relays:
        report = subprocess.Popen([PROGRAM, "report", "hosts", "--csv", relays[0].url], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for times in range(1, 5):
            sandbox.wait_until(lambda n=times: relays[0].read_after == n, f"read {times} times")
            # its worker has said so, by which the report is woken: it sleeps again once it knows
            sandbox.wait_until(lambda: processes.state_and_parent(report.pid)[0] == "S", "that is known")
            for worker in processes.workers(report.pid):
                os.kill(worker, signal.SIGKILL)
        sandbox.wait_until(lambda: relays[0].read_after == 5, "read again")
        report.send_signal(signal.SIGINT)
        out, _ = report.communicate(timeout=sandbox.PATIENCE)
        checks.equal("many: hosts", len(out.splitlines()), 2)
        checks.equal("many: status", report.returncode, 3)


def main():
    if not os.path.isdir(os.path.join(TRACES, "three-tier")):
        print(f"skip {os.path.basename(sys.argv[0])}: no recordings in {TRACES}")
        return 77
    tests = [test_report, test_report_with_many_workers]
    if shutil.which("tmux"):
        tests += [test_killed_worker, test_stopped_worker]
    else:
        print("skip the monitor: tmux is not installed")
    Checks().run(*tests)
    return 1


if __name__ == "__main__":
    sys.exit(main())
