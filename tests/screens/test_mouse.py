#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Clicks and the wheel: what each place of the screen does, and that what cannot be seen does nothing."""
import re

from terminal import Checks, Terminal, need, skip, unpack

need("tmux", "zstd")
RECORDING = unpack("three-tier") or skip("no recording three-tier")
LEFT, WHEEL_UP, WHEEL_DOWN = 0, 64, 65


def open_at(*options, size=(120, 30)):
    return Terminal("--no-sync", "--paused", "--begin", "+26s", *options, RECORDING, size=size,
                    ready=r"\[2026-11-20 14:0").wait_read()


def event(t, button, x, y):
    """Sends what a terminal does for a button that is pressed and released at column x, row y (from 0)."""
    if t.tmux("display-message", "-p", "#{mouse_sgr_flag}").strip() == "1":
        sent = [f"\x1b[<{button};{x + 1};{y + 1}{end}" for end in "Mm"]
    else:
        sent = [f"\x1b[M{chr(32 + b)}{chr(33 + x)}{chr(33 + y)}" for b in (button, 3)]
    t.send("".join(sent[:1 if button >= 64 else 2]).encode("latin-1"))


def click(t, pattern, nth=0, button=LEFT):
    """Clicks where the text is on the screen; nth: character of it. Returns the screen after that."""
    for y, line in enumerate(t.screen()):
        found = re.search(pattern, line)
        if found:
            event(t, button, found.start() + nth, y)
            return t.sync()
    raise AssertionError(f"no {pattern!r} on the screen")


def position(screen):
    """The number of the selected row, and of all rows."""
    return tuple(map(int, next(m for m in (re.search(r" (\d+)/(\d+)$", line) for line in screen) if m).groups()))


def places(checks):
    with open_at() as t:
        checks.contains("function bar: the key's action", click(t, r"F1 ?Help", 3), r"Help \(Esc closes\)")
        t.press("Escape")
        first = t.sync()
        count = position(first)[1]
        checks.contains("tab: its pane", click(t, " Files "), r"^ +PID .* FD KIND")
        checks.contains("tab: back", click(t, " CPU  ", 1), r"CPU TIME")
        checks.contains("tab …: menu of all panes", click(t, " … ", 1), "Hosts")
        t.press("Escape")

        checks.equal("wheel: three rows down", position(wheel(t, WHEEL_DOWN)), (4, count))
        checks.equal("wheel: three rows up", position(wheel(t, WHEEL_UP)), (1, count))
        click(t, r"^ +1465 +1460 web ", 5)
        checks.contains("row: selected", t.press("Enter"), r"^ +IDs +tid 1465 ")
        t.press("Escape")
        row = next(y for y, line in enumerate(t.screen()) if re.search(r"^ +1458 +1458 client ", line))
        event(t, LEFT, 5, row)
        event(t, LEFT, 5, row)
        checks.contains("row: clicked twice, it is opened", t.sync(), r"^ +IDs +tid 1458 ")
        t.press("Escape")

        checks.contains("column title: sort by it", click(t, r"BLOCKED"), r"▼BLOCKED")
        checks.contains("column title: the other way round", click(t, r"BLOCKED"), r"▲BLOCKED")

        before = position(t.sync())[1]
        alone = click(t, r"^ web ", 1)
        checks.check("host: only its rows", position(alone)[1] < before, "\n".join(alone))
        checks.equal("host: again, all", position(click(t, r"^ web ", 1))[1], before)

        strip = next(y for y, line in enumerate(t.screen()) if re.search(r"^14:0\d:\d\d .*14:0\d:\d\d", line))
        event(t, LEFT, 110, strip)
        checks.contains("timeline: another time", t.sync()[:1], r"\[2026-11-20 14:07:1[234]")


def wheel(t, button):
    event(t, button, 20, 20)
    return t.sync()


def unseen(checks):
    """The function bar is not drawn on a terminal that is too small, nor where a prompt or a message is."""
    with open_at() as t:
        quit_at = t.screen()[-1].index("F10") + 4
        t.sync()
        event(t, LEFT, quit_at, 29)
        checks.contains("message: a click only takes it away", t.sync(), "CPU TIME")
        t.keys("/")
        t.wait(r"^(Search|/)")
        event(t, LEFT, quit_at, 29)
        t.keys("Escape")
        checks.contains("prompt: a click ends nothing", t.sync(), "CPU TIME")
        t.resize(30, 7)
        t.wait("too small")
        for x in range(30):
            event(t, LEFT, x, 6)
        t.resize(120, 30)
        t.wait("CPU TIME")
        checks.check("too small: clicks do nothing", not t.has_ended())
        checks.contains("too small: no overlay was opened", t.sync(), "CPU TIME")


def time_goes_on(checks):
    """A button is released some time after it was pressed, and then nothing comes from the terminal."""
    for name, sent in (("left", ("0;40;2M", "0;40;2m")), ("right", ("2;40;12M", "2;40;12m")),
                       ("drag", ("0;40;12M", "0;50;14m")), ("sideways wheel", ("66;40;12M", "67;40;12M"))):
        with Terminal("--no-sync", "--interval", "100ms", "--speed", "0.5", RECORDING, size=(120, 30),
                      env={"TERM": "xterm-256color"}) as t:
            for word in sent:
                t.send(f"\x1b[<{word}")
                # twice, because the first change may have come before the event was read
                for _ in range(2):
                    before = t.screen()[0]
                    t.wait_for(lambda text, old=before: text.split("\n")[0] != old, f"{name}: time goes on after {word}", 10)
            checks.check(f"{name}: time goes on", True)


def refused(checks):
    with open_at("--no-mouse") as t:
        checks.equal("--no-mouse: the terminal keeps it", t.tmux("display-message", "-p", "#{mouse_any_flag}").strip(), "0")


Checks().run(places, unseen, time_goes_on, refused)
