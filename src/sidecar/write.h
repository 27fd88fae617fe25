/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SIDECAR_WRITE_H
#define LT_SIDECAR_WRITE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"

/*
 * Writing side-cars: of this machine from /proc, /sys and its lists of users; of another one from what a script says
 * there, which is as untrusted as a trace. All texts are sanitised on their way in.
 */

/* What only the one who records knows; borrowed, NULL or 0: not known. */
struct sidecar_about {
	const char *session;
	const char *set;            /* of events */
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
 * For other hosts: a POSIX shell script that prints what it finds there, for sidecar_convert(). It ends well whatever
 * is missing there, and may run several times, its outputs one behind the other.
 */
const char *sidecar_script(void);

#define SIDECAR_LISTING "lttngtop.list" /* what the script printed, below a recording that was fetched */

/* Makes the side-car of a directory from the listing in it, which is removed. LT_OK: or there is none. */
enum lt_status sidecar_convert(const char *directory);

#endif
