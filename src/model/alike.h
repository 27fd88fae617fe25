/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_ALIKE_H
#define LT_MODEL_ALIKE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cells.h"

/*
 * Finds a row again in another model of the same host, where it has another uid: by the cells that name what it is
 * about. Rows that belong to a thread name it by its uid; whoever compares them compares threads, too.
 */
enum { ALIKE_CELLS = 4 };

struct alike {
	bool any_unknown; /* a text that is unknown there is taken for the wanted one */
	unsigned n;
	uint8_t cells[ALIKE_CELLS];
	bool is_text[ALIKE_CELLS];
	uint64_t values[ALIKE_CELLS];
};

/* cells: of the row. any_cpu: it stands for those of all CPUs. Texts are compared by their strids. */
struct alike alike_of(enum table_id table, const uint64_t *cells, bool any_cpu);

bool alike_matches(const struct alike *a, const uint64_t *cells);

#endif
