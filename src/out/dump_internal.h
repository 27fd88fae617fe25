/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_OUT_DUMP_INTERNAL_H
#define LT_OUT_DUMP_INTERNAL_H

/* What dump.c, dump_text.c and dump_json.c share. Nobody else includes this. */

#include <glib.h>

#include "event/fields.h"
#include "out/dump.h"

struct dump {
	FILE *out;
	enum dump_form form;
	bool utc;
	bool begun; /* an event was written, at */
	uint64_t last_ns;
	int64_t second; /* which .clock is */
	char clock[16]; /* "14:07:07" */
	GString *line;
};

/* Each appends one event to the line, without its end. */
void dump_as_text(struct dump *d, const struct dump_event *e);
void dump_as_json(struct dump *d, const struct dump_event *e);
void dump_without_time(struct dump *d, const struct dump_event *e);

/* A number in decimal digits, with at least so many of them. */
void dump_digits(GString *line, uint64_t number, unsigned least);

/* Another machine's text as printable UTF-8; bytes that are not become \xNN. */
void dump_sanitised(GString *line, const char *text, size_t len);

#endif
