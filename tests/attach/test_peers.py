#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
`attach -yy` names the peer of a socket even if accept() was not asked for it, from the first packet on that shows it:
the peer is where the packets go that the socket's writes cause, in babeltrace2's text.
"""

import collections
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cases  # pylint: disable=wrong-import-position

BUILD = os.environ.get("BUILD", os.path.join(os.path.dirname(__file__), "..", "..", "build"))
PROGRAM = os.environ.get("LTTNGTOP", os.path.join(BUILD, "lttngtop"))
RECORDING = os.path.join(BUILD, "traces", "rpc-hog-local")

EVENT = re.compile(r"\[(\d+)\] (?:\S+ )?([\w]+): \{ cpu_id = (\d+) \}, \{ (.*?) \}, \{ ?(.*?) ?\}$")
INTERRUPTS = {f"{name}_{edge}": step for name in ("irq_handler", "irq_softirq", "softirq", "timer_hrtimer_expire")
              for edge, step in (("entry", 1), ("exit", -1))}
NAMED = re.compile(r"(\d+)<(\w+) (?:([0-9.]+:\d+)→)?([0-9.]+:\d+)>")


def number(name, fields):
    m = re.search(rf"\b{name} = (-?\d+)", fields)
    return int(m[1]) if m else None


def destination(fields):
    """"127.0.0.1:43308", of a packet with data of its own."""
    address = re.search(r"\bdaddr = \[ (.*?) \]", fields)
    if not address or number("dest_port", fields) is None:
        return None
    return ".".join(re.findall(r"= (\d+)", address[1])) + f":{number('dest_port', fields)}"


def what_packets_say():
    """{(pid, fd, number of the accept() that returned it): peer} of fds from accept() that writes sent packets from."""
    text = subprocess.run(["babeltrace2", "--no-delta", "--clock-cycles", RECORDING], capture_output=True, check=True,
                          timeout=300).stdout.decode(errors="replace")
    life, peers, writing, depth = collections.Counter(), {}, {}, collections.Counter()
    for m in filter(None, map(EVENT.match, text.splitlines())):
        name, cpu, context, fields = m[2], int(m[3]), m[4], m[5]
        tid, pid = number("tid", context), number("pid", context)
        if name in INTERRUPTS:
            depth[cpu] = max(0, depth[cpu] + INTERRUPTS[name])
        elif name == "sched_switch":
            depth[cpu] = 0
        elif name == "syscall_entry_write":
            writing[tid] = number("fd", fields)
        elif name.startswith("syscall_exit_accept") and number("ret", fields) >= 0:
            life[pid, number("ret", fields)] += 1
        elif name.startswith(("syscall_entry_", "syscall_exit_")):
            writing.pop(tid, None)
        elif name == "net_dev_queue" and tid in writing and not depth[cpu] and life[pid, writing[tid]]:
            key = pid, writing[tid], life[pid, writing[tid]]
            assert peers.setdefault(key, destination(fields)) == destination(fields), (key, peers[key], fields)
    return peers


def test_peers_of_packets():
    want = what_packets_say()
    assert len(want) >= 4, want
    args = [PROGRAM, "attach", "-yy", "--no-sync", "--json", "-n", "*", "-e", "trace=accept,accept4,read,write,close",
            RECORDING]
    calls = [json.loads(x) for x in subprocess.check_output(args, timeout=300).splitlines()]
    found, known, life = {}, {}, collections.Counter()
    for call in [c for c in calls if c["event"] == "call"]:
        if call["name"].startswith("accept") and (call["ret"] or -1) >= 0:
            life[call["pid"], call["ret"]] += 1
        named = NAMED.match(call["args"].get("fd") or "")
        fd = re.match(r"\d+", call["args"].get("fd") or "")
        key = (call["pid"], int(fd[0]), life[call["pid"], int(fd[0])]) if fd else None
        if key not in want:
            continue
        if named:
            assert named[4] == want[key], (call, want[key])
            found[key] = named[4]
        else:
            assert call["ts_ns"] <= known.get(key, call["ts_ns"]), (call, want[key])
        if call["name"] == "write":
            known.setdefault(key, call["ts_ns"])  # its packet shows the peer of all later calls
    assert set(found) == set(want), set(want) - set(found)


def test_both_ends_of_connections():
    """The addresses are those of `report connections`, which has them from packets; every client has a server."""
    trace = os.path.join(BUILD, "traces", "three-tier")
    args = [PROGRAM, "attach", "-yy", "--no-sync", "--json", "-n", "*", trace]
    calls = [json.loads(x) for x in subprocess.check_output(args, timeout=300).splitlines()]
    ends = {(call["host"], *m.groups()) for call in calls if call["event"] == "call"
            for m in re.finditer(r"<tcp ([0-9.]+:\d+)→([0-9.]+:\d+)>", json.dumps(call["args"], ensure_ascii=False))}
    args = [PROGRAM, "report", "connections", "--json", trace]
    rows = json.loads(subprocess.run(args, capture_output=True, check=False, timeout=300).stdout)["rows"]
    assert len(ends) > 15 and ends <= {(row["host"], row["local"], row["peer"]) for row in rows}, ends
    ports = {end[1:] for end in ends}
    assert len([end for end in ports if end[::-1] in ports]) > 10, ports


def test_accepted():
    """The server's calls between accept() and its first packet name both ends."""
    trace = os.path.join(BUILD, "traces", "three-tier")
    args = [PROGRAM, "attach", "-yy", "--no-sync", "-f", "-p", "web:1461", "-e", "trace=getsockname", trace]
    text = subprocess.check_output(args, timeout=300).decode()
    assert "getsockname(13<tcp 10.77.0.12:80→10.77.0.11:49376>" in text, text


cases.run(globals())
