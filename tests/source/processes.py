# SPDX-License-Identifier: GPL-2.0-or-later
"""A program's processes, looked at from outside: which are its workers, whether one waits."""
import contextlib
import os
import signal
import time

PATIENCE_S = 60


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.002)
    raise RuntimeError(f"no {what} within {PATIENCE_S} s")


def state_and_parent(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        state, parent = stat.read().rsplit(")", 1)[1].split()[:2]
    return state, int(parent)


def find(condition):
    """The processes of which it is true; it may raise OSError for those that end."""
    found = []
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            if condition(pid):
                found.append(pid)
        except OSError:
            pass
    return found


def workers(parent, words=""):
    """Those of the program, or those of them whose command line has the words."""
    def is_one(pid):
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as cmdline:
            line = cmdline.read().replace("\0", " ")
        return state_and_parent(pid)[1] == parent and "--worker" in line and words in line
    return find(is_one)


@contextlib.contextmanager
def one_cpu():
    """What is started meanwhile has one CPU, and so a program one worker for all live sessions."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def waits(pid):
    """Whether it has been asleep for a while, not only for a page. ProcessLookupError: it has ended."""
    for _ in range(20):
        state = state_and_parent(pid)[0]
        if state in "ZX":
            raise ProcessLookupError
        if state != "S":
            return False
        time.sleep(0.005)
    return True


def stop_midway(program, words=""):
    """
    Stops the program while its worker reads, so that the ring fills and the worker waits for room: the worker. One of
    an earlier pass over the recording may be on its way out: then the next one.
    """
    def catch():
        os.kill(program, signal.SIGCONT)
        found = wait_for("worker", lambda: workers(program, words))[0]
        os.kill(program, signal.SIGSTOP)
        try:
            wait_for("worker that waits for room", lambda: waits(found))
        except OSError:
            return None
        return found
    return wait_for("worker midway", catch)
