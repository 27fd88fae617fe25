/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/codec.h"

#include <glib.h>
#include <string.h>

#include "history/varint.h"

enum { ROW_IS_NEW = 1, ROW_HAS_ENDED = 2, ROW_FLAG_BITS = 2 };

/* A mask that is in no dictionary follows itself; so many are kept per table. */
enum { MASK_FOLLOWS = 0, MASKS_MAX = 1 << 12 };

/* Room for any row. */
enum { ROW_BYTES_MAX = CELLS_MAX * VARINT128_MAX + 4 * VARINT_MAX };

/* How a cell is written. */
enum op {
	OP_NOTHING, /* inside a distribution */
	OP_GAUGE,
	OP_TIME,
	OP_GROWTH,
	OP_DIST,    /* the first cell of a struct dist */
	OP_MIN,
	OP_MAX,
};

enum {
	DIST_CELLS = sizeof(struct dist) / sizeof(uint64_t),
	DIST_MIN = offsetof(struct dist, min) / sizeof(uint64_t), /* its extremes: min, max, max_at */
};

/*
 * What to do with the cells of a table. The accruals of a state usually grow
 * together by what its time of change advances (cpu + ready + blocked of a
 * thread): the last one is then told by the others, bit 0 of the mask (the uid's, which
 * needs none) says so.
 */
struct plan {
	uint8_t n_cells;
	uint8_t since;         /* the time the accruals below count from */
	uint8_t told_by_rest;  /* the last of those accruals, 0: none */
	uint64_t accruals;     /* bits of all of them */
	uint64_t figures;      /* bits of counters and accruals */
	uint8_t ops[CELLS_MAX];
	uint64_t empty[CELLS_MAX]; /* a new row */
};

#define TOLD_BY_REST UINT64_C(1)

struct codec {
	struct plan plans[TABLES];
	struct map64 mask_numbers[TABLES]; /* mask -> place in masks[], + 1 */
	GArray *masks[TABLES];             /* uint64_t */
	struct bytes rows, extremes;       /* of the table being put */
};

void bytes_reserve(struct bytes *b, size_t more)
{
	size_t old = b->capacity, wanted = b->len + more + VARINT_PAD;

	if (wanted <= old)
		return;
	b->capacity = MAX(MAX(wanted, old + old / 2), 256);
	b->data = g_realloc(b->data, b->capacity);
	memset(b->data + old, 0, b->capacity - old);
}

void bytes_append(struct bytes *b, const void *data, size_t len)
{
	bytes_reserve(b, len);
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
}

void bytes_fit(struct bytes *b)
{
	b->capacity = b->len + VARINT_PAD;
	b->data = g_realloc(b->data, b->capacity);
	memset(b->data + b->len, 0, VARINT_PAD);
}

void bytes_release(struct bytes *b)
{
	g_free(b->data);
	*b = (struct bytes){0};
}

void changes_add(struct changes *ch, enum table_id table, uint32_t row, bool ended, const uint64_t *cells)
{
	if (ch->n[table] == ch->capacity[table]) {
		ch->capacity[table] = MAX(64, 2 * ch->capacity[table]);
		ch->list[table] = g_renew(struct change, ch->list[table], ch->capacity[table]);
	}
	ch->list[table][ch->n[table]++] = (struct change){ row, ended, cells };
}

void changes_clear(struct changes *ch)
{
	memset(ch->n, 0, sizeof(ch->n));
}

void changes_release(struct changes *ch)
{
	for (int i = 0; i < TABLES; i++)
		g_free(ch->list[i]);
	*ch = (struct changes){0};
}

static bool is_dist(const struct table_desc *desc, unsigned cell)
{
	static const uint8_t kinds[DIST_CELLS] = { CELL_COUNTER, CELL_COUNTER, CELL_SQ_LO, CELL_SQ_HI,
						   CELL_MIN, CELL_MAX, CELL_MAX_AT };

	for (unsigned i = 0; i < DIST_CELLS; i++)
		if (cell + i >= desc->n_cells || desc->cells[cell + i].kind != kinds[i])
			return false;
	return true;
}

