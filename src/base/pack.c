/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/pack.h"

#include <endian.h>
#include <string.h>

#include "base/text.h"

void pack_u64(GByteArray *out, uint64_t v)
{
	v = htole64(v);
	g_byte_array_append(out, (const uint8_t *)&v, sizeof(v));
}

void pack_bytes(GByteArray *out, const void *data, size_t len)
{
	g_assert(len <= UINT_MAX - out->len);
	g_byte_array_append(out, data, (guint)len);
}

/* Preceded by its length + 1; 0 for NULL. */
void pack_text(GByteArray *out, const char *text)
{
	pack_u64(out, text ? strlen(text) + 1 : 0);
	if (text)
		pack_bytes(out, text, strlen(text));
}

static const uint8_t *take(struct unpack *in, uint64_t len)
{
	const uint8_t *at = in->at;

	if (in->failed || len > (uint64_t)(in->end - in->at)) {
		in->failed = true;
		return NULL;
	}
	in->at += len;
	return at;
}

uint64_t unpack_u64(struct unpack *in)
{
	const uint8_t *at = take(in, sizeof(uint64_t));
	uint64_t v = 0;

	if (at)
		memcpy(&v, at, sizeof(v));
	return le64toh(v);
}

uint64_t unpack_upto(struct unpack *in, uint64_t most)
{
	uint64_t v = unpack_u64(in);

	in->failed |= v > most;
	return in->failed ? 0 : v;
}

size_t unpack_count(struct unpack *in, size_t least_bytes)
{
	uint64_t n = unpack_u64(in);

	in->failed |= n > (uint64_t)(in->end - in->at) / least_bytes;
	return in->failed ? 0 : (size_t)n;
}

void unpack_bytes(struct unpack *in, void *data, size_t len)
{
	const uint8_t *at = take(in, len);

	if (!len)
		return;
	if (at)
		memcpy(data, at, len);
	else
		memset(data, 0, len);
}

char *unpack_text(struct unpack *in)
{
	uint64_t len = unpack_u64(in);
	const uint8_t *at = len ? take(in, len - 1) : NULL;
	char *text;
	size_t size;

	if (!at)
		return NULL;
	size = 4 * (len - 1) + 1;
	text = g_malloc(size);
	text_sanitise(text, size, (const char *)at, (size_t)(len - 1));
	return text;
}
