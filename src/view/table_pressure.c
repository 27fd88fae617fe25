/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pressure on CPUs and disks, of hosts and containers. */
#include <stddef.h>

#include "view/declare.h"
#include "view/missing.h"

static uint32_t place_of(const struct view_rows *r, const struct view_row *row)
{
	const uint64_t uid = INTERVAL_ROW(pressure, &row->row)->container;
	const uint32_t place = uid ? map64_get(&r->internal->indexes[row->key.host].container_places, uid) : MAP64_NONE;

	return place == MAP64_NONE ? VIEW_HOST_ITSELF : place;
}

static void get_name(const struct view_cell *at, struct value *v)
{
	const GArray *containers = at->rows->internal->indexes[at->row->key.host].containers;
	const uint32_t place = place_of(at->rows, at->row);

	value_set_text(v,
		       place == VIEW_HOST_ITSELF ? NULL : g_array_index(containers, struct view_container, place).name);
}

static enum view_truth term_of_row(const struct view_rows *r, const struct view_row *row, const struct view_node *term)
{
	if (term->fact != VIEW_FACT_CONTAINER)
		return VIEW_UNTOUCHED;
	return view_term_has_container(term, &r->internal->indexes[row->key.host], place_of(r, row)) ? VIEW_YES
												     : VIEW_NO;
}

static void get_cpu(const struct view_cell *at, struct value *v)
{
	view_set_recorded(at, v, VIEW_LACKS_WAKEUPS);
}

/* A host has no CPU that others could use: while some thread is ready another one runs. */
static void get_cpu_full(const struct view_cell *at, struct value *v)
{
	value_set_null(v);
	if (INTERVAL_ROW(pressure, &at->row->row)->container)
		get_cpu(at, v);
}

static void get_io(const struct view_cell *at, struct value *v)
{
	view_set_recorded(at, v, VIEW_LACKS_DISKS);
}

static void set_percent(const struct view_cell *at, struct value *v)
{
	const uint64_t duration_ns = at->rows->totals[at->row->key.host].duration_ns;

	if (v->kind == VALUE_UINT && duration_ns)
		value_set_real(v, 100.0 * (double)v->u / (double)duration_ns);
	else
		value_set_null(v);
}

static void get_cpu_percent(const struct view_cell *at, struct value *v)
{
	get_cpu(at, v);
	set_percent(at, v);
}

static void get_cpu_full_percent(const struct view_cell *at, struct value *v)
{
	get_cpu_full(at, v);
	set_percent(at, v);
}

static void get_io_percent(const struct view_cell *at, struct value *v)
{
	get_io(at, v);
	set_percent(at, v);
}

#define SHARE(name, cell, header, getter, meaning) \
	CELL_COLUMN_BY(getter, PERCENT, name, pressure, cell, header, 9, COLUMN_SWITCHES, meaning)

static const struct column pressure_columns[] = {
	COLUMN_HOST,
	OTHER(get_name, "container", "CONTAINER", "Container that the row is about; null: the whole host.", COLUMN_TEXT,
	      24, REPORTED | COLUMN_KEY),
	COLUMN_BY(get_cpu, pressure, cpu_some_ns, "CPU SOME", 9, FIGURE | COLUMN_SWITCHES),
	COLUMN_BY(get_cpu_full, pressure, cpu_full_ns, "CPU FULL", 9, FIGURE | COLUMN_SWITCHES),
	COLUMN_BY(get_io, pressure, io_some_ns, "I/O SOME", 9, FIGURE | COLUMN_SWITCHES),
	COLUMN_BY(get_io, pressure, io_full_ns, "I/O FULL", 9, FIGURE | COLUMN_SWITCHES),
	SHARE("cpu_some_percent", cpu_some_ns, "CPU SOME%", get_cpu_percent,
	      "The time in cpu_some_ns, in percent of the recorded part of the interval."),
	SHARE("cpu_full_percent", cpu_full_ns, "CPU FULL%", get_cpu_full_percent,
	      "The time in cpu_full_ns, in percent of the recorded part of the interval."),
	SHARE("io_some_percent", io_some_ns, "I/O SOME%", get_io_percent,
	      "The time in io_some_ns, in percent of the recorded part of the interval."),
	SHARE("io_full_percent", io_full_ns, "I/O FULL%", get_io_percent,
	      "The time in io_full_ns, in percent of the recorded part of the interval."),
};

const struct view_table view_pressure_table = {
	.name = "pressure",
	.title = "Pressure",
	.row = "a host, or a container",
	.meaning = "How long threads were delayed by a lack of CPUs or by disks. 'some' is the time in which at least "
		   "one thread was delayed, 'full' the time in which all threads with work were. The definition is "
		   "that of /proc/pressure, applied to the host as a whole; the kernel instead takes the mean over its "
		   "CPUs, weighted by how long each had work. A thread waits for a disk while it sleeps "
		   "uninterruptibly and a request that it began is not done; the kernel also counts waits for "
		   "requests of other threads. A trace does not show pressure on memory. Threads of a nested container "
		   "count in that one alone.",
	.flags = VIEW_REPORT | VIEW_UNLIKE,
	.source = TABLE_PRESSURE,
	.tables = USES(PRESSURE) | USES(THREAD) | USES(CONTAINER),
	.needs = NEED_CPU | NEED_SCHED | NEED_DISK,
	N_COLUMNS(pressure_columns),
	.screen = "host container cpu_some_percent cpu_full_percent io_some_percent io_full_percent cpu_some_ns "
		  "io_some_ns",
	.sort = "cpu_some_percent",
	.about = "how long threads lacked a CPU or waited for disks",
	.empty = "no thread waited for a CPU or a disk in this interval",
	.term = term_of_row,
};
