/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_STORE_H
#define LT_INGEST_STORE_H

#include "base/pack.h"
#include "ingest/ingest.h"

/*
 * What an ingest knows of recordings that it has read as a whole, for another run that need not read them: their
 * hosts, which source is whose, what their traces declare. Not the hosts' figures, which are in their history, and
 * not the wait graph: windows can be read again (ingest/window.h).
 */

/* Whether all its sources are recordings, and nothing was wrong with any so far. */
bool ingest_can_pack(const struct ingest *in);

/* The bytes of the recordings. */
uint64_t ingest_bytes(const struct ingest *in);

/* Adds to the checksum what tells these recordings from others (source/stamp.h). After ingest_open(). */
void ingest_stamp(const struct ingest *in, GChecksum *sum);

/* After the end of all hosts. */
void ingest_pack(const struct ingest *in, GByteArray *out);

/*
 * Instead of ingest_start(), of an ingest whose sources were opened from the same recordings: its hosts are there and
 * have ended, no worker is started, and it has no wait graph. False: it was something else; the ingest is as before.
 */
bool ingest_unpack(struct ingest *in, struct unpack *from);

#endif
