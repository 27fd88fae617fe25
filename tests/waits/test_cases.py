#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Small recordings of Trace Compass' own tests: the whole wake-up graph, and critical paths.

In both modes: nothing in these cases is what they see in different ways, but that the normal
mode has a name for a wait on the network in any case, the interface's, and fewer vertices.
"""

import os

import reference
from reference import harness

CASES = ("cp_sched_only", "cp_net_softirq", "cp_net_softirq_one_trace", "cp_net_wifi", "cp_net_wifi_one_trace")
INTERFACE = "eth0"

LINKS = {"wakeup": "DEFAULT", "fork": "DEFAULT", "network": "NETWORK"}


def graph_of(dump, t0):
    """Vertices by thread, the set of segments, the set of links."""
    who = {row["row"]: (dump.hosts[row["host"]], row["tid"]) for row in dump.rows}
    vertices, segments, links = {}, set(), set()
    for row in dump.rows:
        me, before = who[row["row"]], None
        vertices.setdefault(me, []).extend(v[0] - t0 for v in row["vertices"])
        for t, state, cause, link, *source in row["vertices"]:
            if state:
                segments.add((me, before - t0, t - t0, state.upper(), cause if state == "network" else None))
            if link:
                links.add((who[source[0]], source[1] - t0, me, t - t0, LINKS[link]))
            before = t
    return vertices, segments, links


def join_running(segments):
    """Where a running thread woke another the normal mode needs no vertex."""
    out = []
    for s in sorted(segments, key=lambda s: s[:2]):
        if out and s[3] == out[-1][3] == "RUNNING" and (out[-1][0], out[-1][2]) == s[:2]:
            out[-1] = out[-1][:2] + s[2:]
        else:
            out.append(s)
    return out


def check_graph(checks, name, want, dump, t0, compat):
    vertices, segments, links = graph_of(dump, t0)
    rows = {(w["host"], w["tid"]) for w in want["workers"]}
    interface = None if compat else INTERFACE
    wanted = [((s["host"], s["tid"]), s["begin"], s["end"], s["state"],
               s["qualifier"] or (interface if s["state"] == "NETWORK" else None)) for s in want["segments"]]
    got = [s for s in segments if s[0] in rows]
    for w in want["workers"] if compat else []:
        checks.equal(vertices.get((w["host"], w["tid"])), w["vertices"], f"{name}: vertices of {w['host']}:{w['tid']}")
    if compat:
        checks.equal(sorted(got, key=str), sorted(wanted, key=str), f"{name}: segments")
    else:
        checks.equal(join_running(got), join_running(wanted), f"{name}: segments")
    checks.equal({x for x in links if x[0] in rows or x[2] in rows},
                 {((x["from"]["host"], x["from"]["tid"]), x["from"]["t"], (x["to"]["host"], x["to"]["tid"]),
                   x["to"]["t"], x["state"]) for x in want["links"]}, f"{name}: links")


def check_path(checks, name, want, dump, t0):
    thread = (want["thread"]["host"], want["thread"]["tid"])
    pieces = [[s["begin"], s["end"], (s["host"], s["tid"]), s["state"]] for s in want["segments"]]
    pieces += [[x["from"]["t"], x["to"]["t"], (x["to"]["host"], x["to"]["tid"]), "->" + x["state"]]
               for x in want["links"]]
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
        for mode in ["--compat"], []:
            dump = reference.Dump(*mode, "--graph", "--paths", os.path.join(directory, "ctf"))
            name = f"{case} {' '.join(mode)}".strip()
            check_graph(checks, name, want["graph"], dump, want["t0"], bool(mode))
            for path in want["critical_paths"]:
                check_path(checks, name, path, dump, want["t0"])
    if not found:
        harness.skip(f"no conformance cases cp_* in {harness.CONFORMANCE}")
    checks.equal(found, len(CASES), "cases found")
    checks.finish()


if __name__ == "__main__":
    main()
