/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_NATIVE_FOLLOW_H
#define LT_READER_NATIVE_FOLLOW_H

#include <stdbool.h>

#include "base/status.h"
#include "source/ring.h"

/*
 * Reads the recordings below a directory while tracers write them: complete packets become records in time order. New
 * packets, files, traces and archives of rotated sessions are looked for at each step that has nothing else to do.
 *
 * A stream's time is known up to the end of its last packet. Tracers do not report that a stream is idle, so after
 * patience_ms of silence the data of the other streams is written without it; earlier data that it adds later is
 * written with the current time, as a step back. The streams of a process end soon after its metadata is closed; of
 * one that ended before it was found, that is not visible.
 *
 * It ends when every session that was being written has been closed by its tracer, where that is visible (it is not for
 * a session with a directory for each process), or when the directory is gone.
 */
struct native_follow;

/* Borrows the texts and the ring as long as it exists. */
struct native_follow *native_follow_create(const char *directory, unsigned patience_ms, const char *fields,
					   struct ring_producer *ring);

void native_follow_destroy(struct native_follow *f);

/* As native_live_want(). */
void native_follow_want(struct native_follow *f, const char *fields, uint32_t number);

/* From now on it reads only what the directory holds at its next look, and ends after that. */
void native_follow_read_rest(struct native_follow *f);

/*
 * Writes at most several hundred records. LT_OK: there is more. LT_AGAIN: nothing for now, or the ring is full;
 * everything is published; call again in a moment, or when the ring has room. LT_END: finished, everything was written.
 * LT_ERROR: finished, and nothing was readable.
 */
enum lt_status native_follow_step(struct native_follow *f);

/* After LT_AGAIN: it waits for room in the ring. */
bool native_follow_is_full(const struct native_follow *f);

#endif
