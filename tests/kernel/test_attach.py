#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`attach -- COMMAND` on a machine with a kernel tracer,
against strace in the same guest; and what is left afterwards."""
import collections
import os
import re
import shutil
import signal
import subprocess

import guest

# Where strace prints the program differently: why, and how often over all runs.
ALLOWED = {
    "clone: strace names its arguments": 1,
    "clone3: strace shows what it left in the structure": 1,
    "rt_sigreturn: its return is not recorded": 1,
    "SIGCHLD: a signal that is ignored only comes to who is traced by ptrace": 1,
}
# Differences that may or may not occur, and at most how often: a thread that has already ended is not waited for.
CHANCE = {"text: its page was not in memory": 20, "futex: who comes first": 2,
          "a name that this strace does not know": 4}

TRIES = 3  # a busy machine loses events, and reports it
LINE = re.compile(r"^(\d+) +(.*)$")


def load(g):
    g.push(os.path.join(guest.HERE, "attach_load.c"), "/tmp")
    g.sh("gcc -w -D_GNU_SOURCE -o /usr/local/bin/attach_load /tmp/attach_load.c -lpthread")


def has_strace(g):
    """Installs strace of this machine with its libraries; returns why that is impossible."""
    if not shutil.which("strace"):
        return "strace is not installed"
    if g.run("strace -V")[0]:
        libraries = re.findall(r"=> (/\S+/libunwind\S+)", subprocess.run(["ldd", shutil.which("strace")], stdout=subprocess.PIPE,
                                                                         text=True, check=True).stdout)
        for path in (shutil.which("strace"), *libraries):
            g.push(os.path.realpath(path), f"/usr/local/{'bin' if path.endswith('strace') else 'lib'}/{os.path.basename(path)}")
        g.sh("ldconfig")
    return None if g.run("strace -V")[0] == 0 else "strace of this machine does not run in the guest"


def check_gone(g):
    """No session, process or directory is left."""
    def left():
        return g.run("pgrep -a 'lttng-relayd|lttngtop'; ls -d /run/lttngtop; lttng --no-sessiond list | grep local-")[1]
    guest.wait_until(lambda: not left(), "end of all that was started")


# ---- the contents of lines ----

def lines_of(text):
    """pid → its lines in order, with interrupted ones joined."""
    found, cut = collections.OrderedDict(), {}
    for line in text.splitlines():
        match = LINE.match(line)
        assert match, f"not a line of a thread: {line!r}"
        pid, what = int(match[1]), match[2]
        resumed = re.match(r"<\.\.\. (\w+) resumed>(.*)$", what)
        if what.startswith("+++ ") and " of " in what:
            continue
        if what.endswith(" <unfinished ...>"):
            cut[pid] = what.removesuffix("<unfinished ...>")
            continue
        if resumed:
            assert cut.get(pid, "").startswith(resumed[1] + "("), f"{line!r} resumes {cut.get(pid)!r}"
            what = cut.pop(pid).rstrip() + " " + resumed[2].lstrip()
        found.setdefault(pid, []).append(what)
    return found


def split(text):
    """Arguments, split at commas outside brackets and strings."""
    parts, depth, quoted, i = [""], 0, False, 0
    while i < len(text):
        c = text[i]
        if c == "\\" and quoted:
            parts[-1] += text[i:i + 2]
            i += 2
            continue
        quoted ^= c == '"'
        depth += not quoted and (c in "[{(") - (c in ")}]")
        if c == "," and not quoted and not depth:
            parts.append("")
        else:
            parts[-1] += c
        i += 1
    return [part.strip() for part in parts] if text.strip() else []


def call_of(line, pids):
    """Name, arguments, result; None if the line is not a call."""
    line = re.sub(r" \[(blocked|ready|network|cpu|preempted|disk|timer)[^\]]*\]$", "", line)
    match = re.match(r"^(\w+)\((.*)\) += (\?|-?\w+)", line)
    if not match:
        return None

    def plain(text):
        if re.fullmatch(r"-?\d+|0x[0-9a-f]+", text):
            value = int(text, 0) if text.startswith("0x") or not text.startswith("0") else int(text, 8)
            if value in pids:
                return f"thread {pids.index(value)}"
            return "pointer" if value > 0xffffffff else str(value)
        return text
    return match[1], [plain(part) for part in split(match[2])], plain(match[3])


def event_of(line):
    """The same for a signal or an exit."""
    match = re.match(r"^--- (\w+) \{si_signo=\w+, si_code=(\w+)", line) or re.match(r"^\+\+\+ (.*) \+\+\+$", line)
    assert match, line
    return match.groups()


# ---- comparison ----

class Compare:
    def __init__(self):
        self.seen = collections.Counter()
        self.wrong = []

    def allow(self, cause):
        assert cause in ALLOWED or cause in CHANCE, cause
        self.seen[cause] += 1

    def argument(self, ours, strace):
        if ours == strace or ours == "pointer" and not re.fullmatch(r"-?\d+", strace):
            return True
        if ours == '""' and strace.startswith('"'):
            self.allow("text: its page was not in memory")
            return True
        unknown = re.fullmatch(r"0x[0-9a-f]+ /\* (\w+_)\?\?\? \*/", strace)
        if unknown and ours.startswith(unknown[1]):
            self.allow("a name that this strace does not know")
            return True
        return False

    def call(self, ours, strace, text):
        name, arguments, result = ours
        if name == strace[0] == "rt_sigreturn":
            self.allow("rt_sigreturn: its return is not recorded")
            return
        if name != strace[0] or result != strace[2]:
            self.wrong.append(text)
        elif name == "clone":
            self.allow("clone: strace names its arguments")
            flags = re.search(r"flags=([A-Z_|]+)", ", ".join(strace[1]))
            if not flags or set(flags[1].split("|")) != set(arguments[1].split("|")):
                self.wrong.append(text)
        elif name == "clone3":
            self.allow("clone3: strace shows what it left in the structure")
        elif len(arguments) != len(strace[1]) or not all(map(self.argument, arguments, strace[1])):
            self.wrong.append(text)

    def thread(self, ours, strace, pids):
        def without(lines, whose):
            kept = []
            for line in lines:
                if line.startswith("--- SIGCHLD") and whose == "strace":
                    self.allow("SIGCHLD: a signal that is ignored only comes to who is traced by ptrace")
                elif line.startswith("futex("):
                    self.allow("futex: who comes first")
                else:
                    kept.append(line)
            return kept
        ours, strace = without(ours, "attach"), without(strace, "strace")
        for mine, theirs in zip(ours, strace):
            text = f"{mine}\n     strace: {theirs}"
            first, second = call_of(mine, pids[0]), call_of(theirs, pids[1])
            if first and second:
                self.call(first, second, text)
            elif first or second or event_of(mine) != event_of(theirs):
                self.wrong.append(text)
                break  # one is missing: those that follow are shifted
        if len(ours) != len(strace) and not self.wrong:
            self.wrong.append(f"{len(ours)} lines, strace has {len(strace)}: {ours[-1]} / {strace[-1]}")

    def texts(self, ours, strace):
        ours, strace = lines_of(ours), lines_of(strace)
        if len(ours) != len(strace):
            self.wrong.append(f"{len(ours)} threads, strace has {len(strace)}")
        pids = list(ours), list(strace)
        for mine, theirs in zip(*pids):
            self.thread(ours[mine], strace[theirs], pids)
        return self


def both(g, what, status):
    """The output of attach and that of strace; both exit with this status."""
    texts = []
    for program in ("lttngtop attach", "strace"):
        for _ in range(TRIES):
            found, out, err = g.run(f"{program} -f -o /tmp/text -- attach_load {what}; exit $?")  # strace ends as COMMAND does
            assert found == status, f"{program}: {found} {out} {err}"
            if "incomplete" not in err:
                break
        else:
            raise AssertionError(f"{program}: {err}")
        texts.append(g.sh("cat /tmp/text"))
    return texts


def test_like_strace(g):
    """Calls, signals, a handled and a fatal fault, a thread, a child, the status."""
    missing = has_strace(g)
    if missing:
        return missing
    load(g)
    total = Compare()
    for what, status in (("run", 42), ("segv", 128 + signal.SIGSEGV), ("term", 128 + signal.SIGTERM)):
        found = Compare().texts(*both(g, what, status))
        assert not found.wrong, f"{what}: {len(found.wrong)} differ: " + "\n  ".join(["", *found.wrong[:10]])
        total.seen += found.seen
    for cause, times in ALLOWED.items():
        assert total.seen[cause] == times, f"{cause}: {total.seen[cause]} times, not {times}"
    for cause, most in CHANCE.items():
        assert total.seen[cause] <= most, f"{cause}: {total.seen[cause]} times"
    check_gone(g)
    return None


def test_streams(g):
    """COMMAND keeps its input and output; the text goes to standard
    error while it runs, with children only if -f is given."""
    status, out, err = g.run("echo in | lttngtop attach -- sh -c 'cat; (exit 3); exit 7'")
    assert (status, out) == (7, "in\n"), (status, out, err)
    assert re.search(r"^execve\(\"/usr/bin/sh\", 0x\w+, 0x\w+\) = 0", err, re.M), err[:300]
    text = re.sub(r"^lttngtop: warning: waiting for the session daemon .*\n", "", err, flags=re.M)  # on a busy machine
    assert text.rstrip().endswith("+++ exited with 7 +++") and "exited with 3" not in text, err[-300:]
    status, out, err = g.run("lttngtop attach -f -c -o /tmp/sum -- sh -c '/bin/true; /bin/true'")
    assert (status, out) == (0, ""), (status, out, err)
    assert re.search(r"^.* 3 +\d* *execve$", g.sh("cat /tmp/sum"), re.M), g.sh("cat /tmp/sum")
    with g.start("lttngtop attach -- sh -c 'cat /etc/passwd >/dev/null; read line; exit 5'", terminal=False,
                 stderr=subprocess.PIPE) as p:
        for line in p.stderr:
            if "wait4(" in line:  # the text appears while the command still waits for its input
                break
        p.stdin.write("\n")
        p.stdin.flush()
        assert p.wait(guest.PATIENCE) == 5
    check_gone(g)


def test_interrupt(g):
    """^C goes to COMMAND, which may handle it as it likes; kill -9 of lttngtop ends everything."""
    for command, status in (("sleep 1000", 130), ("sh -c 'trap \"exit 9\" INT; echo ready >&2; while :; do sleep 0.1; done'", 9)):
        g.sh("rm -f /tmp/text")
        with g.terminal(f"lttngtop attach -o /tmp/text -- {command}", ready=None) as t:
            guest.wait_until(lambda: g.run("grep -q 'nanosleep\\|wait4' /tmp/text")[0] == 0, "the command's call")
            t.keys("C-c")
            assert t.status() == status, f"{command}: {t.status()}"
        check_gone(g)
    g.sh("rm -f /tmp/text")
    with g.start("lttngtop attach -o /tmp/text -- sleep 1000", terminal=False) as p:
        guest.wait_until(lambda: g.run("grep -q nanosleep /tmp/text")[0] == 0, "the command's call")
        g.sh("kill -9 $(pgrep -o lttngtop)")
        p.wait(guest.PATIENCE)
    guest.wait_until(lambda: g.run("pgrep -x sleep")[0], "end of the command")
    check_gone(g)


if __name__ == "__main__":
    guest.main(globals())
