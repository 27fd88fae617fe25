/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A history as bytes and back, and damaged bytes. */
#include "sim.h"

#include "base/pack.h"
#include "history/store.h"

/* The history's bytes: its head in *head, its concatenated parts as the result. */
static GByteArray *pack(const struct history *h, GByteArray *head)
{
	GByteArray *parts = g_byte_array_new();
	struct history_part part = { 0 };

	ck_assert(history_pack(h, head));
	while (history_part(h, &part))
		pack_bytes(parts, part.data, part.len);
	ck_assert_uint_eq(parts->len, history_parts_bytes(h));
	return parts;
}

/* NULL: the head is invalid, or has extra bytes. */
static struct history *unpack(const GByteArray *head, size_t head_len, const GByteArray *parts)
{
	/* a separate copy, so that reading past its end is detected */
	uint8_t *bytes = memcpy(g_malloc(MAX(head_len, 1)), head->data, head_len);
	struct unpack in = { .at = bytes, .end = bytes + head_len };
	struct history *h = history_unpack(&in, 256 << 20, parts->len);
	struct history_part part = { 0 };
	size_t at = 0;

	if (h)
		ck_assert_ptr_eq(in.at, in.end);
	g_free(bytes);
	for (; h && history_part(h, &part); at += part.len)
		memcpy(part.data, parts->data + at, part.len);
	return h;
}

static struct history *sim_history(struct sim *sim, size_t limit, unsigned frames)
{
	struct history *h = history_create(limit);

	sim_init(sim, 4711);
	history_add_track(h);
	for (unsigned i = 0; i < frames; i++)
		sim_frame(sim, h, 0, SECOND);
	return h;
}

/* Loads every frame. Returns how often the history reported damaged bytes. */
static unsigned load_all(const struct history *h)
{
	struct history_load load;
	uint64_t begin_ns, end_ns;
	unsigned damaged = 0;

	history_load_init(&load);
	for (unsigned i = 0; i < h->tracks->len; i++) {
		if (!history_range(h, i, &begin_ns, &end_ns))
			continue;
		damaged += history_load(h, i, begin_ns, end_ns, STATE_ALL_TABLES, &load) == LT_ERROR;
		for (uint64_t t = begin_ns; t < end_ns; t = history_edge_ceil(h, i, t + 1))
			damaged += history_load(h, i, t, t + 1, STATE_ALL_TABLES, &load) == LT_ERROR;
	}
	history_load_release(&load);
	return damaged;
}

static void release(struct sim *sim, struct history *h, GByteArray *head, GByteArray *parts)
{
	history_destroy(h);
	sim_release(sim);
	g_byte_array_unref(parts);
	g_byte_array_unref(head);
}

/* The copy gives the same answers as the original: thinned frames, keys within chunks, an open last chunk. */
START_TEST(test_packed)
{
	struct sim sim;
	struct history *h = sim_history(&sim, 1300000, 500), *again;
	GByteArray *head = g_byte_array_new(), *parts = pack(h, head);
	struct frame_summary f[2][8];

	again = unpack(head, head->len, parts);
	ck_assert_ptr_nonnull(again);
	ck_assert_uint_eq(history_frames(again, 0), history_frames(h, 0));
	assert_every_frame(&sim, again, 0);
	assert_random_loads(&sim, again, 0, 30);
	memset(f, 0, sizeof(f));
	ck_assert_uint_eq(history_summaries(again, 0, 0, UINT64_MAX, f[0], 8),
			  history_summaries(h, 0, 0, UINT64_MAX, f[1], 8));
	for (unsigned i = 0; i < 8; i++) {
		ck_assert_uint_eq(f[0][i].end_ns, f[1][i].end_ns);
		ck_assert_uint_eq(f[0][i].busy_permille, f[1][i].busy_permille);
	}
	history_destroy(again);
	release(&sim, h, head, parts);
}
END_TEST

