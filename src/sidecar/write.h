/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SIDECAR_WRITE_H
#define LT_SIDECAR_WRITE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

/*
 * Writing side-cars: of this machine from /proc, /sys and its lists of users; of another one from what a script says
 * there, which is as untrusted as a trace. All texts are sanitised on their way in.
 */

/* What a recording costs its machine; 0: not known. */
struct sidecar_cost {
	uint64_t events_per_s, bytes_per_s; /* expected when it was started */
	uint64_t consumer_before_ns;        /* CPU time that the consumer daemons had used by then */
	uint64_t consumer_ns;               /* and have used for the recording */
	uint64_t events;                    /* in it */
	uint64_t bytes;                     /* of it, on disk */
};

/* What only the one who records knows; borrowed, NULL or 0: not known. */
struct sidecar_about {
	const char *session;
	const char *set;  /* of events */
	bool has_options; /* this process's own arguments are those of the recording */
	struct sidecar_cost cost;
	const char *const *symbols; /* of kprobes: their addresses are looked up; ends with NULL */
	pid_t pid;                  /* a process that has not become its program yet … */
	char *const *argv;          /* … and that program, with its arguments; ends with NULL */
};

/*
 * Writes the side-car of a recording of this machine into its directory, which is made if need be. One that is there is
 * brought up to date: it keeps the processes that are gone, and fields that nobody here knows. about may be NULL.
 */
enum lt_status sidecar_update(const char *directory, const struct sidecar_about *about);

/*
 * Writes the side-car at path into the directory of a copy of its trace, to what is there already. The copy's clock is
 * ahead of the trace's by shift_ns, and so the starts of processes are. LT_ERROR: it cannot be read or not be written.
 */
enum lt_status sidecar_copy(const char *path, const char *directory, int64_t shift_ns);

/* What the recording in the directory has cost so far. Zero: there is no side-car that knows. */
struct sidecar_cost sidecar_read_cost(const char *directory);

/*
 * For other hosts: a POSIX shell script that prints what it finds there, for sidecar_convert(). It ends well whatever
 * is missing there, and may run several times, its outputs one behind the other. symbols: as in struct sidecar_about.
 * The caller frees it.
 */
char *sidecar_script(const char *const *symbols);

#define SIDECAR_LISTING "lttngtop.list" /* what the script printed, below a recording that was fetched */

/* Makes the side-car of a directory from the listing in it, which is removed. LT_OK: or there is none. */
enum lt_status sidecar_convert(const char *directory);

#endif
