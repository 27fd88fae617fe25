#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Nothing of the workers' temporary directories stays, however the program ends.

Each time the program is stopped in the midst of reading, when its worker waits for room, and then ended.
"""
import glob
import os
import signal
import subprocess
import sys
import tempfile

from processes import PATIENCE_S, find, stop_midway, wait_for

LTTNGTOP = os.environ["LTTNGTOP"]
RECORDING = os.path.join(os.environ["BUILD"], "traces", "hotplug")

failed = 0


def check(name, good, why=""):
    global failed
    failed += not good
    print(f"{'ok' if good else 'not ok'} {name}{'' if good else ': ' + str(why)}")


def keeper_of(worker):
    """The process that reads the other end of a pipe the worker has."""
    pipes = {os.readlink(fd) for fd in glob.glob(f"/proc/{worker}/fd/*")}

    def keeps(pid):
        with open(f"/proc/{pid}/comm") as comm:
            return comm.read() == "lttngtop-keeper\n" and os.readlink(f"/proc/{pid}/fd/0") in pipes
    return find(keeps)


def left_by(program):
    return [path for base in ("/dev/shm", "/tmp") for path in glob.glob(f"{base}/lttngtop-worker*-{program.pid}-*")]


def start():
    """A program that is stopped while its worker waits for room: itself, the worker."""
    program = subprocess.Popen([LTTNGTOP, "report", "hosts", "--workers", "1", RECORDING],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    return program, stop_midway(program.pid)


def end(program, number):
    os.kill(program.pid, number)
    os.kill(program.pid, signal.SIGCONT)
    program.wait(PATIENCE_S)


def test_ends():
    for number in (signal.SIGKILL, signal.SIGQUIT, signal.SIGTERM, signal.SIGINT):
        program, _ = start()
        check(f"{number.name}: there is a directory", left_by(program))
        end(program, number)
        wait_for(f"end of {left_by(program)} after {number.name}", lambda p=program: not left_by(p))
        check(f"{number.name}: it is gone", True)


def test_normal_end():
    program, _ = start()
    os.kill(program.pid, signal.SIGCONT)
    program.wait(PATIENCE_S)
    check("normal end: nothing is left", not left_by(program), left_by(program))


def test_next_start():
    """A start removes what processes have left behind that are gone together with their keepers, and only that."""
    left = tempfile.mkdtemp(prefix="lttngtop-workers-0-", dir="/dev/shm" if os.path.isdir("/dev/shm") else "/tmp")
    os.makedirs(os.path.join(left, "0/all/0/index"))
    with open(os.path.join(left, "0/all/0/metadata"), "w") as metadata:
        metadata.write("/* CTF 1.8 */\n")
    os.symlink(RECORDING, os.path.join(left, "0/all/0/index/0.ch_0.idx"))
    alive, worker = start()
    check("one keeper", len(keeper_of(worker)) == 1, keeper_of(worker))
    subprocess.run([LTTNGTOP, "report", "hosts", RECORDING], stdout=subprocess.DEVNULL, check=True)
    check("the next start removes what is left", not os.path.exists(left), left)
    check("not what a link leads to", os.path.isdir(RECORDING))
    check("nor the directory of a process that runs", left_by(alive))
    end(alive, signal.SIGKILL)
    wait_for("end of the other", lambda: not left_by(alive))


test_ends()
test_normal_end()
test_next_start()
sys.exit(failed > 0)
