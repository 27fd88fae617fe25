#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows: files of processes that have ended, branches of the tree, IDs inside namespaces."""

import json
import os
import re
import subprocess

from terminal import PROGRAM, Checks, Terminal, need, skip, unpack

need("tmux", "zstd")
RECORDING = unpack("three-tier") or skip("no recording three-tier")
DB = os.path.join(RECORDING, "db")


def open_at(*sources, size=(80, 24), begin="+6s"):
    return Terminal("--no-sync", "--paused", "--begin", begin, *(sources or [RECORDING]), size=size,
                    ready=r"\[(2026-11-20 )?14:0").wait_read()


def report(*args):
    run = subprocess.run([PROGRAM, "report", *args], check=True, stdout=subprocess.PIPE, env={**os.environ, "TZ": "UTC"})
    return json.loads(run.stdout)


def interval(screen):
    """Start and end of the shown interval, in the format of --begin and --end."""
    return re.search(r"\[(?:\S+ )?(\S+), (?:\S+ )?(\S+)\[", screen[0]).groups()


def table(screen, head):
    """The rows below the header that matches, as lists of words."""
    i = next(i for i, line in enumerate(screen) if re.search(head, line))
    rows = []
    for line in screen[i + 1:]:
        if not line.strip() or re.search("does nothing here", line):
            break
        rows.append(line.split())
    return rows


def files_of_the_ended(checks):
    """Details list every file descriptor that was open at some time in the interval, for an ended process too."""
    with open_at(DB, size=(160, 100)) as t:
        ended = next(line for line in t.sync() if re.search(r" X +\d.* postgres$", line)).split()
        t.keys("/").text(ended[0]).keys("Enter")
        screen = t.press("Enter")
        checks.contains("it has exited", screen, "^ state +exited")
        shown = [(int(row[0]), row[4]) for row in table(screen, "^ +FD KIND .* OPEN FILE")]
        begin, end = interval(screen)
        missing = []
        reported = report("files", "--json", "--no-sync", "--begin", begin, "--end", end, "--pid", ended[1], DB)["rows"]
        lasting = [row for row in reported
                   if row["read_bytes"] or row["write_bytes"] or row["closed_ns"] - row["opened_ns"] > 1e8]
        for row in lasting + [row for row in reported if row not in lasting]:
            if (row["fd"], "no") in shown:
                shown.remove((row["fd"], "no"))
            # the history leaves out files that came and went within a frame and did nothing
            elif row in lasting:
                missing.append(row)
        checks.check("there are some", len(reported) > 5, reported)
        checks.equal("its file descriptors are there", missing, [])
        checks.equal("and no other", shown, [])


def branches(checks):
    """A collapsed row shows the sums of its branch; siblings are ordered by theirs."""
    with open_at(DB, size=(200, 140)) as t:
        screen = t.press("F5")
        for _ in range(20):
            if re.search("▼ *SWITCH", "\n".join(screen)):
                break
            screen = t.press(">")
        head = next(line for line in screen if "COMMAND" in line)
        rows = [row for row in screen[screen.index(head) + 1:] if row]
        rows = rows[next(i for i, row in enumerate(rows) if row.endswith(" systemd")):]
        at, end = head.index("COMMAND"), head.index("SWITCH") + len("SWITCH")

        def switches(row):
            return int(row[:end].split()[-1])

        tops = [i for i, row in enumerate(rows) if re.match(r"[├└]─", row[at:])]
        # those of systemd: the next process of the kind has none in front
        tops = tops[:next(k for k, i in enumerate(tops) if rows[i][at] == "└") + 1]
        ends = tops[1:] + [next((i for i, row in enumerate(rows) if i and not re.match("[│├└ ]", row[at:])),
                                len(rows) - 1)]
        sums = [sum(switches(row) for row in rows[i:j]) for i, j in zip(tops, ends)]
        checks.check("brothers are in the order of their branches", sums == sorted(sums, reverse=True) and sums[1] > 0, sums)
        k = next(k for k, i in enumerate(tops) if rows[i].endswith("postgres"))
        i, hidden = tops[k], ends[k] - tops[k] - 1
        checks.check("what it made did more than itself", switches(rows[i]) < sums[k], rows[i])
        t.keys("/").text(rows[i].split()[0]).keys("Enter")
        collapsed = [row for row in t.press("c") if re.search(rf"─\+{hidden} postgres$", row)]
        checks.equal("collapsed it shows the sum", [switches(row) for row in collapsed], [sums[k]])


