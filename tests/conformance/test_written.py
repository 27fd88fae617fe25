#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Small traces written here, with an event every few us, and the figures that follow from the manual's definitions.

Every case can be checked with pencil and paper; the times below are us after BEGIN.
"""

import json
import os
import subprocess
import sys

from case import harness

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "waits"))
import ctf  # noqa: E402

BEGIN, US = 10 ** 18, 1000
IDLE, ALPHA, BETA, GAMMA, DELTA = (0, "swapper"), (10, "alpha"), (20, "beta"), (30, "gamma"), (40, "delta")
RUNNABLE, SLEEPS = 0, 1
SIGCHLD, CLONE_PARENT = 17, 0x8000
LOCKS = ("futex", "futex_wait", "futex_waitv", "futex_time32", "futex_time64")
DISK, READ, WRITE = 254 << 20, 4, 1  # 254:0; bits of rwbs


class Written(ctf.Trace):
    """A host's trace whose events have times in us."""

    def at(self, us, name, *fields, cpu=0):
        self.add(BEGIN + us * US, name, *fields, cpu=cpu)

    def switch(self, us, out, state, to, cpu=0):
        self.at(us, "sched_switch", ("prev_comm", "text", 16, out[1]), ("prev_tid", "s32", out[0]), ("prev_prio", "s32", 20),
                ("prev_state", "s64", state), ("next_comm", "text", 16, to[1]), ("next_tid", "s32", to[0]),
                ("next_prio", "s32", 20), cpu=cpu)

    def wake(self, us, who, target, cpu=0):
        self.at(us, "sched_waking", ("comm", "text", 16, who[1]), ("tid", "s32", who[0]), ("prio", "s32", 20),
                ("target_cpu", "s32", target), cpu=cpu)

    def call(self, us, end_us, name, entry, ret):
        self.at(us, f"syscall_entry_{name}", *entry)
        self.at(end_us, f"syscall_exit_{name}", ("ret", "s64", ret))


def written(name, fill):
    trace = Written(name)
    fill(trace)
    trace.write(f"{name}/kernel")
    return name


def ns(us):
    """us, or us and ns"""
    return us * US if isinstance(us, int) else us[0] * US + us[1]


def check_rows(checks, what, table, directory, key, wanted, *args):
    """wanted: key → columns in order; other columns are ignored, any other row is wrong."""
    rows = {row[key]: row for row in harness.report(table, *args, directory).rows}
    checks.equal(set(rows), set(wanted), f"{what}: rows of {table}")
    for k, columns in wanted.items():
        checks.equal({c: rows.get(k, {}).get(c) for c in columns}, columns, f"{what}: {table} of {k}")


def schedule(t):
    """Two CPUs: sleep, wake-up, preemption, a thread that runs on one and then on the other. Ends at 500 us + 1 ns."""
    t.switch(0, IDLE, RUNNABLE, ALPHA)
    t.switch(100, ALPHA, SLEEPS, IDLE)
    t.wake(150, ALPHA, 0)
    t.switch(170, IDLE, RUNNABLE, ALPHA)
    t.wake(200, BETA, 1)
    t.switch(300, ALPHA, RUNNABLE, GAMMA)
    t.switch(400, GAMMA, SLEEPS, ALPHA)
    t.switch(500, ALPHA, SLEEPS, IDLE)
    t.switch(10, IDLE, RUNNABLE, BETA, cpu=1)
    t.switch(50, BETA, SLEEPS, DELTA, cpu=1)
    t.switch(230, DELTA, SLEEPS, BETA, cpu=1)
    t.switch(450, BETA, SLEEPS, IDLE, cpu=1)
    t.wake(460, GAMMA, 1, cpu=1)
    t.switch(470, IDLE, RUNNABLE, GAMMA, cpu=1)


