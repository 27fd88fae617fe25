#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions of LTTng 2.15 and later, in both of its trace formats: CTF 2, the default, and CTF 1.8. Recorded, followed
while they are written, and live through its relayd: the same events as babeltrace2 prints.
"""
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys

from cases import check, finish

import sandbox

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "screens"))
from terminal import Terminal  # noqa: E402

TOP = os.path.abspath(os.environ["LTTNGTOP"])
BUILD = os.path.abspath(os.environ["BUILD"])
DUMP = os.path.join(BUILD, "tests/source/dump_records")
FORMATS = {"CTF 2": (), "CTF 1.8": ("--trace-format=ctf-1.8",)}
CONTEXTS = [word for name in ("vpid", "vtid", "procname", "pthread_id") for word in ("--type", name)]


def format_of(path):
    """The formats that the metadata below the path declare."""
    found = set()
    for name in glob.glob(f"{path}/**/metadata", recursive=True):
        with open(name, "rb") as file:
            start = file.read(4096)
        found.add("CTF 2" if b'"preamble"' in start else "CTF 1.8" if b"CTF 1.8" in start else name)
    return found


def printed(path):
    """The events as babeltrace2 prints them: (ns, CPU, class), sorted."""
    out = subprocess.run(["babeltrace2", "--clock-seconds", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = re.findall(r"^\[(\d+)\.(\d{9})\] .*? (\S+): \{ cpu_id = (\d+) \}", out, re.M)
    assert len(found) == len(out.splitlines()), out[:1000]
    return sorted((int(s + ns), int(cpu), name) for s, ns, name, cpu in found)


def decoded(path, reader):
    """The same from one of the program's readers."""
    run = subprocess.run([DUMP, "-R", reader, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode == 0, (reader, run.stdout[-1000:], run.stderr)
    return sorted((int(ns), int(cpu), name) for ns, cpu, name in re.findall(r"^(\d+) \S+ cpu=(\d+) .*?\bclass=(\S+)", run.stdout, re.M))


def counts(path):
    return dict(collections.Counter(name for _, _, name in printed(path)))


def reported(out):
    found = collections.Counter()
    for line in out.splitlines():
        for row in json.loads(line)["rows"]:
            found[row["name"]] += row["count"]
    return dict(found)


def report(*arguments):
    return subprocess.Popen([TOP, "report", "events", "--json", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def check_report(name, process, wanted):
    out, err = process.communicate(timeout=sandbox.PATIENCE)
    check(f"{name}: ends well", (process.returncode, err) == (0, ""), (process.returncode, err))
    check(f"{name}: every event", reported(out) == wanted and sum(wanted.values()) > 0, f"{reported(out)}, not {wanted}")


def enable(ust, name):
    ust.lttng("enable-channel", "-u", "-s", name, "--subbuf-size=16k", "--num-subbuf=64", "--switch-timer=100000", "c")
    ust.lttng("enable-event", "-u", "-s", name, "-c", "c", "--all")
    ust.lttng("add-context", "-u", "-s", name, "-c", "c", *CONTEXTS)


def test_recorded(ust, form, options):
    path = f"{ust.user.home}/recorded"
    ust.lttng("create", "recorded", f"--output={path}", *options)
    enable(ust, "recorded")
    ust.lttng("start", "recorded")
    ust.trace(10)
    follow = report("--follow", "--interval", "20ms", "--stall-limit", "1s", path)
    ust.trace(1000)
    ust.trace(300)
    ust.lttng("destroy", "recorded")
    check(f"{form}, recorded: the format", format_of(path) == {form}, format_of(path))
    wanted = printed(path)
    check(f"{form}, recorded: tracef", counts(path)["lttng_ust_tracef:event"] == 1310, counts(path))
    for reader in ("native", "babeltrace2"):
        found = decoded(path, reader)
        differ = [pair for pair in zip(found, wanted) if pair[0] != pair[1]]
        check(f"{form}, recorded: as babeltrace2 prints it, reader {reader}", found == wanted,
              (len(found), len(wanted), differ[:2]))
    check_report(f"{form}, followed", follow, counts(path))
    check_report(f"{form}, reported", report(path), counts(path))


def test_live(ust, form, options):
    ust.create_live("s1", *options)
    enable(ust, "s1")
    ust.lttng("start", "s1")
    ust.trace(100)
    live = report("--from-start", ust.url())

    def listed():
        out = subprocess.run([TOP, "list", "--json", f"net://127.0.0.1:{ust.live}"], stdout=subprocess.PIPE, check=True).stdout
        return [(s["session"], s["live"], s["taken"]) for s in json.loads(out)["sessions"]]

    sandbox.wait_until(lambda: listed() == [("s1", True, True)], f"{form}: attached to the session that is listed")
    ust.trace(2000)
    ust.lttng("destroy", "s1")
    out, err = live.communicate(timeout=sandbox.PATIENCE)
    wanted = counts(ust.output)
    check(f"{form}, live: the format", format_of(ust.output) == {form}, format_of(ust.output))
    check(f"{form}, live: ends well", (live.returncode, err) == (0, ""), (live.returncode, err))
    check(f"{form}, live: every event", reported(out) == wanted and wanted["lttng_ust_tracef:event"] == 2100,
          f"{reported(out)}, stored {wanted}")


def test_monitor(ust, form, options):
    if not shutil.which("tmux"):
        print("skip the monitor: tmux is not installed")
        return
    ust.create_live("s1", *options)
    enable(ust, "s1")
    ust.lttng("start", "s1")
    ust.trace(100)
    with Terminal("--from-start", f"net://127.0.0.1:{ust.live}", size=(120, 30), ready=None) as t:
        check(f"{form}, monitor: live", t.wait(r"^ LIVE"))
        t.keys("0")
        ust.trace(1000)
        check(f"{form}, monitor: the events", t.wait(r"lttng_ust_tracef:event"))
        ust.lttng("destroy", "s1")
        t.keys("q")
        check(f"{form}, monitor: ends well", t.status() == 0)


def main():
    sandbox.begin(ust=True)
    if not sandbox.has_ctf2() or sandbox.version_of("babeltrace2") < (2, 1):
        print("skip trace formats: needs LTTng 2.15 and babeltrace2 2.1 or later")
        return 77
    for number, (form, options) in enumerate(FORMATS.items()):
        for test in (test_recorded, test_live, test_monitor):
            with sandbox.Tracers(f"home{number}-{test.__name__}") as ust:
                test(ust, form, options)
    finish()


if __name__ == "__main__":
    main()
