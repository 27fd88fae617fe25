/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first line: state, shown interval, totals. */
#include <inttypes.h>
#include <string.h>

#include "base/nstime.h"
#include "ui/internal.h"

enum { SEGMENT_SIZE = 64, HEAD_TOTALS = 5 };

/* A lag worth the user's attention. */
#define LAG_MUCH_NS (5 * NS_PER_S)

/* At the end of a recording that has been read: no key continues from there. */
static bool is_at_end(const struct ui *ui)
{
	const struct cursor *c = &ui->cursor;

	return c->complete && c->mode == CURSOR_PAUSED && c->end_ns > c->begin_ns && c->end_ns >= c->known_ns;
}

/* The name of a host that is being waited for; NULL: none. */
static const char *waited_for(const struct ui *ui)
{
	for (unsigned i = 0; i < ui->hosts->len; i++)
		if (ui_host(ui, i)->info.waited_for && !ui_host(ui, i)->hidden)
			return ui_host(ui, i)->info.name;
	return NULL;
}

/* A live host from which no more data comes (rebooted, or among too many that ended): not counted. */
static bool is_replaced(const struct ui *ui, const struct ui_host_data *host)
{
	return host->info.live && host->info.ended && !ui->cursor.complete;
}

static bool is_at_newest(const struct ui *ui)
{
	return ui->cursor.live && ui->cursor.mode == CURSOR_STICKING;
}

struct host_counts {
	unsigned all, shown;
	unsigned absent, away,
		over; /* of those shown: without data; also not attached; also since their session ended */
};

/* In the shown interval; at the newest data: now. */
static struct host_counts count_hosts(const struct ui *ui)
{
	struct host_counts n = { 0 };

	for (unsigned i = 0; i < ui->hosts->len; i++) {
		const struct ui_host_data *host = ui_host(ui, i);

		if (host->gone || is_replaced(ui, host))
			continue;
		n.all++;
		if (host->hidden)
			continue;
		n.shown++;
		if (!is_at_newest(ui) && !host_is_away(ui, host))
			continue;
		n.absent += host->info.away || host->info.silent;
		n.away += host->info.away;
		n.over += host->info.over;
	}
	return n;
}

/* At the newest data, or where it would arrive. */
enum presence { SOME_ARE_THERE, ALL_AWAY, ALL_ENDED };

static enum presence who_is_there(const struct ui *ui)
{
	const struct host_counts n = count_hosts(ui);
	const bool none_is_there = n.absent && n.absent == n.shown && !waited_for(ui) && !inputs_await_hosts(ui);

	if (ui->cursor.complete || (none_is_there && n.over == n.shown))
		return ALL_ENDED;
	return none_is_there ? ALL_AWAY : SOME_ARE_THERE;
}

static enum style live_word(const struct ui *ui, char *word, size_t size)
{
	const struct host_counts n = count_hosts(ui);

	switch (who_is_there(ui)) {
	case SOME_ARE_THERE:
		g_strlcpy(word, "LIVE", size);
		return STYLE_LIVE;
	case ALL_AWAY:
		g_snprintf(word, size, "AWAY %u/%u", n.absent, n.shown);
		break;
	case ALL_ENDED:
		g_strlcpy(word, "ENDED", size);
		break;
	}
	return STYLE_PAUSED;
}

static enum style state_word(const struct ui *ui, char *word, size_t size)
{
	const struct cursor *c = &ui->cursor;
	const bool goes_on = c->live && !c->complete;
	char speed[16] = "";

	if (c->mode == CURSOR_PAUSED) {
		g_strlcpy(word, goes_on ? "LIVE PAUSED" : is_at_end(ui) ? "END" : "PAUSED", size);
		return STYLE_PAUSED;
	}
	if (is_at_newest(ui))
		return live_word(ui, word, size);
	if (goes_on && c->mode == CURSOR_PLAYING) {
		if (c->speed != 1)
			g_snprintf(speed, sizeof(speed), " ×%g", c->speed);
		/* in one unit, rounded up: what follows in the line keeps its place while data arrives in batches */
		g_snprintf(word, size, "LIVE −%" PRIu64 "s%s", (c->known_ns - c->end_ns + NS_PER_S - 1) / NS_PER_S,
			   speed);
		return STYLE_REPLAY;
	}
	g_snprintf(word, size, "REPLAY ×%g", c->speed);
	return STYLE_REPLAY;
}

