/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_OVERLAY_H
#define LT_UI_OVERLAY_H

#include <glib.h>
#include <stdbool.h>

#include "ui/canvas.h"

/* A box over the pane that receives all keys: scrolling text (help, messages) or a menu. */
struct ui;
struct overlay;

/* Called when a line is chosen with Enter, or with Space (keep), which leaves the menu open. */
typedef void menu_chosen_fn(struct ui *ui, int value, bool keep);

/* Creates scrolling text; add lines with overlay_add(). left_width: columns of the left part. */
struct overlay *overlay_text(const char *title, int left_width);

/* Creates a menu; add items with overlay_item(). */
struct overlay *overlay_menu(const char *title, menu_chosen_fn *chosen);

void overlay_destroy(struct overlay *o);

/* Adds a line: a term on the left, its meaning (may be NULL) on the right, wrapped. Texts are copied, sanitised. */
void overlay_add(struct overlay *o, enum style style, const char *left, const char *right);

/* Adds an item to a menu; its text likewise. checked: 1 or 0 shows a box with or without a mark, -1 none. */
void overlay_item(struct overlay *o, int value, int checked, const char *text);

/* Adds a line below an item of a menu, which cannot be selected; its text likewise. */
void overlay_note(struct overlay *o, const char *text);

/* A key that chooses the item added last. */
void overlay_item_key(struct overlay *o, int key);

/* Selects the item with that value. */
void overlay_select(struct overlay *o, int value);

/* The value of the selected item; 0: there is none. */
int overlay_selected(const struct overlay *o);

/* Changes an item's mark. */
void overlay_check(struct overlay *o, int value, bool checked);

/* Removes all lines or items. What it shows of those added next is the same place, or again their end. */
void overlay_clear(struct overlay *o);

/* The result of a key. */
enum overlay_result {
	OVERLAY_STAYS,
	OVERLAY_CLOSES,  /* finished or dismissed */
	OVERLAY_IGNORES, /* the key means nothing to it */
};

enum overlay_result overlay_key(struct overlay *o, struct ui *ui, int key);

/* Handles a click or a turn of the wheel at row y of the screen. */
enum overlay_result overlay_mouse(struct overlay *o, struct ui *ui, int y, int wheel);

/* Draws it into the rows from y up to but excluding bottom. */
void overlay_draw(struct overlay *o, struct canvas *c, int y, int bottom);

#endif
