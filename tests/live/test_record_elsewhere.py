#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`record --host`: sessions on other machines, which a local ssh stands for, set up, undone, and with a tracer that lacks things."""
import glob
import os
import re
import shlex
import signal
import subprocess
import sys

import cases
import sandbox
from recorder import (APP, EVENTS, SSH, TOP, babeltrace_counts, begin, check, check_counts, interrupt, touch,
                      write_script)
from sandbox import user

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "source"))
import processes  # noqa: E402


def runs_in(group, name):
    """Whether a program with that name is in the process group."""
    def is_one(pid):
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            program, rest = stat.read().split("(", 1)[1].rsplit(")", 1)
        state, _, number = rest.split()[:3]
        return program == name and int(number) == group and state not in "ZX"
    return bool(processes.find(is_one))


def test_interrupted_setup_elsewhere():
    """A host removes what it set up after ssh was interrupted."""
    base = os.path.abspath("interrupted")
    write_script(f"{base}/local/ssh", f"PATH={base}/remote:$PATH; setsid sh -c \"$2\" 2>/dev/null | cat\n")
    write_script(f"{base}/remote/lttng", f"""echo "$@" >>{base}/log
        case $1 in enable-event) until [ -e {base}/go ]; do sleep 0.05; done;; esac\n""")

    def log():
        if not os.path.exists(f"{base}/log"):
            return [""]
        with open(f"{base}/log", encoding="ascii") as file:
            return file.read().splitlines() or [""]

    with user("interrupter") as u:
        u.env["PATH"] = f"{base}/local:" + u.env["PATH"]
        os.chmod(base, 0o777)
        record = interrupt(u, lambda: log()[-1].startswith("enable-event"), TOP, "record", "--ust", EVENTS,
                           "--session", "s", "--host", "h")
        # only then is the connection gone on the remote side
        sandbox.wait_until(lambda: not runs_in(record.pid, "cat"), "the end of the connection")
        touch(f"{base}/go")
        status = record.wait(sandbox.PATIENCE)
        assert status == -signal.SIGINT, status
        sandbox.wait_until(lambda: log()[-1] == "destroy s", "the end of the session")
        assert "start s" not in log(), log()


def test_undone_setup():
    """A setup that fails somewhere is undone where it may have succeeded: the host's answer was lost."""
    base = os.path.abspath("undone")
    write_script(f"{base}/local/ssh", f"""echo $1 >>{base}/ssh; export HOST=$1 PATH={base}/remote:$PATH
        [ $1 != down ] || exit 255
        sh -c "$2" || exit
        case $2 in *'lttng create'*) [ $1 != lost ] || exit 255;; esac\n""")
    write_script(f"{base}/remote/uname", "echo $HOST\n")
    write_script(f"{base}/remote/lttng", f"""echo "$@" >>{base}/log.$HOST
        [ "$1" = --no-sessiond ] && shift
        case $1 in
        create) echo Session created; [ "$2" = --list-options ] || touch {base}/session.$HOST;;
        list) [ -e {base}/session.$HOST ];;
        stop) echo Warning: Tracing already stopped >&2;;
        destroy) rm {base}/session.$HOST;;
        esac\n""")
    os.chmod(base, 0o777)
    hosts = ["--host", "good", "--host", "lost", "--host", "down"]
    with user("undoer", path=f"{base}/local") as u:
        for how in (["--live", "net://127.0.0.1"], ["--output", "o"]):
            result = u.run(TOP, "record", "--ust", EVENTS, "--session", "s", *hosts, *how)
            check(result, 3, "stop --host good (--output [^ ]* )?s\n", "host 'down': ssh cannot reach it.*host 'lost': ssh cannot reach it")
            assert glob.glob(f"{base}/session.*") == [f"{base}/session.good"], "a session is left"
            os.remove(f"{base}/session.good")
            assert "already stopped" not in result[2], result
            with open(f"{base}/ssh", encoding="ascii") as file:
                assert file.read().split().count("down") == 1, "it was never reached, but is tried again"
            os.remove(f"{base}/ssh")


