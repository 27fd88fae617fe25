#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A worker that dies or hangs: its host is incomplete and says why, the others are complete, exit status 3.

The report is stopped while its workers fill their rings: that of the larger recording then waits
for room in the middle of it, and is killed or stopped there.
"""
import json
import os
import resource
import shutil
import signal
import subprocess
import tempfile

from cases import check, finish, sanitized

from processes import PATIENCE_S, Held, called, workers

LTTNGTOP = os.environ["LTTNGTOP"]
TRACES = os.path.join(os.environ["BUILD"], "traces")
NOBODY = 61234  # a user ID that nobody has
VICTIM, OTHER = os.path.join(TRACES, "hotplug"), os.path.join(TRACES, "kprobe")


def run_with(number):
    """The report on both recordings, whose victim's worker gets the signal in the middle: rows, stderr, status."""
    held = Held()
    report = subprocess.Popen([LTTNGTOP, "report", "hosts", "--json", "--workers", "1", VICTIM, OTHER],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, **held.environment})

    held.stop_midway(report.pid, 2)
    victim = workers(report.pid, VICTIM)[0]
    check("how it is called", called(victim) == ("lttngtop: db", "lttngtop: db"), called(victim))
    check("how the program is called", called(report.pid)[0] == "lttngtop", called(report.pid))
    os.kill(victim, number)
    held.go_on(but=[victim])
    out, err = report.communicate(timeout=PATIENCE_S)
    rows = {row["host"]: row["events"] for row in json.loads(out)["rows"]}
    return rows, err, report.returncode


def whole():
    out = subprocess.run([LTTNGTOP, "report", "hosts", "--json", VICTIM, OTHER], stdout=subprocess.PIPE, check=True)
    return {row["host"]: row["events"] for row in json.loads(out.stdout)["rows"]}


def cannot_start(name, words, command, **how):
    """The report says why its workers could not be started, not only that they ended."""
    done = subprocess.run([*command, LTTNGTOP, "report", "hosts", VICTIM], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, check=False, timeout=PATIENCE_S, **how)
    check(f"{name}: exit status", done.returncode == 1, done.stderr)
    check(f"{name}: the reason", words in done.stderr, done.stderr)


def few_descriptors():
    for most in range(6, 40):
        limit = lambda most=most: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        done = subprocess.run([LTTNGTOP, "report", "hosts", VICTIM], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, check=False, timeout=PATIENCE_S, preexec_fn=limit)
        if done.returncode == 0:
            break
        check(f"{most} descriptors: the reason", "Too many open files" in done.stderr or "ulimit -n" in done.stderr,
              done.stderr)
        check(f"{most} descriptors: what to do", "ulimit -n" in done.stderr, done.stderr)
    check("40 descriptors are enough", done.returncode == 0, done.stderr)


def small_files():
    """A limit of the size of files is an error with a reason, wherever it hits, and no death by a signal."""
    for what, most in (("shared memory", 4096), ("the report", 8 << 20)):
        limit = lambda most=most: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        with open("output", "w", encoding="utf-8") as output:
            done = subprocess.run([LTTNGTOP, "report", "dump", VICTIM], stdout=output, stderr=subprocess.PIPE,
                                  text=True, check=False, timeout=PATIENCE_S, preexec_fn=limit)
        check(f"{what} is too large: exit status", done.returncode == 1, f"{done.returncode} {done.stderr}")
        check(f"{what} is too large: the reason", "File too large" in done.stderr, done.stderr)


def little_memory():
    """Whether the program or its worker gets none, there is a reason, and no death by a signal."""
    seen = 0
    for most in range(1 << 20, 16 << 20, 1 << 18):
        limit = lambda most=most: resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        done = subprocess.run([LTTNGTOP, "report", "hosts", "--workers", "1", VICTIM], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=False, timeout=PATIENCE_S, preexec_fn=limit)
        if done.returncode == 0:
            break
        if done.returncode == 127:  # the libraries could not be loaded
            continue
        said = "out of memory" in done.stderr
        seen += said
        check(f"{most} bytes: exit status", done.returncode in (1, 3), f"{done.returncode} {done.stderr}")
        check(f"{most} bytes: the reason", (said or "annot allocate memory" in done.stderr) and "died: signal" not in done.stderr,
              done.stderr)
    check("enough memory", done.returncode == 0, done.stderr)
    check("too little memory", seen, "it was never said")


def few_processes():
    """As a user without other processes: the program itself is already as many as may be."""
    def become(most):
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))

    # looking for leaks needs a process, too
    env = {**os.environ, "ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:detect_leaks=0"}

    def run(most):
        return subprocess.run([LTTNGTOP, "report", "hosts", public], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, check=False, timeout=PATIENCE_S, cwd="/", env=env, preexec_fn=lambda: become(most))

    with tempfile.TemporaryDirectory(dir="/tmp") as top:
        public = os.path.join(top, "public")
        shutil.copytree(VICTIM, public)
        for directory, _, names in os.walk(top):
            for path in (directory, *(os.path.join(directory, name) for name in names)):
                os.chmod(path, 0o755)
        try:
            if run(100).returncode:
                raise PermissionError("the recording or the program")
        except (OSError, subprocess.SubprocessError) as error:
            print(f"skip few processes: cannot be another user: {error}")
            return
        done = run(1)
    check("few processes: exit status", done.returncode == 1, f"{done.returncode} {done.stderr}")
    check("few processes: the reason", "ulimit -u" in done.stderr, done.stderr)


def has_mounts_of_its_own():
    """Whether this process can have them: not as another user than root, and not in a chroot."""
    return os.getuid() == 0 and shutil.which("unshare") and \
        not subprocess.call(["unshare", "-m", "true"], stderr=subprocess.DEVNULL)


def main():
    few_descriptors()
    small_files()
    if not sanitized():  # sanitizers reserve more
        little_memory()
    few_processes()
    if has_mounts_of_its_own() and not sanitized():  # sanitizers need /proc themselves
        cannot_start("without /proc", "is /proc mounted?", ["unshare", "-m", "sh", "-c", 'umount -l /proc && exec "$@"', "sh"])
    expected = whole()
    for name, number, words in (("dies", signal.SIGKILL, "died: signal 9"), ("hangs", signal.SIGSTOP, "was ended: no heartbeat for 10 s")):
        rows, err, status = run_with(number)
        check(f"{name}: exit status", status == 3, status)
        check(f"{name}: the reason", words in err and VICTIM in err, err)
        check(f"{name}: the other host is whole", rows.get("client") == expected["client"], rows)
        check(f"{name}: what was read stays", 0 < rows.get("db", 0) < expected["db"], rows)
    finish()


main()
