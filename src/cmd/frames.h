/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_FRAMES_H
#define LT_CMD_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "history/history.h"
#include "ingest/ingest.h"

/*
 * From the sources into the history: applies the hosts' events and cuts them
 * into frames on one grid that begins with the earliest host. The first frame of
 * a host begins with its record, the last one ends with it.
 *
 *   grid      |-------|-------|-------|-------|
 *   host a    [  f0   |  f1   |  f2   | f3 [
 *   host b         [f0|  f1   | f2 [
 */
struct frames;

/* Hosts are known (ingest_start()). Adds a track per host, numbered like the hosts. All borrowed. */
struct frames *frames_create(struct ingest *in, struct history *h, uint64_t frame_ns);
void frames_destroy(struct frames *f);

/*
 * Goes on for about budget_ns. LT_OK: there is more at once. LT_AGAIN: the
 * sources have nothing now. LT_END: all hosts have ended.
 */
enum lt_status frames_advance(struct frames *f, uint64_t budget_ns);

/* Before this time all frames of all hosts that go on are in the history; once all have ended: the record's end. */
uint64_t frames_known_ns(const struct frames *f);

#endif
