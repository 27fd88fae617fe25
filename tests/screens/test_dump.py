#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Key D: the events of the shown interval as text: the lines that report dump writes for it; by host,
thread and text; searching, and moving the time to one of them."""

from terminal import Checks, Terminal, need, skip, unpack
from text_pane import all_lines, covered, dumped, interval, rows, same, seconds, status, type_filter, wait_lines, words

need("tmux", "zstd")
RECORDING = unpack("three-tier") or skip("no recording three-tier")


def open_at(begin="+6s"):
    return Terminal("--paused", "--begin", begin, RECORDING, size=(2500, 40),
                    ready=r"\[(2026-11-20 )?14:07:[01]").wait_read()


def open_dump(t):
    t.keys("D")
    return wait_lines(t)


def as_dumped(checks):
    with open_at() as t:
        t.keys("F4")
        t.wait("^Filter:")
        t.text("host:client tid:1453").keys("Enter")
        screen = open_dump(t)
        checks.contains("what it is of", screen, r"^ events of client, db, web +\[")
        checks.contains("the list's filter", screen, r"filter: host:client tid:1453 +1/\d+$")
        same(checks, "a thread", all_lines(t), dumped(RECORDING, *interval(screen), "--host", "client", "--tid", "1453"))
        type_filter(t, "comm:postgres")
        t.wait(r"filter: comm:postgres ")
        screen = wait_lines(t)
        same(checks, "a name", all_lines(t), dumped(RECORDING, *interval(screen), "--comm", "*postgres*"))
        type_filter(t, "host:web openat")
        t.wait(r"filter: host:web openat ")
        screen = wait_lines(t)
        wanted = [line for line in dumped(RECORDING, *interval(screen), "--host", "web") if "openat" in line[2]]
        same(checks, "a text", all_lines(t), wanted)
        type_filter(t, "user:33 openat")
        t.wait(r"filter: user:33 openat ")
        screen = wait_lines(t)
        wanted = [line for line in dumped(RECORDING, *interval(screen)) if "openat" in line[2] and " uid = 33," in line[2]]
        same(checks, "a user's", all_lines(t), wanted)
        type_filter(t, "host:web openat")
        t.wait(r"filter: host:web openat ")
        wait_lines(t)
        type_filter(t, "state:blocked")
        checks.check("what does not apply", t.wait("only host:, pid:, tid:, comm:, tree:, user:, container:, call: and"))
        checks.contains("the old filter stays", t.sync(), r"filter: host:web openat ")
        type_filter(t, "tid:99999")
        checks.check("nothing", t.wait("no event in this interval passes the filter; F4 changes it"))


def marked(checks):
    """From A to B, which is not an interval of the grid."""
    with open_at() as t:
        t.press("-", "-", "A", "Right", "Right")
        t.keys("B")
        t.wait("^interval from .* to ")
        screen = open_dump(t)
        begin, end = interval(screen)
        t.keys("H")
        t.wait("^.*Hosts: Space")
        t.press("Escape")
        type_filter(t, "host:db")
        t.wait("filter: host:db ")
        wait_lines(t)
        same(checks, "A to B", all_lines(t), dumped(RECORDING, begin, end, "--host", "db"))


def further(checks):
    """More events than there is room for: those around the selected one are there."""
    with open_at() as t:
        screen = open_dump(t)
        begin, end = map(seconds, interval(screen))
        checks.check("not all at once", covered(screen)[1] < end - 10**8, "\n".join(screen))
        for _ in range(20):
            t.press("End")
            screen = wait_lines(t)
            if covered(screen)[1] >= end - 10**6:
                break
        screen = t.press("End")
        last = dumped(RECORDING, *interval(screen))[-1]
        checks.equal("End, again: the last one", (rows(screen)[-1][0], words(screen)), (last[0], last[2]))
        for _ in range(20):
            t.press("Home")
            screen = wait_lines(t)
            if covered(screen)[0] <= begin + 10**6:
                break
        screen = t.press("Home")
        checks.equal("Home, again: the first one", rows(screen)[0][0], dumped(RECORDING, *interval(screen))[0][0])


def partly_read(checks):
    """What has not been read yet is not said to be missing, nor to be all."""
    with open_at("14:07:09.6") as t:
        screen = open_dump(t)
        wanted = dumped(RECORDING, *interval(screen))
        n, last = status(screen)[1], wanted[-1][2]
        checks.check("there are more than are read at once", n < len(wanted), (n, len(wanted)))
        checks.contains("+", screen, rf"  1/{n}\+$")
        name = next(name for name in (text.split(":")[0] for _, _, text in wanted[n + 200:])
                    if all(name not in text for _, _, text in wanted[:n + 200]))
        t.keys("/").text(name).keys("Enter")
        checks.check("a search says so", t.wait(f"^not found in the lines read so far; End reads more: {name}"))
        t.keys("x")
        t.wait("^Write to")
        t.keys("C-u").text(t.path("part.txt")).keys("Enter")
        checks.check("what is written, too", t.wait(rf"^{n} lines of dump written to \S+, but the interval has more"))
        while "+" in next(line for line in screen if " Dump " in line):
            t.press("End")
            screen = wait_lines(t)
        t.keys("n")
        t.wait_for(lambda text: name in words(text.split("\n")), name)
        checks.check("after End it is found", name in words(t.sync()), words(t.sync()))
        t.keys("/").text("none-of-this-name").keys("Enter")
        checks.check("all are read", t.wait("^not found: none-of-this-name"), last)


def keys(checks):
    with open_at() as t:
        first = open_dump(t)
        t.keys("/")
        t.wait("^Search:")
        t.text("sched_switch").keys("Enter")
        screen = t.sync()
        checks.check("found", "sched_switch: {" in words(screen) and status(screen)[0] > 1, words(screen))
        at = next(time for time, _, text in rows(screen) if text == words(screen))
        t.keys("w")
        checks.check("w: no thread", t.wait("these lines are events: press Esc, then w on a thread"))
        t.keys("t")
        checks.check("t: neither", t.wait("these are events of all threads; press F4 to filter them"))
        t.keys("Enter")
        t.wait(rf"^at {at}")
        begin, end = map(seconds, interval(t.sync()))
        checks.check("Enter: time goes there", begin <= seconds(at) < end, f"{at} {begin} {end}")
        n = status(wait_lines(t))[1]
        later = t.press("Right", "Right")
        checks.check("time advances", seconds(interval(later)[0]) >= end, later[0])
        checks.equal("these events stay", (covered(wait_lines(t))[0] >= begin, n), (True, status(first)[1]))
        t.press("Escape")
        checks.lacks("Esc: the list", t.press("Escape"), " Dump ")
        checks.lacks("for good", t.sync(), "events of")


Checks().run(as_dumped, marked, further, partly_read, keys)
