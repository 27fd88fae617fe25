/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/table.h"

#include <glib.h>
#include <stddef.h>
#include <string.h>

#include "base/similar.h"
#include "model/waitlog.h"
#include "view/internal.h"
#include "view/paths.h"

static const struct view_table *const tables[] = {
#define VIEW_TABLE(name) &view_##name##_table,
#include "view/tables.def"
};

/* The tables with their columns completed, which happens on first use. */
static struct view_table complete[G_N_ELEMENTS(tables)];

static void complete_tables(void)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(tables); i++) {
		struct column *columns = g_new(struct column, tables[i]->n_columns);

		for (unsigned c = 0; c < tables[i]->n_columns; c++)
			columns[c] = column_complete(&tables[i]->columns[c]);
		complete[i] = *tables[i];
		complete[i].columns = columns;
	}
}

unsigned view_table_count(void)
{
	return G_N_ELEMENTS(tables);
}

const struct view_table *view_table_get(unsigned i)
{
	static gsize done;

	if (g_once_init_enter(&done)) {
		complete_tables();
		g_once_init_leave(&done, 1);
	}
	return &complete[i];
}

const struct view_table *view_table_find(const char *name)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(tables); i++)
		if (strcmp(tables[i]->name, name) == 0)
			return view_table_get(i);
	return NULL;
}

const struct column *view_column_find(const struct column *columns, unsigned n_columns, const char *name)
{
	for (unsigned i = 0; i < n_columns; i++)
		if (strcmp(columns[i].name, name) == 0)
			return &columns[i];
	return NULL;
}

/* Names of units at the end of a column's name, which may be omitted. */
static const char *const units[] = { "", "_ns", "_bytes" };

const struct column *view_column_named(const struct column *columns, unsigned n_columns, const char *name)
{
	const struct column *found = NULL;

	for (unsigned i = 0; i < G_N_ELEMENTS(units); i++) {
		char *whole = g_strconcat(name, units[i], NULL);
		const struct column *column = view_column_find(columns, n_columns, whole);

		g_free(whole);
		if (column && column->flags & COLUMN_IN_REPORT)
			return column;
		found = found ? found : column;
	}
	return found;
}

/* NULL: no column has that heading, or several have. */
static const struct column *column_headed(const struct column *columns, unsigned n_columns, const char *heading)
{
	const struct column *found = NULL;

	for (unsigned i = 0; i < n_columns; i++) {
		if (g_ascii_strcasecmp(columns[i].header, heading) != 0)
			continue;
		if (found)
			return NULL;
		found = &columns[i];
	}
	return found;
}

const struct column *view_column_typed(const struct column *columns, unsigned n_columns, const char *name)
{
	const struct column *column = view_column_named(columns, n_columns, name);

	return column ? column : column_headed(columns, n_columns, name);
}

void view_column_offer(struct similar *s, const struct column *column)
{
	similar_offer_as(s, column->header, column->name);
	for (unsigned i = 0; i < G_N_ELEMENTS(units); i++) {
		char *name = g_strdup(column->name);

		if (g_str_has_suffix(name, units[i])) {
			name[strlen(name) - strlen(units[i])] = '\0';
			similar_offer_as(s, name, column->name);
		}
		g_free(name);
	}
}

bool view_column_is_logged(const struct view_table *table, const struct column *column)
{
	const enum column_form form = table->flags & VIEW_LOGGED ? FORM_MAX : FORM_FREQ;

	return table->source != TABLES && column->form == form && column_measured(column) == COLUMN_NS;
}

bool view_table_has_log(const struct view_table *table)
{
	for (unsigned i = 0; i < table->n_columns; i++)
		if (view_column_is_logged(table, &table->columns[i]))
			return true;
	return false;
}

bool view_table_has_freq(const struct view_table *table)
{
	for (unsigned i = 0; i < table->n_columns; i++)
		if (table->columns[i].unit == COLUMN_HISTOGRAM)
			return true;
	return false;
}

const char *view_wait_state(unsigned i)
{
	return i < WAIT_STATES ? wait_state_name((enum wait_state)i) : NULL;
}

bool view_table_of_threads(const struct view_table *table)
{
	return table->source == TABLE_THREAD || table->source == TABLE_FILE || table->thread;
}

bool view_table_sums_threads(const struct view_table *table)
{
	return table->source == TABLE_THREAD || table->thread;
}

bool view_table_of_processes(const struct view_table *table)
{
	return view_table_of_threads(table) || table->source == TABLE_RELATION || table->process;
}

bool view_table_has_tree(const struct view_table *table)
{
	return table->source == TABLE_THREAD || table->parent;
}
