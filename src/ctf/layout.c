/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/layout.h"

#include <string.h>

#include "base/error.h"
#include "base/keyhash.h"
#include "base/nstime.h"
#include "base/text.h"
#include "ctf/bind.h"
#include "ctf/blocks.h"
#include "ctf/fragments.h"
#include "ctf/metadata.h"

static void destroy_clock(gpointer data)
{
	struct layout_clock *clock = data;

	g_free(clock->name);
	g_free(clock->uuid);
	g_free(clock);
}

static void destroy_stream(gpointer data)
{
	g_hash_table_destroy(((struct layout_stream *)data)->events);
	g_free(data);
}

static void destroy_event(gpointer data)
{
	g_free(((struct layout_event *)data)->name);
	g_free(data);
}

static void destroy_type(gpointer data)
{
	type_destroy(data);
}

static enum lt_status lack_streams(void)
{
	return error_set("metadata: no stream is described");
}

/* Before any type is in use, it is unknown which of several clocks will be. */
static enum lt_status take_only_clock(struct layout *l)
{
	if (l->clocks->len != 1)
		return lack_streams();
	l->clock = g_ptr_array_index(l->clocks, 0);
	l->n_clocks = 1;
	return LT_OK;
}

enum lt_status layout_parse_growing(const char *text, struct layout **out)
{
	struct layout *l = g_new0(struct layout, 1);
	enum lt_status status;
	char why[512];

	l->env = g_hash_table_new_full(keyhash_text, g_str_equal, g_free, g_free);
	l->env_integers = g_hash_table_new_full(keyhash_text, g_str_equal, g_free, g_free);
	l->streams_by_id = g_hash_table_new(keyhash_number, g_int64_equal);
	l->clocks = g_ptr_array_new_with_free_func(destroy_clock);
	l->streams = g_ptr_array_new_with_free_func(destroy_stream);
	l->events = g_ptr_array_new_with_free_func(destroy_event);
	l->types = g_ptr_array_new_with_free_func(destroy_type);
	l->n_slots = SLOT_EVENT_ID + 1;
	status = metadata_is_ctf2(text) ? fragments_parse(text, l) : blocks_parse(text, l);
	if (!status)
		status = l->streams->len ? bind_layout(l) : take_only_clock(l);
	if (status) {
		layout_destroy(l);
		text_sanitise(why, sizeof(why), error_text(), strlen(error_text()));
		return error_set("%s", why);
	}
	*out = l;
	return LT_OK;
}

enum lt_status layout_parse(const char *text, struct layout **out)
{
	struct layout *l;

	if (!*text)
		return error_set("metadata: the file is empty; if its session runs, use 'lttng stop' first");
	if (layout_parse_growing(text, &l))
		return LT_ERROR;
	if (!l->streams->len) {
		layout_destroy(l);
		return lack_streams();
	}
	*out = l;
	return LT_OK;
}

void layout_destroy(struct layout *l)
{
	if (!l)
		return;
	g_hash_table_destroy(l->env);
	g_hash_table_destroy(l->env_integers);
	g_hash_table_destroy(l->streams_by_id);
	g_ptr_array_free(l->clocks, TRUE);
	g_ptr_array_free(l->streams, TRUE);
	g_ptr_array_free(l->events, TRUE);
	g_ptr_array_free(l->types, TRUE);
	g_free(l);
}

struct layout_stream *layout_add_stream(struct layout *l)
{
	struct layout_stream *s = g_new0(struct layout_stream, 1);

	s->events = g_hash_table_new(keyhash_number, g_int64_equal);
	s->align = 8;
	g_ptr_array_add(l->streams, s);
	return s;
}

struct layout_stream *layout_find_stream(const struct layout *l, uint64_t id)
{
	return g_hash_table_lookup(l->streams_by_id, &id);
}

const char *layout_env(const struct layout *l, const char *key)
{
	return g_hash_table_lookup(l->env, key);
}

bool layout_env_integer(const struct layout *l, const char *key, int64_t *value)
{
	const int64_t *found = g_hash_table_lookup(l->env_integers, key);

	if (found)
		*value = *found;
	return found;
}

/* ---- times ---- */

static const struct layout_clock *clock_of(const struct layout *l)
{
	static const struct layout_clock plain = { .freq = NS_PER_S };

	return l->clock ? l->clock : l->clocks->len ? g_ptr_array_index(l->clocks, 0) : &plain;
}

bool layout_time(const struct layout *l, uint64_t value, uint64_t *ns)
{
	const struct layout_clock *c = clock_of(l);
	const __int128 cycles = (__int128)c->offset + value;
	const __int128 t = (__int128)c->offset_s * NS_PER_S + cycles * NS_PER_S / (__int128)c->freq;

	*ns = (uint64_t)CLAMP(t, 0, (__int128)UINT64_MAX);
	return t == (__int128)*ns;
}

uint64_t layout_to_ns(const struct layout *l, uint64_t value)
{
	uint64_t ns;

	layout_time(l, value, &ns);
	return ns;
}

uint64_t layout_from_ns(const struct layout *l, uint64_t ns)
{
	const struct layout_clock *c = clock_of(l);
	__int128 cycles = ((__int128)ns - (__int128)c->offset_s * NS_PER_S) * (__int128)c->freq / NS_PER_S - c->offset;

	return cycles < 0 ? 0 : cycles > UINT64_MAX ? UINT64_MAX : (uint64_t)cycles;
}
