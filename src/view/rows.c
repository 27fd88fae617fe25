/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/rows.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "view/internal.h"
#include "view/missing.h"

void view_rows_init(struct view_rows *r)
{
	struct view_rows_internal *in = g_new0(struct view_rows_internal, 1);

	memset(r, 0, sizeof(*r));
	in->rows = g_array_new(FALSE, FALSE, sizeof(struct view_row));
	in->blocks = g_ptr_array_new_with_free_func(g_free);
	in->items = g_array_new(FALSE, FALSE, sizeof(struct value_item));
	in->texts = g_ptr_array_new_with_free_func(g_free);
	in->parts = g_array_new(FALSE, FALSE, sizeof(struct view_row));
	in->columns = g_array_new(FALSE, FALSE, sizeof(struct column));
	in->counters = g_array_new(FALSE, FALSE, sizeof(strid));
	in->pivot_values = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	in->halves = g_array_new(FALSE, FALSE, sizeof(struct view_half));
	in->far_ends = g_array_new(FALSE, FALSE, sizeof(struct view_far_end));
	in->links = g_array_new(FALSE, FALSE, sizeof(struct view_link));
	in->spread_buckets = g_array_new(FALSE, FALSE, sizeof(struct value_bucket));
	in->bound = g_array_new(FALSE, TRUE, sizeof(const struct column *));
	r->internal = in;
}

void view_index_init(struct view_index *index)
{
	memset(index, 0, sizeof(*index));
	index->owner_uids = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	index->errors = g_array_new(FALSE, FALSE, sizeof(struct view_error));
	index->containers = g_array_new(FALSE, FALSE, sizeof(struct view_container));
	index->container_names = g_string_chunk_new(1024);
	index->places = view_places_new();
}

void view_index_release(struct view_index *index)
{
	map64_release(&index->owners);
	map64_release(&index->fd_owners);
	map64_release(&index->processes);
	map64_release(&index->tid_files);
	map64_release(&index->pivot);
	g_array_free(index->owner_uids, TRUE);
	g_array_free(index->errors, TRUE);
	g_array_free(index->containers, TRUE);
	map64_release(&index->container_places);
	g_string_chunk_free(index->container_names);
	map64_release(&index->spreads);
	g_array_free(index->places, TRUE);
}

void view_rows_release(struct view_rows *r)
{
	struct view_rows_internal *in = r->internal;

	for (unsigned i = 0; i < in->n_indexes; i++)
		view_index_release(&in->indexes[i]);
	g_free(in->indexes);
	g_array_free(in->rows, TRUE);
	g_array_free(in->parts, TRUE);
	g_ptr_array_free(in->blocks, TRUE);
	g_array_free(in->items, TRUE);
	g_ptr_array_free(in->texts, TRUE);
	g_array_free(in->columns, TRUE);
	g_array_free(in->counters, TRUE);
	g_array_free(in->pivot_values, TRUE);
	g_array_free(in->halves, TRUE);
	g_array_free(in->far_ends, TRUE);
	map64_release(&in->far_index);
	g_array_free(in->links, TRUE);
	g_array_free(in->spread_buckets, TRUE);
	g_array_free(in->bound, TRUE);
	map64_release(&in->half_index);
	g_clear_pointer(&in->baseline_index, g_hash_table_destroy);
	g_free(in);
	g_free(r->totals);
	memset(r, 0, sizeof(*r));
}

guint view_key_hash(gconstpointer p)
{
	const struct view_key *key = p;

	return (guint)map64_hash(key->uid ^ (uint64_t)key->host << 48 ^ (uint64_t)key->table << 40);
}

gboolean view_key_equal_hash(gconstpointer a, gconstpointer b)
{
	return view_key_equal(a, b);
}

/* Whether it has terms about the threads of rows, which may be those of another table. */
static bool asks_threads(const struct view_filter *f)
{
	return view_filter_asks_place(f) || view_filter_asks(f, VIEW_FACT_USER);
}

uint32_t view_query_tables(const struct view_query *q)
{
	uint32_t mask = q->table->tables | USES(HOST);

	if (view_table_of_threads(q->table) || q->table->process || (q->filter && asks_threads(q->filter)))
		mask |= USES(THREAD) | USES(CONTAINER);
	if (q->spread)
		mask |= USES(BUCKET);
	return mask;
}

/* ---- building ---- */

