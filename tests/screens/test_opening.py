#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A worker that takes long to reach its first event: the screen
appears before it, says what it waits for, and accepts keys."""

import os
import re
import shutil
import signal
import sys

from terminal import READY, Checks, Terminal, need, unpack

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "source"))
from processes import Held  # noqa: E402

RECORDING = unpack("hotplug")
LARGE = unpack("three-tier")


class Opening:
    """A monitor whose workers are held before their first event."""

    def __init__(self, *options, workers=1):
        self.held = Held()
        self.terminal = Terminal("--no-cache", *options, env=self.held.environment, ready=None, size=(110, 24))
        self.workers = workers

    def __enter__(self):
        t = self.terminal.__enter__()
        self.held.hold(t.wait_program(), self.workers)
        return t

    def __exit__(self, *args):
        self.held.go_on()
        self.terminal.__exit__(*args)


def test_recording(checks):
    opening = Opening("--workers", "1", "--speed", "0.01", RECORDING)
    with opening as t:
        checks.check("the frame is there", t.wait(rf"\A READING  {RECORDING}/db/kernel: no events yet$"))
        checks.check("with the source's state", t.wait(rf"^\? +{RECORDING}/db/kernel +opening$"))
        checks.contains("a key that has nothing yet", t.press("2"), r"\A READING ")
        t.keys("F1")
        checks.check("the help", t.wait("Help"))
        t.keys("Escape")
        opening.held.go_on()
        t.wait(READY)
        checks.check("then what was recorded", t.wait(r"\A REPLAY .* 1 host "))
        t.keys("q")
        checks.equal("status", t.status(), 0)


def test_several(checks):
    with Opening("--workers", "2", RECORDING, LARGE, workers=4) as t:
        checks.check("several recordings", t.wait(r"\A READING  4 recordings: no events yet$"))
        t.keys("q")
        checks.equal("q meanwhile: status", t.status(), 0)
        checks.check("q meanwhile: the terminal is as before", t.modes_restored())


def test_follow(checks):
    with Opening("--follow", RECORDING) as t:
        checks.check("a session that is being written", t.wait(rf"\A READING  {RECORDING}: no events yet$"))
        t.keys("q")
        checks.equal("followed, q meanwhile: status", t.status(), 0)


def test_worker_dies(checks):
    opening = Opening("--workers", "1", RECORDING)
    with opening as t:
        t.wait(r"\A READING ")
        os.kill(opening.held.workers[0], signal.SIGKILL)
        checks.equal("no worker: status", t.status(), 1)
        checks.check("no worker: why", "no source could be read" in t.stderr() and "signal 9" in t.stderr(), t.stderr())
        checks.check("no worker: the terminal is as before", t.modes_restored())


def test_no_events(checks):
    """A recording that has none is an error, whether that is known before the screen is opened or later."""
    os.mkdir("metadata-only")
    shutil.copy(os.path.join(unpack("kprobe"), "client", "kernel", "metadata"), "metadata-only")
    directory = os.path.abspath("metadata-only")
    with Terminal("--no-cache", directory, ready=None) as t:
        checks.equal("no events: status", t.status(), 1)
        checks.contains("no events: said", t.stderr().splitlines(), "'.*/metadata-only' has metadata but no events$")
    opening = Opening("--workers", "1", directory)
    with opening as t:
        checks.check("no events: the screen is there", t.wait(r"\A READING "))
        opening.held.go_on()
        checks.equal("no events, known later: status", t.status(), 1)
        checks.contains("no events, known later: said", t.stderr().splitlines(),
                        "'.*/metadata-only' has metadata but no events$")


def test_no_such_host(checks):
    opening = Opening("--workers", "1", "--ref", "nobody", RECORDING)
    with opening as t:
        t.wait(r"\A READING ")
        opening.held.go_on()
        checks.equal("wrong --ref: status", t.status(), 1)
        checks.check("wrong --ref: said", "nobody" in t.stderr(), t.stderr())


need("tmux", "zstd", "pgrep")
def test_user_space(checks):
    """Nothing is known of the kernel of a host that only programs were traced on: it is not shown as idle."""
    with Terminal("--paused", unpack("ctf2-ust"), size=(80, 24)) as t:
        t.wait("^ (PAUSED|END) ")
        checks.contains("the host", t.screen(), r"^ vm +-  only user-space events: see pane 0 \(Events\)$")
        checks.contains("the timeline", t.screen(), r"^02:55:52 ·+ 02:55:52$")
        checks.contains("its events", t.press("0"), "lttng_ust_tracef:event")


def test_short_interval(checks):
    """On a narrow screen both ends of an interval within a second would be the same without their milliseconds."""
    with Terminal("--interval", "100ms", unpack("lossy-overwrite"), size=(40, 12)) as t:
        t.wait("^ ?END ")
        for key in (")", "Left"):
            found = re.match(r" ?\w+ +\[\d\d:\d\d:\d\d\.(\d{3}), \.(\d{3})\[ .*lost (?:\d+|\?)", t.press(key)[0])
            checks.check(f"{key}: another end than the start", found and found[1] != found[2], t.screen()[0])


def test_interval(checks):
    """An interval that cannot be shown is replaced, not silently."""
    with Terminal("--paused", "--interval", "1us", RECORDING, size=(80, 24), ready=None) as t:
        checks.check("said", t.wait(r"^interval \d+ms instead of 1us: it must be a multiple of \d+ms here"))


Checks().run(test_recording, test_several, test_follow, test_worker_dies, test_no_events, test_no_such_host, test_user_space,
             test_interval, test_short_interval)
