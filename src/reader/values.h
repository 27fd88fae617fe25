/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_VALUES_H
#define LT_READER_VALUES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "event/event.h"
#include "event/fields.h"
#include "event/payload.h"

/*
 * The values of an EVENT_FIELDS record (event/fields.h), appended one by one to a record reserved by emit_begin() with
 * FIELDS_BYTES_MAX bytes of text. Each function returns false if the record is full; then nothing more may be appended.
 */

static inline struct ev_fields *values_of(struct event *ev)
{
	return (struct ev_fields *)(void *)ev->words;
}

/* Adds room for n words, which the caller fills. */
static inline bool values_room(struct event *ev, uint32_t n, void **at)
{
	const uint32_t end = sizeof(*ev) + sizeof(struct ev_fields) + FIELDS_BYTES_MAX;

	if (n > (end - ev->size) / 8) {
		values_of(ev)->cut = true;
		return false;
	}
	*at = (char *)ev + ev->size;
	ev->size += 8 * n;
	return true;
}

static inline bool values_word(struct event *ev, uint64_t word)
{
	void *at;

	if (!values_room(ev, 1, &at))
		return false;
	memcpy(at, &word, sizeof(word));
	return true;
}

/* Encodes how many elements follow, and how many there are in total. */
static inline uint64_t values_count(uint64_t kept, uint64_t total)
{
	return kept | (total < UINT32_MAX ? total : UINT32_MAX) << 32;
}

/* A text of len bytes. */
static inline bool values_text(struct event *ev, const void *bytes, uint64_t len)
{
	const uint32_t kept = len < FIELDS_TEXT_MAX ? (uint32_t)len : FIELDS_TEXT_MAX;
	const uint32_t words = (kept + 7) / 8;
	void *at;

	if (!values_room(ev, 1 + words, &at))
		return false;
	((uint64_t *)at)[words] = 0; /* the part that the text does not fill */
	((uint64_t *)at)[0] = values_count(kept, len);
	memcpy((uint64_t *)at + 1, bytes, kept);
	return true;
}

/* The head of an array of n elements; *kept of them must follow. */
static inline bool values_array(struct event *ev, uint64_t n, uint32_t *kept)
{
	*kept = n < FIELDS_ELEMENTS_MAX ? (uint32_t)n : FIELDS_ELEMENTS_MAX;
	return values_word(ev, values_count(*kept, n));
}

/* Ends a part that started at begin, the size of the record at that time. */
static inline void values_end_part(struct event *ev, enum fields_part part, uint32_t begin)
{
	if (ev->size > begin)
		values_of(ev)->parts[part] = (struct event_str){ begin, ev->size - begin };
}

#endif
