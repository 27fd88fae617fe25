/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What processes use, and for which client, in the window of critical paths: a tree of clients and their servers. */
#include "base/nstime.h"
#include "ui/internal.h"
#include "waits/accounting.h"

/*
 * Accounts need the path of every thread. They are computed between keys, and only when the window or its graph
 * changes; until then the last result stays.
 *
 *   window, graph ──▶ job, step by step ──▶ list ──▶ rows
 */
#define SLICE_NS (4 * NS_PER_MS)

/* While playing, rest REST_FACTOR times as long as the last job took. */
enum { REST_FACTOR = 4 };

struct ui_accounts {
	struct accounting *job; /* NULL: none */
	const struct ui_graph *graph;
	unsigned generation;       /* of graph when the job started: a graph that has changed must not be touched */
	uint64_t begin_ns, end_ns; /* of the job, otherwise of the last one */
	uint64_t spent_ns;         /* on the job */
	uint64_t rest_until_ns;    /* wall clock */
	unsigned percent;
	bool answered;        /* there is a list */
	struct account *list; /* with the screen's host numbers */
	unsigned n;
	uint64_t list_begin_ns, list_end_ns; /* its window */
};

void accounts_init(struct ui *ui)
{
	ui->accounts = g_new0(struct ui_accounts, 1);
}

void accounts_release(struct ui *ui)
{
	struct ui_accounts *a = ui->accounts;

	accounting_give_up(a->job);
	g_free(a->list);
	g_free(a);
}

/* ---- computing ---- */

static bool same_window(const struct ui_accounts *a, const struct ui_graph *graph, uint64_t begin_ns, uint64_t end_ns)
{
	return a->graph == graph && a->generation == graph->generation && a->begin_ns == begin_ns &&
	       a->end_ns == end_ns;
}

static void give_up(struct ui_accounts *a)
{
	accounting_give_up(a->job);
	a->job = NULL;
	a->graph = NULL;
}

static void begin(struct ui *ui, const struct ui_graph *graph, uint64_t begin_ns, uint64_t end_ns)
{
	struct ui_accounts *a = ui->accounts;

	a->job = accounting_begin(graph->info.waits, begin_ns, end_ns);
	a->graph = graph;
	a->generation = graph->generation;
	a->begin_ns = begin_ns;
	a->end_ns = end_ns;
	a->spent_ns = 0;
	a->percent = 0;
}

/* The graph may go away, so the result is kept with the screen's host numbers. */
static void finish(struct ui *ui)
{
	struct ui_accounts *a = ui->accounts;

	g_free(a->list);
	a->list = accounting_end(a->job, &a->n, NULL);
	a->job = NULL;
	a->answered = true;
	a->list_begin_ns = a->begin_ns;
	a->list_end_ns = a->end_ns;
	for (unsigned i = 0; i < a->n; i++) {
		a->list[i].host = window_screen_host(a->graph, a->list[i].host);
		if (a->list[i].for_client)
			a->list[i].client_host = window_screen_host(a->graph, a->list[i].client_host);
	}
	ui_rebuild(ui);
}

/* Returns whether the job is finished. */
static bool slice(struct ui *ui)
{
	struct ui_accounts *a = ui->accounts;
	uint64_t from_ns = monotonic_ns();
	bool more;

	do
		more = accounting_step(a->job);
	while (more && monotonic_ns() - from_ns < SLICE_NS);
	if (accounting_percent(a->job) != a->percent) {
		a->percent = accounting_percent(a->job);
		ui->growing = true;
	}
	if (!more)
		finish(ui);
	a->spent_ns += monotonic_ns() - from_ns;
	return !more;
}

uint64_t accounts_work(struct ui *ui, uint64_t now_ns)
{
	struct ui_accounts *a = ui->accounts;
	const bool moves = ui->cursor.mode != CURSOR_PAUSED;
	const struct ui_graph *graph = NULL;
	uint64_t begin_ns, end_ns;

	/* the graph it needs is gone */
	if (a->job && a->graph->generation != a->generation)
		give_up(a);
	if (window_interval(ui, &begin_ns, &end_ns))
		graph = window_graph(ui, &begin_ns, &end_ns);
	/* while playing, every window would be outdated: finish the job that was started */
	if (a->job && !moves && (!graph || !same_window(a, graph, begin_ns, end_ns)))
		give_up(a);
	if (!a->job) {
		if (!graph || same_window(a, graph, begin_ns, end_ns))
			return UINT64_MAX;
		if ((moves || ui->window->cut) && now_ns < a->rest_until_ns)
			return a->rest_until_ns;
		begin(ui, graph, begin_ns, end_ns);
	}
	if (slice(ui))
		a->rest_until_ns = monotonic_ns() + REST_FACTOR * a->spent_ns;
	return now_ns;
}

/* ---- showing ---- */

const struct account *accounts_list(const struct ui *ui, unsigned *n)
{
	*n = ui->accounts->n;
	return ui->accounts->list;
}

bool accounts_interval(const struct ui *ui, uint64_t *begin_ns, uint64_t *end_ns)
{
	const struct ui_accounts *a = ui->accounts;

	*begin_ns = a->list_begin_ns;
	*end_ns = a->list_end_ns;
	return a->answered;
}

int accounts_head(struct ui *ui, struct pane *p, int y, int max)
{
	const struct ui_accounts *a = ui->accounts;
	uint64_t begin_ns, end_ns;
	char text[32] = "";

	(void)p;
	if (max < 4)
		return 0;
	if (a->job)
		g_snprintf(text, sizeof(text), "computing %u%%", a->percent);
	if (accounts_interval(ui, &begin_ns, &end_ns) || window_interval(ui, &begin_ns, &end_ns))
		window_draw(ui, begin_ns, end_ns, 1, y, STYLE_MARKED, text);
	return 1;
}

const char *accounts_why_empty(const struct ui *ui)
{
	const struct ui_accounts *a = ui->accounts;

	if (a->job)
		return "computing the critical paths of all threads …";
	if (a->answered && a->list_end_ns <= ui->window->kept_ns)
		return "this window is no longer in memory: press - for a shorter one, or raise --wait-memory";
	return a->answered ? NULL : window_why_empty(ui);
}
