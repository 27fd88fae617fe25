#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""'record' with a real kernel: figures of its recordings against those of the guest's kernel; what it must refuse."""
import json
import os
import re
import subprocess
import tempfile

import guest

MIB = 1 << 20


def load(g, command, record):
    """Runs the command in the guest while 'record' with these options
    records; the kernel's figures and the recording's directory."""
    g.push(os.path.join(guest.HERE, "load.py"), "/usr/local/bin/load")
    g.sh("rm -rf /var/tmp/r")
    status, out, err = g.run(f"lttngtop record {record} --output /var/tmp/r -- load /tmp/truth {command}")
    assert status == 0, f"status {status}: {out}{err}"
    return json.loads(g.sh("cat /tmp/truth")), "/var/tmp/r", err


def check_no_session(g):
    out = g.sh("lttng --no-sessiond list")
    assert re.search("no available recording session|No recording sessions available|[Cc]urrently no", out), out


def test_disk(g):
    """dd's reads and writes, and what its disk does for it."""
    for command, column, way in (("if=/dev/zero of=/var/tmp/f conv=fsync", "write_bytes", 1),
                                 ("if=/var/tmp/f of=/dev/null iflag=direct", "read_bytes", 0)):
        truth, recording, _ = load(g, f"dd bs=64k count=1024 status=none {command}", "--set full")
        guest.check_near(f"dd's {column}", 64 * MIB, guest.row_of(g.report("io", recording), pid=truth["pid"])[column])
        span = ["--begin", f"{truth['begin_ns']}ns", "--end", f"{truth['end_ns']}ns"]
        guest.check_near(f"the disk's {column}", truth["disks"]["vda"][way], guest.row_of(g.report("disks", recording, *span), name="vda")[column])


def test_memory(g):
    """The page faults of a process, and its allocations of pages. Tracers for kernel 7 have no page faults, and those built
    without the kernel's sources no allocations: both are said to be missing."""
    truth, recording, err = load(g, "touch 3000", "--set minimal,memory")
    available = g.sh("lttng --no-sessiond list --kernel")
    rows = [row for row in g.report("memory", recording) if row["tid"] == truth["pid"]]
    has_faults, has_pages = (f"`{name}`" in available or f"{name} (" in available
                             for name in ("x86_exceptions_page_fault_user", "kmem_mm_page_alloc"))
    assert len(rows) == (has_faults or has_pages), f"{rows} {available}"
    for has, column, name in ((has_faults, "user_faults", "x86_exceptions_page_fault_user"),
                              (has_pages, "allocated_pages", "kmem_mm_page_alloc")):
        assert has != (f"'{name}'" in err), f"{name}: {err}"
        assert all(has == (row[column] is not None) for row in rows), f"{name}: {rows}"
    if has_faults:
        guest.check_near("page faults", truth["faults"], rows[0]["user_faults"] + rows[0]["kernel_faults"])


def test_fetched(g):
    """A recording fetched from the guest gives the same figures here."""
    truth, recording, _ = load(g, "burn 1", "--set waits")
    with tempfile.TemporaryDirectory() as directory:
        g.fetch(recording, directory)
        done = subprocess.run([guest.PROGRAM, "report", "cpu", "--json", directory], stdout=subprocess.PIPE, check=True)
    here, there = json.loads(done.stdout)["rows"], g.report("cpu", recording)
    assert len(here) == len(there), f"{len(here)} and {len(there)} rows"
    assert here == there, f"first difference: {next(pair for pair in zip(here, there) if pair[0] != pair[1])}"
    assert guest.row_of(json.loads(done.stdout)["rows"], tid=truth["pid"])["comm"] == "python3"


def test_over_ssh(g):
    """--host: what this machine records there and fetches has the guest's figures, tasks and side-car."""
    g.push(os.path.join(guest.HERE, "load.py"), "/usr/local/bin/load")
    user = f"root@{g.name}"
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run([guest.PROGRAM, "record", "--host", user, "--set", "waits", "--output", directory, "--", "ssh", user,
                               "load /tmp/truth burn 2"], env=guest.ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=guest.PATIENCE, check=False)
        assert done.returncode == 0 and "command lines and user names" not in done.stderr, done
        report = subprocess.run([guest.PROGRAM, "report", "cpu", "--json", directory], stdout=subprocess.PIPE, check=True)
        path = os.path.join(directory, user, "lttngtop.json")
        assert os.path.exists(path), f"no side-car: {done.stderr}"
        with open(path, encoding="utf-8") as file:
            sidecar = json.load(file)
    truth, rows = json.loads(g.sh("cat /tmp/truth")), json.loads(report.stdout)["rows"]
    guest.check_cpu_time("CPU time", truth, sum(row["cpu_ns"] for row in rows if row["pid"] == truth["pid"]))
    missing = set(truth["tasks"]) - {row["tid"] for row in rows}
    assert not missing, f"tasks {missing} of {len(truth['tasks'])} are not known"
    found = sidecar["host"], sidecar["kernel"], sidecar["boot_id"]
    assert found == tuple(g.sh("hostname; uname -r; cat /proc/sys/kernel/random/boot_id").split()), found
    there = g.run("ls -A ~/.cache/lttngtop")[1]
    assert not there, f"left on the guest: {there}"
    check_no_session(g)


