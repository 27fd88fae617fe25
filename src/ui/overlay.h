/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_OVERLAY_H
#define LT_UI_OVERLAY_H

#include <glib.h>
#include <stdbool.h>

#include "ui/canvas.h"

/*
 * A box over the pane that has the keys while it is there: text that scrolls
 * (help, messages) or a menu to choose from.
 */
struct ui;
struct overlay;

/* A line was chosen with Enter (keep: Space was typed, the menu stays open). */
typedef void menu_chosen_fn(struct ui *ui, int value, bool keep);

/* Scrolling text; lines are added with overlay_add(). left_width: columns of the left part. */
struct overlay *overlay_text(const char *title, int left_width);

/* A menu; items are added with overlay_item(). */
struct overlay *overlay_menu(const char *title, menu_chosen_fn *chosen);

void overlay_destroy(struct overlay *o);

/* Adds a line of text: a term at the left, its meaning at the right (may be NULL), wrapped. Texts are copied. */
void overlay_add(struct overlay *o, enum style style, const char *left, const char *right);

/* Adds a menu's item. checked: 1 or 0 draw a box with or without mark, -1 none. */
void overlay_item(struct overlay *o, int value, int checked, const char *text);

/* Puts the selection on the item of that value. */
void overlay_select(struct overlay *o, int value);

/* The value of the selected item, 0: there is none. */
int overlay_selected(const struct overlay *o);

/* Changes an item's mark. */
void overlay_check(struct overlay *o, int value, bool checked);

/* Shows the last lines first. */
void overlay_to_end(struct overlay *o);

/* What became of a key. */
enum overlay_result {
	OVERLAY_STAYS,
	OVERLAY_CLOSES,  /* it has done its work, or is not wanted any more */
	OVERLAY_IGNORES, /* it has nothing for this key */
};

enum overlay_result overlay_key(struct overlay *o, struct ui *ui, int key);

/* A click or turn of the wheel at row y of the screen. */
enum overlay_result overlay_mouse(struct overlay *o, struct ui *ui, int y, int wheel);

/* Draws it into the rows from y to before bottom. */
void overlay_draw(struct overlay *o, struct canvas *c, int y, int bottom);

#endif
