#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Accounts on the screen: clients with their servers on all hosts below them, equal to the report; order, branches,
filter, search, the path behind a row; other windows, also those that are read again; every kind of terminal."""

import datetime
import json
import os
import re
import subprocess

from terminal import PROGRAM, Checks, Failed, Terminal, need, skip, unpack

need("tmux", "zstd")
RECORDING = unpack("three-tier") or skip("no recording three-tier")
UNITS = {"ns": 1, "µs": 1e3, "us": 1e3, "ms": 1e6, "s": 1e9}
FIGURES = [f"{what}_{part}_ns" for what in ("cpu", "disk", "network") for part in ("self", "sub", "total")]
HEADS = {head + part: f"{figure}_{part.strip().lower() or 'total'}_ns"
         for head, figure in (("CPU", "cpu"), ("DISK", "disk"), ("NET", "network")) for part in (" SELF", " SUB", "")}
WIDE = (200, 200)  # all rows at once


def open_at(*options, **more):
    """At the end of the recording, where the pane's window is all of it."""
    return settled(open_pane(*options, **more))


def open_pane(*options, size=(80, 24), env=None, begin="+9s"):
    t = Terminal("--paused", "--begin", begin, *options, RECORDING, size=size, env=env,
                 ready=r"\[(2026-11-20 )?14:07:").wait_read()
    t.keys("P")
    t.wait("Panes")
    t.keys("End", "Enter")
    t.wait("^ window ")
    return t


def settled(t):
    """Waits until the accounts are those of the window."""
    t.sync()
    t.wait(r"COMMAND\n +\d+ ")
    t.wait_gone("computing|reading")
    return t


def filtered(t, text):
    t.keys("F4")
    t.wait("^Filter:")
    t.keys("C-u").text(text).keys("Enter")
    return t.sync()


def duration(text):
    """In ns, and how much it may be off."""
    if text == "0":
        return 0, 0
    number, unit = re.fullmatch(r"([\d.]+)(ns|µs|us|ms|s)", text).groups()
    digits = len(number.split(".")[1]) if "." in number else 0
    return float(number) * UNITS[unit], UNITS[unit] * 10.0 ** -digits


def rows_of(screen):
    """The visible rows: (depth, host, pid, comm, {figure: text}); at 80 columns, the figures there is room for."""
    at = next(i for i, line in enumerate(screen) if line.endswith("COMMAND"))
    command = screen[at].index("COMMAND")
    heads = [HEADS[head] for head in re.findall("|".join(HEADS), screen[at].split("HOST", 1)[1])]
    out = []
    for line in screen[at + 1:]:
        words = line.split()
        if not words or not words[0].isdigit():
            break
        branch, comm = re.fullmatch(r"((?:[├└|`][─-])?)(.*)", line[command:]).groups()
        out.append((1 if branch else 0, words[1], int(words[0]), comm, dict(zip(heads, words[2:2 + len(heads)]))))
    return out


def all_rows(t):
    """The rows of the whole list, for which the screen is high enough."""
    screen = t.press("Home")
    n = int(re.search(r"/(\d+)$", next(line for line in screen if " Accounting " in line)).group(1))
    rows = rows_of(screen)
    if len(rows) != n:
        raise Failed(f"{n} rows do not fit the screen")
    return rows


def report(*options):
    run = subprocess.run([PROGRAM, "report", "accounting", "--json", *options, RECORDING], stdout=subprocess.PIPE,
                         text=True, check=True)
    return json.loads(run.stdout)["rows"]


def tree_of(reported, key):
    """The report's rows as on the screen: (depth, row), siblings ordered by what key returns, the greatest first."""
    own = {(row["host"], row["pid"]): [] for row in reported if row["client_pid"] is None}
    for row in reported:
        if row["client_pid"] is not None:
            own[row["client_host"], row["client_pid"]].append(row)
    out = []
    for row in sorted((row for row in reported if row["client_pid"] is None), key=key, reverse=True):
        out.append((0, row))
        out += [(1, r) for r in sorted(own[row["host"], row["pid"]], key=key, reverse=True)]
    return out


