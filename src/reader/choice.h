/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_CHOICE_H
#define LT_READER_CHOICE_H

#include <stdint.h>

#include "reader/plan.h"
#include "reader/stream.h"

/*
 * Which events are written with all their fields (event/fields.h), and that: EVENT_SHAPE, EVENT_FIELDS.
 */
struct choice;

/* text: of event/wanted.h. NULL: nothing is wanted, or it is not such a text. */
struct choice *choice_create(const char *text);
void choice_destroy(struct choice *c); /* NULL is allowed */

/* Writes the fields of the stream's item, an event whose context was read, if they are wanted. */
void choice_write(struct reader *r, struct reader_stream *s, const struct reader_class *plan, int64_t tid);

/* The typed record of the event: it may change who runs on the CPU, or the name of that. */
void choice_saw(const struct reader_stream *s, const struct reader_class *plan, const struct event *ev);

#endif
