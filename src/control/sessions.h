/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_SESSIONS_H
#define LT_CONTROL_SESSIONS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* What was lost, as far as the tracer tells. */
struct session_lost {
	uint64_t events;
	uint64_t packets;
};

/* A session of this machine's session daemon. */
struct session {
	char *name;
	char *path; /* directory, or the relayd as lttng writes it; of a snapshot session where snapshots go */
	bool active, snapshot;
	unsigned live_timer_us; /* 0: not live */
	struct session_lost lost;
};

/* All sessions (struct session *) by name, to be freed with g_ptr_array_free(); NULL: see the error chain. */
GPtrArray *sessions_list(void);

/*
 * The session that is meant: of that name, or with NULL the only one that
 * `record` has named itself. Borrowed from the list; NULL: none or several, see the error chain.
 */
const struct session *sessions_find(const GPtrArray *sessions, const char *name);

/* Whether the session daemon has a session of that name. */
bool session_exists(const char *name);

/*
 * When a session was created, in seconds since 1970, which tells it from later
 * ones of its name. LT_ERROR: it is gone.
 */
enum lt_status session_created(const char *name, uint64_t *time_s);

/* The functions below return LT_ERROR with a reason if the session daemon refuses. */

enum lt_status session_start(const char *name);

/* Has the tracers repeat the state dump: the threads, files, devices that are there now. */
enum lt_status session_refresh(const char *name);

/*
 * Stops it, waits until all data is where it belongs, and removes the session; what was recorded
 * stays. After an error it may be gone all the same: see session_exists().
 */
enum lt_status session_stop(const char *name, struct session_lost *lost);

/* Removes a session that has failed; further errors are of no interest. */
void session_discard(const char *name);

/* Takes a snapshot; *path is its directory, NULL where it went over the network. The caller frees it. */
enum lt_status session_snapshot(const char *name, char **path);

#endif
