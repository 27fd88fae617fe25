/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The strip with the whole history: how busy it was, where events were lost, where the shown interval is. */
#include <string.h>

#include "ui/internal.h"
#include "view/missing.h"

enum { LABEL_WIDTH = 9, SUMMARIES = 4096 };

/* Where the strip is too narrow for the labels, it has none. */
static const struct {
	int width, screen;
} dates[] = { [UI_DATE_NONE] = { 0, 50 }, [UI_DATE_SHORT] = { 6, 50 }, [UI_DATE_FULL] = { 11, 80 } };

/* One column of the strip. */
struct slot {
	uint64_t busy_ns;    /* busy permille × ns of the busiest host so far */
	uint64_t covered_ns; /* by that host */
	uint32_t permille;
	bool known, lost, gap;
	bool recorded; /* by any host, even one of which it is not known how busy it was */
};

struct span {
	uint64_t begin_ns, end_ns;
	const char *title; /* of the pane, before the strip if there is no line of panes; or NULL */
	enum ui_date date; /* of those times */
	int labels;        /* width of the times on both sides; 0: none */
	int x, width;      /* of the strip itself */
};

static struct span strip_span(const struct ui *ui)
{
	const struct cursor *c = &ui->cursor;
	struct span s = { .begin_ns = c->begin_ns, .end_ns = c->known_ns };

	if (!ui_shows_tabs(ui))
		s.title = (ui->details ? ui->details->type : pane_type(ui->current))->title;
	s.date = ui_date_if_days(ui);
	s.labels = ui->canvas->w >= dates[s.date].screen ? LABEL_WIDTH + dates[s.date].width : 0;
	s.x = (s.title ? canvas_text_width(s.title) + 3 : 0) + s.labels;

	if (!c->complete)
		s.end_ns = MAX(s.end_ns, ui->expected_end_ns);
	s.end_ns = MAX(s.end_ns, s.begin_ns + c->interval_ns);
	s.width = ui->canvas->w - s.x - s.labels;
	return s;
}

static uint64_t column_time(const struct span *s, int column)
{
	return s->begin_ns +
	       (uint64_t)((unsigned __int128)(s->end_ns - s->begin_ns) * (unsigned)column / (unsigned)s->width);
}

static int time_column(const struct span *s, uint64_t t_ns)
{
	if (t_ns <= s->begin_ns)
		return 0;
	return (int)MIN((unsigned __int128)(t_ns - s->begin_ns) * (unsigned)s->width / (s->end_ns - s->begin_ns),
			(unsigned __int128)s->width);
}

/* Adds a frame to the columns it overlaps. busy_known: sched_switch was recorded. */
static void add_frame(const struct span *s, const struct ui_host_data *host, const struct frame_summary *f,
		      bool busy_known, struct slot *slots)
{
	uint64_t begin_ns = ui_to_ref(host, f->begin_ns), end_ns = ui_to_ref(host, f->end_ns);
	int last = MIN(time_column(s, end_ns - 1), s->width - 1);

	for (int i = time_column(s, begin_ns); i <= last; i++) {
		uint64_t from = MAX(column_time(s, i), begin_ns), to = MIN(column_time(s, i + 1), end_ns);

		slots[i].lost |= f->lost;
		slots[i].gap |= f->gap;
		if (f->gap)
			continue;
		slots[i].known |= busy_known;
		slots[i].recorded = true;
		if (busy_known && to > from) {
			slots[i].busy_ns += f->busy_permille * (to - from);
			slots[i].covered_ns += to - from;
		}
	}
}

/* A host that is away has no frames; when it returns they will be a gap. */
static void add_absence(const struct span *s, uint64_t from_ns, uint64_t to_ns, struct slot *slots)
{
	for (int i = time_column(s, from_ns); i < time_column(s, to_ns); i++)
		slots[i].gap = true;
}

