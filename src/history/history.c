/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/history.h"

#include "history/internal.h"

struct history *history_create(size_t limit_bytes)
{
	struct history *h = g_new0(struct history, 1);

	h->limit = limit_bytes;
	h->tracks = g_ptr_array_new();
	h->codec = codec_create();
	state_init(&h->thinning.state);
	state_init(&h->thinning.base);
	return h;
}

void history_destroy(struct history *h)
{
	if (!h)
		return;
	for (unsigned i = 0; i < h->tracks->len; i++) {
		struct track *t = history_track(h, i);

		for (unsigned k = 0; k < t->chunks->len; k++)
			chunk_destroy(track_chunk(t, k));
		g_ptr_array_free(t->chunks, TRUE);
		state_release(&t->tail);
		g_free(t);
	}
	g_ptr_array_free(h->tracks, TRUE);
	thinning_release(&h->thinning);
	codec_destroy(h->codec);
	changes_release(&h->changes);
	g_free(h);
}

unsigned history_add_track(struct history *h)
{
	struct track *t = g_new0(struct track, 1);

	t->chunks = g_ptr_array_new();
	state_init(&t->tail);
	g_ptr_array_add(h->tracks, t);
	return h->tracks->len - 1;
}

unsigned history_track_count(const struct history *h)
{
	return h->tracks->len;
}

void history_set_grid(struct history *h, uint64_t origin_ns, uint64_t frame_ns)
{
	g_assert(frame_ns);
	h->grid_origin_ns = origin_ns;
	h->grid_frame_ns = frame_ns;
}

void history_set_ahead(struct history *h, unsigned track, int64_t ahead_ns)
{
	history_track(h, track)->ahead_ns = ahead_ns;
}

/* The base's cells of the row with this uid; NULL: it has another row there, or none. */
static const uint64_t *base_cells(const struct state_table *base, uint32_t row, uint64_t uid)
{
	const uint64_t *cells = state_alive(base, row) ? state_cells(base, row) : NULL;

	return cells && cells[0] == uid ? cells : NULL;
}

/*
 * Collects the differences between s and the base: the dirty rows, or with `all` every row that differs. A row that
 * disappeared without an end being seen ends with its last known values.
 */
static void collect_table(struct changes *ch, enum table_id table, const struct state_table *s,
			  const struct state_table *base, bool all)
{
	uint32_t n = all ? MAX(s->n_rows, base->n_rows) : s->n_rows;

	if (!all && !s->n_dirty)
		return;
	for (uint32_t row = 0; row < n; row++) {
		const uint64_t *cells;

		if (!all && !(s->flags[row] & ROW_DIRTY))
			continue;
		cells = state_alive(s, row) ? state_cells(s, row) : NULL;
		if (state_alive(base, row) && !(cells && base_cells(base, row, cells[0])))
			changes_add(ch, table, row, true, state_cells(base, row));
		if (cells)
			changes_add(ch, table, row, s->flags[row] & ROW_ENDED, cells);
	}
}

/* Sums the CPU time between the tail and s, and flags losses, also those that will be counted in a later frame. */
static struct history_frame summarise(const struct host_state *tail, const struct host_state *s, uint64_t begin_ns,
				      uint64_t end_ns)
{
	static const unsigned lost[] = { CELL(host, lost_events), CELL(host, lost_packets) };
	const struct cell_desc *cells = table_descs[TABLE_CPU].cells;
	const struct state_table *t = &s->tables[TABLE_CPU];
	struct history_frame f = { .end_ns = end_ns };

	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;) {
		const uint64_t *b = state_cells(t, row), *a = base_cells(&tail->tables[TABLE_CPU], row, b[0]);
		uint64_t busy = cell_value(cells, b, CELL(cpu, busy_ns), end_ns);
		uint64_t online = cell_value(cells, b, CELL(cpu, online_ns), end_ns);
		uint64_t busy_before = a ? cell_value(cells, a, CELL(cpu, busy_ns), begin_ns) : 0;
		uint64_t online_before = a ? cell_value(cells, a, CELL(cpu, online_ns), begin_ns) : 0;

		f.busy_ns += busy > busy_before ? busy - busy_before : 0;
		f.online_ns += online > online_before ? online - online_before : 0;
	}
	f.busy_ns = MIN(f.busy_ns, f.online_ns);
	t = &s->tables[TABLE_HOST];
	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;) {
		const uint64_t *b = state_cells(t, row), *a = base_cells(&tail->tables[TABLE_HOST], row, b[0]);

		if (b[CELL(host, gap_end_ns)] > begin_ns)
			f.flags |= FRAME_LOST;
		for (unsigned i = 0; i < G_N_ELEMENTS(lost); i++)
			if (b[lost[i]] != (a ? a[lost[i]] : 0))
				f.flags |= FRAME_LOST;
	}
	return f;
}

