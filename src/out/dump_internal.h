/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_OUT_DUMP_INTERNAL_H
#define LT_OUT_DUMP_INTERNAL_H

/* Shared by dump.c, dump_text.c and dump_json.c only. */

#include <glib.h>

#include "event/fields.h"
#include "out/dump.h"

struct dump {
	FILE *out;
	enum dump_form form;
	bool raw; /* bytes of the trace that babeltrace2 does not escape are written as they are */
	bool utc;
	bool begun; /* an event has been written, at last_ns */
	uint64_t last_ns;
	int64_t second; /* the second that .clock shows */
	char clock[16]; /* "14:07:07" */
	GString *line;
};

/* Each appends one event to the line, without a newline. */
void dump_as_text(struct dump *d, const struct dump_event *e);
void dump_as_json(struct dump *d, const struct dump_event *e);
void dump_without_time(struct dump *d, const struct dump_event *e);

/* Appends another machine's text as printable UTF-8; other bytes become \xNN. */
void dump_sanitised(GString *line, const char *text, size_t len);

/* Appends an integer in decimal. */
void dump_decimal(GString *line, const struct field_value *v);

#endif
