/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of `lttngtop report --help` and its man page that follows the options: tables and their columns. */
#include <string.h>

#include "cmd/commands.h"
#include "cmd/report.h"

/* Describes a table and all its columns. */
static void help_table(struct help *h, const struct view_table *table)
{
	char *text = g_strdup_printf("%s: a row is %s", table->name, table->row);

	help_subsection(h, text);
	g_free(text);
	help_paragraph(h, table->meaning);
	for (unsigned i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];

		const bool histogram = column->unit == COLUMN_HISTOGRAM;

		text = g_strdup_printf("%s (%s%s%s)%s", column->meaning, column_unit_name(column->unit),
				       histogram ? " in " : "",
				       histogram ? column_unit_name(column_measured(column)) : "",
				       !(column->flags & COLUMN_IN_REPORT) ? "; only with --columns"
				       : column->flags & COLUMN_IF_KNOWN ? "; omitted from text if unknown in all rows"
									 : "");
		help_item(h, column->name, text);
		g_free(text);
	}
}

static void help_dump(struct help *h)
{
	help_subsection(h, REPORT_DUMP);
	help_paragraph(h, "Not a table: prints the events themselves with all their fields, in the order of corrected "
			  "time and in babeltrace2's format. --begin, --end and --host select events; --tid, --pid and "
			  "--comm select those that occurred while such a thread ran. With --json, each event is an "
			  "object. With --no-sync --babeltrace the text is identical to babeltrace2's; otherwise "
			  "unprintable characters are escaped.");
}

static void help_slice(struct help *h)
{
	help_subsection(h, REPORT_SLICE);
	help_paragraph(h, "Not a table: writes the part of the recordings from --begin to --end into --output DIR, "
			  "which must not exist or be empty, as traces that babeltrace2, Trace Compass and lttngtop"
			  " can open: DIR/HOST/kernel and so on. Packets are copied; the first and last are cut "
			  "between two events. With --host, --tid, --pid, --comm and --where, chosen as for dump, "
			  "only those events are written, and losses are still reported. The hosts' clocks are "
			  "set so that they agree in the middle of the interval; with --no-sync they are left as "
			  "they are. The names in a recording's lttngtop.json are written to "
			  "DIR/HOST/lttngtop.json, which contains command lines: remove it before you pass the "
			  "recording on, if they are private. If it fails or is interrupted, nothing is left in "
			  "DIR.");
}

/* Names that are used like tables but are not tables. */
static void help_others(struct help *h)
{
	if (h->brief) {
		help_item(h, REPORT_DUMP,
			  "Not a table: prints the events themselves with all their fields, as babeltrace2 "
			  "does.");
		help_item(h, REPORT_SLICE,
			  "Not a table: writes an interval, or chosen events of it, as a recording of its own, "
			  "with corrected clocks.");
		return;
	}
	help_dump(h);
	help_slice(h);
}

/* A table in a list of all: the first sentence about it. */
static void help_name(struct help *h, const struct view_table *table)
{
	const char *end = strstr(table->meaning, ". ");
	char *text = end ? g_strndup(table->meaning, (gsize)(end + 1 - table->meaning)) : g_strdup(table->meaning);

	help_item(h, table->name, text);
	g_free(text);
}

bool cmd_report_table_help(struct help *h, const char *name)
{
	const struct view_table *table = view_table_find(name);
	const bool dumps = !strcmp(name, REPORT_DUMP), slices = !strcmp(name, REPORT_SLICE);

	if (table && !(table->flags & VIEW_REPORT) && strcmp(name, REPORT_INSTANCES) != 0)
		table = NULL;
	if (!table && !dumps && !slices)
		return false;
	fprintf(h->out, "Usage: lttngtop report %s %s[OPTIONS] SOURCE...\n", name, slices ? "--output DIR " : "");
	if (table)
		help_table(h, table);
	else if (dumps)
		help_dump(h);
	else
		help_slice(h);
	return true;
}

void cmd_report_help(struct help *h)
{
	const struct view_table *instances = view_table_find(REPORT_INSTANCES);

	help_section(h, "Tables");
	for (unsigned i = 0; i < view_table_count(); i++) {
		const struct view_table *table = view_table_get(i);

		if (!(table->flags & VIEW_REPORT))
			continue;
		if (h->brief)
			help_name(h, table);
		else
			help_table(h, table);
	}
	if (h->brief)
		help_name(h, instances);
	else
		help_table(h, instances);
	help_others(h);
}
