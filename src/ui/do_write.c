/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes what is shown to a file: a list, lines, or a critical path in the form of its reports. */
#include "base/error.h"
#include "ui/internal.h"
#include "ui/lines.h"

/*
 * Writes it, with the names of the hosts (by their numbers on the screen), and reports the result; more: what to add if
 * it was written. Returns whether it was.
 */
static bool export_of(struct ui *ui, struct ui_export *what, const GArray *hosts, const char *more)
{
	const unsigned n = what->lines ? lines_count(what->lines) : what->rows->n;
	const char *unit = what->lines ? "line" : "row", **names = g_new0(const char *, hosts->len);
	bool written;

	for (guint i = 0; i < hosts->len; i++)
		names[what->n_hosts++] = ui_host(ui, g_array_index(hosts, unsigned, i))->info.name;
	what->hosts = names;
	what->format = ui->format;
	written = ui->options.export(what) == LT_OK;
	if (written) {
		ui_say(ui, "%u %s%s of %s written to %s%s", n, unit, n == 1 ? "" : "s", what->table, what->path, more);
	} else {
		ui_say(ui, "%s", error_text());
		error_clear();
	}
	g_free(names);
	return written;
}

/* What the hosts lost in the interval. */
static struct view_lost lost_of(const struct ui *ui, const GArray *hosts, uint64_t begin_ns, uint64_t end_ns)
{
	struct view_lost lost = { 0 }, of_host;
	bool gap;

	for (guint i = 0; i < hosts->len; i++) {
		const struct ui_host_data *host = ui_host(ui, g_array_index(hosts, unsigned, i));
		struct history_load load;
		struct view_host view;

		history_load_init(&load);
		if (data_load_host(ui, host, begin_ns, end_ns, 1u << TABLE_HOST, &load, &gap)) {
			view = data_view_host(host, &load.interval);
			of_host = view_hosts_lost(&view, 1);
			view_lost_add(&lost, &of_host);
		}
		history_load_release(&load);
	}
	return lost;
}

/* The interval of the pane's rows; false: they have not been read yet. */
static bool rows_interval(const struct ui *ui, const struct pane *p, const struct list *l, struct ui_export *what)
{
	if (l->table->supply.needs & VIEW_ACCOUNTS)
		return accounts_interval(ui, &what->begin_ns, &what->end_ns);
	what->begin_ns = p->type->window ? ui->window->begin_ns : ui->shown_begin_ns;
	what->end_ns = p->type->window ? ui->window->end_ns : ui->shown_end_ns;
	return !p->type->window || ui->window->answered;
}

static bool write_list(struct ui *ui, const char *path)
{
	const struct pane *p = ui_pane(ui);
	struct list *l = pane_list(ui_pane(ui));
	const struct list_look look = { .hosts = true, .virtual_ids = ui->virtual_ids };
	const struct column *columns[LIST_COLUMNS];
	struct ui_export what = {
		.path = path,
		.rows = &l->rows,
		.columns = columns,
		.n_columns = list_all_columns(l, &look, columns),
	};
	GArray *shown;
	char *table;
	bool written;

	if (!rows_interval(ui, p, l, &what)) {
		ui_say(ui, "not written: %s",
		       ui->window->wanted && !ui->window->problem ? "this window is still being read"
								  : window_why_empty(ui));
		return false;
	}
	shown = data_shown_hosts(ui);
	table = l->query.baseline
			? g_strdup_printf("%s minus [%" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT "[", l->table->name,
					  (guint64)ui->baseline->begin_ns, (guint64)ui->baseline->end_ns)
			: g_strdup(l->table->name);
	what.table = table;
	what.lost = l->table->supply.needs & VIEW_ACCOUNTS ? lost_of(ui, shown, what.begin_ns, what.end_ns)
							   : view_hosts_lost(l->rows.hosts, l->rows.n_hosts);
	written = export_of(ui, &what, shown, "");
	g_array_free(shown, TRUE);
	g_free(table);
	return written;
}

static bool write_lines(struct ui *ui, const char *path)
{
	const struct pane *p = ui_pane(ui);
	GArray *hosts = g_array_new(FALSE, FALSE, sizeof(unsigned));
	const bool events = pane_calls_has_events(p);
	struct ui_export what = { .path = path, .table = events ? "dump" : "attach" };
	bool written = false;

	if (!pane_calls_export(ui, p, &what, hosts)) {
		ui_say(ui, "not written: there are no lines yet");
	} else {
		what.lost = lost_of(ui, hosts, what.begin_ns, what.end_ns);
		written = export_of(ui, &what, hosts,
				    events && pane_calls_unread(ui, p) ? ", but the interval has more" : "");
	}
	g_array_free(hosts, TRUE);
	return written;
}

