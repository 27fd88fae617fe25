#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel cuts a name after 15 bytes, inside a character too: attach and reports know what is whole of it."""
import json
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402

ARCHIVE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "traces", "three-tier.tar.zst")
CUT, SHOWN = "мойпроцесс".encode()[:15], "мойпроц"


def output(*args):
    return subprocess.run([harness.PROGRAM, *args], env={**os.environ, "LC_ALL": "C.UTF-8"}, stdout=subprocess.PIPE,
                          text=True, check=False).stdout


def seen(name, directory):
    """The threads of that name, and their system calls."""
    rows = json.loads(output("report", "cpu", "--json", "--comm", name, directory))["rows"]
    lines = output("attach", "--json", "--no-waits", "-n", name, directory).splitlines()
    return {row["tid"] for row in rows}, [(line["tid"], line["name"]) for line in map(json.loads, lines)
                                          if line["event"] == "call"]


original = os.path.join(harness.unpack(ARCHIVE, "traces"), "db")
harness.rename(original, "db", {b"postgres": CUT})
for what, got, wanted in zip(("report", "attach"), seen(SHOWN, "db"), seen("postgres", original)):
    print(f"ok {what}" if got == wanted and len(wanted) > 5 else f"not ok {what}: {len(got)} instead of {len(wanted)}")
