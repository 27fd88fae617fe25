/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lttngtop report: the record of each host, cut at the edges of the intervals, and written. */
#include "cmd/report.h"

#include <string.h>

#include "base/error.h"
#include "base/strpool.h"

enum { MISSING_MAX = 64 };

static void open_intervals(struct report *r, uint64_t begin_ns, uint64_t end_ns)
{
	for (unsigned i = 0; i < r->n_hosts; i++) {
		struct report_host *h = &r->hosts[i];
		const struct ingest_host *source = h->source;

		if (h->shown < 0 || !source->begin_ns || source->begin_ns >= end_ns ||
		    (h->done && source->end_ns <= begin_ns))
			continue;
		interval_begin(&h->iv, model_state(source->model), MAX(begin_ns, source->begin_ns),
			       view_query_tables(&r->query));
		h->open = true;
	}
}

/* The first of a tracepoint's names. */
static const char *first_word(const char *names)
{
	return strpool_text(strpool_intern(names, strcspn(names, " ")));
}

static void set_missing(struct view_host *host, const struct model *model)
{
	const char *names[MISSING_MAX];
	unsigned n = MIN(model_missing(model, names, MISSING_MAX), MISSING_MAX);
	const char **missing = g_new(const char *, n);

	for (unsigned i = 0; i < n; i++)
		missing[i] = first_word(names[i]);
	g_free((void *)host->missing);
	host->missing = missing;
	host->n_missing = n;
}

/* The shown hosts' intervals end at end_ns, or where their records do. */
static void close_intervals(struct report *r, uint64_t end_ns)
{
	for (unsigned i = 0; i < r->n_hosts; i++) {
		struct report_host *h = &r->hosts[i];
		bool cut = h->done || r->interrupted;
		uint64_t to_ns = cut ? MIN(end_ns, h->source->end_ns) : end_ns;

		if (h->shown < 0)
			continue;
		r->shown[h->shown].iv = NULL;
		if (!h->open)
			continue;
		h->open = false;
		if (to_ns <= h->iv.begin_ns)
			continue;
		interval_end(&h->iv, model_state(h->source->model), to_ns);
		r->shown[h->shown].iv = &h->iv;
		set_missing(&r->shown[h->shown], h->source->model);
	}
}

static enum lt_status write_page(struct report *r, uint64_t begin_ns, uint64_t end_ns)
{
	struct writer_page page = {
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.rows = &r->rows,
		.columns = r->columns,
		.n_columns = r->n_columns,
		.hosts = r->names,
		.n_hosts = r->n_shown,
		.lost = view_hosts_lost(r->shown, r->n_shown),
	};

	view_rows_build(&r->rows, &r->query, r->shown, r->n_shown);
	report_clear_progress(r);
	return writer_page(r->writer, &page);
}

enum lt_status report_write_intervals(struct report *r, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t length_ns = r->options->interval ? r->options->interval : UINT64_MAX;
	enum lt_status status = LT_OK;
	bool first = true, last = false;

	while (!last && status == LT_OK) {
		uint64_t edge_ns = end_ns - begin_ns <= length_ns ? end_ns : begin_ns + length_ns;

		open_intervals(r, begin_ns, edge_ns);
		report_advance(r, edge_ns);
		last = edge_ns == end_ns;
		if (r->interrupted || (report_all_done(r) && report_record_end(r) <= edge_ns)) {
			last = true;
			edge_ns = CLAMP(report_record_end(r), begin_ns, edge_ns);
		}
		close_intervals(r, edge_ns);
		if (first || edge_ns > begin_ns)
			status = write_page(r, begin_ns, edge_ns);
		first = false;
		begin_ns = edge_ns;
	}
	return status;
}

enum lt_status report_resolve_times(const struct report *r, uint64_t known_end_ns, uint64_t *begin_ns, uint64_t *end_ns)
{
	const struct options *o = r->options;
	uint64_t record_ns = ingest_begin_ns(r->in);

	*begin_ns = record_ns;
	*end_ns = UINT64_MAX;
	if (o->begin.form)
		*begin_ns = timetext_resolve(&o->begin, record_ns, known_end_ns, o->utc);
	if (o->end.form)
		*end_ns = timetext_resolve(&o->end, record_ns, known_end_ns, o->utc);
	if (*end_ns < *begin_ns && o->begin.form)
		return error_set("the end is before the begin");
	*begin_ns = MAX(*begin_ns, record_ns);
	*end_ns = MAX(*end_ns, record_ns);
	return LT_OK;
}
