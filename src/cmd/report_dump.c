/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lttngtop report dump: writes the events themselves, with all their fields. */
#include "cmd/report.h"

#include <stdio.h>

#include "base/error.h"
#include "base/log.h"
#include "base/strpool.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/events_filter.h"
#include "cmd/sync_options.h"
#include "event/fields.h"
#include "ingest/visit.h"
#include "model/look.h"
#include "out/dump.h"

struct report_dump {
	struct report *report;
	struct dump *dump;
	struct events_filter where;
	struct dump *texts;        /* for the bare words in it; NULL: there are none */
	uint64_t begin_ns, end_ns; /* reference time */
	bool has_threads;          /* some threads or events were selected */
	bool any;                  /* an event lies in the interval */
};

/* ---- which events ---- */

struct dump_thread {
	int64_t tid, pid; /* -1: unknown */
	const char *comm; /* NULL: unknown */
};

/* The thread that is running when the event occurs. */
static struct dump_thread running_thread(const struct event_seen *seen)
{
	const struct thread_row *thread = seen->thread;
	struct dump_thread r = { .tid = seen->tid, .pid = -1 };

	if (thread) {
		r.pid = thread->pid > 0 ? (int64_t)thread->pid : -1;
		r.comm = strpool_text((strid)thread->comm);
	} else if (r.tid == 0) {
		r.pid = 0;
		r.comm = "swapper";
	}
	return r;
}

static bool has_number(const GArray *numbers, int64_t number)
{
	for (guint i = 0; i < numbers->len; i++)
		if (g_array_index(numbers, int32_t, i) == number)
			return true;
	return numbers->len == 0;
}

static bool has_name(const GPtrArray *globs, const char *name)
{
	for (guint i = 0; i < globs->len; i++)
		if (name && text_glob(g_ptr_array_index(globs, i), name))
			return true;
	return globs->len == 0;
}

static bool is_chosen(const struct report_dump *d, const struct dump_thread *r)
{
	const struct options *o = d->report->options;

	return has_number(o->tid, r->tid) && has_number(o->pid, r->pid) && has_name(o->comm, r->comm);
}

static void visit(void *user, const struct ingest_visit *v)
{
	struct report_dump *d = user;
	const struct report *r = d->report;
	struct dump_thread running = { -1, -1, NULL };
	struct dump_event event;
	struct event_seen seen = { 0 };

	if (v->ref_ns < d->begin_ns || v->ref_ns >= d->end_ns)
		return;
	d->any = true;
	if (!v->fields || v->host >= r->n_hosts || r->hosts[v->host].shown < 0)
		return;
	if (d->has_threads || r->options->json) {
		seen = event_see(r->hosts[v->host].source, v);
		running = running_thread(&seen);
	}
	/* the text is only made for an event that the other terms do not exclude */
	if (d->has_threads && (!is_chosen(d, &running) || !events_filter_wants(&d->where, &seen)))
		return;
	event = (struct dump_event){
		.fields = v->fields,
		.shape = v->shape,
		.origin = v->origin,
		.host = r->hosts[v->host].source->name,
		.ns = v->ref_ns,
		.tid = running.tid,
		.pid = running.pid,
		.comm = running.comm,
	};
	if (d->texts) {
		seen.line = dump_line(d->texts, &event);
		if (!events_filter_wants(&d->where, &seen))
			return;
	}
	dump_event(d->dump, &event);
	/* the reader has gone */
	if (ferror(stdout))
		report_stop = true;
}

static void flush(void *user)
{
	(void)user;
	fflush(stdout);
}

/* ---- the command ---- */

static enum lt_status check_options(const struct report *r)
{
	const struct options *o = r->options;

	if (o->words->len < 2)
		return error_set("no source given");
	if (o->csv || o->dot)
		return error_set("%s does not apply to dump", o->csv ? "--csv" : "--dot");
	if (o->report_interval || o->per_cpu)
		return error_set("%s does not apply to dump", o->report_interval ? "--interval" : "--per-cpu");
	if (o->json && o->babeltrace)
		return error_set("--json and --babeltrace cannot be used together");
	return report_refuse_choice(o, "dump");
}

static enum lt_status read_where(struct report_dump *d)
{
	const struct options *o = d->report->options;

	for (guint i = 0; i < o->where->len; i++)
		if (events_filter_parse(&d->where, g_ptr_array_index(o->where, i)) != LT_OK)
			return error_wrap("option '--where'");
	if (view_filter_asks(&d->where.terms, VIEW_FACT_TEXT))
		d->texts = dump_create(NULL, DUMP_TEXT, o->utc);
	d->has_threads = d->has_threads || !view_filter_empty(&d->where.terms);
	return LT_OK;
}

