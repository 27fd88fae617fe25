#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
`attach`: how threads end, as strace says it. When a thread ends its process, by exit_group() or by a signal, the kernel
ends the others with a SIGKILL that nobody sent: they exited with that status, or were killed by that signal.
"""
import json
import os
import re
import subprocess
import sys

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path += [os.path.join(TESTS, "truth"), os.path.join(TESTS, "waits")]
import ctf  # noqa: E402
import harness  # noqa: E402

MS = 10 ** 6
KILL, SEGV, TERM, SIGCHLD = 9, 11, 15, 17
HANDLER = 0x400000
RESTARTSYS = -512
MANY = 3000  # the ends of 1024 processes are kept, and of twice those of which there is still a thread


class Process:
    """Thread 100, which waits in read(), and 101 of the same process, which runs; 50 is their parent. One CPU."""

    def __init__(self):
        self.trace, self.now_ms, self.runs = ctf.Trace("web"), 1, ("swapper/0", 0)
        self.switch("sh", 50, 0)
        self.entry("clone", ("clone_flags", "u64", SIGCHLD))
        self.fork(50, 50, 100, 100)
        self.switch("srv", 100, 0)
        self.entry("clone3", ("uargs", "u64", 1), ("size", "u64", 88))
        self.fork(100, 100, 101, 100)
        self.leave("clone3", 101)
        self.entry("read", ("fd", "u32", 3), ("count", "u64", 10))
        self.switch("srv", 101, 1)

    def add(self, *event):
        self.now_ms += 1
        self.trace.add(self.now_ms * MS, *event)

    def switch(self, comm, tid, state):
        before, self.runs = self.runs, (comm, tid)
        self.add("sched_switch", ("prev_comm", "text", 16, before[0]), ("prev_tid", "s32", before[1]), ("prev_prio", "s32", 20),
                 ("prev_state", "s64", state), ("next_comm", "text", 16, comm), ("next_tid", "s32", tid), ("next_prio", "s32", 20))

    def fork(self, tid, pid, child, child_pid):
        self.add("sched_process_fork", ("parent_comm", "text", 16, self.runs[0]), ("parent_tid", "s32", tid),
                 ("parent_pid", "s32", pid), ("child_comm", "text", 16, "srv"), ("child_tid", "s32", child),
                 ("child_pid", "s32", child_pid))

    def entry(self, call, *fields):
        self.add("syscall_entry_" + call, *fields)

    def leave(self, call, result):
        self.add("syscall_exit_" + call, ("ret", "s64", result))

    def ends(self, call, status):
        self.entry(call, ("error_code", "s32", status))

    def send(self, number, tid, group):
        self.add("signal_generate", ("sig", "s32", number), ("errno", "s32", 0), ("code", "s32", 0), ("comm", "text", 16, "srv"),
                 ("pid", "s32", tid), ("group", "s32", group), ("result", "s32", 0))

    def deliver(self, number, handler=0):
        self.add("signal_deliver", ("sig", "s32", number), ("errno", "s32", 0), ("code", "s32", 0), ("sa_handler", "u64", handler),
                 ("sa_flags", "u64", 0))

    def gone(self):
        """The thread that runs exits, and the first one of the process gets the CPU, or nobody."""
        comm, tid = self.runs
        self.add("sched_process_exit", ("comm", "text", 16, comm), ("tid", "s32", tid), ("prio", "s32", 20))
        self.switch(*(("srv", 100) if tid == 101 else ("swapper/0", 0)), 64)

    def killed(self):
        """The first thread is woken from its read() to end."""
        self.leave("read", RESTARTSYS)
        self.deliver(KILL)
        self.gone()


def exits(status):
    """101 calls exit_group() and is gone before 100 runs."""
    p = Process()
    p.ends("exit_group", status)
    p.gone()
    p.killed()
    return p


def two_of_three_end():
    """The process has a third thread, 102, of which nothing but its creation is seen before the others are gone."""
    p = Process()
    p.fork(101, 100, 102, 100)
    p.ends("exit_group", 3)
    p.gone()
    p.killed()
    p.switch("srv", 102, 0)
    return p


def exits_as_three():
    p = two_of_three_end()
    p.deliver(KILL)
    p.gone()
    return p


def silent():
    """102 has no event between its creation and its end: without the events of signals, its SIGKILL is not seen."""
    p = two_of_three_end()
    p.gone()
    return p


def unseen():
    """The process's third thread makes no call, and ends."""
    p = Process()
    p.fork(101, 100, 102, 100)
    p.switch("srv", 102, 0)
    p.gone()
    return p


def number_again():
    """After exits(3) another process has the number 100, and runs."""
    p = exits(3)
    p.switch("sh", 50, 0)
    p.fork(50, 50, 100, 100)
    p.switch("srv", 100, 1)
    return p


def reused():
    """That process gets SIGKILL, which the trace does not show being sent."""
    p = number_again()
    p.deliver(KILL)
    p.gone()
    return p


