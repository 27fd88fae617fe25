/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/share.h"

#include "view/internal.h"

static uint64_t value_of(const struct view_rows *r, const struct view_row *row, const struct column *column)
{
	struct value v;

	view_row_value(r, row, column, &v);
	return v.kind == VALUE_UINT ? v.u : 0;
}

static void sum_up(struct view_share *s, const struct view_rows *r)
{
	g_array_set_size(s->sums, 0);
	g_array_set_size(s->sums, r->n_hosts);
	s->whole = 0;
	for (unsigned i = 0; i < r->n_all; i++) {
		const uint64_t value = r->rows[i].overall ? 0 : value_of(r, &r->rows[i], s->of);

		g_array_index(s->sums, uint64_t, r->rows[i].key.host) += value;
		s->whole += value;
	}
	s->rows = r;
	s->round = r->round;
}

/* The sums are computed when the first row is read. */
static void get_share(const struct view_cell *at, struct value *v)
{
	struct view_share *s = (struct view_share *)(uintptr_t)at->column;
	uint64_t sum;

	if (s->rows != at->rows || s->round != at->rows->round)
		sum_up(s, at->rows);
	sum = at->row->overall ? s->whole : g_array_index(s->sums, uint64_t, at->row->key.host);
	value_set_null(v);
	if (sum)
		value_set_real(v, 100.0 * (double)value_of(at->rows, at->row, s->of) / (double)sum);
}

/* Whether its values in several rows can be added. */
static bool is_added(const struct column *c)
{
	if (!column_adds_up(c) || c->flags & COLUMN_COUNTER)
		return column_adds_up(c);
	switch ((enum column_form)c->form) {
	case FORM_VALUE:
		return c->cells[c->cell].kind == CELL_COUNTER || c->cells[c->cell].kind == CELL_ACCRUAL;
	case FORM_COUNT:
	case FORM_TOTAL:
		return true;
	default:
		return false;
	}
}

struct view_share *view_share_create(const struct column *of)
{
	struct view_share *s;

	if (!is_added(of) || of->flags & COLUMN_SIGNED)
		return NULL;
	s = g_new0(struct view_share, 1);
	s->of = of;
	s->name = g_strdup_printf("%s_share", of->name);
	s->header = g_strdup_printf("%s%%", of->header);
	s->sums = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	s->column = (struct column){
		.name = s->name,
		.header = s->header,
		.meaning = "Share in the sum of its host's rows that pass the filter, in percent.",
		.unit = COLUMN_PERCENT,
		.width = 6,
		.cell = UINT16_MAX, /* not derived from a cell */
		.get = get_share,
	};
	return s;
}

void view_share_destroy(struct view_share *s)
{
	g_array_free(s->sums, TRUE);
	g_free(s->name);
	g_free(s->header);
	g_free(s);
}
