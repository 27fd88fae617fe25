#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
reference_paths.py DIRECTORY: the seconds that the reference in ../shared/reference takes for the wake-up graph and
every thread's critical path, without reading and decoding: bench_paths.c times the same of the program.
"""

import os
import sys
import time

SHARED = os.environ.get("SHARED") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../shared")
sys.path.insert(0, os.path.join(SHARED, "reference"))

import critpath  # noqa: E402

critpath.syncmod.LOOSE = True


class Recorded(critpath.Builder):
    """Keeps the events instead of building the graph; load() feeds them."""

    def __init__(self, *args):
        super().__init__(*args)
        self.events = []

    def feed(self, e):
        self.events.append(e)


def main():
    builder_class, critpath.Builder = critpath.Builder, Recorded
    recorded = critpath.load([sys.argv[1]], sane=True)
    critpath.Builder = builder_class
    builder = builder_class(recorded.m.traces, recorded.wake, True)
    begin = time.perf_counter()
    for event in recorded.events:
        builder.feed(event)
    for row in [r for r in builder.g.v if r[1] > 0]:
        critpath.critical_path(builder.g, row)
    print(f"{time.perf_counter() - begin:.3f}")


if __name__ == "__main__":
    main()
