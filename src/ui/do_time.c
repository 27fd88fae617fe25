/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Actions on time: the same in every pane. */
#include <string.h>

#include "base/error.h"
#include "base/nstime.h"
#include "ui/internal.h"

void do_pause(struct ui *ui, int argument)
{
	const bool shows_preview = preview_is_shown(ui);
	const uint64_t begin_ns = ui->preview.begin_ns;

	(void)argument;
	cursor_pause(&ui->cursor, ui->cursor.mode != CURSOR_PAUSED);
	/* it stays where it is */
	if (shows_preview)
		cursor_jump(&ui->cursor, begin_ns);
}

/* The next edge of any host's frames after t_ns (or the previous one before it); t_ns: there is none. */
static uint64_t next_edge(const struct ui *ui, uint64_t t_ns, bool forward)
{
	uint64_t edge_ns = t_ns, beside_ns = ui->cursor.frame_ns / 4; /* edges that hosts share on the grid */

	for (unsigned i = 0; i < ui->hosts->len; i++) {
		const struct ui_host_data *host = ui_host(ui, i);
		uint64_t host_ns = ui_from_ref(host, t_ns);

		if (!host->loaded || host->hidden)
			continue;
		if (forward)
			host_ns = history_edge_ceil(ui->history, host->info.track, host_ns + beside_ns);
		else
			host_ns = history_edge_floor(ui->history, host->info.track, host_ns - beside_ns);
		edge_ns = forward ? MAX(edge_ns, ui_to_ref(host, host_ns)) : MIN(edge_ns, ui_to_ref(host, host_ns));
	}
	return edge_ns;
}

/* Whether a single merged frame is shown, longer than an interval of the cursor. */
static bool shows_merged(const struct ui *ui)
{
	const struct cursor *c = &ui->cursor;

	return !c->marked_begin_ns && ui->shown_end_ns - ui->shown_begin_ns >= c->interval_ns + c->frame_ns &&
	       next_edge(ui, ui->shown_end_ns, false) <= ui->shown_begin_ns;
}

/* Steps from a merged frame to its neighbour instead of to another part of itself. False: no merged frame is shown. */
static bool step_merged(struct ui *ui, int steps)
{
	uint64_t edge_ns;

	if (!shows_merged(ui))
		return false;
	/* several keys may arrive before anything is drawn */
	if (data_load(ui)) {
		ui_rebuild(ui);
		if (!shows_merged(ui))
			return false;
	}
	edge_ns = steps > 0 ? ui->shown_end_ns : ui->shown_begin_ns;
	for (int n = steps > 0 ? steps : -1 - steps; n; n--)
		edge_ns = next_edge(ui, edge_ns, steps > 0);
	if (steps < 0)
		cursor_pause(&ui->cursor, true);
	cursor_jump(&ui->cursor, edge_ns - 1);
	return true;
}

/* A key that goes back or forward in a recording that has been read has left the cursor where it was. */
static void say_edge(struct ui *ui, const struct cursor *before, bool forward)
{
	const struct cursor *c = &ui->cursor;

	if (c->live || !c->complete || c->end_ns != before->end_ns || c->marked_begin_ns != before->marked_begin_ns)
		return;
	if (!forward && c->kept_ns > c->begin_ns)
		ui_say(ui, "this is the oldest data in memory (--history-size)");
	else
		ui_say(ui, forward ? "this is the end of the recording" : "this is the start of the recording");
}

void do_step(struct ui *ui, int argument)
{
	const struct cursor before = ui->cursor;

	if (preview_step(ui, argument) || step_merged(ui, argument))
		return;
	cursor_step(&ui->cursor, argument);
	say_edge(ui, &before, argument > 0);
}

uint64_t ui_data_end(const struct ui *ui)
{
	const struct cursor *c = &ui->cursor;

	return c->complete || c->live ? c->known_ns : MAX(c->known_ns, ui->expected_end_ns);
}