def test_context_that_is_not_there(g):
    """mnt_ns is built only with the kernel's full sources: requesting
    it by name is then an error, which leaves nothing behind."""
    status, out, err = g.run("lttngtop record --set minimal --context mnt_ns --output /var/tmp/n")
    assert status == 1 and "mnt_ns" in err, f"status {status}: {out}{err}"
    check_no_session(g)


def test_tracepoint_that_is_not_there(g):
    """A missing one is left out of its set, and the warning names it; requesting it by name is an error."""
    probe = "/lib/modules/*/updates/lttng/src/probes/lttng-probe-signal.ko*"
    g.sh(f"systemctl stop lttng-sessiond; rmmod lttng-probe-signal; mv {probe} /root; systemctl start lttng-sessiond")
    g.wait_sessiond()
    try:
        _, recording, err = load(g, "true", "--set waits")
        assert "signal_generate" in err, err
        assert "sched_switch" in {row["name"] for row in g.report("events", recording)}
        status, out, err = g.run("lttngtop record --set minimal --event signal_generate --output /var/tmp/n")
        assert status == 1 and "signal_generate" in err, f"status {status}: {out}{err}"
        check_no_session(g)
    finally:
        g.sh("mv /root/lttng-probe-signal.ko* /lib/modules/*/updates/lttng/src/probes; systemctl restart lttng-sessiond")
        g.wait_sessiond()


def tracer_version(g):
    return tuple(map(int, re.findall(r"\d+", g.sh("cat /sys/module/lttng_tracer/version"))[:3]))


def check_prio(g, options):
    truth, recording, err = load(g, "burn 0.2", f"--set minimal --context prio {options}")
    assert guest.row_of(g.report("cpu", recording), tid=truth["pid"])["prio"] == 20
    return err


def test_prio(g):
    """The context crashes kernels with tracers before 2.13.11: it is refused there, and works with later ones."""
    if tracer_version(g) >= (2, 13, 11):
        check_prio(g, "")
        return
    status, out, err = g.run("lttngtop record --set minimal --context prio --output /var/tmp/p")
    assert status == 1 and "prio" in err and "2.13.11" in err, f"status {status}: {out}{err}"
    check_no_session(g)


def check_refused(result, what, why):
    status, out, err = result
    assert status == 1 and what in err and re.search(why, err), f"status {status}: {out}{err}"


def no_hotplug(g):
    return "cpuhp_enter" not in g.sh("lttng --no-sessiond list --kernel")


def test_faults(g):
    """Whatever crashes or hangs this tracer or this machine is
    refused before anything is set up, also from other machines."""
    record = "lttngtop record --set minimal --output /var/tmp/n"
    no_counter = g.run("ls /sys/bus/event_source/devices/cpu")[0] != 0
    if no_counter:
        check_refused(g.run(f"{record} --perf cpu-cycles"), "cpu-cycles", r"--unsafe overrides this")
    # not every tracer has that tracepoint
    check_refused(g.run(f"{record} --perf page-fault --event cpuhp_enter"), "cpuhp_enter" if no_hotplug(g) else "page-fault",
                  "no tracepoint" if no_hotplug(g) else "record hotplug without perf counters")
    with tempfile.TemporaryDirectory() as directory:
        def remotely(*options):
            done = subprocess.run([guest.PROGRAM, "record", "--host", f"root@{g.name}", "--set", "minimal", *options, "--output",
                                   directory], env=guest.ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, timeout=guest.PATIENCE, check=False)
            return done.returncode, done.stdout, done.stderr
        if no_counter:
            check_refused(remotely("--perf", "cpu-cycles"), "cpu-cycles", "does not list counter")
        if tracer_version(g) < (2, 13, 11):
            check_refused(remotely("--context", "prio"), "prio", r"2\.13\.11")
    check_no_session(g)
    _, recording, err = load(g, "burn 0.2", "--set minimal --perf page-fault")
    assert "do not hotplug CPUs while it is recorded" in err, err
    assert any(row["value"] for row in g.report("perf", recording)), "no page fault"


