/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Thinning: the oldest chunk of the level that exceeds its share the most is converted to the next level, which has
 * longer frames, or dropped if there is no next level. It is read frame by frame; the frames in one span of the grid
 * are merged into one. That takes many times as long as appending a frame, so a little is done with each append:
 *
 *   chunks:  … out │ src │ next …     src stays where readers find it
 *               ▲─────┘               until its frames are complete at the end of out, where readers do not look yet
 */
#include <glib.h>

#include "history/internal.h"

/* Length of a level's frames, in frames as appended. */
static const unsigned level_frames[LEVELS] = { 1, 10, 60, 600, 3600 };

/*
 * Shares of the memory in percent. The longer the frames, the less memory the same time takes, because less happens in
 * a frame for the first time.
 */
static const unsigned level_percent[LEVELS] = { 25, 18, 17, 20, 20 };

/* Thinning starts when less than 1/SPARE of the limit is free, so that it is not too late for a burst. */
enum { SPARE = 32 };

/*
 * Bytes to read and write for each byte appended, many times the amount needed to keep up; and the minimum per append.
 */
enum { WORK_PER_BYTE = 8, WORK_LEAST = 16384 };

/*
 * Frames are merged while together they have at most MERGED_KEYS times the bytes of the key, or MERGED_BYTES if that is
 * more. Larger groups consist of short-lived rows, all of which are kept, so that merging is slow and saves nothing.
 */
enum { MERGED_KEYS = 12, MERGED_BYTES = 65536 };

/* The cost of a step in addition to the bytes it reads or writes. */
enum { STEP_WORK = 64 };

static int64_t span_at(const struct history *h, const struct history_chunk *c, uint64_t t_ns, unsigned frames)
{
	int64_t from_origin = (int64_t)(t_ns - h->grid_origin_ns) - c->ahead_ns;
	int64_t span = (int64_t)(h->grid_frame_ns * frames);

	/* rounded down, also before the origin */
	return from_origin >= 0 ? from_origin / span : -1 - (-1 - from_origin) / span;
}

/* By its middle: its edges may be a little beside the grid. */
int64_t history_span(const struct history *h, const struct history_chunk *c, unsigned i, unsigned frames)
{
	const uint64_t begin_ns = chunk_frame_begin(c, i);

	return span_at(h, c, begin_ns + (c->frames[i].end_ns - begin_ns) / 2, frames);
}

int64_t history_next_span(const struct history *h, const struct history_chunk *c, unsigned frames)
{
	return span_at(h, c, chunk_end_ns(c) + h->grid_frame_ns / 2, frames);
}

static unsigned frames_of(unsigned level)
{
	return level_frames[MIN(level, LEVELS - 1)];
}

/* Whether the chunk ends inside a future frame of the next level. */
static bool ends_inside(const struct history *h, const struct history_chunk *c)
{
	const unsigned frames = frames_of(c->level + 1u);

	return c->n_frames && history_span(h, c, c->n_frames - 1, frames) == history_next_span(h, c, frames);
}

/* ---- merging frames ---- */

static void collect_retired(void *data, enum table_id table, uint32_t row, const uint64_t *cells)
{
	struct thinning *thin = data;
	uint64_t number = row;

	bytes_append(&thin->retired, &number, sizeof(number));
	bytes_append(&thin->retired, cells, table_descs[table].n_cells * sizeof(*cells));
}

static int compare_rows(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return (int)y->ended - (int)x->ended;
}

/* Collects the changes since the start of the merged frame: dirty rows, and lives that ended. */
static void collect_merged(struct changes *changes, const struct thinning *thin, enum table_id table)
{
	const struct state_table *t = &thin->state.tables[table], *base = &thin->base.tables[table];
	size_t life_bytes = (1 + t->desc->n_cells) * sizeof(uint64_t);

	for (size_t at = 0; at < thin->retired.len; at += life_bytes) {
		const uint64_t *life = (const uint64_t *)(const void *)(thin->retired.data + at);
		bool old = state_alive(base, life[0]) && state_cells(base, life[0])[0] == life[1];

		changes_add(changes, table, old ? life[0] : 0, true, life + 1);
	}
	for (uint32_t i = 0; i < t->n_dirty; i++)
		if (state_alive(t, t->dirty[i]))
			changes_add(changes, table, t->dirty[i], false, state_cells(t, t->dirty[i]));
	if (changes->n[table])
		qsort(changes->list[table], changes->n[table], sizeof(struct change), compare_rows);
}

static size_t merged_most(const struct history_chunk *c)
{
	return MAX(MERGED_KEYS * (size_t)c->key_len, MERGED_BYTES);
}

/* The last frame to be merged with frame i: the same span of the grid, no gaps, and not too much data. */
static unsigned group_end(const struct history *h, const struct history_chunk *c, unsigned i, unsigned frames)
{
	int64_t span = history_span(h, c, i, frames);
	size_t bytes = c->frames[i].data_end - c->frames[i].data_begin;
	unsigned first = i;

	while (i + 1 < c->n_frames && !((c->frames[i].flags | c->frames[i + 1].flags) & FRAME_GAP) &&
	       history_span(h, c, i + 1, frames) == span) {
		i++;
		bytes += c->frames[i].data_end - c->frames[i].data_begin;
	}
	return bytes <= merged_most(c) ? i : first;
}

