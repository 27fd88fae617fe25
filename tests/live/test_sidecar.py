#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `record` writes beside a recording: for this machine,
for others over ssh, and never at the recording's expense."""
import json
import os
import re
import shlex
import shutil
import socket
import subprocess

import cases
import sandbox
from sandbox import user

BUILD = os.environ["BUILD"]
EVENTS = "lttng_ust_trace*:*"
TOP = os.path.abspath("lttngtop")
APP = os.path.abspath("ust_app")
UID = sandbox.NOBODY if os.geteuid() == 0 else os.geteuid()
GID = sandbox.NOBODY if os.geteuid() == 0 else os.getegid()
LONG = ("sleep", "86399")

# A host is a directory with a session daemon and a name of its own.
SSH = """#!/bin/sh
export LTTNG_HOME={base}/$1 HOME={base}/$1 TMPDIR={base}/$1
exec unshare --uts sh -c 'hostname "$0"; exec setpriv --reuid={uid} --regid={uid} --clear-groups sh -c "$1"' "$1" "$2"
"""


def ok(name, good, why=""):
    if not good:
        raise AssertionError(f"{name}: {why}")


def sidecar(directory):
    with open(os.path.join(directory, "lttngtop.json"), encoding="utf-8") as file:
        return json.load(file)


def lines(found):
    return [p["cmdline"] for p in found["processes"] if "cmdline" in p]


