#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fifos opened within the recording: kind, bytes by direction and the relation between their ends, as babeltrace2's text
gives them.

A path is a fifo's if a file opened by it cannot be sought (lseek: -ESPIPE), outside /dev, /proc and /sys.
"""

import collections
import os
import re
import subprocess

import harness
from test_workqueue import report

NAME, HOST = "workqueue", "kmem"
CALL = re.compile(r" syscall_(entry|exit)_(\w+): \{ cpu_id = \d+ \}, \{ tid = (\d+), .*?\}, \{ (.*) \}$")
ESPIPE = -29


def number(field, text):
    return int(re.search(rf"\b{field} = (-?\d+)", text)[1])


class Text:
    """Which fds were opened by which path, and what passed through them."""

    def __init__(self, path):
        self.unseekable, self.opened = set(), collections.Counter()  # paths; (tid, path) → opens
        self.bytes = collections.Counter()  # (tid, path, "read" or "write")
        inside, fds = {}, {}
        out = subprocess.run(["babeltrace2", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
        for line in out.splitlines():
            m = CALL.search(line)
            if not m:
                continue
            edge, call, tid, fields = m[1], m[2], int(m[3]), m[4]
            if edge == "entry":
                inside[tid] = (call, fields)
                continue
            if inside.get(tid, ("", ""))[0] != call:
                continue
            self.apply(fds, call, tid, inside.pop(tid)[1], number("ret", fields))

    def apply(self, fds, call, tid, fields, ret):
        if call == "openat" and ret >= 0:
            fds[tid, ret] = re.search(r'filename = "(.*?)"', fields)[1]
            self.opened[tid, fds[tid, ret]] += 1
        elif call == "dup2" and ret >= 0:
            fds[tid, ret] = fds.get((tid, number("oldfd", fields)))
        elif call == "close":
            fds.pop((tid, number("fd", fields)), None)
        elif call == "lseek" and ret == ESPIPE:
            self.unseekable.add(fds.get((tid, number("fd", fields))))
        elif call in ("read", "write") and ret > 0:
            self.bytes[tid, fds.get((tid, number("fd", fields))), call] += ret


def main():
    harness.need_program()
    harness.need("babeltrace2")
    checks = harness.Checks()
    path = os.path.join(harness.bundled(NAME), HOST)
    text = Text(path)
    fifos = {p for p in text.unseekable if p and not p.startswith(("/dev/", "/proc/", "/sys/"))}
    checks.equal(fifos, {"/var/tmp/w/fifo"}, "fifos in the text")
    rows = report(path, "files")["rows"]
    for fifo in fifos:
        kinds = collections.Counter(row["kind"] for row in rows if row["path"] == fifo)
        # dd opens it, and moves it to fd 0 or 1
        checks.equal(kinds, {"fifo": 2 * sum(n for (_, p), n in text.opened.items() if p == fifo)}, f"{fifo}: kinds")
    for row in rows:
        if row["kind"] == "fifo" and row["opened_ns"]:
            checks.true(row["path"] in fifos, f"{row} is in the text")
    io = {row["tid"]: row for row in report(path, "io")["rows"]}
    ends = {(call, tid): n for (tid, p, call), n in text.bytes.items() if p in fifos}
    for (call, tid), n in ends.items():
        checks.equal(io[tid][f"{call}_bytes_pipe"], n, f"{tid}: {call} through it")
    (writer, written), = [(tid, n) for (call, tid), n in ends.items() if call == "write"]
    (reader, _), = [(tid, n) for (call, tid), n in ends.items() if call == "read"]
    between = [row for row in report(path, "relations")["rows"] if row["kind"] == "pipe" and row["object"] in fifos]
    got = {(row["from_pid"], row["to_pid"]): row["bytes"] for row in between}
    checks.equal(got, {(writer, reader): written, (reader, writer): 0}, "from process to process")
    checks.finish()


if __name__ == "__main__":
    main()
