/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls that the screen requests as text, for a live host: its workers are asked for all fields of the
 * threads, and lines are added from then on, as soon as it is known why each call waited. Between a thread and its
 * process, lines are kept: those of other threads begin once they are wanted. Earlier lines come from what is kept of
 * the session (calls.c).
 *
 *   ui_wanted_calls() ─┬─▶ ingest_set_visitor() ──▶ worker
 *                      │                              │ EVENT_WANTED, EVENT_FIELDS …
 *                      │            lines ◀── records ◀── attach_tracer
 *                      │              ├───▶ ui_set_calls()
 *                      ╰─▶ reread ──▶ earlier lines
 */
#include <string.h>

#include "attach/tracer.h"
#include "clock/map.h"
#include "cmd/monitor/calls_request.h"
#include "cmd/monitor/monitor.h"
#include "ingest/visit.h"

enum {
	RECORDS_MAX = 10000, /* that wait for the wait graph: any more are written without it */
	LINES_SHARE = 16,    /* fraction of --wait-memory for texts, for each of the two */
};

/* Since when there are lines of the thread, or of its whole process. */
struct reach {
	uint64_t asked_ns; /* how far the host had been read at the time of the request, on its clock */
	uint64_t from_ns;  /* since when it sends the fields; UINT64_MAX: not yet */
	struct calls_lines *lines;
};

struct monitor_live_calls {
	struct monitor *m;
	struct calls_request request;
	struct attach_tracer_options options;
	struct attach_tracer *tracer; /* NULL: nothing is requested */
	struct ingest_host *host;
	unsigned number; /* of the host in ingest */
	/* the request that the lines belong to */
	unsigned screen;
	int32_t tid;
	char *calls;
	bool reads_process, shows_process;
	struct reach of_thread, of_process;
	uint64_t around_ns;                          /* the position on the screen */
	struct calls_lines *joined;                  /* earlier lines and these */
	unsigned joined_past, joined_version, joins; /* versions of both, and of the result */
	GQueue records;                              /* struct attach_record *: not yet lines, oldest first */
	unsigned version;                            /* increases with each line */
	bool finished;                               /* the trace has ended, and its last calls are lines */
};

/* ---- lines ---- */

static void on_record(void *data, struct attach_record *r)
{
	g_queue_push_tail(&((struct monitor_live_calls *)data)->records, r);
}

static void add_line(struct monitor_live_calls *c, struct attach_record *r)
{
	struct calls_line line = { .at_ns = attach_record_begin(r), .tid = r->tid };

	calls_request_text(&c->request, c->m->shown.in, r, &line);
	lines_add(c->of_process.lines, &line);
	if (r->tid == c->tid || r->kind == ATTACH_LOST)
		lines_add(c->of_thread.lines, &line);
	attach_record_free(r);
	c->version++;
}

/* Adds lines for records whose waits are known. */
static void add_lines(struct monitor_live_calls *c)
{
	const struct waits *waits = ingest_waits(c->m->shown.in);
	const uint64_t until_ns = waits && !c->finished ? waits_now(waits) : UINT64_MAX;
	const struct attach_record *r;

	while ((r = g_queue_peek_head(&c->records)) && (r->ref_ns < until_ns || c->records.length > RECORDS_MAX))
		add_line(c, g_queue_pop_head(&c->records));
}

/* UINT64_MAX: not known yet. */
static uint64_t begin_of(struct monitor_live_calls *c, struct reach *reach)
{
	if (reach->from_ns == UINT64_MAX)
		reach->from_ns = ingest_visited_from(c->m->shown.in);
	return reach->from_ns == UINT64_MAX ? UINT64_MAX
					    : clock_to_ref(c->host->map, MAX(reach->from_ns, reach->asked_ns));
}

/* Earlier lines that were read; .lines NULL: there are none. */
static struct ui_calls past_of(const struct monitor_live_calls *c)
{
	struct ui_calls past = { 0 };

	if (c->m->calls)
		past = monitor_calls_read(c->m->calls);
	if (past.number != c->request.number)
		return (struct ui_calls){ 0 };
	if (past.lines)
		past.end_ns = MIN(past.end_ns, past.lines->dropped_after_ns);
	return past;
}

/* The lines before from_ns and those of the reach after it. */
static const struct calls_lines *join(struct monitor_live_calls *c, const struct ui_calls *past,
				      const struct reach *reach, uint64_t from_ns)
{
	if (c->joined_past != past->version || c->joined_version != c->version || !lines_count(c->joined)) {
		lines_join(c->joined, past->lines, reach->lines, from_ns, monitor_calls_read_ns(c->m->calls));
		c->joined_past = past->version;
		c->joined_version = c->version;
		c->joins++;
	}
	return c->joined;
}

/* Of a live host: the lines since the request, after earlier ones if they are wanted and were read. */
static void tell_both(struct monitor_live_calls *c, struct ui_calls *calls)
{
	struct reach *reach = c->shows_process ? &c->of_process : &c->of_thread;
	const struct ui_calls past = past_of(c);
	uint64_t from_ns = begin_of(c, reach);

	calls->end_ns = frames_known_ns(c->m->shown.frames);
	if (from_ns == UINT64_MAX) {
		calls->begin_ns = calls->end_ns;
		calls->lines = lines_count(reach->lines) ? reach->lines : NULL;
		return;
	}
	calls->later_ns = from_ns = MAX(from_ns, reach->lines->dropped_before_ns);
	calls->begin_ns = MIN(from_ns, calls->end_ns);
	calls->lines = reach->lines;
	calls->first_ns = !c->m->calls || monitor_calls_failed(c->m->calls) ? from_ns : past.first_ns;
	if (past.lines && past.end_ns >= from_ns) {
		calls->begin_ns = MIN(past.begin_ns, calls->begin_ns);
		calls->lines = join(c, &past, reach, from_ns);
		calls->version = c->joins;
		return;
	}
	lines_clear(c->joined);
	if (past.lines && c->around_ns < from_ns) {
		calls->begin_ns = past.begin_ns;
		calls->end_ns = past.end_ns;
		calls->lines = past.lines;
	}
}

