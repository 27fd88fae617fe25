/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stddef.h>

#include "view/internal.h"

enum { KEYS_MAX = 4, TEXTS_BLOCK = 4096 };

/* The values that a row is compared by, read once per row. */
struct sort_item {
	struct value by;
	struct value keys[KEYS_MAX];
	uint64_t uid;
	uint32_t host;
	uint32_t index;
	unsigned rank;
};

struct sort_order {
	unsigned n_keys;
	bool sorted, descending, hosts_first;
};

static int compare_keys(const struct sort_item *a, const struct sort_item *b, unsigned n_keys)
{
	int c;

	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	for (unsigned i = 0; i < n_keys; i++) {
		c = value_compare(&a->keys[i], &b->keys[i]);
		if (c)
			return c;
	}
	return a->uid < b->uid ? -1 : a->uid > b->uid;
}

/* Unknown values are last in either direction. */
static int compare_sorted(const struct value *a, const struct value *b, bool descending)
{
	if (a->kind == VALUE_NULL || b->kind == VALUE_NULL)
		return (a->kind == VALUE_NULL) - (b->kind == VALUE_NULL);
	return descending ? value_compare(b, a) : value_compare(a, b);
}

static int compare_items(const void *pa, const void *pb, void *data)
{
	const struct sort_item *a = pa, *b = pb;
	const struct sort_order *order = data;
	int c;

	if (!order->hosts_first || a->host == b->host) {
		if (a->rank != b->rank)
			return a->rank < b->rank ? -1 : 1;
		c = !order->sorted ? 0 : compare_sorted(&a->by, &b->by, order->descending);
		if (c)
			return c;
	}
	return compare_keys(a, b, order->n_keys);
}

/* The columns that tell a host's rows apart; of sums, the first one that their rows have in common. */
static unsigned find_keys(const struct view_rows *r, const struct view_query *q, const struct column **keys)
{
	unsigned n = 0;

	if (q->sum_by) {
		keys[0] = &r->columns[1];
		return q->sum_by < VIEW_SUM_HOST;
	}
	for (unsigned i = 0; i < r->table->n_columns && n < KEYS_MAX; i++)
		if (r->table->columns[i].flags & COLUMN_KEY)
			keys[n++] = &r->table->columns[i];
	return n;
}

uint32_t *view_order_rows(const struct view_rows *r, const struct view_query *q, const GArray *rows)
{
	struct sort_item *items = g_new(struct sort_item, rows->len);
	uint32_t *indexes = g_new(uint32_t, MAX(rows->len, 1));
	GStringChunk *texts = g_string_chunk_new(TEXTS_BLOCK);
	const struct column *keys[KEYS_MAX];
	struct sort_order order = {
		.hosts_first = q->tree && !q->table->parent,
		.n_keys = find_keys(r, q, keys),
	};

	if (q->sort) {
		order.sorted = true;
		order.descending = column_ascends(q->sort) == q->reverse;
	}
	for (guint i = 0; i < rows->len; i++) {
		const struct view_row *row = &g_array_index(rows, struct view_row, i);

		items[i].host = row->key.host;
		items[i].uid = row->key.uid;
		items[i].index = i;
		items[i].rank = q->ranked && q->table->rank ? q->table->rank(r, row) : 0;
		for (unsigned k = 0; k < order.n_keys; k++)
			view_row_value(r, row, keys[k], &items[i].keys[k]);
		if (q->sort)
			view_row_value(r, row, q->sort, &items[i].by);
		/* a text that was made for this value ends with the next one; keys are texts of the records */
		if (q->sort && items[i].by.kind == VALUE_TEXT)
			items[i].by.text = g_string_chunk_insert(texts, items[i].by.text);
	}
	if (rows->len)
		g_qsort_with_data(items, (gint)rows->len, sizeof(*items), compare_items, &order);
	for (guint i = 0; i < rows->len; i++)
		indexes[i] = items[i].index;
	g_string_chunk_free(texts);
	g_free(items);
	return indexes;
}

void view_sort_rows(struct view_rows *r, const struct view_query *q)
{
	GArray *rows = r->internal->rows;
	GArray *sorted = g_array_sized_new(FALSE, FALSE, sizeof(struct view_row), rows->len);
	uint32_t *indexes = view_order_rows(r, q, rows);

	for (guint i = 0; i < rows->len; i++)
		g_array_append_val(sorted, g_array_index(rows, struct view_row, indexes[i]));
	r->internal->rows = sorted;
	g_array_free(rows, TRUE);
	g_free(indexes);
}
