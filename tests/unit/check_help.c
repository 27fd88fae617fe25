/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/help.h"
#include "unit.h"

static const char long_text[] =
	"the process identifier as the host sees it, which inside a container differs from the one in there";

static char *print(enum help_form form, void (*body)(struct help *h))
{
	char *text = NULL;
	size_t size = 0;
	struct help h = { .out = open_memstream(&text, &size), .form = form };

	body(&h);
	fclose(h.out);
	return text;
}

static void items(struct help *h)
{
	help_section(h, "Options");
	help_item(h, "-5s", "back\\slash");
	help_item(h, "← →", long_text);
	help_item(h, "--a-rather-long-option NAME", "on its own line");
}

static void paragraphs(struct help *h)
{
	help_subsection(h, "one");
	help_paragraph(h, ".dot first");
	help_example(h, "lttngtop x");
}

START_TEST(test_text)
{
	char *text = print(HELP_TEXT, items);

	ck_assert_str_eq(text, "\nOptions:\n"
			       "  -5s                       back\\slash\n"
			       "  ← →                       the process identifier as the host sees it, which\n"
			       "                            inside a container differs from the one in there\n"
			       "  --a-rather-long-option NAME\n"
			       "                            on its own line\n");
	free(text);
	text = print(HELP_TEXT, paragraphs);
	ck_assert_str_eq(text, "\n  one\n  .dot first\n    lttngtop x\n");
	free(text);
}
END_TEST

START_TEST(test_man)
{
	char *text = print(HELP_MAN, items);

	ck_assert_ptr_eq(strstr(text, ".SH OPTIONS\n.TP\n.B \\-5s\nback\\eslash\n.TP\n.B ← →\n"), text);
	free(text);
	text = print(HELP_MAN, paragraphs);
	ck_assert_str_eq(text, ".SS one\n.PP\n\\&.dot first\n.PP\n.nf\n.RS\nlttngtop x\n.RE\n.fi\n");
	free(text);
}
END_TEST

UNIT_MAIN("help", test_text, test_man)