static void reset(struct view_rows *r, const struct view_query *q, const struct view_host *hosts, unsigned n_hosts)
{
	struct view_rows_internal *in = r->internal;

	g_array_set_size(in->rows, 0);
	g_array_set_size(in->parts, 0);
	g_array_set_size(in->columns, 0);
	g_array_set_size(in->counters, 0);
	g_array_set_size(in->pivot_values, 0);
	g_array_set_size(in->links, 0);
	in->spread = (struct view_spread){ 0 };
	in->spread_list = VIEW_NO_LINK;
	in->block = in->block_used = 0;
	in->indexes = g_renew(struct view_index, in->indexes, MAX(n_hosts, in->n_indexes));
	while (in->n_indexes < n_hosts)
		view_index_init(&in->indexes[in->n_indexes++]);
	r->round++;
	r->table = q->table;
	r->per_cpu = q->per_cpu;
	r->baseline = q->baseline;
	r->sums_hosts = q->sum_by == VIEW_SUM_ALL;
	r->containers = q->baseline && q->baseline->containers;
	r->columns = q->table->columns;
	r->n_columns = q->table->n_columns;
	r->hosts = hosts;
	r->n_hosts = n_hosts;
	r->totals = g_renew(struct view_host_totals, r->totals, MAX(n_hosts, 1));
}

static void count_totals(struct view_host_totals *totals, const struct interval *iv)
{
	const struct interval_table *cpus = &iv->tables[TABLE_CPU];

	totals->duration_ns = interval_recorded_ns(iv);
	totals->online_ns = 0;
	if (iv->tables_mask & USES(CPU))
		for (uint32_t i = 0; i < cpus->n_rows; i++)
			totals->online_ns += INTERVAL_VALUE(iv, CPU, cpu, &cpus->rows[i], online_ns);
}

static void index_host(struct view_rows *r, const struct view_query *q, unsigned host)
{
	struct view_index *index = &r->internal->indexes[host];
	const struct interval *iv = r->hosts[host].iv;

	index->lacks = view_host_lacks(&r->hosts[host]);
	map64_clear(&index->owners);
	if ((q->processes && view_table_of_threads(q->table)) || q->table->collect)
		view_index_processes(index, iv);
	if (q->table->tables & USES(SYSERR))
		view_index_errors(index, iv);
	if (q->table->source == TABLE_FILE)
		view_index_files(index, iv, q->filter);
	else if (q->table->process || iv->tables_mask & USES(THREAD))
		view_index_mains(index, iv);
	view_index_containers(index, &r->hosts[host]);
	r->containers |= index->containers->len > 0;
	if (q->filter)
		view_filter_find_places(q->filter, index, iv);
	view_index_spreads(r, host);
	if (q->table->flags & VIEW_PIVOT)
		view_index_pivot(r, host);
}

/* The thread that a row belongs to; with processes, the main thread of its process. */
static const struct interval_row *join_thread(const struct view_rows *r, unsigned host, const struct interval_row *row)
{
	const struct view_index *index = &r->internal->indexes[host];
	const struct interval *iv = r->hosts[host].iv;

	if (r->table->source == TABLE_FILE)
		return view_file_thread(index, iv, row);
	if (!r->table->thread)
		return NULL;
	return interval_find(iv, TABLE_THREAD, view_owner(index, row->b[r->table->thread]));
}

static void collect_host(struct view_rows *r, const struct view_query *q, unsigned host)
{
	struct view_rows_internal *in = r->internal;
	const struct interval_table *t = &r->hosts[host].iv->tables[q->table->source];
	guint first = in->rows->len;

	for (uint32_t i = 0; i < t->n_rows; i++) {
		struct view_row row = {
			.row = t->rows[i],
			.key = { host, q->table->source, t->rows[i].b[0] },
			.members = 1,
			.spread = view_spread_of(r, host, t->rows[i].b[0]),
		};

		if (q->table->belongs && !q->table->belongs(&row.row))
			continue;
		row.thread = join_thread(r, host, &row.row);
		g_array_append_val(in->rows, row);
	}
	view_group_rows(r, q, first);
}

static void collect_derived(struct view_rows *r, const struct view_query *q)
{
	const GPtrArray *derived = q->derived->rows;
	struct map64 spreads = view_derived_spreads(r, q->derived);

	for (guint i = 0; i < derived->len; i++) {
		const uint64_t *cells = g_ptr_array_index(derived, i);
		const uint32_t spread = map64_get(&spreads, cells[0]);
		struct view_row row = {
			.row = { .b = cells },
			.key = { (uint32_t)cells[1], q->table->source, cells[0] },
			.members = 1,
			.spread = spread == MAP64_NONE ? VIEW_NO_LINK : spread,
			.overall = q->table->overall && cells[q->table->overall],
		};

		if (q->filter && !view_filter_host(q->filter, view_row_host_name(r, &row)))
			continue;
		if (q->table->process && r->hosts[cells[1]].iv)
			row.thread = view_main_thread(&r->internal->indexes[cells[1]], r->hosts[cells[1]].iv,
						      cells[q->table->process]);
		g_array_append_val(r->internal->rows, row);
	}
	map64_release(&spreads);
}

