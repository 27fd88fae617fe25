/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/table.h"

#include <glib.h>
#include <stddef.h>
#include <string.h>

#include "view/internal.h"
#include "view/paths.h"

static const struct view_table *const tables[] = {
	&view_hosts_table, &view_events_table,   &view_cpus_table,  &view_cpu_table,
	&view_io_table,    &view_files_table,    &view_disks_table, &view_net_table,
	&view_irqs_table,  &view_syscalls_table, &view_sched_table, &view_perf_table,
	&view_blocking_table, &view_relations_table, &view_probes_table, &view_emitters_table,
	&view_counters_table, &view_containers_table,
	&view_paths_table,    &view_sync_table,     &view_matches_table, &view_latencies_table,
	&view_critical_path_table,
	&view_critical_totals_table, &view_accounting_table,
};

unsigned view_table_count(void)
{
	return G_N_ELEMENTS(tables);
}

const struct view_table *view_table_get(unsigned i)
{
	return tables[i];
}

const struct view_table *view_table_find(const char *name)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(tables); i++)
		if (strcmp(tables[i]->name, name) == 0)
			return tables[i];
	return NULL;
}

const struct column *view_column_find(const struct column *columns, unsigned n_columns, const char *name)
{
	for (unsigned i = 0; i < n_columns; i++)
		if (strcmp(columns[i].name, name) == 0)
			return &columns[i];
	return NULL;
}

bool view_table_of_threads(const struct view_table *table)
{
	return table->source == TABLE_THREAD || table->source == TABLE_FILE || table->thread;
}

bool view_table_of_processes(const struct view_table *table)
{
	return view_table_of_threads(table) || table->source == TABLE_RELATION || table->process;
}

bool view_table_has_tree(const struct view_table *table)
{
	return table->source == TABLE_THREAD || table->parent;
}

const char *column_unit_name(enum column_unit unit)
{
	static const char *const names[] = {
		[COLUMN_TEXT] = "text",
		[COLUMN_ID] = "number",
		[COLUMN_DEVICE] = "number",
		[COLUMN_COUNT] = "count",
		[COLUMN_BYTES] = "bytes",
		[COLUMN_NS] = "ns",
		[COLUMN_TIME] = "ns since the epoch",
		[COLUMN_PERCENT] = "%",
		[COLUMN_RATE] = "per second",
		[COLUMN_BYTE_RATE] = "bytes per second",
		[COLUMN_PPM] = "parts per million",
		[COLUMN_LIST] = "list of texts",
		[COLUMN_OBJECT] = "counts by name",
		[COLUMN_FLAG] = "true or false",
	};

	return names[unit];
}
