/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_JSON_H
#define LT_ATTACH_JSON_H

#include <stdio.h>

#include "attach/wait.h"

/*
 * Writes a record as an object on its own line; writes nothing for an ENTRY because its EXIT contains everything.
 * false: it cannot be written, for the reason in errno.
 */
bool attach_json_write(FILE *out, struct ingest *in, const struct attach_record *r, const struct attach_wait *wait);

#endif
