/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_CONSTS_H
#define LT_ATTACH_CONSTS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Names of the numbers that system calls take: open() flags, signals, socket
 * options … The values are those of the kernel's and the C library's headers; the
 * sets are listed in sets.def. Everything here is constant.
 */
struct constant {
	uint64_t value;
	const char *name;
};

enum const_kind {
	CONST_ENUM,  /* one of the names */
	CONST_FLAGS, /* names of bits, joined by '|' */
	CONST_MIXED, /* one of the names with a value within mask, and names of bits outside it */
};

struct const_set {
	const char *name; /* as calls.def calls it */
	enum const_kind kind;
	uint64_t mask;    /* MIXED: of the one */
	const char *none; /* what 0 is where no name has it */
	const struct constant *constants;
	unsigned n;
};

/* The set of that name; NULL: there is none. Slow: for the start. */
const struct const_set *consts_find(const char *name, size_t len);

/* The set's name of exactly this value, NULL: none. */
const char *consts_name(const struct const_set *set, uint64_t value);

/*
 * Appends value as the set's names. What has no name stands there as a number: of flags the rest as
 * hexadecimal ("O_RDWR|0x40000000"), of an enumeration the number itself.
 */
void consts_append(GString *out, const struct const_set *set, uint64_t value);

/* "ENOENT"; NULL: no such error. The kernel's own, which no program sees, are known too: "ERESTARTSYS". */
const char *consts_errno(int64_t error);

/* "SIGTERM", "SIGRT_3"; false: not a signal, nothing is appended. */
bool consts_append_signal(GString *out, int64_t number);

/* How constants are written from now on, in the whole process. */
enum const_style { STYLE_ABBREV, STYLE_RAW, STYLE_VERBOSE };

void consts_set_style(enum const_style style);

#endif
