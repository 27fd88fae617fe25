#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Work items of kernel threads on critical paths, and pages and page faults of threads: babeltrace2's text and the
guest's own accounting.

An item is queued by a thread, or in an interrupt, and executed by a kworker later. Where the path of a thread comes to a
kworker that executes an item, it continues with the thread that queued it.
"""

import collections
import json
import os
import re
import shutil
import subprocess
import tempfile

import harness

NAME, HOST = "workqueue", "kmem"
DAY = 86400 * 10**9
EVENT = re.compile(r"^\[(\d\d):(\d\d):(\d\d)\.(\d{9})\] \(\S+\) \S+ (\w+): \{ cpu_id = (\d+) \}, \{ tid = (\d+), .*?\}, (.*)$")


class Item:
    """One execution of a work item: [begin, end[ by a kworker, queued by a thread or (0) the idle task or in an interrupt."""

    def __init__(self, worker, begin, function, queued, on_cpu_ns):
        self.worker, self.begin, self.end, self.function = worker, begin, None, function
        self.on_cpu_ns = on_cpu_ns  # since when it ran as it began
        self.queued_ns, self.queuer = queued if queued else (None, None)
        self.cpu_ns = 0


class Text:
    """What babeltrace2 prints: work items with the time they ran on a CPU, and sums per thread and event."""

    def __init__(self, path, midnight):
        self.items, self.counts, self.pages = [], collections.Counter(), collections.Counter()
        self.when = collections.defaultdict(list)  # event → [(time, tid, pages)]
        queued, running, depth, on_cpu = {}, {}, collections.Counter(), {}
        out = subprocess.run(["babeltrace2", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True,
                             env={**os.environ, "TZ": "UTC"}).stdout
        for line in out.splitlines():
            m = EVENT.match(line)
            if not m:
                continue
            t = midnight + ((int(m[1]) * 60 + int(m[2])) * 60 + int(m[3])) * 10**9 + int(m[4])
            name, cpu, tid, rest = m[5], int(m[6]), int(m[7]), m[8]
            self.counts[name, tid] += 1
            depth[cpu] += {"irq_handler_entry": 1, "irq_softirq_entry": 1, "timer_hrtimer_expire_entry": 1,
                           "irq_handler_exit": -1, "irq_softirq_exit": -1, "timer_hrtimer_expire_exit": -1}.get(name, 0)
            if name == "sched_switch":
                depth[cpu] = 0
                left, came = int(re.search(r"prev_tid = (\d+)", rest)[1]), int(re.search(r"next_tid = (\d+)", rest)[1])
                if left in running:
                    running[left].cpu_ns += t - max(on_cpu.get(left, 0), running[left].begin)
                on_cpu.pop(left, None)
                on_cpu[came] = t
            elif name.startswith("workqueue_"):
                address = re.search(r"work = (\w+)", rest)[1]
                if name == "workqueue_queue_work":
                    queued[address] = (t, 0 if depth[cpu] > 0 else tid)
                elif name == "workqueue_execute_start":
                    function = int(re.search(r"function = (\w+)", rest)[1], 16)
                    origin = queued.pop(address, None)
                    running[tid] = Item(tid, t, function, origin, on_cpu.get(tid, 0))
                elif name == "workqueue_execute_end" and tid in running:
                    item = running.pop(tid)
                    item.cpu_ns += t - max(on_cpu.get(tid, item.begin), item.begin)
                    item.end = t
                    self.items.append(item)
            elif name.startswith("kmem_mm_page_"):
                self.pages[name, tid] += 2**int(re.search(r"order = (\d+)", rest)[1])
                self.when[name].append((t, 2**int(re.search(r"order = (\d+)", rest)[1])))


def report(path, table, *options):
    out = subprocess.run([harness.PROGRAM, "report", table, "--json", *options, path], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)


def symbols(directory):
    with open(os.path.join(directory, "truth/symbols.txt"), encoding="ascii") as f:
        return {int(line.split()[0], 16): line.split()[2] for line in f}


def links(checks, path, text, names, tids):
    """Every link to a work item on the paths of some threads is one that the text shows, and there are some."""
    starts = {(i.worker, i.begin): i for i in text.items}
    seen = 0
    for tid in tids:
        rows = report(path, "critical-path", "--tid", str(tid))["rows"]
        for row, following in zip(rows, rows[1:] + [None]):
            if row["link"] != "workqueue":
                continue
            seen += 1
            item = starts.get((row["tid"], row["end_ns"]))
            if not checks.true(item, f"{tid}: an item starts at the end of {row}"):
                continue
            checks.equal(row["from_tid"], item.queuer, f"{tid}: who queued it, {row}")
            checks.true(item.queued_ns <= row["begin_ns"], f"{tid}: queued before {row}")
            # a kworker may be busy otherwise, as with the creation of another one
            checks.equal(row["state"], "running" if item.on_cpu_ns <= row["begin_ns"] else "preempted", f"{tid}: it has not started")
            checks.equal(following["cause"], names[item.function], f"{tid}: what is executed then")
            checks.equal(following["tid"], item.worker, f"{tid}: by which kworker")
    checks.true(seen >= 1, f"{seen} links on the paths of {len(tids)} threads")


def functions(checks, path, text, names):
    """The time for which a kworker executes items of a function on a CPU, on its own path."""
    for worker in sorted({i.worker for i in text.items}):
        want, got = collections.Counter(), collections.Counter()
        for item in text.items:
            if item.worker == worker:
                want[names[item.function]] += item.cpu_ns
        for row in report(path, "critical-path", "--tid", str(worker))["rows"]:
            if row["tid"] == worker and row["state"] == "running" and row["cause"]:
                got[row["cause"]] += row["duration_ns"]
        checks.equal(dict(got), dict(want), f"kworker {worker}")


def unnamed(checks, path, text):
    """A function that the side-car does not list is shown as its address, not under the name of the one before it."""
    copy = os.path.join(tempfile.mkdtemp(), HOST)
    shutil.copytree(path, copy)
    with open(os.path.join(copy, "lttngtop.json"), "r+", encoding="utf-8") as f:
        sidecar = json.load(f)
        sidecar["symbols"] = {name: f"{int(address, 16) - 16:#x}" for name, address in sidecar["symbols"].items()}
        f.seek(0)
        json.dump(sidecar, f)
        f.truncate()
    functions(checks, copy, text, {item.function: f"{item.function:#x}" for item in text.items})


def memory(checks, path, text, directory):
    """Pages by the events, and by the kernel's counters; faults by the events, and by those of the processes."""
    rows = report(path, "memory")["rows"]
    for row in rows:
        tid = row["tid"] or 0
        for column, name in (("allocated_pages", "kmem_mm_page_alloc"), ("freed_pages", "kmem_mm_page_free")):
            checks.equal(row[column], text.pages[name, tid], f"{tid}: {column}")
            checks.equal(row["allocations" if "alloc" in name else "frees"], text.counts[name, tid], f"{tid}: {name}")
        for column, name in (("user_faults", "user"), ("kernel_faults", "kernel")):
            checks.equal(row[column], text.counts[f"x86_exceptions_page_fault_{name}", tid], f"{tid}: {column}")
    with open(os.path.join(directory, "truth/accounting.txt"), encoding="ascii") as f:
        truth = f.read()
    by_tid = {row["tid"]: row for row in rows}
    # beside exceptions, the kernel counts pages that it faults in itself: of the stack at exec, and of the 64 KiB that a
    # disk reads into
    beside = {"hog": 0, "dd-read-direct": 1 + 16}
    for name, pid, faults in re.findall(r"^\d+ zombie (\S+): (\d+) \(\S+\) Z (?:\S+ ){6}(\d+) ", truth, re.M):
        row = by_tid[int(pid)]
        checks.equal(row["user_faults"] + row["kernel_faults"] + beside.get(name, 1), int(faults), f"{name}: minflt")
    # the counters were read while pages came and went: the reading itself takes some
    when = {word: int(re.search(rf"^(\d+) vmstat {word}:", truth, re.M)[1]) for word in ("begin", "end")}
    for counter, name in (("pgalloc_dma32", "kmem_mm_page_alloc"), ("pgfree", "kmem_mm_page_free")):
        first, last = (int(re.search(rf"vmstat {word}: {counter} (\d+)", truth)[1]) for word in ("begin", "end"))
        inside = report(path, "memory", "--begin", f"{when['begin']}ns", "--end", f"{when['end']}ns")["rows"]
        got = sum(row["allocated_pages" if "alloc" in name else "freed_pages"] for row in inside)
        checks.equal(got, sum(pages for t, pages in text.when[name] if when["begin"] <= t < when["end"]), f"{name} in between")
        checks.true(abs(got - (last - first)) <= 0.02 * got, f"{name}: {got}, {counter}: {last - first}")


def totals(checks, path):
    """The line of totals is the sum of the rows, negative ones included."""
    rows = report(path, "memory")["rows"]
    out = subprocess.run([harness.PROGRAM, "report", "memory", "--columns", "tid,net_pages,failures", path], stdout=subprocess.PIPE,
                         text=True, check=True).stdout
    checks.true(any(row["net_pages"] < 0 for row in rows), "some threads free more than they allocate")
    checks.equal(out.splitlines()[-1].split()[-2:], [str(sum(row[c] for row in rows)) for c in ("net_pages", "failures")], "totals")


def main():
    harness.need_program()
    harness.need("babeltrace2")
    checks = harness.Checks()
    directory = harness.bundled(NAME)
    path = os.path.join(directory, HOST)
    begin = report(path, "hosts")["begin_ns"]
    text = Text(path, begin - begin % DAY)
    names = symbols(directory)
    checks.true(len(text.items) > 200, f"{len(text.items)} items")
    comms = {row["tid"]: row["comm"] for row in report(path, "cpu")["rows"]}
    links(checks, path, text, names, [tid for tid, comm in comms.items() if comm in ("sync", "dd", "work", "jbd2/vda-8")])
    functions(checks, path, text, names)
    unnamed(checks, path, text)
    memory(checks, path, text, directory)
    totals(checks, path)
    checks.finish()


if __name__ == "__main__":
    main()
