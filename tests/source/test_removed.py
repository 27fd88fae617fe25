#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that are removed, archives that are moved while the workers start: missing ones are reported, the others are
read once, however many workers share them. The files disappear between the parent's look and a worker's: the worker's
program is a script that removes them first.
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import made  # noqa: E402
from cases import check, finish  # noqa: E402

LTTNGTOP = os.environ["LTTNGTOP"]
DUMP = os.path.join(os.environ["BUILD"], "tests/source/dump_records")
SECOND = 10 ** 9
BASE = 1_700_000_000 * SECOND
CPUS, EVENTS = 5, 40


def write(path, first=0):
    """A trace of CPUS streams, the first of its events that many s after BASE."""
    begin = BASE + first * SECOND
    with made.Recording(path) as recording:
        for cpu in range(CPUS):
            recording.packet(cpu, begin, begin + SECOND,
                             made.turns(begin + cpu, 10 ** 6, EVENTS, 2 * cpu + 1, 2 * cpu + 2))


def read(top, source, command, parts, only_part=None):
    """Events per CPU, notes, failures; the command is run before the workers (before that of one part) start."""
    script = os.path.join(top, "worker")
    condition = f'[ "$6" = {only_part} ] && ' if only_part is not None else ""
    with open(script, "w", encoding="ascii") as file:
        file.write(f'#!/bin/sh\n{condition}{command}\nexec "{LTTNGTOP}" "$@"\n')
    os.chmod(script, 0o755)
    out = subprocess.run([DUMP, "-w", script, "-p", str(parts), source], stdout=subprocess.PIPE, text=True,
                         check=False).stdout
    events = {}
    for line in out.splitlines():
        if " SCHED_SWITCH " in line:
            cpu = int(line.split()[2].removeprefix("cpu="))
            events[cpu] = events.get(cpu, 0) + 1
    notes = [line for line in out.splitlines() if " NOTE " in line]
    return events, notes, [line for line in out.splitlines() if line.startswith("# failed")]


def main():
    with tempfile.TemporaryDirectory() as top:
        trace, whole = os.path.join(top, "trace"), {cpu: EVENTS for cpu in range(CPUS)}

        def afresh():
            shutil.rmtree(trace, ignore_errors=True)
            write(trace)

        afresh()
        for parts in (1, 2, 3, 8):
            events, notes, failures = read(top, trace, ":", parts)
            check(f"nothing removed, {parts} workers", (events, notes, failures) == (whole, [], []), (events, notes))

        for parts in (1, 2, 3):
            afresh()
            events, notes, failures = read(top, trace, f"rm -f {trace}/ch_1", parts)
            check(f"a file removed, {parts} workers: the others", events == {**whole, 1: 0} or
                  events == {cpu: EVENTS for cpu in whole if cpu != 1}, events)
            check(f"a file removed, {parts} workers: said", "1 of its 5 data files" in "".join(notes), notes)

        # the second worker sees different files from the first one
        afresh()
        events, notes, failures = read(top, trace, f"rm -f {trace}/ch_0", 2, 1)
        check("a file removed between two workers: each stream once", events == whole, events)
        check("a file removed between two workers: said", "1 of its 5 data files" in "".join(notes), notes)

        afresh()
        events, notes, failures = read(top, trace, f"truncate -s 100 {trace}/ch_1", 1)
        check("a file cut: said", failures and notes, (notes, failures))

        # the archives of a rotated session: one trace
        shutil.rmtree(trace)
        archives = os.path.join(top, "archives")
        for n in range(3):
            write(os.path.join(archives, str(n)), n)
        events, notes, failures = read(top, archives, ":", 2)
        check("archives: all", events == {cpu: 3 * EVENTS for cpu in range(CPUS)} and not notes, (events, notes))
        events, notes, failures = read(top, archives, f"mv {archives}/1 {top}/moved", 1)
        check("an archive moved: the others", events == {cpu: 2 * EVENTS for cpu in range(CPUS)}, events)
        check("an archive moved: said", "5 of its 15 data files" in "".join(notes), notes)

        afresh()
        events, notes, failures = read(top, trace, f"rm -f {trace}/ch_*", 1)
        check("all files removed: said", not events and "5 of its 5 data files" in "".join(failures), failures)
        afresh()
        events, notes, failures = read(top, trace, f"rm -rf {trace}", 1)
        check("the trace removed: said", not events and failures, failures)
    finish()


main()
