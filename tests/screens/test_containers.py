#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Containers on the screen: nested, equal to the report; Enter shows what runs in one; filters by container and by
process tree; a column if there are containers, none if there are not; IDs at all levels in the details."""

import json
import re
import subprocess

from terminal import PROGRAM, Checks, Terminal, need, skip, unpack

need("tmux", "zstd")
RECORDING = unpack("containers") or skip("no recording containers")
BEGIN, END = "+3s", "+3.5s"
NESTED = (("host", None), ("bash:4026532314", "├─"), ("bash:4026532316", "│ └─"), ("bash:4026532318", "└─"),
          ("bash:4026532320", "  └─"), ("bash:4026532322", "    └─"))


def report(table):
    """Rows of the report for the interval that the screen shows."""
    run = subprocess.run([PROGRAM, "report", table, "--json", "--begin", BEGIN, "--end", END, RECORDING],
                         stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)["rows"]


def open_at(size=(80, 24), env=None, recording=RECORDING, ready=r"\[(2026-11-20 )?14:21:"):
    return Terminal("--paused", "--begin", BEGIN, recording, size=size, env=env, ready=ready).wait_read()


def open_pane(**more):
    t = open_at(**more)
    t.keys("P")
    t.wait("Panes")
    t.keys("End", "Up", "Enter")
    t.wait("^CONTAINER ")
    t.sync()
    return t


def filtered(t, text):
    """The rows' tids and containers."""
    t.keys("F4")
    t.wait("^Filter:")
    t.keys("C-u").text(text).keys("Enter")
    return rows_of_threads(t.sync())


def rows_of_threads(screen):
    at = next(i for i, line in enumerate(screen) if " CONTAINER " in line)
    rows = [line.split() for line in screen[at + 1:]]
    return {int(row[0]): row[2] for row in rows if len(row) > 3 and row[0].isdigit()}


def whole_screens(checks):
    with open_pane() as t:
        checks.expected("containers-80x24", t.screen())
    with open_pane(size=(160, 30)) as t:
        checks.expected("containers-160x30", t.screen())
    with open_pane(env={"LC_ALL": "C"}) as t:
        checks.expected("containers-ascii-80x24", t.screen())


def as_reported(checks):
    with open_pane(size=(160, 30)) as t:
        screen = t.screen()
    at = next(i for i, line in enumerate(screen) if line.startswith("CONTAINER "))
    rows = {row["container"]: row for row in report("containers")}
    checks.equal("as many as reported", len(rows), len(NESTED))
    for line, (name, branch) in zip(screen[at + 1:], NESTED):
        checks.check(f"{name} is where it is nested", line.startswith((branch or "") + name), line)
        words = line[line.index(name) + len(name):].split()
        row = rows[name]
        # PID PROC THR
        checks.equal(f"{name}: figures", words[:3], [str(row["pid"]) if row["pid"] else "-", str(row["processes"]),
                                                     str(row["threads"])])


def branches(checks):
    with open_pane() as t:
        t.keys("Home", *["Down"] * 3, "c")
        t.wait(r"bash:4026532318")
        checks.contains("a branch is one row with its sums", t.sync(), r"^└─\+2 bash:4026\S* +2154 +7 +7 ")
        t.keys("Enter")
        t.wait('filter: container:"bash:4026532318"/')
        checks.equal("its threads", set(rows_of_threads(t.sync()).values()),
                     {"bash:4026532318", "bash:4026532320", "bash:4026532322"})


def entering(checks):
    with open_pane() as t:
        t.keys("Home", "Down", "Down", "Enter")
        t.wait('filter: container:"bash:4026532316" ')
        rows = rows_of_threads(t.sync())
        checks.equal("only its threads", set(rows.values()), {"bash:4026532316"})
        t.keys("2", "Escape")
        t.wait_gone("filter:")
        checks.contains("Esc goes back to the containers, from another pane too", t.sync(), "^CONTAINER ")
        t.keys("Enter")
        t.wait('filter: container:"bash:4026532316" ')
        t.keys("F4")
        t.wait("^Filter:")
        t.keys("Escape")
        t.wait_gone("filter:")
        checks.equal("all again", "-" in rows_of_threads(t.sync()).values(), True)
    with open_pane() as t:
        t.keys("Home", "Enter")
        t.wait("filter: container:host ")
        checks.equal("what runs in none", set(rows_of_threads(t.sync()).values()), {"-"})
    for before, after in (("container:* | comm:x", '( container:* | comm:x ) container:"bash:4026532316"'),
                          ('"bash" container:*', '"bash" container:"bash:4026532316"'),
                          ('container:"bash:4026532316" pid>0', 'pid>0 container:"bash:4026532316"')):
        with open_pane(size=(160, 30)) as t:
            t.keys("F4")
            t.wait("^Filter:")
            t.text(before).keys("Enter")
            t.wait("filter: " + re.escape(before))
            t.keys("Home", "Down", "Enter") if "*" in before else t.keys("Home", "Enter")
            t.wait(" TID ")
            checks.contains(f"beside {before}", t.sync(), "filter: " + re.escape(after) + " ")


