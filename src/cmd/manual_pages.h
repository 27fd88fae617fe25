/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the manual pages and --help say, apart from options, keys, tables and sets, which have tables of their own. */
#ifndef LT_CMD_MANUAL_PAGES_H
#define LT_CMD_MANUAL_PAGES_H

#include <stdbool.h>

#include "cmd/commands.h"
#include "cmd/options.h"

/* Lists of these end with a NULL term. */
struct manual_item {
	const char *term;
	const char *text;
};

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

/* Sections of several pages. */
extern const struct manual_item manual_times[], manual_amounts[], manual_filters[], manual_of_analyses[];
extern const struct manual_item manual_exit_statuses[], manual_environment[]; /* of all commands that read sources */

/* What replaces a command of lttng-analyses, with or without "lttng-"; NULL: there is no such command. */
const char *manual_for_analysis(const char *name);

#endif
