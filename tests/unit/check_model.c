/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model_set_figures(): what it omits, and that the rest does not depend on it. */
#include "unit.h"

#include <errno.h>

#include "events.h"
#include "model/look.h"

enum { BEGIN = 1000, SLEEP = 1, RUNNABLE = 0, A = 5, B = 6, OLD = 7 };

/* Figures that can be omitted. */
static const uint32_t groups[] = {
	1 << TABLE_SYSCALL | 1 << TABLE_SYSERR,
	1 << TABLE_FILE,
	1 << TABLE_BLOCKING,
	1 << TABLE_RELATION,
	1 << TABLE_PREEMPTION,
	1 << TABLE_CONNECTION,
	1 << TABLE_PRESSURE,
	MODEL_FDS,
	MODEL_PEERS,
};

static unsigned count(struct events *e, enum table_id table)
{
	return e->m->state.tables[table].n_alive;
}

static void packet(struct events *e, uint64_t t, bool sent)
{
	const struct ev_net p = {
		.ip_version = 4,
		.protocol = 6,
		.header_words = 0x505,
		.seq = 1,
		.ack_seq = 1,
		.flags = 0x10,
		.tot_len = 60,
		.saddr = { sent ? 1 : 2 },
		.daddr = { sent ? 2 : 1 },
		.sport = sent ? 1000 : 80,
		.dport = sent ? 80 : 1000,
	};
	struct record r;

	record_init(&r, t, 0, A, sent ? EVENT_NET_QUEUE : EVENT_NET_RECEIVE);
	events_add(e, &r, &p, sizeof(p));
}

/*
 * CPU 0: A runs, opens a file, fails to open another, makes a pipe, writes 4 bytes, and sleeps in a read of the pipe.
 * CPU 1: B, a child of A, writes 10 bytes into the pipe, which wakes A; then A waits for CPU 0, where B's sibling
 * runs.
 */
static void play(struct events *e)
{
	EVENT(e, 1050, 0, 0, DUMP_FD, dump_fd, .pid = OLD, .fd = 3, .filename = str(&rec, "/old"));
	events_switch(e, 1100, 0, 0, RUNNABLE, A, "a");
	SYSCALL_ENTRY(e, 1110, 0, A, "openat", .path = str(&rec, "/data"));
	SYSCALL_EXIT(e, 1120, 0, A, "openat", .ret = 3);
	SYSCALL_ENTRY(e, 1130, 0, A, "openat", .path = str(&rec, "/none"));
	SYSCALL_EXIT(e, 1140, 0, A, "openat", .ret = -ENOENT);
	SYSCALL_ENTRY(e, 1150, 0, A, "pipe2", .flags = 0);
	SYSCALL_EXIT(e, 1160, 0, A, "pipe2", .fd0 = 4, .fd1 = 5);
	SYSCALL_ENTRY(e, 1170, 0, A, "write", .fd = 3);
	SYSCALL_EXIT(e, 1180, 0, A, "write", .ret = 4);
	packet(e, 1184, true);
	packet(e, 1186, false);
	EVENT(e, 1190, 0, A, FORK, new_task, .parent_tid = A, .parent_pid = A, .child_tid = B, .child_pid = B);
	EVENT(e, 1195, 0, A, SCHED_WAKEUP_NEW, wakeup, .tid = B);
	events_switch(e, 1200, 1, 0, RUNNABLE, B, "b");
	SYSCALL_ENTRY(e, 1210, 0, A, "read", .fd = 4);
	events_switch(e, 1220, 0, A, SLEEP, OLD, "old");
	SYSCALL_ENTRY(e, 1230, 1, B, "write", .fd = 5);
	EVENT(e, 1300, 1, B, SCHED_WAKING, wakeup, .tid = A, .target_cpu = 0);
	SYSCALL_EXIT(e, 1310, 1, B, "write", .ret = 10);
	EVENT(e, 1320, 1, B, SIGNAL_GENERATE, kill, .tid = A, .number = 10);
	events_switch(e, 1400, 0, OLD, RUNNABLE, A, "a");
	SYSCALL_EXIT(e, 1410, 0, A, "read", .ret = 10);
	EVENT(e, 1420, 1, B, EXIT, task, .tid = B);
	events_switch(e, 1430, 1, B, 0x10, 0, "swapper/1");
	model_cut(e->m, 1500);
}

static void start(struct events *e, uint32_t figures)
{
	events_init(e);
	model_set_figures(e->m, figures);
	model_begin(e->m, BEGIN);
	play(e);
}

