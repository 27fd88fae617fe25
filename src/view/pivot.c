/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "view/internal.h"

/* Tables of VIEW_PIVOT: a column for each perf counter of the interval, with the sum of the thread or process. */

/* ---- the values ---- */

static uint64_t pivot_key(uint64_t owner, strid counter)
{
	return owner << 32 | counter;
}

void view_index_pivot(struct view_rows *r, unsigned host)
{
	struct view_rows_internal *in = r->internal;
	struct view_index *index = &in->indexes[host];
	const struct interval *iv = r->hosts[host].iv;
	const struct interval_table *t = &iv->tables[TABLE_PERF];

	map64_clear(&index->pivot);
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct perf_row *row = INTERVAL_ROW(perf, &t->rows[i]);
		uint64_t value = INTERVAL_VALUE(iv, PERF, perf, &t->rows[i], value);
		uint64_t key = pivot_key(view_owner(index, row->thread_uid), (strid)row->counter);
		uint32_t at = map64_get(&index->pivot, key);
		strid counter = (strid)row->counter;
		guint k;

		for (k = 0; k < in->counters->len; k++)
			if (g_array_index(in->counters, strid, k) == counter)
				break;
		if (k == in->counters->len)
			g_array_append_val(in->counters, counter);
		if (at == MAP64_NONE) {
			map64_put(&index->pivot, key, in->pivot_values->len);
			g_array_append_val(in->pivot_values, value);
		} else {
			g_array_index(in->pivot_values, uint64_t, at) += value;
		}
	}
}

static uint64_t find_value(const struct view_rows *r, unsigned host, uint64_t owner, unsigned counter)
{
	strid name = g_array_index(r->internal->counters, strid, counter);
	uint32_t at = map64_get(&r->internal->indexes[host].pivot, pivot_key(owner, name));

	return at == MAP64_NONE ? 0 : g_array_index(r->internal->pivot_values, uint64_t, at);
}

/* ---- the columns ---- */

static void get_pivot(const struct view_cell *at, struct value *v)
{
	value_set_uint(v, at->row->counters[at->column->cell]);
}

static void read_counters(struct view_rows *r, struct view_row *row)
{
	struct view_rows_internal *in = r->internal;

	row->counters = view_cells_alloc(in, in->counters->len);
	for (guint i = 0; i < in->counters->len; i++)
		row->counters[i] = find_value(r, row->key.host, row->key.uid, i);
}

static int compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(strpool_text(*(const strid *)a), strpool_text(*(const strid *)b));
}

const char *view_counter_name(const char *name)
{
	static const char *const prefixes[] = { "perf_cpu_", "perf_thread_", "perf_" };

	for (unsigned i = 0; i < G_N_ELEMENTS(prefixes); i++)
		if (g_str_has_prefix(name, prefixes[i]))
			return name + strlen(prefixes[i]);
	return name;
}

void view_add_pivot_columns(struct view_rows *r)
{
	struct view_rows_internal *in = r->internal;

	g_array_sort(in->counters, compare_names);
	g_array_append_vals(in->columns, r->table->columns, r->table->n_columns);
	for (guint i = 0; i < in->counters->len; i++) {
		const char *name = strpool_text(g_array_index(in->counters, strid, i));
		struct column column = {
			.name = name,
			.header = view_counter_name(name),
			.meaning = "Increase of this perf counter while the thread ran.",
			.unit = COLUMN_COUNT,
			.width = 12,
			.flags = COLUMN_COUNTER,
			.cell = (uint16_t)i,
			.get = get_pivot,
		};

		g_array_append_val(in->columns, column);
	}
	r->columns = (const struct column *)(const void *)in->columns->data;
	r->n_columns = in->columns->len;
	for (guint i = 0; i < in->rows->len; i++)
		read_counters(r, &g_array_index(in->rows, struct view_row, i));
}
