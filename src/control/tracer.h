/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_TRACER_H
#define LT_CONTROL_TRACER_H

#include <sys/types.h>

#include "base/status.h"
#include "control/plan.h"

/* Carries out a plan on this machine through liblttng-ctl. A session daemon must answer (daemon.h). */

/*
 * Checks that the plan can be carried out: the name is unused, there is a kernel tracer, the tracepoints, symbols and
 * counters asked for by name exist, the output directory is empty or the relayd answers. Removes tracepoints from the
 * plan that only a set wants and that do not exist, with a warning, and replaces the others by patterns where those are
 * fewer. LT_ERROR: something is missing or would do harm. Leaves no effect outside the process.
 */
enum lt_status tracer_probe(struct record_plan *plan);

/* Whether the output directory can take a recording: it is empty or does not exist, and can be created and written. */
enum lt_status tracer_probe_output(const struct record_plan *plan);

/* Creates the session with everything in it, without starting it. LT_ERROR: no session is left. */
enum lt_status tracer_setup(const struct record_plan *plan);

/* Limits recording to this process, in all domains of the plan. */
enum lt_status tracer_track(const struct record_plan *plan, pid_t pid);

/*
 * Adds a user-space channel named "messages", with small buffers and one event limited by a filter, to the plan's
 * session. To be called before the session starts.
 */
enum lt_status tracer_add_messages(const struct record_plan *plan, const char *event, const char *filter);

/* If recording is limited to some user-space processes, adds this one. */
enum lt_status tracer_admit(const struct record_plan *plan, pid_t pid);

#endif
