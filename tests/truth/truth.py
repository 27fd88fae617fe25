# SPDX-License-Identifier: GPL-2.0-or-later
"""What the guests recorded about themselves during tracing.

A snapshot file is a sequence of blocks "@@ MONOTONIC_ns REALTIME_ns NAME", each followed by the text of that /proc file
as it was read just after the stamp. Every block has its own time: a thread's figures hold at *its* stamp.
"""

import collections
import glob
import json
import os
import re
import subprocess

Block = collections.namedtuple("Block", "mono name text")


class Snapshot:
    """One snap-*.txt; blocks by name, the first of each name and the last."""

    def __init__(self, path):
        self.path = path
        self.blocks = []
        with open(path, encoding="utf-8", errors="surrogateescape") as f:
            parts = re.split(r"^@@ ", f.read(), flags=re.M)[1:]
        for part in parts:
            head, _, text = part.partition("\n")
            mono, _, name = head.split(" ", 2)
            self.blocks.append(Block(int(mono), name, text))
        self.begin = self.blocks[0].mono
        self.end = self.blocks[-1].mono
        self.pid = int(self.blocks[0].name.split("pid=")[1]) if "pid=" in self.blocks[0].name else None
        self.first = {}
        self.last = {}
        for block in self.blocks:
            self.first.setdefault(block.name, block)
            self.last[block.name] = block

    def get(self, name, last=False):
        return (self.last if last else self.first).get(name)

    def matching(self, pattern):
        """(match, block) of every name that the pattern matches completely."""
        for name, block in self.first.items():
            m = re.fullmatch(pattern, name)
            if m:
                yield m, block

    def threads(self):
        """tid -> (pid, Block of its schedstat)."""
        return {int(m[2]): (int(m[1]), b) for m, b in self.matching(r"/proc/(\d+)/task/(\d+)/schedstat")}

    def comm(self, pid, tid=None):
        b = self.get(f"/proc/{pid}/task/{tid or pid}/stat") or self.get(f"/proc/{pid}/stat")
        m = b and re.search(r"\((.*)\)", b.text, re.S)
        return m[1] if m else "?"


def schedstat(text):
    """(run ns, wait ns, slices)"""
    return tuple(int(x) for x in text.split()[:3])


def key_values(text):
    """rchar: 1 ... of /proc/N/io"""
    return {k: int(v) for k, v in re.findall(r"(\w+): (\d+)", text)}


def cpu_idle_ns(text):
    """cpu -> idle + iowait in ns; /proc/stat counts in 1/100 s"""
    return {int(m[1]): (int(m[2].split()[3]) + int(m[2].split()[4])) * 10_000_000
            for m in re.finditer(r"^cpu(\d+) (.*)$", text, re.M)}


def diskstats(text):
    """name -> (dev major:minor, reads, sectors read, writes, sectors written)"""
    out = {}
    for line in text.splitlines():
        f = line.split()
        if len(f) >= 10:
            out[f[2]] = (f"{f[0]}:{f[1]}", int(f[3]), int(f[5]), int(f[7]), int(f[9]))
    return out


def net_dev(text):
    """name -> (rx bytes, rx packets, tx bytes, tx packets)"""
    out = {}
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        if colon:
            f = rest.split()
            out[name.strip()] = (int(f[0]), int(f[1]), int(f[8]), int(f[9]))
    return out


def fds(text):
    """fd -> what it points to"""
    return {int(n): target for n, target in re.findall(r"^(\d+) -> (.*)$", text, re.M)}


def runit(directory):
    """The payload processes: one dict per line of runit*.jsonl, with /proc texts split into lines again."""
    out = []
    for path in sorted(glob.glob(os.path.join(directory, "runit*.jsonl"))):
        with open(path, encoding="utf-8", errors="surrogateescape") as f:
            for line in f:
                p = json.loads(line)
                p["io"] = key_values(p.get("io", ""))
                p["schedstat"] = schedstat(p["leader_schedstat"].replace(";", " ")) if p.get("leader_schedstat") else None
                out.append(p)
    return out


def expected_events(path):
    """NAME.events.txt: total and per event name."""
    total, names = 0, {}
    with open(path) as f:
        for line in f:
            if line.startswith("events "):
                total = int(line.split()[1])
            elif line.startswith("E "):
                _, n, name = line.split()
                names[name] = int(n)
    return total, names


def trace_dirs(directory):
    """Every CTF trace below a directory."""
    return sorted(root for root, _, files in os.walk(directory) if "metadata" in files)


def clock_offset_ns(trace):
    """The offset to add to CLOCK_MONOTONIC to get the trace's time, from its metadata."""
    text = subprocess.run(["babeltrace2", "--output-format=ctf-metadata", trace],
                          stdout=subprocess.PIPE, check=True).stdout.decode()
    clock = re.search(r"clock \{(.*?)\};", text, re.S)[1]
    freq = int((re.search(r"\bfreq = (\d+)", clock) or [0, "1000000000"])[1])
    cycles = int((re.search(r"\boffset = (\d+)", clock) or [0, "0"])[1])
    seconds = int((re.search(r"\boffset_s = (\d+)", clock) or [0, "0"])[1])
    assert freq == 1_000_000_000, "the recordings' clocks count ns"
    return seconds * 1_000_000_000 + cycles
