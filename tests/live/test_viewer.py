#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The client of the live protocol (src/viewer) against a real relayd: the bytes it gets are those in the relayd's
files, for recordings that are fed and for user-space sessions, over IPv4 and IPv6."""
import collections
import contextlib
import glob
import os
import re
import signal
import subprocess
import threading
import time

import cases
import sandbox

BUILD = os.environ["BUILD"]
VIEW = os.path.join(BUILD, "tests/live/view_sessions")
THREE_TIER = os.path.join(BUILD, "traces/three-tier")


class View:
    """view_sessions, in the background."""

    def __init__(self, directory, port, *sessions, options=(), host="127.0.0.1"):
        self.directory = directory
        os.mkdir(directory)
        argv = [VIEW, "-o", directory, *options, host, str(port), *(word for session in sessions for word in session)]
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace")
        self.lines = []
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        self.lines += (line.rstrip("\n") for line in self.process.stdout)

    def wait(self):
        try:
            self.process.wait(sandbox.PATIENCE)
        finally:
            self.stop()
        return self.lines

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.thread.join()

    def count(self, kind, number=0):
        return sum(1 for line in list(self.lines) if line.startswith(f"{number} {kind}"))

    def until(self, kind, n=1, number=0):
        sandbox.wait_until(lambda: self.count(kind, number) >= n, f"{n} times '{kind}'")

    def files(self, number=0):
        """The bytes of each stream of a session, by trace and channel; the trace with most streams is 'largest'."""
        return {os.path.basename(path).split("-", 1)[1]: read(path) for path in glob.glob(f"{self.directory}/{number}-*")}


def read(path):
    with open(path, "rb") as file:
        return file.read()


def stored(output, session):
    """The same of the data that the relayd stored for each trace; a
    stream without a packet has no bytes. It may be busy moving them."""
    found = []
    for metadata in glob.glob(f"{output}/*/{session}-*/**/metadata", recursive=True):
        with contextlib.suppress(FileNotFoundError):
            files = {os.path.basename(path): read(path) for path in glob.glob(os.path.join(os.path.dirname(metadata), "*"))
                     if os.path.isfile(path)}
            found.append({name: data for name, data in files.items() if data})
    return sorted(found, key=lambda trace: trace.get("metadata", b""))


def by_trace(files):
    traces = collections.defaultdict(dict)
    for name, data in files.items():
        trace, channel = name.split("-", 1)
        traces[trace][channel] = data
    return sorted(traces.values(), key=lambda t: t["metadata"])


def sizes(traces):
    return [{name: len(data) for name, data in trace.items()} for trace in traces]


def expect_stored(view, output, session, number=0):
    """Everything the relayd stored was received, and nothing else."""
    got = by_trace(view.files(number))
    assert got, "nothing was received"
    sandbox.wait_until(lambda: stored(output, session) == got, f"{sizes(got)} stored, not {sizes(stored(output, session))}")


class Tracers(sandbox.Tracers):
    def view(self, directory, *names, options=()):
        return View(directory, self.live, *((os.uname().nodename, name) for name in names), options=options,
                    host=self.address)


@contextlib.contextmanager
def ending(view):
    try:
        yield view
    finally:
        view.stop()


# ---- recordings ----

def three_hosts(name, ipv6):
    """Three sessions of a relayd, read by one process."""
    with Tracers(f"{name}-home", ipv6) as t:
        # Where the feed cannot see who is attached, its sessions must not be over before the viewer comes.
        pace = ["--no-wait", "--speed", "3"] if ipv6 else ["--speed", "max"]
        feed = subprocess.Popen([os.environ["LTTNGTOP"], "feed", "--to", f"net://127.0.0.1:{t.control}:{t.data}", "--live-port",
                                 str(t.live), "--session", "s", *pace, THREE_TIER],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        hosts = [feed.stdout.readline().strip().split("/")[-2] for _ in range(3)]
        # some of its packets may have come before the viewer
        view = View(name, t.live, *((host, "s") for host in hosts), options=["-s"] if ipv6 else [], host=t.address)
        with ending(view):
            lines = view.wait()
        out, err = feed.communicate(timeout=sandbox.PATIENCE)
        assert feed.returncode == 0, f"{out}{err}"
        for number, host in enumerate(hosts):
            assert f"{number} end" in lines, lines[-10:]
            got = by_trace(view.files(number))
            wanted = [trace for trace in stored(t.output, "s") if f'hostname = "{host}"'.encode() in trace["metadata"]]
            assert len(got) == 1 and got == wanted, f"{host}: {sizes(got)}, stored {sizes(wanted)}"
            assert sum(len(data) for data in got[0].values()) > 500000, f"{host}: hardly anything"


def test_fed_recording():
    three_hosts("ipv4", False)


def test_fed_recording_ipv6():
    if not sandbox.has_ipv6():
        return "this machine has no ::1"
    three_hosts("ipv6", True)
    return None


# ---- user-space sessions ----

def test_from_the_end_and_from_the_start():
    with Tracers("start-home") as t:
        t.start_live("s1")
        t.trace(2000)
        with ending(t.view("all", "s1", options=["-s"])) as view:
            view.until("packet", 2)
            view.until("beacon", view.count("beacon") + 4)
        sandbox.wait_until(lambda: clients(t, "s1") == "0", "nobody is attached any more")
        with ending(t.view("first", "s1")) as first:
            # existing data is of no interest, but its streams are
            first.until("beacon", 4)
            assert first.count("packet") == 0, first.lines
            t.trace(100)
            first.until("packet")
        sandbox.wait_until(lambda: clients(t, "s1") == "0", "nobody is attached any more")
        with ending(t.view("second", "s1", options=["-s"])) as second:
            second.until("packet", 2)
            with ending(t.view("third", "s1")) as third:
                lines = third.wait()
                assert lines == ["0 failed: taken by another viewer (taken)"], lines
            t.trace(500)
            t.lttng("destroy", "s1")
            lines = second.wait()
        assert lines[-1] == "0 end" and second.count("gone") > 0, lines[-5:]
        expect_stored(second, t.output, "s1")
        parts, wholes = ({k: v for k, v in view.files().items() if not k.endswith("metadata")} for view in (first, second))
        assert all(part in wholes[name] for name, part in parts.items())
        assert sum(map(len, parts.values())) < sum(map(len, wholes.values()))
        with ending(t.view("none", "s1")) as none:
            assert none.wait() == ["0 failed: no such session (no session)"]


def clients(tracers, name):
    """The session's number of viewers, from the list."""
    with ending(View(os.path.join(tracers.user.home, f"list{len(os.listdir(tracers.user.home))}"), tracers.live,
                     host=tracers.address)) as view:
        lines = view.wait()
    found = [re.search(r"clients=(\d+)", line).group(1) for line in lines if f" {name} " in line]
    return found[0] if found else None


