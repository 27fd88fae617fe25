#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
A client asks a server, over each protocol and with the packet events of each kernel and module: the packets are
matched, the two clocks synchronised, and the client's path leads through the server. Then a softirq of the server
sends the rest of an answer, when the client has read the first part.
"""

import os

import ctf
from reference import harness

BEGIN, ROUND, ROUNDS, US = 10**18, 20_000_000, 50, 1000
AHEAD = 3_000_000  # the server's clock
CLIENT, SERVER = 10, 20
PORTS = (40000, 80)
IPV4 = ([10, 0, 0, 1], [10, 0, 0, 2])
IPV6 = ([0x20, 1, 0xd, 0xb8] + 11 * [0] + [1], [0x20, 1, 0xd, 0xb8] + 11 * [0] + [2])
ADDRESS = {"ipv4": ("10.0.0.1", "10.0.0.2"), "ipv6": ("[2001:db8::1]", "[2001:db8::2]")}


def tcp(n, back):
    numbers = (5000 + 100 * n, 1000 + 100 * (n + 1)) if back else (1000 + 100 * n, 5000 + 100 * n)
    ports = PORTS[::-1] if back else PORTS
    return [("source_port", "u16", ports[0]), ("dest_port", "u16", ports[1]), ("seq", "u32", numbers[0]),
            ("ack_seq", "u32", numbers[1]), ("data_offset", "u8", 5), ("flags", "u16", 0x18)]


def udp(n, back):
    ports = PORTS[::-1] if back else PORTS
    return [("source_port", "u16", ports[0]), ("dest_port", "u16", ports[1]), ("len", "u16", 100 + n)]


def ip(version, protocol):
    """Fields of today's net_dev_queue and net_if_receive_skb."""
    def fields(n, back):
        a, b = (IPV4 if version == "ipv4" else IPV6)[::-1 if back else 1]
        transport = ("transport_header", "variant", {"unknown": [], "tcp": tcp(n, back), "udp": udp(n, back)}, protocol)
        number = {"tcp": 6, "udp": 17}[protocol]
        length = {"tcp": 120, "udp": 108 + n}[protocol]
        header = [("ihl", "u8", 5), ("tot_len", "u16", 20 + length), ("id", "u16", 1 + 2 * n + back), ("protocol", "u8", number)]
        if version == "ipv6":
            header = [("payload_len", "u16", length), ("nexthdr", "u8", number)]
        header += [("saddr", "array", "u8", a), ("daddr", "array", "u8", b), transport]
        return [("skbaddr", "u64", n), ("len", "u32", 140), ("name", "string", "eth0"),
                ("network_header", "variant", {"unknown": [], version: header}, version)]
    return fields


def old(n, back):
    """Those of builds that had transport_fields."""
    return [("skbaddr", "u64", n), ("len", "u32", 140), ("name", "string", "eth0"),
            ("transport_fields", "variant", {"thtype_unknown": [], "thtype_tcp": tcp(n, back)}, "thtype_tcp")]


def socket(n, back):
    """Those of the module of inet_sock_local_*."""
    return [f for f in tcp(n, back) if f[0] in ("seq", "ack_seq", "flags")]


SOFTIRQ = (("irq_softirq_entry", [("vec", "u32", 3)]),), (("irq_softirq_exit", [("vec", "u32", 3)]),)
PROBE = [("ip", "u64", 1), ("parent_ip", "u64", 2)]
PROBES = ((("do_IRQ_entry", PROBE), ("netif_receive_skb_internal_entry", PROBE)),
          (("netif_receive_skb_internal_return", PROBE), ("do_IRQ_return", PROBE)))
RECEIVING = ((("irq_softirq_entry", [("vec", "u32", 3)]), ("net_if_receive_skb_entry", [])),
             (("net_if_receive_skb_exit", []), ("irq_softirq_exit", [("vec", "u32", 3)])))

