/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of TABLE_BUCKET that belong to a row, as an immutable list: for merged rows it starts with copies of the
 * later row's links.
 *
 *   view_row.spread ──▶ link (row of TABLE_BUCKET) ──▶ link ──▶ VIEW_NO_LINK
 */
#include "view/spread.h"

#include <string.h>

#include "view/internal.h"

const struct view_link *view_link_at(const struct view_rows_internal *in, uint32_t i)
{
	return &g_array_index(in->links, struct view_link, i - 1);
}

uint32_t view_link_put(struct view_rows_internal *in, unsigned host, const struct interval_row *row, uint32_t next)
{
	const struct view_link link = { .row = row, .host = host, .next = next };

	g_array_append_val(in->links, link);
	return in->links->len;
}

uint32_t view_link_add(struct view_rows_internal *in, uint32_t list, uint32_t other)
{
	for (uint32_t i = other; i != VIEW_NO_LINK;) {
		/* a copy: the array may move */
		const struct view_link link = *view_link_at(in, i);

		list = view_link_put(in, link.host, link.row, list);
		i = link.next;
	}
	return list;
}

/* Puts a row of buckets first in the list of its owner. */
static void add_to_list(struct view_rows *r, struct map64 *lists, unsigned host, const struct interval_row *row)
{
	const uint64_t owner_uid = INTERVAL_ROW(bucket, row)->owner_uid;
	const uint32_t next = map64_get(lists, owner_uid);

	map64_put(lists, owner_uid, view_link_put(r->internal, host, row, next == MAP64_NONE ? VIEW_NO_LINK : next));
}

void view_index_spreads(struct view_rows *r, unsigned host)
{
	const struct interval_table *t = &r->hosts[host].iv->tables[TABLE_BUCKET];
	struct map64 *lists = &r->internal->indexes[host].spreads;

	map64_clear(lists);
	for (uint32_t i = 0; i < t->n_rows; i++)
		if (bucket_dist_table(INTERVAL_ROW(bucket, &t->rows[i])->dist) == r->table->source)
			add_to_list(r, lists, host, &t->rows[i]);
}

struct map64 view_derived_spreads(struct view_rows *r, const struct view_derived *derived)
{
	struct map64 lists = { 0 };

	for (guint i = 0; i < derived->buckets->len; i++)
		add_to_list(r, &lists, 0, &((const struct view_bucket *)g_ptr_array_index(derived->buckets, i))->row);
	return lists;
}

uint32_t view_spread_of(const struct view_rows *r, unsigned host, uint64_t uid)
{
	const uint32_t list = map64_get(&r->internal->indexes[host].spreads, uid);

	return list == MAP64_NONE ? VIEW_NO_LINK : list;
}

void view_spread_add(struct view_rows *r, struct view_row *into, const struct view_row *from)
{
	into->spread = view_link_add(r->internal, into->spread, from->spread);
}

static void add_counts(struct view_spread *s, const struct interval *iv, const struct interval_row *row)
{
	const uint64_t part = INTERVAL_ROW(bucket, row)->part;

	for (unsigned i = 0; part < BUCKET_ROWS && i < BUCKETS_IN_ROW; i++) {
		const unsigned cell = CELL(bucket, first) + i;
		const uint64_t n = row->a ? interval_value(iv, TABLE_BUCKET, row, cell) : row->b[cell];

		s->counts[part * BUCKETS_IN_ROW + i] += n;
		s->total += n;
	}
}

const struct view_spread *view_spread(const struct view_rows *r, const struct view_row *row, unsigned cell)
{
	struct view_rows_internal *in = r->internal;
	struct view_spread *s = &in->spread;

	/* the percentiles of a row are usually requested one after the other */
	if (in->spread_cell == cell && in->spread_list == row->spread)
		return s;
	in->spread_cell = cell;
	in->spread_list = row->spread;
	memset(s, 0, sizeof(*s));
	for (uint32_t i = row->spread; i != VIEW_NO_LINK; i = view_link_at(in, i)->next) {
		const struct view_link *link = view_link_at(in, i);

		if (bucket_dist_cell(INTERVAL_ROW(bucket, link->row)->dist) == cell)
			add_counts(s, r->hosts[link->host].iv, link->row);
	}
	return s;
}

uint64_t view_spread_percentile(const struct view_spread *s, unsigned permille, uint64_t least, uint64_t greatest)
{
	/* total * permille / 1000, rounded up */
	const uint64_t rank = s->total / 1000 * permille + (s->total % 1000 * permille + 999) / 1000;
	uint64_t below = 0;
	unsigned i = 0;

	while (i < BUCKETS - 1 && below + s->counts[i] < rank)
		below += s->counts[i++];
	return CLAMP(bucket_middle(i), least, greatest);
}

/* ---- columns ---- */

unsigned view_permille(enum column_form form)
{
	static const unsigned permille[FORMS] = {
		[FORM_P50] = 500,
		[FORM_P90] = 900,
		[FORM_P99] = 990,
		[FORM_P999] = 999,
	};

	return permille[form];
}

void view_get_percentile(const struct view_cell *at, struct value *v)
{
	const enum table_id table = at->rows->table->source;
	const struct dist d = view_dist(at->host->iv, table, &at->row->row, at->column->cell);
	const struct view_spread *s = view_spread(at->rows, at->row, at->column->cell);

	value_set_null(v);
	if (s->total && d.count)
		value_set_uint(
			v, view_spread_percentile(s, view_permille((enum column_form)at->column->form), d.min, d.max));
}

void view_get_freq(const struct view_cell *at, struct value *v)
{
	const struct view_spread *s = view_spread(at->rows, at->row, at->column->cell);
	GArray *buckets = at->rows->internal->spread_buckets;

	g_array_set_size(buckets, 0);
	for (unsigned i = 0; i < BUCKETS; i++) {
		const uint64_t first = bucket_first(i), end = first + bucket_width(i);
		const struct value_bucket b = { first, end ? end : UINT64_MAX, s->counts[i] };

		if (b.count)
			g_array_append_val(buckets, b);
	}
	v->kind = s->total ? VALUE_HISTOGRAM : VALUE_NULL;
	v->histogram.buckets = (const struct value_bucket *)(const void *)buckets->data;
	v->histogram.n = buckets->len;
}
