/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/alike.h"

#include <string.h>

/* Keys that are not shown as they are are uids, except for a state. */
static bool names_it(const struct cell_desc *cell, bool any_cpu)
{
	return cell->kind == CELL_KEY && (cell->type != TYPE_NONE || strcmp(cell->name, "state") == 0) &&
	       !(any_cpu && strcmp(cell->name, "cpu") == 0);
}

struct alike alike_of(enum table_id table, const uint64_t *cells, bool any_cpu)
{
	const struct table_desc *desc = &table_descs[table];
	struct alike a = { 0 };

	for (unsigned i = 1; i < desc->n_cells && a.n < ALIKE_CELLS; i++) {
		if (!names_it(&desc->cells[i], any_cpu))
			continue;
		a.cells[a.n] = (uint8_t)i;
		a.is_text[a.n] = desc->cells[i].type == TYPE_TEXT;
		a.values[a.n++] = cells[i];
	}
	return a;
}

bool alike_matches(const struct alike *a, const uint64_t *cells)
{
	for (unsigned i = 0; i < a->n; i++) {
		const uint64_t value = cells[a->cells[i]];

		if (value != a->values[i] && !(a->any_unknown && a->is_text[i] && !value))
			return false;
	}
	return true;
}
