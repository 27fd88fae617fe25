#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/run counts what tests say and how they end, whatever they do."""
import ctypes
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import time

SRCDIR = os.environ["SRCDIR"]
sys.path.insert(0, os.path.join(SRCDIR, "tests"))
import cases  # pylint: disable=wrong-import-position

PATIENCE = 60  # seconds: the machine may be slow and busy
STEADY = '[ -e "$HOME/../steady" ] || { echo "not ok x"; touch "$HOME/../steady"; exit 1; }; echo ok x'


def run(script, *options, more=()):
    """What it prints of a test with this script, its last line, and its exit status."""
    with open("t.sh", "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + script + "\n")
    os.chmod("t.sh", 0o755)
    done = subprocess.run([os.path.join(SRCDIR, "tests/run"), "--build", os.environ["BUILD"], *options, "t.sh"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          env={**os.environ, "TMPDIR": os.getcwd(), **dict(more)})
    return done.stdout, done.stdout.splitlines()[-1], done.returncode


def expect(name, script, last, status, *parts, options=()):
    text, found, code = run(script, *options)
    cases.check(name, (found, code) == (last, status) and all(part in text for part in parts), f"status {code}: {text}")


def test_counts():
    expect("lines are counted", "echo ok one; echo ok two", "2 passed, 0 failed, 0 skipped", 0, "ok      ")
    expect("a test without lines counts as one", ":", "1 passed, 0 failed, 0 skipped", 0)
    expect("a failed line", "echo ok one; echo not ok two; exit 1", "1 passed, 1 failed, 0 skipped", 1, "    | not ok two")
    expect("a status without a line", "echo ok one; exit 3", "1 passed, 1 failed, 0 skipped", 1, "FAILED")
    expect("a failed line with status 0", "echo not ok one", "0 passed, 1 failed, 0 skipped", 1)
    expect("a signal", "kill -SEGV $$", "0 passed, 1 failed, 0 skipped", 1)
    expect("a skipped test", "echo skip: no disk; exit 77", "0 passed, 0 failed, 1 skipped", 0, "skipped: no disk")
    expect("Check's line", "echo '50%: Checks: 4, Failures: 1, Errors: 1'; exit 1", "2 passed, 2 failed, 0 skipped", 1)
    expect("Check's line, and a part that is skipped", "echo 'skip b: no disk'; echo '100%: Checks: 4, Failures: 0, Errors: 0'",
           "4 passed, 0 failed, 1 skipped", 0, "skipped: b: no disk")
    expect("a test that does not exist beside one that does", ":", "1 passed, 1 failed, 0 skipped", 1, "No such file", options=["nothing.sh"])


def test_figures():
    """What a test measured is shown though it passed."""
    expect("figures", "echo '# 7 events/s'; echo ok one", "1 passed, 0 failed, 0 skipped", 0, "\n        7 events/s\n")


def test_environment():
    """A directory of the user who runs the tests is none that a test may work in."""
    text, last, code = run('echo "ok ${XDG_RUNTIME_DIR-none}"; echo "# ${XDG_RUNTIME_DIR-none}"', more={"XDG_RUNTIME_DIR": os.getcwd()})
    cases.check("the runtime directory", "\n        none\n" in text, f"status {code}: {last}: {text}")


def is_running(pid):
    """Whether there is such a process; one that nobody waits for is a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_ends():
    pids = os.path.abspath("pids")
    expect("a test that does not end", f"echo ok one; sleep 600 & echo $! >>{pids}; wait", "1 passed, 1 failed, 0 skipped", 1,
           "not finished after 1 seconds", options=["--timeout", "1"])
    expect("a process that is left behind", f"echo ok one; sleep 601 >/dev/null 2>&1 & echo $! >>{pids}", "1 passed, 1 failed, 0 skipped", 1,
           "processes were left behind: sleep 601")
    with open(pids, encoding="ascii") as file:
        running = file.read().split()
    until = time.monotonic() + PATIENCE
    while (running := list(filter(is_running, running))) and time.monotonic() < until:
        time.sleep(0.02)
    cases.check("their processes are ended", not running, running)


def test_unreaped():
    """In a container, the first process may be one that does not wait for orphans: they stay zombies."""
    set_child_subreaper = 36  # PR_SET_CHILD_SUBREAPER
    libc = ctypes.CDLL(None)
    libc.prctl(set_child_subreaper, 1, 0, 0, 0)
    expect("an orphan that has ended", "echo ok one; sleep 0.1 >/dev/null 2>&1 &", "1 passed, 0 failed, 0 skipped", 0)
    libc.prctl(set_child_subreaper, 0, 0, 0, 0)
    os.wait()


def test_until():
    expect("there is time", "echo ok x", "1 passed, 0 failed, 0 skipped", 0, options=["--until", str(int(time.time()) + 600)])
    expect("there is none", "echo ok x", "0 passed, 0 failed, 1 skipped", 0, "skipped: no time is left",
           options=["--until", str(int(time.time()) - 1)])


def load():
    """tests/run as a module."""
    loader = importlib.machinery.SourceFileLoader("tests_run", os.path.join(SRCDIR, "tests/run"))
    tests_run = importlib.util.module_from_spec(importlib.util.spec_from_loader("tests_run", loader))
    loader.exec_module(tests_run)
    return tests_run


def test_order():
    """What may run out of time is what reads least from others."""
    tests_run = load()
    ways = [tests_run.find_tests(os.environ["BUILD"], in_time) for in_time in (True, False)]
    cases.check("the same tests", set(ways[0]) == set(ways[1]) and len(ways[0]) == len(set(ways[0])) > 100)
    for name, tests in zip(("in time", "out of time"), ways):
        where = [os.path.basename(os.path.dirname(t)) for t in tests]
        units = where.count("unit")
        cases.check(f"{name}: units come first", units > 50 and set(where[:units]) == {"unit"})
    longest = ["/".join(t.split("/")[-2:]) in tests_run.LONG for t in ways[0]][units:]
    cases.check("in time: then the longest", longest == sorted(longest, reverse=True) and True in longest)
    cases.check("the longest exist", all(os.path.exists(os.path.join(SRCDIR, "tests", t)) for t in tests_run.LONG))
    hostile = [d in tests_run.HOSTILE for d in where[units:]]
    cases.check("out of time: then those with the most input of others", hostile == sorted(hostile, reverse=True) and True in hostile)


def test_sanitized():
    """What sanitizers find nothing in is left out, and nothing else."""
    tests_run, found = load(), []
    for name, flags in ("plain", ""), ("sanitized", "-fsanitize=address"):
        os.mkdir(name)
        with open(f"{name}/config.mk", "w", encoding="utf-8") as config:
            config.write(f"BUILD_CFLAGS = {flags}\n")
        found.append({os.path.relpath(t, os.path.join(SRCDIR, "tests")) for t in tests_run.find_tests(name, True)})
    left_out = {t if t in tests_run.NOT_SANITIZED else os.path.dirname(t) for t in found[0] - found[1]}
    cases.check("with sanitizers", found[1] < found[0] and left_out == set(tests_run.NOT_SANITIZED), left_out)


def test_again():
    expect("an unsteady test", STEADY, "1 passed, 0 failed, 0 skipped", 0, "unsteady: ", options=["--again"])
    expect("one that always fails", "exit 1", "0 passed, 1 failed, 0 skipped", 1, options=["--again"])


if __name__ == "__main__":
    cases.run(globals())
