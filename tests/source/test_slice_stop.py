#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A slice that is interrupted, or fills the disk, leaves nothing behind that looks like a slice."""
import os
import resource
import shutil
import signal
import subprocess
import sys

from made import Recording, turns

PROGRAM = os.path.join(os.environ["BUILD"], "lttngtop")
SECOND = 10 ** 9
TRIES = 200
failed = 0


def check(name, good, why=""):
    global failed
    failed += not good
    print(f"{'ok' if good else 'not ok'} {name}{'' if good else f': {why}'}", flush=True)


def start(*args, **kwargs):
    return subprocess.Popen([PROGRAM, "report", "slice", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs)


def interrupted(number):
    """(exit status, stderr) of a slice that was interrupted while it wrote; None if it always finished first."""
    for _ in range(TRIES):
        with start("-o", "out", "long") as slicing:
            while not os.path.exists("out/.unfinished-slice") and slicing.poll() is None:
                pass
            slicing.send_signal(signal.SIGSTOP)
            slicing.send_signal(number)
            slicing.send_signal(signal.SIGCONT)
            _, err = slicing.communicate()
        if slicing.returncode:
            return slicing.returncode, err
        check("what was faster is whole", sorted(os.listdir("out/made/kernel")) == sorted(os.listdir("long/kernel")), os.listdir("out"))
        shutil.rmtree("out")
    return None


def small_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))


with Recording("long/kernel") as r:
    for cpu in range(4):
        for n in range(8):
            begin = (1 + n) * SECOND
            r.packet(cpu, begin, begin + SECOND, turns(begin, 10 ** 5, 10000, 2 * cpu + 1, 2 * cpu + 2))

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    for name, made in (("a new directory", False), ("one that was there", True)):
        if made:
            os.mkdir("out")
        result = interrupted(number)
        name = f"{number.name}, {name}"
        check(f"{name}: says so", result is not None and result[0] == 128 + number and
              "interrupted: nothing was written to 'out'" in result[1], result)
        left = os.listdir("out") if os.path.exists("out") else None
        check(f"{name}: nothing is left", left == ([] if made else None), left)
        shutil.rmtree("out", ignore_errors=True)

with start("-o", "out", "long", preexec_fn=small_files) as slicing:
    _, err = slicing.communicate()
check("a full disk: says so", slicing.returncode == 1 and "cannot write" in err, (slicing.returncode, err))
check("a full disk: nothing is left", not os.path.exists("out"), os.path.exists("out") and os.listdir("out"))

# killed: the remains are recognisable, and the next slice does not mix with them
os.makedirs("out/.unfinished-slice/made/kernel")
with start("-o", "out", "long") as slicing:
    _, err = slicing.communicate()
check("what was killed is in the way, and said", slicing.returncode == 1 and
      "'out' is not empty: remove 'out/.unfinished-slice'" in err, err)

sys.exit(failed != 0)
