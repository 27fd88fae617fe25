/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_NATIVE_FOLLOW_H
#define LT_READER_NATIVE_FOLLOW_H

#include <stdbool.h>

#include "base/status.h"
#include "source/ring.h"

/*
 * The recordings below a directory while tracers write them: what is complete of them into records, in the order of
 * time. New packets, files, traces and archives of rotated sessions are looked for at each step that has nothing else
 * to do.
 *
 * A stream's time is known up to the end of its last packet. No tracer says that a stream is idle: what the others have
 * is written all the same once the stream was silent for patience_ms longer; what it then still brings of
 * that time is written with the time reached, as a step back.
 *
 * It is over when every session that was being written has been closed by its tracer, as far as that can be seen (not
 * of a session with a directory for each process), or the directory is gone.
 */
struct native_follow;

/* Borrows the texts and the ring for its life. */
struct native_follow *native_follow_create(const char *directory, unsigned patience_ms, const char *fields,
					   struct ring_producer *ring);

void native_follow_destroy(struct native_follow *f);

/* As native_live_want(). */
void native_follow_want(struct native_follow *f, const char *fields, uint32_t number);

/*
 * Writes some hundred records at most. LT_OK: there is more. LT_AGAIN: nothing for now, or the ring is full;
 * everything is published: call it again in a moment, or when there is room. LT_END: it is over, everything
 * was written. LT_ERROR: so it is, and there was nothing that could be read.
 */
enum lt_status native_follow_step(struct native_follow *f);

/* After LT_AGAIN: it waits for room in the ring. */
bool native_follow_is_full(const struct native_follow *f);

#endif
