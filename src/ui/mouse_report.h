/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_MOUSE_REPORT_H
#define LT_UI_MOUSE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What a terminal sends for the mouse, read character by character: "ESC [ < button ; x ; y M", with m for a release
 * (SGR, mode 1006), or "ESC [ M" and three characters (mode 1000); see "Mouse Tracking" in xterm's ctlseqs.
 */
enum mouse_form { MOUSE_NONE, MOUSE_SGR, MOUSE_X10 };

struct mouse_report {
	enum mouse_form form; /* MOUSE_NONE: none has begun */
	unsigned n;           /* numbers that are complete */
	unsigned number[3];   /* button and modifiers; column and line, from 1 */
	bool has_digit;
};

/* What the mouse did. */
struct mouse_action {
	int x, y;  /* from 0 */
	int wheel; /* -1 up, 1 down, 0: the left button was pressed */
};

enum mouse_result {
	MOUSE_MORE,    /* the report is not complete */
	MOUSE_ACTED,   /* it is complete, and *action says what was done */
	MOUSE_IGNORED, /* it is complete, but has no meaning here: a release, another button, a movement */
	MOUSE_BROKEN,  /* the character does not belong to a report; it was not used */
};

/* Begins a report whose first characters, "ESC [ <" or "ESC [ M", were read. */
void mouse_report_begin(struct mouse_report *r, enum mouse_form form);

/* Adds the next character of a report that has begun. After any result but MOUSE_MORE, none has. */
enum mouse_result mouse_report_add(struct mouse_report *r, uint32_t character, struct mouse_action *action);

#endif
