#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""lttngtop.json beside a trace: used if it is valid, one warning if it is not, and never in the way."""
import csv
import io
import json
import os
import subprocess
import time

from cases import check, finish
from made import UUID_TEXT, Recording, switch, turns

PROGRAM = os.path.join(os.environ["BUILD"], "lttngtop")
BEGIN = 1_000_000_000
NAMES = {"uid": 1000, "user": "eva", "exe": "/usr/bin/first", "cmdline": "first --of two",
         "cgroup": "/a.slice"}
NOTHING = dict.fromkeys(NAMES)
SOUND = {
    "schema": 1, "host": "made", "kernel": "6.1.0-49-amd64", "boot_id": "b00t", "users": {"1000": "eva"},
    "clock": {"synchronised": False}, "to come": {"x": [1, 2]},
    "processes": [
        {"pid": 1, "start_ns": 0, "exe": "/usr/bin/first", "cmdline": "first --of two", "uid": 1000, "cgroup": "/a.slice"},
        {"pid": 1, "start_ns": 10 ** 18, "exe": "/started/later", "uid": 0},
    ],
}


def make(name, host="made"):
    with Recording(os.path.join(name, "kernel"), host) as r:
        r.packet(0, BEGIN, BEGIN + 10 ** 9, turns(BEGIN, 10 ** 7, 100, 1, 3))


def put(path, contents):
    with open(os.path.join(path, "lttngtop.json"), "w", encoding="utf-8") as file:
        file.write(contents if isinstance(contents, str) else json.dumps(contents))