def test_two_sessions_and_late_programs():
    """Both have no stream yet, and give their streams the same
    names: each gets its own. In one of them each program is a trace."""
    with Tracers("two-home") as t:
        t.start_live("s1", "lttng_ust_tracef:*")
        t.start_live("s2", "lttng_ust_tracelog:*", "--buffers-pid")
        with ending(t.view("both", "s1", "s2")) as both:
            both.until("attached", 1, 0)
            both.until("attached", 1, 1)
            for n in (1, 2):
                # The relayd may give nothing for a program that has ended before its streams are known.
                app = t.user.start(t.app, "1000", "0", "wait", stdin=subprocess.PIPE)
                both.until("metadata", n, 1)
                packets = [both.count("packet", number) for number in (0, 1)]
                both.until("packet", max(packets[0], 1), 0)
                both.until("packet", max(packets[1], n), 1)
                app.communicate(timeout=sandbox.PATIENCE)
            for name in ("s1", "s2"):
                t.lttng("destroy", "--no-wait", name)
            lines = both.wait()
        assert "0 end" in lines and "1 end" in lines, lines[-5:]
        expect_stored(both, t.output, "s1", 0)
        assert all(b"tracelog" not in data for data in both.files(0).values())
        traces = by_trace(both.files(1))
        assert len(traces) == 2
        wanted = stored(t.output, "s2")
        for trace in traces:
            assert b"tracef" not in trace["metadata"] and len(trace) > 1
            # The last packet is made when the program ends.
            assert any(all(other.get(name, b"").startswith(data) for name, data in trace.items()) for other in wanted), \
                f"{sizes(traces)}, stored {sizes(wanted)}"


def test_cleared_session():
    """Between two packets the relayd starts new files (trace chunks)."""
    with Tracers("clear-home") as t:
        t.start_live("s1")
        with ending(t.view("cleared", "s1")) as view:
            view.until("attached")
            for n in range(3):
                before = view.count("packet")
                t.trace(400)
                sandbox.wait_until(lambda before=before: view.count("packet") > before, "packets")
                beacons = view.count("beacon")
                sandbox.wait_until(lambda beacons=beacons: view.count("beacon") > beacons + 4, "quiet")
                if n < 2:
                    t.lttng("clear", "s1")
            t.lttng("destroy", "s1")
            assert view.wait()[-1] == "0 end", view.lines[-5:]
        got, = by_trace(view.files())

        def is_end():
            """The data stored since the session was cleared is the end of the data received."""
            traces = stored(t.output, "s1")
            return (len(traces) == 1 and len(traces[0]) > 1 and
                    all(got.get(name, b"").endswith(data) for name, data in traces[0].items() if name != "metadata") and
                    sum(sizes(traces)[0].values()) < sum(map(len, got.values())))
        sandbox.wait_until(is_end, "the last chunk")


# ---- trouble ----

def stop(process):
    """Sends SIGSTOP, and waits until none of its threads runs: until then it may still answer."""
    def states():
        for path in glob.glob(f"/proc/{process.pid}/task/*/stat"):
            with open(path, encoding="utf-8", errors="replace") as stat:
                yield stat.read().rsplit(")", 1)[1].split()[0]
    process.send_signal(signal.SIGSTOP)
    end = time.monotonic() + sandbox.PATIENCE
    while set(states()) != {"T"}:
        assert time.monotonic() < end, "it does not stop"
        time.sleep(0.01)


def test_relayd_stops_and_dies():
    with Tracers("dies-home") as t:
        t.start_live("s1")
        with ending(t.view("patient", "s1")) as patient, ending(t.view("not-there", "s2", options=["-t", "1000"])) as other:
            assert other.wait() == ["0 failed: no such session (no session)"]
            t.trace(100)
            patient.until("packet")
            stop(t.relayd)
            with ending(t.view("hasty", "s1", options=["-t", "1000"])) as hasty:
                said = hasty.wait()
                assert said == ["0 failed: the relayd does not answer for 1 s (unreachable)"], said
            t.relayd.send_signal(signal.SIGCONT)
            beacons = patient.count("beacon")
            patient.until("beacon", beacons + 4)
            t.relayd.kill()
            assert re.match(r"0 failed: the relayd went away.* \(gone\)$", patient.wait()[-1]), patient.lines[-1]
            t.relayd.wait()
        with ending(t.view("dead", "s1")) as dead:
            assert dead.wait() == ["0 failed: cannot connect: Connection refused: no lttng-relayd listens there (unreachable)"]


def main():
    sandbox.begin(ust=True)
    cases.run(globals())


if __name__ == "__main__":
    main()
