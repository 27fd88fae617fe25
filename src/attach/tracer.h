/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_TRACER_H
#define LT_ATTACH_TRACER_H

#include "attach/filter.h"
#include "attach/record.h"
#include "attach/select.h"
#include "ingest/ingest.h"

/*
 * Follows the chosen threads through the events of all hosts (ingest/visit.h): joins entries and exits of calls,
 * decodes their fields while the model knows what the fds are, and hands over a record of each.
 */
struct attach_tracer_options {
	const struct attach_select *select;
	const struct attach_filter *filter;
	unsigned paths;            /* 1: paths of fds (-y), 2: peers of sockets too (-yy) */
	bool whole_calls;          /* no ENTRY records: what is shown of a call depends on how it ends */
	bool sched;                /* --sched */
	uint64_t begin_ns, end_ns; /* only of these reference times */

	bool (*wants_host)(void *user, unsigned host); /* only of hosts of these numbers; NULL: of all */
	/* What an fd is that the model does not know, at ts_ns of the host's clock; NULL: nobody else does. */
	bool (*look_fd)(void *user, int32_t tid, int64_t fd, uint64_t ts_ns, struct model_fd *out);
	/* Takes the record over. */
	void (*emit)(void *user, struct attach_record *r);
	void *user;
};

struct attach_tracer;

/* The options are borrowed for its life. */
struct attach_tracer *attach_tracer_create(const struct attach_tracer_options *options);
void attach_tracer_destroy(struct attach_tracer *t);

/* For struct ingest_options: the events come from there. Borrowed from the tracer. */
const struct ingest_visitor *attach_tracer_visitor(const struct attach_tracer *t);

/* Whose events they are, before the first one comes; attach_tracer_advance() says it, too. */
void attach_tracer_set_ingest(struct attach_tracer *t, struct ingest *in);

/* Reads on, to this reference time: ingest_advance_in_order(). */
enum lt_status attach_tracer_advance(struct attach_tracer *t, struct ingest *in, uint64_t until_ns,
				     const volatile bool *stop);

/* The record is over: calls that go on are handed over as such. */
void attach_tracer_finish(struct attach_tracer *t);

#endif
