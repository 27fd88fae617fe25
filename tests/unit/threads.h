/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UNIT_THREADS_H
#define LT_UNIT_THREADS_H

/* The figures of CPUs and threads on hand-built events, for the tests of model/{cpu,sched,process,lost}.c. */
#include "events.h"

enum { BEGIN = 1000, SLEEP = 1, RUNNABLE = 0, DEAD = 0x20 };

static inline void begin(struct events *e)
{
	events_init(e);
	model_begin(e->m, BEGIN);
}

static inline const struct cpu_row *cpu_row(struct events *e, unsigned number)
{
	return CPU_ROW(e->m, g_array_index(e->m->cpus, struct cpu, number).row);
}

#define THREAD_VALUE(e, tid, member, t) EVENTS_VALUE(THREAD, thread, events_thread(e, tid), member, t)
#define CPU_VALUE(e, number, member, t) EVENTS_VALUE(CPU, cpu, cpu_row(e, number), member, t)

/* On every CPU, busy + idle = online, and the threads' time adds up to the CPUs' busy time. */
static inline void assert_sums(struct events *e, uint64_t t)
{
	const struct state_table *cpus = &e->m->state.tables[TABLE_CPU];
	const struct state_table *threads = &e->m->state.tables[TABLE_THREAD];
	uint64_t busy = 0, ran = 0;

	for (uint32_t row = STATE_NO_ROW; (row = state_next(cpus, row)) != STATE_NO_ROW;) {
		const struct cpu_row *r = CPU_ROW(e->m, row);
		uint64_t b = EVENTS_VALUE(CPU, cpu, r, busy_ns, t);

		ck_assert_uint_eq(b + EVENTS_VALUE(CPU, cpu, r, idle_ns, t), EVENTS_VALUE(CPU, cpu, r, online_ns, t));
		busy += b;
	}
	for (uint32_t row = STATE_NO_ROW; (row = state_next(threads, row)) != STATE_NO_ROW;)
		ran += EVENTS_VALUE(THREAD, thread, THREAD_ROW(e->m, row), cpu_ns, t);
	ck_assert_uint_eq(busy, ran);
}

static inline void fork_child(struct events *e, uint64_t t, int64_t parent, int64_t tid, int64_t pid)
{
	EVENT(e, t, 0, parent, FORK, new_task, .parent_tid = parent, .parent_pid = parent, .child_tid = tid,
	      .child_pid = pid, .child_vtids = { tid, 2 }, .parent_comm = "sh", .child_comm = "sh");
}

#endif
