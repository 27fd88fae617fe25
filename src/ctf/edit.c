/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/nstime.h"
#include "ctf/json.h"
#include "ctf/layout.h"
#include "ctf/metadata.h"

/* Metadata with changed clock offsets and another hostname. */

/* The clock's offset in cycles, set forward by shift_ns. */
static __int128 shifted_offset(const struct layout_clock *c, int64_t shift_ns)
{
	return (__int128)c->offset + (__int128)c->offset_s * (__int128)c->freq +
	       (__int128)shift_ns * (__int128)c->freq / NS_PER_S;
}

/* ---- CTF 1.8: parts of the text are replaced ---- */

/* A part of the text and its replacement. */
struct edit {
	size_t at, len;
	char *text;
};

static int compare_edits(gconstpointer a, gconstpointer b)
{
	const struct edit *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static void add_edit(GArray *edits, size_t at, size_t len, char *text)
{
	struct edit e = { .at = at, .len = len, .text = text };

	g_array_append_val(edits, e);
}

/* The whole new offset goes into `offset`, so that it is negative only if the clock starts before the epoch. */
static void shift_clock(GArray *edits, const struct layout_clock *c, int64_t shift_ns)
{
	int64_t number = (int64_t)shifted_offset(c, shift_ns);

	if (c->offset_s_len)
		add_edit(edits, c->offset_s_at, c->offset_s_len, g_strdup("0"));
	if (c->offset_len)
		add_edit(edits, c->offset_at, c->offset_len, g_strdup_printf("%" G_GINT64_FORMAT, number));
	else
		add_edit(edits, c->body, 0, g_strdup_printf("\n\toffset = %" G_GINT64_FORMAT ";", number));
}

static void set_hostname(GArray *edits, const struct layout *l, size_t end, const char *hostname)
{
	if (l->hostname_at)
		add_edit(edits, l->hostname_at, l->hostname_len, g_strdup(hostname));
	else if (l->env_body)
		add_edit(edits, l->env_body, 0, g_strdup_printf("\n\thostname = \"%s\";", hostname));
	else
		add_edit(edits, end, 0, g_strdup_printf("\nenv { hostname = \"%s\"; };\n", hostname));
}

static char *edit_blocks(const struct layout *l, const char *text, int64_t shift_ns, const char *hostname)
{
	GArray *edits = g_array_new(FALSE, FALSE, sizeof(struct edit));
	GString *out = g_string_new(NULL);
	size_t from = 0;

	for (guint i = 0; shift_ns && i < l->clocks->len; i++)
		shift_clock(edits, g_ptr_array_index(l->clocks, i), shift_ns);
	if (hostname)
		set_hostname(edits, l, strlen(text), hostname);
	g_array_sort(edits, compare_edits);
	for (guint i = 0; i < edits->len; i++) {
		struct edit *e = &g_array_index(edits, struct edit, i);

		g_string_append_len(out, text + from, (gssize)(e->at - from));
		g_string_append(out, e->text);
		from = e->at + e->len;
		g_free(e->text);
	}
	g_string_append(out, text + from);
	g_array_free(edits, TRUE);
	return g_string_free(out, FALSE);
}

/* ---- CTF 2: fragments are replaced ---- */

static const struct layout_clock *find_clock(const struct layout *l, const char *name)
{
	for (guint i = 0; i < l->clocks->len; i++) {
		const struct layout_clock *c = g_ptr_array_index(l->clocks, i);

		if (g_strcmp0(c->name, name ? name : "") == 0)
			return c;
	}
	return NULL;
}

/* Cycles must be fewer than in a second, and not negative. */
static bool shift_clock_class(const struct layout *l, json_t *o, int64_t shift_ns)
{
	const struct layout_clock *c = find_clock(l, json_string_value(json_object_get(o, "id")));
	__int128 offset, s;

	if (!c || !shift_ns)
		return false;
	offset = shifted_offset(c, shift_ns);
	s = offset / (__int128)c->freq - (offset % (__int128)c->freq < 0);
	json_object_set_new(o, "offset-from-origin",
			    json_pack("{s:I,s:I}", "seconds", (json_int_t)s, "cycles",
				      (json_int_t)(offset - s * (__int128)c->freq)));
	return true;
}

static void set_environment(json_t *o, const char *hostname)
{
	json_t *env = json_object_get(o, "environment");

	if (!env)
		json_object_set_new(o, "environment", json_pack("{s:s}", "hostname", hostname));
	else
		json_object_set_new(env, "hostname", json_string(hostname));
}

/* Whether the fragment changed. */
static bool edit_fragment(const struct layout *l, json_t *o, int64_t shift_ns, const char **hostname)
{
	const char *type = json_string_value(json_object_get(o, "type"));

	if (g_strcmp0(type, "clock-class") == 0)
		return shift_clock_class(l, o, shift_ns);
	if (!*hostname || g_strcmp0(type, "trace-class") != 0)
		return false;
	set_environment(o, *hostname);
	*hostname = NULL;
	return true;
}

static void put_fragment(GString *out, const json_t *o)
{
	char *text = json_dumps(o, JSON_COMPACT);

	g_string_append_printf(out, "%c%s\n", METADATA_SEPARATOR, text);
	free(text);
}

/* Whether it needs parsing: most fragments are event classes. */
static bool may_be_of(const struct json_fragment *f)
{
	return json_mentions(f, "\"clock-class\"") || json_mentions(f, "\"trace-class\"");
}

static char *edit_fragments(const struct layout *l, const char *text, int64_t shift_ns, const char *hostname)
{
	GString *out = g_string_new(NULL);
	struct json_fragment f;
	unsigned line = 1;

	while (json_next(&text, &line, &f)) {
		json_t *o = may_be_of(&f) ? json_read(&f) : NULL;

		if (o && edit_fragment(l, o, shift_ns, &hostname)) {
			put_fragment(out, o);
		} else {
			g_string_append_c(out, METADATA_SEPARATOR);
			g_string_append_len(out, f.text, (gssize)f.len);
		}
		json_decref(o);
	}
	if (hostname) {
		json_t *o = json_pack("{s:s}", "type", "trace-class");

		set_environment(o, hostname);
		put_fragment(out, o);
		json_decref(o);
	}
	return g_string_free(out, FALSE);
}

char *layout_edit_text(const struct layout *l, const char *text, int64_t shift_ns, const char *hostname)
{
	return l->format == LAYOUT_CTF_2 ? edit_fragments(l, text, shift_ns, hostname)
					 : edit_blocks(l, text, shift_ns, hostname);
}
