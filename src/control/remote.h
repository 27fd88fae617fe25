/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_REMOTE_H
#define LT_CONTROL_REMOTE_H

#include <glib.h>
#include <stdbool.h>

#include "base/status.h"
#include "control/plan.h"

/*
 * Carries out a plan on other hosts with their lttng tools, over ssh (the one in PATH, with its own authentication), on
 * all hosts at once. LT_ERROR: it failed on the hosts named in the error chain; messages of their tools went to stderr.
 * done, if not NULL, receives the hosts on which it succeeded.
 */

/*
 * Creates the session on all of plan->hosts without starting it. A host that fails does not have it; a warning names
 * the host, which leaves the plan. LT_ERROR: no host has it, because all have failed or a signal came.
 */
enum lt_status remote_setup(struct record_plan *plan);

/* The same: starts the session everywhere, as simultaneously as ssh allows. */
enum lt_status remote_start(struct record_plan *plan);

/* Removes the session of plan and what it recorded from its hosts; keeps the error chain. */
void remote_discard(const struct record_plan *plan);

/* Stops and removes a session; succeeds if it is gone and only its recording is there, to be fetched. */
enum lt_status remote_stop(const GPtrArray *hosts, const char *session, GPtrArray *done);

/* Repeats the state dump on each host. messages: a script that defines `tell all` (plan.h), which is called, too. */
enum lt_status remote_refresh(const GPtrArray *hosts, const char *session, const char *messages);

/* Takes a snapshot of the session on each host. */
enum lt_status remote_snapshot(const GPtrArray *hosts, const char *session, GPtrArray *done);

/*
 * Moves recordings that were not streamed into a directory per host below output. *any: there was something. A host for
 * which it fails keeps its recording.
 */
enum lt_status remote_fetch(const GPtrArray *hosts, const char *session, const char *output, GPtrArray *done,
			    bool *any);

/*
 * Runs a script for sh on each host and appends its output to a file next to the recording, to be fetched with it. Does
 * nothing where nothing was recorded.
 */
enum lt_status remote_leave(const GPtrArray *hosts, const char *session, const char *file, const char *script);

/*
 * The only session on the hosts that was named by `record`, which the caller frees. NULL: none or several, see the
 * error chain.
 */
char *remote_find(const GPtrArray *hosts);

/* The output of a script on a host, which the caller frees. NULL: it failed, see the error chain. */
char *remote_capture(const char *host, const char *script);

/* Prints, host by host and sanitised, what `lttng list` says about a session, or about all if session is NULL. */
enum lt_status remote_list(const GPtrArray *hosts, const char *session);

#endif
