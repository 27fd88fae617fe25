#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Clocks that cannot be synchronised: the table says why, and what to do if packets were recorded without headers."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "waits"))
import ctf  # noqa: E402
from cases import check, finish  # noqa: E402

LTTNGTOP = os.environ["LTTNGTOP"]
BASE, SECOND = 1_700_000_000 * 10 ** 9, 10 ** 9


def report(table, *sources):
    run = subprocess.run([LTTNGTOP, "report", table, "--json", *sources], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, check=False)
    return json.loads(run.stdout)["rows"], run.stderr, run.returncode


def switch(trace, time, prev, following):
    trace.add(time, "sched_switch", ("prev_comm", "text", 16, "a"), ("prev_tid", "s32", prev), ("prev_prio", "s32", 20),
              ("prev_state", "s64", 0), ("next_comm", "text", 16, "b"), ("next_tid", "s32", following),
              ("next_prio", "s32", 20))


def packet(trace, time):
    """As with receive offload off: the variant's option for a packet without header."""
    header = {"unknown": [], "ipv4": [("version", "u8", 4)]}
    trace.add(time, "net_if_receive_skb", ("skbaddr", "u64", 1), ("len", "u32", 100), ("name", "string", "eth0"),
              ("network_header", "variant", header, "unknown"))


def write(top, host, packets):
    trace = ctf.Trace(host)
    for i in range(10):
        switch(trace, BASE + i * SECOND, 1 + i % 2, 2 - i % 2)
        if packets:
            packet(trace, BASE + i * SECOND + 1)
    path = os.path.join(top, f"{host}-{packets}")
    trace.write(path)
    return path


def main():
    with tempfile.TemporaryDirectory() as top:
        bare = [write(top, host, True) for host in ("left", "right")]
        silent = [write(top, host, False) for host in ("left", "right")]

        for table in ("sync", "matches", "latencies"):
            rows, err, status = report(table, *bare)
            check(f"without headers: {table}: exit status", status == 3, (status, err))
            check(f"without headers: {table}: said of each", all(
                f"{host}: received packets have no headers" in err for host in ("left", "right")), err)
            check(f"without headers: {table}: what helps", "gro on" in err and "--offset" in err, err)
        rows = report("sync", *bare)[0]
        check("without headers: the reason", [row["state"] for row in rows] == ["absent"] * 2 and
              all("no headers" in row["reason"] for row in rows), rows)
        rows, err, status = report("cpu", *bare)
        check("without headers: other tables have all they need", (status, err) == (0, ""), (status, err))

        rows, err, status = report("sync", *silent)
        check("no packets: the reason", all(row["reason"] == "no packet was recorded" for row in rows), rows)
        check("no packets: nothing is incomplete", (status, err) == (0, ""), (status, err))
        rows = report("sync", bare[0], silent[1])[0]
        check("each has its own reason", "headers" in rows[0]["reason"] and "no packet" in rows[1]["reason"], rows)
        rows, err, status = report("sync", bare[0])
        check("one host needs no packets", (status, err, rows[0]["reason"]) == (0, "", None), (rows, err))
    finish()


main()
