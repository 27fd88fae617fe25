/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out/dump_internal.h"

#include <string.h>
#include <unistd.h>

#include "base/text.h"

enum { PIECE = 512 }; /* text_sanitise() turns a byte into at most four */

struct dump *dump_create(FILE *out, enum dump_form form, bool utc)
{
	struct dump *d = g_new0(struct dump, 1);

	d->out = out;
	d->form = form;
	/* a converted standard output has no descriptor of its own */
	d->raw = form == DUMP_BABELTRACE && !(out && isatty(out == stdout ? STDOUT_FILENO : fileno(out)));
	d->utc = utc;
	d->second = -1;
	d->line = g_string_sized_new(4096);
	return d;
}

void dump_destroy(struct dump *d)
{
	g_string_free(d->line, TRUE);
	g_free(d);
}

void dump_event(struct dump *d, const struct dump_event *e)
{
	g_string_truncate(d->line, 0);
	if (d->form == DUMP_JSON)
		dump_as_json(d, e);
	else
		dump_as_text(d, e);
	g_string_append_c(d->line, '\n');
	fwrite(d->line->str, 1, d->line->len, d->out);
	d->begun = true;
	d->last_ns = e->ns;
}

const char *dump_line(struct dump *d, const struct dump_event *e)
{
	g_string_truncate(d->line, 0);
	dump_without_time(d, e);
	return d->line->str;
}

/* Where a piece may end without splitting a character. */
static size_t piece_of(const char *text, size_t len)
{
	size_t n = MIN(len, PIECE);

	if (n == len)
		return n;
	for (unsigned i = 0; i < 3 && ((unsigned char)text[n] & 0xc0) == 0x80; i++)
		n--;
	return n;
}

void dump_sanitised(GString *line, const char *text, size_t len)
{
	char piece[4 * PIECE + 1];

	while (len > 0) {
		const size_t n = piece_of(text, len);

		g_string_append_len(line, piece, (gssize)text_sanitise(piece, sizeof(piece), text, n));
		text += n;
		len -= n;
	}
}