/* Whether the events were not recorded without which the column says nothing. */
static bool is_unrecorded(const struct view_cell *at)
{
	const uint32_t lacks = view_column_lacks(at->column);

	return lacks && view_lacks(at, lacks);
}

/* The row's own value, not a difference. */
static void own_value(const struct view_rows *r, const struct view_row *row, const struct column *column,
		      struct value *out)
{
	const struct view_rows *of = row->of_baseline ? r->baseline : r;
	struct view_cell at = { of, &of->hosts[row->key.host], row,
				row->of_baseline ? view_baseline_column(r, column) : column };

	g_array_set_size(of->internal->items, 0);
	g_ptr_array_set_size(of->internal->texts, 0);
	value_set_null(out);
	if (at.column && !is_unrecorded(&at))
		at.column->get(&at, out);
}

static bool is_nonzero(const struct view_rows *r, const struct view_row *row, const struct column *column)
{
	struct value v;

	if (view_lacks_baseline(r, row))
		own_value(r, row, column, &v);
	else
		view_row_value(r, row, column, &v);
	return value_nonzero(&v);
}

static bool has_figures(const struct view_rows *r, const struct view_query *q, const struct view_row *row)
{
	for (unsigned i = 0; i < r->n_columns; i++)
		if (r->columns[i].flags & COLUMN_COUNTER && is_nonzero(r, row, &r->columns[i]))
			return true;
	for (guint i = 0; q->figures && i < q->figures->len; i++) {
		const struct column *column = g_ptr_array_index(q->figures, i);

		if (view_column_sums(column) && is_nonzero(r, row, column))
			return true;
	}
	return false;
}

/* In a tree of derived rows, which mean little on their own: finds the parents of rows that pass the filter. */
static void find_wanted_parents(const struct view_rows *r, const struct view_query *q, struct map64 *parents)
{
	const GArray *rows = r->internal->rows;

	if (!q->filter || !q->tree || !q->table->parent || q->table->collect)
		return;
	for (guint i = 0; i < rows->len; i++) {
		const struct view_row *row = &g_array_index(rows, struct view_row, i);

		if (view_filter_row(q->filter, r, row))
			map64_put(parents, row->row.b[q->table->parent], i);
	}
}

static void choose_rows(struct view_rows *r, const struct view_query *q)
{
	GArray *rows = r->internal->rows;
	struct map64 parents = { 0 };
	/* the tree would fall apart without parents that are asleep */
	bool all = q->all || q->tree || q->table->flags & VIEW_ALL_ROWS;
	guint n = 0;

	find_wanted_parents(r, q, &parents);
	for (guint i = 0; i < rows->len; i++) {
		const struct view_row *row = &g_array_index(rows, struct view_row, i);

		if (row->of_baseline) {
			/* filtered there */
			g_array_index(rows, struct view_row, n++) = *row;
			continue;
		}
		if ((q->filter && !view_filter_row(q->filter, r, row) &&
		     map64_get(&parents, row->key.uid) == MAP64_NONE) ||
		    (!all && !has_figures(r, q, row)))
			continue;
		g_array_index(rows, struct view_row, n++) = *row;
	}
	g_array_set_size(rows, n);
	map64_release(&parents);
}

static void sum_up(struct view_rows *r, struct view_query *q)
{
	GArray *rows = r->internal->rows;
	guint n = 0;

	view_sum_rows(r, q);
	q->sort = q->sort ? view_rows_column(r, q->sort->name) : NULL;
	if (!q->having)
		return;
	view_filter_bind(q->having, r);
	for (guint i = 0; i < rows->len; i++)
		if (view_filter_row(q->having, r, &g_array_index(rows, struct view_row, i)))
			g_array_index(rows, struct view_row, n++) = g_array_index(rows, struct view_row, i);
	g_array_set_size(rows, n);
}

/* Afterwards, because others are part of sums. */
static void keep_only(GArray *rows, GHashTable *only)
{
	guint n = 0;

	for (guint i = 0; i < rows->len; i++)
		if (g_hash_table_contains(only, &g_array_index(rows, struct view_row, i).key))
			g_array_index(rows, struct view_row, n++) = g_array_index(rows, struct view_row, i);
	g_array_set_size(rows, n);
}

