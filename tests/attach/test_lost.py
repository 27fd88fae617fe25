#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`attach`: a line stands where events were lost, with the CPU, their number and the time, as babeltrace2 reports them."""
import json
import os
import re
import subprocess
import sys
import tempfile

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path += [os.path.join(TESTS, "truth"), TESTS]
import cases  # noqa: E402
import harness  # noqa: E402

WARNING = re.compile(r"Tracer discarded (\d+) (event|packet)s? between \[(\d+)\.(\d{9})\] and \[(\d+)\.(\d{9})\] .*/ch_(\d+)\"")
LINE = re.compile(r"^(\[[\w#]+\] )?(\d+\.\d{6}) !!! (\d+) (event|packet)s?(?: of events)? lost on CPU (\d+) in the last (\d+\.\d{6}) s !!!$")
checks = harness.Checks()


def attach(*args):
    done = subprocess.run([harness.PROGRAM, "attach", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    checks.equal(done.returncode, 3, f"attach {args}: exit status; {done.stderr}")
    return done.stdout.splitlines()


def losses(directory):
    """
    What babeltrace2 says: for each loss its end, CPU, events or packets, and start. The tracer's counter may fall to 0
    in one packet and then continue: only what exceeds its highest value so far was lost.
    """
    done = subprocess.run(["babeltrace2", "--clock-seconds", directory], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, check=True)
    total, highest = {}, {}
    for n, kind, begin_s, begin_ns, end_s, end_ns, cpu in WARNING.findall(done.stderr):
        key = kind, cpu
        total[key] = (total.get(key, 0) + int(n)) % 2 ** 64
        excess = total[key] - highest.get(key, 0)
        if 0 < excess < 2 ** 63:
            highest[key] = total[key]
            yield int(end_s + end_ns), int(cpu), kind, excess, int(begin_s + begin_ns)


def micros(seconds):
    return int(seconds.replace(".", ""))


def check_recording(name, directory):
    want = sorted(losses(directory))
    checks.true(len(want) > 3, f"{name}: {len(want)} losses")
    calls = [json.loads(line) for line in attach("--json", "-n", "*", directory)]
    got = [o for o in calls if o["event"] == "lost"]
    last = {cpu: end for end, cpu, *_ in want}  # if no event follows, it stands at the last one, where the CPU's events end
    checks.equal({tuple(loss[1:]) for loss in want},
                 {(o["cpu"], "event" if o["events"] else "packet", o["events"] + o["packets"], o["begin_ns"]) for o in got},
                 f"{name}: --json")
    checks.true({loss[0] for loss in want} - {o["ts_ns"] for o in got} <= set(last.values()), f"{name}: their times")
    checks.equal({(o["host"], o["tid"], o["pid"], o["comm"]) for o in got}, {("db", None, None, None)}, f"{name}: whose")
    checks.equal([o["ts_ns"] for o in calls], sorted(o["ts_ns"] for o in calls), f"{name}: in the order of time")
    lines = [LINE.match(line) for line in attach("-f", "-ttt", "-n", "*", directory) if "!!!" in line]
    checks.true(all(lines), f"{name}: {len(lines)} lines")
    checks.equal([(micros(m[2]), int(m[5]), m[4], int(m[3]), micros(m[6])) for m in lines if m],
                 [(o["ts_ns"] // 1000, o["cpu"], "event" if o["events"] else "packet", o["events"] + o["packets"],
                   (o["ts_ns"] - o["begin_ns"]) // 1000) for o in got], f"{name}: text")
    checks.equal({m[1] for m in lines if m}, {None}, f"{name}: the host's name is not in its lines")


def check_choice(directory):
    """Only losses of hosts whose threads can be chosen, in the chosen time; not in a summary."""
    other = harness.bundled("three-tier")
    lines = attach("--no-sync", "-ttt", "-n", "*", directory, other)
    checks.equal([m[1] for m in map(LINE.match, lines) if m], ["[db#2] "] * 4, "the host is named beside others")
    checks.equal([line for line in lines if "!!!" in line and not LINE.match(line)], [], "no other lines")
    done = subprocess.run([harness.PROGRAM, "attach", "--no-sync", "--host", "client", "-n", "*", directory, other],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    checks.true("!!!" not in done.stdout and done.stdout, "none of a host that is not chosen")
    checks.equal(sum("!!!" in line for line in attach("-n", "*", "--end", "@1795185084.76", directory)), 1, "--end")
    checks.true(not any("!!!" in line for line in attach("-c", "-n", "*", directory)), "-c")
    checks.equal(sum("!!!" in line for line in attach("-n", "nothing-has-this-name", directory)), 4, "no thread is chosen")


def check_files(directory):
    """With -ff a file says that events were lost before the next line, and a thread without a next line has no line."""
    ends = [end for end, *_ in sorted(losses(directory))]
    with tempfile.TemporaryDirectory() as below:
        attach("-ff", "-ttt", "-o", os.path.join(below, "out"), "-n", "*", directory)
        n_said = 0
        for name in os.listdir(below):
            with open(os.path.join(below, name), encoding="utf-8") as file:
                lines = file.read().splitlines()
            times = [micros(line.split()[0]) for line in lines]
            said = [i for i, line in enumerate(lines) if line.endswith(" !!! events lost since the last line !!!")]
            n_said += len(said)
            for i in said:
                checks.true(times[i] in [end // 1000 for end in ends], f"{name}: the time of a loss: {lines[i]}")
                checks.true(i > 0, f"{name}: it is after a line: {lines[i]}")
        checks.true(n_said > 4, f"{n_said} files say it")


def main():
    harness.need_program()
    harness.need("babeltrace2")
    overwritten = harness.bundled("lossy-overwrite")
    check_recording("lossy-overwrite", overwritten)
    check_choice(overwritten)
    check_files(overwritten)
    lossy = None if cases.few() else harness.recording("lossy")
    if lossy:
        check_recording("lossy", lossy[0])
    checks.finish()


main()
