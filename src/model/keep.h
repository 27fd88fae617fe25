/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_KEEP_H
#define LT_MODEL_KEEP_H

#include "model/state.h"

/* Inside model/: tell the string pool which paths are held (strpool_keep()): by a row's cells, by all rows. */
void row_keep_paths(enum table_id table, const uint64_t *cells);
void state_keep_paths(const struct host_state *s);

#endif
