/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_TRACER_H
#define LT_ATTACH_TRACER_H

#include "attach/filter.h"
#include "attach/record.h"
#include "attach/select.h"
#include "ingest/ingest.h"

/*
 * Follows chosen threads through the events of all hosts (ingest/visit.h): joins entries and exits of calls, decodes
 * their fields while the model knows the state of the fds, and emits a record of each.
 */
struct attach_tracer_options {
	const struct attach_select *select;
	const struct attach_filter *filter;
	unsigned paths;            /* 1: paths of fds (-y); 2: also addresses of sockets (-yy) */
	bool ascii;                /* "->" between addresses instead of an arrow */
	bool whole_calls;          /* emit no ENTRY records */
	bool sched;                /* --sched */
	uint64_t begin_ns, end_ns; /* only this range of reference time */

	bool (*wants_host)(void *user, unsigned host); /* only these hosts; NULL: all */
	/* Looks up an fd that the model does not know, at ts_ns on the host's clock; NULL: not possible. */
	bool (*look_fd)(void *user, int32_t tid, int64_t fd, uint64_t ts_ns, struct model_fd *out);
	/* Receives a record and takes ownership of it. */
	void (*emit)(void *user, struct attach_record *r);
	void *user;
};

struct attach_tracer;

/* The options are borrowed until attach_tracer_destroy(). */
struct attach_tracer *attach_tracer_create(const struct attach_tracer_options *options);
void attach_tracer_destroy(struct attach_tracer *t);

/* The visitor for struct ingest_options, from which the events come. Borrowed from the tracer. */
const struct ingest_visitor *attach_tracer_visitor(const struct attach_tracer *t);

/* Sets where the events come from. Call it before the first event; attach_tracer_advance() does so, too. */
void attach_tracer_set_ingest(struct attach_tracer *t, struct ingest *in);

/* Reads on up to this reference time: see ingest_advance_in_order(). */
enum lt_status attach_tracer_advance(struct attach_tracer *t, struct ingest *in, uint64_t until_ns,
				     const stop_flag *stop);

/* When the oldest call in progress began, in reference time; UINT64_MAX: there is none. */
uint64_t attach_tracer_oldest(const struct attach_tracer *t);

/* Whether an event of a chosen thread came. */
bool attach_tracer_chose(const struct attach_tracer *t);

/* To be called at the end: emits calls that are still in progress. */
void attach_tracer_finish(struct attach_tracer *t);

#endif
