/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_MOUSE_H
#define LT_UI_MOUSE_H

/* What a click on a place does, or the wheel, for the help screen and the manual. */
struct mouse_help {
	const char *where, *help;
};

/* NULL: there are no more. */
const struct mouse_help *mouse_help_get(unsigned i);

#endif
