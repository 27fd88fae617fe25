/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/ui.h"

#include <string.h>

#include "base/log.h"
#include "base/nstime.h"
#include "ui/internal.h"
#include "ui/keys.h"
#include "ui/screen.h"
#include "ui/settings.h"

/* Minimum time between redraws driven by the clock, and while only the timeline grows. */
#define DRAW_NS (25 * NS_PER_MS)
#define GROW_NS (200 * NS_PER_MS)

struct ui *ui_create(const struct ui_options *options)
{
	struct ui *ui = g_new0(struct ui, 1);
	int w, h;

	ui->options = *options;
	screen_resize(&w, &h);
	ui->canvas = canvas_create(w, h, screen_is_ascii());
	ui->format = (struct format){ .ascii = screen_is_ascii(), .utc = options->utc };
	ui->hosts = g_array_new(FALSE, TRUE, sizeof(struct ui_host_data));
	inputs_init(ui);
	window_init(ui);
	longest_init(ui);
	baseline_init(ui);
	accounts_init(ui);
	ui->view_hosts = g_array_new(FALSE, TRUE, sizeof(struct view_host));
	ui->marked = g_hash_table_new_full(view_key_hash, view_key_equal_hash, g_free, NULL);
	ui->collapsed = g_hash_table_new_full(view_key_hash, view_key_equal_hash, g_free, NULL);
	ui->filter_text = g_string_new(NULL);
	ui->filter_before = g_string_new(NULL);
	ui->search_text = g_string_new(NULL);
	view_filter_init(&ui->filter);
	ui->filter.of_pane = true;
	prompt_init(&ui->prompt);
	ui->show_hosts = true;
	ui->dirty = true;
	settings_apply(options->settings, ui);
	if (settings_trouble(options->settings))
		ui_say(ui, "%s", settings_trouble(options->settings));
	return ui;
}

void ui_destroy(struct ui *ui)
{
	if (!ui)
		return;
	for (unsigned i = 0; i < ui->hosts->len; i++)
		history_load_release(&ui_host(ui, i)->load);
	for (unsigned i = 0; i < PANES; i++)
		pane_destroy(ui->panes[i]);
	pane_destroy(ui->details);
	pane_destroy(ui->behind);
	overlay_destroy(ui->overlay);
	prompt_release(&ui->prompt);
	view_filter_release(&ui->filter);
	g_hash_table_destroy(ui->marked);
	g_hash_table_destroy(ui->collapsed);
	same_rows_release(ui);
	g_string_free(ui->filter_text, TRUE);
	g_string_free(ui->filter_before, TRUE);
	sum_release(ui);
	containers_release(ui);
	g_string_free(ui->search_text, TRUE);
	inputs_release(ui);
	accounts_release(ui);
	window_release(ui);
	longest_release(ui);
	baseline_release(ui);
	g_free((char *)ui->calls.problem);
	path_destroy(ui->compared);
	g_array_free(ui->view_hosts, TRUE);
	g_array_free(ui->hosts, TRUE);
	canvas_destroy(ui->canvas);
	g_free(ui);
}

void ui_set_history(struct ui *ui, struct history *history)
{
	ui->history = history;
}

unsigned ui_add_host(struct ui *ui, const struct ui_host *host)
{
	struct ui_host_data data = { .info = *host };

	g_array_append_val(ui->hosts, data);
	history_load_init(&ui_host(ui, ui->hosts->len - 1)->load);
	data_forget(ui);
	ui->dirty = true;
	return ui->hosts->len - 1;
}

/* Adds how many tasks are known, which may be few of those on the host. */
static void say_note(struct ui *ui, const struct ui_host_data *data, const struct ui_host *host)
{
	const struct host_row *row = ui_host_row(data);

	if (host->note && row)
		ui_say(ui, "%s: %u tasks known, %s", host->name, (unsigned)row->threads, host->note);
	else if (host->note)
		ui_say(ui, "%s: %s", host->name, host->note);
}

