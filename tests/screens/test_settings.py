#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Settings: Save in the setup writes lttngtop.conf, the next start applies it; files that are wrong; --no-config."""

import configparser
import os
import re
import subprocess
import tempfile

from terminal import PROGRAM, Checks, Terminal, need, skip, unpack

need("tmux", "zstd")
RECORDING = unpack("three-tier") or skip("no recording three-tier")
HOME = tempfile.mkdtemp(prefix="settings-")
FILE = os.path.join(HOME, "lttngtop", "lttngtop.conf")


def open_at(*options, home=HOME, **more):
    return Terminal("--paused", "--begin", "+6s", *options, RECORDING, env={"XDG_CONFIG_HOME": home}, ready=r"\A PAUSED", **more).wait_read()


def read(path=FILE):
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str
    with open(path, encoding="utf-8") as f:
        parser.read_file(f)
    return {section: dict(parser[section]) for section in parser.sections()}


def head(screen):
    return next(line for line in screen if "COMMAND" in line).split()


def saved(checks):
    """Changes are there again after Save, and only then; nothing else writes the file."""
    with open_at() as t:
        before = head(t.screen())
        t.choose("F2", "─ Setup", re.escape("a line per host"))
        checks.lacks("no host lines", t.sync(), "^ client ")
        t.keys("q")
        t.status()
    checks.check("without Save there is no file", not os.path.exists(FILE))

    with open_at() as t:
        checks.contains("the lines are back", t.screen(), "^ client ")
        t.choose("F2", "─ Setup", re.escape("a line per host"))
        t.choose("F2", "─ Setup", re.escape("READY "))
        t.choose("F2", "─ Setup", re.escape("longer interval than 1s"))
        t.press("Escape")
        t.press("F6")
        t.keys("Escape", "I")
        t.choose("F2", "─ Setup", re.escape("Save: "))
        t.wait(r"settings saved to\s+/")
        wanted = t.sync()
        t.keys("q")
        checks.equal("left well", t.status(), 0)
    checks.check("READY is no longer shown", "READY" in before and "READY" not in head(wanted), head(wanted))
    file = read()
    checks.equal("the screen's settings", file["screen"], {"host-lines": "false", "host-percent": "false", "interval": "2s"})
    checks.check("the list's columns", "ready" not in file["list cpu"]["columns"].split()
                 and {"tid", "comm"} <= set(file["list cpu"]["columns"].split()), file)
    checks.equal("its order", file["list cpu"]["sort"], "-cpu_percent")
    checks.equal("the directory is private", os.stat(os.path.dirname(FILE)).st_mode & 0o777, 0o700)

    with open_at() as t:
        screen = t.sync()
        checks.equal("the same head", head(screen), head(wanted))
        checks.lacks("no host lines", screen, "^ client ")
        times = re.search(r":(\d\d\.\d+), \S+:(\d\d\.\d+)\[", screen[0]).groups()
        checks.equal("an interval of 2 s", round(float(times[1]) - float(times[0]), 3), 2.0)
    with open_at("--no-config") as t:
        checks.contains("--no-config: as ever", t.sync(), "^ client ")
        checks.check("all columns", "READY" in head(t.screen()))
        t.choose("F2", "─ Setup", re.escape("Save: "))
        t.wait("--no-config")
    with open_at("--interval", "500ms") as t:
        times = re.search(r":(\d\d\.\d+), \S+:(\d\d\.\d+)\[", t.sync()[0]).groups()
        checks.equal("the command line wins", round(float(times[1]) - float(times[0]), 3), 0.5)


def counters(checks):
    """The order of the counters' table, whose columns depend on the recording."""
    home = tempfile.mkdtemp(prefix="settings-")
    with open_at(home=home, size=(120, 30)) as t:
        t.choose("P", "Panes", "Perf")
        t.wait("▼context_switches")
        t.choose("F6", "Sort by", "minor_faults")
        t.wait("▼minor_faults")
        t.choose("F2", "─ Setup", re.escape("Save: "))
        t.wait("settings saved")
    with open_at(home=home, size=(120, 30)) as t:
        t.choose("P", "Panes", "Perf")
        t.wait(" minor_faults|▼minor_faults")
        screen = t.sync()
        checks.contains("the order is as saved", screen, "▼minor_faults")
        at = next(i for i, line in enumerate(screen) if "minor_faults" in line)
        end = screen[at].index("minor_faults") + len("minor_faults")
        values = [line[:end].split()[-1] for line in screen[at + 1:] if re.match(r" +\d+ +\d+ ", line)]
        checks.check("so are the rows", len(values) > 3 and values == sorted(values, key=int, reverse=True), values)


