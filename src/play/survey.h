/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_PLAY_SURVEY_H
#define LT_PLAY_SURVEY_H

#include <glib.h>
#include <stdint.h>

#include "base/status.h"
#include "ingest/clocks.h"
#include "ingest/visit.h"

/*
 * Reads recordings of several hosts without models: for their clocks, or to see each event. It works in small steps so
 * that the caller can do other things.
 */
struct survey;

/*
 * Reads the sources (const char *, recordings) for the packets of clocks (may be NULL); the visitor (may be NULL) sees
 * each event, without fields. NULL: none of them can be read. Everything is borrowed.
 */
struct survey *survey_create(const GPtrArray *sources, unsigned workers, struct clocks *clocks,
			     const struct ingest_visitor *visitor);

/* Can be called at any time. NULL is allowed. */
void survey_destroy(struct survey *s);

/*
 * Continues for about budget_ns. LT_OK: more is available. LT_AGAIN: the workers have nothing at present. LT_END:
 * everything has been read; the clocks have yet to be finished.
 */
enum lt_status survey_run(struct survey *s, uint64_t budget_ns);

/* Becomes readable when survey_run() can continue after LT_AGAIN. */
int survey_fd(const struct survey *s);

/* The ingest that it reads with. Borrowed. */
struct ingest *survey_ingest(const struct survey *s);

#endif
