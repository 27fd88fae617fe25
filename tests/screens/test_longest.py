#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Key l: the longest durations of a row in an interval, with their times: those of the recording, of the row and of the
interval, as babeltrace2's events give them, or lttngtop report --log; what is longer than what is read again around the
interval; of a live host, what is kept."""

import json
import os
import re
import shutil
import subprocess

import live_pane
from terminal import PROGRAM, Checks, Terminal, need, skip, unpack
from text_pane import interval, seconds

need("tmux", "zstd", "babeltrace2")
THREE = unpack("three-tier") or skip("no recording three-tier")
LOCKS = unpack("locks-pipes") or skip("no recording locks-pipes")
S, DAY = 10**9, 86400 * 10**9
MAX = 20
UNITS = {"ns": 1, "µs": 10**3, "ms": 10**6, "s": 10**9}
SIZE = (120, 40)
ITEM = re.compile(r"│ +([\d.]+)(ns|µs|ms|s)  (\d\d:\d\d:\d\d\.\d{9})(?:  (.*?))? +│")


def menu(t):
    """Waits for the menu: its title, its items (time, length as shown, rest), and its notes."""
    screen = ["reading 0%"]
    while any("reading" in line for line in screen):
        t.wait(r"┌─ .*: longest ")
        screen = t.sync()
    title = re.search(r"┌─ (.*?) ─+┐", "\n".join(screen))[1]
    box = [line for line in screen if line.startswith("│")]
    items = [m.groups() for m in map(ITEM.match, box) if m]
    notes = [re.match(r"│ (.*?) +│", line)[1] for line in box if not ITEM.match(line)]
    return title, [(seconds(at), float(n) * UNITS[unit], rest or "") for n, unit, at, rest in items], notes


def shown(t):
    """The interval on the screen, ns of the day."""
    return [seconds(edge) for edge in interval(t.sync())]


def select(t, pane, text, *keys):
    """Shows only rows that match a filter in a pane, then moves to one."""
    t.keys(pane, "F4")
    t.wait("^Filter:")
    t.keys("C-u").text(text).keys("Enter", *keys)
    return t.press()


def mark(t, begin, end):
    """Shows the marked interval between two times."""
    for time, key in ((begin, "A"), (end, "B")):
        t.keys("b")
        t.wait("^Jump to")
        t.keys("C-u").text(time).keys("Enter")
        t.keys(key)
    return shown(t)


def longest(t):
    t.keys("l")
    found = menu(t)
    t.keys("Escape")
    t.wait_gone("┌─ ")
    return found


def same(checks, name, items, wanted):
    """wanted: all that end in the interval (begin, length); those of equal length may come in any order."""
    wanted = sorted(((begin % DAY, length) for begin, length in wanted), key=lambda one: (-one[1], one[0]))[:MAX]
    checks.equal(f"{name}: how many", len(items), len(wanted))
    least = wanted[-1][1] if wanted else 0
    checks.check(f"{name}: which", wanted and all((begin, length) in wanted or length == least for begin, length in
                                                  [(at, exact(wanted, at)) for at, _, _ in items]), f"{items}\n{wanted}")
    checks.check(f"{name}: how long", all(abs(length - exact(wanted, at)) <= exact(wanted, at) / 180 for at, length, _ in items
                                          if exact(wanted, at)), f"{items}\n{wanted}")
    checks.check(f"{name}: longest first", all(a[1] >= b[1] for a, b in zip(items, items[1:])), items)


def exact(wanted, begin):
    return dict(wanted).get(begin, 0)


def log(recording, table, of, begin, end, chosen, shift=0):
    """The durations that the report lists for an interval, from all that was recorded."""
    out = subprocess.run([PROGRAM, "report", table, "--log", "--of", of, "--json", recording], stdout=subprocess.PIPE,
                         check=True).stdout
    return [(row["begin_ns"] + shift, row["length_ns"]) for row in json.loads(out)["rows"]
            if begin <= (row["begin_ns"] + row["length_ns"]) % DAY < end and chosen(row)]


def calls(recording, tid, name, begin, end):
    """The same of a thread's calls, from babeltrace2's text."""
    out = subprocess.run(["babeltrace2", "--clock-gmt", recording], stdout=subprocess.PIPE, check=True).stdout.decode()
    entry, found = None, []
    for line in out.splitlines():
        m = re.match(rf"\[(\S+)\] .*\bsyscall_(entry|exit)_{name}: .*\btid = {tid}\b", line)
        if m and m[2] == "entry":
            entry = seconds(m[1])
        elif m and entry is not None:
            found += [(entry, seconds(m[1]) - entry)] if begin <= seconds(m[1]) < end else []
            entry = None
    return found


def test_calls(checks):
    host = os.path.join(LOCKS, os.listdir(LOCKS)[0])
    out = json.loads(subprocess.run([PROGRAM, "report", "syscalls", "--json", host], stdout=subprocess.PIPE, check=True).stdout)
    row = max((r for r in out["rows"] if r["name"] == "futex"), key=lambda r: r["count"])
    with Terminal("--paused", LOCKS, size=SIZE, ready=" PAUSED ").wait_read() as t:
        begin, end = mark(t, "+2s", "+6s")
        screen = select(t, "5", f"tid:{row['tid']} call:futex")
        checks.contains("the row", screen, rf"^ *{row['tid']} .*futex")
        title, items, notes = longest(t)
        checks.check("title", title == f"{row['comm']} {row['tid']} ({os.path.basename(host)}), futex: longest time from "
                     "entry to exit of the call", title)
        wanted = calls(host, row["tid"], "futex", begin, end)
        same(checks, "calls", items, wanted)
        checks.equal("how many more", notes, [f"and {len(wanted) - MAX} shorter ones"])
        # time moves to the one that is chosen
        t.keys("l")
        menu(t)
        t.keys("Down", "Enter")
        t.wait(f"at {re.escape(clock(items[1][0]))}, for ")
        at = shown(t)
        checks.check("Enter shows its time", at[0] <= items[1][0] < at[1], f"{at} {items[1]}")


def clock(ns):
    s, ns = divmod(ns, S)
    return f"{s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}.{ns:09}"


def test_kinds(checks):
    """On the hosts' corrected clocks."""
    with Terminal("--paused", THREE, size=SIZE, ready=" PAUSED ").wait_read() as t:
        begin, end = mark(t, "+4s", "+7s")
        select(t, "6", "tid:15 host:web")
        title, items, _ = longest(t)
        checks.check("title of a thread", title == "rcu_preempt 15 (web): longest time from a wake-up to the switch-in", title)
        same(checks, "wake-ups", items, log(THREE, "sched", "latency", begin, end,
                                            lambda r: (r["tid"], r["host"]) == (15, "web")))
        checks.check("who ran before", any(re.match("after .", rest) for _, _, rest in items), items)
        t.choose("F6", "Sort by", "SLICE MAX ")
        same(checks, "time slices", longest(t)[1], log(THREE, "sched", "slice", begin, end,
                                                       lambda r: (r["tid"], r["host"]) == (15, "web")))
        select(t, "7", "SCHED host:db", "End")
        title, items, _ = longest(t)
        checks.check("title of a softirq", title == "SCHED (db): longest time from entry to exit of the handler", title)
        same(checks, "softirqs of all CPUs", items, log(THREE, "irqs", "time", begin, end,
                                                        lambda r: (r["cause"], r["host"]) == ("SCHED", "db")))
        select(t, "7", "host:db", "Home")
        title, items, _ = longest(t)
        disk = re.fullmatch(r"(\w+) \(db\): longest time from issue to completion", title)
        checks.check("title of a disk", disk, title)
        same(checks, "requests", items, log(THREE, "disks", "latency", begin, end,
                                            lambda r: r["host"] == "db" and r["cause"].split()[0] == disk[1]))
        checks.check("read or write", {rest.split()[-1] for _, _, rest in items} <= {"read", "write"}, items)