def differences(shown, expected, key):
    """Compares rows on the screen with (depth, row) of the report; siblings with equal keys may be in any order."""
    problems = [] if len(shown) == len(expected) else [f"{len(shown)} rows are shown, {len(expected)} reported"]
    client = None
    left = {}
    for depth, row in expected:
        client = row if depth == 0 else client
        left.setdefault((client["host"], client["pid"]), {})[depth, row["host"], row["pid"]] = row
    parent = None
    for got, (depth, row) in zip(shown, expected):
        parent = got[1:3] if got[0] == 0 else parent
        wanted = left.get(parent, {}).pop(got[:3], None)
        if not wanted or got[0] != depth or key(wanted) != key(row):
            problems.append(f"shown {got}, reported {depth} {row}")
            continue
        for figure, text in got[4].items():
            ns, error = duration(text)
            if abs(ns - wanted[figure]) > error:
                problems.append(f"{got[1:4]}: {figure} {text}, reported {wanted[figure]}")
        if got[3] != wanted["comm"]:
            problems.append(f"{got[1:4]}: reported as {wanted['comm']}")
    return problems


def cpu(row):
    return row["cpu_total_ns"]


def whole_screens(checks):
    for name, size, env in (("accounting-80x24", (80, 24), None), ("accounting-160x40", (160, 40), None),
                            ("accounting-ascii-80x24", (80, 24), {"LC_ALL": "C"})):
        with open_at(size=size, env=env) as t:
            screen = t.sync()
            checks.expected(name, screen)
            if env:
                checks.check("ASCII only", "\n".join(screen).isascii(), "\n".join(screen))
                checks.check("ASCII branches", any(row[0] for row in rows_of(screen)), "\n".join(screen))
    with open_at() as t:
        t.resize(40, 10)
        t.wait_for(lambda text: len(text.split("\n")) <= 10, "40x10")
        checks.contains("40x10: the total and the names stay", t.sync(), r"^ *HOST +CPU SELF +▼?CPU +COMMAND\n")
        t.keys("?")
        t.wait(r"Help \(Esc")
        checks.check("help opens on the smallest screen", True)


def as_reported(checks):
    reported = report()
    with open_at(size=WIDE) as t:
        shown = all_rows(t)
        checks.equal("all figures are shown", sorted(shown[0][4]), sorted(FIGURES))
        problems = differences(shown, tree_of(reported, cpu), cpu)
        checks.check(f"{len(shown)} rows are the report's", len(shown) > 100 and not problems, "\n".join(problems[:5]))
        wget = next(i for i, row in enumerate(shown) if row[1:4] == ("client", 1453, "wget"))
        servers = set()
        for row in shown[wget + 1:]:
            if row[0] == 0:
                break
            servers.add(row[1:4:2])
        checks.check("below the client: its servers of two other hosts",
                     {("web", "apache2"), ("db", "postgres")} <= servers, servers)


def another_window(checks):
    """Chosen by hand: the pane's window is that interval."""
    with open_at(size=WIDE, begin="+3s") as t:
        t.keys("A", "Right", "Right", "Right", "B")
        t.wait("^interval from")
        settled(t)
        found = re.search(r"\[2026-11-20 ([\d:.]+), 2026-11-20 ([\d:.]+)\[", t.screen()[0]).groups()
        day = datetime.datetime(2026, 11, 20, tzinfo=datetime.timezone.utc).timestamp()
        begin, end = (int(day) * 10**9 + ((int(h) * 60 + int(m)) * 60) * 10**9 + int(s.replace(".", ""))
                      for h, m, s in (text.split(":") for text in found))
        reported = report("--begin", f"{begin}ns", "--end", f"{end}ns")
        shown = all_rows(t)
        problems = differences(shown, tree_of(reported, cpu), cpu)
        checks.check(f"{len(shown)} rows of {(end - begin) / 1e9:.0f} s are the report's",
                     len(shown) > 50 and len(reported) < len(report()) and not problems, "\n".join(problems[:5]))


