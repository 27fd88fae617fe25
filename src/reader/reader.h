/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_READER_H
#define LT_READER_READER_H

#include <stdint.h>

#include "base/status.h"
#include "source/extent.h"
#include "source/ring.h"

/*
 * What decodes a recording: the worker drives one reader, which writes records into the ring.
 */
struct reader;

struct reader_args {
	const char *name;          /* of the source, for EVENT_TRACE */
	const char *const *paths;  /* NULL-terminated: the directories of one trace */
	unsigned part, parts;      /* read only streams of every parts-th CPU */
	struct extent found;       /* of the paths when they were found: less than that is incomplete */
	const char *wanted;        /* of which events all fields are written: event/wanted.h; NULL: of none */
	uint64_t begin_ns, end_ns; /* only what is in [begin, end[, by the trace's clock */
};

/* A library, or code of our own, that decodes. */
struct reader_type {
	const char *name; /* as the user may ask for it */
	/*
	 * Opens the trace. LT_AGAIN: another type may be able to, the error chain says why this one is not.
	 * LT_ERROR: it cannot be read.
	 */
	enum lt_status (*open)(const struct reader_args *args, struct ring_producer *ring, struct reader **out);
};

/*
 * Writes what is said before the first event, up to EVENT_READY, then at each call some hundred records.
 * LT_OK: more to come. LT_END: that was all.
 * LT_ERROR: everything that can be read was written, but part of the trace was not readable; notes said what.
 */
enum lt_status reader_step(struct reader *r);

void reader_close(struct reader *r);

#endif
