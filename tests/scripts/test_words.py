#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/check-words finds each of its phrases wherever texts are, and leaves their idiomatic neighbours alone."""
import contextlib
import io
import os
import re
import runpy
import sys

SRCDIR = os.environ["SRCDIR"]
sys.path.insert(0, os.path.join(SRCDIR, "tests"))
import cases  # pylint: disable=wrong-import-position

SCRIPT = runpy.run_path(os.path.join(SRCDIR, "scripts/check-words"), run_name="check-words")

BAD = [
    "the rows of this pane are no threads",
    "an event that is none of these",
    "there is none of that name",
    "the event tells when it was",
    "the model is told its length",
    "a means that the trace does not tell",
    "memory for what is not yet written",
    "the end is before the begin",
    "measuring goes on",
    "the sources that go on",
    "it is made anew",
    "without a source that is silent for so long",
    "drawn at most so often",
    "so many may wait",
    "the host from whom it comes",
    "a note for who reads this",
    "paths reach as far as time allows",
    "these figures are of the sums",
    "how often a CPU is heard of",
    "comparing no more, press C",
    "the file is there already",
    "the text stands in the next column",
    "a letter, and '?' behind it",
]

GOOD = [
    "there is no such thread, and there are none elsewhere",
    "it is no longer read, is no greater than 5, and is no reason to stop",
    "this tells git to stop; a mark tells two hosts apart; it cannot be told from a normal end",
    "it is not known what is missing",
    "--begin and --end bound the interval, from the beginning to the end",
    "bytes that go on the wire",
    "so that it may wait so long as it must; so far, so good",
    "who talks to whom and who wakes whom",
    "as far as possible, as far as is known",
    "a value that is of the same type",
    "it has no more, there are no more, and no more than 5",
    "the host is far behind it; behind it is the queue",
]

# How a text may appear in a file: file → the text with {} for it and, with two, for its halves.
PLACES = {
    "src/x/a.c": 'int f(const char *s);\nint i = f("{}");\n',
    "src/x/split.c": 'int f(const char *s);\nint i = f("{}"\n\t  "{}");\n',
    "src/x/b.h": "/* {} */\n",
    "src/x/long.h": "/*\n * {}\n * {}\n */\n",
    "src/x/c.def": 'ROW(A, 1,\n    "{}")\n',
    "README.md": "# Title\n\n{}\n{}\n",
    "man/x.1": ".SH NAME\n{}\n.TP\n.B x\n",
    "scripts/y": "#!/bin/sh\n# {}\n# {}\n",
    "Makefile": "# {}\n",
}


def write(file, text):
    os.makedirs(os.path.dirname(file) or ".", exist_ok=True)
    with open(file, "w", encoding="utf-8") as f:
        f.write(text)


def plant(text):
    """Writes it to every one of PLACES."""
    first, _, second = text.rpartition(" ")
    for file, form in PLACES.items():
        write(file, form.format(text) if form.count("{}") == 1 else
              form.format(first + (" " if file.endswith(".c") else ""), second))


def run_script():
    """→ the output"""
    argv, sys.argv = sys.argv, ["check-words", "."]
    printed = io.StringIO()
    try:
        with contextlib.redirect_stderr(printed):
            status = SCRIPT["main"]()
    finally:
        sys.argv = argv
    if status != (1 if printed.getvalue() else 0):
        raise AssertionError(f"status {status}: {printed.getvalue()}")
    return printed.getvalue()


def files_in(printed):
    return set(re.findall(r"^check-words: ([^:]*):\d+: ", printed, re.M))


def test_every_pattern_has_a_text():
    unused = [pattern for pattern, _ in SCRIPT["PATTERNS"] if not any(re.search(pattern, text, re.I) for text in BAD)]
    cases.check("each pattern has a text that it finds", not unused, str(unused))


def test_bad():
    for text in BAD:
        plant(text)
        found = files_in(run_script())
        cases.check(text, found == set(PLACES), f"not found in {sorted(set(PLACES) - found)}")


def test_good():
    for text in GOOD:
        plant(text)
        printed = run_script()
        cases.check(f"not: {text}", not printed, printed)


def test_line():
    plant("a word")
    write("src/x/long.h", "/*\n * One line,\n * that is made\n *\tanew.\n */\n")
    printed = run_script()
    cases.check("the line and words are named",
                printed == "check-words: src/x/long.h:4: 'anew' in '/* One line, that is made anew. */': again\n", printed)


def test_code_is_not_text():
    plant("a word")
    write("src/x/a.c", "int go(int on), anew, tells;\n")
    write("README.md", "```text\n 'anew' on a screen\n```\n")
    printed = run_script()
    cases.check("identifiers and screens are left alone", not printed, printed)


if __name__ == "__main__":
    cases.run(globals())
