/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_FILTER_H
#define LT_ATTACH_FILTER_H

#include <glib.h>
#include <stdbool.h>

#include "attach/calls.h"
#include "base/status.h"

/* Selects calls by name, result and path, with strace's expressions: -e trace=, -e status=, -P. */
enum call_status {
	CALL_SUCCESSFUL = 1 << 0,
	CALL_FAILED = 1 << 1,
	CALL_UNFINISHED = 1 << 2, /* never returned: exit, or the thread was killed */
	CALL_UNKNOWN = 1 << 3,    /* strace: unavailable; still in progress when the trace ended */
	CALL_ANY = 15,
};

struct attach_filter {
	GPtrArray *terms;  /* struct filter_term *, of the last -e trace=, as in strace */
	bool inverted;     /* "!": all but these */
	bool traced;       /* -e trace= was given */
	unsigned statuses; /* enum call_status */
	GPtrArray *paths;  /* char *: globs */
};

void attach_filter_init(struct attach_filter *f);
void attach_filter_release(struct attach_filter *f);

/*
 * Applies an expression of -e: "trace=SET", "status=SET", or "SET", which means trace=SET. LT_ERROR: invalid or
 * unsupported, see the error chain.
 */
enum lt_status attach_filter_add(struct attach_filter *f, const char *expression);

/* Selects calls by result: -z, -Z. Several statuses may be added. */
void attach_filter_set_status(struct attach_filter *f, enum call_status status);

/* Selects calls with this path, a glob, as an argument or as that of an fd. */
void attach_filter_add_path(struct attach_filter *f, const char *glob);

/* Whether a call of this name is shown; call: its row or NULL. Slow: meant to be called once per event class. */
bool attach_filter_call(const struct attach_filter *f, const char *name, const struct call *call);

/* Whether the path is one of those selected. */
bool attach_filter_path(const struct attach_filter *f, const char *path);

/* Whether the way a call ends decides if it is shown: nothing can be written when it starts. */
static inline bool attach_filter_waits(const struct attach_filter *f)
{
	return f->statuses != CALL_ANY;
}

#endif
