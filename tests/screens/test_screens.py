#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the monitor looks like: whole screens in every kind of terminal, sizes, and texts from hostile machines."""

import os
import re
import shutil
import subprocess
import tempfile

from terminal import Checks, Terminal, need, skip, unpack

need("tic", "tmux", "zstd")
RECORDING = unpack("three-tier") or skip("no recording three-tier")
AT = ["--no-sync", "--paused", "--begin", "+25s", RECORDING]


def open_at(size=(80, 24), env=None, *options):
    return Terminal(*options, *AT, size=size, env=env, ready=r"\[(2026-11-20 )?14:07:0").wait_read()


def whole_screens(checks):
    for name, size, env, options in (
            ("cpu-80x24", (80, 24), None, []),
            ("cpu-200x50", (200, 50), None, []),
            ("cpu-ascii-80x24", (80, 24), {"LC_ALL": "C"}, []),
            ("cpu-mono-80x24", (80, 24), {"NO_COLOR": "1"}, [])):
        with open_at(size, env, *options) as t:
            checks.expected(name, t.screen())
    with open_at() as t:
        checks.expected("details-80x24", t.press("Down", "Enter"))
    with open_at() as t:
        checks.expected("devices-80x24", t.press("7"))
    with open_at() as t:
        checks.expected("tree-80x24", t.press("F5"))
    with open_at() as t:
        checks.expected("help-80x24", t.press("?"))


def kinds_of_terminals(checks):
    with open_at() as t:
        colored = "\n".join(t.screen(styles=True))
        checks.check("colours", re.search(r"\x1b\[[0-9;]*(3[0-7]|38;5)", colored), colored[:300])
        checks.contains("UTF-8 bars", t.screen(), "[▁▂▃▄▅▆▇█]")
    for name, env, options in (("NO_COLOR", {"NO_COLOR": "1"}, []), ("--no-color", None, ["--no-color"]),
                               ("no colour terminal", {"TERM": "vt100"}, [])):
        with open_at((80, 24), env, *options) as t:
            mono = "\n".join(t.screen(styles=True))
            checks.check(f"mono: {name}", not re.search(r"\x1b\[[0-9;]*(3[0-7]|38;5|4[0-7]|48;5)", mono), mono[:300])
            checks.check(f"mono: {name} shows the selection", re.search(r"\x1b\[[0-9;]*7", mono), mono[:300])
    for name, env, options in (("LC_ALL=C", {"LC_ALL": "C"}, []), ("--ascii", None, ["--ascii"]),
                               ("Linux console", {"TERM": "linux"}, [])):
        with open_at((80, 24), env, *options) as t:
            text = "\n".join(t.screen())
            checks.check(f"ASCII: {name}", text.isascii(), text)
            t.keys("e").sync()  # the function keys differ
            checks.contains(f"ASCII tree: {name}", t.screen(), r"\|-agent\.py")
            help_text = t.press("?")
            checks.contains(f"keys in words: {name}", help_text, r"Left F7 +one interval back")
            checks.check(f"ASCII help: {name}", "\n".join(help_text).isascii(), help_text)


def unusable_terminals(checks):
    """What is wrong with TERM, and what to do."""
    for name, term, words in (("unset", "", "TERM is not set: set it to"), ("dumb", "dumb", "its cursor cannot be moved; 'report'"),
                              ("unknown", "nonesuch", "'nonesuch' is unknown.*try TERM=xterm-256color")):
        with Terminal(*AT, env={"TERM": term}, ready=None) as t:
            checks.equal(f"TERM {name}: exit status", t.status(), 1)
            checks.check(f"TERM {name}: what to do", re.search(words, t.stderr()), t.stderr())


def sizes_in_the_environment(checks):
    """Exported once by a shell, COLUMNS and LINES are those of another terminal, or nonsense: the terminal knows better."""
    for columns, lines in (("200", "60"), ("-5", "99999999"), ("2000", "2000"), ("x", "")):
        with open_at((80, 24), {"COLUMNS": columns, "LINES": lines}) as t:
            screen = t.screen()
            checks.contains(f"COLUMNS={columns} LINES={lines}", screen[-1:], r"F1Help.*F10Quit$")
            t.resize(100, 30)
            checks.check(f"COLUMNS={columns} LINES={lines}: resized", t.wait(r"\A(.*\n){29}.*F1Help.*F10Quit"))
            t.keys("q")
            checks.equal(f"COLUMNS={columns} LINES={lines}: status", t.status(), 0)


