#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Both readers make the same records, to the byte, from traces of odd shapes (shapes.py). Where they may differ is a
list here; an entry that is not needed fails. Where babeltrace2 aborts, the program's reader continues. With metadata in
CTF 2 the records are the same.

    test_shapes.py [COUNT [SEED]]    other ones: make fuzz
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402
import shapes  # noqa: E402
import shapes2  # noqa: E402

DUMP = os.path.join(os.environ["BUILD"], "tests/source/dump_records")
COUNT, SEED, LIMIT_S = 60, 1, 60
ROUNDING_NS = 4  # of 10^16
# An assertion of babeltrace2 2.0: lengths and tags in elements of arrays and in events' own contexts.
DIES = "died: signal"
# 2.1 uses other lengths and tags there, and fails sooner or later. It does not report losses before the
# first packet; a stream with nothing else then ends elsewhere.
IS_21 = harness.library_version() >= (2, 1)
NOT_IN_21 = ("LOST", "STREAM_END", "events")

checks = harness.Checks()


class Seen:
    """Features that occurred in the traces: a test without one of them shows nothing about it."""
    events = damaged = died = rounded = ctf2 = 0


def dump(reader, path):
    out = subprocess.run([DUMP, "-x", "-t", str(LIMIT_S), "-R", reader, path], stdout=subprocess.PIPE, check=False)
    # only ours knows that a CPU's first packet is not the tracer's first one: the last word, of 8 bytes (test_readers.py)
    return out.returncode, [line[:-16] if " CPU_START " in line else line
                            for line in out.stdout.decode("latin-1").splitlines()]


def is_rounding(a, b):
    """babeltrace2 computes cycles of clocks other than 1 GHz in floating point: times may be a few ns off."""
    if a == b:
        return True
    (at, *x), (bt, *y) = a.split(), b.split()
    if not (at.isdigit() and bt.isdigit()) or abs(int(at) - int(bt)) > ROUNDING_NS:
        return False
    # records that also contain times in their words
    return x == y or x[0] == y[0] and x[0] in ("TRACE", "LOST", "GAP", "BACKWARD", "SCHED_SWITCH")


def without_rounding(pairs):
    """The pairs that remain; records of different streams may also be in another order after it."""
    rest = [b for _, b in pairs]
    for a, _ in pairs:
        match = next((b for b in rest if is_rounding(a, b)), None)
        if not match:
            return pairs
        rest.remove(match)
    return []


def compare_ctf2(seed, path, trace, expected):
    """The same bytes with metadata in CTF 2."""
    text = shapes2.metadata(trace)
    if not text:
        return
    os.rename(os.path.join(path, "metadata"), os.path.join(os.path.dirname(path), "tsdl"))
    with open(os.path.join(path, "metadata"), "w", encoding="ascii") as metadata:
        metadata.write(text)
    _, records = dump("native", path)
    os.rename(os.path.join(os.path.dirname(path), "tsdl"), os.path.join(path, "metadata"))
    Seen.ctf2 += 1
    differing = [pair for pair in zip(records, expected) if pair[0] != pair[1]]
    checks.true(len(records) == len(expected) and not differing,
                f"shape {seed} in CTF 2: {len(records)} and {len(expected)} records, {len(differing)} differ: "
                f"{[tuple(line[:300] for line in pair) for pair in differing[:1]]}")


def compare(seed, path):
    trace = shapes.Trace(seed, calm=seed % 3 == 0)
    trace.write(path)
    status, native = dump("native", path)
    compare_ctf2(seed, path, trace, native)
    other, library = dump("babeltrace2", path)
    Seen.events += sum(int(n) for n in re.findall(r"^# events (\d+)", native[-1]))
    Seen.damaged += status != 0
    if any(DIES in line for line in library) or IS_21 and other != 0 and status == 0:
        Seen.died += 1
        checks.true(status == 0 and not any(" NOTE " in line for line in native), f"shape {seed}: read although babeltrace2 dies")
        return
    if IS_21:
        native, library = ([line for line in lines if line.split()[1] not in NOT_IN_21] for lines in (native, library))
    checks.equal(status, other, f"shape {seed}: exit status")
    differing = [pair for pair in zip(native, library) if pair[0] != pair[1]]
    if trace.freq != 10 ** 9 and differing:
        Seen.rounded += 1
        differing = without_rounding(differing)
    checks.true(len(native) == len(library) and not differing,
                f"shape {seed}: {len(native)} and {len(library)} records, {len(differing)} differ: "
                f"{[tuple(line[:300] for line in pair) for pair in differing[:1]]}")


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    first = (int(sys.argv[2]) if len(sys.argv) > 2 else SEED) * 1000000
    harness.need("babeltrace2")
    with tempfile.TemporaryDirectory() as top:
        for seed in range(first, first + count):
            path = os.path.join(top, str(seed))
            compare(seed, path)
            shutil.rmtree(path)
    print(f"# {Seen.events} events; babeltrace2 died of {Seen.died}, rounded times in {Seen.rounded}")
    if count >= COUNT:
        checks.true(Seen.events > 50 * count, f"shapes: there are events: {Seen.events}")
        checks.true(Seen.ctf2 > count / 2, f"shapes: in CTF 2: {Seen.ctf2}")
        checks.true(Seen.died and Seen.rounded, "shapes: every allowed difference is there")
    checks.finish()


main()
