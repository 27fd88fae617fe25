/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_PROMPT_H
#define LT_UI_PROMPT_H

#include <glib.h>
#include <stdbool.h>

#include "ui/canvas.h"

/* A line of text typed by the user: search, filter, jump. */
struct ui;

/* Called after every change of the text. */
typedef void prompt_change_fn(struct ui *ui, const char *text);

/*
 * Called at the end; text is NULL if the user gave up. False: the text is not accepted, and the prompt stays open for
 * it to be corrected; the function has said why.
 */
typedef bool prompt_done_fn(struct ui *ui, const char *text);

struct prompt {
	bool active;
	const char *label;
	GString *text;
	size_t caret;             /* byte offset */
	prompt_change_fn *change; /* NULL: not wanted */
	prompt_done_fn *done;
};

void prompt_init(struct prompt *p);
void prompt_release(struct prompt *p);

/* label is borrowed; text: the initial text. */
void prompt_start(struct prompt *p, const char *label, const char *text, prompt_change_fn *change,
		  prompt_done_fn *done);

void prompt_key(struct prompt *p, struct ui *ui, int key);

/* Draws it in row y; returns the column of the caret. */
int prompt_draw(const struct prompt *p, struct canvas *c, int y);

#endif
