#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU time per CPU and thread in ranges, context switches, cumulative time."""

import case
import harness

# The oddity that SOURCE.md describes: a counter not yet set at the range's start reads as -1.
SWITCHES_TOO_MANY = {(0, 30, "1"): 1, (1, 4, "1"): 1}
FIRST, LAST = 1, 25  # the trace, to which every range is clipped


def main():
    c = case.Case("cpu_usage")
    checks = harness.Checks()
    one = c.only_streams("channel0_0")  # CPU 0 alone: the report has no row per CPU and thread

    def per_thread(begin, end, ctf=None):
        return {r["tid"]: r["cpu_ns"] for r in c.rows("cpu", begin, end, ctf)}

    def per_cpu(begin, end):
        return {r["cpu"]: r for r in c.rows("cpus", begin, end)}

    for want in c.expected["cpu_ns_in_range"]:
        begin, end = max(want["begin"], FIRST), min(want["end"], LAST)
        threads, zero, cpus = per_thread(begin, end), per_thread(begin, end, one), per_cpu(begin, end)
        of = {0: zero, 1: {t: n - zero.get(t, 0) for t, n in threads.items()}, None: threads}
        chosen = want["cpus"] if want["cpus"] is not None else list(cpus)
        for key, ns in want["ns"].items():
            where, _, tid = key.partition("/")
            if where == "total" and tid:
                got = sum(of[cpu].get(int(tid), 0) for cpu in chosen if cpu in cpus)
            elif where == "total":
                got = sum(cpus[cpu]["busy_ns"] for cpu in chosen if cpu in cpus)
            elif tid:
                got = of[int(where)].get(int(tid), 0)
            else:
                got = cpus[int(where)]["busy_ns"]
            checks.equal(got, ns, f"[{want['begin']}, {want['end']}] {want['cpus']}: {key}")
    for want in c.expected["per_thread_ns_in_range"]:
        threads = per_thread(max(want["begin"], FIRST), min(want["end"], LAST))
        checks.equal({str(t): n for t, n in threads.items() if n}, want["tids"], f"threads in {want}")
        checks.equal(sum(threads.values()), want["total"], f"total of threads in {want}")
    for want in c.expected["context_switches_in_range"]:
        # Those in ]begin, end]: the counters are read after the events of the same instant.
        cpus = per_cpu(max(want["begin"], FIRST) + 1, min(want["end"], LAST) + 1)
        for cpu, count in want["cpus"].items():
            odd = SWITCHES_TOO_MANY.get((want["begin"], want["end"], cpu), 0)
            checks.equal(cpus[int(cpu)]["switches"], count - odd, f"switches of CPU {cpu} in {want}")
    for key, intervals in c.expected["cumulative_ns_intervals"].items():
        cpu, tid = map(int, key.split("/"))
        for first, _, value in intervals:
            if value is None or first <= FIRST:
                continue
            zero = per_thread(FIRST, first, one).get(tid, 0)
            got = zero if cpu == 0 else per_thread(FIRST, first).get(tid, 0) - zero
            checks.equal(got, value, f"CPU time of {key} until {first}")
    checks.finish()


if __name__ == "__main__":
    main()
