/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_STOP_H
#define LT_BASE_STOP_H

#include <signal.h>

/*
 * Asks a long function to end where it is: it looks at the flag again and again, and returns LT_INTERRUPTED once it is
 * not 0. Set by a signal handler, or by the thread that runs the function, in a callback. Never cleared meanwhile.
 */
typedef volatile sig_atomic_t stop_flag;

#endif
