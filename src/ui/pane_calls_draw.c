/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws the pane of calls: the thread, one line per call, the selected one in full. */
#include <string.h>

#include "ui/keys.h"
#include "ui/pane_calls.h"

enum { TIME_WIDTH = 15, SHORT_TIME_WIDTH = 12, TID_WIDTH = 8, NARROW = 60, TALL = 14, WORD_ROWS = 3, EMPTY_SIZE = 160 };

/*
 * A line fitted into a row: if it is too long, its arguments are cut so that its result remains visible, followed by as
 * much of the rest as there is room for.
 */
struct fitted {
	const struct calls_line *line;
	int x, y, width;
	int head;      /* columns before the tail */
	uint32_t tail; /* start of the tail in bytes; the line's end: there is none */
};

static int columns(const char *text, uint32_t from, uint32_t to)
{
	char *part = g_strndup(text + from, to - from);
	int n = canvas_text_width(part);

	g_free(part);
	return n;
}

static struct fitted fit(const struct calls_line *line, int x, int y, int width)
{
	static const char sign[] = ") = ";
	const uint32_t len = (uint32_t)strlen(line->text);
	const uint32_t tail = line->result - MIN(line->result, (uint32_t)strlen(sign));
	const int tail_max = width * 2 / 3;
	struct fitted f = { line, x, y, width, width, len };

	if (canvas_text_width(line->text) <= width || line->result >= line->result_end ||
	    columns(line->text, tail, line->result_end) > tail_max)
		return f;
	f.tail = tail;
	f.head = MIN(columns(line->text, 0, tail), width - MIN(columns(line->text, tail, len), tail_max));
	return f;
}

static int column_of(const struct fitted *f, uint32_t at)
{
	if (at >= f->tail)
		return f->head + columns(f->line->text, f->tail, at);
	return MIN(columns(f->line->text, 0, at), f->head);
}

static void restyle(struct canvas *c, const struct fitted *f, uint32_t from, uint32_t to, enum style style)
{
	const int begin = column_of(f, from), end = MIN(column_of(f, to), f->width);

	if (begin < end)
		canvas_restyle(c, f->x + begin, f->y, end - begin, style);
}

static void draw_text(struct ui *ui, const struct calls_line *line, int x, int y, int width)
{
	const struct fitted f = fit(line, x, y, width);
	char *head = g_strndup(line->text, f.tail);
	struct canvas *c = ui->canvas;
	int found;

	canvas_text_left(c, x, y, f.head, STYLE_NORMAL, head);
	canvas_text_left(c, x + f.head, y, width - f.head, STYLE_NORMAL, line->text + f.tail);
	restyle(c, &f, 0, line->name, STYLE_BOLD);
	if (line->failed)
		restyle(c, &f, line->result, line->result_end, STYLE_GONE);
	if (line->result_end)
		restyle(c, &f, line->result_end, (uint32_t)strlen(line->text), STYLE_DIM);
	found = ui->search_text->len ? line_find(line, ui->search_text->str) : -1;
	if (found >= 0)
		restyle(c, &f, (uint32_t)found, (uint32_t)found + (uint32_t)ui->search_text->len, STYLE_MATCH);
	g_free(head);
}

static void draw_line(struct ui *ui, const struct calls_pane *s, unsigned i, int y)
{
	const struct calls_line *line = lines_at(s->lines, i);
	struct canvas *c = ui->canvas;
	const bool narrow = c->w < NARROW;
	uint64_t begin_ns, end_ns;
	char time[TIMETEXT_SIZE];
	int x = 1, width;

	ui_interval(ui, &begin_ns, &end_ns);
	width = canvas_text(c, x, y, line->at_ns >= begin_ns && line->at_ns < end_ns ? STYLE_NORMAL : STYLE_DIM,
			    ui_time(ui, time, sizeof(time), line->at_ns, narrow ? 3 : 6, UI_DATE_IF_OTHER), -1);
	x += MAX(width, narrow ? SHORT_TIME_WIDTH : TIME_WIDTH) + 1;
	if (s->process) {
		if (line->tid >= 0)
			canvas_printf(c, x, y, STYLE_NORMAL, "%*d", TID_WIDTH - 1, line->tid);
		x += TID_WIDTH;
	}
	draw_text(ui, line, x, y, c->w - x);
	if (i == s->selected)
		canvas_restyle(c, 0, y, c->w, STYLE_SELECTED);
}

static int draw_hosts(struct ui *ui, const struct calls_pane *s, int x, int y)
{
	int end = x + canvas_printf(ui->canvas, x, y, STYLE_BOLD, "events of");

	for (guint i = 0; i < s->hosts->len; i++)
		end += canvas_printf(ui->canvas, end, y, STYLE_BOLD, i ? ", %s" : " %s",
				     ui_host(ui, g_array_index(s->hosts, unsigned, i))->info.name);
	return end - x;
}

