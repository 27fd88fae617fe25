#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Two intervals compared in lists: figures are differences between the report's figures for the two."""

import json
import re
import subprocess

from terminal import PROGRAM, Checks, Terminal, need, skip, unpack

need("tmux", "zstd")
RECORDING = unpack("three-tier") or skip("no recording three-tier")
SECOND = 10**9
BEGIN = 1795183603347603246  # 2026-11-20 14:06:43 UTC: the recording's


def open_at(*options, size=(80, 24), env=None):
    return Terminal("--no-sync", "--paused", "--begin", "+2s", *options, RECORDING, size=size, env=env,
                    ready=r"\[(2026-11-20 )?14:06:4").wait_read()


def beside_others(checks):
    """Pane 9 compares hosts and CPUs. Clocks between them are not compared, which is said in whatever list one is."""
    with Terminal("--paused", "--begin", "+4s", RECORDING).wait_read() as t:
        def offsets(screen):
            """From the host's name to the offset; what follows depends on the interval."""
            return [line.split()[:6] for line in screen if re.search(" (accurate|reference) ", line)]

        clocks = offsets(t.press("9"))
        checks.equal("the clocks of three hosts", len(clocks), 3)
        t.keys("C")
        t.wait("^figures are now differences from ")
        for n, keys in enumerate((["Right"], ["Down"] * 3, ["Down"] * 3)):
            screen = t.press(*keys)
            checks.contains(f"list {n + 1}: what is compared", screen, r"^ CPU .* vs \[14:07:\S+ 14:07:\S+ \(not Clocks\)  \d/")
            checks.equal(f"list {n + 1}: the clocks are those", offsets(screen), clocks)
        checks.contains("all is, elsewhere", t.press("1"), r"^ CPU .* vs \[14:07:\S+ 14:07:\S+\[  \d/")


def compare(t, *keys):
    """The third second is the baseline: one host is there all the time, the others come much later."""
    t.keys("C")
    t.wait(r"^figures are now differences from \[14:06:45\.347, 14:06:46\.347\[,\s+scaled\s+to\s+the\s+same\s+recorded\s+time;\s+C\s+ends\s+it")
    return t.press(*keys)


def report(table, begin, end):
    run = subprocess.run([PROGRAM, "report", table, "--json", "--no-sync", "--begin", f"{begin}ns", "--end", f"{end}ns",
                          RECORDING], stdout=subprocess.PIPE, text=True, check=True)
    return {(row["host"], row["tid"], row.get("name")): row for row in json.loads(run.stdout)["rows"]}


def difference(now, base, name, times):
    """Of numbers, or of counts by name without those that do not differ."""
    if name != "errors":
        return now.get(name, 0) - times * base.get(name, 0)
    now, base = now.get(name, {}), base.get(name, {})
    counts = {error: now.get(error, 0) - times * base.get(error, 0) for error in now.keys() | base.keys()}
    return {error: count for error, count in counts.items() if count}


def differences(checks, table, pane, figures, keys, times):
    """All figures of a table's list, for an interval that is `times` as long as the baseline."""
    with open_at() as t:
        t.press(pane)
        compare(t, *keys)
        got = t.written(t.path("list.json"))
    base, now = report(table, BEGIN + 2 * SECOND, BEGIN + 3 * SECOND), report(table, got["begin_ns"], got["end_ns"])
    checks.equal(f"{table}: the interval", (got["begin_ns"], got["end_ns"]),
                 (BEGIN + 3 * SECOND, BEGIN + (3 + times) * SECOND))
    checks.equal(f"{table}: the file says what it is", got["table"],
                 f"{table} minus [{BEGIN + 2 * SECOND}, {BEGIN + 3 * SECOND}[")
    wanted = {}
    for key in base.keys() | now.keys():
        row = {name: difference(now.get(key, {}), base.get(key, {}), name, times) for name in figures}
        # the list has rows for threads that wait all the time, the report does not: these have none of these figures
        if any(row.values()):
            wanted[key] = row
    shown = {(row["host"], row["tid"], row.get("name")): {name: row[name] for name in figures} for row in got["rows"]}
    missing = [key for key in wanted if key not in shown]
    checks.check(f"{table}: rows of one interval only", base.keys() ^ now.keys(),
                 (len(base), len(now)))
    checks.equal(f"{table}: all that differ are there", missing, [])
    wrong = [(key, shown[key], wanted[key]) for key in wanted if key in shown and shown[key] != wanted[key]]
    checks.check(f"{table}: {len(wanted)} rows, as reported", len(wanted) > 10 and not wrong, wrong[:5])
    others = [key for key in shown if key not in wanted and any(shown[key].values())]
    checks.equal(f"{table}: and no others", others, [])


