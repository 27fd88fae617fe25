/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_PREVIEW_H
#define LT_UI_PREVIEW_H

#include <stdbool.h>
#include <stdint.h>

struct history;
struct ui;

/* The destination of a jump before the history reaches it. */
struct ui_preview {
	struct history *history; /* borrowed; NULL: there is none */
	uint64_t begin_ns, end_ns;
	unsigned number; /* from 1 on: its rows are numbered otherwise than those of others, and of the main history */
};

/* Whether the shown interval comes from a preview. */
bool preview_is_shown(const struct ui *ui);

/* Whether the destination of a jump has not been read yet, shown or not. */
bool preview_is_awaited(const struct ui *ui);

/* Moves a jump's destination by whole intervals; false: the cursor is there. */
bool preview_step(struct ui *ui, int steps);

#endif
