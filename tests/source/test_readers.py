#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Both readers make the same records, with all fields of all events, to the byte, for every recording: the
project's, those of ../shared, those of user-space programs. Where they may differ is a list here; an entry
that is not needed fails.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402

BUILD = os.environ["BUILD"]
DUMP = os.path.join(BUILD, "tests/source/dump_records")
ALL_FIELDS = "3 0 18446744073709551615"
SHARED = os.environ.get("SHARED", "")
# Takes minutes with babeltrace2, and has the same machine, tracer and events as the others.
LEFT_OUT = {"large"}

# name → (differing records, their kind, cause)
ALLOWED = {
    "sync_scp": (2, "TRACE", "events of old tracers lie behind the end of their packets, which babeltrace2 moves: "
                             "the hint of where the recording ends"),
}

if harness.library_version() >= (2, 1):
    ALLOWED["lossy"] = (1, "LOST", "babeltrace2 2.1 does not give the step when the counter of lost events goes down")

checks = harness.Checks()
used = set()


def dump(reader, path, to):
    with open(to, "wb") as out:
        return subprocess.run([DUMP, "-x", "-F", ALL_FIELDS, "-R", reader, path], stdout=out, check=False).returncode


def differences(a, b):
    """Pairs of lines that differ; None for lines that only one file has."""
    with open(a, "rb") as first, open(b, "rb") as second:
        while True:
            x, y = first.readline(), second.readline()
            if not x and not y:
                return
            if x != y:
                yield x.decode("latin-1"), y.decode("latin-1")


def is_order_of_labels(a, b):
    """babeltrace2 2.1 has its own order for the labels of an enum: the same bytes of a shape in another one."""
    if harness.library_version() < (2, 1) or not a.split()[1:2] == b.split()[1:2] == ["SHAPE"]:
        return False
    return sorted(bytes.fromhex(a.split()[-1])) == sorted(bytes.fromhex(b.split()[-1]))


def is_first_packet(a, b):
    """Only ours knows that a CPU's first packet is not the tracer's first one: the last word, of 8 bytes."""
    if not a.split()[1:2] == b.split()[1:2] == ["CPU_START"]:
        return False
    (a, ours), (b, library) = ((line.rstrip()[:-16], line.rstrip()[-16:]) for line in (a, b))
    return a == b and ours == "00" * 8 and library == "01" + "00" * 7


def compare(name, path, directory):
    native, library = (os.path.join(directory, reader) for reader in ("native", "babeltrace2"))
    status = dump("native", path, native)
    if harness.is_ctf2(path) and harness.library_version() < (2, 1):
        print(f"skip {name}: this babeltrace2 does not read CTF 2")
        return
    checks.equal(dump("babeltrace2", path, library), status, f"{name}: exit status")
    with open(native, "rb") as records:
        checks.true(b"# events 0 " not in records.read() or name in ("cpgraph", "match_tables"), f"{name}: there are events")
    found = [f for f in differences(native, library) if not is_order_of_labels(*f) and not is_first_packet(*f)]
    allowed = ALLOWED.get(name)
    if allowed:
        used.add(name)
        same_kind = all(a.split()[1:2] == b.split()[1:2] == [allowed[1]] for a, b in found)
        checks.true(len(found) == allowed[0] and same_kind, f"{name}: differs as known: {found[:2]}")
    else:
        checks.true(not found, f"{name}: {len(found)} records differ, first {[tuple(x[:300] for x in f) for f in found[:1]]}")


def shared_recordings(directory):
    """The cases of ../shared/conformance, which are already unpacked."""
    top = os.path.join(SHARED, "conformance")
    if not os.path.isdir(top):
        print("skip conformance: ../shared is absent")
        return
    for name in sorted(os.listdir(top)):
        path = os.path.join(top, name)
        if any("metadata" in files for _, _, files in os.walk(path)):
            compare(name, path, directory)


def main():
    harness.need_program()
    harness.need("babeltrace2")
    with tempfile.TemporaryDirectory() as directory:
        for name, path, _ in harness.recordings(user_space=True):
            if name not in LEFT_OUT:
                compare(name, path, directory)
        shared_recordings(directory)
    if not harness.few_or_all() and SHARED and os.path.isdir(os.path.join(SHARED, "conformance")):
        checks.equal(sorted(used), sorted(ALLOWED), "every allowed difference is there")
    checks.finish()


main()
