/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of a filter as typed. */
#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "view/filter_internal.h"
#include "view/internal.h"

/* The length of a heading of several words that starts at p, before an operator; 0: there is none. */
static size_t spaced_heading(const char *p, const struct view_table *of)
{
	for (unsigned i = 0; i < (of ? 1 : view_table_count()); i++) {
		const struct view_table *table = of ? of : view_table_get(i);

		for (unsigned c = 0; c < table->n_columns; c++) {
			const char *header = table->columns[c].header;
			const size_t len = strlen(header);

			if (strchr(header, ' ') && g_ascii_strncasecmp(p, header, len) == 0 && strspn(p + len, "<>=!"))
				return len;
		}
	}
	return 0;
}

char *filter_read_word(const char **at, const struct view_table *table, bool *quoted)
{
	GString *word = g_string_new(NULL);
	const char *heading_end = *at + spaced_heading(*at, table);
	unsigned open = 0;
	bool in_quotes = false;

	*quoted = **at == '"';
	for (; **at; ++*at) {
		const char c = **at;

		if (c == '"') {
			in_quotes = !in_quotes;
			continue;
		}
		/* names may contain parentheses: comm:(sd-pam) */
		if (!in_quotes && *at >= heading_end && (isblank((unsigned char)c) || c == '|' || (c == ')' && !open)))
			break;
		open += !in_quotes && c == '(';
		open -= !in_quotes && c == ')';
		g_string_append_c(word, c);
	}
	return g_string_free(word, in_quotes);
}

/* The length of a word from p to its end. */
static int rest_of_word(const char *p)
{
	bool in_quotes = false;
	int n = 0;

	for (; p[n] && (in_quotes || !strchr(" \t|)", p[n])); n++)
		in_quotes ^= p[n] == '"';
	return n;
}

enum lt_status filter_check_quotes(const char *p)
{
	const char *end = *p == '"' ? strchr(p + 1, '"') : NULL, *sign;

	if (!end)
		return LT_OK;
	sign = end + 1;
	if (!strspn(sign, "<>=") && !g_str_has_prefix(sign, "!="))
		return LT_OK;
	return error_set("%.*s is a text here: as a column, write '%.*s%.*s'", (int)(sign - p), p, (int)(end - p - 1),
			 p + 1, rest_of_word(sign), sign);
}

enum lt_status filter_put_text(GString *filter, const char *text, bool pattern)
{
	const bool quoted = text[strcspn(text, " \t|()")];

	if (!*text || strchr(text, '"'))
		return error_set("no filter can name '%s'", text);
	if (quoted)
		g_string_append_c(filter, '"');
	for (; *text; text++) {
		if (pattern && strchr("*?[\\", *text))
			g_string_append_c(filter, '\\');
		g_string_append_c(filter, *text);
	}
	if (quoted)
		g_string_append_c(filter, '"');
	return LT_OK;
}

enum lt_status filter_put_container(GString *filter, const char *name)
{
	/* these would be numbers, nested containers, or the host itself */
	if (!name[strspn(name, "0123456789")] || g_str_has_suffix(name, "/") || strcmp(name, VIEW_HOST_NAME) == 0)
		return error_set("no filter can name container '%s'", name);
	if (strchr(name, '"'))
		return error_set("no filter can name container '%s'", name);
	/* in quotes, as others may have this name as a part of theirs */
	g_string_append_printf(filter, "\"%s\"", name);
	return LT_OK;
}

char *filter_both(const char *filter, const char *more)
{
	if (!*filter || !*more)
		return g_strconcat(filter, more, NULL);
	/* a parenthesis right behind a word would count as part of it */
	return g_strdup_printf(strchr(filter, '|') ? "( %s ) %s" : "%s %s", filter, more);
}

/* Of an expression, where no term follows. */
static bool is_end(char c)
{
	return !c || c == '|' || c == ')';
}

/* They would be looked for as text, which hardly any row has: most likely something else is meant. */
enum lt_status filter_check_joining(const char *p, bool is_first)
{
	static const struct {
		const char *word, *instead;
		bool starts; /* also before the first term */
	} others[] = {
		{ "and", "leave it out", false }, { "&&", "leave it out", false }, { "&", "leave it out", false },
		{ "or", "write '|'", false },     { "not", "write '!'", true },
	};
	const int len = (int)strcspn(p, " \t|)");
	const char *next = p + len + strspn(p + len, " \t");

	for (unsigned i = 0; i < G_N_ELEMENTS(others) && !is_end(*next); i++)
		if (strlen(others[i].word) == (size_t)len && g_ascii_strncasecmp(p, others[i].word, (gsize)len) == 0 &&
		    (others[i].starts || !is_first))
			return error_set("'%.*s' is a text here: %s, or write \"%.*s\"", len, p, others[i].instead, len,
					 p);
	return LT_OK;
}
