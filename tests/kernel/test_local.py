#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One command on a machine with a kernel tracer: what `lttngtop` shows of it, and what is left afterwards; `doctor`."""
import contextlib
import json
import os
import re
import subprocess
import time

import guest

LOAD = os.path.join(guest.HERE, "load.py")
TIME_TO = os.path.join(guest.HERE, "time_to.py")
START_S = 10  # from one command to the screen, at most


def left(g):
    """Processes, directories and modules in use that a run might leave."""
    return g.run("pgrep -a 'lttng-(session|relay|consumer)d|lttngtop'; ls -d /run/lttngtop; true")[1]


def check_gone(g):
    try:
        guest.wait_until(lambda: not left(g), "end of all that was started")
    except guest.Late as late:
        raise guest.Late(f"{late}; there is still\n{left(g)}") from None


def stop_daemon(g):
    """A machine on which no part of LTTng runs."""
    g.sh("systemctl stop lttng-sessiond; true")
    assert not left(g), left(g)


def test_doctor(g):
    """Everything is in place, whether the session daemon runs or not."""
    for verb in ("start", "stop"):
        g.sh(f"systemctl {verb} lttng-sessiond")
        if verb == "start":
            g.wait_sessiond()
        status, out, err = g.run("lttngtop doctor")
        assert (status, err) == (0, "") and re.search("^guest: can be traced$", out, re.M), f"after {verb}: {status} {out}{err}"
        assert re.search(r"^  ok +kernel modules +lttng-modules 2\.", out, re.M), out
        assert re.search(r"^  ok +session daemon ", out, re.M), out


def test_screen(g):
    """Without arguments: this machine, with the tasks that already existed; nothing is left after q or Ctrl-C. How
    long it takes is printed, but not judged: the machine may be emulated."""
    stop_daemon(g)
    load = g.start("exec sh -c 'while :; do :; done'")
    try:
        start = time.monotonic()
        with g.terminal("lttngtop", size=(120, 40), ready=None) as t:
            t.wait(r"^ +\d+ +\d+ .* (da)?sh$", guest.PATIENCE)
            print(f"# {g.release}: {time.monotonic() - start:.1f} s from the command, over ssh, to a screen with the load")
            there = int(g.sh("ls -d /proc/[0-9]*/task/[0-9]* | wc -l"))
            t.wait(r" tasks +\d+", guest.PATIENCE)
            shown = int(re.search(r" tasks +(\d+)", "\n".join(t.screen())).group(1))
            assert abs(there - shown) <= 12, f"{there} tasks are there, {shown} are shown"
            t.keys("q")
            t.wait("ENDED", guest.PATIENCE)
        check_gone(g)
        with monitor(g) as t:
            t.keys("C-c")
            t.wait("ENDED", guest.PATIENCE)
    finally:
        load.kill()
    check_gone(g)


@contextlib.contextmanager
def monitor(g):
    """A monitor that shows this machine."""
    with g.terminal("lttngtop --local", size=(120, 40), ready=None) as t:
        t.wait(r"^ +1 +1 .* systemd$", guest.PATIENCE)
        yield t


def test_kill(g):
    """After kill -9, the kernel is no longer traced and nothing is left; whatever is left after
    all of its processes were killed is removed by the next run."""
    stop_daemon(g)
    with monitor(g) as t:
        assert "relayd" in left(g)
        g.sh("kill -9 $(pgrep -o lttngtop)")
        t.wait("ENDED", guest.PATIENCE)
    check_gone(g)
    with monitor(g) as t:
        before = g.sh("cat /run/lttngtop/*/session")
        g.sh("kill -9 $(pgrep lttngtop)")
        t.wait("ENDED", guest.PATIENCE)
    assert "/run/lttngtop" in left(g) and before in g.sh("lttng --no-sessiond list"), left(g)
    with monitor(g) as t:
        assert before not in g.sh("lttng --no-sessiond list"), "the session of the one that was killed is still there"
        t.keys("q")
        t.wait("ENDED", guest.PATIENCE)
    check_gone(g)


