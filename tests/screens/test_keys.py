#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sequences of keys and their results: lists, search, filter, tree, panes, details, menus, time."""

import re
import time

from terminal import PROGRAM, Checks, Terminal, need, skip, unpack

need("bash", "tmux", "zstd")
RECORDING = unpack("three-tier") or skip("no recording three-tier")


def open_at(*options, size=(80, 24), env=None):
    return Terminal("--no-sync", "--paused", "--begin", "+25s", *options, RECORDING, size=size, env=env,
                    ready=r"\[(2026-11-20 )?14:07:0").wait_read()


def head(screen):
    """The row of column headers."""
    return next(line for line in screen if re.search(r"\bCOMMAND\b", line))


def rows(screen):
    """The rows below the header."""
    i = screen.index(head(screen))
    return [line for line in screen[i + 1:] if line.strip()]


def commands(screen):
    return [line.split()[-1] for line in rows(screen)]


def column(screen, name):
    """The texts of a column of numbers, which end where its header does."""
    line = head(screen)
    end = line.index(name) + len(name)
    return [row[:end].split()[-1] for row in rows(screen)]


def position(screen):
    """(selected, rows) from the status at the right of the pane names."""
    found = re.search(r"(\d+)/(\d+)$", next(line for line in screen if line.startswith(" CPU  I/O")))
    return int(found.group(1)), int(found.group(2))


def sorting(checks):
    with open_at() as t:
        shares = [float(x) for x in column(t.sync(), "CPU%")]
        checks.equal("sorted by CPU% at first, greatest first", shares, sorted(shares, reverse=True))
        screen = t.press("I")
        shares = [float(x) for x in column(screen, "CPU%")]
        checks.equal("I inverts", shares, sorted(shares))
        t.keys("I")
        checks.contains("> sorts by the next column", t.press(">"), "▼CPU TIME")
        checks.contains("< by the one before", t.press("<", "<"), "S▼")
        t.keys("F6")
        t.wait("Sort by")
        screen = t.press("Home", "Down", "Enter")
        checks.contains("F6 chooses a column", screen, "▼TID|▲TID")
    sorting_by_hidden_columns(checks)


def sorting_by_hidden_columns(checks):
    """What a list is sorted by can be seen: a column that is not shown otherwise is, for as long."""
    for width in (44, 80, 200):
        with open_at(size=(width, 24)) as t:
            before = head(t.sync())
            checks.lacks(f"{width}: not at first", [before], "CGRP NS")
            t.choose("F6", "─ Sort by", "CGRP NS")
            checks.contains(f"{width}: before the name", [head(t.sync())], r"▼CGRP NS COMMAND$")
            written = t.written(t.path("sorted.json"))["rows"][0]
            checks.equal(f"{width}: in the file, too", list(written)[-2:], ["cgroup_ns", "comm"])
            t.choose("F6", "─ Sort by", "CPU%")
            checks.equal(f"{width}: no longer", head(t.sync()), before)
    with open_at(size=(80, 24)) as t:
        t.press("2")
        t.choose("F6", "─ Sort by", "DISKRQ/s")
        checks.contains("one that goes first when there is no room", [head(t.sync())], r"▼DISKRQ/s COMMAND$")
        t.press("7")
        t.choose("F6", "─ Sort by", "DIST AVG")
        checks.contains("after the last column of numbers", t.sync(), r"^HOST .*▼DIST AVG$")


def selected(terminal, name):
    """Whether the selected line contains this."""
    return any(re.search(r"48;5;24|\x1b\[[0-9;]*46", line) and name in line for line in terminal.screen(styles=True))


def selection(checks):
    with open_at() as t:
        screen = t.press("Down", "Down")
        tid, where = rows(screen)[2].split()[0], position(screen)[0]
        checks.equal("two down", where, 3)
        screen = t.press(">", ">")
        checks.check("the selection stays on its entity when the order changes", selected(t, tid), "\n".join(screen))
        screen = t.press("Home", "Down", "F", "PageDown", "PageUp")
        checks.equal("PgDn and PgUp come back", position(screen)[0], 2)
        last = position(t.press("End"))
        checks.equal("End: the last row", last[0], last[1])
        checks.equal("Home: the first", position(t.press("Home"))[0], 1)
        t.press("k", "k")
        checks.equal("not past the first", position(t.screen())[0], 1)
        checks.equal("j", position(t.press("j"))[0], 2)


def empty_lists(checks):
    """Disks and interfaces do not pass the filter: the selection stays among the interrupts."""
    with open_at() as t:
        t.keys("F4").text("SCHED").keys("Enter", "7")
        t.wait("nothing matches the filter")
        for keys in (("Down", "Down", "Up", "Up", "Up"), ("End", "PageUp", "PageUp"), ("End", "Home"), ("End", "PageDown", "Home")):
            screen = t.press(*keys)
            checks.contains(f"{' '.join(keys)}: the first row", screen, r"^ CPU  I/O.* 1/\d+$")
            checks.lacks(f"{' '.join(keys)}: and not the only one", screen, r" 1/1$")


