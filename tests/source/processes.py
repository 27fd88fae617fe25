# SPDX-License-Identifier: GPL-2.0-or-later
"""A program's processes, observed from outside: which are its workers, and whether one waits."""
import contextlib
import os
import signal
import tempfile
import time

PATIENCE_S = 60
BUILD = os.environ.get("BUILD", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build"))


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
    """The processes for which it is true; it may raise OSError for those that end."""
    found = []
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            if condition(pid):
                found.append(pid)
        except OSError:
            pass
    return found


def called(pid):
    """How ps shows it: its name, its first argument."""
    with open(f"/proc/{pid}/comm", encoding="utf-8") as comm, open(f"/proc/{pid}/cmdline", encoding="utf-8") as cmdline:
        return comm.read().rstrip("\n"), cmdline.read().split("\0")[0]


def workers(parent, words=""):
    """The program's workers, or only those whose command line contains the words."""
    def is_one(pid):
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as cmdline:
            line = cmdline.read().replace("\0", " ")
        return state_and_parent(pid)[1] == parent and "--worker" in line and words in line
    return find(is_one)


@contextlib.contextmanager
def one_cpu():
    """A program started in the block has one CPU, and therefore one worker for all live sessions."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def waits(pid):
    """Whether it has been asleep for a while, not only for a page fault. ProcessLookupError: it has ended."""
    for _ in range(20):
        state = state_and_parent(pid)[0]
        if state in "ZX":
            raise ProcessLookupError
        if state != "S":
            return False
        time.sleep(0.005)
    return True


def preload(*path):
    """The environment of a program that loads one of the tests' libraries first."""
    library = os.path.join(BUILD, "tests", *path)
    return {"LD_PRELOAD": f"{library}:{os.environ.get('LD_PRELOAD', '')}".rstrip(":"),
            "ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0".lstrip(":")}


class Held:
    """
    Programs started with its environment have workers that stop
    themselves before doing anything (see hold_workers.c), until go_on().
    """
    def __init__(self):
        self.file = tempfile.NamedTemporaryFile(prefix="hold-workers-")
        self.program, self.workers = 0, []
        self.environment = {"HOLD_WORKERS": self.file.name, **preload("source", "hold_workers.so")}

    def hold(self, program, number):
        """The IDs of the given number of workers that the program starts, once they have all stopped themselves."""
        def held():
            found = [pid for pid in workers(program) if state_and_parent(pid)[0] == "T"]
            return found if len(found) == number else None
        self.program, self.workers = program, wait_for(f"{number} workers that are held", held)
        return self.workers

    def stop_midway(self, program, number):
        """
        Stops the program, and lets the given number of workers read until their rings are
        full; returns their IDs. Their input must be larger than a ring.
        """
        self.fill_rings(self.hold(program, number))
        self.file.close()
        return self.workers

    def fill_rings(self, of):
        """Stops the program until the rings of those workers are full."""
        os.kill(self.program, signal.SIGSTOP)
        wait_for("program that is stopped", lambda: state_and_parent(self.program)[0] == "T")
        for pid in of:
            os.kill(pid, signal.SIGCONT)
        for pid in of:
            wait_for("worker that waits for room", lambda pid=pid: waits(pid))

    def go_on(self, but=()):
        """Continues all of them except those in but."""
        for pid in {*self.workers, self.program} - {0, *but}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
