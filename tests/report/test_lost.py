#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Lost events and packets: stderr and the exit status count those of the chosen interval, as the table does."""
import collections
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402

INCOMPLETE = 3
EDGES_MS = (0, 30, 1500, 2840, 2849)
checks = harness.Checks()


def run(*args):
    done = subprocess.run([harness.PROGRAM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    said = re.search(r"^lttngtop: incomplete: lost: (?:(\d+) events?(?:, |$))?(?:(\d+) packets?)?$", done.stderr, re.M)
    return done, tuple(int(n or 0) for n in said.groups()) if said else (0, 0)


def goes_on(stderr):
    return "lost: an unknown number of events" in stderr


def intervals():
    """Adjoining ones, from the start to the end."""
    for begin, end in zip(EDGES_MS, (*EDGES_MS[1:], None)):
        yield ["--begin", f"+{begin}ms", *(["--end", f"+{end}ms"] if end else [])]


def check_within_loss(recording):
    """Where packets are lost and none is there to count them, a report knows that it is incomplete."""
    times, unknown = ("--begin", "+900ms", "--end", "+1s"), "LOST: an unknown number of events"
    done, _ = run("attach", "-c", "-n", "*", *times, recording)
    checks.equal((done.returncode, goes_on(done.stderr)), (INCOMPLETE, True), f"attach within a loss: {done.stderr}")
    done, _ = run("report", "slice", "-o", "within", "--begin", "+0ms", "--end", "+30ms", recording)
    checks.equal((done.returncode, goes_on(done.stderr)), (INCOMPLETE, True), f"slice that ends within a loss: {done.stderr}")
    for args in (["cpu"], ["cpus", "-i", "20ms"], ["accounting"], ["critical-totals", "--comm", "*", "-i", "50ms"]):
        done, _ = run("report", *args, *times, recording)
        checks.equal((done.returncode, goes_on(done.stderr)), (INCOMPLETE, True), f"{args} within a loss: {done.stderr}")
        headings = [line for line in done.stdout.splitlines() if " hosts: db" in line]
        checks.equal([unknown in line for line in headings], [True] * len(headings), done.stdout)
        checks.true(headings, f"{args} within a loss: no heading in {done.stdout}")


def check_hosts(recording):
    """What a page counts as lost was lost on the hosts that it names, also where rows concern other hosts."""
    for table in ("cpu", "connections", "relations", "accounting"):
        for host, packets in ("client", 0), ("db#2", 1678), ("*", 1678):
            done, _ = run("report", table, "--no-sync", "--json", "--host", host, recording, harness.bundled("three-tier"))
            page = json.loads(done.stdout)
            checks.equal(page["lost"], {"events": 0, "packets": packets}, f"{table} of {page['hosts']}")


def check_running(name, directory):
    """By their paths, threads run no longer than CPUs are there, and each no longer than by the table cpu."""
    whole = harness.report("hosts", directory, status=(INCOMPLETE,))
    third, sure = (whole.end - whole.begin) // 3, 0
    for begin, end in ((whole.begin, whole.end), (whole.begin, whole.begin + third), (whole.begin, whole.begin + third // 8000), (whole.begin + third, whole.end),
                       (whole.end - third // 30, whole.end)):
        times, status = ("--begin", harness.stamp(begin), "--end", harness.stamp(end)), (0, INCOMPLETE)
        cpus, cpu, path, accounts = (harness.report(table, *times, *args, directory, status=status).rows
                                     for table, *args in (("cpus",), ("cpu",), ("critical-path", "--comm", "*"), ("accounting",)))
        known, own = {r["tid"]: r["cpu_ns"] for r in cpu}, collections.defaultdict(collections.Counter)
        for segment in path:
            if segment["tid"] == segment["path_tid"]:
                own[segment["tid"]][segment["state"]] += segment["duration_ns"]
        what, most = f"{name} [{begin}, {end}[", len(cpus) * (end - begin)
        checks.true(sum(states["running"] for states in own.values()) <= most, f"{what}: threads run longer than {most} ns")
        checks.true(sum(r["cpu_total_ns"] for r in accounts) <= most, f"{what}: accounts have more CPU time than {most} ns")
        for tid, states in own.items():
            checks.true(states["running"] <= known.get(tid, 0), f"{what}: {tid} runs {states}, by table cpu {known.get(tid, 0)}")
            if not states["unknown"] and tid in known:
                checks.equal(states["running"], known[tid], f"{what}: {tid}, about which all is known")
                sure += 1
    checks.true(sure, f"{name}: threads about which all is known")


def main():
    harness.need_program()
    recording = harness.bundled("lossy-overwrite")
    _, everything = run("report", "cpus", "--json", recording)
    checks.true(everything == (0, 1678), f"all of it: {everything}")
    for command in (["report", "cpus", "--json"], ["report", "events", "--json", "-i", "5ms"], ["report", "accounting", "--json"],
                    ["report", "critical-totals", "--json", "-i", "500ms"], ["attach", "-c", "-n", "*"]):
        total = [0, 0]
        for times in intervals():
            done, said = run(*command, *times, recording)
            what = " ".join([*command, *times])
            total = [a + b for a, b in zip(total, said)]
            # CPU 0 has no packet from 20 ms on, and those lost before 1.5 s are counted later
            checks.equal(goes_on(done.stderr), times == ["--begin", "+0ms", "--end", "+30ms"], f"{what}: {done.stderr}")
            checks.equal(done.returncode, INCOMPLETE if any(said) or goes_on(done.stderr) else 0, f"{what}: exit status; {done.stderr}")
            if command[0] == "report":
                lost = [page["lost"] for page in map(json.loads, done.stdout.splitlines())]
                checks.equal(said, (sum(x["events"] for x in lost), sum(x["packets"] for x in lost)), what)
        checks.equal(tuple(total), everything, f"{command}: all intervals together")
    done, said = run("report", "slice", "-o", "whole", recording)
    checks.equal((done.returncode, said), (INCOMPLETE, everything), "slice of all")
    done, said = run("report", "slice", "-o", "end", "--begin", "+2849ms", recording)
    checks.equal((done.returncode, said), (0, (0, 0)), f"slice of the end: {done.stderr}")
    done, _ = run("report", "slice", "-o", "", recording)
    checks.equal((done.returncode, "usage" in done.stderr.lower() or "--help" in done.stderr), (2, True), done.stderr)
    check_hosts(recording)
    check_within_loss(recording)
    for name in "lossy-overwrite", "lossy":
        found = harness.recording(name)
        if found:
            check_running(name, found[0])
    checks.finish()


main()