def check_schedule(checks):
    directory = written("schedule", schedule)

    def thread(cpu, ready, blocked, switches, migrations=0):
        return {"cpu_ns": ns(cpu), "ready_ns": ns(ready), "blocked_ns": ns(blocked), "switches": switches,
                "migrations": migrations}

    check_rows(checks, "schedule", "cpu", directory, "comm", {
        "alpha": thread(330, 120, (50, 1), 3),
        "beta": thread(260, 30, (200, 1), 2),
        "gamma": thread((130, 1), 10, 60, 2, 1),
        "delta": thread(180, 0, (270, 1), 1)})
    check_rows(checks, "schedule", "cpus", directory, "cpu", {
        0: {"busy_ns": ns(430), "idle_ns": ns((70, 1)), "online_ns": ns((500, 1)), "switches": 6},
        1: {"busy_ns": ns((470, 1)), "idle_ns": ns(30), "online_ns": ns((500, 1)), "switches": 5}})
    check_rows(checks, "schedule", "sched", directory, "comm", {
        name: {"count": 1, "min_ns": ns(us), "avg_ns": ns(us), "max_ns": ns(us), "total_ns": ns(us), "stdev_ns": 0}
        for name, us in (("alpha", 20), ("beta", 30), ("gamma", 10))})
    # cut in the middle of runs, sleeps and waits
    check_rows(checks, "[120 us, 220 us[", "cpu", directory, "comm", {
        "alpha": thread(50, 20, 30, 1), "beta": thread(0, 20, 80, 0), "delta": thread(100, 0, 0, 0)},
        "--begin", f"{BEGIN + ns(120)}ns", "--end", f"{BEGIN + ns(220)}ns")


def calls(t):
    """Reads of a file, a failure, a write to an fd whose opening was not recorded."""
    t.switch(0, IDLE, RUNNABLE, ALPHA)
    t.call(10, 14, "openat", [("dfd", "s32", -100), ("filename", "string", "/data/file"), ("flags", "s32", 0),
                              ("mode", "u16", 0)], 3)
    for begin, end, ret in ((20, 22, 100), (30, 36, 50), (40, 41, -11)):
        t.call(begin, end, "read", [("fd", "u32", 3), ("count", "u64", 4096)], ret)
    t.call(50, 60, "write", [("fd", "u32", 4), ("buf", "u64", 1), ("count", "u64", 7)], 7)
    t.call(70, 72, "close", [("fd", "u32", 3)], 0)


def check_calls(checks):
    directory = written("calls", calls)
    check_rows(checks, "calls", "io", directory, "comm", {
        "alpha": {"read_bytes": 150, "read_bytes_disk": 150, "read_bytes_other": 0, "write_bytes": 7,
                  "write_bytes_disk": 0, "write_bytes_other": 7, "syscalls": 6}})
    check_rows(checks, "calls", "files", directory, "fd", {
        3: {"path": "/data/file", "read_bytes": 150, "write_bytes": 0, "opened_ns": BEGIN + ns(14), "closed_ns": BEGIN + ns(72)},
        4: {"path": None, "read_bytes": 0, "write_bytes": 7, "opened_ns": None, "closed_ns": None}})

    def call(count, total, low, avg, high, stdev, errors):
        return {"count": count, "total_ns": ns(total), "min_ns": ns(low), "avg_ns": ns(avg), "max_ns": ns(high),
                "stdev_ns": stdev, "errors": errors}

    check_rows(checks, "calls", "syscalls", directory, "name", {
        "openat": call(1, 4, 4, 4, 4, 0, {}),
        "read": call(3, 9, 1, 3, 6, 2160, {"EAGAIN": 1}),  # of 2, 6, 1 us: the square root of 14/3
        "write": call(1, 10, 10, 10, 10, 0, {}),
        "close": call(1, 2, 2, 2, 2, 0, {})})


def locks(t):
    """A thread sleeps in each of the calls that wait for a futex, and one in another call."""
    for n, name in enumerate(LOCKS + ("pause",)):
        t.switch(10 * n, IDLE, RUNNABLE, (10 + n, name))
        t.at(10 * n + 1, f"syscall_entry_{name}", ("uaddr", "u64", 0x1000))
        t.switch(10 * n + 5, (10 + n, name), SLEEPS, IDLE)
    t.switch(100, IDLE, RUNNABLE, (9, "last"))


def check_locks(checks):
    directory = written("locks", locks)
    for n, name in enumerate(LOCKS + ("pause",)):
        slept = ns((95 - 10 * n, 1))
        check_rows(checks, name, "bottleneck", directory, "resource", {
            "cpu": {"total_ns": ns(5)}, "lock" if name in LOCKS else "unexplained": {"total_ns": slept}},
            "--host", "locks", "--tid", str(10 + n))


