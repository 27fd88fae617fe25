/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The window of critical paths: its range, its graph, the list of threads with their totals. */
#include "base/nstime.h"
#include "ui/internal.h"
#include "view/requests.h"

/* Initial window: this many intervals, capped at FIRST_MAX_NS. */
enum { FIRST_INTERVALS = 10, WINDOW_SIZE = 2 * TIMETEXT_SIZE + FORMAT_SIZE };
#define FIRST_MAX_NS (10 * NS_PER_S)

/* What the lists of threads and processes read, and the terms of filters. */
#define WINDOW_TABLES \
	(1u << TABLE_HOST | 1u << TABLE_CPU | 1u << TABLE_THREAD | 1u << TABLE_CONTAINER | VIEW_REQUEST_TABLES)

static struct ui_graph *graph_of(const struct ui *ui, enum ui_waits_kind kind)
{
	return &ui->window->graphs[kind];
}

void window_init(struct ui *ui)
{
	struct ui_window *w = ui->window = g_new0(struct ui_window, 1);

	w->loads = g_array_new(FALSE, TRUE, sizeof(struct history_load));
	w->paths = g_array_new(FALSE, TRUE, sizeof(struct view_paths));
	w->view_hosts = g_array_new(FALSE, TRUE, sizeof(struct view_host));
}

void window_release(struct ui *ui)
{
	struct ui_window *w = ui->window;

	for (unsigned i = 0; i < w->loads->len; i++) {
		history_load_release(&g_array_index(w->loads, struct history_load, i));
		view_paths_release(&g_array_index(w->paths, struct view_paths, i));
	}
	for (unsigned i = 0; i < UI_WAITS_KINDS; i++)
		g_free((unsigned *)w->graphs[i].info.hosts);
	g_array_free(w->loads, TRUE);
	g_array_free(w->paths, TRUE);
	g_array_free(w->view_hosts, TRUE);
	g_free(w->problem);
	g_free(w);
}

/* ---- the range ---- */

bool window_interval(struct ui *ui, uint64_t *begin_ns, uint64_t *end_ns)
{
	const struct cursor *c = &ui->cursor;
	struct ui_window *w = ui->window;

	cursor_interval(c, begin_ns, end_ns);
	if (*end_ns <= *begin_ns)
		return false;
	if (!w->length_ns)
		w->length_ns = MAX(MIN(FIRST_INTERVALS * c->interval_ns, FIRST_MAX_NS), c->interval_ns);
	if (!c->marked_begin_ns)
		*begin_ns = *end_ns - c->begin_ns > w->length_ns ? *end_ns - w->length_ns : c->begin_ns;
	return true;
}

void window_change_length(struct ui *ui, int direction)
{
	static const unsigned steps[] = { 1, 2, 5 };
	uint64_t begin_ns, end_ns, step_ns = NS_PER_US, next_ns = step_ns, decade = NS_PER_US;
	char text[32];

	if (!window_interval(ui, &begin_ns, &end_ns))
		return;
	/* 1, 2, 5, 10 … µs: the next one in that direction */
	for (unsigned i = 1; direction > 0 ? next_ns <= ui->window->length_ns : next_ns < ui->window->length_ns; i++) {
		if (i % 3 == 0)
			decade *= 10;
		step_ns = next_ns;
		next_ns = decade * steps[i % 3];
	}
	if (direction > 0 && ui->window->length_ns > end_ns - ui->cursor.begin_ns)
		next_ns = ui->window->length_ns; /* it starts with the trace */
	ui->window->length_ns = direction > 0 ? next_ns : step_ns;
	if (ui->cursor.marked_begin_ns)
		cursor_jump(&ui->cursor, end_ns - 1);
	ui_say(ui, "critical-path window: the last %s",
	       timetext_format_duration(text, sizeof(text), ui->window->length_ns));
}

/* ---- the graph ---- */

void ui_set_waits(struct ui *ui, enum ui_waits_kind kind, const struct ui_waits *waits)
{
	struct ui_graph *graph = graph_of(ui, kind);
	const struct ui_waits *old = &graph->info;

	if (old->waits != waits->waits || old->epoch != waits->epoch || old->begin_ns > waits->begin_ns ||
	    (kind == UI_WAITS_WINDOW && (old->begin_ns != waits->begin_ns || old->end_ns != waits->end_ns))) {
		graph->generation++;
		ui->growing = true;
	}
	/* what is shown waits for it */
	if (old->end_ns != waits->end_ns && (ui->window->cut || ui->window->wanted) && ui_pane(ui)->type->window)
		ui->growing = true;
	g_free((unsigned *)graph->info.hosts);
	graph->info = *waits;
	graph->info.hosts = g_memdup2(waits->hosts, waits->n_hosts * sizeof(*waits->hosts));
}

unsigned window_graph_host(const struct ui_graph *graph, unsigned host)
{
	for (unsigned i = 0; i < graph->info.n_hosts; i++)
		if (graph->info.hosts[i] == host)
			return i;
	return UINT_MAX;
}

