/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line with the panes' names and, on the right, what the shown pane's list contains. */
#include <string.h>

#include "ui/internal.h"

enum { FILTER_WIDTH = 12, MORE_WIDTH = 3 };

/*
 * Which part of everything the pane's list shows, with the filter in at most width columns; brief: with the number of
 * its terms that do not apply, not their names. Free with g_free().
 */
static char *status_text(struct ui *ui, int width, bool brief)
{
	struct pane *p = ui_pane(ui);
	const struct list *l = pane_list(p);
	GString *s;

	if (p->type->body)
		return p->type->body->status(ui, p);
	s = g_string_new(NULL);
	baseline_add_status(ui, s);
	if (ui->skip_idle)
		g_string_append(s, "skipping idle  ");
	if (l->follow)
		g_string_append(s, "following  ");
	if (ui->only_marked)
		g_string_append(s, "only highlighted  ");
	filter_add_status(ui, p, width, brief, s);
	g_string_append_printf(s, "%u/%u", l->rows.n && l->present ? l->index + 1 : 0, l->rows.n);
	return g_string_free(s, FALSE);
}

/* The same with a filter that is shortened to make it as narrow as room, but not below FILTER_WIDTH. */
static char *shorten_status(struct ui *ui, int room, bool brief)
{
	const int whole = canvas_text_width(ui->filter_text->str);
	char *text = status_text(ui, whole, brief);
	const int excess = canvas_text_width(text) - room;

	if (excess <= 0)
		return text;
	g_free(text);
	return status_text(ui, MAX(whole - excess, MIN(whole, FILTER_WIDTH)), brief);
}

/* The same in room columns, if possible: the filter and the names of its terms are shortened, not what is beside it. */
static char *fit_status(struct ui *ui, int room)
{
	char *text = shorten_status(ui, room, false);

	if (canvas_text_width(text) <= room)
		return text;
	g_free(text);
	return shorten_status(ui, room, true);
}

/* Draws a name; clicks on it open the pane (PANES: the menu of all). Returns its width. */
static int draw_tab(struct ui *ui, unsigned pane, int x, int y, enum style style, const char *title)
{
	ui->tabs[pane] = (struct ui_tab){ .x = x, .width = canvas_printf(ui->canvas, x, y, style, " %s ", title) };
	return ui->tabs[pane].width;
}

static int tab_width(const char *title)
{
	return canvas_text_width(title) + 2;
}

/* The width of all names, with that of the details. */
static int width_of_all(const struct ui *ui)
{
	int width = ui->details ? tab_width(ui->details->type->title) : 0;

	for (enum pane_id i = 0; i < PANES; i++)
		width += tab_width(pane_type(i)->title);
	return width;
}

int tabs_draw(struct ui *ui, int y)
{
	const char *here = ui_pane(ui)->type->title;
	int room, x = 0, kept = tab_width(here); /* what the shown one needs, until it is drawn */
	bool full = false;
	char *status;

	memset(ui->tabs, 0, sizeof(ui->tabs));
	ui->tabs_y = y;
	if (!ui_shows_tabs(ui))
		return 0;
	status = fit_status(ui, ui->canvas->w - kept - MORE_WIDTH - 2);
	room = ui->canvas->w - canvas_text_width(status) - 2;
	if (width_of_all(ui) > room)
		room -= MORE_WIDTH;
	for (enum pane_id i = 0; i < PANES; i++) {
		const char *title = pane_type(i)->title;
		bool shown = !ui->details && i == ui->current;

		full |= !shown && x + tab_width(title) + kept > room;
		if (full && !shown)
			continue;
		if (shown)
			kept = 0;
		x += draw_tab(ui, i, x, y, shown ? STYLE_HEAD_SORT : STYLE_DIM, title);
	}
	if (ui->details)
		x += canvas_printf(ui->canvas, x, y, STYLE_HEAD_SORT, " %s ", here);
	/* there are more, listed by P */
	if (full && x <= room)
		x += draw_tab(ui, PANES, x, y, STYLE_DIM, "…");
	canvas_text_right(ui->canvas, x, y, ui->canvas->w - x - 1, STYLE_DIM, status);
	g_free(status);
	return 1;
}

void tabs_click(struct ui *ui, int x, int y)
{
	if (y != ui->tabs_y)
		return;
	for (unsigned i = 0; i <= PANES; i++) {
		if (x < ui->tabs[i].x || x >= ui->tabs[i].x + ui->tabs[i].width)
			continue;
		if (i == PANES)
			ui_run(ui, action_get(ACTION_PANE_MENU));
		else
			do_pane(ui, (int)i);
		return;
	}
}
