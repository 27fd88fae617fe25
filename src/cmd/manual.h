/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_MANUAL_H
#define LT_CMD_MANUAL_H

#include "cmd/help.h"
#include "cmd/manual_pages.h"
#include "cmd/options.h"

/* The page of a command: --help (h->brief), `help COMMAND` and the man page. */
void manual_print(struct help *h, enum command_bit command);

/* Up to the one without a term. */
void manual_print_items(struct help *h, const struct manual_item *items);

/* The options of other tools that the command does not have, each with the reason. */
void manual_print_refused(struct help *h, enum command_bit command);

#endif