# name: fields, names of the two events, around the reception, address family of the flow
LAYOUTS = {
    "tcp4": (ip("ipv4", "tcp"), "net_dev_queue", "net_if_receive_skb", SOFTIRQ, "ipv4"),
    "tcp6": (ip("ipv6", "tcp"), "net_dev_queue", "net_if_receive_skb", SOFTIRQ, "ipv6"),
    "udp4": (ip("ipv4", "udp"), "net_dev_queue", "net_if_receive_skb", SOFTIRQ, "ipv4"),
    "udp6": (ip("ipv6", "udp"), "net_dev_queue", "net_if_receive_skb", SOFTIRQ, "ipv6"),
    "old-name": (ip("ipv4", "tcp"), "net_dev_queue", "netif_receive_skb", SOFTIRQ, "ipv4"),
    "transport-fields": (old, "net_dev_queue", "netif_receive_skb", SOFTIRQ, None),
    "sock-local": (socket, "inet_sock_local_out", "inet_sock_local_in", SOFTIRQ, None),
    "entry-exit": (ip("ipv4", "tcp"), "net_dev_queue", "net_if_receive_skb", RECEIVING, "ipv4"),
    "probes": (ip("ipv4", "tcp"), "net_dev_queue", "net_if_receive_skb", PROBES, "ipv4"),
}


class Host:
    def __init__(self, name, tid, layout, ahead):
        self.trace, self.tid, self.ahead = ctf.Trace(name), tid, ahead
        self.fields, self.out, self.into, self.around, _ = layout

    def add(self, time, name, fields):
        self.trace.add(BEGIN + time + self.ahead, name, *fields)

    def switch(self, time, prev, state, following):
        self.add(time, "sched_switch", [("prev_comm", "text", 16, f"t{prev}"), ("prev_tid", "s32", prev),
                                        ("prev_prio", "s32", 20), ("prev_state", "s64", state),
                                        ("next_comm", "text", 16, f"t{following}"), ("next_tid", "s32", following),
                                        ("next_prio", "s32", 20)])

    def send(self, time, n, back):
        self.add(time, self.out, self.fields(n, back))

    def send_in_softirq(self, time, n, back):
        self.add(time - US, *SOFTIRQ[0][0])
        self.send(time, n, back)
        self.add(time + US, *SOFTIRQ[1][0])

    def receive(self, time, n, back):
        for name, fields in self.around[0]:
            self.add(time - US, name, fields)
        self.add(time, self.into, self.fields(n, back))
        self.add(time, "sched_waking", [("comm", "text", 16, f"t{self.tid}"), ("tid", "s32", self.tid), ("prio", "s32", 20),
                                        ("target_cpu", "s32", 0)])
        for name, fields in self.around[1]:
            self.add(time + US, name, fields)


def rest(client, server, t, n):
    """The rest of the answer; every other one is queued before the client sleeps."""
    server.send_in_softirq(t + (2900 if n % 2 else 3500) * US, ROUNDS + n, True)
    client.switch(t + 3000 * US, CLIENT, 1, 0)
    client.receive(t + 4000 * US, ROUNDS + n, True)
    client.switch(t + 4100 * US, 0, 0, CLIENT)


def write(directory, layout, ctf2=False, rests=False):
    client, server = Host("client", CLIENT, layout, 0), Host("server", SERVER, layout, AHEAD)
    client.switch(0, 0, 0, CLIENT)
    server.switch(0, SERVER, 1, 0)
    for n in range(ROUNDS):
        t = (n + 1) * ROUND
        client.send(t, n, False)
        client.switch(t + 100 * US, CLIENT, 1, 0)
        server.receive(t + 500 * US, n, False)
        server.switch(t + 600 * US, 0, 0, SERVER)
        server.send(t + 1600 * US, n, True)
        server.switch(t + 1700 * US, SERVER, 1, 0)
        client.receive(t + 2100 * US, n, True)
        client.switch(t + 2200 * US, 0, 0, CLIENT)
        if rests:
            rest(client, server, t, n)
    client.switch((ROUNDS + 1) * ROUND, CLIENT, 1, 0)
    for host in (client, server):
        host.trace.write(os.path.join(directory, host.trace.host, "kernel"), ctf2)


