#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`attach` on the bundled recordings: every system call as babeltrace2 prints it, the same sums as the reports,
waits that add up to the critical path, strace's output formats."""

import collections
import functools
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cases  # noqa: E402

BUILD = os.environ.get("BUILD", os.path.join(os.path.dirname(__file__), "..", "..", "build"))
PROGRAM = os.environ.get("LTTNGTOP", os.path.join(BUILD, "lttngtop"))
TRACES = os.path.join(BUILD, "traces")
CALLS = os.path.join(os.path.dirname(__file__), "..", "..", "src", "attach", "calls.def")

failures = 0
count = 0


def check(condition, text):
    global failures, count
    count += 1
    if not condition:
        failures += 1
        if failures < 40:
            print("not ok", text)


def run(*args, status=(0,), command="attach"):
    done = subprocess.run([PROGRAM, command, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=600, check=False)
    check(done.returncode in status, f"{command} {' '.join(args)}: status {done.returncode}: "
                                     f"{done.stderr.decode(errors='replace')[:300]}")
    return done.stdout.decode()


@functools.lru_cache(maxsize=2)
def objects(*args, status=(0, 3)):
    return [json.loads(line) for line in run("--json", *args, status=status).splitlines()]


# ---- against babeltrace2 ----

EVENT = re.compile(r"^\[(\d+)\.(\d{9})\] (?:\([^)]*\) )?(?:(\S+) )?(?:compat_)?syscall_(entry|exit)_(\w+): (.*)$")
TID = re.compile(r"(?<![a-z_])tid = (\d+)")
NUMBER = re.compile(r"(\w+) = (-?(?:0x)?[0-9A-Fa-f]+)(?=[, ])")
TEXT = re.compile(r'(\w+) = "((?:[^"\\]|\\.)*)"')


def payload_of(rest):
    """The last { … } of the line: its top-level numbers and strings by name."""
    depth = 0
    begin = 0
    quoted = False
    for i, c in enumerate(rest):
        if c == '"' and rest[i - 1] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif c == "{":
            if depth == 0:
                begin = i
            depth += 1
        elif c == "}":
            depth -= 1
    body = rest[begin:]
    flat = re.sub(r"\[[^\[\]]*\]", "", re.sub(r"= \{.*?\}(?= [,}])", "", body))
    values = {m.group(1): int(m.group(2), 0) for m in NUMBER.finditer(flat)}
    values.update({m.group(1): m.group(2) for m in TEXT.finditer(body)})
    return values


@functools.lru_cache(maxsize=1)
def reference(trace):
    """The trace's calls in the order of their exits: host, tid, name, entry and exit times, fields."""
    done = subprocess.Popen(["babeltrace2", "--clock-seconds", "--no-delta", trace], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, errors="replace")
    open_calls = {}
    calls = []
    for line in done.stdout:
        match = EVENT.match(line)
        if not match:
            continue
        seconds, ns, host, kind, name, rest = match.groups()
        tid = TID.search(rest)
        if not tid:
            continue
        at = int(seconds) * 10 ** 9 + int(ns)
        who = host, int(tid.group(1))
        values = payload_of(rest)
        if kind == "entry":
            open_calls[who] = name, at, values
            continue
        entry = open_calls.pop(who, None)
        if entry and entry[0] != name:
            entry = None
        calls.append((who, name, entry[1] if entry else None, at, entry[2] if entry else {}, values))
    done.wait()
    return calls


# by their numbers on x86-64, for calls that the tracer has no name for
CREATING = {56: "clone", 57: "fork", 58: "vfork", 435: "clone3"}


def birth_of(call):
    """
    The name of the call by which its parent created a new thread, which returns from it: neither strace nor attach take
    that for a call of its own. None: it is an ordinary call.
    """
    _, name, entry_ns, _, _, leave = call
    name = CREATING.get(leave.get("id")) if name == "unknown" else name
    return name if name in CREATING.values() and entry_ns is None and leave["ret"] == 0 else None


# ---- calls.def ----

def read_calls():
    with open(CALLS, encoding="utf-8") as file:
        text = file.read()
    rows = {}
    for match in re.finditer(r'^CALL\((\w+), "\w*", "\w*",\s*"([^"]*)"\)', text, re.M):
        rows[match.group(1)] = [(a.startswith(">"), *a.lstrip(">").split(":")) for a in match.group(2).split()
                                if not a.startswith("=")]
    with open(os.path.join(os.path.dirname(CALLS), "operations.def"), encoding="utf-8") as file:
        text = file.read()
    for call, field in re.findall(r'^BY\((\w+), "(\w+)"', text, re.M):
        # what follows depends on the operation
        at = [names for _, names, _ in rows[call]].index(field)
        rows[call] = rows[call][:at + 1]
    return rows


def int_of(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def expected_arg(kind, value):
    """The text of a simple type; None if it is not one."""
    if isinstance(value, str):
        return '"' + value + '"'
    if kind == "ptr":
        return hex(value & (1 << 64) - 1) if value else "NULL"
    if kind == "fd":
        return str(int_of(value, 32))
    if kind == "uint":
        return str(value)
    if kind == "dirfd":
        return "AT_FDCWD" if int_of(value, 32) == -100 else str(int_of(value, 32))
    if kind == "open_flags":
        return ("flags", value)
    return None


def same_flags(text, value):
    total = 0
    for name in text.split("|"):
        known = getattr(os, name, None)
        if name == "O_LARGEFILE":
            known = 0o100000
        if name == "O_SYNC":
            known = 0o4010000
        if known is None:
            known = int(name, 0)
        total |= known
    return total == value


def compare_with_babeltrace(trace, rows):
    """Returns how many arguments were compared, and the births by name of the call."""
    every = reference(trace)
    want = [call for call in every if not birth_of(call)]
    births = collections.Counter(filter(None, map(birth_of, every)))
    busiest = [who for who, _ in collections.Counter(c[0] for c in want).most_common(20)]
    got = collections.defaultdict(list)
    for o in objects("-n", "*", "--no-sync", "-q", trace):
        if o["event"] == "call" and o["ret"] is not None:
            got[o["tid"]].append(o)
    hosts = {o["host"] for calls in got.values() for o in calls}
    by_who = collections.defaultdict(list)
    for calls in got.values():
        for o in calls:
            by_who[o["host"], o["tid"]].append(o)
    check(sum(len(c) for c in by_who.values()) == len(want),
          f"{trace}: {sum(len(c) for c in by_who.values())} calls, babeltrace2 has {len(want)}")
    compared = 0
    for who in busiest:
        mine = by_who.get(who) or (by_who.get((next(iter(hosts)), who[1]), []) if len(hosts) == 1 else [])
        theirs = [c for c in want if c[0] == who]
        check(len(mine) == len(theirs), f"{trace} {who}: {len(mine)} calls, not {len(theirs)}")
        for o, (_, name, entry_ns, exit_ns, entry, leave) in zip(mine, theirs):
            where = f"{trace} {who} {name} at {exit_ns}"
            if name != "unknown":
                check(o["name"] == name, f"{where}: {o['name']}")
            check(o["ts_ns"] == exit_ns, f"{where}: exit at {o['ts_ns']}")
            # which entries are uncertain because events were lost: test_lost.py
            check(o["begin_ns"] == entry_ns or ("lossy" in trace and o["begin_ns"] is None), f"{where}: entry at {o['begin_ns']}")
            check(int_of(leave["ret"], 64) == o["ret"], f"{where}: result {o['ret']}")
            for out, fields, kind in rows.get(name, []):
                field = next((f for f in fields.split("|") if f in entry or f in leave), None)
                if not field or fields.split("|")[0] not in o["args"]:
                    continue
                first, second = (leave, entry) if out else (entry, leave)
                text = expected_arg(kind, first.get(field, second.get(field)))
                mine_text = o["args"][fields.split("|")[0]]
                if text is None or mine_text is None or mine_text == '""':
                    continue # 2.0.4 prints a stale string if the length is 0
                compared += 1
                if isinstance(text, tuple):
                    check(same_flags(mine_text, text[1]), f"{where}: {field}={mine_text}, not {text[1]:#x}")
                elif not mine_text.startswith(("{", "[")):
                    check(mine_text.replace("\\x", "\\\\x") == text or mine_text == text,
                          f"{where}: {field}={mine_text}, not {text}")
    return compared, births


# ---- against the reports ----

# Where strace's name of a call, which text has, is not the tracer's, which reports and JSON have.
IN_STRACE = {"newstat": "stat", "newlstat": "lstat", "newfstat": "fstat", "newuname": "uname", "sendfile64": "sendfile",
             "umount": "umount2"}


def compare_with_syscalls(trace):
    """Neither counts births, the first returns of threads that a call has created."""
    report = json.loads(run("syscalls", "--json", "--no-sync", trace, command="report", status=(0, 3)))
    want = collections.defaultdict(lambda: [0, 0, 0, None, None])
    for row in report["rows"]:
        w = want[row["name"]]
        w[0] += row["count"]
        w[1] += sum(row["errors"].values())
        w[2] += row["total_ns"] or 0
        if row["max_ns"] is not None:
            w[3:] = [f(n for n in (row[key], known) if n is not None)
                     for f, key, known in ((min, "min_ns", w[3]), (max, "max_ns", w[4]))]
    summary = objects("-c", "-n", "*", "--no-sync", trace)[-1]
    got = {c["name"]: [c["calls"], c["errors"], c["total_ns"], c["min_ns"], c["max_ns"]] for c in summary["calls"]}
    check(got == want, f"{trace}: -c is not what report syscalls has: "
          + ", ".join(f"{n}: {got.get(n)} {want.get(n)}" for n in sorted(set(got) | set(want))
                      if got.get(n) != want.get(n))[:400])
    head, rule, *rows = run("-c", "-U", "max-time,shortest,count,errors", "-S", "name", "-n", "*", "--no-sync", trace,
                           status=(0, 3)).splitlines()
    check(head.split() == ["longest", "shortest", "calls", "errors", "syscall"] and len(rule.split()) == 5, f"{trace}: -U: {head}")
    check([row.split() for row in rows[:-2]] ==
          [[f"{(w[4] or 0) / 1e9:.6f}", f"{(w[3] or 0) / 1e9:.6f}", str(w[0]), *([str(w[1])] if w[1] else []), name]
           for name, w in sorted((IN_STRACE.get(name, name), w) for name, w in want.items())],
          f"{trace}: -U: {rows[:5]}")
    for name, (calls, *_) in want.items():
        if calls > 20:
            only = objects("-c", "-n", "*", "--no-sync", "-e", name, trace)[-1]
            check([c["name"] for c in only["calls"]] == [name] and only["calls"][0]["calls"] == calls,
                  f"{trace}: -e {name}: {only}")
            break


def compare_with_paths(trace):
    """The waits within a call are its thread's critical path between its entry and exit."""
    calls = [o for o in objects("-n", "*", trace) if o.get("waits")]
    check(calls, f"{trace}: no call waited")
    for o in calls:
        total = sum(s["end_ns"] - s["begin_ns"] for s in o["waits"])
        first, last = o["waits"][0], o["waits"][-1]
        check(total == last["end_ns"] - first["begin_ns"], f"{trace}: {o['tid']} {o['name']}: a gap in its path")
    longest = sorted(calls, key=lambda o: -o["duration_ns"])[:6]
    for o in longest:
        path = json.loads(run("critical-path", "--json", "--host", o["host"], "--tid", str(o["tid"]), "--begin",
                              f"{o['begin_ns']}ns", "--end", f"{o['ts_ns']}ns", trace, command="report",
                              status=(0, 3)))
        want = collections.Counter()
        for row in path["rows"]:
            want[row["tid"], row["state"]] += row["end_ns"] - row["begin_ns"]
        got = collections.Counter()
        for s in o["waits"]:
            got[s["tid"], "network" if s["wire"] else s["state"]] += s["end_ns"] - s["begin_ns"]
        check(got == want, f"{trace}: {o['tid']} {o['name']}: {got}, not {want}")


def compare_durations(trace):
    """They are by the clock of the call's host, also where times are corrected."""
    want = collections.Counter((who[1], exit_ns - entry_ns) for who, _, entry_ns, exit_ns, *_ in reference(trace)
                               if entry_ns is not None)
    calls = [o for o in objects("-n", "*", trace) if o.get("ret") is not None and o["begin_ns"] is not None]
    got = collections.Counter((o["tid"], o["duration_ns"]) for o in calls)
    check(got == want, f"{trace}: durations {list((got - want).items())[:5]}, not {list((want - got).items())[:5]}")
    check(any(o["begin_ns"] + o["duration_ns"] != o["ts_ns"] for o in calls), f"{trace}: times that are not corrected")


def is_wait(segment, o):
    return segment["wire"] or segment["tid"] != o["tid"] or segment["host"] != o["host"] or segment["state"] != "running"


def test_wait_paths(trace):
    """Below a call that waited: its path, with who ran while a thread was ready. Not every such thread was preempted."""
    want = collections.Counter()
    for o in objects("-n", "*", trace):
        # a call that has not ended has no line of its own
        if o.get("status") != "unavailable" and any(is_wait(s, o) for s in o.get("waits", ())):
            want.update((s["tid"], s["cause_tid"]) for s in o["waits"] if s["state"] == "preempted")
    lines = [line for line in run("-n", "*", "-w", trace).splitlines() if line.startswith("    +")]
    got = collections.Counter()
    for line in lines:
        ready = re.search(r" ready .*/(\d+)(?: \((?:.*/(\d+) ran|the CPU was idle)\))?$", line)
        check("preempted" not in line, f"{trace}: {line}")
        if ready:
            got[int(ready[1]), int(ready[2]) if ready[2] else 0 if "idle" in line else None] += 1
    check(len(want) > 100 and got == want, f"{trace}: who ran: {(got - want, want - got)}")


def test_causes(trace):
    """The line names what the thread itself waited for, where that is known: what is called in the kernel, or a device."""
    calls = [o for o in objects("-n", "*", trace) if o.get("status") in ("successful", "failed") and o["waits"]]
    named = {}
    for o in calls:
        causes = {s["cause"] for s in o["waits"] if s["state"] == "blocked" and s["tid"] == o["tid"] and s["cause"]
                  and s["host"] == o["host"]}
        if causes:
            named[o["host"], o["tid"], f"{o['begin_ns'] // 1000 / 10 ** 6:.6f}"] = causes
    # with --waits, each call is one line
    lines = run("-n", "*", "-T", "-ttt", "--waits", "1ns", trace).splitlines()
    found = 0
    for line in lines:
        match = re.match(r"\[(\w+):(\d+)\] (\d+\.\d+) \w", line)
        causes = match and named.get((match[1], int(match[2]), match[3]))
        found += bool(causes)
        for cause in causes or ():
            check(re.search(rf"[\[ ]blocked [0-9.]+ [mun]?s on {re.escape(cause)}[\],;]", line), f"{trace}: {cause}: {line}")
    check(found > 2, f"{trace}: {len(named)} calls waited for something that has a name, {found} are lines")
    one = run("-p", "db:359", "-e", "ioctl", "-T", trace)
    check("<0.015117> [blocked 15.0 ms on RCU; ready 47 us, cpu 115 us]" in one, f"{trace}: RCU: {one}")


def test_names(trace):
    """The child of vfork() ends its parent's wait when it executes a program, still by the name of its parent."""
    calls = [o for o in objects("-n", "*", "-e", "vfork", trace) if o["event"] == "call" and (o["ret"] or 0) > 0]
    check(len(calls) > 3, f"{trace}: {len(calls)} calls of vfork")
    text = run("-n", "*", "-e", "vfork", trace)
    for o in calls:
        names = {s["comm"] for s in o["waits"] if s["tid"] == o["ret"]}
        check(names == {o["comm"]}, f"{trace}: {o['ret']}, the child of {o['comm']}/{o['tid']}, has the names {names}")
        check(f"woken by {o['comm']}/{o['ret']}" in text, f"{trace}: {o['ret']} is not named as it was then")


WAKING = re.compile(r"^\[(\d+)\.(\d{9})\] (?:\([^)]*\) )?\S+ sched_waking: .* tid = (\d+),.* procname = \"([^\"]*)\".*"
                    r"\{ comm = \"[^\"]*\", tid = (\d+),")


def test_wakers(trace):
    """A waker, on the only host, has the name that it has in the context of its sched_waking, also after it changed it by prctl()."""
    by = {}
    done = subprocess.Popen(["babeltrace2", "--clock-seconds", "--no-delta", trace], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, errors="replace")
    for line in done.stdout:
        match = WAKING.match(line)
        if match:
            at_us = int(match[1]) * 10 ** 6 + int(match[2]) // 1000
            by.setdefault(match[5], []).append((at_us, f"{match[4]}/{match[3]}"))
    done.wait()
    lines = run("-n", "*", "-T", "-ttt", "--waits", "1ns", "--no-sync", trace).splitlines()
    named = 0
    for line in lines:
        match = re.match(r"\[pid (\d+)\] (\d+)\.(\d{6}) \w.* <(\d+)\.(\d{6})> \[.*woken by ([^;,]+)[;,]", line)
        if not match:
            continue
        begin_us, spent_us = int(match[2] + match[3]), int(match[4] + match[5])
        wakers = {who for at_us, who in by.get(match[1], ()) if begin_us <= at_us <= begin_us + spent_us + 1}
        named += 1
        check(match[6] in wakers, f"{trace}: {match[6]} is not one of {wakers}: {line}")
    check(named > 200, f"{trace}: {named} lines name a waker")


# ---- strace's formats ----

SETS = "readfds", "writefds", "exceptfds"


def test_text(trace):
    text = run("-n", "*", "--host", "web", "-y", "-T", "-tt", "--utc", trace)
    lines = text.splitlines()
    prefix = re.compile(r"^\[web:\d+\] \d\d:\d\d:\d\d\.\d{6} (\w+\(|<\.\.\. \w+ resumed>|--- |\+\+\+ |~~~ )")
    check(len(lines) > 1000, f"{len(lines)} lines")
    for line in lines:
        check(prefix.match(line), f"not a line of strace: {line}")
    check(any(re.search(r"read\(\d+</[^>]*>, 0x[0-9a-f]+, \d+\) = \d+", line) for line in lines), "no path of an fd")
    check(any(re.search(r"openat\(AT_FDCWD, \"/[^\"]*\", O_RDONLY(\|O_\w+)*\) = \d+<", line) for line in lines),
          "no openat()")
    check(any("= -1 ENOENT (No such file or directory)" in line for line in lines), "no error")
    check(any(re.search(r"\[network [0-9.]+ [mun]?s; db: postgres/\d+ [0-9.]+ ", line) for line in lines),
          "nobody waits for the database")
    # a line that was interrupted is resumed
    cut = collections.Counter()
    for line in lines:
        who = line.split(" ", 1)[0]
        if line.endswith(" <unfinished ...>"):
            cut[who] += 1
            check(cut[who] == 1, f"unfinished twice: {line}")
        elif " resumed>" in line:
            cut[who] = 0
    whole = run("-n", "*", "--host", "web", "--whole", trace)
    check(re.search(r"<\.\.\. poll resumed> poll\(\[\{fd=\d+, events=POLLIN", whole), "--whole repeats nothing")
    # the thread waited for a lock; a new descriptor would be named
    first = run("-p", "web:1465", "-y", trace).splitlines()[0]
    check(re.fullmatch(r"<\.\.\. fcntl resumed>\?, \?, 0x[0-9a-f]+\) = 0", first), f"a call of an unknown command: {first}")
    # the kernel returns the fds that are ready where the program passed those it waits for
    asked = {"poll": ("fds",), "ppoll": ("fds",), "select": SETS, "pselect6": SETS}
    resumed = [o for o in objects("-n", "*", "-q", trace) if o.get("name") in asked and o["begin_ns"] is None]
    check({"poll", "pselect6"} <= {o["name"] for o in resumed}, f"{trace}: calls without entry: {resumed}")
    for o in resumed:
        got = {o["args"][field] for field in asked[o["name"]]}
        check(got == {None}, f"{trace}: what {o['tid']} passed to {o['name']} is not recorded, not {got}")
    line = next(line for line in run("-p", "client:1388", trace).splitlines() if "poll resumed" in line)
    check(line.startswith("<... poll resumed>?, 1, ?) = 1 ([{fd=5, revents=POLLHUP}])"), f"poll without entry: {line}")


def test_choice(trace):
    every = objects("-n", "*", trace)
    calls = [o for o in objects("-n", "postgres", trace) if o["event"] == "call"]
    check(calls and all(o["comm"] == "postgres" and o["host"] == "db" for o in calls), "-n postgres")
    tid = collections.Counter(o["tid"] for o in calls).most_common(1)[0][0]
    one = [o for o in objects("-p", f"db:{tid}", trace) if o["event"] == "call"]
    check(one and {(o["host"], o["tid"]) for o in one} == {("db", tid)}, "-p db:TID")
    failed = objects("-n", "*", "-Z", trace)
    check(failed and all(o["status"] == "failed" for o in failed if o["event"] == "call"), "-Z")
    good = objects("-n", "*", "-z", trace)
    numbers = [sum(o["event"] == "call" and o["status"] in ("successful", "failed") for o in part)
               for part in (failed, good, every)]
    check(numbers[0] + numbers[1] == numbers[2], f"-z and -Z are not all: {numbers}")
    names = {o["name"] for o in objects("-n", "*", "-e", "trace=%network", trace) if o["event"] == "call"}
    check(names and names <= {"accept", "accept4", "bind", "connect", "getpeername", "getsockname", "getsockopt",
                              "listen", "recvfrom", "recvmsg", "sendmmsg", "sendmsg", "sendto", "setsockopt",
                              "shutdown", "socket", "socketpair", "recvmmsg", "sendfile64"}, f"%network: {names}")
    names = {o["name"] for o in objects("-n", "*", "-e", "/^(read|write)$", trace) if o["event"] == "call"}
    check(names == {"read", "write"}, f"/REGEX: {names}")
    names = {o["name"] for o in objects("-n", "*", "-e", "!read,write", trace) if o["event"] == "call"}
    check(len(names) > 10 and not names & {"read", "write"}, f"!SET: {names}")
    names = {o["name"] for o in objects("-n", "*", "-e", "fstatat", trace) if o["event"] == "call"}
    check(names == {"newfstatat"}, f"fstatat is another name: {names}")
    long = [o for o in objects("-n", "*", "--waits", "10ms", trace) if o["event"] == "call"]
    check(long and all(o["off_cpu_ns"] > 10 ** 7 for o in long), "--waits")
    paths = [o for o in objects("-n", "*", "-P", "/etc/*", trace) if o["event"] == "call"]
    check(paths and any('"/etc/' in json.dumps(o["args"]).replace("\\", "") for o in paths), "-P")


def test_parts(trace):
    """Two halves of a recording add up to the whole; a thread's file contains its lines."""
    every = [o for o in objects("-n", "postgres", "-q", trace) if o["event"] == "call" and o["ret"] is not None]
    middle = sorted(o["ts_ns"] for o in every)[len(every) // 2]
    halves = [o for half in (("--end", f"{middle}ns"), ("--begin", f"{middle}ns"))
              for o in objects("-n", "postgres", "-q", *half, trace)
              if o["event"] == "call" and o["ret"] is not None]

    def keys(calls):
        return [(o["tid"], o["name"], o["ts_ns"], o["begin_ns"], o["ret"]) for o in calls]
    check(keys(halves) == keys(every), f"{len(halves)} calls in two halves, {len(every)} in one")
    with tempfile.TemporaryDirectory() as directory:
        name = os.path.join(directory, "out")
        run("-ff", "-o", name, "-n", "postgres", "--host", "db", os.path.join(trace, "db"))
        tids = {o["tid"] for o in every}
        files = {f for f in os.listdir(directory)}
        check({f"out.{tid}" for tid in tids} <= files, f"-ff: {sorted(files)[:5]}")
        with open(os.path.join(directory, f"out.{min(tids)}"), encoding="utf-8") as file:
            text = file.read()
        calls = [o for o in every if o["tid"] == min(tids)]
        check(len(re.findall(r"^(?:\w+\(|<\.\.\. \w+ resumed>).* = (?:[-0-9]|\? E)", text, re.M)) == len(calls) and
              text.count("unfinished") <= 1, "-ff: lines of other threads")


def test_end(trace):
    """What a call waited for does not depend on where the reading ends, if that is after the call."""
    calls = [o for o in objects("-n", "wget", trace) if o["event"] == "call" and o["ret"] is not None and o["waits"]]
    among_hosts = [o for o in calls if len({s["host"] for s in o["waits"]}) > 1]
    check(len(among_hosts) > 5, f"{len(among_hosts)} calls waited for other hosts")
    for last in among_hosts[::5]:
        want = [o for o in calls if o["ts_ns"] <= last["ts_ns"]]
        got = [o for o in objects("-n", "wget", "--end", f"{last['ts_ns'] + 1}ns", trace)
               if o["event"] == "call" and o["ret"] is not None and o["waits"]]
        check(got == want, f"{trace}: --end 1 ns after {last['name']} at {last['ts_ns']}: "
              + str(next(((x, y) for x, y in zip(got, want) if x != y), (len(got), len(want))))[:600])


def main():
    rows = read_calls()
    compared, born = 0, collections.Counter()
    few = cases.sanitized()
    for name in ("locks-pipes", "kprobe") + (() if few else ("hotplug", "rpc-hog-local", "lossy-overwrite")) + ("three-tier",):
        arguments, births = compare_with_babeltrace(os.path.join(TRACES, name), rows)
        compared += arguments
        born += births
        compare_with_syscalls(os.path.join(TRACES, name))
    check(compared > (20000 if few else 50000), f"only {compared} arguments were compared")
    check(sum(born.values()) > 100, f"births: {born}")
    three = os.path.join(TRACES, "three-tier")
    # what several of them compare is read once for those that follow each other
    compare_durations(three)
    compare_with_paths(three)
    test_causes(three)
    test_choice(three)
    test_text(three)
    test_parts(three)
    test_end(three)
    compare_with_paths(os.path.join(TRACES, "locks-pipes"))
    test_wait_paths(os.path.join(TRACES, "locks-pipes"))
    test_names(os.path.join(TRACES, "locks-pipes"))
    test_wakers(os.path.join(TRACES, "locks-pipes"))
    print(f"{count - failures} of {count} checks passed, {compared} arguments compared")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