def siblings(t):
    """A child of process 5 creates a child, and a sibling of its own, as runc does it."""
    t.at(0, "lttng_statedump_process_state", ("tid", "s32", ALPHA[0]), ("pid", "s32", ALPHA[0]), ("ppid", "s32", 5),
         ("name", "text", 16, ALPHA[1]), ("type", "s32", 0), ("mode", "s32", 5), ("submode", "s32", 0),
         ("status", "s32", 5), ("cpu", "u32", 0))
    t.switch(0, IDLE, RUNNABLE, ALPHA)
    for us, flags, child in ((10, SIGCHLD, BETA), (20, CLONE_PARENT | SIGCHLD, GAMMA)):
        t.at(us, "syscall_entry_clone", ("clone_flags", "u64", flags))
        t.at(us + 1, "sched_process_fork", ("parent_comm", "text", 16, ALPHA[1]), ("parent_tid", "s32", ALPHA[0]),
             ("parent_pid", "s32", ALPHA[0]), ("child_comm", "text", 16, ALPHA[1]), ("child_tid", "s32", child[0]),
             ("child_pid", "s32", child[0]))
        t.at(us + 2, "syscall_exit_clone", ("ret", "s64", child[0]))
    for us, out, to in ((30, ALPHA, BETA), (40, BETA, GAMMA), (50, GAMMA, IDLE)):
        t.switch(us, out, SLEEPS, to)


def check_siblings(checks):
    directory = written("siblings", siblings)
    check_rows(checks, "siblings", "cpu", directory, "tid", {
        ALPHA[0]: {"ppid": 5}, BETA[0]: {"ppid": ALPHA[0]}, GAMMA[0]: {"ppid": 5}})


