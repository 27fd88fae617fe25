/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_JSON_H
#define LT_ATTACH_JSON_H

#include <stdio.h>

#include "attach/wait.h"

/*
 * Writes a record as an object in a line of its own; nothing for an ENTRY, as its EXIT has all of it. LT_ERROR: it
 * could not be written.
 */
enum lt_status attach_json_write(FILE *out, struct ingest *in, const struct attach_record *r,
				 const struct attach_wait *wait);

#endif