def reused_by_two():
    """It has a second thread, 102, which is left when the first one has ended itself alone."""
    p = number_again()
    p.fork(100, 100, 102, 100)
    p.ends("exit", 0)
    p.gone()
    p.switch("srv", 102, 0)
    return p


def reused_and_ends():
    p = reused_by_two()
    p.ends("exit", 7)
    p.gone()
    return p


def reused_and_killed():
    p = reused_by_two()
    p.deliver(KILL)
    p.gone()
    return p


def exits_among_many(first_is_gone=False):
    """As silent(); before 102 and perhaps 100 are gone, more other processes have ended than those whose ends are kept."""
    p = Process()
    p.fork(101, 100, 102, 100)
    p.ends("exit_group", 3)
    p.gone()
    if first_is_gone:
        p.killed()
    p.switch("sh", 50, 0)
    for pid in range(1000, 1000 + MANY):
        p.fork(50, 50, pid, pid)
        p.switch("srv", pid, 1)
        p.ends("exit_group", 0)
        p.gone()
        p.switch("sh", 50, 0)
    p.switch("srv", 102, 1)
    p.gone()
    return p


def last_among_many():
    return exits_among_many(first_is_gone=True)


def exits_slowly():
    """100 is gone before 101 is."""
    p = Process()
    p.ends("exit_group", -1)
    p.switch("srv", 100, 0)
    p.leave("read", RESTARTSYS)
    p.deliver(KILL)
    p.gone()
    p.runs = "srv", 101
    p.gone()
    return p


def handled():
    """SIGTERM, sent to the process, has a handler that runs in 101 and calls exit_group()."""
    p = Process()
    p.send(TERM, 100, 1)
    p.deliver(TERM, HANDLER)
    p.ends("exit_group", 0)
    p.gone()
    p.killed()
    return p


def handled_before():
    """The same handler returns; later SIGKILL comes that the trace does not show being sent."""
    p = Process()
    p.send(TERM, 100, 1)
    p.deliver(TERM, HANDLER)
    p.switch("srv", 100, 1)
    p.killed()
    return p


def sent():
    """SIGTERM without handler, sent to the process: the kernel gives SIGKILL to each thread at once."""
    p = Process()
    p.send(TERM, 100, 1)
    p.deliver(KILL)
    p.gone()
    p.killed()
    return p


def fault():
    """101 dies of an access to memory: it gets SIGSEGV itself, the others SIGKILL."""
    p = Process()
    p.send(SEGV, 101, 0)
    p.deliver(SEGV)
    p.gone()
    p.killed()
    return p


def thread_exits():
    """101 ends itself alone; 100 is killed later."""
    p = Process()
    p.ends("exit", 5)
    p.gone()
    p.killed()
    return p


def executes():
    """101 executes a program, which ends 100 and gives its number to 101."""
    p = Process()
    p.entry("execve", ("filename", "string", "/bin/true"), ("argv", "u64", 1), ("envp", "u64", 2))
    p.switch("srv", 100, 2)
    p.add("sched_process_exit", ("comm", "text", 16, "srv"), ("tid", "s32", 100), ("prio", "s32", 20))
    p.switch("srv", 101, 32)
    p.add("sched_process_exec", ("filename", "string", "/bin/true"), ("tid", "s32", 100), ("old_tid", "s32", 101))
    p.runs = "true", 100
    p.leave("execve", 0)
    p.entry("brk", ("brk", "u64", 0))
    p.leave("brk", 4096)
    p.switch("sh", 50, 0)
    p.switch("true", 100, 1)
    p.ends("exit_group", 7)
    p.gone()
    return p


def check_exec(checks):
    """Who chose 101 sees how it ends as 100; who follows its process, what it calls, too."""
    executes().trace.write("executes")
    known = "+++ continues as 100 after execve +++"
    for options, line in (([], known[:-4] + "; -f shows its calls +++"), (["--threads"], known), (["-f"], known)):
        lines = [re.sub(r"^\[pid \d+\] ", "", line) for line in attach("executes", *options, "-p", "101")]
        checks.equal((line in lines, lines[-1:]), (True, ["+++ exited with 7 +++"]), f"execve {options}: {lines}")
        if options:
            checks.true("brk(NULL) = 0x1000" in lines, f"execve {options}: {lines}")
    # a child of the one that was chosen stays followed, and one that is chosen by its new name is shown with the call
    lines = attach("executes", "-f", "-p", "50")
    checks.true("[pid 100] brk(NULL) = 0x1000" in lines, f"execve -f -p 50: {lines}")
    lines = attach("executes", "-n", "true")
    checks.equal(lines[0], '[pid 100] execve("/bin/true", 0x1, 0x2) = 0', f"execve -n true: {lines}")


