#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`attach`: options that are refused or have no effect say why; strace's spellings mean the same; -r adds up."""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402

REFUSED = {
    ("-n", "*", "-z", "-Z"): "-z and -Z cannot be used together",
    ("-n", "*", "-e", "status="): "status expected",
    ("-n", "*", "--status="): "status expected",
    ("-n", ""): "option '-n': '' matches nothing",
    ("-n", "*", "-P", ""): "option '-P': '' matches nothing",
    ("-n", "*", "-o", "|cat"): "-o '|cat': ",
    ("-n", "*", "-o", "!cat"): "-o '!cat': ",
    ("-n", "*", "--trace=opne"): "unknown system call 'opne': did you mean 'open'?",
    ("-p", "wget"): "'wget' is not a thread: expected TID or HOST:TID; -n NAME chooses by name",
    ("-n", "*", "-N"): "option '-N' is not available: --json has the arguments by name",
    ("-n", "*", "--argv0=x"): "option '--argv0' is not available: run COMMAND through bash -c 'exec -a NAME ...'",
    ("-n", "*", "--syscall-limit=3"): "option '--syscall-limit' is not available",
    ("-n", "*", "--stack-trace-frame-limit=3"): "the tracer does not record stacks",
    ("-n", "*", "--raw=all"): "'raw=' is not supported",
    ("-n", "*", "--output-separately"): "-ff needs -o FILE",
    ("-n", "*", "-cw"): "the table has wall-clock times without it",
}


def attach(*options, locale="C.UTF-8"):
    return subprocess.run([harness.PROGRAM, "attach", "--no-waits", *options], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", timeout=600, check=False,
                          env={**os.environ, "LC_ALL": locale})


def check_messages(checks, directory):
    for options, why in REFUSED.items():
        done = attach(*options, directory)
        checks.true(done.returncode == 2 and why in done.stderr, f"{options}: {done.returncode} {done.stderr}")
    done = attach("-p", directory)
    checks.true(done.returncode == 2 and "is not a thread" in done.stderr, f"-p SOURCE: {done.stderr}")
    done = attach("-p", "nowhere:1444", directory)
    checks.true("no host matches -p nowhere:1444" in done.stderr, f"-p of another host: {done.stderr}")
    # a TID of several that is wrong; 347 has only slept, 1390 has exited
    done = attach("-p", "client:1390,web:999999", "-p", "client:347,777777", "-p", "888888", directory)
    checks.equal(done.stderr.splitlines(), [f"lttngtop: no thread matches -p {tid}" for tid in ("web:999999", "777777", "888888")],
                 "-p of threads that do not occur")
    # names of several that are wrong; 'kthreadd' has only slept, 'snap' has exited
    done = attach("-n", "wget", "-n", "msyqld", "-n", "kthreadd", "-n", "snap", "-n", "postgers*", "-p", "client:1390", directory)
    checks.equal(done.stderr.splitlines(), [f"lttngtop: no thread matches -n {name}" for name in ("msyqld", "postgers*")],
                 "-n of threads that do not occur")
    # containers of several that are wrong; all threads are on the host itself, kthreadd's among others
    done = attach("--container", "nosuch", "-n", "wget", "--container", "host", "--container", "4711/", directory)
    checks.equal(done.stderr.splitlines(), [f"lttngtop: no thread matches --container {name}" for name in ("nosuch", "4711/")],
                 "--container of containers that do not occur")
    done = attach("-n", "*", "--container", "host", directory)
    checks.equal(done.stderr, "", "--container whose threads are all chosen by name")
    plain, timed = attach("-c", "-n", "wget", directory), attach("-c", "-T", "-tt", "-n", "wget", directory)
    checks.equal(timed.stdout, plain.stdout, "-c with -T and -tt")
    limited = attach("-c", "-n", "wget", "--duration", "1us", directory)
    checks.true(limited.returncode == 0 and "--duration is for live sessions" in limited.stderr, f"--duration: {limited.stderr}")
    checks.equal(limited.stdout, plain.stdout, "--duration has no effect on a recording")
    for name in ("-t", "-T"):
        checks.true(f"{name} has no effect with -c" in timed.stderr, f"-c {name}: {timed.stderr}")


