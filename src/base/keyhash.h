/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_KEYHASH_H
#define LT_BASE_KEYHASH_H

#include <glib.h>
#include <stdint.h>

/*
 * Hashes for a GHashTable whose keys come from a trace. Thousands of texts with the same g_str_hash(), or numbers with
 * the same g_int64_hash(), are easily made, and then each look-up compares all of them. These hashes depend on a random
 * number of the process, and so does the order of the table.
 */
guint keyhash_text(gconstpointer text);

/* Of a uint64_t. */
guint keyhash_number(gconstpointer number);

/* That random number, for other hashes. */
uint64_t keyhash_seed(void);

#endif
