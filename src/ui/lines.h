/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_LINES_H
#define LT_UI_LINES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Lines of text ordered by time around an instant: if there are too many, those farthest from it are dropped.
 *
 *   ──── dropped ────[── LINES_MAX / 2 ──╷── LINES_MAX / 2 ──]──── dropped ────  reference time
 *                                      around
 *
 * Pure logic: no screen, no clock.
 */
enum {
	LINES_MAX = 10000,
	LINE_BYTES_MAX = 4096, /* per line; the rest is cut off */
};

/* The parts of a line that are drawn differently, in the order of the text. */
struct calls_line {
	uint64_t at_ns;              /* reference time */
	int32_t tid;                 /* -1: it belongs to no thread, or to an unknown one */
	char *text;                  /* UTF-8, sanitised; NULL: not formatted yet */
	uint32_t name;               /* length in bytes of the name at its start; 0: not a call */
	uint32_t result, result_end; /* position of the result; equal: there is none */
	bool failed;                 /* the result is an error */
	bool is_rest;                /* the end of a call whose start is not known */
	void *data;                  /* what the text is made from; owned by the lines */
	uint32_t bytes;              /* counted in struct calls_lines.bytes; owned by the lines */
};

struct calls_lines {
	GPtrArray *all; /* struct calls_line */
	GDestroyNotify free_data;
	uint64_t around_ns;
	unsigned before;         /* how many of them are before around_ns */
	size_t bytes, bytes_max; /* size of the texts added with their lines, and its limit; 0: no limit */
	/* Everything before and everything after these was dropped. 0 and UINT64_MAX: nothing. */
	uint64_t dropped_before_ns, dropped_after_ns;
};

/* free_data: frees the lines' data; NULL: they have none. */
struct calls_lines *lines_create(uint64_t around_ns, GDestroyNotify free_data);
void lines_destroy(struct calls_lines *l);

/* Inserts a copy of the line before the first later one, and takes ownership of its data. */
void lines_add(struct calls_lines *l, const struct calls_line *line);

/* Sets the text of line i, which is copied, and the positions in it; its data is freed. */
void lines_set_text(struct calls_lines *l, unsigned i, const struct calls_line *line);

/*
 * Makes *all, created without free_data, the lines of `past` before from_ns, followed by those of `later` from then on.
 * Both are borrowed until the next call, and either may be NULL. The rests of calls up to known_ns are left out: `past`
 * has them in full. Only reading is allowed on *all, and lines_clear() before it is destroyed.
 */
void lines_join(struct calls_lines *all, const struct calls_lines *past, const struct calls_lines *later,
		uint64_t from_ns, uint64_t known_ns);
void lines_clear(struct calls_lines *all);

static inline unsigned lines_count(const struct calls_lines *l)
{
	return l->all->len;
}

static inline const struct calls_line *lines_at(const struct calls_lines *l, unsigned i)
{
	return g_ptr_array_index(l->all, i);
}

/* The number of lines before t_ns, i.e. the index of the first that is not. */
unsigned lines_before(const struct calls_lines *l, uint64_t t_ns);

/*
 * The next line from line i on, in either direction, that contains the text, ignoring the case of ASCII letters. Wraps
 * around. -1: there is none.
 */
int lines_search(const struct calls_lines *l, unsigned i, bool back, const char *text);

/* The position in bytes of the text in the line; -1: it does not contain it. */
int line_find(const struct calls_line *line, const char *text);

#endif
