/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The paths of the string pool. Each remembers the round in which it was last used. A path's id is a serial number that
 * is given out only once (2^31 are as good as endless), so that an id that outlives its path cannot name another one.
 */
#include <glib.h>
#include <string.h>

#include "base/keyhash.h"
#include "base/map64.h"
#include "base/strpool_internal.h"

enum {
	PATH_OVERHEAD = 120,   /* bytes per path in the array, the hashes and the allocator, roughly */
	ROUNDS_UNTIL_FULL = 8, /* rounds that become due while the room fills */
	ROUNDS_KEPT = 2,       /* paths used in the latest of them are not forgotten */
};

struct pooled_path {
	char *text; /* NULL: free */
	strid id;
	uint32_t round;
};

static struct {
	GArray *list;        /* struct pooled_path */
	GArray *free;        /* uint32_t: indexes in list */
	GHashTable *indexes; /* text -> index in list + 1 */
	struct map64 by_id;  /* id -> index in list */
	strid last_id;
	uint32_t round;
	size_t bytes, limit;
	size_t added; /* bytes interned since the last round */
	bool refused; /* whether a path has not fitted since then */
	uint64_t forgotten;
} paths = { .limit = STRPOOL_PATHS_LIMIT };

static struct pooled_path *path_at(uint32_t index)
{
	return &g_array_index(paths.list, struct pooled_path, index);
}

static void open_paths(void)
{
	paths.list = g_array_new(FALSE, FALSE, sizeof(struct pooled_path));
	paths.free = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	paths.indexes = g_hash_table_new(keyhash_text, g_str_equal);
}

static strid next_id(void)
{
	do
		paths.last_id = (paths.last_id + 1) | STRID_PATH;
	while (map64_get(&paths.by_id, paths.last_id) != MAP64_NONE);
	return paths.last_id;
}

static size_t cost(size_t len)
{
	return len + 1 + PATH_OVERHEAD;
}

static strid add(const char *text, size_t len, strid id)
{
	const struct pooled_path path = { .text = g_strndup(text, len), .id = id, .round = paths.round };
	uint32_t index = paths.list->len;

	if (paths.free->len) {
		index = g_array_index(paths.free, uint32_t, paths.free->len - 1);
		g_array_set_size(paths.free, paths.free->len - 1);
		*path_at(index) = path;
	} else {
		g_array_append_val(paths.list, path);
	}
	g_hash_table_insert(paths.indexes, path.text, GUINT_TO_POINTER(index + 1));
	map64_put(&paths.by_id, path.id, index);
	paths.bytes += cost(len);
	paths.added += cost(len);
	return path.id;
}

strid paths_intern(const char *text, size_t len)
{
	guint known;

	if (!paths.list)
		open_paths();
	known = GPOINTER_TO_UINT(g_hash_table_lookup(paths.indexes, text));
	if (known) {
		path_at(known - 1)->round = paths.round;
		return path_at(known - 1)->id;
	}
	if (paths.bytes + cost(len) > paths.limit) {
		paths.refused = true;
		return STRID_NONE;
	}
	return add(text, len, next_id());
}

const char *paths_text(strid id)
{
	uint32_t index = map64_get(&paths.by_id, id);

	return index == MAP64_NONE ? "…" : path_at(index)->text;
}

/* ---- rounds ---- */

bool strpool_round_due(void)
{
	return paths.added > paths.limit / ROUNDS_UNTIL_FULL || paths.refused;
}

void strpool_round_begin(void)
{
	paths.round++;
	paths.added = 0;
	paths.refused = false;
}

void strpool_keep(strid id)
{
	uint32_t index = id & STRID_PATH ? map64_get(&paths.by_id, id) : MAP64_NONE;

	if (index != MAP64_NONE)
		path_at(index)->round = paths.round;
}

static void forget(uint32_t index)
{
	struct pooled_path *path = path_at(index);

	g_hash_table_remove(paths.indexes, path->text);
	map64_del(&paths.by_id, path->id);
	paths.bytes -= cost(strlen(path->text));
	g_free(path->text);
	path->text = NULL;
	g_array_append_val(paths.free, index);
	paths.forgotten++;
}

/* The round in which the path unused the longest was last used. */
static uint32_t oldest_round(void)
{
	uint32_t oldest = paths.round;

	for (guint i = 0; i < paths.list->len; i++)
		if (path_at(i)->text)
			oldest = MIN(oldest, path_at(i)->round);
	return oldest;
}

void strpool_round_end(void)
{
	size_t room = paths.limit / ROUNDS_UNTIL_FULL * (ROUNDS_UNTIL_FULL - ROUNDS_KEPT);
	uint32_t oldest;

	if (!paths.list || paths.bytes <= room)
		return;
	while (paths.bytes > room / 2 && (oldest = oldest_round()) + ROUNDS_KEPT <= paths.round)
		for (guint i = 0; i < paths.list->len; i++)
			if (path_at(i)->text && path_at(i)->round == oldest)
				forget(i);
}

uint64_t strpool_forgotten(void)
{
	return paths.forgotten;
}

/* ---- the pool as a whole ---- */

void paths_pack(GByteArray *out)
{
	const guint n = paths.list ? paths.list->len : 0;

	pack_u64(out, paths.last_id);
	pack_u64(out, n - (paths.free ? paths.free->len : 0));
	for (guint i = 0; i < n; i++) {
		if (!path_at(i)->text)
			continue;
		pack_u64(out, path_at(i)->id);
		pack_text(out, path_at(i)->text);
	}
}

static void unpack_path(struct unpack *in)
{
	strid id = (strid)unpack_upto(in, UINT32_MAX);
	char *text = unpack_text(in);
	size_t len = text ? strlen(text) : 0;

	in->failed |= !len || !(id & STRID_PATH) || paths.bytes + cost(len) > paths.limit ||
		      map64_get(&paths.by_id, id) != MAP64_NONE || g_hash_table_contains(paths.indexes, text);
	if (!in->failed)
		add(text, len, id);
	g_free(text);
}

void paths_unpack(struct unpack *in)
{
	strid last_id = (strid)unpack_upto(in, UINT32_MAX);
	size_t n = unpack_count(in, 2 * sizeof(uint64_t));

	in->failed |= paths.bytes != 0;
	if (!paths.list)
		open_paths();
	for (size_t i = 0; i < n && !in->failed; i++)
		unpack_path(in);
	paths.last_id = last_id;
	paths.added = 0;
}

void paths_set_limit(size_t bytes)
{
	paths.limit = bytes;
}

size_t paths_bytes(void)
{
	return paths.bytes;
}

void paths_release(void)
{
	size_t limit = paths.limit;

	if (!paths.list)
		return;
	g_hash_table_destroy(paths.indexes);
	for (guint i = 0; i < paths.list->len; i++)
		g_free(path_at(i)->text);
	g_array_free(paths.list, TRUE);
	g_array_free(paths.free, TRUE);
	map64_release(&paths.by_id);
	memset(&paths, 0, sizeof(paths));
	paths.limit = limit;
}