def what_traces(checks):
    """LTTng's own threads have a colour of their own, whatever they are called; their details say so."""
    with open_at((160, 50)) as t:
        for name, tracing in (("lttng-consumerd", True), ("Client manageme", True), ("apache2", False)):
            t.keys("/").text(name).keys("Enter").sync()
            t.press("/", "Escape", "Up")  # found or selected rows have other colours
            styled = [line for line in t.screen(styles=True) if re.search(rf"{name}\s*$", re.sub(r"\x1b\[[\d;]*m", "", line))]
            marked = [line for line in styled if re.search(rf"38;5;67m{name}", line)]
            checks.check(f"{name} is{'' if tracing else ' not'} marked", bool(marked) == tracing and styled, styled)
            t.keys("Down").sync()
            found = [line for line in t.press("Enter") if line.startswith(" tracing ")]
            checks.check(f"{name}: details", bool(found) == tracing, found)
            t.press("Escape")


def luminance(number):
    """Of one of the 256 colours beyond the first 16, as WCAG 2 defines it."""
    if number >= 232:
        rgb = [8 + 10 * (number - 232)] * 3
    else:
        rgb = [(0, 95, 135, 175, 215, 255)[(number - 16) // step % 6] for step in (36, 6, 1)]
    linear = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def foregrounds(styled):
    """The colours of characters on the terminal's own background."""
    found, foreground, background = set(), None, False
    for codes, text in re.findall("\x1b\\[([0-9;]*)m([^\x1b]*)", styled):
        codes = iter(codes.split(";"))
        for code in codes:
            if code in ("38", "48"):
                next(codes)
                number = int(next(codes))
                foreground, background = (number, background) if code == "38" else (foreground, True)
            elif code in ("", "0"):
                foreground, background = None, False
            elif code in ("39", "49"):
                foreground, background = (None, background) if code == "39" else (foreground, False)
        if foreground is not None and not background and text.strip():
            found.add(foreground)
    return found


def readable_colours(checks):
    """Colours without a background of their own can be read on black and on white."""
    with open_at((120, 40)) as t:
        t.press("Space", "Down")  # the highlighted row has the colour of warnings
        found = foregrounds("\n".join(t.screen(styles=True)))
        checks.check("several are shown", len(found) >= 4, found)
        for number in sorted(found):
            light = luminance(number)
            contrast = min(1.05 / (light + 0.05), (light + 0.05) / 0.05)
            checks.check(f"colour {number}", contrast >= 2.6, f"{contrast:.2f}")


def eight_colours(checks):
    """On the Linux console, the contrast of blue text on black is 1.6, that of bold black, which is grey, on yellow 1.4:
    they cannot be read."""
    with open_at((160, 50), env={"TERM": "linux"}) as t:
        t.press("/", "Escape", "Down")
        styled = "\n".join(t.screen(styles=True))
        checks.check("no text is blue", not re.search("\x1b\\[(?:\\d+;)*34m[^\x1b]*\\S", styled), repr(styled))
        checks.check("PAUSED is not bold", re.search("\x1b\\[30m\x1b\\[43m PAUSED ", styled) and
                     not re.search("\x1b\\[1m[^m]*m[^m]*m PAUSED ", styled), repr(styled))
        checks.check("LTTng's threads have a colour", re.search("\x1b\\[35mlttng-consumerd", styled), repr(styled))


DIRECT = """xterm-direct|for this test,
	RGB, colors#0x1000000, pairs#0x7FFF, use=xterm-256color,
	setaf=\\E[%?%p1%{8}%<%t3%p1%d%e38\\:2\\:\\:%p1%{65536}%/%d\\:%p1%{256}%/%{255}%&%d\\:%p1%{255}%&%d%;m,
	setab=\\E[%?%p1%{8}%<%t4%p1%d%e48\\:2\\:\\:%p1%{65536}%/%d\\:%p1%{256}%/%{255}%&%d\\:%p1%{255}%&%d%;m,
"""


def direct_colours(checks):
    """Where a colour's number is its red, green and blue, only the first eight are those of other terminals."""
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(["tic", "-x", "-o", directory, "-"], input=DIRECT, text=True, check=True)
        with open_at(env={"TERM": "xterm-direct", "TERMINFO": directory}) as t:
            styled = "\n".join(t.screen(styles=True))
            checks.check("colours", re.search("\x1b\\[(?:\\d+;)*3[0-7]", styled), repr(styled))
            checks.lacks("numbers of another palette", [styled], "[34]8[;:]2[;:]")


def sizes(checks):
    with open_at() as t:
        t.resize(120, 40)
        t.wait(r"2026-11-20 14:07:08\.347603246, ")
        t.wait_for(lambda text: "F10Quit" in "".join(text.split("\n")[39:]), "the keys in the last row")
        checks.check("wider and taller", True)
        t.resize(39, 24)
        t.wait("too small")
        checks.contains("too small: how much is needed", t.screen(), r"^too small: 39x24\nneeds 40x8$")
        checks.lacks("too small: a recording that was read", t.screen(), "still")
        t.resize(17, 3)
        t.wait("too small: 17x3\nneeds 40x8$")
        t.resize(40, 8)
        t.wait("PAUSED")
        checks.contains("40x8: state and time", t.screen()[:1], r"PAUSED.*\[14:07:08.*, 14:07:09.*\[")
        checks.contains("40x8: no host has a line", t.screen(), r"^ 3 hosts: pane 9$")
        checks.check("40x8: rows", any("snap" in line for line in t.screen()), "\n".join(t.screen()))
        t.resize(60, 7)
        t.wait("too small")
        t.keys("Right")
        t.resize(80, 24)
        t.wait(r"\[14:07:09\.347603246, 14:07:10\.347603246\[")
        checks.check("keys work while it is too small", True)
        screen = t.screen()
        t.resize(200, 50)
        t.wait("SWITCH")
        t.resize(80, 24)
        t.wait_for(lambda text: text == "\n".join(screen), "the same screen as before resizing")
        checks.check("the same after resizing there and back", True)
        t.resize(1, 1)
        t.resize(80, 24)
        t.wait("F10Quit")
        checks.check("survives 1x1", True)


def narrow(checks):
    """The pane's name is on the smallest screen, too."""
    for size in ((40, 12), (40, 8), (60, 12)):
        with open_at(size) as t:
            checks.contains(f"{size}: the pane's name", t.sync(), "^ CPU  ")
            t.keys("(")  # removes the message
            t.wait(r"^F1Help +F2Setup .*F10Quit$" if size[0] > 40 else "^F1Help F3Search F4Filter F9Play F10Quit")
            checks.contains(f"{size}: another pane's", t.press("5"), "^ Syscalls  ")
            checks.contains(f"{size}: of details", t.press("1", "Enter"), "^ Details  ")


def cursor_in_bars(checks):
    """The shown interval is not a hole in the timeline: no block is in reverse video or in the background colour."""
    with open_at(env={"NO_COLOR": "1"}) as t:
        strip = t.screen(styles=True)[4]
        checks.check("NO_COLOR: marked", "▒" in strip, strip)
        checks.check("NO_COLOR: no block in reverse", not re.search("\x1b\\[[0-9;]*7m[^\x1b]*[▁▂▃▄▅▆▇█]", strip), strip)
        t.keys("F1").wait("─ Help")
        t.keys("End").wait("belongs to LTTng")
        names = {}
        for line in t.screen(styles=True):
            found = re.search("((?:\x1b\\[[0-9;]*m)+)name.* (born|ended|belongs|highlighted) ", line)
            if found:
                names[found.group(2)] = re.sub(r"\x1b\[0m", "", found.group(1))
        checks.equal("NO_COLOR: the names of the legend differ", len(set(names.values())), 4)
    with open_at() as t:
        strip = t.screen(styles=True)[4]
        checks.check("colours: a bar at the cursor that is neither white nor black",
                     re.search("38;5;208", strip) and re.search("48;5;24", strip), strip)


def lost_events(checks):
    recording = unpack("lossy")
    if not recording:
        print("skip lost_events: no recording lossy")
        return
    with Terminal("--paused", recording).wait_read() as t:
        t.keys(")").sync()
        checks.contains("lost mark in the strip", t.screen(), "!")
        t.keys("(").sync()
        for _ in range(10):
            if re.search(r"lost [1-9]", t.screen()[0]):
                break
            t.keys("Right").sync()
        checks.contains("lost in the first line, with its unit", t.screen()[:1], r"lost [1-9]\d*(\.\d+K)? (ev|pkt)\b")
        t.resize(40, 10)
        t.wait_for(lambda text: "CPU%" in text and len(text.split("\n")) == 10, "40x10")
        checks.contains("the lost mark stays when narrow", t.screen()[:1], r"\[\d\d:\d\d.*lost [1-9]")
        t.resize(80, 24)
        t.wait("PRIO S")
        t.keys("L")
        t.wait("data quality")
        checks.contains("lost events among the messages, more than in the first line", t.screen(),
                        r"events lost +\d+ up to the end of this interval")


def between_lost_packets(checks):
    """Where a recording has no event for 1.4 s, nothing is known of CPUs and threads, and the screen says so."""
    with Terminal("--paused", "-i", "100ms", unpack("lossy-overwrite"), size=(120, 20)).wait_read() as t:
        t.keys("b")
        t.text("+0.9s")
        t.keys("Enter").sync()
        screen = t.screen()
        checks.contains("events are being lost, and how many is not known", screen[:1], r" 0 ev/s.*lost \?|lost \?.* 0 ev/s")
        checks.contains("nor idle", screen[2:3], r"!{100}")
        checks.contains("no CPU is known to be busy", screen[1:2], r"0\[ *unknown *\] 1\[ *unknown *\]")
        rows = [line.split() for line in screen[5:] if re.match(r" +\d", line)]
        checks.equal("no thread is known to do anything", {r[3][-1] for r in rows}, {"?"})
        checks.equal("no thread runs or is ready", {(r[5], r[6]) for r in rows}, {("0", "0")})


def lost_by_a_host_that_has_ended(checks):
    """They stay in the first line, like those of a host that continues."""
    with Terminal("--paused", "--no-sync", unpack("lossy-overwrite"), unpack("locks-pipes"), size=(120, 24)).wait_read() as t:
        screen = t.press(")")
        checks.contains("the other one has ended", screen, r"^ db +recorded until 14:31:26")
        checks.contains("lost before", screen[:1], r"lost 0 \(1678 pkt before\)")
        checks.contains("nor are they counted twice", t.press("(", ")")[:1], r"lost 0 \(1678 pkt before\)")
        t.keys("L")
        t.wait("data quality")
        checks.contains("among the messages", t.screen(), r"packets lost +1678 up to the end of this interval")


def hostile_names(checks):
    """Escape sequences, carriage returns, bells and invalid UTF-8 in names remain text; combining marks are shown."""
    copy = os.path.join(tempfile.mkdtemp(prefix="screens-"), "host\x1b[31m\u009bile")
    shutil.copytree(os.path.join(RECORDING, "web"), copy, copy_function=shutil.copyfile)
    names = {b"apache2\0": b"\x1b[2J\xff\r\x07\0", b"lttng-consumerd\0": b"\x9b31m\xe2\x80\xae\n\tquiet\0\0",
             b"rcu_preempt\0": "ハ\u309aabcde\0".encode()}
    replaced = 0
    for directory, _, files in os.walk(copy):
        os.chmod(directory, 0o755)
        for name in set(files) - {"metadata"}:
            path = os.path.join(directory, name)
            with open(path, "rb") as f:
                data = f.read()
            for name_before, name_after in names.items():
                assert len(name_before) == len(name_after)
                replaced += data.count(name_before)
                data = data.replace(name_before, name_after)
            with open(path, "wb") as f:
                f.write(data)
    checks.check("names were replaced", replaced > 10, replaced)
    with Terminal("--paused", "--begin", "+1s", copy, size=(120, 24)).wait_read() as t:
        screen = t.screen()
        checks.contains("ESC is text", screen, r"\\x1b\[2J\\xff\\x0d\\x07")
        checks.contains("a mark of its own, behind its letter", screen, "ハ\u309aabcde")
        checks.contains("the screen is whole", screen, r"^ PAUSED[\s\S]*F10Quit")
        checks.contains("the keys are in the last row", screen[23:], "F10Quit")
        raw = "\n".join(t.screen(styles=True))
        checks.check("no control character", not re.search(r"[\x00-\x08\x0b-\x1a\x7f-\x9f\u202e]", raw), raw)
        t.keys("L")
        t.wait("data quality")
        checks.contains("the directory's name, as in reports", t.screen(), r"source .*/host\\x1b\[31m\\xc2\\x9bile")


Checks().run(whole_screens, kinds_of_terminals, unusable_terminals, sizes_in_the_environment, what_traces, readable_colours, eight_colours,
             direct_colours, sizes, narrow, cursor_in_bars, lost_events, between_lost_packets,
             lost_by_a_host_that_has_ended, hostile_names)
