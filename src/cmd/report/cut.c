/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lttngtop report: cuts each host's trace at the edges of the intervals, and writes them. */
#include "base/nstime.h"
#include "cmd/report/report.h"

#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/strpool.h"
#include "view/missing.h"

#define READ_ON_NS (100 * NS_PER_MS) /* how far to read at once past the requested end */

enum { MISSING_MAX = 64 };

/* Maps of live hosts move: an interval starts where the last one ended. */
static uint64_t start_of(const struct report *r, const struct report_host *h)
{
	return h->cut_ns ? h->cut_ns : report_host_time(h, r->page_begin_ns);
}

void report_open_interval(struct report *r, struct report_host *h)
{
	const struct ingest_host *source = h->source;
	uint64_t from_ns = start_of(r, h);

	h->awaited = false;
	if (h->shown < 0 || source->begin_ns >= report_host_time(h, r->page_end_ns) ||
	    (h->done && source->end_ns <= from_ns))
		return;
	from_ns = MAX(from_ns, source->begin_ns);
	r->shown[h->shown].record_ns = source->begin_ns;
	model_cut(source->model, from_ns);
	interval_begin(&h->iv, model_state(source->model), from_ns, view_query_tables(&r->query));
	model_bound_interval(source->model, &h->iv);
	h->open = true;
}