def filters(checks):
    inside = {row["tid"]: row["container"] for row in report("cpu") if row["container"]}
    with open_at(size=(100, 60)) as t:
        checks.equal("in any", filtered(t, "container:*"), inside)
        checks.equal("by a part of the name", filtered(t, "container:4026532316"),
                     {tid: name for tid, name in inside.items() if name == "bash:4026532316"})
        checks.equal("with nested containers", set(filtered(t, "container:4026532320/").values()),
                     {"bash:4026532320", "bash:4026532322"})
        checks.equal("in none", set(filtered(t, "container:host").values()), {"-"})
        checks.equal("a process and all below it", filtered(t, "tree:2161"),
                     {tid: name for tid, name in inside.items() if name in ("bash:4026532320", "bash:4026532322")})
        t.keys("F4")
        t.wait("^Filter:")
        t.keys("C-u").text("tree:x").keys("Enter")
        t.wait("^column 1: 'tree:x': 'tree:' needs a process ID")


def windows(checks):
    """The panes of the window of critical paths know the containers, too."""
    with open_at(size=(160, 60)) as t:
        for pane in ("Paths", "Accounting"):
            t.choose("P", "Panes", pane)
            t.wait(r"^ window[\s\S]* COMMAND[\s\S]* \d+ ")
            if pane == "Paths":
                checks.contains(f"{pane}: a column", t.sync(), r"^ +TID +PID +CONTAINER ")
            t.keys("F4")
            t.wait("^Filter:")
            t.keys("C-u").text("container:bash").keys("Enter")
            checks.contains(f"{pane}: what runs in one", t.sync(), r"filter: container:bash +1/[1-9]")
            t.press("F4", "Escape")


def virtual_ids(checks):
    with open_at() as t:
        filtered(t, "container:4026532316")
        t.keys("v")
        t.wait("IDs inside namespaces")
        line = next(line for line in t.sync() if re.search(r" 2073 .* bash$", line))
        checks.equal("ids in there, then those of the host", line.split()[:5], ["1", "2073", "1", "2073", "bash:4026532316"])


def details(checks):
    """The IDs at each level, from forks and the state dump."""
    known = {2189: ("container bash:4026532322 in bash:4026532320 in bash:4026532318",
                    "tid/pid   host 2189/2189, bash:4026532318 30/30, bash:4026532320 18/18, bash:4026532322 8/8"),
             2075: ("container bash:4026532316 in bash:4026532314",
                    "tid/pid   host 2075/2075, bash:4026532314 7/7, bash:4026532316 3/3"),
             2071: ("container bash:4026532314", "tid/pid   host 2071/2071, bash:4026532314 3/3")}
    with open_at(size=(120, 40)) as t:
        for tid, lines in known.items():
            filtered(t, f"tid:{tid}")
            t.keys("Home", "Enter")
            t.wait("^ IDs ")
            screen = t.sync()
            for line in lines:
                checks.check(f"{tid}: {line}", " " + line in screen, "\n".join(screen))
            t.keys("Escape")
            t.wait("CONTAINER")
        filtered(t, "tid:1")
        t.keys("Home", "Enter")
        t.wait("^ IDs ")
        checks.lacks("outside of all there is nothing to say", t.sync(), "tid/pid")


def without_containers(checks):
    recording = unpack("kprobe") or skip("no recording kprobe")
    with Terminal("--paused", recording).wait_read() as t:
        checks.lacks("no column where there are none", t.sync(), "CONTAINER")


Checks().run(whole_screens, as_reported, branches, entering, filters, windows, virtual_ids, details, without_containers)
