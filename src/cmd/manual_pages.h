/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the manual pages and --help say, apart from options, keys, tables and sets, which have tables of their own. */
#ifndef LT_CMD_MANUAL_PAGES_H
#define LT_CMD_MANUAL_PAGES_H

#include <stdbool.h>

#include "cli/manual_items.h"

struct manual_page {
	enum command_bit command;
	const char *man_name;
	const char *summary;
	const char *synopsis[12];
	const char *description[6];
	void (*tables)(struct help *h);               /* NULL: none */
	const struct manual_item *formats, *troubles; /* NULL: none */
	struct manual_item examples[8];
	const char *see_also;
	const struct manual_item *exit_status; /* NULL: those of all who read; so environment */
	const struct manual_item *environment;
	const struct manual_item *files; /* NULL: none */
	bool no_times;
	bool no_amounts;
	bool filters; /* it knows them */
};

/* The page of a command; every command has one. */
const struct manual_page *manual_page(enum command_bit command);

#endif