/* Draws one end of the interval; digits below a millisecond are dimmed. */
static int draw_time(const struct ui *ui, int x, uint64_t t_ns, unsigned digits, enum ui_date date)
{
	char text[TIMETEXT_SIZE];
	const char *point = strchr(ui_time(ui, text, sizeof(text), t_ns, digits, date), '.');
	int used = canvas_text(ui->canvas, x, 0, STYLE_BOLD, text, -1);

	if (point && digits > 3)
		canvas_restyle(ui->canvas, x + (int)(point - text) + 4, 0, (int)digits - 3, STYLE_DIM);
	return used;
}

static int interval_width(int digits, enum ui_date date)
{
	static const int date_widths[] = { [UI_DATE_SHORT] = 6, [UI_DATE_FULL] = 11 };
	int one = 8 + (digits > 0 ? 1 + digits : 0) + date_widths[date];

	return digits < 0 ? one : 2 * one + 4;
}

/* "14:07:05.210, .230", as wide as two times without fractions, which would be equal. */
static int draw_within_second(const struct ui *ui, int x, enum ui_date date)
{
	char text[TIMETEXT_SIZE];
	const char *end = strchr(ui_time(ui, text, sizeof(text), ui->shown_end_ns, 3, UI_DATE_NONE), '.');
	int used = draw_time(ui, x, ui->shown_begin_ns, 3, date);

	used += canvas_text(ui->canvas, x + used, 0, STYLE_NORMAL, ", ", -1);
	return used + canvas_text(ui->canvas, x + used, 0, STYLE_BOLD, end, -1);
}

/* digits < 0: only the start. */
static int draw_interval(const struct ui *ui, int x, int digits, enum ui_date date)
{
	int from = x;

	if (digits < 0)
		return draw_time(ui, x, ui->shown_begin_ns, 0, date);
	x += canvas_text(ui->canvas, x, 0, STYLE_NORMAL, "[", -1);
	if (!digits && ui->shown_begin_ns / NS_PER_S == ui->shown_end_ns / NS_PER_S) {
		x += draw_within_second(ui, x, date);
	} else {
		x += draw_time(ui, x, ui->shown_begin_ns, (unsigned)digits, date);
		x += canvas_text(ui->canvas, x, 0, STYLE_NORMAL, ", ", -1);
		x += draw_time(ui, x, ui->shown_end_ns, (unsigned)digits, date);
	}
	x += canvas_text(ui->canvas, x, 0, STYLE_NORMAL, "[", -1);
	return x - from;
}

struct totals {
	double event_rate;             /* per second; a host's counts for the part that was recorded */
	unsigned recorded, unrecorded; /* hosts: with such a part, and without */
	struct view_lost lost, before;
};

static struct totals sum_hosts(const struct ui *ui)
{
	struct totals t = { 0 };

	for (unsigned i = 0; i < ui->hosts->len; i++) {
		const struct ui_host_data *host = ui_host(ui, i);
		const struct host_row *row = ui_host_row(host);
		uint64_t recorded_ns;

		if (host->hidden)
			continue;
		t.before.events += host->past.lost_events;
		t.before.packets += host->past.lost_packets;
		if (!row)
			continue;
		recorded_ns = interval_recorded_ns(&host->load.interval);
		if (recorded_ns)
			t.event_rate += (double)HOST_VALUE(host, events) * (double)NS_PER_S / (double)recorded_ns;
		t.recorded += recorded_ns > 0;
		t.unrecorded += !recorded_ns;
		t.lost.events += HOST_VALUE(host, lost_events);
		t.lost.packets += HOST_VALUE(host, lost_packets);
		t.lost.goes_on |= row->gap_end_ns >= host->load.interval.end_ns;
		t.before.events += row->lost_events;
		t.before.packets += row->lost_packets;
	}
	t.before.events -= t.lost.events;
	t.before.packets -= t.lost.packets;
	return t;
}

