/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_CTL_H
#define LT_CONTROL_CTL_H

/*
 * Sets the file name of liblttng-ctl, which is borrowed and loaded by the next call of one of its functions. Without
 * it, they fail, lttng_strerror() says why, and no session daemon is alive. For tests.
 */
void ctl_set_library(const char *name);

#endif
