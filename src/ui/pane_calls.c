/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls of a thread, or of its process, as text around the shown time: a line per call, the selected one
 * in full below. Who drives the screen reads them (ui_wanted_calls()).
 *
 *       back_ns           on_ns
 *   [───────────── ▶ ─────────────[    wanted; what is half of it away from ▶ at least must be there
 *                  ╵ the selected line, or the end of the shown interval
 */
#include <string.h>

#include "ui/internal.h"

enum { TIME_WIDTH = 15, SHORT_TIME_WIDTH = 12, TID_WIDTH = 8, NARROW = 60, TALL = 14, WORD_ROWS = 3, PAGES = 2 };

struct calls_pane {
	struct path_subject subject;
	bool process;
	GArray *tids;             /* int32_t: threads that are known to be meant */
	GString *filter;
	unsigned number;          /* of the wish */
	const struct lines *lines; /* NULL: none yet */
	/* what is wanted around where one is */
	uint64_t back_ns, on_ns;
	bool wanted;
	uint64_t wanted_begin_ns, wanted_end_ns, wanted_around_ns;
	/* where one is */
	uint64_t shown_end_ns;    /* of the shown interval when it was looked at last, 0: never */
	bool chosen;              /* by the user: the line stays selected, else the last one of the shown interval is */
	uint64_t selected_ns;
	unsigned selected_nth;    /* of the lines of that time */
	unsigned selected, top;
	unsigned search_from;     /* where one was when a search began, and whether the line was chosen */
	bool search_chosen;
	int list_y, list_h;       /* where lines were drawn last */
};

static struct calls_pane *state_of(const struct pane *p)
{
	return p->state;
}

/* ---- what is wanted ---- */

static void reset_reach(const struct ui *ui, struct calls_pane *s)
{
	s->back_ns = s->on_ns = CLAMP(2 * ui->cursor.interval_ns, NS_PER_S, 5 * NS_PER_S);
}

/* The threads of the process that are known in the shown interval; others of it may come by their pid. */
static void list_tids(const struct ui *ui, struct calls_pane *s)
{
	const struct ui_host_data *host = ui_host(ui, s->subject.host);
	const struct interval_table *t = &host->load.interval.tables[TABLE_THREAD];

	g_array_set_size(s->tids, 0);
	g_array_append_val(s->tids, s->subject.tid);
	for (uint32_t i = 0; s->process && s->subject.pid > 0 && host->loaded && i < t->n_rows; i++) {
		const struct thread_row *thread = INTERVAL_ROW(thread, &t->rows[i]);
		const int32_t tid = (int32_t)thread->tid;

		if ((int32_t)thread->pid == s->subject.pid && tid != s->subject.tid)
			g_array_append_val(s->tids, tid);
	}
}

/* Other threads or calls: what is there is none of them. */
static void ask_again(struct ui *ui, struct calls_pane *s)
{
	s->number = ++ui->calls_asked;
	s->lines = NULL;
	s->wanted = false;
	list_tids(ui, s);
}

static int page_of(const struct calls_pane *s)
{
	return MAX(s->list_h - 1, 5);
}

/* All of this is in the lines. */
static uint64_t begin_of(const struct ui *ui, const struct calls_pane *s)
{
	return MAX(ui->calls.begin_ns, s->lines->dropped_before_ns);
}

static uint64_t end_of(const struct ui *ui, const struct calls_pane *s)
{
	return MIN(ui->calls.end_ns, s->lines->dropped_after_ns);
}

/* Whether there is enough on both sides of it: up to these times, or for some pages. */
static bool has(const struct ui *ui, const struct calls_pane *s, uint64_t at_ns, uint64_t begin_ns, uint64_t end_ns)
{
	const unsigned enough = PAGES * (unsigned)page_of(s);
	uint64_t from_ns, to_ns;
	unsigned before;

	if (!s->lines)
		return false;
	before = lines_before(s->lines, at_ns);
	from_ns = begin_of(ui, s);
	to_ns = end_of(ui, s);
	return (from_ns <= begin_ns || (from_ns <= at_ns && before >= enough)) &&
	       (to_ns >= end_ns || (to_ns >= at_ns && lines_count(s->lines) - before >= enough));
}

static void want(const struct ui *ui, struct calls_pane *s, uint64_t at_ns)
{
	const uint64_t first_ns = ui->cursor.begin_ns, last_ns = ui->cursor.known_ns;
	const uint64_t begin_ns = MAX(first_ns, at_ns - MIN(at_ns, s->back_ns / 2));
	const uint64_t end_ns = MIN(last_ns, at_ns + s->on_ns / 2);

	if (has(ui, s, at_ns, begin_ns, end_ns)) {
		s->wanted = false;
		return;
	}
	/* what is being read will do: time goes on meanwhile */
	if (s->wanted && s->wanted_begin_ns <= begin_ns && s->wanted_end_ns >= end_ns)
		return;
	s->wanted = true;
	s->wanted_begin_ns = MAX(first_ns, at_ns - MIN(at_ns, s->back_ns));
	s->wanted_end_ns = MIN(last_ns, at_ns + s->on_ns);
	s->wanted_around_ns = at_ns;
}

bool ui_wanted_calls(struct ui *ui, struct ui_calls_wish *wish)
{
	const struct calls_pane *s;

	if (!ui->started || !pane_is_calls(ui_pane(ui)))
		return false;
	s = state_of(ui_pane(ui));
	*wish = (struct ui_calls_wish){
		.number = s->number,
		.host = s->subject.host,
		.tids = (const int32_t *)(const void *)s->tids->data,
		.n_tids = s->tids->len,
		.process = s->process,
		.calls = s->filter->str,
		.begin_ns = s->wanted_begin_ns,
		.end_ns = s->wanted_end_ns,
		.around_ns = s->wanted_around_ns,
	};
	return s->wanted;
}

void ui_set_calls(struct ui *ui, const struct ui_calls *calls)
{
	const bool same = ui->calls.number == calls->number && ui->calls.lines == calls->lines &&
			  g_strcmp0(ui->calls.problem, calls->problem) == 0;
	char *problem = g_strdup(calls->problem);

	/* the pane is brought up to date before anything looks at the lines */
	g_free((char *)ui->calls.problem);
	ui->calls = *calls;
	ui->calls.problem = problem;
	ui->dirty |= !same;
	ui->growing = true;
}

/* ---- where one is ---- */

static void choose(struct calls_pane *s, unsigned i)
{
	s->selected = i;
	s->selected_ns = lines_at(s->lines, i)->at_ns;
	s->selected_nth = i - lines_before(s->lines, s->selected_ns);
	s->chosen = true;
}

/* When the time is moved by hand the lines go along; while it goes on by itself a chosen line stays. */
static void follow_time(const struct ui *ui, struct calls_pane *s, uint64_t end_ns)
{
	if (end_ns == s->shown_end_ns)
		return;
	if (ui->cursor.mode == CURSOR_PAUSED && s->shown_end_ns) {
		s->chosen = false;
		reset_reach(ui, s);
	}
	s->shown_end_ns = end_ns;
}

static void select_line(struct calls_pane *s)
{
	const unsigned n = lines_count(s->lines);
	unsigned i;

	if (!n) {
		s->selected = 0;
		return;
	}
	i = s->chosen ? lines_before(s->lines, s->selected_ns) + s->selected_nth :
			MAX(lines_before(s->lines, s->shown_end_ns), 1) - 1;
	s->selected = MIN(i, n - 1);
}

static void calls_update(struct ui *ui, struct pane *p)
{
	struct calls_pane *s = state_of(p);
	uint64_t begin_ns, end_ns;

	cursor_interval(&ui->cursor, &begin_ns, &end_ns);
	if (end_ns <= begin_ns)
		return;
	follow_time(ui, s, end_ns);
	s->lines = ui->calls.number == s->number ? ui->calls.lines : NULL;
	if (s->lines)
		select_line(s);
	want(ui, s, s->chosen ? s->selected_ns : end_ns);
}

/* At the ends more is looked for, each time twice as far. */
static void calls_move(struct pane *p, int by)
{
	struct calls_pane *s = state_of(p);
	const int n = s->lines ? (int)lines_count(s->lines) : 0;
	const int to = (int)CLAMP((int64_t)s->selected + by, -1, n);

	if (to < 0 && !s->wanted)
		s->back_ns = MIN(2 * s->back_ns, UINT64_MAX / 4);
	if (to >= n && !s->wanted)
		s->on_ns = MIN(2 * s->on_ns, UINT64_MAX / 4);
	if (n)
		choose(s, (unsigned)CLAMP(to, 0, n - 1));
}

static int calls_page(const struct pane *p)
{
	return page_of(state_of(p));
}

static bool calls_click(struct pane *p, int x, int y)
{
	struct calls_pane *s = state_of(p);
	const unsigned i = s->top + (unsigned)(y - s->list_y);

	(void)x;
	if (!s->lines || y < s->list_y || y >= s->list_y + s->list_h || i >= lines_count(s->lines))
		return false;
	choose(s, i);
	return true;
}

static bool calls_search(struct pane *p, const char *text, int step)
{
	struct calls_pane *s = state_of(p);
	int found;

	if (!text) {
		s->search_from = s->selected;
		s->search_chosen = s->chosen;
		return true;
	}
	if (!s->lines || !lines_count(s->lines))
		return !*text;
	if (!step) {
		choose(s, MIN(s->search_from, lines_count(s->lines) - 1));
		s->chosen = s->search_chosen;
	}
	if (!*text)
		return true;
	found = lines_search(s->lines, s->selected + lines_count(s->lines) + (unsigned)step, step < 0, text);
	if (found >= 0)
		choose(s, (unsigned)found);
	return found >= 0;
}

/* Time goes to where the call began. */
static void calls_open(struct ui *ui, struct pane *p)
{
	struct calls_pane *s = state_of(p);
	uint64_t begin_ns;
	char time[TIMETEXT_SIZE];

	if (!s->lines || !lines_count(s->lines))
		return;
	choose(s, s->selected);
	cursor_pause(&ui->cursor, true);
	cursor_jump(&ui->cursor, s->selected_ns);
	cursor_interval(&ui->cursor, &begin_ns, &s->shown_end_ns);
	ui_say(ui, "at %s", ui_time(ui, time, sizeof(time), s->selected_ns, 9, false));
}

/* ---- drawing ---- */

/*
 * A line in a row that may be too short for it: then its arguments are cut, so that its result is seen, and of what
 * stands behind it as much as there is room for.
 */
struct fitted {
	const struct line *line;
	int x, y, width;
	int head;      /* columns of what stands before the tail */
	uint32_t tail; /* where that begins, in bytes; the line's end: it has none */
};

static int columns(const char *text, uint32_t from, uint32_t to)
{
	char *part = g_strndup(text + from, to - from);
	int n = canvas_text_width(part);

	g_free(part);
	return n;
}

static struct fitted fit(const struct line *line, int x, int y, int width)
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

static void draw_text(struct ui *ui, const struct line *line, int x, int y, int width)
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
	const struct line *line = lines_at(s->lines, i);
	struct canvas *c = ui->canvas;
	const bool narrow = c->w < NARROW;
	uint64_t begin_ns, end_ns;
	char time[TIMETEXT_SIZE];
	int x = 1;

	cursor_interval(&ui->cursor, &begin_ns, &end_ns);
	canvas_text(c, x, y, line->at_ns >= begin_ns && line->at_ns < end_ns ? STYLE_NORMAL : STYLE_DIM,
		    ui_time(ui, time, sizeof(time), line->at_ns, narrow ? 3 : 6, false), -1);
	x += (narrow ? SHORT_TIME_WIDTH : TIME_WIDTH) + 1;
	if (s->process) {
		canvas_printf(c, x, y, STYLE_NORMAL, "%*d", TID_WIDTH - 1, line->tid);
		x += TID_WIDTH;
	}
	draw_text(ui, line, x, y, c->w - x);
	if (i == s->selected)
		canvas_restyle(c, 0, y, c->w, STYLE_SELECTED);
}

static void draw_subject(struct ui *ui, const struct calls_pane *s, int y)
{
	const struct path_subject *subject = &s->subject;
	const char *host = ui_host(ui, subject->host)->info.name, *comm = strpool_text(subject->comm);
	char begin[TIMETEXT_SIZE], end[TIMETEXT_SIZE], state[32];
	struct canvas *c = ui->canvas;
	int x = 1;

	if (s->process)
		x += canvas_printf(c, x, y, STYLE_BOLD, "process %s %d on %s", comm, subject->pid, host);
	else
		x += canvas_printf(c, x, y, STYLE_BOLD, "%s %d on %s", comm, subject->tid, host);
	g_snprintf(state, sizeof(state), ui->calls.percent ? "reading %u%%" : "reading …", ui->calls.percent);
	if (s->wanted && !ui->calls.problem)
		canvas_text_right(c, x + 1, y, c->w - x - 2, STYLE_MARKED, state);
	else if (s->lines && c->w - x > 2 * SHORT_TIME_WIDTH + 8)
		canvas_printf(c, x + 2, y, STYLE_DIM, "[%s, %s[",
			      ui_time(ui, begin, sizeof(begin), begin_of(ui, s), 3, false),
			      ui_time(ui, end, sizeof(end), end_of(ui, s), 3, false));
}

static const char *why_empty(const struct ui *ui, const struct calls_pane *s)
{
	if (ui->calls.number == s->number && ui->calls.problem)
		return ui->calls.problem;
	if (!s->lines)
		return "reading the recording again …";
	if (lines_count(s->lines))
		return NULL;
	if (s->filter->len)
		return "no such call began or ended in this time; F4 changes the filter, ↑ looks further back, ↓ "
		       "further on";
	return "no system call began or ended in this time; ↑ looks further back, ↓ further on";
}

/* The selected line stays in sight; with the time the lines before it fill two thirds. */
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

static void calls_draw(struct ui *ui, struct pane *p, int y, int h)
{
	struct calls_pane *s = state_of(p);
	struct canvas *c = ui->canvas;
	const int words = h >= TALL ? WORD_ROWS : h > 5 ? 1 : 0;
	const char *why = why_empty(ui, s);

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

static char *calls_status(struct ui *ui, struct pane *p)
{
	const struct calls_pane *s = state_of(p);
	GString *text = g_string_new(NULL);

	(void)ui;
	if (s->filter->len)
		g_string_append_printf(text, "calls: %s  ", s->filter->str);
	if (s->lines && lines_count(s->lines))
		g_string_append_printf(text, "%s%u/%u", s->chosen ? "" : "following  ", s->selected + 1,
				       lines_count(s->lines));
	return g_string_free(text, FALSE);
}

static void calls_release(struct pane *p)
{
	struct calls_pane *s = state_of(p);

	g_array_free(s->tids, TRUE);
	g_string_free(s->filter, TRUE);
	g_free(s);
}

static const struct pane_body calls_body = {
	.where = WHERE_CALLS,
	.update = calls_update,
	.draw = calls_draw,
	.move = calls_move,
	.open = calls_open,
	.status = calls_status,
	.click = calls_click,
	.release = calls_release,
	.page = calls_page,
	.search = calls_search,
};

static const struct pane_type calls_type = {
	.title = "Attach",
	.reads = 1u << TABLE_HOST | 1u << TABLE_THREAD,
	.body = &calls_body,
};

struct pane *pane_calls_create(struct ui *ui, const struct path_subject *subject)
{
	struct pane *p = pane_create(&calls_type);
	struct calls_pane *s = g_new0(struct calls_pane, 1);

	s->subject = *subject;
	s->tids = g_array_new(FALSE, FALSE, sizeof(int32_t));
	s->filter = g_string_new(NULL);
	reset_reach(ui, s);
	ask_again(ui, s);
	g_string_truncate(ui->search_text, 0);
	p->state = s;
	return p;
}

/* ---- for the actions ---- */

void pane_calls_toggle(struct ui *ui, struct pane *p)
{
	struct calls_pane *s = state_of(p);

	if (!s->process && s->subject.pid <= 0) {
		ui_say(ui, "its process is not known");
		return;
	}
	s->process = !s->process;
	ask_again(ui, s);
	ui_say(ui, s->process ? "calls of all threads of the process" : "calls of the thread");
}

void pane_calls_follow(struct pane *p)
{
	state_of(p)->chosen = false;
}

const char *pane_calls_filter(const struct pane *p)
{
	return state_of(p)->filter->str;
}

void pane_calls_set_filter(struct ui *ui, struct pane *p, const char *calls)
{
	struct calls_pane *s = state_of(p);

	if (strcmp(s->filter->str, calls) == 0)
		return;
	g_string_assign(s->filter, calls);
	ask_again(ui, s);
}

bool pane_calls_selected(const struct ui *ui, const struct pane *p, struct path_subject *subject, uint64_t *at_ns)
{
	const struct calls_pane *s = state_of(p);
	const struct line *line;

	if (!s->lines || !lines_count(s->lines))
		return false;
	line = lines_at(s->lines, s->selected);
	*subject = (struct path_subject){
		.host = s->subject.host,
		.tid = line->tid,
		.pid = s->subject.pid,
		.comm = s->subject.comm,
		.alive_ns = ui_from_ref(ui_host(ui, s->subject.host), line->at_ns),
	};
	*at_ns = line->at_ns;
	return true;
}
