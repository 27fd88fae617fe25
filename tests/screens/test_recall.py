#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Keys a and D on a live host, in the time before they were pressed: the lines are those of the recording that is fed,
without a gap or a double where the new ones begin, also when the session has ended; as much as the memory allows."""

import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time

from live_pane import RECORDING, TID, Live, feed, recorded, sandbox, select_thread
from terminal import Checks, Terminal, unpack
from text_pane import all_lines, compare, covered, dumped, interval, rows, same, seconds, type_filter, wait_lines, whole

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "source"))
import processes  # noqa: E402

S = 10**9


def reached(t):
    """How far the screen is, ns of the day."""
    return seconds(re.search(r", \S+ ([\d:.]+)\[", t.sync()[0])[1])


def wait_until(t, ns):
    t.wait_for(lambda text: seconds(re.search(r", \S+ ([\d:.]+)\[", text)[1]) >= ns, "time to advance")


def back(t, begin):
    """Goes back until the lines reach that time, or nothing earlier comes any more."""
    before = None
    for _ in range(12):
        t.keys("Home", "Up")
        now = covered(wait_lines(t))[0]
        if now <= begin or now == before:
            return
        before = now


def as_recorded(checks, name, lines, wanted, begin, end):
    """Except for rests of calls whose start is not known, and for the call in progress where the lines end."""
    lines, wanted = ([line for line in some if not line[2].startswith("<... ")] for some in (lines, wanted))
    running = [time for time, _, text in lines if text.endswith("<unfinished ...>")]
    checks.check(f"{name}: at most one call in progress", len(running) <= 1, running)
    compare(checks, name, lines, [line for line in wanted if line[0] not in running], begin, end)


def opens(checks, t, wanted, limits):
    """Calls from before the key; returns when it was pressed."""
    start = reached(t) - S
    wait_until(t, start + 4 * S)
    select_thread(t)
    t.keys("a")
    t.wait(rf"^ \S+ {TID} on web ")
    opened = reached(t)
    back(t, start)
    lines, (begin, end) = whole(t)
    checks.check("from before it was opened", begin < opened - 2 * S, f"{begin} {opened}")
    as_recorded(checks, "before", lines, wanted, max(begin, limits[0]), end)
    return opened


def joins(checks, t, wanted, limits):
    """Calls from before the key and from after it."""
    opened = opens(checks, t, wanted, limits)
    t.wait_for(lambda text: text.startswith(" ENDED "), "the end")
    t.keys("F", ")")
    t.wait("following")
    for _ in range(3):
        back(t, opened - S)
        lines, (begin, end) = whole(t)
        if end > opened + 2 * S and begin < opened - S:
            break
    checks.check("both", begin < opened - S and end > opened + 2 * S, f"{begin} {opened} {end}")
    as_recorded(checks, "before and after", lines, wanted, max(begin, limits[0]), min(end, limits[1]))


def opened_late(checks, t, wanted, limits):
    """When the session has ended, and with a filter."""
    t.keys("Escape")
    t.press("Escape")
    t.keys(")")
    select_thread(t)
    t.keys("a")
    t.wait(rf"^ \S+ {TID} on web ")
    wait_lines(t)
    lines, (begin, end) = whole(t)
    as_recorded(checks, "after the end", lines, wanted, max(begin, limits[0]), min(end, limits[1]))
    type_filter(t, "ioctl")
    t.wait("calls: ioctl ")
    lines = rows(wait_lines(t))
    checks.check("only those", lines and all("ioctl" in text for _, _, text in lines), "\n".join(t.sync()))


def dumps(checks, t, at):
    """The events of an interval of the past."""
    t.press("Escape")
    t.keys("b")
    t.wait("^Jump to")
    t.text(at).keys("Enter")
    t.wait(rf"\[\S+ {at[:7]}")
    t.keys("D")
    t.wait("^ events of web ")
    screen = wait_lines(t)
    same(checks, "dump", all_lines(t), dumped(RECORDING, *interval(screen), "--tid", str(TID)))


def everything(checks):
    wanted, limits = recorded()
    with Live("kept", "0.5") as t:
        joins(checks, t, wanted, limits)
        opened_late(checks, t, wanted, limits)
        dumps(checks, t, "14:07:13.8")


def survives(checks):
    """A worker that dies takes nothing with it: the next one adds to what was kept."""
    wanted, limits = recorded()
    with Live("killed", "0.6", "--workers", "1") as t:
        start = reached(t) - S
        wait_until(t, start + 3 * S)
        pid = t.program_pid()
        worker, = processes.find(lambda each: processes.state_and_parent(each)[1] == pid)
        os.kill(worker, signal.SIGKILL)
        killed = reached(t)
        processes.wait_for("another worker", lambda: processes.find(
            lambda each: each != worker and processes.state_and_parent(each)[1] == pid))
        wait_until(t, killed + 3 * S)
        select_thread(t)
        t.keys("a")
        t.wait(rf"^ \S+ {TID} on web ")
        back(t, killed - S)
        lines, (begin, end) = whole(t)
        checks.check("from before", begin < killed - S, f"{begin} {killed} {end}")
        as_recorded(checks, "before it died", lines, wanted, max(begin, limits[0]), killed - S)
        t.wait_for(lambda text: text.startswith(" ENDED "), "the end")
        t.keys("F", ")")
        t.wait("following")
        lines, (begin, end) = whole(t)
        as_recorded(checks, "afterwards", lines, wanted, max(begin, killed + 2 * S), min(end, limits[1]))


def limited(checks):
    """
    As far back as there is memory; what is shown is complete, and a dump of what is no longer there says so. A packet that
    takes more than half of the memory is not kept, which a line says: one of CPU 1, unless the relayd cuts it in two.
    """
    wanted, limits = recorded()
    with Live("little", "2", "--recall-memory", "1M", "--workers", "1") as t:
        t.wait_for(lambda text: text.startswith(" ENDED "), "the end")
        t.keys(")")
        select_thread(t)
        t.keys("a")
        t.wait(rf"^ \S+ {TID} on web ")
        back(t, 0)
        lines, (begin, end) = whole(t)
        checks.check("only the latest", limits[0] + S < begin < end, f"{limits} {begin} {end}")
        kept = [line for line in lines if not line[2].startswith("!!! 1 packet of events lost on CPU 1 in ")]
        checks.check("at most one packet is too large", len(lines) - len(kept) <= 1, lines)
        as_recorded(checks, "little memory", kept, wanted, begin, min(end, limits[1]))
        t.press("Escape")
        t.keys("(", "D")
        checks.check("no longer kept", t.wait("its events are not kept"))


def beside_others(checks):
    """A session that has ended can be read as long as its packets are there: another one, whose data displaces the
    oldest of it, does not displace what is needed for reading the rest."""
    wanted, limits = recorded()
    with Live("beside", "4", "--recall-memory", "12M", "--workers", "1", all_sessions=True) as t:
        t.wait_for(lambda text: text.startswith(" ENDED "), "the end of the first")
        for host in "client", "db":
            feeder = feed(t.ports, os.path.join(os.path.dirname(RECORDING), host), "--speed", "4")
            t.wait(rf"^ {host} ")
            feeder.wait()
        t.wait_for(lambda text: text.startswith(" ENDED "), "the end of the others")
        t.keys("b").wait("^Jump to")
        t.text("14:07:14.5").keys("Enter")
        t.wait(r"\[\S+ 14:07:1[34]")
        t.keys("F4").wait("^Filter:")
        t.keys("C-u").text(f"host:web tid:{TID}").keys("Enter")
        t.wait(rf"^ *{TID} ")
        t.keys("a")
        t.wait(rf"^ \S+ {TID} on web ")
        back(t, 0)
        lines, (begin, end) = whole(t)
        checks.check("not all of it any more", limits[0] + S // 2 < begin < end, f"{limits} {begin} {end}")
        as_recorded(checks, "beside others", lines, wanted, begin, min(end, limits[1]))


def worked(pid):
    """Whether a worker of the program reads now; waits 10 ms for the next look."""
    workers = processes.workers(pid, "recall")
    time.sleep(0.01)
    return workers


def nothing(checks):
    """Metadata that is too large for the memory: the pane says so, and does not try again and again."""
    with Live("tiny", "2", "--recall-memory", "64k", "--workers", "1", recording=os.path.join(unpack("workqueue"), "kmem")) as t:
        t.wait_for(lambda text: text.startswith(" ENDED "), "the end")
        t.keys(")", "a")
        checks.check("nothing is kept", t.wait("nothing earlier is kept"))
        pid = t.program_pid()
        # those that found nothing may still be ending
        processes.wait_for("a second without a worker", lambda: not any(worked(pid) for _ in range(100)))
        checks.contains("still", t.sync(), "nothing earlier is kept")


class Growing(threading.Thread):
    """Writes the recording again, packet by packet: a half when the one before it ends, the rest when it ends."""

    def __init__(self, name, speed):
        super().__init__(daemon=True)
        self.speed = speed
        self.path = os.path.join(os.getcwd(), name)
        self.kernel = os.path.join(self.path, "kernel")
        source = os.path.join(RECORDING, "kernel")
        self.packets = sorted(packet for name in os.listdir(source) for packet in self.read_index(source, name))
        os.makedirs(self.kernel)
        # open as long as it is recorded
        self.metadata = open(os.path.join(self.kernel, "metadata"), "wb", buffering=0)
        with open(os.path.join(source, "metadata"), "rb") as metadata:
            self.metadata.write(metadata.read())

    @staticmethod
    def read_index(source, name):
        """[(end in ns, file name, its bytes)]"""
        path = os.path.join(source, "index", name + ".idx")
        if not os.path.exists(path):
            return
        with open(path, "rb") as index, open(os.path.join(source, name), "rb") as data:
            size = struct.unpack(">IIII", index.read(16))[3]
            while entry := index.read(size):
                offset, bits, _, _, end = struct.unpack(">QQQQQ", entry[:40])
                data.seek(offset)
                yield end, name, data.read(bits // 8)

    def append(self, name, data):
        with open(os.path.join(self.kernel, name), "ab", buffering=0) as file:
            file.write(data)

    def run(self):
        first, begin = self.packets[0][0], time.monotonic()
        left = {}
        for _, name, data in self.packets:
            left.setdefault(name, []).append(data)
        for name, packets in left.items():
            self.append(name, packets[0][:len(packets[0]) // 2])
        for end, name, data in self.packets:
            time.sleep(max(0, begin + (end - first) / S / self.speed - time.monotonic()))
            packets = left[name]
            packets.pop(0)
            self.append(name, data[len(data) // 2:] + (packets[0][:len(packets[0]) // 2] if packets else b""))
        self.metadata.close()


def dump_at(t, ns, host):
    """Opens the pane of the events of the interval with that time, ns of the day."""
    t.press("Escape")
    t.keys("b").wait("^Jump to")
    t.text(clock(ns)).keys("Enter")
    t.wait_for(lambda text: seconds(interval(text.splitlines())[0]) <= ns < seconds(interval(text.splitlines())[1]), "jump")
    t.keys("D")
    t.wait(f"^ events of {host} ")
    return wait_lines(t)


def clock(ns):
    return f"{ns // (3600 * S):02}:{ns // (60 * S) % 60:02}:{ns // S % 60:02}.{ns % S:09}"


def programs(checks):
    """A session of user-space tracing, and another one of the same name later: the events of both are kept."""
    if not sandbox.has_ust():
        print("skip programs: built without lttng-ust")
        return
    zone = f"TEST{time.gmtime().tm_hour - 12:+d}"  # where it is noon: no new day begins meanwhile
    with sandbox.Tracers(os.path.join(os.getcwd(), "programs")) as lab, \
            Terminal("--workers", "1", f"net://127.0.0.1:{lab.live}", size=(300, 60), env={"TZ": zone},
                     ready="WAITING|no live session") as t:
        ends = []  # when the last event of each session was
        for _ in range(2):
            lab.start_live("s1")
            for _ in range(30):
                lab.trace(100)
                time.sleep(1.5)
                if re.match(" LIVE ", "\n".join(t.sync())):
                    break
            lab.lttng("destroy", "s1")
            t.wait("^ ENDED ")
            time.sleep(3)
            ends.append(max(seconds(when) for when, _, text in dumped(lab.output, "+0s", "+1000s", zone=zone)
                            if "tracef:event" in text))
        checks.check("the second session has events of its own", ends[0] < ends[1], ends)
        for name, at in zip(("first", "second"), ends):
            screen = dump_at(t, at, os.uname().nodename)
            same(checks, f"the {name} session's", all_lines(t), dumped(lab.output, *interval(screen), zone=zone))


def second_of_its_name(checks, name, between=lambda live: None):
    """A session that comes back under its name with another trace: the calls of the first one are still there."""
    wanted, limits = recorded()
    live = Live(name, "4", "--workers", "1", all_sessions=True)
    with live as t:
        t.wait_for(lambda text: text.startswith(" ENDED "), "the end")
        between(live)
        feeder = feed(t.ports, os.path.join(unpack("rpc-hog-local"), "web"), "--speed", "4")
        t.wait("^ LIVE ")
        feeder.wait()
        t.wait("^ ENDED ")
        t.keys("b").wait("^Jump to")
        t.text("14:07:14.5").keys("Enter")
        t.wait(r"\[\S+ 14:07:1[34]")
        select_thread(t)
        t.keys("a")
        t.wait(rf"^ \S+ {TID} on web ")
        back(t, 0)
        lines, (begin, end) = whole(t)
        checks.check(f"{name}: from its start on", begin < limits[0] + S, f"{limits} {begin} {end}")
        as_recorded(checks, name, lines, wanted, max(begin, limits[0]), min(end, limits[1]))


def comes_back(checks):
    second_of_its_name(checks, "back")


def other_relayd(checks):
    """One that is started again, and gives the other trace the same number."""
    def start_again(live):
        relayd = live.user.processes[-1]
        relayd.kill()
        relayd.wait()
        live.user.start(*relayd.args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        sandbox.wait_for_ports(*live.terminal.ports)  # before it is fed

    second_of_its_name(checks, "restarted", start_again)


def gone(checks):
    """A recording that is removed while it is followed: it cannot be read again, which is no reason to end."""
    growing = Growing("gone", 2)
    growing.start()
    with Terminal("--follow", growing.path, size=(200, 40), ready=r"^ LIVE +\[") as t:
        select_thread(t)
        growing.join()
        shutil.rmtree(growing.path)
        t.keys("a").wait(r"nothing earlier is kept| Attach .*\d+/\d+\+?$")
        for _ in range(20):
            screen = t.keys("Home", "Up").sync()
            time.sleep(0.1)
        checks.contains("goes on", screen, "^ (LIVE|ENDED)")


def followed(checks):
    """A recording while it is written: the past of it, and nothing about packets that are not complete."""
    wanted, limits = recorded()
    growing = Growing("growing", 0.7)
    growing.start()
    with Terminal("--follow", growing.path, size=(2500, 40), ready=r"^ LIVE +\[") as t:
        opens(checks, t, wanted, limits)
        dumps(checks, t, "14:07:08.2")
        t.press("Escape")
        t.keys("L")
        t.wait("Messages")
        checks.lacks("no word about incomplete packets", t.sync(), "file ends|left out")
    growing.join()


os.chmod(".", 0o755)  # the relayd runs as another user
Checks().run(everything, survives, limited, beside_others, nothing, programs, comes_back, other_relayd, followed, gone)