def as_reported(checks):
    differences(checks, "syscalls", "5", ["count", "total_ns", "errors"], ["Right"], 1)
    differences(checks, "cpu", "1", ["cpu_ns", "switches"], ["Right"], 1)


def longer(checks):
    """A shorter baseline is scaled as if it had been as long."""
    with open_at() as t:
        compare(t, "Right", "A", "B")
        one = t.written(t.path("one.json"))
    with open_at() as t:
        compare(t, "Right", "A", "Right", "B")
        two = t.written(t.path("two.json"))
    with open_at() as t:
        t.press("Right", "Right")
        other = t.written(t.path("other.json"))

    def cpu(page):
        return {(row["host"], row["tid"]): row["cpu_ns"] for row in page["rows"]}

    checks.equal("twice as long", two["end_ns"] - two["begin_ns"], 2 * SECOND)
    base = {key: row["cpu_ns"] for key, row in report("cpu", BEGIN + 2 * SECOND, BEGIN + 3 * SECOND).items()}
    shown, half, rest = cpu(two), cpu(one), cpu(other)
    wrong = []
    for key, ns in shown.items():
        # now: the first second's (how much it exceeds the baseline), and the second one's
        first = half.get(key, 0) + base.get((*key, None), 0)
        if ns != first + rest.get(key, 0) - 2 * base.get((*key, None), 0):
            wrong.append((key, ns, first, rest.get(key)))
    checks.check("two seconds less twice the base", len(shown) > 20 and not wrong, wrong[:5])


def filtered(checks):
    """Whether a filter or the comparison is why there is no row."""
    nothing = "^ nothing matches the filter; F4 changes it"
    with open_at() as t:
        t.keys("F4").text("comm:postgres").keys("Enter")
        compare(t)
        for pane in "125":
            checks.contains(f"pane {pane}: what matches does not differ", t.press(pane),
                            "^ nothing that matches the filter differs; F4 changes it, C ends the comparison")
        checks.contains("it does elsewhere", t.press("1", "Right"), r"^ CPU .* filter: comm:postgres  1/\d")
        t.keys("F4", "C-u").text("comm:nobody").keys("Enter")
        checks.contains("nothing matches there", t.sync(), nothing)
        checks.contains("nor in the same interval", t.press("Left"), nothing)


def on_screen(checks):
    with open_at() as t:
        before = t.sync()
        screen = compare(t)
        checks.contains("the same interval: nothing differs", screen, "^ no differences: go to another interval")
        screen = t.press("Right")
        checks.contains("the status names the base", screen, r"^ CPU .* vs \[14:06:45\.347, 14:06:46\.347\[  1/\d+$")
        checks.expected("compare-80x24", screen)
        checks.contains("greatest increase first", screen, r"▼CPU%.*\n +\d+ +\d+ \S+ +\d+ \S +\+\d+\.\d ")
        checks.contains("decrease last", t.press("End"), r" -\d+\.\d +-\d")
        checks.contains("Enter: a thread's details", t.press("Home", "Enter"), "Details")
        t.press("Escape")
        for pane in "123456790":
            checks.contains(f"pane {pane}", t.press(pane), r"^ CPU .* vs \[14:06:45\.347, ")
        checks.lacks("paths are not compared in this way", t.press("8"), r"vs \[")
        checks.contains("in tree", t.press("1", "e"), r"[├└]─")
        t.press("e")
        t.keys("Escape")
        t.wait("^comparison off")
        checks.equal("Esc ends it", t.press("Left"), before)
        compare(t)
        t.keys("C")
        t.wait("^comparison off")
        checks.equal("so does C", t.sync(), before)
        t.press("8")
        t.keys("C")
        t.wait("^open one thread's path with w, then compare")
        checks.check("C in the list of paths says where they are compared", True)
    with open_at() as t:
        compare(t, "Right", "5")
        gone = re.findall(r"^ +\d+ .* -1 .*$", "\n".join(t.press("End")), re.M)
        checks.check("rows of the base only are there", gone, t.screen())
        t.press("End", "w")
        checks.contains("and can be opened", t.press("Escape", "Enter"), "Details|Syscalls")


Checks().run(as_reported, longer, on_screen, filtered, beside_others)
