/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>

#include "history/internal.h"

bool track_find(const struct track *t, uint64_t t_ns, struct history_place *p)
{
	unsigned low = 0, high = t->chunks->len;
	const struct history_chunk *c;

	while (low < high) {
		unsigned mid = (low + high) / 2;

		if (chunk_end_ns(track_chunk(t, mid)) > t_ns)
			high = mid;
		else
			low = mid + 1;
	}
	if (low == t->chunks->len)
		return false;
	p->chunk = low;
	c = track_chunk(t, low);
	low = 0;
	high = c->n_frames;
	while (low < high) {
		unsigned mid = (low + high) / 2;

		if (c->frames[mid].end_ns > t_ns)
			high = mid;
		else
			low = mid + 1;
	}
	p->frame = low;
	return true;
}

bool track_next(const struct track *t, struct history_place *p)
{
	if (p->frame + 1 < track_chunk(t, p->chunk)->n_frames) {
		p->frame++;
		return true;
	}
	for (unsigned i = p->chunk + 1; i < t->chunks->len; i++) {
		if (track_chunk(t, i)->n_frames) {
			*p = (struct history_place){ i, 0 };
			return true;
		}
	}
	return false;
}

bool history_range(const struct history *h, unsigned track, uint64_t *begin_ns, uint64_t *end_ns)
{
	const struct track *t = history_track(h, track);

	if (!t->chunks->len)
		return false;
	*begin_ns = track_chunk(t, 0)->begin_ns;
	*end_ns = chunk_end_ns(track_last_chunk(t));
	return true;
}

/*
 * The limits of the frame that contains at_ns; both are the track's start if t_ns is not later, its end if there is no
 * such frame, 0 if the track is empty.
 */
static void frame_limits(const struct history *h, unsigned track, uint64_t t_ns, uint64_t at_ns, uint64_t *begin_ns,
			 uint64_t *end_ns)
{
	const struct track *t = history_track(h, track);
	struct history_place p;

	if (!history_range(h, track, begin_ns, end_ns)) {
		*begin_ns = *end_ns = 0;
	} else if (t_ns <= *begin_ns) {
		*end_ns = *begin_ns;
	} else if (!track_find(t, at_ns, &p)) {
		*begin_ns = *end_ns;
	} else {
		*begin_ns = chunk_frame_begin(track_chunk(t, p.chunk), p.frame);
		*end_ns = track_chunk(t, p.chunk)->frames[p.frame].end_ns;
	}
}

uint64_t history_edge_floor(const struct history *h, unsigned track, uint64_t t_ns)
{
	uint64_t begin_ns, end_ns;

	frame_limits(h, track, t_ns, t_ns, &begin_ns, &end_ns);
	return begin_ns;
}

uint64_t history_edge_ceil(const struct history *h, unsigned track, uint64_t t_ns)
{
	uint64_t begin_ns, end_ns;

	frame_limits(h, track, t_ns, t_ns - 1, &begin_ns, &end_ns);
	return end_ns;
}

static uint32_t frame_busy_permille(const struct history_frame *f)
{
	unsigned __int128 busy_ns = f->busy_ns;

	return f->online_ns ? (uint32_t)((busy_ns * 1000 + f->online_ns / 2) / f->online_ns) : 0;
}

unsigned history_summaries(const struct history *h, unsigned track, uint64_t begin_ns, uint64_t end_ns,
			   struct frame_summary *out, unsigned max)
{
	const struct track *t = history_track(h, track);
	struct history_place p;
	unsigned n = 0;

	if (!track_find(t, begin_ns, &p))
		return 0;
	do {
		const struct history_chunk *c = track_chunk(t, p.chunk);
		const struct history_frame *f = &c->frames[p.frame];

		if (n == max || chunk_frame_begin(c, p.frame) >= end_ns)
			break;
		out[n++] = (struct frame_summary){
			.begin_ns = chunk_frame_begin(c, p.frame),
			.end_ns = f->end_ns,
			.busy_permille = frame_busy_permille(f),
			.lost = f->flags & FRAME_LOST,
			.gap = f->flags & FRAME_GAP,
			.still = f->data_begin == f->data_end,
		};
	} while (track_next(t, &p));
	return n;
}

unsigned history_frames(const struct history *h, unsigned track)
{
	const struct track *t = history_track(h, track);
	unsigned n = 0;

	for (unsigned i = 0; i < t->chunks->len; i++)
		n += track_chunk(t, i)->n_frames;
	return n;
}
