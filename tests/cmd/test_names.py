#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that are not ASCII, where the character set is UTF-8 and where it is not."""
import json
import os
import pty
import subprocess
import sys

import cases

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402

NAME = "雛µ"  # in UTF-8 with the byte 9b, which is CSI to a terminal of 8-bit characters
ARCHIVE = os.path.join(harness.ROOT, "traces", "three-tier.tar.zst")

harness.need_program()
ORIGINAL = os.path.join(harness.unpack(ARCHIVE, "traces"), "db")
harness.rename(ORIGINAL, "db", {b"postgres": NAME.encode()})


def environment(locale):
    return {**os.environ, "LC_ALL": locale}


def piped(*args, locale="C"):
    """What the program writes to a pipe for both its outputs."""
    return subprocess.run([harness.PROGRAM, *args], env=environment(locale), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False).stdout


def shown(*args, locale="C"):
    """What the program writes to a terminal."""
    ours, its = pty.openpty()
    found = b""
    with subprocess.Popen([harness.PROGRAM, *args], env=environment(locale), stdin=its, stdout=its, stderr=its) as done:
        os.close(its)
        try:
            while piece := os.read(ours, 65536):
                found += piece
        except OSError:  # it has ended
            pass
        done.wait()
    os.close(ours)
    return found


DUMP = "report", "dump", "--limit", "2000"
PEOPLE = (("report", "cpu", "--comm", "*", "db"), (*DUMP, "db"), (*DUMP, "--babeltrace", "db"),
          ("attach", "--no-waits", "-n", NAME, "-Y", "db"), ("attach", "--no-waits", "-n", "*", "--duration", NAME, "db"),
          ("report", NAME), ("report", "cpu", NAME), ("list", "net://localhost:1/host/" + NAME))


def test_text():
    """Text is ASCII where the character set is: a column for each of the name's, so that the columns after it stay."""
    for args in PEOPLE:
        text = shown(*args, locale="C.UTF-8")
        assert NAME.encode() in text, (args, text[:500])
        for got in shown(*args), piped(*args) if "--babeltrace" not in args else b"??u":
            assert got.isascii() and b"??u" in got, (args, got[:500])
    lines = {locale: piped("report", "cpu", "--comm", "*", "db", locale=locale).decode() for locale in ("C", "C.UTF-8")}
    assert lines["C"].replace("??u", NAME).splitlines()[1:] == lines["C.UTF-8"].replace("µs", "us").splitlines()[1:], lines


def test_data():
    """What programs read is UTF-8 everywhere, but not on a terminal that is not."""
    for args in (("report", "cpu", "--json", "db"), ("report", "cpu", "--csv", "db"), (*DUMP, "--json", "db"),
                 (*DUMP, "--babeltrace", "db"), ("attach", "--no-waits", "--json", "-n", NAME, "db")):
        got = piped(*args)
        assert NAME in got.decode(), (args, got[:500])
        assert got == piped(*args, locale="C.UTF-8"), args
        assert shown(*args).isascii(), args
    assert json.loads(piped("report", "cpu", "--json", "--comm", NAME, "db"))["rows"]


def test_globs():
    """A pattern selects the same names everywhere: by characters, not by bytes or as in the locale."""
    for locale in "C", "C.UTF-8":
        for option, glob, wanted in (("--comm", "??", True), ("--comm", "???", False), ("--comm", "[µ]*", False),
                                     ("--comm", "[雛]µ", True), ("--where", "comm:?µ", True), ("--where", "comm:[!x]?", True)):
            rows = json.loads(piped("report", "cpu", "--json", option, glob, "db", locale=locale).splitlines()[0])["rows"]
            assert wanted == (NAME in {row["comm"] for row in rows}), (locale, glob)
            assert all(len(row["comm"]) == 2 for row in rows if glob == "??"), (locale, rows)


def test_result_columns():
    """attach -a: the column of a result does not depend on which characters a name of that width has."""
    wide, plain = "ハ\u309ae\u0301", "abc"
    for name in wide, plain:
        harness.rename(ORIGINAL, name, {b"postgres": name.encode()})
    for options in ("-a", "70"), ("-a", "70", "--color"):
        got, wanted = (piped("attach", "--no-waits", "-Y", "-n", "*", *options, name, locale="C.UTF-8").decode().splitlines()
                       for name in (wide, plain))
        assert sum(wide in line and " = " in line for line in got) > 100, got[:5]
        assert [line.replace(wide, plain) for line in got] == wanted, \
            [pair for pair in zip(got, wanted) if pair[0].replace(wide, plain) != pair[1]][:3]


cases.run(globals())
