/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_SESSIONS_H
#define LT_CONTROL_SESSIONS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* What was lost, according to the tracer. */
struct session_lost {
	uint64_t events;
	uint64_t packets;
};

/* A session of this machine's session daemon. */
struct session {
	char *name;
	/* directory, or the relayd in lttng's notation; for a snapshot session: where snapshots are stored */
	char *path;
	bool active, snapshot;
	bool foreign;           /* it may be another user's: own_directory_open() refuses its directory */
	unsigned live_timer_us; /* 0: not live */
	struct session_lost lost;
};

/* All sessions (struct session *), sorted by name; free with g_ptr_array_free(). NULL: see the error chain. */
GPtrArray *sessions_list(void);

/*
 * The session of that name or, if name is NULL, the only one that was named by `record` and is not foreign. Borrowed
 * from the list. NULL: none or several, see the error chain.
 */
const struct session *sessions_find(const GPtrArray *sessions, const char *name);

/* Whether the session daemon has a session of that name. */
bool session_exists(const char *name);

/*
 * When a session was created, in seconds since the epoch, which distinguishes it from later ones with the same name.
 * LT_ERROR: it is gone.
 */
enum lt_status session_created(const char *name, uint64_t *time_s);

/* The functions below return LT_ERROR, with the reason in the error chain, if the session daemon refuses. */

enum lt_status session_start(const char *name);

/* Makes the tracers repeat the state dump: the current threads, files and devices. */
enum lt_status session_refresh(const char *name);

/*
 * Stops the session, waits until all data has been written or sent, and removes the session; the recording stays. After
 * an error it may be gone all the same: see session_exists(). LT_INTERRUPTED: it takes long, and a held signal
 * (process.h) has ended the wait; the daemon may be stuck and must not be asked anything while session_gave_up().
 */
enum lt_status session_stop(const char *name, struct session_lost *lost);

/*
 * Whether one of session_stop(), session_discard() and session_snapshot() was interrupted and the session daemon has
 * not answered it since. The next of them first waits for that.
 */
bool session_gave_up(void);

/* Removes a session if it exists. Ignores errors, but warns if a held signal has ended the wait: session_gave_up(). */
void session_discard(const char *name);

/*
 * The same, but only for the session that was created at this time (session_created(); 0: whenever), not for a later
 * one. Returns whether it is gone.
 */
bool session_discard_created(const char *name, uint64_t created_s);

/* Takes a snapshot. *path: its directory, or NULL if it was sent over the network. The caller frees it. */
enum lt_status session_snapshot(const char *name, char **path);

#endif
