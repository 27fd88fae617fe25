/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_RECORD_DOCTOR_H
#define LT_CMD_RECORD_DOCTOR_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Prints checks (control/checks.h) as a table; only_missing: just those that found something missing, one below the
 * other.
 */
void doctor_print(FILE *out, const GPtrArray *checks, bool only_missing);

#endif
