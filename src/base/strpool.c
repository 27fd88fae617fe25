/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/strpool.h"

#include <glib.h>
#include <string.h>

#include "base/text.h"

enum {
	STRPOOL_CHUNK = 64 * 1024,
	STRPOOL_OVERHEAD = 40, /* bytes per string in the array and the hash, roughly */
};

static const char elided[] = "…";

static struct {
	GStringChunk *storage;
	GPtrArray *texts;    /* const char *, index: id; [0]: "" */
	GHashTable *ids;     /* text -> id */
	size_t bytes;
	size_t limit;
	uint64_t full;
} pool = {.limit = (size_t)64 << 20};

static strid add(const char *text, size_t len)
{
	char *kept = g_string_chunk_insert_len(pool.storage, text, (gssize)len);
	strid id = pool.texts->len;

	g_ptr_array_add(pool.texts, kept);
	g_hash_table_insert(pool.ids, kept, GUINT_TO_POINTER(id));
	pool.bytes += len + 1 + STRPOOL_OVERHEAD;
	return id;
}

static void open_pool(void)
{
	pool.storage = g_string_chunk_new(STRPOOL_CHUNK);
	pool.texts = g_ptr_array_new();
	pool.ids = g_hash_table_new(g_str_hash, g_str_equal);
	g_ptr_array_add(pool.texts, (void *)"");
}

strid strpool_intern(const char *text, size_t len)
{
	char clean[TEXT_MAX + 1];
	size_t n;
	strid id;

	if (!text || !len)
		return STRID_NONE;
	n = text_sanitise(clean, sizeof(clean), text, len);
	if (!n)
		return STRID_NONE;
	if (!pool.storage)
		open_pool();
	id = GPOINTER_TO_UINT(g_hash_table_lookup(pool.ids, clean));
	if (id)
		return id;
	if (pool.bytes + n + 1 + STRPOOL_OVERHEAD <= pool.limit)
		return add(clean, n);
	pool.full++;
	id = GPOINTER_TO_UINT(g_hash_table_lookup(pool.ids, elided));
	return id ? id : add(elided, strlen(elided));
}

strid strpool_intern_z(const char *text)
{
	return text ? strpool_intern(text, strlen(text)) : STRID_NONE;
}

strid strpool_intern_padded(const char *text, size_t size)
{
	return strpool_intern(text, text ? strnlen(text, size) : 0);
}

const char *strpool_text(strid id)
{
	if (id == STRID_NONE)
		return "";
	g_assert(pool.texts && id < pool.texts->len);
	return g_ptr_array_index(pool.texts, id);
}

void strpool_set_limit(size_t limit_bytes)
{
	pool.limit = limit_bytes;
}

uint64_t strpool_full(void)
{
	return pool.full;
}

size_t strpool_bytes(void)
{
	return pool.bytes;
}

void strpool_release(void)
{
	if (!pool.storage)
		return;
	g_hash_table_destroy(pool.ids);
	g_ptr_array_free(pool.texts, TRUE);
	g_string_chunk_free(pool.storage);
	pool.storage = NULL;
	pool.texts = NULL;
	pool.ids = NULL;
	pool.bytes = 0;
	pool.full = 0;
}
