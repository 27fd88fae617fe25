#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`attach`: which calls of a thread are shown when it is chosen by its name, or appears only later."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402


def attach(directory, *options):
    done = subprocess.run([harness.PROGRAM, "attach", "--no-waits", "-qq", *options, directory],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600, check=False)
    assert done.returncode in (0, 3), f"{options}: {done.returncode} {done.stderr}"
    return done.stdout


def lines_by_thread(text):
    """{thread: [its lines]} of lines that begin with [host:tid]."""
    found = {}
    for line in text.splitlines():
        who, what = re.match(r"\[([^]]+)\] (.*)", line).groups()
        found.setdefault(who, []).append(what)
    return found


def check_renaming(checks, directory):
    """The call that gives a thread the name by which it is chosen is shown as it is with -p."""
    by_name = lines_by_thread(attach(directory, "-n", "wget", "-e", "trace=execve", "-T"))
    checks.true(len(by_name) > 2, f"threads called wget: {by_name}")
    for who, lines in by_name.items():
        alone = attach(directory, "-p", who, "-e", "trace=execve", "-T").splitlines()
        checks.true(alone[-1].startswith('execve("/usr/bin/wget", 0x'), f"{who}: {alone[-1]}")
        checks.equal(lines, alone[-1:], f"{who}: execve")
    summary = attach(directory, "-n", "wget", "-e", "trace=execve", "-c", "--json")
    row = json.loads(summary)["calls"][0]
    checks.true(row["calls"] == len(by_name) and row["min_ns"] > 0 and row["errors"] == 0, f"-c: {row}")


def check_prctl(checks, directory):
    """The same of a thread that gives itself its name."""
    calls = [json.loads(line) for line in attach(directory, "-n", "*", "-e", "trace=prctl", "--json").splitlines()]
    named = [c for c in calls if c["event"] == "call" and c["args"].get("option") == "PR_SET_NAME"]
    checks.true(len(named) > 2, f"threads that name themselves: {len(calls)} calls")
    for call in named:
        alone = attach(directory, "-p", str(call["tid"]), "-e", "trace=prctl", "-T")
        shown = attach(directory, "-n", call["comm"], "-e", "trace=prctl", "-T")
        want = re.findall(r"prctl\(PR_SET_NAME, 0x.* = 0 <.*", alone)
        checks.true(want and want[-1] in shown, f"{call['comm']}: {shown}")


def check_losing(checks, directory, name, call):
    """The call by which a thread loses the name is shown as it is with -n '*'; what the thread does later is not shown."""
    def records(*options):
        return [json.loads(line) for line in attach(directory, "--json", "-e", f"trace={call}", *options).splitlines()]

    every = {(r["host"], r["tid"], r["begin_ns"]): r for r in records("-n", "*") if r["event"] == "call"}
    for options in ((), ("--sched",)):
        shown = records("-n", name, *options)
        calls = [r for r in shown if r["event"] == "call"]
        checks.true(sum(r["comm"] != name for r in calls) > 2, f"{call} {options}: {calls[:5]}")
        for r in calls:
            checks.equal(r, every[r["host"], r["tid"], r["begin_ns"]], f"{call} {options}")
        checks.equal({r["comm"] for r in shown if r["event"] != "call"} - {name}, set(), f"{call} {options}: others")
    summary = json.loads(attach(directory, "-c", "--json", "-n", name, "-e", f"trace={call}"))
    checks.equal([row["calls"] for row in summary["calls"]], [len(calls)], f"{call}: -c")


def check_births(checks, directory, threads):
    """A new thread does not begin with the end of its parent's call, however it was chosen."""
    born = {f"{host}:{row['tid']}" for host, row in threads if row["born_ns"]}
    every = lines_by_thread(attach(directory, "-n", "*"))
    checks.true(len(born & set(every)) > 3, f"new threads: {born & set(every)}")
    wrong = {who: lines[0] for who, lines in every.items() if re.match(r"<\.\.\. (v?fork|clone3?) resumed>.* = 0$", lines[0])}
    checks.true(not wrong, f"first lines of threads: {wrong}")
    for who in sorted(born & set(every))[:3]:
        first = attach(directory, "-p", who).splitlines()[0]
        checks.true(" resumed>" not in first, f"-p {who}: {first}")
    check_numbers(checks, directory)


