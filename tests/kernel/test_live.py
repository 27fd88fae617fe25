#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest streams to a relayd on this machine: live figures against those of its kernel, and the monitor's screen."""
import json
import os
import re
import subprocess
import sys
import time

import guest
import relay

sys.path.append(os.path.join(guest.HERE, "..", "screens"))
import text_pane  # noqa: E402

MIB = 1 << 20


def watch(g, table, command):
    """The rows of a live report on the guest while it runs the command, and the guest's kernel's figures."""
    with relay.Relayd(g) as relayd:
        g.sh(f"lttngtop record --set full --session s {relayd.options}")
        with subprocess.Popen([guest.PROGRAM, "report", table, "--json", f"{relayd.url}/host/guest/s"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as report:
            guest.wait_until(lambda: report.poll() is not None or relayd.viewers(), "the viewer")
            g.sh("lttngtop record refresh s")  # the names of its disks, for a viewer that came after the state dump
            g.sh(f"load /tmp/truth {command}")
            g.sh("lttngtop record stop s")
            out, err = report.communicate(timeout=guest.PATIENCE)
        assert report.returncode == 0, f"status {report.returncode}: {err}"
        return json.loads(out)["rows"], json.loads(g.sh("cat /tmp/truth"))


def test_figures(g):
    """CPU time of a known load, dd's bytes, its disk's bytes."""
    g.push(os.path.join(guest.HERE, "load.py"), "/usr/local/bin/load")
    rows, truth = watch(g, "cpu", "burn 2")
    guest.check_cpu_time("CPU time", truth, guest.row_of(rows, tid=truth["pid"])["cpu_ns"])
    dd = "dd if=/dev/zero of=/var/tmp/f bs=64k count=1024 conv=fsync status=none"
    rows, truth = watch(g, "io", dd)
    guest.check_near("dd's bytes", 64 * MIB, guest.row_of(rows, pid=truth["pid"])["write_bytes"])
    rows, truth = watch(g, "disks", dd)
    guest.check_near("the disk's bytes", truth["disks"]["vda"][1], guest.row_of(rows, name="vda")["write_bytes"])


def test_stopped(g):
    """The last state of a stopped session is not taken for the present."""
    with relay.Relayd(g) as relayd:
        g.sh(f"lttngtop record --set waits --session s {relayd.options}")
        load = g.start("while :; do :; done")
        try:
            with guest.terminal.Terminal(f"{relayd.url}/host/guest/s", size=(120, 30)) as t:
                t.wait(r"^ +\d+ +\d+ .* bash$", guest.PATIENCE)
                g.sh("lttng stop s")
                t.wait(r"^ guest +no events since \d\d:\d\d:\d\d", guest.PATIENCE)
                t.keys("q")
                t.wait("ENDED", guest.PATIENCE)
        finally:
            load.kill()
            load.wait()


def test_past(g):
    """Every call of a program that has ended before anyone looked at it, and the events of its process."""
    with relay.Relayd(g) as relayd:
        g.sh(f"lttngtop record --set full --session s {relayd.options}")
        with guest.terminal.Terminal(f"{relayd.url}/host/guest/s", size=(1000, 50), ready="^ LIVE ") as t:
            # its name appears once the monitor is up to date
            load = g.start("while :; do sleep 0.1; done")
            try:
                t.keys("F4").wait("^Filter:")
                t.text("comm:dd").keys("Enter")
                end = g.sh("dd if=/dev/zero of=/var/tmp/past bs=64k count=200 status=none; date -u +%H:%M:%S.%N").strip()
                t.wait(r"^ *\d+ +\d+ .* dd$", guest.PATIENCE)
                time.sleep(3)
                t.keys("b").wait("^Jump to")
                t.text(end).keys("Enter")
                t.wait("PAUSED")
                while not re.search(r"^ *\d+ +\d+ .* dd$", "\n".join(t.sync()), re.M):
                    t.press("Left")
                t.keys("a").wait(r"^ dd \d+ on guest ")
                for keys in ("Home", "Up"), ("End", "Down"), ("Home", "Up"):
                    text_pane.wait_lines(t)
                    t.keys(*keys)
                lines, _ = text_pane.whole(t)
                writes = [text for _, _, text in lines if re.match(r"write\(1</var/tmp/past>, .*, 65536\) = 65536 <", text)]
                assert len(writes) == 200, f"{len(writes)} of {len(lines)} lines"
                texts = [text for _, _, text in lines]
                assert any(text.startswith("execve(") for text in texts), texts[:9]
                assert texts[-1].startswith("+++ exited"), texts[-1]
            finally:
                load.kill()
                load.wait()


if __name__ == "__main__":
    guest.main(globals())
