/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passes the state of the hosts, their clocks and wait graphs to the screen. */
#include <string.h>

#include "base/strpool.h"
#include "cmd/monitor/monitor.h"
#include "event/tracepoints.h"

enum { MISSING_MAX = 64 };

/* ---- hosts, for the screen ---- */

/* What explains waits and is missing from the trace. */
static void list_lacks(struct missing *missing, const struct model *model)
{
	static const enum event_kind kinds[] = {
		EVENT_SCHED_SWITCH,  EVENT_SCHED_WAKING,  EVENT_SCHED_WAKEUP_NEW, EVENT_FORK,        EVENT_IRQ_ENTRY,
		EVENT_SOFTIRQ_ENTRY, EVENT_HRTIMER_ENTRY, EVENT_NET_QUEUE,        EVENT_NET_RECEIVE,
	};
	unsigned n = 0;

	g_free(missing->lacks);
	missing->lacks = g_new0(const char *, G_N_ELEMENTS(kinds) + 1);
	for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++) {
		const char *names = tracepoint_desc(kinds[i])->names;

		if (!model_declares(model, kinds[i]))
			missing->lacks[n++] = strpool_text(strpool_intern(names, strcspn(names, " ")));
	}
}

/* Updates the list of missing tracepoints if it has changed; the old list stays valid until then. */
static void list_missing(struct missing *missing, const struct ingest_host *host)
{
	const char *names[MISSING_MAX];
	unsigned n = MIN(model_missing(host->model, names, MISSING_MAX), MISSING_MAX);

	if (missing->names && missing->n == n)
		return;
	g_free(missing->names);
	missing->names = g_new(const char *, n + 1);
	missing->n = n;
	/* the first of a tracepoint's names */
	for (unsigned i = 0; i < n; i++)
		missing->names[i] = strpool_text(strpool_intern(names[i], strcspn(names[i], " ")));
	list_lacks(missing, host->model);
}

/* Whether no event of the kernel is declared that any figure is computed from, because a program wrote the trace. */
static bool is_user_space(const struct ingest_host *host)
{
	if (!g_str_has_prefix(host->tracer, "lttng-ust"))
		return false;
	for (int kind = EVENT_PROBE + 1; kind < EVENT_KINDS; kind++)
		if (tracepoint_desc(kind)->need && model_declares(host->model, (enum event_kind)kind))
			return false;
	return true;
}

static struct ui_host host_info(const struct monitor *m, const struct reading *r, unsigned i)
{
	const struct ingest_host *host = frames_host(r->frames, i);
	struct missing *missing = &g_array_index(r->missing, struct missing, i);
	struct ui_host info = {
		.name = host->name,
		.source = host->source,
		.tracer = host->tracer,
		.sidecar = host->sidecar,
		.track = i,
		.map = host->map,
		.clock = m->stage == STAGE_ALONE && ingest_host_count(r->in) < 2 ? -1 : (int)host->clock,
		.begin_ns = host->begin_ns,
		.end_ns = host->ended ? host->end_ns : MAX(host->end_ns, host->end_hint_ns),
		.ended = host->ended,
		.live = host->live,
		.away = host->away,
		.silent = host->silent || host->still || host->waited_for,
		.waited_for = host->waited_for,
		.still = host->still,
		.lag_ns = host->lag_ns,
		.trouble = host->trouble,
		.user_space = is_user_space(host),
		.note = host->note,
		.over = host->over,
		.awaited = host->over && !m->options->keeper, /* its relayd gets no other session */
	};

	list_missing(missing, host);
	info.missing = missing->names;
	info.lacks = missing->lacks;
	info.n_missing = missing->n;
	return info;
}

void monitor_show_new_hosts(struct monitor *m)
{
	struct reading *r = &m->shown;

	while (r->missing->len < frames_host_count(r->frames)) {
		unsigned i = r->missing->len;
		struct ui_host info;

		g_array_set_size(r->missing, i + 1);
		info = host_info(m, r, i);
		ui_add_host(m->ui, &info);
	}
	if (!m->started && frames_origin_ns(r->frames) != TIME_UNKNOWN) {
		m->started = true;
		ui_start(m->ui, frames_origin_ns(r->frames), m->live ? 0 : monitor_expected_end(r), r->frame_ns,
			 m->live);
	}
}

