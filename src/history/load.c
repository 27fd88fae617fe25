/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>

#include "history/internal.h"

void history_load_init(struct history_load *load)
{
	state_init(&load->end);
	interval_init(&load->interval);
}

void history_load_release(struct history_load *load)
{
	interval_release(&load->interval);
	state_release(&load->end);
}

void history_load_clear(struct history_load *load)
{
	if (!load->interval.end_ns)
		return; /* nothing was */
	history_load_release(load);
	history_load_init(load);
}

/* Rounds the interval to stored edges; false: the track has nothing there. */
static bool snap(const struct history *h, unsigned track, uint64_t *begin_ns, uint64_t *end_ns)
{
	uint64_t first_ns, last_ns, begin, end;

	if (!history_range(h, track, &first_ns, &last_ns) || *end_ns <= first_ns || *begin_ns >= last_ns)
		return false;
	end = history_edge_floor(h, track, *end_ns);
	if (end == first_ns)
		end = history_edge_ceil(h, track, first_ns + 1);
	begin = history_edge_floor(h, track, *begin_ns);
	if (begin >= end)
		begin = history_edge_floor(h, track, end - 1);
	*begin_ns = begin;
	*end_ns = end;
	return begin < end;
}

enum lt_status history_load(const struct history *h, unsigned track, uint64_t begin_ns, uint64_t end_ns,
			    uint32_t tables_mask, struct history_load *load)
{
	const struct track *t = history_track(h, track);
	struct history_place p, first;
	const struct history_chunk *c;
	size_t bytes;
	bool ok;

	if (!snap(h, track, &begin_ns, &end_ns) || !track_find(t, begin_ns, &first))
		return LT_END;
	c = track_chunk(t, first.chunk);
	ok = chunk_get_state(c, first.frame, h->codec, tables_mask, &load->end);
	interval_begin(&load->interval, &load->end, begin_ns, tables_mask);
	p = first;
	do {
		c = track_chunk(t, p.chunk);
		if (chunk_frame_begin(c, p.frame) >= end_ns)
			break;
		ok = ok && chunk_get_frame(c, p.frame, h->codec, tables_mask, &load->end, interval_retire,
					   &load->interval, &bytes);
	} while (ok && track_next(t, &p));
	if (!ok)
		state_clear(&load->end);
	state_frame_begin(&load->end);
	interval_end(&load->interval, &load->end, end_ns);
	return ok ? LT_OK : LT_ERROR;
}
