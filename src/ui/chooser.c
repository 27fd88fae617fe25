/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/chooser.h"

#include <errno.h>
#include <glib.h>
#include <poll.h>
#include <unistd.h>

#include "ui/keys.h"

/* The rows above and below the list. */
enum { TITLE_Y = 0, HEAD_Y = 2, LIST_Y, ROWS_BELOW = 2, MARK_WIDTH = 4, GAP = 2, MOST_WIDTH = 40, UPDATE_MS = 2000 };

static int count_marked(const struct chooser *ch)
{
	int n = 0;

	for (int i = 0; i < ch->n; i++)
		n += ch->rows[i].marked;
	return n;
}

static void move_to(struct chooser *ch, int row)
{
	ch->selected = CLAMP(row, 0, ch->n - 1);
}

/* Marks all, or unmarks all if all are marked. */
static void mark_all(struct chooser *ch)
{
	const bool mark = count_marked(ch) < ch->n;

	for (int i = 0; i < ch->n; i++)
		ch->rows[i].marked = mark;
}

static enum chooser_result take(struct chooser *ch)
{
	if (!count_marked(ch))
		ch->rows[ch->selected].marked = true;
	return CHOOSER_TAKES;
}

enum chooser_result chooser_key(struct chooser *ch, int key)
{
	const int page = MAX(ch->room - 1, 1);

	switch (key) {
	case UI_KEY_UP:
	case 'k':
		move_to(ch, ch->selected - 1);
		return CHOOSER_STAYS;
	case UI_KEY_DOWN:
	case 'j':
		move_to(ch, ch->selected + 1);
		return CHOOSER_STAYS;
	case UI_KEY_PAGE_UP:
		move_to(ch, ch->selected - page);
		return CHOOSER_STAYS;
	case UI_KEY_PAGE_DOWN:
		move_to(ch, ch->selected + page);
		return CHOOSER_STAYS;
	case UI_KEY_HOME:
		move_to(ch, 0);
		return CHOOSER_STAYS;
	case UI_KEY_END:
		move_to(ch, ch->n - 1);
		return CHOOSER_STAYS;
	case ' ':
		ch->rows[ch->selected].marked = !ch->rows[ch->selected].marked;
		move_to(ch, ch->selected + 1);
		return CHOOSER_STAYS;
	case 'a':
		mark_all(ch);
		return CHOOSER_STAYS;
	case UI_KEY_ENTER:
		return take(ch);
	case 'q':
	case UI_KEY_ESC:
	case UI_KEY_F1 + 9:
		return CHOOSER_LEAVES;
	default:
		return CHOOSER_STAYS;
	}
}

/* ---- drawing ---- */

static int column_width(const struct chooser *ch, const char *head, bool session)
{
	int width = canvas_text_width(head);

	for (int i = 0; i < ch->n; i++)
		width = MAX(width, canvas_text_width(session ? ch->rows[i].session : ch->rows[i].host));
	return MIN(width, MOST_WIDTH);
}

static void draw_row(struct canvas *c, int y, const struct chooser_row *row, int host_width, int session_width)
{
	int x = 1;

	canvas_text(c, x, y, STYLE_NORMAL, row->marked ? "[x] " : "[ ] ", -1);
	x += MARK_WIDTH;
	canvas_text_left(c, x, y, host_width, STYLE_NORMAL, row->host);
	x += host_width + GAP;
	canvas_text_left(c, x, y, session_width, STYLE_NORMAL, row->session);
	x += session_width + GAP;
	canvas_text_left(c, x, y, c->w - x, STYLE_NORMAL, row->state);
}

static void draw_keys(struct canvas *c, int y)
{
	static const struct {
		const char *key, *label;
	} keys[] = { { "Space", "Mark" }, { "a", "All" }, { "Enter", "Open" }, { "q", "Quit" } };
	int x = 0;

	canvas_fill(c, 0, y, c->w, STYLE_LABEL, ' ');
	for (unsigned i = 0; i < G_N_ELEMENTS(keys); i++) {
		x += canvas_text(c, x, y, STYLE_KEY, keys[i].key, -1);
		x += canvas_text(c, x, y, STYLE_LABEL, keys[i].label, -1) + GAP;
	}
}

void chooser_draw(struct chooser *ch, struct canvas *c)
{
	const int host_width = column_width(ch, "HOST", false), session_width = column_width(ch, "SESSION", true);
	const struct chooser_row head = { .host = "HOST", .session = "SESSION", .state = "STATE" };

	ch->room = MAX(c->h - LIST_Y - ROWS_BELOW, 1);
	ch->top = CLAMP(ch->top, ch->selected - ch->room + 1, ch->selected);
	ch->top = CLAMP(ch->top, 0, MAX(ch->n - ch->room, 0));
	canvas_clear(c);
	canvas_text(c, 1, TITLE_Y, STYLE_BOLD, ch->title, -1);
	draw_row(c, HEAD_Y, &head, host_width, session_width);
	canvas_fill(c, 1, HEAD_Y, MARK_WIDTH, STYLE_NORMAL, ' ');
	canvas_restyle(c, 0, HEAD_Y, c->w, STYLE_HEAD);
	for (int i = ch->top; i < MIN(ch->n, ch->top + ch->room); i++) {
		const int y = LIST_Y + i - ch->top;

		draw_row(c, y, &ch->rows[i], host_width, session_width);
		if (i == ch->selected)
			canvas_restyle(c, 0, y, c->w, STYLE_SELECTED);
	}
	if (ch->n > ch->room)
		canvas_printf(c, 1, c->h - ROWS_BELOW, STYLE_DIM, "%d/%d", ch->selected + 1, ch->n);
	draw_keys(c, c->h - 1);
}

/* ---- running ---- */

/* Handles pending keys. LT_AGAIN: keep running. */
static enum lt_status handle_keys(struct chooser *ch)
{
	int key = screen_key();

	if (key == UI_KEY_NONE && screen_ended())
		return LT_INTERRUPTED;
	for (; key != UI_KEY_NONE; key = screen_key())
		switch (screen_is_pasting() ? CHOOSER_STAYS : chooser_key(ch, key)) {
		case CHOOSER_TAKES:
			return LT_OK;
		case CHOOSER_LEAVES:
			return LT_END;
		default:
			break;
		}
	return LT_AGAIN;
}

enum lt_status chooser_run(struct chooser *ch, const struct screen_options *options)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	enum lt_status status = LT_AGAIN;
	struct canvas *c;
	int w, h, ready;

	if (screen_open(options) != LT_OK)
		return LT_ERROR;
	screen_resize(&w, &h);
	c = canvas_create(w, h, screen_is_ascii());
	while (status == LT_AGAIN) {
		chooser_draw(ch, c);
		screen_show(c);
		ready = poll(&input, 1, ch->update ? UPDATE_MS : -1);
		/* a signal: on SIGWINCH redraw, all others end the program */
		if (ready < 0 && errno == EINTR) {
			screen_resize(&w, &h);
			canvas_resize(c, w, h);
		}
		if (!ready)
			ch->update(ch, ch->data);
		status = handle_keys(ch);
	}
	canvas_destroy(c);
	screen_close();
	return status;
}