def deep_branches(checks):
    """However deep a branch is, something of each name is visible: at least four characters of one that is cut."""
    recording = unpack("containers") or skip("no recording containers")
    for width in (60, 80):
        with Terminal("--paused", recording, size=(width, 24)).wait_read() as t:
            t.press("(", "Right", "Right", "e")
            t.keys("/").text("runc").keys("Enter")
            screen = t.sync()
            head = next(line for line in screen if line.endswith("COMMAND"))
            names = [row[head.index("COMMAND"):] for row in screen[screen.index(head) + 1:] if row]
            checks.check(f"{width} columns: there is a deep one", any(re.match("(..){3,}[├└]", name) for name in names), names)
            bare = [re.sub(r"^[│├└─ ]*(\+\d+ )?", "", name) for name in names]
            checks.equal(f"{width} columns: names", [name for name in bare if not re.search("....|^[^…]+$", name)], [])


def ids_of_namespaces(checks):
    """A process that is 1 in its namespace can be told by its host ID next to it."""
    with open_at(DB, size=(120, 24)) as t:
        before = {row[0]: row[-1] for row in table(t.sync(), "▼CPU%")}
        screen = t.press("v")
        checks.contains("both", screen, r"VTID +TID +VPID +PID")
        checks.equal("the host's ids stay", {row[1]: row[-1] for row in table(screen, "▼CPU%")}, before)
        checks.contains("processes", t.press("t"), r"^ +VPID +PID +PRIO")
        checks.lacks("a file has none", t.press("4", "v"), "VPID")
        t.keys("v")
        t.wait("this pane has no IDs inside namespaces")


def filters(checks):
    """An error leaves the filter as it was, and the prompt open with the caret where the error is."""
    with open_at(DB) as t:
        t.keys("F4").text("postgres").keys("Enter")
        before = t.sync()
        checks.contains("filtered", before, "filter: postgres")
        t.keys("F4", "C-u").text("bogus:x").keys("Enter")
        t.wait(r"column 1: unknown term 'bogus:': use one of host:, comm:, pid:")
        checks.contains("all terms are listed, in more than one row", t.screen(), r"file:, peer:$")
        checks.contains("the prompt stays open", t.screen()[-1:], "^Filter: bogus:x$")
        checks.equal("the caret is at the error", t.caret(), len("Filter: "))
        checks.equal("an unknown term changes nothing", t.screen()[:-4], before[:-3])
        t.keys("End", "C-u").text("postgres (pid:1 | pid:abc)").keys("Enter")
        t.wait("column 19: 'pid:abc': 'pid:' needs a number")
        checks.equal("nor does an invalid number", t.screen()[:-2], before[:-1])
        checks.equal("the caret is there", t.caret(), len("Filter: ") + 18)
        t.keys("Delete").text("t").wait(r"^Filter: postgres \(pid:1 \| tid:abc\)")
        t.keys("End", "C-u").text("pid:").keys("7")
        t.wait("^Filter: pid:7")
        t.keys("Enter")
        checks.contains("a term that is typed to its end", t.sync(), "filter: pid:7 ")
        t.keys("F4", "C-u").text("pipe:[15816]").keys("Enter")
        checks.contains("names of the kernel are text", t.press("4"), r"filter: pipe:\[15816\]")
        t.keys("1")
        filter_with(t, "call:raed | comm:postgres")
        checks.check("a call that does not exist", t.wait("unknown system call 'raed': did you mean 'read'[?]"))
        checks.contains("other terms are applied", t.screen(), r"filter: call:raed \| comm:postgres")
        filter_with(t, "call:read | comm:postgres")
        checks.lacks("one that does", t.sync(), "unknown system call")


def filter_with(t, text):
    t.keys("F4", "C-u").text(text).keys("Enter")


def filters_elsewhere(checks):
    """Terms about what the rows of a pane do not have are said not to apply; an empty list is not blamed on them."""
    with open_at(DB, size=(120, 40)) as t:
        filter_with(t, "file:x")
        checks.contains("no file of a thread", t.sync(), r"  filter: file:x \(does not apply here\)  1/\d\d+$")
        checks.contains("in Files it applies", t.press("4"), r"  filter: file:x  \d+/\d+$")
        t.keys("1")
        filter_with(t, "post (file:x | file:y)")
        checks.contains("one of two", t.sync(), r" filter: post \(file:x \| file:y\) \(file: does not apply here\)  ")
        filter_with(t, "!file:x post bytes>3")
        checks.contains("two of three", t.sync(), r" filter: .* \(file:, bytes do not apply here\)  ")
        filter_with(t, "comm:postgres")
        checks.contains("disks have no name of a thread", t.press("7"), r" filter: comm:postgres \(does not apply here\)  ")
        screen = t.press("0")
        checks.contains("why there is nothing", screen, "no probe was hit in this interval")
        filter_with(t, "nosuch")
        checks.contains("because of the filter", t.sync(), "nothing matches the filter; F4 changes it")
        filter_with(t, "call:read")
        checks.contains("hosts make no calls", t.press("9"), r" filter: call:read \(does not apply here\)  ")
        filter_with(t, "postgres")
        t.press("1")
        t.keys("Enter")
        t.wait(r" filter: postgres \(does not apply here\)  ")
        checks.contains("the details of a thread are not filtered", t.screen(), "^ state ")


