/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_GLOBS_H
#define LT_CONTROL_GLOBS_H

#include <glib.h>

/*
 * Names as few patterns: "NAME", or "PREFIX*" where every known name with
 * that prefix is wanted. Each request to the session daemon costs a round trip and
 * the tracer a walk over all its events, and a pattern is one request.
 *
 * known: all names there are (const char *); wanted: some of them, a set of const char *. Returns
 * patterns (char *) that match the wanted and no other known name; to be freed with g_ptr_array_free().
 */
GPtrArray *globs_of(const GPtrArray *known, GHashTable *wanted);

#endif
