/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lttngtop report: reads the sources and their hosts side by side. */
#include "cmd/report/report.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/nstime.h"
#include "base/strpool.h"
#include "base/timetext.h"
#include "control/keeper.h"
#include "ingest/visit.h"

#define STEP_NS NS_PER_S /* of trace time, between two reaps of ended rows */

/* A row of the model is kept as it is and as it was when the interval started. */
enum { REPORT_COPIES = 2 };

enum { PROGRESS_AFTER_US = US_PER_S, PROGRESS_EVERY_US = 200 * US_PER_MS, WAIT_MS = 100 };

/* Why nothing was read, although `opened` sources could be opened; status: of ingest_start(), if that was called. */
static enum lt_status nothing_read(const struct report *r, unsigned opened, enum lt_status status)
{
	char duration[TIMETEXT_SIZE];

	if (status != LT_INTERRUPTED && opened && r->options->local)
		return error_set("nothing was recorded: none of the events occurred, or no program has them");
	if (status != LT_INTERRUPTED)
		return error_set("no source could be read");
	if (report_signal == SIGALRM)
		return error_set("no event within %s",
				 timetext_format_duration(duration, sizeof(duration), r->options->duration));
	return error_set("interrupted before the first event arrived");
}

enum lt_status report_open(struct report *r, bool survey)
{
	const struct options *o = r->options;
	struct ingest_options options = {
		.workers = o->workers,
		.model_memory = o->model_memory,
		.row_copies = REPORT_COPIES,
		.from_start = o->from_start,
		.growing = o->follow && !r->left_live,
		.without_live = r->left_live,
		.stall_limit_ns = o->stall_limit,
		.store = o->keeper ? o->keeper->store : NULL,
		.max_sessions = o->max_sessions,
		.clocks = r->clocks,
		.waits = report_needs_waits(r) ? &r->waits : NULL,
		.visitor = survey ? NULL : r->visitor,
		.survey = survey,
	};
	struct ingest *in = ingest_create(&options);
	enum lt_status status = LT_ERROR;
	unsigned opened = 0;

	for (guint i = r->first_source; i < o->words->len; i++) {
		if (ingest_open(in, g_ptr_array_index(o->words, i)) == LT_OK)
			opened++;
		else
			log_error("%s", error_text());
	}
	if (r->limit)
		ingest_limit(in, r->limit->like, r->limit->begin_ns, r->limit->end_ns, r->limit->models);
	if (opened)
		status = ingest_start(in, &report_stop);
	if (status == LT_INTERRUPTED && ingest_leave_live(in)) {
		report_stop = false;
		r->left_live = true;
		status = ingest_start(in, &report_stop);
		if (status == LT_OK && ingest_begin_ns(in) == TIME_UNKNOWN)
			status = LT_INTERRUPTED;
	}
	if (status == LT_OK) {
		r->in = in;
		return LT_OK;
	}
	r->refused = ingest_is_refused(in);
	ingest_destroy(in);
	return r->refused ? LT_ERROR : nothing_read(r, opened, status);
}

/* Names come from traces and directories. */
static const char *printable(const char *text)
{
	return text ? strpool_text(strpool_intern_z(text)) : NULL;
}

static void show_host(struct report *r, struct report_host *h)
{
	h->shown = (int)r->n_shown;
	r->shown = g_renew(struct view_host, r->shown, r->n_shown + 1);
	r->shown[r->n_shown++] = (struct view_host){
		.name = printable(h->source->name),
		.source = printable(h->source->source),
		.tracer = printable(h->source->tracer),
		.sidecar = h->source->sidecar,
		.record_ns = h->source->begin_ns,
		.map = h->source->map,
		.clock = h->source->clock,
		.wait = h->source->wait,
	};
}

/* A rebooted machine is another host of the same name. */
static void add_name(struct report *r, const char *name)
{
	for (unsigned i = 0; i < r->n_names; i++)
		if (strcmp(r->names[i], name) == 0)
			return;
	r->names = g_renew(const char *, r->names, r->n_names + 1);
	r->names[r->n_names++] = name;
}

