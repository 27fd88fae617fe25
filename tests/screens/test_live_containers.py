#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The containers pane on a live host: at an instant in its past it equals that of the recording."""

import os
import subprocess
import sys

from terminal import PROGRAM, Checks, Terminal, need, skip, unpack

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import sandbox  # noqa: E402

need("tmux", "zstd", "lttng-relayd", "lttng-sessiond")
RECORDING = unpack("containers") or skip("no recording containers")
SIZE = (160, 30)
TIME = "14:21:31"  # in an interval of a second, from 14:21:30.530212266


def pane_at(t, time):
    t.keys("b")
    t.text(time).keys("Enter")
    t.wait(rf"PAUSED .*{time}\.530212266\[")
    t.keys("P")
    t.wait("Panes")
    t.keys("End", "Up", "Enter")
    t.wait("^CONTAINER ")
    screen = t.sync()
    return screen[next(i for i, line in enumerate(screen) if line.startswith("CONTAINER ")):-1]


def live(checks):
    sandbox.begin(tmux=True)
    user = sandbox.User(os.path.join(os.getcwd(), "home"))
    feeder = None
    try:
        ports = user.start_relayd()[0]
        feeder = subprocess.Popen([PROGRAM, "feed", "--to", f"net://127.0.0.1:{ports[0]}:{ports[1]}", "--live-port",
                                   str(ports[2]), "--session", "live", "--speed", "max", RECORDING],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        url = feeder.stdout.readline().strip()
        with Terminal(url, size=SIZE, ready=r"^ LIVE +\[") as t:
            feeder.wait(120)
            t.wait("ended")
            t.keys("p")
            found = pane_at(t, TIME)
    finally:
        if feeder:
            feeder.kill()
            feeder.wait()
        user.end()
    with Terminal("--paused", "--interval", "1s", RECORDING, size=SIZE, ready=" PAUSED ").wait_read() as t:
        wanted = pane_at(t, TIME)
    checks.check("nested containers are there", sum("bash:40265323" in line for line in wanted) == 5, wanted)
    checks.equal("live as recorded", found, wanted)


Checks().run(live)