static enum op op_of_kind(enum cell_kind kind)
{
	switch (kind) {
	case CELL_KEY:
	case CELL_GAUGE:
	case CELL_STRING:
		return OP_GAUGE;
	case CELL_TIME:
		return OP_TIME;
	case CELL_COUNTER:
	case CELL_ACCRUAL:
		return OP_GROWTH;
	case CELL_MIN:
		return OP_MIN;
	case CELL_MAX:
		return OP_MAX;
	default:
		g_error("history: a cell that stands outside of a distribution");
	}
}

static void plan_accruals(struct plan *plan, const struct table_desc *desc)
{
	uint32_t states = 0;

	for (unsigned i = 1; i < desc->n_cells; i++) {
		const struct cell_desc *d = &desc->cells[i];

		if (d->kind != CELL_ACCRUAL || (plan->accruals && d->since != plan->since) || d->mask & states)
			continue;
		states |= d->mask;
		plan->since = d->since;
		plan->told_by_rest = i;
		plan->accruals |= UINT64_C(1) << i;
	}
}

static void plan_table(struct plan *plan, const struct table_desc *desc)
{
	plan->n_cells = desc->n_cells;
	for (unsigned i = 1; i < desc->n_cells; i++) {
		if (is_dist(desc, i)) {
			plan->ops[i] = OP_DIST;
			plan->figures |= UINT64_C(3) << i;
			plan->empty[i + DIST_MIN] = UINT64_MAX;
			i += DIST_CELLS - 1;
			continue;
		}
		plan->ops[i] = op_of_kind(desc->cells[i].kind);
		if (plan->ops[i] == OP_GROWTH)
			plan->figures |= UINT64_C(1) << i;
		else if (plan->ops[i] == OP_MIN)
			plan->empty[i] = UINT64_MAX;
	}
	plan_accruals(plan, desc);
}

struct codec *codec_create(void)
{
	struct codec *c = g_new0(struct codec, 1);

	for (int i = 0; i < TABLES; i++) {
		plan_table(&c->plans[i], &table_descs[i]);
		c->masks[i] = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	}
	return c;
}

void codec_destroy(struct codec *c)
{
	for (int i = 0; i < TABLES; i++) {
		map64_release(&c->mask_numbers[i]);
		g_array_free(c->masks[i], TRUE);
	}
	bytes_release(&c->rows);
	bytes_release(&c->extremes);
	g_free(c);
}

size_t codec_bytes(const struct codec *c)
{
	size_t bytes = sizeof(*c) + c->rows.capacity + c->extremes.capacity;

	for (int i = 0; i < TABLES; i++) {
		const struct map64 *m = &c->mask_numbers[i];

		bytes += m->slots ? (m->mask + 1) * sizeof(*m->slots) : 0;
		bytes += c->masks[i]->len * sizeof(uint64_t);
	}
	return bytes;
}

/* ---- writing ---- */

static uint8_t *put_mask(struct codec *c, enum table_id table, uint8_t *p, uint64_t mask)
{
	uint32_t number = map64_get(&c->mask_numbers[table], mask);

	if (number == MAP64_NONE && c->masks[table]->len < MASKS_MAX) {
		g_array_append_val(c->masks[table], mask);
		number = c->masks[table]->len;
		map64_put(&c->mask_numbers[table], mask, number);
	}
	if (number != MAP64_NONE)
		return varint_put(p, number);
	return varint_put(varint_put(p, MASK_FOLLOWS), mask);
}

/* Where a row is written to. */
struct put {
	uint8_t *rows, *extremes;
	uint64_t ref_ns; /* the last time written, what the next is relative to */
};

static uint8_t *put_time(uint8_t *p, uint64_t t_ns, uint64_t *ref_ns)
{
	if (!t_ns)
		return varint_put(p, 0);
	p = varint_put(p, 1 + zigzag(t_ns - *ref_ns));
	*ref_ns = t_ns;
	return p;
}

static unsigned __int128 dist_square(const struct dist *d)
{
	return (unsigned __int128)d->sq_hi << 64 | d->sq_lo;
}

/* How a distribution is written, beside how far its count grew. */
enum dist_form {
	DIST_FULL,
	DIST_ONE,     /* one value: it is sum, min and max */
	DIST_NO_EXTREMES,
	DIST_FORM_BITS = 2,
};

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
	uint64_t ref_ns = put->ref_ns;

	put->rows = varint128_put(put->rows, (unsigned __int128)count << DIST_FORM_BITS | form);
	put->rows = varint_put(put->rows, sum);
	if (form != DIST_ONE)
		put->rows = varint128_put(put->rows, sq);
	if (form == DIST_FULL) {
		put->extremes = varint_put(put->extremes, d->min + 1);
		put->extremes = varint_put(put->extremes, d->max);
	}
	if (form != DIST_NO_EXTREMES)
		put->extremes = put_time(put->extremes, d->max_at, &ref_ns);
}

