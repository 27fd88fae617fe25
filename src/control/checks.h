/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_CHECKS_H
#define LT_CONTROL_CHECKS_H

#include <glib.h>
#include <stdbool.h>

/*
 * What a machine's facts (facts.h) mean for tracing its kernel: a list of checks, in the order in which what is missing
 * is best mended. Texts hold bytes of the machine: to be sanitised.
 */
enum check_state {
	CHECK_OK,
	CHECK_WARNING, /* it can be traced, but not everything will be as good as it could */
	CHECK_MISSING, /* it cannot be traced */
};

struct check {
	const char *name; /* "kernel modules" */
	enum check_state state;
	char *text;   /* what was found */
	char *remedy; /* commands, or what else to do; NULL: nothing needs to be done */
};

/* here: the machine that would also show the trace, which takes a relayd. The caller frees it. */
GPtrArray *checks_make(GHashTable *facts, bool here);

const char *check_state_name(enum check_state state);

/* Whether nothing that tracing needs is missing. */
bool checks_pass(const GPtrArray *checks);

#endif
