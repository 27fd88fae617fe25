/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/overlay.h"

#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "ui/keys.h"

struct overlay_item {
	char *left, *right;
	enum style style;
	int value, checked;
	int key;   /* that chooses it; UI_KEY_NONE: none */
	bool note; /* in menus: cannot be selected, and has no value */
};

struct overlay {
	char *title;
	int left_width;
	menu_chosen_fn *chosen; /* NULL: text */
	GArray *items;          /* struct overlay_item */
	int selected;           /* in menus */
	int top;                /* first line shown */
	int y, rows, lines;     /* when last drawn: its place and rows on the screen, number of lines */
};

static struct overlay *create(const char *title)
{
	struct overlay *o = g_new0(struct overlay, 1);

	o->title = g_strdup(title);
	o->items = g_array_new(FALSE, TRUE, sizeof(struct overlay_item));
	return o;
}

struct overlay *overlay_text(const char *title, int left_width)
{
	struct overlay *o = create(title);

	o->left_width = left_width;
	return o;
}

struct overlay *overlay_menu(const char *title, menu_chosen_fn *chosen)
{
	struct overlay *o = create(title);

	o->chosen = chosen;
	return o;
}

static struct overlay_item *item_at(const struct overlay *o, int i)
{
	return &g_array_index(o->items, struct overlay_item, i);
}

static void free_items(struct overlay *o)
{
	for (int i = 0; i < (int)o->items->len; i++) {
		g_free(item_at(o, i)->left);
		g_free(item_at(o, i)->right);
	}
}

void overlay_clear(struct overlay *o)
{
	free_items(o);
	g_array_set_size(o->items, 0);
	if (o->lines > o->rows && o->top + o->rows >= o->lines)
		o->top = G_MAXINT / 2;
}

void overlay_destroy(struct overlay *o)
{
	if (!o)
		return;
	free_items(o);
	g_array_free(o->items, TRUE);
	g_free(o->title);
	g_free(o);
}

void overlay_add(struct overlay *o, enum style style, const char *left, const char *right)
{
	struct overlay_item item = {
		.left = text_sanitised(left),
		.right = right ? text_sanitised(right) : NULL,
		.style = style,
		.checked = -1,
	};

	g_array_append_val(o->items, item);
}

void overlay_item(struct overlay *o, int value, int checked, const char *text)
{
	struct overlay_item item = { .left = text_sanitised(text), .value = value, .checked = checked };

	g_array_append_val(o->items, item);
}

void overlay_note(struct overlay *o, const char *text)
{
	struct overlay_item note = { .left = text_sanitised(text), .checked = -1, .note = true };

	g_array_append_val(o->items, note);
}

void overlay_item_key(struct overlay *o, int key)
{
	item_at(o, (int)o->items->len - 1)->key = key;
}

static bool is_note(const struct overlay *o, int i)
{
	return i >= 0 && i < (int)o->items->len && item_at(o, i)->note;
}

static bool has_value(const struct overlay *o, int i, int value)
{
	return !is_note(o, i) && item_at(o, i)->value == value;
}

void overlay_select(struct overlay *o, int value)
{
	for (int i = 0; i < (int)o->items->len; i++)
		if (has_value(o, i, value))
			o->selected = i;
}

int overlay_selected(const struct overlay *o)
{
	return o->selected < (int)o->items->len ? item_at(o, o->selected)->value : 0;
}

void overlay_check(struct overlay *o, int value, bool checked)
{
	for (int i = 0; i < (int)o->items->len; i++)
		if (has_value(o, i, value))
			item_at(o, i)->checked = checked;
}

static void scroll(struct overlay *o, int by)
{
	o->top = CLAMP(o->top + by, 0, MAX(o->lines - o->rows, 0));
}

/* Past notes, or back if no item comes after them. */
static void move_selection(struct overlay *o, int by)
{
	const int last = MAX((int)o->items->len - 1, 0), step = by < 0 ? -1 : 1;
	int i = CLAMP(o->selected + by, 0, last);

	while (is_note(o, i))
		i += step;
	i = CLAMP(i, 0, last);
	while (is_note(o, i))
		i -= step;
	o->selected = CLAMP(i, 0, last);
}

/* Chooses the item with that key; false: there is none. */
static bool choose_by_key(struct overlay *o, struct ui *ui, int key)
{
	for (int i = 0; i < (int)o->items->len; i++) {
		if (item_at(o, i)->key == key) {
			o->chosen(ui, item_at(o, i)->value, false);
			return true;
		}
	}
	return false;
}

enum overlay_result overlay_key(struct overlay *o, struct ui *ui, int key)
{
	int page = MAX(o->rows - 1, 1), by = 0;

