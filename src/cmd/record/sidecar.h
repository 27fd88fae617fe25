/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_RECORD_SIDECAR_H
#define LT_CMD_RECORD_SIDECAR_H

#include <glib.h>
#include <sys/types.h>

#include "control/plan.h"
#include "control/redump.h"
#include "sidecar/write.h"

/*
 * The side-car of a recording (sidecar/write.h). The recording is complete without it, so a failure only causes a
 * warning. A relayd only accepts traces: live sessions carry the same data as events (sidecar/stream.h).
 */

/* Live: adds the event to the session; call it before the session starts. */
void record_sidecar_prepare(const struct record_plan *plan);

/* Live: what the process that repeats the state dump also does. The plan is borrowed. */
struct redump_also record_sidecar_stream(const struct record_plan *plan);

/* Live: sends everything once. */
void record_sidecar_send(void);

/*
 * Live, on other hosts: adds to the plan what their shells send before the sessions are started, and with each state
 * dump.
 */
void record_sidecar_add(struct record_plan *plan);
enum lt_status record_sidecar_refresh(const GPtrArray *hosts, const char *session);

/* To be called when the recording has started; pid: the process that will become the plan's command, 0: none. */
void record_sidecar_start(const struct record_plan *plan, pid_t pid, const struct sidecar_cost *cost);

/* Removes it if nothing was recorded beside it. Returns whether that is so. */
bool record_sidecar_remove(const char *path);

/*
 * To be called when a recording of this machine ends or a snapshot of it was taken. path: its directory or relayd;
 * is_named: this user has chosen it; otherwise the session may be another user's. cost: what is known about it now;
 * NULL: nothing new. functions: addresses (uint64_t) of functions of the kernel, each once, which are named if this
 * user may see the kernel's symbols; NULL: none.
 */
void record_sidecar_update(const char *path, bool is_named, const struct sidecar_cost *cost, const GArray *functions);

/*
 * The same for other hosts, before the recording is fetched; and afterwards, for a directory per host below output.
 * symbols: of kprobes, NULL-terminated; NULL: keep those from the start.
 */
void record_sidecar_leave(const GPtrArray *hosts, const char *session, const char *const *symbols);
void record_sidecar_fetched(const GPtrArray *hosts, const char *output);

#endif
