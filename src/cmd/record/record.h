/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_RECORD_RECORD_H
#define LT_CMD_RECORD_RECORD_H

#include <glib.h>
#include <stdio.h>

#include "cli/options.h"
#include "control/sessions.h"

/* Shared by record.c, which sets up recordings, and verbs.c, which handles existing ones. */

/* Prints "view it: lttngtop SOURCE". */
void record_print_view(FILE *out, const char *source);

/* The same for a directory that was recorded into; says so if it has no trace. */
void record_print_result(FILE *out, const char *directory);

/*
 * Prints, and notes in the side-car, how many events the recording in a directory has, its size, and the CPU time used
 * by the consumer daemons since it was started, if the side-car knows. is_named: as for record_sidecar_update().
 */
void record_print_cost(FILE *out, const char *directory, bool is_named);

/* Prints nothing if nothing was lost. */
void record_print_lost(const struct session_lost *lost);

/* Stops a session. relayd: where it streams to; NULL: nowhere. LT_ERROR: it still exists, or not all data arrived. */
enum lt_status record_stop(const char *session, const char *relayd, struct session_lost *lost);

/* Prints "LABEL: lttngtop record VERB [--host HOST]... [--output DIR] SESSION". output may be NULL. */
void record_print_verb(FILE *out, const char *label, const char *verb, const GPtrArray *hosts, const char *output,
		       const char *session);

/* Adds to an error where what was recorded is, and whether there is no room left. Returns LT_ERROR. */
enum lt_status record_wrap_output(const char *directory);

/* Fetches recordings from other hosts and prints where they are. done receives the hosts for which that succeeded. */
enum lt_status record_fetch(FILE *out, const GPtrArray *hosts, const char *session, const char *output,
			    GPtrArray *done);

/* Prints the command that ends a session on those hosts that are not in done. output may be NULL. */
void record_print_rest(FILE *out, const GPtrArray *hosts, const GPtrArray *done, const char *session,
		       const char *output);

/* A subcommand: stop, status, snapshot, refresh. */
struct record_verb;

/* NULL: there is no such subcommand. */
const struct record_verb *record_verb_find(const char *name);

/*
 * Applies it to the session that is given, or to the only one that was named by `record`. Returns the exit status.
 */
int record_verb_run(const struct record_verb *verb, const struct options *o);

#endif