def test_signal_while_hosts_hang():
    """SIGTERM ends the wait for each step; a setup that had succeeded is undone where the host answers."""
    base = os.path.abspath("hanging")
    write_script(f"{base}/local/ssh", f"""export HOST=$1 PATH={base}/remote:$PATH
        if [ $1 = hangs ]; then
            case $2 in *"$HANG"*) touch {base}/waiting.$HOST; exec sleep 600;; esac
        fi
        sh -c "$2"\n""")
    write_script(f"{base}/remote/uname", "echo $HOST\n")
    write_script(f"{base}/remote/lttng", f"""case $1 in
        create) touch {base}/session.$HOST; echo created;;
        --no-sessiond) [ $2 != list ] || [ -e {base}/session.$HOST ];;
        destroy) rm {base}/session.$HOST;;
        esac\n""")
    os.chmod(base, 0o777)
    hosts = ["--host", "good", "--host", "hangs"]
    steps = {"lttng start": ["--ust", EVENTS, "--session", "s", "--live", "net://127.0.0.1"], "lttng stop": ["stop", "s"],
             "lttng snapshot": ["snapshot", "s"], "regenerate": ["refresh", "s"],
             "ls -A": ["--ust", EVENTS, "--session", "s", "--output", "o"]}
    with user("hanger", path=f"{base}/local") as u:
        for step, words in steps.items():
            u.env["HANG"] = step
            record = u.start(TOP, "record", *words, *hosts, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            sandbox.wait_until(lambda: os.path.exists(f"{base}/waiting.hangs"), f"{step}: waits")
            record.send_signal(signal.SIGTERM)
            err = record.communicate(timeout=sandbox.PATIENCE)[1]
            assert record.returncode == -signal.SIGTERM, f"{step}: {record.returncode}, {err}"
            assert "host 'hangs': interrupted" in err, f"{step}: {err}"
            os.remove(f"{base}/waiting.hangs")
            assert not glob.glob(f"{base}/session.*"), f"{step}: a session is left"


def test_two_hosts():
    """--host: both hosts stream to one relayd, every event of each; a host that fails leaves nothing behind."""
    if os.geteuid() or subprocess.run(["unshare", "--uts", "true"], check=False, stderr=subprocess.DEVNULL).returncode:
        return "not root, or no UTS namespaces"
    os.makedirs("bin")
    with open("bin/ssh", "w", encoding="ascii") as file:
        file.write(SSH.format(base=os.getcwd(), uid=sandbox.NOBODY))
    os.chmod("bin/ssh", 0o755)
    with user("alpha") as alpha, user("beta") as beta, user("relay") as relay:
        (control, data, live), output = relay.start_relayd()
        env = {**os.environ, "PATH": os.path.abspath("bin") + ":" + os.environ["PATH"]}
        apps = " && ".join(f"ssh {name} {shlex.quote(shlex.join([APP, str(n)]))}" for name, n in (("alpha", 3000), ("beta", 200)))
        base = [TOP, "record", "--ust", EVENTS, "--live", f"net://127.0.0.1:{control}:{data}", "--live-port", str(live),
                "--host", "alpha"]

        def run(*argv):
            done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, timeout=sandbox.PATIENCE, check=False)
            return done.returncode, done.stdout, done.stderr

        check(run(*base, "--host", "beta", "--session", "s", "--", "sh", "-c", apps), 0, "",
              f"view it: lttngtop net://127.0.0.1:{live}\n$")
        for name, n in (("alpha", 3000), ("beta", 200)):
            check_counts(f"{output}/{name}", n)
        check(run(*base, "--host", "beta", "--session", "t"), 0, "stop it: lttngtop record stop --host alpha --host beta t\n")
        check(run(TOP, "record", "status", "--host", "alpha", "t"), 0, "^alpha:\n.*(t: \\[active|session `t`)")
        check(run(TOP, "record", "refresh", "--host", "alpha", "--host", "beta", "t"), 0, "^state dump of session 't' repeated\n$")
        check(run(*base, "--session", "t"), 1, "", "host 'alpha': lttng failed there")
        check(run(TOP, "record", "status", "--host", "alpha", "t"), 0, "^alpha:\n.*(t: \\[active|session `t`)")
        check(run(TOP, "record", "stop", "--host", "alpha", "--host", "beta", "t"), 0, "^session 't' stopped\\n$")
        # those that fail are named and left out, with the exit status; the command runs all the same
        down = "lttngtop: warning: host '{0}': ssh cannot reach it: try 'ssh {0} true'\n"
        lacking = ("lttngtop: warning: host 'bare': lttng failed there: see its messages above, or 'lttngtop doctor --host bare'\n")
        for command, status in ((["true"], 3), (["sh", "-c", "exit 7"], 7)):
            check(run(*base, "--host", "down1", "--host", "bare", "--host", "beta", "--host", "down2", "--session", "u", "--", *command),
                  status, "", f"^{down.format('down1')}{down.format('down2')}bare: .*{lacking}session 'u' records")
        check(run(*base, "--host", "down1", "--session", "u"), 3, "stop it: lttngtop record stop --host alpha u\n",
              f"^{down.format('down1')}$")
        # that of the first run is not touched
        check(run(*base, "--host", "beta", "--session", "u"), 3, "stop it: lttngtop record stop --host beta u\n",
              "warning: host 'alpha': lttng failed there: ")
        check(run(TOP, "record", "stop", "--host", "alpha", "--host", "beta", "u"), 0, "^session 'u' stopped\n$")
        check(run(TOP, "record", "--ust", EVENTS, "--host", "down1", "--host", "down2", "--session", "t"), 1, "",
              f"^{down.format('down1')}{down.format('down2')}lttngtop: no host could be recorded\n$")

        # Without --live: recorded there, fetched at the end, and nothing is left there.
        there = ["--host", "alpha", "--host", "beta"]
        files = [TOP, "record", "--ust", EVENTS, *there]
        fetched = os.path.abspath("fetched")

        def check_fetched(path, *names_counts):
            for name, *counts in names_counts:
                check_counts(f"{path}/{name}", *counts)
            for u in (alpha, beta):
                assert not glob.glob(f"{u.home}/.cache/lttngtop/*"), f"left on {u.home}"

        check(run(*files, "--output", fetched, "--session", "f", "--", "sh", "-c", apps), 0, "",
              f"session 'f' records on other hosts, fetched into {fetched}\n.*view it: lttngtop {fetched}\n$")
        check_fetched(fetched, ("alpha", 3000), ("beta", 200))
        check(run(*files, "--output", fetched, "--session", "f"), 1, "", "is not empty")
        check(run(*files, "--output", f"{fetched}2"), 0,
              rf"stop it: lttngtop record stop --host alpha --host beta --output {fetched}2 lttngtop-\d+-\d+\n$")
        check(run("sh", "-c", apps), 0)
        check(run(TOP, "record", "stop", *there, "--output", f"{fetched}2"), 0,
              rf"^session 'lttngtop-\d+-\d+' stopped\nfetched into {fetched}2\nview it: ")
        check_fetched(f"{fetched}2", ("alpha", 3000), ("beta", 200))
        check(run(TOP, "record", "stop", *there), 1, "", "no session that 'lttngtop record' named was found: give its name")

        # A host that cannot be reached or whose recording cannot be stored keeps it, and does not hold up the others.
        kept = f"{fetched}-kept"
        check(run(*files, "--output", kept, "--session", "k"), 0, "stop it: ")
        check(run("sh", "-c", apps), 0)
        os.makedirs(kept)
        touch(f"{kept}/alpha")
        rest = f"end it on the other hosts, later: lttngtop record stop --host alpha --host down --output {kept} k"
        check(run(TOP, "record", "stop", *there, "--host", "down", "--output", kept, "k"), 1,
              f"^fetched into {kept}\nview it: lttngtop {kept}\n{rest}\n$", "host 'down': ssh cannot reach it: try 'ssh down true'; fetching "
              f"'[^']*', which was kept on the host: host 'alpha': cannot create directory '{kept}/alpha'")
        assert os.listdir(f"{alpha.home}/.cache/lttngtop") == ["k"], "alpha's recording is lost"
        os.remove(f"{kept}/alpha")
        check(run(TOP, "record", "stop", "--host", "alpha", "--output", kept, "k"), 0, "^session 'k' stopped\nfetched into ")
        check_fetched(kept, ("alpha", 3000), ("beta", 200))
        assert os.path.exists(f"{kept}/alpha/lttngtop.json"), "without what its processes were"

        kept += "2"
        check(run(*files, "--output", kept, "--session", "l", "--", "sh", "-c", f"{apps}; mkdir {kept}; touch {kept}/beta"), 1, "",
              f"\nend it on the other hosts, later: lttngtop record stop --host beta --output {kept} l\n")
        os.remove(f"{kept}/beta")
        check(run(TOP, "record", "stop", "--host", "beta", "--output", kept, "l"), 0, "^session 'l' stopped\nfetched into ")
        check_fetched(kept, ("alpha", 3000), ("beta", 200))

        # A remote flight recorder: each snapshot is fetched.
        check(run(*files, "--snapshot", "--output", f"{fetched}3"), 0, "take a snapshot: lttngtop record snapshot --host alpha")
        for number, total in (("1", 3000), ("2", 6000)):
            check(run("sh", "-c", apps), 0)
            check(run(TOP, "record", "snapshot", *there, "--output", f"{fetched}3/{number}"), 0, f"^fetched into {fetched}3/{number}\n")
            assert babeltrace_counts(f"{fetched}3/{number}/alpha")["lttng_ust_tracef:event"] == total
        check(run(TOP, "record", "stop", *there), 0, "^session 'lttngtop-[^']*' stopped\n$")
        check(run(TOP, "record", "snapshot", *there, "nosuch"), 1, "", "host 'beta': lttng failed there")
        check(run(*files, "--host", "down", "--output", f"{fetched}4", "--", "sh", "-c", apps), 3, "", down.format("down"))
        check_fetched(f"{fetched}4", ("alpha", 3000), ("beta", 200))
        check(run(TOP, "record", "stop", *there, "--host", "down"), 1, "", "host 'down': ssh cannot reach it")
        script = run(*files, "--dry-run", "--session", "d", "--output", f"{fetched}5", "--", "sh", "-c", apps)[1]
        assert run("sh", "-e", "-c", script)[0] == 0, script
        check_fetched(f"{fetched}5", ("alpha", 3000), ("beta", 200))
        for u in (alpha, beta):
            check(u.run("lttng", "--no-sessiond", "list"), 0, "(no available recording session|No recording sessions available)")
    return None


