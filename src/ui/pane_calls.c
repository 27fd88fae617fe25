/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls of a thread, or of its process, as text around the shown time: one line per call, the selected one
 * in full below. Whoever drives the screen reads them (ui_wanted_calls()). A window is read again:
 *
 *       back_ns           on_ns
 *   [───────────── ▶ ─────────────[    wanted; at least half of it on each side of ▶ must be available
 *                  ╵ the selected line, or the end of the shown interval
 *
 * Live, lines since the pane was opened come without being wanted, and the window ends where they begin.
 */
#include <string.h>

#include "ui/pane_calls.h"

#include "base/nstime.h"

enum { PAGES = 2 };

static struct calls_pane *state_of(const struct pane *p)
{
	return p->state;
}

/* ---- what to read ---- */

static void reset_reach(const struct ui *ui, struct calls_pane *s)
{
	/* for an interval's events, as many as fit */
	s->back_ns = s->on_ns =
		s->events ? 2 * (s->to_ns - s->from_ns) : CLAMP(2 * ui->cursor.interval_ns, NS_PER_S, 5 * NS_PER_S);
}

/* The threads of the process known in the shown interval; more are found by their pid. */
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

/* The current lines do not belong to the threads or calls that are now wanted. */
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

/* Whether there are enough lines on both sides: up to these times, or some pages. */
static bool has(const struct ui *ui, const struct calls_pane *s, uint64_t at_ns, uint64_t begin_ns, uint64_t end_ns)
{
	const unsigned enough = PAGES * (unsigned)page_of(s);
	uint64_t from_ns, to_ns;
	unsigned before;

	if (!s->lines)
		return false;
	before = lines_before(s->lines, at_ns);
	from_ns = calls_begin(ui, s);
	to_ns = calls_end(ui, s);
	return (from_ns <= begin_ns || (from_ns <= at_ns && before >= enough)) &&
	       (to_ns >= end_ns || (to_ns >= at_ns && lines_count(s->lines) - before >= enough));
}

/* What there is to be read. */
static void limits(const struct ui *ui, const struct calls_pane *s, uint64_t *first_ns, uint64_t *last_ns)
{
	const bool is_known = ui->calls.number == s->number;

	*first_ns = MAX(s->events ? s->from_ns : ui->cursor.begin_ns, is_known ? ui->calls.first_ns : 0);
	*last_ns = MIN(s->events ? s->to_ns : ui->cursor.known_ns, is_known ? ui->calls.later_ns : UINT64_MAX);
}

static void want(const struct ui *ui, struct calls_pane *s, uint64_t at_ns)
{
	const bool is_known = ui->calls.number == s->number;
	uint64_t first_ns, last_ns, begin_ns, end_ns;

	limits(ui, s, &first_ns, &last_ns);
	begin_ns = MAX(first_ns, at_ns - MIN(at_ns, s->back_ns / 2));
	end_ns = MIN(last_ns, at_ns + s->on_ns / 2);

	s->at_ns = at_ns;
	if (begin_ns >= end_ns || (ui->cursor.live && !is_known) || has(ui, s, at_ns, begin_ns, end_ns)) {
		s->wanted = false;
		return;
	}
	/* the range being read covers it, while time moves on */
	if (s->wanted && s->wanted_begin_ns <= begin_ns && s->wanted_end_ns >= end_ns)
		return;
	s->wanted = true;
	s->wanted_begin_ns = MAX(first_ns, at_ns - MIN(at_ns, s->back_ns));
	s->wanted_end_ns = MIN(last_ns, at_ns + s->on_ns);
	s->wanted_around_ns = at_ns;
}

bool ui_wanted_calls(struct ui *ui, struct ui_calls_request *request)
{
	const struct pane *p = ui_pane(ui);
	const struct calls_pane *s;

	if (ui->behind && pane_is_calls(ui->behind))
		p = ui->behind;
	if (!ui->started || !pane_is_calls(p))
		return false;
	s = state_of(p);
	*request = (struct ui_calls_request){
		.number = s->number,
		.host = s->subject.host,
		.tids = (const int32_t *)(const void *)s->tids->data,
		.n_tids = s->tids->len,
		.process = s->process,
		.calls = s->filter->str,
		.events = s->events,
		.around_ns = s->at_ns,
	};
	if (s->events) {
		request->hosts = (const unsigned *)(const void *)s->hosts->data;
		request->n_hosts = s->hosts->len;
	}
	if (s->wanted && p == ui_pane(ui)) {
		request->begin_ns = s->wanted_begin_ns;
		request->end_ns = s->wanted_end_ns;
		request->around_ns = s->wanted_around_ns;
	}
	return true;
}

void ui_set_calls(struct ui *ui, const struct ui_calls *calls)
{
	const bool same = ui->calls.number == calls->number && ui->calls.lines == calls->lines &&
			  ui->calls.version == calls->version && ui->calls.first_ns == calls->first_ns &&
			  g_strcmp0(ui->calls.problem, calls->problem) == 0;
	const bool progress = ui->calls.begin_ns != calls->begin_ns || ui->calls.end_ns != calls->end_ns ||
			      ui->calls.later_ns != calls->later_ns || ui->calls.percent != calls->percent;
	char *problem = g_strdup(calls->problem);

	/* the pane is updated before anything reads the lines */
	g_free((char *)ui->calls.problem);
	ui->calls = *calls;
	ui->calls.problem = problem;
	ui->dirty |= !same;
	ui->growing |= progress;
}

/* ---- the selected line ---- */

static void choose(struct calls_pane *s, unsigned i)
{
	s->selected = i;
	s->selected_ns = lines_at(s->lines, i)->at_ns;
	s->selected_nth = i - lines_before(s->lines, s->selected_ns);
	s->chosen = true;
}

/* When the user moves the time, the lines follow; during playback a chosen line stays. */
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
	i = s->chosen ? lines_before(s->lines, s->selected_ns) + s->selected_nth
		      : MAX(lines_before(s->lines, s->shown_end_ns), 1) - 1;
	i = MIN(i, n - 1);
	/* a chosen line keeps its place on the screen, whatever is added or removed before it */
	if (s->chosen && i >= s->selected)
		s->top += i - s->selected;
	else if (s->chosen)
		s->top -= MIN(s->top, s->selected - i);
	s->selected = i;
}

static void calls_update(struct ui *ui, struct pane *p)
{
	struct calls_pane *s = state_of(p);
	uint64_t begin_ns, end_ns;

	ui_interval(ui, &begin_ns, &end_ns);
	if (end_ns <= begin_ns)
		return;
	follow_time(ui, s, end_ns);
	s->lines = ui->calls.number == s->number ? ui->calls.lines : NULL;
	if (s->lines)
		select_line(s);
	end_ns = s->chosen ? s->selected_ns : end_ns;
	want(ui, s, s->events ? CLAMP(end_ns, s->from_ns, s->to_ns) : end_ns);
}

/* At the ends, reads further, twice as far each time. */
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

/* Moves time to the start of the call. */
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
	ui_interval(ui, &begin_ns, &s->shown_end_ns);
	ui_say(ui, "at %s", ui_time(ui, time, sizeof(time), s->selected_ns, 9, UI_DATE_IF_DAYS));
}

