/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The critical path of a thread over the window: a time axis with its segments, a description of the selected one,
 * lists.
 */
#include <string.h>

#include "ui/internal.h"

enum { BOTH_MIN_WIDTH = 120, LANES_MIN = 3, LANES_MAX = 12, WORD_ROWS = 2 };

struct path_pane {
	struct path_subject subject;
	struct path *path;         /* NULL: none yet */
	bool stale;                /* it belongs to another window */
	bool none;                 /* the thread has none in this window */
	uint64_t begin_ns, end_ns; /* requested range */
	const struct waits *graph; /* the graph that answered; only compared, never followed */
	unsigned generation;
	uint64_t selected_ns; /* start of the selected segment */
	bool chosen;          /* selected by the user: the selection keeps its place in time */
	unsigned selected, top;
	bool sums;                          /* the list shows totals, not segments */
	int list_x, list_y, list_w, list_h; /* where segments were drawn last; h 0: not drawn */
	GString *perf;                      /* counters of its threads in the window; "": none */
	struct waits *followed_in;          /* live: the graph that keeps the path up to date; NULL: none */
	wait_row followed;
};

static struct path_pane *state_of(const struct pane *p)
{
	return p->state;
}

/* ---- the thread ---- */

struct path_graph {
	const struct ui_graph *graph;
	uint64_t end_ns; /* the window's: names are the last ones before it */
};

static struct wait_who screen_who(const void *data, wait_row row)
{
	const struct path_graph *in = data;
	struct wait_who who = waits_who_at(in->graph->info.waits, row, in->end_ns - 1);

	who.host = window_screen_host(in->graph, who.host);
	return who;
}

/*
 * The subject's row in a graph; WAIT_NO_ROW: it did not exist in the window, or is not known. It is found by its tid at
 * a time when it existed: other threads may have had that tid before, or have got it since.
 */
static wait_row find_row(const struct ui *ui, const struct ui_graph *graph, const struct path_subject *s,
			 uint64_t begin_ns, uint64_t end_ns)
{
	const struct ui_host_data *host = ui_host(ui, s->host);
	unsigned number = window_graph_host(graph, s->host);
	uint64_t exited_ns = s->exited_ns ? ui_to_ref(host, s->exited_ns) : UINT64_MAX;
	wait_row row;

	if (number == UINT_MAX || (s->born_ns && ui_to_ref(host, s->born_ns) >= end_ns))
		return WAIT_NO_ROW;
	row = waits_find(graph->info.waits, number, s->tid, ui_to_ref(host, s->alive_ns));
	return exited_ns > begin_ns || waits_outlasts(graph->info.waits, row, exited_ns, begin_ns) ? row : WAIT_NO_ROW;
}

/* ---- keeping up ---- */

/* Live, has the graph extend the shown thread's path as it grows, beyond what the graph remembers. */
static void follow(struct path_pane *s, const struct ui *ui, const struct ui_graph *graph, wait_row row)
{
	if (!ui->cursor.live || graph != &ui->window->graphs[UI_WAITS_RUNNING] ||
	    (s->followed_in && s->followed == row))
		return;
	/* another thread with that tid; a graph that starts again still has its row */
	if (s->followed_in)
		waits_unfollow(s->followed_in, s->followed);
	waits_follow(graph->info.waits, row);
	s->followed_in = graph->info.waits;
	s->followed = row;
}

static void select_again(struct path_pane *s)
{
	if (!s->path->steps->len)
		return;
	s->selected = s->chosen ? path_find(s->path, s->selected_ns) : 0;
}

/* Selects the longest segment, where a reader looks first. */
static void select_first(struct path_pane *s)
{
	uint64_t most_ns = 0;

	for (unsigned i = 0; i < s->path->steps->len; i++) {
		const struct wait_segment *segment = &path_step(s->path, i)->segment;

		if (segment->end_ns - segment->begin_ns > most_ns) {
			most_ns = segment->end_ns - segment->begin_ns;
			s->selected = i;
		}
	}
}

