/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What clicks and the wheel do, by the place where they happen. */
#include "ui/action.h"
#include "ui/internal.h"
#include "ui/mouse.h"
#include "ui/screen.h"

enum { WHEEL_ROWS = 3 };

static const struct mouse_help helps[] = {
	{ "host's line", "show only this host; again: all" },
	{ "timeline", "go to that time" },
	{ "pane's name", "open the pane; on …: the menu of all panes" },
	{ "column's title", "sort by the column; again: the other way round" },
	{ "row", "select it; a double click opens it, as Enter does" },
	{ "function bar", "the same as pressing the key" },
	{ "wheel", "three rows up or down" },
};

const struct mouse_help *mouse_help_get(unsigned i)
{
	return i < G_N_ELEMENTS(helps) ? &helps[i] : NULL;
}

static void click_header(struct ui *ui, int x, int y)
{
	const int host = host_lines_at(ui, y);
	uint64_t t_ns;

	if (host >= 0) {
		hosts_show_only(ui, (unsigned)host);
	} else if (y == ui->strip_y) {
		t_ns = timeline_time_at(ui, x);
		if (t_ns)
			cursor_jump(&ui->cursor, t_ns);
	} else {
		tabs_click(ui, x, y);
	}
}

static void click(struct ui *ui, const struct screen_mouse *m)
{
	const struct action *action;

	if (m->y == ui->canvas->h - 1) {
		action = ui->bar_shown ? bar_action_at(ui, m->x) : NULL;
		if (action)
			ui_run(ui, action);
	} else if (m->y < ui->pane_y) {
		click_header(ui, m->x, m->y);
	} else if (pane_click(ui_pane(ui), m->x, m->y) && m->twice) {
		ui_run(ui, action_get(ACTION_OPEN));
	}
}

enum overlay_result mouse_event(struct ui *ui)
{
	const struct screen_mouse m = screen_mouse();

	/* what cannot be seen cannot be meant */
	if (!ui->started || ui_is_too_small(ui) || ui->prompt.active)
		return OVERLAY_STAYS;
	if (ui->overlay)
		return overlay_mouse(ui->overlay, ui, m.y, m.wheel);
	if (m.wheel)
		pane_move(ui_pane(ui), m.wheel * WHEEL_ROWS);
	else
		click(ui, &m);
	return OVERLAY_STAYS;
}