/* What will be shown once it has been read, or that it is shown before; empty: it is already shown. */
static void destination_text(const struct ui *ui, char *text, size_t size)
{
	const struct cursor *c = &ui->cursor;
	char time[TIMETEXT_SIZE];

	text[0] = '\0';
	if (preview_is_shown(ui))
		g_strlcpy(text, ", preview", size);
	else if (c->wanted_ns)
		g_snprintf(text, size, ", then %s",
			   ui_time(ui, time, sizeof(time), cursor_destination(c), 0, UI_DATE_IF_OTHER));
	else if (c->mode == CURSOR_STICKING)
		g_strlcpy(text, ", then the end", size);
}

/* How much of the recording has been read and, given room, for what; empty once it is complete. */
static void reading_text(const struct ui *ui, char *text, size_t size, int room)
{
	const struct cursor *c = &ui->cursor;
	uint64_t span_ns = ui->expected_end_ns - c->begin_ns, known_ns = c->known_ns - c->begin_ns;
	char destination[SEGMENT_SIZE];

	text[0] = '\0';
	if (c->complete || c->live || ui->expected_end_ns <= c->begin_ns)
		return;
	destination_text(ui, destination, sizeof(destination));
	g_snprintf(text, size, "reading %u%%", (unsigned)MIN(known_ns * 100 / span_ns, 99));
	if (canvas_text_width(text) + canvas_text_width(destination) <= room)
		g_strlcat(text, destination, size);
}

static bool has_lag(const struct ui *ui, const struct ui_host_data *host)
{
	return host->info.live && !host->info.away && !host->hidden && !is_replaced(ui, host);
}

uint64_t ui_lag_ns(const struct ui *ui)
{
	uint64_t lag_ns = 0;

	for (unsigned i = 0; i < ui->hosts->len; i++) {
		const struct ui_host_data *host = ui_host(ui, i);

		if (has_lag(ui, host))
			lag_ns = MAX(lag_ns, host->info.lag_ns);
	}
	return lag_ns;
}

static void lag_text(const struct ui *ui, char *text, size_t size)
{
	double lag = (double)ui_lag_ns(ui) / (double)NS_PER_S;
	bool any = false;

	for (unsigned i = 0; i < ui->hosts->len && !ui->cursor.complete; i++)
		any |= has_lag(ui, ui_host(ui, i)) && !ui_host(ui, i)->info.silent;
	if (!any)
		text[0] = '\0';
	else if (lag < 100)
		g_snprintf(text, size, "lag %.1fs", lag);
	else
		g_snprintf(text, size, "lag %.0fm", lag / 60);
}

/*
 * The hosts that the totals cover; brief: in few columns. A word for those that are missing follows their number, as in
 * "1/3 away"; nothing if the state word counts them.
 */
static void hosts_text(const struct ui *ui, char *text, size_t size, bool brief)
{
	const struct host_counts counts = count_hosts(ui);
	unsigned n = counts.all, shown = counts.shown, absent = counts.absent, hidden = n - shown;
	const char *why = counts.away ? "away" : "silent";

	text[0] = '\0';
	if (is_at_newest(ui) && who_is_there(ui) == ALL_AWAY && !hidden)
		return;
	if (is_at_newest(ui) && who_is_there(ui) == ALL_ENDED)
		absent = 0; /* the state word says so */
	if (waited_for(ui) && absent == 1 && !brief)
		g_snprintf(text, size, "waiting for %s", waited_for(ui));
	else if (!absent && !hidden)
		g_snprintf(text, size, n == 1 ? "1 host" : "%u hosts", n);
	else if (n == 1)
		g_snprintf(text, size, "1 host, %s", absent ? why : "hidden");
	else if (brief)
		g_snprintf(text, size, "%u/%u %s", absent && hidden ? shown - absent : absent + hidden, n,
			   !absent  ? "hidden"
			   : hidden ? "here"
				    : why);
	else if (absent && hidden)
		g_snprintf(text, size, "%u of %u hosts (%u %s, %u hidden)", shown - absent, n, absent, why, hidden);
	else
		g_snprintf(text, size, "%u of %u hosts (%u %s)", shown - absent, n, absent + hidden,
			   absent ? why : "hidden");
}