FACTOR = 2.5  # of a steady load's estimate, as --help says
# The guest's clock counts instructions, but its disk is as slow as this machine's happens to be at
# the time: writes are steady only with pauses between them that are longer than that.
WRITES = """
import mmap, os, time
file = os.open("/var/tmp/f", os.O_CREAT | os.O_WRONLY | os.O_DIRECT)
print("started", flush=True)
while True:
    os.pwrite(file, mmap.mmap(-1, 4096), 0)
    time.sleep(.01)
"""
SLEEPS = """
import time
print("started", flush=True)
while True:
    time.sleep(.002)
"""
BURSTS = """
import time
print("started", flush=True)
while True:
    end = time.monotonic() + .1
    while time.monotonic() < end:
        time.sleep(.0005)
    time.sleep(.1)
"""


def check_factor(what, expected, found):
    assert expected / FACTOR < found < expected * FACTOR, f"{what}: {expected} expected, {found} recorded"


def cost_of(g, script):
    """While this runs: the estimate (events/s, the least and
    the most of it, MB/s); events/s and MB/s as recorded."""
    with g.start(f"python3 -c '{script}'", stdout=subprocess.PIPE) as steady:
        try:
            assert steady.stdout.readline(), "no load"
            truth, recording, err = load(g, "sleep 5", "--set waits")
        finally:
            steady.kill()
    expected = re.search(r"^expected at the current load: about (\d+) events/s \((\d+) to (\d+)\), (\S+) MB/s$", err, re.M)
    cost = re.search(r"^cost: (\d+) events, (\S+) MB on disk, (\S+) s of CPU by LTTng's consumer daemons$", err, re.M)
    assert expected and cost and float(cost[3]) > 0, err
    seconds = (truth["end_ns"] - truth["begin_ns"]) / 1e9
    span = ["--begin", f"{truth['begin_ns']}ns", "--end", f"{truth['end_ns']}ns"]
    events = sum(row["count"] for row in g.report("events", recording, *span))
    assert int(cost[1]) == sum(row["count"] for row in g.report("events", recording)), err
    size_mb = int(g.sh(f"find {recording} -type f -printf '%s\n' | awk '{{ n += $1 }} END {{ print n }}'")) / 1e6
    guest.check_near("MB on disk", size_mb, float(cost[2]), max(0.01, 0.06 / size_mb))  # 0.05: it has one decimal
    print(f"# {g.release}: {expected[1]} events/s ({expected[2]} to {expected[3]}), {expected[4]} MB/s expected; "
          f"{events / seconds:.0f} events/s, {size_mb / seconds:.2f} MB/s recorded", flush=True)
    return tuple(map(float, expected.groups())), (events / seconds, size_mb / seconds)


@guest.booted({"counted": True})
def test_sets(g):
    """With every set: CPU time of a known load, and every task that existed."""
    for name in ("minimal", "waits", "full"):
        truth, recording, _ = load(g, "burn 2", f"--set {name}")
        rows = g.report("cpu", recording)
        guest.check_cpu_time(f"{name}: CPU time", truth, sum(row["cpu_ns"] for row in rows if row["pid"] == truth["pid"]))
        missing = set(truth["tasks"]) - {row["tid"] for row in rows}
        assert not missing, f"{name}: tasks {missing} of {len(truth['tasks'])} are not known"
        check_no_session(g)


@guest.booted({"counted": True})
def test_cost(g):
    """The estimate for a steady load is met, that for an unsteady
    one says so, and the size reported afterwards is that of the recording."""
    for script in (WRITES, SLEEPS):
        (events, least, most, mb), (events_found, mb_found) = cost_of(g, script)
        assert least <= events <= most, f"{events} is not in [{least}, {most}]"
        check_factor("events/s", events, events_found)
        check_factor("MB/s", mb, mb_found)
    (events, least, most, _), (events_found, _) = cost_of(g, BURSTS)
    assert most > 2 * least, f"{events} ({least} to {most})"
    assert least / FACTOR < events_found < most * FACTOR, f"{least} to {most} expected, {events_found} recorded"


@guest.booted({"variant": "prio-fixed"}, releases=("12",))
def test_prio_unsafe(g):
    """A distribution that has fixed it without a new version: --unsafe records it, and reports the risk."""
    err = check_prio(g, "--unsafe")
    assert "prio" in err and "2.13.11" in err, err


if __name__ == "__main__":
    guest.main(globals())
