#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel cuts a name after 15 bytes, inside a character too: attach and reports know what is whole of it."""
import json
import os
import shutil
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402

ARCHIVE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "traces", "three-tier.tar.zst")
NAME, CUT, SHOWN = b"postgres".ljust(16, b"\0"), "мойпроцесс".encode()[:15] + b"\0", "мойпроц"


def rename(source, target):
    """Copies a recording in which NAME is replaced by CUT."""
    shutil.copytree(source, target)
    for directory, _, files in os.walk(target):
        for path in (os.path.join(directory, name) for name in files):
            os.chmod(path, 0o644)
            with open(path, "rb") as f:
                data = f.read()
            with open(path, "wb") as f:
                f.write(data.replace(NAME, CUT))


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
rename(original, "db")
for what, got, wanted in zip(("report", "attach"), seen(SHOWN, "db"), seen("postgres", original)):
    print(f"ok {what}" if got == wanted and len(wanted) > 5 else f"not ok {what}: {len(got)} instead of {len(wanted)}")