static void begin_group(const struct history *h, struct thinning *thin, unsigned first)
{
	thin->first = thin->frame = first;
	thin->last = group_end(h, thin->src, first, level_frames[thin->out->level]);
	thin->table = 0;
}

static void end_group(struct thinning *thin)
{
	struct history_frame f = { .end_ns = thin->src->frames[thin->last].end_ns };

	for (unsigned i = thin->first; i <= thin->last; i++) {
		f.busy_ns += thin->src->frames[i].busy_ns;
		f.online_ns += thin->src->frames[i].online_ns;
		f.flags |= thin->src->frames[i].flags;
	}
	chunk_add_frame(thin->out, &f);
	state_extremes_clear_dirty(&thin->state);
	state_frame_begin(&thin->state);
}

/* Reads one table of the key, which is the starting point. */
static size_t step_key(struct thinning *thin, const struct codec *codec)
{
	size_t bytes;
	bool ok = chunk_get_key_table(thin->src, codec, thin->table, &thin->state, &bytes);

	g_assert(ok);
	state_copy_table(&thin->base, &thin->state, thin->table);
	return 2 * bytes;
}

/* Reads one table of a frame, or puts that table for the frames from first to last as one. */
static size_t step_merge(struct history *h, struct thinning *thin)
{
	size_t before = thin->out->data.len, bytes;
	bool ok;

	if (thin->frame <= thin->last) {
		ok = chunk_get_frame(thin->src, thin->frame++, h->codec, 1u << thin->table, &thin->state,
				     collect_retired, thin, &bytes);
		g_assert(ok);
		return bytes;
	}
	collect_merged(&h->changes, thin, thin->table);
	codec_put_frame(h->codec, &thin->out->data, chunk_frame_begin(thin->src, thin->first), &thin->base, &h->changes,
			true);
	changes_clear(&h->changes);
	thin->retired.len = 0;
	thin->table++;
	thin->frame = thin->first;
	return 2 * (thin->out->data.len - before);
}

/* ---- the chunk in progress ---- */

static void count_chunk(struct history *h, const struct history_chunk *c)
{
	h->level_bytes[c->level] += chunk_bytes(c);
}

static void uncount_chunk(struct history *h, const struct history_chunk *c)
{
	h->level_bytes[c->level] -= chunk_bytes(c);
}

static void forget_chunk(struct history *h, struct track *t, unsigned i)
{
	struct history_chunk *c = track_chunk(t, i);

	uncount_chunk(h, c);
	g_ptr_array_remove_index(t->chunks, i);
	chunk_destroy(c);
}

/*
 * Whether more thinned frames go into a chunk. It must end at the end of a frame of the next level, so that it has all
 * of that frame (unless that is too much), and at the end of a frame of the level after that, so that the chunk it
 * becomes can end there.
 */
static bool takes_more(const struct history *h, const struct history_chunk *dst)
{
	const unsigned frames = frames_of(dst->level + 2u);
	size_t deltas = dst->data.len - dst->key_len;

	if (dst->level + 1 < LEVELS && history_span(h, dst, 0, frames) != history_next_span(h, dst, frames))
		return false;
	return (ends_inside(h, dst) && deltas <= 2 * merged_most(dst)) ||
	       (dst->n_frames < HISTORY_KEY_FRAMES && !chunk_is_long(dst) && deltas < h->limit / 16 / h->tracks->len);
}

/* Thins track chunk i. */
static void begin_thinning(struct history *h, struct track *t, unsigned i)
{
	struct history_chunk *src = track_chunk(t, i), *before = i ? track_chunk(t, i - 1) : NULL;
	struct thinning *thin = &h->thinning;

	thin->track = t;
	thin->src = src;
	thin->joins = before && before->level == src->level + 1 && takes_more(h, before);
	if (thin->joins) {
		thin->out = before;
		thin->out->ahead_ns = src->ahead_ns;
	} else {
		thin->out = chunk_create(src->begin_ns, src->ahead_ns, src->level + 1);
		count_chunk(h, thin->out);
	}
	thin->reads_key = true;
	thin->table = 0;
	state_clear(&thin->state);
	state_clear(&thin->base);
}

/* Puts src's key: merging the frames before it does not change the state. */
static void put_key(struct thinning *thin)
{
	if (thin->joins && !chunk_lacks_key(thin->out))
		return;
	bytes_append(&thin->out->data, thin->src->data.data, thin->src->key_len);
	chunk_end_key(thin->out);
}

static void end_thinning(struct history *h)
{
	struct thinning *thin = &h->thinning;
	unsigned i;

	uncount_chunk(h, thin->out);
	chunk_show_added(thin->out);
	chunk_close(thin->out);
	count_chunk(h, thin->out);
	g_ptr_array_find(thin->track->chunks, thin->src, &i);
	forget_chunk(h, thin->track, i);
	if (!thin->joins)
		g_ptr_array_insert(thin->track->chunks, (int)i, thin->out);
	changes_release(&h->changes);
	codec_trim(h->codec);
	thin->track = NULL;
	thin->src = thin->out = NULL;
}

