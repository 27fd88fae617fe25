#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How many workers read a large recording by default: one processor is left to the program itself."""
import contextlib
import os
import subprocess
import sys

import processes

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "screens"))
from terminal import PROGRAM, Checks, need, skip, unpack  # noqa: E402


@contextlib.contextmanager
def processors(n):
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(sorted(before)[:n]))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def started(recording, *args):
    """How many workers the program has started by the time it waits for them; none of them does anything."""
    held = processes.Held()
    with subprocess.Popen([PROGRAM, "report", "hosts", *args, recording], env={**os.environ, **held.environment},
                          stdout=subprocess.DEVNULL) as program:
        processes.wait_for("program that waits for its workers",
                           lambda: processes.workers(program.pid) and processes.waits(program.pid))
        found = processes.workers(program.pid)
        program.kill()
    return len(found)


def main():
    need("zstd")
    recording = unpack("large")
    if not recording:
        skip("no large recording")
    checks = Checks()
    for n in range(1, min(len(os.sched_getaffinity(0)), 4) + 1):
        with processors(n):
            checks.equal(f"{n} processors", started(recording), max(n - 1, 1))
            checks.equal(f"{n} processors, three are asked for", started(recording, "--workers", "3"), 3)
    return min(checks.failed, 1)


if __name__ == "__main__":
    sys.exit(main())
