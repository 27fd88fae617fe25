/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_READER_H
#define LT_READER_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "source/extent.h"
#include "source/ring.h"

/* Decodes a recording: the worker drives one reader, which writes records into the ring. */
struct reader;

struct reader_args {
	const char *name;          /* of the source, for EVENT_TRACE */
	const char *const *paths;  /* NULL-terminated: the directories of one trace */
	unsigned part, parts;      /* reads only the streams of every parts-th CPU */
	struct extent found;       /* when the paths were found; less than that now is reported */
	const char *wanted;        /* events whose fields are all recorded: event/wanted.h; NULL: no events */
	bool is_unfinished;        /* it is being written: the last packet of a file may be incomplete */
	uint64_t begin_ns, end_ns; /* reads only [begin, end[, by the trace's clock */
};

/* A decoder: a library, or our own code. */
struct reader_type {
	const char *name; /* as the user may select it */
	/*
	 * Opens the trace. LT_AGAIN: another type may be able to; the error chain has the reason. LT_ERROR: it cannot
	 * be read.
	 */
	enum lt_status (*open)(const struct reader_args *args, struct ring_producer *ring, struct reader **out);
};

/*
 * The first call writes everything before the first event, up to EVENT_READY; each call writes several hundred records.
 * LT_OK: more to come. LT_END: finished. LT_ERROR: all readable data was written, but parts of the trace were not
 * readable; notes have the reasons.
 */
enum lt_status reader_step(struct reader *r);

void reader_close(struct reader *r);

#endif
