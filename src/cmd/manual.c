/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/manual.h"

#include "cmd/manual_pages.h"
#include "config.h"

static void print_list(struct help *h, const char *title, const struct manual_item *items)
{
	help_section(h, title);
	manual_print_items(h, items);
}

static void print_options(struct help *h, enum command_bit command)
{
	unsigned n;
	const struct option_row *rows = options_rows(&n);

	help_section(h, "Options");
	if (!h->brief)
		help_paragraph(h, "A long option may be abbreviated if that is unambiguous; its argument is the next "
				  "word or follows '='. Short options may be combined; the last one may take an "
				  "argument.");
	for (unsigned i = 0; i < n; i++) {
		const struct option_row *row = &rows[i];
		char *letter, *term, *text;

		if (!(row->commands & command) || !row->help)
			continue;
		letter = row->letter ? g_strdup_printf("-%c, ", row->letter) : g_strdup("");
		term = g_strdup_printf("%s--%s%s%s", letter, row->name, row->argument ? " " : "",
				       row->argument ? row->argument : "");
		text = row->standard ? g_strdup_printf("%s (default %s)", row->help, row->standard)
				     : g_strdup(row->help);
		help_item(h, term, text);
		g_free(letter);
		g_free(term);
		g_free(text);
	}
}

static void print_head(struct help *h, const struct manual_page *page)
{
	char *name;

	if (h->form == HELP_MAN) {
		name = g_ascii_strup(page->man_name, -1);
		fprintf(h->out, ".\\\" Written by 'make man' from the tables of the program.\n");
		fprintf(h->out, ".TH %s 1 \"\" \"lttngtop %s\" \"User Commands\"\n", name, PACKAGE_VERSION);
		fprintf(h->out, ".nh\n.SH NAME\n%s \\- %s\n", page->man_name, page->summary);
		g_free(name);
		help_section(h, "Synopsis");
		for (size_t i = 0; i < G_N_ELEMENTS(page->synopsis) && page->synopsis[i]; i++)
			help_example(h, page->synopsis[i]);
		help_section(h, "Description");
	} else {
		for (size_t i = 0; i < G_N_ELEMENTS(page->synopsis) && page->synopsis[i]; i++)
			fprintf(h->out, "%s %s\n", i ? "      " : "Usage:", page->synopsis[i]);
		fputc('\n', h->out);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(page->description) && page->description[i]; i++) {
		if (i && h->form == HELP_TEXT)
			fputc('\n', h->out);
		help_paragraph(h, page->description[i]);
	}
}

static void print_examples(struct help *h, const struct manual_page *page)
{
	help_section(h, "Examples");
	for (size_t i = 0; i < G_N_ELEMENTS(page->examples) && page->examples[i].term; i++) {
		help_example(h, page->examples[i].term);
		help_paragraph(h, page->examples[i].text);
	}
}

void manual_print(struct help *h, enum command_bit command)
{
	const struct manual_page *page = manual_page(command);

	print_head(h, page);
	print_options(h, command);
	if (!page->no_times)
		print_list(h, "Times", manual_times);
	if (!page->no_amounts)
		print_list(h, "Durations and sizes", manual_amounts);
	if (!page->no_times)
		print_list(h, "Patterns", manual_globs);
	if (page->filters)
		print_list(h, "Filters", manual_filters);
	if (page->tables)
		page->tables(h);
	if (h->brief)
		return;
	if (page->formats)
		print_list(h, "Formats", page->formats);
	if (page->troubles)
		print_list(h, "Troubleshooting", page->troubles);
	if (command == COMMAND_REPORT) {
		print_list(h, "Coming from lttng-analyses", manual_of_analyses);
		manual_print_refused(h, command);
		print_list(h, "Coming from bcc", manual_of_bcc);
	}
	print_list(h, "Exit status", page->exit_status ? page->exit_status : manual_exit_statuses);
	print_list(h, "Environment", page->environment ? page->environment : manual_environment);
	if (page->files)
		print_list(h, "Files", page->files);
	print_examples(h, page);
	help_section(h, "See also");
	help_paragraph(h, page->see_also);
}
