#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Small recordings of Trace Compass' own tests: the whole wake-up graph, and critical paths.

The program and these cases agree, except that here a wait on the network always has a name, the
interface's, there is no vertex where a running thread woke another, and what a CPU runs when its record begins is
known before its first switch, too (EARLIER).
"""

import os

import reference
from reference import harness

CASES = ("cp_sched_only", "cp_net_softirq", "cp_net_softirq_one_trace", "cp_net_wifi", "cp_net_wifi_one_trace")
INTERFACE = "eth0"

# (host, TID), begin, end: the first switch of its CPU
EARLIER = {
    "cp_net_softirq": (("client", 202), 5, 7),
    "cp_net_softirq_one_trace": (("client", 202), 5, 7),
    "cp_net_wifi": (("client", 201), 5, 10),
    "cp_net_wifi_one_trace": (("client", 201), 5, 10),
}

LINKS = {"wakeup": "DEFAULT", "fork": "DEFAULT", "network": "NETWORK"}


def graph_of(dump, t0):
    """The set of segments, the set of links."""
    who = {row["row"]: (dump.hosts[row["host"]], row["tid"]) for row in dump.rows}
    segments, links = set(), set()
    for row in dump.rows:
        me, before = who[row["row"]], None
        for t, state, cause, link, *source in row["vertices"]:
            if state:
                segments.add((me, before - t0, t - t0, state.upper(), cause if state == "network" else None))
            if link:
                links.add((who[source[0]], source[1] - t0, me, t - t0, LINKS[link]))
            before = t
    return segments, links


def join_running(segments):
    out = []
    for s in sorted(segments, key=lambda s: s[:2]):
        if out and s[3] == out[-1][3] == "RUNNING" and (out[-1][0], out[-1][2]) == s[:2]:
            out[-1] = out[-1][:2] + s[2:]
        else:
            out.append(s)
    return out


def check_graph(checks, name, want, dump, t0):
    segments, links = graph_of(dump, t0)
    rows = {(w["host"], w["tid"]) for w in want["workers"]}
    wanted = [((s["host"], s["tid"]), s["begin"], s["end"], s["state"],
               s["qualifier"] or (INTERFACE if s["state"] == "NETWORK" else None)) for s in want["segments"]]
    if name in EARLIER:
        wanted.append((*EARLIER[name], "RUNNING", None))
    got = [s for s in segments if s[0] in rows]
    checks.equal(join_running(got), join_running(wanted), f"{name}: segments")
    checks.equal({x for x in links if x[0] in rows or x[2] in rows},
                 {((x["from"]["host"], x["from"]["tid"]), x["from"]["t"], (x["to"]["host"], x["to"]["tid"]),
                   x["to"]["t"], x["state"]) for x in want["links"]}, f"{name}: links")


def check_path(checks, name, want, dump, t0):
    thread = (want["thread"]["host"], want["thread"]["tid"])
    pieces = [[s["begin"], s["end"], (s["host"], s["tid"]), s["state"]] for s in want["segments"]]
    pieces += [[x["from"]["t"], x["to"]["t"], (x["to"]["host"], x["to"]["tid"]), "->" + x["state"]]
               for x in want["links"]]
    if EARLIER.get(name, [None])[0] == thread:
        who, begin, until = EARLIER[name]
        pieces.append([begin, until, who, "RUNNING"])
    lives = dump.paths.get(thread, [])
    if not checks.equal(len(lives), 1, f"{name}: rows of {thread}"):
        return
    end = max(p[1] for p in pieces)
    checks.equal([(a - t0, b - t0, who, label) for a, b, who, label in reference.cut(lives[0][2], t0 + end)],
                 reference.join(sorted(pieces, key=lambda p: p[:2])), f"{name}: path of {thread}")


def main():
    checks = harness.Checks()
    reference.need_dump()
    found = 0
    for case in CASES:
        directory = os.path.join(harness.CONFORMANCE, case)
        if not os.path.isdir(directory):
            continue
        found += 1
        want = reference.load_json(os.path.join(directory, "expected.json"))
        dump = reference.Dump("--graph", "--paths", os.path.join(directory, "ctf"))
        check_graph(checks, case, want["graph"], dump, want["t0"])
        for path in want["critical_paths"]:
            check_path(checks, case, path, dump, want["t0"])
    if not found:
        harness.skip(f"no conformance cases cp_* in {harness.CONFORMANCE}")
    checks.equal(found, len(CASES), "cases found")
    checks.finish()


if __name__ == "__main__":
    main()
