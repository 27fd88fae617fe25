#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`lttngtop list` with relayds that answer, are empty, silent, wrong, or absent."""
import json
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import time

import cases
from fake_relay import INDEX_INACTIVE, INDEX_RETRY, Hangup, Relay, Session
from test_feed import TRACES

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "screens"))
from terminal import Terminal  # noqa: E402


def run_list(*argv, limit=30):
    begin = time.monotonic()
    done = subprocess.run([os.environ["LTTNGTOP"], "list", *argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=limit, check=False)
    return done.returncode, done.stdout, done.stderr, time.monotonic() - begin


def expect(argv, status, out, err):
    got = run_list(*argv)
    assert got[0] == status and out in got[1] and err in got[2], f"{argv}: {got}"
    return got


def three_sessions():
    return [Session([], "web", "s1", 200000), Session([], "db", "nightly", 1000000, clients=1),
            Session([], "web", "stored", 0)]


def test_text():
    with Relay(*three_sessions()) as relay:
        _, out, err, _ = expect([relay.relay_url], 0, "HOST", "")
    lines = [line.split() for line in out.splitlines()]
    assert [line[:3] for line in lines[1:3]] == [["db", "nightly", "taken"], ["web", "s1", "free"]], out
    assert lines[3][:4] == ["web", "stored", "not", "live"] and not err, out
    assert lines[1][3:] == ["0", "1", "1.00s", relay.relay_url + "/host/db/nightly"], out
    assert lines[2][3:6] == ["0", "0", "200ms"], out


def test_json():
    with Relay(*three_sessions()) as relay:
        answer = json.loads(expect(["--json", relay.relay_url + "/"], 0, "", "")[1])
    assert answer["schema"] == 1 and answer["relay"] == relay.relay_url and answer["hosts"] == ["db", "web"]
    assert answer["sessions"][0] == {"host": "db", "session": "nightly", "url": relay.relay_url + "/host/db/nightly",
                                     "streams": 0, "clients": 1, "live_timer_ns": 10 ** 9, "live": True, "taken": True}
    assert [s["taken"] for s in answer["sessions"]] == [True, False, False]
    assert [s["live"] for s in answer["sessions"]] == [True, True, False]


def test_kernel_and_programs():
    """A relayd has two sessions for one that traces both; lttngtop reads both by one URL."""
    parts = [Session([], "web", "s1", 200000, clients=1), Session([], "web", "s1", 200000), Session([], "web", "s2", 200000)]
    parts[0].streams, parts[1].streams = [None] * 3, [None] * 2
    with Relay(*parts) as relay:
        for url, names in ((relay.relay_url, ["s1", "s2"]), (relay.relay_url + "/host/web/s1", ["s1"])):
            answer = json.loads(expect(["--json", url], 0, "", "")[1])
            assert [s["session"] for s in answer["sessions"]] == names, answer
            assert answer["sessions"][0] == {"host": "web", "session": "s1", "url": relay.relay_url + "/host/web/s1",
                                             "streams": 5, "clients": 1, "live_timer_ns": 2 * 10 ** 8, "live": True,
                                             "taken": True}, answer


def test_one_session():
    with Relay(*three_sessions()) as relay:
        _, out, _, _ = expect([relay.relay_url + "/host/web/s1"], 0, "s1", "")
        assert len(out.splitlines()) == 2, out
        expect([relay.relay_url + "/host/web/nightly"], 1, "", "has no session 'nightly' on host 'web'")


def test_empty():
    with Relay() as relay:
        expect([relay.relay_url], 0, "", f"'{relay.relay_url}' has no sessions")
        assert json.loads(expect(["--json", relay.relay_url], 0, "", "")[1])["sessions"] == []


def test_odd_names():
    session = Session([], "h\u00f6st", "a b%20\x1b[31m\"\u202e")
    with Relay(session) as relay:
        _, out, _, _ = expect([relay.relay_url], 0, "h\u00f6st  a b%20\\x1b[31m\"", "")
        assert "\x1b" not in out and "\u202e" not in out, ascii(out)
        json.loads(expect(["--json", relay.relay_url], 0, "", "")[1])


def test_nobody_there():
    with Relay() as relay:
        url = relay.relay_url
    expect([url], 1, "", f"reading '{url}': cannot connect: Connection refused")
    expect(["net://name.invalid"], 1, "", "cannot find the address of the host")


class Silent(Relay):
    silent_at = "connect"

    def connect(self, payload):
        return None if self.silent_at == "connect" else super().connect(payload)

    def list(self, payload):
        return None


def test_silence():
    with Silent() as relay:
        for relay.silent_at in ("connect", "list"):
            got = expect(["--timeout", "500ms", relay.relay_url], 1, "", "the relayd does not answer for 0.5 s")
            assert got[3] >= 0.5, got


def test_report_of_silence():
    """A report waits for a relayd that does not answer; it soon says so, and how to end it."""
    with Silent() as relay:
        url = f"{relay.relay_url}/host/web/s"
        with subprocess.Popen([os.environ["LTTNGTOP"], "report", "cpu", url], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as report:
            readable, _, _ = select.select([report.stderr], [], [], 30)
            said = report.stderr.readline() if readable else "nothing"
            report.send_signal(signal.SIGINT)
            out, err = report.communicate(timeout=30)
    assert said == f"lttngtop: warning: waiting for an answer from '{url}'; Ctrl-C ends this\n", said
    assert (report.returncode, out, err) == (1, "", "lttngtop: interrupted before the first event arrived\n"), (out, err)


def report_with(*argv, stop_at=None):
    """
    A report on the hosts of a recording and other sources, ended by SIGINT once stderr holds stop_at: its status, the
    events of each host, and the messages.
    """
    command = [os.environ["LTTNGTOP"], "report", "hosts", "--json", os.path.join(TRACES, "locks-pipes"), *argv]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as report:
        said = ""
        while stop_at and stop_at not in said:
            line = report.stderr.readline()
            assert line, said
            said += line
        if stop_at:
            report.send_signal(signal.SIGINT)
        out, err = report.communicate(timeout=30)
    return report.returncode, {r["host"]: r["events"] for r in json.loads(out or '{"rows":[]}')["rows"]}, said + err


INCOMPLETE = "lttngtop: incomplete: not everything could be read\n"


def test_report_of_a_recording_and_a_refusal():
    """The recording's figures are printed; that the relayd could not be read makes them incomplete."""
    _, whole, _ = report_with()
    with Relay() as relay:
        url = relay.relay_url
    status, events, said = report_with(url)
    assert whole["web"] and (status, events) == (3, whole), (status, events, said)
    assert said == f"lttngtop: warning: reading '{url}': cannot connect: Connection refused: no lttng-relayd listens there\n{INCOMPLETE}", said


class Lasting(Relay):
    """Its session does not end."""

    def at_last_end(self):
        pass

    def at_end(self, stream):
        return self.index(INDEX_RETRY)


class Idle(Relay):
    """Its session has no events: all streams are inactive, up to a later time with each answer."""

    def next_index(self, payload):
        stream = self.session.stream(struct.unpack(">Q", payload)[0])
        stream.next += 1
        return self.index(INDEX_INACTIVE, packet=(0, 0, 0, 0, stream.packets[0][3] + stream.next, 0, stream.class_id))


def db_session():
    return Session([os.path.join(TRACES, "three-tier", "db", "kernel")], "db", "live")


def test_report_of_others_and_silence():
    """Ctrl-C ends the wait for what does not answer: recordings are read, and of a live session what came from it."""
    _, whole, _ = report_with()
    with Silent() as silent, Lasting(db_session()) as live:
        url = f"{silent.relay_url}/host/web/s"
        status, events, said = report_with(url, live.url, stop_at="Ctrl-C ends this")
        assert events.pop("db", 0) and (status, events) == (3, whole), (status, events, said)
        assert said.split("\n", 1)[1] == (f"lttngtop: error: reading '{url}': gave up waiting for it\n"
                                          f"{INCOMPLETE}"), said


def test_report_of_others_and_idleness():
    """So does the end of --duration for a session without events; by itself it is no report."""
    _, whole, _ = report_with()
    with Idle(db_session()) as idle:
        status, events, said = report_with("--duration", "2s", idle.url)
    assert not events.pop("db", 0) and (status, events, said) == (0, whole, ""), (status, events, said)
    with Idle(db_session()) as idle:
        done = subprocess.run([os.environ["LTTNGTOP"], "report", "hosts", "--duration", "2s", idle.url],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "lttngtop: no event within 2s\n"), done


def test_report_until_silence_ends():
    """
    The same while a relayd is asked for its sessions; and if the end must be known first, for which all is read twice.
    """
    _, whole, _ = report_with()
    with Silent() as relay, Lasting(db_session()) as live:
        status, events, said = report_with("--duration", "3s", relay.relay_url)
        assert (status, events) == (3, whole), (status, events, said)
        assert said == f"lttngtop: warning: reading '{relay.relay_url}': gave up waiting for it\n{INCOMPLETE}", said
        for urls in ([f"{relay.relay_url}/host/web/s"], [relay.relay_url, live.url]):
            status, events, said = report_with("--begin=-1h", "--duration", "2s", *urls)
            assert (status, events) == (3, whole), (status, events, said)
            left = "".join(f"lttngtop: error: reading '{url}': gave up waiting for it\n" for url in urls)
            assert said == left + INCOMPLETE, said


def test_nonsense():
    class Wrong(Relay):
        answer = b""

        def list(self, payload):
            if not self.answer:
                raise Hangup
            return self.answer

    with Wrong() as relay:
        expect([relay.relay_url], 1, "", "the relayd went away")
        relay.answer = struct.pack(">I", 2 ** 32 - 1) + os.urandom(1000000)
        expect(["--timeout", "1s", relay.relay_url], 1, "", "")
    with Relay() as relay:
        relay.connect = lambda payload: b"HTTP/1.1 400 Bad Request\r\n"
        expect([relay.relay_url], 1, "", "not a port for viewers")


def test_not_live():
    """Sessions that cannot be followed: whoever looks for live ones is told of them, as nothing else would be seen."""
    one = Session([], "web", "stored", 0)
    for sessions, text in (([one], "1 session there is not live: created without '--live'"),
                           ([one, Session([], "db", "too", 0)], "2 sessions there are not live: created without '--live'")):
        with Relay(*sessions) as relay:
            done = subprocess.run([os.environ["LTTNGTOP"], "report", "cpu", relay.relay_url], stdin=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, timeout=30, check=False)
            assert done.returncode == 1 and f"{relay.relay_url}: no live session found; {text}\n" in done.stderr, done
            if not shutil.which("tmux"):
                continue
            with Terminal(relay.relay_url, size=(100, 24), ready=None) as t:
                t.wait(f"^ WAITING (.*\\n)*.*{relay.relay_url} +{text}")
    return None if shutil.which("tmux") else "without the monitor: tmux is not installed"


if __name__ == "__main__":
    cases.run(globals())
