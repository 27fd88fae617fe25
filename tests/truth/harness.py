# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs reports of the program and keeps track of the checks.

A test script creates a Checks object, calls its methods, and ends with checks.finish(), which prints a summary line and
exits with status 0 or 1 (77: skipped).
"""

import glob
import json
import os
import shutil
import subprocess
import sys
import time
import zlib

import cases

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.path.abspath(os.environ.get("BUILD", os.path.join(ROOT, "build")))
PROGRAM = os.environ.get("LTTNGTOP", os.path.join(BUILD, "lttngtop"))
SHARED = os.environ.get("SHARED", os.path.join(ROOT, "..", "shared"))
CONFORMANCE = os.environ.get("LTTNGTOP_CONFORMANCE", os.path.join(SHARED, "conformance"))
TRACES = [os.path.join(ROOT, "traces"), os.path.join(SHARED, "traces")]  # the bundled ones and, if available, all others

COMPLETE, INCOMPLETE = 0, 3


def skip(why):
    print(f"skip {os.path.basename(sys.argv[0])}: {why}")
    sys.exit(77)


def need_program():
    if not os.access(PROGRAM, os.X_OK):
        skip(f"{PROGRAM} is not built")


def need(tool):
    if not shutil.which(tool):
        skip(f"{tool} is not installed")


def library_version():
    """The version of babeltrace2, e.g. (2, 1, 2)."""
    out = subprocess.run(["pkg-config", "--modversion", "babeltrace2"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return tuple(map(int, out.split(".")))


def unpack(archive, below):
    """Unpacks a .tar.zst below $BUILD/shared-traces, unless it is there already; returns its directory.

    A changed archive gets another directory, as a test may be reading the old one.
    """
    name = os.path.basename(archive).split(".")[0]
    version = os.stat(archive)
    base = os.path.join(BUILD, "shared-traces", below, f"{name}-{version.st_size}-{version.st_mtime_ns}")
    target = os.path.join(base, name)
    if not os.path.isdir(target):
        os.makedirs(base, exist_ok=True)
        work = os.path.join(base, f".{name}.{os.getpid()}")
        os.makedirs(work)
        subprocess.run(["tar", "--use-compress-program=zstd --long=27", "-xf", archive, "-C", work], check=True)
        try:
            os.rename(os.path.join(work, name), target)
        except OSError:
            if not os.path.isdir(target):  # otherwise another test was faster
                raise
        shutil.rmtree(work, ignore_errors=True)
    return target


def bundled(name):
    """The directory of a recording that the project carries with its own truth files."""
    return unpack(os.path.join(ROOT, "traces", name + ".tar.zst"), "recordings")


def recording(name):
    """(directory of the recording, directory of its truth files), or None if they do not exist."""
    for directory in TRACES:
        archive = os.path.join(directory, name + ".tar.zst")
        truth = os.path.join(directory, "truth", name + ".truth.tar.zst")
        if os.path.exists(archive) and os.path.exists(truth):
            return unpack(archive, "recordings"), os.path.join(unpack(truth, "truth"), "truth")
    return None


# User-space recordings: they lack the kernel's figures, and babeltrace2 2.0 cannot read them.
USER_SPACE = {"ctf2-ust"}


def recording_names(user_space=False):
    """The names of all kernel recordings, or of all recordings, that have truth files, sorted."""
    names = {os.path.basename(path).split(".")[0] for directory in TRACES
             for path in glob.glob(os.path.join(directory, "truth", "*.truth.tar.zst"))}
    return sorted(names - (set() if user_space else USER_SPACE))


def recordings(only=None, user_space=False, also=()):
    """
    Yields name, directory and truth directory of all kernel recordings, or of all; where few suffice (cases.few()), of
    those few and `also`. only: of these instead. Skips the test if there are none.
    """
    only = only or few_or_all(also)
    names = [n for n in recording_names(user_space) if not only or n in only]
    if not names:
        skip(f"none of the recordings {', '.join(sorted(only or ()))} in {' or '.join(TRACES)}")
    wanted = sys.argv[1:]
    # Each test begins with another: those that run at the same time then prepare different ones for each other.
    first = zlib.crc32(os.path.basename(sys.argv[0]).encode()) % len(names)
    for name in names[first:] + names[:first]:
        if wanted and name not in wanted:
            continue
        found = recording(name)
        if found:
            yield (name,) + found


def carried():
    """The names of the recordings that the project carries."""
    return {os.path.basename(path).split(".")[0] for path in glob.glob(os.path.join(ROOT, "traces", "*.tar.zst"))}


def few_or_all(also=()):
    """None, all recordings, or only those of cases.few() and these."""
    return carried() & cases.FEW | set(also) if cases.few() else None


def is_ctf2(path):
    """Whether the metadata below this directory is CTF 2."""
    for root, _, files in os.walk(path):
        if "metadata" in files:
            with open(os.path.join(root, "metadata"), "rb") as metadata:
                return b"\x1e" in metadata.read(256)
    return False


def rename(source, target, names):
    """Copies a recording in which names of threads, {old: new} in bytes, are others."""
    shutil.copytree(source, target)
    for directory, _, files in os.walk(target):
        for path in (os.path.join(directory, name) for name in files):
            os.chmod(path, 0o644)
            with open(path, "rb") as f:
                data = f.read()
            for old, new in names.items():
                data = data.replace(old.ljust(16, b"\0"), new.ljust(16, b"\0"))
            with open(path, "wb") as f:
                f.write(data)


def hosts(directory):
    return sorted(d for d in os.listdir(directory) if os.path.isdir(os.path.join(directory, d)))


class Report:
    """One JSON object of a report."""

    def __init__(self, data):
        self.data = data
        self.rows = data["rows"]
        self.begin = data["begin_ns"]
        self.end = data["end_ns"]
        self.lost = data["lost"]

    def by(self, *keys):
        """A dictionary: key (a tuple if there are several) -> row."""
        one = len(keys) == 1
        return {row[keys[0]] if one else tuple(row[k] for k in keys): row for row in self.rows}


def run(table, *args, status=(COMPLETE,), timeout=600, sync=False):
    """
    The reports (several with --interval) of one call, with each host on its own clock,
    like the truth files, or with sync all on the reference host's.
    """
    command = [PROGRAM, "report", table, "--json", *([] if sync else ["--no-sync"]), *[str(a) for a in args]]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, check=False)
    if done.returncode not in status:
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.decode(errors='replace')}")
    decoder, text, out, at = json.JSONDecoder(), done.stdout.decode("utf-8", "replace"), [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        data, at = decoder.raw_decode(text, at)
        out.append(Report(data))
    return out


def report(table, *args, **kwargs):
    reports = run(table, *args, **kwargs)
    assert len(reports) == 1, f"{len(reports)} JSON objects instead of one"
    return reports[0]


def stamp(ns):
    return f"{ns}ns"


class Checks:
    """Counts checks; compares differences against a list of known ones.

    known: {(recording, host, what, who): (cause, amount)}. A difference that is not listed or has another amount is a
    failure; so is an entry for something that was checked and did not differ.
    """

    def __init__(self, known=None, causes=None):
        self.known = dict(known or {})
        self.causes = causes or {}
        self.unused = set(self.known)
        self.checked = 0
        self.failed = 0
        self.allowed = 0
        self.seen = set()
        self.began = time.monotonic()

    def fail(self, text):
        self.failed += 1
        if self.failed <= 200:
            print(f"FAIL: {text}")

    def true(self, condition, text):
        self.checked += 1
        if not condition:
            self.fail(text)
        return bool(condition)

    def equal(self, got, want, text):
        return self.true(got == want, f"{text}: {got!r} instead of {want!r}")

    def same(self, recording, host, what, who, want, got, tolerance=0):
        """want: the truth; got: the program's value. They may differ by the tolerance, or as listed."""
        self.checked += 1
        self.seen.add((recording, host, what))
        difference = want - got
        if abs(difference) <= tolerance:
            return True
        key = (recording, host, what, str(who))
        cause, amount = self.known.get(key, (None, None))
        if cause is None:
            self.fail(f"{recording}/{host}: {what} of {who}: truth {want}, program {got}, difference {difference}"
                      + (f", tolerance {tolerance}" if tolerance else ""))
            return False
        self.unused.discard(key)
        if amount != difference:
            self.fail(f"{recording}/{host}: {what} of {who}: difference {difference} instead of the known {amount} ({cause})")
            return False
        self.allowed += 1
        return True

    def finish(self):
        if not self.checked:
            self.fail("nothing was checked")
        for key in sorted(self.unused):
            if key[:3] in self.seen:
                self.fail(f"known difference no longer occurs: {key} {self.known[key]}")
        used = {self.known[k][0] for k in self.known}
        for cause in sorted(used - set(self.causes)):
            self.fail(f"cause {cause} of a known difference is not explained")
        for_known = f", {self.allowed} known differences" if self.allowed else ""
        word = "ok" if not self.failed else "not ok"
        print(f"{word} {os.path.basename(sys.argv[0])}: {self.checked} checks, {self.failed} failed"
              f"{for_known}, {time.monotonic() - self.began:.0f} s")
        sys.exit(1 if self.failed else 0)
