/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_SYNC_OPTIONS_H
#define LT_CMD_SYNC_OPTIONS_H

#include <stdbool.h>

#include "cmd/options.h"
#include "ingest/ingest.h"

/* --no-sync, --ref, --offset, --ignore-port and --compat: how the hosts' clocks are to be joined. */

/* Clocks as the options want them, to be destroyed by the caller. LT_ERROR: one of them makes no sense. */
enum lt_status sync_options_clocks(const struct options *o, enum clocks_use use, struct clocks **out);

/* LT_ERROR: --ref or --offset names a host that is not there. */
enum lt_status sync_options_check_hosts(const struct options *o, struct ingest *in);

/* Whether a SOURCE is live: maps then move on while it is read. words: from this one on. */
bool sync_options_live(const struct options *o, unsigned first_word);

/* --compat=tracecompass. LT_ERROR: something else. */
enum lt_status sync_options_compat(const struct options *o, bool *compat);

#endif
