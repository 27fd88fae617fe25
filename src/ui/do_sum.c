/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of rows: choosing what they have in common, opening one, and going back. */
#include <string.h>

#include "base/error.h"
#include "ui/internal.h"

static void sum_chosen(struct ui *ui, int value, bool keep)
{
	struct list *l = pane_list(ui_pane(ui));

	(void)keep;
	if (value < VIEW_SUMS && (!value || view_sum_applies(l->table, (enum view_sum)value))) {
		list_sum_by(l, (enum view_sum)value);
		same_rows_forget(ui, l); /* of other rows */
	}
	if (l == ui->opened.list)
		ui->opened.list = NULL;
	ui_rebuild(ui);
}

void do_sum_menu(struct ui *ui, int argument)
{
	struct list *l = pane_list(ui_pane(ui));
	struct overlay *menu;

	(void)argument;
	if (ui->baseline->end_ns || !view_sum_applies(l->table, VIEW_SUM_ALL)) {
		ui_say(ui, ui->baseline->end_ns ? "sums cannot be compared: C ends the comparison"
						: "the rows of this pane cannot be summed up");
		return;
	}
	menu = overlay_menu("Sum up rows of the same", sum_chosen);
	overlay_item(menu, VIEW_SUM_NONE, -1, "(show each row)");
	for (int i = VIEW_SUM_THREAD; i < VIEW_SUMS; i++)
		if (view_sum_applies(l->table, (enum view_sum)i))
			overlay_item(menu, i, -1, view_sum_name((enum view_sum)i));
	overlay_select(menu, (int)l->sum_by);
	ui_set_overlay(ui, menu);
}

/* ---- opening a sum ---- */

void sum_open(struct ui *ui, const struct view_row *row)
{
	struct list *l = pane_list(ui_pane(ui));
	char *of_row = view_sum_filter(&l->rows, (unsigned)(row - l->rows.rows), l->query.sum_by, ui->hosts->len > 1);
	char *filter = of_row ? filter_both(ui->filter_text->str, of_row) : NULL;

	g_free(of_row);
	if (!filter || ui_set_filter(ui, filter) != LT_OK) {
		ui_say(ui, "%s: press G to show each row", error_text());
		g_free(filter);
		return;
	}
	sum_release(ui);
	ui->opened = (struct ui_opened_sum){
		.list = l,
		.by = l->query.sum_by,
		.sort = g_strdup(l->sort),
		.reverse = l->reverse,
		.sorted = l->sorted,
		.place = list_place(l),
		.processes = ui->processes,
		.tree = ui->tree,
		.filter_before = g_strdup(ui->filter_before->str),
		.filter = filter,
	};
	ui->opened.place.chosen = true;
	list_sum_by(l, VIEW_SUM_NONE);
	same_rows_forget(ui, l);
	ui->processes = ui->tree = false; /* threads were summed up, each of them */
	ui_say(ui, "showing the rows of this sum; press Esc to go back to the sums");
}

bool sum_return(struct ui *ui)
{
	struct ui_opened_sum *o = &ui->opened;
	struct list *l = pane_list(ui_pane(ui));

	if (!o->list || l != o->list || strcmp(ui->filter_text->str, o->filter) != 0)
		return false;
	list_sum_by(l, o->by);
	list_set_sort(l, o->sort, o->reverse);
	l->sorted = o->sorted;
	list_return(l, &o->place);
	ui->processes = o->processes;
	ui->tree = o->tree;
	o->list = NULL;
	ui_set_filter(ui, o->filter_before);
	return true;
}

void sum_release(struct ui *ui)
{
	g_free(ui->opened.sort);
	g_free(ui->opened.filter_before);
	g_free(ui->opened.filter);
	ui->opened = (struct ui_opened_sum){ 0 };
}
