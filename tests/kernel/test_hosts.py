#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Three machines with clocks 22 s apart, live: their clocks, figures and waits between them;
one that freezes, one that reboots; the same over ssh alone."""
import contextlib
import json
import os
import subprocess
import time

import guest
import relay

MS = 1_000_000
REQUESTS = 20
SERVED = {"web": 20, "db": 60}  # the CPU time of a request, in ms
HOSTS = ({"name": "client", "address": "10.77.0.11"},
         {"name": "web", "address": "10.77.0.12", "clock_offset_s": 5},
         {"name": "db", "address": "10.77.0.13", "clock_offset_s": -17})


def offset_bounds(g):
    """The least and the greatest amount to add to the guest's time of day to get this machine's."""
    least, most = [], []
    script = "import sys, time\nfor line in sys.stdin: print(time.time_ns(), flush=True)"
    with g.start(f"python3 -c '{script}'", stdin=subprocess.PIPE, stdout=subprocess.PIPE, terminal=False) as clock:
        for _ in range(20):
            before = time.time_ns()
            clock.stdin.write("\n")
            clock.stdin.flush()
            there = int(clock.stdout.readline())
            least.append(before - there)
            most.append(time.time_ns() - there)
        clock.stdin.close()
    return max(least), min(most)


@contextlib.contextmanager
def chain(client, web, db):
    """The client's process, which waits for a line; its thread; the pids of the services by host name."""
    with contextlib.ExitStack() as stack:
        def start(g, command):
            process = stack.enter_context(g.start("chain " + command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, terminal=False))
            stack.callback(process.kill)
            pid = int(process.stdout.readline())
            stack.callback(g.run, f"kill {pid}")
            return process, pid
        for g in (client, web, db):
            g.push(os.path.join(guest.HERE, "chain.py"), "/usr/local/bin/chain")
        pids = {"db": start(db, f"serve db-service 7001 {SERVED['db']}")[1],
                "web": start(web, f"serve web-service 7000 {SERVED['web']} {db.address} 7001")[1]}
        process, tid = start(client, f"ask {web.address} 7000 {REQUESTS}")
        yield process, tid, pids


TICK_NS = 4 * MS  # the error of the scheduler's clock at each reading on an emulated processor


def used(g, pid):
    """CPU time of a thread, and of all interrupts."""
    out = g.sh(f"cat /proc/{pid}/schedstat; head -n 1 /proc/stat; getconf CLK_TCK").split()
    ran_ns, fields, ticks = int(out[0]), out[4:-1], int(out[-1])
    return ran_ns, (int(fields[5]) + int(fields[6])) * 10 ** 9 // ticks


