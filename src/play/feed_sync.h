/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_PLAY_FEED_SYNC_H
#define LT_PLAY_FEED_SYNC_H

#include <glib.h>

#include "base/stop.h"
#include "cli/options.h"

/*
 * Reads the recordings once for packets exchanged by their hosts, and sets sync_ns of each session (struct fed_session
 * *) to its host's clock offset at the session's start; later drift remains. Logs which hosts could not be compared.
 * LT_INTERRUPTED: *stop was set. LT_ERROR: no recording can be read.
 */
enum lt_status feed_sync(const struct options *o, const GPtrArray *sessions, const stop_flag *stop);

struct ingest_host;

/* Whether the host's sources include the directory or one of its parents. */
bool feed_comes_from(const struct ingest_host *host, const char *directory);

#endif
