/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_PLAY_FRAMES_H
#define LT_PLAY_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pack.h"
#include "base/status.h"
#include "history/history.h"
#include "ingest/ingest.h"

/*
 * Moves data from the sources into the history: applies the hosts' events and cuts them into frames on a common grid in
 * reference time, which starts with the earliest host. Frames hold times on the host's own clock; after a change of its
 * map later frames are shifted against the grid, which does no harm. A host's first frame starts with its trace, the
 * last one ends with it. Hosts are added when their trace starts, at any time; if a host was away, its track has a gap.
 *
 *   grid      |-------|-------|-------|-------|
 *   host a    [  f0   |  f1   |  f2   | f3 [
 *   host b         [f0|  f1   | f2 [
 */
struct frames;

/*
 * Appends what a model has found in [begin_ns, end_ns[, by its host's own clock, to a track, and begins the model's
 * next frame.
 */
void frames_append(struct history *h, unsigned track, struct model *model, uint64_t begin_ns, uint64_t end_ns);

/*
 * Starts with the hosts that have started, one track each. apart: nothing is known about their clocks, which may differ
 * by days: align the starts of their traces instead. Everything is borrowed.
 */
struct frames *frames_create(struct ingest *in, struct history *h, uint64_t frame_ns, bool apart);
void frames_destroy(struct frames *f);

/* Saves which host has which track, once all have ended; and restores it for an unpacked ingest. NULL: invalid data. */
void frames_pack(const struct frames *f, GByteArray *out);
struct frames *frames_unpack(struct unpack *from, struct ingest *in, struct history *h);

uint64_t frames_length_ns(const struct frames *f);

/* The hosts added so far; a host's number here is its track. */
unsigned frames_host_count(const struct frames *f);
struct ingest_host *frames_host(const struct frames *f, unsigned i);

/* The origin of the grid; TIME_UNKNOWN: no host has started. Reference time, like all times here. */
uint64_t frames_origin_ns(const struct frames *f);

/* To be called when the hosts' maps have been replaced: the grid and the times below are then based on the new ones. */
void frames_clocks_changed(struct frames *f);

/*
 * Continues for about budget_ns. LT_OK: more is available. LT_AGAIN: the sources have nothing at present. LT_END: all
 * hosts have ended.
 */
enum lt_status frames_advance(struct frames *f, uint64_t budget_ns);

/*
 * The time up to which the history is complete for all hosts that continue, and, for those being waited for, up to
 * where they are. Once all have ended: the end of the traces.
 */
uint64_t frames_known_ns(const struct frames *f);

#endif
