/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_PALETTE_H
#define LT_UI_PALETTE_H

#include <curses.h>
#include <stdbool.h>

#include "ui/canvas.h"

/* The appearance of styles. Only screen.c includes this. */

/* To be called once the terminal is up. color: use colours; a terminal without them gets the monochrome set. */
void palette_init(bool color);

bool palette_has_color(void);

attr_t palette_get(enum style style, short *pair);

#endif
