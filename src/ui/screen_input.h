/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_SCREEN_INPUT_H
#define LT_UI_SCREEN_INPUT_H

#include <stdbool.h>

/*
 * The half of screen.h that reads: keys, the mouse, pasted text. To be called by screen_open() once curses runs.
 * mouse, brackets: the terminal reports the mouse, and puts brackets around what is pasted.
 */
void screen_input_open(bool mouse, bool brackets);

#endif
