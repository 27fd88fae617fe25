/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contexts of threads, held until an event of the thread is taken. */
#include "unit.h"

#include "event/payload.h"
#include "event/tracepoints.h"
#include "events.h"
#include "ingest/contexts.h"

static void hold(struct contexts *c, int32_t tid, int64_t pid)
{
	const struct ev_context p = { .pid = pid };
	struct record r;

	record_init(&r, 10, 0, tid, EVENT_CONTEXT);
	memcpy(r.ev.words, &p, sizeof(p));
	ck_assert_ptr_null(event_check(&r.ev, sizeof(r)));
	contexts_hold(c, &r.ev);
}

static void expect(struct contexts *c, int32_t tid, int64_t pid)
{
	const struct event *ev = contexts_take(c, tid);

	ck_assert_ptr_nonnull(ev);
	ck_assert_ptr_null(event_check(ev, ev->size));
	ck_assert_int_eq(ev->kind, EVENT_CONTEXT);
	ck_assert_int_eq(ev->tid, tid);
	ck_assert_int_eq(event_payload(ev, ev_context)->pid, pid);
	ck_assert_ptr_null(contexts_take(c, tid));
}

/* Each thread's last one, in any order, once. */
START_TEST(test_of_each_thread)
{
	struct contexts *c = contexts_create();

	ck_assert_ptr_null(contexts_take(c, 7));
	for (int32_t tid = 1; tid <= 5; tid++)
		hold(c, tid, 10 * tid);
	hold(c, 2, 21);
	expect(c, 5, 50);
	expect(c, 1, 10);
	expect(c, 4, 40);
	hold(c, 5, 51);
	expect(c, 2, 21);
	expect(c, 3, 30);
	expect(c, 5, 51);
	hold(c, 3, 31);
	contexts_clear(c);
	ck_assert_ptr_null(contexts_take(c, 3));
	contexts_destroy(c);
}
END_TEST

/* A host with very many threads does not fill the memory; the last ones are held. */
START_TEST(test_of_many_threads)
{
	enum { THREADS = 200000, BYTES_MAX = 8 << 20 };
	const size_t before = unit_allocated();
	struct contexts *c = contexts_create();

	for (int32_t tid = 1; tid <= THREADS; tid++)
		hold(c, tid, tid);
	ck_assert_uint_le(unit_allocated(), before + BYTES_MAX);
	expect(c, THREADS, THREADS);
	expect(c, THREADS - 1, THREADS - 1);
	ck_assert_ptr_null(contexts_take(c, 1));
	contexts_destroy(c);
}
END_TEST

UNIT_MAIN("contexts", test_of_each_thread, test_of_many_threads)
