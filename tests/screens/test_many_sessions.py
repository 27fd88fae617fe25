#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A relayd with more sessions than --max-sessions: the others are listed, and attached when one is detached."""
import os
import struct
import sys

from terminal import Checks, Terminal, need

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
from fake_relay import ATTACH_OK, Relay, Session  # noqa: E402

need("tmux")


class Empty(Relay):
    """Sessions that exist and have no stream yet."""

    def attach(self, payload):
        return struct.pack(">2I", ATTACH_OK, 0)


def chosen(checks):
    with Empty(*[Session([], "web", f"s{i}") for i in range(4)]) as relay:
        with Terminal(relay.relay_url, "--max-sessions", "2", size=(100, 30), ready=None) as t:
            t.wait(r"/s3 +not attached \(--max-sessions\)")
            t.keys("H")
            for i in (0, 1):
                checks.check(f"s{i} is attached", t.wait(rf"\[x\] net://\S+/s{i}: attach"))
            for i in (2, 3):
                checks.check(f"s{i} is not", t.wait(rf"\[ \] net://\S+/s{i}: not attached \(--max-sessions\)"))
            t.keys("End", "Space")
            t.wait("limit of 2 attached sessions is reached")
            t.keys("Up", "Up", "Space")
            checks.check("one less", t.wait(r"\[ \] net://\S+/s1: detached"))
            checks.check("none instead while there were two", t.wait(r"\[ \] net://\S+/s3: not attached"))
            t.keys("End", "Space")
            checks.check("another instead", t.wait(r"\[x\] net://\S+/s3: attach"))
            checks.check("the third stays", t.wait(r"\[ \] net://\S+/s2: not attached"))
            t.keys("Escape", "q")
            checks.equal("q", t.status(), 0)


Checks().run(chosen)