static void read_history(const struct ui *ui, const struct span *s, struct slot *slots)
{
	struct frame_summary *frames = g_new(struct frame_summary, SUMMARIES);

	for (unsigned i = 0; i < ui->hosts->len; i++) {
		const struct ui_host_data *host = ui_host(ui, i);
		const bool busy_known = !(data_host_lacks(host) & VIEW_LACKS_SWITCHES);
		uint64_t from = ui_from_ref(host, s->begin_ns), to = ui_from_ref(host, s->end_ns);
		unsigned n;

		if (host->hidden || host->info.user_space)
			continue;
		do {
			n = history_summaries(ui->history, host->info.track, from, to, frames, SUMMARIES);
			for (unsigned k = 0; k < n; k++)
				add_frame(s, host, &frames[k], busy_known, slots);
			if (n)
				from = frames[n - 1].end_ns;
		} while (n == SUMMARIES);
		if (host->info.away || host->info.silent)
			add_absence(s, ui_to_ref(host, host->info.still ? host->info.end_ns : from),
				    ui->cursor.known_ns, slots);
		/* the busiest host counts */
		for (int k = 0; k < s->width; k++) {
			if (slots[k].covered_ns)
				slots[k].permille =
					MAX(slots[k].permille, (uint32_t)(slots[k].busy_ns / slots[k].covered_ns));
			slots[k].busy_ns = slots[k].covered_ns = 0;
		}
	}
	g_free(frames);
}

int timeline_draw(struct ui *ui, int y)
{
	struct span s = strip_span(ui);
	struct canvas *c = ui->canvas;
	char text[TIMETEXT_SIZE];
	struct slot *slots;
	int from, to;

	if (s.width <= 0)
		return 0;
	slots = g_new0(struct slot, (gsize)s.width);
	read_history(ui, &s, slots);
	for (int i = 0; i < s.width; i++) {
		if (slots[i].lost)
			canvas_char(c, s.x + i, y, STYLE_LOST, '!');
		else if (slots[i].known && slots[i].permille >= 5)
			canvas_char(c, s.x + i, y, slots[i].gap ? STYLE_MARKED : STYLE_STRIP,
				    canvas_column_glyph(slots[i].permille));
		else if (slots[i].known)
			canvas_char(c, s.x + i, y, slots[i].gap ? STYLE_MARKED : STYLE_DIM, '_');
		else if (slots[i].gap || slots[i].recorded)
			canvas_char(c, s.x + i, y, STYLE_MARKED, '?');
		else
			canvas_char(c, s.x + i, y, STYLE_DIM, 0xb7);
	}
	g_free(slots);
	if (ui->shown_end_ns > ui->shown_begin_ns) {
		from = time_column(&s, ui->shown_begin_ns);
		to = MAX(time_column(&s, ui->shown_end_ns), from + 1);
		canvas_restyle(c, s.x + from, y, MIN(to, s.width) - from, STYLE_CURSOR);
	}
	if (ui->mark.set)
		canvas_char(c, s.x + MIN(time_column(&s, instant_ref(ui, &ui->mark)), s.width - 1), y, STYLE_PAUSED,
			    'A');
	if (s.title)
		canvas_printf(c, 0, y, STYLE_HEAD_SORT, " %s ", s.title);
	if (s.labels) {
		canvas_text(c, s.x - s.labels, y, STYLE_DIM, ui_time(ui, text, sizeof(text), s.begin_ns, 0, s.date),
			    s.labels - 1);
		canvas_text(c, c->w - s.labels + 1, y, STYLE_DIM, ui_time(ui, text, sizeof(text), s.end_ns, 0, s.date),
			    s.labels - 1);
	}
	ui->strip_y = y;
	return 1;
}

uint64_t timeline_time_at(const struct ui *ui, int x)
{
	struct span s = strip_span(ui);

	return x >= s.x && x < s.x + s.width ? column_time(&s, x - s.x) : 0;
}
