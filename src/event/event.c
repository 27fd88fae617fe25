/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/event.h"

#include <string.h>

#include "event/payload.h"
#include "event/tracepoints.h"

/* What is checked of a kind. */
struct kind_check {
	bool is_known;
	uint16_t least_words;
	uint32_t texts; /* the fields that are texts, one bit each; most kinds have none */
	uint32_t later; /* the fields after least_words */
};

static const struct kind_check *check_of(enum event_kind kind)
{
	static struct kind_check checks[EVENT_KINDS];
	const struct tracepoint_desc *desc = tracepoint_desc(kind);
	struct kind_check *c = &checks[kind];

	if (c->is_known)
		return c;
	c->least_words = tracepoint_least_words(kind);
	for (unsigned i = 0; i < desc->n_fields; i++) {
		c->texts |= desc->fields[i].type == FIELD_STR ? 1u << i : 0;
		c->later |= desc->fields[i].offset >= 8 * c->least_words ? 1u << i : 0;
	}
	c->is_known = true;
	return c;
}

static bool strings_inside(const struct event *ev, const struct tracepoint_desc *desc, uint32_t texts)
{
	const uint32_t text = sizeof(*ev) + 8 * (ev->n_words + ev->n_perf);

	for (; texts; texts &= texts - 1) {
		struct event_str s;

		memcpy(&s, (const char *)ev->words + desc->fields[__builtin_ctz(texts)].offset, sizeof(s));
		if (s.offset > ev->size || s.len > ev->size - s.offset || (s.len && s.offset < text))
			return false;
	}
	return true;
}

/* For a number whose greatest value means "none". */
static bool is_below_or_none(uint16_t number, unsigned bound)
{
	return (uint16_t)(number + 1u) <= bound;
}

const char *event_check(const struct event *ev, size_t avail_bytes)
{
	const struct tracepoint_desc *desc;
	const struct kind_check *check;

	if (avail_bytes < sizeof(*ev) || ev->size < sizeof(*ev) || ev->size > avail_bytes ||
	    ev->size > EVENT_SIZE_MAX || ev->size % 8)
		return "a record of impossible size";
	if (ev->kind - 1u >= EVENT_KINDS - 1u) /* includes EVENT_NONE */
		return "a record of unknown kind";
	desc = tracepoint_desc(ev->kind);
	check = check_of(ev->kind);
	if ((ev->n_words != desc->n_words && (ev->n_words != check->least_words || ev->present & check->later)) ||
	    ev->n_perf > EVENT_PERF_MAX || 8u * (ev->n_words + ev->n_perf) > ev->size - sizeof(*ev))
		return "a record of impossible length for its kind";
	if (!is_below_or_none(ev->cpu, EVENT_CPU_MAX))
		return "a CPU number out of range";
	if (ev->trace >= EVENT_TRACES_MAX || !is_below_or_none(ev->class_id, EVENT_CLASSES_MAX))
		return "a trace or event class out of range";
	if (check->texts && !strings_inside(ev, desc, check->texts))
		return "a string outside its record";
	return NULL;
}
