/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_CHOOSER_H
#define LT_UI_CHOOSER_H

#include <stdbool.h>

#include "ui/canvas.h"
#include "ui/screen.h"

/*
 * A list to choose from before there is anything to monitor, on its own screen:
 *
 *       HOST   SESSION  STATE
 *   [x] db     theirs   free
 *   [ ] web    nightly  taken
 *
 * Space marks a row, 'a' marks all; Enter returns the marked rows, or the selected one if none is marked.
 */
struct chooser_row {
	const char *host, *session, *state; /* borrowed */
	bool marked;
};

struct chooser {
	const char *title;
	struct chooser_row *rows;
	int n;        /* number of rows, at least 1 */
	int selected; /* the highlighted row */
	int top;      /* first row shown; chooser_draw() keeps the selected row visible */
	int room;     /* number of rows shown last time */
	void (*update)(struct chooser *ch, void *data); /* while the user thinks: see chooser_run(); or NULL */
	void *data;
};

enum chooser_result {
	CHOOSER_STAYS,
	CHOOSER_TAKES, /* the marked rows, at least one */
	CHOOSER_LEAVES,
};

enum chooser_result chooser_key(struct chooser *ch, int key);

void chooser_draw(struct chooser *ch, struct canvas *c);

/*
 * Opens the screen, lets the user choose and closes it. Whenever no key has come for 2 s, update is called, which may
 * change the states of rows and add rows at the end: what is marked and highlighted stays. LT_OK: rows were chosen and
 * marked. LT_END: the user left. LT_INTERRUPTED: the terminal is gone. LT_ERROR: the terminal cannot be used.
 */
enum lt_status chooser_run(struct chooser *ch, const struct screen_options *options);

#endif