static void close_chunk(struct history *h, struct history_chunk *c)
{
	h->level_bytes[c->level] -= chunk_bytes(c);
	chunk_close(c);
	h->level_bytes[c->level] += chunk_bytes(c);
}

/*
 * Whether the chunk is complete: it must end where frames of the next level will end, be quick to read, and be small
 * compared with the limit.
 */
static bool chunk_is_full(const struct history *h, const struct history_chunk *c)
{
	size_t deltas = c->data.len - c->key_len;

	return c->n_frames == HISTORY_KEY_FRAMES ||
	       history_span(h, c, 0, HISTORY_KEY_FRAMES) != history_next_span(h, c, HISTORY_KEY_FRAMES) ||
	       (deltas > c->key_len && deltas > h->limit / 16 / h->tracks->len) ||
	       (chunk_is_long(c) && history_span(h, c, c->n_frames - 1, 10) != history_next_span(h, c, 10));
}

/* The chunk for the next frame. */
static struct history_chunk *open_chunk(struct history *h, struct track *t, uint64_t begin_ns)
{
	struct history_chunk *c = track_last_chunk(t);

	if (c && c->open && !chunk_is_full(h, c))
		return c;
	if (c && c->open)
		close_chunk(h, c);
	c = chunk_create(begin_ns, t->ahead_ns, 0);
	codec_put_key(h->codec, &c->data, begin_ns, &t->tail);
	chunk_end_key(c);
	g_ptr_array_add(t->chunks, c);
	h->level_bytes[0] += chunk_bytes(c);
	return c;
}

/* Returns the number of bytes added. */
static size_t append_frame(struct history *h, struct track *t, uint64_t begin_ns, const struct history_frame *f)
{
	struct history_chunk *c = open_chunk(h, t, begin_ns);
	size_t before = c->data.len;

	h->level_bytes[0] -= chunk_bytes(c);
	codec_put_frame(h->codec, &c->data, begin_ns, &t->tail, &h->changes, false);
	chunk_end_frame(c, f);
	h->level_bytes[0] += chunk_bytes(c);
	changes_clear(&h->changes);
	return c->data.len - before;
}

static void append(struct history *h, unsigned track, const struct host_state *s, uint64_t begin_ns, uint64_t end_ns,
		   uint8_t flags)
{
	struct track *t = history_track(h, track);
	const struct history_chunk *last = track_last_chunk(t);
	uint64_t known_ns = last ? chunk_end_ns(last) : begin_ns;
	struct history_frame f;

	g_assert(!h->is_fixed && !t->has_ended);
	if (!last)
		t->compare_all = true;
	if (!h->grid_frame_ns && end_ns > begin_ns)
		history_set_grid(h, begin_ns, end_ns - begin_ns);
	if (begin_ns > known_ns) {
		append_frame(h, t, known_ns, &(struct history_frame){ .end_ns = begin_ns, .flags = FRAME_GAP });
		known_ns = begin_ns;
		t->compare_all = true;
	}
	if (end_ns <= known_ns) {
		t->compare_all = true;
		return;
	}
	f = summarise(&t->tail, s, known_ns, end_ns);
	f.flags |= flags;
	for (int i = 0; i < TABLES; i++)
		collect_table(&h->changes, i, &s->tables[i], &t->tail.tables[i], t->compare_all);
	t->compare_all = false;
	history_make_room(h, append_frame(h, t, known_ns, &f));
}

void history_append(struct history *h, unsigned track, const struct host_state *s, uint64_t begin_ns, uint64_t end_ns)
{
	append(h, track, s, begin_ns, end_ns, 0);
}

void history_append_gap(struct history *h, unsigned track, const struct host_state *s, uint64_t begin_ns,
			uint64_t end_ns)
{
	append(h, track, s, begin_ns, end_ns, FRAME_GAP);
}

void history_end_track(struct history *h, unsigned track)
{
	struct track *t = history_track(h, track);
	struct history_chunk *last = track_last_chunk(t);

	if (last && last->open)
		close_chunk(h, last);
	state_release(&t->tail);
	t->has_ended = true;
}

size_t history_bytes(const struct history *h)
{
	size_t bytes = sizeof(*h) + codec_bytes(h->codec);

	for (int i = 0; i < LEVELS; i++)
		bytes += h->level_bytes[i];
	for (int i = 0; i < TABLES; i++)
		bytes += h->changes.capacity[i] * sizeof(struct change);
	for (unsigned i = 0; i < h->tracks->len; i++) {
		const struct track *t = history_track(h, i);

		bytes += sizeof(*t) + t->chunks->len * sizeof(struct history_chunk *);
		if (!t->has_ended)
			bytes += state_bytes(&t->tail);
	}
	return bytes;
}

size_t history_limit(const struct history *h)
{
	return h->limit;
}
