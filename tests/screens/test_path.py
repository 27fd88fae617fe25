#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Critical paths on the screen: the list of threads, a path's axis, segments, totals and words; moving, jumping,
comparing; equal to the report; windows read again; every kind of terminal."""

import datetime
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "waits"))
import ctf  # noqa: E402
from terminal import PROGRAM, ROOT, Checks, Terminal, need, skip, unpack

need("tmux", "zstd")
RECORDING = unpack("three-tier") or skip("no recording three-tier")
UNITS = {"ns": 1, "µs": 1e3, "us": 1e3, "ms": 1e6, "s": 1e9}


def open_at(*options, size=(80, 24), env=None, begin="+6s"):
    return Terminal("--paused", "--begin", begin, *options, RECORDING, size=size, env=env,
                    ready=r"\[(2026-11-20 )?14:07:[01]").wait_read()


def open_path(terminal, comm="wget"):
    """The path of the first thread with that name in the CPU pane."""
    terminal.keys("1", "F4")
    terminal.wait("^Filter:")
    terminal.text(f"comm:{comm}").keys("Enter", "w")
    terminal.wait(r"unexplained[\s\S]*▶|unexplained[\s\S]*^ > ")
    return terminal.sync()


def seconds(text):
    """ "14:07:11.642217846" as ns of the day."""
    h, m, s = text.split(":")
    whole, fraction = (s.split(".") + ["0"])[:2]
    return (int(h) * 3600 + int(m) * 60 + int(whole)) * 10**9 + int(fraction.ljust(9, "0"))


def interval(screen):
    found = re.search(r"\[(?:[\d-]+ )?([\d:.]+), (?:[\d-]+ )?([\d:.]+)\[", screen[0])
    return found.group(1), found.group(2)


def status(screen):
    """The number of the selected segment, and how many there are."""
    found = re.search(r"(\d+)/(\d+)$", next(line for line in screen if " Path " in line))
    return int(found.group(1)), int(found.group(2))


def words(screen):
    i = next(k for k, line in enumerate(screen) if line.startswith((" ▶ ", " > ")))
    return " ".join(line.strip() for line in screen[i:i + 2])


def duration(text):
    number, unit = re.fullmatch(r"([\d.]+)(ns|µs|us|ms|s)", text).groups()
    digits = len(number.split(".")[1]) if "." in number else 0
    return float(number) * UNITS[unit], UNITS[unit] * 10.0 ** -digits


def segments(screen):
    """The rows of the list of segments: (start, length, state, who)."""
    i = next(k for k, line in enumerate(screen) if line.startswith(" BEGIN "))
    out = []
    for line in screen[i + 1:]:
        found = re.match(r" (\d\d:\d\d:\d\d\.\d{6}) +([\d.]+[nµum]?s) . (\w+) +(.*?)(?:  .*)?$", line)
        if found:
            out.append(found.groups())
    return out


def sums(screen):
    """The rows of the totals: {(state, process): (ns, error)}."""
    i, x = next((k, line.index("TOTAL  SHARE")) for k, line in enumerate(screen) if "TOTAL  SHARE" in line)
    out = {}
    for line in screen[i + 1:]:
        found = re.match(r" *([\d.]+[nµum]?s) +<?([\d.]+)% (.) (\w+) +(.*?)(?: {2,}.*)?$", line[max(x - 4, 0):])
        if found:
            out[found.group(4), found.group(5).strip()] = duration(found.group(1))
    return out


def whole_screens(checks):
    for name, size, env, options in (
            ("path-80x24", (80, 24), None, []),
            ("path-160x50", (160, 50), None, []),
            ("path-ascii-80x24", (80, 24), {"LC_ALL": "C"}, []),
            ("path-mono-80x24", (80, 24), {"NO_COLOR": "1"}, [])):
        with open_at(*options, size=size, env=env) as t:
            screen = open_path(t)
            checks.expected(name, screen)
            if env and "LC_ALL" in env:
                checks.check("ASCII only", "\n".join(screen).isascii(), "\n".join(screen))
            if env and "NO_COLOR" in env:
                raw = "\n".join(t.screen(styles=True))
                checks.check("mono: no colours", not re.search(r"\x1b\[[0-9;]*(3[0-7]|38;5|4[0-7]|48;5)", raw), raw)
                checks.check("mono: the selection shows", re.search(r"\x1b\[[0-9;]*7m", raw), raw)
    with open_at() as t:
        t.keys("8")
        t.wait("requests first[\\s\\S]* runit")
        checks.expected("paths-80x24", t.sync())


def list_of_threads(checks):
    with open_at() as t:
        t.keys("8")
        t.wait("requests first[\\s\\S]* runit")
        checks.contains("the window", t.sync(), r"^ window \[14:07:05\.642, 14:07:12\.642\[ 7\.00s")
        screen = t.press(">")
        checks.contains("sorted by another column", screen, r"▼OWN")
        t.keys("F4")
        t.wait("^Filter:")
        t.text("comm:wget").keys("Enter")
        checks.contains("filtered", t.sync(), r"^ +1453 +1453 client .* wget$")
        t.keys("H")
        t.wait(r"\[x\] client")
        t.keys("Space")
        t.wait(r"\[ \] client")
        t.keys("Escape")
        checks.lacks("no rows of a hidden host", t.sync(), r"^ +\d+ +\d+ client ")
        t.keys("H")
        t.wait(r"\[ \] client")
        t.keys("Space")
        t.wait(r"\[x\] client")
        t.keys("Escape")
        checks.contains("shown again", t.sync(), r"^ +\d+ +\d+ client ")
        t.keys("Enter")
        t.wait(r"wget 1453 on client[\s\S]*▶")
        checks.contains("Enter opens the path", t.sync(), r"^ client wget 1453 +█")
        checks.contains("Esc goes back to the list", t.press("Escape"), "▼OWN")
        screen = t.press("-")
        checks.contains("a shorter window", screen, r"^ window \[14:07:07\.642, 14:07:12\.642\[ 5\.00s")
        screen = t.press("+")
        checks.contains("a longer one", screen, r"^ window \[14:07:05\.642, 14:07:12\.642\[ 7\.00s")
        t.keys("?")
        t.wait(r"Help \(Esc")
        t.keys("End", "Up", "Up", "Up")
        t.wait("nothing in the trace explains it")
        checks.check("help lists the states", True)
        t.keys("Escape")
        t.wait_gone(r"Help \(Esc")
        t.keys("F4")
        t.wait("^Filter:")
        t.keys("Escape")
        t.sync()
        t.press("9", "Down", "Down", "Down", "Down")
        t.keys("w")
        t.wait("this row does not belong to a thread")
        checks.check("w needs a thread", True)


def requests_first(checks):
    """The threads whose paths the report shows come first, those of the kernel and of LTTng last, in the order of the
    column; an order that is chosen is that of the column alone."""
    def falling(rows):
        others = [row["others_ns"] for row in rows]
        return others == sorted(others, reverse=True)

    with open_at() as t:
        t.keys("8")
        t.wait("requests first[\\s\\S]* runit")
        got = t.written(t.path("ranked.json"))
        rows = got["rows"]
        run = subprocess.run([PROGRAM, "report", "critical-path", "--json", "--begin", f"{got['begin_ns']}ns", "--end",
                              f"{got['end_ns']}ns", RECORDING], stdout=subprocess.PIPE, text=True, check=True)
        requests = {(row["path_host"], row["path_tid"]) for row in json.loads(run.stdout)["rows"]}
        n = len(requests)
        checks.equal("the report's threads", {(row["host"], row["tid"]) for row in rows[:n]}, requests)
        names = [row["comm"] for row in rows]
        last = min(names.index(name) for name in ("Notification", "kthreadd", "ksoftirqd/0"))
        checks.check("the kernel's and LTTng's own are last", n < last and not set(names[last:]) & {
            "apache2", "postgres", "systemd", "systemd-journal", "wget"}, names)
        checks.check("each part in the order of the column", n > 5 and falling(rows[:n]) and falling(rows[n:last]) and
                     falling(rows[last:]), rows)
        t.choose("F6", "Sort by", "^ OTHERS ")
        checks.lacks("chosen from the menu: the column alone", t.sync(), "requests first")
        checks.check("falling from the first to the last", falling(t.written(t.path("sorted.json"))["rows"]))
    with open_at() as t:
        t.keys("8")
        t.wait("requests first[\\s\\S]* runit")
        t.press(">")
        checks.lacks("another column", t.press("<"), "requests first")
        checks.check("and back: the user's choice", falling(t.written(t.path("back.json"))["rows"]))
        t.choose("F6", "Sort by", "^ requests first")
        t.wait("requests first[\\s\\S]* runit")
        t.keys("F6")
        t.wait("Sort by")
        t.keys("Enter")
        t.wait_gone("Sort by")
        checks.contains("chosen again", t.sync(), "requests first")


def narrow_list(checks):
    """The window, and the order where there is room for both."""
    with open_at(size=(80, 12)) as t:
        t.keys("8")
        t.wait(r" requests first\n.*COMMAND\n +\d+ ")
        for width, order in (40, ""), (45, ""), (50, ""), (51, " requests first"), (56, " {6}requests first"):
            t.resize(width, 12)
            t.wait(rf"^ \[14:07:05\.642, 14:07:12\.642\[ 7\.00s{order}$")
            checks.check(f"{width} columns: the heading of the list is whole", True)


def small_screen(checks):
    """A segment and a total are shown rather than headings; the window, if there is room for all of it."""
    with open_at(size=(100, 12)) as t:
        who = r"^ wget 1453 on client"
        checks.contains("100x12: the window", open_path(t), who + r" +(window )?\[14:07:05\.642, 14:07:12\.642\[ 7\.00s ")
        t.resize(40, 12)
        t.wait(who + "$")
        screen = t.sync()
        checks.contains("40x12: a segment", screen, r"^ ▶ .*\n 14:07:\d\d\.\d{6} +\S+ . \S")
        checks.lacks("and no headings", screen, "^ BEGIN")
        screen = t.press("Down")
        checks.contains("the next one", screen, r"^ ▶ .*\n 14:07:\d\d\.\d{6} +\S+ . \S")
        checks.contains("s: a total", t.press("s"), r"^ ▶ .*\n +\S+s +[\d.]+% . \S")


def walking(checks):
    with open_at() as t:
        first = open_path(t)
        at, n = status(first)
        shown = interval(first)
        checks.check("many segments", n > 50, n)
        screen = t.press("Down")
        checks.equal("Down: the next segment", status(screen)[0], at + 1)
        checks.check("in words", words(screen) != words(first), words(screen))
        checks.equal("time stays", interval(screen), shown)
        checks.equal("Up: back", t.press("Up"), first)
        checks.equal("End: the last one", status(t.press("End"))[0], n)
        screen = t.press("Home")
        checks.equal("Home: the first one", status(screen)[0], 1)
        t.press("Down", "Down", "Down")
        screen = t.press("s")
        checks.contains("s: totals", screen, r"TOTAL  SHARE STATE +PROCESS")
        checks.contains("segments again", t.press("s"), r"^ BEGIN +LENGTH STATE")
        begin = segments(t.screen())[3][0]
        t.keys("Left")
        screen = t.sync()
        checks.check("Left: time goes back", interval(screen)[1] == shown[0], screen[0])
        t.keys("Right")
        t.wait(r"▶")
        t.sync()
        t.keys("Enter")
        t.wait(rf"^at {begin}")
        screen = t.sync()
        from_ns, to_ns = (seconds(text) for text in interval(screen))
        checks.check("Enter: time goes to the segment", from_ns <= seconds(begin) < to_ns, f"{begin}: {screen[0]}")


def as_reported(checks):
    """Segments and totals over a chosen interval equal the report's."""
    with open_at(size=(160, 60)) as t:
        t.keys("1", "A", "Right", "B")
        t.wait("^interval from")
        screen = open_path(t)
        found = re.search(r"\[([\d-]+ [\d:.]+), ([\d-]+ [\d:.]+)\[", screen[0]).groups()
        day = int(datetime.datetime(2026, 11, 20, tzinfo=datetime.timezone.utc).timestamp()) * 10**9
        begin, end = (day + seconds(text.split(" ")[1]) for text in found)
        reports = {}
        for table in ("critical-path", "critical-totals"):
            run = subprocess.run([PROGRAM, "report", table, "--json", "--host", "client", "--tid", "1453", "--begin",
                                  f"{begin}ns", "--end", f"{end}ns", RECORDING], stdout=subprocess.PIPE, text=True,
                                 check=True)
            reports[table] = json.loads(run.stdout)["rows"]
        path = reports["critical-path"]
        checks.equal("as many segments", status(screen)[1], len(path))
        shown = {}
        t.press("Home")
        for _ in range(8):
            shown.update({row[0]: row for row in segments(t.screen()[:-1])})
            t.press("PgDn")
        labels = {"block_device": "disk", "preempted": "ready", "blocked": "unexplained"}
        problems = []
        for row in path:
            key = datetime.datetime.fromtimestamp(row["begin_ns"] // 10**9, datetime.timezone.utc).strftime("%H:%M:%S")
            got = shown.get(f"{key}.{row['begin_ns'] % 10**9 // 1000:06}")
            if not got:
                problems.append(f"not shown: {row}")
                continue
            ns, error = duration(got[1])
            who = f"{row['comm']} {row['tid']} on {row['host']}" if row["tid"] > 0 else f"of {row['host']}"
            state = "wire" if row["wire"] else labels.get(row["state"], row["state"])
            if abs(ns - (row["end_ns"] - row["begin_ns"])) > error or state != got[2] or who not in got[3]:
                problems.append(f"shown {got}, reported {row}")
        checks.check(f"all {len(path)} segments are the report's", len(path) > 50 and not problems,
                     "\n".join(problems[:5]))
        reported = {}
        for row in reports["critical-totals"]:
            if row["state"] in ("running", "preempted") and (row["pid"] or 0) > 0:
                key = labels.get(row["state"], row["state"]), f"{row['host']} {row['comm']} {row['pid']}"
                reported[key] = reported.get(key, 0) + row["total_ns"]
        got = sums(t.screen())
        problems = [f"{key}: shown {got.get(key)}, reported {ns}" for key, ns in reported.items()
                    if key not in got or abs(got[key][0] - ns) > got[key][1]]
        checks.check(f"{len(reported)} totals are the report's", len(reported) > 5 and not problems,
                     "\n".join(problems + [str(got)]))


def write(t, path):
    t.keys("x")
    t.wait("^Write to")
    t.keys("C-u").text(path).keys("Enter")
    t.wait("written")
    lines = t.screen()  # a long message takes several
    start = max(i for i, line in enumerate(lines) if "written" in line)
    return " ".join(line.strip() for line in lines[start:])


def written(checks):
    """x writes what the report prints, for the shown thread and window."""
    with open_at(size=(160, 60)) as t:
        t.keys("1", "A", "Right", "B")
        t.wait("^interval from")
        open_path(t)
        for table in ("critical-path", "critical-totals"):
            for form in ("json", "csv", "txt"):
                said = write(t, t.path(f"{table}.{form}"))
                checks.check(f"{table} as {form}", re.match(rf"^\d+ rows of {table} written to", said), said)
            t.press("s")
        for table in ("critical-path", "critical-totals"):
            with open(t.path(f"{table}.json")) as f:
                got = json.load(f)
            wanted = {}
            for form in ("json", "csv", "txt"):
                run = subprocess.run([PROGRAM, "report", table, *([f"--{form}"] if form != "txt" else []), "--host",
                                      "client", "--tid", "1453", "--begin", f"{got['begin_ns']}ns", "--end",
                                      f"{got['end_ns']}ns", RECORDING], stdout=subprocess.PIPE, text=True, check=True,
                                     env=dict(os.environ, TZ="UTC", LC_ALL="C.UTF-8"))
                wanted[form] = run.stdout
            report = json.loads(wanted["json"])
            checks.check(f"{table}: rows", len(report["rows"]) > (50 if table == "critical-path" else 10), report)
            checks.equal(f"{table}: JSON", got, report)
            with open(t.path(f"{table}.csv")) as f:
                checks.equal(f"{table}: CSV", f.read(), wanted["csv"])
            with open(t.path(f"{table}.txt")) as f:
                # totals: the report starts with the greatest, the screen follows the order of its list
                checks.equal(f"{table}: text", sorted(f.read().splitlines()), sorted(wanted["txt"].splitlines()))


def written_list(checks):
    """x on the list of threads: its window, its rows."""
    with open_at() as t:
        t.keys("8")
        t.wait("requests first[\\s\\S]* runit")
        said = write(t, t.path("paths.json"))
        rows = int(re.search(r"/(\d+)$", next(line for line in t.screen() if " Paths " in line)).group(1))
        checks.check("all rows", said.startswith(f"{rows} rows of paths written to "), said)
        with open(t.path("paths.json")) as f:
            got = json.load(f)
        first = datetime.datetime(2026, 11, 20, 14, 7, 5, tzinfo=datetime.timezone.utc)
        checks.equal("the window, not the interval", (got["end_ns"] - got["begin_ns"], got["begin_ns"] // 10**9),
                     (7 * 10**9, int(first.timestamp())))
        first = next(line for line in t.press("Home") if re.match(r" +\d+ +\d+ (client|web|db) ", line)).split()
        checks.equal("in the list's order", [str(got["rows"][0][key]) for key in ("tid", "pid", "host")], first[:3])
        others, error = duration(first[3])
        checks.check("its figures", abs(got["rows"][0]["others_ns"] - others) <= error, f"{got['rows'][0]}: {first}")
        with open(os.path.join(ROOT, "man", "lttngtop.1")) as f:
            checks.contains("no report has its name: the manual says so", f.read().split("\n"),
                            rf"^\.B Paths\n.* in a file of key x: {got['table']}$")
        said = write(t, t.path("paths.json"))
        checks.check("a file is not written over", "file exists" in said, said)
        checks.contains("another name can be given", t.screen(), r"^Write to .*: \S*/paths\.json$")
        t.keys("C-a").text("/nowhere").keys("Enter")
        t.wait("No such file")
        checks.contains("and again", t.screen(), r"^Write to .*: /nowhere/")
        t.keys("C-e", "C-u").text(t.path("others.json")).keys("Enter")
        t.wait("^[0-9]+ rows? of paths written to")
        checks.lacks("then it is closed", t.sync(), "^Write to")
        with open(t.path("others.json")) as f:
            checks.equal("written", json.load(f)["rows"], got["rows"])
        resource.prlimit(t.program_pid(), resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
        said = write(t, "full.json")
        checks.check("a file that cannot be written is named",
                     re.match("not written: full.json: cannot write the report: File too large", said), said)


def comparing(checks):
    with open_at(size=(100, 40)) as t:
        t.keys("1", "-", "A", "B")
        t.wait("^interval from")
        open_path(t)
        totals = sums(t.press("s"))
        checks.check("something is compared", totals, t.screen())
        t.keys("C")
        t.wait("^the next path will be compared")
        t.press("Right", "-")
        t.wait(r"FIRST +THIS +CHANGE")
        screen = t.sync()
        total = next(line for line in screen if line.startswith("   total"))
        a, b, change = re.findall(r"[−-]?\+?[\d.]+(?:ns|µs|ms|s)", total)
        length = sum(ns for ns, _ in totals.values())
        checks.check("the first one's total", abs(duration(a)[0] - length) < 0.02 * length, f"{total}: {length}")
        difference = duration(b)[0] - duration(a)[0]
        checks.check("the change", abs(duration(change.lstrip("+−-"))[0] - abs(difference)) <= 2 * duration(a)[1] +
                     2 * duration(b)[1], total)
        checks.contains("by program", screen, r"^ . running .* web apache2$")
        checks.lacks("C: no more", t.press("C"), r"FIRST +THIS")
        t.keys("C")
        t.wait("^the next path will be compared")
        t.press("8")
        t.keys("C")
        t.wait("^comparison off")
        t.keys("C")
        t.wait("^open one thread's path with w, then compare")


def over_midnight(checks):
    """In a zone where midnight is within the shown interval: what is of the day after it starts has its date."""
    # 14:07:12 UTC is midnight
    early = {"TZ": "EARLY-9:52:48"}
    for size in ((80, 24), (100, 30)):
        with Terminal("--paused", "--begin", "+6s", RECORDING, size=size, env=early,
                      ready=r"\[11-20 23:59:5").wait_read() as t:
            screen = open_path(t)
            checks.contains(f"{size}: the window", screen,
                            r"^ wget 1453 on client  .*\[23:59:53\.642, 11-21 00:00:00\.642\[ 7\.00s")
            checks.contains(f"{size}: what is unexplained", screen, r"\[ 7\.00s +\d+\.\d% unexplained$")
            checks.contains(f"{size}: a segment of the same day", t.press("Home"),
                            r"^ {7}23:59:59\.\d{6} +[\d.]+[mµ]s . \w+ +\w+ \d+ on \w+")
            checks.contains(f"{size}: one of the next", t.press("End"),
                            r"^ 11-21 00:00:00\.\d{6} +[\d.]+[mµ]s . \w+ +wget 1453 on client")


def read_again(checks):
    """With little memory for the wait graph the window is read again, and agrees where both have data."""
    with open_at() as t:
        t.keys("1", "A", "B")
        open_path(t)
        wanted = t.press("End")
    with open_at("--wait-memory", "300k") as t:
        t.keys("1", "A", "B")
        open_path(t)
        got = t.press("End")
        checks.contains("the same thread and window", got, r"^ wget 1453 on client +\[14:07:11\.6")
        checks.equal("the same last segments", segments(got), segments(wanted))
        # keys in quick succession: readings are abandoned, the last one counts
        t.keys_at_once("Left", "Left", "Left", "Right", "Right", "Right")
        t.keys("A", "B")
        t.wait(r"unexplained[\s\S]*▶")
        checks.contains("after moving about", t.sync(), r"wget 1453 on client")


def names(checks):
    """Thread 1442 of client is a bash until its sched_process_exec at 14:07:12.644, then a sleep."""
    for begin, name in (("+4s", "bash"), ("+7s", "sleep")):
        with open_at(begin=begin, size=(120, 40)) as t:
            t.keys("F4")
            t.wait("^Filter:")
            t.text("tid:1442").keys("Enter", "w")
            t.wait(r"unexplained[\s\S]*▶")
            screen = t.sync()
            checks.contains(f"the window at {begin}: its name", screen, rf"^ {name} 1442 on client")
            checks.contains(f"the window at {begin}: its lane", screen, rf"^ client {name} 1442 ")
            checks.contains(f"the window at {begin}: its segments", screen, rf" running +{name} 1442 on client")


def after_exit(checks):
    """Thread 476 of nfs exits at 10:49:51.354885, then waits for its CPU and runs until 10:49:51.372356."""
    with Terminal("--paused", "--begin", "1795517391354000000ns", "-i", "10ms", unpack("nfs"),
                  size=(100, 24)).wait_read() as t:
        open_path(t, "mount tid:476")
        t.press("-", "-", "-", "-", "-")
        t.keys("Right")
        t.wait(r"window \[10:49:51\.365, 10:49:51\.367\[ 2\.00ms[\s\S]*▶")
        checks.contains("after its exit", t.sync(), r"^ ▶ mount 476 on nfs waits \S+ for a CPU")
        t.keys("Right")
        t.wait(r"window \[10:49:51\.375, 10:49:51\.377\[ 2\.00ms[\s\S]*the thread did not exist in this window")
        checks.lacks("after its last switch", t.sync(), r"▶")


LIVES = (("first", 1.0, 2.0), ("second", 3.0, 4.0))


def reuse_tid(directory):
    """Thread 5 is created twice, and runs for a while each time."""
    trace = ctf.Trace("reuses")

    def event(at, name, *fields):
        trace.add(10**18 + int(at * 10**9), name, *fields)

    def switch(at, prev, following, comm, state=0):
        event(at, "sched_switch", ("prev_comm", "text", 16, ""), ("prev_tid", "s32", prev), ("prev_prio", "s32", 20),
              ("prev_state", "s64", state), ("next_comm", "text", 16, comm), ("next_tid", "s32", following),
              ("next_prio", "s32", 20))

    switch(0, 0, 1, "parent")
    for comm, born, gone in LIVES:
        event(born, "sched_process_fork", ("parent_comm", "text", 16, "parent"), ("parent_tid", "s32", 1),
              ("parent_pid", "s32", 1), ("child_comm", "text", 16, comm), ("child_tid", "s32", 5),
              ("child_pid", "s32", 5))
        switch(born + 0.1, 1, 5, comm)
        event(gone, "sched_process_exit", ("comm", "text", 16, comm), ("tid", "s32", 5), ("prio", "s32", 20))
        switch(gone + 0.1, 5, 1, "parent", 0x80)
    switch(5, 1, 0, "swapper/0")
    trace.write(directory)


def reused_tid(checks):
    """A path stays that of its thread when another one gets the TID."""
    with tempfile.TemporaryDirectory() as directory:
        recording = os.path.join(directory, "reuses")
        reuse_tid(recording)
        for name, begin, key in (("first", "+1s", "Right"), ("second", "+3s", "Left")):
            with Terminal("--paused", "--begin", begin, "-i", "1s", recording, size=(100, 24)).wait_read() as t:
                open_path(t, f"{name} tid:5")
                for _ in range(2):
                    t.press(key)
                t.wait_gone("reading")
                screen = t.sync()
                checks.contains(f"{name}: after moving", screen, rf"^ {name} 5 on reuses ")
                checks.lacks(f"{name}: no other", screen, rf"{'second' if name == 'first' else 'first'} 5 on")


def without_path(checks):
    """Where the window is not in memory, or not yet, the thread has the name with which it was chosen."""
    with open_at("--wait-memory", "300k", begin="+4s", size=(120, 24)) as t:
        t.keys("F4")
        t.wait("^Filter:")
        t.text("host:web tid:1").keys("Enter")
        t.wait("filter: host:web tid:1 +1/1$")
        t.keys("w")
        t.wait(" Path ")
        checks.contains("its name", t.sync(), r"^ systemd 1 on web +window \[")


def no_path(checks):
    with open_at(begin="+1s") as t:
        t.keys("1", "w")
        t.wait(" Path ")
        t.keys("b").text("+9s").keys("Enter")
        t.sync()
        t.keys("(")
        screen = t.sync()
        checks.contains("the pane stays", screen, " Path ")
        t.resize(40, 8)
        t.wait_for(lambda text: len(text.split("\n")) <= 8, "40x8")
        t.sync()
        t.resize(39, 7)
        t.wait("too small")
        t.resize(80, 24)
        t.wait("F10Quit|does nothing here")
        checks.check("survives a tiny terminal", True)
    with open_at() as t:
        t.keys("1", "Enter")
        t.wait(" Details ")
        name = re.search(r"^ (\S+) on (\S+)$", "\n".join(t.sync()), re.M)
        t.keys("w")
        t.wait(r"unexplained[\s\S]*▶")
        checks.contains("w in details: of their thread", t.sync(),
                        rf"^ {re.escape(name.group(1))} \d+ on {name.group(2)} +.*\[")
    with open_at() as t:
        open_path(t)
        t.resize(40, 10)
        t.wait_for(lambda text: len(text.split("\n")) <= 10, "40x10")
        checks.contains("40x10: who and in words", t.sync(), r"^ wget 1453 on client[\s\S]*^ ▶ ")


Checks().run(whole_screens, list_of_threads, requests_first, narrow_list, small_screen, walking, as_reported, written, written_list, comparing,
             over_midnight, read_again, names, after_exit, reused_tid, without_path, no_path)
