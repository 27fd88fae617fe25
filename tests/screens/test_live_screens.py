#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The monitor on live sessions: waiting, live, paused, detached, away, a gap, back again; and lists in files."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time

from terminal import Checks, PROGRAM, Terminal, need, skip, unpack

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import sandbox  # noqa: E402

need("tmux", "zstd", "lttng-relayd")
HOSTS = {"db": unpack("hotplug"), "web": os.path.join(unpack("three-tier") or skip("no recordings"), "web")}
PORTS = sandbox.free_ports(3)


def start_relayd(user):
    options = [f"--{name}-port=tcp://127.0.0.1:{port}" for name, port in zip(("control", "data", "live"), PORTS)]
    relayd = user.start("lttng-relayd", *options, "--output", os.path.join(user.home, "relayd"),
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    sandbox.wait_for_ports(*PORTS)
    return relayd


def feed(host):
    """At half speed, so that there is time to look even on a slow machine; the lag grows with it."""
    return subprocess.Popen([PROGRAM, "feed", "--to", f"net://127.0.0.1:{PORTS[0]}:{PORTS[1]}", "--live-port", str(PORTS[2]),
                             "--now", "--speed", "0.5", "--session", "s-" + host, HOSTS[host]],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def end(process):
    if process.poll() is None:
        process.kill()
    process.wait()


def shown(screen):
    """The data that must not change while it is paused: the interval, the list."""
    return [screen[0].split("[", 1)[1].split("[")[0], *screen[5:]]


def paused(checks, t):
    t.keys("p")
    t.wait(r"^ LIVE PAUSED ")
    before = shown(t.sync())
    time.sleep(3)
    checks.equal("paused, nothing moves", shown(t.sync()), before)
    t.keys("p")
    checks.check("continues from there", t.wait(r"^ LIVE [−-]\d+s +\["))
    t.keys(")")
    t.wait(r"^ LIVE +\[")


def outside(checks, t):
    """A time that is not there is said; one that is still to come is waited for."""
    hour_ago, soon = (time.strftime("%H:%M:%S", time.gmtime(time.time() + s)) for s in (-3600, 3600))
    for text, answer in ((hour_ago, rf"{hour_ago}.000 is before the start, .*, which is shown instead"),
                         (soon, f"there is no {soon}.000 between the start, .*, and the end, .*, which is shown until then"),
                         ("+5000s", "is after the end, .*, which is shown until then")):
        t.keys("b").wait("^Jump to")
        t.text(text).keys("Enter")
        # in two rows on a narrow screen
        checks.check(f"jump to {text}", t.wait_for(lambda text, answer=answer: re.search(
            answer, " ".join(text.split())), answer))
    t.keys(")")
    t.wait(r"^ LIVE +\[")


def detached(checks, t):
    t.keys("H")
    t.wait(r"\[x\] net://\S+/s-db: attached")
    t.keys("End", *([] if "s-db" in session_rows(t)[-1] else ["Up"]), "Space")
    checks.check("detached", t.wait(r"\[ \] net://\S+/s-db: detached"))
    checks.check("the other one continues", t.wait(r"^ LIVE .*(1 of 2 hosts \(1 away\)|1/2 away)"))
    checks.check("its line says so", t.wait(r"^ db +away since [0-9:]+: detached"))
    t.keys("Escape", "L")
    t.wait("data quality")
    t.keys("End").wait("db: ")
    checks.contains("so does a message", t.screen(), "db: detached")
    checks.lacks("it is not said to have ended", t.screen(), "db: .*ended")
    t.keys("Escape", "H")
    t.wait(r"\[ \] net://\S+/s-db: detached")
    t.keys("End", *([] if "s-db" in session_rows(t)[-1] else ["Up"]), "Space")
    checks.check("attached again", t.wait(r"\[x\] net://\S+/s-db: attached"))
    t.keys("Escape")
    checks.check("both are there", t.wait(r"^ LIVE .*  2 hosts"))


def session_rows(t):
    return [row for row in t.screen() if "net://" in row and "]" in row]


def writes(checks, t):
    for name in ("list.txt", "list.csv", "list.json"):
        path = t.path(name)
        t.keys("x")
        t.wait("^Write to")
        t.keys("C-u").text(path).keys("Enter")
        t.wait(rf"^\d+ rows? of cpu written to\s+{path}")
    with open(t.path("list.txt"), encoding="utf-8") as f:
        rows = len([line for line in f.read().splitlines()[2:] if "total" not in line.split()])
    with open(t.path("list.csv"), newline="", encoding="utf-8") as f:
        table = list(csv.DictReader(f))
    with open(t.path("list.json"), encoding="utf-8") as f:
        page = json.load(f)
    checks.equal("three forms, the same rows", (rows, len(table)), (len(page["rows"]), len(page["rows"])))
    checks.equal("the same threads", [row["tid"] for row in table], [str(row["tid"]) for row in page["rows"]])
    for path, why in ((t.path("list.csv"), "file exists"), ("list.doc", "the file name must end in"),
                      ("/nowhere/list.csv", "No such file")):
        t.keys("x")
        t.wait("^Write to")
        t.keys("C-u").text(path).keys("Enter")
        checks.check(f"not written: {why}", t.wait(why))
        t.press("Escape")


def sessions(checks, size, *options):
    user = sandbox.User(os.path.join(os.getcwd(), f"user{size[0]}"))
    feeds = []
    try:
        with Terminal(f"net://127.0.0.1:{PORTS[2]}", *options, size=size, ready=None) as t:
            checks.check("no relayd", t.wait(r"^ WAITING (.*\n)*.*net://127.* cannot connect: Connection"))
            relayd = start_relayd(user)
            checks.check("a relayd, no session", t.wait(r"net://127\S+ +watched for sessions"))
            feeds += [feed(host) for host in HOSTS]
            checks.check("live", t.wait(r"^ LIVE +\[.* lag \d+\.\ds +2 hosts"))
            t.wait_read()
            paused(checks, t)
            outside(checks, t)
            detached(checks, t)
            relayd.send_signal(signal.SIGKILL)
            relayd.wait()
            for host in HOSTS:
                checks.check(f"{host} is away", t.wait(rf"^ {host} +away since [0-9:]+: "))
            checks.check("nobody is there", t.wait(r"^ AWAY 2/2 "))
            checks.lacks("said once", t.screen()[:1], "away|hosts")
            writes(checks, t)
            for f in feeds:
                end(f)
            start_relayd(user)
            feeds.append(feed("db"))
            t.keys("9")
            checks.check("back", t.wait(r"^db +net://\S+ +attached"))
            checks.check("the others are away", t.wait(r"^ LIVE .* lag .*(1 of 2 hosts \(1 away\)|1/2 away)"))
            checks.check("the gap is in the strip", t.wait(r"^\d\d:\d\d:\d\d [^?]+\?+[^?]+ \d\d:\d\d:\d\d$"))
            t.keys("q")
            checks.equal("q", t.status(), 0)
    finally:
        for f in feeds:
            end(f)
        user.end()


def unicode(checks):
    sessions(checks, (100, 30))


def ascii_mono(checks):
    sessions(checks, (80, 24), "--ascii", "--no-color")


os.chmod(".", 0o755)  # lets the relayd's user through
Checks().run(unicode, ascii_mono)