START_TEST(test_all_at_first)
{
	struct model_fd fd;
	struct events e;

	start(&e, MODEL_ALL_FIGURES);
	ck_assert_uint_eq(events_thread(&e, A)->write_disk, 4);
	ck_assert_uint_eq(events_thread(&e, A)->read_pipe, 10);
	ck_assert_uint_gt(e.m->host->fds, 0);
	ck_assert_uint_eq(count(&e, TABLE_SYSERR), 1);
	ck_assert_uint_ge(count(&e, TABLE_SYSCALL), 5);
	ck_assert_uint_eq(count(&e, TABLE_BLOCKING), 1);
	ck_assert_uint_eq(count(&e, TABLE_RELATION), 2); /* by the pipe, by the signal */
	ck_assert_uint_gt(count(&e, TABLE_PREEMPTION), 0);
	ck_assert_uint_eq(count(&e, TABLE_CONNECTION), 1);
	ck_assert(model_look_fd(e.m, A, 3, &fd));
	ck_assert_str_eq(strpool_text(fd.path), "/data");
	events_release(&e);
}
END_TEST

/* The call that a thread is in, by when it was entered. */
START_TEST(test_look_call)
{
	struct events e;

	events_init(&e);
	model_begin(e.m, BEGIN);
	ck_assert_uint_eq(model_look_call(e.m, A), 0);
	events_switch(&e, 1100, 0, 0, RUNNABLE, A, "a");
	ck_assert_uint_eq(model_look_call(e.m, A), 0);
	SYSCALL_ENTRY(&e, 1200, 0, A, "read", .fd = 3);
	ck_assert_uint_eq(model_look_call(e.m, A), 1200);
	ck_assert_uint_eq(model_look_call(e.m, 0), 0);
	SYSCALL_EXIT(&e, 1300, 0, A, "read", .ret = 1);
	ck_assert_uint_eq(model_look_call(e.m, A), 0);
	events_release(&e);
}
END_TEST

START_TEST(test_threads_alone)
{
	struct model_fd fd;
	struct events e;

	start(&e, 1 << TABLE_THREAD);
	ck_assert_uint_eq(events_thread(&e, A)->blocked_ns, 80);
	ck_assert_uint_eq(events_thread(&e, A)->ready_ns, 100);
	ck_assert_uint_eq(events_thread(&e, A)->cpu_ns, 120);
	ck_assert_uint_eq(events_thread(&e, A)->syscalls, 5);
	ck_assert_uint_eq(events_thread(&e, A)->latency.sum, 100);
	ck_assert_ptr_nonnull(events_thread(&e, OLD)); /* it had a file in the dump */
	ck_assert_uint_eq(events_thread(&e, A)->read_pipe, 0);
	ck_assert_uint_eq(e.m->host->fds, 0);
	ck_assert(!model_look_fd(e.m, A, 3, &fd));
	for (unsigned i = 0; i < G_N_ELEMENTS(groups); i++)
		for (int table = 0; table < TABLES; table++)
			if (groups[i] >> table & 1)
				ck_assert_uint_eq(count(&e, table), 0);
	events_release(&e);
}
END_TEST

/* A row as text, except numbers of other rows and of objects outside its table. */
static void print_row(GString *text, const struct table_desc *desc, const uint64_t *cells)
{
	for (unsigned i = 1; i < desc->n_cells; i++)
		if (desc->cells[i].type != TYPE_NONE)
			g_string_append_printf(text, " %s=%" G_GUINT64_FORMAT, desc->cells[i].name, cells[i]);
	g_string_append_c(text, '\n');
}

static char *print_table(struct events *e, enum table_id table)
{
	const struct state_table *t = &e->m->state.tables[table];
	GString *text = g_string_new(NULL);

	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;)
		print_row(text, t->desc, state_cells(t, row));
	return g_string_free(text, FALSE);
}

/* Each group alone has the same rows as with all others. */
START_TEST(test_each_alone)
{
	struct events all, one;
	char *expected, *found;

	start(&all, MODEL_ALL_FIGURES);
	for (unsigned i = 0; i < G_N_ELEMENTS(groups); i++) {
		start(&one, groups[i]);
		for (int table = 0; table < TABLES; table++) {
			if (!(groups[i] >> table & 1))
				continue;
			ck_assert_uint_gt(count(&one, table), 0);
			expected = print_table(&all, table);
			found = print_table(&one, table);
			ck_assert_str_eq(found, expected);
			g_free(expected);
			g_free(found);
		}
		events_release(&one);
	}
	events_release(&all);
}
END_TEST

