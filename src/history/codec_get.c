/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes differences. The data may come from a damaged file, so nothing is trusted. Each row must start inside the
 * data, and a row reads a bounded amount, less than CODEC_PAD, so that reads never pass the padding. An error shows at
 * the next row or at the end of the table.
 */
#include <string.h>

#include "history/codec_internal.h"
#include "history/sized.h"
#include "history/varint.h"

/* A row without changes has mask 0; MASK_NONE: invalid. */
#define MASK_NONE UINT64_MAX

static uint64_t get_mask(const struct codec *c, enum table_id table, struct sized_get *get)
{
	uint64_t number = sized_get(get), mask;

	if (number > c->masks[table]->len)
		return MASK_NONE;
	mask = number == MASK_FOLLOWS ? sized_get(get) : g_array_index(c->masks[table], uint64_t, number - 1);
	return mask & ~c->plans[table].valid ? MASK_NONE : mask;
}

/* Decodes a time. */
static uint64_t time_of(uint64_t number, uint64_t ref_ns)
{
	return number ? ref_ns + unzigzag(number - 1) : 0;
}

/* As dist_add() does: of equal values the later one. */
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

/* gauges: for a new row; NULL: the row is known. */
static void get_cells(const struct codec_plan *plan, struct get *get, uint64_t mask, uint64_t *gauges, uint64_t *cells)
{
	uint64_t lag = mask & IMPLIED_BY_REST ? accrual_lag(plan, cells) : 0, v;

	for (uint64_t m = mask & ~IMPLIED_BY_REST; m; m &= m - 1) {
		unsigned i = __builtin_ctzll(m);

		switch (plan->ops[i]) {
		case OP_GAUGE:
			cells[i] = (gauges ? gauges : cells)[i] + unzigzag(sized_get(&get->rows));
			if (gauges)
				gauges[i] = cells[i];
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
	if (mask & IMPLIED_BY_REST)
		cells[plan->implied_by_rest] += accrual_lag(plan, cells) - lag;
}

/* Where the bytes of a table end. */
struct table_end {
	uint32_t numbers;
	const uint8_t *rows, *extremes;
};

static bool is_inside(const struct get *get, const struct table_end *end)
{
	return get->rows.n < end->numbers && get->rows.bytes <= end->rows &&
	       (!get->extremes || get->extremes <= end->extremes);
}

static bool get_table(const struct codec *c, enum table_id table, struct get get, const struct table_end *end,
		      uint64_t begin_ns, struct host_state *s, state_retire_fn *retire, void *retire_data)
{
	const struct codec_plan *plan = &c->plans[table];
	struct state_table *t = &s->tables[table];
	uint64_t brief[CELLS_MAX]; /* a life inside the frame */
	struct row_before before = { 0 };

	while (is_inside(&get, end)) {
		uint64_t head = sized_get(&get.rows), mask = get_mask(c, table, &get.rows);
		uint64_t *cells = brief;

		before.row += head >> ROW_FLAG_BITS;
		if (mask == MASK_NONE)
			return false;
		if (head & ROW_IS_NEW) {
			before.uid += unzigzag(sized_get(&get.rows));
			if (head & ROW_HAS_ENDED) {
				memcpy(brief, plan->empty, sizeof(brief));
				brief[0] = before.uid;
			} else {
				if (before.row >= c->rows_max || state_alive(t, before.row))
					return false;
				state_add_at(s, table, before.row, before.uid);
				cells = state_cells(t, before.row);
			}
		} else {
			if (!state_alive(t, before.row))
				return false;
			state_touch(s, table, before.row);
			cells = state_cells(t, before.row);
		}
		get.ref_ns = begin_ns;
		get_cells(plan, &get, mask, head & ROW_IS_NEW ? before.gauges : NULL, cells);
		if (head & ROW_HAS_ENDED) {
			if (retire)
				retire(retire_data, table, head & ROW_IS_NEW ? STATE_NO_ROW : before.row, cells);
			if (!(head & ROW_IS_NEW))
				state_remove_at(s, table, before.row);
		}
	}
	return get.rows.n == end->numbers && get.rows.bytes == end->rows &&
	       (!get.extremes || get.extremes == end->extremes);
}

/* The head of a table's bytes. */
struct table_head {
	uint64_t table, numbers, rows, extremes; /* lengths of the parts, except the sizes' */
	uint64_t sizes;
};

/* False: less data follows than it says. */
static bool get_head(struct table_head *head, const uint8_t **p, const uint8_t *end)
{
	uint64_t left;

	head->table = varint_get(p);
	head->numbers = varint_get(p);
	head->rows = varint_get(p);
	head->extremes = varint_get(p);
	if (*p > end || head->table >= TABLES)
		return false;
	left = (uint64_t)(end - *p);
	if (left > UINT32_MAX || head->numbers > MIN(2 * left, UINT32_MAX / 2))
		return false;
	head->sizes = sized_packed((uint32_t)head->numbers);
	return head->sizes <= left && head->rows <= left - head->sizes &&
	       head->extremes <= left - head->sizes - head->rows;
}

bool codec_get_frame(const struct codec *c, const uint8_t *data, size_t len, uint64_t begin_ns, uint32_t tables_mask,
		     struct host_state *s, state_retire_fn *retire, void *retire_data, size_t *bytes)
{
	const uint8_t *p = data, *end = data + len;

	*bytes = 0;
	while (p < end) {
		struct table_head head;
		const uint8_t *rows, *extremes;

		if (!get_head(&head, &p, end))
			return false;
		rows = p + head.sizes;
		extremes = rows + head.rows;
		if (tables_mask >> head.table & 1) {
			const struct table_end table_end = { (uint32_t)head.numbers, extremes,
							     extremes + head.extremes };
			struct get get = { .rows = { rows, p, 0 }, .extremes = retire ? extremes : NULL };

			if (!get_table(c, head.table, get, &table_end, begin_ns, s, retire, retire_data))
				return false;
			*bytes += head.sizes + head.rows + head.extremes;
		}
		p = extremes + head.extremes;
	}
	return true;
}