void monitor_publish_clocks_stage(struct monitor *m)
{
	const struct reading *r = &m->next;
	uint64_t begin_ns, end_ns;
	unsigned percent = 0;

	if (m->stage == STAGE_CUTTING && r->frames) {
		begin_ns = frames_origin_ns(r->frames);
		end_ns = MAX(monitor_expected_end(r), begin_ns + 1);
		percent = (unsigned)MIN((frames_known_ns(r->frames) - begin_ns) * 100 / (end_ns - begin_ns), 99);
	}
	ui_set_clocks_stage(m->ui,
			    m->stage == STAGE_COMPARING ? UI_CLOCKS_SYNCHRONISING
			    : m->stage != STAGE_CUTTING ? UI_CLOCKS_KNOWN
			    : r->in                     ? UI_CLOCKS_CUTTING
							: UI_CLOCKS_APART,
			    percent);
}

bool monitor_show_next(struct monitor *m)
{
	struct reading *r = &m->next;
	unsigned n = frames_host_count(r->frames);
	struct ui_host *hosts = g_new(struct ui_host, n);
	struct ui_cut cut = {
		.history = r->history,
		.hosts = hosts,
		.n_hosts = n,
		.begin_ns = frames_origin_ns(r->frames),
		.expected_end_ns = monitor_expected_end(r),
		.frame_ns = r->frame_ns,
		.known_ns = frames_known_ns(r->frames),
		.complete = r->complete,
	};
	bool shows;

	g_array_set_size(r->missing, n);
	for (unsigned i = 0; i < n; i++)
		hosts[i] = host_info(m, r, i);
	shows = ui_cut_again(m->ui, &cut);
	g_free(hosts);
	if (!shows)
		return false;
	monitor_preview_destroy(m->preview);
	m->preview = NULL;
	monitor_release_reading(&m->shown);
	m->shown = *r;
	*r = (struct reading){ 0 };
	m->epochs = monitor_count_epochs(m);
	return true;
}

void monitor_publish_inputs(struct monitor *m)
{
	g_array_set_size(m->inputs, 0);
	for (unsigned i = 0; i < ingest_input_count(m->shown.in); i++) {
		const struct ingest_input input = ingest_input(m->shown.in, i);
		struct ui_input told = {
			.id = input.id,
			.name = input.name,
			.state = input.state,
			.host = input.host < 0 ? NULL : ingest_host(m->shown.in, (unsigned)input.host)->name,
			.target = input.target,
			.file = !input.live,
			.session = input.live && !input.relay,
			.runs = input.runs,
			.detached = input.detached,
			.retried = input.retried,
			.over = input.over,
		};

		g_array_append_val(m->inputs, told);
	}
	ui_set_incomplete(m->ui, ingest_broken(m->shown.in));
	ui_set_inputs(m->ui, (const struct ui_input *)(const void *)m->inputs->data, m->inputs->len);
}

/* ---- clocks and wait graphs, for the screen ---- */

unsigned monitor_screen_number(const struct monitor *m, const struct ingest_host *host)
{
	for (unsigned i = 0; i < frames_host_count(m->shown.frames); i++)
		if (frames_host(m->shown.frames, i) == host)
			return i;
	return UINT_MAX;
}

unsigned monitor_count_epochs(struct monitor *m)
{
	unsigned epochs = 0;

	for (unsigned i = 0; i < ingest_host_count(m->shown.in); i++)
		epochs += clock_map_epoch(ingest_host(m->shown.in, i)->map);
	return epochs;
}

static void publish_hosts(struct monitor *m)
{
	for (unsigned i = 0; i < frames_host_count(m->shown.frames); i++) {
		const struct ingest_host *host = frames_host(m->shown.frames, i);
		struct ui_host info;

		if (g_array_index(m->shown.missing, struct missing, i).is_final)
			continue;
		info = host_info(m, &m->shown, i);
		ui_update_host(m->ui, i, &info);
		g_array_index(m->shown.missing, struct missing, i).is_final = host->replaced && host->ended;
	}
}

