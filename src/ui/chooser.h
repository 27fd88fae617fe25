/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_CHOOSER_H
#define LT_UI_CHOOSER_H

#include <stdbool.h>

#include "ui/canvas.h"
#include "ui/screen.h"

/*
 * A list to choose from before there is anything to monitor, on a screen of its own:
 *
 *       HOST   SESSION  STATE
 *   [x] db     theirs   free
 *   [ ] web    nightly  taken
 *
 * Space marks a row, 'a' all of them; Enter takes the marked rows, or the selected one where none is marked.
 */
struct chooser_row {
	const char *host, *session, *state; /* borrowed */
	bool marked;
};

struct chooser {
	const char *title;
	struct chooser_row *rows;
	int n;        /* of them, at least 1 */
	int selected; /* the row with the bar */
	int top;      /* the first row that is shown; chooser_draw() keeps the bar on the screen */
	int room;     /* rows that were shown last */
};

enum chooser_result {
	CHOOSER_STAYS,
	CHOOSER_TAKES, /* the rows that are marked, at least one */
	CHOOSER_LEAVES,
};

enum chooser_result chooser_key(struct chooser *ch, int key);

void chooser_draw(struct chooser *ch, struct canvas *c);

/*
 * Opens the screen, lets the user choose and closes it. LT_OK: marked rows were chosen. LT_END: the user left.
 * LT_INTERRUPTED: the terminal is gone. LT_ERROR: it cannot be used.
 */
enum lt_status chooser_run(struct chooser *ch, const struct screen_options *options);

#endif
