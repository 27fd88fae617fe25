# SPDX-License-Identifier: GPL-2.0-or-later
"""Genuine differences between truth and program, each with its cause.

known.txt has one per line: recording, host, what, who, cause, amount (truth - program).
The tests fail if a difference is not listed, or if a listed one no longer occurs.
"""

import os

CAUSES = {
    "clock": "the guest's scheduler clock is not CLOCK_MONOTONIC: unstable under emulation, it is held within one tick"
             " (4 ms) of the last tick (kernel/sched/clock.c), so a late tick takes time from the slice that runs"
             " and a tick after idleness gives some",
    "stamp": "it happened after the block's stamp and before the guest had read the file",
    "gro": "receive offload: the card's driver counts the packets, net_if_receive_skb comes once for those merged",
    "passed": "received over a Unix socket (SCM_RIGHTS): no event shows the new fd",
    "idle": "the kernel's idle excludes entering and leaving idleness and the timer interrupt's own entry and exit,"
            " which no event brackets",
    "dirty": "still dirty when the recording ends: the kernel counts a page when it gets dirty, a disk when it writes it",
    "server": "a page of a file on a network file system: it goes to the server",
    "page": "processes that write to a file in turn, through an fd that they inherited, dirty the same page: the calls do"
            " not show where in the file they write",
    "sync": "it writes what others have dirtied, when they have ended: they were charged for it when they dirtied it",
    "samples": "the kernel's samples have more system time than calls, interrupts and what is allowed for page faults; of"
               " what it does between two calls beside them the trace has no event, so it is the program's here",
}


def load():
    out = {}
    with open(os.path.join(os.path.dirname(__file__), "known.txt"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                recording, host, what, who, cause, amount = line.split()
                out[recording, host, what, who] = (cause, int(amount))
    return out


def only(*what):
    return {key: value for key, value in load().items() if key[2] in what}
