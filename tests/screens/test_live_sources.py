#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines of live sessions and hosts at 80 columns: why a session is not attached, and what happens next."""

import os
import struct
import sys

from terminal import Checks, Terminal, need

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import sandbox  # noqa: E402
from fake_relay import ATTACH_OK, ATTACH_TAKEN, Relay, Session  # noqa: E402

need("tmux")
NEW_STREAMS_NONE, NEW_STREAMS_HUP = 2, 4


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
        checks.check("in two lines", t.wait(rf"^web +{relay.url[:20]}\S* +taken by another\n +viewer; retrying *$"))


class Ending(Relay):
    """Its session has no streams yet. It ends on request, and is not listed any more."""

    ends, lists = False, 0

    def attach(self, payload):
        return struct.pack(">2I", ATTACH_OK, 0)

    def new_streams(self, payload):
        return struct.pack(">2I", NEW_STREAMS_HUP if self.ends else NEW_STREAMS_NONE, 0)

    def list(self, payload):
        self.lists += 1
        return struct.pack(">I", 0) if self.ends else super().list(payload)


def ended_without_events(checks):
    """It is tried again, because a new one may have its name; that there is none does not mean that there never was."""
    with Ending(Session([])) as relay, Terminal(relay.url, ready=None) as t:
        t.wait(rf"{relay.url} +attached$")
        relay.ends = True
        checks.check("ended", t.wait(rf"{relay.url} +the session has ended$"))
        lists = relay.lists
        sandbox.wait_until(lambda: relay.lists > lists + 1, "two more attempts")
        checks.check("after two more attempts", t.wait(rf"{relay.url} +the session has ended$"))
        checks.lacks("not a failure", t.press("L"), "no such session")


def ended_before_it_was_attached(checks):
    class Listed(Ending):
        def list(self, payload):
            answer = super().list(payload)
            self.ends = True
            return answer

    with Listed(Session([])) as relay, Terminal(relay.relay_url, ready=None) as t:
        checks.check("a session that was listed", t.wait(rf"{relay.url} +the session has ended$"))


def ended_before_it_was_listed(checks):
    """Its namesakes are looked for once it is attached: that list no longer has it."""
    class Once(Ending):
        def list(self, payload):
            answer = super().list(payload)
            return answer if self.lists == 1 else struct.pack(">I", 0)

    with Once(Session([])) as relay, Terminal(relay.url, ready=None) as t:
        t.wait(rf"{relay.url} +attached$")
        relay.ends = True
        checks.check("ended, and never listed", t.wait(rf"{relay.url} +the session has ended$"))


def never_existed(checks):
    with Ending() as relay, Terminal(relay.relay_url + "/host/web/s1", ready=None) as t:
        checks.check("a name that is not there", t.wait(r"/host/web/s1 +no such session; retrying$"))


Checks().run(taken, ended_without_events, ended_before_it_was_attached, ended_before_it_was_listed, never_existed)