static void add_host(struct report *r, struct ingest_host *source)
{
	/* a path may lead to any host */
	const bool path = report_needs(r) & VIEW_PATH;
	/* rows of the hosts that are wanted name others */
	const bool related = report_needs(r) || (r->table && r->table->index);
	const bool explains = r->visitor || report_needs_waits(r);
	const uint32_t logged = r->needs ? r->needs->tables : 0;
	const bool wanted = view_filter_host(&r->filter, source->name);
	struct report_host *h = g_new0(struct report_host, 1);

	h->source = source;
	h->shown = -1;
	h->awaited = r->page_end_ns != 0;
	model_set_buckets(source->model, r->query.spread ? 1u << r->table->source : 0);
	model_set_log(source->model, r->log_dist, r->log_min_ns);
	model_set_figures(source->model, view_query_tables(&r->query) | logged | (explains ? MODEL_PEERS : 0));
	if (report_needs(r) && !r->live)
		model_keep_losses(source->model);
	interval_init(&h->iv);
	h->gaps = g_array_new(FALSE, FALSE, sizeof(struct report_gap));
	h->named = wanted || path;
	r->hosts = g_renew(struct report_host *, r->hosts, r->n_hosts + 1);
	r->hosts[r->n_hosts++] = h;
	if (h->named)
		add_name(r, printable(source->name));
	if (wanted || related)
		show_host(r, h);
}

void report_add_hosts(struct report *r)
{
	while (r->n_hosts < ingest_host_count(r->in))
		add_host(r, ingest_host(r->in, r->n_hosts));
}

void report_set_hosts(struct report *r)
{
	report_add_hosts(r);
	r->at_ns = report_record_begin(r);
	if (!r->n_names)
		log_warning("no host matches %s", r->options->host->len ? "--host" : "--where");
}

void report_release_hosts(struct report *r)
{
	for (unsigned i = 0; i < r->n_hosts; i++) {
		interval_release(&r->hosts[i]->iv);
		g_array_free(r->hosts[i]->gaps, TRUE);
		g_free(r->hosts[i]);
	}
	for (unsigned i = 0; i < r->n_shown; i++)
		g_free((void *)r->shown[i].missing);
	g_clear_pointer(&r->hosts, g_free);
	g_clear_pointer(&r->shown, g_free);
	g_clear_pointer(&r->names, g_free);
	r->n_hosts = r->n_shown = r->n_names = 0;
}

uint64_t report_host_time(const struct report_host *h, uint64_t ref_ns)
{
	/* the extremes are the same for every host */
	return ref_ns == 0 || ref_ns == UINT64_MAX ? ref_ns : clock_from_ref(h->source->map, ref_ns);
}

/* Moves ended rows from the model into the interval, if one is open. */
static void reap(struct report *r, struct report_host *h)
{
	struct host_state *state = model_state(h->source->model);

	model_cut(h->source->model, 0);
	state_reap(state, h->open ? interval_retire : NULL, &h->iv);
	state_frame_begin(state);
	if (!h->open)
		return;
	report_forget_instances(r, h);
	model_bound_interval(h->source->model, &h->iv);
}

uint64_t report_record_begin(const struct report *r)
{
	const uint64_t begin_ns = ingest_begin_ns(r->in);

	return begin_ns == TIME_UNKNOWN ? 0 : begin_ns;
}

uint64_t report_record_end(const struct report *r)
{
	uint64_t end_ns = 0;

	for (unsigned i = 0; i < r->n_hosts; i++)
		end_ns = MAX(end_ns, clock_to_ref(r->hosts[i]->source->map, r->hosts[i]->source->end_ns));
	return end_ns;
}

uint64_t report_hinted_end(const struct report *r)
{
	uint64_t end_ns = 0;

	for (unsigned i = 0; i < r->n_hosts; i++)
		if (r->hosts[i]->source->end_hint_ns)
			end_ns = MAX(end_ns, clock_to_ref(r->hosts[i]->source->map, r->hosts[i]->source->end_hint_ns));
	return end_ns;
}