def selection_follows_entity(checks):
    with open_at() as t:
        t.keys("/").text("rcu_preempt").keys("Enter")
        t.press("F")
        for keys in (["Right"], ["Left"], [">"], ["<"], ["2"], ["1"], ["F5"], ["F5"]):
            t.keys(*keys).sync()
            # it read and wrote nothing: pane 2 has no row of it
            checks.equal(f"followed after {keys[0]}", selected(t, "rcu_preempt"), keys[0] != "2")


def following_ends(checks):
    """F ends following also where the followed row, here of a thread that soon ends, is not; it cannot start there."""
    with Terminal("--no-sync", "--paused", "--begin", "-3s", RECORDING, size=(80, 24)).wait_read() as t:
        t.keys("/").text("bash").keys("Enter")
        t.sync()
        checks.check("it is there", selected(t, "bash"), t.screen())
        t.keys("F").wait("^following the selected row")
        t.press("(")
        checks.check("not here", not selected(t, "bash"), t.screen())
        t.keys("F").wait("^no longer following")
        t.keys("F").wait("^the selected row is not in this interval")
        checks.lacks("not followed", t.sync(), "following")


def marked(terminal):
    """The texts of the list that are highlighted as matches."""
    styled = "\n".join(terminal.screen(styles=True))
    return re.findall("\x1b\\[48;5;179m([^\x1b]*)", styled[styled.index("COMMAND"):])


def searching(checks):
    with open_at() as t:
        t.keys("/")
        t.wait("^Search:")
        t.text("apac")
        t.wait("^Search: apac")
        screen = t.screen()
        checks.check("search selects while typing", commands(screen)[position(screen)[0] - 1] == "apache2", position(screen))
        checks.check("what matches is highlighted", marked(t) and set(marked(t)) == {"apac"}, marked(t))
        t.keys("Enter")
        first = position(t.sync())[0]
        second = position(t.press("n"))[0]
        checks.check("n continues", second > first, (first, second))
        checks.equal("N goes back", position(t.press("N"))[0], first)
        t.keys("/").text("nothing-like-this")
        t.wait("not found|Search: nothing-like-this")
        t.keys("Enter")
        checks.check("not found is said", t.wait("not found: nothing-like-this"))
        t.press("Escape")
        # the long s, of which case folding makes an s: the search distinguishes them
        t.keys("/").text("\u017f")
        t.wait("^Search: \u017f")
        checks.equal("only what matches is highlighted", marked(t), [])


def searching_lists(checks):
    """The lists of a pane are searched one after the other; disks have no eth0, one soft interrupt is NET_RX."""
    def selected(t):
        """The rows with the selection's colour."""
        raw = [line for line in t.screen(styles=True)[6:] if re.search(r"48;5;24|\x1b\[[0-9;]*46", line)]
        return [re.sub(r"\x1b\[[0-9;]*m", "", line).split() for line in raw if "F1Help" not in line]

    with Terminal("--paused", "--begin", "+4s", RECORDING, size=(100, 30)).wait_read() as t:
        t.keys("7", "Home")
        t.wait("^HOST.* ERRORS$")
        first = selected(t)
        checks.check("a disk", len(first) == 1 and first[0][1] == "vda", first)
        t.keys("/").text("eth0")
        t.wait("^Search: eth0$")
        checks.lacks("it is found", t.screen(), "not found")
        eth0 = selected(t)
        checks.check("the first interface", len(eth0) == 1 and eth0[0][1] == "eth0", eth0)
        t.keys("C-u").text("NET_RX")
        t.wait("^Search: NET_RX$")
        t.keys("Enter")
        t.sync()
        soft = selected(t)
        checks.check("an interrupt", len(soft) == 1 and "NET_RX" in soft[0], soft)
        t.keys("/").text("eth0")
        t.wait("^Search: eth0$")
        t.keys("Enter")
        t.sync()
        checks.equal("from the last list to those before it", selected(t), eth0)
        t.press("n", "n", "n")
        checks.equal("n: past the last of three to the first", selected(t), eth0)
        t.press("N")
        last = selected(t)
        checks.check("N: to the last one", len(last) == 1 and last != eth0 and last[0][1] == "eth0", last)
        t.press("Home")
        t.keys("/").text("eth0")
        t.wait("^Search: eth0$")
        t.keys("Escape")
        t.sync()
        checks.equal("Esc returns to where it started", selected(t), first)


def paste(terminal, text):
    """As terminals paste: with brackets around the text if the program has asked for them."""
    terminal.tmux("set-buffer", "--", text)
    terminal.tmux("paste-buffer", "-p")


