/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_FIELDCLASS_H
#define LT_CTF_FIELDCLASS_H

#include <glib.h>
#include <jansson.h>

#include "base/status.h"
#include "ctf/type.h"

/*
 * Converts the field classes of CTF 2 from JSON to types. Some of them need no kind of their own:
 *
 *   bit array, bit map, boolean        an unsigned integer
 *   integer with mappings              an enum
 *   string of static, dynamic length   an array, a sequence of characters
 *   blob of static, dynamic length     an array, a sequence of bytes
 *   optional                           a variant of its field class and an empty structure
 *
 * Refused: integers of variable length or of more than 64 bits, floats of more than TYPE_FLOAT_BITS_MAX bits, a bit
 * order that does not match the byte order, and NUL-terminated strings in UTF-16 and UTF-32.
 */
struct fieldclass {
	GPtrArray *types;              /* all types made so far; destroyed by the owner of the struct */
	GHashTable *aliases;           /* char * → json_t * */
	const char *clock_name;        /* clock of the timestamps; NULL: they are mere numbers */
	bool has_roles;                /* the type belongs to a packet's header or context or to an event's header */
	enum bits_order order;         /* of the last number parsed */
	struct type *byte, *character; /* NULL: not needed so far */
	size_t n_copied;               /* bytes of names, mappings, ranges and paths, which are limited */
	unsigned depth;
};

/* Parses a field class or the name of an alias. LT_ERROR: the error chain says where inside it. */
enum lt_status fieldclass_parse(struct fieldclass *f, const json_t *value, struct type **out);

#endif
