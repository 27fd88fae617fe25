/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last row: function keys, a prompt, or a message. */
#include "ui/internal.h"
#include "ui/screen.h"

enum { BAR_KEYS = 12 };

/* The action of F key n, if it shows in the bar. */
static const struct action *bar_action(int n)
{
	for (unsigned i = 0; i < ACTIONS; i++)
		if (action_get(i)->label && action_function_key(action_get(i)) == n)
			return action_get(i);
	return NULL;
}

static const char *bar_label(const struct ui *ui, const struct action *a)
{
	if (a == action_get(ACTION_PAUSE) && ui->cursor.mode == CURSOR_PAUSED)
		return "Go on";
	if (a == action_get(ACTION_TREE) && ui->tree)
		return "List";
	return a->label;
}

/* Columns that key and label take when labels are cut to label_max. */
static int item_width(const struct ui *ui, int n, int label_max)
{
	const struct action *a = bar_action(n);

	return a ? (n > 9 ? 3 : 2) + MIN(canvas_text_width(bar_label(ui, a)), label_max) : 0;
}

static int bar_width(const struct ui *ui, int label_max)
{
	int width = 0;

	for (int n = 1; n <= BAR_KEYS; n++)
		width += item_width(ui, n, label_max);
	return width;
}

/* The longest labels that fit. */
static int label_length(const struct ui *ui)
{
	int max = 8;

	while (max > 2 && bar_width(ui, max) > ui->canvas->w)
		max--;
	return max;
}

static void draw_keys(const struct ui *ui, int y)
{
	int max = label_length(ui), x = 0, n_actions = 0, gap;

	for (int n = 1; n <= BAR_KEYS; n++)
		n_actions += bar_action(n) != NULL;
	gap = CLAMP((ui->canvas->w - bar_width(ui, max)) / MAX(n_actions, 1), 0, 2);
	for (int n = 1; n <= BAR_KEYS; n++) {
		const struct action *a = bar_action(n);
		int label;

		if (!a)
			continue;
		x += canvas_printf(ui->canvas, x, y, STYLE_KEY, "F%d", n);
		label = MIN(canvas_text_width(bar_label(ui, a)), max) + gap;
		canvas_fill(ui->canvas, x, y, label, STYLE_LABEL, ' ');
		canvas_text(ui->canvas, x, y, STYLE_LABEL, bar_label(ui, a), max);
		x += label;
	}
	canvas_fill(ui->canvas, x, y, ui->canvas->w - x, STYLE_LABEL, ' ');
}

const struct action *bar_action_at(const struct ui *ui, int x)
{
	int max = label_length(ui), at = 0, n_actions = 0, gap;

	for (int n = 1; n <= BAR_KEYS; n++)
		n_actions += bar_action(n) != NULL;
	gap = CLAMP((ui->canvas->w - bar_width(ui, max)) / MAX(n_actions, 1), 0, 2);
	for (int n = 1; n <= BAR_KEYS; n++) {
		if (!bar_action(n))
			continue;
		at += item_width(ui, n, max) + gap;
		if (x < at)
			return bar_action(n);
	}
	return NULL;
}

void bar_draw(struct ui *ui, int y)
{
	int caret = -1;

	if (ui->prompt.active)
		caret = prompt_draw(&ui->prompt, ui->canvas, y);
	else if (ui->message[0])
		canvas_text_left(ui->canvas, 0, y, ui->canvas->w, STYLE_BOLD, ui->message);
	else
		draw_keys(ui, y);
	screen_caret(caret, y);
}
