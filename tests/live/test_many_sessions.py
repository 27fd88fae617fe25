#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A relayd with more sessions than are attached at once: --max-sessions."""
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import cases
import sandbox
from fake_relay import ATTACH_OK, CONNECT, Relay, Session

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "source"))
import processes  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "screens"))
from terminal import Terminal  # noqa: E402

STREAMS_NONE, STREAMS_CLOSED = 2, 4


class Counting(Relay):
    """Sessions without streams; notes which were attached."""

    def __init__(self, n):
        super().__init__(*[Session([], f"host{i % 7}", f"s{i}") for i in range(n)])
        self.attached = set()
        self.lists = 0

    def list(self, payload):
        self.lists += 1
        return super().list(payload)

    def attach(self, payload):
        self.attached.add(struct.unpack(">Q", payload[:8])[0])
        return struct.pack(">2I", ATTACH_OK, 0)


def report_until(what, condition, relays, *options):
    """
    Ends a report on relayds when condition(what it has written to stderr) holds and each relayd has then been asked for
    its list once more. Returns its status and all of that.
    """
    with tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen([os.environ["LTTNGTOP"], "report", "hosts", *options, *(r.relay_url for r in relays)],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err)

        def written():
            err.seek(0)
            return err.read()

        try:
            sandbox.wait_until(lambda: condition(written()), what)
            lists = [r.lists for r in relays]
            sandbox.wait_until(lambda: all(r.lists > n for r, n in zip(relays, lists)), "another list of each")
            process.send_signal(signal.SIGINT)
            status = process.wait(sandbox.PATIENCE)
        finally:
            process.kill()
            process.wait()
        return status, written()


def test_bounded():
    with Counting(40) as relay:
        status, err = report_until("three are attached", lambda err: "--max-sessions" in err and len(relay.attached) >= 3,
                                   [relay], "--max-sessions", "3")
        assert "3 live sessions are attached: ignoring further ones (--max-sessions)" in err and status in (1, 3), (status, err)
        assert err.count("--max-sessions") == 1, err
        assert relay.attached == {1, 2, 3}, relay.attached


class Long(Counting):
    made = None

    def list(self, payload):
        self.made = self.made or super().list(payload)
        self.lists += 1
        return self.made


def test_very_many():
    """As many as a list may have, from two relayds: they are left out as quickly as they are listed."""
    with Long(65536) as one, Long(65536) as other:
        status, err = report_until("two are attached",
                                   lambda err: "--max-sessions" in err and len(one.attached) + len(other.attached) >= 2,
                                   [one, other], "--max-sessions", "2")
        assert status in (1, 3) and err.count("--max-sessions") == 1, (status, err)
        assert len(one.attached) + len(other.attached) == 2, (one.attached, other.attached)


def test_too_many():
    """Names are remembered up to a limit, because a relayd could list others each time."""
    message = "131072 live sessions were listed: ignoring further ones"
    with Long(65536) as one, Long(65536) as two, Long(65536) as three:
        status, err = report_until("the limit", lambda err: message in err, [one, two, three], "--max-sessions", "2")
        assert status in (1, 3) and err.count(message) == 1, (status, err)


def test_two_limits():
    """That too many have one name does not hide that there are too many of any name."""
    limits = [f"{n} live sessions were listed: ignoring further ones" for n in (64, 131072)]
    with Counting(1) as alike, Long(65536) as two, Long(65536) as three:
        alike.sessions.extend(Session([], "host", "same") for _ in range(66))
        _, err = report_until("both limits", lambda err: all(text in err for text in limits), [alike, two, three],
                              "--max-sessions", "2")
        assert [err.count(text) for text in limits] == [1, 1], err


def test_all():
    with Counting(4) as relay:
        _, err = report_until("all are attached", lambda err: relay.attached == {1, 2, 3, 4}, [relay], "--max-sessions", "4")
        assert "--max-sessions" not in err, err


def test_listed_again():
    """One connection serves all lists, and a session that starts later is attached."""
    class Later(Counting):
        def list(self, payload):
            if self.lists == 2:
                self.sessions.append(Session([], "late", "s"))
            return super().list(payload)

    with Later(1) as relay:
        process = subprocess.Popen([os.environ["LTTNGTOP"], "report", "hosts", relay.relay_url], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            sandbox.wait_until(lambda: relay.attached == {1, 2}, "the session that came later is attached")
        finally:
            process.kill()
            process.wait()
        # the lister's, and one of each session, which asks for the list on its own connection
        assert relay.commands.count(CONNECT) == 3, relay.commands


def test_ended():
    """
    The monitor does not ask for sessions that have ended and are no longer listed, of which there are more and more in
    time; one that is listed again is attached again.
    """
    class Ending(Counting):
        closed = 0

        def new_streams(self, payload):
            self.closed += not self.sessions
            return struct.pack(">2I", STREAMS_NONE if self.sessions else STREAMS_CLOSED, 0)

    if not shutil.which("tmux"):
        return "tmux is not installed"
    with Ending(5) as relay, Terminal(relay.relay_url, ready="WAITING") as t:
        sandbox.wait_until(lambda: len(relay.attached) == 5, "all are attached")
        sessions, relay.sessions = relay.sessions, []
        sandbox.wait_until(lambda: relay.closed == 5, "all have ended")
        n = len(relay.connections)
        time.sleep(3)
        assert len(relay.connections) == n, f"{len(relay.connections) - n} more connections, after {n}"
        relay.attached.clear()
        relay.sessions = sessions
        sandbox.wait_until(lambda: len(relay.attached) == 5, "all are attached again")
        t.keys("q")
        assert t.status() == 0, t.stderr()
    return None


def test_one_worker_per_cpu():
    """Any number of sessions."""
    class Quick(Counting):
        """Hundreds of viewers ask for the list, and would continue to ask for streams."""
        made = None

        def list(self, payload):
            self.made = self.made or super().list(payload)
            return self.made

        def new_streams(self, payload):
            return None

    with Quick(300) as relay:
        url = relay.relay_url.replace("127.0.0.1", "localhost")  # whose address is looked up
        process = subprocess.Popen([os.environ["LTTNGTOP"], "report", "hosts", "--max-sessions", "300", url],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            sandbox.wait_until(lambda: len(relay.attached) == 300, "all are attached")
            found = processes.workers(process.pid)
            assert len(found) == len(os.sched_getaffinity(0)), found
        finally:
            process.kill()
            process.wait()


def test_long_list():
    with Counting(6000) as relay:
        done = subprocess.run([os.environ["LTTNGTOP"], "list", relay.relay_url], check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
        assert done.returncode == 0 and len(done.stdout.splitlines()) == 6001, (done.returncode, done.stderr)


if __name__ == "__main__":
    cases.run(globals())
