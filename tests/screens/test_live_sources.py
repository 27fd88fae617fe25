#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines of live sessions and hosts at 80 columns: why a session is not attached, and what happens next."""

import os
import struct
import sys

from terminal import Checks, Terminal, need

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
from fake_relay import ATTACH_TAKEN, Relay, Session  # noqa: E402

need("tmux")


def taken(checks):
    class Taken(Relay):
        def attach(self, payload):
            return struct.pack(">2I", ATTACH_TAKEN, 0)

    with Taken(Session([])) as relay, Terminal(relay.url, ready=None) as t:
        checks.check("taken", t.wait(rf"{relay.url} +taken by another viewer; retrying *$"))
        checks.contains("its host has not announced its name: that of the URL", t.screen(), rf"^web +{relay.url} ")
        checks.contains("only keys that do something yet", t.screen()[-1:], r"^F1Help +F10Quit *$")
        t.keys("F9")
        checks.check("others do not", t.wait("^nothing to show yet: waiting for the first events"))
        t.resize(60, 24)
        checks.check("if it fits", t.wait(rf"{relay.url[:20]}\S* +taken by another viewer *$"))


Checks().run(taken)
