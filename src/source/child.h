/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_CHILD_H
#define LT_SOURCE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/status.h"

/*
 * A child process that may be hostile, as its parent sees it. Nothing here waits for the child: it may be stopped,
 * stuck in the kernel, or writing without end. Main thread only.
 */
enum { CHILD_WORDS = 256 };

struct child {
	pid_t pid;                    /* 0: never started, or gone */
	int exit_status;              /* from waitpid(), once it is gone */
	int exit_fd;                  /* readable once it has exited; -1: not supported by this kernel */
	int words_fd;                 /* its standard error, a socket; -1: not open */
	char last_words[CHILD_WORDS]; /* the last line it wrote, not NUL-terminated */
	size_t last_words_len;
	unsigned lines; /* lines it has written; the first ones are logged */
	bool line_is_over;
};

/* The first of the descriptors passed to a child; 0 and 1 are /dev/null, 2 is its standard error. */
enum { CHILD_FIRST_FD = 3, CHILD_FDS_MAX = 16 };

/*
 * Starts the program with fds[0..n-1] as descriptors CHILD_FIRST_FD and so on, and no others. It is killed when this
 * process ends. n: up to CHILD_FDS_MAX. LT_ERROR: a system call failed; there is nothing to release. If the program
 * cannot be executed, the child exits with 127, and its last words are the reason.
 */
enum lt_status child_start(struct child *c, const char *program, char *const *argv, const int *fds, unsigned n);

/*
 * Another descriptor like .exit_fd, with its own open file description, which the caller must close; -1: not supported
 * by this kernel, or there are too many (errno). Only before child_exited().
 */
int child_open_exit(const struct child *c);

/* Reads what it has written and keeps the last line; false: it has closed its standard error. */
bool child_hear(struct child *c);

/* Sends SIGKILL. It may take any time to die: see child_exited(). */
void child_kill(struct child *c);

/* Whether it is gone (or was never started). */
bool child_exited(struct child *c);

/*
 * Lets go of the child: it is killed unless it exits within patience_ms, by later calls of children_reap(). There is
 * nothing left to release in *c.
 */
void child_release(struct child *c, unsigned patience_ms);

/* Kills and reaps children that were let go of, as they are due; returns how many are left. */
unsigned children_reap(void);

/* Repeats that until all are gone, for at most limit_ms. */
void children_wait(unsigned limit_ms);

#endif
