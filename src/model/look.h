/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_LOOK_H
#define LT_MODEL_LOOK_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/strpool.h"
#include "event/syscalls.h"
#include "model/model.h"
#include "model/tables.h"

/*
 * The current state of a model, for code that follows its events one by one (ingest/visit.h). Nothing here changes it.
 */

/* The thread that has this TID now; NULL: unknown. Borrowed until the model's next event. */
const struct thread_row *model_look_thread(const struct model *m, int64_t tid);

/* Adds the PIDs of all threads that are there to a set of GINT_TO_POINTER(PID). Its time grows with their number. */
void model_look_pids(const struct model *m, GHashTable *pids);

/* The TID that runs on the CPU, 0 idle; -1 unknown. */
int64_t model_look_running(const struct model *m, unsigned cpu);

/* When the thread entered the system call that it is in, on the host's clock; 0: it is in none. */
uint64_t model_look_call(const struct model *m, int64_t tid);

/*
 * For the thread's last exit from a call: an entry before this time, on the host's clock, is not that call's, because
 * the thread left a call since, or events were lost, among which it may have done so. 0: nothing is known against it.
 */
uint64_t model_look_entered(const struct model *m, int64_t tid);

/*
 * The name of a system call of this host that the tracer has none for, by its number; NULL: not known. compat: a 32-bit
 * program's.
 */
const char *model_look_call_name(const struct model *m, int64_t nr, bool compat);

struct model_fd {
	strid path, peer; /* STRID_NONE: unknown */
	strid local;      /* the socket's own address, as peer */
	uint8_t protocol; /* IPPROTO_TCP or _UDP if local is known */
	enum fd_kind kind;
};

/* What an fd of a thread is; false: it is not known to be open. */
bool model_look_fd(const struct model *m, int64_t tid, int64_t fd, struct model_fd *out);

/*
 * Writes the path that a call of a thread names, relative to the directory dirfd (AT_FDCWD: its working directory),
 * into out as an absolute path. false: it is absolute already, or the directory is unknown.
 */
bool model_look_path(const struct model *m, int64_t tid, int64_t dirfd, const char *path, char *out, size_t size);

#endif
