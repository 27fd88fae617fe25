#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`record --host`: what is said and done before anything is recorded, with an ssh and an lttng that only play them.

A host is a directory: "name" and "boot_id" say which machine it is, "log" has what its lttng was asked, and "session"
exists while it has a session.
"""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import cases

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import sandbox  # noqa: E402

TOP = os.environ["LTTNGTOP"]
EVENTS = "lttng_ust_trace*:*"
PATIENCE = 60

SSH = """#!/bin/sh
export HERE={base}/$1
[ -d $HERE ] || exit 255
PATH={base}/remote:$PATH
sh -c "$2"
"""

LTTNG = """#!/bin/sh
echo "$@" >>$HERE/log
[ "$1" = --no-sessiond ] && shift
case $1 in
create) [ "$2" = --list-options ] || touch $HERE/session;;
list) [ -e $HERE/session ];;
destroy) rm $HERE/session;;
esac
"""

CAT = """#!/bin/sh
[ "$1" = /proc/sys/kernel/random/boot_id ] || exec /bin/cat "$@"
exec /bin/cat $HERE/boot_id
"""

UNAME = """#!/bin/sh
[ "$1" = -n ] || exec /bin/uname "$@"
exec /bin/cat $HERE/name
"""


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def set_up(**machines):
    """Hosts, each NAME="HOSTNAME BOOT_ID"; the environment in which record finds them."""
    shutil.rmtree("run", ignore_errors=True)
    base = os.path.abspath("run")
    write(f"{base}/local/ssh", SSH.format(base=base), 0o755)
    for name, text in (("lttng", LTTNG), ("cat", CAT), ("uname", UNAME)):
        write(f"{base}/remote/{name}", text, 0o755)
    for host, machine in machines.items():
        name, boot_id = machine.split()
        write(f"{base}/{host}/name", name + "\n")
        write(f"{base}/{host}/boot_id", boot_id + "\n")
    return {**os.environ, "PATH": f"{base}/local:{os.environ['PATH']}", "HOME": base, "LTTNG_HOME": base}


def record(env, *argv):
    done = subprocess.run([TOP, "record", *argv], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout, done.stderr


def await_line(process, wanted):
    """Reads its stderr up to a line that is as wanted; returns that and what came before."""
    text = ""
    while not re.search(wanted, text, re.M):
        line = process.stderr.readline()
        assert line, f"not said: {wanted}: {text}"
        text += line
    return text


def asked(host):
    """What the host's lttng was asked, without questions about its options and sessions."""
    path = f"run/{host}/log"
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [line for line in file.read().splitlines() if not re.match("create --list-options|(--no-sessiond )?list", line)]


def check(result, status, out, err):
    """out, err: patterns of all that is said."""
    assert result[0] == status and re.fullmatch(out, result[1], re.S) and re.fullmatch(err, result[2], re.S), result


LIVE = ["--ust", EVENTS, "--session", "s", "--live", "net://127.0.0.1"]


def test_same_hostname():
    """Hosts that stream must have different hostnames: a relayd stores their data in a directory of that name."""
    env = set_up(a="web 1", b="db 2", c="web 3")
    hosts = ["--host", "a", "--host", "b", "--host", "c"]
    check(record(env, *LIVE, *hosts), 1, "",
          "lttngtop: hosts 'a' and 'c' have the same hostname, 'web', so a relayd would mix their recordings: rename one, or record each "
          "with a command of its own and another --session\n")
    assert asked("a") == asked("b") == asked("c") == [], "a session was created"
    # each into a directory of its own
    check(record(env, "--ust", EVENTS, "--session", "s", "--output", "o", *hosts), 0, "session 's' records on other hosts.*", "")
    assert asked("a")[-1] == asked("c")[-1] == "start s", asked("a")
    # theirs, which have the session's name, are not touched
    check(record(env, *LIVE, *hosts), 1, "", ".* have the same hostname.*")
    assert asked("a")[-1] == "start s" and os.path.exists("run/a/session"), asked("a")
    # a hostname is another machine's text
    env = set_up(a="w\033[2J 1", b="w\033[2J 2")
    check(record(env, *LIVE, "--host", "a", "--host", "b"), 1, "", r".*same hostname, 'w\\x1b\[2J', .*")