/* The hosts, indexed by their numbers in the graph, with what they lost in the window. */
static GArray *hosts_of_graph(const struct ui *ui, const struct ui_graph *graph, uint64_t begin_ns, uint64_t end_ns,
			      struct history_load *loads)
{
	GArray *hosts = g_array_new(FALSE, TRUE, sizeof(struct view_host));
	bool gap;

	for (unsigned i = 0; i < ui->hosts->len; i++) {
		const struct ui_host_data *host = ui_host(ui, i);
		bool loaded = data_load_host(ui, host, begin_ns, end_ns, 1u << TABLE_HOST, &loads[i], &gap);
		struct view_host view = data_view_host(host, loaded ? &loads[i].interval : NULL);

		view.wait = window_graph_host(graph, i);
		g_array_append_val(hosts, view);
	}
	return hosts;
}

static bool write_rows(struct ui *ui, const struct ui_graph *graph, const struct wait_path *answer, bool totals,
		       const GArray *hosts, struct ui_export *what)
{
	const struct view_host *first = (const struct view_host *)(const void *)hosts->data;
	const struct view_table *table = view_table_find(totals ? "critical-totals" : "critical-path");
	const struct column *columns[LIST_COLUMNS];
	struct view_rows rows;
	const struct view_sources from = {
		.hosts = first,
		.n_hosts = hosts->len,
		.begin_ns = what->begin_ns,
		.end_ns = what->end_ns,
		.waits = graph->info.waits,
		.paths = answer,
		.n_paths = 1,
		.one_subject = true,
	};
	struct view_derived derived;
	const struct view_query query = { .table = table, .derived = &derived };
	GArray *shown = data_shown_hosts(ui);
	bool written;

	what->table = table->name;
	what->rows = &rows;
	what->columns = columns;
	what->lost = view_hosts_lost(first, hosts->len);
	view_derived_init(&derived);
	table->supply.collect(&derived, &from);
	view_rows_init(&rows);
	view_rows_build(&rows, &query, first, hosts->len);
	for (unsigned i = 0; i < table->n_columns; i++)
		if (table->columns[i].flags & COLUMN_IN_REPORT)
			columns[what->n_columns++] = &table->columns[i];
	written = export_of(ui, what, shown, "");
	g_array_free(shown, TRUE);
	view_rows_release(&rows);
	view_derived_release(&derived);
	return written;
}

static bool write_path(struct ui *ui, const char *path)
{
	const struct pane *p = ui_pane(ui);
	const struct ui_graph *graph;
	struct history_load *loads;
	struct wait_path answer;
	struct ui_export what = { .path = path };
	GArray *hosts;
	bool written = false;

	wait_path_init(&answer);
	graph = pane_path_answer(ui, p, &answer, &what.begin_ns, &what.end_ns);
	if (!graph) {
		ui_say(ui, "not written: this window has no path yet");
	} else {
		loads = g_new0(struct history_load, ui->hosts->len);
		for (unsigned i = 0; i < ui->hosts->len; i++)
			history_load_init(&loads[i]);
		hosts = hosts_of_graph(ui, graph, what.begin_ns, what.end_ns, loads);
		written = write_rows(ui, graph, &answer, pane_path_shows_totals(p), hosts, &what);
		for (unsigned i = 0; i < ui->hosts->len; i++)
			history_load_release(&loads[i]);
		g_array_free(hosts, TRUE);
		g_free(loads);
	}
	wait_path_release(&answer);
	return written;
}

/* If it could not be written, the prompt stays, so that another name can be given. */
static bool write_done(struct ui *ui, const char *path)
{
	if (!path || !*path)
		return true;
	if (pane_is_path(ui_pane(ui)))
		return write_path(ui, path);
	if (pane_is_calls(ui_pane(ui)))
		return write_lines(ui, path);
	return write_list(ui, path);
}

void do_write(struct ui *ui, int argument)
{
	struct pane *p = ui_pane(ui);
	const char *table = pane_is_calls(p)            ? pane_calls_has_events(p) ? "dump" : "attach"
			    : !pane_is_path(p)          ? pane_list(p)->table->name
			    : pane_path_shows_totals(p) ? "critical-totals"
							: "critical-path";
	char *name = g_strdup_printf("%s.txt", table);

	(void)argument;
	ui_prompt(ui, "Write to (.txt .csv .json):", name, NULL, write_done);
	g_free(name);
}