/* Does one step of the thinning in progress; returns its cost. */
static size_t step(struct history *h)
{
	struct thinning *thin = &h->thinning;
	size_t work = STEP_WORK;

	if (thin->reads_key) {
		work += step_key(thin, h->codec);
		if (++thin->table < TABLES)
			return work;
		thin->reads_key = false;
		uncount_chunk(h, thin->out);
		put_key(thin);
		count_chunk(h, thin->out);
		state_frame_begin(&thin->state);
		begin_group(h, thin, 0);
		return work;
	}
	uncount_chunk(h, thin->out);
	work += step_merge(h, thin);
	if (thin->table == TABLES)
		end_group(thin);
	count_chunk(h, thin->out);
	if (thin->table < TABLES)
		return work;
	if (thin->last + 1 < thin->src->n_frames)
		begin_group(h, thin, thin->last + 1);
	else
		end_thinning(h);
	return work;
}

/* ---- what to thin, what to drop ---- */

enum spared {
	SPARED_GROWING, /* last chunks of tracks that continue, chunks that end inside a span of the next level */
	SPARED_LAST,    /* last chunks of tracks that continue */
	SPARED_NONE,
};

static bool is_spared(const struct history *h, const struct track *t, unsigned i, enum spared spared)
{
	const struct history_chunk *c = track_chunk(t, i);

	if (c->open)
		return true;
	if (i + 1 == t->chunks->len)
		return spared != SPARED_NONE && !t->has_ended;
	return spared == SPARED_GROWING && track_chunk(t, i + 1)->level != c->level && ends_inside(h, c);
}

/* The oldest chunk of a level, over all tracks, that is not spared. */
static bool oldest_chunk(const struct history *h, unsigned level, enum spared spared, struct track **track,
			 unsigned *index)
{
	const struct history_chunk *oldest = NULL;

	for (unsigned i = 0; i < h->tracks->len; i++) {
		struct track *t = history_track(h, i);

		for (unsigned k = 0; k < t->chunks->len; k++) {
			const struct history_chunk *c = track_chunk(t, k);

			if (c->level != level)
				continue;
			if (!is_spared(h, t, k, spared) && (!oldest || c->begin_ns < oldest->begin_ns)) {
				oldest = c;
				*track = t;
				*index = k;
			}
			break;
		}
	}
	return oldest;
}

/* Starts to thin the oldest chunk of the level that exceeds its share the most, or drops it. */
static bool shrink(struct history *h, unsigned levels, enum spared spared)
{
	struct track *track = NULL, *t;
	unsigned level = 0, index = 0, i;

	for (unsigned k = 0; k < levels; k++) {
		if (track && h->level_bytes[k] / level_percent[k] <= h->level_bytes[level] / level_percent[level])
			continue;
		if (oldest_chunk(h, k, spared, &t, &i)) {
			track = t;
			index = i;
			level = k;
		}
	}
	if (!track)
		return false;
	if (level + 1 < LEVELS)
		begin_thinning(h, track, index);
	else
		forget_chunk(h, track, index);
	return true;
}

/* If only the tracks' last chunks are left: closes one, so that it can be thinned. */
static bool close_last(struct history *h)
{
	for (unsigned i = 0; i < h->tracks->len; i++) {
		struct history_chunk *c = track_last_chunk(history_track(h, i));

		if (c && c->open && c->n_frames > 1) {
			uncount_chunk(h, c);
			chunk_close(c);
			count_chunk(h, c);
			return true;
		}
	}
	return false;
}

/* Starts an action that makes room; false: there is none. */
static bool begin(struct history *h)
{
	return shrink(h, LEVELS, SPARED_GROWING) || shrink(h, LEVELS, SPARED_LAST) ||
	       shrink(h, LEVELS - 1, SPARED_NONE) || close_last(h);
}

void thinning_release(struct thinning *thin)
{
	if (thin->out && !thin->joins)
		chunk_destroy(thin->out);
	state_release(&thin->state);
	state_release(&thin->base);
	bytes_release(&thin->retired);
	thin->track = NULL;
	thin->src = thin->out = NULL;
}

/* Makes room ahead of the next appends. */
static void thin_ahead(struct history *h, size_t work)
{
	for (size_t done = 0; done < work;) {
		if (!h->thinning.track &&
		    (history_bytes(h) <= h->limit - h->limit / SPARE || !(shrink(h, LEVELS, SPARED_GROWING)))) {
			thinning_release(&h->thinning);
			return;
		}
		done += h->thinning.track ? step(h) : STEP_WORK;
	}
}

void history_make_room(struct history *h, size_t appended)
{
	thin_ahead(h, appended * WORK_PER_BYTE + WORK_LEAST);
	while (history_bytes(h) > h->limit && (h->thinning.track || begin(h)))
		while (h->thinning.track)
			step(h);
}