/* Repeats in new times what was passed in old ones. */
static void publish_clocks(struct monitor *m)
{
	unsigned epochs = monitor_count_epochs(m);

	if (epochs == m->epochs)
		return;
	m->epochs = epochs;
	if (!m->started)
		return;
	frames_clocks_changed(m->shown.frames);
	if (m->live_calls)
		monitor_live_calls_forget(m->live_calls);
	if (m->live_calls && m->calls) {
		monitor_calls_forget(m->calls);
		monitor_dump_forget(m->dump);
		monitor_longest_forget(m->longest);
	}
	publish_hosts(m);
	ui_clocks_changed(m->ui, frames_origin_ns(m->shown.frames), m->live ? 0 : monitor_expected_end(&m->shown),
			  frames_known_ns(m->shown.frames));
}

/* The graph built while reading. */
static void publish_graph(struct monitor *m)
{
	struct ui_waits told = { .waits = ingest_waits(m->shown.in) };
	const unsigned none = UINT_MAX;
	struct waits_info info;

	if (!told.waits)
		return;
	g_array_set_size(m->numbers, 0);
	while (m->numbers->len < ingest_host_count(m->shown.in))
		g_array_append_val(m->numbers, none);
	for (unsigned i = 0; i < frames_host_count(m->shown.frames); i++)
		g_array_index(m->numbers, unsigned, frames_host(m->shown.frames, i)->wait) = i;
	info = waits_info(told.waits);
	told.begin_ns = told.kept_ns = info.graph.horizon_ns;
	told.epoch = info.epoch;
	told.end_ns = m->shown.complete ? UINT64_MAX : waits_now(told.waits);
	told.hosts = (const unsigned *)(const void *)m->numbers->data;
	told.n_hosts = m->numbers->len;
	ui_set_waits(m->ui, UI_WAITS_RUNNING, &told);
}

void monitor_publish_window(void *data)
{
	struct monitor *m = data;
	struct ui_waits told = { 0 };
	struct window *window = reread_done(m->reread, &told.begin_ns, &told.end_ns);

	ui_set_window_progress(m->ui, reread_percent(m->reread), reread_problem(m->reread));
	if (!window)
		return;
	told.waits = window_waits(window);
	told.kept_ns = waits_info(told.waits).graph.horizon_ns;
	g_array_set_size(m->numbers, 0);
	for (unsigned i = 0; i < ingest_host_count(m->shown.in); i++) {
		unsigned number = window_host(window, i), none = UINT_MAX;

		if (number == WINDOW_NO_HOST)
			continue;
		while (m->numbers->len <= number)
			g_array_append_val(m->numbers, none);
		g_array_index(m->numbers, unsigned, number) = monitor_screen_number(m, ingest_host(m->shown.in, i));
	}
	told.hosts = (const unsigned *)(const void *)m->numbers->data;
	told.n_hosts = m->numbers->len;
	ui_set_waits(m->ui, UI_WAITS_WINDOW, &told);
}

void monitor_apply_window_request(struct monitor *m)
{
	uint64_t begin_ns, end_ns;

	if (m->live || m->starting)
		return;
	if (!ui_wanted_window(m->ui, &begin_ns, &end_ns))
		begin_ns = end_ns = 0;
	if (m->reread)
		reread_want(m->reread, begin_ns, end_ns);
	else if (end_ns)
		ui_set_window_progress(m->ui, 0, monitor_lacks_reread(m));
}

void monitor_publish_known(struct monitor *m)
{
	monitor_show_new_hosts(m);
	publish_clocks(m);
	monitor_publish_inputs(m);
	publish_hosts(m);
	monitor_publish_clocks_stage(m);
	if (m->started)
		ui_known(m->ui, frames_known_ns(m->shown.frames), m->shown.complete);
	publish_graph(m);
}