/* How far the accruals lag behind the time they count to. */
static uint64_t accrual_lag(const struct plan *plan, const uint64_t *cells)
{
	uint64_t lag = cells[plan->since];

	for (uint64_t m = plan->accruals; m; m &= m - 1)
		lag -= cells[__builtin_ctzll(m)];
	return lag;
}

static uint64_t changed_cells(const struct plan *plan, const uint64_t *prev, const uint64_t *cells)
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
	if (plan->told_by_rest && mask >> plan->told_by_rest & 1 &&
	    accrual_lag(plan, prev) == accrual_lag(plan, cells)) {
		mask &= ~(UINT64_C(1) << plan->told_by_rest);
		mask |= TOLD_BY_REST;
	}
	return mask;
}

static void put_cells(const struct plan *plan, struct put *put, uint64_t mask, const uint64_t *prev,
		      const uint64_t *cells)
{
	for (uint64_t m = mask & ~TOLD_BY_REST; m; m &= m - 1) {
		unsigned i = __builtin_ctzll(m);

		switch (plan->ops[i]) {
		case OP_GAUGE:
			put->rows = varint_put(put->rows, zigzag(cells[i] - prev[i]));
			break;
		case OP_TIME:
			put->rows = put_time(put->rows, cells[i], &put->ref_ns);
			break;
		case OP_GROWTH:
			put->rows = varint_put(put->rows, cells[i] - prev[i]);
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

/* What names the row before it in a table's rows. */
struct row_names {
	uint32_t row;
	uint64_t uid;
};

static void put_row(struct codec *c, enum table_id table, struct row_names *before, uint64_t begin_ns, uint32_t row,
		    unsigned flags, const uint64_t *prev, const uint64_t *cells)
{
	const struct plan *plan = &c->plans[table];
	uint64_t mask = changed_cells(plan, prev, cells);
	struct put put = { .ref_ns = begin_ns };

	if (!flags && !mask)
		return;
	bytes_reserve(&c->rows, ROW_BYTES_MAX);
	bytes_reserve(&c->extremes, ROW_BYTES_MAX);
	put.rows = c->rows.data + c->rows.len;
	put.extremes = c->extremes.data + c->extremes.len;
	put.rows = varint_put(put.rows, (uint64_t)(row - before->row) << ROW_FLAG_BITS | flags);
	before->row = row;
	put.rows = put_mask(c, table, put.rows, mask);
	if (flags & ROW_IS_NEW) {
		put.rows = varint_put(put.rows, zigzag(cells[0] - before->uid));
		before->uid = cells[0];
	}
	put_cells(plan, &put, mask, prev, cells);
	c->rows.len = put.rows - c->rows.data;
	c->extremes.len = put.extremes - c->extremes.data;
}

static void put_body(struct codec *c, enum table_id table, struct bytes *out)
{
	uint8_t head[3 * VARINT_MAX];
	uint8_t *p;

	if (!c->rows.len)
		return;
	p = varint_put(head, table);
	p = varint_put(p, c->rows.len);
	p = varint_put(p, c->extremes.len);
	bytes_append(out, head, p - head);
	bytes_append(out, c->rows.data, c->rows.len);
	bytes_append(out, c->extremes.data, c->extremes.len);
}

static bool counted_nothing(const struct plan *plan, const uint64_t *cells)
{
	for (uint64_t m = plan->figures; m; m &= m - 1)
		if (cells[__builtin_ctzll(m)])
			return false;
	return true;
}

/* The base takes the row over. */
static void base_follow(const struct plan *plan, struct host_state *base, enum table_id table,
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
		      const struct change *list, uint32_t n)
{
	const struct plan *plan = &c->plans[table];
	struct row_names before = {0};

	c->rows.len = c->extremes.len = 0;
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
		else if (!counted_nothing(plan, change->cells))
			put_row(c, table, &before, begin_ns, before.row, flags, prev, change->cells);
		base_follow(plan, base, table, change, new);
	}
}

void codec_put_frame(struct codec *c, struct bytes *out, uint64_t begin_ns, struct host_state *base,
		     const struct changes *ch)
{
	for (int i = 0; i < TABLES; i++) {
		if (!ch->n[i])
			continue;
		put_table(c, i, begin_ns, base, ch->list[i], ch->n[i]);
		put_body(c, i, out);
	}
}

void codec_put_key(struct codec *c, struct bytes *out, uint64_t t_ns, const struct host_state *s)
{
	for (int i = 0; i < TABLES; i++) {
		const struct state_table *t = &s->tables[i];
		struct row_names before = {0};

		c->rows.len = c->extremes.len = 0;
		for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;)
			put_row(c, i, &before, t_ns, row, ROW_IS_NEW, c->plans[i].empty, state_cells(t, row));
		put_body(c, i, out);
	}
}

/* ---- reading ---- */

static uint64_t get_mask(const struct codec *c, enum table_id table, const uint8_t **p)
{
	uint64_t number = varint_get(p);

	if (number == MASK_FOLLOWS)
		return varint_get(p);
	g_assert(number <= c->masks[table]->len);
	return g_array_index(c->masks[table], uint64_t, number - 1);
}

static uint64_t get_time(const uint8_t **p, uint64_t *ref_ns)
{
	uint64_t v = varint_get(p);

	if (!v)
		return 0;
	return *ref_ns += unzigzag(v - 1);
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
	const uint8_t *rows, *extremes; /* extremes NULL: not wanted */
	uint64_t ref_ns;
};

static void get_dist(struct get *get, struct dist *d)
{
	unsigned __int128 head = varint128_get(&get->rows), sq;
	uint64_t sum = varint_get(&get->rows), min = sum, max = sum, ref_ns = get->ref_ns;
	enum dist_form form = head & ((1 << DIST_FORM_BITS) - 1);

	sq = form == DIST_ONE ? (unsigned __int128)sum * sum : varint128_get(&get->rows);
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
	dist_merge_extremes(d, min, max, get_time(&get->extremes, &ref_ns));
}

static void get_cells(const struct plan *plan, struct get *get, uint64_t mask, uint64_t *cells)
{
	uint64_t lag = mask & TOLD_BY_REST ? accrual_lag(plan, cells) : 0, v;

	for (uint64_t m = mask & ~TOLD_BY_REST; m; m &= m - 1) {
		unsigned i = __builtin_ctzll(m);

		switch (plan->ops[i]) {
		case OP_GAUGE:
			cells[i] += unzigzag(varint_get(&get->rows));
			break;
		case OP_TIME:
			cells[i] = get_time(&get->rows, &get->ref_ns);
			break;
		case OP_GROWTH:
			cells[i] += varint_get(&get->rows);
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

static void get_table(const struct codec *c, enum table_id table, struct get get, const uint8_t *rows_end,
		      uint64_t begin_ns, struct host_state *s, state_retire_fn *retire, void *retire_data)
{
	const struct plan *plan = &c->plans[table];
	struct state_table *t = &s->tables[table];
	uint64_t brief[CELLS_MAX]; /* a life inside the frame */
	struct row_names before = {0};

	while (get.rows < rows_end) {
		uint64_t head = varint_get(&get.rows), mask = get_mask(c, table, &get.rows);
		uint64_t *cells = brief;

		before.row += head >> ROW_FLAG_BITS;
		if (head & ROW_IS_NEW) {
			before.uid += unzigzag(varint_get(&get.rows));
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
	g_assert(get.rows == rows_end);
}

void codec_get_frame(const struct codec *c, const uint8_t *data, size_t len, uint64_t begin_ns, uint32_t tables_mask,
		     struct host_state *s, state_retire_fn *retire, void *retire_data)
{
	const uint8_t *p = data, *end = data + len;

	while (p < end) {
		uint64_t table = varint_get(&p), rows = varint_get(&p), extremes = varint_get(&p);

		g_assert(table < TABLES && rows + extremes <= (size_t)(end - p));
		if (tables_mask >> table & 1)
			get_table(c, table, (struct get){ .rows = p, .extremes = retire ? p + rows : NULL }, p + rows,
				  begin_ns, s, retire, retire_data);
		p += rows + extremes;
	}
	g_assert(p == end);
}