/* ---- the line ---- */

enum header_mark { MARK_LOST, MARK_INCOMPLETE, MARK_CLOCKS, MARKS };

/* What must not be cut, in ever less room. digits: of the seconds; -1: only the start of the interval. */
static const struct header_fit {
	int digits, texts;
} fits[] = {
	{ 9, 0 }, { 9, 1 }, { 6, 1 }, { 3, 1 }, { 3, 2 }, { 0, 2 }, { 0, 3 }, { -1, 3 },
};

enum { TEXTS = CLOCKS_TEXTS, BRIEFEST = TEXTS - 1 };

/* Room for the lag or the progress, and "2 of 3 hosts (1 away)". */
enum { HOSTS_WIDTH = 32 };

static bool is_incomplete(const struct ui *ui)
{
	bool trouble = ui->incomplete;

	for (unsigned i = 0; i < ui->hosts->len; i++) {
		const struct ui_host_data *host = ui_host(ui, i);

		trouble |= !host->hidden && !host->gone && host->info.trouble;
	}
	return trouble;
}

/* "12 ev", "831 pkt", "12 ev 831 pkt"; "?": they are counted in a later interval */
static const char *lost_text(char *text, size_t size, const struct view_lost *lost, unsigned width)
{
	char events[32], packets[32];

	format_count(events, sizeof(events), lost->events, width);
	format_count(packets, sizeof(packets), lost->packets, width);
	g_snprintf(text, size, "%s%s%s%s%s", lost->events ? events : "", lost->events ? " ev" : "",
		   lost->events && lost->packets ? " " : "", lost->packets ? packets : "",
		   lost->packets  ? " pkt"
		   : lost->events ? ""
				  : "?");
	return text;
}

/* texts: from longest to shortest; empty: nothing to show. */
static void mark_texts(const struct ui *ui, const struct totals *t, char texts[MARKS][TEXTS][FORMAT_SIZE * 4])
{
	const size_t size = FORMAT_SIZE * 4;
	const bool incomplete = is_incomplete(ui);
	char count[80];

	for (int i = 0; i < TEXTS; i++) {
		texts[MARK_LOST][i][0] = '\0';
		lost_text(count, sizeof(count), view_any_lost(&t->lost) ? &t->lost : &t->before, i < BRIEFEST ? 6 : 4);
		/* the interval is worth more than the unit of earlier losses */
		if (i == BRIEFEST && !view_any_lost(&t->lost))
			format_count(count, sizeof(count), t->before.events + t->before.packets, 4);
		if (view_any_lost(&t->lost))
			g_snprintf(texts[MARK_LOST][i], size, "lost %s", count);
		else if (view_any_lost(&t->before))
			g_snprintf(texts[MARK_LOST][i], size, i < 2 ? "lost 0 (%s before)" : "(lost %s)", count);
		g_strlcpy(texts[MARK_INCOMPLETE][i], !incomplete ? "" : i < BRIEFEST ? "incomplete" : "inc", size);
	}
	clocks_texts(ui, texts[MARK_CLOCKS]);
}

static int fit_width(const struct header_fit *fit, const char *word, enum ui_date date,
		     char texts[MARKS][TEXTS][FORMAT_SIZE * 4])
{
	bool tight = fit->texts == BRIEFEST;
	int width = canvas_text_width(word) + (tight ? 1 : 3) + interval_width(fit->digits, date);

	for (int i = 0; i < MARKS; i++)
		if (texts[i][fit->texts][0])
			width += canvas_text_width(texts[i][fit->texts]) + (tight ? 1 : 2);
	/* a whole sentence about the clocks must leave room for the hosts */
	if (fit->texts == 0 && texts[MARK_CLOCKS][0][0])
		width += HOSTS_WIDTH;
	return width;
}

