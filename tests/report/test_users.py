#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The user and the program of each thread, from the trace: context uid, fork and exec as babeltrace2 prints them, against
the columns of table cpu, at the end and at instants before it; what a side-car adds; the programs where only execve()
was recorded; the users of a Debian 13 that `ps` saw.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SRCDIR"], "tests", "waits"))
import cases  # noqa: E402
import ctf  # noqa: E402

PROGRAM = os.environ["LTTNGTOP"]
TRACES = os.path.join(os.environ["BUILD"], "traces")
K612 = os.path.join(os.environ.get("SHARED", ""), "traces-k612")
EVENT = re.compile(r"\[(\d+)\.(\d{9})\] \(\S+\) \S+ (\w+): (.*)")
S = 10 ** 9


def report(*args, table="cpu", said=""):
    done = subprocess.run([PROGRAM, "report", table, "--no-sync", *args], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=300, check=False)
    assert done.returncode == 0 and done.stderr == said, (args, done)
    return done.stdout


def rows(*args, **kwargs):
    return json.loads(report("--json", *args, **kwargs))["rows"]


def field(text, name, kind=int):
    found = re.search(rf'[ ,]{name} = "?([^",]*)"?', text)
    return kind(found[1]) if found else None


class Threads:
    """What the printed events say of threads: {(tid, time of its fork or None): [pid, uid or None, path or None]}."""

    def __init__(self):
        self.lives, self.born = {}, {}

    def life(self, tid):
        return self.lives.setdefault((tid, self.born.get(tid)), [None, None, None])

    def event(self, time, name, text):
        tid = field(text, "tid")
        context = text.split("}, {")[1]
        if tid:
            self.life(tid)[:2] = field(context, "pid"), field(context, "uid")
        if name == "sched_process_fork":
            child = field(text, "child_tid")
            _, uid, path = self.life(field(text, "parent_tid"))
            self.born[child] = time
            self.life(child)[:] = field(text, "child_pid"), uid, path
        elif name == "sched_process_exec":
            self.life(tid)[2] = field(text, "filename", str)


