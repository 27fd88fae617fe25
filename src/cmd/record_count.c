/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/record_count.h"

#include <poll.h>

#include "base/nstime.h"
#include "cmd/survey.h"
#include "control/process.h"

enum { LOOK_MS = 100, LIMIT_US = 10 * US_PER_S };

static void count(void *user, const struct ingest_visit *v)
{
	(void)v;
	++*(uint64_t *)user;
}

bool record_count(const char *directory, uint64_t *n)
{
	const struct ingest_visitor visitor = { .after = count, .user = n };
	const gint64 end_us = g_get_monotonic_time() + LIMIT_US;
	GPtrArray *sources = g_ptr_array_new();
	struct survey *survey;
	enum lt_status status = LT_ERROR;

	*n = 0;
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
	return status == LT_END;
}