bool report_all_done(const struct report *r)
{
	for (unsigned i = 0; i < r->n_hosts; i++)
		if (!r->hosts[i]->done || !r->hosts[i]->source->ended)
			return false;
	return true;
}

/* ---- progress, on a terminal if it takes long ---- */

void report_clear_progress(struct report *r)
{
	if (r->progress_us)
		fputs("\r\033[K", stderr);
	r->progress_us = 0;
}

static void show_progress(struct report *r)
{
	uint64_t begin_ns = report_record_begin(r), end_ns;
	int64_t now_us = g_get_monotonic_time();
	double done;

	if (!isatty(STDERR_FILENO) || now_us - r->started_us < PROGRESS_AFTER_US ||
	    now_us - r->progress_us < PROGRESS_EVERY_US)
		return;
	end_ns = report_hinted_end(r);
	if (end_ns <= begin_ns)
		return;
	done = (double)(r->at_ns - begin_ns) / (double)(end_ns - begin_ns);
	fprintf(stderr, "\rreading: %3.0f %%", 100 * MIN(done, 1));
	fflush(stderr);
	r->progress_us = now_us;
}

bool report_reads_rest(struct report *r)
{
	if (!report_signal || r->reads_rest || !ingest_read_rest(r->in))
		return false;
	r->reads_rest = true;
	report_stop = false;
	report_end_on_signal(report_signal); /* the next one ends reading, and the one after it the command */
	return true;
}

/* All live hosts are silent: waits until data arrives from one. */
static void await_sources(struct report *r)
{
	struct pollfd fd = { .fd = ingest_fd(r->in), .events = POLLIN };

	poll(&fd, 1, WAIT_MS);
	r->interrupted = report_stop && !report_reads_rest(r);
}

/* The host's next event may be far from its last one because of a wrong clock or a machine that was suspended. */
static void note_gap(const struct report *r, struct report_host *h)
{
	const struct report_gap gap = { h->source->end_ns, h->source->next_ns };
	const uint64_t interval_ns = r->options->report_interval;

	if (!interval_ns || gap.end_ns <= gap.begin_ns ||
	    (gap.end_ns - gap.begin_ns) / interval_ns < REPORT_GAP_INTERVALS)
		return;
	if (!h->gaps->len || g_array_index(h->gaps, struct report_gap, h->gaps->len - 1).end_ns < gap.end_ns)
		g_array_append_val(h->gaps, gap);
}

/* Advances a host to a time of its own. If it has had no event, and has none before quiet_ns, it is not waited for. */
static enum lt_status advance_to(struct report *r, unsigned i, uint64_t host_ns, uint64_t quiet_ns)
{
	struct report_host *h = r->hosts[i];
	enum lt_status status;

	do
		status = ingest_advance_first(r->in, i, host_ns, quiet_ns, &report_stop);
	while (status == LT_INTERRUPTED && report_reads_rest(r));
	h->done = status == LT_END;
	h->left_out = status == LT_AGAIN;
	r->interrupted = status == LT_INTERRUPTED;
	if (status == LT_OK) {
		h->reached_ns = host_ns;
		note_gap(r, h);
	}
	return status;
}

/* Advances a host to a reference time. */
static void advance_host(struct report *r, unsigned i, uint64_t until_ns)
{
	struct report_host *h = r->hosts[i];
	const uint64_t host_ns = report_host_time(h, until_ns);
	enum lt_status status = LT_OK;

	if (h->awaited) {
		status = advance_to(r, i, MAX(report_host_time(h, r->page_begin_ns), h->reached_ns), host_ns);
		reap(r, h); /* what ended before the interval is not part of it */
		if (status == LT_OK && h->source->begin_ns != TIME_UNKNOWN)
			report_open_interval(r, h);
	}
	if (status == LT_OK && !(h->awaited && h->source->begin_ns == TIME_UNKNOWN))
		advance_to(r, i, MAX(host_ns, h->reached_ns), UINT64_MAX);
	reap(r, h);
	show_progress(r);
}

