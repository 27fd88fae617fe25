/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "play/feed_sync.h"

#include <poll.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/nstime.h"
#include "feed/session.h"
#include "ingest/ingest.h"
#include "play/survey.h"
#include "play/sync_options.h"

enum { BUDGET_NS = 100 * NS_PER_MS, POLL_MS = 100 };

/* Looks for the path and each of its parents in the list: splitting that would also split names that contain ", ". */
bool feed_comes_from(const struct ingest_host *host, const char *path)
{
	char *sources = g_strconcat(", ", host->source, ", ", NULL);
	bool found = false;

	for (size_t len = strlen(path); len && !found; len--) {
		char *source;

		if (path[len] && path[len] != '/')
			continue;
		source = g_strdup_printf(", %.*s, ", (int)len, path);
		found = strstr(sources, source);
		g_free(source);
	}
	g_free(sources);
	return found;
}

static const struct ingest_host *host_of(struct ingest *in, const struct fed_session *s)
{
	const struct recording *r = g_ptr_array_index(s->recordings, 0);
	const struct recorded_stream *stream = r->streams->len ? g_ptr_array_index(r->streams, 0) : NULL;

	for (unsigned i = 0; stream && i < ingest_host_count(in); i++)
		if (feed_comes_from(ingest_host(in, i), g_ptr_array_index(stream->paths, 0)))
			return ingest_host(in, i);
	return NULL;
}

static void set_offsets(struct ingest *in, const GPtrArray *sessions)
{
	for (guint i = 0; i < sessions->len; i++) {
		struct fed_session *s = g_ptr_array_index(sessions, i);
		const struct ingest_host *host = host_of(in, s);
		const uint64_t begin_ns = fed_session_begin_ns(s);

		if (!host) {
			log_warning("session '%s/%s': its clock cannot be synchronised with the others", s->hostname,
				    s->name);
			continue;
		}
		s->sync_ns = (int64_t)(clock_to_ref(host->map, begin_ns) - begin_ns);
		log_info("session '%s/%s': shifted by %" G_GINT64_FORMAT " ns", s->hostname, s->name, s->sync_ns);
	}
}

static enum lt_status read_all(struct survey *survey, const stop_flag *stop)
{
	enum lt_status status;

	while ((status = survey_run(survey, BUDGET_NS)) != LT_END) {
		struct pollfd fd = { .fd = survey_fd(survey), .events = POLLIN };

		if (*stop)
			return LT_INTERRUPTED;
		if (status == LT_AGAIN)
			poll(&fd, 1, POLL_MS);
	}
	return LT_OK;
}

enum lt_status feed_sync(const struct options *o, const GPtrArray *sessions, const stop_flag *stop)
{
	struct clocks *clocks;
	struct survey *survey;
	enum lt_status status;

	if (sync_options_clocks(o, CLOCKS_AWAIT, &clocks))
		return LT_ERROR;
	survey = survey_create(o->words, 0, clocks, NULL);
	status = survey ? read_all(survey, stop) : error_set("none of the recordings can be read");
	if (!status) {
		clocks_finish(clocks);
		set_offsets(survey_ingest(survey), sessions);
	}
	survey_destroy(survey);
	clocks_destroy(clocks);
	return status;
}