def position(screen):
    return re.search(r"(\d+)/\d+$", next(line for line in screen if line.startswith(" CPU  I/O"))).group(1)


def edges_of_time(checks):
    """Keys that cannot go any further say why."""
    with open_at(DB) as t:
        for keys, where in (("(", "Left", "("), "start"), ((")", "Right", ")"), "end"):
            t.press(keys[0])
            for key in keys[1:]:
                t.keys(key)
                checks.check(f"{key} at the {where}", t.wait(f"^this is the {where} of the recording"))
                checks.lacks("not said of other keys", t.press("Up"), "of the recording")


def searches(checks):
    """A search that finds nothing leaves the selection where it was."""
    with open_at(DB) as t:
        before = t.press("Down", "Down")
        checks.equal("the third row", position(before), "3")
        t.keys("/").text("ksoft")
        t.wait("^Search: ksoft")
        moved = position(t.screen())
        checks.check("moves while typing", moved != "3", moved)
        t.text("x-none")
        t.wait("^Search: ksoftx-none")
        checks.equal("not found while typing: back", position(t.screen()), "3")
        t.keys("Enter")
        t.wait("not found: ksoftx-none")
        checks.equal("not found: where it was", position(t.sync()), "3")
        t.keys("/").text("ksoft").keys("Escape")
        checks.equal("Esc: where it was", t.sync(), before)
        t.keys("/").text("ksoft").keys("Enter")
        checks.equal("found", position(t.sync()), moved)


def rows_out_of_sight(checks):
    """Actions on a row do not apply to one that is off the screen: the row is shown first."""
    with open_at(DB) as t:
        t.press("Down")
        for key, then in (("w", r"unexplained[\s\S]*▶"), ("Enter", "^ state ")):
            selected = table(t.press("1", "Home", "Down"), "▼CPU%")[1]
            screen = t.press("I")
            checks.check(f"{key}: the selected row has gone out of sight", selected[0] not in
                         [row[0] for row in table(screen, "▲CPU%")], screen)
            t.keys(key)
            t.wait("the selected row was not visible: showing it")
            checks.check(f"{key}: it is shown", selected[0] in [row[0] for row in table(t.screen(), "▲CPU%")])
            t.keys(key)
            t.wait(then)
            t.press("Escape", "I")
    with open_at(DB) as t:
        t.keys("/").text("722").keys("Enter")
        t.press("(")
        t.keys("w")
        t.wait("the selected row is not in this interval")
        checks.check("w: gone", True)


def rows_acted_upon(checks):
    """A row that was opened or highlighted stays the selected one when time moves; Home returns to whichever is first."""
    with open_at(os.path.join(RECORDING, "web"), begin="+5s", size=(120, 180)) as t:
        t.sync()
        for name, keys in (("Enter", ("Enter", "Left", "Left", "Escape")), ("w", ("w", "Left", "Left", "Escape")),
                           ("a", ("a", "Escape", "Left", "Left")), ("Space", ("Space", "Up", "Left", "Left"))):
            first = table(t.press("1", "Home"), "▼CPU%")[0][:2]
            screen = t.press(*keys)
            rows = [row[:2] for row in table(screen, "▼CPU%")]
            checks.check(f"{name}: another thread is first now", rows[0] != first, screen)
            checks.equal(f"{name}: the selection", rows[int(position(screen)) - 1], first)
            rows = [row[:2] for row in table(t.press("Home", "Right", "Right"), "▼CPU%")]
            checks.equal(f"{name}: Home, and back", (rows[0], position(t.sync())), (first, "1"))


Checks().run(files_of_the_ended, branches, deep_branches, ids_of_namespaces, filters, filters_elsewhere, edges_of_time, searches, rows_out_of_sight,
             rows_acted_upon)