static void resolve(struct ui *ui, struct path_pane *s, const struct ui_graph *graph, uint64_t begin_ns,
		    uint64_t end_ns)
{
	const struct path_graph in = { graph, end_ns };
	wait_row row = find_row(ui, graph, &s->subject, begin_ns, end_ns);
	struct wait_path answer;
	struct wait_who who;

	s->none = row == WAIT_NO_ROW;
	s->stale = s->none;
	if (s->none)
		return;
	follow(s, ui, graph, row);
	wait_path_init(&answer);
	waits_path(graph->info.waits, row, begin_ns, end_ns, &answer);
	who = screen_who(&in, row);
	path_destroy(s->path);
	s->path = path_create(&answer, &who, screen_who, &in);
	wait_path_release(&answer);
	s->none = !s->path->steps->len;
	s->selected = 0;
	if (s->chosen)
		select_again(s);
	else
		select_first(s);
	path_count_perf(ui, s->path, s->perf);
}

static void path_update(struct ui *ui, struct pane *p)
{
	struct path_pane *s = state_of(p);
	const struct ui_graph *graph;
	uint64_t begin_ns, end_ns;

	if (!window_interval(ui, &begin_ns, &end_ns))
		return;
	graph = window_graph(ui, &begin_ns, &end_ns);
	if (!graph) {
		s->stale = true;
		return;
	}
	if (s->graph == graph->info.waits && s->generation == graph->generation && s->begin_ns == begin_ns &&
	    s->end_ns == end_ns) {
		s->stale = s->none;
		return;
	}
	s->graph = graph->info.waits;
	s->generation = graph->generation;
	s->begin_ns = begin_ns;
	s->end_ns = end_ns;
	resolve(ui, s, graph, begin_ns, end_ns);
}

static void path_release(struct pane *p)
{
	struct path_pane *s = state_of(p);

	if (s->followed_in)
		waits_unfollow(s->followed_in, s->followed);
	path_destroy(s->path);
	g_string_free(s->perf, TRUE);
	g_free(s);
}

/* ---- drawing ---- */

static const char *const *host_names(const struct ui *ui)
{
	const char **names = g_new0(const char *, ui->hosts->len);

	for (unsigned i = 0; i < ui->hosts->len; i++)
		names[i] = ui_host(ui, i)->info.name;
	return names;
}

static const char *screen_time(const void *data, char *buffer, size_t size, uint64_t t_ns, unsigned digits)
{
	return ui_time(data, buffer, size, t_ns, digits, UI_DATE_IF_OTHER);
}

static void draw_subject(struct ui *ui, const struct path_pane *s, const struct path_look *look, int y)
{
	const struct wait_who chosen = { s->subject.host, s->subject.tid, s->subject.pid, -1, s->subject.comm };
	GString *text = g_string_new(NULL);
	uint64_t begin_ns, end_ns;
	int x = 1;

	path_add_who(text, s->path ? &s->path->subject : &chosen, &look->names);
	x += canvas_text(ui->canvas, x, y, STYLE_BOLD, text->str, ui->canvas->w - 2) + 2;
	g_string_truncate(text, 0);
	if (s->path && !s->none && !s->stale && s->path->total_ns)
		g_string_printf(text, "%.1f%% unexplained",
				100.0 * (double)s->path->unexplained_ns / (double)s->path->total_ns);
	if (window_interval(ui, &begin_ns, &end_ns) && x + window_width(ui, begin_ns, end_ns) < ui->canvas->w)
		window_draw(ui, begin_ns, end_ns, x, y, STYLE_DIM, text->str);
	g_string_free(text, TRUE);
}

