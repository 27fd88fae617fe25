/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences between the rows of two intervals. */
#include <math.h>
#include <string.h>

#include "view/internal.h"

void view_add_baseline(struct view_rows *r)
{
	struct view_rows_internal *in = r->internal;
	GHashTable *here;

	if (!r->baseline)
		return;
	if (!in->baseline_index)
		in->baseline_index = g_hash_table_new(view_key_hash, view_key_equal_hash);
	g_hash_table_remove_all(in->baseline_index);
	here = g_hash_table_new(view_key_hash, view_key_equal_hash);
	for (guint i = 0; i < in->rows->len; i++)
		g_hash_table_add(here, &g_array_index(in->rows, struct view_row, i).key);
	for (unsigned i = 0; i < r->baseline->n; i++) {
		struct view_row *row = &r->baseline->rows[i];

		g_hash_table_insert(in->baseline_index, &row->key, g_hash_table_contains(here, &row->key) ? row : NULL);
	}
	g_hash_table_destroy(here);
	for (unsigned i = 0; i < r->baseline->n; i++) {
		struct view_row row = r->baseline->rows[i];

		if (g_hash_table_lookup(in->baseline_index, &row.key))
			continue;
		row.of_baseline = true;
		g_array_append_val(in->rows, row);
	}
}

const struct column *view_baseline_column(const struct view_rows *r, const struct column *column)
{
	const struct column *own = r->table->columns;

	return column >= own && column < own + r->table->n_columns ? column
								   : view_rows_column(r->baseline, column->name);
}

bool view_lacks_baseline(const struct view_rows *r, const struct view_row *row)
{
	const unsigned host = row->key.host;

	return r->baseline && !row->of_baseline && (host >= r->baseline->n_hosts || !r->baseline->hosts[host].iv);
}

/* The value of the same row in the baseline. */
static void baseline_value(const struct view_rows *r, const struct view_row *row, const struct column *column,
			   struct value *out)
{
	const struct view_row *other = g_hash_table_lookup(r->internal->baseline_index, &row->key);
	const struct column *of = view_baseline_column(r, column);

	value_set_null(out);
	if (other && of)
		view_row_value(r->baseline, other, of, out);
}

/* The ratio of the host's interval to its interval in the baseline; 1 if unknown. */
static double times_longer(const struct view_rows *r, const struct view_row *row)
{
	unsigned host = row->key.host;
	uint64_t now_ns = r->totals[host].duration_ns;
	uint64_t baseline_ns = host < r->baseline->n_hosts ? r->baseline->totals[host].duration_ns : 0;

	/* a host without data now: use the longest of the others */
	for (unsigned i = 0; !r->hosts[host].iv && i < r->n_hosts; i++)
		now_ns = MAX(now_ns, r->totals[i].duration_ns);
	return now_ns && baseline_ns && now_ns != baseline_ns ? (double)now_ns / (double)baseline_ns : 1;
}

static double real(const struct value *v)
{
	return v->kind == VALUE_REAL   ? v->real
	       : v->kind == VALUE_INT  ? (double)v->i
	       : v->kind == VALUE_UINT ? (double)v->u
				       : 0;
}

static int64_t whole(const struct value *v, double times)
{
	if (v->kind != VALUE_INT && v->kind != VALUE_UINT)
		return 0;
	return times == 1 ? v->i : llround(real(v) * times);
}

static struct value_item *item_named(GArray *items, const char *name)
{
	for (guint i = 0; i < items->len; i++)
		if (strcmp(g_array_index(items, struct value_item, i).name, name) == 0)
			return &g_array_index(items, struct value_item, i);
	return NULL;
}

/* Counts by name; what does not differ is left out. */
static void subtract_items(const struct view_rows *r, const struct value *now, const struct value *baseline,
			   double times, struct value *out)
{
	GArray *items = r->internal->items; /* those of now, if it has any */
	guint n = 0;

	if (now->kind != VALUE_OBJECT)
		g_array_set_size(items, 0);
	for (unsigned i = 0; baseline->kind == VALUE_OBJECT && i < baseline->list.n; i++) {
		const struct value_item *of = &baseline->list.items[i];
		const int64_t count = whole(&(struct value){ .kind = VALUE_INT, .i = of->count }, times);
		struct value_item *item = item_named(items, of->name);

		if (item)
			item->count -= count;
		else
			g_array_append_vals(items, &(struct value_item){ of->name, -count }, 1);
	}
	for (guint i = 0; i < items->len; i++)
		if (g_array_index(items, struct value_item, i).count)
			g_array_index(items, struct value_item, n++) = g_array_index(items, struct value_item, i);
	g_array_set_size(items, n);
	out->kind = VALUE_OBJECT;
	out->list.n = n;
	out->list.items = (const struct value_item *)(const void *)items->data;
}

void view_subtract_baseline(const struct view_rows *r, const struct view_row *row, const struct column *column,
			    struct value *out)
{
	struct value baseline = *out, now = *out;

	if (view_lacks_baseline(r, row)) {
		value_set_null(out);
		return;
	}
	if (row->of_baseline)
		value_set_null(&now);
	else
		baseline_value(r, row, column, &baseline);
	if (column->flags & COLUMN_LEVEL ? now.kind == VALUE_NULL || baseline.kind == VALUE_NULL
					 : now.kind == VALUE_NULL && baseline.kind == VALUE_NULL) {
		value_set_null(out);
	} else if (column->unit == COLUMN_OBJECT) {
		subtract_items(r, &now, &baseline, times_longer(r, row), out);
	} else if (now.kind == VALUE_REAL || baseline.kind == VALUE_REAL) {
		value_set_real(out, real(&now) - real(&baseline));
	} else {
		out->kind = VALUE_INT;
		out->i = whole(&now, 1) - whole(&baseline, column_adds_up(column) ? times_longer(r, row) : 1);
	}
}
