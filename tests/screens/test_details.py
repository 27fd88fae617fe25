#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Details of a thread: its disk I/O in the shown interval, as in `report io` for the same interval; its longest waits and
system calls, as babeltrace2's text gives them."""

import collections
import json
import os
import re
import subprocess

from terminal import PROGRAM, Checks, Terminal, need, skip, unpack

need("tmux", "zstd")
RECORDING = os.path.join(unpack("three-tier") or skip("no recording three-tier"), "db")
COLUMNS = "tid,comm,disk_read_bytes,disk_write_bytes,disk_writeback_bytes,disk_requests,disk_wait_ns"


def report(begin, end, *options):
    run = subprocess.run([PROGRAM, "report", "io", "--columns", COLUMNS, "--begin", begin, "--end", end, *options,
                          RECORDING], check=True, stdout=subprocess.PIPE, env={**os.environ, "TZ": "UTC"})
    return run.stdout.decode()


def details_of(t, tid):
    """Opens the details of a thread from a pane of threads; returns the screen as text."""
    t.keys("F4")
    t.wait("^Filter:")
    t.keys("C-u").text(f"tid:{tid}").keys("Enter")
    t.wait(f"filter: tid:{tid}")
    t.keys("Home", "Enter")
    t.wait("^ IDs ")
    return "\n".join(t.sync())


def at_disks(checks):
    with Terminal("--no-sync", "--paused", "--begin", "+4s", RECORDING, size=(160, 40),
                  ready=r"\[(2026-11-20 )?14:0").wait_read() as t:
        begin, end = re.search(r"\[(?:\S+ )?(\S+), (?:\S+ )?(\S+)\[", t.sync()[0]).groups()
        rows = json.loads(report(begin, end, "--json"))["rows"]
        busy = {r["tid"] for r in rows if r["tid"] and r["disk_requests"]}
        idle = {r["tid"] for r in rows if r["tid"] and not (r["disk_read_bytes"] or r["disk_write_bytes"])} - busy
        checks.check("threads that had disks do something, and others", busy and idle, rows)
        for tid in sorted(busy)[:3] + sorted(idle)[:1]:
            screen = details_of(t, tid)
            # the text report's output, whose columns have the same formats
            words = report(begin, end, "--tid", str(tid)).splitlines()[2].split()
            read, written, back, requests, took = words[-5:]
            line = f" at disks  read {read}, written {written}" + (f" ({back} of it by write-back)" if back != "0" else "") + \
                f", {requests} request{'' if requests == '1' else 's'} that took {took}"
            if tid in busy:
                checks.check(f"{tid}: {line}", line in screen, screen)
            else:
                checks.check(f"{tid}: nothing of disks", "at disks" not in screen, screen)
            t.keys("Escape")
            t.wait("▼CPU%")


EVENT = re.compile(r"^\[\d\d:(\d\d):(\d\d)\.(\d{9})\] \(\S+\) \S+ (\w+): \{ cpu_id = (\d+) \}, \{ tid = (\d+), .*?\}, \{ (.*) \}$")
PREEMPTED = (0, 256)


