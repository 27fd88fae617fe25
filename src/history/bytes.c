/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/bytes.h"

#include <glib.h>
#include <string.h>

#include "history/sized.h"
#include "history/varint.h"

_Static_assert((int)VARINT_PAD >= (int)SIZED_PAD, "to spare for both");

void bytes_reserve(struct bytes *b, size_t more)
{
	size_t old = b->capacity, wanted = b->len + more + VARINT_PAD;

	if (wanted <= old)
		return;
	b->capacity = MAX(MAX(wanted, old + old / 2), 256);
	b->data = g_realloc(b->data, b->capacity);
	memset(b->data + old, 0, b->capacity - old);
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
	b->capacity = b->len + VARINT_PAD;
	b->data = g_realloc(b->data, b->capacity);
	memset(b->data + b->len, 0, VARINT_PAD);
}

void bytes_release(struct bytes *b)
{
	g_free(b->data);
	*b = (struct bytes){ 0 };
}
