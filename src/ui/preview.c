/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The destination of a jump in a recording that has not been read up to there: shown from a preview until it has. */
#include "ui/internal.h"

/* The interval where the cursor will be once it has been read; false: it is there. */
static bool find_destination(const struct ui *ui, uint64_t *begin_ns, uint64_t *end_ns)
{
	const struct cursor *c = &ui->cursor;

	if (!ui->started || c->live || c->complete || (!c->wanted_ns && c->mode != CURSOR_STICKING))
		return false;
	*end_ns = c->wanted_ns ? MIN(c->wanted_ns, ui->expected_end_ns) : ui->expected_end_ns;
	if (*end_ns <= MAX(c->known_ns, c->begin_ns))
		return false;
	*begin_ns = c->begin_ns + (*end_ns - 1 - c->begin_ns) / c->interval_ns * c->interval_ns;
	return true;
}

/* A long interval near the start is reached as fast by the reading itself. */
bool ui_wanted_preview(const struct ui *ui, uint64_t *begin_ns, uint64_t *end_ns)
{
	return find_destination(ui, begin_ns, end_ns) && (*end_ns - *begin_ns) * 2 <= *begin_ns - ui->cursor.begin_ns;
}

void ui_set_preview(struct ui *ui, struct history *history, uint64_t begin_ns, uint64_t end_ns)
{
	ui->preview = (struct ui_preview){
		.history = history,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.number = ui->preview.number + 1,
	};
	data_forget(ui);
	ui->dirty = true;
}

bool preview_is_shown(const struct ui *ui)
{
	const struct ui_preview *p = &ui->preview;
	uint64_t begin_ns, end_ns;

	return p->history && find_destination(ui, &begin_ns, &end_ns) && begin_ns == p->begin_ns && end_ns == p->end_ns;
}

bool preview_is_awaited(const struct ui *ui)
{
	uint64_t begin_ns, end_ns;

	return find_destination(ui, &begin_ns, &end_ns);
}

bool preview_step(struct ui *ui, int steps)
{
	const uint64_t by_ns = (uint64_t)ABS(steps) * ui->cursor.interval_ns;
	uint64_t begin_ns, end_ns;

	if (!find_destination(ui, &begin_ns, &end_ns))
		return false;
	if (steps < 0)
		cursor_pause(&ui->cursor, true);
	cursor_jump(&ui->cursor, steps > 0 ? begin_ns + by_ns : begin_ns - MIN(begin_ns, by_ns));
	return true;
}

void ui_interval(const struct ui *ui, uint64_t *begin_ns, uint64_t *end_ns)
{
	if (preview_is_shown(ui)) {
		*begin_ns = ui->preview.begin_ns;
		*end_ns = ui->preview.end_ns;
	} else {
		cursor_interval(&ui->cursor, begin_ns, end_ns);
	}
}
