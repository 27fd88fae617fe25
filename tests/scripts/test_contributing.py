#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What README.md and CONTRIBUTING.md say about the tree is true: its layers, its files, the targets of make."""
import os
import re
import runpy
import sys

SRCDIR = os.environ["SRCDIR"]
sys.path.insert(0, os.path.join(SRCDIR, "tests"))
import cases  # pylint: disable=wrong-import-position

LAYERS = runpy.run_path(os.path.join(SRCDIR, "scripts/check-layers"), run_name="check-layers")["LAYERS"]


def read(name):
    with open(os.path.join(SRCDIR, name), encoding="utf-8") as f:
        return f.read()


def section(text, title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", text, re.M | re.S).group(1)


def test_tour_of_readme():
    """In the order of the layers, each directory once."""
    rows = re.findall(r"^\| `(\w+)` \|", section(read("README.md"), "Reading the source"), re.M)
    wanted = [name for name in LAYERS if "/" not in name]
    cases.check("README's tour has every directory, in reading order", rows == wanted, f"{rows} not {wanted}")
    there = sorted(name for name in os.listdir(os.path.join(SRCDIR, "src")) if "." not in name)
    cases.check("they are those of src/", sorted(wanted) == there, f"{there}")


def test_picture_of_layers():
    """A directory is above everything that it depends on."""
    pictures = re.findall(r"```text\n(.*?)```", section(read("CONTRIBUTING.md"), "How it works"), re.S)
    floors = {name: -i for i, line in enumerate(pictures[-1].splitlines()) for name in line.split()}
    wanted = {name for name in LAYERS if "/" not in name}
    cases.check("the picture of the layers has every directory", set(floors) == wanted, str(set(floors) ^ wanted))
    wrong = [(name, below) for name, depends in LAYERS.items() for below in depends.split()
             if "/" not in name + below and floors[name] <= floors[below]]
    cases.check("each stands above what it depends on", not wrong, str(wrong))


def test_files_and_targets():
    text = read("CONTRIBUTING.md") + read("SECURITY.md") + read("README.md")
    names = set(re.findall(r"`((?:src|scripts|tests|traces|\.ci)/[\w./-]*)`", text))
    names |= {"src/" + name for name in re.findall(r"`([a-z]+/\w+\.(?:c|h|def))`", text) if name.split("/")[0] in LAYERS}
    names = {name for name in names if "NAME" not in name}
    missing = sorted(name for name in names if not os.path.exists(os.path.join(SRCDIR, name)))
    cases.check("files that the texts name are there", len(names) > 20 and not missing, str(missing))
    table = section(read("CONTRIBUTING.md"), "Writing tests")
    directories = {name for name in os.listdir(os.path.join(SRCDIR, "tests"))
                   if name != "__pycache__" and os.path.isdir(os.path.join(SRCDIR, "tests", name))}
    missing = sorted(name for name in directories if f"`tests/{name}/`" not in table)
    cases.check("the directories of tests are in the table", len(directories) > 10 and not missing, str(missing))
    targets = set(re.findall(r"`make ([a-z-]+)", text))
    known = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.M)) | {"uninstall"}
    cases.check("targets that they name are the Makefile's", len(targets) > 5 and targets <= known, str(targets - known))


if __name__ == "__main__":
    cases.run(globals())
