/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/record/count.h"

#include <poll.h>

#include "base/map64.h"
#include "base/nstime.h"
#include "control/process.h"
#include "event/payload.h"
#include "play/survey.h"

enum { LOOK_MS = 100, LIMIT_US = 10 * US_PER_S };

/* The kernel has some hundred functions for work items. */
enum { FUNCTIONS_MAX = 4096 };

struct counting {
	struct record_count *c;
	struct map64 known; /* the functions */
};

static void count(void *user, const struct ingest_visit *v)
{
	struct counting *k = user;
	uint64_t function;

	k->c->events++;
	if (v->event->kind != EVENT_WORK_START)
		return;
	function = event_payload(v->event, ev_work)->function;
	if (!function || k->known.count >= FUNCTIONS_MAX || map64_get(&k->known, function) != MAP64_NONE)
		return;
	map64_put(&k->known, function, 0);
	g_array_append_val(k->c->functions, function);
}

bool record_count(const char *directory, struct record_count *c)
{
	struct counting counting = { .c = c };
	const struct ingest_visitor visitor = { .after = count, .user = &counting };
	const gint64 end_us = g_get_monotonic_time() + LIMIT_US;
	GPtrArray *sources = g_ptr_array_new();
	struct survey *survey;
	enum lt_status status = LT_ERROR;

	*c = (struct record_count){ .functions = g_array_new(FALSE, FALSE, sizeof(uint64_t)) };
	g_ptr_array_add(sources, (char *)directory);
	survey = survey_create(sources, 0, NULL, &visitor);
	while (survey && !process_is_interrupted() && g_get_monotonic_time() < end_us) {
		struct pollfd readable = { .fd = survey_fd(survey), .events = POLLIN };

		status = survey_run(survey, LOOK_MS * NS_PER_MS);
		if (status == LT_AGAIN)
			poll(&readable, 1, LOOK_MS);
		else if (status != LT_OK)
			break;
	}
	survey_destroy(survey);
	g_ptr_array_free(sources, TRUE);
	map64_release(&counting.known);
	return status == LT_END;
}
