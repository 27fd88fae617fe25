/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The monitor: reads the sources into the history as fast as they come and
 * shows it on the screen, in one loop. Reading is done in slices so short
 * that keys are answered at once.
 */
#include <errno.h>
#include <ev.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/strpool.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/frames.h"
#include "cmd/reread.h"
#include "cmd/survey.h"
#include "cmd/sync_options.h"
#include "event/tracepoints.h"
#include "ingest/ingest.h"
#include "out/writer.h"
#include "ui/action.h"
#include "ui/crash.h"
#include "ui/cursor.h"
#include "ui/screen.h"
#include "ui/ui.h"

#define SLICE_NS UINT64_C(8000000)
#define LIVE_FRAME_NS UINT64_C(1000000000)

/* So long may the first look at the clocks last before something is shown; then they are known when all is read. */
#define SURVEY_US G_TIME_SPAN_SECOND * 3

enum { MISSING_MAX = 64, SIGNALS = 3 };

/* Tracepoints that a host's traces do not have; texts of the string pool. */
struct missing {
	const char **names;
	unsigned n;
	const char **lacks; /* what critical paths are made of; ends with NULL */
};

/* What the clocks of the hosts are to the screen. */
enum clocks_stage {
	STAGE_ALONE,   /* nothing to be compared: one host, or --no-sync */
	STAGE_SURVEY,  /* recordings: read for their clocks first */
	STAGE_FINAL,   /* recordings: known */
	STAGE_AT_END,  /* recordings: known when all is read */
	STAGE_MOVING,  /* live */
};

struct monitor {
	const struct options *options;
	struct clocks *clocks;
	enum clocks_stage stage;
	struct survey *survey;
	gint64 survey_until_us;
	unsigned epochs;    /* of all maps, when the screen was told of the times */
	struct ingest *in;
	struct reread *reread; /* NULL: live */
	struct history *history;
	struct frames *frames;
	struct ui *ui;
	GArray *missing;    /* struct missing, per host on the screen */
	GArray *feeds;      /* struct ui_feed, used by tell_feeds() */
	GArray *numbers;    /* unsigned: hosts of a graph as the screen numbers them, used by tell_graph() */
	uint64_t frame_ns;
	bool live;          /* sources that go on, or may */
	bool started;       /* the screen has a time to show */
	int exit_status;

	struct ev_loop *loop;
	ev_io input;
	ev_io sources;
	ev_idle reading;    /* active while there is more to read at once */
	ev_timer retry;     /* sources that said nothing are asked again, should a wake-up be missed */
	ev_timer tick;      /* the replay's clock */
	ev_timer watch;     /* looks after the workers */
	ev_prepare show;
	ev_signal resized, ends[SIGNALS];
	bool complete;
};

/* ---- sources ---- */

static enum lt_status create_clocks(struct monitor *m)
{
	const struct options *o = m->options;

	return sync_options_clocks(o, o->no_sync ? CLOCKS_RAW : sync_options_live(o, 0) ? CLOCKS_MOVE : CLOCKS_AWAIT,
				   &m->clocks);
}

/*
 * Opens and starts the sources. again: it has been done before, what cannot be opened has been told. No graph is
 * built while the clocks are not known: its links between hosts would be wrong.
 */
static enum lt_status open_sources(struct monitor *m, bool graph, bool again)
{
	const struct options *o = m->options;
	const struct waits_options waits = {
		.retention_ns = sync_options_live(o, 0) ? o->wait_retention : 0,
		.memory_bytes = o->wait_memory,
		.totals = true,
	};
	struct ingest_options options = {
		.workers = o->workers,
		.follow = true,
		.stall_limit_ns = o->stall_limit,
		.max_lag_ns = o->max_lag,
		.clocks = m->clocks,
		.waits = graph ? &waits : NULL,
	};
	unsigned opened = 0;