/*
 * A host whose sessions had all ended may have another one. If its interval has ended as well, the next one starts with
 * the page that is being read, not where it had ended.
 */
static void resume_host(const struct report *r, struct report_host *h)
{
	if (!h->done || h->source->ended)
		return;
	h->done = false;
	if (h->open)
		return;
	h->cut_ns = 0;
	h->awaited = r->page_end_ns != 0;
}

static void forget_paths(struct report *r)
{
	if (!strpool_round_due())
		return;
	strpool_round_begin();
	ingest_keep_paths(r->in);
	for (unsigned i = 0; i < r->n_hosts; i++)
		interval_keep_paths(&r->hosts[i]->iv);
	strpool_round_end();
}

/* Whether there is more to be read before until_ns; first adds hosts that have come. */
static bool has_more(struct report *r, uint64_t until_ns)
{
	report_add_hosts(r);
	return r->at_ns < until_ns && !r->interrupted && !report_all_done(r);
}

/* The steps grow where nothing happens (a gap of years takes no more than one wrong timestamp). */
void report_advance(struct report *r, uint64_t until_ns)
{
	uint64_t step_ns = STEP_NS;

	while (has_more(r, until_ns)) {
		uint64_t next_ns = until_ns - r->at_ns <= step_ns ? until_ns : r->at_ns + step_ns;
		bool busy = false, any_there = false, all_done = true;

		for (unsigned i = 0; i < r->n_hosts && !r->interrupted; i++) {
			struct report_host *h = r->hosts[i];
			uint64_t before_ns = h->source->end_ns;

			resume_host(r, h);
			if (h->done)
				continue;
			advance_host(r, i, next_ns);
			busy = busy || h->source->end_ns != before_ns;
			any_there = any_there || !h->left_out;
			all_done = all_done && h->done;
			report_add_hosts(r); /* those that came while this one was waited for */
		}
		if (!any_there && !all_done) {
			await_sources(r);
			continue;
		}
		forget_paths(r);
		r->at_ns = next_ns;
		step_ns = busy ? STEP_NS : MIN(2 * step_ns, UINT64_MAX / 4);
	}
}

void report_advance_in_order(struct report *r, uint64_t until_ns)
{
	uint64_t step_ns = STEP_NS;

	while (has_more(r, until_ns)) {
		const uint64_t next_ns = until_ns - r->at_ns <= step_ns ? until_ns : r->at_ns + step_ns;
		const uint64_t before_ns = report_record_end(r);
		enum lt_status status;

		do
			status = ingest_advance_in_order(r->in, next_ns, &report_stop);
		while (status == LT_INTERRUPTED && report_reads_rest(r));
		r->interrupted = status == LT_INTERRUPTED;
		for (unsigned i = 0; i < r->n_hosts; i++) {
			r->hosts[i]->done = status == LT_END;
			reap(r, r->hosts[i]);
		}
		forget_paths(r);
		show_progress(r);
		r->at_ns = next_ns;
		step_ns = report_record_end(r) != before_ns ? STEP_NS : MIN(2 * step_ns, UINT64_MAX / 4);
	}
}

void report_finish_clocks(struct report *r)
{
	if (r->clocks && r->clocks_use != CLOCKS_MOVE)
		clocks_finish(r->clocks);
}

enum lt_status report_survey(struct report *r, uint64_t *end_ns)
{
	enum lt_status status;

	if (r->in) {
		ingest_only_survey(r->in);
		status = LT_OK;
	} else {
		status = report_open(r, true);
	}
	if (status == LT_OK) {
		report_set_hosts(r);
		report_advance(r, UINT64_MAX);
		report_finish_clocks(r);
		*end_ns = report_record_end(r);
		report_clear_progress(r);
		report_release_hosts(r);
		ingest_destroy(r->in);
		r->in = NULL;
	}
	return status;
}
