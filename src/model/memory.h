/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_MEMORY_H
#define LT_MODEL_MEMORY_H

/*
 * The limit on a model's memory (struct model_memory). Memory grows with the number of rows; once it exceeds the limit,
 * between two events,
 *
 *   rows that were created and ended since the frame began go at once: they are not known outside, and
 *     their figures are added to a row "other" of their table
 *   the threads that were idle longest are forgotten: their rows end, with those of
 *     their calls and files; what they do later counts in a new row
 *
 * so that the sums of an interval are the same with a limit and without. Whatever gets no row at all, an fd that is
 * only to be listed, is counted. model_shortage() reports that it happened.
 */
#include "model/internal.h"

/* Determines how much is used, and makes room; sets how much more or less it may become until it is called again. */
void memory_make_room(struct model *m);

/* To be called before each event. */
static inline void memory_check(struct model *m)
{
	if (m->state.bytes + m->fds_bytes - m->room_from > m->room)
		memory_make_room(m);
}

/* Whether n more rows of the table fit that are not essential; if not, the row "other" stands for them. */
bool memory_has_room(struct model *m, enum table_id table, uint32_t n);

#endif
