/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes into differences. */
#include <string.h>

#include "history/codec_internal.h"
#include "history/sized.h"
#include "history/varint.h"

static uint64_t get_mask(const struct codec *c, enum table_id table, struct sized_get *get)
{
	uint64_t number = sized_get(get);

	if (number == MASK_FOLLOWS)
		return sized_get(get);
	g_assert(number <= c->masks[table]->len);
	return g_array_index(c->masks[table], uint64_t, number - 1);
}

/* The time that a number stands for. */
static uint64_t time_of(uint64_t number, uint64_t ref_ns)
{
	return number ? ref_ns + unzigzag(number - 1) : 0;
}

/* As dist_add() does it: of equal values the later. */
static void dist_merge_extremes(struct dist *d, uint64_t min, uint64_t max, uint64_t max_at)
{
	if (min < d->min)
		d->min = min;
	if (max > d->max || (max == d->max && max_at)) {
		d->max = max;
		d->max_at = max_at;
	}
}

/* Where rows are read from. */
struct get {
	struct sized_get rows;
	const uint8_t *extremes; /* NULL: not wanted */
	uint64_t ref_ns;
};

static void get_dist(struct get *get, struct dist *d)
{
	unsigned __int128 head = sized_get128(&get->rows), sq;
	uint64_t sum = sized_get(&get->rows), min = sum, max = sum;
	enum dist_form form = head & ((1 << DIST_FORM_BITS) - 1);

	sq = form == DIST_ONE ? (unsigned __int128)sum * sum : sized_get128(&get->rows);
	d->count += (uint64_t)(head >> DIST_FORM_BITS);
	d->sum += sum;
	sq += dist_square(d);
	d->sq_lo = (uint64_t)sq;
	d->sq_hi = (uint64_t)(sq >> 64);
	if (!get->extremes || form == DIST_NO_EXTREMES)
		return;
	if (form == DIST_FULL) {
		min = varint_get(&get->extremes) - 1;
		max = varint_get(&get->extremes);
	}
	dist_merge_extremes(d, min, max, time_of(varint_get(&get->extremes), get->ref_ns));
}

static void get_cells(const struct plan *plan, struct get *get, uint64_t mask, uint64_t *cells)
{
	uint64_t lag = mask & TOLD_BY_REST ? accrual_lag(plan, cells) : 0, v;

	for (uint64_t m = mask & ~TOLD_BY_REST; m; m &= m - 1) {
		unsigned i = __builtin_ctzll(m);

		switch (plan->ops[i]) {
		case OP_GAUGE:
			cells[i] += unzigzag(sized_get(&get->rows));
			break;
		case OP_TIME:
			cells[i] = time_of(sized_get(&get->rows), get->ref_ns);
			get->ref_ns = cells[i] ? cells[i] : get->ref_ns;
			break;
		case OP_GROWTH:
			cells[i] += sized_get(&get->rows);
			break;
		case OP_DIST:
			get_dist(get, (struct dist *)(void *)(cells + i));
			break;
		case OP_MIN:
			v = get->extremes ? varint_get(&get->extremes) - 1 : UINT64_MAX;
			cells[i] = MIN(cells[i], v);
			break;
		case OP_MAX:
			v = get->extremes ? varint_get(&get->extremes) : 0;
			cells[i] = MAX(cells[i], v);
			break;
		}
	}
	if (mask & TOLD_BY_REST)
		cells[plan->told_by_rest] += accrual_lag(plan, cells) - lag;
}

static void get_table(const struct codec *c, enum table_id table, struct get get, uint64_t numbers,
		      uint64_t begin_ns, struct host_state *s, state_retire_fn *retire, void *retire_data)
{
	const struct plan *plan = &c->plans[table];
	struct state_table *t = &s->tables[table];
	uint64_t brief[CELLS_MAX]; /* a life inside the frame */
	struct row_names before = {0};

	while (get.rows.n < numbers) {
		uint64_t head = sized_get(&get.rows), mask = get_mask(c, table, &get.rows);
		uint64_t *cells = brief;

		before.row += head >> ROW_FLAG_BITS;
		if (head & ROW_IS_NEW) {
			before.uid += unzigzag(sized_get(&get.rows));
			if (head & ROW_HAS_ENDED) {
				memcpy(brief, plan->empty, sizeof(brief));
				brief[0] = before.uid;
			} else {
				state_add_at(s, table, before.row, before.uid);
				cells = state_cells(t, before.row);
			}
		} else {
			g_assert(state_alive(t, before.row));
			state_touch(s, table, before.row);
			cells = state_cells(t, before.row);
		}
		get.ref_ns = begin_ns;
		get_cells(plan, &get, mask, cells);
		if (head & ROW_HAS_ENDED) {
			if (retire)
				retire(retire_data, table, head & ROW_IS_NEW ? STATE_NO_ROW : before.row, cells);
			if (!(head & ROW_IS_NEW))
				state_remove_at(s, table, before.row);
		}
	}
	g_assert(get.rows.n == numbers);
}

size_t codec_get_frame(const struct codec *c, const uint8_t *data, size_t len, uint64_t begin_ns, uint32_t tables_mask,
		       struct host_state *s, state_retire_fn *retire, void *retire_data)
{
	const uint8_t *p = data, *end = data + len;
	size_t bytes = 0;

	while (p < end) {
		uint64_t table = varint_get(&p), numbers = varint_get(&p), rows = varint_get(&p);
		uint64_t extremes = varint_get(&p), sizes = sized_packed(numbers);

		g_assert(table < TABLES && sizes + rows + extremes <= (size_t)(end - p));
		if (tables_mask >> table & 1) {
			struct get get = { .rows = { p + sizes, p, 0 }, .extremes = retire ? p + sizes + rows : NULL };

			get_table(c, table, get, numbers, begin_ns, s, retire, retire_data);
			bytes += sizes + rows + extremes;
		}
		p += sizes + rows + extremes;
	}
	g_assert(p == end);
	return bytes;
}