unsigned window_screen_host(const struct ui_graph *graph, unsigned host)
{
	return host < graph->info.n_hosts ? graph->info.hosts[host] : UINT_MAX;
}

static bool has(const struct ui_graph *graph, uint64_t begin_ns, uint64_t end_ns)
{
	return graph->info.waits && graph->info.begin_ns <= begin_ns && graph->info.end_ns >= end_ns;
}

const struct ui_graph *window_graph(struct ui *ui, uint64_t *begin_ns, uint64_t *end_ns)
{
	const struct ui_graph *running = graph_of(ui, UI_WAITS_RUNNING);
	struct ui_window *w = ui->window;

	w->wanted = w->cut = false;
	for (unsigned i = 0; i < UI_WAITS_KINDS; i++)
		if (has(&w->graphs[i], *begin_ns, *end_ns)) {
			w->kept_ns = w->graphs[i].info.kept_ns;
			return &w->graphs[i];
		}
	/* live data cannot be read again: use what the graph has */
	if (ui->cursor.live && running->info.waits) {
		w->kept_ns = running->info.kept_ns;
		*begin_ns = MAX(*begin_ns, running->info.begin_ns);
		w->cut = *end_ns > running->info.end_ns;
		*end_ns = MIN(*end_ns, running->info.end_ns);
		return *begin_ns < *end_ns ? running : NULL;
	}
	if (!ui->cursor.live) {
		w->wanted = true;
		w->wanted_begin_ns = *begin_ns;
		w->wanted_end_ns = *end_ns;
	}
	return NULL;
}

bool ui_wanted_window(struct ui *ui, uint64_t *begin_ns, uint64_t *end_ns)
{
	const struct ui_window *w = ui->window;

	*begin_ns = w->wanted_begin_ns;
	*end_ns = w->wanted_end_ns;
	return w->wanted && ui_pane(ui)->type->window;
}

void ui_set_window_progress(struct ui *ui, unsigned percent, const char *problem)
{
	struct ui_window *w = ui->window;

	if (percent == w->percent && !g_strcmp0(problem, w->problem))
		return;
	w->percent = percent;
	g_free(w->problem);
	w->problem = g_strdup(problem);
	ui->growing = true;
}

/* ---- the list ---- */

static void make_room(struct ui *ui)
{
	struct ui_window *w = ui->window;

	while (w->loads->len < ui->hosts->len) {
		struct history_load load;
		struct view_paths paths;

		history_load_init(&load);
		g_array_append_val(w->loads, load);
		view_paths_init(&paths);
		g_array_append_val(w->paths, paths);
	}
}

/* Computes the totals of a host's threads. */
static void add_totals(struct ui *ui, const struct ui_graph *graph, unsigned host, const struct interval *iv,
		       uint64_t begin_ns, uint64_t end_ns)
{
	struct view_paths *paths = &g_array_index(ui->window->paths, struct view_paths, host);
	const struct interval_table *t = &iv->tables[TABLE_THREAD];
	unsigned number = window_graph_host(graph, host);

	view_paths_clear(paths);
	for (uint32_t i = 0; number != UINT_MAX && i < t->n_rows; i++) {
		const struct thread_row *thread = INTERVAL_ROW(thread, &t->rows[i]);
		uint64_t at_ns = end_ns - 1;
		struct wait_totals totals;
		wait_row row;

		/* several threads may have had that tid: ask for a time at which this row's existed */
		if (thread->exited_ns)
			at_ns = MIN(at_ns, ui_to_ref(ui_host(ui, host), thread->exited_ns - 1));
		row = waits_find(graph->info.waits, number, (int32_t)thread->tid, at_ns);
		if (row == WAIT_NO_ROW)
			continue;
		waits_totals(graph->info.waits, row, begin_ns, end_ns, &totals);
		view_paths_add(paths, thread->uid, (int64_t)thread->pid, &totals);
	}
}

static void find_requests(struct ui *ui, const struct ui_graph *graph, uint64_t begin_ns, uint64_t end_ns)
{
	const struct ui_window *w = ui->window;
	const struct view_query query = { .table = view_table_find("paths"), .all = true };
	struct view_rows threads;
	GArray *requests;

	view_rows_init(&threads);
	view_rows_build(&threads, &query, (const struct view_host *)(const void *)w->view_hosts->data,
			w->view_hosts->len);
	requests = view_requests_find(&threads, graph->info.waits, begin_ns, end_ns);
	for (guint i = 0; i < requests->len; i++) {
		const struct view_row *row = &threads.rows[g_array_index(requests, struct view_request, i).thread];

		view_paths_add_request(&g_array_index(w->paths, struct view_paths, row->key.host), row->key.uid,
				       (int64_t)INTERVAL_ROW(thread, &row->row)->pid);
	}
	g_array_free(requests, TRUE);
	view_rows_release(&threads);
}