def check_own_threads(rows):
    """Processes of the tracing itself are marked, and so are threads of the session daemon with other names."""
    def named(pattern):
        return [row for row in rows if re.match(pattern, row["comm"])]
    own = named("lttng")
    assert any(row["comm"] == "lttng-consumerd" for row in own), f"{own}: no consumer daemon"
    assert len(own) < sum(row["tracing"] for row in rows), "no thread of the session daemon"
    assert all(row["tracing"] for row in own) and not any(row["tracing"] for row in named("systemd|python3|kworker")), rows


def test_own_calls(g):
    """System calls of the daemons and of the program are left out, those of others are not."""
    # workers of the program also start in the meantime
    command = "sh -c 'sleep 2; exec dd if=/dev/zero of=/dev/null count=1000 status=none'"
    status, out, err = g.run(f"lttngtop report syscalls --local --set full --json -- {command}")
    assert (status, err) == (0, ""), f"{status} {err}"
    rows = json.loads(out)["rows"]
    own = sorted({row["comm"] for row in rows if row["comm"].startswith("lttng")})
    assert not own, f"system calls of {own}"
    calls = [row["count"] for row in rows if row["comm"] == "dd" and row["name"] == "write"]
    assert calls and calls[0] == 1000, f"{calls} calls of dd, not 1000"


@guest.booted({"counted": True})
def test_report(g):
    """CPU time of a known load, on a machine that was not traced before; then with a daemon that stays."""
    g.push(LOAD, "/usr/local/bin/load")
    stop_daemon(g)
    for daemon in (False, True):
        if daemon:
            g.sh("systemctl start lttng-sessiond")
            g.wait_sessiond()
        # its status is that of the command, whatever is lost: the buffers must last while LTTng gets no processor
        found = json.loads(g.sh("lttngtop report cpu --local --buffer-size 8M --json -- load /tmp/truth burn 2"))
        assert found["lost"] == {"events": 0, "packets": 0}, found["lost"]
        rows = found["rows"]
        truth = json.loads(g.sh("cat /tmp/truth"))
        guest.check_cpu_time("CPU time", truth, guest.row_of(rows, tid=truth["pid"])["cpu_ns"])
        assert any(row["comm"].startswith("kworker") for row in rows), "only the command is there"
        check_own_threads(rows)
        assert ("sessiond" in left(g)) == daemon and "relayd" not in left(g), left(g)
    status, out, err = g.run("lttngtop report cpu --local --duration 2s --json")
    assert status == 0 and json.loads(out)["end_ns"] - json.loads(out)["begin_ns"] > 1e9, f"{status} {out} {err}"


@guest.booted({"counted": True})
def test_start(g):
    """From one command to a screen with this machine's tasks, by the clock of a processor that needs 1 ns for an
    instruction; most of the time without a daemon is that in which it loads the tracer's modules."""
    g.push(TIME_TO, "/usr/local/bin/time_to")
    for daemon in (False, True):
        if daemon:
            g.sh("systemctl start lttng-sessiond")
            g.wait_sessiond()
        else:
            stop_daemon(g)
        seconds = float(g.sh("time_to ' systemd' lttngtop"))
        print(f"# {g.release}: {seconds:.1f} s until the screen {'with' if daemon else 'without'} a running session daemon")
        assert seconds <= START_S, f"{seconds} s"


@guest.booted({"counted": True})
def test_default_set(g):
    """Waits are recorded too, unless so much happens that they would cost more than 5 %."""
    g.push(LOAD, "/usr/local/bin/load")
    for busy in (False, True):
        with contextlib.ExitStack() as stack:
            if busy:
                load = stack.enter_context(g.start("load /dev/null switch 1000000000", stdout=subprocess.DEVNULL))
                stack.callback(load.kill)
                guest.wait_until(lambda: g.run("test $(pgrep -xc python3) -ge 3")[0] == 0, "the load")
            status, out, err = g.run("lttngtop report events --local --duration 2s --json")
        # a processor that only switches may leave LTTng too little time to save everything
        assert status == (3 if busy and "incomplete: lost: " in err else 0), f"{status} {err}"
        names = {row["name"] for row in json.loads(out)["rows"]}
        assert "sched_switch" in names and ("sched_waking" in names) != busy, f"busy: {busy}: {names}"
        assert ("would cost more than 5 % of the CPUs" in err) == busy, err


if __name__ == "__main__":
    guest.main(globals())
