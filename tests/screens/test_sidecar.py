#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording's side-car on the screen: the program that a thread runs, and the machine that was recorded."""
import json
import os
import shutil
import tempfile

from text_pane import wait_lines
from terminal import Checks, Terminal, need, skip, unpack

need("tmux", "zstd")
RECORDING = unpack("three-tier") or skip("no recording three-tier")
LINES = (("command", "/usr/sbin/apache2 -k start"), ("exe", "/usr/sbin/apache2"),
         ("user", r"www-data \(uid 33\), group www-data \(gid 33\)"),
         ("cgroup", "/system.slice/apache2.service"))
SIDECAR = {
    "schema": 1, "host": "web", "kernel": "6.1.0-49-amd64", "boot_id": "7d3e", "users": {"33": "www-data"}, "groups": {"33": "www-data"},
    "clock": {"synchronised": True, "max_error_ns": 250000},
    "cpus": [{"cpu": n, "package": 0, "core": n // 2} for n in range(8)],
    "processes": [{"pid": 1459, "start_ns": 10 ** 18, "exe": "/usr/sbin/apache2", "cmdline": "/usr/sbin/apache2 -k start",
                   "uid": 33, "gid": 33, "cgroup": "/system.slice/apache2.service"},
                  {"pid": 1460, "start_ns": 4 * 10 ** 18, "exe": "/another/program"}],
}


def open_at(source):
    return Terminal("--no-sync", "--paused", "--begin", "+6s", source, size=(160, 50)).wait_read()


def details(t, tid):
    t.keys("/").text(str(tid)).keys("Enter")
    screen = t.press("Enter")
    t.press("Escape")
    return screen


def with_it(checks):
    source = os.path.join(tempfile.mkdtemp(), "web")
    shutil.copytree(os.path.join(RECORDING, "web"), source)
    with open(os.path.join(source, "lttngtop.json"), "w", encoding="utf-8") as file:
        json.dump(SIDECAR, file)
    with open_at(source) as t:
        screen = details(t, 1459)
        for label, text in LINES:
            checks.contains(f"details have the {label}", screen, f"^ {label} +{text}$")
        checks.lacks("a pid that is used again later is another process", details(t, 1460), "another/program")
        screen = t.press("L")
        for label, text in (("kernel", "6.1.0-49-amd64"), ("boot id", "7d3e"), ("clock", r"synchronised, within 0\.25 ms"),
                            ("CPUs", "8 in 4 cores, 1 socket")):
            checks.contains(f"data quality has the {label}", screen, f"{label} +{text}")
        t.press("Escape")
        t.press("9")
        checks.contains("a host's details have it", t.press("Enter"),
                        r"^ clock synchronised, within 0\.25 ms  kernel 6\.1\.0-49-amd64  CPUs 8 in 4 cores, 1 socket  boot id 7d3e$")
        checks.lacks("no warning", t.press("L"), "lttngtop.json")
        t.press("Escape")
        t.resize(80, 24)
        t.wait(r"^ clock synchronised, within 0\.25 ms  kernel \S+  CPUs 8 in .*…$")
        checks.check("at 80 columns, what is cut is not the clock", True)


def without_it(checks):
    with open_at(os.path.join(RECORDING, "web")) as t:
        screen = details(t, 1459)
        checks.contains("they are the details", screen, "^ IDs +tid .* pid 1459 ")
        for label in ("command", "exe", "cgroup"):
            checks.lacks(f"details have no {label}", screen, f"^ {label} ")
        checks.contains("the user is that of the trace", screen, "^ user +uid 33$")
        checks.lacks("nor has the data quality a kernel", t.press("L"), "kernel +6")


def probes(checks):
    """Where a kprobe was: the recording's ip of kp_off (vfs_write+0x0) and kp_vfs_read, from babeltrace2."""
    source = os.path.join(tempfile.mkdtemp(), "client")
    shutil.copytree(os.path.join(unpack("kprobe") or skip("no recording kprobe"), "client"), source)
    with open(os.path.join(source, "lttngtop.json"), "w", encoding="utf-8") as file:
        json.dump({"symbols": {"vfs_write": "0xffffffff91f63f10", "before_vfs_read": "0xffffffff91f63780"}}, file)
    with Terminal("--paused", "--begin", "+0.05s", source, size=(700, 50)).wait_read() as t:
        t.keys("D")
        wait_lines(t)
        t.keys("/").text("kp_off").keys("Enter")
        screen = t.sync()
        checks.contains("a probe's function", screen, r"kp_off: .* ip = 0xFFFFFFFF91F63F10 } <vfs_write\+0x0>")
        t.keys("/").text("kp_vfs_read").keys("Enter")
        screen = t.sync()
        checks.contains("and how far behind its start", screen,
                        r"kp_vfs_read: .* ip = 0xFFFFFFFF91F63790 } <before_vfs_read\+0x10>")
        checks.lacks("no other event has one", screen, r"sched_switch: .*\+0x")


Checks().run(with_it, without_it, probes)
