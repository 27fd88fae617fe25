/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_CLOCKS_H
#define LT_INGEST_CLOCKS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/pack.h"
#include "clock/sync.h"

/*
 * The clocks of all hosts, by host name, so that the result of one reading of the
 * recordings (a survey) can be used in the next, in which hosts may come in another order:
 *
 *   survey:  packets ──▶ clocks ──▶ clocks_finish()
 *   reading:             clocks ──▶ maps that no longer change
 *
 * Created by the caller of ingest/ and borrowed by struct ingest. Main thread only.
 */
struct clocks;

enum clocks_use {
	CLOCKS_MOVE,  /* maps are updated as packets come: live sources, a replay without a survey */
	CLOCKS_AWAIT, /* maps are the identity until clocks_finish() */
	CLOCKS_RAW,   /* packets are matched, but every host keeps its own clock */
};

/* Makes a deep copy of the options. */
struct clocks *clocks_create(const struct clock_options *options, enum clocks_use use);
void clocks_destroy(struct clocks *c);

/* Sets a host's offset by name; the host may come later. Its time + offset_ns = reference time. */
void clocks_set_offset(struct clocks *c, const char *host, int64_t offset_ns);

/* The host's number in clocks_sync(). Adds the host if it is not known yet. */
unsigned clocks_host(struct clocks *c, const char *name, const char *clock_uuid);

/* The host sent or received a packet at ts_ns by its own clock. Ignored after clocks_finish(). */
void clocks_packet(struct clocks *c, unsigned host, uint64_t ts_ns, bool sent, const struct clock_packet *packet);

/* The host received a packet whose event has no headers. */
void clocks_bare_packet(struct clocks *c, unsigned host);

/* Not CLOCKS_AWAIT: the host had been read up to host_ns when our clock was at now_ns; see clock_sync_arrival(). */
void clocks_arrival(struct clocks *c, unsigned host, uint64_t host_ns, uint64_t now_ns);

/*
 * Not CLOCKS_AWAIT: updates the estimates, at most once per second of the hosts' time, and live drops old packets.
 * CLOCKS_RAW: no maps.
 */
void clocks_update(struct clocks *c);

/* There are no more packets: computes the best maps for all of them, which do not change again. CLOCKS_RAW: no maps. */
void clocks_finish(struct clocks *c);

/*
 * Finished clocks to bytes, and back into clocks with the same options and no hosts yet. clocks_unpack() returns false
 * if the bytes are damaged; the clocks are then unusable.
 */
void clocks_pack(const struct clocks *c, GByteArray *out);
bool clocks_unpack(struct clocks *c, struct unpack *in);

/* For clock_sync_info() and the like. Owned by c. */
struct clock_sync *clocks_sync(const struct clocks *c);

#endif
