#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""report connections: against the packets in babeltrace2's text, and the logs of the guests' programs."""

import collections
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cases  # pylint: disable=wrong-import-position

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
PROGRAM = os.environ.get("LTTNGTOP", os.path.join(BUILD, "lttngtop"))
TRACES = os.path.join(BUILD, "traces")
TRUTHS = [os.path.join(TOP, "traces", "truth"), os.path.join(TOP, "..", "shared", "traces", "truth")]
FIN, SYN, RST, ACK = 1, 2, 4, 16

PACKET = re.compile(r"^\[(\d+)\.(\d{9})\] (?:\(.*?\) )?(\S+) (net_dev_queue|net_if_receive_skb): .* version = 4, ihl = (\d+).*"
                    r" tot_len = (\d+).* saddr = \[ (.*?) \].* daddr = \[ (.*?) \].* source_port = (\d+), dest_port = (\d+),"
                    r" seq = (\d+), ack_seq = (\d+), data_offset = (\d+), reserved = \d+, flags = (\w+)")


def run(recording, *args, table="connections"):
    done = subprocess.run([PROGRAM, "report", table, "--json", *args, os.path.join(TRACES, recording)],
                          capture_output=True, check=True, timeout=300)
    return json.loads(done.stdout)


def address(octets, port):
    return ".".join(re.findall(r"= (\d+)", octets)) + ":" + port


def packets(recording):
    """(ns, host, sent, local, peer, seq, ack, flags, payload) of TCP over IPv4"""
    text = subprocess.run(["babeltrace2", "--clock-seconds", os.path.join(TRACES, recording)], capture_output=True,
                          check=True, timeout=300).stdout.decode(errors="replace")
    for line in text.splitlines():
        m = PACKET.match(line)
        if m and "data_offset" in line:
            source, dest = address(m[7], m[9]), address(m[8], m[10])
            sent = m[4] == "net_dev_queue"
            length = int(m[6]) - 4 * int(m[5]) - 4 * int(m[13])
            yield (int(m[1]) * 10**9 + int(m[2]), m[3], sent, source if sent else dest, dest if sent else source,
                   int(m[11]), int(m[12]), int(m[14], 0), length)


def new_bytes(seen, begin, length):
    """Those of the bytes [begin, begin + length[ that are not in the set yet; adds them."""
    fresh = set(range(begin, begin + length)) - seen
    seen |= fresh
    return len(fresh)


def take_turn(c, t, reply):
    """Payload of the client (anything before its request is not a reply) or of the server; the sides are known."""
    if reply and c["turn"] == "":
        return
    turn = "reply" if reply else "request"
    if turn == "reply" and c["turn"] == "request":
        c["requests"] += 1
        c["answer_ns"] += t - c["data_ns"]
        c["answer_max_ns"] = max(c["answer_max_ns"] or 0, t - c["data_ns"])
    elif turn == c["turn"]:
        c[turn + "_ns"] += t - c["data_ns"]
    c["turn"], c["data_ns"] = turn, t


def expected(recording):
    """The packets of each end, by (host, local, peer)."""
    ends = {}
    for t, host, sent, local, peer, seq, ack, flags, length in packets(recording):
        c = ends.setdefault((host, local, peer), collections.defaultdict(
            int, begin_ns=None, handshake_ns=None, first_byte_ns=None, end_ns=None, side=None, reset=False, turn="", answer_max_ns=None,
            seen={True: set(), False: set()}, fins={}, acks={}))
        way = "sent" if sent else "received"
        first = None
        c[way + "_packets"] += 1
        if not flags & RST:
            span = length + bool(flags & SYN) + bool(flags & FIN)
            first = new_bytes(c["seen"][sent], seq, span)
            data = first - (first > 0 and bool(flags & SYN)) - (first > 0 and bool(flags & FIN))
            c[way + "_bytes"] += data
            c["retransmits"] += sent and first < span
            if data:
                take_turn(c, t, sent == (c["side"] == "server"))
            if not sent and data and c["begin_ns"] and c["first_byte_ns"] is None:
                c["first_byte_ns"] = t - c["begin_ns"]
        if flags & (SYN | ACK) == SYN and c["begin_ns"] is None:
            c["begin_ns"] = t
            c["side"] = "client" if sent else "server"
        if not sent and flags & ACK and not flags & RST and c["handshake_ns"] is None and c["begin_ns"]:
            if bool(flags & SYN) == (c["side"] == "client"):
                c["handshake_ns"] = t - c["begin_ns"]
        if flags & FIN:
            c["fins"][sent] = seq + length + 1
        if flags & ACK:
            c["acks"][sent] = max(ack, c["acks"].get(sent, 0))
        closed = len(c["fins"]) == 2 and all(c["acks"].get(not way, 0) >= fin for way, fin in c["fins"].items())
        if c["end_ns"] is None and (closed or flags & RST):
            c["end_ns"] = t
            c["reset"] = bool(flags & RST)
    return ends


