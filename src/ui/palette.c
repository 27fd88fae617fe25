/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/palette.h"

/*
 * The colours are readable on dark and light backgrounds: whoever sets a background also sets the foreground. -1: the
 * terminal's own.
 */
struct look {
	short fg256, bg256;
	short fg8, bg8;
	attr_t color; /* attributes with colours */
	attr_t mono;  /* attributes without */
};

static const struct look looks[STYLES] = {
	[STYLE_NORMAL] = { -1, -1, -1, -1, A_NORMAL, A_NORMAL },
	[STYLE_DIM] = { 244, -1, -1, -1, A_NORMAL, A_NORMAL },
	[STYLE_BOLD] = { -1, -1, -1, -1, A_BOLD, A_BOLD },
	[STYLE_HEAD] = { 253, 238, COLOR_BLACK, COLOR_WHITE, A_NORMAL, A_REVERSE },
	[STYLE_HEAD_SORT] = { 231, 238, COLOR_BLACK, COLOR_WHITE, A_BOLD, A_REVERSE | A_BOLD },
	[STYLE_SELECTED] = { 231, 24, COLOR_BLACK, COLOR_CYAN, A_NORMAL, A_REVERSE },
	[STYLE_MARKED] = { 136, -1, COLOR_MAGENTA, -1, A_BOLD, A_BOLD | A_UNDERLINE },
	[STYLE_MATCH] = { 16, 179, COLOR_BLACK, COLOR_YELLOW, A_NORMAL, A_UNDERLINE },
	[STYLE_NEW] = { 71, -1, COLOR_GREEN, -1, A_NORMAL, A_BOLD },
	[STYLE_GONE] = { 131, -1, COLOR_RED, -1, A_NORMAL, A_DIM },
	[STYLE_TRACING] = { 67, -1, COLOR_MAGENTA, -1, A_NORMAL, A_DIM | A_UNDERLINE },
	[STYLE_KEY] = { -1, -1, -1, -1, A_BOLD, A_BOLD },
	[STYLE_LABEL] = { 253, 238, COLOR_BLACK, COLOR_WHITE, A_NORMAL, A_REVERSE },
	[STYLE_LIVE] = { 231, 28, COLOR_WHITE, COLOR_GREEN, A_BOLD, A_REVERSE | A_BOLD },
	[STYLE_REPLAY] = { 231, 25, COLOR_WHITE, COLOR_BLUE, A_BOLD, A_REVERSE | A_BOLD },
	[STYLE_PAUSED] = { 16, 179, COLOR_BLACK, COLOR_YELLOW, A_NORMAL, A_REVERSE | A_BOLD },
	[STYLE_LOST] = { 231, 124, COLOR_WHITE, COLOR_RED, A_BOLD, A_REVERSE | A_BOLD },
	[STYLE_METER_LOW] = { 71, -1, COLOR_GREEN, -1, A_NORMAL, A_NORMAL },
	[STYLE_METER_MID] = { 136, -1, COLOR_YELLOW, -1, A_NORMAL, A_NORMAL },
	[STYLE_METER_HIGH] = { 167, -1, COLOR_RED, -1, A_NORMAL, A_BOLD },
	[STYLE_STRIP] = { 67, -1, COLOR_CYAN, -1, A_NORMAL, A_NORMAL },
	[STYLE_CURSOR] = { 231, 24, COLOR_BLACK, COLOR_CYAN, A_NORMAL, A_REVERSE },
	[STYLE_CURSOR_BAR] = { 208, 24, COLOR_YELLOW, COLOR_BLUE, A_BOLD, A_BOLD },
	[STYLE_TITLE] = { -1, -1, -1, -1, A_BOLD, A_BOLD },
	[STYLE_FRAME] = { 244, -1, -1, -1, A_NORMAL, A_NORMAL },
	[STYLE_PATH_RUNNING] = { 71, -1, COLOR_GREEN, -1, A_NORMAL, A_NORMAL },
	[STYLE_PATH_CPU] = { 16, 179, COLOR_BLACK, COLOR_YELLOW, A_NORMAL, A_NORMAL },
	[STYLE_PATH_DISK] = { 231, 130, COLOR_WHITE, COLOR_RED, A_NORMAL, A_BOLD },
	[STYLE_PATH_NETWORK] = { 231, 25, COLOR_WHITE, COLOR_BLUE, A_NORMAL, A_NORMAL },
	[STYLE_PATH_TIMER] = { 231, 60, COLOR_WHITE, COLOR_MAGENTA, A_NORMAL, A_NORMAL },
	[STYLE_PATH_BLOCKED] = { 253, 238, COLOR_BLACK, COLOR_WHITE, A_NORMAL, A_REVERSE },
};

static bool colored;

void palette_init(bool color)
{
	bool many;

	colored = color && has_colors() && start_color() != ERR;
	if (!colored)
		return;
	use_default_colors();
	many = COLORS == 256; /* of more, the numbers are red, green and blue */
	for (int i = 0; i < STYLES; i++)
		init_pair((short)(i + 1), many ? looks[i].fg256 : looks[i].fg8, many ? looks[i].bg256 : looks[i].bg8);
}

bool palette_has_color(void)
{
	return colored;
}

attr_t palette_get(enum style style, short *pair)
{
	*pair = colored ? (short)(style + 1) : 0;
	return colored ? looks[style].color : looks[style].mono;
}
