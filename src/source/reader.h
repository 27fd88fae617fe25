/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_READER_H
#define LT_SOURCE_READER_H

#include "base/status.h"
#include "source/extent.h"
#include "source/slice.h"
#include "source/ring.h"

/*
 * What decodes: the worker drives one reader, which writes records into the
 * ring. Another decoder takes its place by implementing these functions.
 */
struct reader;

struct reader_args {
	const char *name;         /* of the source, for EVENT_TRACE */
	const char *const *paths; /* NULL-terminated: the directories of one trace */
	unsigned part, parts;     /* read only streams of every parts-th CPU */
	struct extent found;      /* of the paths when they were found: less than that is incomplete */
	struct slice_range range; /* only what is in it */
};

/*
 * Opens the trace and writes the prologue up to EVENT_READY into the ring.
 * LT_ERROR: cannot be read; the reader is gone.
 */
enum lt_status reader_open(const struct reader_args *args, struct ring_producer *ring, struct reader **out);

/*
 * Writes some hundred records. LT_OK: more to come. LT_END: that was all.
 * LT_ERROR: everything that can be read was written, but part of the trace was not readable; notes said what.
 */
enum lt_status reader_step(struct reader *r);

void reader_close(struct reader *r);

#endif
