/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/task_state.h"

enum {
	STATE_INTERRUPTIBLE = 0x01,
	STATE_UNINTERRUPTIBLE = 0x02,
	STATE_STOPPED = 0x04,
	STATE_TRACED = 0x08,
	STATE_EXITED = 0x10 | 0x20,
	STATE_DEAD_OR_PARKED = 0x40,
	STATE_KILLABLE_OR_IDLE = 0x80,
	STATE_WAKING_OR_PREEMPTED = 0x100,
	STATE_PARKED = 0x200,
	STATE_NO_LOAD = 0x400,
};

enum task_state task_state_of(int64_t prev_state, bool ended)
{
	const int64_t sleeps = STATE_INTERRUPTIBLE | STATE_UNINTERRUPTIBLE;

	if (prev_state & STATE_EXITED || (ended && prev_state & STATE_DEAD_OR_PARKED))
		return TASK_ENDED;
	if (prev_state & STATE_WAKING_OR_PREEMPTED)
		return TASK_READY;
	if (prev_state & STATE_STOPPED)
		return TASK_STOPPED;
	if (prev_state & STATE_TRACED)
		return TASK_TRACED;
	if (prev_state & sleeps)
		return prev_state & STATE_NO_LOAD ? TASK_IDLING : TASK_BLOCKED;
	if (prev_state & (STATE_DEAD_OR_PARKED | STATE_PARKED))
		return TASK_PARKED;
	return prev_state & STATE_KILLABLE_OR_IDLE ? TASK_IDLING : TASK_READY;
}

bool task_state_is_uninterruptible(int64_t prev_state)
{
	return prev_state & STATE_UNINTERRUPTIBLE;
}
