/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_LINES_H
#define LT_UI_LINES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Lines of text in the order of their times, around an instant: where there are more than fit, those that are
 * farthest from it go.
 *
 *   ──── dropped ────[── LINES_MAX / 2 ──╷── LINES_MAX / 2 ──]──── dropped ────  reference time
 *                                      around
 *
 * Pure logic: no screen, no clock.
 */
enum {
	LINES_MAX = 10000,
	LINE_BYTES_MAX = 4096, /* of one; the rest is cut off */
};

/* Parts of a line that are drawn in a way of their own, in the order of the text. */
struct calls_line {
	uint64_t at_ns; /* reference time */
	int32_t tid;
	char *text;                  /* UTF-8, sanitised; NULL: not made yet */
	uint32_t name;               /* bytes of the name that it begins with, 0: it is not a call */
	uint32_t result, result_end; /* where the result stands, equal: it has none */
	bool failed;                 /* that is an error */
	void *data;                  /* what the text is made of; the lines' own */
	uint32_t bytes;              /* that count as struct calls_lines.bytes; the lines' own */
};

struct calls_lines {
	GPtrArray *all; /* struct calls_line */
	GDestroyNotify free_data;
	uint64_t around_ns;
	unsigned before;         /* of them: before around_ns */
	size_t bytes, bytes_max; /* of the texts that came with their lines, and how many at most; 0: no bound */
	/* What was dropped: all before and all after these. 0 and UINT64_MAX: nothing. */
	uint64_t dropped_before_ns, dropped_after_ns;
};

/* free_data: of the lines' data; NULL: they have none. */
struct calls_lines *lines_create(uint64_t around_ns, GDestroyNotify free_data);
void lines_destroy(struct calls_lines *l);

/* Copies the line in front of the first that is later, and takes over its data. */
void lines_add(struct calls_lines *l, const struct calls_line *line);

/* Gives line i its text, copied, and where the parts of that stand; its data is not needed any more. */
void lines_set_text(struct calls_lines *l, unsigned i, const struct calls_line *line);

static inline unsigned lines_count(const struct calls_lines *l)
{
	return l->all->len;
}

static inline const struct calls_line *lines_at(const struct calls_lines *l, unsigned i)
{
	return g_ptr_array_index(l->all, i);
}

/* How many lines are earlier: the number of the first that is not. */
unsigned lines_before(const struct calls_lines *l, uint64_t t_ns);

/*
 * The next line that has the text in it, from line i on, forward or back; letters of ASCII are the same in both cases.
 * At an end it continues at the other. -1: there is none.
 */
int lines_search(const struct calls_lines *l, unsigned i, bool back, const char *text);

/* Where the line has the text, in bytes; -1: it does not. */
int line_find(const struct calls_line *line, const char *text);

#endif