def test_waits(checks):
    """Of one kind, in one call, on one file: what ended each."""
    rows = [r for r in json.loads(subprocess.run([PROGRAM, "report", "blocking", "--json", THREE], stdout=subprocess.PIPE,
                                                 check=True).stdout)["rows"] if r["host"] == "db"]
    thread = max((r for r in rows if r["syscall"] == "fdatasync"), key=lambda r: r["count"])["tid"]
    with Terminal("--paused", THREE, size=(SIZE[0], 50), ready=" PAUSED ").wait_read() as t:
        begin, end = mark(t, "+0s", "+8s")
        t.choose("P", "─ Panes", "Blocking")
        select(t, "Home", f"host:db tid:{thread} state:block_device call:fdatasync")
        title, items, notes = longest(t)
        found = re.fullmatch(rf"postgres {thread} \(db\), fdatasync\(\d+ (\S+)\): longest time from the switch-out to .*", title)
        checks.check("title of waits", found, title)
        row = next(r for r in rows if (r["tid"], r["syscall"], r["path"]) == (thread, "fdatasync", found[1]))
        checks.equal("as many as the table has", (len(items), notes), (row["count"], []))
        checks.check("the longest", abs(items[0][1] - row["max_ns"]) < row["max_ns"] / 180, f"{items} {row}")
        checks.check("what ended them", all(rest == "ended by vda" for _, _, rest in items), items)
        waits = log(THREE, "blocking", "time", begin, end, lambda r: (r["host"], r["tid"]) == ("db", thread))
        checks.check("their times", {at for at, _, _ in items} <= {at % DAY for at, _ in waits}, f"{items} {waits}")