def instances(path, tids):
    """(tid, "waits" or "calls") → what → [(length, start)], in ns within the hour; what: (call, fd), or the call alone."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    inside, since = {}, {}
    text = subprocess.run(["babeltrace2", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True).stdout
    for m in filter(None, map(EVENT.match, text.splitlines())):
        t, name, tid, fields = (int(m[1]) * 60 + int(m[2])) * 10**9 + int(m[3]), m[4], int(m[6]), m[7]
        if name.startswith("syscall_entry_") and tid in tids:
            fd = re.search(r"\bfd = (-?\d+)", fields)
            inside[tid] = (name[len("syscall_entry_"):], int(fd[1]) if fd else -1, t)
        elif name.startswith("syscall_exit_") and tid in inside:
            call, _, start = inside.pop(tid)
            found[tid, "calls"][call].append((t - start, start))
        ended = None
        if name == "sched_switch":
            left, state = (int(re.search(rf"prev_{what} = (\d+)", fields)[1]) for what in ("tid", "state"))
            if left in tids and state not in PREEMPTED:
                since[left] = t
            ended = int(re.search(r"next_tid = (\d+)", fields)[1])
        elif name == "sched_waking":
            ended = int(re.search(r"\btid = (\d+)", fields)[1])
        if ended in since:
            start = since.pop(ended)
            found[ended, "waits"][inside.get(ended, (None, -1))[:2]].append((t - start, start))
    return found


def duration(ns):
    value, unit = next((ns / size, unit) for size, unit in ((10**9, "s"), (10**6, "ms"), (10**3, "µs"), (1, "ns")) if ns >= size)
    return f"{value:.2f}{unit}" if value < 9.995 or unit == "s" else f"{value:.1f}{unit}" if value < 99.95 else f"{value:.0f}{unit}"


def longest(checks):
    need("babeltrace2")
    recording = os.path.join(unpack("workqueue") or skip("no recording workqueue"), "kmem")
    dds = (529, 530, 531, 532)
    found = instances(recording, dds)
    with Terminal("--interval", "10s", recording, size=(240, 50), ready=r"^ END") as t:
        for tid in dds:
            screen = details_of(t, tid)
            for kind in ("waits", "calls"):
                # the longest one of each kind, the three longest of those
                wanted = sorted(((max(lengths), what) for what, lengths in found[tid, kind].items()), reverse=True)[:3]
                line = re.search(rf"^ {kind} +longest (.*?) *$", screen, re.M)
                parts = line[1] if line else ""
                got = re.findall(r"(\S+) in (\w+)(?: [/\w.]+)? from \d\d:(\d\d):(\d\d\.\d{6})", parts)
                checks.equal(f"{tid}: {kind}", [(length, call, f"{m}:{s}") for length, call, m, s in got], [
                    (duration(ns), what[0] if kind == "waits" else what, f"{at // (60 * 10**9):02}:{at // 10**9 % 60:02}.{at // 1000 % 10**6:06}")
                    for (ns, at), what in wanted])
            t.keys("Escape")
            t.wait("▼CPU%")


def since_before(checks):
    """The time a thread has waited since before tracing started is only a lower bound; files are those of the process."""
    with Terminal("--no-sync", "--paused", "--begin", "+4s", RECORDING, size=(80, 40),
                  ready=r"\[(2026-11-20 )?14:0").wait_read() as t:
        begin, end = re.search(r"\[(?:\S+ )?(\S+), (?:\S+ )?(\S+)\[", t.sync()[0]).groups()
        run = subprocess.run([PROGRAM, "report", "cpu", "--columns", "tid,state_name", "--json", "--begin", begin,
                              "--end", end, RECORDING], check=True, stdout=subprocess.PIPE,
                             env={**os.environ, "TZ": "UTC"})
        waiting = [row["tid"] for row in json.loads(run.stdout)["rows"] if row["state_name"] == "waiting"]
        checks.check("some threads have waited all the time", len(waiting) > 3, waiting)
        screen = details_of(t, waiting[0])
        checks.contains("a lower bound", screen.split("\n"),
                        r"^ state +waiting( in \S+)? since before tracing started \(at least [\d.]+s\)$")
        checks.contains("whose files", screen.split("\n"), r"^ +FD .*files of the process$")


def back(checks):
    """Esc returns to the details from which a path or calls were opened, and from there to the list."""
    with Terminal("--no-sync", "--paused", "--begin", "+4s", RECORDING, size=(240, 40),
                  ready=r"\[(2026-11-20 )?14:0").wait_read() as t:
        details_of(t, 15)
        for key, shown in ("w", r" window \["), ("a", r" Attach\b"):
            t.keys(key)
            t.wait(shown)
            checks.contains(f"Esc after {key}", t.press("Escape"), "^ IDs ")
        checks.contains("Esc again", t.press("Escape"), "▼CPU%")


def states(checks):
    """The state's length is up to the interval's end, also after the exit: the thread still runs until it is switched out."""
    with Terminal("--no-sync", "--paused", "--interval", "200ms", RECORDING, size=(140, 40)).wait_read() as t:
        t.press("(")
        # exits at .530027, is switched out at .560267
        checks.contains("on its last CPU", details_of(t, 666).split("\n"),
                        r"^ state +running on CPU 0 in exit_group\(\) for 19\.7ms, since 14:06:43\.527886$")
        t.press("Escape", "Right")
        checks.contains("a thread that has ended", details_of(t, 666).split("\n"), r"^ state +exited$")
        t.press("Escape")
        checks.contains("a kernel thread", details_of(t, 15).split("\n"),
                        r"^ state +\w+( on CPU \d)? for \S+, since [\d:.]+; a kernel thread$")


def on_a_server(checks):
    """A call on a file of a network file system names the file, rather than the server: dd's fsync() from .947200 to .957217."""
    recording = os.path.join(unpack("nfs") or skip("no recording nfs"), "nfs")
    with Terminal("--no-sync", "--paused", "--interval", "10ms", "--begin", "1795517391950000000ns", recording,
                  size=(140, 40)).wait_read() as t:
        checks.contains("the file", details_of(t, 487).split("\n"),
                        r"^ state +blocked in fsync\(fd 1 (→|->) /mnt/d/new\) for \S+, since 10:49:51\.947200$")


