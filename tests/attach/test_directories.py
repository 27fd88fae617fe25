#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`attach -y` and `-P` of a program that opens everything relative to a directory's fd: tar of /data/site."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402
import subprocess  # noqa: E402

OPENED = re.compile(r'openat\(\d+<(/[^>]*)>, "([^"/]+)", .*\) = \d+<([^>]*)>$', re.M)


def attach(directory, *options):
    done = subprocess.run([harness.PROGRAM, "attach", "-n", "tar", "-y", "-q", "--no-waits", "--no-sync", *options,
                           directory], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=600, check=False)
    assert done.returncode in (0, 3), f"{options}: {done.returncode} {done.stderr}"
    return done.stdout


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
    checks.finish()


main()
