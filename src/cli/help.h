/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLI_HELP_H
#define LT_CLI_HELP_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Help text, written once for two forms: plain text for --help, roff for the
 * man page. The functions below are called in the order of the page.
 */
enum help_form { HELP_TEXT, HELP_MAN };

struct help {
	FILE *out;
	enum help_form form;
	bool brief; /* for --help: leave out what fits no screen */
};

/* A section, in the man page upper case by convention: "OPTIONS". */
void help_section(struct help *h, const char *title);

/* A heading inside a section: "report cpu: a row is a thread". */
void help_subsection(struct help *h, const char *title);

/* A paragraph, filled to the width of the page. */
void help_paragraph(struct help *h, const char *text);

/* A term and what it means: an option, a key, a column. */
void help_item(struct help *h, const char *term, const char *text);

/* Lines that keep their form: a command, or output. */
void help_example(struct help *h, const char *text);

#endif