def test_processes(checks):
    """Of a process: the durations of all its threads, each with its thread; of a sum: which row is not known."""
    out = json.loads(subprocess.run([PROGRAM, "report", "sched", "--json", os.path.join(THREE, "web")], stdout=subprocess.PIPE,
                                    check=True).stdout)
    threads = {}
    for row in out["rows"]:
        threads.setdefault(row["pid"], set()).add(row["tid"])
    pid = max(threads, key=lambda p: len(threads[p]))
    with Terminal("--paused", os.path.join(THREE, "web"), size=SIZE, ready=" PAUSED ").wait_read() as t:
        begin, end = mark(t, "+0s", "+7s")
        t.keys("t")
        select(t, "6", f"pid:{pid}")
        _, items, _ = longest(t)
        t.keys("t")
        t.choose("G", "─ Sum up", " process")
        checks.equal("summed up", longest(t)[1], items)
        same(checks, "a process", items, log(os.path.join(THREE, "web"), "sched", "latency", begin, end,
                                             lambda r: r["pid"] == pid))
        tids = {int(re.search(r" (\d+)(?:  after .*)?$", rest)[1]) for _, _, rest in items}
        checks.check("several threads", len(tids) > 1 and tids <= threads[pid], f"{tids} {threads[pid]}")


def test_long(checks):
    """One that began long before the interval: a second is read again before any, here 8 are needed."""
    with Terminal("--paused", THREE, size=SIZE, ready=" PAUSED ").wait_read() as t:
        t.keys(")")
        t.wait("^ END ")
        begin, end = shown(t)
        select(t, "5", "call:epoll_wait host:client tid:347")
        _, items, notes = longest(t)
        wanted = log(THREE, "syscalls", "time", begin, end,
                     lambda r: (r["tid"], r["cause"], r["host"]) == (347, "epoll_wait", "client"))
        checks.check("it is long", max(length for _, length in wanted) > 8 * S, wanted)
        same(checks, "a long one", items, wanted)
        checks.equal("nothing is missing", notes, [])


def test_none(checks):
    with Terminal("--paused", THREE, size=SIZE, ready=" PAUSED ").wait_read() as t:
        t.keys("4", "l")
        t.wait(r"l works in Latency, Syscalls, Blocking and Devices \(disks, interrupts\)")
        t.keys("6")
        t.choose("G", "─ Sum up", " comm")
        t.keys("l")
        t.wait("this row sums up")
        checks.check("sums are refused", True)
        t.choose("G", "─ Sum up", "show each row")
        t.keys("F5", "F4")
        t.wait("^Filter:")
        t.keys("C-u").text("host:db").keys("Enter", "Home", "c", "l")
        t.wait(r"this row sums up a branch of \d+ rows: press c to expand it")
        checks.check("branches are refused", True)


def call_of(t):
    """The first call of the thread in the list."""
    return re.search(rf"^ *{live_pane.TID} +\d+ (?:web +)?(\w+)", "\n".join(t.sync()), re.M)[1]


