#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Directories that are not read are said: streams whose metadata is gone, or not a file, and those too deep."""
import os
import shutil
import subprocess
import sys

from made import Recording, turns

PROGRAM = os.path.join(os.environ["BUILD"], "lttngtop")
SECOND = 10 ** 9
failed = 0


def check(name, good, why=""):
    global failed
    failed += not good
    print(f"{'ok' if good else 'not ok'} {name}{'' if good else f': {why}'}", flush=True)


def make(directory):
    with Recording(directory) as recording:
        recording.packet(0, SECOND, 2 * SECOND, turns(SECOND, 10 ** 6, 10, 1, 2))
    index = os.path.join(directory, "index")
    os.makedirs(index, exist_ok=True)
    for name in os.listdir(directory):
        if name not in ("metadata", "index"):
            with open(os.path.join(index, name + ".idx"), "wb"):
                pass


def hosts(source):
    run = subprocess.run([PROGRAM, "report", "hosts", source], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                         check=False)
    return run.returncode, run.stderr


make("all/a/kernel")
make("all/b/kernel")
check("all is there", hosts("all") == (0, ""), hosts("all"))
os.remove("all/b/kernel/metadata")
for name, put in (("no metadata", lambda path: None), ("a pipe", os.mkfifo), ("a directory", os.mkdir),
                  ("a link to nothing", lambda path: os.symlink("nothing", path))):
    put("all/b/kernel/metadata")
    status, err = hosts("all")
    check(f"{name}: exit status", status == 3, (status, err))
    check(f"{name}: said", err.count("all/b/kernel: streams without metadata\n") == 1, err)
    if os.path.isdir("all/b/kernel/metadata"):
        os.rmdir("all/b/kernel/metadata")
    elif os.path.lexists("all/b/kernel/metadata"):
        os.remove("all/b/kernel/metadata")
status, err = hosts("all/b")
check("nothing else: both are said", status == 1 and "streams without metadata" in err and "no trace found in 'all/b'" in err, err)

shutil.rmtree("all/b")
os.makedirs("all/b/kernel/index")
check("indexes alone are not streams", hosts("all") == (0, ""), hosts("all"))

os.makedirs("all/" + "d/" * 40)
status, err = hosts("all")
check("too deep: exit status", status == 3, (status, err))
check("too deep: the reason", "more than 32 levels deep" in err, err)

sys.exit(failed != 0)