def test_host_that_lacks_things():
    """--host, where the kernel tracer lacks a tracepoint or a context, or would crash the kernel with one."""
    base = os.path.abspath("lacking")
    write_script(f"{base}/local/ssh", f"PATH={base}/remote:$PATH exec sh -c \"$2\"\n")
    write_script(f"{base}/remote/lttng", f"""echo "$@" >>{base}/log
        case "$*" in
        "create --list-options") cat {base}/options;;
        "list --kernel") cat {base}/names;;
        "--no-sessiond list s") exit 1;;
        *--userspace*--type=pid_ns*) echo 'Error: Unknown context type pid_ns' >&2; exit 1;;
        *--type=net_ns*) echo 'Error: net_ns: Context unavailable on this kernel' >&2; exit 1;;
        esac\n""")
    write_script(f"{base}/remote/cat", f"""[ "$1" = /sys/module/lttng_tracer/version ] || exec /bin/cat "$@"
        read v <{base}/version && echo $v\n""")
    script = subprocess.run([TOP, "record", "--dry-run"], check=True, stdout=subprocess.PIPE, text=True).stdout
    listed = [name for name in re.search(r" for n in ([^;]+);", script).group(1).split() if name != "block_rq_remap"]
    nobody, = sandbox.free_ports(1)

    def record(version, *options, row="      {} (loglevel: TRACE_EMERG (0)) (type: tracepoint)\n", format_option=""):
        with open(f"{base}/version", "w", encoding="ascii") as file:
            file.write(version)
        with open(f"{base}/options", "w", encoding="ascii") as file:
            file.write("--live\n" + format_option + "--shm-path\n")
        with open(f"{base}/names", "w", encoding="utf-8") as file:
            file.writelines(map(row.format, listed))
        with open(f"{base}/log", "w", encoding="ascii"):
            pass
        done = subprocess.run([TOP, "record", "--live", "net://127.0.0.1", "--live-port", str(nobody), "--session", "s",
                               "--host", "h", *options], env={**os.environ, "PATH": f"{base}/local:" + os.environ["PATH"]},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=sandbox.PATIENCE, check=False)
        with open(f"{base}/log", encoding="ascii") as file:  # the host's process checks for its session
            log = [line for line in file.read().splitlines() if line != "--no-sessiond list s"]
        return (done.returncode, done.stdout, done.stderr), log

    # lttng 2.16 writes the second, in a locale without that character the third, and can choose a format
    newer = {"format_option": "--trace-format\n"}
    for more in ({}, {"row": "  🞂 `{}`\n", **newer}, {"row": "  > `{}`\n", **newer}):
        result, log = record("2.13.10\n", **more)
        check(result, 0, "stop it", "warning: h: this kernel's tracer has no tracepoint 'block_rq_remap', so these will be "
              "missing: disk requests to stacked devices\n.*warning: h: this kernel's tracer has no context 'net_ns', .*missing: its network namespace\n")
        assert result[2].count("will be missing") == 2, result
        assert log[0] == "create --list-options" and log[1].startswith("create s ") and log[-1] == "start s", log
        assert log[1].endswith(" --trace-format=ctf-1.8") == bool(more), log[1]
        enabled, = (line for line in log if line.startswith("enable-event ") and "sched_switch" in line)
        assert sorted(enabled.split()[-1].split(",")) == sorted(listed), enabled
    assert any("--type=uid" in line for line in log) and not any("--type=prio" in line for line in log), log
    result, log = record("2.13.10\n", "--event", "block_rq_remap")
    check(result, 1, "", "this kernel has no tracepoint block_rq_remap\n.*host 'h': lttng failed there")
    assert log[-1] == "destroy s", log
    result, log = record("2.13.10\n", "--event", "sched_switch", row="  🞂 `{}`\n")
    check(result, 0, "stop it", "no context 'net_ns'")
    result, log = record("2.13.10\n", "--ust", "a:b")
    check(result, 0, "stop it", "^lttngtop: warning: h: this version of LTTng has no user-space context 'pid_ns', so these will be missing: PID "
          "namespaces of programs, which identify their containers\n")
    assert any(line.startswith("add-context --userspace") and "--type=vtid" in line for line in log), log
    result, log = record("2.13.10\n", "--context", "net_ns")
    check(result, 1, "", "Error: net_ns: .*host 'h': lttng failed there")
    assert log[-1] == "destroy s", log
    for version, refused in (("2.13.0\n", True), ("2.13.9-rc1\n", True), ("2.13.10\n", True), ("", True),
                             ("2.13.11\n", False), ("2.13.18\n", False), ("2.14.0\n", False)):
        result, log = record(version, "--context", "prio")
        assert any("--type=prio" in line for line in log) != refused, f"{version}: {log}"
        assert not log if refused else log[-1] == "start s", f"{version}: {log}"
        if refused and version:
            check(result, 1, "", f"context prio: lttng-modules {version.strip()} crashes the kernel with it: "
                  "update to 2.13.11 or later\n.*host 'h': lttng failed there")
    result, log = record("2.13.9\n", "--context", "prio", "--unsafe")
    check(result, 0, "stop it", "context prio: lttng-modules 2.13.9 crashes the kernel with it")
    assert any("--type=prio" in line for line in log), log
    result, log = record("2.13.18\n", "--kprobe", "a=no_such_symbol_of_any_kernel")
    if os.access("/proc/kallsyms", os.R_OK):
        check(result, 1, "", "this kernel has no symbol no_such_symbol_of_any_kernel")
        assert log[-1] == "destroy s", log
    result, log = record("2.13.18\n", "--perf", "L1-dcache-loads")
    check(result, 1, "", "this machine does not list counter L1-dcache-loads")
    assert not log, log


if __name__ == "__main__":
    begin()
    cases.run(globals())
