/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/store.h"

#include "history/codec_internal.h"
#include "history/internal.h"

/* Maximum number of rows of a table in a packed history; unused row numbers take memory, too. */
enum { ROWS_MAX = 1 << 20 };

/* Limit of times, so that the sum of two of them does not overflow. */
#define TIME_MAX_NS ((uint64_t)INT64_MAX / 2)
#define GRID_MAX_NS (UINT64_C(1) << 50)

enum { FRAME_PACKED = 6 * sizeof(uint64_t), CHUNK_PACKED = 5 * sizeof(uint64_t) };

/* ---- packing ---- */

static void pack_chunk(const struct history_chunk *c, GByteArray *out)
{
	pack_u64(out, c->begin_ns);
	pack_u64(out, c->level);
	pack_u64(out, c->key_len);
	pack_u64(out, chunk_data_len(c));
	pack_u64(out, c->n_frames);
	for (uint32_t i = 0; i < c->n_frames; i++) {
		const struct history_frame *f = &c->frames[i];

		pack_u64(out, f->end_ns);
		pack_u64(out, f->busy_ns);
		pack_u64(out, f->online_ns);
		pack_u64(out, f->data_begin);
		pack_u64(out, f->data_end);
		pack_u64(out, f->flags);
	}
}

static bool has_too_many_rows(const struct history *h)
{
	for (unsigned i = 0; i < h->tracks->len; i++)
		for (int k = 0; k < TABLES; k++)
			if (history_track(h, i)->tail.tables[k].n_rows > ROWS_MAX)
				return true;
	return false;
}

bool history_pack(const struct history *h, GByteArray *out)
{
	if (has_too_many_rows(h))
		return false;
	pack_u64(out, h->grid_origin_ns);
	pack_u64(out, h->grid_frame_ns);
	for (int i = 0; i < TABLES; i++) {
		const GArray *masks = h->codec->masks[i];

		pack_u64(out, masks->len);
		for (guint k = 0; k < masks->len; k++)
			pack_u64(out, g_array_index(masks, uint64_t, k));
	}
	pack_u64(out, h->tracks->len);
	for (unsigned i = 0; i < h->tracks->len; i++) {
		const struct track *t = history_track(h, i);

		pack_u64(out, t->chunks->len);
		for (unsigned k = 0; k < t->chunks->len; k++)
			pack_chunk(track_chunk(t, k), out);
	}
	return true;
}

/* ---- unpacking ---- */

static void unpack_masks(struct unpack *in, struct codec *codec)
{
	for (int i = 0; i < TABLES; i++) {
		size_t n = unpack_count(in, sizeof(uint64_t));

		in->failed |= n > MASKS_MAX;
		for (size_t k = 0; k < n && !in->failed; k++) {
			uint64_t mask = unpack_u64(in);

			in->failed |= (mask & ~codec->plans[i].valid) != 0;
			g_array_append_val(codec->masks[i], mask);
		}
	}
}

/* data_begin: end of the previous frame. */
static struct history_frame unpack_frame(struct unpack *in, uint64_t begin_ns, uint32_t data_begin, uint32_t data_len)
{
	struct history_frame f;

	f.end_ns = unpack_upto(in, TIME_MAX_NS);
	f.busy_ns = unpack_u64(in);
	f.online_ns = unpack_u64(in);
	f.data_begin = (uint32_t)unpack_upto(in, data_len);
	f.data_end = (uint32_t)unpack_upto(in, data_len);
	f.flags = (uint8_t)unpack_upto(in, FRAME_LOST | FRAME_GAP);
	in->failed |= f.end_ns <= begin_ns || f.busy_ns > f.online_ns || f.data_begin < data_begin ||
		      f.data_end < f.data_begin;
	return f;
}

/* known_ns: end of the track so far. *bytes: bytes left for parts. NULL: invalid. */
static struct history_chunk *unpack_chunk(struct unpack *in, uint64_t known_ns, uint64_t *bytes)
{
	uint64_t begin_ns = unpack_upto(in, TIME_MAX_NS);
	unsigned level = (unsigned)unpack_upto(in, LEVELS - 1);
	uint32_t key_len = (uint32_t)unpack_upto(in, UINT32_MAX);
	uint32_t len = (uint32_t)unpack_upto(in, MIN(*bytes, UINT32_MAX - CODEC_PAD));
	size_t n_frames = unpack_count(in, FRAME_PACKED);
	struct history_chunk *c;

	if (in->failed || !n_frames || begin_ns < known_ns || key_len > len)
		return NULL;
	*bytes -= len;
	c = chunk_create(begin_ns, 0, level); /* it will not be thinned */
	c->open = false;
	c->key_len = key_len;
	bytes_reserve(&c->data, (size_t)len + CODEC_PAD);
	c->data.len = len;
	c->frames = g_new(struct history_frame, n_frames);
	c->capacity = (uint32_t)n_frames;
	for (size_t i = 0; i < n_frames; i++) {
		c->frames[i] = unpack_frame(in, chunk_end_ns(c), i ? c->frames[i - 1].data_end : key_len, len);
		c->n_frames++;
	}
	in->failed |= c->frames[0].data_begin != key_len || c->frames[n_frames - 1].data_end != len;
	return c;
}

static void unpack_track(struct unpack *in, struct history *h, uint64_t *bytes)
{
	struct track *t = history_track(h, history_add_track(h));
	size_t n = unpack_count(in, CHUNK_PACKED);
	uint64_t known_ns = 0;

	for (size_t i = 0; i < n && !in->failed; i++) {
		struct history_chunk *c = unpack_chunk(in, known_ns, bytes);

		in->failed |= !c;
		if (!c)
			break;
		known_ns = chunk_end_ns(c);
		g_ptr_array_add(t->chunks, c);
		h->level_bytes[c->level] += chunk_bytes(c);
	}
}

struct history *history_unpack(struct unpack *in, size_t limit_bytes, uint64_t bytes)
{
	struct history *h = history_create(limit_bytes);
	size_t n_tracks;

	h->is_fixed = true;
	h->codec->rows_max = ROWS_MAX;
	h->grid_origin_ns = unpack_upto(in, TIME_MAX_NS);
	h->grid_frame_ns = unpack_upto(in, GRID_MAX_NS);
	unpack_masks(in, h->codec);
	n_tracks = unpack_count(in, sizeof(uint64_t));
	for (size_t i = 0; i < n_tracks && !in->failed; i++)
		unpack_track(in, h, &bytes);
	if (!in->failed && h->grid_frame_ns && !bytes)
		return h;
	in->failed = true;
	history_destroy(h);
	return NULL;
}

/* ---- parts ---- */

uint64_t history_parts_bytes(const struct history *h)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < h->tracks->len; i++)
		for (unsigned k = 0; k < history_track(h, i)->chunks->len; k++)
			bytes += chunk_data_len(track_chunk(history_track(h, i), k));
	return bytes;
}

bool history_part(const struct history *h, struct history_part *part)
{
	for (; part->track < h->tracks->len; part->track++, part->chunk = 0) {
		const struct track *t = history_track(h, part->track);

		if (part->chunk < t->chunks->len) {
			const struct history_chunk *c = track_chunk(t, part->chunk++);

			part->data = c->data.data;
			part->len = chunk_data_len(c);
			return true;
		}
	}
	return false;
}
