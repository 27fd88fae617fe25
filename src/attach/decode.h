/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_DECODE_H
#define LT_ATTACH_DECODE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "attach/calls.h"
#include "event/fields.h"

/*
 * Arguments and results of system calls as text, from the fields of their events. What the trace does
 * not hold (buffers, most structures) is shown as its address. All text of the trace is sanitised
 * and quoted; nothing here trusts a value.
 */
struct decode {
	GString *out;
	const struct shape *shape; /* of the event that is read: */
	const struct event *ev;    /* an EVENT_FIELDS */

	/*
	 * Appends what is known of an fd of the thread, "<path>", or nothing. NULL: not wanted.
	 */
	void (*name_fd)(void *data, GString *out, int64_t fd);

	/* Every path that is an argument, and every fd; NULL: not wanted. */
	void (*saw_path)(void *data, const char *path, size_t len);
	void (*saw_fd)(void *data, int64_t fd);
	void *data;
};

enum decoded {
	DECODED_NOTHING, /* the event does not have it, nothing was appended */
	DECODED_OMITTED, /* the call does not have this argument with these others, nothing was appended */
	DECODED_SHOWN,
};

/* Appends an argument of the call. */
enum decoded decode_arg(struct decode *d, const struct call_arg *arg);

/*
 * Appends an argument of a call whose entry has only the registers (syscall_entry_unknown): the one of that number. As
 * decode_arg(); where it is an address it is shown as that.
 */
enum decoded decode_register(struct decode *d, const struct call_arg *arg, unsigned number);

/* Appends "name=value" of a direct member of the payload, as its type says. */
void decode_field(struct decode *d, uint32_t field);

/*
 * Appends the result, without "= ": "8192", "-1 ENOENT (No such file or directory)", "1 ([{fd=3, revents=POLLIN}])".
 * d reads the exit event; call NULL: one without a row. entry_cmd: of fcntl(), else 0.
 */
void decode_result(struct decode *d, const struct call *call, int64_t ret, uint64_t entry_cmd);

/* Whether a result is an error, -4095 … -1. */
static inline bool decode_is_error(int64_t ret)
{
	return ret < 0 && ret >= -4095;
}

/* Appends text of a trace as a string in C: quoted, escaped, printable. cut: there was more of it. */
void decode_quote(GString *out, const char *text, size_t len, bool cut);

/* The integer field of the payload of that name. false: there is none. */
bool decode_integer(const struct shape *shape, const struct event *ev, const char *name, int64_t *value);

#endif
