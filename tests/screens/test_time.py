#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The screen against the report for the interval it shows, which takes another way through the program
(the report cuts between events, the screen rebuilds frames of the history). And: however an instant is
reached, it looks the same."""

import collections
import datetime
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

from terminal import PROGRAM, Checks, Terminal, need, skip, unpack

need("tmux", "zstd")
SIZE = (200, 50)
UNITS = {"ns": 1, "µs": 1e3, "us": 1e3, "ms": 1e6, "s": 1e9}


def to_ns(text):
    """ "2026-11-20 14:07:08.347603246" in UTC as ns since the epoch."""
    seconds, fraction = text.split(".")
    at = datetime.datetime.strptime(seconds, "%Y-%m-%d %H:%M:%S").replace(tzinfo=datetime.timezone.utc)
    return int(at.timestamp()) * 10**9 + int(fraction)


def shown_interval(screen):
    found = re.search(r"\[([\d-]+ [\d:.]+), ([\d-]+ [\d:.]+)\[", screen[0])
    return to_ns(found.group(1)), to_ns(found.group(2))


def duration(text):
    """(ns, half a unit of the last digit) of a shown duration: "93.2ms"; "1m05s" is not precise enough to compare."""
    found = re.fullmatch(r"([\d.]+)(ns|µs|us|ms|s)?", text)
    if not found:
        return None
    number, unit = found.groups()
    factor = UNITS[unit] if unit else 1
    digits = len(number.split(".")[1]) if "." in number else 0
    return float(number) * factor, factor * 10.0 ** -digits


def size(text):
    found = re.fullmatch(r"([\d.]+)([KMGT]?)", text)
    number, unit = found.groups()
    factor = 1024.0 ** " KMGT".index(unit or " ")
    digits = len(number.split(".")[1]) if "." in number else 0
    return float(number) * factor, factor * 10.0 ** -digits if unit else 0.5


def table(screen, *wanted):
    """The rows of a list as dicts by header; columns of numbers end with their header, the last one is the command."""
    i = next(k for k, line in enumerate(screen) if re.search(r"\bCOMMAND\b", line))
    line = screen[i]
    ends = {name: line.index(name) + len(name) for name in wanted}
    out = []
    for row in screen[i + 1:]:
        if row.strip():
            values = {name: row[:end].split()[-1] for name, end in ends.items()}
            values["HOST"] = re.search(r"^ *\d+ +\d+ +(\S+)", row).group(1) if " HOST " in line else None
            values["COMMAND"] = row[line.index("COMMAND"):].strip()
            out.append(values)
    return out


def host_durations(recording, begin, end):
    """How much of the interval lies in each host's recording, by which rates and percentages are divided."""
    run = subprocess.run([PROGRAM, "report", "hosts", "--json", recording], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, check=False)
    return {row["host"]: max(min(end, row["end_ns"]) - max(begin, row["begin_ns"]), 1)
            for row in json.loads(run.stdout)["rows"]}