/* Frames that are being added to an older chunk, and are not complete yet, are not in the copy. */
START_TEST(test_packed_while_thinned)
{
	struct history *h = history_create(700000);
	unsigned added = 0;
	struct sim sim;

	sim_init(&sim, 99);
	sim.tables = 1u << TABLE_THREAD | 1u << TABLE_IRQ;
	sim.rows = 60;
	history_add_track(h);
	for (unsigned i = 0; i < 1200; i++) {
		GByteArray *head, *parts;
		struct history *again;

		sim.churn = i < 40 ? 32 : i % 100 == 99 ? 8 : 0;
		sim_frame(&sim, h, 0, SECOND);
		if (!h->thinning.track || !h->thinning.joins || !h->thinning.out->n_added)
			continue;
		added++;
		head = g_byte_array_new();
		parts = pack(h, head);
		again = unpack(head, head->len, parts);
		ck_assert_ptr_nonnull(again);
		ck_assert_uint_eq(history_frames(again, 0), history_frames(h, 0));
		ck_assert_uint_eq(load_all(again), 0);
		assert_random_loads(&sim, again, 0, 2);
		history_destroy(again);
		g_byte_array_unref(parts);
		g_byte_array_unref(head);
	}
	ck_assert_uint_gt(added, 0);
	history_destroy(h);
	sim_release(&sim);
}
END_TEST

/* Chunks so large that their data is mapped. */
START_TEST(test_large_chunks)
{
	struct sim sim;
	struct history *h = history_create(256 << 20), *again;
	GByteArray *head = g_byte_array_new(), *parts;
	struct history_part part = { 0 };
	size_t most = 0;

	sim_init(&sim, 4711);
	sim.tables = 1u << TABLE_THREAD;
	sim.rows = 4000;
	sim.churn = 16 * 1000;
	history_add_track(h);
	for (unsigned i = 0; i < 20; i++)
		sim_frame(&sim, h, 0, SECOND);
	parts = pack(h, head);
	while (history_part(h, &part))
		most = MAX(most, part.len);
	ck_assert_uint_gt(most, 300000);
	again = unpack(head, head->len, parts);
	ck_assert_ptr_nonnull(again);
	assert_random_loads(&sim, again, 0, 10);
	history_destroy(again);
	release(&sim, h, head, parts);
}
END_TEST

/* Damaged bytes are refused, or read as something valid; under a sanitizer nothing else happens. */
START_TEST(test_damaged_parts)
{
	struct sim sim;
	struct history *h = sim_history(&sim, 256 << 20, 25), *again;
	GByteArray *head = g_byte_array_new(), *parts = pack(h, head);
	unsigned damaged = 0;

	for (unsigned round = 0; round < 300; round++) {
		GByteArray *bad = g_byte_array_new();

		g_byte_array_append(bad, parts->data, parts->len);
		for (uint64_t n = 1 + sim_random(&sim, 4); n; n--)
			bad->data[sim_random(&sim, bad->len)] = (uint8_t)any_size(&sim);
		again = unpack(head, head->len, bad);
		ck_assert_ptr_nonnull(again);
		damaged += load_all(again) != 0;
		history_destroy(again);
		g_byte_array_unref(bad);
	}
	ck_assert_uint_gt(damaged, 30);
	release(&sim, h, head, parts);
}
END_TEST

START_TEST(test_damaged_head)
{
	struct sim sim;
	struct history *h = sim_history(&sim, 256 << 20, 25), *again;
	GByteArray *head = g_byte_array_new(), *parts = pack(h, head);
	unsigned refused = 0;

	for (size_t len = 0; len < head->len; len++)
		ck_assert_ptr_null(unpack(head, len, parts));
	g_byte_array_set_size(parts, parts->len - 1);
	ck_assert_ptr_null(unpack(head, head->len, parts));
	g_byte_array_set_size(parts, parts->len + 1);
	for (unsigned round = 0; round < 2000; round++) {
		size_t at = sim_random(&sim, head->len);
		uint8_t was = head->data[at];

		head->data[at] = (uint8_t)sim_random(&sim, 256);
		again = unpack(head, head->len, parts);
		refused += !again;
		if (again)
			load_all(again);
		history_destroy(again);
		head->data[at] = was;
	}
	ck_assert_uint_gt(refused, 200);
	release(&sim, h, head, parts);
}
END_TEST

UNIT_MAIN("history store", test_packed, test_packed_while_thinned, test_large_chunks, test_damaged_parts,
	  test_damaged_head)
