/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/derived.h"

#include "view/internal.h"

void view_derived_init(struct view_derived *derived)
{
	derived->rows = g_ptr_array_new_with_free_func(g_free);
	derived->buckets = g_ptr_array_new_with_free_func(g_free);
}

void view_derived_clear(struct view_derived *derived)
{
	g_ptr_array_set_size(derived->rows, 0);
	g_ptr_array_set_size(derived->buckets, 0);
}

void view_derived_release(struct view_derived *derived)
{
	g_ptr_array_free(derived->rows, TRUE);
	g_ptr_array_free(derived->buckets, TRUE);
}

void *view_derived_add(struct view_derived *derived, size_t size, unsigned host)
{
	uint64_t *cells = g_malloc0(size);

	g_ptr_array_add(derived->rows, cells);
	cells[0] = derived->rows->len;
	cells[1] = host;
	return cells;
}

unsigned view_derived_host(const struct view_sources *from, unsigned wait)
{
	for (unsigned i = 0; i < from->n_hosts; i++)
		if (from->hosts[i].wait == wait)
			return i;
	return 0;
}

/* Those of a row come one after the other. */
static struct bucket_row *bucket_row_of(struct view_derived *derived, uint64_t uid, unsigned cell, unsigned part)
{
	struct view_bucket *b;

	for (guint i = derived->buckets->len; i > 0; i--) {
		b = g_ptr_array_index(derived->buckets, i - 1);
		if (b->cells.owner_uid != uid)
			break;
		if (b->cells.part == part && bucket_dist_cell(b->cells.dist) == cell)
			return &b->cells;
	}
	b = g_new0(struct view_bucket, 1);
	b->row.b = (const uint64_t *)&b->cells;
	b->cells.owner_uid = uid;
	b->cells.dist = bucket_dist(TABLES, cell);
	b->cells.part = part;
	g_ptr_array_add(derived->buckets, b);
	return &b->cells;
}

void view_derived_count(struct view_derived *derived, const void *row, unsigned cell, uint64_t value)
{
	const uint64_t uid = *(const uint64_t *)row;
	const unsigned bucket = bucket_of(value);
	struct bucket_row *b = bucket_row_of(derived, uid, cell, bucket / BUCKETS_IN_ROW);

	(&b->first)[bucket % BUCKETS_IN_ROW]++;
}
