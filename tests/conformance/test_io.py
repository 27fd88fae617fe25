#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Bytes of threads and disks, queue lengths, names: the io_* cases.

The cases also contain what a report cannot show: which request is in which slot of a queue, and figures interpolated
within a request (the program counts a request's bytes when it completes).
"""

import case
import harness

CASES = ("io_analysis", "io_full_kernel", "io_missing", "io_nostatedump", "io_req_merge", "io_syscall_read",
         "io_syscall_write", "io_two_devices")
SECTOR = 512


def number(dev):
    """8,16 or 8:16 or the kernel's number -> major << 20 | minor"""
    if isinstance(dev, int):
        return dev
    major, minor = dev.replace(":", ",").split(",")
    return int(major) << 20 | int(minor)


class Disks:
    def __init__(self, c):
        self.c = c
        self.by_ns = {t: {number(r["dev"]): r for r in rows} for t, rows in c.each_ns("disks").items()}
        self.first = min(self.by_ns)

    def total(self, dev, column, t):
        """The sum up to and including the events at t."""
        return sum(rows[dev][column] for at, rows in self.by_ns.items() if at <= t and dev in rows)

    def at(self, dev, column, t):
        return self.by_ns.get(t, {}).get(dev, {}).get(column) or 0


def check_path(checks, name, path, intervals, disks, threads):
    what = f"{name}: {'/'.join(path)}"
    before = 0
    for first, last, value in intervals:
        value = value or 0
        if path[-1] in ("sectors_written", "sectors_read"):
            column = "write_bytes" if path[-1] == "sectors_written" else "read_bytes"
            for t in {first, last}:
                checks.equal(disks.total(int(path[1]), column, t), value * SECTOR, f"{what} at {t}")
        elif path[-1] in ("driverqueue_length", "waitingqueue_length"):
            column = "queue" if path[-1] == "driverqueue_length" else "waiting"
            for t in range(first, last + 1):
                checks.equal(disks.at(int(path[1]), column, t), value, f"{what} at {t}")
                # At the instant of a change the greater of the two shows.
                if column == "queue":
                    checks.equal(disks.at(int(path[1]), "queue_max", t), max(before, value) if t == first else value,
                                 f"{what} at {t}: greatest")
        elif path[0] == "Threads":
            column = "read_bytes" if path[-1] == "bytes_read" else "write_bytes"
            for t in {first, last}:
                got = sum(r[column] for at, rows in threads.items() if at <= t for r in rows if r["tid"] == int(path[1]))
                checks.equal(got, value, f"{what} at {t}")
        before = value


def main():
    checks = harness.Checks()
    for name in CASES:
        c = case.Case(name)
        disks = Disks(c)
        threads = c.each_ns("io")
        for entry in c.expected["intervals"]:
            path = entry["path"]
            if len(path) == 2:
                continue  # the disk's name: below
            check_path(checks, name, path, entry["intervals"], disks, threads)
        rows = {number(r["dev"]): r for r in harness.report("disks", c.ctf).rows}
        for disk in c.expected.get("disks", []):
            row = rows.get(disk["dev"])
            checks.equal(row is not None, disk["active"], f"{name}: {disk} has a row")
            if row and disk["name"] != disk["id"]:
                checks.equal(row["name"], disk["name"], f"{name}: name of {disk}")
            elif row:
                checks.true(row["name"] in (None, disk["id"].replace(",", ":"), disk["id"]),
                            f"{name}: no name known of {disk}: {row['name']}")
    checks.finish()


if __name__ == "__main__":
    main()
