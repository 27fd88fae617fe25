/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLI_FOREIGN_H
#define LT_CLI_FOREIGN_H

#include <stddef.h>

#include "base/status.h"
#include "cli/options.h"

/* Other tools' names for options, and their arguments for options that have none here: foreign.def. */
struct foreign_name {
	enum command_bit command;
	const char *name, *ours;
	enum {
		FOREIGN_SAME,
		FOREIGN_EXPRESSION, /* --NAME=SET is --OURS=NAME=SET */
		FOREIGN_LIST,       /* --NAME=A,B is --OURS=A --OURS=B */
	} as;
};

/* The rows by number; NULL: there are no more. */
const struct foreign_name *foreign_name(unsigned i);

/* The command's row of that name; NULL: there is none. */
const struct foreign_name *foreign_find(enum command_bit command, const char *name);

/*
 * Reports why the command does not support another tool's option, given its letter or (letter 0) the first len bytes of
 * name; LT_OK: it is not such an option.
 */
enum lt_status foreign_refuse(enum command_bit command, char letter, const char *name, size_t len);

/* Whether a flag or level of the command may have an argument, as in the other tool. ours: the option's name. */
bool foreign_has_arguments(enum command_bit command, const char *ours);

/* Sets how many times the flag would have to be given to mean the same. LT_ERROR: there is no such argument. */
enum lt_status foreign_argument(enum command_bit command, const char *ours, const char *argument, unsigned *level);

#endif
