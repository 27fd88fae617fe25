/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/events.h"

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/report/unmatched.h"
#include "event/fields.h"
#include "play/sync_options.h"

/* ---- which events ---- */

/* The PID of the thread that is running; -1: unknown. */
static int64_t running_pid(const struct event_seen *seen)
{
	if (seen->thread)
		return seen->thread->pid > 0 ? (int64_t)seen->thread->pid : -1;
	return seen->tid == 0 ? 0 : -1;
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

static bool is_chosen(const struct options *o, const struct event_seen *seen)
{
	return has_number(o->tid, seen->tid) && has_number(o->pid, running_pid(seen)) && has_name(o->comm, seen->comm);
}

static bool is_full(const struct report_events *e)
{
	return e->limit && e->n_taken >= e->limit;
}

static void visit(void *user, const struct ingest_visit *v)
{
	struct report_events *e = user;
	struct report *r = e->report;
	struct event_seen seen = { .tid = -1 };
	struct dump_event event;

	if (v->ref_ns < e->begin_ns || v->ref_ns >= e->end_ns || is_full(e))
		return;
	e->any = true;
	report_add_hosts(r);
	if (!v->fields || r->hosts[v->host]->shown < 0)
		return;
	if (e->chooses || e->needs_threads)
		seen = event_see(r->hosts[v->host]->source, v);
	/* the text is only made for an event that the other terms do not exclude */
	if (e->chooses && (!is_chosen(r->options, &seen) || !events_filter_wants(&e->where, &seen)))
		return;
	event = (struct dump_event){
		.fields = v->fields,
		.shape = v->shape,
		.origin = v->origin,
		.host = r->hosts[v->host]->source->name,
		.ns = v->ref_ns,
		.tid = seen.tid,
		.pid = running_pid(&seen),
		.comm = seen.comm,
	};
	if (e->texts) {
		seen.line = dump_line(e->texts, &event);
		if (!events_filter_wants(&e->where, &seen))
			return;
	}
	e->n_taken++;
	e->take(e->user, &event);
	if (is_full(e))
		report_stop = 1;
}

/* Asks the workers for the selected threads; they only know some of them. */
static void set_wanted(struct fields_wanted *w, const struct options *o)
{
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

enum lt_status report_events_init(struct report_events *e, struct report *r)
{
	const struct options *o = r->options;

	*e = (struct report_events){
		.report = r,
		.visitor = { .wanted = &e->wanted, .before = visit, .user = e },
		.end_ns = UINT64_MAX,
	};
	events_filter_init(&e->where);
	fields_wanted_init(&e->wanted);
	set_wanted(&e->wanted, o);
	for (guint i = 0; i < o->where->len; i++)
		if (events_filter_parse(&e->where, g_ptr_array_index(o->where, i)) != LT_OK)
			return error_wrap("option '--where'");
	if (view_filter_asks(&e->where.terms, VIEW_FACT_TEXT))
		e->texts = dump_create(NULL, DUMP_TEXT, o->utc);
	e->chooses = o->tid->len || o->pid->len || o->comm->len || !view_filter_empty(&e->where.terms);
	return LT_OK;
}

void report_events_apply(struct report_events *e)
{
	struct report *r = e->report;
	const GPtrArray *hosts = r->options->host;

	r->visitor = &e->visitor;
	r->no_waits = true;
	r->query.table = view_table_find("events"); /* no rows are produced */
	view_filter_init(&r->filter);
	for (guint i = 0; i < hosts->len; i++)
		view_filter_add_host(&r->filter, g_ptr_array_index(hosts, i));
}

void report_events_release(struct report_events *e)
{
	g_clear_pointer(&e->texts, dump_destroy);
	events_filter_release(&e->where);
	fields_wanted_release(&e->wanted);
}

/* ---- reading ---- */

/* Opens the recordings again; problems were already reported the first time. */
static enum lt_status reopen(struct report *r)
{
	enum lt_status status;

	log_mute_stderr();
	status = report_open(r, false);
	log_unmute_without();
	return status;
}

/* Opens them only for the interval. */
static enum lt_status narrow(struct report_events *e)
{
	struct report *r = e->report;
	struct ingest *before = r->in;
	const struct report_limit limit = { before, e->begin_ns, e->end_ns, e->chooses || e->needs_threads };
	enum lt_status status;

	report_release_hosts(r);
	r->limit = &limit;
	status = reopen(r);
	r->limit = NULL;
	ingest_destroy(before);
	if (status != LT_OK)
		r->in = NULL;
	else
		report_set_hosts(r);
	return status;
}

/*
 * No event lies in the interval. The last packet may end long after its last event: only all events tell whether it is
 * outside. A second reading looks at them, so that events lost at other times do not make the report incomplete.
 */
static enum lt_status warn_if_outside(struct report_events *e)
{
	struct report *r = e->report, whole = *r;

	whole.visitor = NULL;
	whole.hosts = NULL;
	whole.shown = NULL;
	whole.names = NULL;
	whole.n_hosts = whole.n_shown = whole.n_names = 0;
	if (reopen(&whole) != LT_OK)
		return LT_ERROR;
	report_add_hosts(&whole);
	whole.at_ns = report_record_begin(&whole);
	report_advance(&whole, UINT64_MAX);
	report_clear_progress(&whole);
	r->progress_us = 0;
	r->interrupted = whole.interrupted;
	if (!r->interrupted)
		report_warn_outside(&whole, e->begin_ns, e->known_end_ns);
	report_release_hosts(&whole);
	ingest_destroy(whole.in);
	return LT_OK;
}

/* Whether the interval is a part of the recordings. One outside is read for, so that the warning has the true times. */
static bool is_inside(const struct report_events *e)
{
	const struct report *r = e->report;
	const uint64_t end_ns = report_hinted_end(r);

	if (r->live || (!r->options->begin.form && !r->options->end.form))
		return false;
	return e->end_ns > report_record_begin(r) && (!end_ns || e->begin_ns < end_ns);
}

enum lt_status report_events_times(struct report_events *e, uint64_t known_end_ns)
{
	const struct report *r = e->report;

	e->known_end_ns = known_end_ns;
	if (sync_options_check_hosts(r->options, r->in) != LT_OK)
		return LT_ERROR;
	return report_resolve_times(r, known_end_ns, &e->begin_ns, &e->end_ns);
}

char *report_events_none(const struct report_events *e)
{
	char *why = unmatched_why(&e->where.terms), *text;

	text = e->any ? g_strdup_printf("no event passes the filter%s", why)
		      : g_strdup("no event lies in the interval");
	g_free(why);
	return text;
}

enum lt_status report_events_read(struct report_events *e)
{
	struct report *r = e->report;
	const bool is_part = is_inside(e);

	if (is_part && narrow(e) != LT_OK)
		return LT_ERROR;
	report_advance_in_order(r, e->end_ns);
	if (is_part && !e->any && !r->interrupted && warn_if_outside(e) != LT_OK)
		return LT_ERROR;
	report_clear_progress(r);
	if (is_full(e))
		r->interrupted = false;
	else if (!is_part && report_warn_outside(r, e->begin_ns, e->known_end_ns))
		report_leave_out_lost(r);
	if (e->n_taken && !is_full(e))
		unmatched_warn(&e->where.terms);
	ingest_note_shortage(r->in);
	return LT_OK;
}
