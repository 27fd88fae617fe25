/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lttngtop report critical-*: selects the threads whose paths are wanted. One thread, by --host and --tid; all threads
 * selected by --host, --tid, --pid and --comm; without the last three, the threads that handle requests.
 */
#include "base/error.h"
#include "base/text.h"
#include "cmd/report/report.h"
#include "view/requests.h"

static bool names_threads(const struct options *o)
{
	return o->tid->len || o->pid->len || o->comm->len;
}

enum lt_status report_subjects_check(struct report *r)
{
	const struct options *o = r->options;
	unsigned n = 0;

	for (unsigned i = 0; i < r->n_hosts; i++) {
		if (!view_filter_host(&r->filter, r->hosts[i]->source->name))
			continue;
		r->subject = (int)i;
		n++;
	}
	if (!n)
		return error_set("no host matches --host");
	if (n > 1 || o->tid->len != 1 || o->pid->len || o->comm->len)
		r->subject = -1;
	return LT_OK;
}

/* ---- threads ---- */

static void add_subject(struct report *r, wait_row row, uint64_t begin_ns, uint64_t end_ns)
{
	struct wait_path path;

	wait_path_init(&path);
	waits_path(ingest_waits(r->in), row, begin_ns, end_ns, &path);
	g_array_append_val(r->subjects, row);
	g_array_append_val(r->paths, path);
}

struct candidate {
	const struct view_host *host;
	const struct thread_row *thread;
	strid comm; /* its last name in the window; data after that may give it another one */
};

/* Threads are selected like the rows of table cpu. */
static enum view_truth candidate_is(void *data, const struct view_node *term)
{
	const struct candidate *c = data;
	bool holds = false;

	if (term->fact == VIEW_FACT_HOST)
		holds = text_glob(term->glob, c->host->name);
	else if (term->fact == VIEW_FACT_TID)
		holds = c->thread->tid == (uint64_t)term->number;
	else if (term->fact == VIEW_FACT_PID)
		holds = c->thread->pid == (uint64_t)term->number;
	else if (term->fact == VIEW_FACT_COMM)
		holds = text_glob(term->glob, strpool_text(c->comm));
	return holds ? VIEW_YES : VIEW_NO;
}

static void add_all(struct report *r, const struct view_rows *threads, uint64_t begin_ns, uint64_t end_ns)
{
	const struct waits *waits = ingest_waits(r->in);
	GHashTable *known = g_hash_table_new(NULL, NULL);

	for (unsigned i = 0; i < threads->n; i++) {
		const struct view_row *row = &threads->rows[i];
		struct candidate c = { &r->shown[row->key.host], INTERVAL_ROW(thread, &row->row), STRID_NONE };
		const wait_row subject = view_thread_wait_row(c.host, c.thread, waits, begin_ns, end_ns);

		if (subject == WAIT_NO_ROW)
			continue;
		c.comm = waits_who_at(waits, subject, end_ns - 1).comm;
		if (view_filter_wants(&r->filter, candidate_is, &c) &&
		    g_hash_table_add(known, GUINT_TO_POINTER(subject)))
			add_subject(r, subject, begin_ns, end_ns);
	}
	g_hash_table_destroy(known);
}

static void add_requests(struct report *r, const struct view_rows *threads, uint64_t begin_ns, uint64_t end_ns)
{
	GArray *requests = view_requests_find(threads, ingest_waits(r->in), begin_ns, end_ns);

	for (guint i = 0; i < requests->len; i++)
		add_subject(r, g_array_index(requests, struct view_request, i).row, begin_ns, end_ns);
	g_array_free(requests, TRUE);
}

static void add_threads(struct report *r, uint64_t begin_ns, uint64_t end_ns)
{
	const bool named = names_threads(r->options);
	const struct view_query query = {
		.table = view_table_find("cpu"),
		.all = true,
		.filter = named ? NULL : &r->filter,
	};
	struct view_rows threads;

	view_rows_init(&threads);
	view_rows_build(&threads, &query, r->shown, r->n_shown);
	if (named)
		add_all(r, &threads, begin_ns, end_ns);
	else
		add_requests(r, &threads, begin_ns, end_ns);
	view_rows_release(&threads);
}

/* The thread with that tid at the end of the window, otherwise the last one that had it. */
static enum lt_status add_single(struct report *r, uint64_t begin_ns, uint64_t end_ns)
{
	const struct ingest_host *host = r->hosts[r->subject]->source;
	const int32_t tid = g_array_index(r->options->tid, int32_t, 0);
	const wait_row row = waits_find(ingest_waits(r->in), host->wait, tid, end_ns);

	/* it may be in the data that was dropped, or in data to come; of a host without switches there is none */
	if (row == WAIT_NO_ROW && (r->warned_cut || r->live || !model_declares(host->model, EVENT_SCHED_SWITCH)))
		return LT_OK;
	if (row == WAIT_NO_ROW)
		return error_set("host '%s' has no thread %d in this interval", host->name, (int)tid);
	add_subject(r, row, begin_ns, end_ns);
	return LT_OK;
}

enum lt_status report_subjects_find(struct report *r, uint64_t begin_ns, uint64_t end_ns)
{
	report_subjects_clear(r);
	if (r->subject >= 0)
		return add_single(r, begin_ns, end_ns);
	add_threads(r, begin_ns, end_ns);
	return LT_OK;
}

void report_subjects_clear(struct report *r)
{
	for (guint i = 0; i < r->paths->len; i++)
		wait_path_release(&g_array_index(r->paths, struct wait_path, i));
	g_array_set_size(r->paths, 0);
	g_array_set_size(r->subjects, 0);
}

const char *report_subjects_missing(const struct report *r)
{
	if (r->options->wait_retention && !r->dropped)
		return "none of the selected threads ran in the time that --wait-retention keeps";
	if (r->warned_cut)
		return "no thread to be shown is in the data that is left";
	if (r->subject >= 0)
		return NULL;
	return names_threads(r->options)
		       ? "none of the selected threads ran in this interval"
		       : "no process started and ended in this interval, and none opened a connection: "
			 "select threads with --tid, --pid or --comm";
}
