/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_STORE_H
#define LT_INGEST_STORE_H

#include "base/pack.h"
#include "ingest/ingest.h"

/*
 * Stores what an ingest knows about recordings that it has read completely, so that another run need not read them:
 * their hosts, the host of each source, and the events that the traces declare. The hosts' figures are not included,
 * because the history has them, nor is the wait graph, because windows can be read again (ingest/window.h).
 */

/* Whether all sources are recordings without faults so far, and the hosts' side-cars did not come as events. */
bool ingest_can_pack(const struct ingest *in);

/* The size of all recordings in bytes. */
uint64_t ingest_bytes(const struct ingest *in);

/* Adds to the checksum what tells these recordings from others (source/stamp.h). Call it after ingest_open(). */
void ingest_stamp(const struct ingest *in, GChecksum *sum);

/* Call it after the end of all hosts. */
void ingest_pack(const struct ingest *in, GByteArray *out);

/*
 * Replaces ingest_start() for an ingest with the same recordings opened: its hosts exist and have ended, no worker is
 * started, and it has no wait graph. false: the bytes are damaged or from other recordings; the ingest is unchanged.
 */
bool ingest_unpack(struct ingest *in, struct unpack *from);

#endif