def pasting(checks):
    """A prompt gets what is pasted as one line; elsewhere it does not act as keys, of which q would quit."""
    with open_at() as t:
        before = t.sync()
        paste(t, "2\nq\n5")
        t.wait("^pasted text is ignored here")
        checks.equal("without a prompt", t.sync(), before)
        t.keys("F4")
        t.wait("^Filter:")
        paste(t, "host:client\n\tpid:1456\n")
        t.wait("^Filter: host:client pid:1456$")
        # not every terminal leaves out Esc
        t.send("\033[200~ \033[1mq\033\033c\033[201~")
        t.wait(r"^Filter: host:client pid:1456  \[1mq c$")
        t.keys("C-w", "C-w", "Enter")
        checks.equal("into a filter", commands(t.sync()), ["snap"])
        t.keys("2")
        t.wait("WRITE/s")
        checks.check("keys that are typed work again", True)


def foreign_bytes(checks):
    """A byte that is not part of a character in the locale is ignored, and nothing else: keys that come with it count.
    Where the locale lacks all such characters, a prompt says so."""
    for locale, typed, shown in (("C", "61 c3 a9 62 e2 82 ac 63", "abc"), ("C.UTF-8", "61 ff 62 c3 63 c3 a9", "abcé")):
        with open_at(env={"LC_ALL": locale}) as t:
            t.keys("F4").wait("^Filter:")
            t.send(bytes.fromhex(typed))
            checks.check(f"{locale}: {typed}", t.wait(rf"^Filter: {shown}$"))
            t.send(bytes.fromhex("c3 bc"))
            lacks = "this character is not in the locale's character set"
            checks.check(f"{locale}: ü", t.wait(rf"{lacks}(.*\n)+Filter: abc$" if locale == "C" else "^Filter: abcéü$"))
            if locale != "C":
                checks.lacks(f"{locale}: nothing to say", t.screen(), lacks)


def alt_keys(checks):
    """A key with Alt comes right after an Esc, and acts as both, one after the other: nothing is lost."""
    with open_at() as t:
        everything = position(t.sync())[1]
        t.keys("F4").wait("^Filter:")
        t.text("apache").wait("^Filter: apache$")
        t.keys("M-2").wait("WRITE/s")
        checks.lacks("Alt-2: Esc takes the filter away", t.sync(), "apache$|^Filter")
        checks.equal("Alt-1: all rows", position(t.press("M-1"))[1], everything)
        t.keys("F4").wait("^Filter:")
        t.keys("M-\\").text("snap").wait("^Filter: snap$")
        checks.equal("Alt-\\: another prompt", commands(t.press("Enter")), ["snap"])


def unknown_keys(checks):
    """Keys that neither the terminal's description nor the program knows do nothing, whatever letters they send."""
    with open_at() as t:
        before = t.sync()
        # Ctrl-Up and another key with two modifiers, a keypad key of kitty, answers of the terminal, a function key
        for sent in ("[1;5A", "[1;6q", "[57414;1u", "[?62;22c", "[>0;276;0c", "[q", "OZ"):
            t.send("\033" + sent)
            checks.equal(f"Esc {sent}", t.sync(), before)
        # what another program has asked the terminal for: a colour, a version, a capability; focus
        for sent in ("]11;rgb:1e1e/1e1e/1e1e\033\\", "]4;1;rgb:cd/00/00\a", "P>|XTerm(379)\033\\", "P1$r0q\033\\",
                     "P!|7E565445\033\\", "_Gi=31;OK\033\\", "]2;gr\u00fcn q\a", "[I", "[O"):
            t.send("\033" + sent)
            checks.equal(f"Esc {sent!r}", t.sync(), before)
        t.send("\033]11;rgb:1e")
        time.sleep(0.2)
        t.send("1e/qq\033\\")
        checks.equal("an answer in two parts", t.sync(), before)
        t.send("\033]11;rgb\033OB")
        checks.equal("without its end: the next key counts", position(t.sync())[0], position(before)[0] + 1)
        t.send("\033]11;rgb\033")
        time.sleep(0.2)
        t.send("k")
        checks.equal("Esc ends it, too", position(t.sync())[0], position(before)[0])
        t.send("\033P")  # Alt-P
        checks.check("Alt-P", t.wait("─ Panes ─"))
        t.keys("Escape").wait_gone("─ Panes ─")
        # a slow line may interrupt it anywhere
        t.send("\033[1;")
        time.sleep(0.2)
        t.send("6q")
        checks.equal("in two parts", t.sync(), before)
        t.send("\033[1;\033OB")
        checks.equal("the next key counts", position(t.sync())[0], position(before)[0] + 1)
        t.send("\033[\033OB")
        checks.equal("Alt-[, then a key", position(t.sync())[0], position(before)[0] + 2)
        t.keys("F4").wait("^Filter:")
        t.send("a\033[1;6qb")
        checks.check("in a prompt: the keys around it count", t.wait("^Filter: ab$"))
        t.send("\033[")  # Alt-[
        t.wait_gone("^Filter:")
        checks.contains("Alt-[: Esc, then [", t.sync(), "^ PAUSED")


