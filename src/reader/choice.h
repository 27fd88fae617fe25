/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_CHOICE_H
#define LT_READER_CHOICE_H

#include <stdint.h>

#include "reader/plan.h"
#include "reader/stream.h"

/*
 * Chooses the events whose fields are all recorded (event/fields.h), and writes their EVENT_SHAPE and EVENT_FIELDS
 * records.
 */
struct choice;

/* text: see event/wanted.h. NULL: it is not valid, or no events are wanted. */
struct choice *choice_create(const char *text);
void choice_destroy(struct choice *c); /* NULL is allowed */

/* Writes the fields of the stream's item, an event whose context has been read, if they are wanted. */
void choice_write(struct reader *r, struct reader_stream *s, const struct reader_class *plan, int64_t tid);

/* Notes the event's typed record: it may change the thread that runs on the CPU, or that thread's name. */
void choice_saw(const struct reader_stream *s, const struct reader_class *plan, const struct event *ev);

#endif