static void open_intervals(struct report *r, uint64_t begin_ns, uint64_t end_ns)
{
	r->page_begin_ns = begin_ns;
	r->page_end_ns = end_ns;
	for (unsigned i = 0; i < r->n_hosts; i++) {
		struct report_host *h = r->hosts[i];

		if (!h->source->ended &&
		    (h->source->begin_ns == TIME_UNKNOWN || (!h->cut_ns && h->source->applied_ns < start_of(r, h))))
			h->awaited = true;
		else
			report_open_interval(r, h);
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

/* Ends the shown hosts' intervals at the time they were advanced to, or where their traces end. */
static void close_intervals(struct report *r)
{
	for (unsigned i = 0; i < r->n_hosts; i++) {
		struct report_host *h = r->hosts[i];
		bool cut = h->done || h->left_out || r->interrupted;
		uint64_t to_ns = cut ? h->source->end_ns : h->reached_ns;

		h->awaited = false;
		if (h->shown < 0)
			continue;
		r->shown[h->shown].iv = NULL;
		if (!h->open)
			continue;
		h->open = false;
		if (to_ns <= h->iv.begin_ns)
			continue;
		if (view_query_tables(&r->query) >> TABLE_FILE & 1)
			model_list_files(h->source->model);
		model_cut(h->source->model, to_ns);
		interval_end(&h->iv, model_state(h->source->model), to_ns);
		h->cut_ns = to_ns;
		r->shown[h->shown].iv = &h->iv;
		r->shown[h->shown].sidecar = h->source->sidecar; /* it may have arrived with the events */
		set_missing(&r->shown[h->shown], h->source->model);
	}
	r->page_begin_ns = r->page_end_ns = 0;
}

/* The end of a stretch without events that starts at ref_ns; ref_ns itself: there may be an event at once. */
static uint64_t empty_until(struct report_host *h, uint64_t ref_ns)
{
	const struct ingest_host *source = h->source;
	const uint64_t t_ns = report_host_time(h, ref_ns);
	const struct report_gap *gap = NULL;

	if (h->done && t_ns >= source->end_ns)
		return UINT64_MAX;
	if (t_ns < source->begin_ns)
		return source->begin_ns == TIME_UNKNOWN ? ref_ns : clock_to_ref(source->map, source->begin_ns);
	for (; h->gap < h->gaps->len; h->gap++) {
		gap = &g_array_index(h->gaps, struct report_gap, h->gap);
		if (t_ns < gap->end_ns)
			break;
	}
	return h->gap < h->gaps->len && t_ns >= gap->begin_ns ? clock_to_ref(source->map, gap->end_ns) : ref_ns;
}

/*
 * The end of the page that starts at begin_ns: one interval later, or after all following empty intervals if there are
 * many.
 */
static uint64_t next_edge(const struct report *r, uint64_t begin_ns, uint64_t end_ns, bool *gap)
{
	const uint64_t length_ns = r->options->report_interval ? r->options->report_interval : UINT64_MAX;
	uint64_t empty_ns = end_ns, n;

	for (unsigned i = 0; i < r->n_hosts; i++)
		empty_ns = MIN(empty_ns, empty_until(r->hosts[i], begin_ns));
	n = empty_ns > begin_ns && empty_ns != UINT64_MAX ? (empty_ns - begin_ns) / length_ns : 0;
	*gap = n >= REPORT_GAP_INTERVALS;
	if (*gap)
		return begin_ns + n * length_ns;
	return end_ns - begin_ns <= length_ns ? end_ns : begin_ns + length_ns;
}

struct view_lost report_lost_between(const struct report *r, const struct report_host *h, uint64_t begin_ns,
				     uint64_t end_ns)
{
	/* the recording's ends are not subject to rounding */
	const uint64_t from_ns = begin_ns <= report_record_begin(r) ? 0 : report_host_time(h, begin_ns);
	const uint64_t to_ns = end_ns >= report_record_end(r) ? UINT64_MAX : report_host_time(h, end_ns);
	struct view_lost lost;

	model_lost(h->source->model, from_ns, to_ns, &lost.events, &lost.packets, &lost.goes_on);
	return lost;
}

/* Lost in the interval on the hosts that the page names; others may be shown, as rows of these hosts concern them. */
static struct view_lost lost_of_named(const struct report *r, uint64_t begin_ns, uint64_t end_ns)
{
	struct view_lost sum = { 0 };

	for (unsigned i = 0; i < r->n_hosts; i++) {
		const struct report_host *h = r->hosts[i];
		struct view_lost lost;

		if (!h->named)
			continue;
		lost = r->all_read ? report_lost_between(r, h, begin_ns, end_ns)
				   : view_hosts_lost(&r->shown[h->shown], 1);
		view_lost_add(&sum, &lost);
	}
	return sum;
}

static enum lt_status write_page(struct report *r, uint64_t begin_ns, uint64_t end_ns, bool gap)
{
	struct writer_page page = {
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.gap = gap,
		.rows = &r->rows,
		.columns = r->columns,
		.n_columns = r->n_columns,
		.hosts = r->names,
		.n_hosts = r->n_names,
		.lost = lost_of_named(r, begin_ns, end_ns),
	};

	if (report_needs(r) && report_derived_collect(r, begin_ns, end_ns) != LT_OK)
		return LT_ERROR;
	view_rows_build(&r->rows, &r->query, r->shown, r->n_shown);
	r->losing |= page.lost.goes_on;
	r->any_rows |= r->rows.n > 0;
	r->recorded |= view_any_recorded(r->table, r->shown, r->n_shown, &r->derived_rows);
	report_clear_progress(r);
	return writer_page(r->writer, &page);
}

/* Whether the wait graph has room for more without dropping older data. */
static bool has_room(const struct report *r)
{
	return waits_info(ingest_waits(r->in)).graph.bytes < r->waits.memory_bytes / 4 * 3;
}

void report_read_all(struct report *r, uint64_t until_ns)
{
	open_intervals(r, 0, UINT64_MAX);
	report_advance(r, until_ns);
	while (until_ns != UINT64_MAX && !report_all_done(r) && !r->interrupted && has_room(r))
		report_advance(r, r->at_ns + READ_ON_NS);
	report_finish_clocks(r);
	ingest_release_waits(r->in);
	close_intervals(r);
	r->all_read = true;
}

enum lt_status report_write_intervals(struct report *r, uint64_t begin_ns, uint64_t end_ns)
{
	enum lt_status status = LT_OK;
	const bool reads = !r->all_read && !report_all_done(r) && !r->interrupted;
	bool first = true, last = false, gap;

	while (!last && status == LT_OK) {
		uint64_t edge_ns = next_edge(r, begin_ns, end_ns, &gap);

		if (reads) {
			/* hosts that come later may start earlier, by their clocks */
			open_intervals(r, edge_ns == UINT64_MAX && !r->options->begin.form ? 0 : begin_ns, edge_ns);
			report_advance(r, edge_ns);
		}
		if (report_all_done(r) || r->interrupted)
			report_finish_clocks(r);
		if (first && !r->options->begin.form)
			begin_ns = report_record_begin(r);
		last = edge_ns == end_ns;
		if ((r->interrupted && !r->all_read) ||
		    ((r->interrupted || report_all_done(r)) && report_record_end(r) <= edge_ns)) {
			last = true;
			edge_ns = CLAMP(report_record_end(r), begin_ns, edge_ns);
		}
		if (reads)
			close_intervals(r);
		if (first || edge_ns > begin_ns)
			status = write_page(r, begin_ns, edge_ns, gap);
		first = false;
		begin_ns = edge_ns;
	}
	return status;
}

/* Whether a time of day was taken for that of a later day than the recording starts on. */
static bool is_later_day(const struct report *r, const struct timetext *asked, uint64_t is_ns)
{
	return asked->form == TIMETEXT_TIME_OF_DAY &&
	       !timetext_same_day(is_ns, report_record_begin(r), r->options->utc);
}

#define GIVE_DATE "; for an earlier time give the date as well"

static const char *advise_date(const struct report *r, const struct timetext *asked, uint64_t is_ns)
{
	return is_later_day(r, asked, is_ns) ? GIVE_DATE : "";
}

/* A time of day before the recording is one of the next day: as the end it cuts nothing off, which only this says. */
static void warn_later_end(const struct report *r, uint64_t begin_ns, uint64_t end_ns)
{
	const uint64_t known_end_ns = report_hinted_end(r);
	const bool utc = r->options->utc;
	char asked[TIMETEXT_SIZE], first[TIMETEXT_SIZE];

	if (r->live || begin_ns > known_end_ns || end_ns <= known_end_ns || !is_later_day(r, &r->options->end, end_ns))
		return;
	log_warning("--end, %s, is on the day after the start, %s, and past the end of the recording" GIVE_DATE,
		    timetext_format(asked, sizeof(asked), end_ns, 9, true, utc),
		    timetext_format(first, sizeof(first), report_record_begin(r), 9, true, utc));
}

enum lt_status report_resolve_times(const struct report *r, uint64_t known_end_ns, uint64_t *begin_ns, uint64_t *end_ns)
{
	const struct options *o = r->options;
	uint64_t record_ns = report_record_begin(r);

	*begin_ns = record_ns;
	*end_ns = UINT64_MAX;
	if (o->begin.form)
		*begin_ns = timetext_resolve(&o->begin, record_ns, known_end_ns, o->utc);
	if (o->end.form)
		*end_ns = timetext_resolve(&o->end, record_ns, known_end_ns, o->utc);
	if (*end_ns < *begin_ns && o->begin.form) {
		char begin[TIMETEXT_SIZE], end[TIMETEXT_SIZE];

		return error_set("the end, %s, is before the start, %s%s",
				 timetext_format(end, sizeof(end), *end_ns, 9, true, o->utc),
				 timetext_format(begin, sizeof(begin), *begin_ns, 9, true, o->utc),
				 advise_date(r, &o->begin, *begin_ns));
	}
	*begin_ns = MAX(*begin_ns, record_ns);
	*end_ns = MAX(*end_ns, record_ns);
	warn_later_end(r, *begin_ns, *end_ns);
	return LT_OK;
}

static bool all_ended(const struct report *r)
{
	for (unsigned i = 0; i < r->n_hosts; i++)
		if (!r->hosts[i]->source->ended)
			return false;
	return true;
}

bool report_warn_outside(const struct report *r, uint64_t begin_ns, uint64_t known_end_ns)
{
	const struct options *o = r->options;
	const uint64_t first_ns = report_record_begin(r), last_ns = report_record_end(r) - 1;
	char asked[TIMETEXT_SIZE], is[TIMETEXT_SIZE];
	bool outside = false;
	uint64_t end_ns;

	if (r->live || !report_record_end(r))
		return false;
	if (o->begin.form && all_ended(r) && begin_ns > last_ns) {
		outside = true;
		log_warning("--begin, %s, is after the last event, at %s%s",
			    timetext_format(asked, sizeof(asked), begin_ns, 9, true, o->utc),
			    timetext_format(is, sizeof(is), last_ns, 9, true, o->utc),
			    advise_date(r, &o->begin, begin_ns));
	}
	if (!o->end.form)
		return outside;
	end_ns = timetext_resolve(&o->end, first_ns, known_end_ns, o->utc);
	if (end_ns <= first_ns) {
		outside = true;
		log_warning("--end, %s, is %s the first event, at %s",
			    timetext_format(asked, sizeof(asked), end_ns, 9, true, o->utc),
			    end_ns < first_ns ? "before" : "not after",
			    timetext_format(is, sizeof(is), first_ns, 9, true, o->utc));
	}
	if (!outside && o->begin.form && end_ns == begin_ns)
		log_warning("--begin and --end are the same time, %s: nothing lies between them",
			    timetext_format(asked, sizeof(asked), end_ns, 9, true, o->utc));
	return outside;
}
