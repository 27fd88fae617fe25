/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_CTL_H
#define LT_CONTROL_CTL_H

/*
 * Sets the file name of liblttng-ctl, which is borrowed and loaded by the next call of one of its functions. Without
 * it, they fail, lttng_strerror() says why, and no session daemon is alive. For tests.
 */
void ctl_set_library(const char *name);

/*
 * Loads it now. NULL: it is loaded; else the reason why it cannot be, valid until ctl_set_library(). Main thread only,
 * as all functions of the library; once it is loaded, another thread may call them while the main thread calls none.
 */
const char *ctl_load(void);

/* Lets the session be CTF 1.8, where the library can choose: CTF 2 is the default since LTTng 2.15. */
struct lttng_session_descriptor;
void ctl_set_ctf_1_8(struct lttng_session_descriptor *d);

#endif
