/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_NATIVE_LIVE_H
#define LT_READER_NATIVE_LIVE_H

#include "event/payload.h"
#include "source/ring.h"
#include "viewer/viewer.h"

/*
 * A live session, read by viewer/: its packets into records, those of all its streams in the order of time.
 */
struct native_live;

/* Borrows nothing of the options, and the ring for its life. name: for EVENT_TRACE; fields: reader_args.wanted. */
struct native_live *native_live_create(const struct viewer_options *options, const char *name, const char *fields,
				       struct ring_producer *ring);

void native_live_destroy(struct native_live *l);

/*
 * Other fields are wanted, from a later step on: an EVENT_WANTED of that number is written in front of the first event
 * of which they are.
 */
void native_live_want(struct native_live *l, const char *fields, uint32_t number);

/*
 * Receives and writes some hundred records at most. LT_OK: there is more. LT_AGAIN: nothing for now, everything is
 * published; see native_live_viewer(). LT_END: the session is closed, everything was written. LT_ERROR: see the
 * error chain and *cause.
 *
 * Never waits for room in the ring while the relayd has an answer under way: it sends to one viewer after the other,
 * and who does not receive keeps all others waiting.
 */
enum lt_status native_live_step(struct native_live *l, enum failed_cause *cause);

/* What to wait for; */
const struct viewer *native_live_viewer(const struct native_live *l);

/* and whether it waits for room in the ring. */
bool native_live_is_full(const struct native_live *l);

/* What a viewer's cause is to the parent. */
enum failed_cause native_live_cause(const struct viewer *v);

#endif
