/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_RECORD_SIDECAR_H
#define LT_CMD_RECORD_SIDECAR_H

#include <glib.h>
#include <sys/types.h>

#include "control/plan.h"
#include "control/redump.h"
#include "sidecar/write.h"

/*
 * The side-car of a recording (sidecar/write.h). What is recorded is whole without it: where it cannot be made there is
 * a warning. A relayd takes traces only: live sessions have it as events (sidecar/stream.h).
 */

/* Live: before the session starts, adds the event to it. */
void record_sidecar_prepare(const struct record_plan *plan);

/* Live: what the process does that repeats the state dump. The plan is borrowed. */
struct redump_also record_sidecar_stream(const struct record_plan *plan);

/* Live: sends all once. */
void record_sidecar_send(void);

/* Live, on other hosts: what the shells there say, before the sessions are made; and once more, with the state dump. */
void record_sidecar_add(struct record_plan *plan);
enum lt_status record_sidecar_refresh(const GPtrArray *hosts, const char *session);

/* The recording has started; pid: of the process that is to become the plan's command, 0: there is none. */
void record_sidecar_start(const struct record_plan *plan, pid_t pid, const struct sidecar_cost *cost);

/*
 * A recording of this machine ends, or a snapshot of it was taken: path is its directory, NULL: it has none. cost: what
 * is known of it now, NULL: nothing more than before.
 */
void record_sidecar_update(const char *path, const struct sidecar_cost *cost);

/*
 * The same of other hosts, before it is fetched; and when it has been, into a directory for each below output. symbols:
 * of kprobes, ends with NULL; NULL: those of the start stay.
 */
void record_sidecar_leave(const GPtrArray *hosts, const char *session, const char *const *symbols);
void record_sidecar_fetched(const GPtrArray *hosts, const char *output);

#endif
