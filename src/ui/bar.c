/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last row: function keys, a prompt, or a message. */
#include "ui/internal.h"
#include "ui/screen.h"

enum { BAR_KEYS = 12, MESSAGE_ROWS_MAX = 4 };

/* Whether the action does something in the pane that is shown. */
static bool is_useful(struct ui *ui, const struct action *a)
{
	return ui_can_run(ui, a) && ui_suits_pane(ui, a) && (a != action_get(ACTION_TREE) || !ui_no_tree(ui));
}

/* The action of F key n if it is shown in the bar. */
static const struct action *bar_action(struct ui *ui, int n)
{
	for (unsigned i = 0; i < ACTIONS; i++)
		if (action_get(i)->label && action_function_key(action_get(i)) == n && is_useful(ui, action_get(i)))
			return action_get(i);
	return NULL;
}

static const char *bar_label(struct ui *ui, const struct action *a)
{
	if (a == action_get(ACTION_PAUSE) && ui->cursor.mode == CURSOR_PAUSED)
		return "Play";
	if (a == action_get(ACTION_TREE) && pane_list(ui_pane(ui))->query.tree)
		return "List";
	return a->label;
}

/* The keys that are shown, as bits: the least used go first when there is no room for whole labels. */
static unsigned shown_keys(struct ui *ui)
{
	static const uint8_t going[] = { 7, 8, 5, 6, 2, 9, 3, 4 };
	int width = 0, widths[BAR_KEYS + 1] = { 0 };
	unsigned shown = 0;

	for (int n = 1; n <= BAR_KEYS; n++) {
		if (!bar_action(ui, n))
			continue;
		/* plus a blank */
		widths[n] = (n > 9 ? 3 : 2) + canvas_text_width(bar_label(ui, bar_action(ui, n))) + 1;
		width += widths[n];
		shown |= 1u << n;
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(going) && width > ui->canvas->w + 1; i++) {
		width -= widths[going[i]];
		shown &= ~(1u << going[i]);
	}
	return shown;
}

/* The end of an item (key, label, gap) that starts at x; *label: where its label starts. */
static int item_end(struct ui *ui, int n, int gap, int x, int *label)
{
	*label = x + (n > 9 ? 3 : 2);
	return *label + canvas_text_width(bar_label(ui, bar_action(ui, n))) + gap;
}

/* The number of blanks between labels that there is room for. */
static int label_gap(struct ui *ui, unsigned shown)
{
	int x = 0, n_shown = 0, label;

	for (int n = 1; n <= BAR_KEYS; n++)
		if (shown >> n & 1) {
			x = item_end(ui, n, 0, x, &label);
			n_shown++;
		}
	return CLAMP((ui->canvas->w - x) / MAX(n_shown - 1, 1), 0, 2);
}

static void draw_keys(struct ui *ui, int y)
{
	unsigned shown = shown_keys(ui);
	int gap = label_gap(ui, shown), x = 0;

	for (int n = 1; n <= BAR_KEYS; n++) {
		int label, end;

		if (!(shown >> n & 1))
			continue;
		end = item_end(ui, n, gap, x, &label);
		canvas_printf(ui->canvas, x, y, STYLE_KEY, "F%d", n);
		canvas_fill(ui->canvas, label, y, end - label, STYLE_LABEL, ' ');
		canvas_text(ui->canvas, label, y, STYLE_LABEL, bar_label(ui, bar_action(ui, n)), -1);
		x = end;
	}
	canvas_fill(ui->canvas, x, y, ui->canvas->w - x, STYLE_LABEL, ' ');
}

const struct action *bar_action_at(struct ui *ui, int x)
{
	unsigned shown = shown_keys(ui);
	int gap = label_gap(ui, shown), at = 0, label;

	for (int n = 1; n <= BAR_KEYS; n++) {
		if (!(shown >> n & 1))
			continue;
		at = item_end(ui, n, gap, at, &label);
		if (x < at)
			return bar_action(ui, n);
	}
	return NULL;
}

/* Draws the message in as many rows as it needs, the last one at row y; a cut ends with an ellipsis. */
static void draw_message(const struct ui *ui, int y)
{
	const int rows = MIN(canvas_wrapped_rows(ui->message, ui->canvas->w - 1), MESSAGE_ROWS_MAX);
	const int top = MAX(y - rows + 1, 0);

	for (int row = top; row <= y; row++)
		canvas_fill(ui->canvas, 0, row, ui->canvas->w, STYLE_NORMAL, ' ');
	canvas_text_wrapped(ui->canvas, 0, top, rows, STYLE_BOLD, ui->message);
}

void bar_draw(struct ui *ui, int y)
{
	int caret = -1;

	ui->bar_shown = !ui->prompt.active && !ui->message[0];
	if (ui->message[0])
		draw_message(ui, ui->prompt.active ? y - 1 : y);
	if (ui->prompt.active)
		caret = prompt_draw(&ui->prompt, ui->canvas, y);
	else if (ui->bar_shown)
		draw_keys(ui, y);
	screen_caret(caret, y);
}
