#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is wrong with sources is said, and once, also where they are read a first time for their clocks or their end."""
import os
import shutil
import subprocess
import tempfile

from cases import check, finish
from processes import PATIENCE_S

LTTNGTOP = os.environ["LTTNGTOP"]
THREE = os.path.join(os.environ["BUILD"], "traces", "three-tier")
LATE = ("--begin", "-1s")
COMMANDS = (("report", "events"), ("report", "dump"), ("report", "critical-totals"), ("attach", "-n", "*"))


def said(command, source):
    done = subprocess.run([LTTNGTOP, *command, source], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
                          timeout=PATIENCE_S)
    return done.stderr.splitlines(), done.returncode


def nothing_can_be_read():
    for command in COMMANDS:
        for options in ((), LATE):
            lines, status = said((*command, *options), "missing")
            name = " ".join((*command, *options, "missing"))
            check(f"{name}: status", status == 1, status)
            check(name, lines == ["lttngtop: error: cannot open 'missing': No such file or directory",
                                  "lttngtop: no source could be read"], lines)


def incomplete(what, damage, words):
    """One of three hosts has nothing left to be read."""
    with tempfile.TemporaryDirectory() as above:
        source = os.path.join(above, "three")
        shutil.copytree(THREE, source)
        damage(os.path.join(source, "web", "kernel"))
        for command in COMMANDS:
            for options in ((), LATE):
                lines, status = said((*command, *options), source)
                name = f"{what}: {' '.join((*command, *options))}"
                check(f"{name}: status", status == 3, (status, lines))
                check(f"{name}: said", sum(words in line for line in lines) == 1, lines)
                check(f"{name}: once", len(lines) == len(set(lines)), lines)


def empty_streams(trace):
    for name in os.listdir(trace):
        if name not in ("metadata", "index"):
            os.truncate(os.path.join(trace, name), 0)


def replaced_stream(trace):
    path = os.path.join(trace, "ch_0")
    os.unlink(path)
    os.mkfifo(path)


def main():
    nothing_can_be_read()
    incomplete("empty streams", empty_streams, "the index lists 3 packets, the file has 0")
    incomplete("a stream that is none", replaced_stream, "not a regular file")
    incomplete("half a description", lambda trace: os.truncate(os.path.join(trace, "metadata"), 3000), "metadata: line 105: ")
    finish()


if __name__ == "__main__":
    main()
