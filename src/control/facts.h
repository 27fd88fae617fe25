/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_FACTS_H
#define LT_CONTROL_FACTS_H

#include <glib.h>

#include "base/status.h"

/*
 * What a machine reports about itself that matters for tracing. A shell script prints "key=value" lines, here or over
 * ssh, and changes nothing; no_library, of this machine alone, is why this program cannot load liblttng-ctl. Values are
 * another machine's bytes: sanitise them before showing them.
 */

/*
 * The facts (char * → char *) of this machine (host NULL) or of USER@HOST. NULL: it cannot be queried, see the error
 * chain. The caller frees them with g_hash_table_destroy().
 */
GHashTable *facts_ask(const char *host);

/* The value of a key, borrowed; "" if the machine did not report it. */
const char *facts_get(GHashTable *facts, const char *key);

#endif