def order(checks):
    reported = report()
    with open_at(size=WIDE) as t:
        for key, figure in (((">",) * 6, "network_total_ns"), (("<",) * 7, "cpu_sub_ns")):
            t.press(*key)
            problems = differences(all_rows(t), tree_of(reported, lambda row, f=figure: row[f]),
                                   lambda row, f=figure: row[f])
            checks.check(f"sorted by {figure}", not problems, "\n".join(problems[:5]))
        t.press(">")
        t.press("I")
        totals = [duration(row[4]["cpu_total_ns"])[0] for row in all_rows(t) if row[0] == 0]
        checks.equal("inverted", totals, sorted(totals))
        t.press("I")
        t.press("F5")
        flat = all_rows(t)
        totals = [duration(row[4]["cpu_total_ns"])[0] for row in flat]
        checks.equal("F5: one list, by the total", totals, sorted(totals, reverse=True))
        checks.check("without branches", len(flat) == len(reported) and not any(row[0] for row in flat), flat[:5])
        t.press("F5")
        checks.check("F5: the tree again", any(row[0] for row in all_rows(t)))


def branches(checks):
    with open_at(size=WIDE) as t:
        before = all_rows(t)
        t.press("Home")
        at = next(i for i, row in enumerate(before) if row[1:4] == ("client", 1453, "wget"))
        n = next(i for i, row in enumerate(before[at + 1:]) if row[0] == 0)
        t.press(*["Down"] * at)
        screen = t.press("c")
        checks.contains(f"c: {n} servers are hidden", screen, rf"^ +1453 client .* \+{n} wget$")
        after = rows_of(screen)
        checks.equal("the next client follows", after[at + 1][:4], before[at + n + 1][:4])
        t.keys("Left")
        settled(t)
        t.keys("Right")
        settled(t)
        checks.contains("collapsed at another time, and back", t.sync(), rf"^ +1453 client .* \+{n} wget$")
        t.press("c")
        checks.equal("c: all again", all_rows(t), before)


def finding(checks):
    with open_at(size=WIDE) as t:
        filtered(t, "comm:postgres")
        rows = all_rows(t)
        checks.check("filter: postgres, and those it works for", len(rows) > 10 and all(
            row[0] == 0 or row[3] == "postgres" for row in rows), rows)
        checks.check("its clients stay above it", ("client", 1453, "wget") in [row[1:4] for row in rows if row[0] == 0],
                     rows)
        filtered(t, "host:client pid:1453")
        checks.equal("filter: of one client", [row[1:4] for row in all_rows(t)], [("client", 1453, "wget")])
        filtered(t, "pid:1453")
        rows = all_rows(t)
        checks.check("filter: a client with its servers", len(rows) > 3 and rows[0][1:4] == ("client", 1453, "wget") and
                     all(row[0] == 1 for row in rows[1:]), rows)
        filtered(t, "nosuch")
        checks.contains("filter: nothing", t.screen(), "nothing matches the filter")
        t.keys("F4")
        t.wait("^Filter:")
        t.keys("Escape")
        t.sync()
        t.press("Home")
        t.keys("/")
        t.wait("^Search:")
        t.text("wget").keys("Enter")
        first = t.sync()
        t.keys("n")
        checks.check("search: the next match", t.sync() != first)
        t.keys("Enter")
        t.wait(r" Path [\s\S]*on (web|db|client) ")
        checks.contains("Enter: the path behind the row", t.sync(), r"▶")
        t.press("Escape")
        filtered(t, "host:client pid:1453")
        t.press("Home")
        t.keys("w")
        t.wait(r"wget 1453 on client[\s\S]*▶")
        checks.check("w: the path of the client", True)
        t.press("Escape")
        t.press("t")
        checks.check("back in the pane", " Accounting " in "\n".join(t.screen()))


