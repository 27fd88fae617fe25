/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_PLAY_SYNC_OPTIONS_H
#define LT_PLAY_SYNC_OPTIONS_H

#include <stdbool.h>

#include "cli/options.h"
#include "ingest/ingest.h"

/* Options for the hosts' clocks: --no-sync, --ref, --offset and --ignore-port. */

/* Creates clocks according to the options; the caller destroys them. LT_ERROR: an option is invalid. */
enum lt_status sync_options_clocks(const struct options *o, enum clocks_use use, struct clocks **out);

/* LT_ERROR: --ref or --offset names a host that does not exist. */
enum lt_status sync_options_check_hosts(const struct options *o, struct ingest *in);

/* Whether a SOURCE is live: maps then change while it is read. Looks at words from first_word on. */
bool sync_options_live(const struct options *o, unsigned first_word);

/* If no SOURCE is live, warns of options that have no effect then. */
void sync_options_warn_recorded(const struct options *o, unsigned first_word);

#endif
