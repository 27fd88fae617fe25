/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A large buffer is mapped: growing it moves pages instead of copying bytes, which would take milliseconds for a chunk,
 * and memory that is released is the system's again.
 */
#include "history/bytes.h"

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "history/sized.h"
#include "history/varint.h"

/* The capacity from which on a buffer is mapped. */
enum { MAPPED_LEAST = 256 << 10 };

_Static_assert((int)VARINT_PAD >= (int)SIZED_PAD, "to spare for both");

static bool is_mapped(size_t capacity)
{
	return capacity >= MAPPED_LEAST;
}

/* data: NULL, or a mapping of `old` bytes, which grows or shrinks. New pages are zero. */
static void *map(void *data, size_t old, size_t capacity)
{
	void *mapped = data ? mremap(data, old, capacity, MREMAP_MAYMOVE)
			    : mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mapped == MAP_FAILED)
		g_error("no memory for %zu bytes of history: %s", capacity, g_strerror(errno));
	return mapped;
}

static void release(void *data, size_t capacity)
{
	if (!is_mapped(capacity))
		g_free(data);
	else if (munmap(data, capacity))
		g_error("history: %zu bytes cannot be unmapped: %s", capacity, g_strerror(errno));
}

/* capacity: at least len. */
static void resize(struct bytes *b, size_t capacity)
{
	void *data;

	if (is_mapped(b->capacity) && is_mapped(capacity)) {
		data = map(b->data, b->capacity, capacity);
	} else {
		data = is_mapped(capacity) ? map(NULL, 0, capacity) : g_malloc0(capacity);
		if (b->len)
			memcpy(data, b->data, b->len);
		release(b->data, b->capacity);
	}
	b->data = data;
	b->capacity = capacity;
}

void bytes_reserve(struct bytes *b, size_t more)
{
	size_t wanted = b->len + more + VARINT_PAD;

	if (wanted <= b->capacity)
		return;
	if (is_mapped(wanted))
		resize(b, (wanted + MAPPED_LEAST - 1) / MAPPED_LEAST * MAPPED_LEAST);
	else
		resize(b, MAX(MAX(wanted, MIN(b->capacity + b->capacity / 2, MAPPED_LEAST - 1)), 256));
}

void bytes_append(struct bytes *b, const void *data, size_t len)
{
	bytes_reserve(b, len);
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
}

void bytes_fit(struct bytes *b)
{
	resize(b, b->len + VARINT_PAD);
}

void bytes_release(struct bytes *b)
{
	release(b->data, b->capacity);
	*b = (struct bytes){ 0 };
}
