#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Panes beyond those that digits open: pressure, connections, relations, memory. Whole screens at two sizes, and the
figures of their rows against the report's for the same interval.
"""

import json
import os
import re
import subprocess
import tempfile

from terminal import PROGRAM, Checks, Terminal, need, skip, unpack

need("tmux", "zstd")
RECORDING = unpack("three-tier") or skip("no recording three-tier")
SIZES = ((80, 24), (160, 40))


def report(table, screen, *options):
    """Rows of the report for the interval that the screen shows."""
    begin, end = re.search(r"\[(?:\S+ )?(\S+), (?:\S+ )?(\S+)\[", screen[0]).groups()
    run = subprocess.run([PROGRAM, "report", table, "--json", "--begin", begin, "--end", end, *options, RECORDING],
                         check=True, stdout=subprocess.PIPE, env={**os.environ, "TZ": "UTC"})
    return json.loads(run.stdout)["rows"]


def open_at(size, *options, env=None):
    return Terminal("--paused", "--begin", "+6s", *options, RECORDING, size=size, env=env,
                    ready=r"\[(2026-11-20 )?14:07:1").wait_read()


def open_pane(title, size):
    t = open_at(size)
    t.keys("P")
    t.wait(rf"│ [0-9 ]  {title} ")
    items = [line for line in t.screen() if re.match(r"│ [0-9 ]  \S", line)]
    t.keys("Home", *["Down"] * next(i for i, line in enumerate(items) if line[5:].startswith(title + " ")), "Enter")
    t.wait_gone("Panes")
    t.sync()
    return t


def rows_below(screen, heading):
    """The heading's and the rows' words."""
    at = next(i for i, line in enumerate(screen) if re.match(heading, line))
    rows = [line.split() for line in screen[at + 1:-1]]
    return [row for row in rows if row]


def close_to(text, value):
    """Whether a figure as the screen writes it (3 digits, a unit) is that value."""
    number, unit = re.fullmatch(r"([\d.]+)(ns|µs|ms|s|K|M|)", text).groups()
    scale = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "K": 1024, "M": 1 << 20, "": 1}[unit]
    return abs(float(number) * scale - value) <= 0.006 * value


def cut(text, width):
    return text if len(text) <= width else text[:width - 1] + "…"


def pressure(checks):
    for size in SIZES:
        with open_pane("Pressure", size) as t:
            screen = t.screen()
            checks.expected(f"pressure-{size[0]}x{size[1]}", screen)
            rows = {row["host"]: row for row in report("pressure", screen, "--columns",
                                                      "host,cpu_some_percent,io_some_percent,io_full_percent")}
            shown = rows_below(screen, "HOST +.*CPU SOME%")
            checks.equal("a row of each host", {words[0] for words in shown}, set(rows))
            for words in shown:
                row = rows[words[0]]
                figures = [word for word in words[1:] if re.fullmatch(r"\d+\.\d", word)]
                checks.equal(f"as reported, of {words[0]}", figures[:3],
                             [f"{row[name]:.1f}" for name in ("cpu_some_percent", "io_some_percent", "io_full_percent")])


def connections(checks):
    for size in SIZES:
        with open_pane("Connections", size) as t:
            screen = t.screen()
            checks.expected(f"connections-{size[0]}x{size[1]}", screen)
            rows = report("connections", screen, "--sort", "received_bytes")
            shown = rows_below(screen, " +PID HOST")
            checks.check("there are some", len(shown) > 5, screen)
            for words, row in zip(shown, rows):
                checks.check(f"as reported, of {row['pid']} {row['peer']}",
                             words[0] == str(row["pid"] if row["pid"] is not None else "-") and row["peer"] in words,
                             (words, row))


def relations(checks):
    for size in SIZES:
        with open_pane("Relations", size) as t:
            screen = t.screen()
            checks.expected(f"relations-{size[0]}x{size[1]}", screen)
            rows = report("relations", screen, "--sort", "wait_ns")
            shown = rows_below(screen, "FROM HOST +FROM PROCESS +TO" + (" HOST +TO PROCESS" if size[0] > 80 else ""))
            checks.check("there are some", len(shown) > 5, screen)
            for words, row in list(zip(shown, rows))[:5]:
                waited = next(word for word in words if re.fullmatch(r"[\d.]+(ns|µs|ms|s)", word))
                checks.check(f"as reported, from {row['from_pid']} to {row['to_pid']}",
                             words[:2] == [row["from_host"] or "-", str(row["from_pid"])] and
                             (size[0] == 80 or (row["to_host"] or "-") in words[3:]) and
                             (row["to_comm"] or "-")[:7] in " ".join(words[4:]) and close_to(waited, row["wait_ns"]),
                             (words, row))


def relation_hosts(checks):
    """Of two processes with the same number and name on different hosts, each is told by its host."""
    for width in (60, 70, 80):
        with open_pane("Relations", (width, 24)) as t:
            checks.contains(f"{width} columns: the host of either end", t.screen(), r"^FROM HOST .*\bTO HOST ")


def opened(checks):
    """Enter on rows that are not threads: the process of a relation, or what shows more."""
    with open_pane("Relations", (160, 40)) as t:
        row = next(row for row in report("relations", t.screen(), "--sort", "wait_ns") if row["from_pid"])
        t.press("Home", "Enter")
        checks.contains("Details of the process that acts", t.sync(), rf"^ {re.escape(row['from_comm'])} on {row['from_host']}\n")
        checks.contains("its PID", t.sync(), rf"^ IDs +tid {row['from_pid']}  pid {row['from_pid']} ")
        t.keys("Escape")
        t.wait("FROM HOST")
    with open_pane("Pressure", (160, 40)) as t:
        t.keys("Enter")
        t.wait(r"this row has no details; 6 \(Latency\) and Blocking \(see P\) show who waited")
        t.keys("0", "Enter")
        t.wait("this row has no details; D shows the events themselves")
        t.keys("7", "Enter")
        t.wait(r"this row has no details; 2 \(I/O\), sorted by DISKRQ/s \(F6\), shows whose requests they\s+were; l lists its longest durations")


def files(checks):
    """All descriptors that were open in the interval, also those that were open for less than a step of the history."""
    with open_at((120, 30)) as t:
        t.keys("4")
        t.wait(r"^ +PID HOST .* FD KIND")
        screen = t.sync()
        rows = report("files", screen)
        brief = [r for r in rows if r["opened_ns"] and r["closed_ns"] and not r["read_bytes"] + r["write_bytes"]]
        checks.check("some are brief", len(brief) > 20, len(brief))
        checks.contains(f"all {len(rows)} rows of the report", screen, rf" \d+/{len(rows)}$")
        # on a narrow screen, too, what is only written shows; in one second a rate is the number of bytes
        only = max((r for r in rows if not r["read_bytes"]), key=lambda r: r["write_bytes"])
        t.resize(80, 24)
        t.keys("F4").text(f"host:{only['host']} pid:{only['pid']} write_bytes>1000").keys("Enter")
        t.wait("^.*filter: host:")
        screen = t.sync()
        head = next(line for line in screen if re.match(r"^ +PID HOST ", line)).split()
        checks.equal("80×24: rates", [h for h in head if h.endswith("/s")], ["▼READ/s", "WRITE/s"])
        checks.check(f"{only['write_bytes']} bytes written", "WRITE/s" in head and any(
            close_to(row[head.index("WRITE/s")], only["write_bytes"]) for row in rows_below(screen, r"^ +PID HOST ")), screen)


def memory(checks):
    """This recording does not have the events: the pane names them."""
    for size in SIZES:
        with open_pane("Memory", size) as t:
            checks.expected(f"memory-{size[0]}x{size[1]}", t.screen())


def small(checks):
    """Where little fits, that is the host, the sort column and a figure rather than all ids."""
    with open_at((40, 12)) as t:
        for key, heading in (("1", r"^ +TID HOST +▼CPU% CPU TIME COMMAND"), ("2", r"^ +TID HOST +▼READ/s WRITE/s COMMAND"),
                             ("5", r"^HOST +CALL +▼TOTAL COMMAND")):
            checks.contains(f"pane {key}", t.press(key), heading)
    for title, heading in (("Relations", r"^FROM HOST +BY +▼WAITED"), ("Blocking", r"^HOST.* ▼")):
        with open_pane(title, (40, 40)) as t:
            checks.contains(title, t.screen(), heading)


def blocking(checks):
    """At 80 columns, the call and who ended the wait stay, rather than the process and the averages."""
    with open_pane("Blocking", (80, 24)) as t:
        screen = t.screen()
        checks.expected("blocking-80x24", screen)
        checks.contains("who ended the wait", screen, r"^ +TID HOST +WAITED IN +STATE +BY +▼TOTAL COMMAND")
        reported = {(row["host"], row["tid"], row["state"], cut(row["cause"] or "-", 8))
                    for row in report("blocking", screen, "--columns", "host,tid,state,cause")}
        at = next(i for i, line in enumerate(screen) if " WAITED IN " in line)
        state, by = screen[at].index("STATE"), screen[at].index("BY ")
        shown = {(line[8:].split()[0], int(line[:7]), line[state:].split()[0], line[by:].split()[0])
                 for line in screen[at + 1:-1] if line.strip()}
        checks.check("as reported", len(shown) > 10 and shown <= reported, shown - reported)
    with open_pane("Blocking", (100, 24)) as t:
        checks.contains("with more room, whole names", t.screen(), r"^ +TID +PID HOST +WAITED IN +STATE +BY +▼TOTAL COMMAND")
        checks.contains("of threads of the kernel, too", t.screen(), " rcu_preempt ")


def futexes(checks):
    """Room that dropped columns leave goes to cut texts: the last digit of an address distinguishes locks."""
    recording = unpack("locks-pipes")
    if not recording:
        print("skip futexes: no recording locks-pipes")
        return
    done = subprocess.run([PROGRAM, "report", "blocking", "--where", "call:futex", "--columns", "what", "--json", recording],
                          check=True, stdout=subprocess.PIPE)
    whole = {row["what"] for row in json.loads(done.stdout)["rows"]}
    with Terminal("--paused", recording, size=(80, 24)).wait_read() as t:
        t.choose("P", "─ Panes", "Blocking")
        t.keys("\\").text("call:futex").keys("Enter")
        t.wait("filter: call:futex +1/")
        shown = re.findall(r"futex\(\S*", "\n".join(t.screen()))
        checks.check("whole addresses", len(shown) > 10 and set(shown) <= whole, shown)


def percentiles(checks):
    """Columns of a distribution that are chosen in the setup, here in its file."""
    names = ("p50_ns", "p90_ns", "p99_ns", "p999_ns")
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"percentiles-{os.getpid()}.conf")
    for table, key in (("sched", "6"), ("syscalls", "5")):
        with open(path, "w") as f:
            f.write(f"[list {table}]\ncolumns=tid host count {' '.join(names)}\nsort=count\n")
        with open_at((100, 40), "--config", path) as t:
            screen = t.press(key)
            rows = {}
            for row in report(table, screen):
                rows.setdefault((str(row["tid"]), row["host"], str(row["count"])), []).append(row)
            shown = rows_below(screen, ".* p50 .* p90 .* p99 .* p99.9")
            figures = [words for words in shown if tuple(words[:3]) in rows and len(rows[tuple(words[:3])]) == 1]
            checks.check(f"{table}: there are some", len(figures) > 10, screen)
            for words in figures:
                row, = rows[tuple(words[:3])]
                good = all(row[name] is None if text == "-" else close_to(text, row[name])
                           for text, name in zip(words[3:], names))
                checks.check(f"{table}: percentiles of {words[:3]}", len(words) == 7 and good, (words, row))
    os.unlink(path)


def rates(checks):
    """The rate in the first line is the sum of the hosts', also where not all of them were recorded all the time."""
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"rates-{os.getpid()}.json")
    with Terminal("--paused", "--begin", "+0s", RECORDING, size=(160, 40)).wait_read() as t:
        t.press("9")
        lengths = {row["end_ns"] - row["begin_ns"] for row in report("hosts", t.screen())}
        checks.check("not all were recorded all the time", len(lengths) > 1, lengths)
        hosts = t.written(path)["rows"]
        shown = int(re.search(r" (\d+) ev/s", t.screen()[0])[1])
        checks.check("ev/s", abs(shown - sum(row["event_rate"] for row in hosts)) <= 1, (t.screen()[0], hosts))
    os.unlink(path)


