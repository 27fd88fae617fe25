#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in a guest: load TRUTH COMMAND... runs the command and
writes the kernel's figures about it to the file TRUTH, as JSON.

pid, cpu_ns, faults (CPU time and page faults of the process, without children), interrupts_ns (of all CPUs: a kernel with CONFIG_IRQ_TIME_ACCOUNTING
does not count this time for the interrupted process, the program does), begin_ns and end_ns (the time of day before and
after), busy_ns (the time between them that the CPUs were not idle, summed over CPUs), disks ({name: [bytes read, bytes
written]} between them), tasks ([tid, ...] that existed all the time, kernel threads included). The command "burn
SECONDS" uses that much CPU time, "switch N" passes a byte to another process and back, N times, "touch N" writes to N
new pages of memory.
"""
import glob
import json
import mmap
import os
import re
import sys
import time

SECTOR = 512


def disks():
    with open("/proc/diskstats", encoding="ascii") as file:
        rows = [line.split() for line in file]
    return {row[2]: (int(row[5]) * SECTOR, int(row[9]) * SECTOR) for row in rows}


def interrupts_ns():
    with open("/proc/stat", encoding="ascii") as file:
        fields = file.readline().split()
    return (int(fields[6]) + int(fields[7])) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def idle_ns():
    """Summed over all CPUs; /proc/stat is only precise to hundredths of a second."""
    with open("/proc/timer_list", encoding="ascii") as file:
        return sum(map(int, re.findall(r"(?:idle|iowait)_sleeptime *: (\d+) nsecs", file.read())))


def tasks():
    return {int(path.rsplit("/", 1)[1]) for path in glob.glob("/proc/[0-9]*/task/*")}


def burn(seconds):
    while sum(os.times()[:2]) < seconds:
        sum(range(1000))


def switch(count):
    there, back = os.pipe(), os.pipe()
    if os.fork():
        for _ in range(count):
            os.write(there[1], b"x")
            os.read(back[0], 1)
        return
    for _ in range(count):
        os.read(there[0], 1)
        os.write(back[1], b"x")
    os._exit(0)


def touch(count):
    with mmap.mmap(-1, count * mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        for page in range(count):
            memory[page * mmap.PAGESIZE] = 1


def run(argv):
    """Process, CPU time, page faults."""
    pid = os.fork()
    if not pid:
        if argv[0] == "burn":
            burn(float(argv[1]))
            os._exit(0)
        if argv[0] == "switch":
            switch(int(argv[1]))
            os._exit(0)
        if argv[0] == "touch":
            touch(int(argv[1]))
            os._exit(0)
        os.execvp(argv[0], argv)
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"{argv[0]}: status {status}")
    return pid, int((usage.ru_utime + usage.ru_stime) * 1e9), usage.ru_minflt + usage.ru_majflt


def main():
    tasks_before, disks_before, interrupts_before = tasks(), disks(), interrupts_ns()
    idle_before_ns, begin_ns = idle_ns(), time.time_ns()
    pid, cpu_ns, faults = run(sys.argv[2:])
    end_ns = time.time_ns()
    busy_ns = (end_ns - begin_ns) * os.cpu_count() - (idle_ns() - idle_before_ns)
    moved = {name: [after - before for before, after in zip(disks_before[name], now)] for name, now in disks().items()}
    with open(sys.argv[1], "w", encoding="ascii") as file:
        json.dump({"pid": pid, "cpu_ns": cpu_ns, "faults": faults, "interrupts_ns": interrupts_ns() - interrupts_before,
                   "begin_ns": begin_ns, "end_ns": end_ns, "busy_ns": busy_ns, "disks": moved,
                   "tasks": sorted(tasks_before & tasks())}, file)


if __name__ == "__main__":
    main()
