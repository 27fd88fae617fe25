/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The longest durations of a row of the screen: rereads its interval, and picks them from what the models log.
 *
 *   ui_wanted_longest() ──▶ reread ──▶ on_logged() ──▶ list ──▶ ui_set_longest()
 */
#include "base/strpool.h"
#include "clock/map.h"
#include "cmd/monitor/monitor.h"
#include "model/buckets.h"

enum { GRAPH_BYTES = 1 << 20 }; /* the window's graph is not used */

struct monitor_longest {
	struct monitor *m;
	struct reread *reread;
	struct ui_longest_request request; /* number 0: there was none */
	GArray *tids;                      /* int32_t */
	uint64_t begin_ns, end_ns;         /* of its interval, reference time */
	struct window_log log;
	struct window *window; /* being read, or read last; NULL: none */
	GArray *list;          /* struct ui_longest_one, longest first */
	uint64_t found;        /* how many there are */
	bool complete;
	uint64_t first_ns; /* nothing earlier than this is available, reference time; 0: no such limit */
};

/* ---- the values ---- */

static bool wants_host(void *data, unsigned host)
{
	const struct monitor_longest *l = data;

	return monitor_screen_number(l->m, ingest_host(l->m->shown.in, host)) == l->request.host;
}

static bool is_wanted(const struct monitor_longest *l, const struct model_logged *value)
{
	const uint64_t end_ns = value->begin_ns + value->length_ns;

	if (end_ns < l->request.begin_ns || end_ns >= l->request.end_ns ||
	    !alike_matches(&l->request.row, value->cells))
		return false;
	for (guint i = 0; i < l->tids->len; i++)
		if (value->thread && g_array_index(l->tids, int32_t, i) == (int32_t)value->thread->tid)
			return true;
	return !l->tids->len;
}

static void on_logged(void *data, unsigned i, const struct model_logged *value)
{
	struct monitor_longest *l = data;
	struct ui_longest_one one = { .length_ns = value->length_ns, .tid = -1, .cause = value->cause };
	guint at = l->list->len;

	if (!is_wanted(l, value))
		return;
	l->found++;
	while (at && g_array_index(l->list, struct ui_longest_one, at - 1).length_ns < one.length_ns)
		at--;
	if (at == UI_LONGEST_MAX)
		return;
	one.begin_ns = clock_to_ref(ingest_host(window_ingest(l->window), i)->map, value->begin_ns);
	if (value->thread) {
		one.tid = (int32_t)value->thread->tid;
		one.comm = (strid)value->thread->comm;
	}
	g_array_insert_val(l->list, at, one);
	if (l->list->len > UI_LONGEST_MAX)
		g_array_set_size(l->list, UI_LONGEST_MAX);
}

/* ---- reading ---- */

static void tell(struct monitor_longest *l)
{
	const struct ui_longest longest = {
		.number = l->request.number,
		.list = (const struct ui_longest_one *)(const void *)l->list->data,
		.n = l->complete ? l->list->len : 0,
		.found = l->found,
		.complete = l->complete,
		.first_ns = l->first_ns,
		.percent = reread_percent(l->reread),
		.problem = reread_problem(l->reread),
	};

	ui_set_longest(l->m->ui, &longest);
}

/* Also what began before the interval. */
static void prepare(void *data, struct window_options *options)
{
	struct monitor_longest *l = data;

	g_array_set_size(l->list, 0);
	l->found = 0;
	options->begin_ns = l->begin_ns;
	options->end_ns = l->end_ns;
	options->before_ns = WINDOW_MARGIN_NS + l->request.longest_ns;
	options->whole = false;
	/* from their start, paths of files are known */
	options->small_bytes = bucket_dist_table(l->log.dist) == TABLE_BLOCKING ? MONITOR_SMALL_BYTES : 0;
	options->wants_host = wants_host;
	options->wants_data = l;
	options->log = &l->log;
}

static void on_opened(void *data, struct window *w)
{
	((struct monitor_longest *)data)->window = w;
}

static void on_changed(void *data)
{
	struct monitor_longest *l = data;
	uint64_t begin_ns, end_ns; /* of the window */

	if (l->window && reread_done(l->reread, &begin_ns, &end_ns) == l->window) {
		l->first_ns =
			ingest_host_count(window_ingest(l->window)) ? window_first_ns(l->window, 0, l->begin_ns) : 0;
		l->complete = true;
		l->window = NULL;
		reread_drop(l->reread);
	}
	tell(l);
}

/* ---- the request ---- */

void monitor_longest_forget(struct monitor_longest *l)
{
	if (!l->request.number)
		return;
	reread_forget(l->reread);
	l->window = NULL;
	l->request.number = 0;
}

/* The reason may change while the list is open. */
static void refuse(struct monitor *m, const struct ui_longest_request *request)
{
	const struct ui_longest none = { .number = request->number, .problem = monitor_lacks_reread(m) };

	if (request->number == m->longest_refused && none.problem == m->longest_problem)
		return;
	ui_set_longest(m->ui, &none);
	m->longest_refused = request->number;
	m->longest_problem = none.problem;
}

void monitor_apply_longest_request(struct monitor *m)
{
	struct monitor_longest *l = m->longest;
	struct ui_longest_request request;
	const struct clock_map *map;

	if (!ui_wanted_longest(m->ui, &request)) {
		if (l)
			monitor_longest_forget(l);
		return;
	}
	if (!l) {
		refuse(m, &request);
		return;
	}
	if (request.number == l->request.number)
		return;
	monitor_longest_forget(l);
	l->request = request;
	l->log.dist = request.dist;
	l->log.tables = request.tables;
	l->complete = false;
	g_array_set_size(l->tids, 0);
	g_array_append_vals(l->tids, request.tids, request.n_tids);
	map = frames_host(m->shown.frames, request.host)->map;
	l->begin_ns = clock_to_ref(map, request.begin_ns);
	l->end_ns = clock_to_ref(map, request.end_ns);
	reread_want(l->reread, l->begin_ns, l->end_ns);
	tell(l);
}

/* ---- making ---- */

struct monitor_longest *monitor_longest_create(struct monitor *m)
{
	struct monitor_longest *l = g_new0(struct monitor_longest, 1);

	l->m = m;
	l->reread = monitor_reread_create(m, (struct reread_options){ .memory_bytes = GRAPH_BYTES,
								      .changed = on_changed,
								      .prepare = prepare,
								      .opened = on_opened,
								      .data = l });
	l->tids = g_array_new(FALSE, FALSE, sizeof(int32_t));
	l->list = g_array_new(FALSE, FALSE, sizeof(struct ui_longest_one));
	l->log.logged = on_logged;
	l->log.data = l;
	return l;
}

void monitor_longest_keep_paths(const struct monitor_longest *l)
{
	if (!l)
		return;
	reread_keep_paths(l->reread);
	/* their threads may have ended */
	for (guint i = 0; i < l->list->len; i++) {
		strpool_keep(g_array_index(l->list, struct ui_longest_one, i).comm);
		strpool_keep(g_array_index(l->list, struct ui_longest_one, i).cause);
	}
}

void monitor_longest_destroy(struct monitor_longest *l)
{
	if (!l)
		return;
	reread_destroy(l->reread);
	g_array_free(l->tids, TRUE);
	g_array_free(l->list, TRUE);
	g_free(l);
}
