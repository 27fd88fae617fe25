/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_COLD_H
#define LT_BASE_COLD_H

/*
 * For a function that is almost never called, from one that runs for every event. It is not inlined, so that the caller
 * need not save registers for it.
 */
#define LT_COLD __attribute__((cold, noinline))

#endif