def test_changed(checks):
    """Files that were cut off since they were read: what is no longer there is counted."""
    shutil.copytree(LOCKS, "changed")
    with Terminal("--paused", "--no-cache", "changed", size=SIZE, ready=" PAUSED ").wait_read() as t:
        begin, end = mark(t, "+0s", "+7s")
        select(t, "7", "SCHED", "End")
        wanted = log(LOCKS, "irqs", "time", begin, end, lambda r: r["cause"] == "SCHED")
        for directory, _, files in os.walk("changed"):
            for file in files:
                path = os.path.join(directory, file)
                if file != "metadata" and "index" not in directory:
                    os.truncate(path, os.path.getsize(path) // 3)
        _, items, notes = longest(t)
        found = len(items) + sum(int(n) for note in notes for n in re.findall(r"^and (\d+) shorter ones$", note))
        lost = re.match(r"(\d+) of (\d+) cannot be read again(?:, among them the longest, (.*))?$", notes[-1])
        checks.check("how many are missing", lost and int(lost[2]) == len(wanted) and 0 < found == len(wanted) - int(lost[1]),
                     f"{notes} {len(items)} {len(wanted)}")
        least = max(length for _, length in wanted)
        checks.equal("whether the longest is", bool(lost[3]), abs(items[0][1] - least) > least / 180)
        checks.check("the others are there", {at for at, _, _ in items} <= {at % DAY for at, _ in wanted}, items)


def test_narrow(checks):
    """A title that does not fit ends with what says so, not in the middle of a word."""
    with Terminal("--paused", THREE, ready=" PAUSED ").wait_read() as t:
        t.keys(")")
        t.wait("^ END ")
        select(t, "5", "call:epoll_wait host:client tid:347")
        t.keys("l")
        title = menu(t)[0]
        checks.equal("cut title", title, "Client manageme 347 (client), epoll_wait: longest time from entry to exit…")


def test_live(checks):
    """While it is fed: what is on the screen is complete, and can be read again."""
    wanted = log(live_pane.RECORDING, "syscalls", "time", 0, DAY, lambda r: r["tid"] == live_pane.TID)
    with live_pane.Live("longest", "1") as t:
        t.wait(r"^ LIVE .*\[")
        t.keys("5", "p")
        live_pane.select_thread(t)
        begin, end = shown(t)
        name = call_of(t)
        title, items, _ = longest(t)
        checks.check("a call of the thread", name in title, title)
        wanted = log(live_pane.RECORDING, "syscalls", "time", begin, end,
                     lambda r: (r["tid"], r["cause"]) == (live_pane.TID, name))
        same(checks, "live", items, wanted)
    with live_pane.Live("unkept", "1", "--recall-memory", "0") as t:
        t.keys("6", "l")
        t.wait(r"nothing is kept \(--recall-memory 0\)")
        checks.check("nothing is kept", True)


def test_live_waits(checks):
    """Files that were opened before what is still kept have no path in what is read again."""
    with live_pane.Live("waits", "8", "--recall-memory", "3M", "--workers", "1") as t:
        t.wait_for(lambda text: text.startswith(" ENDED "), "the end")
        mark(t, "+4s", "+6s")
        t.choose("P", "─ Panes", "Blocking")
        screen = select(t, "Home", "tid:1470 call:fcntl")
        checks.contains("a lock of a file that was opened long ago", screen, r"^ *1470 .* fcntl\(10 /run/apache2/.* 1 +397ms ")
        title, items, notes = longest(t)
        checks.check("the wait for it", title.startswith("apache2 1470 (web), fcntl(10 /run/apache2/") and
                     [rest for _, _, rest in items] == ["ended by apache2"] and not notes, f"{title} {items} {notes}")


def test_forgotten(checks):
    """Of a live host with little memory, the latest ones; what cannot be said is."""
    with live_pane.Live("forgotten", "4", "--recall-memory", "1M", "--workers", "1") as t:
        t.wait_for(lambda text: text.startswith(" ENDED "), "the end")
        t.keys(")", "5")
        live_pane.select_thread(t)
        name = call_of(t)
        select(t, "5", f"tid:{live_pane.TID} call:{name}")
        t.keys("(", "A", ")", "B")
        begin, end = shown(t)
        _, items, notes = longest(t)
        kept = re.fullmatch("what came before (.*) is no longer kept", notes[-1])
        checks.check("since when they are kept", kept and begin < seconds(kept[1]) < end, notes)
        same(checks, "those that are kept", items, [one for one in log(
            live_pane.RECORDING, "syscalls", "time", begin, end, lambda r: (r["tid"], r["cause"]) == (live_pane.TID, name))
            if one[0] % DAY > seconds(kept[1])])
        t.keys("(")
        checks.equal("nothing is left", longest(t)[1:], ([], notes[-1:]))


os.chmod(".", 0o755)  # the relayd runs as another user
Checks().run(test_calls, test_kinds, test_waits, test_processes, test_long, test_none, test_changed, test_narrow, test_live, test_live_waits, test_forgotten)
