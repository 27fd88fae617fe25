/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/globs.h"

#include <stdbool.h>
#include <string.h>

struct glob_search {
	const char **names; /* sorted */
	GHashTable *wanted;
	GPtrArray *patterns;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t common_prefix(const char *a, const char *b)
{
	size_t len = 0;

	while (a[len] && a[len] == b[len])
		len++;
	return len;
}

/* Adds patterns for names first to last - 1, which share their first len characters. */
static void cover(struct glob_search *s, unsigned first, unsigned last, size_t len)
{
	const size_t prefix = common_prefix(s->names[first], s->names[last - 1]);
	unsigned n_wanted = 0;

	for (unsigned i = first; i < last; i++)
		n_wanted += g_hash_table_contains(s->wanted, s->names[i]);
	if (!n_wanted)
		return;
	if (last - first == 1) {
		g_ptr_array_add(s->patterns, g_strdup(s->names[first]));
		return;
	}
	if (n_wanted == last - first && len) {
		g_ptr_array_add(s->patterns, g_strdup_printf("%.*s*", (int)prefix, s->names[first]));
		return;
	}
	for (unsigned from = first, to; from < last; from = to) {
		for (to = from + 1; to < last && s->names[to][prefix] == s->names[from][prefix]; to++)
			;
		cover(s, from, to, prefix + 1);
	}
}

GPtrArray *globs_of(const GPtrArray *known, GHashTable *wanted)
{
	struct glob_search s = {
		.names = g_new(const char *, known->len),
		.wanted = wanted,
		.patterns = g_ptr_array_new_with_free_func(g_free),
	};
	unsigned n = 0;

	for (unsigned i = 0; i < known->len; i++)
		s.names[i] = g_ptr_array_index(known, i);
	qsort(s.names, known->len, sizeof(*s.names), by_name);
	for (unsigned i = 0; i < known->len; i++)
		if (!n || strcmp(s.names[n - 1], s.names[i]) != 0)
			s.names[n++] = s.names[i];
	if (n)
		cover(&s, 0, n, 0);
	g_free(s.names);
	return s.patterns;
}