def printed(path):
    done = subprocess.run(["babeltrace2", "--clock-seconds", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        seconds, ns, name, text = EVENT.match(line).groups()
        yield int(seconds) * S + int(ns), name, text


def check_threads(host, threads, found):
    """The rows of a host; returns the number of users, and of programs, that were compared."""
    users = programs = 0
    of_processes = {}
    for pid, uid, _ in threads.lives.values():
        of_processes.setdefault(pid, set()).add(uid)
    for row in found:
        life = threads.lives.pop((row["tid"], row["born_ns"]), None)
        if not life or life[1] is None:
            # it had no event: only the other threads of its process may say it
            assert row["uid"] is None or {row["uid"]} == of_processes.get(row["pid"], set()) - {None}, (host, row)
            continue
        assert (row["uid"], row["user"], row["exe"]) == (life[1], str(life[1]), life[2]), (host, row, life)
        users += 1
        programs += life[2] is not None
    assert not {key: life for key, life in threads.lives.items() if life[1] is not None and key[0]}, (host, threads.lives)
    return users, programs


def compare(path, host):
    """At the end of the recording; and at each third of it, as users change."""
    events = list(printed(path))
    first, last = events[0][0], events[-1][0]
    compared = []
    for part in (1, 2, 3):
        end = first + (last - first) * part // 3
        threads = Threads()
        for time, name, text in events:
            if part == 3 or time < end:
                threads.event(time, name, text)
        compared.append(check_threads(host, threads, rows(*(("--end", f"+{end - first}ns") if part < 3 else ()), path)))
    return compared


def test_bundled():
    """apache2 and PostgreSQL, whose processes leave root for users of their own."""
    for host, users, programs in (("client", 20, 15), ("web", 20, 4), ("db", 20, 4)):
        compared = compare(os.path.join(TRACES, "three-tier", host), host)
        assert compared[-1][0] >= users and compared[-1][1] >= programs, (host, compared)


def test_sums_and_filters():
    """Figures of users are those of their threads; a user is found by number and by name."""
    web = os.path.join(TRACES, "three-tier", "web")
    whole = rows(web)
    figures = {}
    for row in whole:
        figures[row["user"]] = figures.get(row["user"], 0) + row["cpu_ns"]
    assert {"0", "33"} <= set(figures), figures
    assert {row["user"]: row["cpu_ns"] for row in rows("--sum-by", "user", web)} == figures
    wanted = sorted((row["tid"], row["born_ns"] or 0) for row in whole if row["uid"] == 33)
    assert len(wanted) > 2, wanted
    for term in ("user:33", "uid=33", "user=33", "user:3[0-9]"):
        assert sorted((r["tid"], r["born_ns"] or 0) for r in rows("--where", term, web)) == wanted, term
    assert not rows("--where", "user:www-data", web, said="lttngtop: warning: no row matches --where\n")
    assert {row["uid"] for row in rows("--where", "uid=0", web)} == {0}
    followed = []
    for seconds in (2, 10, 50):
        followed = followed or rows("--follow", "--duration", f"{seconds}s", "--where", "user:33", web)
    assert {row["uid"] for row in followed} == {33}, followed


def test_relations():
    """A row has two processes; that of either end may be the user's."""
    web = os.path.join(TRACES, "three-tier", "web")
    pids = {row["pid"] for row in rows(web) if row["uid"] == 33}
    whole = rows(web, table="relations")
    wanted = [row for row in whole if {row["from_pid"], row["to_pid"]} & pids]
    assert 2 < len(wanted) < len(whole), (len(wanted), len(whole))
    assert rows("--where", "user:33", web, table="relations") == wanted


def test_sidecar():
    """Names of users and what the trace does not say come from it; where both say something, the trace is newer."""
    with tempfile.TemporaryDirectory() as directory:
        web = os.path.join(directory, "web")
        shutil.copytree(os.path.join(TRACES, "three-tier", "web"), web)
        plain = {(row["tid"], row["born_ns"]): row for row in rows(web)}
        mains = [row for row in plain.values() if row["tid"] == row["pid"] and not row["born_ns"] and row["ppid"] not in (0, 2)]
        said = [{"pid": row["pid"], "start_ns": 0, "uid": 4242, "exe": f"/said/{row['pid']}"} for row in mains]
        with open(os.path.join(web, "lttngtop.json"), "w", encoding="utf-8") as file:
            json.dump({"schema": 1, "host": "web", "users": {"33": "www-data", "4242": "nobody"}, "processes": said}, file)
        by_trace = by_sidecar = 0
        for row in rows(web):
            before = plain[row["tid"], row["born_ns"]]
            assert row["uid"] == before["uid"] or (before["uid"] is None and row["uid"] == 4242), (row, before)
            assert row["exe"] == before["exe"] or (not before["exe"] and row["exe"] == f"/said/{row['pid']}"), (row, before)
            assert row["user"] == {33: "www-data", 4242: "nobody", 0: "0", None: None}[row["uid"]], row
            by_trace += before["uid"] is not None and any(p["pid"] == row["pid"] for p in said)
            by_sidecar += row["uid"] == 4242
        assert by_trace > 2 and by_sidecar > 2, (by_trace, by_sidecar)
        assert {row["uid"] for row in rows("--where", "user:www-*", web)} == {33}
        assert [row["user"] for row in rows("--sum-by", "user", "--where", "user:33", web)] == ["www-data"]


def switch(trace, time, prev, following):
    trace.add(time, "sched_switch", ("prev_comm", "text", 16, "x"), ("prev_tid", "s32", prev), ("prev_prio", "s32", 20),
              ("prev_state", "s64", 1), ("next_comm", "text", 16, "x"), ("next_tid", "s32", following), ("next_prio", "s32", 20))


def execute(trace, time, path, ret):
    trace.add(time, "syscall_entry_execve", ("filename", "string", path))
    trace.add(time + 10, "syscall_exit_execve", ("ret", "s64", ret))


def test_execve():
    """Without sched_process_exec: by calls that succeeded; a child has the program of its parent."""
    with tempfile.TemporaryDirectory() as directory:
        trace = ctf.Trace("made")
        switch(trace, S, 0, 100)
        execute(trace, S + 100, "/bin/first", 0)
        execute(trace, S + 200, "/bin/missing", -2)
        trace.add(S + 300, "sched_process_fork", ("parent_comm", "text", 16, "x"), ("parent_tid", "s32", 100),
                  ("parent_pid", "s32", 100), ("child_comm", "text", 16, "x"), ("child_tid", "s32", 101), ("child_pid", "s32", 101))
        execute(trace, S + 400, "/bin/second", 0)
        switch(trace, S + 500, 100, 101)
        switch(trace, S + 600, 101, 102)
        execute(trace, S + 700, "/bin/missing", -13)
        switch(trace, S + 800, 102, 0)
        trace.write(os.path.join(directory, "kernel"))
        assert {row["tid"]: row["exe"] for row in rows(directory)} == {100: "/bin/second", 101: "/bin/first", 102: None}
        assert {row["tid"]: row["exe"] for row in rows("--end", "+350ns", directory)}[100] == "/bin/first"
        assert all(row["uid"] is None and row["user"] is None for row in rows(directory))
        assert "USER" not in report(directory)


def test_debian13():
    """Users that programs took: nobody, 1001, 1002; by babeltrace2's events, and as `ps` saw them."""
    archives = [os.path.join(K612, "users-k612.tar.zst"), os.path.join(K612, "truth", "users-k612.truth.tar.zst")]
    if not all(map(os.path.exists, archives)):
        return f"no users-k612 in {K612}"
    with tempfile.TemporaryDirectory() as directory:
        for archive in archives:
            subprocess.run(["tar", "--zstd", "-xf", archive, "-C", directory], check=True)
        path = os.path.join(directory, "users-k612", "client")
        compared = compare(path, "client")
        assert compared[-1][0] > 200 and compared[-1][1] > 100, compared
        # when the first `ps` was executed
        events = list(printed(path))
        cut = next(time for time, name, text in events
                   if name == "sched_process_exec" and 'filename = "/usr/bin/ps"' in text)
        found = rows("--end", f"+{cut - events[0][0]}ns", path)
        with open(os.path.join(directory, "users-k612", "truth", "client", "ps-mid.txt"), encoding="utf-8") as file:
            seen = {int(words[0]): int(words[2]) for words in map(str.split, list(file)[1:])}
        known = {row["pid"]: row["uid"] for row in found if row["tid"] == row["pid"] and row["uid"] is not None}
        both = set(seen) & set(known)
        assert len(both) > 25 and {seen[pid] for pid in both} == {0, 997}, (len(both), seen)
        assert {pid: (known[pid], seen[pid]) for pid in both if known[pid] != seen[pid]} == {}
        # it slept until later
        assert [(row["uid"], seen[row["pid"]]) for row in rows("--where", "pid:974", path)] == [(65534, 65534)]
        users = {row["user"] for row in rows("--sum-by", "user", path)}
        assert {"0", "1001", "1002", "65534"} <= users, users
    return None


if __name__ == "__main__":
    cases.run(globals())