def keypad(checks):
    """Digits and signs of a keypad in application mode, as PuTTY sends them."""
    with open_at() as t:
        t.send("\033Or")
        checks.check("2: pane I/O", t.wait("WRITE/s"))
        t.keys("F4").wait("^Filter:")
        t.send("".join("\033O" + key for key in "pqrstuvwxyjkmnoX"))
        checks.check("all", t.wait(r"^Filter: 0123456789\*\+-\./=$"))
        t.keys("C-u").text("apache").keys("KPEnter")
        checks.check("Enter", t.wait_gone("^Filter:"))


def usual_keys(checks):
    """What terminals commonly send works whatever TERM says, such as PuTTY's function keys with TERM=xterm."""
    for term in ("xterm", "vt100", "vt220", "linux"):
        with open_at(env={"TERM": term}) as t:
            first = position(t.sync())[0]
            for down, up in (("[B", "[A"), ("OB", "OA"), ("[6~", "[5~"), ("[4~", "[1~"), ("[8~", "[7~"), ("[F", "[H"),
                             ("OF", "OH")):
                t.send("\033" + down)
                checks.check(f"{term}: {down}", position(t.sync())[0] > first)
                t.send("\033" + up)
                checks.equal(f"{term}: {up}", position(t.sync())[0], first)
            t.send("\033[Z")
            checks.check(f"{term}: [Z, the last pane", t.wait("CPU SUB"))
            t.keys("1").wait("CPU%")
            for keys, shown in ((("OP", "[11~", "[[A"), "[─-] Help"), (("OQ", "[12~", "[[B"), "[─-] Setup"),
                                (("OR", "[13~", "[[C"), "^Search:"), (("OS", "[14~", "[[D"), "^Filter:"),
                                (("[17~",), "Sort by")):
                for key in keys:
                    t.send("\033" + key)
                    checks.check(f"{term}: {key}", t.wait(shown))
                    t.keys("Escape").wait_gone(shown)
            for key, name in (("[23~", "F11"), ("[24~", "F12"), ("[3~", "Delete")):
                t.send("\033" + key)
                checks.check(f"{term}: {key}", t.wait(f"^ *{name} does nothing here"))
            for key in ("[15~", "[[E"):
                t.send("\033" + key)
                t.wait("F5List")
                t.send("\033" + key)
                checks.check(f"{term}: {key}", t.wait("F5Tree"))
            t.send("\033[20~")
            t.wait_gone("^ PAUSED")
            t.send("\033[21~")
            checks.equal(f"{term}: F10 quits", t.status(), 0)


def redrawing(checks):
    """Ctrl-L removes what another program wrote to the terminal; a prompt and the help screen stay."""
    with open_at() as t:
        for keys, wanted in (((), "COMMAND"), (("F4",), "^Filter:"), (("Escape", "F1"), "Esc closes")):
            t.keys(*keys)
            t.wait(wanted)
            before = t.screen()
            t.write_behind("\033[5;1HBROADCAST\033[12;30HMESSAGE")
            t.wait("^BROADCAST")
            t.keys("C-l")
            t.wait_gone("BROADCAST|MESSAGE")
            checks.equal(f"the screen with {wanted}", t.screen(), before)


def stopped(checks):
    """The terminal may get another size while the shell has stopped the program with ^Z."""
    with Terminal("-c", "exec bash --norc -i 2>&1", program="bash", size=(100, 30), ready=None) as t:
        t.text("PS1=shell:; clear").keys("Enter")
        t.wait("^shell:$")
        t.text(f"'{PROGRAM}' --paused '{RECORDING}'").keys("Enter")
        t.wait(r"^ PAUSED  \[14:07:05\.[\s\S]* 1/\d+$")  # all of it is read
        t.wait_read().keys("C-z")
        t.wait(r"Stopped[\s\S]*^shell:$")
        t.resize(80, 24)
        t.text("fg").keys("Enter")
        t.wait("^F1Help")
        screen = t.sync()
        checks.contains("the first line", screen[:1], r"^ PAUSED  \[14:07:05\.")
        checks.contains("the selected pane", screen, r"^ CPU  I/O  .* 1/\d+$")
        checks.check("as many rows as the terminal has", len(screen) == 23 and re.search(r"\S", screen[-1]), screen)
        paste(t, "2\nq\n5")
        checks.check("pasted text is still recognised", t.wait("^pasted text is ignored here"))
        t.keys("q")
        t.wait(r"^shell:$")
        t.text("exit").keys("Enter")


