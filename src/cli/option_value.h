/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLI_OPTION_VALUE_H
#define LT_CLI_OPTION_VALUE_H

#include "cli/options.h"

/*
 * Stores an option's argument (NULL for flags) in the row's field. Texts are referred to, not copied. LT_ERROR: the
 * error says what is wrong with it, without naming the option.
 */
enum lt_status option_store(struct options *o, const struct option_row *row, const char *text);

/* The texts between commas, at least one, which may be empty. Free them with g_strfreev(). */
char **option_split(const char *text);

#endif