/* Asks the workers for the selected threads; they only know some of them. */
static void set_wanted(struct fields_wanted *w, const struct options *o)
{
	fields_wanted_init(w);
	w->classes = WANTED_ALL;
	/*
	 * terms of one kind are alternatives and kinds must all hold, but for workers all terms are alternatives: one
	 * kind suffices
	 */
	if (o->tid->len)
		g_array_append_vals(w->tids, o->tid->data, o->tid->len);
	else if (o->pid->len)
		g_array_append_vals(w->pids, o->pid->data, o->pid->len);
	for (guint i = 0; i < o->comm->len && !o->tid->len && !o->pid->len; i++)
		g_ptr_array_add(w->names, g_strdup(g_ptr_array_index(o->comm, i)));
}

/* Opens the recordings again, limited or as a whole; problems were already reported the first time. */
static enum lt_status reopen(struct report *r, const struct report_limit *limit)
{
	struct ingest *before = r->in;
	enum lt_status status;

	report_release_hosts(r);
	r->limit = limit;
	log_set_stderr_level(LOG_LEVEL_ERROR + 1);
	status = report_open(r, false);
	log_set_stderr_level(LOG_LEVEL_WARNING);
	r->limit = NULL;
	ingest_destroy(before);
	if (status != LT_OK)
		r->in = NULL;
	else
		report_set_hosts(r);
	return status;
}

/* Opens them only for the interval. */
static enum lt_status narrow(struct report_dump *d)
{
	struct report *r = d->report;
	const struct report_limit limit = { r->in, d->begin_ns, d->end_ns, d->has_threads || r->options->json };

	return reopen(r, &limit);
}

/* Whether the interval is a part of the recordings. One outside is read for, so that the warning has the true times. */
static bool is_inside(const struct report_dump *d)
{
	const struct report *r = d->report;
	const uint64_t end_ns = report_hinted_end(r);

	if (r->live || (!r->options->begin.form && !r->options->end.form))
		return false;
	return d->end_ns > report_record_begin(r) && (!end_ns || d->begin_ns < end_ns);
}

static int write_events(void *user, uint64_t known_end_ns)
{
	struct report_dump *d = user;
	struct report *r = d->report;
	bool is_part;

	if (sync_options_check_hosts(r->options, r->in) != LT_OK ||
	    report_resolve_times(r, known_end_ns, &d->begin_ns, &d->end_ns) != LT_OK)
		return cmd_fail(LT_EXIT_USAGE, "report");
	is_part = is_inside(d);
	if (is_part && narrow(d) != LT_OK)
		return cmd_fail(LT_EXIT_FAILURE, "report");
	report_advance_in_order(r, d->end_ns);
	/* the last packet may end long after its last event: only all events tell whether this is outside */
	if (is_part && !d->any && !r->interrupted) {
		is_part = false;
		if (reopen(r, NULL) != LT_OK)
			return cmd_fail(LT_EXIT_FAILURE, "report");
		report_advance_in_order(r, UINT64_MAX);
	}
	report_clear_progress(r);
	fflush(stdout);
	if (!is_part)
		report_warn_outside(r, d->begin_ns);
	ingest_note_shortage(r->in);
	return report_is_incomplete(r) ? LT_EXIT_INCOMPLETE : LT_EXIT_OK;
}

int report_dump(struct report *r)
{
	const struct options *o = r->options;
	struct report_dump d = {
		.report = r,
		.has_threads = o->tid->len || o->pid->len || o->comm->len,
		.end_ns = UINT64_MAX,
	};
	struct fields_wanted wanted;
	const struct ingest_visitor visitor = { .wanted = &wanted, .before = visit, .idle = flush, .user = &d };
	int status;

	events_filter_init(&d.where);
	if (check_options(r) != LT_OK || read_where(&d) != LT_OK || report_set_clocks(r) != LT_OK) {
		g_clear_pointer(&d.texts, dump_destroy);
		events_filter_release(&d.where);
		return cmd_fail(LT_EXIT_USAGE, "report");
	}
	r->visitor = &visitor;
	r->no_waits = true;
	r->query.table = view_table_find("events"); /* no rows are produced */
	report_end_on_interrupt(o->duration);
	set_wanted(&wanted, o);
	view_filter_init(&r->filter);
	for (guint i = 0; i < o->host->len; i++)
		view_filter_add_host(&r->filter, g_ptr_array_index(o->host, i));
	d.dump = dump_create(stdout, o->json ? DUMP_JSON : o->babeltrace ? DUMP_BABELTRACE : DUMP_TEXT, o->utc);
	status = report_read_sources(r, "report", write_events, &d);
	dump_destroy(d.dump);
	g_clear_pointer(&d.texts, dump_destroy);
	events_filter_release(&d.where);
	clocks_destroy(r->clocks);
	view_filter_release(&r->filter);
	fields_wanted_release(&wanted);
	return status;
}