void view_rows_build(struct view_rows *r, const struct view_query *q, const struct view_host *hosts, unsigned n_hosts)
{
	struct view_query query = *q;
	const char *sort = q->sort ? q->sort->name : NULL;

	reset(r, q, hosts, n_hosts);
	if (q->table->index)
		q->table->index(r);
	for (unsigned i = 0; i < n_hosts; i++) {
		r->totals[i] = (struct view_host_totals){ 0, 0 };
		if (!hosts[i].iv || (q->filter && !view_filter_host(q->filter, hosts[i].name)))
			continue;
		count_totals(&r->totals[i], hosts[i].iv);
		index_host(r, &query, i);
		if (q->table->collect)
			q->table->collect(r, i);
		else if (!q->table->supply.needs)
			collect_host(r, &query, i);
	}
	if (q->table->supply.needs)
		collect_derived(r, q);
	if (q->table->flags & VIEW_PIVOT) {
		view_add_pivot_columns(r);
		query.sort = sort ? view_rows_column(r, sort) : NULL;
	}
	if (q->filter)
		view_filter_bind(q->filter, r);
	view_add_baseline(r);
	choose_rows(r, &query);
	if (q->sum_by)
		sum_up(r, &query);
	if (q->tree && view_table_has_tree(q->table)) {
		view_tree_rows(r, &query);
	} else {
		if (q->only)
			keep_only(r->internal->rows, q->only);
		if (query.sort || q->sum_by || !q->table->supply.needs)
			view_sort_rows(r, &query);
	}
	r->rows = (struct view_row *)(void *)r->internal->rows->data;
	r->n_all = r->internal->rows->len;
	r->n = q->limit ? MIN(q->limit, r->n_all) : r->n_all;
}

/* ---- reading ---- */

void view_row_value(const struct view_rows *r, const struct view_row *row, const struct column *column,
		    struct value *out)
{
	own_value(r, row, column, out);
	if (r->baseline && column_is_figure(column))
		view_subtract_baseline(r, row, column, out);
}

void view_rows_value(const struct view_rows *r, unsigned i, const struct column *column, struct value *out)
{
	view_row_value(r, &r->rows[i], column, out);
}

const struct column *view_rows_column(const struct view_rows *r, const char *name)
{
	return view_column_find(r->columns, r->n_columns, name);
}

unsigned view_rows_index(const struct view_rows *r, const struct view_key *key)
{
	for (unsigned i = 0; i < r->n; i++)
		if (view_key_equal(&r->rows[i].key, key))
			return i;
	return VIEW_NO_ROW;
}

static bool row_contains(const struct view_rows *r, unsigned i, const char *text)
{
	char number[24];
	struct value v;

	for (unsigned c = 0; c < r->n_columns; c++) {
		const struct column *column = &r->columns[c];

		if (column->unit != COLUMN_TEXT && strcmp(column->name, "tid") != 0 && strcmp(column->name, "pid") != 0)
			continue;
		view_rows_value(r, i, column, &v);
		if (v.kind == VALUE_TEXT && text_contains(v.text, text))
			return true;
		g_snprintf(number, sizeof(number), "%" G_GINT64_FORMAT, (gint64)v.i);
		if (v.kind == VALUE_INT && g_str_has_prefix(number, text))
			return true;
	}
	return false;
}

unsigned view_rows_search(const struct view_rows *r, unsigned from, const char *text, bool backward)
{
	for (unsigned k = 0; k < r->n; k++) {
		unsigned i = (backward ? from + r->n - k : from + k) % r->n;

		if (row_contains(r, i, text))
			return i;
	}
	return VIEW_NO_ROW;
}

struct view_lost view_hosts_lost(const struct view_host *hosts, unsigned n_hosts)
{
	struct view_lost lost = { 0 };

	for (unsigned h = 0; h < n_hosts; h++) {
		const struct interval *iv = hosts[h].iv;

		if (!iv)
			continue;
		for (uint32_t i = 0; i < iv->tables[TABLE_HOST].n_rows; i++) {
			const struct interval_row *row = &iv->tables[TABLE_HOST].rows[i];

			lost.events += INTERVAL_VALUE(iv, HOST, host, row, lost_events);
			lost.packets += INTERVAL_VALUE(iv, HOST, host, row, lost_packets);
			lost.goes_on |= ((const struct host_row *)(const void *)row->b)->gap_end_ns >= iv->end_ns;
		}
	}
	return lost;
}

void view_lost_add(struct view_lost *sum, const struct view_lost *lost)
{
	sum->events += lost->events;
	sum->packets += lost->packets;
	sum->goes_on |= lost->goes_on;
}

bool view_any_lost(const struct view_lost *lost)
{
	return lost->events || lost->packets || lost->goes_on;
}

char *view_lost_text(const struct view_lost *lost)
{
	GString *s = g_string_new(NULL);

	if (lost->events)
		g_string_append_printf(s, "%" PRIu64 " event%s", lost->events, lost->events == 1 ? "" : "s");
	if (lost->packets)
		g_string_append_printf(s, "%s%" PRIu64 " packet%s", lost->events ? ", " : "", lost->packets,
				       lost->packets == 1 ? "" : "s");
	if (lost->goes_on && !s->len)
		g_string_append(s, "an unknown number of events");
	return g_string_free(s, FALSE);
}
