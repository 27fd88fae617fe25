#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
`attach`: a line stands where events were lost, with the CPU, their number and the time, as babeltrace2 reports them. A call
has no duration if a CPU where its thread ran meanwhile lost events: its exit may be a later call's.
"""
import collections
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
EVENT = re.compile(r"\[(\d+)\.(\d{9})\] (?:\S+ )?(\w+): \{ cpu_id = (\d+) \}, \{ (?:[^}]*, )?tid = (\d+)[ ,][^}]*\}(?:, \{(.*)\})?$")
LINE = re.compile(r"^(\[[\w#]+\] )?(\d+\.\d{6}) !!! (\d+) (event|packet)s?(?: of events)? lost on CPU (\d+) in the last (\d+\.\d{6}) s !!!$")
NUMBERS = {15: "rt_sigreturn", 158: "arch_prctl", 318: "getrandom", 334: "rseq"}  # of calls that are recorded as "unknown"
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


def call_of(event, payload):
    name = event.split("_", 2)[2]
    return NUMBERS[int(re.search(r"\bid = (\d+)", payload)[1])] if name == "unknown" else name


def calls_of(directory):
    """By babeltrace2: for each call that returned its thread, name, exit and entry, None if that is not certain."""
    lost = collections.defaultdict(list)  # CPU -> ends of losses
    for end, cpu, *_ in losses(directory):
        lost[cpu].append(end)
    printed = subprocess.run(["babeltrace2", "--no-delta", "--clock-seconds", directory], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True, errors="replace", check=True)
    runs = collections.defaultdict(set)  # thread -> CPUs where it ran since its entry
    entries, calls = {}, []
    for m in filter(None, map(EVENT.match, printed.stdout.splitlines())):
        ns, name, cpu, tid = int(m[1] + m[2]), m[3], int(m[4]), int(m[5])
        runs[tid].add(cpu)
        if name == "sched_switch":
            runs[int(re.search(r"next_tid = (\d+)", m[6])[1])].add(cpu)
        elif name == "sched_process_fork":
            entries.pop(int(re.search(r"child_tid = (\d+)", m[6])[1]), None)
        elif name.startswith("syscall_entry_"):
            entries[tid], runs[tid] = (ns, call_of(name, m[6])), {cpu}
        elif name.startswith("syscall_exit_"):
            entry, call = entries.pop(tid, None), call_of(name, m[6])
            certain = entry and entry[1] == call and not any(entry[0] < end <= ns for c in runs[tid] for end in lost[c])
            if certain or call not in ("clone", "clone3", "fork", "vfork") or "ret = 0" not in m[6]:
                calls.append((tid, call, ns, entry[0] if certain else None))
    return calls


def check_calls(name, directory):
    want = calls_of(directory)
    objects = [json.loads(line) for line in attach("--json", "-n", "*", directory)]
    got = {(o["tid"], o["name"], o["ts_ns"], o["begin_ns"]) for o in objects if o["event"] == "call" and o["ret"] is not None}
    checks.equal(list(got - set(want))[:3], [], f"{name}: not so by babeltrace2")
    checks.equal(list(set(want) - got)[:3], [], f"{name}: by babeltrace2")
    sums = collections.defaultdict(lambda: [0, 0])
    for _, call, end, begin in want:
        sums[call][0] += 1
        sums[call][1] += end - begin if begin else 0
    summary = json.loads(attach("-c", "--json", "-n", "*", directory)[-1])
    checks.equal({c["name"]: [c["calls"], c["total_ns"]] for c in summary["calls"]}, sums, f"{name}: -c")
    table = collections.defaultdict(lambda: [0, 0])
    for row in harness.report("syscalls", directory, status=(3,)).rows:
        table[row["name"]][0] += row["count"]
        table[row["name"]][1] += row["total_ns"] or 0
    checks.equal(table, sums, f"{name}: report syscalls")


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
    check_calls("lossy-overwrite", overwritten)
    check_choice(overwritten)
    check_files(overwritten)
    lossy = None if cases.few() else harness.recording("lossy")
    if lossy:
        check_recording("lossy", lossy[0])
        check_calls("lossy", lossy[0])
    checks.finish()


main()
