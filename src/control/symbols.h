/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_SYMBOLS_H
#define LT_CONTROL_SYMBOLS_H

#include "base/status.h"
#include "control/plan.h"

/* Whether this kernel has the symbols of a channel's kprobes; yes if it does not let us see them. LT_ERROR: not all. */
enum lt_status symbols_check(const struct record_channel *c);

/* The same of one symbol by the shell of another machine: a command that says so and fails. The caller frees it. */
char *symbols_test(const char *symbol);

#endif
