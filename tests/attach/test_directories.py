#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
`attach -y` and `-P` of programs that open everything relative to a directory's fd: tar of /data/site, and one that starts
at the root, whose figures then depend on what the paths lead to.
"""
import os
import re
import sys

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path += [os.path.join(TESTS, "truth"), os.path.join(TESTS, "waits")]
import ctf  # noqa: E402
import harness  # noqa: E402
import subprocess  # noqa: E402

OPENED = re.compile(r'openat\(\d+<(/[^>]*)>, "([^"/]+)", .*\) = \d+<([^>]*)>$', re.M)


def attach(directory, *options, comm="tar"):
    done = subprocess.run([harness.PROGRAM, "attach", "-n", comm, "-y", "-q", "--no-waits", "--no-sync", *options,
                           directory], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=600, check=False)
    assert done.returncode in (0, 3), f"{options}: {done.returncode} {done.stderr}"
    return done.stdout


AT_FDCWD = -100
# directory, name, resulting fd: the path and the kind that the file has
AT_ROOT = (
    ((AT_FDCWD, ".", 5), "/", "file"),
    ((5, "proc", 6), "/proc", "pseudo"),
    ((6, "stat", 7), "/proc/stat", "pseudo"),
    ((5, "etc", 8), "/etc", "file"),
    ((8, "..", 9), "/", "file"),
    ((9, "proc/stat", 10), "/proc/stat", "pseudo"),
    ((9, "etc/passwd", 11), "/etc/passwd", "file"),
    ((8, "passwd", 12), "/etc/passwd", "file"),
)
READ = 1000  # bytes of each


def record_root(directory):
    trace, now = ctf.Trace("web"), 10
    trace.add(now, "sched_switch", ("prev_comm", "text", 16, "swapper/0"), ("prev_tid", "s32", 0), ("prev_prio", "s32", 20),
              ("prev_state", "s64", 0), ("next_comm", "text", 16, "find"), ("next_tid", "s32", 100), ("next_prio", "s32", 20))
    calls = [("chdir", 0, [("filename", "string", "/")])]
    for (dirfd, name, fd), _, _ in AT_ROOT:
        calls.append(("openat", fd, [("dfd", "s32", dirfd), ("filename", "string", name), ("flags", "s32", 0),
                                     ("mode", "u16", 0)]))
        calls.append(("read", READ, [("fd", "u32", fd), ("count", "u64", READ)]))
    for name, result, fields in calls:
        now += 10
        trace.add(now, "syscall_entry_" + name, *fields)
        trace.add(now + 5, "syscall_exit_" + name, ("ret", "s64", result))
    trace.write(directory)


def check_root(checks):
    directory = os.path.abspath("root")
    record_root(directory)
    named = dict(re.findall(r" = (\d+)<([^>]*)>$", attach(directory, comm="find"), re.M))
    checks.equal(named, {str(fd): path for (_, _, fd), path, _ in AT_ROOT}, "paths below the root")
    chosen = attach(directory, "-P", "/proc/*", "-e", "trace=read", comm="find")
    checks.equal(re.findall(r"read\((\d+)", chosen), ["7", "10"], "-P")
    rows = {row["fd"]: (row["path"], row["kind"]) for row in harness.report("files", directory, status=(0,)).rows}
    for (_, _, fd), *expected in AT_ROOT:
        checks.equal(rows.get(fd), tuple(expected), f"report files: {fd}")
    io = harness.report("io", directory, status=(0,)).rows[0]
    pseudo = READ * sum(kind == "pseudo" for _, _, kind in AT_ROOT)
    checks.equal((io["read_bytes_disk"], io["read_bytes_other"]), (READ * len(AT_ROOT) - pseudo, pseudo), "report io")


def main():
    harness.need_program()
    checks = harness.Checks()
    for _, directory, _ in harness.recordings({"disk-io"}):
        plain = attach(directory)
        opened = OPENED.findall(plain)
        checks.true(len(opened) > 50, f"only {len(opened)} files were opened relative to a directory")
        for parent, entry, path in opened:
            checks.equal(path, f"{parent}/{entry}", "path of the opened file")
        checks.true(any(parent == "/data/site/001" for parent, _, _ in opened), "no directory in a directory")
        chosen = [line for line in attach(directory, "-P", "/data/site/001/*").splitlines() if " +++ " not in line]
        checks.true(len(chosen) > 10, f"only {len(chosen)} calls of -P")
        for line in chosen:
            checks.true("</data/site/001/" in line or '</data/site/001>, "' in line, f"-P does not mean {line}")
        failed = attach(directory, "-P", "/data/site/001", "-e", "trace=newfstatat").splitlines()
        checks.true(any('</data/site>, "001", ' in line for line in failed), "-P: no path of an argument")
    check_root(checks)
    checks.finish()


main()