static void draw_words(struct ui *ui, const struct path_pane *s, const struct path_look *look, int y, int rows)
{
	char *words = path_words(s->path, s->selected, &look->names);
	char *link = path_link_words(s->path, s->selected, &look->names);
	char *text = link ? g_strdup_printf("%s; %s", words, link) : g_strdup(words);

	canvas_char(ui->canvas, 1, y, STYLE_BOLD, 0x25b6);
	canvas_text_wrapped(ui->canvas, 3, y, rows, s->stale ? STYLE_DIM : STYLE_NORMAL, text);
	g_free(words);
	g_free(link);
	g_free(text);
}

static void draw_lists(struct ui *ui, struct path_pane *s, const struct path_look *look, int y, int h)
{
	struct canvas *c = ui->canvas;
	bool both = c->w >= BOTH_MIN_WIDTH;
	int left = both ? c->w * 3 / 5 : c->w;

	s->list_h = 0;
	if (ui->compared && ui->compared != s->path) {
		path_draw_comparison(ui->compared, s->path, c, y, h, look);
		return;
	}
	if (both || !s->sums) {
		s->list_x = 0;
		s->list_y = y + path_draw_steps(s->path, c, 0, y, left, h, &s->top, look);
		s->list_w = left;
		s->list_h = y + h - s->list_y;
	}
	if (both)
		path_draw_sums(s->path, c, left + 1, y, c->w - left - 1, h, look);
	else if (s->sums)
		path_draw_sums(s->path, c, 0, y, c->w, h, look);
}

static const char *why_no_path(const struct ui *ui, const struct path_pane *s)
{
	if (!s->none)
		return "";
	if (ui->window->kept_ns > s->begin_ns)
		return "no longer in memory: raise --wait-retention or --wait-memory, or try a shorter window";
	return "the thread did not exist in this window, or nothing is known about it";
}

static void path_draw(struct ui *ui, struct pane *p, int y, int h)
{
	struct path_pane *s = state_of(p);
	const char *const *hosts = host_names(ui);
	const struct path_look look = {
		.names = { .hosts = hosts,
			   .n_hosts = ui->hosts->len,
			   .ascii = ui->format.ascii,
			   .time = screen_time,
			   .data = ui },
		.selected = s->selected,
		.stale = s->stale,
	};
	int bottom = y + h;

	draw_subject(ui, s, &look, y++);
	if (!s->path || s->none || !s->path->steps->len) {
		canvas_text_wrapped(ui->canvas, 1, y + 1, WORD_ROWS, STYLE_DIM, why_no_path(ui, s));
	} else {
		int words = h >= 14 && ui->canvas->w < BOTH_MIN_WIDTH ? WORD_ROWS : 1;

		y += path_draw_axis(s->path, ui->canvas, y, CLAMP(h / 3, h >= 9 ? LANES_MIN : 1, LANES_MAX) + 1, &look);
		if (h >= 12)
			path_draw_legend(s->path, ui->canvas, y++, &look);
		draw_words(ui, s, &look, y, words);
		y += words;
		if (h >= 24 && s->perf->len) {
			canvas_text(ui->canvas, 1, y, STYLE_DIM, "perf counters", -1);
			canvas_text_left(ui->canvas, 22, y, ui->canvas->w - 23, STYLE_NORMAL, s->perf->str);
			y++;
		}
		draw_lists(ui, s, &look, y, bottom - y);
	}
	g_free((gpointer)hosts);
}

static char *path_status(struct ui *ui, struct pane *p)
{
	const struct path_pane *s = state_of(p);

	if (!s->path || s->none)
		return g_strdup("");
	return g_strdup_printf("%s%s%u/%u", ui->skip_idle ? "skipping idle  " : "", ui->compared ? "comparing  " : "",
			       s->selected + 1, s->path->steps->len);
}

/* ---- walking ---- */

static void select_step(struct path_pane *s, int i)
{
	if (!s->path || !s->path->steps->len)
		return;
	s->selected = (unsigned)CLAMP(i, 0, (int)s->path->steps->len - 1);
	s->selected_ns = path_step(s->path, s->selected)->segment.begin_ns;
	s->chosen = true;
}

static void path_move(struct pane *p, int by)
{
	struct path_pane *s = state_of(p);

	select_step(s, (int)s->selected + by);
}

