#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Key a on a live host of which nothing earlier is kept: its workers learn the thread while they read; the new lines are
those of the recording; they follow the time, stay in place in the past, and continue while it is paused."""

import os
import re

from live_pane import LINE_SEEN, TID, Live, open_calls, recorded
from terminal import Checks
from text_pane import WAIT, all_lines, compare, covered, rows, seconds, status, type_filter, words

NOTHING_KEPT = "--recall-memory", "0"


def grown(t, n):
    """The screen once there are more than n lines."""
    t.wait_for(lambda text: re.search(r" Attach .*\d+/\d+\+?$", text, re.M) and status(text.split("\n"))[1] > n,
               f"more than {n} lines")
    return t.sync()


def follows(checks, t):
    """While time advances, while looking at the past, while it is paused."""
    screen = open_calls(t)
    checks.contains("follows the time", screen, r"following  \d+/\d+\+?$")
    since = covered(screen)[0]
    _, n = status(screen)
    at, n = status(grown(t, n))
    first = t.press("Home")
    checks.lacks("Home: a chosen line", first, "following")
    checks.equal("the first one", status(first)[0], 1)
    screen = grown(t, n)
    checks.equal("more come, it stays", (status(screen)[0], words(screen), rows(screen)[:5]),
                 (1, words(first), rows(first)[:5]))
    t.keys("p")
    t.wait("^ LIVE PAUSED ")
    screen = grown(t, status(screen)[1])
    checks.equal("paused: more come, it stays", (status(screen)[0], words(screen)), (1, words(first)))
    checks.equal("all of it since then", covered(screen)[0], since)
    t.keys(")", "F")
    t.wait("^following the time")
    t.wait(r"^ ENDED .*(\n.*)* following  \d+/\d+\+?$")
    at, n = status(t.sync())
    checks.check("at the end again", n > 100 and at > n // 2, f"{at} of {n}")


def walks(checks, t):
    """Time goes to a line, from there to its path, and back."""
    t.keys("/")
    t.wait("^Search:")
    t.text("splice(36").keys("Enter")
    t.press("Up", "Up")
    screen = t.press("n")
    at = rows([line for line in screen if words(screen)[:60] in line])[0][0]
    checks.check("found", words(screen).startswith("splice(36"), words(screen))
    t.keys("Enter")
    t.wait(rf"^at {at}")
    begin, end = [seconds(text) for text in re.findall(r"\[\S+ ([\d:.]+), \S+ ([\d:.]+)\[", t.sync()[0])[0]]
    checks.check("Enter: time goes to it", begin <= seconds(at) < end, f"{at}: {begin} {end}")
    lines = status(t.sync())
    t.keys("w")
    t.wait(rf"^ \S+ {TID} on web +window .*\n(.*\n)*.*▶")
    t.press("Escape")
    checks.equal("w and back: the same line of as many", status(t.sync()), lines)


def toggles(checks, t):
    """Between the thread and its process, what has been shown stays."""
    _, n = status(t.sync())
    first = rows(t.press("Home"))[0]
    for title in r"^ process \S+ \d+ on web ", rf"^ \S+ {TID} on web ":
        t.keys("t")
        t.wait(title)
        t.wait(LINE_SEEN)
        screen = t.press("Home")
        checks.check(f"{title}: as many lines", status(screen)[1] >= n, f"{n} before, then {status(screen)}")
        checks.equal(f"{title}: the first one", rows(screen)[0][::2], first[::2])
    checks.check("the thread's only", all(tid is None for _, tid, _ in rows(screen)), "\n".join(screen))
    t.keys("F")


def as_recorded(checks, t):
    live, (begin, end) = all_lines(t), covered(t.sync())
    # the call in progress when the pane was opened: its entry is not known
    live = [line for line in live if not line[2].startswith("<... ")]
    wanted, (from_ns, to_ns) = recorded()
    begin, end = max(begin, from_ns), min(end, to_ns)
    compare(checks, "live as recorded", live, wanted, begin, end)
    known = {(time, WAIT.sub("", text)): text for time, _, text in wanted}
    waits = [(text, known.get((time, WAIT.sub("", text)), "")) for time, _, text in live if WAIT.search(text)]
    checks.check(f"why {len(waits)} calls waited, too", len(waits) > 2 and all(a == b for a, b in waits),
                 [pair for pair in waits if pair[0] != pair[1]][:3])


def comes_and_goes(checks):
    with Live("slow", "0.5", *NOTHING_KEPT) as t:
        follows(checks, t)
        toggles(checks, t)
        as_recorded(checks, t)
        walks(checks, t)


def opened_again(checks):
    """Closing the pane withdraws its request: the next one starts from then, and so does a filter."""
    with Live("again", "0.3", *NOTHING_KEPT) as t:
        first = covered(open_calls(t))[0]
        t.press("Escape")
        checks.lacks("Esc: the list", t.sync(), " on web ")
        t.wait_for(lambda text: seconds(re.search(r", \S+ ([\d:.]+)\[", text)[1]) > first + 2 * 10**9, "time to advance")
        second = covered(open_calls(t))[0]
        checks.check("it begins later", second > first, f"{first} {second}")
        type_filter(t, "ioctl")
        t.wait(r"calls: ioctl ")
        t.wait(LINE_SEEN)
        screen = t.sync()
        checks.check("only those", all("ioctl" in text for _, _, text in rows(screen)), "\n".join(screen))
        checks.check("from then on", covered(screen)[0] >= second, f"{second} {screen}")


os.chmod(".", 0o755)  # the relayd runs as another user
Checks().run(comes_and_goes, opened_again)