def modes_while_stopped(checks):
    """A shell that does not edit lines gets a terminal that marks neither pasted text nor positions of the mouse."""
    with Terminal("-c", "exec bash --norc --noediting -i 2>&1", program="bash", size=(100, 30), ready=None) as t:
        t.text("PS1=shell:; clear").keys("Enter")
        t.wait("^shell:$")
        t.text(f"'{PROGRAM}' --paused '{RECORDING}'").keys("Enter")
        t.wait(r"^ PAUSED  \[14:07:05\.[\s\S]* 1/\d+$")
        checks.equal("the mouse in SGR form", t.tmux("display-message", "-p", "#{mouse_sgr_flag}"), "1\n")
        t.wait_read().keys("C-z")
        t.wait(r"Stopped[\s\S]*^shell:$")
        checks.equal("not while it is stopped", t.tmux("display-message", "-p", "#{mouse_sgr_flag}"), "0\n")
        t.text("cat -v").keys("Enter")
        paste(t, "pasted\nend\n")
        t.wait("^end")
        checks.contains("pasted text has no brackets", t.screen(), "^pasted$")
        t.keys("C-d").text("fg").keys("Enter")
        t.wait("^F1Help")
        t.sync()
        checks.equal("the mouse again", t.tmux("display-message", "-p", "#{mouse_sgr_flag}"), "1\n")
        paste(t, "2\nq\n5")
        checks.check("brackets again", t.wait("^pasted text is ignored here"))
        t.keys("q")
        t.wait(r"^shell:$")
        t.text("exit").keys("Enter")


def filtering(checks):
    with open_at() as t:
        everything = position(t.sync())[1]
        t.keys("F4")
        t.wait("^Filter:")
        t.text("apache")
        t.wait("filter: apache")
        t.wait("^Filter: apache")  # drawn last
        screen = t.screen()
        checks.check("filter while typing", all("apache" in row for row in rows(screen)[:-1]), "\n".join(screen))
        t.keys("Enter")
        screen = t.sync()
        checks.check("fewer rows", 0 < position(screen)[1] < everything, position(screen))
        t.keys("\\", "C-u").text("host:client pid:1456").keys("Enter")
        screen = t.sync()
        checks.equal("terms", commands(screen), ["snap"])
        t.keys("F4", "C-u").text("no such thing").keys("Enter")
        checks.contains("an empty list says why", t.sync(), "nothing matches the filter")
        t.keys("F4", "Escape")
        checks.equal("Esc takes the filter away", position(t.sync())[1], everything)


def unknown_width(checks):
    """A character that the C library does not know, here one of Unicode 15, may be a question mark: nothing remains of
    what was there before, and the text that follows it is in its place."""
    with open_at() as t:
        t.keys("F4").text("a\U0001fae8b")
        t.wait("^Filter: a.*b$")
        checks.contains("a new character", t.screen()[-1:], "^Filter: a(\U0001fae8|\\? )b$")


def jumping(checks):
    """A jump out of the recording says that it shows an edge; a typo can be corrected."""
    with Terminal("--paused", RECORDING, size=(80, 24)).wait_read() as t:
        for text, said in (
                ("2020-01-01 00:00:00", r"^2020-01-01 00:00:00.000 is before the start, 2026-11-20 14:07:05.\d+, which"),
                ("@1", "^1970-01-01 00:00:01.000 is before the start"),
                ("+5000s", r"^2026-11-20 15:30:\d\d.\d+ is after the end, 14:07:15.\d+, which is shown instead"),
                ("14:07:16", r"^there is no 14:07:16.000 between the start, 14:07:05.\d+, and the end,\s14:07:15.\d+"),
                ("02:07", r"^there is no 02:07:00.000 between the start"),
                ("14:07:01", r"^14:07:01.000 is before the start, 14:07:05.\d+, which is shown instead"),
                ("14:07", r"^14:07:00.000 is before the start"),
                ("02:08", r"^02:08:00.000 is before the start")):
            t.keys("b").wait("^Jump to")
            t.text(text).keys("Enter")
            checks.check(f"{text}: an edge", t.wait(said))
            edge = r"\[14:07:05\." if "before the start" in said else r", 14:07:15\."
            checks.contains(f"{text}: the nearest one", t.sync(), r"^ (PAUSED|END)  .*" + edge)
        t.keys("b").text("+4x").keys("Enter")
        t.wait("^'\\+4x' is not a time such as")
        checks.contains("how times are written", t.screen(), r"\+5s or -5s$")
        checks.contains("the prompt stays open", t.screen()[-1:], r"\+4x$")
        t.keys("BSpace").text("s").keys("Enter")
        checks.contains("corrected", t.sync(), r"^ PAUSED  \[14:07:09\.")
        t.keys("b").text("+4x").keys("Enter")
        t.wait("^'\\+4x' is not a time such as")
        t.keys("Escape")
        checks.contains("Esc leaves", t.sync(), r"^ PAUSED  \[14:07:09\.")
        t.keys("b").text(" 14:07:11 ").keys("Enter")
        checks.contains("blanks around it", t.sync(), r"^ PAUSED  \[14:07:10\.")