def report(table, relayd, options, *guests):
    """The rows of a live report while the client asks; its thread; the kernel's figures of each service."""
    _, *services = guests
    with chain(*guests) as (process, tid, pids):
        for g in guests:
            g.sh(f"lttngtop record --set waits --buffer-size 8M --session s {relayd.options}")
        with subprocess.Popen([guest.PROGRAM, "report", table, "--json", *options, relayd.url], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as live:
            guest.wait_until(lambda: live.poll() is not None or relayd.viewers() == len(guests), "the viewers")
            before = {g.name: used(g, pids[g.name]) for g in services}
            process.stdin.write("\n")
            process.stdin.flush()
            process.stdout.readline()
            after = {g.name: used(g, pids[g.name]) for g in services}
            for g in guests:
                g.sh("lttngtop record stop s")
            out, err = live.communicate(timeout=guest.PATIENCE)
        assert (live.returncode, err) == (0, ""), f"status {live.returncode}: {err}"
        truth = {name: {"pid": pids[name], "cpu_ns": after[name][0] - ran, "interrupts_ns": after[name][1] - interrupts}
                 for name, (ran, interrupts) in before.items()}
        return json.loads(out)["rows"], tid, truth


def check_clocks(rows, bounds):
    """The offsets against the guests' times of day, taken before and after, which are correct to some ms."""
    for name in ("client", "db"):
        row = guest.row_of(rows, host=name)
        assert (row["state"], row["ref"]) == ("accurate", "web"), row
        least = min(mine[0] - ref[1] for mine, ref in zip(bounds[name], bounds["web"]))
        most = max(mine[1] - ref[0] for mine, ref in zip(bounds[name], bounds["web"]))
        found = row["offset_ns"]
        assert least - row["bound_ns"] <= found <= most + row["bound_ns"], f"{name}: {found}, it is in [{least}, {most}]"
        assert row["bound_ns"] < 50 * MS, row
    apart = guest.row_of(rows, host="db")["offset_ns"]
    assert 20_000 * MS < apart < 24_000 * MS, f"{apart} ns between web and db"


def running(rows):
    """CPU time on a path, by thread name."""
    sums = {}
    for row in rows:
        if row["state"] == "running":
            sums[row["comm"]] = sums.get(row["comm"], 0) + row["duration_ns"]
    return sums


@guest.booted(*HOSTS)
def test_three(*guests):
    """Their clocks and the services' CPU time, live; and the
    services that the client waited for, from what the relayd kept."""
    with relay.Relayd(*guests) as relayd:
        bounds = {g.name: [offset_bounds(g)] for g in guests}
        rows, tid, truth = report("sync", relayd, ["--ref", "web"], *guests)
        for g in guests:
            bounds[g.name].append(offset_bounds(g))
        check_clocks(rows, bounds)
        done = subprocess.run([guest.PROGRAM, "report", "critical-path", "--json", "--host", "client", "--tid", str(tid),
                               relayd.output], stdout=subprocess.PIPE, check=True)
        on_path = running(json.loads(done.stdout)["rows"])
        for name, used_there in truth.items():
            guest.check_near(f"{name}: on the client's path", used_there["cpu_ns"], on_path[f"{name}-service"], 0.2)

        rows, _, truth = report("cpu", relayd, [], *guests)
        for name, used_there in truth.items():
            found = guest.row_of(rows, host=name, tid=used_there["pid"])["cpu_ns"]
            least, most = used_there["cpu_ns"] * 0.99, used_there["cpu_ns"] * 1.01 + used_there["interrupts_ns"]
            assert least - 2 * TICK_NS <= found <= most + 2 * TICK_NS, f"{name}: {found}, the kernel counted {used_there}"


def wait(t, pattern):
    t.wait(pattern, guest.PATIENCE)


def busy(host):
    """The line of a host with at least one busy CPU."""
    return rf"^ {host} .* ([4-9]\d|100)% "


@guest.booted(*HOSTS)
def test_frozen_and_reset(client, web, db):
    """A frozen machine is not shown as busy, and its neighbours continue; after a reboot it has its name back."""
    guests = (client, web, db)
    with contextlib.ExitStack() as stack:
        relayd = stack.enter_context(relay.Relayd(*guests))

        def start(g):
            g.sh(f"lttngtop record --set waits --session s {relayd.options}")
            load = g.start("while :; do :; done")
            stack.callback(load.kill)
            return load
        loads = [start(g) for g in guests]
        t = stack.enter_context(guest.terminal.Terminal(relayd.url, size=(120, 40)))
        for g in guests:
            wait(t, busy(g.name))
        stack.callback(db.thaw)  # before everything else ends normally
        db.freeze()
        wait(t, r"^ db +(no data|no events|silent) since \d\d:\d\d:\d\d")
        for host in ("client", "web"):
            wait(t, busy(host))
        db.thaw()
        wait(t, busy("db"))
        for load in loads:
            load.kill()  # so that the machine boots faster
        db.reset()
        relayd.connect(db)
        start(db)
        wait(t, busy("db"))
        assert "db#2" not in "\n".join(t.screen()), t.screen()
        t.keys("q")
        wait(t, "ENDED")


@guest.booted(*HOSTS)
def test_cluster(client, web, _):
    """Two machines over ssh alone: what runs on them is shown,
    with its command lines, and nothing is left there or here."""
    load = web.start("exec sh -c 'while :; do :; done'")
    try:
        with guest.terminal.Terminal("cluster", "--host", "root@client", "--host", "root@web", size=(120, 40),
                                     env={"PATH": guest.ENV["PATH"]}, ready="LIVE") as t:
            wait(t, busy("web"))
            wait(t, r"^ +\d+ +\d+ web .* (da)?sh$")
            wait(t, r"^ client ")
            t.keys("F4")  # another thread may be the busiest one of the last second
            wait(t, "^Filter:")
            t.text("host:web comm:[s]h").keys("Enter")
            wait(t, r"COMMAND\n +\d+ +\d+ web .* sh$")
            t.keys("Home", "Enter")
            wait(t, "while :; do :; done")  # its command line, which no trace contains
            for g in (client, web):
                assert "cluster-" in g.sh("lttng --no-sessiond list")
            t.keys("q")
            wait(t, "ENDED")
    finally:
        load.kill()
    for g in (client, web):
        guest.wait_until(lambda: "cluster-" not in g.sh("lttng --no-sessiond list"), f"end of the session on {g.name}")


if __name__ == "__main__":
    guest.main(globals())
