#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What packets' headers show. Without them clocks cannot be synchronised: the table says why, and what to do. Later
fragments of a datagram have data in place of ports."""
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


def fragment(trace, time, name, number, n):
    """The n-th of the three of a datagram of 4000 bytes: "more fragments", the offset in units of 8 bytes."""
    length, frag_off, ports = ((1480, 0x2000, (5000, 6000)), (1480, 0x2000 | 185, (0x4141 + number, 0x4242)),
                               (1048, 370, (0x4343 + number, 0x4444)))[n]
    udp = [("source_port", "u16", ports[0]), ("dest_port", "u16", ports[1]), ("len", "u16", 0x4545 if n else 4008)]
    ipv4 = [("ihl", "u8", 5), ("tot_len", "u16", 20 + length), ("id", "u16", 7 + number), ("frag_off", "u16", frag_off),
            ("protocol", "u8", 17), ("saddr", "array", "u8", [10, 0, 0, 1]), ("daddr", "array", "u8", [10, 0, 0, 2]),
            ("transport_header", "variant", {"unknown": [], "udp": udp}, "udp")]
    trace.add(time, name, ("skbaddr", "u64", 1), ("len", "u32", 20 + length), ("name", "string", "eth0"),
              ("network_header", "variant", {"unknown": [], "ipv4": ipv4}, "ipv4"))


def write_fragments(top):
    """Two datagrams from left to right."""
    left, right = ctf.Trace("left"), ctf.Trace("right")
    switch(left, BASE, 0, 10)
    switch(right, BASE, 0, 20)
    left.add(BASE + 1, "syscall_entry_socket", ("family", "s32", 2), ("type", "s32", 2), ("protocol", "s32", 0))
    left.add(BASE + 2, "syscall_exit_socket", ("ret", "s64", 3))
    for number in range(2):
        time = BASE + 1000 * (1 + number)
        left.add(time, "syscall_entry_sendto", ("fd", "s32", 3), ("len", "u64", 4000))
        for n in range(3):
            fragment(left, time + 1 + n, "net_dev_queue", number, n)
            fragment(right, time + 101 + n, "net_if_receive_skb", number, n)
        left.add(time + 10, "syscall_exit_sendto", ("ret", "s64", 4000))
    paths = [os.path.join(top, f"fragments-{trace.host}") for trace in (left, right)]
    left.write(paths[0])
    right.write(paths[1])
    return paths


def check_fragments(top):
    paths = write_fragments(top)
    for reader in ("native", "babeltrace2"):
        rows, err, _ = report("relations", "--reader", reader, *paths)
        sent = [(row["object"], row["count"], row["bytes"]) for row in rows if row["kind"] == "inet"]
        check(f"fragments: {reader}: one datagram each", sent == [("10.0.0.1:5000", 2, 8000)], (rows, err))
        rows, err, _ = report("matches", "--reader", reader, *paths)
        flows = [(row["flow"], row["received_ns"] - row["sent_ns"]) for row in rows]
        check(f"fragments: {reader}: each is matched, the first one by its ports", flows == [
            ("10.0.0.1:5000>10.0.0.2:6000", 100), *[("10.0.0.1:0>10.0.0.2:0", 100)] * 2] * 2, (rows, err))


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
        check_fragments(top)
    finish()


main()