static void tell(struct monitor_live_calls *c)
{
	struct ui_calls calls = { .number = c->request.number, .version = c->version };

	if (c->tracer)
		tell_both(c, &calls);
	else if (c->m->calls && !c->request.problem)
		calls = past_of(c);
	calls.number = c->request.number;
	if (c->m->calls)
		calls.percent = past_of(c).percent;
	if (c->request.problem)
		calls.problem = c->request.problem;
	ui_set_calls(c->m->ui, &calls);
}

void monitor_tell_live_calls(struct monitor *m)
{
	tell(m->live_calls);
}

/* ---- the request ---- */

static void drop(struct monitor_live_calls *c)
{
	const struct ui_calls none = { .number = c->request.number };

	if (!c->tracer)
		return;
	ingest_set_visitor(c->m->shown.in, NULL, c->number);
	ui_set_calls(c->m->ui, &none);
	lines_clear(c->joined);
	attach_tracer_destroy(c->tracer);
	c->tracer = NULL;
	g_queue_clear_full(&c->records, (GDestroyNotify)attach_record_free);
	lines_destroy(g_steal_pointer(&c->of_thread.lines));
	lines_destroy(g_steal_pointer(&c->of_process.lines));
}

static void find_host(struct monitor_live_calls *c, unsigned screen)
{
	c->host = frames_host(c->m->shown.frames, screen);
	for (c->number = 0; ingest_host(c->m->shown.in, c->number) != c->host; c->number++)
		;
}

static void reach_begin(struct monitor_live_calls *c, struct reach *reach)
{
	reach->asked_ns = c->host->end_ns;
	reach->from_ns = UINT64_MAX;
	if (reach->lines)
		return;
	reach->lines = lines_create(UINT64_MAX, NULL);
	reach->lines->bytes_max = c->m->options->wait_memory / LINES_SHARE;
}

/* Reads from now on what is selected; until the workers know, they send what was selected before. */
static void start_reading(struct monitor_live_calls *c)
{
	struct attach_tracer *old = c->tracer;

	reach_begin(c, &c->of_process);
	c->tracer = attach_tracer_create(&c->options);
	attach_tracer_set_ingest(c->tracer, c->m->shown.in);
	ingest_set_visitor(c->m->shown.in, attach_tracer_visitor(c->tracer), c->number);
	attach_tracer_destroy(old);
}

static void ask(struct monitor_live_calls *c, const struct ui_calls_request *request)
{
	calls_request_set(&c->request, request);
	find_host(c, request->host);
	if (!c->host->live && !c->m->calls && !c->request.problem)
		c->request.problem = g_strdup("not available for recordings shown together with live hosts: open it "
					      "alone");
	if (c->request.problem || !c->host->live)
		return;
	c->screen = request->host;
	c->tid = request->tids[0];
	g_free(c->calls);
	c->calls = g_strdup(request->calls);
	c->reads_process = c->shows_process = request->process;
	c->finished = false;
	reach_begin(c, &c->of_thread);
	start_reading(c);
}

/* Whether the request is for the same calls of the same thread or its process. */
static bool continues(const struct monitor_live_calls *c, const struct ui_calls_request *request)
{
	return c->tracer && request->host == c->screen && request->tids[0] == c->tid &&
	       strcmp(request->calls, c->calls) == 0;
}

static void go_on(struct monitor_live_calls *c, const struct ui_calls_request *request)
{
	struct ui_calls_request wide = *request;
	const bool more = request->process && !c->reads_process;

	c->shows_process = request->process;
	c->reads_process = wide.process = c->reads_process || request->process;
	calls_request_set(&c->request, &wide);
	if (more)
		start_reading(c);
}

void monitor_apply_live_calls_request(struct monitor *m)
{
	struct monitor_live_calls *c = m->live_calls;
	struct ui_calls_request request;

	if (m->calls)
		monitor_apply_calls_request(m);
	if (!ui_wanted_calls(m->ui, &request) || request.events) {
		drop(c);
		return;
	}
	c->around_ns = request.around_ns;
	if (request.number != c->request.number && continues(c, &request)) {
		go_on(c, &request);
	} else if (request.number != c->request.number) {
		drop(c);
		ask(c, &request);
	}
	if (c->tracer && m->shown.complete && !c->finished) {
		c->finished = true;
		attach_tracer_finish(c->tracer);
	}
	if (c->tracer)
		add_lines(c);
	tell(c);
}

void monitor_live_calls_forget(struct monitor_live_calls *c)
{
	drop(c);
	c->request.number = 0;
}

/* ---- making ---- */

struct monitor_live_calls *monitor_live_calls_create(struct monitor *m)
{
	struct monitor_live_calls *c = g_new0(struct monitor_live_calls, 1);

	c->m = m;
	calls_request_init(&c->request);
	g_queue_init(&c->records);
	c->joined = lines_create(UINT64_MAX, NULL);
	c->options = calls_request_tracer(&c->request);
	c->options.emit = on_record;
	c->options.user = c;
	return c;
}

void monitor_live_calls_destroy(struct monitor_live_calls *c)
{
	if (!c)
		return;
	drop(c);
	lines_clear(c->joined);
	lines_destroy(c->joined);
	calls_request_release(&c->request);
	g_free(c->calls);
	g_free(c);
}
