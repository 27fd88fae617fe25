/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_GLOBS_H
#define LT_CONTROL_GLOBS_H

#include <glib.h>

/*
 * Replaces names by few patterns: "NAME", or "PREFIX*" if every known name with that prefix is wanted. Each request to
 * the session daemon costs a round trip and a walk over all events of the tracer; a pattern is one request.
 *
 * known: all names (const char *); wanted: a set of some of them (const char *). Returns patterns (char *) that match
 * every wanted and no other known name; free them with g_ptr_array_free().
 */
GPtrArray *globs_of(const GPtrArray *known, GHashTable *wanted);

#endif
