/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields wanted, changed while a worker reads: what comes from then on, and what another visitor sees. */
#include "unit.h"

#include <glib.h>
#include <poll.h>
#include <string.h>

#include "base/error.h"
#include "base/strpool.h"
#include "event/fields.h"
#include "event/payload.h"
#include "event/wanted.h"
#include "ingest/visit.h"
#include "source/source.h"

enum { PATIENCE_MS = 60000, SOME = 3000, TID = 1524 };

static const char *build(void)
{
	return getenv("BUILD") ? getenv("BUILD") : "build";
}

static char *recording(const char *name)
{
	static char *program;

	if (!program)
		program = g_build_filename(build(), "lttngtop", NULL);
	source_set_worker_program(program);
	return g_build_filename(build(), "traces", name, NULL);
}

static const struct event *next(struct source *s)
{
	struct pollfd fd = { .fd = source_fd(s), .events = POLLIN };
	enum lt_status status;
	const struct event *ev;

	while ((status = source_peek(s, &ev)) == LT_AGAIN)
		ck_assert_int_eq(poll(&fd, 1, PATIENCE_MS), 1);
	ck_assert_msg(status == LT_OK, "%s", error_text());
	return ev;
}

/* Until the answer to the request: no fields except those wanted before, of classes that may be declared meanwhile. */
static void await_wanted(struct source *s, uint32_t number, struct shapes *shapes)
{
	for (;; source_next(s)) {
		const struct event *ev = next(s);

		if (ev->kind == EVENT_SHAPE)
			ck_assert_ptr_null(shapes_take(shapes, ev));
		if (ev->kind != EVENT_WANTED)
			continue;
		ck_assert_uint_eq(event_payload(ev, ev_wanted)->number, number);
		source_next(s);
		return;
	}
}

struct count {
	unsigned calls, fields, others; /* events of calls, with fields, those with fields of other threads */
	unsigned shapes;
};

static struct count count_records(struct source *s, struct shapes *shapes)
{
	struct count n = { 0 };

	for (unsigned i = 0; i < SOME; i++, source_next(s)) {
		const struct event *ev = next(s);

		n.calls += ev->kind == EVENT_SYSCALL_ENTRY && ev->tid == TID;
		n.fields += ev->kind == EVENT_FIELDS;
		n.others += ev->kind == EVENT_FIELDS && ev->tid != TID;
		n.shapes += ev->kind == EVENT_SHAPE;
		/* a class must not be declared twice */
		if (ev->kind == EVENT_SHAPE)
			ck_assert_ptr_null(shapes_take(shapes, ev));
		if (ev->kind == EVENT_FIELDS)
			ck_assert_ptr_nonnull(shapes_find(shapes, ev));
	}
	return n;
}

START_TEST(test_while_it_reads)
{
	/* much more than the ring has room for: the worker must not be at its end when it is asked */
	char *directory = recording("locks-pipes/web"), *all, *one;
	struct fields_wanted wanted;
	const int32_t tid = TID;
	struct source_spec *spec;
	struct shapes shapes;
	struct source *s;
	struct count n;

	fields_wanted_init(&wanted);
	wanted.classes = WANTED_CALLS;
	all = fields_wanted_text(&wanted);
	g_array_append_val(wanted.tids, tid);
	one = fields_wanted_text(&wanted);
	shapes_init(&shapes);
	ck_assert_int_eq(source_growing_spec(directory, &spec), LT_OK);
	ck_assert_int_eq(source_start(spec, 0, 1, &s), LT_OK);
	n = count_records(s, &shapes);
	ck_assert_uint_eq(n.fields + n.shapes, 0);
	ck_assert(source_want_fields(s, all, 7));
	await_wanted(s, 7, &shapes);
	n = count_records(s, &shapes);
	ck_assert_uint_gt(n.others, 300);
	ck_assert_uint_gt(n.shapes, 10);
	ck_assert(source_want_fields(s, one, 8));
	await_wanted(s, 8, &shapes);
	n = count_records(s, &shapes);
	ck_assert_uint_eq(n.others, 0);
	ck_assert(source_want_fields(s, "0 0 0", 9));
	await_wanted(s, 9, &shapes);
	n = count_records(s, &shapes);
	ck_assert_uint_eq(n.fields, 0);
	source_stop(s);
	source_spec_free(spec);
	shapes_release(&shapes);
	fields_wanted_release(&wanted);
	g_free(all);
	g_free(one);
	g_free(directory);
}
END_TEST

