/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_PANE_CALLS_H
#define LT_UI_PANE_CALLS_H

/* Shared by pane_calls.c, which knows the position, and pane_calls_draw.c only. */
#include "ui/internal.h"
#include "ui/lines.h"

struct calls_pane {
	struct path_subject subject;
	bool process;
	GArray *tids; /* int32_t: threads known to be included */
	/* events of an interval instead of calls */
	bool events;
	struct ui_instant from, to;
	uint64_t from_ns, to_ns; /* [from, to[ in reference time */
	GArray *hosts;           /* unsigned: hosts that were shown; NULL without .events */
	GString *filter;
	unsigned number;                 /* of the request */
	const struct calls_lines *lines; /* NULL: none yet */
	/* how much is wanted before and after the position */
	uint64_t back_ns, on_ns;
	uint64_t at_ns; /* the position */
	bool wanted;
	uint64_t wanted_begin_ns, wanted_end_ns, wanted_around_ns;
	/* the position */
	uint64_t shown_end_ns; /* of the shown interval when last checked; 0: never */
	/* by the user: the line stays selected; otherwise the last one of the shown interval is */
	bool chosen;
	uint64_t selected_ns;
	unsigned selected_nth; /* its index among the lines with that time */
	unsigned selected, top;
	unsigned search_from; /* position when a search started, and whether the line was chosen */
	bool search_chosen;
	int list_y, list_h; /* where lines were drawn last */
};

/* The range that the lines cover completely. */
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