def test_same_machine():
    """One machine under two names is recorded once, wherever its data goes; containers of one machine are hosts."""
    env = set_up(a="web 1", b="db 2", **{"b.example": "db 2"}, c="box 1")
    hosts = ["--host", "a", "--host", "b", "--host", "root@b.example"]
    os.rename("run/b.example", "run/root@b.example")
    for how in (["--live", "net://127.0.0.1"], ["--output", "o"], ["--snapshot"]):
        check(record(env, "--ust", EVENTS, "--session", "s", *how, *hosts), 1, "",
              "lttngtop: hosts 'b' and 'root@b.example' are the same machine, 'db': give only one of them\n")
        assert asked("a") == asked("b") == asked("root@b.example") == [], "a session was created"
    check(record(env, "--ust", EVENTS, "--session", "s", "--output", "o", "--host", "a", "--host", "c"), 0, ".*", "")


def test_unknown_machine():
    """What a host does not say is not compared; a login shell may say something, too. One that fails is left out."""
    env = set_up(a="web 1", b="web 2")
    disk = ["--ust", EVENTS, "--session", "s", "--output", "o", "--host", "a", "--host", "b", "--host", "down"]
    for host in ("a", "b"):
        os.remove(f"run/{host}/boot_id")
    check(record(env, *disk), 3, ".*", "lttngtop: warning: host 'down': ssh cannot reach it: try 'ssh down true'\n")
    write("run/local/ssh", SSH.format(base=os.path.abspath("run")).replace("PATH=", "echo 'Welcome to lttngtop'; PATH="), 0o755)
    for host in ("a", "b"):
        os.remove(f"run/{host}/session")
        write(f"run/{host}/boot_id", "1\n")
    check(record(env, *disk), 1, "", ".* are the same machine, 'web': .*")


def test_unknown_hostnames():
    """Hosts that do not say their names may have different ones."""
    env = set_up(a="web 1", b="db 2")
    write("run/remote/uname", "#!/bin/sh\n", 0o755)
    check(record(env, *LIVE, "--host", "a", "--host", "b"), 0, ".*", "lttngtop: no relayd accepts viewers .*")
    assert asked("a")[-1] == asked("b")[-1] == "start s", asked("a")
    for host in ("a", "b"):
        os.remove(f"run/{host}/session")
    await_silence(os.path.abspath("run"))


def test_setup_that_fails():
    """A session that was there before stays; one that may have been created when the connection was lost is removed."""
    env = set_up(a="web 1", b="db 2", c="box 3")
    base = os.path.abspath("run")
    write("run/b/session", "")
    write("run/remote/lttng", LTTNG.replace("touch", "! [ -e $HERE/session ] && touch"), 0o755)
    write("run/local/ssh", SSH.format(base=base) + 'case $1$2 in c*"lttng create"*) exit 255;; esac\n', 0o755)
    status, _, err = record(env, "--ust", EVENTS, "--session", "s", "--output", "o", "--host", "a", "--host", "b", "--host", "c")
    assert status == 3 and asked("a")[-1] == "start s", (status, err)
    assert os.path.exists("run/b/session") and not any("destroy" in line for line in asked("b")), asked("b")
    assert asked("c")[-1].startswith("destroy") and not os.path.exists("run/c/session"), asked("c")


