/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SIDECAR_WRITE_H
#define LT_SIDECAR_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

/*
 * Writes side-cars: of this machine from /proc, /sys and its user database; of other machines from the output of a
 * script run there, which is as untrusted as a trace. All texts are sanitised on their way in.
 */

/* The cost of a recording for its machine; 0: not known. */
struct sidecar_cost {
	uint64_t events_per_s, bytes_per_s; /* expected at its start */
	uint64_t consumer_before_ns;        /* CPU time that the consumer daemons had used before */
	uint64_t consumer_ns;               /* CPU time that they have used for the recording */
	uint64_t events;                    /* recorded */
	uint64_t bytes;                     /* size on disk */
};

/* Data that only the recording process has; borrowed. NULL or 0: not known. */
struct sidecar_about {
	const char *session;
	const char *set;  /* name of the set of events */
	bool has_options; /* this process's own arguments are the recording's options */
	struct sidecar_cost cost;
	const char *const *symbols; /* of kprobes, whose addresses are looked up; ends with NULL */
	const uint64_t *functions;  /* addresses of kernel functions whose names are looked up, each once */
	size_t n_functions;
	pid_t pid;         /* a process that has not executed its program yet … */
	char *const *argv; /* … and that program with its arguments; ends with NULL */
};

/*
 * The inode of this process's PID namespace, whose PIDs the side-cars of this machine have; 0: the machine's first one,
 * whose PIDs a kernel trace has, or not known.
 */
uint64_t sidecar_pid_ns(void);

/*
 * Writes the side-car of a recording of this machine into its directory, which is created if necessary. An existing
 * side-car is updated: it keeps processes that are gone, and fields that this program does not know. about may be NULL.
 */
enum lt_status sidecar_update(const char *directory, const struct sidecar_about *about);

/*
 * The same for a directory that was not named by the user but is that of a session, which may be another user's. It is
 * not created. LT_ERROR: also if own_directory_open() refuses it.
 */
enum lt_status sidecar_update_own(const char *directory, const struct sidecar_about *about);

/*
 * Adds the side-car at path to the directory of a copy of its trace. The copy's clock is ahead of the original's by
 * shift_ns, which is added to the start times of processes. LT_ERROR: it cannot be read or written.
 */
enum lt_status sidecar_copy(const char *path, const char *directory, int64_t shift_ns);

/* The cost so far of the recording in the directory. Zero: no side-car has it. */
struct sidecar_cost sidecar_read_cost(const char *directory);

/*
 * For other hosts: a POSIX shell script that prints what it finds there, for sidecar_convert(). It exits successfully
 * even if something is missing there. It may run several times, with the outputs concatenated. symbols: as in struct
 * sidecar_about. The caller frees it.
 */
char *sidecar_script(const char *const *symbols);

#define SIDECAR_LISTING "lttngtop.list" /* output of the script, below a recording that was fetched */

/* Makes the side-car of a directory from the listing in it, which is removed. LT_OK also if there is no listing. */
enum lt_status sidecar_convert(const char *directory);

#endif