void time_say_outside(struct ui *ui, const struct timetext *time, uint64_t t_ns)
{
	const struct cursor *c = &ui->cursor;
	const uint64_t end_ns = ui_data_end(ui);
	/* ms suffice, and a date where it is another one */
	const bool day = time->form == TIMETEXT_TIME_OF_DAY, before = t_ns < c->kept_ns;
	const enum ui_date date = time->form == TIMETEXT_DATE ? UI_DATE_FULL : UI_DATE_IF_DAYS;
	/* a live cursor goes there as soon as it can */
	const char *shown =
		c->live && !c->complete && !c->at_rest ? "which is shown until then" : "which is shown instead";
	char wanted[TIMETEXT_SIZE], begin[TIMETEXT_SIZE], end[TIMETEXT_SIZE];

	if (!before && t_ns <= end_ns)
		return;
	ui_time(ui, wanted, sizeof(wanted), t_ns, 3, day ? UI_DATE_NONE : UI_DATE_FULL);
	ui_time(ui, begin, sizeof(begin), c->kept_ns, 3, date);
	ui_time(ui, end, sizeof(end), end_ns, 3, date);
	if (before)
		ui_say(ui, "%s is before the %s, %s, which is shown instead", wanted,
		       c->kept_ns > c->begin_ns ? "oldest data in memory" : "start", begin);
	else if (day)
		ui_say(ui, "there is no %s between the start, %s, and the end, %s, %s", wanted, begin, end, shown);
	else
		ui_say(ui, "%s is after the end, %s, %s", wanted, end, shown);
}

uint64_t time_nearest(const struct ui *ui, const struct timetext *time, uint64_t begin_ns, uint64_t end_ns)
{
	const uint64_t t_ns = timetext_resolve(time, begin_ns, end_ns, ui->options.utc);
	uint64_t before_ns;

	if (time->form != TIMETEXT_TIME_OF_DAY || t_ns <= end_ns)
		return t_ns;
	before_ns = timetext_resolve(time, begin_ns - MIN(begin_ns, 12 * 3600 * NS_PER_S), end_ns, ui->options.utc);
	return before_ns < begin_ns && begin_ns - before_ns < t_ns - end_ns ? before_ns : t_ns;
}

/* The time meant; a time of day is on the first day on which a host was recorded then, if there is one. */
static uint64_t resolve(const struct ui *ui, const struct timetext *time)
{
	const uint64_t end_ns = ui_data_end(ui);
	uint64_t first_ns = UINT64_MAX;

	for (unsigned i = 0; i < ui->hosts->len && time->form == TIMETEXT_TIME_OF_DAY; i++) {
		const struct ui_host_data *host = ui_host(ui, i);
		const uint64_t begin_ns = ui_to_ref(host, host->info.begin_ns);
		const uint64_t t_ns = timetext_resolve(time, begin_ns, end_ns, ui->options.utc);

		if (t_ns <= ui_to_ref(host, host->info.end_ns))
			first_ns = MIN(first_ns, t_ns);
	}
	return first_ns != UINT64_MAX ? first_ns : time_nearest(ui, time, ui->cursor.begin_ns, end_ns);
}

/* A date may lack the year: the one that is shown is meant, or else the first or last one if the data has the date. */
static enum lt_status parse(const struct ui *ui, const char *text, struct timetext *time)
{
	const uint64_t begin_ns = ui->cursor.begin_ns, end_ns = ui_data_end(ui);
	const uint64_t years_ns[] = { ui->shown_begin_ns, begin_ns, end_ns, ui->shown_begin_ns };
	enum lt_status status = LT_OK;

	if (strlen(text) < 6 || text[2] != '-' || !strchr(" T", text[5]))
		return timetext_parse(text, time);
	for (unsigned i = 0; i < G_N_ELEMENTS(years_ns) && status == LT_OK; i++) {
		char year[TIMETEXT_SIZE], *full;
		uint64_t t_ns;

		timetext_format(year, sizeof(year), years_ns[i], 0, true, ui->options.utc);
		full = g_strdup_printf("%.5s%s", year, text);
		status = timetext_parse(full, time);
		g_free(full);
		t_ns = status == LT_OK ? timetext_resolve(time, begin_ns, end_ns, ui->options.utc) : 0;
		if (t_ns >= begin_ns && t_ns <= end_ns)
			break;
	}
	return status;
}

