/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two hand-built hosts, db and web, whose states the tests change between begin() and end(), and their rows. */
#ifndef LT_VIEWS_H
#define LT_VIEWS_H

#include "unit.h"

#include <string.h>

#include "base/strpool.h"
#include "view/rows.h"

enum { MS = 1000000, BEGIN = 1000 * MS, END = 2000 * MS };

/* A host whose state the tests change between two edges. */
struct host {
	struct host_state state;
	struct interval iv;
};

static struct host hosts[2];
static struct view_host shown[2];
static struct view_rows rows;

#define ADD(h, TABLE, type) STATE_ROW(&hosts[h].state, TABLE, type, state_add(&hosts[h].state, TABLE_##TABLE))

static inline struct thread_row *add_thread(int h, int64_t tid, int64_t pid, int64_t ppid, const char *comm)
{
	struct thread_row *row = ADD(h, THREAD, thread);

	row->tid = (uint64_t)tid;
	row->pid = (uint64_t)pid;
	row->ppid = (uint64_t)ppid;
	row->comm = strpool_intern_z(comm);
	row->prio = 120;
	row->cpu = row->vtid = row->vpid = row->syscall_fd = UINT64_MAX;
	return row;
}

static inline struct container_row *add_container(int h, uint64_t inode, uint64_t parent, uint64_t level,
						  const char *comm)
{
	struct container_row *c = ADD(h, CONTAINER, container);

	c->inode = inode;
	c->parent = parent;
	c->level = level;
	c->pid = inode;
	c->comm = strpool_intern_z(comm);
	return c;
}

static inline void add_perf(const struct thread_row *thread, const char *counter, uint64_t value)
{
	struct perf_row *row = ADD(0, PERF, perf);

	row->thread_uid = thread->uid;
	row->counter = strpool_intern_z(counter);
	row->value = value;
}

static inline void setup(void)
{
	static const char *const names[] = { "db", "web" };
	static const char *missing[] = { "sched_waking" };

	for (int h = 0; h < 2; h++) {
		state_init(&hosts[h].state);
		interval_init(&hosts[h].iv);
		shown[h] = (struct view_host){
			.name = names[h],
			.source = "/rec",
			.tracer = "lttng-modules 2.13.9",
			.iv = &hosts[h].iv,
			.missing = missing,
			.n_missing = h == 0,
		};
		ADD(h, HOST, host);
	}
	view_rows_init(&rows);
}

static inline void teardown(void)
{
	view_rows_release(&rows);
	for (int h = 0; h < 2; h++) {
		interval_release(&hosts[h].iv);
		state_release(&hosts[h].state);
	}
}

static inline void begin(void)
{
	for (int h = 0; h < 2; h++)
		interval_begin(&hosts[h].iv, &hosts[h].state, BEGIN, STATE_ALL_TABLES);
}

static inline void end(void)
{
	for (int h = 0; h < 2; h++)
		interval_end(&hosts[h].iv, &hosts[h].state, END);
}

static inline struct view_query query(const char *table)
{
	struct view_query q = { .table = view_table_find(table) };

	ck_assert_msg(q.table != NULL, "no table %s", table);
	return q;
}

static inline void build(const struct view_query *q)
{
	view_rows_build(&rows, q, shown, 2);
}

static inline void build_table(const char *table)
{
	struct view_query q = query(table);

	build(&q);
}

static inline struct value get(unsigned i, const char *name)
{
	const struct column *column = view_rows_column(&rows, name);
	struct value v;

	ck_assert_msg(column != NULL, "no column %s", name);
	ck_assert_uint_lt(i, rows.n);
	view_rows_value(&rows, i, column, &v);
	return v;
}

#define ASSERT_UINT(i, name, expected)                                                                   \
	do {                                                                                             \
		struct value got = get(i, name);                                                         \
                                                                                                         \
		ck_assert_msg(got.kind == VALUE_UINT || got.kind == VALUE_INT, "%s is no number", name); \
		ck_assert_uint_eq(got.u, (uint64_t)(expected));                                          \
	} while (0)
#define ASSERT_TEXT(i, name, expected)                                           \
	do {                                                                     \
		struct value got = get(i, name);                                 \
                                                                                 \
		ck_assert_msg(got.kind == VALUE_TEXT, "%s is not a text", name); \
		ck_assert_str_eq(got.text, expected);                            \
	} while (0)
#define ASSERT_REAL(i, name, expected)                             \
	do {                                                       \
		struct value got = get(i, name);                   \
                                                                   \
		ck_assert_int_eq(got.kind, VALUE_REAL);            \
		ck_assert_double_eq_tol(got.real, expected, 1e-9); \
	} while (0)
#define ASSERT_NULL(i, name) ck_assert_int_eq(get(i, name).kind, VALUE_NULL)

#endif
