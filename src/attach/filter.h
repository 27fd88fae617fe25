/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_FILTER_H
#define LT_ATTACH_FILTER_H

#include <glib.h>
#include <stdbool.h>

#include "attach/calls.h"
#include "base/status.h"

/*
 * Which calls are shown: by name, by result, by path. The expressions are strace's: -e trace=, -e status=, -P.
 */
enum call_status {
	CALL_SUCCESSFUL = 1 << 0,
	CALL_FAILED = 1 << 1,
	CALL_UNFINISHED = 1 << 2, /* it never returned: exit, or the thread was killed */
	CALL_UNKNOWN = 1 << 3,    /* strace: unavailable: when the record ended it was still in the call */
	CALL_ANY = 15,
};

struct attach_filter {
	GPtrArray *terms;  /* struct filter_term *, of -e trace=; of the last one only, as strace does */
	bool inverted;     /* "!": all but these */
	bool traced;       /* -e trace= was given */
	unsigned statuses; /* enum call_status */
	GPtrArray *paths;  /* char *: globs */
};

void attach_filter_init(struct attach_filter *f);
void attach_filter_release(struct attach_filter *f);

/*
 * Takes an expression of -e: "trace=SET", "status=SET", or "SET" alone, which is one of trace. LT_ERROR: it cannot be
 * understood, or has no meaning here; the error chain says which.
 */
enum lt_status attach_filter_add(struct attach_filter *f, const char *expression);

/* Only these calls by their result: -z, -Z; with others one of them is enough. */
void attach_filter_set_status(struct attach_filter *f, enum call_status status);

/* Only calls with this path, a glob, as an argument or as that of an fd. */
void attach_filter_add_path(struct attach_filter *f, const char *glob);

/* Whether a call of this name is shown; call: its row, NULL none. Slow: once per event class. */
bool attach_filter_call(const struct attach_filter *f, const char *name, const struct call *call);

/* Whether the path is one of those asked for. */
bool attach_filter_path(const struct attach_filter *f, const char *path);

/* Whether what is shown of a call depends on how it ends: nothing is written when it begins. */
static inline bool attach_filter_waits(const struct attach_filter *f)
{
	return f->statuses != CALL_ANY;
}

#endif
