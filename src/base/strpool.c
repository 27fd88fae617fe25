/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/keyhash.h"
#include "base/strpool.h"

#include <glib.h>
#include <string.h>

#include "base/strpool_internal.h"
#include "base/text.h"

enum {
	STRPOOL_CHUNK = 64 * 1024,
	STRPOOL_OVERHEAD = 40, /* bytes per string in the array and the hash, roughly */
	RESERVED_SHARE = 8,    /* one in this many bytes is reserved for names that are not short-lived */
};

static struct {
	GStringChunk *storage;
	GPtrArray *texts; /* const char *, index: id; [0]: "" */
	GHashTable *ids;  /* text -> id */
	size_t bytes;
	size_t limit;
} names = { .limit = STRPOOL_NAMES_LIMIT };

static uint64_t full; /* strings of both kinds that did not fit */

static void open_names(void)
{
	names.storage = g_string_chunk_new(STRPOOL_CHUNK);
	names.texts = g_ptr_array_new();
	names.ids = g_hash_table_new(keyhash_text, g_str_equal);
	g_ptr_array_add(names.texts, (void *)"");
}

static strid intern_within(const char *text, size_t len, size_t limit)
{
	char *kept;
	strid id;

	if (!names.storage)
		open_names();
	id = GPOINTER_TO_UINT(g_hash_table_lookup(names.ids, text));
	if (id)
		return id;
	if (names.bytes + len + 1 + STRPOOL_OVERHEAD > limit)
		return STRID_NONE;
	kept = g_string_chunk_insert_len(names.storage, text, (gssize)len);
	id = names.texts->len;
	g_ptr_array_add(names.texts, kept);
	g_hash_table_insert(names.ids, kept, GUINT_TO_POINTER(id));
	names.bytes += len + 1 + STRPOOL_OVERHEAD;
	return id;
}

static strid names_intern(const char *text, size_t len)
{
	return intern_within(text, len, names.limit);
}

static strid brief_intern(const char *text, size_t len)
{
	strid id = intern_within(text, len, names.limit - names.limit / RESERVED_SHARE);

	return id ? id : paths_intern(text, len);
}

static strid intern(const char *text, size_t len, strid (*into)(const char *, size_t))
{
	char clean[TEXT_MAX + 1];
	size_t n;
	strid id;

	if (!text || !len)
		return STRID_NONE;
	n = text_sanitise(clean, sizeof(clean), text, len);
	if (!n)
		return STRID_NONE;
	id = into(clean, n);
	if (!id)
		full++;
	return id;
}

strid strpool_intern(const char *text, size_t len)
{
	return intern(text, len, names_intern);
}

strid strpool_intern_z(const char *text)
{
	return text ? strpool_intern(text, strlen(text)) : STRID_NONE;
}

bool strpool_has_name(const char *text)
{
	return names.ids && g_hash_table_contains(names.ids, text);
}

strid strpool_intern_brief(const char *text, size_t len)
{
	return intern(text, len, brief_intern);
}

strid strpool_intern_padded(const char *text, size_t size)
{
	return strpool_intern_brief(text, text ? text_padded_len(text, size) : 0);
}

strid strpool_intern_path(const char *text, size_t len)
{
	return intern(text, len, paths_intern);
}

const char *strpool_text(strid id)
{
	if (id & STRID_PATH)
		return paths_text(id);
	if (id == STRID_NONE)
		return "";
	if (!names.texts || id >= names.texts->len)
		return "…";
	return g_ptr_array_index(names.texts, id);
}

void strpool_pack(GByteArray *out)
{
	const guint n = names.texts ? names.texts->len : 1;

	pack_u64(out, n - 1);
	for (guint i = 1; i < n; i++)
		pack_text(out, g_ptr_array_index(names.texts, i));
	paths_pack(out);
}

static void names_unpack(struct unpack *in)
{
	size_t n = unpack_count(in, sizeof(uint64_t));

	for (strid id = 1; id <= n && !in->failed; id++) {
		char *text = unpack_text(in);

		in->failed |= !text || !*text || names_intern(text, strlen(text)) != id;
		g_free(text);
	}
}

bool strpool_unpack(struct unpack *in)
{
	names_unpack(in);
	if (!in->failed)
		paths_unpack(in);
	return !in->failed;
}

void strpool_set_limit(size_t names_bytes, size_t paths_bytes)
{
	names.limit = names_bytes;
	paths_set_limit(paths_bytes);
}

uint64_t strpool_full(void)
{
	return full;
}

size_t strpool_bytes(void)
{
	return names.bytes + paths_bytes();
}

void strpool_release(void)
{
	paths_release();
	full = 0;
	if (!names.storage)
		return;
	g_hash_table_destroy(names.ids);
	g_ptr_array_free(names.texts, TRUE);
	g_string_chunk_free(names.storage);
	names.storage = NULL;
	names.texts = NULL;
	names.ids = NULL;
	names.bytes = 0;
}
