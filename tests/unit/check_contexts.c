/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contexts of threads, held until an event of the thread is taken. */
#include "unit.h"

#include "event/payload.h"
#include "event/tracepoints.h"
#include "events.h"
#include "ingest/contexts.h"
#include "ingest/input.h"

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

/* Without the values of counters that came with it. */
START_TEST(test_with_counters)
{
	struct contexts *c = contexts_create();
	const struct ev_context p = { .pid = 70 };
	struct record r;

	record_init(&r, 10, 0, 7, EVENT_CONTEXT);
	memcpy(r.ev.words, &p, sizeof(p));
	r.ev.n_perf = 2;
	r.ev.size += 2 * 8;
	ck_assert_ptr_null(event_check(&r.ev, sizeof(r)));
	contexts_hold(c, &r.ev);
	expect(c, 7, 70);
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

/* ---- of a host ---- */

/* An input of the host, with a trace of its kernel. */
static struct input *add_input(struct host *host, const struct source_spec *spec)
{
	struct input *input = input_create(spec, 0, 1, false);
	struct record r;

	input->host = host;
	record_init(&r, 0, 0, 0, EVENT_TRACE);
	((struct ev_trace *)(void *)r.ev.words)->domain = DOMAIN_KERNEL;
	kernel_declare(input, &r.ev);
	return input;
}

/* Whether the context is to be applied, by itself. */
static bool takes_context(struct input *input, int32_t tid, int64_t pid)
{
	const struct ev_context p = { .pid = pid };
	struct record r;

	record_init(&r, 10, 0, tid, EVENT_CONTEXT);
	memcpy(r.ev.words, &p, sizeof(p));
	if (!kernel_takes(input->host, input, &r.ev))
		return false;
	ck_assert_ptr_null(kernel_context(input, &r.ev));
	return true;
}

/* The PID in the context that is to be applied before an event of the thread; 0: there is none. */
static int64_t pid_before_event(struct input *input, int32_t tid)
{
	const struct event *context;
	struct record r;

	record_init(&r, 10, 0, tid, EVENT_OTHER);
	ck_assert(kernel_takes(input->host, input, &r.ev));
	context = kernel_context(input, &r.ev);
	return context ? event_payload(context, ev_context)->pid : 0;
}

/* What was held while there were two sessions is applied when one has left, unless a newer one was. */
START_TEST(test_one_session_leaves)
{
	const struct ingest_host known = { .name = (char *)"web", .source = (char *)"", .tracer = (char *)"" };
	const struct source_spec specs[] = { { .name = (char *)"one" }, { .name = (char *)"other" } };
	struct host *host = host_restore("web", "", &known);
	struct input *input = add_input(host, &specs[0]), *other = add_input(host, &specs[1]);

	for (int32_t tid = 1; tid <= 3; tid++)
		ck_assert(!takes_context(input, tid, 10 * tid));
	kernel_leave(other);
	ck_assert_int_eq(pid_before_event(input, 1), 10);
	ck_assert(takes_context(input, 2, 21));
	ck_assert_int_eq(pid_before_event(input, 2), 0);
	other->host = NULL;
	input_free(other);
	other = add_input(host, &specs[1]);
	ck_assert_int_eq(pid_before_event(input, 2), 0);
	ck_assert_int_eq(pid_before_event(input, 3), 30);
	input_free(other);
	input_free(input);
	host_free(host);
}
END_TEST

UNIT_MAIN("contexts", test_of_each_thread, test_with_counters, test_of_many_threads, test_one_session_leaves)
