#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/coverage decides by how many lines were run, whatever state the counters are in."""
import os
import shutil
import subprocess
import sys
import tempfile

SRCDIR = os.environ["SRCDIR"]
sys.path.insert(0, os.path.join(SRCDIR, "tests"))
import cases  # pylint: disable=wrong-import-position

ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("GCOV_")}

# Most of the first is run, little of the second.
MOST = "int main(int argc, char **argv)\n{\n\t(void)argv;\n\treturn argc > 9;\n}\n"
LITTLE = "int main(int argc, char **argv)\n{\n\t(void)argv;\n\tif (argc < 9)\n\t\treturn 0;\n" + \
    "\targc = argc * 3 % 7;\n" * 9 + "\treturn argc;\n}\n"
TABLE = "const int table[] = { 1, 2 };\n"  # nothing to run: never has counters


def build(root, source):
    """A project in root, the program of which was built with --coverage and run once."""
    for directory in ("scripts", "src/one", "build/one"):
        os.makedirs(os.path.join(root, directory))
    shutil.copy(os.path.join(SRCDIR, "scripts/coverage"), os.path.join(root, "scripts"))
    objects = []
    for name, text in (("main", source), ("table", TABLE)):
        with open(f"{root}/src/one/{name}.c", "w", encoding="ascii") as file:
            file.write(text)
        objects.append(f"build/one/{name}.o")
        subprocess.run(["gcc", "--coverage", "-c", "-o", objects[-1], f"src/one/{name}.c"], cwd=root, check=True)
    subprocess.run(["gcc", "--coverage", "-o", "build/program", *objects], cwd=root, check=True)
    subprocess.run([f"{root}/build/program"], check=True, env=ENVIRONMENT)


def check(name, source, status, text, spoil=None):
    with tempfile.TemporaryDirectory() as root:
        build(root, source)
        if spoil:
            spoil(f"{root}/build/one")
        done = subprocess.run(["scripts/coverage", "build"], cwd=root, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, env=ENVIRONMENT)
        cases.check(name, done.returncode == status and text in done.stdout, f"status {done.returncode}\n{done.stdout}")


def write(name, content):
    def spoil(directory):
        with open(os.path.join(directory, name), "wb") as file:
            file.write(content)
    return spoil


def remove_notes(directory):
    for name in ("main.gcno", "table.gcno"):
        os.remove(os.path.join(directory, name))


def test_enough():
    check("most lines were run", MOST, 0, "ok      coverage: src/one")


def test_too_little():
    check("few lines were run", LITTLE, 1, "not ok  coverage: src/one")


def test_nothing_to_run():
    check("a source without code has an empty file", MOST, 0, "1 passed, 0 failed", write("table.gcda", b""))


def test_damaged():
    check("damaged counters count as none", MOST, 1, "  0.0 %", write("main.gcda", b"xx"))


def test_not_built_for_it():
    check("the build counts nothing", MOST, 1, "was not built with --enable-coverage", remove_notes)


cases.run(globals())
