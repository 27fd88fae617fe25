/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_PALETTE_H
#define LT_UI_PALETTE_H

#include <curses.h>
#include <stdbool.h>

#include "ui/canvas.h"

/* What styles look like. Only screen.c includes this. */

/* After the terminal is up. color: wanted; a terminal without colours gets the mono set. */
void palette_init(bool color);

bool palette_has_color(void);

attr_t palette_get(enum style style, short *pair);

#endif
