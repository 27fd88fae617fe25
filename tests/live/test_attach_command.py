#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`attach -- COMMAND` where the kernel cannot be traced: what is
refused and why; nothing is left behind, and COMMAND does not run.

With a kernel tracer: tests/kernel/test_attach.py.
"""
import contextlib
import os
import signal
import subprocess
import sys

import sandbox

USAGE = (
    (("-p", "1", "--", "true"), "-p needs a SOURCE"),
    (("-n", "x", "--", "true"), "-n needs a SOURCE"),
    (("--container", "x", "--", "true"), "--container needs a SOURCE"),
    (("--begin", "+1s", "--", "true"), "--begin needs a SOURCE"),
    (("--duration", "1s", "--", "true"), "--duration needs a SOURCE"),
    (("--follow", "--", "true"), "--follow needs a SOURCE"),
    ((".", "--", "true"), "'.': give either a SOURCE or a COMMAND"),
    (("-n", "x", "--buffer-size", "1M", "."), "--buffer-size needs a COMMAND"),
    (("--buffer-size", "1k", "--", "true"), "option '--buffer-size': must be at least 64 KiB"),
    (("-e", "trace=%bogus", "--", "true"), "option '-e'"),
    (("-c", "-C", "--", "true"), "-c and -C cannot be used together"),
    (("--",), "no source or command given"),
)


@contextlib.contextmanager
def user(name):
    u = sandbox.User(name)
    u.runtime = os.path.join(u.home, "run")
    os.mkdir(u.runtime, 0o700)
    if u.ids:
        os.chown(u.runtime, sandbox.NOBODY, sandbox.NOBODY)
    u.env.update(XDG_RUNTIME_DIR=u.runtime)
    u.top = u.bring(os.environ["LTTNGTOP"])
    try:
        yield u
    finally:
        u.end()


def check_clean(u):
    assert not os.listdir(u.runtime), os.listdir(u.runtime)
    assert not u.sessiond_pid(), "a session daemon is left"


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(p) for p in file.read().split()]


def pipes(pid):
    """Its open descriptors other than its input and output."""
    links = {}
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            links[int(fd)] = os.readlink(f"/proc/{pid}/fd/{fd}")
    return {link for link in links.values() if link.startswith("pipe:")} - {links.get(fd) for fd in range(3)}


def is_there(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_refused(u):
    """The texts of doctor; COMMAND does not run."""
    status, out, err = u.run(u.top, "attach", "-f", "--", "touch", "made")
    assert (status, out) == (1, ""), (status, out, err)
    assert "only root and members of group 'tracing' can trace the kernel: use sudo" in err, err
    assert "missing  permission " in err and "'lttngtop doctor' shows all checks.\n" in err, err
    assert not os.path.exists(f"{u.home}/made"), "COMMAND ran"
    check_clean(u)


def test_usage(u):
    for options, text in USAGE:
        status, out, err = u.run(u.top, "attach", *options)
        assert status == 2 and not out and text in err, f"{options}: {status} {out}{err}"
    check_clean(u)


def test_not_found(u):
    """As shells do it, before anything is started."""
    with open(f"{u.home}/data", "w", encoding="ascii"):
        pass
    for name, expected, text in (("no-such-program", 127, "not found"), ("./data", 126, "not executable")):
        status, out, err = u.run(u.top, "attach", "--", name)
        assert (status, out, err) == (expected, "", f"lttngtop: cannot run '{name}': {text}\n"), (status, out, err)
    check_clean(u)


def start_for_ever(u):
    """A run that waits for a relayd which never accepts a viewer; the process that is to become COMMAND."""
    os.makedirs(f"{u.home}/bin", exist_ok=True)
    with open(f"{u.home}/bin/lttng-relayd", "w", encoding="ascii") as file:
        file.write("#!/bin/sh\nexec sleep 1000\n")
    os.chmod(f"{u.home}/bin/lttng-relayd", 0o755)
    u.env["PATH"] = f"{u.home}/bin:{os.environ['PATH']}"
    process = u.start(u.top, "attach", "--", "touch", "made", stderr=subprocess.DEVNULL)
    sandbox.wait_until(lambda: len(children(process.pid)) == 2 and os.listdir(u.runtime), "keeper and command")
    waiting = [pid for pid in children(process.pid) if os.getsid(pid) != pid]
    assert len(waiting) == 1, "the command is not in the session of its terminal"
    keeper = next(pid for pid in children(process.pid) if pid != waiting[0])
    gate = pipes(waiting[0])
    assert gate & pipes(process.pid), "it waits at no gate"
    sandbox.wait_until(lambda: not gate & pipes(keeper), "the keeper holds the gate, too: it would wait after a kill -9")
    return process, waiting[0]


def test_interrupted(u):
    """^C while tracing is being set up."""
    process, waiting = start_for_ever(u)
    process.send_signal(signal.SIGINT)
    assert process.wait(sandbox.PATIENCE) == -signal.SIGINT
    assert not is_there(waiting) and not os.path.exists(f"{u.home}/made"), "COMMAND"
    check_clean(u)


def test_killed(u):
    """kill -9 at that point: COMMAND does not wait for ever, and the processes started end."""
    process, waiting = start_for_ever(u)
    process.kill()
    process.wait()
    sandbox.wait_until(lambda: not is_there(waiting), "end of what waits to become COMMAND")
    sandbox.wait_until(lambda: not os.listdir(u.runtime), "end of all that was started")
    assert not os.path.exists(f"{u.home}/made"), "COMMAND ran"
    check_clean(u)


def main():
    sandbox.begin()
    failed = 0
    for test in (test_refused, test_usage, test_not_found, test_interrupted, test_killed):
        with user(test.__name__) as u:
            if test is test_refused and not u.ids and u.run("id", "-Gn")[1].split().count("tracing"):
                print("skip test_refused: this user may trace the kernel")
                continue
            try:
                test(u)
                print(f"ok {test.__name__}")
            except AssertionError as error:
                failed += 1
                print(f"not ok {test.__name__}: {error}")
    sys.exit(1 if failed else 0)


main()
