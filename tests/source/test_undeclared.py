#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--follow: a host whose tracer has not declared anything yet, or never will, does not hold up the others for ever."""
import os
import signal
import subprocess
import sys
import threading

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402

ARCHIVE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "traces", "three-tier.tar.zst")
PATIENCE = 60

os.makedirs("empty/kernel")
for name in "metadata", "ch_0":
    with open(os.path.join("empty/kernel", name), "wb"):
        pass
known = os.path.join(harness.unpack(ARCHIVE, "traces"), "client")
with subprocess.Popen([harness.PROGRAM, "report", "cpus", "--csv", "--interval", "1s", "--follow", "--stall-limit", "300ms",
                       "empty", known], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as report:
    late = threading.Timer(PATIENCE, report.send_signal, (signal.SIGINT,))
    late.start()
    lines = report.stdout.readline(), report.stdout.readline()
    late.cancel()
    report.send_signal(signal.SIGINT)
    rest, messages = report.communicate(timeout=PATIENCE)
    print(f"ok {lines[1].strip()}" if ",client,0," in lines[1] else f"not ok {lines} {rest[-200:]} {messages}")
