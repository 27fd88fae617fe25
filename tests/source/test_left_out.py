#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Data files that cannot be opened are named, many of them in one line; the others are read."""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import made  # noqa: E402
from cases import check, finish  # noqa: E402
from processes import PATIENCE_S  # noqa: E402

LTTNGTOP = os.environ["LTTNGTOP"]
SECOND, MS = 10 ** 9, 10 ** 6
BASE = 1_700_000_000 * SECOND
CPUS, EVENTS = 40, 10


def make(directory):
    with made.Recording(directory) as recording:
        for cpu in range(CPUS):
            recording.packet(cpu, BASE, BASE + SECOND, made.turns(BASE, MS, EVENTS, 2 * cpu + 1, 2 * cpu + 2))
    files = sorted(name for name in os.listdir(directory) if name not in ("metadata", "index"))
    assert len(files) == CPUS, files
    return [os.path.join(directory, name) for name in files]


def read(directory, *options, **how):
    """Events counted, the lines of warnings, exit status."""
    done = subprocess.run([LTTNGTOP, "report", "hosts", "--json", *options, directory], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False, timeout=PATIENCE_S, **how)
    events = sum(row["events"] for row in json.loads(done.stdout)["rows"])
    return events, [line for line in done.stderr.splitlines() if ": warning:" in line and "not all of it" not in line], done.returncode


def replaced(name, replace, count, *words):
    """The first files are replaced by something else."""
    for workers in (1, 3):
        with tempfile.TemporaryDirectory() as above:
            directory = os.path.join(above, "made")
            files = make(directory)
            for path in files[:count]:
                os.unlink(path)
                replace(path)
            events, warnings, status = read(directory, "--workers", str(workers))
            lines = min(workers, count) if words else 0
            check(f"{name}, {workers} workers: the others are read", events == (CPUS - count) * EVENTS, events)
            check(f"{name}, {workers} workers: exit status", status == (3 if words else 0), status)
            check(f"{name}, {workers} workers: as few lines as possible", len(warnings) == lines, warnings)
            check(f"{name}, {workers} workers: the reason", all(word in line for line in warnings for word in words), warnings)
            more = sum(1 + int((re.findall(r" and (\d+) more: ", line) or [0])[0]) for line in warnings)
            check(f"{name}, {workers} workers: how many", more == (count if words else 0), warnings)


def directory_with_index(path):
    index = os.path.join(os.path.dirname(path), "index")
    os.makedirs(index, exist_ok=True)
    with open(os.path.join(index, os.path.basename(path) + ".idx"), "wb"):
        os.mkdir(path)


def few_descriptors():
    with tempfile.TemporaryDirectory() as above:
        directory = os.path.join(above, "made")
        make(directory)
        most = 30
        events, warnings, status = read(directory, "--workers", "1",
                                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
        check("few descriptors: some are read", 0 < events < CPUS * EVENTS, events)
        check("few descriptors: exit status", status == 3, status)
        left = CPUS - events // EVENTS
        check("few descriptors: one line, what to do", len(warnings) == 1 and "Too many open files" in warnings[0] and
              "ulimit -n" in warnings[0] and f" and {left - 1} more: " in warnings[0], (left, warnings))


def unreadable(name, make_it, status_expected):
    """Read by a user whom permissions stop."""
    nobody = 65534
    how = {"user": nobody, "group": nobody, "extra_groups": []} if os.geteuid() == 0 else {}
    os.chmod(".", 0o755)
    with tempfile.TemporaryDirectory(dir=os.getcwd()) as above:
        os.chmod(above, 0o755)
        directory = os.path.join(above, "made")
        path = make_it(directory, make(directory))
        os.chmod(path, 0)
        try:
            events, warnings, status = read(directory, **how)
        except PermissionError:
            print(f"skip {name}: the program is not executable by everybody")
            return
        finally:
            os.chmod(path, 0o755)
    check(f"{name}: exit status", status == status_expected, (status, warnings))
    check(f"{name}: events", events == (CPUS - (status_expected != 0)) * EVENTS, events)
    check(f"{name}: said", (f"{path}: Permission denied" in "".join(warnings)) == (status_expected != 0), warnings)


def make_index(directory, _):
    index = os.path.join(directory, "index")
    os.mkdir(index)
    return index


def main():
    unreadable("an unreadable index, which is only a help", make_index, 0)
    unreadable("an unreadable file", lambda _, files: files[0], 3)
    replaced("a FIFO", os.mkfifo, 1, "not a regular file")
    replaced("many FIFOs", os.mkfifo, CPUS // 2, "not a regular file")
    replaced("a directory", os.mkdir, 1)
    replaced("a directory with an index", directory_with_index, 1, "not a regular file")
    replaced("a link to nothing", lambda path: os.symlink("nothing", path), 1, "No such file")
    few_descriptors()
    finish()


if __name__ == "__main__":
    main()
