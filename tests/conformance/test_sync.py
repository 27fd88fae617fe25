#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets and clocks in Trace Compass' mode: its facts, and the reference implementation, digit for digit.

Cases net_matching and sync_scp; then every recording of several hosts against
sync.py of ../shared/reference, which was compared with Trace Compass itself.
"""

import json
import os
import subprocess

import case
import harness

PYTHON = "/usr/bin/python3"  # the one that has babeltrace2's module
REFERENCE = os.path.join(harness.SHARED, "reference", "sync.py")


def report(table, *args):
    command = [harness.PROGRAM, "report", table, "--json", "--compat=tracecompass", *args]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, timeout=600)
    if done.returncode not in (harness.COMPLETE, harness.INCOMPLETE):
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}")
    return json.loads(done.stdout)["rows"]


def load(name):
    directory = os.path.join(harness.CONFORMANCE, name)
    with open(os.path.join(directory, "expected.json"), encoding="utf-8") as f:
        return directory, json.load(f)


def check_net_matching(checks):
    directory, expected = load("net_matching")
    t0 = expected["t0"]
    rows = report("matches", "--no-sync", os.path.join(directory, "ctf"))
    got = [{"from": {"host": r["from_host"], "t": r["sent_ns"] - t0},
            "to": {"host": r["to_host"], "t": r["received_ns"] - t0}} for r in rows]
    # The report is in the order of sending.
    checks.equal(got, sorted(expected["matches"], key=lambda m: m["from"]["t"]), "net_matching: matches")


def check_sync_scp(checks):
    directory, expected = load("sync_scp")
    transform = expected["transform"]
    computed = expected["not_asserted_but_computed"]
    rows = {r["host"]: r for r in report("sync", os.path.join(directory, "ctf"))}
    row = rows[transform["hostname"]]
    checks.equal(row["ref"], expected["reference_hostname"], "sync_scp: reference")
    checks.equal(row["matched"], expected["matches"], "sync_scp: matches")
    checks.equal(row["used"], computed["accurate_matches"], "sync_scp: accurate matches")
    checks.equal(row["state"].upper(), expected["quality"], "sync_scp: quality")
    checks.equal((row["slope"], row["intercept"]), (transform["slope"], transform["offset"]), "sync_scp: transform")
    checks.equal(rows[expected["reference_hostname"]]["state"], "reference", "sync_scp: state of the reference")


def check_recording(checks, name, directory):
    done = subprocess.run([PYTHON, REFERENCE, directory], stdout=subprocess.PIPE, check=True, timeout=600)
    want = json.loads(done.stdout)
    names = want["hosts"]
    rows = {r["host"]: r for r in report("sync", directory)}
    for uuid, transform in want["transforms"].items():
        host = names[uuid]
        row = rows[host]
        if row["state"] == "reference":
            checks.equal((transform["slope"], transform["offset"]), ("1", "0"), f"{name}/{host}: the reference")
            continue
        checks.equal((row["slope"], row["intercept"]), (transform["slope"], transform["offset"]),
                     f"{name}/{host}: transform")
    checks.equal(sum(r["slope"] is not None for r in rows.values()), max(len(want["transforms"]) - 1, 0),
                 f"{name}: hosts with a transform")
    checks.equal(len(report("matches", "--no-sync", directory)), want["matches"], f"{name}: matches")
    for pair in want["pairs"]:
        row = rows[names[pair["other"]]]
        if row["ref"] == names[pair["ref"]] and len(names) == 2:
            checks.equal((row["matched"], row["used"], row["state"].upper()),
                         (pair["matches"], pair["accurate_matches"], pair["quality"]), f"{name}: pair")


def main():
    if not os.path.isdir(harness.CONFORMANCE):
        harness.skip(f"no conformance cases in {harness.CONFORMANCE}")
    harness.need_program()
    case.Case("net_matching")
    checks = harness.Checks()
    check_net_matching(checks)
    check_sync_scp(checks)
    compared = 0
    if os.path.exists(REFERENCE):
        for name, directory, _ in harness.recordings():
            if len(harness.hosts(directory)) > 1:
                check_recording(checks, name, directory)
                compared += 1
        checks.true(compared >= 4, f"{compared} recordings of several hosts compared")
    else:
        print(f"skip recordings against sync.py: no {REFERENCE}")
    checks.finish()


if __name__ == "__main__":
    main()
