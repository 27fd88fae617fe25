/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UNIT_EVENTS_H
#define LT_UNIT_EVENTS_H

/*
 * Hand-built records for the model's tests:
 *
 * 	struct events e;
 * 	events_init(&e);                                    a kernel trace with a tid context
 * 	events_switch(&e, 100, 0, 0, 0, 7, "cat");          t, cpu, prev, prev_state, next
 * 	EVENT(&e, 120, 0, 7, IRQ_ENTRY, irq, .irq = 3);      t, cpu, tid, kind, payload, members
 * 	SYSCALL_ENTRY(&e, 130, 0, 7, "read", .fd = 3);
 * 	SYSCALL_EXIT(&e, 140, 0, 7, "read", .ret = 5);
 *
 * A string member is given as str(&rec, "text"), where rec is the record under construction.
 */

#include <check.h>
#include <glib.h>
#include <string.h>

#include "event/payload.h"
#include "event/tracepoints.h"
#include "model/parts_internal.h"

struct record {
	struct event ev;
	uint64_t words[64];
	char text[1024];
};

struct events {
	struct model *m;
	GHashTable *classes; /* event name -> class id + 1 */
	uint32_t present;    /* for the next EVENT; all ones by default */
};

/* Appends text after the payload of r and points to it. r->ev.kind and n_words must be set. */
static inline struct event_str str(struct record *r, const char *text)
{
	size_t len = strlen(text);
	struct event_str s = { r->ev.size, (uint32_t)len };

	memcpy((char *)r + r->ev.size, text, len);
	r->ev.size += (uint32_t)((len + 7) / 8 * 8);
	return s;
}

static inline void record_init(struct record *r, uint64_t ts_ns, unsigned cpu, int64_t tid, enum event_kind kind)
{
	memset(r, 0, sizeof(*r));
	r->ev.kind = (uint16_t)kind;
	r->ev.ts_ns = ts_ns;
	r->ev.cpu = (uint16_t)cpu;
	r->ev.tid = (int32_t)tid;
	r->ev.class_id = EVENT_NO_CLASS;
	r->ev.n_words = tracepoint_desc(kind)->n_words;
	r->ev.size = (uint32_t)(sizeof(r->ev) + 8 * r->ev.n_words);
	r->ev.present = ~0u;
}

static inline void events_apply(struct events *e, struct record *r, const void *payload, size_t size)
{
	memcpy(r->ev.words, payload, size);
	ck_assert_ptr_null(event_check(&r->ev, sizeof(*r)));
	model_apply(e->m, 0, &r->ev);
}

/* The class id of an event name, which is announced to the model on first use. */
static inline uint16_t events_class(struct events *e, const char *name)
{
	gpointer known = g_hash_table_lookup(e->classes, name);
	struct ev_class p = { 0 };
	struct record r;

	if (!known) {
		known = GINT_TO_POINTER((int)g_hash_table_size(e->classes) + 1);
		g_hash_table_insert(e->classes, g_strdup(name), known);
		record_init(&r, 0, EVENT_NO_CPU, EVENT_NO_TID, EVENT_CLASS);
		r.ev.class_id = (uint16_t)(GPOINTER_TO_INT(known) - 1);
		p.name = str(&r, name);
		p.kind = tracepoint_find(name, NULL);
		events_apply(e, &r, &p, sizeof(p));
	}
	return (uint16_t)(GPOINTER_TO_INT(known) - 1);
}

