/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_TRACER_H
#define LT_CONTROL_TRACER_H

#include <sys/types.h>

#include "base/status.h"
#include "control/plan.h"

/* A plan carried out on this machine, through liblttng-ctl; a session daemon answers (daemon.h). */

/*
 * Asks what there is of what the plan wants: an unused name, a kernel tracer, the tracepoints,
 * symbols and counters asked for by name, an empty directory or a relayd. Tracepoints that only a
 * set wants and are not there are left out of the plan, with a warning; the
 * others become patterns where those are fewer. LT_ERROR: what
 * lacks, or would do harm. Nothing is changed outside the process.
 */
enum lt_status tracer_probe(struct record_plan *plan);

/* Whether the output directory can take a recording: it is empty or not there. */
enum lt_status tracer_probe_output(const struct record_plan *plan);

/* Creates the session and all in it; nothing is recorded yet. LT_ERROR: there is no session. */
enum lt_status tracer_setup(const struct record_plan *plan);

/* From now on only this process, in all domains of the plan. */
enum lt_status tracer_track(const struct record_plan *plan, pid_t pid);

/*
 * Adds to the plan's session, before it starts, a channel of user space with one event, of the instances for which the
 * filter holds. Its name is "messages"; its buffers are small.
 */
enum lt_status tracer_add_messages(const struct record_plan *plan, const char *event, const char *filter);

/* Where only some processes of user space are recorded: this one, too. */
enum lt_status tracer_admit(const struct record_plan *plan, pid_t pid);

#endif