	switch (key) {
	case UI_KEY_UP:
	case 'k':
		by = -1;
		break;
	case UI_KEY_DOWN:
	case 'j':
		by = 1;
		break;
	case UI_KEY_PAGE_UP:
		by = -page;
		break;
	case UI_KEY_PAGE_DOWN:
		by = page;
		break;
	case UI_KEY_HOME:
		by = -(G_MAXINT / 4);
		break;
	case UI_KEY_END:
		by = G_MAXINT / 4;
		break;
	case UI_KEY_ENTER:
	case ' ':
		if (!o->chosen) {
			by = page;
			break;
		}
		if (o->items->len) {
			bool keep = key == ' ' && item_at(o, o->selected)->checked >= 0;

			o->chosen(ui, item_at(o, o->selected)->value, keep);
			return keep ? OVERLAY_STAYS : OVERLAY_CLOSES;
		}
		return OVERLAY_CLOSES;
	case UI_KEY_ESC:
	case UI_KEY_BACKSPACE:
	case UI_KEY_F1:
	case '?':
	case 'q':
	case UI_KEY_F1 + 9:
		return OVERLAY_CLOSES;
	default:
		return key != UI_KEY_NONE && choose_by_key(o, ui, key) ? OVERLAY_CLOSES : OVERLAY_IGNORES;
	}
	if (o->chosen)
		move_selection(o, by);
	else
		scroll(o, by);
	return OVERLAY_STAYS;
}

enum overlay_result overlay_mouse(struct overlay *o, struct ui *ui, int y, int wheel)
{
	int line = y - o->y + o->top;

	if (wheel) {
		if (o->chosen)
			move_selection(o, wheel);
		else
			scroll(o, wheel * 3);
		return OVERLAY_STAYS;
	}
	if (!o->chosen || y < o->y || y >= o->y + o->rows || line >= (int)o->items->len)
		return OVERLAY_CLOSES;
	if (is_note(o, line))
		return OVERLAY_STAYS;
	o->selected = line;
	return overlay_key(o, ui, item_at(o, line)->checked >= 0 ? ' ' : UI_KEY_ENTER);
}

/* Draws, or with c NULL just counts, the lines of an item in width columns; the first one is number line. */
static int draw_text_item(const struct overlay *o, const struct overlay_item *item, struct canvas *c, int x, int width,
			  int line)
{
	const char *text = item->right ? item->right : item->left;
	int indent = item->right ? o->left_width : 0, n = 0;

	do {
		size_t len = utf8_wrap(text, (unsigned)MAX(width - indent, 8));
		int y = o->y + line + n - o->top;

		if (c && y >= o->y && y < o->y + o->rows) {
			char *part = g_strndup(text, len);

			if (!n && item->right)
				canvas_text_left(c, x, y, indent - 1, item->style, item->left);
			canvas_text(c, x + indent, y, item->right ? STYLE_NORMAL : item->style, part, width - indent);
			g_free(part);
		}
		n++;
		text += len;
		text += strspn(text, " ");
	} while (*text);
	return n;
}

static int draw_text(const struct overlay *o, struct canvas *c, int x, int width)
{
	int line = 0;

	for (int i = 0; i < (int)o->items->len; i++)
		line += draw_text_item(o, item_at(o, i), c, x, width, line);
	return line;
}

static void draw_menu(const struct overlay *o, struct canvas *c, int x, int width)
{
	for (int i = o->top; i < MIN((int)o->items->len, o->top + o->rows); i++) {
		const struct overlay_item *item = item_at(o, i);
		int y = o->y + i - o->top, at = x;

		if (item->checked >= 0)
			at += canvas_printf(c, at, y, STYLE_NORMAL, "[%c] ", item->checked ? 'x' : ' ');
		canvas_text_left(c, at, y, x + width - at, STYLE_NORMAL, item->left);
		if (i == o->selected)
			canvas_restyle(c, x - 1, y, width + 2, STYLE_SELECTED);
	}
}

static int menu_width(const struct overlay *o)
{
	int width = canvas_text_width(o->title) + 4;

	for (int i = 0; i < (int)o->items->len; i++)
		width = MAX(width, canvas_text_width(item_at(o, i)->left) + 4);
	return width;
}

void overlay_draw(struct overlay *o, struct canvas *c, int y, int bottom)
{
	int room = MAX(bottom - y - 2, 1), x, width, last;

	o->y = y + 1;
	if (o->chosen) {
		width = MIN(menu_width(o), c->w - 4);
		o->lines = (int)o->items->len;
		o->rows = MIN(o->lines, room);
		last = o->selected;
		while (is_note(o, last + 1))
			last++;
		o->top = MIN(MAX(o->top, last - o->rows + 1), o->selected);
		x = 2;
	} else {
		width = MIN(c->w - 4, 110);
		o->lines = draw_text(o, NULL, 0, width);
		o->rows = room;
		x = 2;
	}
	scroll(o, 0);
	canvas_box(c, x - 2, y, width + 4, o->rows + 2, o->title);
	if (o->chosen)
		draw_menu(o, c, x, width);
	else
		draw_text(o, c, x, width);
	if (o->lines > o->rows)
		canvas_printf(c, x + width - 5, y + o->rows + 1, STYLE_FRAME, " %3d%% ",
			      o->lines ? (o->top + o->rows) * 100 / o->lines : 100);
}
