#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/check-layers finds each kind of violation in a copy of src/ that has one."""
import os
import shutil
import subprocess
import sys

SRCDIR = os.environ["SRCDIR"]


def check(name, edits, wanted):
    """edits: file → text appended to it. wanted: parts of the expected lines; none: everything is well."""
    shutil.rmtree("src", ignore_errors=True)
    shutil.copytree(os.path.join(SRCDIR, "src"), "src")
    for file, edit in edits.items():
        path = os.path.join("src", file)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a", encoding="utf-8") as text:
            text.write(edit)
    done = subprocess.run([os.path.join(SRCDIR, "scripts/check-layers"), "src"], stderr=subprocess.PIPE, text=True, check=False)
    lines = done.stderr.splitlines()
    good = done.returncode == (1 if wanted else 0) and bool(lines) == bool(wanted) and \
        all(any(part in line for line in lines) for part in wanted)
    print(f"ok {name}" if good else f"not ok {name}: status {done.returncode}, {done.stderr}")
    return good


def main():
    return 0 if all([
        check("as it is", {}, []),
        check("upwards", {"base/text.c": '#include "cli/options.h"\n'}, ["base may not include cli/options.h"]),
        check("past a layer", {"out/text.c": '#include "waits/path.h"\n'}, ["out may not include waits/path.h"]),
        check("hidden in a header", {"view/table.h": '#include "merge/merge.h"\n'},
              ["out/writer.h:11: view/rows.h brings in merge, which out may not depend on"]),
        check("another's internals", {"cmd/monitor/read.c": '#include "ui/internal.h"\n'}, ["ui/internal.h belongs to ui alone"]),
        check("another's library", {"view/tree.c": "#include <curses.h>\n"}, ["<curses.h> belongs to ui/"]),
        check("no such header", {"view/tree.c": '#include "view/none.h"\n'}, ["no such file: src/view/none.h"]),
        check("a directory of its own", {"extra/a.c": "int a;\n"}, ["src/extra is not a known layer"]),
    ]) else 1


if __name__ == "__main__":
    sys.exit(main())