START_TEST(test_bytes_without_lives)
{
	struct model_fd fd;
	struct events e;

	start(&e, MODEL_FDS);
	ck_assert_uint_eq(events_thread(&e, A)->write_disk, 4);
	ck_assert_uint_eq(events_thread(&e, A)->read_pipe, 10);
	ck_assert_uint_gt(e.m->host->fds, 0);
	ck_assert_uint_eq(count(&e, TABLE_CONNECTION), 0);
	events_release(&e);
	start(&e, MODEL_PEERS);
	ck_assert(model_look_fd(e.m, A, 3, &fd));
	ck_assert_str_eq(strpool_text(fd.path), "/data");
	ck_assert_uint_eq(count(&e, TABLE_BLOCKING), 0);
	events_release(&e);
}
END_TEST

/* Only the packet of its write shows of which kind a socket is that is older than the trace. */
START_TEST(test_bytes_of_old_socket)
{
	struct events e;

	events_init(&e);
	model_set_figures(e.m, MODEL_FDS);
	model_begin(e.m, BEGIN);
	events_switch(&e, 1100, 0, 0, RUNNABLE, A, "a");
	EVENT(&e, 1105, 0, A, DUMP_FD, dump_fd, .pid = A, .fd = 9, .filename = str(&rec, "socket:[1]"));
	SYSCALL_ENTRY(&e, 1110, 0, A, "write", .fd = 9);
	packet(&e, 1120, true);
	SYSCALL_EXIT(&e, 1130, 0, A, "write", .ret = 20);
	ck_assert_uint_eq(events_thread(&e, A)->write_net, 20);
	events_release(&e);
}
END_TEST

/* A host's sessions come and go, each with as many classes as a kernel has, while a monitor runs. */
START_TEST(test_ended_sources_leave_nothing_behind)
{
	enum { SOURCES = 200, EARLY = 20, CLASSES = 1000, LEFT_BYTES = 512 };
	size_t early = 0;
	struct events e;

	events_init(&e);
	for (unsigned source = 1; source <= SOURCES; source++) {
		for (unsigned id = 0; id < CLASSES; id++) {
			struct record r;
			struct ev_class p = { .kind = EVENT_OTHER };

			record_init(&r, 0, EVENT_NO_CPU, EVENT_NO_TID, EVENT_CLASS);
			r.ev.class_id = (uint16_t)id;
			p.name = str(&r, "any");
			memcpy(r.ev.words, &p, sizeof(p));
			model_apply(e.m, source, &r.ev);
		}
		model_end_source(e.m, source);
		if (source == EARLY)
			early = unit_allocated();
	}
	ck_assert_uint_le(unit_allocated(), early + (SOURCES - EARLY) * LEFT_BYTES);
	events_release(&e);
}
END_TEST

/* Many other threads come and go. */
static void pass_threads(const struct model *m, int from, int to)
{
	char name[32];

	for (int i = from; i < to; i++) {
		snprintf(name, sizeof(name), "other-%d", i);
		strpool_intern_brief(name, strlen(name));
		if (!strpool_round_due())
			continue;
		strpool_round_begin();
		model_keep_paths(m);
		strpool_round_end();
	}
}

static void check_names_stay(const struct state_table *t)
{
	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;)
		for (unsigned c = 0; c < t->desc->n_cells; c++)
			if (t->desc->cells[c].type == TYPE_TEXT)
				ck_assert_msg(strcmp(strpool_text((strid)state_cells(t, row)[c]), "…") != 0,
					      "%s is forgotten", t->desc->cells[c].name);
}

/* Names that may be forgotten are kept while a row has them. */
START_TEST(test_names_stay)
{
	struct events e;

	strpool_set_limit(32000, 1 << 16);
	events_init(&e);
	pass_threads(e.m, 0, 1000);
	model_set_figures(e.m, MODEL_ALL_FIGURES);
	model_begin(e.m, BEGIN);
	EVENT(&e, 1010, 0, 0, DUMP_NETIF, dump_netif, .name = str(&rec, "veth1"));
	play(&e);
	EVENT(&e, 1510, 0, A, RENAME, task, .tid = A, .comm = "renamed");
	pass_threads(e.m, 1000, 20000);
	ck_assert_uint_gt(strpool_forgotten(), 10000);
	ck_assert_str_eq(strpool_text((strid)events_thread(&e, A)->comm), "renamed");
	for (int i = 0; i < TABLES; i++)
		check_names_stay(&e.m->state.tables[i]);
	events_release(&e);
	strpool_release();
	strpool_set_limit(64 << 20, 256 << 20);
}
END_TEST

UNIT_MAIN("model", test_look_call, test_names_stay, test_ended_sources_leave_nothing_behind, test_all_at_first,
	  test_threads_alone, test_each_alone, test_bytes_without_lives, test_bytes_of_old_socket)
