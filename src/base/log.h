/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_LOG_H
#define LT_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Messages to the user: kept in a ring (shown by the message pane), written to the file of --log, and to stderr unless
 * the screen is up. Main thread only.
 */
enum log_level { LOG_LEVEL_INFO, LOG_LEVEL_WARNING, LOG_LEVEL_ERROR };

struct log_message {
	enum log_level level;
	uint64_t number;   /* in the order of writing, from 1; a repetition has another one */
	uint64_t wall_ns;  /* CLOCK_REALTIME */
	uint32_t repeated; /* how often the same text came in succession */
	char text[512];    /* cut after that many bytes */
};

void log_write(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_info(...) log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_warning(...) log_write(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_error(...) log_write(LOG_LEVEL_ERROR, __VA_ARGS__)

/*
 * What a command says besides its output, such as the reason for its exit status: on stderr and in the file of --log,
 * sanitised, cut at TEXT_MAX bytes; not in the ring. For commands without a screen.
 */
void log_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A line of a command's output that is a message, too: sanitised and whole, on out and in the file of --log. */
void log_print(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Nothing goes to stderr while it is muted (the screen is up); unmuting prints the warnings and errors held back. */
void log_mute_stderr(void);
void log_unmute_stderr(void);

/* Does not print them: they are going to come again. */
void log_unmute_without(void);

/*
 * Also writes every message to this file, escaped, one per line. If that fails, an error message says so, once. Both
 * are borrowed: the caller closes the file. NULL: no file.
 */
void log_set_file(FILE *file, const char *path);

/* From now on every message is only passed to this function: in a process whose parent has the screen. */
typedef void log_forward(const struct log_message *m, void *data);
void log_set_forward(log_forward *forward, void *data);

/*
 * While true, messages that the ring has are not written again: a source is read a second time. Only around the reading
 * itself, as what happens to other sources meanwhile may happen again.
 */
void log_skip_known(bool skips);

/* Messages in the ring, oldest first: index 0..count-1. Borrowed, valid until the next log_write(). */
unsigned log_count(void);
const struct log_message *log_get(unsigned index);

#endif