def hidden_order(checks):
    """What the list is sorted by is not among the columns that are saved, but shown as long as it is."""
    home = tempfile.mkdtemp(prefix="settings-")
    with open_at(home=home) as t:
        before = head(t.sync())
        t.choose("F6", "─ Sort by", "CGRP NS")
        wanted = head(t.sync())
        checks.check("the column is shown", "▼CGRP" in wanted and "▼CGRP" not in before, wanted)
        t.choose("F2", "─ Setup", re.escape("Save: "))
        t.wait("settings saved")
    group = read(os.path.join(home, "lttngtop", "lttngtop.conf"))["list cpu"]
    checks.equal("only as the order", ("cgroup_ns" in group["columns"], group["sort"]), (False, "cgroup_ns"))
    with open_at(home=home) as t:
        checks.equal("shown again", head(t.sync()), wanted)
        t.choose("F6", "─ Sort by", "CPU%")
        checks.equal("and then no longer", head(t.sync()), before)


def kept(checks):
    """Unknown groups and comments are kept; a link remains a link."""
    real = os.path.join(HOME, "dotfile")
    link = os.path.join(HOME, "link.conf")
    with open(real, "w", encoding="utf-8") as f:
        f.write("# mine\n[later]\nthing=1\n\n[list syscalls]\ncolumns=name count\n")
    os.symlink(real, link)
    with open_at("--config", link) as t:
        checks.contains("columns of the file", t.press("5"), "^CALL +COUNT$")
        t.choose("F2", "─ Setup", re.escape("Save: "))
        t.wait("settings saved")
    checks.check("the link is a link", os.path.islink(link))
    with open(real, encoding="utf-8") as f:
        text = f.read()
    checks.check("the comment and the group stay", "# mine" in text and "[later]\nthing=1" in text, text)


def wrong(checks):
    """Files that are wrong are named; the screen still comes up, and settings that make sense are applied."""
    def start(name, text, pattern, mode=0o644):
        path = os.path.join(HOME, name)
        with open(path, "wb") as f:
            f.write(text)
        os.chmod(path, mode)
        with open_at("--config", path, size=(120, 60)) as t:
            t.wait(pattern)
            screen = t.sync()
            t.keys("L")
            t.wait("data quality")
            return screen, t.sync()

    screen, log = start("no-keys", b"columns everywhere\n", "settings ignored, L shows why: /")
    checks.contains("no key file: the defaults", screen, "^ client ")
    checks.contains("and why", log, "columns everywhere")
    with open_at("--config", os.path.join(HOME, "no-keys"), size=(120, 60)) as t:
        t.choose("F2", "─ Setup", re.escape("Save: "))
        t.wait("not saved: .* could not be read as settings")
    with open(os.path.join(HOME, "no-keys"), "rb") as f:
        checks.equal("it is not overwritten", f.read(), b"columns everywhere\n")
    _, log = start("binary", bytes(range(256)) * 10, "settings ignored")
    checks.contains("a binary file", log, "settings of .*ignored")
    _, log = start("large", b"#" * (2 << 20), "settings ignored")
    checks.contains("a large file", log, "too large")
    screen, log = start("senseless", b"[screen]\nhost-lines=perhaps\ninterval=-3s\n[list cpu]\ncolumns=tid nonsense\x1b[31m comm\n"
                        b"sort=nothing\n", "^F1Help")
    checks.equal("columns that are there", [w for w in head(screen) if w != "HOST"], ["TID", "COMMAND"])
    for word in ("perhaps", "-3s", "nonsense", "nothing"):
        checks.contains(f"warned of {word}", log, re.escape(word))
    checks.lacks("no control characters", log, "\x1b")
    with open_at("--config", "/") as t:
        t.wait("settings ignored")
    with open_at("--config", os.path.join(HOME, "none", "new.conf")) as t:
        t.choose("F2", "─ Setup", re.escape("Save: "))
        t.wait("settings saved")
    checks.check("a new file in a new directory", read(os.path.join(HOME, "none", "new.conf")))
    with open_at("--config", os.path.join(RECORDING, "db", "kernel", "metadata", "x")) as t:
        t.choose("F2", "─ Setup", re.escape("Save: "))
        t.wait("not saved:")
    with open_at("--config", "/proc/none/new.conf") as t:
        t.choose("F2", "─ Setup", re.escape("Save: "))
        t.wait("cannot (make|save)")


def groups(checks):
    """The manual says after which tables the groups of lists are named."""
    with open(os.path.join(os.environ["SRCDIR"], "man", "lttngtop.1"), encoding="utf-8") as f:
        text = re.search(r"A group such as \[list cpu\] .*?:", f.read())[0]
    others = re.findall(r"(\w+) \(pane \w+\)", text)
    path = os.path.join(HOME, "all.conf")
    with open_at("--config", path, size=(120, 40)) as t:
        first = t.sync()[5]
        t.press("Tab")
        while t.sync()[5] != first:
            t.press("Tab")
        t.choose("F2", "─ Setup", re.escape("Save: "))
        t.wait("settings saved")
    lists = {group.split()[1] for group in read(path) if group.startswith("list ")}
    reports = {name for name in lists if subprocess.run([PROGRAM, "report", name, "--help"], check=False, stdout=subprocess.DEVNULL,
                                                        stderr=subprocess.DEVNULL).returncode == 0}
    checks.check("many are tables of reports", len(reports) > 15, reports)
    checks.equal("the others", sorted(lists - reports), sorted(others))


Checks().run(saved, counters, hidden_order, kept, wrong, groups)
