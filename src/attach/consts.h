/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_CONSTS_H
#define LT_ATTACH_CONSTS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Names for the numbers in system calls: open() flags, signals, socket options … Values are those of x86,
 * because a trace does not say on which architecture it was recorded; the sets are listed in sets.def. Everything here
 * is constant but the style of the text: consts_set_style().
 */
struct constant {
	uint64_t value;
	const char *name;
};

enum const_kind {
	CONST_ENUM,   /* one name */
	CONST_INT,    /* one name; other values are ints, not numbers of the same sort */
	CONST_FLAGS,  /* names of bits, joined by '|' */
	CONST_BITS32, /* the same, of an argument of 32 bits that is recorded as a register of 64 */
	CONST_MIXED,  /* one name for the value within mask, plus names of bits outside it */
	CONST_TAILED, /* the same, with that name behind those of the bits, and none for 0 */
};

struct const_set {
	const char *name; /* as used in calls.def */
	enum const_kind kind;
	uint64_t mask;    /* MIXED, TAILED: bits of the single name */
	const char *none; /* text for 0 if no name has that value */
	const struct constant *constants;
	unsigned n;
};

/* CONSTS_poll_events and so on: the sets by number. */
enum const_set_id {
#define SET(name, kind, mask, zero, constants) CONSTS_##name,
#include "attach/sets.def"
};

const struct const_set *consts_set(enum const_set_id id);

/* The set with that name; NULL: there is none. Slow: meant for initialisation. */
const struct const_set *consts_find(const char *name, size_t len);

/* The set's name for exactly this value; NULL: none. */
const char *consts_name(const struct const_set *set, uint64_t value);

/*
 * Appends value as names from the set. Bits without a name are appended in hexadecimal ("O_RDWR|0x40000000"), an
 * unnamed value of an enumeration as the number itself.
 */
void consts_append(GString *out, const struct const_set *set, uint64_t value);

/*
 * "ENOENT"; NULL: there is no such error. Includes the kernel's internal ones, which programs never see: "ERESTARTSYS".
 */
const char *consts_errno(int64_t error);

/*
 * Appends the result of a call that failed: "-1 ENOENT (No such file or directory)"; "? ERESTARTSYS (…)" for one that
 * the program does not see; an unknown number as it is, negative.
 */
void consts_append_error(GString *out, int64_t error);

/* Appends "SIGTERM" or "SIGRT_3"; false: not a signal, nothing was appended. */
bool consts_append_signal(GString *out, int64_t number);

/* The same in the style of constants: its name, its number or both; what is not a signal is a number. */
void consts_append_signal_number(GString *out, int64_t number);

/* Appends a command of quotactl(): "QCMD(Q_GETQUOTA, USRQUOTA)". */
void consts_append_quota_cmd(GString *out, uint32_t cmd);

/* Appends an I/O priority: "IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 4)". */
void consts_append_ioprio(GString *out, int32_t ioprio);

/* The same behind a result: its number, and the priority in parentheses. */
void consts_append_ioprio_result(GString *out, int32_t ioprio);

/* How constants are written from now on; affects the whole process. */
enum const_style { STYLE_ABBREV, STYLE_RAW, STYLE_VERBOSE };

void consts_set_style(enum const_style style);

#endif
