#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`attach`: the memory for why calls waited depends on how long they take, not on the length of the trace."""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "waits"))
import ctf  # noqa: E402
from cases import check, finish, sanitized  # noqa: E402

PROGRAM = os.environ["LTTNGTOP"]
BEGIN = 10**18
MB = 1 << 20
TURNS = 200_000
CALLER, RUNNER, OTHER = 1000, 1001, 1002
MOST = (16 if sanitized() else 3) * MB  # sanitizers pad every allocation
# and hold back what was freed, by default up to 256 MB
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"}


class Recording(ctf.Trace):
    """A host with one CPU and an event every 50 us."""

    now = BEGIN

    def event(self, name, *fields):
        self.now += 50_000
        self.add(self.now, name, *fields)

    def switch(self, prev, following):
        self.event("sched_switch", ("prev_comm", "text", 16, f"t{prev}"), ("prev_tid", "s32", prev), ("prev_prio", "s32", 20),
                   ("prev_state", "s64", 1), ("next_comm", "text", 16, f"t{following}"), ("next_tid", "s32", following),
                   ("next_prio", "s32", 20))

    def wake(self, tid):
        self.event("sched_waking", ("comm", "text", 16, f"t{tid}"), ("tid", "s32", tid), ("prio", "s32", 20),
                   ("target_cpu", "s32", 0))

    def failed_exec(self):
        """It could give the thread a name by which it is chosen."""
        self.event("syscall_entry_execve", ("filename", "string", "/nowhere"), ("argv", "u64", 0), ("envp", "u64", 0))
        self.event("syscall_exit_execve", ("ret", "s64", -2))


def return_from_call(trace):
    trace.wake(CALLER)
    trace.switch(RUNNER, CALLER)
    trace.event("syscall_exit_read", ("ret", "s64", 1), ("buf", "u64", 0))
    trace.switch(CALLER, RUNNER)


def run_another(trace):
    trace.wake(OTHER)
    trace.switch(RUNNER, OTHER)
    trace.wake(RUNNER)
    trace.switch(OTHER, RUNNER)


def record(directory, turns):
    """Two threads wake each other; now and then a third one calls read(), which waits until they have had 20 turns."""
    trace = Recording("memory")
    trace.switch(0, RUNNER)
    trace.failed_exec()
    for turn in range(turns):
        if turn % 100 == 50:
            trace.switch(RUNNER, CALLER)
            trace.event("syscall_entry_read", ("fd", "u32", 5), ("count", "u64", 1))
            trace.switch(CALLER, RUNNER)
        if turn % 100 == 70:
            return_from_call(trace)
        run_another(trace)
    trace.write(directory, most=10_000)


def record_elsewhere(directory, turns):
    """In a process of its own: a new process starts with the peak memory use of the one that it comes from."""
    pid = os.fork()
    if pid == 0:
        record(directory, turns)
        os._exit(0)
    check(f"recording of {turns} turns", os.waitpid(pid, 0)[1] == 0)


def attach(directory, *options):
    """The lines about calls, and the peak memory use."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([PROGRAM, "attach", "-q", "-T", *options, directory], stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return out.read().decode().splitlines(), usage.ru_maxrss * 1024


def compare(short, long, calls, *options):
    _, little = attach(short, *options)
    lines, much = attach(long, *options)
    whole = [line for line in lines if "blocked" in line and f"t{RUNNER}/{RUNNER}" in line]
    check(f"{options}: calls and their waits", len(whole) == calls, (calls, len(lines), lines[-1:]))
    check(f"{options}: memory", much - little < MOST, f"{little / MB:.1f} MB, {much / MB:.1f} MB")


def record_long_call(directory):
    """A call of 2 s; and an event of another host just before it returns, whose next one comes 4 s later."""
    trace, beside = Recording("memory"), Recording("beside")
    trace.switch(0, RUNNER)
    trace.switch(RUNNER, CALLER)
    trace.event("syscall_entry_read", ("fd", "u32", 5), ("count", "u64", 1))
    trace.switch(CALLER, RUNNER)
    beside.switch(0, OTHER)
    for turn in range(80):
        trace.now += 50_000_000
        if turn == 40:
            beside.now = trace.now
            beside.switch(OTHER, 0)
            return_from_call(trace)
        run_another(trace)
    beside.now += 4_000_000_000
    beside.switch(0, OTHER)
    for each, name in ((trace, "memory"), (beside, "beside")):
        each.write(os.path.join(directory, name))


with tempfile.TemporaryDirectory() as below:
    record_long_call(below)
    lines, _ = attach(below, "-n", f"t{CALLER}", "--no-sync")
    whole = [line for line in lines if "blocked 2." in line and f"t{RUNNER}/{RUNNER}" in line]
    check("a call that is written when the other host has gone on", len(whole) == 1, lines)

with tempfile.TemporaryDirectory() as below:
    short, long = os.path.join(below, "short"), os.path.join(below, "long")
    record_elsewhere(short, 1000)
    record_elsewhere(long, TURNS)
    compare(short, long, TURNS // 100, "-n", f"t{CALLER}")
    compare(short, long, 0, "-n", "nobody")
    compare(short, long, 1, "-n", f"t{CALLER}", "--begin", "+40.69s")
finish()
