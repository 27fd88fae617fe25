/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_WAIT_H
#define LT_ATTACH_WAIT_H

#include <jansson.h>

#include "attach/record.h"
#include "ingest/ingest.h"
#include "waits/waits.h"

/*
 * Why a call waited, from the critical path of its thread between entry and exit. What is written of a call
 * sums up to the path: cpu and all waits are its duration.
 */
struct attach_wait {
	struct wait_path path;
	bool known;         /* the path covers the call */
	uint64_t waited_ns; /* all of it but running itself */
};

void attach_wait_init(struct attach_wait *w);
void attach_wait_release(struct attach_wait *w);

/* Resolves the path of the record's call, of which the graph must be built up to its exit. */
void attach_wait_resolve(struct attach_wait *w, struct ingest *in, const struct attach_record *r);

/* " [blocked 4.1 ms on vda, cpu 22 us]"; nothing where the call did not wait. */
void attach_wait_append(const struct attach_wait *w, struct ingest *in, const struct attach_record *r, GString *out);

/* The path, a segment per line, each indented. */
void attach_wait_append_path(const struct attach_wait *w, struct ingest *in, const struct attach_record *r,
			     GString *out);

/* The same for JSON: an array of segments; a new reference. */
json_t *attach_wait_json(const struct attach_wait *w, struct ingest *in);

/* "4.1 ms", "22 us". */
void attach_append_duration(GString *out, uint64_t ns);

#endif