def check_matches(checks, name, directory, family):
    rows = harness.report("matches", directory, sync=True).rows
    checks.equal([(r["from_host"], r["to_host"]) for r in rows], ROUNDS * [("client", "server"), ("server", "client")],
                 f"{name}: matches")
    flows = {None}
    if family:
        a, b = (f"{address}:{port}" for address, port in zip(ADDRESS[family], PORTS))
        flows = {f"{a}>{b}", f"{b}>{a}"}
    checks.equal({r["flow"] for r in rows}, flows, f"{name}: flows")
    checks.equal({r["raw_latency_ns"] for r in rows}, {500 * US + AHEAD, 500 * US - AHEAD}, f"{name}: latencies")
    checks.true(not any(r["part"] for r in rows), f"{name}: parts")
    if name == "udp6":  # without an ID nothing is certain: they are links, but do not synchronise clocks
        checks.true(not any(r["used"] for r in rows), f"{name}: none is used")
        return
    checks.true(all(r["used"] and not r["ambiguous"] for r in rows), f"{name}: all are used")
    sync = {r["host"]: r for r in harness.report("sync", "--ref", "client", directory, sync=True).rows}["server"]
    checks.equal((sync["state"], sync["matched"]), ("accurate", 2 * ROUNDS), f"{name}: clock")
    checks.true(abs(sync["offset_ns"] + AHEAD) <= sync["bound_ns"] <= 600 * US, f"{name}: clock {sync}")


def check_path(checks, name, directory):
    """
    In each round the server works for 1000 us and waits for its CPU for 100; a packet is in
    transit for 500, of which the client still runs for the first 100.
    """
    rows = harness.report("critical-path", "--host", "client", "--tid", str(CLIENT), "--offset", f"server={-AHEAD}", "--ref",
                          "client", directory, sync=True).rows
    sums = {}
    for row in rows:
        key = (row["host"], row["tid"], row["state"], row["wire"])
        sums[key] = sums.get(key, 0) + row["duration_ns"]
    checks.equal({k: v for k, v in sums.items() if k[0] == "server" or k[3]},
                 {("server", SERVER, "running", False): ROUNDS * 1000 * US,
                  ("server", SERVER, "preempted", False): ROUNDS * 100 * US,
                  ("server", SERVER, "network", True): ROUNDS * 400 * US,
                  ("client", CLIENT, "network", True): ROUNDS * 500 * US}, f"{name}: the server's part of the path")
    checks.equal({r["link"] for r in rows if r["wire"]}, {"network"}, f"{name}: links")


def check_rests(checks, name, directory):
    """The rest is in transit from when it is queued, or from when the client sleeps if that is later."""
    sums = {True: 0, False: 0}
    for row in harness.report("critical-path", "--host", "client", "--tid", str(CLIENT), "--offset", f"server={-AHEAD}", "--ref",
                              "client", directory, sync=True).rows:
        if (row["tid"], row["state"]) == (CLIENT, "network"):
            sums[row["wire"]] += row["duration_ns"]
            checks.equal((row["from_host"], row["from_tid"]), ("server", SERVER) if row["wire"] else (None, None), f"{name}: sender")
    checks.equal(sums, {True: ROUNDS * 500 * US + ROUNDS // 2 * (500 + 1000) * US, False: ROUNDS // 2 * 500 * US}, f"{name}: rests")


def main():
    harness.need_program()
    checks = harness.Checks()
    for name, layout in LAYOUTS.items():
        write(name, layout)
        check_matches(checks, name, name, layout[4])
        check_path(checks, name, name)
    write("rests", LAYOUTS["tcp4"], rests=True)
    check_rests(checks, "rests", "rests")
    checks.finish()


if __name__ == "__main__":
    main()
