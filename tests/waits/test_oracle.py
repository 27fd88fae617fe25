#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The critical path of every thread of the recordings, compared with the reference's.

Each host by itself, and all hosts together on the reference's clocks (the program's are tested elsewhere), equals
critpath.py --sane --loose, except for the differences listed here.
"""

import os
import sys

import reference
import sane
import test_layouts
from reference import harness

# The reference takes minutes for it: only when asked for by name.
TOO_LONG = {"large"}

TOGETHER = "all hosts"

# What no recording has, written for this test.
RESTS = "rests of answers"

# recording, host -> how often each of sane.CAUSES applies; threads: how many paths differ from those without them.
DIFFERENT = {
    ("containers", "client"): {"asleep": 13, "disk": 222, "dump": 2, "early": 2, "flow": 3, "idle": 865,
                               "overtaken": 1, "start": 2, "swapper": 13, "waiting": 108, "threads": 39},
    ("disk-io", "db"): {"asleep": 13, "disk": 733, "dump": 3, "early": 20, "flow": 5, "idle": 1638, "start": 2,
                        "swapper": 33, "waiting": 98, "threads": 71},
    ("hotplug", "db"): {"asleep": 13, "disk": 361, "dump": 3, "early": 3, "idle": 1171, "start": 2, "swapper": 1,
                        "waiting": 98, "threads": 41},
    ("kprobe", "client"): {"asleep": 12, "disk": 317, "dump": 3, "idle": 322, "start": 2, "swapper": 6,
                           "waiting": 96, "threads": 24},
    ("locks-pipes", "web"): {"asleep": 16, "disk": 186, "dump": 3, "early": 3, "idle": 765, "start": 2,
                             "swapper": 20, "waiting": 101, "threads": 37},
    ("lossy-overwrite", "db"): {"gap": 321, "idle": 4, "start": 1, "unknown": 17, "threads": 8},
    ("lossy", "db"): {"asleep": 811, "disk": 1380, "early": 1, "gap": 4836, "idle": 1020, "start": 2, "swapper": 7,
                      "unknown": 5322, "waiting": 3, "threads": 25},
    (RESTS, TOGETHER): {"flow": 50, "later": 50, "start": 2, "threads": 2},
    ("rotated", "web"): {"asleep": 14, "disk": 825, "dump": 3, "early": 12, "idle": 977, "start": 2, "swapper": 7,
                         "waiting": 99, "threads": 39},
    ("rpc-hog-local", "web"): {"asleep": 13, "disk": 143, "dump": 3, "flow": 49, "idle": 530, "start": 2,
                               "swapper": 16, "waiting": 101, "threads": 29},
    ("rpc-hog", TOGETHER): {"asleep": 24, "disk": 260, "dump": 7, "early": 4, "flow": 56, "idle": 813, "start": 4,
                            "swapper": 27, "waiting": 196, "threads": 60},
    ("rpc-hog", "client"): {"asleep": 10, "disk": 126, "dump": 5, "early": 4, "flow": 38, "idle": 448, "start": 2,
                            "swapper": 19, "waiting": 94, "threads": 26},
    ("rpc-hog", "web"): {"asleep": 14, "disk": 134, "dump": 2, "flow": 18, "idle": 365, "start": 2, "swapper": 8,
                         "waiting": 102, "threads": 27},
    ("snapshot", "web"): {"disk": 12, "early": 3, "gap": 562, "idle": 180, "start": 1, "swapper": 6, "unknown": 4,
                          "threads": 10},
    ("three-tier", TOGETHER): {"asleep": 39, "disk": 405, "dump": 9, "early": 2, "flow": 52, "idle": 1808,
                               "several": 8, "start": 6, "swapper": 70, "waiting": 363, "threads": 109},
    ("three-tier", "client"): {"asleep": 12, "disk": 121, "dump": 2, "flow": 16, "idle": 594, "start": 2,
                               "swapper": 16, "waiting": 97, "threads": 25},
    ("three-tier", "db"): {"asleep": 14, "disk": 145, "dump": 4, "early": 1, "flow": 15, "idle": 644, "start": 2,
                           "swapper": 33, "waiting": 103, "threads": 30},
    ("three-tier", "web"): {"asleep": 13, "disk": 139, "dump": 3, "early": 1, "flow": 21, "idle": 570, "start": 2,
                            "swapper": 21, "waiting": 163, "threads": 45},
    ("web-cold-hot", TOGETHER): {"asleep": 25, "disk": 261, "dump": 8, "early": 2, "flow": 9, "idle": 755,
                                 "start": 4, "swapper": 15, "waiting": 201, "threads": 65},
    ("web-cold-hot", "client"): {"asleep": 14, "disk": 101, "dump": 2, "flow": 8, "idle": 305, "start": 2,
                                 "swapper": 6, "waiting": 99, "threads": 24},
    ("web-cold-hot", "web"): {"asleep": 11, "disk": 160, "dump": 6, "early": 2, "flow": 1, "idle": 450, "start": 2,
                              "swapper": 9, "waiting": 102, "threads": 38},
    ("web-nogro", TOGETHER): {"asleep": 25, "disk": 241, "dump": 6, "flow": 17, "idle": 774, "start": 4,
                              "swapper": 19, "waiting": 202, "threads": 67},
    ("web-nogro", "client"): {"asleep": 11, "disk": 91, "dump": 4, "flow": 16, "idle": 304, "start": 2, "swapper": 6,
                              "waiting": 96, "threads": 24},
    ("web-nogro", "web"): {"asleep": 14, "disk": 150, "dump": 2, "flow": 1, "idle": 470, "start": 2, "swapper": 13,
                           "waiting": 106, "threads": 43},
}


def compare(checks, what, want, got):
    """The place of the first difference says more than both lists."""
    if not checks.true(want == got, f"{what}: another path"):
        at = next((i for i, (a, b) in enumerate(zip(want, got)) if a != b), min(len(want), len(got)))
        print(f"  piece {at} of {len(want)}, {len(got)}: {want[at:at + 2]} instead of {got[at:at + 2]}")


def pieces_of(lives):
    return reference.join([list(p) for _, _, pieces in lives for p in pieces])


def check(checks, critpath, name, host, directory, clocks=None, arguments=()):
    dump = reference.Dump("--paths", *(a for clock in arguments for a in ("--clock", clock)), directory)
    losses = [(None if cpu == 0xffff else cpu, ts, goes_on) for _, cpu, ts, goes_on in dump.info["losses"]]
    checks.true(not losses or len(dump.hosts) == 1, f"{name}/{host}: losses of one host only")
    checks.equal(dump.info["late"], 0, f"{name}/{host}: late events")
    starts = [(dump.hosts[h], cpu, *start) for h, cpu, *start in dump.info["starts"]
              if not any(lost_cpu in (None, cpu) and ts <= start[-1] for lost_cpu, ts, _ in losses)]
    built = sane.Sane(critpath, directory, clocks, losses, starts)
    checks.equal(built.wrong, [], f"{name}/{host}: CPUs that ran another thread before their first switch")
    threads = across = 0
    for row in built.threads():
        want, who = built.path(row), built.who(row)
        got = reference.cut(pieces_of(dump.paths.get(who, [])), built.graph.tail[row])
        compare(checks, f"{name}/{host}: {who}", want, got)
        threads += built.path(row, built.plain) != got
        checks.true(all(piece[2][1] for piece in got), f"{name}/{host}: the path of {who} leads through no idle task")
        across += any(piece[2][0] != who[0] for piece in got)
    counts = {cause: n for cause, n in sorted(built.used.items()) if n}
    if threads:
        counts["threads"] = threads
    checks.equal(counts, DIFFERENT.get((name, host), {}), f"{name}/{host}: differences to the plain reference")
    checks.equal(across > 0, len(dump.hosts) > 1 and name not in reference.WITHOUT_HEADERS,
                 f"{name}/{host}: paths that lead to another host")


def main():
    reference.need_dump()
    critpath = reference.load_reference()
    if not critpath:
        harness.skip(f"no {reference.REFERENCE}/critpath.py, or python3 without bt2")
    checks = harness.Checks()
    causes = {cause for counts in DIFFERENT.values() for cause in counts} - {"threads"}
    checks.equal(causes, set(sane.CAUSES), "causes that are listed and those that are explained")
    test_layouts.write("rests", test_layouts.LAYOUTS["tcp4"], rests=True)
    check(checks, critpath, RESTS, TOGETHER, "rests", *reference.clocks_of(critpath, "rests"))
    left, few = set(DIFFERENT) - {(RESTS, TOGETHER)}, harness.few_or_all()
    for name in harness.recording_names():
        if few and name not in few:
            left -= {key for key in left if key[0] == name}
            continue
        if name not in sys.argv[1:] if len(sys.argv) > 1 else name in TOO_LONG:
            print(f"skip {name}: {'the reference takes minutes for it' if name in TOO_LONG else 'not asked for'}")
            left -= {key for key in left if key[0] == name}
            continue
        directory, _ = harness.recording(name)
        hosts = harness.hosts(directory)
        with reference.Kept(critpath):
            for host in hosts:
                check(checks, critpath, name, host, os.path.join(directory, host))
                left.discard((name, host))
            if len(hosts) > 1:
                check(checks, critpath, name, TOGETHER, directory, *reference.clocks_of(critpath, directory))
                left.discard((name, TOGETHER))
    checks.equal(left, set(), "listed and not found")
    checks.finish()


if __name__ == "__main__":
    main()
