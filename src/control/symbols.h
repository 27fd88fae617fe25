/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_SYMBOLS_H
#define LT_CONTROL_SYMBOLS_H

#include "base/status.h"
#include "control/plan.h"

/*
 * Whether this kernel has the symbols of a channel's kprobes; assumed if we may not read its list. LT_ERROR: one is
 * missing.
 */
enum lt_status symbols_check(const struct record_channel *c);

/*
 * The same check for another machine: a shell command that prints an error and fails if the symbol is missing. The
 * caller frees it.
 */
char *symbols_test(const char *symbol);

#endif
