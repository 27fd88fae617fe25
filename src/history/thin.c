/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>

#include "history/internal.h"

/* Length of a level's frames, in frames as appended. */
static const unsigned level_frames[LEVELS] = { 1, 10, 60 };

/* What of the room is a level's when all want some. */
static const unsigned level_percent[LEVELS] = { 50, 30, 20 };

int64_t history_span(const struct history *h, uint64_t t_ns, unsigned frames)
{
	int64_t from_origin = (int64_t)(t_ns - h->grid_origin_ns);
	int64_t span = (int64_t)(h->grid_frame_ns * frames);

	/* rounded down, also before the origin */
	return from_origin >= 0 ? from_origin / span : -1 - (-1 - from_origin) / span;
}

/* ---- merging frames ---- */

static void collect_retired(void *data, enum table_id table, uint32_t row, const uint64_t *cells)
{
	struct history *h = data;
	uint64_t number = row;

	bytes_append(&h->retired[table], &number, sizeof(number));
	bytes_append(&h->retired[table], cells, table_descs[table].n_cells * sizeof(*cells));
}

static int compare_rows(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return (int)y->ended - (int)x->ended;
}

/* What happened in thin_state and was retired since the merged frame's begin. */
static void collect_merged(struct history *h, enum table_id table)
{
	const struct state_table *t = &h->thin_state.tables[table];
	const struct state_table *base = &h->thin_base.tables[table];
	const struct bytes *retired = &h->retired[table];
	size_t life_bytes = (1 + t->desc->n_cells) * sizeof(uint64_t);

	for (size_t at = 0; at < retired->len; at += life_bytes) {
		const uint64_t *life = (const uint64_t *)(const void *)(retired->data + at);
		bool old = state_alive(base, life[0]) && state_cells(base, life[0])[0] == life[1];

		changes_add(&h->changes, table, old ? life[0] : 0, true, life + 1);
	}
	for (uint32_t i = 0; i < t->n_dirty; i++)
		if (state_alive(t, t->dirty[i]))
			changes_add(&h->changes, table, t->dirty[i], false, state_cells(t, t->dirty[i]));
	if (h->changes.n[table])
		qsort(h->changes.list[table], h->changes.n[table], sizeof(struct change), compare_rows);
}

/* Appends frames [first, last] of src to dst as one; thin_state and thin_base move from its begin to its end. */
static void merge_frames(struct history *h, struct chunk *dst, const struct chunk *src, unsigned first, unsigned last)
{
	struct frame f = { .end_ns = src->frames[last].end_ns };

	for (unsigned i = first; i <= last; i++) {
		f.busy_ns += src->frames[i].busy_ns;
		f.online_ns += src->frames[i].online_ns;
		f.flags |= src->frames[i].flags;
		chunk_get_frame(src, i, h->codec, STATE_ALL_TABLES, &h->thin_state, collect_retired, h);
	}
	for (int i = 0; i < TABLES; i++)
		collect_merged(h, i);
	codec_put_frame(h->codec, &dst->data, chunk_frame_begin(src, first), &h->thin_base, &h->changes);
	chunk_end_frame(dst, &f);
	changes_clear(&h->changes);
	for (int i = 0; i < TABLES; i++)
		h->retired[i].len = 0;
	state_extremes_clear_dirty(&h->thin_state);
	state_frame_begin(&h->thin_state);
}

/* The last of the frames that become one with frame i: same span of the grid, no gap among them. */
static unsigned group_end(const struct history *h, const struct chunk *c, unsigned i, unsigned frames)
{
	int64_t span = history_span(h, chunk_frame_begin(c, i), frames);

	while (i + 1 < c->n_frames && !((c->frames[i].flags | c->frames[i + 1].flags) & FRAME_GAP) &&
	       history_span(h, chunk_frame_begin(c, i + 1), frames) == span)
		i++;
	return i;
}

/* The chunk that the thinned frames of chunk i go to: the one before it if it is of that level and has room. */
static struct chunk *thin_target(struct history *h, struct track *t, unsigned i)
{
	const struct chunk *src = track_chunk(t, i);
	struct chunk *dst = i ? track_chunk(t, i - 1) : NULL;

	/* where the 60 frames' span goes on, the chunk does */
	bool goes_on = dst && history_span(h, src->begin_ns - 1, 60) == history_span(h, src->begin_ns, 60);

