/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Getters: how columns are derived from cells. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/nstime.h"
#include "view/internal.h"

static enum table_id source(const struct view_cell *at)
{
	return at->rows->table->source;
}

static uint64_t figure(const struct view_cell *at, enum table_id table, const struct interval_row *row, unsigned cell)
{
	return table == TABLES ? row->b[cell] : interval_value(at->host->iv, table, row, cell);
}

uint64_t view_figure(const struct view_cell *at, unsigned cell)
{
	return figure(at, source(at), &at->row->row, cell);
}

bool view_lacks(const struct view_cell *at, uint32_t lacks)
{
	const struct view_rows_internal *in = at->rows->internal;

	if (!at->rows->sums_hosts)
		return in->indexes[at->row->key.host].lacks & lacks;
	for (unsigned i = 0; i < at->rows->n_hosts; i++)
		if (at->rows->hosts[i].iv && in->indexes[i].lacks & lacks)
			return true;
	return false;
}

void view_set_recorded(const struct view_cell *at, struct value *v, uint32_t needed)
{
	value_set_null(v);
	if (!view_lacks(at, needed))
		value_set_uint(v, view_figure(at, at->column->cell));
}

/* ---- by type ---- */

static void set_signed(struct value *v, int64_t i, bool known)
{
	v->kind = known ? VALUE_INT : VALUE_NULL;
	v->i = i;
}

static void set_known(struct value *v, uint64_t u, bool known)
{
	v->kind = known ? VALUE_UINT : VALUE_NULL;
	v->u = u;
}

static void set_string(struct value *v, uint64_t cell)
{
	value_set_text(v, cell == STRID_NONE ? NULL : strpool_text((strid)cell));
}

static void set_ppm(struct value *v, uint64_t cell)
{
	double ppm;

	memcpy(&ppm, &cell, sizeof(ppm));
	value_set_real(v, ppm);
	if (isnan(ppm))
		value_set_null(v);
}

void view_set_time(const struct view_cell *at, uint64_t host_ns, struct value *v)
{
	value_set_uint(v, clock_to_ref(at->host->map, host_ns));
}

/* UINT64_MAX: the time since which a merged row has been in its state, see view_derived_cells(). */
static void set_time(const struct view_cell *at, uint64_t host_ns, struct value *v)
{
	value_set_null(v);
	if (host_ns && host_ns != UINT64_MAX)
		view_set_time(at, host_ns, v);
}

static void set_typed(const struct view_cell *at, enum cell_type type, uint64_t cell, struct value *v)
{
	const int64_t i = (int64_t)cell;

	switch (type) {
	case TYPE_ID:
	case TYPE_DEVICE:
	case TYPE_COUNT:
	case TYPE_BYTES:
	case TYPE_NS:
		value_set_uint(v, cell);
		break;
	case TYPE_SIGNED:
	case TYPE_REF_TIME:
		set_signed(v, i, i >= 0);
		break;
	case TYPE_ANY:
	case TYPE_SPAN:
		set_signed(v, i, i != CELL_UNKNOWN);
		break;
	case TYPE_INODE:
	case TYPE_LAPSE:
		set_known(v, cell, cell != 0);
		break;
	case TYPE_TEXT:
		set_string(v, cell);
		break;
	case TYPE_HOST:
		value_set_text(v, i == CELL_UNKNOWN ? NULL : at->rows->hosts[cell].name);
		break;
	case TYPE_FLAG:
		v->kind = VALUE_BOOL;
		v->flag = cell != 0;
		break;
	case TYPE_TIME:
		set_time(at, cell, v);
		break;
	case TYPE_PPM:
		set_ppm(v, cell);
		break;
	case TYPE_NONE:
	case TYPES:
		value_set_null(v);
		break;
	}
}

/* For a cell of threads, reads the thread that the row is or belongs to. */
void view_get_value(const struct view_cell *at, struct value *v)
{
	const struct column *c = at->column;
	const bool of_thread = c->cells == thread_cells;
	const struct interval_row *row = of_thread ? view_row_thread(at->rows, at->row) : &at->row->row;

	value_set_null(v);
	if (row)
		set_typed(at, c->cells[c->cell].type, figure(at, of_thread ? TABLE_THREAD : source(at), row, c->cell),
			  v);
}

/* ---- by form ---- */

/* Whether the row is the sum over all hosts, and no longer one of those that are added up. */
static bool is_of_all_hosts(const struct view_cell *at)
{
	return at->rows->sums_hosts && at->row->summed;
}

uint64_t view_online_ns(const struct view_cell *at)
{
	uint64_t online_ns = 0;

	if (!is_of_all_hosts(at))
		return at->rows->totals[at->row->key.host].online_ns;
	for (unsigned i = 0; i < at->rows->n_hosts; i++)
		online_ns += at->rows->totals[i].online_ns;
	return online_ns;
}

void view_set_share(const struct view_cell *at, view_figure_fn *get, double times, struct value *v)
{
	const bool all = is_of_all_hosts(at);
	const GArray *parts = at->rows->internal->parts;

	value_set_null(v);
	for (guint i = 0; i < (all ? parts->len : 1); i++) {
		const struct view_row *row = all ? &g_array_index(parts, struct view_row, i) : at->row;
		const struct view_cell part = { at->rows, &at->rows->hosts[row->key.host], row, at->column };
		const uint64_t duration_ns = at->rows->totals[row->key.host].duration_ns;

		if (duration_ns)
			value_set_real(v, (v->kind == VALUE_REAL ? v->real : 0) +
						  times * (double)get(&part) / (double)duration_ns);
	}
}

static uint64_t get_figure(const struct view_cell *at)
{
	return view_figure(at, at->column->cell);
}

void view_get_rate(const struct view_cell *at, struct value *v)
{
	view_set_share(at, get_figure, (double)NS_PER_S, v);
}

void view_get_percent(const struct view_cell *at, struct value *v)
{
	view_set_share(at, get_figure, 100, v);
}

/* Without values there is only a sum. */
void view_get_dist(const struct view_cell *at, struct value *v)
{
	const struct dist d = view_dist(at->host->iv, source(at), &at->row->row, at->column->cell);

	value_set_null(v);
	if (!d.count && at->column->form != FORM_TOTAL && at->column->form != FORM_MAX_AT)
		return;
	switch (at->column->form) {
	case FORM_TOTAL:
		value_set_uint(v, d.sum);
		break;
	case FORM_MIN:
		value_set_uint(v, d.min);
		break;
	case FORM_AVG:
		value_set_uint(v, view_dist_avg(&d));
		break;
	case FORM_MAX:
		value_set_uint(v, d.max);
		break;
	case FORM_STDEV:
		value_set_uint(v, view_dist_stdev(&d));
		break;
	case FORM_MAX_AT:
		set_time(at, d.max_at, v);
		break;
	default:
		break;
	}
}

/* ---- not from a cell ---- */

void view_get_container(const struct view_cell *at, struct value *v)
{
	const struct interval_row *thread = view_row_thread(at->rows, at->row);
	const struct view_container *c = NULL;

	if (thread)
		c = view_container_of(&at->rows->internal->indexes[at->row->key.host], INTERVAL_ROW(thread, thread));
	value_set_text(v, c ? c->name : NULL);
}

void view_get_host(const struct view_cell *at, struct value *v)
{
	value_set_text(v, at->row->overall ? VIEW_OVERALL : at->host->name);
}
