/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_ERRAND_H
#define LT_CONTROL_ERRAND_H

#include <glib.h>
#include <stdbool.h>

#include "base/status.h"

/*
 * A process whose output another machine determines: ssh, or what unpacks the data that ssh receives. A thread passes
 * its messages on to our stderr line by line, each after a label, sanitised and up to ERRAND_MESSAGES_MAX bytes.
 * Prompts for passwords use the terminal itself.
 */
struct errand {
	GPid pid;          /* 0: not started, or has ended */
	int input, output; /* our ends of its stdin and stdout; -1: none, or closed */
	int messages;      /* our end of its stderr */
	int ended;         /* an eventfd: tells the thread that the process has ended */
	GThread *thread;
	bool has_answered; /* errand_read() received something */
	int status;        /* the wait status, after errand_wait() */
	const char *label; /* borrowed: the host, or where its data goes */
};

enum {
	ERRAND_NULL = -1, /* /dev/null */
	ERRAND_PIPE = -2, /* a pipe whose other end is in the struct */
	ERRAND_OUTPUT_MAX = 1 << 20,
	ERRAND_MESSAGES_MAX = 1 << 16,
	ERRAND_SILENCE_MS = 120 * 1000,
	ERRAND_FOREVER = -1,
	ERRAND_NAME_MS = 10 * 1000, /* after which a host that does not answer is named */
};

/* A child that was not started. */
#define ERRAND_INIT                                                    \
	{                                                              \
		.input = -1, .output = -1, .messages = -1, .ended = -1 \
	}

/*
 * label: borrowed until the end. stdin_fd, stdout_fd: a descriptor, which is borrowed, or one of the above. LT_ERROR:
 * see the error chain.
 */
enum lt_status errand_start(struct errand *e, const char *label, char **argv, int stdin_fd, int stdout_fd);

/*
 * Until each of them has written something to its pipe or closed it, or a held signal (process.h) came: after ms, warns
 * once about each that has not, which waits for a password, for DNS, or does not answer at all.
 */
void errand_name_silent(const struct errand *const *errands, unsigned n, int ms);

/*
 * Reads its output to the end and closes it; the caller frees the text. NULL: it is longer than max_bytes, a held
 * signal (process.h) came, or, once it has begun, nothing came for silence_ms (or ERRAND_FOREVER); the process has been
 * told to end, the error chain says why. Before that there is no time limit: a password may have to be typed.
 */
char *errand_read(struct errand *e, size_t max_bytes, int silence_ms);

/* Some processes end then. */
void errand_close_input(struct errand *e);

/*
 * Waits for the end of a process that was started and of its messages; closes everything. Returns its wait status. A
 * held signal (process.h) ends the process.
 */
int errand_wait(struct errand *e);

/* The same once the process has been waited for. Does nothing if it was not started. */
void errand_close(struct errand *e);

#endif
