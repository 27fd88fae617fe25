#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Events recorded more than once count once: a recording that is twice below a directory, or that is given twice;
parts of one that overlap, as snapshots do; two sessions of one kernel below a directory that is followed. Slices that
overlap are refused."""
import contextlib
import glob
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import threading

from cases import check, finish

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
from fake_relay import Stream  # noqa: E402
from processes import PATIENCE_S, wait_for, workers  # noqa: E402

LTTNGTOP = os.environ["LTTNGTOP"]
RECORDING = os.path.join(os.environ["BUILD"], "traces", "hotplug", "db", "kernel")
TABLES = ("hosts", "io", "syscalls", "cpu")


def report(table, *sources, workers=1):
    run = subprocess.run([LTTNGTOP, "report", table, "--json", "--workers", str(workers), *sources], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, check=False)
    page = json.loads(run.stdout)
    for row in page["rows"]:
        row.pop("source", None)
    return {"status": run.returncode, "said": run.stderr, **page}


def follow(table, directory):
    """The same, followed: a trace ends when its metadata, which is open for writing until then, is closed."""
    with contextlib.ExitStack() as stack:
        tracers = [stack.enter_context(open(path, "ab")) for path in glob.glob(f"{directory}/**/metadata", recursive=True)]
        run = subprocess.Popen([LTTNGTOP, "report", table, "--json", "--follow", "--stall-limit", "60s", directory],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def watched():
            """The number of files whose end the report's worker awaits."""
            n = 0
            for pid in workers(run.pid):
                for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
                    with contextlib.suppress(OSError), open(path, encoding="ascii") as info:
                        n += info.read().count("inotify wd")
            return n
        wait_for("worker that watches", lambda: watched() == len(tracers))
    out, err = run.communicate(timeout=60)
    page = json.loads(out)
    for row in page["rows"]:
        row.pop("source", None)
        row.pop("reason", None)
    return {"status": run.returncode, **page}, err


