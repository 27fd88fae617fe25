/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls that the screen requests as text: rereads a window of the recordings with a visitor that follows the
 * threads. Their records are kept and turned into lines, a few at a time, when the window's wait graph is complete.
 *
 *   ui_wanted_calls() ──▶ reread ──▶ attach_tracer ──▶ lines of records ──▶ make_lines() ──▶ ui_set_calls()
 *
 * Live, it reads what is kept of the sessions, and live_calls.c adds what has arrived since.
 */
#include <string.h>

#include "attach/tracer.h"
#include "cmd/monitor/calls_request.h"
#include "cmd/monitor/monitor.h"
#include "play/known_fds.h"
#include "ui/lines.h"

enum { LINES_AT_ONCE = 100, HOSTS_READ = 16 };

/* The current request. */
struct want {
	unsigned number;
	unsigned host; /* on the screen */
	uint64_t begin_ns, end_ns, around_ns;
};

struct monitor_calls {
	struct monitor *m;
	struct reread *reread;
	struct want wanted, reading, shown_want;
	struct calls_request request;
	struct attach_tracer_options options;
	struct attach_tracer *tracer; /* for the reading; NULL: none was started */
	struct known_fds *fds;        /* for its time */
	struct window *window;        /* with the filter; NULL: none */
	struct calls_lines *lines;    /* of it; NULL: none are being read or formatted */
	struct calls_lines *shown;    /* what the screen has; NULL: nothing */
	unsigned reads;               /* how often that was replaced */
	uint64_t first_ns;            /* nothing earlier than this is available; 0: no such limit */
	uint64_t read_ns;             /* how far its host was read, reference time */
	unsigned failed;              /* the request for which nothing could be read; 0: none */
	unsigned made;
	ev_idle making;
};

/* ---- events ---- */

/* Why a call waited may be known on other hosts only; of very many, they are not read. */
static bool reads_host(void *data, unsigned host)
{
	const struct monitor_calls *c = data;

	return ingest_host_count(c->m->shown.in) <= HOSTS_READ ||
	       monitor_screen_number(c->m, ingest_host(c->m->shown.in, host)) == c->reading.host;
}

/* Whether it is the host that the screen means. */
static bool wants_host(void *data, unsigned host)
{
	const struct monitor_calls *c = data;
	const unsigned of = window_host_of(c->window, ingest_host(window_ingest(c->window), host)->wait);

	return of != WINDOW_NO_HOST && monitor_screen_number(c->m, ingest_host(c->m->shown.in, of)) == c->reading.host;
}

static bool look_fd(void *data, int32_t tid, int64_t fd, uint64_t ts_ns, struct model_fd *out)
{
	const struct monitor_calls *c = data;

	return known_fds_look(c->fds, tid, fd, ts_ns, out);
}

static void free_record(gpointer record)
{
	attach_record_free(record);
}

/* Adds a line without text if it is in the window. */
static void on_record(void *data, struct attach_record *r)
{
	struct monitor_calls *c = data;
	const struct calls_line line = { .at_ns = attach_record_begin(r), .tid = r->tid, .data = r };

	if (r->ref_ns >= c->reading.begin_ns && line.at_ns < c->reading.end_ns)
		lines_add(c->lines, &line);
	else
		attach_record_free(r);
}

/* ---- lines ---- */

struct ui_calls monitor_calls_read(const struct monitor_calls *c)
{
	const bool is_shown = c->shown && c->shown_want.number == c->wanted.number;

	return (struct ui_calls){
		.number = c->wanted.number,
		.lines = is_shown ? c->shown : NULL,
		.begin_ns = c->shown_want.begin_ns,
		.end_ns = c->shown_want.end_ns,
		.first_ns = is_shown ? c->first_ns : 0,
		.later_ns = UINT64_MAX,
		.version = c->reads,
		.percent = reread_percent(c->reread),
		.problem = c->request.problem ? c->request.problem : reread_problem(c->reread),
	};
}

bool monitor_calls_failed(const struct monitor_calls *c)
{
	return c->failed && c->failed == c->wanted.number;
}

uint64_t monitor_calls_read_ns(const struct monitor_calls *c)
{
	return c->read_ns;
}

static void tell(struct monitor_calls *c)
{
	const struct ui_calls calls = monitor_calls_read(c);

	if (c->m->live_calls)
		monitor_tell_live_calls(c->m);
	else
		ui_set_calls(c->m->ui, &calls);
}

static void drop_lines(struct monitor_calls *c)
{
	ev_idle_stop(c->m->loop, &c->making);
	lines_destroy(c->lines);
	c->lines = NULL;
}

static void make_line(struct monitor_calls *c, unsigned i)
{
	struct ingest *in = window_ingest(c->window);
	const struct attach_record *r = lines_at(c->lines, i)->data;
	struct calls_line line = { 0 };

	calls_request_text(&c->request, in, r, &line);
	lines_set_text(c->lines, i, &line);
}

/* Notes what of the host was available. */
static void note_reach(struct monitor_calls *c)
{
	struct ingest *in = window_ingest(c->window);

	c->first_ns = c->read_ns = c->reading.end_ns;
	for (unsigned i = 0; i < ingest_host_count(in); i++) {
		if (!wants_host(c, i))
			continue;
		c->first_ns = window_first_ns(c->window, i, c->reading.begin_ns);
		c->read_ns = clock_to_ref(ingest_host(in, i)->map, ingest_host(in, i)->end_ns);
	}
}