static void draw_subject(struct ui *ui, const struct calls_pane *s, int y)
{
	const struct path_subject *subject = &s->subject;
	const char *host = ui_host(ui, subject->host)->info.name, *comm = strpool_text(subject->comm);
	char begin[TIMETEXT_SIZE], end[TIMETEXT_SIZE], state[32];
	struct canvas *c = ui->canvas;
	int x = 1;

	if (s->events)
		x += draw_hosts(ui, s, x, y);
	else if (s->process)
		x += canvas_printf(c, x, y, STYLE_BOLD, "process %s %d on %s", comm, subject->pid, host);
	else
		x += canvas_printf(c, x, y, STYLE_BOLD, "%s %d on %s", comm, subject->tid, host);
	g_snprintf(state, sizeof(state), ui->calls.percent ? "reading %u%%" : "reading …", ui->calls.percent);
	if (s->wanted && !ui->calls.problem)
		canvas_text_right(c, x + 1, y, c->w - x - 2, STYLE_MARKED, state);
	else if (s->lines && c->w - x > 2 * SHORT_TIME_WIDTH + 8)
		canvas_printf(c, x + 2, y, STYLE_DIM, "[%s, %s[",
			      ui_time(ui, begin, sizeof(begin), calls_begin(ui, s), 3, UI_DATE_IF_OTHER),
			      ui_time(ui, end, sizeof(end), calls_end(ui, s), 3, UI_DATE_IF_OTHER));
}

/* Names the keys that look further. */
static const char *no_call_here(const struct ui *ui, const struct calls_pane *s, char *text, size_t size)
{
	char back[16], on[16];

	g_snprintf(text, size, "no %s started or ended here; %s%s looks further back, %s further on",
		   s->filter->len ? "call that passes the filter" : "system call",
		   s->filter->len ? "F4 changes it, " : "", key_text(UI_KEY_UP, ui->format.ascii, back, sizeof(back)),
		   key_text(UI_KEY_DOWN, ui->format.ascii, on, sizeof(on)));
	return text;
}

/* The explanation may be in text. */
static const char *why_empty(const struct ui *ui, const struct calls_pane *s, char *text, size_t size)
{
	if (ui->calls.number == s->number && ui->calls.problem)
		return ui->calls.problem;
	if (!s->lines)
		return !ui->cursor.live         ? "reading the recording again …"
		       : s->events || s->wanted ? "reading what is kept of it …"
						: "waiting for its next events …";
	if (lines_count(s->lines))
		return NULL;
	if (s->events && ui->cursor.live && ui->calls.first_ns >= s->to_ns)
		return "its events are not kept (--recall-memory)";
	if (s->events)
		return s->filter->len ? "no event in this interval passes the filter; F4 changes it"
				      : "no event in this interval";
	if (ui->cursor.live && calls_begin(ui, s) <= ui->calls.first_ns)
		return s->filter->len ? "no call that passes the filter has ended, and nothing earlier is kept "
					"(--recall-memory); F4 changes the filter"
				      : "no system call has ended, and nothing earlier is kept (--recall-memory)";
	return no_call_here(ui, s, text, size);
}

/* Keeps the selected line visible; when following the time, two thirds of the lines are before it. */
static void scroll(struct calls_pane *s, int h)
{
	const unsigned n = lines_count(s->lines), rows = (unsigned)MAX(h, 1);

	if (!s->chosen)
		s->top = s->selected - MIN(s->selected, rows * 2 / 3);
	if (s->selected < s->top)
		s->top = s->selected;
	if (s->selected >= s->top + rows)
		s->top = s->selected - rows + 1;
	if (s->top + rows > n)
		s->top = n - MIN(n, rows);
}

void pane_calls_draw(struct ui *ui, struct pane *p, int y, int h)
{
	struct calls_pane *s = p->state;
	struct canvas *c = ui->canvas;
	const int words = h >= TALL ? WORD_ROWS : h > 5 ? 1 : 0;
	char text[EMPTY_SIZE];
	const char *why = why_empty(ui, s, text, sizeof(text));

	draw_subject(ui, s, y);
	s->list_y = y + 1;
	s->list_h = h - 1 - words;
	if (why) {
		canvas_text_wrapped(c, 1, y + 2, 3, ui->calls.problem ? STYLE_MARKED : STYLE_DIM, why);
		return;
	}
	scroll(s, s->list_h);
	for (int i = 0; i < s->list_h && s->top + (unsigned)i < lines_count(s->lines); i++)
		draw_line(ui, s, s->top + (unsigned)i, s->list_y + i);
	if (!words)
		return;
	canvas_char(c, 1, y + h - words, STYLE_BOLD, 0x25b6);
	canvas_text_wrapped(c, 3, y + h - words, words, STYLE_NORMAL, lines_at(s->lines, s->selected)->text);
}
