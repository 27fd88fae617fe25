/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_WAIT_H
#define LT_ATTACH_WAIT_H

#include <jansson.h>

#include "attach/record.h"
#include "ingest/ingest.h"
#include "waits/waits.h"

/*
 * Why a call waited, from the critical path of its thread between entry and exit. The parts written for a call add up
 * to its duration: cpu and all waits.
 */
struct attach_wait {
	struct wait_path path;
	bool known;         /* the path covers the call */
	uint64_t waited_ns; /* everything but running itself */
};

void attach_wait_init(struct attach_wait *w);
void attach_wait_release(struct attach_wait *w);

/* The reference time from which on attach_wait_resolve() needs the wait graph; UINT64_MAX: it does not need it. */
uint64_t attach_wait_needs(const struct attach_record *r);

/* Resolves the path of the record's call; the graph must be built up to its exit. */
void attach_wait_resolve(struct attach_wait *w, struct ingest *in, const struct attach_record *r);

/* Appends " [blocked 4.1 ms on vda, cpu 22 us]"; nothing if the call did not wait. */
void attach_wait_append(const struct attach_wait *w, struct ingest *in, const struct attach_record *r, GString *out);

/* Appends the path, one indented line per segment. */
void attach_wait_append_path(const struct attach_wait *w, struct ingest *in, const struct attach_record *r,
			     GString *out);

/* The path as a JSON array of segments; a new reference. */
json_t *attach_wait_json(const struct attach_wait *w, struct ingest *in);

#endif
