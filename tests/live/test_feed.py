#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`feed` into a real relayd: a live viewer gets what was recorded, with every
event, the same times and losses; and failures are reported."""
import collections
import glob
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import cases
import sandbox

BUILD = os.environ.get("BUILD", os.path.join(os.path.dirname(__file__), "..", "..", "build"))
PROGRAM = os.environ.get("LTTNGTOP", os.path.join(BUILD, "lttngtop"))
SHARED = os.environ.get("SHARED", "")
TRACES = os.path.join(BUILD, "traces")
TOO_LARGE = {"large"}  # its text: only its events are counted
STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
LOST = re.compile(r"Tracer discarded (\d+) (events|packets)")

failures = 0
count = 0


def check(condition, text):
    global failures, count
    count += 1
    if not condition:
        failures += 1
        print("not ok", text)


class Relayd:
    """A relayd of the test's own."""

    def __init__(self, home):
        self.user = sandbox.User(home)
        try:
            (self.control, self.data, self.live), self.output = self.user.start_relayd()
        except BaseException:
            self.user.end()
            raise
        self.process = self.user.processes[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
        self.user.end()

    def feed(self, *args):
        return subprocess.Popen([PROGRAM, "feed", "--to", f"net://127.0.0.1:{self.control}:{self.data}",
                                 "--live-port", str(self.live), *args], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Viewer:
    """babeltrace2 on a live session or on directories, its output in a file."""

    def __init__(self, name, *args):
        self.path = name + ".txt"
        self.errors = name + ".err"
        with open(self.path, "wb") as out, open(self.errors, "wb") as err:
            self.process = subprocess.Popen(["babeltrace2", *args], stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def wait(self):
        try:
            return self.process.wait(sandbox.PATIENCE * 4)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None

    def lost(self):
        """Discarded events and packets, as babeltrace2 reports them."""
        with open(self.errors, encoding="utf-8", errors="replace") as file:
            sums = collections.Counter()
            for n, what in LOST.findall(file.read()):
                sums[what] += int(n)
            return dict(sums)


def urls_of(process, n):
    """The URLs that a working feed prints first. One that does not print them in time is ended."""
    timer = threading.Timer(sandbox.PATIENCE, process.kill)
    timer.start()
    urls = [process.stdout.readline().strip() for _ in range(n)]
    timer.cancel()
    assert all(urls), f"{n} URLs wanted, the feed has ended after {urls}: {process.communicate()[1]}"
    return urls


def finish(process, status, what):
    """Waits for a feed; returns its remaining stdout and stderr."""
    try:
        out, err = process.communicate(timeout=sandbox.PATIENCE * 4)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    statuses = status if isinstance(status, tuple) else (status,)
    check(process.returncode in statuses, f"{what}: status {process.returncode}, not {status}: {err}")
    return out, err


def interrupt(process, what):
    """Ends a feed that is no longer needed; on a busy machine it may already have ended."""
    process.send_signal(signal.SIGINT)
    return finish(process, (0, 128 + signal.SIGINT), what)


def start_viewers(name, urls, *args):
    return [Viewer(f"{name}-{i}", "-i", "lttng-live", url, *args) for i, url in enumerate(urls)]


def same_text(a, b, what):
    """Equal lines. babeltrace2 prints an empty string as whatever
    was in its memory: if lines differ, strings are ignored."""
    lines = 0
    with open(a, "rb") as first, open(b, "rb") as second:
        for x, y in zip(first, second):
            lines += 1
            if x != y and STRING.sub(b"", x) != STRING.sub(b"", y):
                check(False, f"{what}: line {lines}: {x[:200]} is not {y[:200]}")
                return
        check(not first.read(1) and not second.read(1), f"{what}: more or fewer events than {lines}")
    check(lines, f"{what}: no events")


def classes(path):
    """How many events of each class."""
    with open(path, "rb") as file:
        return collections.Counter(re.match(rb"\[\S+\] \(\S+\) (?:\S+ )?(\S+): \{", line).group(1) for line in file)


def hosts_of(recording):
    """host name → directory, as the directories are named; others, such as what the guests counted, hold no trace."""
    return {name: os.path.join(recording, name) for name in sorted(os.listdir(recording))
            if glob.glob(os.path.join(recording, name, "**", "metadata"), recursive=True)}


def check_equal(relayd, name, recording, *args):
    """All hosts of a recording at once, each with a viewer."""
    hosts = hosts_of(recording)
    process = relayd.feed("--speed", "max", "--session", name, *args, recording)
    urls = urls_of(process, len(hosts))
    check(urls == [f"net://127.0.0.1:{relayd.live}/host/{h}/{name}" for h in hosts], f"{name}: {urls}")
    viewers = start_viewers(name, urls)
    recorded = [Viewer(f"{name}-{h}", path) for h, path in hosts.items()]
    _, err = finish(process, 0, name)
    check(not err, f"{name}: {err}")
    for viewer, other in zip(viewers, recorded):
        check(viewer.wait() == 0 and other.wait() == 0, f"{name}: a viewer failed: {viewer.errors}")
        same_text(viewer.path, other.path, name)
        check(classes(viewer.path) == classes(other.path), f"{name}: counts by class")
        check(viewer.lost() == other.lost(), f"{name}: lost {viewer.lost()}, recorded {other.lost()}")
        os.remove(viewer.path)
        os.remove(other.path)


def check_count(relayd, name, recording):
    """Only the number of events."""
    process = relayd.feed("--speed", "max", "--session", name, recording)
    viewer, = start_viewers(name, urls_of(process, 1), "-c", "sink.utils.counter")
    done = subprocess.run(["babeltrace2", recording, "-c", "sink.utils.counter"], stdout=subprocess.PIPE, check=True)
    wanted = re.findall(rb"(\d+) Event messages", done.stdout)[-1]
    finish(process, 0, name)
    check(viewer.wait() == 0, f"{name}: the viewer failed")
    with open(viewer.path, "rb") as file:
        check(re.findall(rb"(\d+) Event messages", file.read())[-1:] == [wanted], f"{name}: not {wanted} events")


def check_now(relayd, recording):
    """--now shifts all times by one amount; a short live timer makes more pieces; ×4 takes a quarter of the time."""
    process = relayd.feed("--speed", "4", "--now", "--session", "now", "--live-timer", "20ms", "--hostname", "other",
                          recording)
    url, = urls_of(process, 1)
    check(url.endswith("/host/other/now"), f"--hostname, --session: {url}")
    before = time.time()
    viewer = start_viewers("now", [url], "--clock-seconds")[0]
    time.sleep(0.5)  # waiting must not make the events older
    finish(process, 0, "--now")
    ended = time.time()
    check(viewer.wait() == 0, "--now: the viewer failed")
    recorded = Viewer("now-recorded", "--clock-seconds", recording)
    recorded.wait()

    def times(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            return [int(line[1:line.index("]")].replace(".", "")) for line in file]
    with open(viewer.path, "rb") as file:
        hosts = {line.split(b" ")[2] for line in file}
    check(hosts == {b"other"}, f"--hostname: the trace is of {hosts}")
    live, old = times(viewer.path), times(recorded.path)
    check(len(live) == len(old) and {b - a for a, b in zip(live, old)} == {old[0] - live[0]},
          "--now: the clocks are not shifted by one amount")
    length = (old[-1] - old[0]) / 1e9
    check(before <= live[0] / 1e9 < ended - length / 4 + 0.1, f"--now: {before}, first event at {live[0]}, {ended}, {length} s")


class Commands:
    """The control side of a relayd that accepts everything and records all commands."""

    ADD_STREAM, CREATE_SESSION, VERSION, METADATA, CLOSE_STREAM, INDEX, ROTATE, CLOSE_CHUNK = 1, 2, 5, 6, 7, 13, 18, 20

    def __init__(self):
        self.control, self.data = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
        self.url = "net://127.0.0.1:" + ":".join(str(s.getsockname()[1]) for s in (self.control, self.data))
        self.streams = 0
        self.last = {}     # stream → the last packet's number, and its own number
        self.rotated = {}  # stream → where it should end
        self.closed = {}   # stream → its last packet's number
        self.ends, self.beacons = [], []  # times of packets' ends, and of beacons
        self.daemons = []  # the session daemon of each session: its UUID
        threading.Thread(target=self.accept, args=(self.control, self.serve), daemon=True).start()
        threading.Thread(target=self.accept, args=(self.data, self.swallow), daemon=True).start()

    def feed(self, recording, what):
        command = [PROGRAM, "feed", "--to", self.url, "--live-port", "1", "--no-wait", "--speed", "max", recording]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        finish(process, 0, what)

    @staticmethod
    def accept(server, use):
        while True:
            threading.Thread(target=use, args=(server.accept()[0],), daemon=True).start()

    @staticmethod
    def swallow(connection):
        while connection.recv(1 << 16):
            pass

    def serve(self, connection):
        connection = connection.makefile("rwb")
        while head := connection.read(24):
            _, size, command, _ = struct.unpack(">QQII", head)
            connection.write(self.answer(command, connection.read(size)))
            connection.flush()

    def answer(self, command, payload):
        ok = struct.pack(">I", 10)
        if command == self.VERSION:
            return payload
        if command == self.CREATE_SESSION:
            self.daemons.append(payload[18:34])
            return struct.pack(">Q", 1) + ok + struct.pack(">I", 0)
        if command == self.ADD_STREAM:
            self.streams += 1
            return struct.pack(">Q", self.streams) + ok
        if command == self.METADATA:
            return b""
        if command == self.INDEX:
            values = struct.unpack(">10Q", payload)
            (self.ends if values[2] else self.beacons).append(values[5])
            if values[2]:  # not a beacon
                self.last[values[0]] = (values[1], values[9])
        if command == self.ROTATE:
            self.rotated = dict(struct.iter_unpack(">QQ", payload[13:]))
        if command == self.CLOSE_STREAM:
            stream, last = struct.unpack(">QQ", payload)
            self.closed[stream] = last
        return ok + struct.pack(">I", 0) if command == self.CLOSE_CHUNK else ok


def offsets(path):
    """The error of each host's clock in ns, as `report sync` computes it."""
    done = subprocess.run([PROGRAM, "report", "sync", "--json", path], check=False, stdout=subprocess.PIPE, text=True)
    return {row["host"]: row["offset_ns"] for row in json.loads(done.stdout)["rows"]}


def check_sync(recording):
    """--sync: the data arrives with clocks that agree, although the recording's are seconds apart."""
    before = offsets(recording)
    check(len(before) == 3 and max(map(abs, before.values())) > 10 ** 9, f"sync: clocks of the recording: {before}")
    with Relayd("sync") as relayd:
        finish(relayd.feed("--sync", "--speed", "max", "--no-wait", recording), 0, "sync")
        after = offsets(relayd.output)
    check(after.keys() == before.keys() and max(map(abs, after.values())) < 10 ** 6, f"sync: clocks as fed: {after}")


def check_end_of_streams(recording):
    """The ends of streams follow from the packets' own numbers, which have gaps; the last packet from the relayd's."""
    relay = Commands()
    relay.feed(recording, "the end of streams")
    check(relay.last and all(own > last for last, own in relay.last.values()), f"the recording has no gaps: {relay.last}")
    check({s: relay.rotated[s] for s in relay.last} == {s: own + 1 for s, (_, own) in relay.last.items()},
          f"streams end at {relay.rotated}, their last packets are {relay.last}")
    check({s: relay.closed[s] for s in relay.last} == {s: last for s, (last, _) in relay.last.items()},
          f"streams are closed at {relay.closed}, their last packets are {relay.last}")


def check_end_of_time(recording):
    """Nothing is said of the time after a session's end, which would count as time in which its host ran."""
    relay = Commands()
    relay.feed(recording, "the end of time")
    check(relay.beacons and max(relay.beacons) <= max(relay.ends),
          f"beacons up to {max(relay.beacons, default=None)}, packets up to {max(relay.ends)}")


def check_daemons(recording):
    """A session daemon each: the relayd of LTTng 2.13.4 writes all sessions of one daemon into the same files."""
    relay = Commands()
    relay.feed(recording, "session daemons")
    check(len(relay.daemons) == len(set(relay.daemons)) == 3, f"three sessions, by the daemons {relay.daemons}")


def check_no_wait(relayd, recording):
    """What the relayd stores is the recording."""
    process = relayd.feed("--speed", "max", "--no-wait", "--session", "stored", recording)
    finish(process, 0, "--no-wait")
    host, = os.listdir(recording)
    stored, = [d for d in os.listdir(os.path.join(relayd.output, host)) if d.startswith("stored")]
    a, b = Viewer("stored", os.path.join(relayd.output, host, stored)), Viewer("stored-recorded", recording)
    check(a.wait() == 0 and b.wait() == 0, "--no-wait: not readable")
    same_text(a.path, b.path, "--no-wait")


def trace_of(recording):
    """The only trace directory in it."""
    return next(d for d, _, files in os.walk(recording) if "metadata" in files)


def check_damaged(relayd, recording):
    """The last packet truncated: complete events arrive, status 3; next to a directory that is not a trace."""
    copy = os.path.abspath("damaged/host/kernel")
    shutil.copytree(trace_of(recording), copy)
    shutil.rmtree(os.path.join(copy, "index"), ignore_errors=True)
    file = os.path.join(copy, "ch_0")
    os.truncate(file, os.path.getsize(file) - 3000)
    os.makedirs("damaged/none")
    with open("damaged/none/metadata", "w", encoding="ascii") as metadata:
        metadata.write("trace { major = 1; minor = 8; }; not TSDL !\n")
    process = relayd.feed("--speed", "max", "--session", "damaged", "damaged")
    viewers = start_viewers("damaged", urls_of(process, 1))
    _, err = finish(process, 3, "damaged")
    check("a packet is truncated" in err and "damaged/none" in err, f"damaged: {err}")
    check(viewers[0].wait() == 0, "damaged: the viewer failed")
    whole = Viewer("damaged-whole", trace_of(recording))
    whole.wait()
    got, want = sum(classes(viewers[0].path).values()), sum(classes(whole.path).values())
    check(want - 100 < got < want, f"damaged: {got} of {want} events")


def check_user_space(relayd):
    """A recording of user space alone, made here: large event headers, several buffers, enums, variants, strings."""
    user = sandbox.User("user")
    try:
        user.start_sessiond()
        app = user.bring(os.path.join(BUILD, "tests/live/ust_app"))
        status, _, err = user.run(user.bring(PROGRAM), "record", "--ust", "lttng_ust_*:*", "--output",
                                  f"{user.home}/recording", "--", app, "3000")
        if status == 77:
            print("skip feeding user-space events: built without lttng-ust")
            return
        check(status == 0, f"user space: cannot record: {err}")
    finally:
        user.end()
    process = relayd.feed("--speed", "max", "--session", "user", f"{user.home}/recording")
    viewer, = start_viewers("user", urls_of(process, 1))
    _, err = finish(process, 0, "user space")
    check(not err, f"user space: {err}")
    recorded = Viewer("user-recorded", f"{user.home}/recording")
    check(viewer.wait() == 0 and recorded.wait() == 0, "user space: a viewer failed")
    same_text(viewer.path, recorded.path, "user space")


def version_of(program):
    out = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return tuple(map(int, re.search(r"(\d+)\.(\d+)", out).groups()))


def check_ctf2(relayd, name, recording):
    """Accepted by a relayd of LTTng 2.15 or later; an older one would serve it as CTF 1.8."""
    if version_of("lttng-relayd") < (2, 15):
        major, minor = version_of("lttng-relayd")
        _, err = finish(relayd.feed(recording), 1, name)
        check(f"lttng-relayd at 127.0.0.1:{relayd.control} speaks protocol {major}.{minor}, "
              "but CTF 2 needs 2.15 (LTTng 2.15): record with 'lttng create --trace-format=ctf-1.8'" in err, f"{name}: {err}")
    elif version_of("babeltrace2") < (2, 1):
        print(f"skip feeding {name}: babeltrace2 2.1 is needed to see it")
    else:
        check_equal(relayd, name, recording)


def check_interrupt(relayd, recording):
    """A signal ends waiting, and ends a stream cleanly: the viewer gets the data sent and its session ends."""
    process = relayd.feed("--session", "waiting", recording)
    urls_of(process, 1)
    process.send_signal(signal.SIGINT)
    finish(process, 128 + signal.SIGINT, "SIGINT while waiting")
    process = relayd.feed("--session", "stopped", "--speed", "0.5", recording)
    viewers = start_viewers("stopped", urls_of(process, 1))
    sandbox.wait_until(lambda: os.path.getsize(viewers[0].path), "first events")
    process.send_signal(signal.SIGTERM)
    finish(process, 128 + signal.SIGTERM, "SIGTERM in the stream")
    check(viewers[0].wait() == 0, "SIGTERM: the viewer did not end")
    check(sum(classes(viewers[0].path).values()) > 0, "SIGTERM: no events")


def check_full_output(relayd, recording):
    """The URLs could not be written: the reason is that of the write, whatever failed since."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run([PROGRAM, "feed", "--to", f"net://127.0.0.1:{relayd.control}:{relayd.data}", "--no-wait",
                               "--live-port", str(relayd.live), "--session", "unseen", "--speed", "100", recording], stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=sandbox.PATIENCE, check=False)
    check(done.returncode == 1 and done.stderr == "lttngtop: cannot write to standard output: No space left on device\n",
          f"full output: {done}")


def check_failures(home, recording):
    """A relayd that refuses, hangs, stops, dies."""
    port, = sandbox.free_ports(1)
    done = subprocess.run([PROGRAM, "feed", "--to", f"net://127.0.0.1:{port}", recording], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=sandbox.PATIENCE, check=False)
    check(done.returncode == 1 and f"lttng-relayd at 127.0.0.1:{port}: cannot connect: Connection refused" in done.stderr,
          f"refused: {done}")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        done = subprocess.run([PROGRAM, "feed", "--to", f"net://127.0.0.1:{silent.getsockname()[1]}", "--timeout", "300ms",
                               recording], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=sandbox.PATIENCE, check=False)
        check(done.returncode == 1 and re.search("no answer from lttng-relayd at .* for 0.3 s", done.stderr), f"silent: {done}")
    for how, number, words in (("killed", signal.SIGKILL, "lttng-relayd at .* closed the connection"),
                               ("stopped", signal.SIGSTOP, "no answer from lttng-relayd at .* for 1 s")):
        with Relayd(f"{home}-{how}") as relayd:
            process = relayd.feed("--no-wait", "--speed", "0.2", "--timeout", "1s", recording)
            urls_of(process, 1)
            time.sleep(0.5)
            relayd.process.send_signal(number)
            _, err = finish(process, 1, f"relayd {how}")
            check(re.search(words, err) and "lttng-relayd at 127.0.0.1" in err, f"relayd {how}: {err}")
    with Relayd(f"{home}-paused") as relayd:
        process = relayd.feed("--session", "paused", recording)
        viewers = start_viewers("paused", urls_of(process, 1))
        sandbox.wait_until(lambda: os.path.getsize(viewers[0].path), "first events")
        relayd.process.send_signal(signal.SIGSTOP)
        time.sleep(2)
        relayd.process.send_signal(signal.SIGCONT)
        finish(process, 0, "relayd paused")
        viewers[0].wait()
        recorded = Viewer("paused-recorded", recording)
        recorded.wait()
        same_text(viewers[0].path, recorded.path, "relayd paused")


def unpack():
    """name → directory of every available recording."""
    found = {n: os.path.join(TRACES, n) for n in (os.listdir(TRACES) if os.path.isdir(TRACES) else ())}
    directory = os.path.join(SHARED, "traces")
    for file in sorted(os.listdir(directory) if SHARED and os.path.isdir(directory) else ()):
        name = file.removesuffix(".tar.zst")
        if name != file and name not in found:
            subprocess.run(f"zstd -dcq --long=27 '{os.path.join(directory, file)}' | tar -x", shell=True, check=True)
            found[name] = os.path.abspath(name)
    return found


def main():
    sandbox.begin(os.path.join(TRACES, "kprobe"))
    recordings = unpack()
    if not SHARED:
        print("skip feeding the shared recordings: ../shared is not there")
    with Relayd("relayd") as relayd:
        for name, path in sorted(recordings.items()):
            if cases.few() and name not in cases.FEW:
                continue
            if name.startswith("ctf2-"):
                check_ctf2(relayd, name, path)
            elif name in TOO_LARGE:
                check_count(relayd, name, path)
            else:
                check_equal(relayd, name, path)
        check_now(relayd, recordings["kprobe"])
        check_no_wait(relayd, recordings["kprobe"])
        check_damaged(relayd, recordings["kprobe"])
        if "lossy-overwrite" in recordings:
            check_end_of_streams(recordings["lossy-overwrite"])
        check_end_of_time(recordings["hotplug"])
        check_user_space(relayd)
        if "three-tier" in recordings:
            check_sync(recordings["three-tier"])
            check_daemons(recordings["three-tier"])
        check_interrupt(relayd, recordings["kprobe"])
        check_full_output(relayd, recordings["kprobe"])
    check_failures("failing", recordings["kprobe"])
    print(f"{'not ok' if failures else 'ok'} {os.path.basename(sys.argv[0])}: {count} checks, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
