#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/analyze reports what gcc and clang find on the paths through a source, and nothing in a good one."""
import os
import shutil
import subprocess
import sys
import tempfile

SRCDIR = os.environ.get("SRCDIR") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(SRCDIR, "tests"))
import cases  # noqa: E402

HEAD = "#include <stdlib.h>\nchar *keep;\nvoid f(char *p, int n);\nvoid f(char *p, int n)\n{\n"


def check(text, wanted):
    """text: the body of a function; wanted: parts of the lines printed, in order."""
    with tempfile.TemporaryDirectory() as root:
        for name in ("src/base", "scripts"):
            os.makedirs(os.path.join(root, name))
        shutil.copy(os.path.join(SRCDIR, "scripts", "analyze"), os.path.join(root, "scripts"))
        open(os.path.join(root, "src", "base", "banned.h"), "w", encoding="ascii").close()
        with open(os.path.join(root, "src", "a.c"), "w", encoding="ascii") as file:
            file.write(HEAD + text + "}\n")
        done = subprocess.run([os.path.join(root, "scripts", "analyze"), "-std=gnu11"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
    at = 0
    for part in wanted:
        at = done.stdout.find(part, at)
        assert at >= 0, f"no {part!r} in {done.stdout}"
    return done.returncode


def compilers():
    missing = [name for name in ("gcc", "clang") if not shutil.which(name)]
    return f"no {missing[0]}" if missing else None


def test_good():
    why = compilers()
    if not why:
        status = check("\tif (n > 0)\n\t\tfree(p);\n", ("ok      analyze: gcc", "ok      analyze: clang"))
        assert status == 0, status
    return why


def test_double_free():
    why = compilers()
    if not why:
        status = check("\tif (n > 0)\n\t\tfree(p);\n\tif (n > 1)\n\t\tfree(p);\n", ("double-", "not ok  analyze: gcc"))
        assert status == 1, status
    return why


def test_stack_address():
    why = compilers()
    if not why:
        status = check("\tchar here[8];\n\n\there[0] = *p;\n\tkeep = n ? here : NULL;\n",
                       ("StackAddressEscape", "not ok  analyze: clang"))
        assert status == 1, status
    return why


if __name__ == "__main__":
    cases.run(globals())
