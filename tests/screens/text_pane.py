# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests of the text panes (keys a and D) read from the screen."""

import os
import re
import subprocess

from terminal import PROGRAM

WAIT = re.compile(r" \[[^\[\]]*\]$")
LINE = re.compile(r" (\d\d:\d\d:\d\d\.\d{6}|\d\d:\d\d:\d\d\.\d{3}) +(?:(\d+) )?(\S.*)$")


def wait_lines(t):
    """Waits until the lines are there and nothing more is being read."""
    screen = ["reading"]
    while any("reading" in line for line in screen):
        t.wait_for(lambda text: re.search(r" (Attach|Dump) .*\d+/\d+\+?$", text, re.M) and "reading" not in text, "lines")
        screen = t.sync()
    return screen


def status(screen):
    found = re.search(r"(\d+)/(\d+)\+?$", next(line for line in screen if " Attach " in line or " Dump " in line))
    return int(found.group(1)), int(found.group(2))


def covered(screen):
    """The interval that the lines cover: start and end, ns of the day, truncated to the ms."""
    return [seconds(text) for text in re.search(r" (?:on \w+|events of [\w, ]+?) +\[([\d:.]+), ([\d:.]+)\[$", "\n".join(screen), re.M).groups()]


def seconds(text):
    h, m, s = text.split(":")
    whole, fraction = (s.split(".") + ["0"])[:2]
    return (int(h) * 3600 + int(m) * 60 + int(whole)) * 10**9 + int(fraction.ljust(9, "0"))


def rows(screen):
    """The visible lines: (time, tid or None, text)."""
    return [found.groups() for found in map(LINE.match, screen) if found]


def words(screen):
    i = next(k for k, line in enumerate(screen) if line.startswith((" ▶ ", " > ")))
    return " ".join(line.strip() for line in screen[i:-1])[1:].strip()


def all_lines(t):
    """Every line, from first to last, on a screen so wide that none is truncated."""
    screen = t.press("Home")
    _, n = status(screen)
    found, at = [], 1
    while True:
        shown = rows(screen)
        found += shown[max(0, len(found) - first_of(screen, shown, at)):]
        if len(found) >= n:
            return found
        screen = t.press("PgDn")
        at, _ = status(screen)


def whole(t):
    """All lines and what they cover. Going to the last one may let it read further."""
    for _ in range(10):
        before = covered(wait_lines(t))
        lines = all_lines(t)
        if covered(wait_lines(t)) == before:
            return lines, before
    raise AssertionError(f"it reads again and again: {before}")


def first_of(screen, shown, at):
    """The number, from 0, of the first visible line when line number at is selected."""
    text = words(screen)
    matches = [i for i, row in enumerate(shown) if row[2] == text]
    # after PgDn the selected line is the last visible one, after Home the first
    return at - 1 - (matches[-1] if at > 1 else 0)


def compare(checks, name, got, wanted, begin, end):
    """Compares calls on the screen and of attach that started in the time that both cover. attach says
    why they waited according to the data when it writes the line, the screen according to all data:
    that is checked separately."""
    got, wanted = (sorted((time, tid, WAIT.sub("", text)) for time, tid, text in lines
                          if begin + 10**6 <= seconds(time) < end and not text.endswith("<unfinished ...>"))
                   for lines in (got, wanted))
    problems = sorted(set(got) ^ set(wanted))
    checks.check(f"{name}: {len(wanted)} lines are attach's", len(wanted) > 10 and got == wanted,
                 f"{len(got)} lines, {len(problems)} differ\n" + "\n".join(map(str, problems[:5])))


DUMPED = re.compile(r"^\[(\d\d:\d\d:\d\d\.\d{6})\d{3}\] \(\+\S+\) (.*)$")


def interval(screen):
    """The edges of the shown interval, in the format of --begin and --end."""
    return re.search(r"\[(?:[\d-]+ )?([\d:.]+), (?:[\d-]+ )?([\d:.]+)\[", screen[0]).groups()


def dumped(recording, begin, end, *options, zone="UTC"):
    """The lines that report dump writes, with times of that time zone: [(time, None, text)]."""
    run = subprocess.run([PROGRAM, "report", "dump", "--begin", begin, "--end", end, *options, recording],
                         env={**os.environ, "TZ": zone}, stdout=subprocess.PIPE, text=True, check=True)
    found = map(DUMPED.match, run.stdout.splitlines())
    return [(line.group(1), None, line.group(2)) for line in found]


def same(checks, name, got, wanted):
    """Events of different hosts at one time may come in any order."""
    got, wanted = sorted(got, key=str), sorted(wanted, key=str)
    differ = sorted(set(map(str, got)) ^ set(map(str, wanted)))
    checks.check(f"{name}: {len(wanted)} lines are report dump's", len(wanted) > 10 and got == wanted,
                 f"{len(got)} lines, {len(differ)} differ\n" + "\n".join(differ[:6]))


def type_filter(t, text):
    t.keys("F4")
    t.wait("^(Calls|Events of):")
    t.keys("C-u").text(text).keys("Enter")