def devices(t):
    """Two overlapping requests, two interrupts of one line, a softirq that had to wait."""
    t.switch(0, IDLE, RUNNABLE, ALPHA)
    for us, sector, size, rwbs in ((10, 800, 4096, READ), (20, 1600, 8192, WRITE)):
        t.at(us, "block_rq_issue", ("dev", "u32", DISK), ("sector", "u64", sector), ("nr_sector", "u32", size // 512),
             ("bytes", "u32", size), ("tid", "s32", 10), ("rwbs", "u32", rwbs), ("comm", "text", 16, "alpha"))
    for us, sector, size, rwbs in ((60, 800, 4096, READ), (170, 1600, 8192, WRITE)):
        t.at(us, "block_rq_complete", ("dev", "u32", DISK), ("sector", "u64", sector), ("nr_sector", "u32", size // 512),
             ("error", "s32", 0), ("rwbs", "u32", rwbs))
    for begin, end in ((200, 205), (220, 235)):
        t.at(begin, "irq_handler_entry", ("irq", "s32", 26), ("name", "string", "virtio0"))
        t.at(end, "irq_handler_exit", ("irq", "s32", 26), ("ret", "s32", 1))
    t.at(300, "irq_softirq_raise", ("vec", "u32", 1))
    t.at(307, "irq_softirq_entry", ("vec", "u32", 1))
    t.at(310, "irq_softirq_exit", ("vec", "u32", 1))


def check_devices(checks):
    directory = written("devices", devices)
    check_rows(checks, "devices", "disks", directory, "dev", {
        DISK: {"reads": 1, "writes": 1, "read_bytes": 4096, "write_bytes": 8192, "latency_min_ns": ns(50),
                  "latency_avg_ns": ns(100), "latency_max_ns": ns(150), "queue_max": 2}})
    check_rows(checks, "devices", "irqs", directory, "kind", {
        "hard": {"nr": 26, "name": "virtio0", "count": 2, "min_ns": ns(5), "avg_ns": ns(10), "max_ns": ns(15),
                 "stdev_ns": ns(5), "total_ns": ns(20)},
        "soft": {"nr": 1, "count": 1, "total_ns": ns(3), "raise_avg_ns": ns(7), "raise_max_ns": ns(7)}})
    check_rows(checks, "devices", "cpus", directory, "cpu", {
        0: {"busy_ns": ns((310, 1)), "irq_ns": ns(20), "softirq_ns": ns(3)}})


def wait(t):
    """alpha waits for beta, beta for its CPU."""
    t.switch(0, IDLE, RUNNABLE, ALPHA)
    t.switch(100, ALPHA, SLEEPS, IDLE)
    t.switch(260, IDLE, RUNNABLE, ALPHA)
    t.switch(400, ALPHA, SLEEPS, IDLE)
    t.switch(0, IDLE, RUNNABLE, BETA, cpu=1)
    t.switch(150, BETA, RUNNABLE, GAMMA, cpu=1)
    t.switch(200, GAMMA, SLEEPS, BETA, cpu=1)
    t.wake(250, ALPHA, 0, cpu=1)
    t.switch(300, BETA, SLEEPS, IDLE, cpu=1)


def check_wait(checks):
    directory = written("wait", wait)
    rows = harness.report("critical-path", "--host", "wait", "--tid", "10", directory).rows
    got = [(r["begin_ns"] - BEGIN, r["end_ns"] - BEGIN, r["comm"], r["state"], r["link"]) for r in rows]
    checks.equal([(r["from_host"], r["from_tid"]) for r in rows], [(None, None)] * 4 + [("wait", BETA[0])] + [(None, None)] * 2,
                 "wait: who woke alpha")
    wanted = [(0, 100, "alpha", "running", None), (100, 150, "beta", "running", None), (150, 200, "beta", "preempted", None),
              (200, 250, "beta", "running", None), (250, 260, "alpha", "preempted", "wakeup"),
              (260, 400, "alpha", "running", None), (400, (400, 1), "alpha", "blocked", None)]
    checks.equal(got, [(ns(begin), ns(end), *rest) for begin, end, *rest in wanted], "wait: the path of alpha")


def execs(t):
    """alpha executes a program in the middle of its run."""
    omega = ALPHA[0], "omega"
    t.switch(0, IDLE, RUNNABLE, ALPHA)
    t.at(300, "sched_process_exec", ("filename", "string", "/bin/omega"), ("tid", "s32", ALPHA[0]),
         ("old_tid", "s32", ALPHA[0]))
    t.switch(400, omega, SLEEPS, IDLE)


def check_execs(checks):
    """A path's thread has its last name in the interval, whose end does not belong to it."""
    directory = written("execs", execs)
    for end, name in ((300, "alpha"), ((300, 1), "omega")):
        args = "--host", "execs", "--tid", "10", "--begin", f"{BEGIN}ns", "--end", f"{BEGIN + ns(end)}ns"
        check_rows(checks, f"execs, to {end}", "critical-path", directory, "begin_ns",
                   {BEGIN: {"comm": name, "state": "running"}}, *args)
        check_rows(checks, f"execs, to {end}", "bottleneck", directory, "resource",
                   {"cpu": {"total_ns": ns(end), "max_comm": name}}, *args)


def attached(t):
    """
    alpha waits in three calls for beta, which once loses its CPU to gamma, and for its CPU, where delta runs, or nobody;
    at last for a timer and for the keyboard.
    """
    t.switch(0, IDLE, RUNNABLE, ALPHA)
    t.switch(0, IDLE, RUNNABLE, BETA, cpu=1)
    t.at(50, "syscall_entry_read", ("fd", "u32", 3), ("count", "u64", 10))
    t.switch(100, ALPHA, SLEEPS, DELTA)
    t.switch(150, BETA, RUNNABLE, GAMMA, cpu=1)
    t.switch(200, GAMMA, SLEEPS, BETA, cpu=1)
    t.wake(250, ALPHA, 0, cpu=1)
    t.switch(260, DELTA, RUNNABLE, ALPHA)
    t.switch(280, ALPHA, RUNNABLE, DELTA)
    t.switch(310, DELTA, RUNNABLE, ALPHA)
    t.at(350, "syscall_exit_read", ("ret", "s64", 10))
    t.at(360, "syscall_entry_fsync", ("fd", "u32", 3))
    t.switch(370, ALPHA, SLEEPS, DELTA)
    t.wake(380, ALPHA, 0, cpu=1)
    t.switch(420, DELTA, SLEEPS, ALPHA)
    t.at(430, "syscall_exit_fsync", ("ret", "s64", 0))
    t.at(440, "syscall_entry_fsync", ("fd", "u32", 3))
    t.switch(450, ALPHA, SLEEPS, IDLE)
    t.wake(460, ALPHA, 0, cpu=1)
    t.switch(475, IDLE, RUNNABLE, ALPHA)
    t.at(480, "syscall_exit_fsync", ("ret", "s64", 0))
    t.at(490, "syscall_entry_close", ("fd", "u32", 3))
    t.switch(492, ALPHA, RUNNABLE, DELTA)  # for no time
    t.switch(492, DELTA, RUNNABLE, ALPHA)
    t.at(495, "syscall_exit_close", ("ret", "s64", 0))
    # gamma has its CPU as soon as alpha wakes it
    t.switch(500, BETA, SLEEPS, GAMMA, cpu=1)
    t.at(510, "syscall_entry_fsync", ("fd", "u32", 3), cpu=1)
    t.switch(520, GAMMA, SLEEPS, IDLE, cpu=1)
    t.wake(530, GAMMA, 1)
    t.switch(530, IDLE, RUNNABLE, GAMMA, cpu=1)
    t.at(540, "syscall_exit_fsync", ("ret", "s64", 0), cpu=1)
    t.at(600, "syscall_entry_poll")
    t.switch(610, ALPHA, SLEEPS, IDLE)
    t.at(620, "hrtimer_expire_entry", ("hrtimer", "u64", 1), ("now", "s64", 2), ("function", "u64", 3))
    t.wake(620, ALPHA, 0)
    t.at(620, "hrtimer_expire_exit", ("hrtimer", "u64", 1))
    t.switch(625, IDLE, RUNNABLE, ALPHA)
    t.switch(630, ALPHA, SLEEPS, IDLE)
    t.at(650, "irq_handler_entry", ("irq", "s32", 1), ("name", "string", "i8042"))
    t.wake(650, ALPHA, 0)
    t.at(650, "irq_handler_exit", ("irq", "s32", 1), ("ret", "s32", 1))
    t.switch(655, IDLE, RUNNABLE, ALPHA)
    t.at(660, "syscall_exit_poll", ("ret", "s64", 1))


def check_attached(checks):
    directory = written("attached", attached)

    def lines(*options, who=ALPHA):
        done = subprocess.run([harness.PROGRAM, "attach", "-T", "-p", str(who[0]), *options, directory], stdout=subprocess.PIPE,
                              text=True, timeout=60, check=True)
        return done.stdout.splitlines()

    calls = ["read(3, ?, 10) = 10 <0.000300> [blocked 150 us, woken by beta/20; ready 40 us, preempted by delta/40, cpu 110 us]",
             "fsync(3) = 0 <0.000070> [blocked 10 us, woken by beta/20; ready 40 us while delta/40 ran, cpu 20 us]",
             "fsync(3) = 0 <0.000040> [blocked 10 us, woken by beta/20; ready 15 us, cpu 15 us]", "close(3) = 0 <0.000005>",
             "poll(?, ?, ?) = 1 <0.000060> [user input 20 us; timer 10 us; ready 10 us, cpu 20 us]"]
    checks.equal(lines(), calls, "attached: lines")
    checks.equal(lines(who=GAMMA), ["fsync(3) = 0 <0.000030> [blocked 10 us, woken by alpha/10, cpu 20 us]"], "attached: gamma")
    off = 190, 50, 25, 0, 40
    for us in (24, 26, 39, 41, 51, 189, 191):
        checks.equal(lines("--waits", f"{us}us"), [call for call, spent in zip(calls, off) if spent > us], f"attached: --waits {us}us")
    checks.equal([line.strip() for line in lines("-w") if line.startswith(" ")], [
        "+0.000000 50 us running alpha/10", "+0.000050 50 us running beta/20", "+0.000100 50 us ready beta/20 (gamma/30 ran)",
        "+0.000150 50 us running beta/20", "+0.000200 10 us ready alpha/10 (delta/40 ran)", "+0.000210 20 us running alpha/10",
        "+0.000230 30 us ready alpha/10 (delta/40 ran)", "+0.000260 40 us running alpha/10", "+0.000000 10 us running alpha/10",
        "+0.000010 10 us running beta/20", "+0.000020 40 us ready alpha/10 (delta/40 ran)", "+0.000060 10 us running alpha/10",
        "+0.000000 10 us running alpha/10", "+0.000010 10 us running beta/20", "+0.000020 15 us ready alpha/10 (the CPU was idle)",
        "+0.000035 5.0 us running alpha/10",
        "+0.000000 10 us running alpha/10", "+0.000010 10 us timer alpha/10 (in poll)",
        "+0.000020 5.0 us ready alpha/10 (the CPU was idle)", "+0.000025 5.0 us running alpha/10",
        "+0.000030 20 us user_input alpha/10 (i8042)", "+0.000050 5.0 us ready alpha/10 (the CPU was idle)",
        "+0.000055 5.0 us running alpha/10"], "attached: -w")
    causes = [(s["state"], s["cause"], s["cause_tid"]) for s in json.loads(lines("--json", "-e", "poll")[0])["waits"]]
    checks.equal([cause for cause in causes if cause[0] != "running"],
                 [("timer", None, None), ("preempted", "idle", 0), ("user_input", "i8042", None), ("preempted", "idle", 0)],
                 "attached: --json")


def main():
    harness.need_program()
    checks = harness.Checks()
    check_schedule(checks)
    check_calls(checks)
    check_devices(checks)
    check_locks(checks)
    check_siblings(checks)
    check_wait(checks)
    check_execs(checks)
    check_attached(checks)
    checks.finish()


if __name__ == "__main__":
    main()