def report(table, *args):
    return subprocess.run([PROGRAM, "report", table, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def rows(table, *args):
    run = report(table, "--json", *args)
    return json.loads(run.stdout)["rows"], run.stderr, run.returncode


def thread(source, tid=1):
    found, err, status = rows("cpu", source)
    row = next(r for r in found if r["tid"] == tid)
    return {k: row[k] for k in NAMES}, err, status


def followed(source):
    """As a live source; on a slow machine it takes a while until it is read."""
    for seconds in (2, 10, 50):
        result = rows("cpu", "--follow", "--duration", f"{seconds}s", source)
        if result[0]:
            break
    return result


make("plain")
plain = report("cpu", "plain").stdout
check("without one nothing is known", thread("plain") == (NOTHING, "", 0), thread("plain"))
check("and text has no column for that", "USER" not in plain and "KERNEL" not in report("hosts", "plain").stdout, plain)

# where it is: in the trace's directory, in the session's, above the parts of a session; not beside those of others
for name, below in (("inside", "kernel"), ("session", ""), ("archive", "")):
    path = os.path.join(name, "archives", "20261120T142439+0000-20261120T142440+0000-0") if name == "archive" else name
    make(path)
    put(os.path.join(name, below), SOUND)
    check(f"{name}: names", thread(name) == (NAMES, "", 0), thread(name))
make("far/web")
put("far", SOUND)
check("a directory of many recordings is nobody's session", thread("far/web") == (NOTHING, "", 0), thread("far/web"))

check("a thread belongs to its process", thread("session", 3) == (NAMES, "", 0), thread("session", 3))
make("later")
put("later", {"processes": [{"pid": 1, "start_ns": BEGIN + 10 ** 9, "exe": "/started/later"}]})
check("a process that started later is not the one there was", thread("later") == (NOTHING, "", 0), thread("later"))
hosts, _, _ = rows("hosts", "session")
check("the machine", [hosts[0][k] for k in ("kernel", "boot_id", "clock")] == ["6.1.0-49-amd64", "b00t", "not synchronised"], hosts)
text = report("cpu", "session").stdout
check("text shows them", "COMMAND LINE" in text and "first --of two" in text and "eva" in text, text)
table = list(csv.DictReader(io.StringIO(report("cpu", "--csv", "session").stdout)))
check("CSV too", table[0]["cmdline"] == "first --of two" and table[1]["uid"] == "1000", table)
figures = {k: [{c: v for c, v in r.items() if c not in NAMES} for r in rows("cpu", k)[0]] for k in ("plain", "session")}
check("figures are the same", figures["plain"] == figures["session"], figures)

# invalid ones: a warning, exit status and figures as without one
make("other")
put("other", {**SOUND, "host": "db"})
for name, contents in (("damaged", json.dumps(SOUND)[:-1]), ("deep", "[" * 100000), ("empty", ""), ("new", {**SOUND, "schema": 2}),
                       ("binary", "\0\1\2"), ("large", json.dumps({"kernel": "x" * (17 << 20)}))):
    make(name)
    put(name, contents)
for name in ("other", "damaged", "deep", "empty", "new", "binary", "large"):
    names, err, status = thread(name)
    check(f"{name}: not used", (names, status) == (NOTHING, 0), (names, status))
    check(f"{name}: one warning", err.count("\n") == 1 and "warning" in err and "lttngtop.json" in err, err)

make("hostile")
put("hostile", {"processes": [{"pid": 1, "start_ns": 0, "cmdline": "\x1b[2J\n\u202egnp", "exe": "x" * 100000}]})
names, err, status = thread("hostile")
check("no control character comes through", names["cmdline"] == r"\x1b[2J\x0a\xe2\x80\xaegnp", names["cmdline"])
check("nor what is too long", len(names["exe"]) <= 4095, len(names["exe"]))

# a slice has it, too: on the clock of the slice, and only if it is a side-car
for name, extra in (("slice", ()), ("slice-shifted", ("--offset", "made=5000000000"))):
    run = report("slice", "--begin", "+100ms", "--end", "+200ms", "-o", name, *extra, "session")
    check(f"{name}: made", (run.returncode, run.stderr) == (0, ""), run)
    check(f"{name}: names", thread(name) == (NAMES, "", 0), thread(name))
    with open(os.path.join(name, "made", "lttngtop.json"), encoding="utf-8") as file:
        starts = [p["start_ns"] for p in json.load(file)["processes"]]
    shift = 5 * 10 ** 9 if extra else 0
    check(f"{name}: starts by its clock", starts == [shift, 10 ** 18 + shift], starts)
run = report("slice", "-o", "slice-damaged", "damaged")
check("slice of a damaged one: a warning", run.returncode == 0 and "missing from the slice: 'damaged" in run.stderr.replace(os.getcwd() + "/", ""),
      run.stderr)
check("and none in it", os.listdir("slice-damaged/made") == ["kernel"], os.listdir("slice-damaged/made"))
run = report("slice", "-o", "slice-plain", "plain")
check("slice of a recording without one", (run.returncode, run.stderr, os.listdir("slice-plain/made")) == (0, "", ["kernel"]), run)

# a live session of this very machine needs no file: LTTng's clock has the boot's ID
if os.readlink("/proc/self/ns/pid") != "pid:[4026531836]":
    print("skip this machine, live: not in the first pid namespace")
    finish()
with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as boot_id:
    OWN = boot_id.read().strip()
NOW = time.time_ns()
for name, clock in (("own", OWN), ("foreign", UUID_TEXT)):
    with Recording(os.path.join(name, "kernel")) as r:
        times = [NOW + i * 10 ** 7 for i in range(100)]
        r.packet(0, NOW, NOW + 10 ** 9, [(t, switch(t, *((os.getpid(), 3), (3, os.getpid()))[i % 2], pid=os.getpid()))
                                         for i, t in enumerate(times)])
    metadata = os.path.join(name, "kernel", "metadata")
    with open(metadata, encoding="ascii") as file:
        text = file.read().replace(f'"monotonic"; uuid = "{UUID_TEXT}"', f'"monotonic"; uuid = "{clock}"')
    with open(metadata, "w", encoding="ascii") as file:
        file.write(text)
with open("/proc/self/cmdline", encoding="utf-8") as file:
    OWN_LINE = file.read().strip("\0").replace("\0", " ")
found, err, status = followed("own")
check("this machine, live", [r["cmdline"] for r in found] == [OWN_LINE] * 2 and found[0]["uid"] == os.getuid(), (found, err, status))
found, err, status = followed("foreign")
check("another machine, live", len(found) == 2 and all(r["cmdline"] is None for r in found), (found, err, status))
check("recorded, it is what it was then", thread("own", 3)[0] == NOTHING, thread("own", 3))

finish()
