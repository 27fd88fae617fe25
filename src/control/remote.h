/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_REMOTE_H
#define LT_CONTROL_REMOTE_H

#include <glib.h>
#include <stdbool.h>

#include "base/status.h"
#include "control/plan.h"

/*
 * A plan carried out on other hosts, by their lttng tools, over ssh (the one in
 * PATH; how it authenticates is its own affair). All hosts at once. LT_ERROR: on
 * some host it failed, which the error chain names; what its tools say went to stderr.
 */

/* Creates the session on all of plan->hosts; nothing is recorded yet. After an error none of them has it. */
enum lt_status remote_setup(const struct record_plan *plan);

/* Starts it everywhere, as close together as ssh allows; after an error no host has the session. */
enum lt_status remote_start(const struct record_plan *plan);

/* Stops and removes a session. */
enum lt_status remote_stop(const GPtrArray *hosts, const char *session);

/* Has its state dump repeated on each host; messages: what defines `tell all` (plan.h), which is done, too. */
enum lt_status remote_refresh(const GPtrArray *hosts, const char *session, const char *messages);

/* Takes a snapshot of it on each host. */
enum lt_status remote_snapshot(const GPtrArray *hosts, const char *session);

/*
 * Brings what the hosts have recorded, unless they streamed it, into a directory for each below output, and removes
 * it there. *any: there was something. LT_ERROR: of some host it failed, and is still there.
 */
enum lt_status remote_fetch(const GPtrArray *hosts, const char *session, const char *output, bool *any);

/*
 * Adds what a script for sh prints there to a file beside what the hosts have recorded, so that it is fetched with it;
 * nothing where there is none.
 */
enum lt_status remote_leave(const GPtrArray *hosts, const char *session, const char *file, const char *script);

/* Removes what was recorded without bringing it. */
void remote_clear(const GPtrArray *hosts, const char *session);

/*
 * The only session that `record` has named itself on the hosts; the caller frees it. NULL: none or several, see the
 * error chain.
 */
char *remote_find(const GPtrArray *hosts);

/* What a script prints on a host; NULL: it failed, see the error chain. The caller frees it. */
char *remote_capture(const char *host, const char *script);

/* What `lttng list` says of a session, or of all with NULL: to stdout, sanitised, host by host. */
enum lt_status remote_list(const GPtrArray *hosts, const char *session);

#endif
