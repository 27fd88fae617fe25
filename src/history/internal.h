/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_HISTORY_INTERNAL_H
#define LT_HISTORY_INTERNAL_H

/* Shared by the files of history/; not included from elsewhere. */

#include <glib.h>

#include "history/codec.h"
#include "history/history.h"

/* How far a chunk has been thinned: frames as they were appended, or 10, 60, 600, 3600 times as long. */
enum { LEVELS = 5 };

enum frame_flag {
	FRAME_LOST = 1 << 0,
	FRAME_GAP = 1 << 1,
};

/* Starts where the previous frame ends; the first one where the chunk starts. */
struct history_frame {
	uint64_t end_ns;
	uint64_t busy_ns, online_ns; /* over all CPUs */
	uint32_t data_begin;         /* end of the previous frame, or of the key between them */
	uint32_t data_end;           /* its last byte + 1 */
	uint8_t flags;               /* enum frame_flag */
};

/*
 * data:  key (the state at begin_ns) | frame 0 | frame 1 | key (the state where frame 2 starts) | frame 2 | …
 * After the data of the last frame shown there may be more: of frames added that are not shown yet.
 */
struct history_chunk {
	uint64_t begin_ns;
	struct bytes data;
	uint32_t key_len;                     /* of the first key */
	uint32_t keys_end;                    /* where the last key ends */
	uint32_t n_frames, n_added, capacity; /* frames: shown, then added */
	struct history_frame *frames;
	int64_t ahead_ns; /* how much later its times are than the grid's: history_set_ahead() */
	uint8_t level;
	bool open; /* more frames may follow */
};

struct track {
	GPtrArray *chunks;      /* struct history_chunk *, oldest first */
	struct host_state tail; /* at the last edge: the base of the next frame */
	int64_t ahead_ns;       /* of the next chunk */
	bool has_ended;         /* no more frames come, and the tail is empty */
	bool compare_all;       /* the next frame may differ in rows that are not dirty */
};

/* The chunk that is being thinned, and the progress: thin.c. */
struct thinning {
	struct track *track;             /* NULL: no thinning in progress */
	struct history_chunk *src, *out; /* out gets the frames of src */
	bool joins;                      /* out is the chunk before src; otherwise it replaces src */
	bool reads_key;                  /* the key is being read; otherwise frames */
	unsigned table;                  /* the next table to read or put */
	unsigned first, last;            /* the frames of src that become one … */
	unsigned frame;                  /* … and the next one to read */

	struct host_state state, base; /* as read so far; at the start of frame first */
	struct bytes retired;          /* of the table: lives that have ended since: row number, cells */
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

struct history_chunk *chunk_create(uint64_t begin_ns, int64_t ahead_ns, unsigned level);
void chunk_destroy(struct history_chunk *c);
size_t chunk_bytes(const struct history_chunk *c);

/* Completes a key, consisting of the data added since the last frame. */
void chunk_end_key(struct history_chunk *c);

/* Completes a frame, consisting of the data added since the last key or frame; sets its data_begin and data_end. */
void chunk_end_frame(struct history_chunk *c, const struct history_frame *f);

/* Does that too, but readers find the frame only after chunk_show_added(). */
void chunk_add_frame(struct history_chunk *c, const struct history_frame *f);
void chunk_show_added(struct history_chunk *c);

/* Closes the chunk to new frames and releases unused memory. */
void chunk_close(struct history_chunk *c);

static inline uint64_t chunk_frame_begin(const struct history_chunk *c, unsigned i)
{
	return i ? c->frames[i - 1].end_ns : c->begin_ns;
}

/* The length of the data of the frames shown and their keys. */
static inline uint32_t chunk_data_len(const struct history_chunk *c)
{
	return c->n_frames ? c->frames[c->n_frames - 1].data_end : c->key_len;
}

static inline uint64_t chunk_end_ns(const struct history_chunk *c)
{
	return chunk_frame_begin(c, c->n_frames);
}

/*
 * Whether the data after a key is larger than this number of keys, so that reading past it takes as long as reading
 * them.
 */
static inline bool chunk_is_beyond(const struct history_chunk *c, uint32_t key_end, unsigned keys)
{
	enum { LEAST_BYTES = 16384 };

	return c->data.len - key_end > MAX(keys * (size_t)c->key_len, LEAST_BYTES);
}

/* Whether another chunk should be started. */
static inline bool chunk_is_long(const struct history_chunk *c)
{
	return chunk_is_beyond(c, c->key_len, 2);
}

/* Whether another key should be added to a chunk that must continue. */
static inline bool chunk_lacks_key(const struct history_chunk *c)
{
	return chunk_is_beyond(c, c->keys_end, 1);
}

/* Rebuilds in s, which is emptied first, the state at the start of frame i. False: as for codec_get_frame(). */
bool chunk_get_state(const struct history_chunk *c, unsigned i, const struct codec *codec, uint32_t tables_mask,
		     struct host_state *s);

/* Reads one table of the first key into s, where that table must be empty. */
bool chunk_get_key_table(const struct history_chunk *c, const struct codec *codec, enum table_id table,
			 struct host_state *s, size_t *bytes);

/* codec_get_frame() for frame i. */
bool chunk_get_frame(const struct history_chunk *c, unsigned i, const struct codec *codec, uint32_t tables_mask,
		     struct host_state *s, state_retire_fn *retire, void *retire_data, size_t *bytes);

/* ---- find.c ---- */

/* A stored frame: its chunk, and its index in that chunk. */
struct history_place {
	unsigned chunk, frame;
};

/* Finds the first frame that ends after t_ns; false: there is none. */
bool track_find(const struct track *t, uint64_t t_ns, struct history_place *p);

/* Moves to the next frame; false: it was the last. */
bool track_next(const struct track *t, struct history_place *p);

/* ---- thin.c ---- */

/*
 * The number of the grid span of `frames` frames that contains the chunk's frame i or would contain the next one, the
 * same in all tracks.
 */
int64_t history_span(const struct history *h, const struct history_chunk *c, unsigned i, unsigned frames);
int64_t history_next_span(const struct history *h, const struct history_chunk *c, unsigned frames);

/*
 * Thins and drops the oldest data, a little for each byte appended, and more only if the limit would be exceeded. Keeps
 * at least the last chunk of each track that continues.
 */
void history_make_room(struct history *h, size_t appended);

void thinning_release(struct thinning *thin);

#endif
