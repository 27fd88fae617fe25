/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/similar.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

enum { LEN_MAX = 32 };

static bool same(char a, char b)
{
	return g_ascii_tolower(a) == g_ascii_tolower(b);
}

/*
 * The distance of optimal string alignment: like Levenshtein's, but swapping two neighbours counts as one edit. Three
 * rows of the matrix are used in turn. Case does not count.
 */
static unsigned distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned rows[3][LEN_MAX + 1];

	for (unsigned k = 0; k <= b_len; k++)
		rows[0][k] = k;
	for (unsigned i = 1; i <= a_len; i++) {
		const unsigned *two_up = rows[(i + 1) % 3], *up = rows[(i + 2) % 3];
		unsigned *row = rows[i % 3];

		row[0] = i;
		for (unsigned k = 1; k <= b_len; k++) {
			row[k] = MIN(MIN(up[k], row[k - 1]) + 1, up[k - 1] + !same(a[i - 1], b[k - 1]));
			if (i > 1 && k > 1 && same(a[i - 1], b[k - 2]) && same(a[i - 2], b[k - 1]))
				row[k] = MIN(row[k], two_up[k - 2] + 1);
		}
	}
	return rows[a_len % 3][b_len];
}

void similar_offer_as(struct similar *s, const char *other, const char *name)
{
	const size_t word_len = strlen(s->word), len = strlen(other);
	unsigned d;

	if (word_len > LEN_MAX || len > LEN_MAX)
		return;
	d = distance(s->word, word_len, other, len);
	if (d > MIN(word_len, len) / 3 || (s->best && d > s->distance))
		return;
	/* of two that are as close, the shorter: letters are added by mistake more often than others are meant */
	if (s->best && d == s->distance && len >= s->len)
		return;
	s->best = name;
	s->len = len;
	s->distance = d;
}

void similar_offer(struct similar *s, const char *name)
{
	similar_offer_as(s, name, name);
}

const char *similar_hint(struct similar *s, const char *prefix)
{
	*s->hint = '\0';
	if (s->best)
		g_snprintf(s->hint, sizeof(s->hint), ": did you mean '%s%s'?", prefix, s->best);
	return s->hint;
}