void ui_update_host(struct ui *ui, unsigned i, const struct ui_host *host)
{
	const struct ui_host *old = &ui_host(ui, i)->info;

	if (host->ended != old->ended || host->silent != old->silent || host->still != old->still ||
	    host->over != old->over || host->waited_for != old->waited_for)
		ui->dirty = true;
	/* what it sends when it returns may belong to what is shown */
	if (host->away != old->away) {
		data_forget(ui);
		ui->dirty = true;
	}
	if (host->trouble && host->trouble != old->trouble)
		ui_say(ui, "%s: %s", host->name, host->trouble);
	if (host->note != old->note) {
		ui->dirty = true;
		say_note(ui, ui_host(ui, i), host);
	}
	/* what was loaded refers to these texts */
	if (host->name != old->name || host->missing != old->missing || host->n_missing != old->n_missing) {
		data_forget(ui);
		ui->dirty = true;
	}
	ui_host(ui, i)->info = *host;
}

void ui_set_incomplete(struct ui *ui, bool incomplete)
{
	ui->dirty |= incomplete != ui->incomplete;
	ui->incomplete = incomplete;
}

/* As long as the user wants, otherwise a second, but a short trace gets at least ten intervals. */
uint64_t ui_first_interval(const struct ui *ui, uint64_t span_ns, uint64_t frame_ns)
{
	uint64_t interval_ns = NS_PER_S;

	if (ui->options.interval_ns)
		return ui->options.interval_ns;
	while (span_ns && interval_ns > frame_ns && interval_ns * 10 > span_ns * 2)
		interval_ns /= 2;
	return interval_ns;
}

uint64_t ui_begin(const struct ui *ui, uint64_t begin_ns, uint64_t expected_end_ns)
{
	if (ui->options.begin.form == TIMETEXT_NONE)
		return begin_ns;
	return time_nearest(ui, &ui->options.begin, begin_ns, expected_end_ns);
}

/* Says so if an interval of the wanted length cannot be shown. */
static void say_interval(struct ui *ui)
{
	const uint64_t wanted_ns = ui->options.interval_ns, ns = ui->cursor.interval_ns;
	char wanted[32], frame[32], text[32];

	if (!wanted_ns || wanted_ns == ns)
		return;
	ui_say(ui, "interval %s instead of %s: it must be a multiple of %s here",
	       timetext_format_duration(text, sizeof(text), ns),
	       timetext_format_duration(wanted, sizeof(wanted), wanted_ns),
	       timetext_format_duration(frame, sizeof(frame), ui->cursor.frame_ns));
}

void ui_start(struct ui *ui, uint64_t begin_ns, uint64_t expected_end_ns, uint64_t frame_ns, bool live)
{
	uint64_t span_ns = expected_end_ns > begin_ns ? expected_end_ns - begin_ns : 0;

	cursor_init(&ui->cursor, begin_ns, frame_ns, ui_first_interval(ui, span_ns, frame_ns), live);
	say_interval(ui);
	ui->expected_end_ns = expected_end_ns;
	ui->cursor.speed = ui->options.speed;
	if (ui->options.paused)
		cursor_pause(&ui->cursor, true);
	if (ui->options.begin.form != TIMETEXT_NONE)
		cursor_jump(&ui->cursor, ui_begin(ui, begin_ns, expected_end_ns));
	ui->cursor.moved = false;
	ui->started = true;
	ui->dirty = true;
}

void ui_say_begin_outside(struct ui *ui)
{
	if (!ui->cursor.moved && ui->options.begin.form != TIMETEXT_NONE)
		time_say_outside(ui, &ui->options.begin, ui_begin(ui, ui->cursor.begin_ns, ui->expected_end_ns));
}

/* The start of the history: that of the host for which it reaches back farthest. */
static uint64_t oldest_kept(const struct ui *ui)
{
	uint64_t kept_ns = UINT64_MAX, first_ns, last_ns;

	for (unsigned i = 0; i < ui->hosts->len; i++) {
		if (!history_range(ui->history, ui_host(ui, i)->info.track, &first_ns, &last_ns)) {
			if (ui_host(ui, i)->info.ended) /* all of it was dropped */
				continue;
			return 0;
		}
		kept_ns = MIN(kept_ns, ui_to_ref(ui_host(ui, i), first_ns));
	}
	return kept_ns == UINT64_MAX ? 0 : kept_ns;
}

