#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Who talks to whom: against the log of locks-pipes, and the logs of RPC clients and servers, also across hosts."""

import collections
import glob
import json
import os
import re
import subprocess

import harness

# A wait in the log: the kind of relation through which the waker ends it.
KINDS = {
    "pipe-read": "pipe", "pipe-write": "pipe", "unix-read": "unix", "waitpid": "child", "waitpid-many": "child",
    "sigsuspend": "signal", "sigwait": "signal", "flock": "lock", "futex-cond": "futex", "futex-sem": "futex",
    "eventfd-poll": "eventfd",
}

# A call that found its data did not wait; entering and leaving the call around a wait takes up to this.
INSTANT_NS = 250_000
AROUND_NS = 1_800_000
# The one that took longer to leave its calls, as test_blocking.py knows of single waits.
SLOW_NS = {("eventfd", 3725, 3725): 3_100_000, ("pipe", 3703, 3702): 2_300_000}

# Bytes, by mode, pids and kind: 20 times 16 through two pipes, 20 times 4096, 5 times 1, 6 times 1 each way.
BYTES = {
    ("pipe", "lp-producer", "lp-filter", "pipe"): 320,
    ("pipe", "lp-filter", "lp-consumer", "pipe"): 320,
    ("pipefull", "lp-fastwr", "lp-slowrd", "pipe"): 20 * 4096,
    ("flock", "lp-locker", "lp", "pipe"): 5,
    ("sock", "lp", "lp-unixsrv", "unix"): 6,
    ("sock", "lp-unixsrv", "lp", "unix"): 6,
}
COUNTS = {("sig", "lp-killer", "lp", "signal"): 6, ("flock", "lp-locker", "lp", "lock"): 5,
          ("timer", "lp", "lp", "eventfd"): 3}


def read_log(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.startswith("{")]


def check_locks_pipes(checks, path, truth_dir):
    rows = harness.report("relations", path).rows
    by = {(r["kind"], r["from_pid"], r["to_pid"], r["object"]): r for r in rows}
    sums = collections.defaultdict(collections.Counter)
    for row in rows:
        sums[row["kind"], row["from_pid"], row["to_pid"]].update(
            wakeups=row["wakeups"], wait_ns=row["wait_ns"], count=row["count"], bytes=row["bytes"])
    checks.equal(len(by), len(rows), "rows of different keys")
    checks.true(all(r["from_host"] == r["to_host"] == r["host"] == "web" and r["side"] == "both" for r in rows
                    if r["from_pid"] and r["to_pid"]), "one host: both ends are seen")
    pid_of = {r["tid"]: r["pid"] for r in harness.report("cpu", path).rows}
    logged = collections.defaultdict(list)
    modes = {}
    for log in sorted(glob.glob(os.path.join(truth_dir, "web", "lp-*.jsonl"))):
        for entry in read_log(log):
            modes[entry["pid"]] = entry["mode"]
            length = entry["end_mono"] - entry["begin_mono"]
            if entry["what"] in KINDS and entry["waker"] and length >= INSTANT_NS:
                logged[KINDS[entry["what"]], pid_of[entry["waker"]], entry["pid"]].append(length)
    for key, lengths in sorted(logged.items()):
        got = sums.get(key)
        if not checks.true(got, f"{key}: no row for {len(lengths)} waits"):
            continue
        around = len(lengths) * AROUND_NS + SLOW_NS.get(key, 0)
        checks.true(got["wakeups"] >= len(lengths), f"{key}: {got['wakeups']} wake-ups for {len(lengths)} waits")
        checks.true(got["wait_ns"] >= sum(lengths) - around,
                    f"{key}: {got['wait_ns']} ns of waits of {sum(lengths)} ns")
        if key[0] in ("signal", "lock", "eventfd", "child"):  # the log has every wait of these
            checks.true(got["wait_ns"] <= sum(lengths), f"{key}: {got['wait_ns']} ns of waits of {sum(lengths)} ns")
    found = collections.Counter()
    counted = collections.Counter()
    for row in rows:
        mode = modes.get(row["to_pid"]) or modes.get(row["from_pid"])
        key = mode, row["from_comm"], row["to_comm"], row["kind"]
        found[key] += row["bytes"]
        counted[key] += row["count"]
    for key, want in BYTES.items():
        checks.equal(found[key], want, f"bytes of {key}")
    for key, want in COUNTS.items():
        checks.equal(counted[key], want, f"count of {key}")
    checks.equal({r["object"] for r in rows if r["kind"] == "signal"}, {"SIGUSR1"}, "signals")
    checks.equal({r["object"] for r in rows if r["kind"] == "lock"}, {"/tmp/lp.lock"}, "locks")
    children = [k[2] for k in logged if k[0] == "child"]
    checks.true(children, "children waited for")


def rpc_logs(truth_dir):
    """(client pid, requests, server pid) of each connection that both logs have."""
    server_of = {}
    for log in glob.glob(os.path.join(truth_dir, "*", "rpcd-*.jsonl")):
        for entry in read_log(log):
            server_of[entry["peer_port"]] = entry["pid"]
    for log in sorted(glob.glob(os.path.join(truth_dir, "*", "rpcc-*.jsonl"))):
        entries = read_log(log)
        yield entries[0]["pid"], entries, server_of[entries[0]["lport"]]


