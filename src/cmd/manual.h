/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_MANUAL_H
#define LT_CMD_MANUAL_H

#include "cli/help.h"
#include "cli/options.h"

/* The page of a command: --help (h->brief), `help COMMAND` and the man page. */
void manual_print(struct help *h, enum command_bit command);

#endif
