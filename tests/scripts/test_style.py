#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/check-style finds each kind of violation in a tree that has one."""
import os
import shutil
import subprocess
import sys

SRCDIR = os.environ["SRCDIR"]
LICENCE = "/* SPDX-License-Identifier: GPL-2.0-or-later */\n"


def check(name, files, wanted, tracked=False):
    """files: path -> text below the licence line. wanted: the lines printed. tracked: by git."""
    shutil.rmtree("tree", ignore_errors=True)
    os.makedirs("tree/src/base")
    os.makedirs("tree/tests/unit")
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join("tree", path)), exist_ok=True)
        with open(os.path.join("tree", path), "w", encoding="utf-8") as file:
            file.write(text if text.startswith("int unlicensed") else LICENCE + text)
    if tracked:
        subprocess.run(["git", "init", "-q", "tree"], check=True)
        subprocess.run(["git", "-C", "tree", "add", "-A"], check=True)
    done = subprocess.run([os.path.join(SRCDIR, "scripts/check-style"), "tree"], stderr=subprocess.PIPE, text=True, check=False)
    good = done.returncode == (1 if wanted else 0) and done.stderr.splitlines() == [f"check-style: {w}" for w in wanted]
    print(f"ok {name}" if good else f"not ok {name}: status {done.returncode}, {done.stderr}")
    return good


def main():
    return 0 if all([
        check("clean", {"src/base/a.c": "struct a {\n\tint n;\n};\n\nstruct b *b;\n", "src/base/b.c": "struct b {\n\tstruct a *a;\n};\n"},
              []),
        check("no licence", {"src/base/a.c": "int unlicensed;\n"}, ["src/base/a.c:1: no SPDX-License-Identifier"]),
        check("a blank", {"tests/unit/a.h": "int a; \n"}, ["tests/unit/a.h:2: blank at the end of the line"]),
        check("a long line", {"src/base/a.def": "X(" + "a" * 118 + ")\n"}, ["src/base/a.def:2: longer than 120 columns"]),
        check("120 characters of more bytes", {"src/base/a.c": "/* " + "é" * 114 + " */\n"}, []),
        check("a structure twice", {"src/base/a.c": "struct row {\n};\n", "src/base/b.c": "\nstatic const struct row {\n} row;\n"},
              ['src/base/b.c:3: tag "row" is defined in src/base/a.c:2 too']),
        check("a structure and an enumeration", {"src/base/a.h": "enum part { A, B };\n", "src/base/b.c": "struct part {\n};\n"},
              ['src/base/b.c:2: tag "part" is defined in src/base/a.h:2 too']),
        check("inside of a structure", {"src/base/a.c": "struct a {\n\tunion cell {\n\t} c;\n};\n", "src/base/b.c": "union cell {\n};\n"},
              ['src/base/b.c:2: tag "cell" is defined in src/base/a.c:3 too']),
        check("no other directory", {"src/base/a.c": "int a;\n", "web1/kernel/metadata": "", ".ci/run": "", "traces/a.md": ""},
              ["web1/: not a directory of the project"], tracked=True),
        check("not tracked", {"src/base/a.c": "int a;\n", "web1/kernel/metadata": ""}, []),
        check("tests may have theirs", {"src/base/a.c": "struct row {\n};\n", "tests/unit/b.c": "struct row {\n};\n"}, []),
    ]) else 1


if __name__ == "__main__":
    sys.exit(main())
