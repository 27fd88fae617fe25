/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_CLOCKS_H
#define LT_INGEST_CLOCKS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/pack.h"
#include "clock/sync.h"

/*
 * The clocks of all hosts under the hosts' names, so that what one reading of
 * recordings found (a survey) serves the next one, whatever order its hosts come in:
 *
 *   survey:  packets ──▶ clocks ──▶ clocks_finish()
 *   reading:             clocks ──▶ maps that do not change any more
 *
 * Made by the caller of ingest/, borrowed by struct ingest. Main thread only.
 */
struct clocks;

enum clocks_use {
	CLOCKS_MOVE,  /* maps move on while packets come: live sources, a replay that was not surveyed */
	CLOCKS_AWAIT, /* maps are the identity until clocks_finish() */
	CLOCKS_RAW,   /* packets are matched, every host stays on its own clock */
};

/* options and what it points to are copied. */
struct clocks *clocks_create(const struct clock_options *options, enum clocks_use use);
void clocks_destroy(struct clocks *c);

/* The host of that name, whenever it comes: its time + offset_ns = the reference's. */
void clocks_set_offset(struct clocks *c, const char *host, int64_t offset_ns);

/* The host's number in clocks_sync(); a host that is not known yet is added. */
unsigned clocks_host(struct clocks *c, const char *name, const char *clock_uuid);

/* A packet of the host; ignored once finished. */
void clocks_packet(struct clocks *c, unsigned host, uint64_t ts_ns, bool sent, const struct clock_packet *packet);

/* It received one whose event has no headers. */
void clocks_bare_packet(struct clocks *c, unsigned host);

/* CLOCKS_MOVE: how far the host had come when our clock was at now_ns: clock_sync_arrival(). */
void clocks_arrival(struct clocks *c, unsigned host, uint64_t host_ns, uint64_t now_ns);

/* CLOCKS_MOVE: estimates anew, at most once per second of the hosts' time. */
void clocks_update(struct clocks *c);

/* No packet follows: the best maps for the whole record, from now on unchanged. CLOCKS_RAW: no maps. */
void clocks_finish(struct clocks *c);

/* Finished ones as bytes; and back, into ones without hosts, of the same options. False: of no use any more. */
void clocks_pack(const struct clocks *c, GByteArray *out);
bool clocks_unpack(struct clocks *c, struct unpack *in);

/* What is known of each pair: clock_sync_info() … . Borrowed. */
struct clock_sync *clocks_sync(const struct clocks *c);

#endif