/* Whether what is shown is only on the way to a place that has not been read yet. */
static bool is_passing(const struct cursor *c)
{
	return c->wanted_ns || (c->mode == CURSOR_STICKING && !c->live);
}

/* Whether the sessions of all hosts have ended or broken off. */
static bool is_at_rest(const struct ui *ui)
{
	for (unsigned i = 0; i < ui->hosts->len; i++)
		if (!ui_host(ui, i)->info.away && !ui_host(ui, i)->info.ended)
			return false;
	return ui->hosts->len > 0;
}

void ui_known(struct ui *ui, uint64_t known_ns, bool complete)
{
	const uint64_t before_ns = ui->cursor.known_ns, lag_ns = ui_lag_ns(ui);
	const bool completes = complete && !ui->cursor.complete;

	ui->cursor.at_rest = ui->cursor.live && is_at_rest(ui);
	ui->dirty |= completes;
	/* passing intervals show the progress; to draw each of them would take the time that reading needs */
	if (cursor_known(&ui->cursor, known_ns, complete)) {
		ui->dirty |= !is_passing(&ui->cursor);
		ui->growing = true;
	}
	if (cursor_kept(&ui->cursor, oldest_kept(ui))) {
		ui->dirty = true;
		if (ui->cursor.marked_begin_ns)
			ui_say(ui, "the start of this interval is no longer in memory (--history-size)");
		else if (ui->cursor.mode == CURSOR_PAUSED)
			ui_say(ui, "what was shown is no longer in memory (--history-size): this is the oldest data");
	}
	if (completes)
		ui_say_begin_outside(ui);
	ui->growing |= known_ns != before_ns;
	/* the lag varies with the live timer: only a jump is shown at once */
	ui->growing |= MAX(lag_ns, ui->lag_drawn_ns) - MIN(lag_ns, ui->lag_drawn_ns) > NS_PER_S / 2;
	for (unsigned i = 0; i < ui->hosts->len; i++) {
		struct ui_host_data *host = ui_host(ui, i);

		host->probe_ns = host->info.end_ns;
		host->probe_ref_ns = ui_to_ref(host, host->probe_ns);
	}
}

/* The beginning of the host's first frame in [begin_ns, end_ns[ that is more than 10 % busy; end_ns: there is none. */
static uint64_t first_busy(const struct ui *ui, const struct ui_host_data *host, uint64_t begin_ns, uint64_t end_ns)
{
	enum { MANY = 256, IDLE_PERMILLE = 100 };
	struct frame_summary frames[MANY];

	begin_ns = ui_from_ref(host, begin_ns);
	for (;;) {
		const unsigned n = history_summaries(ui->history, host->info.track, begin_ns, ui_from_ref(host, end_ns),
						     frames, MANY);

		for (unsigned k = 0; k < n; k++)
			if (frames[k].busy_permille >= IDLE_PERMILLE)
				return MIN(end_ns, ui_to_ref(host, frames[k].begin_ns));
		if (n < MANY)
			return end_ns;
		begin_ns = frames[n - 1].end_ns;
	}
}

/* Skips to where something happens on a host that is shown. */
static void skip_idle(struct ui *ui)
{
	const uint64_t from_ns = ui->cursor.end_ns;
	uint64_t to_ns = ui->cursor.known_ns;

	for (unsigned i = 0; i < ui->hosts->len; i++)
		if (!ui_host(ui, i)->hidden)
			to_ns = first_busy(ui, ui_host(ui, i), from_ns, to_ns);
	if (to_ns < ui->cursor.known_ns && to_ns > from_ns + ui->cursor.interval_ns) {
		cursor_jump(&ui->cursor, to_ns);
		ui->dirty = true;
	}
}

void ui_tick(struct ui *ui, uint64_t now_ns)
{
	struct pane *p = ui_pane(ui);

	ui->work_ns = ui->started && p->type->work ? p->type->work(ui, now_ns) : UINT64_MAX;
	if (!ui->started || now_ns - ui->drawn_ns < DRAW_NS || !cursor_tick(&ui->cursor, now_ns))
		return;
	ui->dirty = true;
	if (ui->skip_idle && ui->cursor.mode == CURSOR_PLAYING)
		skip_idle(ui);
}