def long_filter(checks):
    """Of a filter that is too long, the start is shown, beside what else is there."""
    many = "cpu%>0.1 comm:x tid>10 user:a container:b state:running call:read file:x host:client"
    terms = "cpu%>0.1 (comm:postgres | comm:apache2 | comm:rcu_preempt | comm:kworker) !host:client tid>10"
    with open_at((80, 24)) as t:
        t.keys("F4")
        t.wait("^Filter:")
        t.text(terms).keys("Enter")
        t.wait("F1Help")
        found = re.search(r"^ CPU  …  filter: (.*)…  1/\d+ ?$", t.sync()[5])
        checks.check("as much as fits", found and terms.startswith(found[1]) and len(t.screen()[5].rstrip()) == 79, t.screen()[5])
        checks.contains("what does not apply", t.press("7"), r"^ Devices  …  filter: cpu%.*… \(cpu%, comm:, tid do not apply here\)  1/\d")
        t.keys("F4")
        t.wait("^Filter:")
        t.keys("C-u").text(many).keys("Enter")
        t.wait("F1Help")
        for pane, title, terms in ("7", "Devices", 8), ("9", "Hosts", 7):
            checks.contains(f"too many that do not apply, pane {pane}", t.press(pane),
                            rf"^ {title}  …  filter: cpu%>0.1 com.*… \({terms} terms do not apply here\)  \d/\d")


