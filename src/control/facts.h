/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_FACTS_H
#define LT_CONTROL_FACTS_H

#include <glib.h>

#include "base/status.h"

/*
 * What a machine says about itself as far as tracing needs it: a shell script
 * prints lines "key=value", here or over ssh; nothing is changed there. Values are
 * another machine's bytes: to be sanitised before they are shown.
 */

/*
 * The facts of this machine (host NULL) or another one, USER@HOST: char * → char *. NULL: it cannot be asked, see the
 * error chain. To be freed with g_hash_table_destroy().
 */
GHashTable *facts_ask(const char *host);

/* The facts in what the script printed. */
GHashTable *facts_parse(const char *text);

/* A value; "" where the machine did not say. Borrowed. */
const char *facts_get(GHashTable *facts, const char *key);

#endif