def test_hosts_that_hang():
    """A host that does not answer is named, in whatever step; those that answer are not, even if their work takes long."""
    env = set_up(a="web 1", b="db 2")
    base = os.path.abspath("run")
    write(f"{base}/remote/lttng", LTTNG + f"[ $1 != snapshot ] || until [ -e {base}/go ]; do sleep 0.05; done\n", 0o755)
    hang = f"""[ $1 != b ] || case $2 in *"$HANG"*) until [ -e {base}/go ]; do sleep 0.05; done;; esac\n"""
    write(f"{base}/local/ssh", SSH.format(base=base).replace("sh -c", hang + "sh -c"), 0o755)
    disk = ["--ust", EVENTS, "--session", "s", "--output", "o", "--host", "a", "--host", "b"]
    for step, words in (("uname -n", disk), ("lttng snapshot", ["snapshot", "s", "--host", "a", "--host", "b"]),
                        ("list s", ["status", "s", "--host", "a", "--host", "b"])):
        with subprocess.Popen([TOP, "record", *words], env={**env, "HANG": step}, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            try:
                said = await_line(process, r"^lttngtop: warning: still waiting for host 'b'; \^C stops waiting\n")
                assert "'a'" not in said, said
            finally:
                write(f"{base}/go", "")
            said = process.stderr.read()
            assert process.wait() == 0 and "still waiting" not in said, f"{step}: {process.returncode}, {said}"
        os.remove(f"{base}/go")


def await_file(path, process):
    """Waits for what a host writes when it hangs."""
    end = time.monotonic() + PATIENCE
    while not os.path.exists(path):
        assert time.monotonic() < end and process.poll() is None, f"no {path}: {process.poll()}"
        time.sleep(0.02)


def await_end(case):
    """Waits until no host has a session: one whose connection was lost during the setup removes it itself."""
    end = time.monotonic() + PATIENCE
    while glob.glob("run/*/session"):
        assert time.monotonic() < end, f"{case}: a session is left"
        time.sleep(0.02)


def await_silence(base):
    """Waits for the hosts' background shells, which end a few seconds after their session."""
    end = time.monotonic() + PATIENCE
    while left := sandbox.processes_with(f"HERE={base}/"):
        assert time.monotonic() < end, f"left: {left}"
        time.sleep(0.05)


def interrupt(env, step, *words):
    """SIGINT while host b hangs in a step; returns what is said. The host then answers."""
    env = {**env, "HANG": step}
    with subprocess.Popen([TOP, "record", *words], env=env, stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        await_file("run/b/hangs", process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == -signal.SIGINT, f"{step}: {process.returncode}: {err}"
    os.remove("run/b/hangs")
    return out, err


def test_interrupts():
    """What becomes of the session, in each step."""
    env = set_up(a="web 1", b="db 2")
    base = os.path.abspath("run")
    hang = f"""[ $1 != b ] || case $2 in *"$HANG"*) touch {base}/b/hangs; [ -e {base}/stays ] || exec sleep 600;; esac\n"""
    write(f"{base}/local/ssh", SSH.format(base=base).replace("sh -c", hang + "sh -c"), 0o755)
    there = ["--host", "a", "--host", "b"]
    new = ["--ust", EVENTS, "--session", "s", *there]
    left = "nothing is left of session 's' on the hosts that answered"
    for how in (["--live", "net://127.0.0.1"], ["--output", "o"], ["--snapshot"]):
        for step in ("uname -n", "lttng create", "lttng start"):
            out, err = interrupt(env, step, *new, *how)  # the other one may complain that nobody listens any more
            assert out == "" and re.search(f"^lttngtop: host '[ab]': interrupted; {left}\n$", err, re.M), (step, how, err)
            await_end((step, how))
    for how in (["--output", "o"], ["--snapshot"]):
        out, err = interrupt(env, ">> ", *new, *how)
        assert out == "" and err.endswith("lttngtop: interrupted; session 's' and what it had recorded were removed from the "
                                          "hosts that answered\n"), err
        await_end(how)
    check(record({**env, "HANG": "nothing"}, *new, "--output", "o"), 0, ".*", "")
    out, err = interrupt(env, "lttng stop", "stop", *there, "--output", "o", "s")
    # the other one may have stopped before the signal, or not
    assert re.fullmatch("end it (on the other hosts, )?later: lttngtop record stop (--host a )?--host b --output "
                        f"{os.getcwd()}/o s\n", out), (out, err)
    await_silence(base)
    # the one that had stopped may have been asked for the names of its processes, or for its recording
    assert re.search("^lttngtop: (host 'a': interrupted; )?host 'b': interrupted", err, re.M), err


def test_second_interrupt():
    """A host from which the session cannot be removed is named, with the way to end it there."""
    env = set_up(a="web 1", b="db 2")
    base = os.path.abspath("run")
    hang = f"""[ $1 != b ] || case $2 in *'lttng start'*) touch {base}/b/hangs; exec sleep 600;;
        *'lttng destroy'*'rm -rf'*) touch {base}/b/hangs.again; exec sleep 600;; esac\n"""
    write(f"{base}/local/ssh", SSH.format(base=base).replace("sh -c", hang + "sh -c"), 0o755)
    with subprocess.Popen([TOP, "record", "--ust", EVENTS, "--session", "s", "--output", "o", "--host", "a", "--host", "b"],
                          env=env, stdin=subprocess.DEVNULL, text=True, stderr=subprocess.PIPE) as process:
        for name in ("hangs", "hangs.again"):
            await_file(f"run/b/{name}", process)
            process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=PATIENCE)[1]
    assert err == ("lttngtop: warning: host 'b': session 's' may be left there: end it with 'lttngtop record stop --host b s'\n"
                   "lttngtop: host 'b': interrupted; nothing is left of session 's' on the hosts that answered\n"), err


def test_each_host_has_its_own_reason():
    """All are started before the first is waited for."""
    env = set_up(a="web 1", b="db 2", c="app 3")
    hosts = ["--host", "a", "--host", "b", "--host", "c"]
    base = os.path.abspath("run")

    # nothing can be run here
    for name in "empty", "no-tar":
        os.makedirs(f"{base}/{name}")
    reasons = [f"host '{host}': cannot run 'ssh': No such file or directory" for host in "abc"]
    check(record({**env, "PATH": f"{base}/empty"}, "refresh", *hosts, "s"), 1, "", f"lttngtop: (?:[^;]*: )?{'; '.join(reasons)}\n")
    check(record({**env, "PATH": f"{base}/empty"}, "--ust", EVENTS, "--output", "o", *hosts), 1, "",
          "".join(f"lttngtop: warning: {reason}\n" for reason in reasons) + "lttngtop: no host could be recorded\n")

    # nothing can be received
    write("run/file", "")
    for host in "abc":
        write(f"run/{host}/session", "")
    kept = [f"fetching '[^;]*', which was kept on the host: host '{host}': cannot create directory '{base}/file/{host}': Not a directory"
            for host in "abc"]
    check(record(env, "stop", *hosts, "--output", f"{base}/file", "s"), 1, "session 's' stopped\n", f".*{'; '.join(kept)}.*")
    for name in "sh", "cat", "rm", "touch", "echo", "ssh":
        os.symlink(shutil.which(name, path=env["PATH"]), f"{base}/no-tar/{name}")
    write("run/a/session", "")
    check(record({**env, "PATH": f"{base}/no-tar"}, "stop", "--host", "a", "--output", "o", "s"), 1, "session 's' stopped\n",
          ".*host 'a': cannot run 'tar': No such file or directory\n")

    # some cannot be reached: the others' sessions are shown, and all that failed are named
    write("run/remote/lttng", "#!/bin/sh\necho a list\n", 0o755)
    for host in "ac":
        shutil.rmtree(f"run/{host}")
    check(record(env, "status", *hosts), 1, "b:\na list\n",
          "lttngtop: host 'a': ssh cannot reach it: [^;]*; host 'c': ssh cannot reach it: .*")


def test_output_that_cannot_be_written():
    """Refused before a host is asked for anything."""
    env = set_up(a="web 1")
    write("run/file", "")
    for output, reason in (("/proc/o", ".*"), (f"{os.getcwd()}/run/file/o", "Not a directory")):
        for how in ([], ["--snapshot"]):
            check(record(env, "--ust", EVENTS, "--output", output, *how, "--host", "a"), 1, "",
                  f"lttngtop: cannot create directory '{output}': {reason}\n")
            assert asked("a") == [], asked("a")


def test_recording_that_was_not_fetched():
    """A recording of the same name that a host has kept stays as it is, also if a signal comes during the setup."""
    env = set_up(a="web 1", b="db 2")
    base = os.path.abspath("run")
    write(f"{base}/.cache/lttngtop/s/kept", "")
    new = ["--ust", EVENTS, "--session", "s", "--output", "o"]
    for how in ([], ["--snapshot"]):
        check(record(env, *new, *how, "--host", "a"), 1, "",
              f"a: directory '{base}/.cache/lttngtop/s' is not empty: fetch the recording in it with 'lttngtop record stop', or remove it\n"
              "lttngtop: warning: host 'a': lttng failed there: .*\nlttngtop: no host could be recorded\n")
    hang = f"""[ $1 != b ] || case $2 in *"$HANG"*) touch {base}/b/hangs; exec sleep 600;; esac\n"""
    write(f"{base}/local/ssh", SSH.format(base=base).replace("sh -c", hang + "sh -c"), 0o755)
    interrupt(env, "lttng create", *new, "--host", "a", "--host", "b")
    assert asked("a") == asked("b") == [] and os.listdir(f"{base}/.cache/lttngtop/s") == ["kept"], asked("a")
    check(record({**env, "HANG": "nothing"}, "stop", "--host", "a", "--output", "o", "s"), 0, ".*fetched into .*", "")
    assert os.path.exists("o/a/kept")


def test_snapshot_that_fails():
    """The session and the hosts where it fails are named."""
    env = set_up(a="web 1", b="db 2")
    write("run/remote/lttng", LTTNG + '[ $1 != snapshot ] || { echo "Error: no" >&2; [ -e $HERE/session ]; }\n', 0o755)
    write("run/a/session", "")
    check(record(env, "snapshot", "--host", "a", "--host", "b", "s"), 1, "",
          "(a: Error: no\nb: Error: no|b: Error: no\na: Error: no)\n"
          "lttngtop: taking a snapshot of session 's': host 'b': lttng failed there: see its messages above, .*")


if __name__ == "__main__":
    cases.run(globals())
