#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""An interval outside the recording is never silently empty: a warning has the recording's times, known from the test."""
import os
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "waits"), os.path.join(HERE, "..")]
import cases  # noqa: E402
import ctf  # noqa: E402

PROGRAM = os.environ["LTTNGTOP"]
SECOND = 10 ** 9
BEGIN = 1700000000 * SECOND  # 22:13:20 UTC
FIRST, LAST = "2023-11-14 22:13:20.000000000", "2023-11-14 22:13:30.000000000"
PACKET_END_AT, PACKET_SIZE_AT, DISCARDED_AT = 40, 56, 72  # offsets of the packet's context in the files that ctf writes


def recording(name, lost=0):
    """Eleven events, one a second; the last packet ends 30 s after the last one. lost: there are two packets, and events
    were discarded before the end of the second one."""
    trace = ctf.Trace("web")
    for n in range(11):
        trace.add(BEGIN + n * SECOND, "sched_switch", ("prev_comm", "text", 16, "a"), ("prev_tid", "s32", 5 + n % 2),
                  ("prev_prio", "s32", 20), ("prev_state", "s64", 0), ("next_comm", "text", 16, "b"),
                  ("next_tid", "s32", 6 - n % 2), ("next_prio", "s32", 20))
    directory = os.path.abspath(name)
    trace.write(os.path.join(directory, "kernel"), **({"most": 6} if lost else {}))
    with open(os.path.join(directory, "kernel", "channel0_0"), "r+b") as file:
        packet = struct.unpack("<Q", file.read(PACKET_SIZE_AT + 8)[-8:])[0] // 8 if lost else 0
        file.seek(packet + PACKET_END_AT)
        file.write(struct.pack("<Q", BEGIN + 40 * SECOND))
        file.seek(packet + DISCARDED_AT)
        file.write(struct.pack("<Q", lost))
    return directory


def run(*args, zone="UTC"):
    return subprocess.run([PROGRAM, *args], env={**os.environ, "TZ": zone}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False, timeout=60)


def said(result):
    return result.returncode, "--begin, " in result.stderr and LAST in result.stderr


RANGES = {"inside the last packet": ["--begin", "+20s"], "inside the last packet, with an end": ["--begin", "+20s", "--end", "+25s"],
          "after it": ["--begin", "+1000s"], "long after it": ["--begin", "+1000s", "--end", "+2000s"]}
source = recording("recording")


def test_empty():
    for args in (["report", "cpu"], ["report", "dump"], ["attach", "-p", "5"]):
        result = run(*args, "--begin", "+2s", "--end", "+2s", source)
        assert result.returncode == 0, result
        assert result.stderr.startswith("lttngtop: warning: --begin and --end are the same time, 2023-11-14 22:13:22.000000000: "
                                        "nothing lies between them\n"), result.stderr


def test_reports():
    for command in (["report", "cpu"], ["report", "hosts"], ["report", "blocking"], ["report", "dump"], ["attach", "-p", "5"]):
        for name, options in RANGES.items():
            result = run(*command, *options, source)
            assert said(result) == (0, True), f"{command} {name}: {result.returncode} {result.stderr}"
            result = run(*command, "--begin", "+9.5s", *options[2:], source)
            assert "--begin" not in result.stderr, f"{command} {name}: {result.stderr}"


def test_before():
    for command in (["report", "cpu"], ["report", "dump"]):
        result = run(*command, "--end", f"{BEGIN - SECOND}ns", source)
        assert "--end, " in result.stderr and FIRST in result.stderr, f"{command}: {result.stderr}"


def test_time_of_day():
    """One before the start is that of the next day: whoever meant the former must give the date."""
    advice, next_day = "; for an earlier time give the date as well\n", "--begin, 2023-11-15 22:13:00.000000000, is after"
    for command in (["report", "cpu"], ["report", "dump"], ["attach", "-p", "5"]):
        result = run(*command, "--begin", "22:13", source)
        assert next_day in result.stderr and f"{LAST}{advice}" in result.stderr, f"{command}: {result.stderr}"
        result = run(*command, "--begin", "22:13", "--end", "22:13:25", source)
        assert result.returncode == 2 and f", 2023-11-15 22:13:00.000000000{advice}" in result.stderr, f"{command}: {result}"
        for later in ("22:14", "2023-11-15 22:13", "+1000s"):
            result = run(*command, "--begin", later, source)
            assert said(result) == (0, True) and advice not in result.stderr, f"{command} {later}: {result.stderr}"