def begins(checks):
    """--begin outside the recording is reported, too."""
    for text, said in (("14:07:00", "14:07:00.000 is before the start, 14:07:0"),
                       ("14:07:20", "there is no 14:07:20.000 between the start"),
                       ("@1", "1970-01-01 00:00:01.000 is before the start, 14:07:0")):
        with Terminal("--paused", "--begin", text, RECORDING, size=(80, 24), ready=None) as t:
            checks.check(f"--begin {text}", t.wait("^" + said))


def hidden_hosts(checks):
    """The number in front of the word is that of the hosts it is about, with and without room."""
    for size, said in (((100, 24), r"  1 of 3 hosts \(2 hidden\)"), ((66, 24), "  2/3 hidden")):
        with open_at(size=size) as t:
            t.keys("H")
            t.wait("Space")
            t.keys("Home", "Down", "Space", "Down", "Space", "Escape")
            checks.contains(f"hidden, {size[0]} columns", t.sync()[:1], said)


def highlighting(checks):
    with open_at() as t:
        chosen = commands(t.sync())[:2]
        t.keys("Space", "Space")
        screen = t.press("f")
        checks.equal("only highlighted", commands(screen), chosen)
        checks.check("highlights go along to other panes", set(commands(t.press("6"))) <= set(chosen))
        checks.check("cleared", position(t.press("1", "U"))[1] > 2)
        t.keys("f")
        checks.check("f without highlights says so", t.wait("no row is highlighted"))


def trees(checks):
    with open_at(size=(200, 50)) as t:
        screen = t.press("F5")
        checks.contains("tree", screen, "├─")
        t.keys("/").text("lttng-sessiond").keys("Enter")
        before = position(t.sync())[1]
        screen = t.press("c")
        checks.check("collapsed", position(screen)[1] < before, position(screen))
        checks.contains("a collapsed branch says how many it hides", screen, r"\+\d+ lttng-sessiond")
        checks.equal("expanded", position(t.press("c"))[1], before)
        t.press("e")
        checks.lacks("list again", t.screen(), "├─")
        threads = position(t.screen())[1]
        screen = t.press("t")
        checks.check("processes are fewer than threads", position(screen)[1] < threads, position(screen))
        checks.lacks("no TID of a process", [head(screen)], r"\bTID\b")
        checks.contains("threads again", [head(t.press("t"))], r"\bTID\b")
        t.press("4")
        t.keys("t")
        t.wait("the rows of this pane are not threads")
        t.press("1")
        checks.contains("and nothing has changed elsewhere", [head(t.screen())], r"\bTID\b")
        checks.contains("% of the host", [head(t.press("%"))], "HOST%")
        checks.contains("ids inside namespaces", [head(t.press("v"))], "VTID +TID +VPID")


def offered(checks, t, name):
    """The bar offers the function keys that the pane accepts, and no others."""
    t.sync()
    t.keys("Home")
    bar = t.wait("^F1Help.*$").group()
    for key, works in (("F3", "^Search:"), ("F4", "^(Filter|Events of):"), ("F6", "Sort by")):
        t.keys(key)
        shown = t.wait(f"{works}|does not work in this pane").group()
        checks.equal(f"{name}: {key} is offered if it works", key in bar, "not work" not in shown)
        t.keys("Escape" if "not work" not in shown else "Home")
        t.wait("^F1Help")
    for now, then in (("F5Tree", "F5List"), ("F5List", "F5Tree")):
        if now in bar:
            t.keys("F5").wait(then)
            t.keys("F5").wait(now)
            checks.check(f"{name}: {now}", True)
    if "F5" not in bar:
        for key in ("F5", "c"):
            t.keys(key).wait("does not work in this pane|this pane has no tree|sums have no tree")
            t.keys("Home").wait("^F1Help")
        checks.check(f"{name}: no tree is offered", True)


def function_bar(checks):
    with open_at(size=(120, 30)) as t:
        first = t.press("Home", "F5")[5:]
        for i in range(50):
            offered(checks, t, f"pane {i}")
            if t.press("Tab")[5:] == first:
                break
        checks.check("all panes", 15 < i < 49, i)
        t.choose("G", "─ Sum up", "process")
        offered(checks, t, "sums")
        t.choose("G", "─ Sum up", "show each row")
        t.press("D")
        t.wait_gone("▼CPU%")
        offered(checks, t, "dump")
        t.press("Escape", "w")
        t.wait_gone("▼CPU%")
        offered(checks, t, "path")


