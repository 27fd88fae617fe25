/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_DECODE_H
#define LT_ATTACH_DECODE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "attach/calls.h"
#include "event/fields.h"

/*
 * Arguments and results of system calls as text, from the fields of their events. What the trace does not contain
 * (buffers, most structures) is shown as its address. All text from the trace is sanitised and quoted; no value is
 * trusted.
 */
struct decode {
	GString *out;
	const struct shape *shape; /* the event being decoded */
	const struct event *ev;    /* read with EVENT_FIELDS */

	/* Appends what is known about an fd of the thread, "<path>", or nothing. NULL: not wanted. */
	void (*name_fd)(void *data, GString *out, int64_t fd);

	int64_t dirfd; /* of the next path: the directory before it, AT_FDCWD for the first argument, else -1 */

	/* Called for every path, with its directory, and for every fd among the arguments. NULL: not wanted. */
	void (*saw_path)(void *data, int64_t dirfd, const char *path, size_t len);
	void (*saw_fd)(void *data, int64_t fd);
	void *data;
};

enum decoded {
	DECODED_NOTHING, /* the event does not have it; nothing was appended */
	DECODED_OMITTED, /* the call does not have this argument in combination with the others; nothing was appended */
	DECODED_SHOWN,
};

/* Appends an argument of the call. */
enum decoded decode_arg(struct decode *d, const struct call_arg *arg);

/*
 * Like decode_arg(), for a call whose entry only has registers (syscall_entry_unknown): appends the argument with that
 * number. Pointers are shown as addresses.
 */
enum decoded decode_register(struct decode *d, const struct call_arg *arg, unsigned number);

/* Appends "name=value" for a direct member of the payload, formatted by its type. */
void decode_field(struct decode *d, uint32_t field);

/*
 * Appends the result without "= ": "8192", "-1 ENOENT (No such file or directory)", "1 ([{fd=3, revents=POLLIN}])". d
 * reads the exit event; call is NULL if there is no row for it. entry_cmd: the command of fcntl(), -1 unknown.
 */
void decode_result(struct decode *d, const struct call *call, int64_t ret, uint64_t entry_cmd);

/* Whether a result is an error, -4095 … -1. */
static inline bool decode_is_error(int64_t ret)
{
	return ret < 0 && ret >= -4095;
}

/* Reads an integer field of the payload by name. false: there is none. */
bool decode_integer(const struct shape *shape, const struct event *ev, const char *name, int64_t *value);

#endif