CASES = {
    # name: (process, what the last line of 100 and of 101 says)
    "exits": (lambda: exits(3), "exited with 3", "exited with 3"),
    "exits-minus-1": (lambda: exits(-1), "exited with 255", "exited with 255"),
    "exits-slowly": (exits_slowly, "exited with 255", "exited with 255"),
    "three": (exits_as_three, "exited with 3", "exited with 3"),
    "reused": (reused, "killed by SIGKILL", "exited with 3"),
    "handled": (handled, "exited with 0", "exited with 0"),
    "handled-before": (handled_before, "killed by SIGKILL", None),
    "sent": (sent, "killed by SIGTERM", "killed by SIGTERM"),
    "fault": (fault, "killed by SIGSEGV", "killed by SIGSEGV"),
    "thread-exits": (thread_exits, "killed by SIGKILL", "exited with 5"),
}


# the tracer has no names for those of 32-bit programs; what is 173 for these is another call for others
SIGRETURNS = {"rt_sigreturn": ("rt_sigreturn", None, ""), "rt-sigreturn-32": ("rt_sigreturn", 173, "compat_"),
              "sigreturn-32": ("sigreturn", 119, "compat_")}


def check_sigreturn(checks):
    """sigreturn() is over when it starts: what the thread does until its next call is not a part of it."""
    for directory, (name, number, prefix) in SIGRETURNS.items():
        p, at = Process(), {}
        p.switch("srv", 100, 1)
        p.leave("read", RESTARTSYS)
        p.entry("fadvise64", ("fd", "s32", 3))  # which tells x86-64's numbers
        p.leave("fadvise64", 0)
        p.deliver(TERM, HANDLER)
        for last in False, True:
            if number:
                p.add(prefix + "syscall_entry_unknown", ("id", "s32", number), ("args", "array", "u64", [0] * 6))
            else:
                p.entry(name)
            at[p.now_ms * MS] = last
            p.switch("srv", 101, 0)
            p.switch("srv", 100, 1)
            if not last:
                p.entry("getpid")
                p.leave("getpid", 100)
        p.trace.write(directory)
        lines = [json.loads(line) for line in attach(directory, "-p", "100", "--json", waits=True)]
        calls = [o for o in lines if o.get("name") == name]
        checks.equal([o["ts_ns"] % 10**9 for o in calls], [t % 10**9 for t in at], f"{directory}: ends: {calls}")
        for o in calls:
            checks.equal((o["begin_ns"], o["duration_ns"], o["off_cpu_ns"], o["waits"], o["ret"], o["status"]),
                         (o["ts_ns"], None, None, [], None, "unfinished"), directory)
        text = attach(directory, "-p", "100", "-T", waits=True)
        checks.equal([line.split() for line in text if "sigreturn" in line], [[f"{name}()", "=", "?"]] * 2, f"text: {text}")
        rows = harness.report("cpu", directory, "--tid", "100", "--columns", "user_ns,system_ns").rows
        checks.equal(rows, [{"user_ns": 8 * MS + 1, "system_ns": 7 * MS}], f"{directory}: back in the program")


def check_unseen(checks):
    """A thread without calls has a last line, whatever it was chosen by, and is not said not to occur."""
    unseen().trace.write("unseen")
    for options in ("-p", "102"), ("-n", "srv", "-e", "trace=none"), ("-n", "s?v", "-p", "102", "-e", "trace=none"):
        done = subprocess.run([harness.PROGRAM, "attach", *options, "unseen"], stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, timeout=60, check=False)
        lines = [re.sub(r"^\[pid 102\] ", "", line) for line in done.stdout.splitlines()]
        checks.equal((lines, done.stderr, done.returncode), (["+++ exited +++"], "", 0), f"unseen: {options}")


def attach(directory, *options, waits=False):
    options = options if waits else ("--no-waits", *options)
    done = subprocess.run([harness.PROGRAM, "attach", *options, directory], stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, f"{options} {directory}: {done.returncode} {done.stderr}"
    return done.stdout.splitlines()


def main():
    harness.need_program()
    checks = harness.Checks()
    for name, (process, first, second) in CASES.items():
        process().trace.write(name)
        for tid, end in ((100, first), (101, second)):
            lines = attach(name, "-p", str(tid))
            followed = [line[len(f"[pid {tid}] "):] for line in attach(name, "-f", "-p", "100") if line.startswith(f"[pid {tid}]")]
            for how, shown in (("alone", lines), ("-f", followed)):
                if end:
                    checks.equal(shown[-1:], [f"+++ {end} +++"], f"{name}: {tid} {how}: {shown}")
                if end and end.startswith("exited"):
                    checks.true(not any("SIGKILL" in line for line in shown), f"{name}: {tid} {how}: {shown}")
    for process, end in ((exits_as_three, "exited with 3"), (silent, "exited with 3"), (exits_among_many, "exited with 3"),
                         (last_among_many, "exited with 3"), (reused_and_ends, "exited with 7"), (reused_and_killed, "killed by SIGKILL")):
        process().trace.write(process.__name__)
        checks.equal(attach(process.__name__, "-p", "102")[-1:], [f"+++ {end} +++"], f"{process.__name__}: 102")
    check_unseen(checks)
    check_exec(checks)
    check_sigreturn(checks)
    checks.finish()


main()
