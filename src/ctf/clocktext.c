/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/layout.h"

#include <string.h>

/*
 * The clocks of a trace: their times as ns, and the metadata with other offsets and another hostname.
 */

#define NS_PER_S INT64_C(1000000000)

static const struct layout_clock *clock_of(const struct layout *l)
{
	static const struct layout_clock plain = {.freq = NS_PER_S};

	return l->clock ? l->clock : l->clocks->len ? g_ptr_array_index(l->clocks, 0) : &plain;
}

uint64_t layout_to_ns(const struct layout *l, uint64_t value)
{
	const struct layout_clock *c = clock_of(l);
	__int128 cycles = (__int128)c->offset + value;
	__int128 ns = (__int128)c->offset_s * NS_PER_S + cycles * NS_PER_S / (__int128)c->freq;

	return ns < 0 ? 0 : ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

uint64_t layout_from_ns(const struct layout *l, uint64_t ns)
{
	const struct layout_clock *c = clock_of(l);
	__int128 cycles = ((__int128)ns - (__int128)c->offset_s * NS_PER_S) * (__int128)c->freq / NS_PER_S - c->offset;

	return cycles < 0 ? 0 : cycles > UINT64_MAX ? UINT64_MAX : (uint64_t)cycles;
}

/* A number of the text and what stands there instead. */
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
	struct edit e = {.at = at, .len = len, .text = text};

	g_array_append_val(edits, e);
}

/* The new offset goes whole into `offset`: it may be negative only where even the epoch is. */
static void shift_clock(GArray *edits, const struct layout_clock *c, int64_t shift_ns)
{
	__int128 offset = (__int128)c->offset + (__int128)c->offset_s * (__int128)c->freq +
			  (__int128)shift_ns * (__int128)c->freq / NS_PER_S;
	int64_t number = (int64_t)offset;

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

char *layout_edit_text(const struct layout *l, const char *text, int64_t shift_ns, const char *hostname)
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