/* ---- visitors ---- */

struct seen {
	struct fields_wanted wanted;
	struct ingest_visitor visitor;
	unsigned events, fields;
	uint64_t first_ns; /* of an event with fields; 0: none */
};

static void visit(void *user, const struct ingest_visit *v)
{
	struct seen *seen = user;

	seen->events++;
	if (!v->fields)
		return;
	seen->fields++;
	if (!seen->first_ns)
		seen->first_ns = v->event->ts_ns;
	/* must not be found by the next visitor */
	ck_assert(!v->shape->user || v->shape->user == seen);
	v->shape->user = seen;
}

static void seen_init(struct seen *seen)
{
	*seen = (struct seen){ 0 };
	fields_wanted_init(&seen->wanted);
	seen->wanted.classes = WANTED_CALLS;
	seen->visitor = (struct ingest_visitor){ .wanted = &seen->wanted, .before = visit, .user = seen };
}

/* Runs until this many more events have been applied; returns their number. */
static void advance(struct ingest *in, uint64_t records)
{
	const gint64 end_us = g_get_monotonic_time() + 1000 * (gint64)PATIENCE_MS;

	while (records) {
		const uint64_t n = MIN(records, 100), before_ns = ingest_host(in, 0)->end_ns;

		ck_assert_int_ne(ingest_advance(in, 0, UINT64_MAX, n), LT_END);
		if (ingest_host(in, 0)->end_ns == before_ns) {
			ck_assert(g_get_monotonic_time() < end_us);
			ingest_watch(in);
			ingest_wait(in, 20);
		} else {
			records -= n;
		}
	}
}

START_TEST(test_visitors)
{
	const struct ingest_options options = { .growing = true };
	struct ingest *in = ingest_create(&options);
	char *directory = recording("three-tier/web");
	struct seen first, second;
	uint64_t from_ns;

	seen_init(&first);
	seen_init(&second);
	ck_assert_msg(ingest_open(in, directory) == LT_OK, "%s", error_text());
	ck_assert_msg(ingest_start(in, NULL) == LT_OK, "%s", error_text());
	advance(in, SOME);
	ingest_set_visitor(in, &first.visitor, 0);
	ck_assert_uint_eq(ingest_visited_from(in), UINT64_MAX);
	while ((from_ns = ingest_visited_from(in)) == UINT64_MAX)
		advance(in, 100);
	advance(in, SOME);
	ck_assert_uint_gt(first.fields, 300);
	ck_assert_uint_ge(first.first_ns, from_ns);
	ck_assert_uint_gt(from_ns, ingest_host(in, 0)->begin_ns);
	/* data that the first one attached to shapes is gone */
	ingest_set_visitor(in, &second.visitor, 0);
	first.fields = first.events = 0;
	while (ingest_visited_from(in) == UINT64_MAX)
		advance(in, 100);
	advance(in, SOME);
	ck_assert_uint_eq(first.events, 0);
	ck_assert_uint_gt(second.fields, 300);
	second.events = 0;
	ingest_set_visitor(in, NULL, 0);
	advance(in, SOME);
	ck_assert_uint_eq(second.events, 0);
	ingest_destroy(in);
	fields_wanted_release(&first.wanted);
	fields_wanted_release(&second.wanted);
	strpool_release();
	g_free(directory);
}
END_TEST

UNIT_MAIN("wanted", test_while_it_reads, test_visitors)
