/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal.h"

struct history_chunk *chunk_create(uint64_t begin_ns, int64_t ahead_ns, unsigned level)
{
	struct history_chunk *c = g_new0(struct history_chunk, 1);

	c->begin_ns = begin_ns;
	c->ahead_ns = ahead_ns;
	c->level = level;
	c->open = true;
	return c;
}

void chunk_destroy(struct history_chunk *c)
{
	bytes_release(&c->data);
	g_free(c->frames);
	g_free(c);
}

size_t chunk_bytes(const struct history_chunk *c)
{
	return sizeof(*c) + c->data.capacity + c->capacity * sizeof(*c->frames);
}

void chunk_end_key(struct history_chunk *c)
{
	g_assert(c->data.len <= UINT32_MAX);
	c->keys_end = c->data.len;
	if (!c->n_frames)
		c->key_len = c->data.len;
}

void chunk_add_frame(struct history_chunk *c, const struct history_frame *f)
{
	uint32_t n = c->n_frames + c->n_added;

	g_assert(c->data.len <= UINT32_MAX && f->end_ns > chunk_frame_begin(c, n));
	if (n == c->capacity) {
		c->capacity = c->capacity ? 2 * c->capacity : 8;
		c->frames = g_renew(struct history_frame, c->frames, c->capacity);
	}
	c->frames[n] = *f;
	c->frames[n].data_begin = MAX(c->keys_end, n ? c->frames[n - 1].data_end : 0);
	c->frames[n].data_end = c->data.len;
	c->n_added++;
}

void chunk_show_added(struct history_chunk *c)
{
	c->n_frames += c->n_added;
	c->n_added = 0;
}

void chunk_end_frame(struct history_chunk *c, const struct history_frame *f)
{
	chunk_add_frame(c, f);
	chunk_show_added(c);
}

void chunk_close(struct history_chunk *c)
{
	c->open = false;
	bytes_fit(&c->data);
	c->frames = g_renew(struct history_frame, c->frames, c->n_frames);
	c->capacity = c->n_frames;
}

/* The frame that follows the last key at or before frame i. */
static unsigned last_key(const struct history_chunk *c, unsigned i)
{
	while (i && c->frames[i].data_begin == c->frames[i - 1].data_end)
		i--;
	return i;
}

bool chunk_get_state(const struct history_chunk *c, unsigned i, const struct codec *codec, uint32_t tables_mask,
		     struct host_state *s)
{
	unsigned key = last_key(c, i);
	uint32_t begin = key ? c->frames[key - 1].data_end : 0;
	size_t bytes;
	bool ok;

	state_clear(s);
	ok = codec_get_frame(codec, c->data.data + begin, c->frames[key].data_begin - begin, chunk_frame_begin(c, key),
			     tables_mask, s, NULL, NULL, &bytes);
	for (; ok && key < i; key++)
		ok = chunk_get_frame(c, key, codec, tables_mask, s, NULL, NULL, &bytes);
	state_frame_begin(s);
	return ok;
}

bool chunk_get_key_table(const struct history_chunk *c, const struct codec *codec, enum table_id table,
			 struct host_state *s, size_t *bytes)
{
	return codec_get_frame(codec, c->data.data, c->key_len, c->begin_ns, 1u << table, s, NULL, NULL, bytes);
}

bool chunk_get_frame(const struct history_chunk *c, unsigned i, const struct codec *codec, uint32_t tables_mask,
		     struct host_state *s, state_retire_fn *retire, void *retire_data, size_t *bytes)
{
	const struct history_frame *f = &c->frames[i];

	g_assert(i < c->n_frames);
	return codec_get_frame(codec, c->data.data + f->data_begin, f->data_end - f->data_begin,
			       chunk_frame_begin(c, i), tables_mask, s, retire, retire_data, bytes);
}