def report(name, recording, begin, end):
    run = subprocess.run([PROGRAM, "report", name, "--json", "--begin", f"{begin}ns", "--end", f"{end}ns", recording],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode in (0, 3), run.stderr
    return {(row["host"], str(row["tid"])): row for row in json.loads(run.stdout)["rows"]}


def compare_cpu(checks, what, screen, recording, host=None):
    begin, end = shown_interval(screen)
    wanted = report("cpu", recording, begin, end)
    rows = table(screen, "TID", "CPU TIME", "READY", "BLOCKED", "SWITCH", "MIGR")
    problems = []
    busy = [row for row in rows if row["CPU TIME"] != "0"]
    for row in busy:
        key = (host or row["HOST"], row["TID"])
        if key not in wanted:
            problems.append(f"{key} is not in the report")
            continue
        for name, column in (("CPU TIME", "cpu_ns"), ("READY", "ready_ns"), ("BLOCKED", "blocked_ns")):
            value = duration(row[name])
            if value and abs(value[0] - wanted[key][column]) > value[1]:
                problems.append(f"{key} {name}: shown {row[name]}, reported {wanted[key][column]}")
        for name, column in (("SWITCH", "switches"), ("MIGR", "migrations")):
            if int(row[name]) != wanted[key][column]:
                problems.append(f"{key} {name}: shown {row[name]}, reported {wanted[key][column]}")
        if row["COMMAND"] != wanted[key]["comm"]:
            problems.append(f"{key}: shown {row['COMMAND']}, reported {wanted[key]['comm']}")
    # the other way round: the busiest in the report are on the screen
    durations = host_durations(recording, begin, end)
    shown = {(host or row["HOST"], row["TID"]) for row in busy}
    least = min((wanted[key]["cpu_ns"] / durations[key[0]] for key in shown if key in wanted), default=0)
    problems += [f"{key} is not shown, {row['cpu_ns']} ns" for key, row in wanted.items()
                 if row["cpu_ns"] / durations[key[0]] > least and key not in shown]
    checks.check(f"{what}: {len(busy)} rows of [{begin}, {end}[ equal the report's", busy and not problems,
                 "\n".join(problems + (["no rows"] if not busy else [])))


def compare_io(checks, what, screen, recording, host=None):
    begin, end = shown_interval(screen)
    wanted = report("io", recording, begin, end)
    durations = host_durations(recording, begin, end)
    problems, seen = [], 0
    for row in table(screen, "TID", "READ/s", "WRITE/s"):
        key = (host or row["HOST"], row["TID"])
        for name, column in (("READ/s", "read_bytes"), ("WRITE/s", "write_bytes")):
            rate, error = size(row[name])
            exact = wanted.get(key, {}).get(column, 0) * 1e9 / durations[key[0]]
            seen += exact > 0
            if abs(rate - exact) > error + 1e-6 * exact:
                problems.append(f"{key} {name}: shown {row[name]}, reported {exact:.1f}")
    checks.check(f"{what}: {seen} byte rates equal the report's", seen and not problems, "\n".join(problems))


def screen_equals_report(checks):
    for name, begin, steps, host in (("three-tier", "+3s", 2, None), ("hotplug", "+3s", 3, "db"),
                                     ("kprobe", "+0s", 1, "client"), ("disk-io", "+5s", 2, "db"),
                                     ("lossy", "+2s", 1, "db")):
        recording = unpack(name)
        if not recording:
            print(f"skip screen_equals_report: no recording {name}")
            continue
        with Terminal("--paused", "--begin", begin, recording, size=SIZE).wait_read() as t:
            for step in range(steps):
                compare_cpu(checks, f"{name}, step {step}", t.sync(), recording, host)
                compare_io(checks, f"{name} I/O, step {step}", t.press("2"), recording, host)
                t.press("1", "Right")
            t.press("-", "-", "-")
            compare_cpu(checks, f"{name}, shorter interval", t.sync(), recording, host)
            t.press("+", "+", "+", "+", "+", "+")
            compare_cpu(checks, f"{name}, longer interval", t.sync(), recording, host)
            t.press(")")
            if re.search(r"[1-9]\d* ev/s", t.screen()[0]):
                screen = t.press("Left")
                compare_cpu(checks, f"{name}, near the end", screen, recording, host)


def there_and_back(checks):
    recording = unpack("three-tier") or skip("no recording three-tier")
    for pane in ("1", "2", "4", "7"):
        with Terminal("--paused", "--begin", "+2s", recording).wait_read() as t:
            seen = [t.press(pane)]
            for _ in range(6):
                seen.append(t.press("Right"))
            checks.check(f"pane {pane}: it changes", len({tuple(s) for s in seen}) > 3)
            back = [seen[-1]] + [t.press("Left") for _ in range(6)]
            checks.equal(f"pane {pane}: back, the same screens", list(reversed(back)), seen)
            t.press("(", ")", "(")
            t.keys("b").text("+2s").keys("Enter")
            checks.equal(f"pane {pane}: by a jump, the same screen", t.sync(), seen[0])


def first_lines(*args):
    """The first line as it was seen until everything was read."""
    with Terminal("--paused", "--no-cache", "--workers", "1", *args, size=SIZE, ready=None) as t:
        seen = [""]
        while not seen[-1] or "reading" in seen[-1].lower():
            seen.append((t.screen() or [""])[0])
        return seen


def on_the_way(checks):
    """Until a requested place has been read the first line says so; then it is shown."""
    recording = unpack("hotplug") or skip("no recording hotplug")
    for attempt in range(20):
        seen = first_lines("--begin", "-1s", recording)
        reading = [line for line in seen if "reading" in line]
        if reading:
            break
    place = re.search(r"\[(?:\S+ )?(\d\d:\d\d:\d\d)\.", seen[-1])
    checks.check("it is shown in the end", place, seen[-1])
    before = [line for line in reading if "[" + place.group(1) not in line and " " + place.group(1) + "." not in line]
    checks.check(f"{len(before)} lines say where it goes", before and
                 all(re.search(r"reading \d+%, then " + place.group(1), line) for line in before), "\n".join(seen))


def steps_over(t, key):
    """The intervals that repeated use of a key leads to, from the shown one to the last."""
    seen = [shown_interval(t.sync())]
    while True:
        shown = shown_interval(t.press(key))
        if shown == seen[-1]:
            return seen
        seen.append(shown)


def merged_frames(checks):
    """In a history too small for the recording frames are merged: steps move
    over them like over others; none is shown twice or left out."""
    recording = unpack("three-tier") or skip("no recording three-tier")
    longest = 0
    for size in ("1600k", "1800k", "2000k"):
        with Terminal("--paused", "--history-size", size, f"{recording}/web", size=SIZE).wait_read() as t:
            t.press(*["-"] * 20, "+", "+", "+", ")")
            back = steps_over(t, "Left")
            checks.equal(f"{size}: one ends where the next one starts", [end for _, end in back[1:]],
                         [begin for begin, _ in back[:-1]])
            checks.equal(f"{size}: forward, the same ones", steps_over(t, "Right"), back[::-1])
            t.keys_at_once(*["Left"] * 5)
            checks.equal(f"{size}: five steps at once", shown_interval(t.sync()), back[min(5, len(back) - 1)])
            lengths = [end - begin for begin, end in back[1:]] # the last one may be clipped by the end of the recording
            longest = max(longest, max(lengths) / min(lengths))
    checks.check(f"frames were merged to {longest} intervals", longest > 3)


def merged_hosts(checks):
    """A host whose merged frame is longer than the interval is shown with it, on a corrected clock, too."""
    recording = unpack("three-tier") or skip("no recording three-tier")
    with Terminal("--paused", "--no-cache", "--history-size", "4M", recording, size=SIZE).wait_read() as t:
        t.press("9", "(")
        found = 0
        for _ in range(8):
            shown = t.written(t.path(f"hosts-{found}.json"))
            begin, end = shown["begin_ns"], shown["end_ns"]
            wanted = {host for host, ns in host_durations(recording, begin, end).items() if ns == end - begin}
            checks.equal(f"hosts of [{begin}, {end}[", wanted - {row["host"] for row in shown["rows"]}, set())
            found += len(wanted)
            t.press("Right")
        checks.check("several", found > 10, found)


def cpu_by_host(rows):
    sums = collections.Counter()
    for row in rows:
        sums[row["host"]] += row["cpu_ns"]
    return {host: ns for host, ns in sums.items() if ns}


def merged_figures(checks):
    """However frames were merged, the figures of all hosts are of the interval that is shown, and it has the instant asked for."""
    recording = unpack("three-tier") or skip("no recording three-tier")
    lengths = set()
    for hosts, size in ((recording, "4M"), (f"{recording}/web", "1800k")):
        with Terminal("--paused", "--no-cache", "--history-size", size, hosts, size=SIZE).wait_read() as t:
            first = shown_interval(t.press("("))[0]
            for tenths in range(10, 70, 15):
                t.keys("b").text(f"+{tenths / 10}s").keys("Enter")
                t.sync()
                shown = t.written(t.path(f"cpu-{tenths}.json"))
                begin, end = shown["begin_ns"], shown["end_ns"]
                lengths.add(end - begin)
                checks.check(f"+{tenths / 10}s is shown", begin <= first + tenths * 10**8 < end, (begin, end))
                checks.equal(f"figures of [{begin}, {end}[", cpu_by_host(shown["rows"]),
                             cpu_by_host(report("cpu", hosts, begin, end).values()))
    checks.check("frames were merged", max(lengths) > 2 * min(lengths), lengths)


def play(recording, speed):
    """Plays from the start to the end; the screens seen by interval, without the state word and the last row."""
    seen, before = {}, None
    with Terminal("--speed", speed, recording, size=SIZE, ready=None) as t:
        while True:
            screen = t.screen()
            # a screen that is being drawn is half of one interval, half of another
            whole = screen == before and len(screen) == SIZE[1] and "ev/s" in screen[0] and "reading" not in screen[0]
            before = screen
            if not whole:
                time.sleep(0.01)
                continue
            seen[shown_interval(screen)] = [re.sub(r"^.*\[", "", screen[0])] + screen[1:-1]
            if screen[0].startswith(" END "):
                return seen


def speeds(checks):
    recording = unpack("kprobe") or skip("no recording kprobe")
    slow, fast = play(recording, "1"), play(recording, "1000")
    common = slow.keys() & fast.keys()
    checks.check("×1 shows several intervals", len(slow) >= 4, slow.keys())
    checks.check("the intervals of ×1000 are among those of ×1", fast.keys() <= slow.keys(),
                 f"{sorted(fast)}\n{sorted(slow)}")
    checks.check("both show the last one", max(slow) == max(fast) and max(slow) in common)
    for k in sorted(common):
        checks.equal(f"equal screens of {k}", fast[k], slow[k])
    edges = sorted(slow)
    checks.check("intervals touch", all(a[1] == b[0] for a, b in zip(edges, edges[1:])), edges)


def edges(checks):
    """A key that cannot go any further says that this is the start or the end; one that can says nothing."""
    start, end = "start of the recording", "end of the recording"
    for options, first in (([], start), (["--no-cache", "--history-size", "1"], r"oldest data in memory \(--history-size\)")):
        with Terminal("--paused", *options, unpack("three-tier"), size=SIZE, ready=" PAUSED ").wait_read() as t:
            for keys, edge, inside in ((("(", "Left"), first, "Right"), ((")", "Right"), end, "Left")):
                t.keys(*keys)
                checks.check(edge, t.wait(f"this is the {edge}"))
                checks.lacks(f"not at the {edge}", t.press(inside), "this is the")


def days(checks):
    """Recordings of 20 and 24 November: whatever is of another day than the shown interval, has its date."""
    first, later = (unpack(name) or skip(f"no recording {name}") for name in ("three-tier", "nfs"))
    with Terminal("--no-sync", "--paused", first, later, size=(80, 24)).wait_read() as t:
        screen = t.press("(")
        checks.contains("the interval", screen, r"^ PAUSED  \[11-20 14:06:43\.\d+, 11-20 14:06:44\.\d+\[")
        checks.contains("a host of another day", screen, r"^ +nfs +recorded from 11-24 10:49:50\.367$")
        checks.contains("the strip", screen, r"^11-20 14:06:43 .* 11-24 10:49:5\d$")
        t.keys("b").text("10:49:51").keys("Enter")
        checks.check("a jump is to a day that was recorded, and says so", t.wait("^ *at 2026-11-24 10:49:51.000$"))
        screen = t.press("Home")
        checks.contains("it is shown", screen, r"^ PAUSED  \[11-24 10:49:50\.3\d+, 11-24 10:49:51\.3\d+\[")
        t.press("(")
        t.keys("b").text("11-24 10:49:51").keys("Enter")
        checks.check("a date is accepted as it is shown", t.wait(r"^ PAUSED  \[11-24 10:49:5"))
        t.keys("b").text("2027-01-01 00:00").keys("Enter")
        checks.check("a date with a year is answered with one",
                     t.wait(r"2027-01-01 00:00:00\.000 is after the end, 2026-11-24 10:49:5"))
        screen = t.press("Home")
        checks.contains("a host of the day before", screen, r"^ +web +recorded until 11-20 14:07:1\d\.\d+$")
        t.keys("(", "m", "a")
        checks.check("a bookmark on the shown day", t.wait(r"^ *bookmark a at 11-20 14:06:43\.\d+$"))
        t.press("A", ")")
        t.keys("B")
        checks.check("an interval over days", t.wait(r"interval from 11-20 14:06:43\.\d+ to 11-24 10:49:5\d"))
        checks.contains("its ends", t.press("Home"), r"^ (PAUSED|END)  \[11-20 14:06:43\.\d+, 11-24 10:49:5\d\.\d+\[")
        t.resize(120, 30)
        screen = t.press("6")
        checks.contains("a column of times: of the day of its start", screen, r"s 14:0[67]:\d\d\.\d{6} \w")
        checks.contains("a column of times: of another day", screen, r"s  11-24 10:49:5\d \w")
        t.press("(")
        t.resize(40, 12)
        t.wait(r"^ ?PAUSED +\[?11-20 14:06:43")
        checks.check("the narrowest screen has the date", True)


def years(checks):
    """The same, the later one 40 days later: whatever is of another year has its year, too."""
    first, nfs = (unpack(name) or skip(f"no recording {name}") for name in ("three-tier", "nfs"))
    with tempfile.TemporaryDirectory() as directory:
        later = shutil.copytree(nfs, os.path.join(directory, "later"))
        for path in glob.glob(f"{later}/**/metadata", recursive=True):
            with open(path, "rb") as file:
                text = file.read()
            with open(path, "wb") as file:
                file.write(re.sub(rb"(?<=\boffset = )\d{19}(?=;)", lambda m: b"%d" % (int(m[0]) + 40 * 86400 * 10 ** 9), text))
        with Terminal("--no-sync", "--paused", first, later, size=(80, 24)).wait_read() as t:
            screen = t.press("(")
            checks.contains("years: the interval", screen, r"^ PAUSED  \[2026-11-20 14:06:43(\.\d+)?, 2026-11-20 14:06:44")
            checks.contains("years: a host of another one", screen, r"^ +nfs +recorded from 2027-01-03 10:49:50\.367$")
            checks.contains("years: the strip", screen, r"^2026-11-20 14:06:43 .* 2027-01-03 10:49:5\d$")
            t.keys("b").text("11-20 14:07:00").keys("Enter")
            checks.check("years: a date without one is of the year that is shown", t.wait(r"\[2026-11-20 14:0(6:59|7:00)"))
            t.keys("b").text("01-03 10:49:51").keys("Enter")
            checks.check("years: or of the one in which the data has it", t.wait(r"\[2027-01-03 10:49:5[01]"))
            t.keys("b").text("11-20 14:07:00").keys("Enter").wait(r"\[2026-11-20 14:0(6:59|7:00)")
            t.resize(40, 12)
            checks.check("years: the narrowest screen", t.wait(r"^ ?PAUSED +\[?2026-11-20 14:0"))


Checks().run(screen_equals_report, there_and_back, on_the_way, merged_frames, merged_hosts, merged_figures, speeds, edges, days, years)
