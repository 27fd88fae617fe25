/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/event.h"

#include <string.h>

#include "event/payload.h"
#include "event/tracepoints.h"

static bool strings_inside(const struct event *ev, const struct tracepoint_desc *desc)
{
	const uint32_t text = sizeof(*ev) + 8 * (ev->n_words + ev->n_perf);

	for (unsigned i = 0; i < desc->n_fields; i++) {
		struct event_str s;

		if (desc->fields[i].type != FIELD_STR)
			continue;
		memcpy(&s, (const char *)ev->words + desc->fields[i].offset, sizeof(s));
		if (s.len == 0)
			continue;
		if (s.offset < text || s.offset > ev->size || s.len > ev->size - s.offset)
			return false;
	}
	return true;
}

const char *event_check(const struct event *ev, size_t avail_bytes)
{
	const struct tracepoint_desc *desc;

	if (avail_bytes < sizeof(*ev) || ev->size < sizeof(*ev) || ev->size > avail_bytes ||
	    ev->size > EVENT_SIZE_MAX || ev->size % 8)
		return "a record of impossible size";
	if (ev->kind == EVENT_NONE || ev->kind >= EVENT_KINDS)
		return "a record of unknown kind";
	desc = tracepoint_desc(ev->kind);
	if (ev->n_words != desc->n_words || ev->n_perf > EVENT_PERF_MAX ||
	    8u * (ev->n_words + ev->n_perf) > ev->size - sizeof(*ev))
		return "a record of impossible length for its kind";
	if (ev->cpu != EVENT_NO_CPU && ev->cpu >= EVENT_CPU_MAX)
		return "a CPU number out of range";
	if (ev->trace >= EVENT_TRACES_MAX || (ev->class_id != EVENT_NO_CLASS && ev->class_id >= EVENT_CLASSES_MAX))
		return "a trace or event class out of range";
	if (!strings_inside(ev, desc))
		return "a string outside its record";
	return NULL;
}
