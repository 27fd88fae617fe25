#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Key a on a live host: its workers learn the thread while they read; the new lines are those of the recording; they
follow the time, stay in place in the past, and continue while it is paused."""

import os
import re
import subprocess
import sys

from terminal import PROGRAM, Checks, Terminal, need, skip, unpack
from text_pane import WAIT, all_lines, compare, covered, rows, seconds, status, type_filter, wait_lines, words

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import sandbox  # noqa: E402

need("tmux", "zstd", "lttng-relayd", "lttng-sessiond")
RECORDING = os.path.join(unpack("three-tier") or skip("no recording three-tier"), "web")
TID = 425  # makes calls all the time
LINE_SEEN = r"^ \d\d:\d\d:\d\d\.\d{6} "


def feed(ports, *options):
    return subprocess.Popen([PROGRAM, "feed", "--to", f"net://127.0.0.1:{ports[0]}:{ports[1]}", "--live-port",
                             str(ports[2]), "--session", "live", *options, RECORDING], stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Live:
    """A session that is fed, and a terminal attached to it; both end with the block."""

    def __init__(self, name, speed):
        self.user = sandbox.User(os.path.join(os.getcwd(), name))
        self.speed = speed
        self.feeder = self.terminal = None

    def __enter__(self):
        ports = self.user.start_relayd()[0]
        self.feeder = feed(ports, "--speed", self.speed)
        self.terminal = Terminal(f"net://127.0.0.1:{ports[2]}/host/web/live", size=(1000, 40), ready=r"^ LIVE +\[")
        return self.terminal

    def __exit__(self, *_):
        if self.terminal:
            self.terminal.__exit__()
        if self.feeder:
            self.feeder.kill()
            self.feeder.wait()
        self.user.end()


def open_calls(t):
    """The calls of the thread from now on, once there are some."""
    t.keys("F4")
    t.wait("^Filter:")
    t.keys("C-u").text(f"tid:{TID}").keys("Enter")
    t.wait(rf"^ *(web +)?{TID} ")
    t.keys("a")
    t.wait(rf"^ \S+ {TID} on web ")
    t.wait(LINE_SEEN)
    return t.sync()


def grown(t, n):
    """The screen once there are more than n lines."""
    t.wait_for(lambda text: re.search(r" Attach .*\d+/\d+$", text, re.M) and status(text.split("\n"))[1] > n,
               f"more than {n} lines")
    return t.sync()


def recorded():
    """The lines of the same pane for the recording, read again as a whole."""
    with Terminal("--paused", "--begin", "+5s", RECORDING, size=(1000, 40), ready=" PAUSED ").wait_read() as t:
        t.keys("1", "F4")
        t.wait("^Filter:")
        t.text(f"tid:{TID}").keys("Enter", "a")
        wait_lines(t)
        for _ in range(6):
            t.keys("Home", "Up")
            wait_lines(t)
            t.keys("End", "Down")
            wait_lines(t)
        return all_lines(t), covered(t.sync())


def follows(checks, t):
    """While time advances, while looking at the past, while it is paused."""
    screen = open_calls(t)
    checks.contains("follows the time", screen, r"following  \d+/\d+$")
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
    t.wait(r"^ ENDED .*(\n.*)* following  \d+/\d+$")
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
    with Live("slow", "0.5") as t:
        follows(checks, t)
        toggles(checks, t)
        as_recorded(checks, t)
        walks(checks, t)


def opened_again(checks):
    """Closing the pane withdraws its request: the next one starts from then, and so does a filter."""
    with Live("again", "0.3") as t:
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
