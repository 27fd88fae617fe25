/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_FRAMES_H
#define LT_CMD_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pack.h"
#include "base/status.h"
#include "history/history.h"
#include "ingest/ingest.h"

/*
 * From the sources into the history: applies the hosts' events and cuts them
 * into frames on one grid in reference time that begins with the earliest host. What a frame holds is by the host's
 * own clock; where a map changes later frames lie beside the grid, which harms nobody. The first frame of
 * a host begins with its record, the last one ends with it. Hosts are taken in when
 * their record begins, also later ones; where one was away its track has a gap.
 *
 *   grid      |-------|-------|-------|-------|
 *   host a    [  f0   |  f1   |  f2   | f3 [
 *   host b         [f0|  f1   | f2 [
 */
struct frames;

/*
 * Takes in the hosts that have begun, a track each. apart: nothing is known of their clocks, which may be days apart:
 * each is kept as far from the begin of its own record as the others. All borrowed.
 */
struct frames *frames_create(struct ingest *in, struct history *h, uint64_t frame_ns, bool apart);
void frames_destroy(struct frames *f);

/* Which host has which track, once all have ended; and the same of an ingest that was unpacked. NULL: it is wrong. */
void frames_pack(const struct frames *f, GByteArray *out);
struct frames *frames_unpack(struct unpack *from, struct ingest *in, struct history *h);

uint64_t frames_length_ns(const struct frames *f);

/* The hosts taken in so far: the track of each is its number here. */
unsigned frames_host_count(const struct frames *f);
struct ingest_host *frames_host(const struct frames *f, unsigned i);

/* The grid's origin, TIME_UNKNOWN: no host has begun. Reference time, as all times here. */
uint64_t frames_origin_ns(const struct frames *f);

/* The hosts' maps have been replaced: the grid and the times below begin anew with them. */
void frames_clocks_changed(struct frames *f);

/*
 * Goes on for about budget_ns. LT_OK: there is more at once. LT_AGAIN: the
 * sources have nothing now. LT_END: all hosts have ended.
 */
enum lt_status frames_advance(struct frames *f, uint64_t budget_ns);

/*
 * Before this time all frames of all hosts that go on are in the history, of those that are waited for up to where they
 * are; once all have ended: the record's end.
 */
uint64_t frames_known_ns(const struct frames *f);

#endif
