/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_PRIVATE_NOTES_H
#define LT_CONTROL_PRIVATE_NOTES_H

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"

/* The files of a run's directory (private.h), and the processes that they name. For private.c only. */

/* When a process started, in clock ticks since boot; 0: there is none, or it has ended. */
guint64 noted_start(pid_t pid);

/* Whether the process that started then still exists. */
bool noted_lives(pid_t pid, guint64 started);

/* Ends a process, by force if need be; if it leads a process group, the whole group. */
void noted_end(pid_t pid, guint64 started);

/*
 * Parses "PID START" at *text and advances to the next line. START is 0 if it had ended before it was noted, or is
 * missing. false: it is something else.
 */
bool noted_parse(const char **text, pid_t *pid, guint64 *started);

/* The file's text, which the caller frees; NULL: there is none. */
char *noted_read(const char *dir, const char *name);

/* Appends text, or the process' "PID START", to the file. LT_ERROR: with the reason. */
enum lt_status noted_append(const char *dir, const char *name, const char *text);
enum lt_status noted_add_process(const char *dir, const char *name, pid_t pid);

#endif
