/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/lines.h"

#include <string.h>

/* How far the limit may be exceeded before lines are dropped, so that each drop removes many at once. */
enum { SLACK = 256 };

struct calls_lines *lines_create(uint64_t around_ns, GDestroyNotify free_data)
{
	struct calls_lines *l = g_new0(struct calls_lines, 1);

	l->all = g_ptr_array_new();
	l->free_data = free_data;
	l->around_ns = around_ns;
	l->dropped_after_ns = UINT64_MAX;
	return l;
}

static void free_data(const struct calls_lines *l, void *data)
{
	if (data && l->free_data)
		l->free_data(data);
}

static void remove_range(struct calls_lines *l, unsigned from, unsigned n)
{
	for (unsigned i = from; i < from + n; i++) {
		struct calls_line *line = g_ptr_array_index(l->all, i);

		free_data(l, line->data);
		l->bytes -= line->bytes;
		g_free(line->text);
		g_free(line);
	}
	if (n)
		g_ptr_array_remove_range(l->all, from, n);
}

void lines_destroy(struct calls_lines *l)
{
	if (!l)
		return;
	remove_range(l, 0, l->all->len);
	g_ptr_array_free(l->all, TRUE);
	g_free(l);
}

/* The first line not before t_ns or, with behind, the first after it. */
static unsigned find(const struct calls_lines *l, uint64_t t_ns, bool behind)
{
	unsigned low = 0, high = l->all->len;

	while (low < high) {
		const unsigned middle = low + (high - low) / 2;
		const uint64_t at_ns = lines_at(l, middle)->at_ns;

		if (at_ns < t_ns || (behind && at_ns == t_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

unsigned lines_before(const struct calls_lines *l, uint64_t t_ns)
{
	return find(l, t_ns, false);
}

static void drop_first(struct calls_lines *l, unsigned n)
{
	l->dropped_before_ns = lines_at(l, n - 1)->at_ns + 1;
	remove_range(l, 0, n);
	l->before -= n;
}

static void drop_last(struct calls_lines *l, unsigned n)
{
	l->dropped_after_ns = lines_at(l, l->all->len - n)->at_ns;
	remove_range(l, l->all->len - n, n);
}

/* Drops lines on the side with more of them; at least one line stays. */
static void drop_some(struct calls_lines *l)
{
	const unsigned n = MIN(SLACK / 8, l->all->len - 1), behind = l->all->len - l->before;

	if (l->before >= behind)
		drop_first(l, MIN(n, l->before));
	else
		drop_last(l, MIN(n, behind));
}

static char *bounded(const char *text)
{
	const char *end;

	if (strlen(text) <= LINE_BYTES_MAX)
		return g_strdup(text);
	end = g_utf8_find_prev_char(text, text + LINE_BYTES_MAX - 2);
	return g_strdup_printf("%.*s…", (int)(end ? end - text : 0), text);
}

static void set_text(struct calls_line *line, const struct calls_line *from)
{
	uint32_t len;

	g_free(line->text);
	line->text = bounded(from->text);
	len = (uint32_t)strlen(line->text);
	line->name = MIN(from->name, len);
	line->result = MIN(from->result, len);
	line->result_end = MIN(from->result_end, len);
	line->failed = from->failed;
}

void lines_add(struct calls_lines *l, const struct calls_line *line)
{
	struct calls_line *copy;

	/* that side is full of closer lines */
	if (line->at_ns < l->dropped_before_ns || line->at_ns >= l->dropped_after_ns) {
		free_data(l, line->data);
		return;
	}
	copy = g_memdup2(line, sizeof(*line));
	copy->text = NULL;
	if (line->text)
		set_text(copy, line);
	copy->bytes = copy->text ? (uint32_t)strlen(copy->text) + 1 : 0;
	l->bytes += copy->bytes;
	g_ptr_array_insert(l->all, (int)find(l, line->at_ns, true), copy);
	if (line->at_ns < l->around_ns && ++l->before >= LINES_MAX / 2 + SLACK)
		drop_first(l, SLACK);
	else if (l->all->len - l->before >= LINES_MAX / 2 + SLACK)
		drop_last(l, SLACK);
	while (l->bytes_max && l->bytes > l->bytes_max && l->all->len > 1)
		drop_some(l);
}

void lines_clear(struct calls_lines *all)
{
	g_ptr_array_set_size(all->all, 0);
	all->dropped_before_ns = 0;
	all->dropped_after_ns = UINT64_MAX;
}

void lines_join(struct calls_lines *all, const struct calls_lines *past, const struct calls_lines *later,
		uint64_t from_ns, uint64_t known_ns)
{
	lines_clear(all);
	for (unsigned i = 0; past && i < past->all->len && lines_at(past, i)->at_ns < from_ns; i++)
		g_ptr_array_add(all->all, g_ptr_array_index(past->all, i));
	for (unsigned i = later ? lines_before(later, from_ns) : 0; later && i < later->all->len; i++)
		if (!past || !lines_at(later, i)->is_rest || lines_at(later, i)->at_ns >= known_ns)
			g_ptr_array_add(all->all, g_ptr_array_index(later->all, i));
	if (past)
		all->dropped_before_ns = past->dropped_before_ns;
	else if (later)
		all->dropped_before_ns = later->dropped_before_ns;
}

void lines_set_text(struct calls_lines *l, unsigned i, const struct calls_line *line)
{
	struct calls_line *known = g_ptr_array_index(l->all, i);

	set_text(known, line);
	free_data(l, known->data);
	known->data = NULL;
}

int line_find(const struct calls_line *line, const char *text)
{
	const size_t len = strlen(text);

	for (const char *at = line->text; *at; at++)
		if (g_ascii_strncasecmp(at, text, len) == 0)
			return (int)(at - line->text);
	return -1;
}

int lines_search(const struct calls_lines *l, unsigned i, bool back, const char *text)
{
	const unsigned n = l->all->len;

	for (unsigned k = 0; k < n; k++, i = back ? (i + n - 1) % n : (i + 1) % n)
		if (line_find(lines_at(l, i % n), text) >= 0)
			return (int)(i % n);
	return -1;
}
