/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_EVENT_TASK_STATE_H
#define LT_EVENT_TASK_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* The state in which a thread leaves the CPU. */
enum task_state {
	TASK_READY = 0, /* preempted, or yielded: it wants the CPU back */
	TASK_BLOCKED,   /* waits for something */
	TASK_IDLING,    /* a kernel thread waits for work (TASK_IDLE) */
	TASK_PARKED,    /* a kernel thread is set aside, usually because its CPU goes offline */
	TASK_STOPPED,   /* by a signal */
	TASK_TRACED,    /* by a debugger */
	TASK_ENDED,     /* for good */
};

/*
 * Decodes prev_state of a sched_switch, for all kernels since 3.9. ended: the thread has been through
 * sched_process_exit.
 *
 *              up to 4.13: the task's state bits              since 4.14: one bit, the highest that counts
 *   0x01 0x02  interruptible, uninterruptible                 the same
 *   0x04 0x08  stopped, traced, usually with 0x80             the same, alone
 *   0x10 0x20  zombie and dead, in either order               the same
 *   0x40       dead                                           parked
 *   0x80       killable: never alone                          TASK_IDLE
 *   0x100      waking                                         preempted
 *   0x200      parked
 *   0x400      does not count as load: 0x402 is TASK_IDLE; alone: preempted, before 4.2
 *   0x800, 0x1000  preempted before 4.8, and since
 *
 * Unknown bits are ignored.
 */
enum task_state task_state_of(int64_t prev_state, bool ended);

/* For a TASK_BLOCKED thread: whether no signal wakes it, or only fatal ones. */
bool task_state_is_uninterruptible(int64_t prev_state);

#endif