static bool jump_done(struct ui *ui, const char *text)
{
	struct cursor *c = &ui->cursor;
	char *bare, at[TIMETEXT_SIZE];
	struct timetext time;
	enum lt_status status;
	uint64_t t_ns;

	if (!text || !*text)
		return true;
	bare = g_strstrip(g_strdup(text)); /* a pasted time may come with blanks */
	status = parse(ui, bare, &time);
	g_free(bare);
	if (status != LT_OK) {
		ui_say(ui, "%s", error_text());
		error_clear();
		return false;
	}
	t_ns = resolve(ui, &time);
	cursor_jump(c, t_ns);
	if (time.form == TIMETEXT_TIME_OF_DAY && ui_date_if_days(ui))
		ui_say(ui, "at %s", ui_time(ui, at, sizeof(at), t_ns, 3, UI_DATE_FULL));
	time_say_outside(ui, &time, t_ns);
	return true;
}

void do_jump(struct ui *ui, int argument)
{
	(void)argument;
	ui_prompt(ui, "Jump to (12:03:05, +5s, -5s):", "", NULL, jump_done);
}

void do_start(struct ui *ui, int argument)
{
	const struct cursor before = ui->cursor;

	(void)argument;
	cursor_start(&ui->cursor);
	say_edge(ui, &before, false);
}

void do_end(struct ui *ui, int argument)
{
	const struct cursor before = ui->cursor;

	(void)argument;
	cursor_end(&ui->cursor);
	say_edge(ui, &before, true);
}

void do_speed(struct ui *ui, int argument)
{
	cursor_speed(&ui->cursor, argument, monotonic_ns());
	ui_say(ui, "replay ×%g", ui->cursor.speed);
}

bool time_change_length(struct ui *ui, int direction)
{
	if (cursor_length(&ui->cursor, direction))
		return true;
	ui_say(ui, "not enough is known yet for a longer interval");
	return false;
}

void do_interval(struct ui *ui, int argument)
{
	char text[32];

	if (ui_pane(ui)->type->window) {
		window_change_length(ui, argument);
		return;
	}
	if (time_change_length(ui, argument))
		ui_say(ui, "interval %s", timetext_format_duration(text, sizeof(text), ui->cursor.interval_ns));
}

void do_skip_idle(struct ui *ui, int argument)
{
	(void)argument;
	ui->skip_idle = !ui->skip_idle;
	ui_say(ui, ui->skip_idle ? "replay skips idle stretches" : "replay shows idle stretches");
}

void do_bookmark(struct ui *ui, int argument)
{
	ui->pending = argument ? '\'' : 'm';
	ui_say(ui, argument ? "go to bookmark: press a letter" : "set bookmark: press a letter");
}

void do_mark(struct ui *ui, int argument)
{
	uint64_t mark_ns = instant_ref(ui, &ui->mark);
	char a[TIMETEXT_SIZE], b[TIMETEXT_SIZE];

	if (!argument) {
		ui->mark = instant_of(ui, ui->shown_begin_ns);
		ui_say(ui, "interval from %s; press B to mark its end",
		       ui_time(ui, a, sizeof(a), ui->shown_begin_ns, 3, UI_DATE_IF_DAYS));
	} else if (!ui->mark.set) {
		ui_say(ui, "press A first to mark the start");
	} else if (mark_ns >= ui->shown_end_ns) {
		ui_say(ui, "the end must be after the start");
	} else if (ui->shown_end_ns > ui->cursor.known_ns) {
		ui_say(ui, "not read up to there yet: press B again later");
	} else {
		const uint64_t begin_ns = MAX(mark_ns, ui->cursor.kept_ns), end_ns = ui->shown_end_ns;

		cursor_choose(&ui->cursor, begin_ns, end_ns);
		ui_say(ui, "interval from %s%s to %s", ui_time(ui, a, sizeof(a), begin_ns, 3, UI_DATE_IF_DAYS),
		       begin_ns > mark_ns ? ", the oldest data in memory," : "",
		       ui_time(ui, b, sizeof(b), end_ns, 3, UI_DATE_IF_DAYS));
		ui->mark = (struct ui_instant){ 0 };
	}
}
