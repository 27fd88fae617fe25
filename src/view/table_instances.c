/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The individual values of a distribution: when each started, how long it took, which thread it belongs to. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "view/declare.h"

/* The name of a device; NULL: not known, or it has none but its number. */
static const char *disk_name(const struct interval *iv, unsigned major, unsigned minor)
{
	const struct interval_table *t = &iv->tables[TABLE_DISK];
	const char *name;

	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct disk_row *row = INTERVAL_ROW(disk, &t->rows[i]);

		if (row->dev != ((uint64_t)major << 20 | minor))
			continue;
		name = strpool_text((strid)row->name);
		return strchr(name, ':') ? NULL : name;
	}
	return NULL;
}

/* A request that came before the state dump has the number of its disk, whose name is known by now. */
static void get_cause(const struct view_cell *at, struct value *v)
{
	const char *cause = strpool_text((strid)INTERVAL_ROW(instance, &at->row->row)->cause), *name;
	unsigned major, minor;
	char rest[16] = "", text[64];
	int end = 0;

	view_get_value(at, v);
	/* "254:0", or "254:0 read" */
	if (v->kind != VALUE_TEXT || sscanf(cause, "%u:%u%n %15[a-z]", &major, &minor, &end, rest) < 2 ||
	    (!*rest && cause[end]))
		return;
	name = disk_name(at->host->iv, major, minor);
	if (!name)
		return;
	g_snprintf(text, sizeof(text), "%s%s%s", name, *rest ? " " : "", rest);
	value_set_text(v, strpool_text(strpool_intern_z(text)));
}

static const struct column instances_columns[] = {
	COLUMN_HOST,
	COLUMN(instance, begin_ns, "BEGIN", 18, REPORTED | COLUMN_KEY),
	COLUMN(instance, length_ns, "LENGTH", 8, LEVEL),
	COLUMN_TID,
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN_BY(get_cause, instance, cause, "CAUSE", 20, REPORTED),
	/* from here on, of waits: left out of other logs */
	COLUMN(instance, syscall, "CALL", 16, REPORTED),
	COLUMN(instance, fd, "FD", 5, REPORTED),
	COLUMN_AS("path", instance, object, "PATH", 24, REPORTED),
};

const struct view_table view_instances_table = {
	.name = "instances",
	.title = "Instances",
	.row = "a duration",
	.meaning = "Only with option --log of another table: its single durations, each in the interval in which it "
		   "ended. Only a log of table blocking has the columns syscall, fd and path.",
	.flags = VIEW_ALL_ROWS,
	.source = TABLE_INSTANCE,
	.tables = USES(INSTANCE) | USES(THREAD) | USES(DISK),
	N_COLUMNS(instances_columns),
	.screen = "host begin_ns length_ns tid pid comm cause",
	.sort = "begin_ns",
	.thread = CELL(instance, thread_uid),
};