	if (dst && dst->level == src->level + 1 &&
	    (goes_on || (dst->n_frames < HISTORY_KEY_FRAMES && !chunk_is_long(dst) &&
			 dst->data.len < dst->key_len + h->limit / 16 / h->tracks->len))) {
		h->level_bytes[dst->level] -= chunk_bytes(dst);
		return dst;
	}
	dst = chunk_create(src->begin_ns, src->level + 1);
	bytes_append(&dst->data, src->data.data, src->key_len);
	chunk_end_key(dst);
	g_ptr_array_insert(t->chunks, i, dst);
	return dst;
}

static void forget_chunk(struct history *h, struct track *t, unsigned i)
{
	struct chunk *c = track_chunk(t, i);

	h->level_bytes[c->level] -= chunk_bytes(c);
	g_ptr_array_remove_index(t->chunks, i);
	chunk_destroy(c);
}

static void thin_chunk(struct history *h, struct track *t, unsigned i)
{
	struct chunk *src = track_chunk(t, i), *dst = thin_target(h, t, i);
	unsigned last;

	chunk_get_key(src, h->codec, STATE_ALL_TABLES, &h->thin_state);
	state_copy(&h->thin_base, &h->thin_state, STATE_ALL_TABLES);
	for (unsigned first = 0; first < src->n_frames; first = last + 1) {
		last = group_end(h, src, first, level_frames[dst->level]);
		merge_frames(h, dst, src, first, last);
	}
	chunk_close(dst);
	h->level_bytes[dst->level] += chunk_bytes(dst);
	g_ptr_array_find(t->chunks, src, &i);
	forget_chunk(h, t, i);
}

/* ---- what to thin, what to drop ---- */

/*
 * The oldest closed chunk of a level over all tracks. A track's last one is
 * spared unless it can still be thinned and nothing else is left (last too).
 */
static bool oldest_chunk(const struct history *h, unsigned level, bool last_too, struct track **track, unsigned *index)
{
	const struct chunk *oldest = NULL;

	for (unsigned i = 0; i < h->tracks->len; i++) {
		struct track *t = history_track(h, i);
		unsigned n = t->chunks->len;

		for (unsigned k = 0; k + !last_too < n; k++) {
			const struct chunk *c = track_chunk(t, k);

			if (c->level != level || c->open)
				continue;
			if (!oldest || c->begin_ns < oldest->begin_ns) {
				oldest = c;
				*track = t;
				*index = k;
			}
			break;
		}
	}
	return oldest;
}

/* Thins, or drops, the oldest chunk of a level; false: there is none. */
static bool shrink_level(struct history *h, unsigned level)
{
	struct track *t;
	unsigned i;

	if (!oldest_chunk(h, level, false, &t, &i))
		return false;
	if (level + 1 < LEVELS)
		thin_chunk(h, t, i);
	else
		forget_chunk(h, t, i);
	return true;
}

/* The finest level that has more than its share, else any that has something to give. */
static bool shrink(struct history *h, size_t room)
{
	for (unsigned i = 0; i < LEVELS; i++)
		if (h->level_bytes[i] > room / 100 * level_percent[i] && shrink_level(h, i))
			return true;
	for (unsigned i = LEVELS; i-- > 0;)
		if (shrink_level(h, i))
			return true;
	return false;
}

/* All that is left are the tracks' last chunks: drop nothing, but close and thin them. */
static bool shrink_last(struct history *h)
{
	struct track *t;
	unsigned k;

	for (unsigned i = 0; i + 1 < LEVELS; i++) {
		if (oldest_chunk(h, i, true, &t, &k)) {
			thin_chunk(h, t, k);
			return true;
		}
	}
	for (unsigned i = 0; i < h->tracks->len; i++) {
		struct chunk *c = track_last_chunk(history_track(h, i));

		if (c && c->open && c->n_frames > 1) {
			h->level_bytes[c->level] -= chunk_bytes(c);
			chunk_close(c);
			h->level_bytes[c->level] += chunk_bytes(c);
			return true;
		}
	}
	return false;
}

static void release_working_memory(struct history *h)
{
	state_release(&h->thin_state);
	state_release(&h->thin_base);
	for (int i = 0; i < TABLES; i++)
		bytes_release(&h->retired[i]);
}

void history_make_room(struct history *h)
{
	size_t bytes = history_bytes(h);

	if (bytes <= h->limit)
		return;
	do {
		size_t chunks = h->level_bytes[0] + h->level_bytes[1] + h->level_bytes[2];
		size_t fixed = bytes - chunks;

		if (!shrink(h, h->limit > fixed ? h->limit - fixed : 0) && !shrink_last(h))
			break;
		bytes = history_bytes(h);
	} while (bytes > h->limit);
	release_working_memory(h);
}
