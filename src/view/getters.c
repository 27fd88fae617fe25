/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stddef.h>

#include "view/internal.h"

static enum table_id source(const struct view_cell *at)
{
	return at->rows->table->source;
}

uint64_t view_figure(const struct view_cell *at, unsigned cell)
{
	return interval_value(at->host->iv, source(at), &at->row->row, cell);
}

static void set_signed(struct value *v, uint64_t cell)
{
	v->kind = (int64_t)cell < 0 ? VALUE_NULL : VALUE_INT;
	v->i = (int64_t)cell;
}

static void set_string(struct value *v, uint64_t cell)
{
	value_set_text(v, cell == STRID_NONE ? NULL : strpool_text((strid)cell));
}

/* UINT64_MAX: since when a merged row has been in its state, view_own_cells(). */
static void set_known(struct value *v, uint64_t cell)
{
	v->kind = cell && cell != UINT64_MAX ? VALUE_UINT : VALUE_NULL;
	v->u = cell;
}

void view_get_value(const struct view_cell *at, struct value *v)
{
	value_set_uint(v, view_figure(at, at->column->cell));
}

void view_get_signed(const struct view_cell *at, struct value *v)
{
	set_signed(v, at->row->row.b[at->column->cell]);
}

void view_get_text(const struct view_cell *at, struct value *v)
{
	set_string(v, at->row->row.b[at->column->cell]);
}

void view_get_known(const struct view_cell *at, struct value *v)
{
	set_known(v, at->row->row.b[at->column->cell]);
}

void view_get_flag(const struct view_cell *at, struct value *v)
{
	v->kind = VALUE_BOOL;
	v->flag = at->row->row.b[at->column->cell] != 0;
}

void view_get_rate(const struct view_cell *at, struct value *v)
{
	uint64_t duration_ns = at->rows->totals[at->row->key.host].duration_ns;

	if (duration_ns)
		value_set_real(v, (double)view_figure(at, at->column->cell) * 1e9 / (double)duration_ns);
	else
		value_set_null(v);
}

static struct dist row_dist(const struct view_cell *at)
{
	return view_dist(at->host->iv, source(at), &at->row->row, at->column->cell);
}

void view_get_dist_count(const struct view_cell *at, struct value *v)
{
	value_set_uint(v, row_dist(at).count);
}

void view_get_dist_sum(const struct view_cell *at, struct value *v)
{
	value_set_uint(v, row_dist(at).sum);
}

void view_get_dist_min(const struct view_cell *at, struct value *v)
{
	struct dist d = row_dist(at);

	value_set_null(v);
	if (d.count)
		value_set_uint(v, d.min);
}

void view_get_dist_avg(const struct view_cell *at, struct value *v)
{
	struct dist d = row_dist(at);

	value_set_null(v);
	if (d.count)
		value_set_uint(v, view_dist_avg(&d));
}

void view_get_dist_max(const struct view_cell *at, struct value *v)
{
	struct dist d = row_dist(at);

	value_set_null(v);
	if (d.count)
		value_set_uint(v, d.max);
}

void view_get_dist_stdev(const struct view_cell *at, struct value *v)
{
	struct dist d = row_dist(at);

	value_set_null(v);
	if (d.count)
		value_set_uint(v, view_dist_stdev(&d));
}

static const struct interval_row *thread_of(const struct view_cell *at)
{
	return view_row_thread(at->rows, at->row);
}

void view_get_thread_signed(const struct view_cell *at, struct value *v)
{
	const struct interval_row *thread = thread_of(at);

	value_set_null(v);
	if (thread)
		set_signed(v, thread->b[at->column->cell]);
}

void view_get_thread_gauge(const struct view_cell *at, struct value *v)
{
	const struct interval_row *thread = thread_of(at);

	value_set_null(v);
	if (thread)
		value_set_uint(v, thread->b[at->column->cell]);
}

void view_get_thread_text(const struct view_cell *at, struct value *v)
{
	const struct interval_row *thread = thread_of(at);

	value_set_null(v);
	if (thread)
		set_string(v, thread->b[at->column->cell]);
}

void view_get_thread_known(const struct view_cell *at, struct value *v)
{
	const struct interval_row *thread = thread_of(at);

	value_set_null(v);
	if (thread)
		set_known(v, thread->b[at->column->cell]);
}

void view_get_container(const struct view_cell *at, struct value *v)
{
	const struct interval_row *thread = thread_of(at);
	const struct view_container *c = NULL;

	if (thread)
		c = view_container_of(&at->rows->internal->indexes[at->row->key.host], INTERVAL_ROW(thread, thread));
	value_set_text(v, c ? c->name : NULL);
}

void view_get_host(const struct view_cell *at, struct value *v)
{
	value_set_text(v, at->host->name);
}
