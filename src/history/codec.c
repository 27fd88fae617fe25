/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plans how to process each table's cells, once. */
#include <string.h>

#include "history/codec_internal.h"

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
	*ch = (struct changes){ 0 };
}

static bool is_dist(const struct table_desc *desc, unsigned cell)
{
	static const uint8_t kinds[DIST_CELLS] = { CELL_COUNTER, CELL_COUNTER, CELL_SQ_LO, CELL_SQ_HI,
						   CELL_MIN,     CELL_MAX,     CELL_MAX_AT };

	for (unsigned i = 0; i < DIST_CELLS; i++)
		if (cell + i >= desc->n_cells || desc->cells[cell + i].kind != kinds[i])
			return false;
	return true;
}

static enum op op_of(const struct cell_desc *d)
{
	switch (d->kind) {
	case CELL_KEY:
		return OP_GAUGE;
	case CELL_GAUGE:
		return d->type == TYPE_TIME ? OP_TIME : OP_GAUGE;
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

static void plan_accruals(struct codec_plan *plan, const struct table_desc *desc)
{
	uint32_t states = 0;

	for (unsigned i = 1; i < desc->n_cells; i++) {
		const struct cell_desc *d = &desc->cells[i];

		if (d->kind != CELL_ACCRUAL || (plan->accruals && d->since != plan->since) || d->mask & states)
			continue;
		states |= d->mask;
		plan->since = d->since;
		plan->implied_by_rest = i;
		plan->accruals |= UINT64_C(1) << i;
	}
}

static void plan_table(struct codec_plan *plan, const struct table_desc *desc)
{
	plan->n_cells = desc->n_cells;
	for (unsigned i = 1; i < desc->n_cells; i++) {
		if (is_dist(desc, i)) {
			plan->ops[i] = OP_DIST;
			plan->valid |= UINT64_C(1) << i;
			plan->figures |= UINT64_C(3) << i;
			plan->empty[i + DIST_MIN] = UINT64_MAX;
			i += DIST_CELLS - 1;
			continue;
		}
		plan->ops[i] = op_of(&desc->cells[i]);
		plan->valid |= UINT64_C(1) << i;
		if (plan->ops[i] == OP_GROWTH)
			plan->figures |= UINT64_C(1) << i;
		else if (plan->ops[i] == OP_MIN)
			plan->empty[i] = UINT64_MAX;
	}
	plan_accruals(plan, desc);
	if (plan->implied_by_rest)
		plan->valid |= IMPLIED_BY_REST;
}

struct codec *codec_create(void)
{
	struct codec *c = g_new0(struct codec, 1);

	c->rows_max = STATE_NO_ROW;
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
	bytes_release(&c->sizes);
	bytes_release(&c->extremes);
	g_free(c);
}

void codec_trim(struct codec *c)
{
	bytes_release(&c->rows);
	bytes_release(&c->sizes);
	bytes_release(&c->extremes);
}

size_t codec_bytes(const struct codec *c)
{
	size_t bytes = sizeof(*c) + c->rows.capacity + c->sizes.capacity + c->extremes.capacity;

	for (int i = 0; i < TABLES; i++) {
		const struct map64 *m = &c->mask_numbers[i];

		bytes += m->slots ? (m->mask + 1) * sizeof(*m->slots) : 0;
		bytes += c->masks[i]->len * sizeof(uint64_t);
	}
	return bytes;
}