uint64_t ui_due(const struct ui *ui, uint64_t now_ns)
{
	uint64_t due_ns = ui->started ? cursor_due(&ui->cursor) : UINT64_MAX;
	uint64_t since_ns = now_ns - ui->drawn_ns;

	if (due_ns != UINT64_MAX && since_ns < DRAW_NS)
		due_ns = MAX(due_ns, DRAW_NS - since_ns);
	if (ui->growing)
		due_ns = MIN(due_ns, since_ns < GROW_NS ? GROW_NS - since_ns : 0);
	if (ui->work_ns != UINT64_MAX)
		due_ns = MIN(due_ns, ui->work_ns > now_ns ? ui->work_ns - now_ns : 0);
	return due_ns;
}

void ui_keys(struct ui *ui)
{
	int key = screen_key();

	if (key == UI_KEY_NONE && screen_ended())
		ui->quit = ui->terminal_gone = true;
	for (; key != UI_KEY_NONE; key = screen_key())
		dispatch_key(ui, key);
}

void ui_resize(struct ui *ui)
{
	int w, h;

	screen_resize(&w, &h);
	canvas_resize(ui->canvas, w, h);
	ui->dirty = true;
}

static void keep_names(const struct pane *p)
{
	if (p && pane_is_path(p))
		pane_path_keep_names(p);
	if (p && pane_is_calls(p))
		pane_calls_keep_names(p);
}

void ui_keep_paths(const struct ui *ui)
{
	keep_names(ui->details);
	keep_names(ui->behind);
	if (ui->compared)
		path_keep_names(ui->compared);
}

bool ui_wants_quit(const struct ui *ui)
{
	return ui->quit;
}

bool ui_lost_terminal(const struct ui *ui)
{
	return ui->terminal_gone;
}

/* Its lists are as the user has saved them. */
static struct pane *create_pane(struct ui *ui, enum pane_id id)
{
	struct pane *p = pane_create(pane_type(id));

	for (unsigned i = 0; i < p->n_lists; i++)
		settings_apply_list(ui->options.settings, &p->lists[i]);
	ui_show_percent(ui, p);
	return p;
}

struct pane *ui_pane(struct ui *ui)
{
	if (ui->details)
		return ui->details;
	if (!ui->panes[ui->current])
		ui->panes[ui->current] = create_pane(ui, ui->current);
	return ui->panes[ui->current];
}

void ui_show_percent(const struct ui *ui, struct pane *p)
{
	static const char *const names[] = { "cpu_percent", "host_percent" };

	for (unsigned i = 0; i < p->n_lists; i++)
		list_replace_column(&p->lists[i], names[!ui->host_percent], names[ui->host_percent]);
}

void ui_say(struct ui *ui, const char *fmt, ...)
{
	static const char more[] = "…";
	char *end = ui->message + sizeof(ui->message) - sizeof(more);
	va_list ap;
	int length;

	va_start(ap, fmt);
	length = g_vsnprintf(ui->message, sizeof(ui->message), fmt, ap);
	va_end(ap);
	if (length >= (int)sizeof(ui->message)) {
		while (end > ui->message && ((unsigned char)*end & 0xc0) == 0x80) /* inside a character */
			end--;
		memcpy(end, more, sizeof(more));
	}
	ui->dirty = true;
}

void ui_rebuild(struct ui *ui)
{
	for (unsigned i = 0; i < PANES; i++)
		if (ui->panes[i])
			ui->panes[i]->stale = true;
	if (ui->details)
		ui->details->stale = true;
	ui->dirty = true;
}

void ui_refresh(struct ui *ui)
{
	uint64_t begin_ns, end_ns;

	if (data_load(ui))
		ui_rebuild(ui);
	if (ui_pane(ui)->type->window && window_load(ui))
		ui_rebuild(ui);
	pane_build(ui, ui_pane(ui));
	ui_interval(ui, &begin_ns, &end_ns);
	ui->shown_from = instant_of(ui, begin_ns);
	ui->shown_to = instant_of(ui, end_ns);
}

