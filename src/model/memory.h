/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_MEMORY_H
#define LT_MODEL_MEMORY_H

/*
 * The bound of what a model takes (struct model_memory). Memory grows with the
 * numbers of rows; where it would pass the bound, between two events,
 *
 *   rows that were made and ended since the frame began go at once: nobody outside knows them, and
 *     their figures are added to a row "other" of their table
 *   the threads that did nothing for the longest time are forgotten: their rows end, with those of
 *     their calls and files; what they do later counts in a new row
 *
 * so that the sums of an interval are the same with and without. What does not get a row at
 * all, an fd that is only to be listed, is counted. model_shortage() says that it happened.
 */
#include "model/internal.h"

/* Looks how much is used, and makes room; sets how much more or less it may become until the next look. */
void memory_make_room(struct model *m);

/* Before each event. */
static inline void memory_check(struct model *m)
{
	if (m->state.bytes + m->fds_bytes - m->room_from > m->room)
		memory_make_room(m);
}

/* Whether n more rows of the table fit, which can be done without; if not, the row "other" stands for them. */
bool memory_has_room(struct model *m, enum table_id table, uint32_t n);

#endif
