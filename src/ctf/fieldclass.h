/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_FIELDCLASS_H
#define LT_CTF_FIELDCLASS_H

#include <glib.h>
#include <jansson.h>

#include "base/status.h"
#include "ctf/type.h"

/*
 * The field classes of CTF 2: from JSON to types. What needs no kind of its own has none:
 *
 *   bit array, bit map, boolean      an unsigned integer
 *   integer with mappings            an enum
 *   string of static, dynamic length an array, a sequence of characters
 *   blob                             an array, a sequence of bytes
 *   optional                         a variant of its field class and an empty structure
 *
 * Refused: integers of variable length, numbers of more than 64 bits, bits in
 * the order that is not the byte order's own, NUL-terminated strings of UTF-16 and UTF-32.
 */
struct fieldclass {
	GPtrArray *types;              /* every type made; the owner destroys them */
	GHashTable *aliases;           /* char * → json_t * */
	const char *clock_name;        /* of the timestamps, NULL: they are only numbers */
	bool has_roles;                /* the type is of a packet's header, context or an event's header */
	enum bits_order order;         /* of the number seen last */
	struct type *byte, *character; /* NULL: not needed yet */
	unsigned depth;
};

/* A field class or the name of an alias. LT_ERROR: the error chain says where in it. */
enum lt_status fieldclass_parse(struct fieldclass *f, const json_t *value, struct type **out);

#endif
