/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The perf counters of the threads on a path. */
#include <string.h>

#include "base/strpool.h"
#include "ui/internal.h"

enum { PERF_COUNTERS = 8 };

static void add_counter(GHashTable *sums, strid counter, uint64_t value)
{
	uint64_t *sum = g_hash_table_lookup(sums, GUINT_TO_POINTER(counter));

	if (!sum) {
		sum = g_new0(uint64_t, 1);
		g_hash_table_insert(sums, GUINT_TO_POINTER(counter), sum);
	}
	*sum += value;
}

/* Adds those of the host's threads that are on the path. */
static void add_host_counters(const struct ui *ui, const struct path *path, unsigned host, GHashTable *sums)
{
	GHashTable *tids = g_hash_table_new(NULL, NULL);
	struct history_load load;
	bool gap;

	for (unsigned i = 0; i < path->steps->len; i++)
		if (path_step(path, i)->who.host == host && path_step(path, i)->who.tid > 0)
			g_hash_table_add(tids, GINT_TO_POINTER(path_step(path, i)->who.tid));
	history_load_init(&load);
	if (g_hash_table_size(tids) && data_load_host(ui, ui_host(ui, host), path->begin_ns, path->end_ns,
						      1u << TABLE_PERF | 1u << TABLE_THREAD, &load, &gap)) {
		const struct interval_table *t = &load.interval.tables[TABLE_PERF];

		for (uint32_t i = 0; i < t->n_rows; i++) {
			const struct perf_row *row = INTERVAL_ROW(perf, &t->rows[i]);
			const struct interval_row *thread =
				interval_find(&load.interval, TABLE_THREAD, row->thread_uid);

			if (thread && g_hash_table_contains(tids, GINT_TO_POINTER(INTERVAL_ROW(thread, thread)->tid)))
				add_counter(sums, (strid)row->counter,
					    INTERVAL_VALUE(&load.interval, PERF, perf, &t->rows[i], value));
		}
	}
	history_load_release(&load);
	g_hash_table_destroy(tids);
}

static gint compare_counters(gconstpointer a, gconstpointer b)
{
	return strcmp(strpool_text((strid)GPOINTER_TO_UINT(a)), strpool_text((strid)GPOINTER_TO_UINT(b)));
}

void path_count_perf(const struct ui *ui, const struct path *path, GString *text)
{
	GHashTable *sums = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	GList *counters;
	char number[24];
	unsigned n = 0;

	for (unsigned i = 0; i < ui->hosts->len; i++)
		add_host_counters(ui, path, i, sums);
	counters = g_list_sort(g_hash_table_get_keys(sums), compare_counters);
	g_string_truncate(text, 0);
	for (GList *c = counters; c && n < PERF_COUNTERS; c = c->next, n++) {
		const uint64_t *sum = g_hash_table_lookup(sums, c->data);

		g_string_append_printf(text, "%s%s %s", n ? ", " : "",
				       view_counter_name(strpool_text((strid)GPOINTER_TO_UINT(c->data))),
				       format_count(number, sizeof(number), *sum, 9));
	}
	g_list_free(counters);
	g_hash_table_destroy(sums);
}