static void load_lists(struct ui *ui, const struct ui_graph *graph, uint64_t begin_ns, uint64_t end_ns)
{
	struct ui_window *w = ui->window;
	bool gap;

	make_room(ui);
	g_array_set_size(w->view_hosts, 0);
	for (unsigned i = 0; i < ui->hosts->len; i++) {
		struct ui_host_data *host = ui_host(ui, i);
		struct history_load *load = &g_array_index(w->loads, struct history_load, i);
		bool loaded = !host->hidden && data_load_host(ui, host, begin_ns, end_ns, WINDOW_TABLES, load, &gap);
		struct view_host view = data_view_host(host, loaded ? &load->interval : NULL);

		if (loaded)
			add_totals(ui, graph, i, &load->interval, begin_ns, end_ns);
		view.paths = &g_array_index(w->paths, struct view_paths, i);
		view.wait = window_graph_host(graph, i);
		g_array_append_val(w->view_hosts, view);
	}
	find_requests(ui, graph, begin_ns, end_ns);
}

void window_forget(struct ui *ui)
{
	ui->window->answered = false;
}

bool window_load(struct ui *ui)
{
	struct ui_window *w = ui->window;
	const struct ui_graph *graph;
	uint64_t begin_ns, end_ns;

	/* a pane that shows one path gets its graph itself */
	if (ui_pane(ui)->type->body || !window_interval(ui, &begin_ns, &end_ns))
		return false;
	graph = window_graph(ui, &begin_ns, &end_ns);
	if (!graph) {
		w->answered = false;
		return false;
	}
	if (w->answered && begin_ns == w->begin_ns && end_ns == w->end_ns && graph->generation == w->generation)
		return false;
	load_lists(ui, graph, begin_ns, end_ns);
	w->answered = true;
	w->begin_ns = begin_ns;
	w->end_ns = end_ns;
	w->generation = graph->generation;
	return true;
}

/* ---- in words ---- */

/* What to show while a window has no graph: "reading 34%", a problem, or "". */
static void write_state(const struct ui *ui, char *text, size_t size)
{
	const struct ui_window *w = ui->window;

	if (w->problem)
		g_strlcpy(text, w->problem, size);
	else if (w->wanted && w->percent)
		g_snprintf(text, size, "reading %u%%", w->percent);
	else if (w->wanted)
		g_strlcpy(text, "reading …", size);
	else
		text[0] = '\0';
}

/* "[14:07:05.642, 14:07:12.642[ 7.00s" */
static void write_window(const struct ui *ui, uint64_t begin_ns, uint64_t end_ns, char *text, size_t size)
{
	char begin[TIMETEXT_SIZE], end[TIMETEXT_SIZE], length[FORMAT_SIZE];

	g_snprintf(text, size, "[%s, %s[ %s", ui_time(ui, begin, sizeof(begin), begin_ns, 3, UI_DATE_IF_OTHER),
		   ui_time(ui, end, sizeof(end), end_ns, 3, UI_DATE_IF_OTHER),
		   format_duration(length, sizeof(length), end_ns - begin_ns, ui->format.ascii));
}

int window_width(const struct ui *ui, uint64_t begin_ns, uint64_t end_ns)
{
	char text[WINDOW_SIZE];

	write_window(ui, begin_ns, end_ns, text, sizeof(text));
	return canvas_text_width(text);
}

void window_draw(const struct ui *ui, uint64_t begin_ns, uint64_t end_ns, int x, int y, enum style style,
		 const char *beside)
{
	static const char label[] = "window ";
	const struct ui_window *w = ui->window;
	char begin[TIMETEXT_SIZE], text[WINDOW_SIZE], state[128];
	int width = ui->canvas->w - x - 1, used;

	write_window(ui, begin_ns, end_ns, text, sizeof(text));
	if (*beside && canvas_text_width(text) + 1 + canvas_text_width(beside) <= width) {
		canvas_text_right(ui->canvas, x, y, width, style, beside);
		width -= 1 + canvas_text_width(beside);
	}
	write_state(ui, state, sizeof(state));
	if (!*state && w->kept_ns > begin_ns)
		g_snprintf(state, sizeof(state), "kept from %s",
			   ui_time(ui, begin, sizeof(begin), w->kept_ns, 3, UI_DATE_IF_OTHER));
	used = canvas_text_width(text) + (*state ? 2 + canvas_text_width(state) : 0);
	used = used + (int)strlen(label) <= width ? canvas_text(ui->canvas, x, y, STYLE_DIM, label, -1) : 0;
	canvas_text_left(ui->canvas, x + used, y, width - used, STYLE_NORMAL, text);
	used += canvas_text_width(text) + 2;
	canvas_text_left(ui->canvas, x + used, y, width - used, STYLE_MARKED, state);
}

const char *window_why_empty(const struct ui *ui)
{
	const struct ui_window *w = ui->window;

	if (w->answered)
		return NULL;
	if (w->problem)
		return "no critical paths in this window";
	return w->wanted ? "reading the window again …" : "nothing is known about this window yet";
}