def small(checks):
    """However small the screen is, the selected row of several lists is on it."""
    with Terminal("--paused", "--begin", "+4s", RECORDING, size=(40, 10)).wait_read() as t:
        t.keys("0")
        screen = t.sync()
        checks.contains("Events: a row", screen, r"^ +\d+ +[\d.]+K? (yes|no) ")
        t.press("1")
        t.keys("Enter")
        t.wait("^ Details ")
        checks.contains("Details: a wait", t.sync(), r"TOTAL\n\S+ +\d+ +[\d.]+[mµ]?s$")
        checks.contains("Details: the last call", t.press("End"), r"^CALL .*\n\w+ +\d+ ")


def long_lines(checks):
    """A line that is wider than the screen goes on in the next row if there are more rows than lines."""
    with Terminal("--no-sync", "--paused", "--begin", "+4s", RECORDING, size=(80, 40)).wait_read() as t:
        screen = details_of(t, 720)
        checks.contains("namespaces in full", screen.split("\n"), r"^ IDs .* cgroup_ns\n {11}\d{10}$")
        checks.equal("each line once", len(re.findall("^ IDs ", screen, re.M)), 1)
        checks.contains("the last line", screen.split("\n"), "^ pressure ")
        t.resize(80, 24)
        screen = t.wait(r"(?s)^ IDs [^\n]*…\n.*^CALL ").string
        checks.lacks("no room: cut", screen.split("\n"), "^ {11}\\d+$")


LABEL = re.compile(r"^ ([A-Za-z][\w ]{0,8}?) {2,}\S", re.M)


def lines_by_pages(checks):
    """What does not fit above the lists comes with s, and is said to be there."""
    with Terminal("--no-sync", "--paused", "--begin", "+4s", RECORDING, size=(80, 60)).wait_read() as t:
        whole = details_of(t, 720).split("\nTOTAL")[0]
        labels = LABEL.findall(whole[whole.index("\n state "):])
        checks.check("all, with room", {"state", "IDs", "pressure"} < set(labels) and "press s" not in whole, whole)
        t.keys("s")
        checks.check("nothing to turn", t.wait("works only in a critical path, and in details that do not fit"))
    for size, pages, room in ((80, 24), 3, 8), ((60, 15), 5, 6), ((40, 12), 5, 1):
        with Terminal("--no-sync", "--paused", "--begin", "+4s", RECORDING, size=size).wait_read() as t:
            t.keys("/").text("720").keys("Enter", "Enter")
            t.wait(r"\d+ more lines: press s$")
            seen, left, shown = [], len(labels), 0
            while left:
                screen = "\n".join(t.sync())
                hint = re.search(r"^ +(?:(\d+) more lines?: press s|press s for the first lines)$", screen, re.M)
                page = LABEL.findall(screen[screen.index("\n", screen.index(" on db")):hint.start()])
                seen += page
                shown += 1
                checks.check(f"{size}: lines", page and left - len(page) == int(hint[1] or 0), screen)
                # further pages may take all of a small screen
                if shown == 1 or size[1] >= 24:
                    checks.check(f"{size}: {room} rows for the lists", screen.rstrip("\n").count("\n", hint.end()) >= room, screen)
                left = int(hint[1] or 0)
                t.keys("s")
            checks.equal(f"{size}: each once", seen, labels)
            checks.check(f"{size}: on few pages", shown <= pages, shown)
            checks.contains(f"{size}: the first again", t.sync(), "^ state ")
            t.press("s")
            checks.contains(f"{size}: lists, once a key moves in them", t.press("Down"), "▼TOTAL")
            t.press("s")
            checks.contains(f"{size}: also to their end", t.press("End"), "▼TOTAL")
            if size[1] < 24:  # their lines leave no room for rows
                t.press("s")
                for key in ("Enter", "l", "Space"):
                    t.keys(key)
                    checks.check(f"{size}: {key} acts on no row that cannot be seen",
                                 t.wait("^the selected row was not visible"))
                    checks.contains(f"{size}: {key}: it is shown", t.sync(), "▼TOTAL")
                    t.press("s")


def hidden(checks):
    """Of a thread whose host is hidden, nothing is claimed not to have happened."""
    with Terminal("--no-sync", "--paused", "--begin", "+4s", RECORDING, os.path.join(os.path.dirname(RECORDING), "web"),
                  size=(140, 40)).wait_read() as t:
        tid = next(r["tid"] for r in json.loads(report("+4s", "+5s", "--json"))["rows"] if r["comm"] == "postgres")
        checks.lacks("shown", details_of(t, tid).split("\n"), "is hidden")
        t.choose("H", "Hosts: ", "web")
        t.wait("^ its host is hidden; H shows it again")
        checks.lacks("hidden", t.sync(), "^ no (wait|system call|known file)")


Checks().run(at_disks, longest, since_before, back, states, on_a_server, small, long_lines, lines_by_pages, hidden)