def check_rpc(checks, name, directory, truth_dir):
    hosts = harness.hosts(directory)
    rows = [r for r in harness.report("relations", directory).rows if r["kind"] == "inet"]
    for client, entries, server in rpc_logs(truth_dir):
        asked = sum(len(e["req"]) + 1 for e in entries)
        waited = [e["reply_mono"] - e["send_mono"] for e in entries]
        ask = [r for r in rows if (r["from_pid"], r["to_pid"]) == (client, server)]
        answer = [r for r in rows if (r["from_pid"], r["to_pid"]) == (server, client)]
        text = f"{name}: {client} asks {server}"
        if len(hosts) == 1:
            checks.equal([r["side"] for r in ask + answer], ["both"] * 2, f"{text}: rows")
            heard = answer[0] if answer else None
        else:
            checks.equal(sorted((r["host"], r["side"]) for r in ask), [("client", "sent"), ("web", "received")], text)
            checks.equal(sorted((r["host"], r["side"]) for r in answer), [("client", "received"), ("web", "sent")], text)
            checks.true(all((r["from_host"], r["to_host"]) == ("client", "web") for r in ask), f"{text}: hosts")
            checks.true(all((r["from_host"], r["to_host"]) == ("web", "client") for r in answer), f"{text}: hosts")
            heard = next((r for r in answer if r["side"] == "received"), None)
        for row in ask:
            checks.equal(row["bytes"], asked, f"{text}: bytes {row['side']}")
            checks.equal(row["count"], len(entries), f"{text}: requests {row['side']}")
        for row in answer:
            checks.equal(row["count"], len(entries), f"{text}: answers {row['side']}")
        checks.equal(len({r["bytes"] for r in answer}), 1, f"{text}: as many bytes sent as received")
        checks.equal(len({r["object"] for r in ask + answer}), 1, f"{text}: one service")
        if checks.true(heard, f"{text}: no answer"):
            # and one wait for the connection, which is not in the log
            checks.true(len(entries) <= heard["wakeups"] <= len(entries) + 1, f"{text}: {heard['wakeups']} waits")
            checks.true(heard["wait_max_ns"] <= max(waited), f"{text}: longest wait {heard['wait_max_ns']}")
            checks.true(heard["wait_ns"] >= 0.8 * sum(waited),
                        f"{text}: {heard['wait_ns']} ns of {sum(waited)} ns until the answers")


def check_graph(checks, directory):
    """The DOT file: every process that has an edge is a node in its host's box."""
    done = subprocess.run([harness.PROGRAM, "report", "relations", "--dot", "--no-sync", directory], check=True,
                          stdout=subprocess.PIPE)
    lines = done.stdout.decode().splitlines()
    nodes = {line.split('"')[1] for line in lines if "[label=" in line and "->" not in line}
    edges = [line.split('"') for line in lines if "->" in line]
    checks.equal((lines[0], lines[-1]), ("digraph relations {", "}"), "a graph")
    checks.true(edges and all(e[1] in nodes and e[3] in nodes for e in edges), "edges between nodes")
    rpc = [e for e in edges if "inet" in e[5] and e[1].startswith("client/") and e[3].startswith("web/")]
    checks.true(rpc, "edges between hosts")
    rows = harness.report("relations", directory).rows
    pairs = {(r["from_host"], r["from_pid"], r["to_host"], r["to_pid"], r["kind"], r["object"]) for r in rows}
    checks.equal(len(edges), len(pairs), "an edge for each pair and means")


def check_boxes(checks, directory):
    """With --host, too, every process at an edge is a node in the box of its host, with its name."""
    done = subprocess.run([harness.PROGRAM, "report", "relations", "--dot", "--no-sync", "--host", "client", directory], check=True,
                          stdout=subprocess.PIPE)
    box, labels, boxes = None, {}, []
    for line in done.stdout.decode().splitlines():
        if line.startswith("\t\tlabel="):
            box = line.split('"')[1]
            boxes.append(box)
        elif line.startswith("\t}"):
            box = None
        elif "->" not in line and "[label=" in line:
            _, node, _, label, _ = line.split('"')
            labels[node] = label
            checks.equal(box, node.split("/")[0] if re.fullmatch(r"[\w#]+/\d+", node) else None, f"box of {node}")
        elif "->" in line:
            checks.true(set(line.split('"')[1:4:2]) <= set(labels), f"nodes of {line}")
    checks.equal((sorted(set(boxes)), len(boxes)), (["client", "web"], 2), "boxes")
    checks.true(any(re.fullmatch(r"web/\d+", node) and label.startswith("apache2\\n") for node, label in labels.items()),
                f"processes of web: {labels}")


def main():
    harness.need_program()
    checks = harness.Checks()
    for name, directory, truth_dir in harness.recordings({"locks-pipes", "rpc-hog", "rpc-hog-local", "three-tier"}):
        if name == "locks-pipes":
            check_locks_pipes(checks, os.path.join(directory, "web"), truth_dir)
        elif name == "three-tier":
            check_boxes(checks, directory)
        else:
            check_rpc(checks, name, directory, truth_dir)
        if name == "rpc-hog":
            check_graph(checks, directory)
    checks.finish()


if __name__ == "__main__":
    main()
