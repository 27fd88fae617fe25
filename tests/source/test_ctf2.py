#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings in CTF 2: every table equals that of the same events in CTF 1.8."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["SRCDIR"], "tests", "waits"))
import ctf  # noqa: E402
import test_layouts  # noqa: E402
from cases import check, finish  # noqa: E402

LTTNGTOP = os.environ["LTTNGTOP"]
SHARED = os.environ.get("SHARED", "")
TABLES = ["cpu", "io", "files", "syscalls", "sched", "irqs", "disks", "net", "cpus", "events", "perf", "blocking", "relations",
          "sync", "matches", "latencies", "accounting", "hosts"]


def run(*args):
    return subprocess.run([LTTNGTOP, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)


def figures(table, directory, *options, converted=False):
    """
    converted: by babeltrace2, which leaves out declarations of events that do not occur; they are missing then, which is
    also why a table is empty.
    """
    without = ("source", "missing_events") if converted else ("source",)
    ran = run("report", table, "--json", *options, directory)
    tables = [json.loads(line) for line in ran.stdout.splitlines()]
    rows = [row for printed in tables for row in printed.pop("rows")]
    for row in rows:
        for key in without:
            row.pop(key, None)
    said = [line for line in ran.stderr.splitlines()
            if not converted or "lttng enable-event -k" not in line and not line.startswith("lttngtop: latencies are those of ")]
    return ran.returncode, said, tables, rows


def compare(name, old, new, **options):
    for table in TABLES:
        a, b = (figures(table, directory, **options) for directory in (old, new))
        check(f"{name}: {table}", a == b and a[0] == 0 and (a[3] or table not in ("cpu", "events", "hosts")),
              next(((x, y) for x, y in zip(a[3], b[3]) if x != y), (a[:3], b[:3], len(a[3]), len(b[3]))))


def unpack(archive):
    if not os.path.exists(archive):
        print(f"skip {os.path.basename(archive)}: ../shared is absent")
        return None
    name = os.path.basename(archive).split(".")[0]
    os.makedirs(name)
    subprocess.run(["tar", "--zstd", "-xf", archive, "-C", name], check=True)
    return name


def test_alignment():
    """Arrays that are aligned to more than their elements: as if the padding were fields."""
    trace = ctf.Trace("aligned")
    for i in range(20):
        before, after = (1, 2) if i % 2 else (2, 1)
        trace.add(10 ** 18 + i * 10 ** 6, "sched_switch", ("prev_state", "s64", 0), ("next_tid", "s32", after),
                  ("pad", "u32", 0x78787878), ("next_comm", "array", "u8", list(f"task {after}".encode().ljust(16, b"\0"))),
                  ("prev_tid", "s32", before), ("pad", "u32", 0x78787878),
                  ("prev_comm", "array", "u8", list(f"task {before}".encode().ljust(16, b"\0"))), ("end", "u32", 0))
    for name in ("padded", "aligned"):
        trace.write(name, ctf2=True)
    with open("padded/metadata", encoding="ascii") as file:
        fragments = [json.loads(text) for text in file.read().split("\x1e")[1:]]
    payload = fragments[-1]["payload-field-class"]
    payload["member-classes"] = [member for member in payload["member-classes"] if member["name"] != "pad"]
    for member in payload["member-classes"]:
        if "minimum-alignment" in member["field-class"]:
            member["field-class"]["minimum-alignment"] = 64
    with open("aligned/metadata", "w", encoding="ascii") as file:
        file.writelines(f"\x1e{json.dumps(fragment)}\n" for fragment in fragments)
    padded, aligned = (figures("cpu", directory) for directory in ("padded", "aligned"))
    check("aligned arrays", aligned == padded and {row["comm"] for row in padded[3]} == {"task 1", "task 2"},
          (padded, aligned))


def test_figures():
    for layout in ("tcp4", "tcp6", "udp4"):
        for version in ("1.8", "2"):
            test_layouts.write(f"{layout}-{version}", test_layouts.LAYOUTS[layout], ctf2=version == "2")
        compare(layout, f"{layout}-1.8", f"{layout}-2")
    a, b = (figures("cpu", f"tcp4-{version}", "--begin", "+100ms", "--end", "-100ms") for version in ("1.8", "2"))
    check("a part of it", a == b and a[0] == 0 and a[3], (a, b))
    for name in ("three-tier", "kprobe"):
        old, new = (unpack(os.path.join(SHARED, where, file + ".tar.zst"))
                    for where, file in (("traces", name), ("traces-ctf2", "ctf2-" + name)))
        if old and new:
            compare(name, old, new, converted=True)
    real = unpack(os.path.join(SHARED, "traces-ctf2", "ctf2-k72.tar.zst"))
    if real:
        status, err, _, rows = figures("hosts", real)
        check("as LTTng 2.16 writes it", status == 0 and [row["events"] for row in rows] == [58521], (rows, err))


test_alignment()
test_figures()
finish()
