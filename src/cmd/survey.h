/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_SURVEY_H
#define LT_CMD_SURVEY_H

#include <glib.h>
#include <stdint.h>

#include "base/status.h"
#include "ingest/clocks.h"
#include "ingest/visit.h"

/*
 * A reading of recordings of several hosts without their models: for their clocks, or to see each event. It
 * works a little at a time, so that the caller can look after other things.
 */
struct survey;

/*
 * Reads the sources (const char *, recordings) for the packets of clocks (NULL: for none); the visitor (NULL: nobody)
 * sees each event, without fields. NULL: none of them can be read. All borrowed.
 */
struct survey *survey_create(const GPtrArray *sources, unsigned workers, struct clocks *clocks,
			     const struct ingest_visitor *visitor);

/* At any moment. NULL is allowed. */
void survey_destroy(struct survey *s);

/*
 * Goes on for about budget_ns. LT_OK: there is more at once. LT_AGAIN: the workers have nothing now. LT_END: all is
 * read; the clocks are still to be finished.
 */
enum lt_status survey_run(struct survey *s, uint64_t budget_ns);

/* Readable when survey_run() that said LT_AGAIN may go on. */
int survey_fd(const struct survey *s);

/* What it reads. Borrowed. */
struct ingest *survey_ingest(const struct survey *s);

#endif
