# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the text panes on a live host: a recording of it is fed into a relayd."""

import os
import subprocess
import sys

from terminal import PROGRAM, Terminal, need, skip, unpack
from text_pane import all_lines, covered, wait_lines

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import sandbox  # noqa: E402

need("tmux", "zstd", "lttng-relayd", "lttng-sessiond")
RECORDING = os.path.join(unpack("three-tier") or skip("no recording three-tier"), "web")
TID = 425  # makes calls all the time
LINE_SEEN = r"^ \d\d:\d\d:\d\d\.\d{6} "


def feed(ports, recording, *options):
    return subprocess.Popen([PROGRAM, "feed", "--to", f"net://127.0.0.1:{ports[0]}:{ports[1]}", "--live-port",
                             str(ports[2]), "--session", "live", *options, recording], stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Live:
    """A session that is fed, and a terminal attached to it; both end with the block."""

    def __init__(self, name, speed, *options, recording=RECORDING, all_sessions=False):
        self.user = sandbox.User(os.path.join(os.getcwd(), name))
        self.speed, self.options, self.recording, self.all = speed, options, recording, all_sessions
        self.feeder = self.terminal = None

    def __enter__(self):
        ports = self.user.start_relayd()[0]
        self.feeder = feed(ports, self.recording, "--speed", self.speed)
        session = "" if self.all else f"/host/{os.path.basename(self.recording)}/live"
        self.terminal = Terminal(*self.options, f"net://127.0.0.1:{ports[2]}{session}", size=(2500, 40), ready=r"^ LIVE +\[")
        self.terminal.ports = ports
        return self.terminal

    def __exit__(self, *_):
        if self.terminal:
            self.terminal.__exit__()
        if self.feeder:
            self.feeder.kill()
            self.feeder.wait()
        self.user.end()


def select_thread(t):
    t.keys("F4")
    t.wait("^Filter:")
    t.keys("C-u").text(f"tid:{TID}").keys("Enter")
    t.wait(rf"^ *(web +)?{TID} ")


def open_calls(t):
    """The calls of the thread from now on, once there are some."""
    select_thread(t)
    t.keys("a")
    t.wait(rf"^ \S+ {TID} on web ")
    t.wait(LINE_SEEN)
    return t.sync()


def recorded():
    """The lines of the same pane for the recording, read again as a whole."""
    with Terminal("--paused", "--begin", "+5s", RECORDING, size=(1000, 40), ready=" PAUSED ").wait_read() as t:
        t.keys("1", "F4")
        t.wait("^Filter:")
        t.text(f"tid:{TID}").keys("Enter", "a")
        wait_lines(t)
        for _ in range(6):
            t.keys("Home", "Up")
            wait_lines(t)
            t.keys("End", "Down")
            wait_lines(t)
        return all_lines(t), covered(t.sync())
