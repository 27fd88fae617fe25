/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "play/survey.h"

#include "base/error.h"
#include "base/nstime.h"
#include "ingest/ingest.h"

/* Events between two checks of the clock. */
enum { EVENTS_AT_ONCE = 4096 };

struct survey {
	struct ingest *in;
	bool started;
};

struct survey *survey_create(const GPtrArray *sources, unsigned workers, struct clocks *clocks,
			     const struct ingest_visitor *visitor)
{
	struct ingest_options options = { .workers = workers, .clocks = clocks, .visitor = visitor, .survey = true };
	struct survey *s = g_new0(struct survey, 1);
	unsigned opened = 0;

	s->in = ingest_create(&options);
	for (guint i = 0; i < sources->len; i++)
		opened += ingest_open(s->in, g_ptr_array_index(sources, i)) == LT_OK;
	/* failures are reported when the sources are read for the screen */
	error_clear();
	if (opened)
		return s;
	survey_destroy(s);
	return NULL;
}

void survey_destroy(struct survey *s)
{
	if (!s)
		return;
	ingest_destroy(s->in);
	g_free(s);
}

/* Advances each host once; LT_AGAIN: none had any data. */
static enum lt_status advance_hosts(struct survey *s)
{
	unsigned ended = 0;
	bool any = false;

	for (unsigned i = 0; i < ingest_host_count(s->in); i++) {
		struct ingest_host *host = ingest_host(s->in, i);
		uint64_t before_ns = host->end_ns;

		if (host->ended || ingest_advance(s->in, i, UINT64_MAX, EVENTS_AT_ONCE) == LT_END)
			ended++;
		any |= host->end_ns != before_ns;
	}
	if (ended == ingest_host_count(s->in))
		return LT_END;
	return any ? LT_OK : LT_AGAIN;
}

enum lt_status survey_run(struct survey *s, uint64_t budget_ns)
{
	gint64 until_us = g_get_monotonic_time() + (gint64)(budget_ns / NS_PER_US);
	enum lt_status status;

	if (!s->started) {
		status = ingest_start_some(s->in);
		if (status == LT_AGAIN)
			return status;
		if (status != LT_OK) {
			error_clear();
			return LT_END;
		}
		s->started = true;
	}
	ingest_watch(s->in);
	do
		status = advance_hosts(s);
	while (status == LT_OK && g_get_monotonic_time() < until_us);
	return status;
}

int survey_fd(const struct survey *s)
{
	return ingest_fd(s->in);
}

struct ingest *survey_ingest(const struct survey *s)
{
	return s->in;
}
