/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first line: state, shown interval, totals. */
#include <string.h>

#include "ui/internal.h"

enum { SEGMENT_SIZE = 48, HEAD_TOTALS = 4 };

/* A lag that deserves attention. */
#define LAG_MUCH_NS (5 * NS_PER_S)

static enum style state_word(const struct ui *ui, char *word, size_t size)
{
	const struct cursor *c = &ui->cursor;

	if (c->mode == CURSOR_PAUSED) {
		g_strlcpy(word, c->live ? "LIVE PAUSED" : "PAUSED", size);
		return STYLE_PAUSED;
	}
	if (c->live && c->mode == CURSOR_STICKING) {
		g_strlcpy(word, "LIVE", size);
		return STYLE_LIVE;
	}
	g_snprintf(word, size, "REPLAY ×%g", c->speed);
	return STYLE_REPLAY;
}

/* One end of the interval; the digits below a millisecond are there, but quiet. */
static int draw_time(const struct ui *ui, int x, uint64_t t_ns, unsigned digits, bool date)
{
	char text[TIMETEXT_SIZE];
	const char *point = strchr(ui_time(ui, text, sizeof(text), t_ns, digits, date), '.');
	int used = canvas_text(ui->canvas, x, 0, STYLE_BOLD, text, -1);

	if (point && digits > 3)
		canvas_restyle(ui->canvas, x + (int)(point - text) + 4, 0, (int)digits - 3, STYLE_DIM);
	return used;
}

static int interval_width(unsigned digits, bool date)
{
	int one = 8 + (digits ? 1 + (int)digits : 0) + (date ? 11 : 0);

	return 2 * one + 4;
}

static int draw_interval(const struct ui *ui, int x, unsigned digits, bool date)
{
	int from = x;

	x += canvas_text(ui->canvas, x, 0, STYLE_NORMAL, "[", -1);
	x += draw_time(ui, x, ui->shown_begin_ns, digits, date);
	x += canvas_text(ui->canvas, x, 0, STYLE_NORMAL, ", ", -1);
	x += draw_time(ui, x, ui->shown_end_ns, digits, date);
	x += canvas_text(ui->canvas, x, 0, STYLE_NORMAL, "[", -1);
	return x - from;
}

struct totals {
	uint64_t events, lost, lost_before;
	bool packets; /* whole packets were lost: how many events is unknown */
};

static struct totals sum_hosts(const struct ui *ui)
{
	struct totals t = { 0 };

	for (unsigned i = 0; i < ui->hosts->len; i++) {
		const struct ui_host_data *host = ui_host(ui, i);
		const struct host_row *row = ui_host_row(host);

		if (!row || host->hidden)
			continue;
		t.events += HOST_VALUE(host, events);
		t.lost += HOST_VALUE(host, lost_events) + HOST_VALUE(host, lost_packets);
		t.packets |= HOST_VALUE(host, lost_packets) > 0;
		t.lost_before += row->lost_events + row->lost_packets;
	}
	t.lost_before -= t.lost;
	return t;
}

/* How far the recording has been read; empty when it all is. */
static void reading_text(const struct ui *ui, char *text, size_t size)
{
	const struct cursor *c = &ui->cursor;
	uint64_t span_ns = ui->expected_end_ns - c->begin_ns, known_ns = c->known_ns - c->begin_ns;

	if (c->complete || c->live || ui->expected_end_ns <= c->begin_ns)
		text[0] = '\0';
	else
		g_snprintf(text, size, "reading %u%%", (unsigned)MIN(known_ns * 100 / span_ns, 99));
}

uint64_t ui_lag_ns(const struct ui *ui)
{
	uint64_t lag_ns = 0;

	for (unsigned i = 0; i < ui->hosts->len; i++) {
		const struct ui_host_data *host = ui_host(ui, i);

		if (host->info.live && !host->info.away && !host->hidden)
			lag_ns = MAX(lag_ns, host->info.lag_ns);
	}
	return lag_ns;
}

unsigned ui_absent_hosts(const struct ui *ui)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ui->hosts->len; i++)
		n += !ui_host(ui, i)->hidden && (ui_host(ui, i)->info.away || ui_host(ui, i)->info.silent);
	return n;
}

