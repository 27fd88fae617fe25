/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interval that lists are compared with. */
#include "ui/internal.h"

void baseline_init(struct ui *ui)
{
	ui->baseline = g_new0(struct ui_baseline, 1);
	ui->baseline->loads = g_array_new(FALSE, TRUE, sizeof(struct history_load));
	ui->baseline->view_hosts = g_array_new(FALSE, TRUE, sizeof(struct view_host));
}

void baseline_release(struct ui *ui)
{
	struct ui_baseline *b = ui->baseline;

	for (unsigned i = 0; i < b->loads->len; i++)
		history_load_release(&g_array_index(b->loads, struct history_load, i));
	g_array_free(b->loads, TRUE);
	g_array_free(b->view_hosts, TRUE);
	g_free(b);
}

/* Appends the interval as text, without the last digits of the fraction. */
static void add_interval(const struct ui *ui, GString *s)
{
	char begin[TIMETEXT_SIZE], end[TIMETEXT_SIZE];

	g_string_append_printf(s, "[%s, %s[",
			       ui_time(ui, begin, sizeof(begin), ui->baseline->begin_ns, 3, UI_DATE_IF_DAYS),
			       ui_time(ui, end, sizeof(end), ui->baseline->end_ns, 3, UI_DATE_IF_DAYS));
}

void baseline_begin(struct ui *ui)
{
	GString *text = g_string_new(NULL);

	if (ui->shown_end_ns <= ui->shown_begin_ns) {
		ui_say(ui, "nothing to compare with yet");
	} else {
		ui->baseline->begin_ns = ui->shown_begin_ns;
		ui->baseline->end_ns = ui->shown_end_ns;
		ui->baseline->from = instant_of(ui, ui->shown_begin_ns);
		ui->baseline->to = instant_of(ui, ui->shown_end_ns);
		ui->baseline->tables = 0;
		add_interval(ui, text);
		ui_say(ui, "figures are now differences from %s, scaled to the same recorded time%s; C ends it",
		       text->str, pane_list(ui_pane(ui))->query.sum_by ? ", of each row instead of sums" : "");
		ui_rebuild(ui);
	}
	g_string_free(text, TRUE);
}

void baseline_end(struct ui *ui)
{
	ui->baseline->end_ns = 0;
	ui_say(ui, "comparison off");
	ui_rebuild(ui);
}

void baseline_clocks_changed(struct ui *ui)
{
	ui->baseline->tables = 0; /* it is loaded again, by its instants */
}

static void make_room(struct ui *ui)
{
	struct history_load load;

	while (ui->baseline->loads->len < ui->hosts->len) {
		history_load_init(&load);
		g_array_append_val(ui->baseline->loads, load);
	}
}

bool baseline_load(struct ui *ui, uint32_t tables)
{
	struct ui_baseline *b = ui->baseline;
	bool gap;

	if (!b->end_ns || (b->tables && (tables & b->tables) == tables))
		return false;
	make_room(ui);
	b->begin_ns = instant_ref(ui, &b->from);
	b->end_ns = instant_ref(ui, &b->to);
	data_widen(ui, &b->begin_ns, &b->end_ns);
	g_array_set_size(b->view_hosts, 0);
	for (unsigned i = 0; i < ui->hosts->len; i++) {
		const struct ui_host_data *host = ui_host(ui, i);
		struct history_load *load = &g_array_index(b->loads, struct history_load, i);
		bool loaded = !host->hidden && data_load_host(ui, host, b->begin_ns, b->end_ns, tables, load, &gap);
		struct view_host view = data_view_host(host, loaded ? &load->interval : NULL);

		g_array_append_val(b->view_hosts, view);
	}
	b->tables = tables;
	return true;
}

const GArray *baseline_hosts(const struct ui *ui, const struct pane *p, const struct view_table *table)
{
	/* the rows of a preview have other numbers */
	return ui->baseline->end_ns && !p->type->window && !table->supply.needs && !preview_is_shown(ui)
		       ? ui->baseline->view_hosts
		       : NULL;
}

void baseline_add_status(struct ui *ui, GString *s)
{
	const struct pane *p = ui_pane(ui);
	GString *others = g_string_new(NULL);
	bool any = false;

	for (unsigned i = 0; i < p->n_lists; i++) {
		const struct list *l = &p->lists[i];

		if (baseline_hosts(ui, p, l->table))
			any = true;
		else if (l->rows.n)
			g_string_append_printf(others, " (not %s)", l->table->title);
	}
	if (any) {
		g_string_append(s, "vs ");
		add_interval(ui, s);
		g_string_append_printf(s, "%s  ", others->str);
	}
	g_string_free(others, TRUE);
}
