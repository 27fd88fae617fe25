#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
`attach`: the output formats shared with strace: -A, -a, -T, -ttt, -X, -Y. Each shows the same data as the plain text,
the times those of the JSON form, which test_attach.py compares with babeltrace2's.
"""
import collections
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402
import subprocess  # noqa: E402

COLUMN = 72


def attach(directory, *options):
    done = subprocess.run([harness.PROGRAM, "attach", "-n", "*", "--no-waits", "--no-sync", *options, directory],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600, check=False)
    assert done.returncode in (0, 3), f"{options}: {done.returncode} {done.stderr}"
    return done.stdout


def check_column(checks, plain, text):
    """Results start in that column, or follow longer text; everything else is unchanged."""
    checks.equal(re.sub(r"\) +=", ") =", text), re.sub(r"\) +=", ") =", plain), "text with columns")
    wrong, there = [], 0
    for line, before in zip(text.splitlines(), plain.splitlines()):
        short = before.find(") = ") + 1 < COLUMN - 1 and before.count(") = ") == 1
        there += short and line[COLUMN - 1:COLUMN + 2] == " = "
        if short != (line[COLUMN - 1:COLUMN + 2] == " = ") and ") = " in before and before.find(") = ") + 1 != COLUMN - 1:
            wrong.append(line)
    checks.true(not wrong, f"results not in column {COLUMN}: {wrong[:3]}")
    checks.true(there > 1000, f"only {there} lines have their result in that column")


def check_style(checks, directory, plain):
    raw, verbose = attach(directory, "-X", "raw"), attach(directory, "-X", "verbose")
    both = re.compile(r"(-?\w+) /\* (.*?) \*/")
    checks.equal(both.sub(r"\2", verbose), plain, "names of -X verbose")
    checks.equal(both.sub(r"\1", verbose), raw, "numbers of -X verbose")
    pairs = set(both.findall(verbose))
    checks.true(("0x80000", "O_RDONLY|O_CLOEXEC") in pairs, f"O_RDONLY|O_CLOEXEC is not one of {sorted(pairs)[:20]}")
    checks.true(("-100", "AT_FDCWD") in pairs and ("0x5401", "TCGETS") in pairs, "numbers as strace prints them")
    for number, names in pairs:
        value = 0
        if re.fullmatch(r"O_\w+(\|O_\w+)*", names) and all(hasattr(os, name) for name in names.split("|")):
            for name in names.split("|"):
                value |= 0o100000 if name == "O_LARGEFILE" else getattr(os, name)
            checks.equal(int(number, 0), value, names)
    checks.true("O_RDONLY" not in raw, "-X raw has names")


def check_names(checks, directory, plain):
    text = attach(directory, "-Y")
    names = re.compile(r"^\[pid (\d+)<([^>]*)>\]", re.M)
    checks.equal(names.sub(r"[pid \1]", text), plain, "text with names")
    checks.equal(len(names.findall(text)), len(plain.splitlines()), "lines with names")
    known = {(str(row["tid"]), row["comm"]) for row in harness.report("cpu", directory, status=(0, 3)).rows}
    shown = set(names.findall(text))
    checks.true(len(shown & known) > 10, f"{sorted(shown)[:10]}")


def check_times(checks, directory):
    """Each call's duration, and when it was entered, to the microsecond."""
    calls = [c for c in map(json.loads, attach(directory, "--json").splitlines())
             if c["event"] == "call" and c["status"] in ("successful", "failed") and c["begin_ns"] is not None]
    seconds = lambda ns: f"{ns // 10 ** 9}.{ns % 10 ** 9 // 1000:06}"
    text = attach(directory, "-T", "-ttt")
    spent = collections.Counter(re.findall(r"^\[pid (\d+)\] .* <(\d+\.\d{6})>$", text, re.M))
    checks.equal(spent, collections.Counter((str(c["tid"]), seconds(c["duration_ns"])) for c in calls), "durations")
    entered = {(str(c["tid"]), seconds(c["begin_ns"]), seconds(c["duration_ns"])) for c in calls}
    whole = re.findall(r"^\[pid (\d+)\] (\d+\.\d{6}) \w.* <(\d+\.\d{6})>$", text, re.M)
    checks.true(len(whole) > 1000 and entered.issuperset(whole), f"times: {sorted(set(whole) - entered)[:3]}")


def check_append(checks, directory, plain):
    name = os.path.abspath("text")
    for options, expected in (((), plain), (("-A",), plain + plain), ((), plain)):
        attach(directory, "-o", name, *options)
        with open(name, encoding="utf-8") as file:
            found = re.sub(r"^(\d+) ", r"[pid \1] ", file.read(), flags=re.M)
        checks.equal(found, expected, f"file with {options}")
    sizes = []
    for options in ((), ("-A",)):
        attach(directory, "-ff", "-o", name, *options)
        sizes.append({f: os.path.getsize(f) for f in os.listdir() if f.startswith("text.")})
    checks.true(len(sizes[0]) > 3, f"files: {sizes[0]}")
    checks.equal(sizes[1], {f: 2 * size for f, size in sizes[0].items()}, "sizes of what -ff -A appended")


def main():
    harness.need_program()
    checks = harness.Checks()
    for _, directory, _ in harness.recordings({"locks-pipes"}):
        plain = attach(directory)
        checks.true(len(plain.splitlines()) > 5000, "too little to compare")
        check_column(checks, plain, attach(directory, "-a", str(COLUMN)))
        check_style(checks, directory, plain)
        check_names(checks, directory, plain)
        check_times(checks, directory)
        check_append(checks, directory, plain)
    checks.finish()


main()