def compare(recording, least):
    rows = run(recording, "--no-sync")["rows"]
    ends = expected(recording)
    assert len(rows) == len(ends) >= least, (len(rows), len(ends))
    for row in rows:
        want = ends[row["host"], row["local"], row["peer"]]
        for name in ("side", "begin_ns", "handshake_ns", "first_byte_ns", "end_ns", "reset", "sent_packets",
                     "received_packets", "sent_bytes", "received_bytes", "retransmits", "requests", "request_ns",
                     "answer_ns", "reply_ns", "answer_max_ns"):
            assert row[name] == want[name], (row["host"], row["local"], row["peer"], name, row[name], want[name])


def test_three_hosts():
    compare("three-tier", 20)


def test_one_host():
    compare("rpc-hog-local", 14)


def test_ends_know_each_other():
    """One sends what the other receives; a connection starts at its client, and both rows name each other."""
    rows = run("three-tier")["rows"] + run("rpc-hog-local")["rows"]
    by_ends = {(r["local"], r["peer"]): r for r in rows}
    for row in rows:
        other = by_ends[row["peer"], row["local"]]
        assert row["sent_bytes"] == other["received_bytes"], (row, other)
        assert {row["side"], other["side"]} == {"client", "server"}, (row, other)
        assert (row["peer_host"], row["peer_pid"], row["peer_comm"]) == (other["host"], other["pid"], other["comm"])
        if row["side"] == "client":
            assert row["begin_ns"] < other["begin_ns"] < row["begin_ns"] + row["handshake_ns"], (row, other)


def test_chosen_host():
    """The other ends of a host's rows are known, whatever hosts are chosen."""
    for table, peer in (("connections", "peer_host"), ("relations", "to_host")):
        web = [r for r in run("three-tier", table=table)["rows"] if r["host"] == "web"]
        assert {"client", "db"} <= {r[peer] for r in web}, web
        for choice in (("--host", "web"), ("--where", "host:web")):
            got = run("three-tier", *choice, table=table)
            assert got["hosts"] == ["web"] and got["rows"] == web, (table, choice, got)


def test_accepted():
    """A server's process is known once accept() has returned, before it sends anything."""
    path = os.path.join(TRACES, "three-tier")
    text = subprocess.run(["babeltrace2", "--clock-seconds", path], capture_output=True, check=True, timeout=300).stdout.decode()
    accepted = re.compile(r"^\[(\d+)\.(\d{9})\] (?:\(.*?\) )?(\S+) syscall_exit_accept4?: .*? tid = (\d+),.* \{ ret = \d+,.* family = (?:2|10), sport = (\d+)", re.M)
    checked = 0
    for m in accepted.finditer(text):
        end = int(m[1]) * 10**9 + int(m[2]) + 1
        rows = [r for r in run("three-tier", "--no-sync", "--end", f"{end}ns", "--where", f"host:{m[3]}")["rows"]
                if r["peer"].endswith(":" + m[5]) and r["side"] == "server"]
        assert len(rows) == 1 and rows[0]["pid"], (m[0], rows)
        threads = run("three-tier", "--pid", str(rows[0]["pid"]), table="cpu")["rows"]
        assert (m[3], int(m[4])) in {(r["host"], r["tid"]) for r in threads}, (m[0], rows)
        checked += 1
    assert checked == 10, checked


def test_intervals_add_up():
    """Intervals add up to the whole; connections that have ended are not in later ones."""
    whole = {(r["host"], r["local"], r["peer"]): r for r in run("three-tier")["rows"]}
    path = os.path.join(TRACES, "three-tier")
    lines = subprocess.run([PROGRAM, "report", "connections", "--json", "--interval", "200ms", path], check=True,
                           capture_output=True, timeout=300).stdout.decode().splitlines()
    sums = collections.Counter()
    for line in lines:
        part = json.loads(line)
        for row in part["rows"]:
            ends = row["host"], row["local"], row["peer"]
            assert row["begin_ns"] == whole[ends]["begin_ns"] < part["end_ns"], row
            assert row["end_ns"] is None or row["sent_packets"] or row["received_packets"], row
            for name in ("sent_bytes", "received_bytes", "sent_packets", "received_packets", "waits", "waited_ns"):
                sums[ends, name] += row[name]
    for (ends, name), total in sums.items():
        assert total == whole[ends][name], (ends, name, total)