/* ---- the pane ---- */

static char *calls_status(struct ui *ui, struct pane *p)
{
	const struct calls_pane *s = state_of(p);
	GString *text = g_string_new(NULL);

	if (s->filter->len)
		g_string_append_printf(text, "%s: %s  ", s->events ? "filter" : "calls", s->filter->str);
	if (s->lines && lines_count(s->lines))
		g_string_append_printf(text, "%s%u/%u%s", s->chosen ? "" : "following  ", s->selected + 1,
				       lines_count(s->lines), s->events && pane_calls_unread(ui, p) ? "+" : "");
	return g_string_free(text, FALSE);
}

static void calls_release(struct pane *p)
{
	struct calls_pane *s = state_of(p);

	g_array_free(s->tids, TRUE);
	if (s->hosts)
		g_array_free(s->hosts, TRUE);
	g_string_free(s->filter, TRUE);
	g_free(s);
}

static const struct pane_body calls_body = {
	.where = WHERE_CALLS,
	.update = calls_update,
	.draw = pane_calls_draw,
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

static const struct pane_type events_type = {
	.title = "Dump",
	.reads = 1u << TABLE_HOST,
	.body = &calls_body,
};

static struct calls_pane *state_create(void)
{
	struct calls_pane *s = g_new0(struct calls_pane, 1);

	s->tids = g_array_new(FALSE, FALSE, sizeof(int32_t));
	s->filter = g_string_new(NULL);
	return s;
}

struct pane *pane_calls_create(struct ui *ui, const struct path_subject *subject)
{
	struct pane *p = pane_create(&calls_type);
	struct calls_pane *s = state_create();

	s->subject = *subject;
	reset_reach(ui, s);
	ask_again(ui, s);
	g_string_truncate(ui->search_text, 0);
	p->state = s;
	return p;
}

struct pane *pane_events_create(struct ui *ui)
{
	struct pane *p = pane_create(&events_type);
	struct calls_pane *s = state_create();

	s->events = true;
	ui_interval(ui, &s->from_ns, &s->to_ns);
	s->from = instant_of(ui, s->from_ns);
	s->to = instant_of(ui, s->to_ns);
	s->shown_end_ns = s->to_ns;
	s->hosts = data_shown_hosts(ui);
	g_string_assign(s->filter, ui->filter_text->str);
	/* it opens at its first line */
	s->chosen = true;
	s->selected_ns = s->from_ns;
	reset_reach(ui, s);
	ask_again(ui, s);
	g_string_truncate(ui->search_text, 0);
	p->state = s;
	return p;
}

void pane_events_clocks_changed(struct ui *ui, struct pane *p)
{
	struct calls_pane *s = state_of(p);
	const uint64_t from_ns = s->from_ns, to_ns = s->to_ns;

	if (!s->events || !s->from.set)
		return;
	s->from_ns = instant_ref(ui, &s->from);
	s->to_ns = instant_ref(ui, &s->to);
	if (s->lines || (s->from_ns == from_ns && s->to_ns == to_ns))
		return;
	s->selected_ns = s->from_ns;
	reset_reach(ui, s);
	ask_again(ui, s);
}

/* ---- for the actions ---- */

void pane_calls_toggle(struct ui *ui, struct pane *p)
{
	struct calls_pane *s = state_of(p);

	if (s->events) {
		ui_say(ui, "these are events of all threads; press F4 to filter them");
		return;
	}
	if (!s->process && s->subject.pid <= 0) {
		ui_say(ui, "its process is unknown");
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

bool pane_calls_has_events(const struct pane *p)
{
	return state_of(p)->events;
}

void pane_calls_set_filter(struct ui *ui, struct pane *p, const char *calls)
{
	struct calls_pane *s = state_of(p);

	if (strcmp(s->filter->str, calls) == 0)
		return;
	g_string_assign(s->filter, calls);
	ask_again(ui, s);
}

const char *pane_calls_unread(const struct ui *ui, const struct pane *p)
{
	const struct calls_pane *s = state_of(p);
	uint64_t first_ns, last_ns;
	bool before, after;

	if (!s->lines)
		return NULL;
	limits(ui, s, &first_ns, &last_ns);
	before = calls_begin(ui, s) > first_ns;
	after = calls_end(ui, s) < last_ns;
	return before && after ? "Home and End" : before ? "Home" : after ? "End" : NULL;
}

bool pane_calls_export(const struct ui *ui, const struct pane *p, struct ui_export *what, GArray *hosts)
{
	const struct calls_pane *s = state_of(p);

	if (!s->lines || !lines_count(s->lines))
		return false;
	what->lines = s->lines;
	what->tids = s->process;
	what->begin_ns = calls_begin(ui, s);
	what->end_ns = calls_end(ui, s);
	if (s->events)
		g_array_append_vals(hosts, s->hosts->data, s->hosts->len);
	else
		g_array_append_val(hosts, s->subject.host);
	return true;
}

void pane_calls_keep_names(const struct pane *p)
{
	const struct calls_pane *s = p->state;

	strpool_keep(s->subject.comm);
}

bool pane_calls_selected(const struct ui *ui, const struct pane *p, struct path_subject *subject, uint64_t *at_ns)
{
	const struct calls_pane *s = state_of(p);
	const struct calls_line *line;

	if (s->events || !s->lines || !lines_count(s->lines))
		return false;
	line = lines_at(s->lines, s->selected);
	*subject = (struct path_subject){
		.host = s->subject.host,
		.tid = line->tid >= 0 ? line->tid : s->subject.tid,
		.pid = s->subject.pid,
		.comm = s->subject.comm,
		.alive_ns = ui_from_ref(ui_host(ui, s->subject.host), line->at_ns),
	};
	*at_ns = line->at_ns;
	return true;
}
