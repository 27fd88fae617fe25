#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""CONTRIBUTING.md's instructions hold: a tracepoint with a counter and its column takes 3 files, a table with its
pane 2. Both are added to a copy of the sources, which is built; the figures shown are those that babeltrace2 counts."""
import getpass
import json
import os
import re
import shutil
import subprocess
import sys

SRCDIR = os.environ["SRCDIR"]
sys.path.insert(0, os.path.join(SRCDIR, "tests/screens"))
import cases  # pylint: disable=wrong-import-position
from terminal import Terminal, need, skip, unpack  # pylint: disable=wrong-import-position

need("babeltrace2", "make", "tmux", "zstd")
RECORDING = unpack("locks-pipes") or skip("no recording locks-pipes")
COPY = os.path.abspath("copy")
PROGRAM = os.path.join(COPY, "build/lttngtop")

# file → start of a line in it, and the text to insert after it; None: a new file
COUNTER = {
    "src/event/tracepoints.def": (
        "HANDLED(SIGNAL_GENERATE,", 'COUNTED(TIMER_START, none, timers, 0, "timer_hrtimer_start hrtimer_start")\n'),
    "src/model/tables.h": (
        "\tC(migrations, COUNTER,", '\tC(timers, COUNTER, COUNT, "Timers started while it ran") \\\n'),
    "src/view/table_threads.c": (
        "\tCOLUMN(thread, migrations,", '\tCOLUMN(thread, timers, "TIMERS", 7, FIGURE),\n'),
}
TABLE = {
    "src/view/tables.def": ("VIEW_PANE(relations)", "VIEW_PANE(failures)\n"),
    "src/view/table_failures.c": (None, '''/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stddef.h>

#include "view/declare.h"

static const struct column columns[] = {
	COLUMN_HOST,
	COLUMN_TID,
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN_AS("call", syserr, name, "CALL", 16, REPORTED | COLUMN_KEY),
	COLUMN(syserr, error, "ERRNO", 5, REPORTED | COLUMN_KEY),
	COLUMN(syserr, count, "COUNT", 8, FIGURE),
};

const struct view_table view_failures_table = {
	.name = "failures",
	.title = "Failures",
	.row = "an error of a system call of a thread",
	.meaning = "Which system calls failed, and how.",
	.flags = VIEW_REPORT,
	.source = TABLE_SYSERR,
	.tables = USES(SYSERR) | USES(THREAD),
	.needs = NEED_SYSCALL,
	N_COLUMNS(columns),
	.screen = "tid host call error count comm",
	.sort = "count",
	.about = "which system calls failed, and how",
	.empty = "no system call failed in this interval",
	.group = { CELL(syserr, name), CELL(syserr, error) },
	.thread = CELL(syserr, thread_uid),
};
'''),
}


def apply(edits):
    """Returns how many files it touched."""
    for file, (begin, text) in edits.items():
        path = os.path.join(COPY, file)
        lines = []
        if begin:
            with open(path, encoding="utf-8") as f:
                lines = f.readlines()
            (at,) = [i for i, line in enumerate(lines) if line.startswith(begin)]
            lines.insert(at + 1, text)
        with open(path, "w" if begin else "x", encoding="utf-8") as f:
            f.writelines(lines or [text])
    return len(edits)


def changed_files():
    """Applies an edit to the copy's sources and documents."""
    out = subprocess.run(["diff", "-rq", os.path.join(SRCDIR, "src"), os.path.join(COPY, "src")],
                         stdout=subprocess.PIPE, text=True, check=False).stdout
    return len(out.splitlines())


def build():
    shutil.copytree(os.path.join(SRCDIR, "src"), os.path.join(COPY, "src"))
    for name in ("Makefile", "configure", "configure.ac", "scripts", "man"):
        path = os.path.join(SRCDIR, name)
        (shutil.copytree if os.path.isdir(path) else shutil.copy)(path, os.path.join(COPY, name))
    added = apply(COUNTER)
    cases.check("a tracepoint with a counter and a column: 3 files", added == changed_files() == 3, str(changed_files()))
    added = apply(TABLE)
    cases.check("a table with its pane: 2 files", added == 2 and changed_files() == 5, str(changed_files()))
    compiler = os.environ.get("CC") or ("ccache gcc" if shutil.which("ccache") else "cc")
    done = subprocess.run(["make", "-C", COPY, "BUILD=build", f"CC={compiler}", "CFLAGS=-O0", "CONFIGURE_FLAGS=--enable-werror"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          env={**{k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "BUILD")},
                               "HOME": os.path.expanduser(f"~{getpass.getuser()}")})  # where ccache keeps its files
    cases.check("it builds", done.returncode == 0, done.stdout[-2000:])


def rows(table):
    out = subprocess.run([PROGRAM, "report", table, "--json", RECORDING], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)["rows"]


def judge(event):
    """babeltrace2's lines for events of that name."""
    out = subprocess.run(["babeltrace2", RECORDING], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    return re.findall(rf"^.* {event}: .*$", out.decode(errors="replace"), re.M)


def test_extend():
    build()
    lines = [int(re.search(r"\btid = (\d+)", line).group(1)) for line in judge("timer_hrtimer_start")]
    wanted = {tid: lines.count(tid) for tid in set(lines) if tid}
    got = {row["tid"]: row["timers"] for row in rows("cpu") if row["timers"]}
    cases.check("the counter is babeltrace2's count of each thread", wanted and got == wanted, f"{got} not {wanted}")
    failed = [(m.group(1), int(m.group(2))) for line in judge(r"syscall_exit_\w+")
              for m in [re.search(r" syscall_exit_(\w+): .*\bret = -(\d+)\b", line)] if m]
    wanted = {what: failed.count(what) for what in set(failed)}
    got = {}
    for row in rows("failures"):
        what = (row["call"], row["error"])
        got[what] = got.get(what, 0) + row["count"]
    cases.check("the table has babeltrace2's failed calls", wanted and got == wanted, f"{got} not {wanted}")
    with Terminal("--paused", RECORDING, program=PROGRAM) as t:
        t.keys("P")
        t.wait("Failures +which system calls failed, and how")
    cases.check("the pane is in the menu", True)


if __name__ == "__main__":
    cases.run(globals())
