#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the other tests rely on: terminals, ports, and machines that freeze, reboot and die."""
import contextlib
import subprocess
import time

import guest


def test_terminal(g):
    """The monitor on a terminal in the guest."""
    g.sh("rm -rf /var/tmp/r; lttngtop record --set minimal --output /var/tmp/r -- true")
    with g.terminal("lttngtop /var/tmp/r", size=(100, 24)) as t:
        t.wait(r"^ +1 +1 .* systemd$")
        t.keys("q")
        t.wait("^ENDED")


def test_ports(g):
    """A relayd in the guest is queried from here, and one here from the guest."""
    g.sh("lttng-relayd --daemonize")
    try:
        here = g.forward(5344)
        guest.wait_until(lambda: subprocess.run([guest.PROGRAM, "list", f"net://127.0.0.1:{here}"], check=False,
                                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0, "the relayd")
        g.sh(f"lttngtop list net://127.0.0.1:{g.backward(here)}")
    finally:
        g.sh("kill $(pidof -s lttng-relayd)")


def test_freeze(g):
    """A frozen machine does nothing, and continues."""
    with contextlib.ExitStack() as stack:
        ticks = stack.enter_context(g.start("while echo tick; do sleep 0.1; done", stdout=subprocess.PIPE))
        stack.callback(ticks.kill)
        stack.callback(g.thaw)
        ticks.stdout.readline()
        g.freeze()
        g.thaw()
        assert not g.is_frozen()
        for _ in range(3):
            assert "tick" in ticks.stdout.readline()


def test_reset(g):
    """The machine boots again with the disk it had."""
    boot_id = g.sh("cat /proc/sys/kernel/random/boot_id")
    g.sh("touch /var/tmp/kept; sync")
    g.reset()
    assert g.sh("cat /proc/sys/kernel/random/boot_id") != boot_id
    g.sh("test -e /var/tmp/kept; lttngtop record --set minimal --output /var/tmp/r2 -- true")


@guest.booted({"clock_offset_s": -17, "name": "db"})
def test_options(g):
    """A guest's name and its clock."""
    assert g.sh("hostname") == "db\n"
    behind = time.time() - float(g.sh("date +%s.%N"))
    assert 15 < behind < 19, behind


if __name__ == "__main__":
    guest.main(globals())
