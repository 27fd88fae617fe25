/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_HISTORY_INTERNAL_H
#define LT_HISTORY_INTERNAL_H

/* What the files of history/ share. Nobody outside includes this. */

#include <glib.h>

#include "history/codec.h"
#include "history/history.h"

/* How far a chunk has been thinned: frames as they were appended, 10, 60, 600, 3600 times as long. */
enum { LEVELS = 5 };

enum frame_flag {
	FRAME_LOST = 1 << 0,
	FRAME_GAP = 1 << 1,
};

/* Begins where the one before it ends, the first where the chunk begins. */
struct history_frame {
	uint64_t end_ns;
	uint64_t busy_ns, online_ns; /* over all CPUs */
	uint32_t data_begin;         /* where the frame before it ends, unless a key stands between them */
	uint32_t data_end;           /* its last byte + 1 */
	uint8_t flags;               /* enum frame_flag */
};

/*
 *   data:  key (the state at begin_ns) | frame 0 | frame 1 | key (the state where frame 2 starts) | frame 2 | …
 */
struct history_chunk {
	uint64_t begin_ns;
	struct bytes data;
	uint32_t key_len;  /* of the first key */
	uint32_t keys_end; /* where the last key ends */
	uint32_t n_frames, capacity;
	struct history_frame *frames;
	uint8_t level;
	bool open; /* more frames may follow */
};

struct track {
	GPtrArray *chunks;      /* struct history_chunk *, oldest first */
	struct host_state tail; /* at the last edge: what the next frame differs from */
	bool compare_all;       /* the next frame may differ in more than the dirty rows */
};

/* A chunk that is being thinned, and how far that is: thin.c. */
struct thinning {
	struct track *track;             /* NULL: none is */
	struct history_chunk *src, *out; /* out has no key */
	bool reads_key;                  /* otherwise frames */
	unsigned table;                  /* the next to be read, or to be put */
	unsigned first, last;            /* the frames of src that become one … */
	unsigned frame;                  /* … and the next to be read */

	struct host_state state, base; /* as far as was read; at the start of frame first */
	struct bytes retired;          /* of the table: lives that ended since: row number, cells */
};

struct history {
	size_t limit;
	GPtrArray *tracks; /* struct track * */
	struct codec *codec;
	struct changes changes;
	size_t level_bytes[LEVELS];             /* of all chunks */
	uint64_t grid_origin_ns, grid_frame_ns; /* 0: not known yet */
	struct thinning thinning;
	bool is_fixed; /* from history_unpack(): the tracks have no tails */
};

static inline struct track *history_track(const struct history *h, unsigned track)
{
	g_assert(track < h->tracks->len);
	return g_ptr_array_index(h->tracks, track);
}

static inline struct history_chunk *track_chunk(const struct track *t, unsigned i)
{
	return g_ptr_array_index(t->chunks, i);
}

static inline struct history_chunk *track_last_chunk(const struct track *t)
{
	return t->chunks->len ? track_chunk(t, t->chunks->len - 1) : NULL;
}

/* ---- chunk.c ---- */

struct history_chunk *chunk_create(uint64_t begin_ns, unsigned level);
void chunk_destroy(struct history_chunk *c);
size_t chunk_bytes(const struct history_chunk *c);

/* A key is complete: what was put into data since the last frame. */
void chunk_end_key(struct history_chunk *c);

/* The frame is complete: what was put into data since the key or the frame before; f->data_end is set here. */
void chunk_end_frame(struct history_chunk *c, const struct history_frame *f);

/* Appends the frames of another one, which start where its own end. */
void chunk_join(struct history_chunk *c, const struct history_chunk *more);

/* Nothing will follow: gives room to spare back. */
void chunk_close(struct history_chunk *c);

static inline uint64_t chunk_frame_begin(const struct history_chunk *c, unsigned i)
{
	return i ? c->frames[i - 1].end_ns : c->begin_ns;
}

static inline uint64_t chunk_end_ns(const struct history_chunk *c)
{
	return chunk_frame_begin(c, c->n_frames);
}

/* Whether the bytes behind a key of the chunk are more than those of so many keys: read past them takes as long. */
static inline bool chunk_is_beyond(const struct history_chunk *c, uint32_t key_end, unsigned keys)
{
	enum { LEAST_BYTES = 16384 };

	return c->data.len - key_end > MAX(keys * (size_t)c->key_len, LEAST_BYTES);
}

/* Whether it is time for another chunk. */
static inline bool chunk_is_long(const struct history_chunk *c)
{
	return chunk_is_beyond(c, c->key_len, 2);
}

/* Whether it is time for another key, in a chunk that has to go on. */
static inline bool chunk_lacks_key(const struct history_chunk *c)
{
	return chunk_is_beyond(c, c->keys_end, 1);
}

/* Rebuilds the state where frame i starts in s, which is emptied first. False: as codec_get_frame(). */
bool chunk_get_state(const struct history_chunk *c, unsigned i, const struct codec *codec, uint32_t tables_mask,
		     struct host_state *s);

/* One table of the first key, which must be empty in s. */
bool chunk_get_key_table(const struct history_chunk *c, const struct codec *codec, enum table_id table,
			 struct host_state *s, size_t *bytes);

/* codec_get_frame() of frame i. */
bool chunk_get_frame(const struct history_chunk *c, unsigned i, const struct codec *codec, uint32_t tables_mask,
		     struct host_state *s, state_retire_fn *retire, void *retire_data, size_t *bytes);

/* ---- find.c ---- */

/* A stored frame: of a chunk, its number there. */
struct history_place {
	unsigned chunk, frame;
};

/* The first frame that ends after t_ns; false: none does. */
bool track_find(const struct track *t, uint64_t t_ns, struct history_place *p);

/* The frame that follows it; false: it was the last. */
bool track_next(const struct track *t, struct history_place *p);

/* ---- thin.c ---- */

/* Which span of so many frames on the grid a time is in: the same for all tracks. */
int64_t history_span(const struct history *h, uint64_t t_ns, unsigned frames);

/*
 * Thins and drops the oldest, a bit for each byte that was appended, and more only where the limit would not be kept;
 * at least the last chunk of each track stays.
 */
void history_make_room(struct history *h, size_t appended);

void thinning_release(struct thinning *thin);

#endif
