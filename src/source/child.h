/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_CHILD_H
#define LT_SOURCE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/status.h"

/*
 * A child process that may mean harm, seen from the parent. Nothing here waits for it: it may be
 * stopped, stuck in the kernel, or write and never end. Main thread only.
 */
enum { CHILD_WORDS = 256 };

struct child {
	pid_t pid;                    /* 0: never started, or gone */
	int exit_status;              /* of waitpid(), once it is gone */
	int exit_fd;                  /* readable once it has exited; -1: this kernel has no such thing */
	int words_fd;                 /* its standard error, a socket; -1: none */
	char last_words[CHILD_WORDS]; /* the last line it wrote, not NUL-terminated */
	size_t last_words_len;
	unsigned lines; /* it has written; the first of them are logged */
	bool line_is_over;
};

/* The first descriptor of those a child is given; 0 and 1 are /dev/null, 2 is its standard error. */
enum { CHILD_FIRST_FD = 3 };

/*
 * Starts the program with fds[0..n-1] as descriptors CHILD_FIRST_FD and so on, and no others; it dies with
 * this process. LT_ERROR: a system call failed; *c holds nothing. A program that cannot be run: it exits with 127.
 */
enum lt_status child_start(struct child *c, const char *program, char *const *argv, const int *fds, unsigned n);

/*
 * Another descriptor as .exit_fd, an open file of its own, which is the caller's to close; -1: this kernel has no such
 * thing, or there are too many (errno). Only until child_exited().
 */
int child_open_exit(const struct child *c);

/* Keeps the last line of what it has said by now; false: it has closed its standard error. */
bool child_hear(struct child *c);

/* SIGKILL. It may take any time to die: see child_exited(). */
void child_kill(struct child *c);

/* Whether it is gone (or was never started). */
bool child_exited(struct child *c);

/*
 * Lets it go: it is killed unless it exits within patience_ms by itself, which later calls of children_reap() see to.
 * *c holds nothing afterwards.
 */
void child_release(struct child *c, unsigned patience_ms);

/* Looks after those that were let go; how many of them are still there. */
unsigned children_reap(void);

/* The same until all are gone, for at most limit_ms. */
void children_wait(unsigned limit_ms);

#endif
