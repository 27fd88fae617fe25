#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`report dump --where user: and container:` against the contexts that babeltrace2 prints for the running thread."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402

CONTEXT = re.compile(r"\btid = (\d+)\b.*?\bpid_ns = (\d+)\b.*?\buid = (\d+)\b")
DELTA = re.compile(r"^(\[\S+\]) \(\S+\) ")
CONTEXTS = "}, {"  # between an event's header, its contexts, and its payload
KEPT = (0, 3)  # the recording may lack something


def beginning(line):
    """Of an event's line: not the time since the previous one, nor the payload, where babeltrace2 2.0 prints stale texts."""
    return CONTEXTS.join(DELTA.sub(r"\1 ", line).split(CONTEXTS, 2)[:2])


def printed(path):
    """Of each event, the beginning of its line, and the running thread's TID, namespace and user."""
    out = subprocess.run(["babeltrace2", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    place = {}
    for line in out.splitlines():
        found = CONTEXT.search(line.split(CONTEXTS, 2)[1])
        tid, pid_ns, uid = map(int, found.groups()) if found else (None, None, None)
        # one that has exited is in no namespace any more
        pid_ns = place[tid] = pid_ns or place.get(tid)
        yield beginning(line), tid, pid_ns, uid


def dump(path, where):
    done = subprocess.run([harness.PROGRAM, "report", "dump", "--babeltrace", "--no-sync", "--where", where, path],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in KEPT, (where, done)
    return [beginning(line) for line in done.stdout.splitlines()]


def check(checks, what, path, where, wanted):
    checks.true(wanted, f"{what}: there are some")
    found = dump(path, where)
    checks.true(found == wanted, f"{what}: {len(found)} events, babeltrace2 has {len(wanted)}; "
                                 f"{sorted(set(found) ^ set(wanted))[:1]}")


def check_users(checks, name, host, users):
    found = harness.recording(name)
    if not found:
        print(f"skip {name}: not there")
        return
    path = os.path.join(found[0], host)
    events = list(printed(path))
    for user in users:
        check(checks, f"{name}: user:{user}", path, f"user:{user}", [line for line, tid, _, uid in events if uid == user and tid])
    first = users[0]
    check(checks, f"{name}: not user:{first}", path, f"!user:{first} call:write", [
        line for line, tid, _, uid in events if tid and uid != first and re.search(r" syscall_(entry|exit)_write: ", line)])


def check_containers(checks):
    found = harness.recording("containers")
    if not found:
        print("skip containers: not there")
        return
    path = found[0]
    events = list(printed(path))
    rows = harness.report("containers", path, status=KEPT).rows
    parent = {row["container"]: row["parent"] for row in rows}
    inner = {row["container"]: row["ns"] for row in rows if row["kind"] == "pid" and row["container"] != "host"}
    checks.true(len(inner) > 3, f"only {inner}")

    def inside(name, outer):
        while name and name != outer:
            name = parent.get(name)
        return name == outer

    for name, number in inner.items():
        own = [line for line, tid, pid_ns, _ in events if pid_ns == number and tid]
        if own:  # one has no process of its own that runs
            check(checks, f"container {name}", path, f"container:{name}", own)
            check(checks, f"namespace {number}", path, f"container:{number}", own)
        nested = {n for other, n in inner.items() if inside(other, name)}
        check(checks, f"container {name}/", path, f"container:{name}/",
              [line for line, tid, pid_ns, _ in events if pid_ns in nested and tid])


def main():
    harness.need_program()
    harness.need("babeltrace2")
    harness.TRACES.append(os.path.join(harness.SHARED, "traces-k612"))
    checks = harness.Checks()
    check_users(checks, "three-tier", "web", [33, 0])
    check_users(checks, "users-k612", "client", [1001, 997, 65534])
    check_containers(checks)
    checks.finish()


main()
