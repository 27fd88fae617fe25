/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_CHECKS_H
#define LT_CONTROL_CHECKS_H

#include <glib.h>
#include <stdbool.h>

/*
 * Checks of what a machine's facts (facts.h) mean for tracing its kernel, in the order in which problems are best
 * fixed. Texts may contain bytes from the machine: sanitise them before showing them.
 */
enum check_state {
	CHECK_OK,
	CHECK_WARNING, /* can be traced, with limitations */
	CHECK_MISSING, /* cannot be traced */
};

struct check {
	const char *name; /* "kernel modules" */
	enum check_state state;
	char *text;   /* what was found */
	char *remedy; /* commands to run or advice; NULL: nothing to do */
};

/*
 * Makes the list of struct check *. here: the machine also runs the monitor, so it needs a relayd. The caller frees the
 * list with g_ptr_array_free().
 */
GPtrArray *checks_make(GHashTable *facts, bool here);

const char *check_state_name(enum check_state state);

/* Whether no check found a requirement missing. */
bool checks_pass(const GPtrArray *checks);

#endif
