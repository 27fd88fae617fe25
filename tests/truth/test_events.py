#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every event is counted, by host and by name, and so is every lost one."""

import os
import re
import subprocess

import harness
import truth

# From the packets' own counters; babeltrace2 prints nonsense where a counter falls back to 0.
LOST = {("lossy", "db"): (682404, 0), ("lossy-overwrite", "db"): (0, 1678)}


def babeltrace_count(directory):
    done = subprocess.run(["babeltrace2", "--component", "sink.utils.counter", directory],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    counts = re.findall(rb"(\d+) Event messages", done.stdout)  # it prints the growing count, too
    return int(counts[-1]) if counts and done.returncode == 0 else None


def main():
    harness.need_program()
    harness.need("babeltrace2")
    checks = harness.Checks()
    for name, directory, truth_dir in harness.recordings(user_space=True):
        names = harness.hosts(directory)
        whole = harness.report("hosts", directory, status=(0, 3)).by("host")
        checks.equal(sorted(whole), names, f"{name}: hosts")
        for host in names:
            path = os.path.join(directory, host)
            events, packets = LOST.get((name, host), (0, 0))
            status = (harness.INCOMPLETE,) if events or packets else (harness.COMPLETE,)
            one = harness.report("hosts", path, status=status)
            row = one.by("host")[host]
            total, by_name = truth.expected_events(os.path.join(truth_dir, host + ".events.txt"))
            counted = babeltrace_count(path)
            if counted is not None:
                checks.equal(row["events"], counted, f"{name}/{host}: events babeltrace2 counts")
            checks.equal(row["events"], total, f"{name}/{host}: events of the recording's truth")
            checks.equal(whole.get(host, {}).get("events"), row["events"], f"{name}/{host}: events, all hosts read")
            checks.equal((row["lost_events"], row["lost_packets"]), (events, packets), f"{name}/{host}: lost")
            checks.equal((one.lost["events"], one.lost["packets"]), (events, packets), f"{name}/{host}: lost of the report")
            checks.equal((one.begin, one.end), (row["begin_ns"], row["end_ns"]), f"{name}/{host}: the record")
            for workers in (1, 2):
                again = harness.report("hosts", "--workers", workers, path, status=status).by("host")[host]
                checks.equal(again, row, f"{name}/{host}: the same with {workers} workers")
            rows = harness.report("events", path, status=status).by("name")
            got = {n: r["count"] for n, r in rows.items() if r["count"]}
            for event in sorted(set(got) | set(by_name)):
                checks.equal(got.get(event, 0), by_name.get(event, 0), f"{name}/{host}: {event}")
    checks.finish()


if __name__ == "__main__":
    main()