def check_failed_file(checks, directory):
    """The message names the thread's own file."""
    with tempfile.TemporaryDirectory() as above:
        path = os.path.join(above, "out")
        os.mkdir(f"{path}.client.1444")
        done = attach("-ff", "-o", path, "-p", "client:1444", directory)
    checks.equal(done.stderr, f"lttngtop: cannot write '{path}.client.1444': Is a directory\n", "-ff: a file that cannot be written")
    checks.equal(done.returncode, 1, "-ff: exit status")
    for options in (), ("--json",), ("-c", "--json"), ("-C",):
        done = attach(*options, "-o", "/dev/full", "-p", "client:1444", directory)
        checks.equal((done.returncode, done.stderr), (1, "lttngtop: cannot write '/dev/full': No space left on device\n"),
                     f"full disk: {options}")


def check_spellings(checks, directory):
    short = attach("-n", "wget", "-e", "trace=openat", "-tt", "-T", "-y", directory)
    long = attach("-n", "wget", "--trace=openat", "--absolute-timestamps=us", "--syscall-times=us", "--decode-fds=path",
                  directory)
    checks.true(short.stdout.count("openat(") > 5, f"-e trace=openat: {short.stdout[:200]}")
    checks.equal(long.stdout, short.stdout, "strace's long options")
    both = attach("-p", "client:1444", "-p", "client:1447", "-e", "execve", directory).stdout
    for threads in ("client:1444,client:1447", "client:1444 client:1447"):
        checks.equal(attach("-p", threads, "-e", "execve", directory).stdout, both, f"-p '{threads}'")


def check_nameless(checks, directory):
    """Files without a path have the kernel's names, whether the recording saw how they were made or not."""
    text = attach("-n", "*", "-y", "-e", "trace=epoll_create1,epoll_ctl", directory).stdout
    made = set(re.findall(r"epoll_create1\(.*\) = \d+<(.*)>", text))
    checks.equal(made, {"anon_inode:[eventpoll]"}, "-y: those of epoll_create1()")
    used = set(re.findall(r"epoll_ctl\(\d+<(.*?)>", text))
    checks.equal(used, {"anon_inode:[eventpoll]"}, "-y: those of epoll_ctl()")


def check_locale(checks, directory):
    """The arrow between addresses is ASCII in locales that lack it, except in JSON, which is UTF-8 everywhere."""
    call = "-n", "wget", "-yy", "-e", "recvfrom"
    for locale, options, arrow in (("C.UTF-8", call, "→"), ("C", call, "->"), ("C", ("--json", *call), "→")):
        text = attach(*options, directory, locale=locale).stdout
        arrows = set(re.findall(r"<tcp [0-9.:]+?(\W{1,2})[0-9.]+:80>", text))
        checks.equal(arrows, {arrow}, f"LC_ALL={locale} {options}")


def check_relative(checks, directory):
    """The times of -r, after those of -ttt as in strace, add up to them; a call begun before --begin has the time of its end."""
    text = attach("-n", "*", "-r", "-ttt", "--begin", "-10ms", directory).stdout
    rows = re.findall(r"^\[\S+\] (\d+)\.(\d{6}) \(\+ *(-?\d+)\.(\d{6})\) (.*)", text, re.M)
    checks.true(len(rows) > 30, f"{len(rows)} lines")
    wrong, late, last = [], [], None
    for at_s, at_us, seconds, us, what in rows:
        at = int(at_s) * 10**6 + int(at_us)
        since = (-1 if seconds[0] == "-" else 1) * (abs(int(seconds)) * 10**6 + int(us))
        if last is not None and abs(at - last - since) > 1:
            wrong.append((seconds, us, at - last, what))
        if last is not None and at < last and not what.endswith("<unfinished ...>"):
            late.append((at - last, what))
        last = at
    checks.true(not wrong, f"-r is not the time since the line before: {wrong[:3]}")
    checks.true(not late, f"lines out of order: {late[:3]}")
    checks.true(any("resumed>" in what and "?" not in what for *_, what in rows), "no call from before --begin")


