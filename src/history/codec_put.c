/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Encodes differences. */
#include <string.h>

#include "history/codec_internal.h"
#include "history/sized.h"
#include "history/varint.h"

static void put_mask(struct codec *c, enum table_id table, struct sized_put *put, uint64_t mask)
{
	uint32_t number = map64_get(&c->mask_numbers[table], mask);

	if (number == MAP64_NONE && c->masks[table]->len < MASKS_MAX) {
		g_array_append_val(c->masks[table], mask);
		number = c->masks[table]->len;
		map64_put(&c->mask_numbers[table], mask, number);
	}
	if (number != MAP64_NONE) {
		sized_put(put, number);
		return;
	}
	sized_put(put, MASK_FOLLOWS);
	sized_put(put, mask);
}

/* Where a row is written. */
struct put {
	struct sized_put rows;
	uint8_t *extremes;
	uint64_t ref_ns; /* the last time written; the next one is relative to it */
};

/* Encodes a time; 0: none. */
static uint64_t time_number(uint64_t t_ns, uint64_t ref_ns)
{
	return t_ns ? 1 + zigzag(t_ns - ref_ns) : 0;
}

static enum dist_form dist_form(const struct dist *d, uint64_t count, uint64_t sum, unsigned __int128 sq)
{
	if (d->min == UINT64_MAX && !d->max && !d->max_at)
		return DIST_NO_EXTREMES;
	if (count == 1 && sq == (unsigned __int128)sum * sum && d->min == sum && d->max == sum)
		return DIST_ONE;
	return DIST_FULL;
}

static void put_dist(struct put *put, const struct dist *prev, const struct dist *d)
{
	uint64_t count = d->count - prev->count, sum = d->sum - prev->sum;
	unsigned __int128 sq = dist_square(d) - dist_square(prev);
	enum dist_form form = dist_form(d, count, sum, sq);

	sized_put128(&put->rows, (unsigned __int128)count << DIST_FORM_BITS | form);
	sized_put(&put->rows, sum);
	if (form != DIST_ONE)
		sized_put128(&put->rows, sq);
	if (form == DIST_FULL) {
		put->extremes = varint_put(put->extremes, d->min + 1);
		put->extremes = varint_put(put->extremes, d->max);
	}
	if (form != DIST_NO_EXTREMES)
		put->extremes = varint_put(put->extremes, time_number(d->max_at, put->ref_ns));
}

static uint64_t changed_cells(const struct codec_plan *plan, const uint64_t *prev, const uint64_t *cells)
{
	uint64_t mask = 0;

	for (unsigned i = 1; i < plan->n_cells; i++) {
		if (plan->ops[i] == OP_DIST) {
			if (memcmp(cells + i, prev + i, sizeof(struct dist)) != 0)
				mask |= UINT64_C(1) << i;
			i += DIST_CELLS - 1;
		} else if (cells[i] != prev[i]) {
			mask |= UINT64_C(1) << i;
		}
	}
	if (plan->implied_by_rest && mask >> plan->implied_by_rest & 1 &&
	    accrual_lag(plan, prev) == accrual_lag(plan, cells)) {
		mask &= ~(UINT64_C(1) << plan->implied_by_rest);
		mask |= IMPLIED_BY_REST;
	}
	return mask;
}

/* gauges: for a new row; NULL: the row is known. */
static void put_cells(const struct codec_plan *plan, struct put *put, uint64_t mask, const uint64_t *prev,
		      uint64_t *gauges, const uint64_t *cells)
{
	for (uint64_t m = mask & ~IMPLIED_BY_REST; m; m &= m - 1) {
		unsigned i = __builtin_ctzll(m);

		switch (plan->ops[i]) {
		case OP_GAUGE:
			sized_put(&put->rows, zigzag(cells[i] - (gauges ? gauges : prev)[i]));
			if (gauges)
				gauges[i] = cells[i];
			break;
		case OP_TIME:
			sized_put(&put->rows, time_number(cells[i], put->ref_ns));
			if (cells[i])
				put->ref_ns = cells[i];
			break;
		case OP_GROWTH:
			sized_put(&put->rows, cells[i] - prev[i]);
			break;
		case OP_DIST:
			put_dist(put, (const struct dist *)(const void *)(prev + i),
				 (const struct dist *)(const void *)(cells + i));
			break;
		case OP_MIN:
			put->extremes = varint_put(put->extremes, cells[i] + 1);
			break;
		case OP_MAX:
			put->extremes = varint_put(put->extremes, cells[i]);
			break;
		}
	}
}

