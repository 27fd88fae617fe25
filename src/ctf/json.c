/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/json.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ctf/metadata.h"

enum { DIGITS_OF_MAX = 19 };

bool json_next(const char **at, unsigned *line, struct json_fragment *f)
{
	const char *begin = *at, *end;

	if (*begin != METADATA_SEPARATOR)
		return false;
	f->text = begin + 1;
	f->line = *line;
	end = strchr(f->text, METADATA_SEPARATOR);
	if (!end)
		end = f->text + strlen(f->text);
	f->len = (size_t)(end - f->text);
	for (const char *p = f->text; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
		++*line;
	*at = end;
	return true;
}

bool json_mentions(const struct json_fragment *f, const char *quoted)
{
	return memmem(f->text, f->len, quoted, strlen(quoted)) != NULL;
}

/* The end of the string that starts at p. */
static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		p += *p == '\\' && p + 1 < end;
	return p < end ? p + 1 : end;
}

/* If the integer at p needs the 64th bit, its text as a negative number; otherwise NULL. */
static char *lower_integer(const char *p, size_t digits)
{
	char text[32], *rest;
	unsigned long long value;

	if (digits < DIGITS_OF_MAX || digits >= sizeof(text))
		return NULL;
	memcpy(text, p, digits);
	text[digits] = '\0';
	errno = 0;
	value = strtoull(text, &rest, 10);
	if (errno || *rest || value <= INT64_MAX)
		return NULL;
	return g_strdup_printf("%" G_GINT64_FORMAT, (gint64)value);
}

/* The text with such integers replaced; NULL: it does not contain any. */
static GString *lower_integers(const char *text, size_t len)
{
	const char *end = text + len, *from = text;
	GString *out = NULL;

	for (const char *p = text; p < end;) {
		size_t digits = 0;
		char *lower;

		if (*p == '"') {
			p = skip_string(p, end);
			continue;
		}
		while (p + digits < end && g_ascii_isdigit(p[digits]))
			digits++;
		lower = digits && (p == text || p[-1] != '-') && (p + digits == end || !strchr(".eE", p[digits]))
				? lower_integer(p, digits)
				: NULL;
		if (lower) {
			if (!out)
				out = g_string_sized_new(len + 1);
			g_string_append_len(out, from, (gssize)(p - from));
			g_string_append(out, lower);
			from = p + digits;
			g_free(lower);
		}
		p += MAX(digits, 1);
	}
	if (out)
		g_string_append_len(out, from, (gssize)(end - from));
	return out;
}

json_t *json_read(const struct json_fragment *f)
{
	GString *lowered = lower_integers(f->text, f->len);
	json_error_t error;
	json_t *root = json_loadb(lowered ? lowered->str : f->text, lowered ? lowered->len : f->len, 0, &error);

	if (lowered)
		g_string_free(lowered, TRUE);
	if (!root) {
		error_set("metadata: line %u: %s", f->line + (unsigned)MAX(error.line, 1) - 1, error.text);
	} else if (!json_is_object(root)) {
		error_set("metadata: line %u: not an object", f->line);
		json_decref(root);
		root = NULL;
	}
	return root;
}

enum lt_status json_get_text(const json_t *o, const char *key, const char **value)
{
	const json_t *v = json_object_get(o, key);

	if (v && !json_is_string(v))
		return error_set("'%s' is not a string", key);
	if (v)
		*value = json_string_value(v);
	return LT_OK;
}

enum lt_status json_get_integer(const json_t *o, const char *key, int64_t *value)
{
	const json_t *v = json_object_get(o, key);

	if (v && !json_is_integer(v))
		return error_set("'%s' is not an integer", key);
	if (v)
		*value = json_integer_value(v);
	return LT_OK;
}

enum lt_status json_get_count(const json_t *o, const char *key, uint64_t max, uint64_t *value)
{
	int64_t number = 0;

	if (!json_object_get(o, key))
		return LT_OK;
	if (json_get_integer(o, key, &number))
		return LT_ERROR;
	if (number < 0 || (uint64_t)number > max)
		return error_set("'%s' is not between 0 and %" G_GUINT64_FORMAT, key, max);
	*value = (uint64_t)number;
	return LT_OK;
}

enum lt_status json_get_array(const json_t *o, const char *key, const json_t **value)
{
	const json_t *v = json_object_get(o, key);

	if (v && !json_is_array(v))
		return error_set("'%s' is not an array", key);
	if (v)
		*value = v;
	return LT_OK;
}

enum lt_status json_get_object(const json_t *o, const char *key, const json_t **value)
{
	const json_t *v = json_object_get(o, key);

	if (v && !json_is_object(v))
		return error_set("'%s' is not an object", key);
	if (v)
		*value = v;
	return LT_OK;
}

enum lt_status json_require(const json_t *o, const char *key)
{
	return json_object_get(o, key) ? LT_OK : error_set("'%s' is missing", key);
}
