/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_KEEP_H
#define LT_MODEL_KEEP_H

#include "model/state.h"

/*
 * Inside model/: mark the paths and short-lived names of the string pool that a row's cells, or all rows, hold
 * (strpool_keep()).
 */
void row_keep_paths(enum table_id table, const uint64_t *cells);
void state_keep_paths(const struct host_state *s);

#endif