def check_left_out(checks, directory):
    """Calls that -z, -Z, -e status= or --waits all leave out: stderr says so."""
    left_out = "lttngtop: no selected call of the chosen threads matches "
    for options, why in ((("-Z", "-e", "close"), "-Z"), (("-z", "-e", "exit_group", "--json"), "-z"), (("--waits", "100s"), "--waits"),
                         (("-e", "status=unavailable"), "-e status"), (("-Z", "--waits", "100s"), "-Z and --waits"),
                         (("-c", "-Z", "-e", "close"), "-Z")):
        done = attach("-n", "wget", *options, directory)
        checks.equal((done.returncode, done.stderr), (0, left_out + why + "\n"), f"{options}")
    for options in ((), ("-Z",), ("-e", "trace=none"), ("--waits", "1us")):
        checks.equal(attach("-n", "wget", *options, directory).stderr, "", f"{options}")


def check_early_end(checks, directory):
    """A call from before --begin in which its thread ends is resumed, at the time of that end."""
    entered, ended, first = "1795183625.783066", "1795183625.805348", "1795183625790000000ns"
    call = "-p", "db:716", "-e", "exit_group", "-ttt"
    gone = f"{ended} +++ exited with 0 +++"
    checks.equal(attach(*call, directory).stdout.splitlines(), [f"{entered} exit_group(0) = ?", gone], "exit_group")
    text = attach(*call, "--begin", first, directory).stdout
    checks.equal(text.splitlines(), [f"{ended} <... exit_group resumed>0) = ?", gone], "exit_group from before --begin")


def check_cut(checks, directory):
    """A call in progress at --end lasts until then, whenever the host's last event before it is; one at the recording's end until that."""
    entered, end = 1795183628502501580, 1795183628550000000
    call = "-p", "client:1444", "-e", "pselect6", "--json", "--end", f"{end}ns"
    last = json.loads(attach(*call, directory).stdout.splitlines()[-1])
    checks.equal((last["status"], last["begin_ns"], last["ts_ns"]), ("unavailable", entered, end - 1), "cut call: times")
    # the durations are on the host's own clock
    checks.true(abs(last["duration_ns"] - (end - entered)) < 10**4, f"cut call: {last['duration_ns']} ns")
    done = subprocess.run([harness.PROGRAM, "report", "cpu", "--json", "--host", "client", "--tid", "1444", "--begin", f"{entered}ns",
                           "--end", f"{end}ns", directory], capture_output=True, text=True, check=True, timeout=600)
    blocked = json.loads(done.stdout)["rows"][0]["blocked_ns"]
    checks.true(abs(last["off_cpu_ns"] - blocked) < 10**4, f"cut call: {last['off_cpu_ns']} ns blocked instead of {blocked}")
    long = [json.loads(line) for line in attach(*call, "--waits", "47ms", directory).stdout.splitlines()]
    checks.equal([o["begin_ns"] for o in long if o["event"] == "call"], [entered], "--waits 47ms has the cut call")
    events = subprocess.run(["babeltrace2", "--clock-seconds", "--no-delta", os.path.join(directory, "client")], capture_output=True,
                            text=True, errors="replace", check=True, timeout=600).stdout.splitlines()
    ends = int(re.match(r"\[(\d+)\.(\d{9})\]", events[-1]).expand(r"\1\2"))
    whole = [json.loads(line) for line in attach("-n", "*", "--host", "client", "--json", "--no-sync", "--end", f"{ends + 10**10}ns",
                                                 directory).stdout.splitlines()]
    checks.equal({o["ts_ns"] for o in whole if o.get("status") == "unavailable"}, {ends}, "calls in progress when the recording ends")


def main():
    harness.need_program()
    checks = harness.Checks()
    for _, directory, _ in harness.recordings({"three-tier"}):
        check_messages(checks, directory)
        check_failed_file(checks, directory)
        check_spellings(checks, directory)
        check_nameless(checks, directory)
        check_locale(checks, directory)
        check_relative(checks, directory)
        check_early_end(checks, directory)
        check_cut(checks, directory)
        check_left_out(checks, directory)
    checks.finish()


main()