	if (!o->words->len)
		return error_set("no source given");
	m->in = ingest_create(&options);
	for (guint i = 0; i < o->words->len; i++) {
		if (ingest_open(m->in, g_ptr_array_index(o->words, i)) == LT_OK)
			opened++;
		else if (!again)
			log_error("%s", error_text());
	}
	error_clear();
	if (!opened || ingest_start(m->in, NULL) != LT_OK)
		return error_set("no source could be read");
	/* live hosts may come later */
	return ingest_is_live(m->in) ? LT_OK : sync_options_check_hosts(o, m->in);
}

/* What is to be done about the clocks of the sources, which have been opened. */
static void choose_stage(struct monitor *m)
{
	const struct options *o = m->options;

	m->stage = STAGE_FINAL;
	if (o->no_sync)
		m->stage = STAGE_ALONE;
	else if (ingest_is_live(m->in))
		m->stage = STAGE_MOVING;
	else if (ingest_host_count(m->in) < 2)
		m->stage = STAGE_ALONE;
	else
		m->survey = survey_create(o->words, o->workers, m->clocks);
	if (m->survey) {
		m->stage = STAGE_SURVEY;
		m->survey_until_us = g_get_monotonic_time() + SURVEY_US;
	} else if (m->stage == STAGE_ALONE || m->stage == STAGE_FINAL) {
		clocks_finish(m->clocks);
	}
}

/* Where the longest record is expected to end, 0: nobody knows. */
static uint64_t expected_end(struct monitor *m)
{
	uint64_t end_ns = 0;

	for (unsigned i = 0; i < ingest_host_count(m->in); i++) {
		const struct ingest_host *host = ingest_host(m->in, i);

		end_ns = MAX(end_ns, clock_to_ref(host->map, host->ended ? host->end_ns : host->end_hint_ns));
	}
	return end_ns;
}

/* ---- hosts, for the screen ---- */