/* All lines have their text: shows them. */
static void finish(struct monitor_calls *c)
{
	struct calls_lines *old = c->shown;

	c->shown = c->lines;
	c->reads++;
	c->shown_want = c->reading;
	note_reach(c);
	c->shown_want.begin_ns = MAX(c->shown_want.begin_ns, c->first_ns);
	c->lines = NULL;
	drop_lines(c);
	reread_drop(c->reread);
	tell(c);
	lines_destroy(old);
}

static void on_making(struct ev_loop *loop, ev_idle *w, int events)
{
	struct monitor_calls *c = w->data;

	(void)loop;
	(void)events;
	for (unsigned i = 0; i < LINES_AT_ONCE && c->made < lines_count(c->lines); i++)
		make_line(c, c->made++);
	if (c->made == lines_count(c->lines))
		finish(c);
}

/* ---- reading ---- */

static void find_fds(struct monitor_calls *c)
{
	const struct reading *r = &c->m->shown;
	const struct clock_map *map = frames_host(r->frames, c->reading.host)->map;
	GArray *tids = g_array_new(FALSE, FALSE, sizeof(int32_t));

	for (guint i = 0; i < c->request.select.targets->len; i++)
		g_array_append_val(tids, g_array_index(c->request.select.targets, struct select_target, i).tid);
	known_fds_destroy(c->fds);
	c->fds = known_fds_create(r->history, c->reading.host, clock_from_ref(map, c->reading.begin_ns),
				  clock_from_ref(map, c->reading.end_ns), (const int32_t *)(const void *)tids->data,
				  tids->len);
	g_array_free(tids, TRUE);
}

static void prepare(void *data, struct window_options *options)
{
	struct monitor_calls *c = data;

	drop_lines(c);
	c->window = NULL;
	c->reading = c->wanted;
	c->lines = lines_create(c->reading.around_ns, free_record);
	attach_tracer_destroy(c->tracer);
	c->tracer = attach_tracer_create(&c->options);
	find_fds(c);
	options->begin_ns = c->reading.begin_ns;
	options->end_ns = c->reading.end_ns;
	options->whole = false;
	options->small_bytes = MONITOR_SMALL_BYTES;
	options->wants_host = reads_host;
	options->wants_data = c;
	options->visitor = attach_tracer_visitor(c->tracer);
}

static void on_opened(void *data, struct window *w)
{
	struct monitor_calls *c = data;

	c->window = w;
	attach_tracer_set_ingest(c->tracer, window_ingest(w));
}

static void on_changed(void *data)
{
	struct monitor_calls *c = data;
	uint64_t begin_ns, end_ns;

	if (reread_problem(c->reread))
		c->failed = c->wanted.number;
	/* a finished window is dropped once its lines exist: this one has just been read */
	if (c->window && c->lines && reread_done(c->reread, &begin_ns, &end_ns) == c->window &&
	    !ev_is_active(&c->making)) {
		attach_tracer_finish(c->tracer);
		c->made = 0;
		ev_idle_start(c->m->loop, &c->making);
	}
	tell(c);
}

/* ---- the request ---- */

/* The tracer's options must match the request. */
static void set_request(struct monitor_calls *c, const struct ui_calls_request *request)
{
	reread_forget(c->reread);
	drop_lines(c);
	attach_tracer_destroy(c->tracer);
	c->tracer = NULL;
	calls_request_set(&c->request, request);
}

void monitor_apply_calls_request(struct monitor *m)
{
	struct monitor_calls *c = m->calls;
	struct ui_calls_request request;

	const bool any = ui_wanted_calls(m->ui, &request);

	/* the lines of another pane are not finished */
	if (c && (!any || request.events))
		drop_lines(c);
	if (!any || !request.end_ns || (c && request.events)) {
		if (c)
			reread_want(c->reread, 0, 0);
		return;
	}
	if (!c) {
		const struct ui_calls none = {
			.number = request.number,
			.later_ns = UINT64_MAX,
			.problem = monitor_lacks_reread(m),
		};

		ui_set_calls(m->ui, &none);
		return;
	}
	if (request.number != c->wanted.number)
		set_request(c, &request);
	c->wanted = (struct want){ request.number, request.host, request.begin_ns, request.end_ns, request.around_ns };
	if (c->request.problem)
		tell(c);
	else
		reread_want(c->reread, request.begin_ns, request.end_ns);
}

void monitor_calls_forget(struct monitor_calls *c)
{
	reread_forget(c->reread);
	drop_lines(c);
	c->shown_want.number = c->failed = 0;
}

struct monitor_calls *monitor_calls_create(struct monitor *m)
{
	struct monitor_calls *c = g_new0(struct monitor_calls, 1);
	c->m = m;
	c->reread = monitor_reread_create(
		m,
		(struct reread_options){ .changed = on_changed, .prepare = prepare, .opened = on_opened, .data = c });
	calls_request_init(&c->request);
	c->options = calls_request_tracer(&c->request);
	c->options.wants_host = wants_host;
	c->options.look_fd = look_fd;
	c->options.emit = on_record;
	c->options.user = c;
	ev_idle_init(&c->making, on_making);
	c->making.data = c;
	return c;
}

void monitor_calls_keep_paths(const struct monitor_calls *c)
{
	if (c)
		reread_keep_paths(c->reread);
}

void monitor_calls_destroy(struct monitor_calls *c)
{
	if (!c)
		return;
	drop_lines(c);
	lines_destroy(c->shown);
	known_fds_destroy(c->fds);
	reread_destroy(c->reread);
	attach_tracer_destroy(c->tracer);
	calls_request_release(&c->request);
	g_free(c);
}