static int path_page(const struct pane *p)
{
	return MAX(state_of(p)->list_h - 1, 5);
}

static bool path_click(struct pane *p, int x, int y)
{
	struct path_pane *s = state_of(p);

	if (x < s->list_x || x >= s->list_x + s->list_w || y < s->list_y || y >= s->list_y + s->list_h)
		return false;
	select_step(s, (int)s->top + y - s->list_y);
	return true;
}

/* Moves time to the start of the segment. */
static void path_open(struct ui *ui, struct pane *p)
{
	struct path_pane *s = state_of(p);
	char time[TIMETEXT_SIZE];

	if (!s->path || !s->path->steps->len)
		return;
	select_step(s, (int)s->selected);
	cursor_pause(&ui->cursor, true);
	cursor_jump(&ui->cursor, s->selected_ns);
	ui_say(ui, "at %s", ui_time(ui, time, sizeof(time), s->selected_ns, 9, UI_DATE_IF_DAYS));
}

static const struct pane_body path_body = {
	.where = WHERE_PATH,
	.update = path_update,
	.draw = path_draw,
	.move = path_move,
	.open = path_open,
	.status = path_status,
	.click = path_click,
	.release = path_release,
	.page = path_page,
};

static const struct pane_type path_type = {
	.title = "Path",
	.window = true,
	.body = &path_body,
};

struct pane *pane_path_create(const struct path_subject *subject)
{
	struct pane *p = pane_create(&path_type);
	struct path_pane *s = g_new0(struct path_pane, 1);

	s->subject = *subject;
	s->perf = g_string_new(NULL);
	p->state = s;
	return p;
}

/* ---- for the actions ---- */

void pane_path_compare(struct ui *ui, struct pane *p)
{
	struct path_pane *s = state_of(p);

	if (!s->path || s->stale || s->none) {
		ui_say(ui, "no path to compare with yet");
	} else {
		ui->compared = path_ref(s->path);
		ui_say(ui, "the next path will be compared with this one: choose another time or thread; C ends it");
	}
}

void pane_path_toggle(struct pane *p)
{
	state_of(p)->sums = !state_of(p)->sums;
}

bool pane_path_shows_totals(const struct pane *p)
{
	return state_of(p)->sums;
}

const struct ui_graph *pane_path_answer(struct ui *ui, const struct pane *p, struct wait_path *answer,
					uint64_t *begin_ns, uint64_t *end_ns)
{
	const struct path_pane *s = state_of(p);
	const struct ui_graph *graph;
	wait_row row;

	if (!s->path || s->stale || s->none)
		return NULL;
	*begin_ns = s->begin_ns;
	*end_ns = s->end_ns;
	graph = window_graph(ui, begin_ns, end_ns);
	row = graph ? find_row(ui, graph, &s->subject, *begin_ns, *end_ns) : WAIT_NO_ROW;
	if (row == WAIT_NO_ROW)
		return NULL;
	waits_path(graph->info.waits, row, *begin_ns, *end_ns, answer);
	return graph;
}

void pane_path_keep_names(const struct pane *p)
{
	const struct path_pane *s = state_of(p);

	strpool_keep(s->subject.comm);
	if (s->path)
		path_keep_names(s->path);
}

bool pane_path_selected(const struct ui *ui, const struct pane *p, struct path_subject *subject)
{
	const struct path_pane *s = state_of(p);
	const struct path_step *step;

	if (!s->path || !s->path->steps->len)
		return false;
	step = path_step(s->path, s->selected);
	if (step->who.tid <= 0 || step->who.host >= ui->hosts->len)
		return false;
	*subject = (struct path_subject){
		.host = step->who.host,
		.tid = step->who.tid,
		.pid = step->who.pid,
		.comm = step->who.comm,
		.alive_ns = ui_from_ref(ui_host(ui, step->who.host), step->segment.begin_ns),
	};
	return true;
}
