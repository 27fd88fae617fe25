/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_FUZZ_RECORDS_H
#define LT_FUZZ_RECORDS_H

#include "event/fields.h"

/* reader_args.wanted: all fields of all events. */
#define WANT_ALL "3 0 18446744073709551615"

/* Looks at what a reader says of all fields of an event, as its parent does. NULL: it makes sense. */
static inline const char *check_fields(struct shapes *shapes, const struct event *ev)
{
	const struct shape *shape;

	if (ev->kind == EVENT_SHAPE)
		return shapes_take(shapes, ev);
	if (ev->kind != EVENT_FIELDS)
		return NULL;
	shape = shapes_find(shapes, ev);
	return shape ? fields_check(shape, ev) : "fields of a class without a shape";
}

#endif