def copy_of_session(directory):
    """As another session of the same kernel would write it: with another UUID."""
    shutil.copytree(RECORDING, directory)
    with open(os.path.join(RECORDING, "metadata"), "rb") as file:
        text = re.search(rb'uuid = "([0-9a-f-]{36})"', file.read())[1].decode()
    uuid = bytes.fromhex(text.replace("-", ""))
    other = uuid[:-1] + bytes([uuid[-1] ^ 1])
    for name in os.listdir(directory):
        path = os.path.join(directory, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                data = file.read().replace(uuid, other)
            # the trace's own comes before that of its clock, which both sessions share
            data = data.replace(text.encode(), text[:-2].encode() + other.hex()[-2:].encode(), 1)
            with open(path, "wb") as file:
                file.write(data)


def check_followed():
    shutil.copytree(RECORDING, "sessions/one/kernel")
    copy_of_session("sessions/two/kernel")
    for table in TABLES:
        once, _ = follow(table, "sessions/one")
        both, err = follow(table, "sessions")
        check(f"{table}: followed: there is something", once["rows"] and once["status"] == 0, once)
        check(f"{table}: two sessions below a directory that is followed", both == once)
        said = "db: recorded 2 times, counted once: from sessions/one/kernel; gaps from sessions/two/kernel"
        check(f"{table}: followed: said", said in err, err)


def copy_part(directory, of):
    """The packets of each stream that of() selects from its list."""
    os.makedirs(directory)
    shutil.copy(os.path.join(RECORDING, "metadata"), directory)
    for name in os.listdir(RECORDING):
        path = os.path.join(RECORDING, name)
        if name == "metadata" or not os.path.isfile(path):
            continue
        stream = Stream(path, 0, 0)
        with open(os.path.join(directory, name), "wb") as out:
            for offset, bits, *_ in of(stream.packets):
                out.write(stream.data[offset:offset + bits // 8])


def check_damaged_times():
    """Single packets with damaged times are no reason to refuse a recording that was rotated."""
    copy_part("rotated/first/kernel", lambda packets: packets[:len(packets) // 2])
    copy_part("rotated/second/kernel", lambda packets: packets[len(packets) // 2:])
    for name in sorted(n for n in os.listdir("rotated/first/kernel") if n.startswith("ch")):
        damage_last_time(name)
    whole, damaged = report("hosts", RECORDING), report("hosts", "rotated")
    lost = whole["rows"][0]["events"] - damaged["rows"][0]["events"]
    check("a packet of each CPU with damaged times: the rest is read", 0 <= lost < whole["rows"][0]["events"] // 2, damaged)


def damage_last_time(name):
    """The last packet of the first half then seems to lie in the last one of all."""
    packets = Stream(os.path.join(RECORDING, name), 0, 0).packets
    (*_, begin, end, _, _), (*_, late, _, _, _) = packets[len(packets) // 2 - 1], packets[-1]
    with open(f"rotated/first/kernel/{name}", "r+b") as file:
        data = file.read()
        for time, other in (begin, late + 1), (end, late + 2):
            at = data.rindex(struct.pack("<Q", time))
            file.seek(at)
            file.write(struct.pack("<Q", other))


def cut(name, *of):
    subprocess.run([LTTNGTOP, "report", "slice", "-o", f"sliced/{name}", *of, "sliced/m"], check=True, stdout=subprocess.DEVNULL)


def check_said(name, status, err, *sources):
    lines = err.splitlines() or [""]
    check(f"{name}: status", status == 2, status)
    check(f"{name}: said once", len(lines) == 2 and lines[0].endswith(
        " contain the same part of one recording: leave one of them out, or give slices that do not overlap"), lines)
    check(f"{name}: named", all(f"'{source}" in lines[0] for source in sources), lines)


def check_refused(what, command, *sources):
    """Which of the events of both are the same is not known: nothing is read."""
    run = subprocess.run([LTTNGTOP, *command, *sources], capture_output=True, text=True, check=False)
    name = f"{' '.join(command)}: {what}"
    check_said(name, run.returncode, run.stderr, *sources)
    check(f"{name}: nothing is written", run.stdout == "" and not os.path.exists("refused"), run)


def check_monitor(*sources):
    """The screen may be up by then."""
    master, slave = pty.openpty()
    with subprocess.Popen([LTTNGTOP, *sources], stdin=slave, stdout=slave, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "TERM": "xterm"}) as run:
        os.close(slave)
        threading.Thread(target=drain, args=(master,), daemon=True).start()
        try:
            _, err = run.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            run.kill()
            _, err = run.communicate()
    check_said(f"monitor: {' '.join(sources)}", run.returncode, err, *sources)


def drain(terminal):
    with contextlib.suppress(OSError):
        while os.read(terminal, 4096):
            pass


def check_slices():
    """Slices have cut packets, with numbers of their own, or chosen events."""
    shutil.copytree(RECORDING, "sliced/m/kernel")
    hosts = report("hosts", RECORDING)["rows"]
    begin, end = hosts[0]["begin_ns"], hosts[0]["end_ns"]
    times = [str(begin + (end - begin) * i // 4) for i in range(5)]
    cut("a", "--end", times[2])
    cut("z", "--begin", times[2])
    cut("inner", "--begin", times[1], "--end", times[3])
    cut("all", "--comm", "*")
    cut("switches", "--where", "sched_switch")
    cut("calls", "--where", "syscall")
    cut("later", "--offset", "db=1000000000")
    refused = (("slice of the start", "a", "m"), ("slice of the end", "m", "z"), ("slice of the middle", "m", "inner"),
               ("slices that overlap", "a", "inner"), ("every event chosen", "m", "all"), ("chosen events", "switches", "m"),
               ("slices of other events", "switches", "calls"), ("copies with other times", "m", "later"))
    for what, one, other in refused:
        for number in ("1", "2"):
            check_refused(what, ("report", "cpu", "--workers", number), f"sliced/{one}", f"sliced/{other}")
    for command in (("report", "hosts", "--reader", "babeltrace2"), ("report", "cpu", "--begin", "-1s"), ("report", "dump"),
                    ("report", "slice", "-o", "refused"), ("report", "slice", "-o", "refused", "--where", "read"),
                    ("report", "critical-totals"), ("attach", "-n", "*"), ("feed", "--to", "net://127.0.0.1:1:1")):
        check_refused("slices that overlap", command, "sliced/a", "sliced/inner")
        check_refused("slices below a directory", command, "sliced")
    check_monitor("sliced/a", "sliced/inner")
    check_monitor("sliced")
    for table in TABLES:
        once = report(table, RECORDING)
        check(f"{table}: slices that follow each other", report(table, "sliced/a", "sliced/z")["rows"] == once["rows"])


def main():
    if not os.path.isdir(RECORDING):
        print("skip what was recorded twice: the recording hotplug is not unpacked")
        return 77
    for copy in ("one", "two"):
        shutil.copytree(RECORDING, f"twice/{copy}/kernel")
    copy_part("overlap/first/kernel", lambda packets: packets[:len(packets) * 2 // 3])
    copy_part("overlap/second/kernel", lambda packets: packets[len(packets) // 3:])
    copy_part("inside/part/kernel", lambda packets: packets[1:2])
    shutil.copytree(RECORDING, "inside/whole/kernel")
    for table in TABLES:
        once = report(table, RECORDING)
        check(f"{table}: there is something", once["rows"] and once["status"] == 0, once)
        for number in (1, 2):
            check(f"{table}: twice below a directory, {number} workers", report(table, "twice", workers=number) == once)
        check(f"{table}: two copies given", report(table, "twice/one", "twice/two") == once)
        check(f"{table}: parts that overlap", report(table, "overlap") == once)
        check(f"{table}: a part of it beside it", report(table, "inside") == once)
    check_damaged_times()
    check_slices()
    check_followed()
    finish()


main()