void ui_set_overlay(struct ui *ui, struct overlay *overlay)
{
	overlay_destroy(ui->overlay);
	ui->overlay = overlay;
	ui->choosing_hosts = ui->listing_longest = ui->reading_messages = false;
	ui->dirty = true;
}

/* How much of a date distinguishes the two. */
static enum ui_date date_between(const struct ui *ui, uint64_t a_ns, uint64_t b_ns)
{
	if (!timetext_same_year(a_ns, b_ns, ui->options.utc))
		return UI_DATE_FULL;
	return timetext_same_day(a_ns, b_ns, ui->options.utc) ? UI_DATE_NONE : UI_DATE_SHORT;
}

enum ui_date ui_date_if_days(const struct ui *ui)
{
	return date_between(ui, ui->cursor.begin_ns, MAX(ui_data_end(ui), ui->shown_end_ns));
}

const char *ui_time(const struct ui *ui, char *buffer, size_t size, uint64_t t_ns, unsigned digits, enum ui_date date)
{
	if (date == UI_DATE_IF_OTHER)
		date = date_between(ui, t_ns, ui->shown_begin_ns);
	else if (date == UI_DATE_IF_DAYS)
		date = ui_date_if_days(ui);
	if (date == UI_DATE_SHORT)
		return timetext_format_short(buffer, size, t_ns, digits, ui->options.utc);
	return timetext_format(buffer, size, t_ns, digits, date == UI_DATE_FULL, ui->options.utc);
}

/* ---- drawing ---- */

static void draw_all(struct ui *ui)
{
	struct canvas *c = ui->canvas;
	int y, bottom = c->h - 1;

	y = header_draw(ui, 0, MAX(c->h / 3, 2));
	y += timeline_draw(ui, y);
	y += tabs_draw(ui, y);
	ui->pane_y = y;
	pane_draw(ui, ui_pane(ui), y, bottom - y);
	if (ui->overlay)
		overlay_draw(ui->overlay, c, MIN(y, 3), bottom);
	bar_draw(ui, bottom);
}

/* Shows what is being waited for when nothing is known yet. */
static void draw_waiting(struct ui *ui)
{
	struct canvas *c = ui->canvas;
	char *files = inputs_files(ui);

	if (files) {
		canvas_text(c, 0, 0, STYLE_REPLAY, " READING ", -1);
		canvas_printf(c, 10, 0, STYLE_NORMAL, "%s: no events yet", files);
	} else {
		canvas_text(c, 0, 0, STYLE_LIVE, " WAITING ", -1);
		canvas_text(c, 10, 0, STYLE_NORMAL, "for sessions and their first events …", -1);
	}
	g_free(files);
	inputs_draw(ui, 2, c->h - 4, c->h - 4);
	if (ui->overlay)
		overlay_draw(ui->overlay, c, 3, c->h - 1);
	bar_draw(ui, c->h - 1);
}

void ui_draw(struct ui *ui, uint64_t now_ns)
{
	struct canvas *c = ui->canvas;

	messages_update(ui);
	if (!ui->dirty && !(ui->growing && now_ns - ui->drawn_ns >= GROW_NS))
		return;
	ui->dirty = ui->growing = false;
	ui->drawn_ns = now_ns;
	canvas_clear(c);
	if (ui_is_too_small(ui)) {
		screen_caret(-1, 0);
		canvas_printf(c, 0, 0, STYLE_BOLD, "too small: %dx%d", c->w, c->h);
		canvas_printf(c, 0, 1, STYLE_NORMAL, "needs %dx%d", UI_MIN_WIDTH, UI_MIN_HEIGHT);
		if (!ui->cursor.complete)
			canvas_text(c, 0, 2, STYLE_DIM, "still reading", -1);
	} else if (!ui->started) {
		draw_waiting(ui);
	} else {
		ui_refresh(ui);
		ui->dirty = false;
		draw_all(ui);
	}
	screen_show(c);
}
