/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_COLD_H
#define LT_BASE_COLD_H

/*
 * A function that is called next to never, from one that runs for every event: it stays out of that one, which saves
 * no registers for its sake.
 */
#define LT_COLD __attribute__((cold, noinline))

#endif
