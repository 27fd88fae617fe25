#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""All events of CTF 2 recordings are found, with their times: as babeltrace2 2.1 prints them,
and as in the CTF 1.8 recordings that they were converted from."""
import collections
import os
import re
import subprocess
import sys

BUILD, SRCDIR, SHARED = os.environ["BUILD"], os.environ["SRCDIR"], os.environ.get("SHARED")
WALK = os.path.join(BUILD, "tests/ctf/walk_recording")
LINE = re.compile(r"\[(\d+)\.(\d{9})\] \(\S+\) \S+ (\S+): ")
MASK = 2 ** 64 - 1
failed = False


def check(name, ok, detail=""):
    global failed
    failed = failed or not ok
    print(f"{'ok' if ok else 'not ok'} {name}")
    if not ok:
        print("    " + str(detail)[:2000])


def unpack(archive):
    subprocess.run(["tar", "--zstd", "-xf", archive], check=True)


def walk(directory):
    ran = subprocess.run([WALK, directory], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    return ran.returncode, ran.stdout.splitlines()


def sums_of_text(path):
    """As walk_recording prints them."""
    sums = collections.defaultdict(lambda: [0, 0, 0])
    with open(path, encoding="utf-8") as text:
        for line in text:
            s, ns, name = LINE.match(line).groups()
            ns = int(s) * 10 ** 9 + int(ns)
            sums[name][0] += 1
            sums[name][1] = (sums[name][1] + ns) & MASK
            sums[name][2] = (sums[name][2] + (ns ^ ns >> 31) * 0x9e3779b97f4a7c15) & MASK
    return [f"{name} {n} {times} {hashed:016x}" for name, (n, times, hashed) in sorted(sums.items())] + ["unknown 0"]


def test_bundled():
    unpack(os.path.join(SRCDIR, "traces/truth/ctf2-ust.truth.tar.zst"))
    status, lines = walk(os.path.join(BUILD, "traces/ctf2-ust/vm/ust/uid/0/64-bit"))
    check("user-space recording of LTTng 2.16", status == 0 and lines == sums_of_text("ctf2-ust/truth/vm.text.txt"),
          lines)


def test_converted():
    """With the installed library, which writes CTF 1.8 or CTF 2 depending on its version."""
    old = os.path.join(BUILD, "traces/kprobe/client/kernel")
    try:
        subprocess.run(["babeltrace2", old, "-o", "ctf", "-w", "converted"], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True)
    except FileNotFoundError:
        print("skip a conversion: babeltrace2 is not installed")
        return
    directory, = (directory for directory, _, files in os.walk("converted") if "metadata" in files)
    wanted = walk(old)
    check("converted by babeltrace2", wanted[0] == 0 and len(wanted[1]) > 100 and walk(directory) == wanted, directory)


def test_shared():
    if not SHARED or not os.path.isdir(os.path.join(SHARED, "traces-ctf2")):
        print("skip converted recordings: ../shared is absent")
        return
    for name in ("three-tier", "kprobe"):
        unpack(os.path.join(SHARED, "traces", name + ".tar.zst"))
        unpack(os.path.join(SHARED, "traces-ctf2", f"ctf2-{name}.tar.zst"))
        for host in sorted(os.listdir(name)):
            old, new = (walk(f"{directory}/{host}/kernel") for directory in (name, "ctf2-" + name))
            check(f"{name}/{host} converted", old == new and old[0] == 0 and len(old[1]) > 100,
                  next((pair for pair in zip(old[1], new[1]) if pair[0] != pair[1]), (old[0], new[0])))
    unpack(os.path.join(SHARED, "traces-ctf2", "ctf2-k72.tar.zst"))
    with open(os.path.join(SHARED, "traces-ctf2", "ctf2-k72.events.txt"), encoding="utf-8") as text:
        counts = {name: int(n) for n, name in (line.split() for line in text)}
    status, lines = walk("ctf2-k72/client/kernel")
    found = {name: int(n) for name, n, *_ in (line.split() for line in lines)}
    check("kernel recording of LTTng 2.16", status == 0 and found.pop("unknown") == 0 and found == counts,
          set(found.items()) ^ set(counts.items()))


test_bundled()
test_converted()
test_shared()
sys.exit(1 if failed else 0)