/* Draws as many totals as there is room for. */
static void draw_totals(struct ui *ui, int x, const struct totals *t, bool lost_is_marked)
{
	char count[32], text[HEAD_TOTALS][SEGMENT_SIZE];
	const enum style styles[HEAD_TOTALS] = {
		ui_lag_ns(ui) > LAG_MUCH_NS ? STYLE_MARKED : STYLE_NORMAL,
		count_hosts(ui).absent ? STYLE_MARKED : STYLE_NORMAL,
		STYLE_NORMAL,
		STYLE_DIM,
		STYLE_DIM,
	};

	ui->lag_drawn_ns = ui_lag_ns(ui);
	if (ui->cursor.live)
		lag_text(ui, text[0], SEGMENT_SIZE);
	else
		reading_text(ui, text[0], SEGMENT_SIZE, ui->canvas->w - x);
	hosts_text(ui, text[1], SEGMENT_SIZE, false);
	if (x + canvas_text_width(text[0]) + canvas_text_width(text[1]) + 2 > ui->canvas->w)
		hosts_text(ui, text[1], SEGMENT_SIZE, true);
	format_count(count, sizeof(count), (uint64_t)(t->event_rate + 0.5), 5);
	g_snprintf(text[2], SEGMENT_SIZE, "%s ev/s", t->unrecorded && !t->recorded ? "-" : count);
	g_strlcpy(text[3], lost_is_marked ? "" : "lost 0", SEGMENT_SIZE);
	g_strlcpy(text[4], is_at_end(ui) ? "p restarts, ( start" : "", SEGMENT_SIZE);
	for (int i = 0; i < HEAD_TOTALS; i++) {
		int width = canvas_text_width(text[i]);

		if (width && x + width <= ui->canvas->w)
			x += canvas_text(ui->canvas, x, 0, styles[i], text[i], -1) + 2;
	}
}

static void draw_first_line(struct ui *ui)
{
	const struct totals t = sum_hosts(ui);
	char word[SEGMENT_SIZE], marks[MARKS][TEXTS][FORMAT_SIZE * 4];
	const enum style mark_styles[MARKS] = { view_any_lost(&t.lost) ? STYLE_LOST : STYLE_DIM, STYLE_LOST,
						STYLE_MARKED };
	enum style style = state_word(ui, word, sizeof(word));
	int w = ui->canvas->w, x, gap, most = ui->cursor.live && w < 100 ? 6 : 9;
	const struct header_fit *fit = fits;
	const enum ui_date date = w >= 120 ? UI_DATE_FULL : ui_date_if_days(ui);

	mark_texts(ui, &t, marks);
	while (fit + 1 < fits + G_N_ELEMENTS(fits) && (fit->digits > most || fit_width(fit, word, date, marks) > w))
		fit++;
	gap = fit->texts == BRIEFEST ? 1 : 2;
	x = canvas_printf(ui->canvas, 0, 0, style, fit->texts == BRIEFEST ? "%s" : " %s ", word) + 1;
	x += draw_interval(ui, x, fit->digits, date) + gap;
	for (int i = 0; i < MARKS; i++)
		if (marks[i][fit->texts][0])
			x += canvas_text(ui->canvas, x, 0, mark_styles[i], marks[i][fit->texts], -1) + gap;
	draw_totals(ui, x, &t, marks[MARK_LOST][0][0]);
}

int header_draw(struct ui *ui, int y, int max_rows)
{
	const unsigned all = host_lines_count(ui);
	unsigned n = all;
	int rows = 1;

	draw_first_line(ui);
	ui->host_lines = 0;
	if (!ui->show_hosts || max_rows <= 1)
		return rows;
	if ((int)n > max_rows - 1)
		n = (unsigned)max_rows - 2;
	rows += host_lines_draw(ui, y + 1, n);
	if (n < all) {
		canvas_printf(ui->canvas, 1, y + rows, STYLE_DIM, n ? "and %u more hosts: pane 9" : "%u hosts: pane 9",
			      all - n);
		rows++;
	}
	return rows;
}