/* Without a trace. */
static inline void events_init_empty(struct events *e)
{
	*e = (struct events){ .m = model_create(), .present = ~0u };
	e->classes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

/* Declares a trace of the host, which may be declared already. */
static inline void events_trace(struct events *e, unsigned trace, enum trace_domain domain)
{
	const struct ev_trace p = { .domain = domain, .has_tid = domain == DOMAIN_KERNEL };
	struct record r;

	record_init(&r, 0, EVENT_NO_CPU, EVENT_NO_TID, EVENT_TRACE);
	r.ev.trace = (uint16_t)trace;
	events_apply(e, &r, &p, sizeof(p));
}

static inline void events_init(struct events *e)
{
	events_init_empty(e);
	events_trace(e, 0, DOMAIN_KERNEL);
}

static inline void events_release(struct events *e)
{
	model_destroy(e->m);
	g_hash_table_unref(e->classes);
}

/* The first name in the kind's row. */
static inline void events_name(enum event_kind kind, char name[64])
{
	const char *names = tracepoint_desc(kind)->names;
	size_t len = strcspn(names, " ");

	memcpy(name, names, len);
	name[len] = '\0';
}

static inline void events_add(struct events *e, struct record *r, const void *payload, size_t size)
{
	char name[64];

	events_name((enum event_kind)r->ev.kind, name);
	r->ev.class_id = events_class(e, name);
	r->ev.present = e->present;
	events_apply(e, r, payload, size);
}

/* Adds a tracepoint's record; members may use str(&rec, "…"). */
#define EVENT(e, t, on_cpu, in_tid, KIND, type, ...)                \
	do {                                                        \
		struct record rec;                                  \
                                                                    \
		record_init(&rec, t, on_cpu, in_tid, EVENT_##KIND); \
		struct ev_##type payload = { __VA_ARGS__ };         \
		events_add(e, &rec, &payload, sizeof(payload));     \
	} while (0)

static inline void events_call(struct events *e, struct record *r, const char *prefix, const char *call,
			       const void *payload, size_t size)
{
	char *name = g_strconcat(prefix, call, NULL);

	r->ev.class_id = events_class(e, name);
	r->ev.present = e->present;
	events_apply(e, r, payload, size);
	g_free(name);
}

#define SYSCALL_ENTRY(e, t, on_cpu, in_tid, call, ...)                                   \
	do {                                                                             \
		struct record rec;                                                       \
                                                                                         \
		record_init(&rec, t, on_cpu, in_tid, EVENT_SYSCALL_ENTRY);               \
		struct ev_syscall_entry payload = { .nr = -1, __VA_ARGS__ };             \
		events_call(e, &rec, "syscall_entry_", call, &payload, sizeof(payload)); \
	} while (0)

#define SYSCALL_EXIT(e, t, on_cpu, in_tid, call, ...)                                   \
	do {                                                                            \
		struct record rec;                                                      \
                                                                                        \
		record_init(&rec, t, on_cpu, in_tid, EVENT_SYSCALL_EXIT);               \
		struct ev_syscall_exit payload = { .nr = -1, __VA_ARGS__ };             \
		events_call(e, &rec, "syscall_exit_", call, &payload, sizeof(payload)); \
	} while (0)

/*
 * A sched_switch on a CPU; next's name becomes comm, prev's is unchanged. As if the source could look ahead: no offline
 * time.
 */
static inline void events_switch(struct events *e, uint64_t t, unsigned cpu, int64_t prev, int64_t prev_state,
				 int64_t next, const char *comm)
{
	struct ev_sched_switch p = { .prev_tid = prev, .prev_state = prev_state, .next_tid = next };
	struct record r;

	record_init(&r, t, cpu, prev, EVENT_SCHED_SWITCH);
	g_strlcpy(p.next_comm, comm, sizeof(p.next_comm));
	events_add(e, &r, &p, sizeof(p));
}

/* CPU 0 lost n events since begin_ns, which may be 0. */
static inline void events_lose(struct events *e, uint64_t t, uint64_t n, uint64_t begin_ns)
{
	struct ev_lost p = { .events = n, .begin_ns = begin_ns, .end_ns = t };
	struct record r;

	record_init(&r, t, 0, EVENT_NO_TID, EVENT_LOST);
	events_apply(e, &r, &p, sizeof(p));
}

/* Nothing is known of the CPU until end_ns. */
static inline void events_gap(struct events *e, uint64_t t, unsigned cpu, uint64_t end_ns)
{
	struct ev_gap p = { .end_ns = end_ns };
	struct record r;

	record_init(&r, t, cpu, EVENT_NO_TID, EVENT_GAP);
	events_apply(e, &r, &p, sizeof(p));
}

/* The row of the living thread with that tid; fails the test if there is none. */
static inline struct thread_row *events_thread(struct events *e, int64_t tid)
{
	uint32_t row = thread_find(e->m, tid);

	ck_assert_msg(row != NO_ROW, "no thread %d", (int)tid);
	return THREAD_ROW(e->m, row);
}

/* A figure at time t: EVENTS_VALUE(&e, THREAD, thread, row, cpu_ns, t) with row from events_thread(). */
#define EVENTS_VALUE(TABLE, type, row, member, t) \
	cell_value(table_descs[TABLE_##TABLE].cells, (const uint64_t *)(const void *)(row), CELL(type, member), t)

#endif