def emitters(source):
    """The processes whose events were recorded; other output is ignored."""
    run = subprocess.run([TOP, "report", "emitters", "--json", source], check=True, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    ok("no warning", not run.stderr, run.stderr)
    return {row["pid"] for row in json.loads(run.stdout)["rows"]}


def test_command():
    """A command's own command line is there, though it has ended; the report on its recording shows it."""
    with user("command", sessiond=True) as u:
        result = u.run(TOP, "record", "--ust", EVENTS, "--output", "o", "--", APP, "3000", "5")
        ok("the command's status", result[0] == 5, result)
        found = sidecar(f"{u.home}/o")
        line = f"{APP} 3000 5"
        ok("this machine", (found["schema"], found["host"], found["kernel"]) == (1, os.uname().nodename, os.uname().release), found)
        ok("how it was recorded", found["record"]["command"] == line and found["record"]["set"] == "none", found["record"])
        ok("with which options", found["record"]["options"] == ["record", "--ust", EVENTS, "--output", "o"], found["record"])
        ok("what it cost", found["record"]["cost"]["consumer_before_ns"] >= 1 and
           os.path.getsize(f"{u.home}/o/lttngtop.json") < found["record"]["cost"]["bytes"] < 10 ** 8 and
           found["record"]["cost"]["events"] > 3000, found["record"])
        ok("the command's line", lines(found).count(line) == 1, lines(found))
        ok("its user", [p["uid"] for p in found["processes"] if p.get("cmdline") == line] == [UID], found)
        ok("its group", [p["gid"] for p in found["processes"] if p.get("cmdline") == line] == [GID], found)
        ok("every process of mine is there", set(p["pid"] for p in found["processes"]) >= {os.getpid(), 1}, found)
        ok("it is the process that was recorded", {p["pid"] for p in found["processes"] if p.get("cmdline") == line} ==
           emitters(f"{u.home}/o"), emitters(f"{u.home}/o"))
        ok("babeltrace2 reads the recording", subprocess.run(["babeltrace2", f"{u.home}/o"], stdout=subprocess.DEVNULL,
                                                             check=False).returncode == 0)


def test_start_and_stop():
    """Processes that existed at the start and later ones are known in the end; so is data that others wrote there."""
    with user("both", sessiond=True) as u:
        gone = u.start(*LONG, "0.25")
        ok("it starts", u.run(TOP, "record", "--ust", EVENTS, "--output", "o", "--session", "s")[0] == 0)
        ok("nothing but the side-car", "lttngtop.json" in os.listdir(f"{u.home}/o"), os.listdir(f"{u.home}/o"))
        first = sidecar(f"{u.home}/o")
        ok("who was there", " ".join(LONG) + " 0.25" in lines(first), lines(first))
        with open(f"{u.home}/o/lttngtop.json", "w", encoding="utf-8") as file:
            json.dump({**first, "note": "by hand"}, file)
        gone.terminate()
        gone.wait()
        u.start(*LONG, "0.75")
        sandbox.wait_until(lambda: u.run("pgrep", "-f", "86399 0.75")[0] == 0, "the second process")
        u.run(APP, "10")
        status, _, err = u.run(TOP, "record", "stop", "s")
        ok("it stops", (status, err) == (0, ""), err)
        last = sidecar(f"{u.home}/o")
        ok("who was there, and who came", {" ".join(LONG) + " 0.25", " ".join(LONG) + " 0.75"} <= set(lines(last)), lines(last))
        mine = [p for p in last["processes"] if p["pid"] == os.getpid()]
        ok("nobody twice", len(mine) == 1, mine)
        ok("what is not known is kept", last["note"] == "by hand", last.get("note"))
        # the final cost is added to what was known of it
        before, after = first["record"].pop("cost"), last["record"].pop("cost")
        ok("how it was recorded is kept", last["record"] == first["record"], last["record"])
        ok("and what it has cost added", before.items() <= after.items() and after["bytes"] > 0, (before, after))


def worked_on(directory):
    """The functions of the work items in a recording."""
    text = subprocess.run(["babeltrace2", directory], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    return {int(a, 16) for a in re.findall(r" workqueue_execute_start: .* function = 0x(\w+)", text)}


def kernel_symbols(path):
    """Of the kernel that was recorded: address → (type, name, module in brackets or an empty text)."""
    with open(path, encoding="ascii") as file:
        return {int(w[0], 16): (w[1], w[2], w[3] if len(w) > 3 else "") for w in map(str.split, file)}


def test_work_functions():
    """The functions of recorded work items are named from the running kernel's list, where its addresses may be seen."""
    in_namespace = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /proc/kallsyms && exec "$@"']
    if os.geteuid() or subprocess.run([*in_namespace, "/dev/null", "true"], check=False, stderr=subprocess.DEVNULL).returncode:
        return "not root, or no mount namespaces"
    subprocess.run(["tar", "--zstd", "-xf", os.path.join(os.environ["SRCDIR"], "traces/workqueue.tar.zst")], check=True)
    subprocess.run(["chmod", "-R", "a+rX", "workqueue"], check=True)
    trace = os.path.abspath("workqueue/kmem/kernel")
    functions, known = worked_on(trace), kernel_symbols("workqueue/truth/symbols.txt")
    ok("some, and others", len(functions) > 10 and functions < known.keys() and any(known[a][2] for a in functions), functions)
    unnamed = max(functions)
    names = {f"{name} {module}".strip(): f"{address:#x}" for address, (_, name, module) in known.items()
             if address in functions and address != unnamed}

    def record(u, output, shown):
        with open("kallsyms", "w", encoding="ascii") as file:
            for address, (kind, name, module) in known.items():
                for at, word in ((address - 4, "before_"), (address, ""), (address, "alias_of_"), (address + 4, "behind_")):
                    if at != unnamed:
                        file.write(f"{at * shown:016x} {kind} {word}{name}" + (f"\t{module}\n" if module else "\n"))
            file.write("\nno address\n0\n" + "f" * 3000 + f" t long\n{unnamed:x} t\n")
            file.write(f"{unnamed * shown:x} t \033[1m\n")
        # the user's recording also contains a trace of that kernel
        done = subprocess.run([*in_namespace, os.path.abspath("kallsyms"), "setpriv", f"--reuid={UID}", f"--regid={GID}",
                               "--clear-groups", TOP, "record", "--ust", EVENTS, "--output", output, "--", "cp", "-r", trace,
                               output], cwd=u.home, env=u.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=sandbox.PATIENCE, check=False)
        ok("recorded", done.returncode == 0 and "warning" not in done.stderr, done)
        found = sidecar(f"{u.home}/{output}")
        ok("none was probed", found["symbols"] == {}, found["symbols"])
        return found["functions"]

    with user("functions", sessiond=True) as u:
        seen = record(u, "shown", True)
        ok("their names, and no other", seen == {**names, "\\x1b[1m": f"{unnamed:#x}"}, seen)
        ok("nothing where the kernel hides addresses", record(u, "hidden", False) == {})
    return None


def test_snapshot():
    """One side-car beside all snapshots of a session serves each of them."""
    with user("snapshot", sessiond=True) as u:
        result = u.run(TOP, "record", "--ust", EVENTS, "--snapshot", "--output", "o", "--", APP, "3000", "0")
        ok("a snapshot", result[0] == 0, result)
        path = re.search("view it: lttngtop (.*)", result[2])[1]
        ok("below", os.path.dirname(path) == f"{u.home}/o", path)
        ok("its line", f"{APP} 3000 0" in lines(sidecar(f"{u.home}/o")), lines(sidecar(f"{u.home}/o")))
        ok("it is read", emitters(path))


def test_cannot_write():
    """A warning; the recording is complete."""
    with user("cannot", sessiond=True) as u:
        ok("it starts", u.run(TOP, "record", "--ust", EVENTS, "--output", "o", "--session", "s")[0] == 0)
        os.unlink(f"{u.home}/o/lttngtop.json")
        os.makedirs(f"{u.home}/o/lttngtop.json/x")
        u.run(APP, "10")
        status, out, err = u.run(TOP, "record", "stop", "s")
        ok("it stops", status == 0 and "session 's' stopped" in out, out)
        ok("one warning", re.match("lttngtop: warning: .*will be missing: cannot write '.*lttngtop.json': .*\n$", err), err)


def elsewhere(*argv):
    """As on a machine other than the traced one: in another pid namespace its own /proc is not read."""
    return ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--pid", "--fork", "--kill-child", *argv]


def has_elsewhere():
    return subprocess.run(elsewhere("true"), check=False, stderr=subprocess.DEVNULL).returncode == 0


def known(live_port, host, session, wanted):
    """The row of the machine, attached late, once wanted(row) holds."""
    url = f"net://127.0.0.1:{live_port}/host/{host}/{session}"
    rows = []

    def read():
        run = subprocess.run(elsewhere(TOP, "report", "hosts", "--json", "--duration", "3s", url), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, check=False)
        rows[:] = json.loads(run.stdout)["rows"] if run.stdout else []
        return rows and wanted(rows[0])
    sandbox.wait_until(read, "the side-car")
    return rows[0]


def live(t, *options):
    def takes_sessions():
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", t.control)) == 0
    sandbox.wait_until(takes_sessions, "relayd")
    return t.user.run(TOP, "record", "--ust", "lttng_ust_tracelog:*", "--live", f"net://127.0.0.1:{t.control}:{t.data}",
                      "--live-port", str(t.live), *options)


def test_live():
    """A relayd takes no side-car: it arrives as events, repeated for late viewers, and nothing is left elsewhere."""
    if not has_elsewhere():
        return "no pid namespaces"
    with sandbox.Tracers("live") as t:
        t.user.start(APP, "36000", "0", "slow")
        result = live(t, "--session", "s", "--statedump-period", "1s")
        ok("it starts", result[0] == 0 and "warning" not in result[2], result)
        host = known(t.live, os.uname().nodename, "s", lambda host: host["kernel"])
        ok("the machine", host["kernel"] == os.uname().release, host)
        ok("it stops", t.user.run(TOP, "record", "stop", "s")[0] == 0)
        found = subprocess.run(["find", t.user.home, "-name", "lttngtop.*"], stdout=subprocess.PIPE, text=True, check=True).stdout
        ok("nothing is written", not found, found)
    return None


def test_refresh():
    """Nothing is repeated by itself: a late viewer gets everything from `record refresh`."""
    if not has_elsewhere():
        return "no pid namespaces"
    with sandbox.Tracers("refresh") as t:
        t.user.start(APP, "36000", "0", "slow")
        ok("it starts", live(t, "--session", "s", "--statedump-period", "0")[0] == 0)
        url = f"net://127.0.0.1:{t.live}/host/{os.uname().nodename}/s"

        def attach(refresh):
            with subprocess.Popen(elsewhere(TOP, "report", "hosts", "--json", "--duration", "4s", url), stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True) as reader:
                while refresh and reader.poll() is None:
                    status, _, err = t.user.run(TOP, "record", "refresh", "s")
                    ok("refresh", (status, err) == (0, ""), err)
                rows = json.loads(reader.stdout.read() or '{"rows": []}')["rows"]
            return rows[0]["kernel"] if rows else None
        sandbox.wait_until(lambda: attach(True) == os.uname().release, "the side-car")
        ok("it stops", t.user.run(TOP, "record", "stop", "s")[0] == 0)
    return None


def cannot_ssh():
    """Why the replacement for ssh is missing; the program that makes it is here, too."""
    if os.geteuid() or subprocess.run(["unshare", "--uts", "true"], check=False, stderr=subprocess.DEVNULL).returncode:
        return "not root, or no UTS namespaces"
    os.makedirs("bin", exist_ok=True)
    with open("bin/ssh", "w", encoding="ascii") as file:
        file.write(SSH.format(base=os.getcwd(), uid=UID))
    os.chmod("bin/ssh", 0o755)
    return None


def over_ssh(*argv):
    env = {**os.environ, "PATH": os.path.abspath("bin") + ":" + os.environ["PATH"]}
    return subprocess.run(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=sandbox.PATIENCE,
                          check=False)


def heard(output):
    """The messages in what a relayd stored, as babeltrace2 prints them."""
    text = subprocess.run(["babeltrace2", output], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          errors="replace", check=False).stdout  # command lines may contain any bytes
    return [line for line in text.splitlines() if 'msg = "lttngtop.list' in line]


def test_live_elsewhere():
    """Live over ssh: a shell there sends everything as events, new processes soon, until the session ends."""
    why = cannot_ssh() or (None if has_elsewhere() else "no pid namespaces")
    if why:
        return why
    with user("gamma") as gamma, user("relay") as relay:
        (control, data, port), output = relay.start_relayd()
        gamma.start(*LONG, "0.25")  # lttng starts a daemon where the host has its name
        run = over_ssh(TOP, "record", "--ust", "lttng_ust_tracelog:*", "--live", f"net://127.0.0.1:{control}:{data}",
                       "--live-port", str(port), "--host", "gamma", "--session", "s", "--statedump-period", "2s")
        ok("it starts", run.returncode == 0 and "warning" not in run.stderr, run.stderr)
        gamma.start(APP, "36000", "0", "slow")
        host = known(port, "gamma", "s", lambda host: host["kernel"])
        ok("the machine", host["kernel"] == os.uname().release, host)
        sandbox.wait_until(lambda: any("cmdline sleep 86399 0.25" in line for line in heard(output)), "who was there")
        gamma.start(*LONG, "0.75")
        sandbox.wait_until(lambda: any("cmdline sleep 86399 0.75" in line for line in heard(output)), "who came")
        ok("its users and CPUs", all(any(f"\\t{word} " in line for line in heard(output)) for word in
                                                  ("passwd", "group", "cpu")), heard(output)[:3])

        def speakers():
            return [line for line in sandbox.processes_with(f"HOME={gamma.home}\0") if "lttngtop.list" in line]
        ok("it continues", speakers())
        ok("it stops", over_ssh(TOP, "record", "stop", "--host", "gamma", "s").returncode == 0)
        sandbox.wait_until(lambda: not speakers(), "its end")
        ok("nothing is left there", not [n for n in os.listdir(gamma.home) if n.startswith("tmp.")], os.listdir(gamma.home))
    return None


def test_other_hosts():
    """Over ssh a shell looks, at the start and at the end; its findings come with the recording."""
    why = cannot_ssh()
    if why:
        return why
    fetched = os.path.abspath("fetched")
    with user("alpha") as alpha:  # lttng starts one where the host has its name
        alpha.start(*LONG, "0.5")
        run = over_ssh(TOP, "record", "--ust", EVENTS, "--host", "alpha", "--output", fetched, "--", "ssh", "alpha",
                       shlex.join([APP, "3000"]))
        ok("recorded", run.returncode == 0 and "warning" not in run.stderr, run.stderr)
        found = sidecar(f"{fetched}/alpha")
        ok("the other host", (found["host"], found["kernel"]) == ("alpha", os.uname().release), found)
        ok("its processes", " ".join(LONG) + " 0.5" in lines(found), lines(found))
        ok("its CPUs", len(found["cpus"]) == os.sysconf("SC_NPROCESSORS_CONF") and "core" in found["cpus"][0], found["cpus"])
        ok("the listing is gone", not [n for _, _, names in os.walk(fetched) for n in names if n == "lttngtop.list"])
        ok("and read without a warning", emitters(f"{fetched}/alpha"))
        ok("nothing is left there", not os.listdir(f"{alpha.home}/.cache/lttngtop"))
    return None


def main():
    sandbox.begin(ust=True)
    # Copies that the other user can reach.
    shutil.copy(os.environ["LTTNGTOP"], TOP)
    shutil.copy(f"{BUILD}/tests/live/ust_app", APP)
    cases.run(globals())


if __name__ == "__main__":
    main()
