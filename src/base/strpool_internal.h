/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_STRPOOL_INTERNAL_H
#define LT_BASE_STRPOOL_INTERNAL_H

/* Shared by strpool.c, which holds the names, and paths.c. */

#include "base/strpool.h"

#define STRID_PATH (UINT32_C(1) << 31) /* set in the ids of paths */

enum { STRPOOL_NAMES_LIMIT = 64 << 20, STRPOOL_PATHS_LIMIT = 256 << 20 };

/* text is sanitised and not empty. STRID_NONE: it did not fit. */
strid paths_intern(const char *text, size_t len);
const char *paths_text(strid id);

void paths_pack(GByteArray *out);
void paths_unpack(struct unpack *in);

void paths_set_limit(size_t bytes);
size_t paths_bytes(void);
void paths_release(void);

#endif
