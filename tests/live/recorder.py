# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of `record` share: users with an application to be traced, and counts of what was recorded."""
import collections
import json
import os
import re
import shutil
import signal
import subprocess

import sandbox

BUILD = os.environ["BUILD"]
EVENTS = "lttng_ust_trace*:*"
LEVEL = "lttng_ust_tracelog:LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO"
TOP = os.path.abspath("lttngtop")
APP = os.path.abspath("ust_app")


def expected(*counts):
    """The events ust_app emits when called with each of these counts."""
    events = collections.Counter()
    for n in counts:
        events += collections.Counter({"lttng_ust_tracef:event": n, LEVEL: n // 2})
    return dict(events)


def babeltrace_counts(path):
    """Messages about the machine that 'record --live' itself emits, with the same provider, do not count."""
    text = subprocess.run(["babeltrace2", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    return dict(collections.Counter(re.match(r"\[\S+\] \(\S+\) (?:\S+ )?(lttng_ust\S+): ", line).group(1)
                                    for line in text.splitlines() if 'msg = "lttngtop.json ' not in line))


def count(path):
    return sum(babeltrace_counts(path).values())


def report_counts(path):
    text = subprocess.run([TOP, "report", "events", "--json", path], check=True, stdout=subprocess.PIPE).stdout
    counts = collections.Counter()
    for row in json.loads(text)["rows"]:
        counts[row["name"]] += row["count"]
    return dict(counts)


def check_counts(path, *counts):
    """Both readers find in a recording exactly what ust_app emitted."""
    for reader in (babeltrace_counts, report_counts):
        assert reader(path) == expected(*counts), f"{reader.__name__}: {reader(path)}, not {expected(*counts)}"


def check(result, status, out="", err=""):
    """A result of User.run(); out and err are patterns, '' means that there must be no output."""
    for what, pattern, text in (("stdout", out, result[1]), ("stderr", err, result[2])):
        assert re.search(pattern, text, re.S) if pattern else not text, f"{what} is not {pattern!r}: {result}"
    assert result[0] == status, f"status is not {status}: {result}"


def in_private_run(u, *argv):
    """As root, where no daemon of the machine is visible."""
    script = 'mount -t tmpfs none /run && mkdir -p /run/lttng && exec "$@"'
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", *argv], cwd=u.home, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=sandbox.PATIENCE, check=False)
    return done.returncode, done.stdout, done.stderr


def no_private_run():
    """Why in_private_run() is not possible; None: it is."""
    if os.geteuid() or subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/run"], check=False,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        return "not root, or no mount namespaces"
    return None


def interrupt(u, ready, *argv):
    """Runs in a process group of its own, which gets SIGINT once ready() holds; returns the Popen."""
    p = u.start(*argv, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    sandbox.wait_until(ready, "the moment for an interrupt")
    os.killpg(p.pid, signal.SIGINT)
    return p


def touch(path):
    with open(path, "w", encoding="ascii"):
        pass


SSH = """#!/bin/sh
# Instead of ssh: a host is a directory with a session daemon of its own and a name of its own.
case $1 in
down*) exit 255;;
bare) export LTTNG_SESSIOND_PATH=/nowhere;;
esac
export LTTNG_HOME={base}/$1 HOME={base}/$1
exec unshare --uts sh -c 'hostname "$0"; exec setpriv --reuid={uid} --regid={uid} --clear-groups sh -c "$1"' "$1" "$2"
"""


def write_script(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)


def begin():
    """Starts the script, with copies of the programs that the other user can reach."""
    sandbox.begin(ust=True)
    shutil.copy(os.environ["LTTNGTOP"], TOP)
    shutil.copy(f"{BUILD}/tests/live/ust_app", APP)