def panes(checks):
    shown = {"1": r"▼CPU%", "2": r"▼READ/s", "3": r"context_switches", "4": r"KIND.*FILE", "5": r"CALL .*COUNT",
             "6": r"▼MAX", "7": r"RX PKT/s", "8": r"▼OTHERS", "9": r"STATUS", "0": r"EVENT"}
    with open_at() as t:
        for key, pattern in shown.items():
            checks.contains(f"pane {key}", t.press(key), pattern)
        for key, pattern in (("2", shown["2"]), ("0", shown["0"])):
            t.keys("P").wait("─ Panes")
            t.keys(key).wait_gone("─ Panes")
            checks.contains(f"{key} in the menu of panes", t.sync(), pattern)
        t.press("1")
        screens = [t.press("Tab")]
        while len(screens) < 30 and not re.search(shown["1"], "\n".join(screens[-1])):
            screens.append(t.press("Tab"))
        checks.contains("Tab goes through the panes", screens[0], shown["2"])
        checks.contains("and comes round", screens[-1], shown["1"])
        for key, pattern in shown.items():
            checks.check(f"on its way it passes pane {key}",
                         any(re.search(pattern, "\n".join(screen)) for screen in screens), screens)
        checks.equal("Shift-Tab goes back", t.press("BTab"), screens[-2])
        t.keys("P")
        t.wait("─ Panes ─")
        checks.contains("P: menu of panes", t.press("Home", "Down", "Enter"), shown["2"])
        t.keys("F10")
        checks.equal("F10 quits", t.status(), 0)


def details(checks):
    with open_at(size=(200, 50)) as t:
        t.keys("/").text("lt").keys("Enter")
        t.press("Home", "Down")
        screen = t.press("Enter")
        checks.contains("name and host", screen, r"^ lt on client")
        checks.contains("state at that instant", screen, r"^ state +running on CPU 1 for 109ms")
        checks.contains("ids", screen, r"^ IDs +tid 1455  pid 1455  ppid 858")
        checks.contains("parents", screen, r"^ parents +agent.py 858 ← systemd 1")
        checks.contains("open files with their traffic", screen, r"libc\.so\.6")
        checks.contains("calls", screen, r"^wait4 ")
        screen = t.press("Left")
        checks.contains("details of another instant, before its exec", screen, r"^ bash on client[\s\S]*born 14:07:08")
        screen = t.press("(")
        checks.contains("before it was born", screen, "does not exist in this interval")
        checks.contains("Esc goes back", t.press("Escape"), r"▼CPU%")
        t.press("7")
        t.keys("Enter")
        t.wait(r"this row has no details; 2 \(I/O\), sorted by DISKRQ/s \(F6\), shows whose requests they\s+were; l lists its longest\s+durations")
        checks.contains("what l lists", t.press("l"), "vda.*longest ")


def overlays(checks):
    with open_at() as t:
        t.keys("F1")
        t.wait("─ Help")
        t.keys("End")
        screen = t.sync()
        checks.contains("help explains the pane's columns", screen, r"born in the shown interval")
        checks.contains("help of columns", t.press("Up", "Up", "Up", "Up", "Up"), r"CPU%|SWITCH|READY")
        help_text = t.press("Home")
        for _ in range(12):
            help_text += t.press("PgDn")
        checks.contains("help of the first lines", help_text, r"tasks, fds +threads and open files at the end")
        t.keys("Escape", "F2").wait("Setup")
        columns = t.sync() + t.press("PgDn") + t.press("PgDn") + t.press("PgDn")
        checks.contains("a cell without a value", columns, r"BORN +Time of its fork; '-' if before tracing started")
        checks.lacks("a cell without a value: only in reports it is null", columns, r"\bnull\b")
        t.keys("Escape")
        t.wait_gone("─ Help")
        t.keys("L")
        t.wait("data quality")
        checks.contains("messages: sources", t.sync(), r"tracer +lttng-modules 2\.13")
        t.keys("Escape", "H")
        t.wait("─ Hosts")
        screen = t.press("Home", "Space", "Escape")
        checks.contains("a hidden host", screen, r"client hidden")
        checks.check("its rows are gone", not any(re.search(r"\bclient\b", row) for row in rows(screen)))
        t.keys("H")
        t.wait("─ Hosts")
        t.press("Home", "Space", "Escape")
        t.keys("F2")
        t.wait("─ Setup")
        t.press("/", "Escape")
        t.keys("S")
        t.wait("─ Setup")
        t.press("Home", "Space", "Escape")
        checks.lacks("setup: no host lines", t.screen(), r"^ client ▇")


