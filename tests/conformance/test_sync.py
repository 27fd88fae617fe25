#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets and clocks against Trace Compass' own tests, and against a reference implementation of its algorithm.

Cases net_matching and sync_scp; then every recording of several hosts against sync.py of ../shared/reference, which was
compared with Trace Compass itself: the same packets are matched, except for those listed here, and the reference's line
is within the guaranteed bound, as both lie between the same packets.
"""

import decimal
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "waits"))
import case  # noqa: E402
import reference  # noqa: E402
from reference import harness  # noqa: E402

# recording -> packets that only the program matches, that only the reference matches. web-cold-hot: if an answer leaves
# in one packet and arrives in three, only the last one has PSH.
MATCHES = {"web-cold-hot": (3, 0)}


def report(table, *args):
    data = harness.report(table, *args, status=(harness.COMPLETE, harness.INCOMPLETE), sync=True)
    return data.rows, data.end


def load(name):
    directory = os.path.join(harness.CONFORMANCE, name)
    with open(os.path.join(directory, "expected.json"), encoding="utf-8") as f:
        return directory, json.load(f)


def check_net_matching(checks):
    directory, expected = load("net_matching")
    t0 = expected["t0"]
    rows, _ = report("matches", "--no-sync", os.path.join(directory, "ctf"))
    got = [{"from": {"host": r["from_host"], "t": r["sent_ns"] - t0},
            "to": {"host": r["to_host"], "t": r["received_ns"] - t0}} for r in rows]
    # The report is in sending order.
    checks.equal(got, sorted(expected["matches"], key=lambda m: m["from"]["t"]), "net_matching: matches")


def within(row, end_ns, slope, intercept):
    """How far the line is from the row's offset at the end, as a fraction of the guaranteed bound."""
    host_ns = end_ns - row["offset_ns"]
    line_ns = (decimal.Decimal(slope) - 1) * host_ns + decimal.Decimal(intercept)
    return abs(float(line_ns - row["offset_ns"])) / row["bound_ns"]


def check_sync_scp(checks):
    directory, expected = load("sync_scp")
    transform = expected["transform"]
    rows, end = report("sync", "--ref", expected["reference_hostname"], os.path.join(directory, "ctf"))
    row = {r["host"]: r for r in rows}[transform["hostname"]]
    checks.equal(row["ref"], expected["reference_hostname"], "sync_scp: reference")
    checks.equal(row["matched"], expected["matches"], "sync_scp: matches")
    checks.equal(row["state"].upper(), expected["quality"], "sync_scp: quality")
    checks.true(within(row, end, transform["slope"], transform["offset"]) <= 1, f"sync_scp: {row}")


def check_recording(checks, critpath, name, directory):
    sync, _, matches, names, _ = critpath.syncmod.run([directory])
    want = {(names[s[1]], s[2], names[d[1]], d[2]) for s, d in matches}
    rows, _ = report("matches", "--no-sync", directory)
    got = {(r["from_host"], r["sent_ns"], r["to_host"], r["received_ns"]) for r in rows}
    checks.equal((len(got - want), len(want - got)), MATCHES.get(name, (0, 0)), f"{name}: matches")
    checks.equal(bool(got & want), name not in reference.WITHOUT_HEADERS, f"{name}: the same matches")
    transforms = {names[h]: [critpath.syncmod.fmt(x) for x in line] for h, line in sync.transforms().items()}
    root = next((h for h, line in transforms.items() if line == ["1", "0"]), None)
    rows, end = report("sync", *(("--ref", root) if root else ()), directory)
    for row in rows:
        if row["host"] == root or row["host"] not in transforms:
            continue
        part = within(row, end, *transforms[row["host"]])
        checks.true(part <= 1, f"{name}/{row['host']}: {part:.2f} of the bound away")


def main():
    if not os.path.isdir(harness.CONFORMANCE):
        harness.skip(f"no conformance cases in {harness.CONFORMANCE}")
    harness.need_program()
    case.Case("net_matching")
    checks = harness.Checks()
    check_net_matching(checks)
    check_sync_scp(checks)
    critpath = reference.load_reference()
    if critpath:
        compared = 0
        for name, directory, _ in harness.recordings(harness.recording_names()):
            if len(harness.hosts(directory)) > 1:
                check_recording(checks, critpath, name, directory)
                compared += 1
        checks.true(compared >= 4, f"{compared} recordings of several hosts compared")
    else:
        print(f"skip recordings against sync.py: no {reference.REFERENCE}, or python3 without bt2")
    checks.finish()


if __name__ == "__main__":
    main()