static void lag_text(const struct ui *ui, char *text, size_t size)
{
	double lag = (double)ui_lag_ns(ui) / 1e9;

	if (ui_absent_hosts(ui) == ui_visible_hosts(ui))
		text[0] = '\0';
	else if (lag < 100)
		g_snprintf(text, size, "lag %.1fs", lag);
	else
		g_snprintf(text, size, "lag %.0fm", lag / 60);
}

static void hosts_text(const struct ui *ui, char *text, size_t size)
{
	unsigned n = ui->hosts->len, shown = ui_visible_hosts(ui), absent = ui_absent_hosts(ui);

	if (absent)
		g_snprintf(text, size, "%u/%u hosts", shown - absent, n);
	else if (shown < n)
		g_snprintf(text, size, "%u/%u hosts", shown, n);
	else
		g_snprintf(text, size, n == 1 ? "1 host" : "%u hosts", n);
}

static void draw_first_line(struct ui *ui)
{
	uint64_t duration_ns = ui->shown_end_ns - ui->shown_begin_ns;
	struct totals t = sum_hosts(ui);
	char word[SEGMENT_SIZE], lost[SEGMENT_SIZE], count[32], text[HEAD_TOTALS][SEGMENT_SIZE];
	enum style style = state_word(ui, word, sizeof(word));
	int w = ui->canvas->w, x, lost_width;
	unsigned digits = ui->cursor.live && w < 100 ? 6 : 9;
	const enum style styles[HEAD_TOTALS] = {
		ui_lag_ns(ui) > LAG_MUCH_NS ? STYLE_MARKED : STYLE_NORMAL,
		ui_absent_hosts(ui) ? STYLE_MARKED : STYLE_NORMAL,
		STYLE_NORMAL,
		STYLE_DIM,
	};

	ui->lag_drawn_ns = ui_lag_ns(ui);
	format_count(count, sizeof(count), t.lost ? t.lost : t.lost_before, w < 60 ? 4 : 6);
	g_snprintf(lost, sizeof(lost), t.lost || !t.lost_before ? "lost %s" : "lost 0 (%s before)", count);
	lost_width = t.lost || t.lost_before ? canvas_text_width(lost) + 2 : 0;
	x = canvas_printf(ui->canvas, 0, 0, style, " %s ", word) + 1;
	while (digits && x + interval_width(digits, false) + lost_width > w)
		digits -= 3;
	x += draw_interval(ui, x, digits, w >= 120) + 2;
	if (t.lost || t.lost_before)
		x += canvas_text(ui->canvas, x, 0, t.lost ? STYLE_LOST : STYLE_DIM, lost, -1) + 2;

	if (ui->cursor.live)
		lag_text(ui, text[0], SEGMENT_SIZE);
	else
		reading_text(ui, text[0], SEGMENT_SIZE);
	hosts_text(ui, text[1], SEGMENT_SIZE);
	format_count(count, sizeof(count), duration_ns ? t.events * NS_PER_S / duration_ns : 0, 5);
	g_snprintf(text[2], SEGMENT_SIZE, "%s ev/s", count);
	g_strlcpy(text[3], lost_width ? "" : lost, SEGMENT_SIZE);
	for (int i = 0; i < HEAD_TOTALS; i++) {
		int width = canvas_text_width(text[i]);

		if (width && x + width <= w)
			x += canvas_text(ui->canvas, x, 0, styles[i], text[i], -1) + 2;
	}
}

int header_draw(struct ui *ui, int y, int max_rows)
{
	unsigned n = ui->hosts->len;
	int rows = 1;

	draw_first_line(ui);
	if (!ui->show_hosts || max_rows <= 1)
		return rows;
	if ((int)n > max_rows - 1)
		n = (unsigned)max_rows - 2;
	rows += host_lines_draw(ui, y + 1, n);
	if (n < ui->hosts->len) {
		canvas_printf(ui->canvas, 1, y + rows, STYLE_DIM, "and %u more hosts: pane 9", ui->hosts->len - n);
		rows++;
	}
	return rows;
}