def typed_ahead(checks):
    """Many keys at once: each acts on the result of the one before it, drawn or not."""
    with open_at() as t:
        for pane in "1234567901":
            t.press(pane)
        t.keys_at_once("Right", "5", "Down", "Enter", "Right", "Escape", "Enter", "Left", "Escape", "4", "Down", "Enter",
                       "Escape", "Right", "3", "n", "Escape", "6", "F5", "c", "H", "Home", "Space", "Enter", "2", "Enter",
                       "Escape", "U", "Space", "Space", "f", "9", "Down", "Down", "Enter", "0", "U", "7", "End", "I", "1")
        screen = t.sync()
        checks.contains("typed ahead", screen, "CPU%")
        checks.contains("and still alive", t.press("U", "Home"), "COMMAND")


def time_keys(checks):
    def interval(screen):
        return re.search(r"\[(\S+), (\S+)\[", screen[0]).groups()

    with open_at() as t:
        start = t.screen()
        begin, end = interval(start)
        checks.equal("one interval forward begins where the last ended", interval(t.press("Right"))[0], end)
        checks.equal("back: the same screen", t.press("Left"), start[:-1])
        checks.equal("F8, F7", interval(t.press("F8", "F7")), (begin, end))
        checks.equal("ten forward, ten back", interval(t.press("{", "}")), (begin, end))
        t.keys("IC")
        t.wait(r"^ *this key does nothing here; press F1 for help")
        t.keys("DC")
        t.wait("^ *Delete does nothing here; press F1 for help")
        t.keys("C-o")
        t.wait("^ *this key does nothing here; press F1 for help")
        t.press("m", "x")
        first = interval(t.press("("))
        checks.equal("( is the start", first[0], "14:06:43.347603246")
        checks.equal("' goes to the bookmark", interval(t.press("'", "x")), (begin, end))
        for key in ("m", "'"):
            for cancel in ("Escape", "BSpace"):
                checks.lacks(f"{key}, {cancel}: cancelled", t.press(key, cancel), "bookmark")
            t.keys(key, "1")
            checks.check(f"{key}: a letter", t.wait("a bookmark must be a letter from a to z"))
        checks.contains("' without bookmark", t.keys("'", "y") and [t.wait("no bookmark y").group(0)], "no")
        last = interval(t.press(")"))
        checks.equal(") is the end", last[1], "14:07:15.349729754")
        checks.equal("not past the end", interval(t.press("Right")), last)
        t.keys("b")
        t.wait("^Jump")
        t.text("14:07:08.5").keys("Enter")
        checks.equal("jump to a time of day", interval(t.sync()), (begin, end))
        t.keys("b").text("-5s").keys("Enter")
        checks.equal("jump relative to the end", interval(t.sync())[0], "14:07:10.347603246")
        t.keys("b").text("nonsense").keys("Enter")
        checks.check("a jump to nonsense says so", t.wait("'nonsense' is not a time"))
        t.keys("C-u").text("+25s").keys("Enter")
        t.press("+")
        checks.equal("longer interval", interval(t.screen()), ("14:07:07.347603246", "14:07:09.347603246"))
        t.press("-", "-")
        checks.equal("shorter interval", interval(t.screen())[1], "14:07:09.347603246")
        t.press("+")
        t.keys("b").text("14:07:08.5").keys("Enter", "A")
        checks.check("A marks the interval's start, not the time of the jump", t.wait(r"interval from 14:07:08\.347;"))
        t.keys("b").text("14:07:08.5").keys("Enter")
        t.press("Left", "A", "Right", "Right")
        checks.equal("A, B: an interval of one's own", interval(t.press("B")),
                     ("14:07:07.347603246", "14:07:10.347603246"))
        t.press("Left")
        t.keys("p")
        t.wait(r"^ REPLAY ×1 ")
        t.keys("]")
        t.wait(r"^ REPLAY ×2 ")
        t.keys("[", "[")
        t.wait(r"^ REPLAY ×0.5 ")
        t.keys("=")
        t.wait(r"^ REPLAY ×1 ")
        t.keys("Left")
        t.wait("^ PAUSED ")
        checks.check("speeds, and ← pauses", True)
        t.keys("F9", "]", "]", "]", "]", "]", "]")
        t.wait(r"^ END  .*14:07:15\.349729754")
        checks.check("the replay stops at the end", True)
        t.keys("p")
        t.wait(r"^ REPLAY ×100 ")
        checks.check("p at the end restarts", True)


Checks().run(sorting, selection, empty_lists, selection_follows_entity, following_ends, searching, searching_lists, pasting, foreign_bytes, alt_keys, unknown_keys, keypad, usual_keys, redrawing,
             stopped, modes_while_stopped, filtering, unknown_width, jumping, begins, hidden_hosts, highlighting, trees, function_bar, panes, details, overlays, typed_ahead, time_keys)
