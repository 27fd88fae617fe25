/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/alike.h"

#include <string.h>

/* Keys that are not to be shown are uids. */
static bool names_it(const struct cell_desc *cell, bool any_cpu)
{
	return cell->kind == CELL_KEY && cell->type != TYPE_NONE && !(any_cpu && strcmp(cell->name, "cpu") == 0);
}

struct alike alike_of(enum table_id table, const uint64_t *cells, bool any_cpu)
{
	const struct table_desc *desc = &table_descs[table];
	struct alike a = { 0 };

	for (unsigned i = 1; i < desc->n_cells && a.n < ALIKE_CELLS; i++) {
		if (!names_it(&desc->cells[i], any_cpu))
			continue;
		a.cells[a.n] = (uint8_t)i;
		a.values[a.n++] = cells[i];
	}
	return a;
}

bool alike_matches(const struct alike *a, const uint64_t *cells)
{
	for (unsigned i = 0; i < a->n; i++)
		if (cells[a->cells[i]] != a->values[i])
			return false;
	return true;
}
