#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Key a: the system calls of a thread or its process as text, around the shown time: the lines that attach writes
for the same recording; moving, searching, filtering, changing the time, to the critical path and back."""

import csv
import json
import re
import subprocess

from terminal import PROGRAM, Checks, Terminal, need, skip, unpack
from text_pane import WAIT, all_lines, compare, covered, rows, seconds, status, type_filter, wait_lines, whole, words

need("tmux", "zstd")
RECORDING = unpack("three-tier") or skip("no recording three-tier")
DAY_NS = 86400 * 10**9
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def open_at(*options, size=(80, 24), env=None, begin="+6s"):
    return Terminal("--paused", "--begin", begin, *options, RECORDING, size=size, env=env,
                    ready=r"\[(2026-11-20 )?14:07:[01]").wait_read()


def open_calls(t, term="comm:wget"):
    """The calls of the first thread that the filter leaves in the CPU pane."""
    t.keys("1", "F4")
    t.wait("^Filter:")
    t.text(term).keys("Enter", "a")
    return wait_lines(t)


def interval(screen):
    found = re.search(r"\[(?:[\d-]+ )?([\d:.]+), (?:[\d-]+ )?([\d:.]+)\[", screen[0])
    return [seconds(text) for text in found.groups()]


def attached(*options, recording=RECORDING):
    """The lines that attach writes: [(time, text)]."""
    run = subprocess.run([PROGRAM, "attach", "-tt", "-T", "-yy", "--utc", *options, recording], stdout=subprocess.PIPE,
                         text=True, check=True)
    found = re.findall(r"^(?:\[\w+:(\d+)\] )?(\d\d:\d\d:\d\d\.\d{6}) (.*)$", run.stdout, re.M)
    return [(time, tid or None, text) for tid, time, text in found]


def whole_screens(checks):
    for name, size, env in (("calls-80x24", (80, 24), None), ("calls-44x12", (44, 12), None),
                            ("calls-160x40", (160, 40), None), ("calls-ascii-80x24", (80, 24), {"LC_ALL": "C"})):
        with open_at(size=(max(size[0], 80), max(size[1], 24)), env=env) as t:
            open_calls(t)
            t.resize(*size)
            t.sync()  # drawn at its new size before a line is selected: the scroll position of the text depends on it
            t.press("Up", "Up", "Up")
            screen = t.press("Up")
            checks.expected(name, screen)
            if env:
                checks.check("ASCII only", "\n".join(screen).isascii(), "\n".join(screen))


def as_attached(checks):
    for term, who in (("comm:wget", "client:1453"), ("host:db tid:722", "db:722"), ("host:web tid:1524", "web:1524")):
        with open_at(size=(1000, 60)) as t:
            screen = open_calls(t, term)
            compare(checks, who, all_lines(t), attached("-p", who), *covered(screen))


def from_its_midst(checks):
    """A recording that is too large to be read from its start: fds opened earlier have their names all the same."""
    recording = unpack("large")
    if not recording:
        print("skip from_its_midst: no recording large")
        return
    with Terminal("--paused", "--begin", "+20s", recording, size=(1000, 60), ready=" PAUSED ").wait_read() as t:
        screen = open_calls(t, "tid:3651")
        got = all_lines(t)
        compare(checks, "from its midst", got, attached("-p", "3651", recording=recording), *covered(screen))
        named = sum(bool(re.match(r"\w+\(\d+<", text)) for _, _, text in got)
        checks.check("names of fds", named > len(got) / 2, f"{named} of {len(got)}")


def waits(checks):
    """The reasons given for waits add up to the time of the call, and are those of the critical path."""
    with open_at(size=(1000, 60)) as t:
        open_calls(t)
        lines = [row for row in all_lines(t) if WAIT.search(row[2])]
    problems = []
    for _, _, text in lines:
        took = float(re.search(r" <([\d.]+)> \[", text + " <0> [").group(1)) * 1e9
        parts = re.findall(r"([\d.]+) (ns|us|ms|s)(?=[,;\]])", WAIT.search(text).group(0))
        total = sum(float(number) * UNITS[unit] for number, unit in parts)
        error = sum(UNITS[unit] * (0.5 if unit != "s" else 5e-4) for _, unit in parts) + 1000
        if took and abs(total - took) > error:
            problems.append(f"{total} of {took}: {text}")
    checks.check(f"{len(lines)} waits sum up to their calls", len(lines) > 2 and not problems, "\n".join(problems[:5]))
    at, _, text = max(lines, key=lambda row: float(re.search(r"<([\d.]+)> \[", row[2] + "<0> [").group(1)))
    took = float(re.search(r"<([\d.]+)> \[", text).group(1))
    begin = seconds(at)
    end = begin + int(took * 1e9)
    times = [f"14:07:{ns // 10**9 % 60:02}.{ns % 10**9:09}" for ns in (begin, end)]
    run = subprocess.run([PROGRAM, "report", "critical-path", "--csv", "--utc", "--host", "client", "--tid", "1453",
                          "--begin", times[0], "--end", times[1], RECORDING], stdout=subprocess.PIPE, text=True,
                         check=True)
    for host in ("web", "db"):
        tids = {row[4] for row in map(lambda line: line.split(","), run.stdout.split("\n"))
                if row[0] == host and row[4].isdigit()}
        checks.check(f"the longest one's threads of {host}", all(f"/{tid} " in text for tid in tids),
                     f"{text}\n{run.stdout}")


def walking(checks):
    with open_at() as t:
        first = open_calls(t)
        at, n = status(first)
        shown = interval(first)
        checks.check("the last line of the interval is selected",
                     at == n or seconds(rows(first)[-1][0]) >= shown[1], "\n".join(first))
        checks.contains("follows the time", first, r"following  \d+/\d+\+?$")
        screen = t.press("Up")
        checks.equal("Up: the line before", status(screen), (at - 1, n))
        checks.lacks("a chosen line", screen, "following")
        checks.equal("time stays", interval(screen), shown)
        checks.equal("PgUp", status(t.press("PgUp"))[0] < at - 5, True)
        screen = t.press("Home")
        checks.equal("Home: the first line", status(screen)[0], 1)
        checks.check("in sight", words(screen) == rows(screen)[0][2] or "…" in rows(screen)[0][2], "\n".join(screen))
        screen = t.press("Down", "Down")
        checks.equal("Down: two lines on", status(screen)[0], 3)
        time, line = rows(screen)[2][0], words(screen)
        t.keys("Enter")
        t.wait(rf"^at {time}")
        screen = wait_lines(t)
        begin, end = interval(screen)
        checks.check("Enter: time goes to where the call began", begin <= seconds(time) < end, f"{time}: {screen[0]}")
        checks.equal("and the line stays", words(screen), line)
        t.keys("Right")
        screen = wait_lines(t)
        checks.check("Right: time advances", interval(screen)[0] >= end, screen[0])
        checks.contains("and lines with it", screen, r"following  \d+/\d+\+?$")
        t.press("Up")
        t.keys("F")
        t.wait("^following the time")
        checks.contains("F: follows again", t.sync(), r"following  \d+/\d+\+?$")


def further(checks):
    """At the first line it looks further back, up to the start of the recording."""
    with open_at(begin="+7s") as t:
        t.keys("1", "-", "-", "-")
        screen = open_calls(t, "host:client tid:449")
        begin, _ = covered(screen)
        for _ in range(8):
            t.keys("Home", "Up")
            screen = wait_lines(t)
        checks.check("further back", covered(screen)[0] < begin, "\n".join(screen))
        screen = t.press("Home")
        checks.check("from an earlier line on", seconds(rows(screen)[0][0]) < begin, "\n".join(screen))
        first = attached("-p", "client:449")[0]
        checks.equal("to the first of the recording", rows(screen)[0][0], first[0])
    with open_at() as t:
        open_calls(t)
        t.keys("(")
        t.wait("no system call started or ended here")
        checks.contains("none there", t.sync(), "↓ further on")
        for _ in range(8):
            t.press("Down")
            t.wait_gone("reading")
        checks.contains("found further on", wait_lines(t), r"^ 14:07:1\d\.\d{6} .*\(")
    with open_at(env={"LC_ALL": "C"}) as t:
        open_calls(t)
        t.keys("(")
        t.wait("no system call started or ended here")
        checks.contains("none there, ASCII", [" ".join(" ".join(t.sync()).split())], "here; Up looks further back, Down further on")


def searching(checks):
    with open_at() as t:
        open_calls(t)
        t.press("Home")
        t.keys("/")
        t.wait("^Search:")
        t.text("OPENAT").keys("Enter")
        first = t.sync()
        checks.check("found", words(first).startswith("openat("), words(first))
        second = t.press("n")
        checks.check("n: the next one", status(second)[0] > status(first)[0] and words(second).startswith("openat("),
                     words(second))
        checks.equal("N: back", status(t.press("N")), status(first))
        t.keys("/")
        t.wait("^Search:")
        t.text("no such text")
        t.wait("^Search: no such text|not found")
        t.keys("Enter")
        t.wait("^not found in the lines read so far; .* more: no such text")
        checks.equal("stays where it was", status(t.sync()), status(first))
        t.press("Escape")
        checks.contains("Esc ends the search first", t.screen(), " Attach ")
        checks.lacks("Esc: back to the list", t.press("Escape"), " Attach ")


def filtering(checks):
    with open_at(size=(1000, 60)) as t:
        screen = open_calls(t)
        begin, end = covered(screen)
        type_filter(t, "%network")
        t.wait("calls: %network  following")
        wait_lines(t)
        got = all_lines(t)
        compare(checks, "%network", got, attached("-p", "client:1453", "-e", "%network"), begin, end)
        checks.check("no others", all(re.match(r"(recv|send|connect|socket|getpeername|getsockopt|\+\+\+)", text)
                                      for _, _, text in got), got)
        type_filter(t, "nosuchcall")
        t.wait("unknown system call 'nosuchcall'")
        checks.equal("the old filter stays", all_lines(t), got)
        type_filter(t, "call:recvfrom")
        t.wait("calls: call:recvfrom ")
        wait_lines(t)
        checks.check("the term of lists", all(re.match(r"(recvfrom|\+\+\+)", text) for _, _, text in all_lines(t)), "")
        t.keys("F4")
        t.wait("^Calls:")
        t.keys("Escape")
        t.wait_for(lambda text: "alls: " not in text, "no filter")
        screen = wait_lines(t)
        checks.check("Esc: all calls again", status(screen)[1] > 2 * len(got), "\n".join(screen))
        type_filter(t, "mount")
        t.wait("calls: mount  1/1$")
        checks.contains("none of them, but that it exited", t.sync(), r"^ 14:07:12\.\d+ \+\+\+ exited with 0 \+\+\+$")


def process(checks):
    """Whole calls of all threads, ordered by their start: attach splits them when others come in between."""
    with open_at(size=(1000, 60)) as t:
        screen = open_calls(t, "host:web tid:1469")
        checks.check("no thread ids", not any(tid for _, tid, _ in rows(screen)), "\n".join(screen))
        alone = status(screen)[1]
        t.keys("t")
        t.wait("^calls of all threads of the process")
        screen = wait_lines(t)
        pid = int(re.search(r"^ process apache2 (\d+) on web", "\n".join(screen), re.M).group(1))
        got = all_lines(t)
        checks.check("more lines", status(screen)[1] > alone, "\n".join(screen))
        checks.check("of several threads", len({tid for _, tid, _ in got}) > 1)
        begin, end = covered(screen)
        compare(checks, "process", got, attached("--threads", "-p", f"web:{pid}", "-e",
                                                 "status=successful,failed,unfinished"), begin, end)
        t.keys("t")
        t.wait("^calls of the thread")
        checks.equal("the thread again", status(wait_lines(t))[1], alone)


def to_the_path(checks):
    with open_at() as t:
        screen = open_calls(t)
        t.press("Up")
        before = t.press("Up")
        t.keys("w")
        t.wait(r"unexplained[\s\S]*▶")
        checks.contains("w: the critical path of the thread", t.sync(), r"^ wget 1453 on client ")
        t.press("Escape")
        checks.equal("Esc: the same line again", words(wait_lines(t)), words(before))
        checks.lacks("Esc: the list", t.press("Escape"), " Attach ")
        t.keys("w")
        t.wait(r"unexplained[\s\S]*▶")
        t.keys("a")
        checks.contains("a in a path: of its selected segment's thread", wait_lines(t), r"^ \w+ \d+ on (client|web|db) ")
        checks.check("lines", status(screen)[1] > 100, "\n".join(screen))
    with open_at() as t:
        t.press("9", "Down", "Down", "Down", "Down")
        t.keys("a")
        t.wait("this row does not belong to a thread")
        checks.check("a needs a thread", True)


def write(t, path):
    t.keys("x")
    t.wait("^Write to")
    t.keys("C-u").text(path).keys("Enter")
    t.wait("written")
    return " ".join(line.strip() for line in t.screen() if "written" in line)


def written(checks):
    """x writes the lines to a file: those on the screen, with the hosts and what they cover."""
    with open_at(size=(1000, 60)) as t:
        open_calls(t, "host:web tid:1524")
        for process in False, True:
            if process:
                t.keys("t")
                t.wait("^ process ")
                wait_lines(t)
            shown, (begin, end) = whole(t)
            name = "process" if process else "thread"
            for form in "txt", "csv", "json":
                said = write(t, t.path(f"{name}.{form}"))
                checks.equal(f"{name}.{form}: said", said, f"{len(shown)} lines of attach written to {t.path(f'{name}.{form}')}")
            with open(t.path(f"{name}.json")) as f:
                page = json.load(f)
            rows_of = [(row["at_ns"], row["tid"], row["text"]) for row in page["rows"]]
            checks.equal(f"{name}: what it is of", (page["table"], page["hosts"], page["lost"]),
                         ("attach", ["web"], {"events": 0, "packets": 0}))
            midnight = page["begin_ns"] // DAY_NS * DAY_NS
            checks.check(f"{name}: the interval", 0 <= page["begin_ns"] - midnight - begin < 10**6 and
                         0 <= page["end_ns"] - midnight - end < 10**6, f"{page['begin_ns']} {begin} {page['end_ns']} {end}")
            checks.equal(f"{name}: JSON", [((at - midnight) // 1000 * 1000, text) for at, _, text in rows_of],
                         [(seconds(at), text) for at, _, text in shown])
            checks.equal(f"{name}: threads", {tid for _, tid, _ in rows_of},
                         {int(tid) for _, tid, _ in shown} if process else {1524})
            with open(t.path(f"{name}.csv"), newline="") as f:
                table = list(csv.reader(f))
            checks.equal(f"{name}: CSV", table, [["at_ns", "tid", "text"]] + [list(map(str, row)) for row in rows_of])
            with open(t.path(f"{name}.txt")) as f:
                head, *lines = f.read().splitlines()
            checks.check(f"{name}: heading", re.fullmatch(r"attach  \[2026-11-20 .*\[  \S+  hosts: web", head), head)
            checks.equal(f"{name}: text", lines, [f"{at} {tid or '':>7} {text}" if process else f"{at} {text}"
                                                  for at, tid, text in shown])
        t.press("Escape")
        t.keys("D")
        t.wait("^ events of ")
        n = status(wait_lines(t))[1]
        checks.equal("events", write(t, t.path("events.txt")), f"{n} lines of dump written to {t.path('events.txt')}")
        checks.check("not twice", "file exists" in write(t, t.path("events.txt")))
        t.press("Escape")
        type_filter(t, "tid:99999")
        t.wait("no event in this interval passes the filter")
        checks.equal("nothing", write(t, t.path("nothing.txt")), "not written: there are no lines yet")


def losses(checks):
    """A line about lost events belongs to no thread, also in a file; w on it shows the path of the pane's thread."""
    with Terminal("--paused", "--begin", "@1795185084.70", unpack("lossy-overwrite"), size=(100, 30)).wait_read() as t:
        t.keys("1", "F4")
        t.wait("^Filter:")
        t.text("tid:408").keys("Enter", "a")
        wait_lines(t)
        for form in "json", "csv":
            write(t, t.path(f"losses.{form}"))
        with open(t.path("losses.json")) as f:
            lines = json.load(f)["rows"]
        with open(t.path("losses.csv"), newline="") as f:
            table = list(csv.DictReader(f))
        lost = [line["tid"] for line in lines if line["text"].startswith("!!! ")]
        checks.check("JSON", lost and set(lost) == {None}, lines)
        checks.equal("the others", {line["tid"] for line in lines if not line["text"].startswith("!!! ")}, {408})
        checks.equal("CSV", [row["tid"] for row in table], [str(line["tid"] or "") for line in lines])
        t.keys("F3")
        t.wait("^Search:")
        t.text("!!!").keys("Enter")
        t.keys("w")
        t.wait("^ BEGIN .* STATE ")
        checks.check("path", re.search("^ lttng-consumerd 408 on db ", "\n".join(t.screen()), re.M), "\n".join(t.screen()))


Checks().run(whole_screens, as_attached, from_its_midst, waits, walking, further, searching, filtering, process, written,
             losses, to_the_path)
