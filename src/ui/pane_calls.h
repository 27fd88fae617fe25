/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_PANE_CALLS_H
#define LT_UI_PANE_CALLS_H

/* What pane_calls.c, which knows where one is, and pane_calls_draw.c share. Nobody else includes this. */
#include "ui/internal.h"
#include "ui/lines.h"

struct calls_pane {
	struct path_subject subject;
	bool process;
	GArray *tids; /* int32_t: threads that are known to be meant */
	/* Events of an interval instead. */
	bool events;
	uint64_t from_ns, to_ns; /* [from, to[, reference time */
	GArray *hosts;           /* unsigned: those that were shown; NULL without .events */
	GString *filter;
	unsigned number;                 /* of the request */
	const struct calls_lines *lines; /* NULL: none yet */
	/* what is wanted around where one is */
	uint64_t back_ns, on_ns;
	bool wanted;
	uint64_t wanted_begin_ns, wanted_end_ns, wanted_around_ns;
	/* where one is */
	uint64_t shown_end_ns; /* of the shown interval when it was looked at last, 0: never */
	bool chosen;           /* by the user: the line stays selected, else the last one of the shown interval is */
	uint64_t selected_ns;
	unsigned selected_nth; /* of the lines of that time */
	unsigned selected, top;
	unsigned search_from; /* where one was when a search began, and whether the line was chosen */
	bool search_chosen;
	int list_y, list_h; /* where lines were drawn last */
};

/* All of this is in the lines. */
static inline uint64_t calls_begin(const struct ui *ui, const struct calls_pane *s)
{
	return MAX(ui->calls.begin_ns, s->lines->dropped_before_ns);
}

static inline uint64_t calls_end(const struct ui *ui, const struct calls_pane *s)
{
	return MIN(ui->calls.end_ns, s->lines->dropped_after_ns);
}

void pane_calls_draw(struct ui *ui, struct pane *p, int y, int h);

#endif
