/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/mouse_report.h"

enum {
	NUMBER_MAX = 9999,
	/* bits of the first number besides the modifiers 4, 8 and 16 */
	BUTTON = 3, /* in X10, 3 is a release */
	MOVED = 32,
	WHEEL = 64,
	EXTRA = 128,
	X10_ZERO = 32, /* is added to each number, so that it is a printable character */
};

void mouse_report_begin(struct mouse_report *r, enum mouse_form form)
{
	*r = (struct mouse_report){ .form = form };
}

static enum mouse_result finish(struct mouse_report *r, bool pressed, struct mouse_action *action)
{
	const unsigned what = r->number[0] & (BUTTON | MOVED | WHEEL | EXTRA);

	r->form = MOUSE_NONE;
	if (!pressed || !r->number[1] || !r->number[2] || (what != 0 && what != WHEEL && what != (WHEEL | 1)))
		return MOUSE_IGNORED;
	*action = (struct mouse_action){ .x = (int)r->number[1] - 1, .y = (int)r->number[2] - 1 };
	if (what)
		action->wheel = what == WHEEL ? -1 : 1;
	return MOUSE_ACTED;
}

static enum mouse_result add_x10(struct mouse_report *r, uint32_t c, struct mouse_action *action)
{
	if (c < X10_ZERO)
		return MOUSE_BROKEN;
	r->number[r->n++] = c - X10_ZERO > NUMBER_MAX ? NUMBER_MAX : c - X10_ZERO;
	return r->n < 3 ? MOUSE_MORE : finish(r, true, action);
}

static enum mouse_result add_sgr(struct mouse_report *r, uint32_t c, struct mouse_action *action)
{
	unsigned *number = &r->number[r->n];

	if (c >= '0' && c <= '9') {
		*number = 10 * *number + (c - '0');
		r->has_digit = true;
		return *number <= NUMBER_MAX ? MOUSE_MORE : MOUSE_BROKEN;
	}
	if (!r->has_digit)
		return MOUSE_BROKEN;
	r->has_digit = false;
	if (c == ';' && r->n < 2) {
		r->n++;
		return MOUSE_MORE;
	}
	return (c == 'M' || c == 'm') && r->n == 2 ? finish(r, c == 'M', action) : MOUSE_BROKEN;
}

enum mouse_result mouse_report_add(struct mouse_report *r, uint32_t character, struct mouse_action *action)
{
	const enum mouse_result result =
		r->form == MOUSE_SGR ? add_sgr(r, character, action) : add_x10(r, character, action);

	if (result != MOUSE_MORE)
		r->form = MOUSE_NONE;
	return result;
}
