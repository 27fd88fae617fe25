/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The monitor: reads the sources into the history as fast as possible and shows it on the screen, in one loop. It reads
 * in slices so short that keys are handled at once.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/nstime.h"
#include "cli/commands.h"
#include "cli/fail.h"
#include "cli/manual_items.h"
#include "cmd/monitor/calls_request.h"
#include "cmd/monitor/monitor.h"
#include "control/keeper.h"
#include "source/source.h"
#include "ui/action.h"
#include "ui/crash.h"
#include "ui/legend.h"
#include "ui/mouse.h"
#include "ui/pane.h"
#include "ui/screen.h"
#include "ui/settings.h"
#include "view/table.h"

/* ---- the loop ---- */

static void read_slice(struct monitor *m)
{
	enum lt_status status = monitor_read_slice(m);

	if (status == LT_OK)
		ev_idle_start(m->loop, &m->reading);
	else
		ev_idle_stop(m->loop, &m->reading);
	if (status == LT_AGAIN)
		ev_io_start(m->loop, &m->sources);
	else
		ev_io_stop(m->loop, &m->sources);
	if (m->failed) {
		ev_break(m->loop, EVBREAK_ALL);
	} else if (monitor_current(m)->complete) {
		ev_timer_stop(m->loop, &m->retry);
		monitor_save_cache(m);
	}
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

/* Its warnings are among the messages; the last one is also shown at once. */
static void on_keeper(struct ev_loop *loop, ev_io *w, int events)
{
	struct monitor *m = w->data;

	(void)events;
	if (!keeper_hear(m->options->keeper))
		ev_io_stop(loop, w);
	ui_show_warnings(m->ui);
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
	/* while there is anything to read, the slices do this */
	if (!m->shown.complete)
		return;
	ingest_watch(m->shown.in);
	if (!m->next.in && ingest_is_over(m->shown.in))
		ev_timer_stop(loop, w);
}

/* Applies what the user has requested about the sources. */
static void apply_requests(struct monitor *m)
{
	unsigned input;
	bool attach, any = false;

	while (ui_wanted_input(m->ui, &input, &attach)) {
		if (!attach)
			ingest_detach(m->shown.in, input);
		else if (!ingest_attach(m->shown.in, input))
			ui_refuse_input(m->ui, m->options->max_sessions);
		any = true;
	}
	if (any && !m->starting)
		monitor_publish_known(m);
}

static void on_input(struct ev_loop *loop, ev_io *w, int events)
{
	struct monitor *m = w->data;

	(void)events;
	ui_keys(m->ui);
	apply_requests(m);
	if (!ui_wants_quit(m->ui))
		return;
	/* SIGHUP may come later, or only to the shell */
	if (ui_lost_terminal(m->ui))
		m->exit_status = 128 + SIGHUP;
	ev_break(loop, EVBREAK_ALL);
}

static void on_tick(struct ev_loop *loop, ev_timer *w, int events)
{
	(void)loop;
	(void)w;
	(void)events;
	/* on_show() looks at the clock */
}

/* Before the loop sleeps: draws what has changed and sets the next tick. */
static void on_show(struct ev_loop *loop, ev_prepare *w, int events)
{
	struct monitor *m = w->data;
	uint64_t due_ns;

	(void)events;
	ui_tick(m->ui, monotonic_ns());
	/* a preview is dropped before the interval that has been read is drawn */
	if (m->preview)
		monitor_apply_preview_request(m);
	ui_draw(m->ui, monotonic_ns());
	monitor_apply_window_request(m);
	if (m->live_calls)
		monitor_apply_live_calls_request(m);
	else
		monitor_apply_calls_request(m);
	if (m->dump)
		monitor_apply_dump_request(m);
	if (m->longest || !m->live)
		monitor_apply_longest_request(m);
	due_ns = ui_due(m->ui, monotonic_ns());
	ev_timer_stop(loop, &m->tick);
	if (due_ns == UINT64_MAX)
		return;
	ev_now_update(loop);
	ev_timer_set(&m->tick, (double)due_ns / (double)NS_PER_S, 0.);
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
	static const int signals[MONITOR_SIGNALS] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

	/* not the default loop, which would reap the workers before ingest could */
	m->loop = ev_loop_new(EVFLAG_AUTO);
	ev_io_init(&m->input, on_input, STDIN_FILENO, EV_READ);
	ev_io_init(&m->sources, on_source, ingest_fd(m->shown.in), EV_READ);
	ev_idle_init(&m->reading, on_reading);
	ev_timer_init(&m->retry, on_retry, 0.1, 0.1);
	ev_timer_init(&m->tick, on_tick, 0., 0.);
	ev_timer_init(&m->watch, on_watch, 1., 1.);
	ev_prepare_init(&m->show, on_show);
	ev_signal_init(&m->resized, on_resized, SIGWINCH);
	ev_signal_init(&m->continued, on_resized, SIGCONT); /* while stopped it gets no SIGWINCH */
	m->input.data = m->sources.data = m->reading.data = m->retry.data = m->tick.data = m->watch.data =
		m->show.data = m->resized.data = m->continued.data = m;
	for (unsigned i = 0; i < MONITOR_SIGNALS; i++) {
		ev_signal_init(&m->ends[i], on_end, signals[i]);
		m->ends[i].data = m;
		ev_signal_start(m->loop, &m->ends[i]);
	}
	ev_io_start(m->loop, &m->input);
	if (m->options->keeper) {
		ev_io_init(&m->keeper, on_keeper, m->options->keeper->fd, EV_READ);
		m->keeper.data = m;
		ev_io_start(m->loop, &m->keeper);
	}
	if (m->options->cluster_host->len)
		ui_show_warnings(m->ui);
	ev_idle_start(m->loop, &m->reading);
	ev_timer_start(m->loop, &m->retry);
	ev_timer_start(m->loop, &m->watch);
	ev_prepare_start(m->loop, &m->show);
	ev_signal_start(m->loop, &m->resized);
	ev_signal_start(m->loop, &m->continued);
	if (m->starting)
		monitor_publish_inputs(m);
	else
		monitor_start_reading(m);
	ev_run(m->loop, 0);
	reread_destroy(m->reread);
	monitor_calls_destroy(m->calls);
	monitor_live_calls_destroy(m->live_calls);
	monitor_dump_destroy(m->dump);
	monitor_longest_destroy(m->longest);
	monitor_preview_destroy(m->preview);
}

/* Signals then have their usual effect: the terminal must be in its usual mode. */
static void end_loop(struct monitor *m)
{
	for (unsigned i = 0; i < MONITOR_SIGNALS; i++)
		ev_signal_stop(m->loop, &m->ends[i]);
	ev_signal_stop(m->loop, &m->resized);
	ev_signal_stop(m->loop, &m->continued);
	ev_loop_destroy(m->loop);
}

/* ---- the command ---- */

static struct settings *read_settings(const struct options *o)
{
	char *standard = settings_default_path();
	struct settings *s = settings_create(o->no_config ? NULL : o->config ? o->config : standard);

	g_free(standard);
	return s;
}

static void start_ui(struct monitor *m)
{
	const struct options *o = m->options;
	struct ui_options options = {
		.export = monitor_write,
		.check = calls_request_check,
		.utc = o->utc,
		.paused = o->paused,
		.speed = o->speed,
		.interval_ns = o->interval,
		.begin = o->begin,
		.recalls = monitor_recalls(o),
	};

	m->settings = options.settings = read_settings(o);
	m->ui = ui_create(&options);
	m->inputs = g_array_new(FALSE, TRUE, sizeof(struct ui_input));
	m->numbers = g_array_new(FALSE, TRUE, sizeof(unsigned));
}

static void release(struct monitor *m)
{
	ui_destroy(m->ui);
	settings_destroy(m->settings);
	if (m->inputs)
		g_array_free(m->inputs, TRUE);
	if (m->numbers)
		g_array_free(m->numbers, TRUE);
	monitor_release_cache(m);
	monitor_release_reading(&m->next);
	monitor_release_reading(&m->shown);
	clocks_destroy(m->clocks);
}

int cmd_monitor(const struct options *o)
{
	struct screen_options screen = { .ascii = o->ascii, .no_color = o->no_color, .no_mouse = o->no_mouse };
	struct monitor m = { .options = o, .exit_status = LT_EXIT_OK };

	crash_install();
	if (monitor_create_clocks(&m) != LT_OK)
		return cmd_fail(LT_EXIT_USAGE, "");
	source_set_recall(o->recall_memory);
	m.failed = monitor_open_sources(&m) != LT_OK || screen_open(&screen) != LT_OK;
	if (!m.failed) {
		log_mute_stderr();
		start_ui(&m);
		run_loop(&m);
		screen_close();
		end_loop(&m);
		log_unmute_stderr();
	}
	if (m.failed)
		m.exit_status = cmd_fail(ingest_is_refused(m.shown.in) ? LT_EXIT_USAGE : LT_EXIT_FAILURE, "");
	release(&m);
	return m.exit_status;
}

/* What a pane shows, the report with the same figures, and the names in files of tables that no report has. */
static void help_pane(struct help *h, const struct pane_type *type)
{
	GString *text = g_string_new(type->about);
	const char *before = "; as report: ";

	for (unsigned i = 0; i < PANE_LISTS && type->tables[i]; i++) {
		if (!(view_table_find(type->tables[i])->flags & VIEW_REPORT))
			continue;
		g_string_append_printf(text, "%s%s", before, type->tables[i]);
		before = ", ";
	}
	if (type->report)
		g_string_append_printf(text, "%s%s", before, type->report);
	for (unsigned i = 0; i < PANE_LISTS && type->tables[i]; i++)
		if (!(view_table_find(type->tables[i])->flags & VIEW_REPORT))
			g_string_append_printf(text, "; in a file of key x: %s", type->tables[i]);
	help_item(h, type->title, text->str);
	g_string_free(text, TRUE);
}

void cmd_monitor_help(struct help *h)
{
	/* they are not in the menu */
	static const struct manual_item opened[] = {
		{ "Details",
		  "opened by Enter on a thread: who it is, what it used and waited for, its process's files" },
		{ "Path", "opened by w on a thread: its critical path; as report: critical-path, critical-totals" },
		{ "Attach", "opened by a on a thread: its system calls as text; as lttngtop attach" },
		{ "Dump", "opened by D: all events of the interval; as report: dump" },
		{ "Clock", "opened by Enter on a host in pane Hosts: how its clock is synchronised; as report: sync" },
		{ NULL, NULL },
	};
	const struct mouse_help *mouse;
	const struct legend *legend;
	char keys[64];

	help_section(h, "Keys");
	for (unsigned g = 0; g < ACTION_GROUPS; g++) {
		help_subsection(h, action_group_title((enum action_group)g));
		for (unsigned i = 0; i < ACTIONS; i++)
			if (action_get(i)->group == (enum action_group)g)
				help_item(h, action_keys(action_get(i), false, keys, sizeof(keys)),
					  action_get(i)->help);
	}
	if (h->brief)
		return;
	help_subsection(h, "Mouse");
	help_paragraph(h, "What can be clicked. --no-mouse turns this off.");
	for (unsigned i = 0; (mouse = mouse_help_get(i)); i++)
		help_item(h, mouse->where, mouse->help);
	help_section(h, "Screen");
	help_paragraph(h, "What stands above the panes:");
	for (unsigned i = 0; (legend = legend_get(i)); i++)
		help_item(h, legend->term, legend->meaning);
	help_section(h, "Panes");
	help_paragraph(
		h,
		"What each pane shows, and the tables of lttngtop-report(1) that have the same figures. Of a list, key "
		"x writes the columns that it can show, not those of the report. The panes are in the menu of key P, "
		"except the last five, which other keys open.");
	for (unsigned i = 0; i < PANES; i++)
		help_pane(h, pane_type((enum pane_id)i));
	manual_print_items(h, opened);
}
