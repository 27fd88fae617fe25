/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_RECORD_H
#define LT_CMD_RECORD_H

#include <glib.h>
#include <stdio.h>

#include "cmd/options.h"
#include "control/sessions.h"

/* What the files of `lttngtop record` share: record.c sets up, record_verbs.c deals with what is there. */

/* Prints the error chain and, for wrong usage, where help is. Returns the exit status it is given. */
int record_fail(int status);

/* "view it: lttngtop SOURCE" */
void record_print_view(FILE *out, const char *source);

/*
 * How many events the recording in a directory has, how large it is, and what the consumer daemons have used since it
 * was started, as far as its side-car knows: printed, and noted there.
 */
void record_print_cost(FILE *out, const char *directory);

/* Nothing if nothing was lost. */
void record_print_lost(const struct session_lost *lost);

/* Stops a session. relayd: where it streams to, NULL: nowhere. LT_ERROR: it is still there, or not all data arrived. */
enum lt_status record_stop(const char *session, const char *relayd, struct session_lost *lost);

/* Brings what other hosts have recorded; prints where it is. */
enum lt_status record_fetch(FILE *out, const GPtrArray *hosts, const char *session, const char *output);

/* A word that is not a command: stop, status, snapshot, refresh. */
struct record_verb;

/* NULL: there is no such verb. */
const struct record_verb *record_verb_find(const char *name);

/* Does it with a session; NULL: the only one that record has named itself. Returns the exit status. */
int record_verb_run(const struct record_verb *verb, const struct options *o, const char *session);

#endif