def test_losses_elsewhere():
    """Where nothing happens and nothing was lost nothing is missing, whatever was lost at other times."""
    lossy = recording("lossy", 4)
    for options in ([], ["--begin", "+4s"]):
        result = run("report", "dump", *options, lossy)
        assert (result.returncode, "lost: 4 events" in result.stderr) == (3, True), f"{options}: {result}"
    for options in (["--begin", "+1.25s", "--end", "+1.5s"], ["--begin", "+1000s"], ["--end", f"{BEGIN - SECOND}ns"]):
        for command in (["report", "cpu"], ["report", "dump"], ["report", "dump", "--json"], ["report", "dump", "--tid", "5"]):
            result = run(*command, *options, lossy)
            assert (result.returncode, "lost" in result.stderr) == (0, False), f"{command} {options}: {result}"
        result = run("report", "slice", "--where", "sched_switch", "-o", "none", *options, lossy)
        assert (result.returncode, "lost" in result.stderr) == (1, False), f"{options}: {result}"


def test_end_on_a_later_day():
    """A time of day for --end that only the day after the recording has: everything is read, which is said once."""
    next_day, advice = "--end, 2023-11-15 22:13:04.000000000, is ", "; for an earlier time give the date as well\n"
    commands = [["report", "cpu"], ["report", "cpu", "--interval", "4s"], ["report", "blocking"], ["report", "dump"],
                ["report", "dump", "--tid", "5"], ["report", "dump", "--limit", "3"], ["attach", "-p", "5"],
                ["report", "slice", "-o", "whole"], ["report", "slice", "--where", "sched_switch", "-o", "chosen"]]
    for command in commands:
        result = run(*command, "--end", "22:13:04", source)
        assert result.returncode == 0 and result.stderr.count("--end") == 1, f"{command}: {result}"
        assert next_day in result.stderr and f"{FIRST}, " in result.stderr and advice in result.stderr, f"{command}: {result.stderr}"
    assert [run("report", "dump", name).stdout.count("sched_switch") for name in ("whole", "chosen")] == [11, 11]
    for command in commands[:-2]:
        for end in ("22:13:25", "22:14:30", "23:00", "2023-11-15 22:13:04", "+90000s"):
            result = run(*command, "--end", end, source)
            assert "--end" not in result.stderr, f"{command} {end}: {result.stderr}"
        result = run(*command, "--begin", "22:13:02", "--end", "22:13:04", source)
        assert (result.stderr.count(advice), "--end" in result.stderr) == (1, False), f"{command}: {result.stderr}"
    result = run("report", "slice", "-o", "none", "--begin", "22:13:02", "--end", "22:13:04", source)
    assert (result.returncode, result.stderr.count(advice), "--end" in result.stderr) == (1, 1, False), result


def test_end_past_midnight():
    """A recording from 23:59:55 on, which has times of the next day."""
    for end, warned in (("00:00:02", False), ("23:59:50", True)):
        result = run("report", "cpu", "--end", end, source, zone="ZONE-1:46:35")
        assert (result.returncode, "--end, 2023-11-15 23:59:50.000000000, is" in result.stderr) == (0, warned), f"{end}: {result}"


def test_slice():
    """Nothing is written, and the reason has the time of the last event, or the first one."""
    for name, options in RANGES.items():
        result = run("report", "slice", "-o", "slice", *options, source)
        assert said(result) == (1, True), f"{name}: {result.returncode} {result.stderr}"
        assert not os.path.exists("slice"), name
    result = run("report", "slice", "-o", "slice", "--end", f"{BEGIN - SECOND}ns", source)
    assert result.returncode == 1 and "--end, " in result.stderr and FIRST in result.stderr, result.stderr
    assert not os.path.exists("slice")
    result = run("report", "slice", "-o", "slice", "--begin", "+9.5s", source)
    assert (result.returncode, result.stderr) == (0, ""), result.stderr


def test_slice_between():
    """Between two events there may be nothing either, which is a fact about the recording and no mistake."""
    result = run("report", "slice", "-o", "between", "--begin", "+1.25s", "--end", "+1.5s", source)
    assert "--begin" not in result.stderr, result.stderr


def test_slice_early_clock():
    """A clock that started before 1970 and an end close to 2^64 ns: cycles are found, not counted up to."""
    early = recording("early")
    path = os.path.join(early, "kernel", "metadata")
    with open(path, encoding="ascii") as file:
        text = file.read()
    with open(path, "w", encoding="ascii") as file:
        file.write(text.replace("offset = 0;", f"offset_s = -{BEGIN // SECOND};"))
    result = run("report", "slice", "-o", "early-slice", "--end", f"{2 ** 64 - 2}ns", early)
    assert (result.returncode, result.stderr) == (0, ""), f"{result.returncode} {result.stderr}"


cases.run(globals())
