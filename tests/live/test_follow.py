#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A user-space session followed while lttng writes it, without relayd: once it is destroyed, the counts are those of
the finished recording. Programs start later, archives are rotated away, buffers are per user or per process.
"""
import collections
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

from cases import check, finish

import sandbox

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "screens"))
from terminal import Terminal  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "source"))
from processes import one_cpu  # noqa: E402

TOP = os.path.abspath(os.environ["LTTNGTOP"])
APP = os.path.join(os.path.abspath(os.environ["BUILD"]), "tests", "live", "ust_app")
DUMP = os.path.join(os.path.abspath(os.environ["BUILD"]), "tests", "source", "dump_records")
EVENTS = "lttng_ust_trace*:*"


def counts(lines):
    found = collections.Counter()
    for line in lines:
        for row in json.loads(line)["rows"]:
            found[row["name"]] += row["count"]
    return dict(found)


def expected(n):
    """The counts of programs that emitted n events together, each an even number."""
    return {"lttng_ust_tracef:event": n, "lttng_ust_tracelog:LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO": n // 2}


class Session:
    """A session daemon with one session that records into a directory, and a report that follows it."""

    def __init__(self, user, channel):
        self.user, self.path = user, os.path.join(user.home, "out")
        self.app = user.bring(APP)
        self.create("s", self.path, EVENTS, channel)

    def create(self, name, path, events, channel):
        """Its events carry threads."""
        self.lttng("create", name, f"--output={path}")
        self.lttng("enable-channel", "-s", name, "-u", "c", "--subbuf-size=16k", "--num-subbuf=64", *channel)
        self.lttng("add-context", "-s", name, "-u", "-c", "c", "-t", "vtid")
        self.lttng("enable-event", "-s", name, "-u", "-c", "c", events)
        self.lttng("start", name)

    def lttng(self, *words):
        status, out, err = self.user.run("lttng", *words)
        assert status == 0, f"lttng {words}: {out}{err}"

    def run(self, n):
        assert self.user.run(self.app, str(n))[0] == 0

    def run_apart(self, n):
        """
        In two halves with more than an interval between them, so that the interval of the first ends. Otherwise all
        events might be in the last interval, as a program that has ended does not advance time.
        """
        self.run(n // 2)
        time.sleep(0.1)
        self.run(n // 2)

    def follow(self):
        return subprocess.Popen([TOP, "report", "events", "--json", "--follow", "--interval", "20ms", "--stall-limit", "1s",
                                 self.path],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def recorded(self):
        done = subprocess.run([TOP, "report", "events", "--json", self.path], stdout=subprocess.PIPE, check=True, text=True)
        return counts(done.stdout.splitlines())


@contextlib.contextmanager
def session(name, *channel):
    user = sandbox.User(name)
    try:
        user.start_sessiond()
        yield Session(user, channel)
    finally:
        user.end()


def wait_for_events(report):
    """The lines of the report up to the first one with events: the recording is then being written, and followed."""
    lines = []
    while not lines or not json.loads(lines[-1])["rows"]:
        line = report.stdout.readline()
        assert line, f"the report has ended: {report.stderr.read()}"
        lines.append(line)
    return lines


def check_end(name, s, report, lines, n):
    lines += report.stdout.readlines()
    followed, err = counts(lines), report.stderr.read()
    check(f"{name}: ends well", report.wait(sandbox.PATIENCE) == 0, (report.returncode, err))
    check(f"{name}: every event", followed == expected(n), f"{followed}, not {expected(n)}")
    check(f"{name}: as recorded", followed == s.recorded(), f"{followed}, recorded {s.recorded()}")


def test_growing():
    name = "a session that is written"
    with session("growing", "--switch-timer=100000") as s:
        s.run_apart(2000)
        report = s.follow()
        lines = wait_for_events(report)
        s.run(3000)
        s.lttng("rotate", "s")
        s.run(100)
        s.run(5000)
        s.lttng("rotate", "s")
        s.lttng("destroy", "s")
        check_end(name, s, report, lines, 10100)


def test_two_sessions():
    """Two sessions of the same programs below one directory: events
    count once, live and recorded; so do those that only one has."""
    name = "two sessions below a directory"
    with session("two", "--switch-timer=100000") as s:
        s.create("t", os.path.join(s.path, "second"), "lttng_ust_tracef:*", ["--switch-timer=100000"])
        with one_cpu():  # with all streams there before they are followed: a later one may come too late for the others
            s.run_apart(2000)
            for verb in ("stop", "start"):
                s.lttng(verb, "s")
                s.lttng(verb, "t")
            report = s.follow()
            lines = wait_for_events(report)
            s.run(3000)
            s.lttng("destroy", "s")
            s.run(500)
            s.lttng("destroy", "t")
        lines += report.stdout.readlines()
        err = report.stderr.read()
        wanted = expected(5000)
        wanted["lttng_ust_tracef:event"] += 500
        check(f"{name}: followed", counts(lines) == wanted, f"{counts(lines)}, not {wanted}")
        check(f"{name}: said", "programs traced by several sessions: their events are counted once" in err, err)
        check(f"{name}: as recorded", s.recorded() == wanted, f"{s.recorded()}, not {wanted}")


def test_files():
    """Streams of several files. The switch timer advances time:
    all events may be in one interval, which must end to be shown."""
    with session("files", "--tracefile-size=65536", "--switch-timer=100000") as s:
        s.run(10)
        report = s.follow()
        s.run(20000)
        lines = wait_for_events(report)
        s.run(4000)
        s.lttng("destroy", "s")
        check_end("several files", s, report, lines, 24010)


def test_monitor():
    """It plays while the session is written, and says so when the session has ended."""
    if not shutil.which("tmux"):
        print("skip the monitor of a session that is written: tmux is not installed")
        return
    with session("monitor", "--switch-timer=100000") as s:
        s.run(100)
        with Terminal("--follow", s.path, size=(120, 30), ready=None) as t:
            check("monitor: live", t.wait(r"^ LIVE +\["))
            s.run(400)
            s.lttng("destroy", "s")
            check("monitor: the session has ended", t.wait(r"^ ENDED +\["))
            check("monitor: data that no longer comes is not late", not re.search(r"\blag\b", t.screen()[0]))
            t.keys("9")
            check("monitor: its source, too", t.wait(r"/out +the session has ended$"))
            check("monitor: and its host", t.wait(r"^ended +"))
            t.keys("q")
            check("monitor: ends well", t.status() == 0)


def test_processes():
    """With per-process buffers nothing shows that the session has ended."""
    name = "buffers of processes"
    with session("processes", "--buffers-pid", "--switch-timer=100000") as s:
        s.run(200)
        found = collections.Counter()
        with subprocess.Popen([DUMP, "-f", "-w", TOP, "-t", "1", s.path], stdout=subprocess.PIPE, text=True) as worker:
            s.run(300)
            s.run(500)
            s.lttng("destroy", "s")
            while sum(found.values()) < sum(expected(1000).values()):
                line = worker.stdout.readline()
                assert line, f"the worker has ended: {found}"
                found.update(re.findall(r" (?:OTHER|MESSAGE) .* class=(\S+)", line))
            worker.kill()
        check(f"{name}: every event", found == expected(1000), f"{found}, not {expected(1000)}")
        check(f"{name}: as recorded", found == s.recorded(), f"{found}, recorded {s.recorded()}")


def main():
    sandbox.begin(ust=True)
    for test in (test_growing, test_files, test_processes, test_monitor, test_two_sessions):
        test()
    finish()


if __name__ == "__main__":
    main()