def test_no_headers():
    """If received packets have no headers, their figures are unknown, not 0."""
    path = os.path.join(TOP, "..", "shared", "traces", "web-nogro.tar.zst")
    if not os.path.exists(path):
        return "no recording web-nogro here"
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(["tar", "xf", path, "-C", directory], check=True)
        done = subprocess.run([PROGRAM, "report", "connections", "--json", directory], capture_output=True, check=True,
                              timeout=300)
        rates = subprocess.run([PROGRAM, "report", "connections", "--json", "--columns", "sent_rate,received_rate,answer_avg_ns,end_ns",
                                directory], capture_output=True, check=True, timeout=300)
    rows = json.loads(done.stdout)["rows"]
    assert len(rows) == 4, rows
    assert all(r["sent_bytes"] and r["sent_packets"] for r in rows), rows
    for name in ("received_bytes", "received_packets", "requests", "request_ns", "answer_ns", "reply_ns", "answer_max_ns", "end_ns"):
        assert all(r[name] is None for r in rows), (name, rows)
    for r in json.loads(rates.stdout)["rows"]:
        assert r["sent_rate"] > 0 and r["received_rate"] is None and r["answer_avg_ns"] is None, r
    return None


def test_older_than_the_record():
    """An NFS client's port is lower than the server's: without the SYN, too, the client is the one that asks."""
    begin = 1795517391200000000
    ends = {}
    with tempfile.TemporaryDirectory() as directory:
        sliced = os.path.join(directory, "sliced")
        subprocess.run([PROGRAM, "report", "slice", "--begin", f"{begin}ns", "-o", sliced, os.path.join(TRACES, "nfs")],
                       capture_output=True, check=True, timeout=300)
        rows = run(sliced, "--no-sync")["rows"]
        for t, _, sent, local, peer, seq, _, _, length in packets(sliced):
            c = ends.setdefault((local, peer), collections.defaultdict(int, turn="", answer_max_ns=None, seen={True: set(), False: set()}))
            if new_bytes(c["seen"][sent], seq, length):
                take_turn(c, t, sent == local.endswith(":2049"))
    rows = [r for r in rows if ":2049" in r["local"] + r["peer"]]
    assert len(rows) == 2 and all(r["side"] is None and r["requests"] >= 37 for r in rows), rows
    for row in rows:
        for name in ("requests", "request_ns", "answer_ns", "reply_ns", "answer_max_ns"):
            want = ends[row["local"], row["peer"]][name]
            assert row[name] == want, (row, name, want)


def truth(recording):
    """The text files of a recording's truth, by name."""
    path = next(filter(os.path.exists, (os.path.join(below, recording + ".truth.tar.zst") for below in TRUTHS)), None)
    if not path:
        return None
    with tempfile.TemporaryDirectory() as directory:
        plain = os.path.join(directory, "truth.tar")
        subprocess.run(["zstd", "-dq", path, "-o", plain], check=True)
        with tarfile.open(plain) as tar:
            return {m.name.split("/truth/")[-1]: tar.extractfile(m).read().decode(errors="replace")
                    for m in tar.getmembers() if m.isfile()}


def test_truth_of_servers():
    """PostgreSQL and Apache log the client's port and the process that served it."""
    files = truth("three-tier")
    if not files:
        return "no truth of three-tier here"
    rows = {(r["host"], r["peer"]): r for r in run("three-tier")["rows"] if r["side"] == "server"}
    backends = {f"{ip}:{port}": int(pid)
                for pid, ip, port in re.findall(r"\[(\d+)\] (10\.77\.0\.12)\((\d+)\)", files["db/postgres.log"])}
    checked = 0
    for (host, peer), row in rows.items():
        if host == "db":
            assert row["pid"] == backends[peer], (row, backends)
            checked += 1
    for peer, pid in re.findall(r" (10\.77\.0\.11:\d+) .* pid=(\d+) ", files["web/apache-access.log"]):
        assert rows["web", peer]["pid"] == int(pid), (peer, pid, rows["web", peer])
        checked += 1
    assert checked >= 12, checked
    return None


def test_truth_of_clients():
    """rpcc logs its port, its pid and each of its requests."""
    files = truth("rpc-hog-local")
    if not files:
        return "no truth of rpc-hog-local here"
    rows = {r["local"].split(":")[1]: r for r in run("rpc-hog-local")["rows"] if r["side"] == "client"}
    requests = [json.loads(line) for name, text in files.items() if "rpcc" in name for line in text.splitlines()]
    assert len(requests) >= 20, len(requests)
    asked = collections.Counter()
    for r in requests:
        row = rows[str(r["lport"])]
        assert (row["pid"], row["comm"]) == (r["pid"], r["who"]), (row, r)
        asked[str(r["lport"])] += len(r["req"]) + 1
        # answered between the write and the read that the client timed
        assert row["requests"] == sum(q["lport"] == r["lport"] for q in requests), row
        longest = max(q["reply_mono"] - q["send_mono"] for q in requests if q["lport"] == r["lport"])
        assert longest * 0.9 < row["answer_max_ns"] <= longest, (row, longest)
    for port, size in asked.items():
        assert rows[port]["sent_bytes"] == size, (rows[port], size)
    return None


cases.run(globals())