def more_panes(checks):
    """Unless the names of all panes fit, a sign that there are more follows those that do."""
    for locale, sign in ("C.UTF-8", "…"), ("C", "~"):
        with open_at((220, 24), env={"LC_ALL": locale}) as t:
            names = t.screen()[5].split()[:-1]
            checks.check(f"{locale}: all names", len(names) == 18 and sign not in names, names)
            for pane in "1", "8", "Enter":
                t.press(pane)
                wrong = []
                for width in (60, 71, 80, 90, 100, 111, 121, 130, 141, 160, 181, 190, 200, 210):
                    t.resize(width, 24)
                    line = t.wait_for(lambda text, w=width: [line for line in text.split("\n") if line.startswith(" CPU ") and len(line) == w - 1],
                                      f"{width} columns")[0]
                    if len(set(names) & set(line.split())) < len(names) and not re.search(f"  {sign}  .*\\d/\\d+$", line):
                        wrong.append(line)
                checks.equal(f"{locale}: key {pane}: a sign at every width", wrong, [])


def trouble_in_full(checks):
    """What is wrong with a source, and what to do, is readable beside a long name, at 80 columns."""
    damaged = os.path.join(tempfile.mkdtemp(), "a-recording-that-was-copied-from-elsewhere")
    os.mkdir(damaged)
    with open(os.path.join(damaged, "metadata"), "w", encoding="utf-8") as file:
        file.write("x")
    why = subprocess.run([PROGRAM, "report", "cpu", damaged], stderr=subprocess.PIPE, text=True, check=False).stderr
    why = re.search(r"metadata: .*", why).group(0)
    with Terminal("--paused", os.path.join(RECORDING, "web"), damaged) as t:
        t.keys("9")
        t.wait(r"^HOST +SOURCE +STATE")
        screen = t.sync()
        at = next(i for i, line in enumerate(screen) if line.startswith("HOST") and "SOURCE" in line)
        x = screen[at].index("STATE")
        first = next(i for i, line in enumerate(screen) if line.startswith("?"))
        said = [screen[first][x:]]
        for line in screen[first + 1:]:
            if line[:x].strip() or not line:
                break
            said.append(line[x:])
        checks.equal("all of it", " ".join(said), why)
        checks.check("in more than one line", len(said) > 1, screen)


def raw_names(checks):
    """Bytes of a path that are not characters, and controls, are shown as in other names; characters as they are."""
    parent = tempfile.mkdtemp()
    damaged = os.path.join(os.fsencode(parent), b"caf\xc3\xa9-\xff\x1b[7m-\xc2\x9b")
    os.mkdir(damaged)
    with open(os.path.join(damaged, b"metadata"), "w", encoding="utf-8") as file:
        file.write("x")
    for locale, letter in ("C.UTF-8", "é"), ("C", "?"):
        with Terminal("--paused", os.path.join(RECORDING, "web"), parent, env={"LC_ALL": locale}, size=(120, 24)) as t:
            t.keys("9")
            t.wait(r"^HOST +SOURCE +STATE")
            found = next(line.split() for line in t.sync() if line.startswith("?"))
            checks.equal(f"{locale}: the path", found[1], f"{parent}/caf{letter}-" + r"\xff\x1b[7m-\xc2\x9b")
            checks.equal(f"{locale}: what is wrong with it, without its path", found[2:4], ["metadata:", "line"])


Checks().run(pressure, connections, relations, relation_hosts, opened, files, memory, small, blocking, futexes, percentiles, rates, long_filter, more_panes,
             trouble_in_full, raw_names)