static void put_row(struct codec *c, enum table_id table, struct row_before *before, uint64_t begin_ns, uint32_t row,
		    unsigned flags, const uint64_t *prev, const uint64_t *cells)
{
	const struct codec_plan *plan = &c->plans[table];
	uint64_t mask = changed_cells(plan, prev, cells);
	struct put put = { .ref_ns = begin_ns };

	if (!flags && !mask)
		return;
	bytes_reserve(&c->rows, ROW_NUMBERS_MAX * SIZED_MAX);
	bytes_reserve(&c->sizes, ROW_NUMBERS_MAX + 1);
	bytes_reserve(&c->extremes, ROW_EXTREMES_MAX * VARINT_MAX);
	put.rows = (struct sized_put){ c->rows.data + c->rows.len, c->sizes.data + c->sizes.len };
	put.extremes = c->extremes.data + c->extremes.len;
	sized_put(&put.rows, (uint64_t)(row - before->row) << ROW_FLAG_BITS | flags);
	before->row = row;
	put_mask(c, table, &put.rows, mask);
	if (flags & ROW_IS_NEW) {
		sized_put(&put.rows, zigzag(cells[0] - before->uid));
		before->uid = cells[0];
	}
	put_cells(plan, &put, mask, prev, flags & ROW_IS_NEW ? before->gauges : NULL, cells);
	c->rows.len = put.rows.bytes - c->rows.data;
	c->sizes.len = put.rows.sizes - c->sizes.data;
	c->extremes.len = put.extremes - c->extremes.data;
}

static void put_body(struct codec *c, enum table_id table, struct bytes *out)
{
	uint8_t head[4 * VARINT_MAX];
	uint8_t *p;

	if (!c->sizes.len)
		return;
	p = varint_put(head, table);
	p = varint_put(p, c->sizes.len);
	p = varint_put(p, c->rows.len);
	p = varint_put(p, c->extremes.len);
	bytes_append(out, head, p - head);
	sized_pack(c->sizes.data, c->sizes.len);
	bytes_append(out, c->sizes.data, sized_packed(c->sizes.len));
	bytes_append(out, c->rows.data, c->rows.len);
	bytes_append(out, c->extremes.data, c->extremes.len);
}

static bool counted_nothing(const struct codec_plan *plan, const uint64_t *cells)
{
	for (uint64_t m = plan->figures; m; m &= m - 1)
		if (cells[__builtin_ctzll(m)])
			return false;
	return true;
}

/* Applies the change to the base. */
static void base_follow(const struct codec_plan *plan, struct host_state *base, enum table_id table,
			const struct change *change, bool new)
{
	struct state_table *t = &base->tables[table];
	uint64_t *cells;

	if (change->ended) {
		if (!new)
			state_remove_at(base, table, change->row);
		return;
	}
	if (new)
		state_add_at(base, table, change->row, change->cells[0]);
	cells = state_cells(t, change->row);
	memcpy(cells, change->cells, plan->n_cells * sizeof(*cells));
	for (unsigned i = 1; i < plan->n_cells; i++) {
		if (plan->ops[i] == OP_DIST) {
			memcpy(cells + i + DIST_MIN, plan->empty + i + DIST_MIN,
			       (DIST_CELLS - DIST_MIN) * sizeof(*cells));
			i += DIST_CELLS - 1;
		} else if (plan->ops[i] == OP_MIN || plan->ops[i] == OP_MAX) {
			cells[i] = plan->empty[i];
		}
	}
}

static void put_table(struct codec *c, enum table_id table, uint64_t begin_ns, struct host_state *base,
		      const struct change *list, uint32_t n, bool merged)
{
	const struct codec_plan *plan = &c->plans[table];
	struct row_before before = { 0 };

	c->rows.len = c->sizes.len = c->extremes.len = 0;
	for (uint32_t k = 0; k < n; k++) {
		const struct change *change = &list[k];
		const struct state_table *t = &base->tables[table];
		const uint64_t *prev = plan->empty;
		bool new = !state_alive(t, change->row) || state_cells(t, change->row)[0] != change->cells[0];
		unsigned flags = (new ? ROW_IS_NEW : 0) | (change->ended ? ROW_HAS_ENDED : 0);

		if (!new)
			prev = state_cells(t, change->row);
		if (!new || !change->ended)
			put_row(c, table, &before, begin_ns, change->row, flags, prev, change->cells);
		else if (!merged || !counted_nothing(plan, change->cells))
			put_row(c, table, &before, begin_ns, before.row, flags, prev, change->cells);
		base_follow(plan, base, table, change, new);
	}
}

void codec_put_frame(struct codec *c, struct bytes *out, uint64_t begin_ns, struct host_state *base,
		     const struct changes *ch, bool merged)
{
	for (int i = 0; i < TABLES; i++) {
		if (!ch->n[i])
			continue;
		put_table(c, i, begin_ns, base, ch->list[i], ch->n[i], merged);
		put_body(c, i, out);
	}
}

void codec_put_key(struct codec *c, struct bytes *out, uint64_t t_ns, const struct host_state *s)
{
	for (int i = 0; i < TABLES; i++) {
		const struct state_table *t = &s->tables[i];
		struct row_before before = { 0 };

		c->rows.len = c->sizes.len = c->extremes.len = 0;
		for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;)
			put_row(c, i, &before, t_ns, row, ROW_IS_NEW, c->plans[i].empty, state_cells(t, row));
		put_body(c, i, out);
	}
}