/* What tells why threads wait, and the trace does not have. */
static void list_lacks(struct missing *missing, const struct model *model)
{
	static const enum event_kind kinds[] = {
		EVENT_SCHED_SWITCH, EVENT_SCHED_WAKING, EVENT_SCHED_WAKEUP_NEW, EVENT_FORK, EVENT_IRQ_ENTRY,
		EVENT_SOFTIRQ_ENTRY, EVENT_HRTIMER_ENTRY, EVENT_NET_QUEUE, EVENT_NET_RECEIVE,
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

/* Lists anew what is missing if it has changed; the old list lives on until then. */
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

static void release_missing(struct missing *missing)
{
	g_free(missing->names);
	g_free(missing->lacks);
}

static struct ui_host host_info(struct monitor *m, unsigned i)
{
	const struct ingest_host *host = frames_host(m->frames, i);
	struct missing *missing = &g_array_index(m->missing, struct missing, i);
	struct ui_host info = {
		.name = host->name,
		.source = host->source,
		.tracer = host->tracer,
		.track = i,
		.map = host->map,
		.clock = m->stage == STAGE_ALONE && ingest_host_count(m->in) < 2 ? -1 : (int)host->clock,
		.begin_ns = host->begin_ns,
		.end_ns = host->ended ? host->end_ns : MAX(host->end_ns, host->end_hint_ns),
		.ended = host->ended,
		.live = host->live,
		.away = host->away,
		.silent = host->silent,
		.lag_ns = host->lag_ns,
		.trouble = host->trouble,
	};

	list_missing(missing, host);
	info.missing = missing->names;
	info.lacks = missing->lacks;
	info.n_missing = missing->n;
	return info;
}

/* Hosts that have begun since the last time, the first of which starts the screen. */
static void show_new_hosts(struct monitor *m)
{
	while (m->missing->len < frames_host_count(m->frames)) {
		unsigned i = m->missing->len;
		struct ui_host info;

		g_array_set_size(m->missing, i + 1);
		info = host_info(m, i);
		ui_add_host(m->ui, &info);
	}
	if (!m->started && frames_origin_ns(m->frames)) {
		m->started = true;
		ui_start(m->ui, frames_origin_ns(m->frames), m->live ? 0 : expected_end(m), m->frame_ns, m->live);
	}
}

static void tell_feeds(struct monitor *m)
{
	g_array_set_size(m->feeds, 0);
	for (unsigned i = 0; i < ingest_feed_count(m->in); i++) {
		const struct ingest_feed feed = ingest_feed(m->in, i);
		struct ui_feed told = {
			.name = feed.name,
			.state = feed.state,
			.host = feed.host < 0 ? NULL : ingest_host(m->in, (unsigned)feed.host)->name,
			.session = feed.live && !feed.relay,
			.runs = feed.runs,
			.detached = feed.detached,
		};

		g_array_append_val(m->feeds, told);
	}
	ui_set_feeds(m->ui, (const struct ui_feed *)(const void *)m->feeds->data, m->feeds->len);
}

/* ---- clocks and wait graphs, for the screen ---- */

/* The screen's number of a host of the ingest, UINT_MAX: it is not there yet. */
static unsigned screen_number(const struct monitor *m, const struct ingest_host *host)
{
	for (unsigned i = 0; i < frames_host_count(m->frames); i++)
		if (frames_host(m->frames, i) == host)
			return i;
	return UINT_MAX;
}

/* How often the maps have been replaced. */
static unsigned count_epochs(struct monitor *m)
{
	unsigned epochs = 0;

	for (unsigned i = 0; i < ingest_host_count(m->in); i++)
		if (ingest_host(m->in, i)->map)
			epochs += clock_map_epoch(ingest_host(m->in, i)->map);
	return epochs;
}

/* What was said in the old times is said anew. */
static void tell_clocks(struct monitor *m)
{
	unsigned epochs = count_epochs(m);

	if (epochs == m->epochs)
		return;
	m->epochs = epochs;
	if (!m->started)
		return;
	frames_clocks_changed(m->frames);
	for (unsigned i = 0; i < frames_host_count(m->frames); i++) {
		const struct ui_host info = host_info(m, i);

		ui_update_host(m->ui, i, &info);
	}
	ui_clocks_changed(m->ui, frames_origin_ns(m->frames), m->live ? 0 : expected_end(m),
			  frames_known_ns(m->frames));
}

/* The graph that is built of what is read. */
static void tell_graph(struct monitor *m)
{
	struct ui_waits told = { .waits = ingest_waits(m->in) };
	struct waits_info info;

	if (!told.waits)
		return;
	g_array_set_size(m->numbers, 0);
	for (unsigned i = 0; i < ingest_host_count(m->in); i++) {
		const struct ingest_host *host = ingest_host(m->in, i);

		g_array_set_size(m->numbers, MAX(m->numbers->len, host->wait + 1));
		g_array_index(m->numbers, unsigned, host->wait) = screen_number(m, host);
	}
	info = waits_info(told.waits);
	told.begin_ns = told.kept_ns = info.graph.horizon_ns;
	told.epoch = info.epoch;
	told.end_ns = m->complete ? UINT64_MAX : waits_now(told.waits);
	told.hosts = (const unsigned *)(const void *)m->numbers->data;
	told.n_hosts = m->numbers->len;
	ui_set_waits(m->ui, UI_WAITS_RUNNING, &told);
}

/* A window that was read again, or how far it is. */
static void on_reread(void *data)
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
	for (unsigned i = 0; i < ingest_host_count(m->in); i++) {
		unsigned number = window_host(window, i), none = UINT_MAX;

		if (number == WINDOW_NO_HOST)
			continue;
		while (m->numbers->len <= number)
			g_array_append_val(m->numbers, none);
		g_array_index(m->numbers, unsigned, number) = screen_number(m, ingest_host(m->in, i));
	}
	told.hosts = (const unsigned *)(const void *)m->numbers->data;
	told.n_hosts = m->numbers->len;
	ui_set_waits(m->ui, UI_WAITS_WINDOW, &told);
}

/* The screen's wish is looked at before the loop sleeps. */
static void obey_window_wish(struct monitor *m)
{
	uint64_t begin_ns, end_ns;

	if (!m->reread)
		return;
	if (!ui_wanted_window(m->ui, &begin_ns, &end_ns))
		reread_want(m->reread, 0, 0);
	else if (m->stage == STAGE_AT_END)
		ui_set_window_progress(m->ui, 0, "the hosts' clocks are known when all is read");
	else
		reread_want(m->reread, begin_ns, end_ns);
}

static void tell_known(struct monitor *m)
{
	show_new_hosts(m);
	tell_clocks(m);
	tell_feeds(m);
	for (unsigned i = 0; i < frames_host_count(m->frames); i++) {
		const struct ui_host info = host_info(m, i);

		ui_update_host(m->ui, i, &info);
	}
	if (m->started)
		ui_known(m->ui, frames_known_ns(m->frames), m->complete);
	tell_graph(m);
}

/* ---- the loop ---- */

/* Shows what the sources have: their clocks are as well known as they will be for now. */
static void start_reading(struct monitor *m)
{
	uint64_t begin_ns = ingest_begin_ns(m->in), end_ns = expected_end(m);

	m->live = ingest_is_live(m->in);
	m->frame_ns = !m->live && end_ns > begin_ns ? cursor_frame_for(end_ns - begin_ns) : LIVE_FRAME_NS;
	m->frames = frames_create(m->in, m->history, m->frame_ns);
	m->epochs = count_epochs(m);
	if (!m->live)
		m->reread = reread_create(m->loop, m->in, m->options->wait_memory, on_reread, m);
	if (!m->options->no_sync)
		ui_set_clocks(m->ui, clocks_sync(m->clocks));
	ev_io_set(&m->sources, ingest_fd(m->in), EV_READ);
	show_new_hosts(m);
}

/* The recordings are too long to be read twice before anything is shown. */
static void give_up_survey(struct monitor *m)
{
	ingest_destroy(m->in);
	clocks_destroy(m->clocks);
	m->clocks = NULL;
	m->stage = STAGE_AT_END;
	if (create_clocks(m) != LT_OK || open_sources(m, false, true) != LT_OK)
		log_error("%s", error_text());
}

/* Returns what survey_run() does. */
static enum lt_status survey_slice(struct monitor *m)
{
	enum lt_status status = survey_run(m->survey, SLICE_NS);

	if (status != LT_END && g_get_monotonic_time() < m->survey_until_us) {
		ui_set_survey(m->ui, survey_percent(m->survey));
		return status;
	}
	ev_io_stop(m->loop, &m->sources);
	survey_destroy(m->survey);
	m->survey = NULL;
	if (status == LT_END) {
		clocks_finish(m->clocks);
		m->stage = STAGE_FINAL;
	} else {
		give_up_survey(m);
	}
	start_reading(m);
	return LT_OK;
}

static enum lt_status reading_slice(struct monitor *m)
{
	enum lt_status status;

	if (m->live)
		ingest_watch(m->in);
	status = frames_advance(m->frames, SLICE_NS);
	m->complete = status == LT_END;
	if (m->complete && m->stage == STAGE_AT_END) {
		clocks_finish(m->clocks);
		m->stage = STAGE_FINAL;
	}
	tell_known(m);
	return status;
}

static void read_slice(struct monitor *m)
{
	enum lt_status status = m->survey ? survey_slice(m) : reading_slice(m);

	if (status == LT_OK)
		ev_idle_start(m->loop, &m->reading);
	else
		ev_idle_stop(m->loop, &m->reading);
	if (status == LT_AGAIN)
		ev_io_start(m->loop, &m->sources);
	else
		ev_io_stop(m->loop, &m->sources);
	if (m->complete)
		ev_timer_stop(m->loop, &m->retry);
}

static void on_reading(struct ev_loop *loop, ev_idle *w, int events)
{
	(void)loop;
	(void)events;
	read_slice(w->data);
}

static void on_source(struct ev_loop *loop, ev_io *w, int events)
{
	(void)loop;
	(void)events;
	read_slice(w->data);
}

static void on_retry(struct ev_loop *loop, ev_timer *w, int events)
{
	(void)loop;
	(void)events;
	read_slice(w->data);
}

static void on_watch(struct ev_loop *loop, ev_timer *w, int events)
{
	struct monitor *m = w->data;

	(void)events;
	ingest_watch(m->in);
	if (m->complete && ingest_is_over(m->in))
		ev_timer_stop(loop, w);
}

/* What the user wants of the sources. */
static void obey_wishes(struct monitor *m)
{
	unsigned feed;
	bool attach, any = false;

	while (ui_wanted_feed(m->ui, &feed, &attach)) {
		if (attach)
			ingest_attach(m->in, feed);
		else
			ingest_detach(m->in, feed);
		any = true;
	}
	if (any)
		tell_known(m);
}

static void on_input(struct ev_loop *loop, ev_io *w, int events)
{
	struct monitor *m = w->data;

	(void)events;
	ui_keys(m->ui);
	obey_wishes(m);
	if (ui_wants_quit(m->ui))
		ev_break(loop, EVBREAK_ALL);
}

static uint64_t wall_ns(void)
{
	return (uint64_t)g_get_monotonic_time() * 1000;
}

static void on_tick(struct ev_loop *loop, ev_timer *w, int events)
{
	(void)loop;
	(void)w;
	(void)events;
	/* on_show() looks at the clock */
}

/* Before the loop sleeps: what has changed is shown, and the next tick is set. */
static void on_show(struct ev_loop *loop, ev_prepare *w, int events)
{
	struct monitor *m = w->data;
	uint64_t due_ns;

	(void)events;
	ui_tick(m->ui, wall_ns());
	ui_draw(m->ui, wall_ns());
	obey_window_wish(m);
	due_ns = ui_due(m->ui, wall_ns());
	ev_timer_stop(loop, &m->tick);
	if (due_ns == UINT64_MAX)
		return;
	ev_now_update(loop);
	ev_timer_set(&m->tick, (double)due_ns / 1e9, 0.);
	ev_timer_start(loop, &m->tick);
}

static void on_resized(struct ev_loop *loop, ev_signal *w, int events)
{
	struct monitor *m = w->data;

	(void)loop;
	(void)events;
	ui_resize(m->ui);
}

static void on_end(struct ev_loop *loop, ev_signal *w, int events)
{
	struct monitor *m = w->data;

	(void)events;
	m->exit_status = 128 + w->signum;
	ev_break(loop, EVBREAK_ALL);
}

static void run_loop(struct monitor *m)
{
	static const int signals[SIGNALS] = { SIGINT, SIGTERM, SIGHUP };

	/* not the default loop: that one would collect the workers, whose end ingest wants to know */
	m->loop = ev_loop_new(EVFLAG_AUTO);
	ev_io_init(&m->input, on_input, STDIN_FILENO, EV_READ);
	ev_io_init(&m->sources, on_source, m->survey ? survey_fd(m->survey) : ingest_fd(m->in), EV_READ);
	ev_idle_init(&m->reading, on_reading);
	ev_timer_init(&m->retry, on_retry, 0.1, 0.1);
	ev_timer_init(&m->tick, on_tick, 0., 0.);
	ev_timer_init(&m->watch, on_watch, 1., 1.);
	ev_prepare_init(&m->show, on_show);
	ev_signal_init(&m->resized, on_resized, SIGWINCH);
	m->input.data = m->sources.data = m->reading.data = m->retry.data = m->tick.data = m->watch.data =
		m->show.data = m->resized.data = m;
	for (unsigned i = 0; i < SIGNALS; i++) {
		ev_signal_init(&m->ends[i], on_end, signals[i]);
		m->ends[i].data = m;
		ev_signal_start(m->loop, &m->ends[i]);
	}
	ev_io_start(m->loop, &m->input);
	ev_idle_start(m->loop, &m->reading);
	ev_timer_start(m->loop, &m->retry);
	ev_timer_start(m->loop, &m->watch);
	ev_prepare_start(m->loop, &m->show);
	ev_signal_start(m->loop, &m->resized);
	if (!m->survey)
		start_reading(m);
	ev_run(m->loop, 0);
	reread_destroy(m->reread);
	ev_loop_destroy(m->loop);
}

/* ---- the screen's lists into files ---- */

static enum lt_status form_of(const char *path, enum writer_form *form)
{
	static const struct {
		const char *end;
		enum writer_form form;
	} forms[] = { { ".txt", WRITER_TEXT }, { ".csv", WRITER_CSV }, { ".json", WRITER_JSON } };

	for (unsigned i = 0; i < G_N_ELEMENTS(forms); i++)
		if (g_str_has_suffix(path, forms[i].end)) {
			*form = forms[i].form;
			return LT_OK;
		}
	return error_set("not written: the name must end in .txt, .csv or .json");
}

static enum lt_status write_list(const struct ui_export *what)
{
	const struct writer_page page = {
		.begin_ns = what->begin_ns,
		.end_ns = what->end_ns,
		.rows = what->rows,
		.columns = what->columns,
		.n_columns = what->n_columns,
		.hosts = what->hosts,
		.n_hosts = what->n_hosts,
		.lost = what->lost,
	};
	struct writer_options options = { .table = what->table, .format = what->format };
	enum lt_status status = form_of(what->path, &options.form);
	struct writer *writer;

	if (status != LT_OK)
		return status;
	options.out = fopen(what->path, "wxe");
	if (!options.out)
		return error_set("not written: %s: %s", errno == EEXIST ? "it is there already" : g_strerror(errno),
				 what->path);
	writer = writer_create(&options);
	status = writer_page(writer, &page);
	writer_destroy(writer);
	if (fclose(options.out) != 0 && status == LT_OK)
		status = error_set("not written: %s: %s", g_strerror(errno), what->path);
	if (status != LT_OK)
		remove(what->path);
	return status;
}

/* ---- the command ---- */

static void start_ui(struct monitor *m)
{
	const struct options *o = m->options;
	struct ui_options options = {
		.history = m->history,
		.export = write_list,
		.utc = o->utc,
		.paused = o->paused,
		.speed = o->speed,
		.interval_ns = o->interval,
		.begin = o->begin,
	};

	m->ui = ui_create(&options);
	m->missing = g_array_new(FALSE, TRUE, sizeof(struct missing));
	m->feeds = g_array_new(FALSE, TRUE, sizeof(struct ui_feed));
	m->numbers = g_array_new(FALSE, TRUE, sizeof(unsigned));
}

static void release(struct monitor *m)
{
	ui_destroy(m->ui);
	frames_destroy(m->frames);
	for (guint i = 0; m->missing && i < m->missing->len; i++)
		release_missing(&g_array_index(m->missing, struct missing, i));
	if (m->missing)
		g_array_free(m->missing, TRUE);
	if (m->feeds)
		g_array_free(m->feeds, TRUE);
	if (m->numbers)
		g_array_free(m->numbers, TRUE);
	survey_destroy(m->survey);
	ingest_destroy(m->in);
	clocks_destroy(m->clocks);
	history_destroy(m->history);
}

int cmd_monitor(const struct options *o)
{
	struct screen_options screen = { .ascii = o->ascii, .no_color = o->no_color, .no_mouse = o->no_mouse };
	struct monitor m = { .options = o, .exit_status = LT_EXIT_OK };

	crash_install();
	if (create_clocks(&m) != LT_OK) {
		fprintf(stderr, "lttngtop: %s\n", error_text());
		return LT_EXIT_USAGE;
	}
	if (open_sources(&m, true, false) == LT_OK && screen_open(&screen) == LT_OK) {
		choose_stage(&m);
		log_mute_stderr();
		m.history = history_create(o->history_size);
		start_ui(&m);
		run_loop(&m);
		screen_close();
		log_unmute_stderr();
	} else {
		fprintf(stderr, "lttngtop: %s\n", error_text());
		m.exit_status = o->words->len ? LT_EXIT_FAILURE : LT_EXIT_USAGE;
	}
	release(&m);
	return m.exit_status;
}

void cmd_monitor_help(struct help *h)
{
	char keys[64];

	help_section(h, "Keys");
	for (unsigned g = 0; g < ACTION_GROUPS; g++) {
		help_subsection(h, action_group_title((enum action_group)g));
		for (unsigned i = 0; i < ACTIONS; i++)
			if (action_get(i)->group == (enum action_group)g)
				help_item(h, action_keys(action_get(i), keys, sizeof(keys)), action_get(i)->help);
	}
}