def check_numbers(checks, directory):
    """Each call that creates a thread is one line, one JSON object and one in the summary."""
    made = "clone,clone3,fork,vfork"
    lines, summary = attach(directory, "-n", "*", "-e", made, "-C", "--whole").split("% time")
    calls = [c for c in map(json.loads, attach(directory, "-n", "*", "-e", made, "--json").splitlines())
             if c["event"] == "call" and c["ret"] is not None]
    total = int(summary.splitlines()[-1].split()[4])
    checks.true(total > 10, f"calls that create threads: {summary}")
    checks.equal((len(re.findall(r"\) = -?\d", lines)), len(calls)), (total, total), "lines and objects")


def without_processes(source, target):
    """Copies a recording without its side-car, with the contexts that name an event's process renamed."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("lttngtop.json"))
    for directory, _, files in os.walk(target):
        for name in files:
            path = os.path.join(directory, name)
            os.chmod(path, 0o644)
            if name != "metadata":
                continue
            with open(path, "rb") as f:
                text = f.read()
            context = re.search(rb"event\.context := struct \{.*?\};", text, re.S)
            renamed = re.sub(rb" _(p|vp|pp)id;", rb" _\1ix;", context.group())
            with open(path, "wb") as f:
                f.write(text[:context.start()] + renamed + text[context.end():])


def check_late_processes(checks, source):
    """Threads that had events before the state dump told their process belong to it from then on."""
    directory = os.path.abspath("without-processes")
    without_processes(source, directory)
    for process, thread in (("client:442", "client:449"), ("db:507", "db:514"), ("web:417", "web:424")):
        of_process = lines_by_thread(attach(directory, "--threads", "-p", process, "--whole")).get(thread, [])
        alone = attach(directory, "-p", thread, "--whole").splitlines()
        checks.true(len(alone) // 2 < len(of_process) <= len(alone), f"{thread}: {len(of_process)} of {len(alone)} lines")


def check_quiet(checks, directory):
    """Of a process whose other threads make the calls, -f is named as what shows them; with it, and alone, it is not."""
    for who, siblings in (("web:1459", True), ("web:1", False)):
        done = subprocess.run([harness.PROGRAM, "attach", "-p", who, "-e", "trace=futex", directory], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=600, check=False)
        checks.true("none of the chosen threads made a selected call" in done.stderr, f"{who}: {done.stderr}")
        checks.equal("-f adds" in done.stderr, siblings, f"{who}: {done.stderr}")
    checks.true(attach(directory, "-f", "-p", "web:1459", "-e", "trace=futex"), "web:1459 -f")
    # nor is it where no time was looked at: that would be wrong advice
    done = subprocess.run([harness.PROGRAM, "attach", "-p", "web:1459", "--begin", "+1000s", directory], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=600, check=False)
    checks.equal((done.returncode, done.stdout, len(done.stderr.splitlines())), (0, "", 1), done.stderr)
    checks.true("is after the last event" in done.stderr, done.stderr)


def main():
    harness.need_program()
    checks = harness.Checks()
    for _, directory, _ in harness.recordings({"three-tier"}):
        check_renaming(checks, directory)
        check_losing(checks, directory, "bash", "execve")
        check_quiet(checks, directory)
        check_late_processes(checks, directory)
        check_births(checks, directory, [(row["host"], row) for row in harness.report("cpu", directory, status=(0, 3)).rows])
    for _, directory, _ in harness.recordings({"locks-pipes"}):
        check_prctl(checks, directory)
        check_losing(checks, directory, "lp", "prctl")
    checks.finish()


main()