def read_again(checks):
    """With little memory for the wait graph the window is read again, and gives the same accounts."""
    with open_at(size=WIDE, begin="+6s") as t:
        t.keys("A", "B")
        t.wait("^interval from")
        wanted = all_rows(settled(t))
    with open_pane("--wait-memory", "450k", size=WIDE, begin="+6s") as t:
        t.keys("A", "B")
        t.wait("^interval from")
        got = all_rows(settled(t))
        differ = {(a[:4], figure): (b[4][figure], a[4][figure]) for a, b in zip(got, wanted) if a[:4] == b[:4]
                  for figure in FIGURES if a[4][figure] != b[4][figure]}
        checks.equal("the same accounts", [row[:4] for row in got], [row[:4] for row in wanted])
        checks.equal(f"the same figures of {len(wanted)} accounts", differ, {})


def too_little(checks):
    """Where there is no memory for sums, chains of waits are cut: what is behind is unknown, and it does not hang."""
    for memory in "300k", "250k":
        with open_pane("--wait-memory", memory, size=WIDE, begin="+6s") as t:
            t.keys("A", "B")
            t.wait("^interval from")
            checks.check(f"{memory}: some accounts", len(all_rows(settled(t))) > 20)


def hosts(checks):
    with open_at(size=WIDE) as t:
        n = len(all_rows(t))
        t.keys("H")
        t.wait(r"\[x\] db")
        t.keys("Down", "Space")
        t.wait(r"\[ \] db")
        t.keys("Escape")
        settled(t)
        rows = all_rows(t)
        checks.check("rows of a hidden host are gone", 0 < len(rows) < n and all(row[1] != "db" for row in rows), rows)


def files(checks):
    with open_at() as t:
        path = t.path("list.json")
        t.keys("x")
        t.wait("^Write to")
        t.keys("C-u").text(path).keys("Enter")
        t.wait(r"^\d+ rows? of accounting written to")
        with open(path) as f:
            written = json.load(f)
        wanted = tree_of(report(), cpu)
        checks.equal("written: as many rows as reported", len(written["rows"]), len(wanted))
        checks.equal("written: the greatest first", written["rows"][0]["cpu_total_ns"], wanted[0][1]["cpu_total_ns"])
        checks.check("written: the window's times", written["end_ns"] - written["begin_ns"] > 9 * 10**9,
                     f"{written['begin_ns']} {written['end_ns']}")
        # those of the next window have not been computed when this is written
        path = t.path("next.json")
        t.sync()
        t.keys_at_once("Left", "x", "C-u", path, "Enter")
        t.wait(r"^\d+ rows? of accounting written to")
        with open(path) as f:
            written = json.load(f)

        def accounts(rows):
            return sorted((row["host"], row["pid"], row["cpu_total_ns"]) for row in rows)

        checks.equal("written: the times are those of the rows", accounts(written["rows"]), accounts(report(
            "--begin", f"{written['begin_ns']}ns", "--end", f"{written['end_ns']}ns")))


def too_early(checks):
    """Neither list is written before there are rows."""
    with Terminal("--paused", "--begin", "+6s", "--wait-memory", "450k", RECORDING,
                  ready=r"\[(2026-11-20 )?14:07:").wait_read() as t:
        for name, keys in ("paths", ["8"]), ("accounting", ["P", "End", "Enter"]):
            path = t.path(f"{name}.json")
            t.keys_pending("1", *keys, "x", "C-u", path, "Enter")
            t.wait("written")
            checks.contains(f"{name}: not yet", t.screen(), "^not written: this window is still being read$")
            checks.check(f"{name}: there is no file", not os.path.exists(path))
            t.press("Escape")


Checks().run(whole_screens, as_reported, another_window, order, branches, finding, read_again, too_little, hosts, files,
             too_early)
