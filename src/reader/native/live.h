/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_NATIVE_LIVE_H
#define LT_READER_NATIVE_LIVE_H

#include "event/payload.h"
#include "source/ring.h"
#include "viewer/viewer.h"

/* Reads a live session through viewer/: its packets become records, with those of all its streams in time order. */
struct native_live;

struct recall;

/*
 * Borrows the ring as long as it exists, and nothing of the options. stall_ms: a stream that has been silent, while
 * others were not, for twice that and twice the session's live timer no longer holds up the others; 0: it does. name:
 * for EVENT_TRACE; fields: reader_args.wanted.
 */
struct native_live *native_live_create(const struct viewer_options *options, unsigned stall_ms, const char *name,
				       const char *fields, struct ring_producer *ring);

void native_live_destroy(struct native_live *l);

/* Adds the packets to the log (source/recall.h), which is borrowed. The name must be the URL. */
void native_live_recall(struct native_live *l, struct recall *log);

/* To be called several times a second: others that add to the log must not displace what is needed to read it. */
void native_live_keep_recalled(struct native_live *l);

/*
 * Changes the wanted fields, from a later step on: an EVENT_WANTED with that number precedes the first event affected.
 */
void native_live_want(struct native_live *l, const char *fields, uint32_t number);

/*
 * Receives, and writes at most several hundred records. LT_OK: there is more. LT_AGAIN: nothing for now, everything is
 * published; see native_live_viewer(). LT_END: the session is closed, everything was written. LT_ERROR: see the error
 * chain and *cause.
 *
 * Never waits for room in the ring while an answer of the relayd is in transit: the relayd sends to one viewer after
 * the other, and one that does not receive blocks all others.
 */
enum lt_status native_live_step(struct native_live *l, enum failed_cause *cause);

/* After LT_AGAIN: the viewer to wait for. */
const struct viewer *native_live_viewer(const struct native_live *l);

/*
 * After LT_AGAIN: when to call native_live_step() again at the latest (g_get_monotonic_time()), whether or not the
 * viewer has something.
 */
int64_t native_live_due_us(const struct native_live *l);

/* After LT_AGAIN: it waits for room in the ring, or until metadata that has grown is read; for tests. */
bool native_live_is_full(const struct native_live *l);

/* Converts a viewer's cause for the parent. */
enum failed_cause native_live_cause(const struct viewer *v);

#endif
