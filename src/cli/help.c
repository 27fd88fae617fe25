/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/help.h"

#include <glib.h>
#include <string.h>

#include "base/utf8.h"

enum { WIDTH = 80, ITEM_INDENT = 2, TEXT_COLUMN = 28 };

/* Prints text filled into lines from column indent on; the first line already has `used` columns. */
static void fill(FILE *out, const char *text, unsigned indent, unsigned used)
{
	char **words = g_strsplit(text, " ", -1);
	unsigned column = used;

	for (char **w = words; *w; w++) {
		unsigned width = utf8_width(*w);

		if (column > indent && column + 1 + width > WIDTH) {
			fputc('\n', out);
			column = 0;
		}
		if (column < indent)
			column += (unsigned)fprintf(out, "%*s", (int)(indent - column), "");
		else if (column > indent)
			column += (unsigned)fprintf(out, " ");
		fputs(*w, out);
		column += width;
	}
	fputc('\n', out);
	g_strfreev(words);
}

/* Text of a man page: roff's own characters escaped; a hyphen stays one that can be copied. */
static void roff(FILE *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	for (; *text; text++) {
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else
			fputc(*text, out);
	}
	fputc('\n', out);
}

void help_section(struct help *h, const char *title)
{
	char *upper;

	if (h->form == HELP_MAN) {
		upper = g_ascii_strup(title, -1);
		fputs(".SH ", h->out);
		roff(h->out, upper);
		g_free(upper);
	} else {
		fprintf(h->out, "\n%s:\n", title);
	}
}

void help_subsection(struct help *h, const char *title)
{
	if (h->form == HELP_MAN) {
		fputs(".SS ", h->out);
		roff(h->out, title);
	} else {
		fprintf(h->out, "\n  %s\n", title);
	}
}

void help_paragraph(struct help *h, const char *text)
{
	if (h->form == HELP_MAN) {
		fputs(".PP\n", h->out);
		roff(h->out, text);
	} else {
		fill(h->out, text, ITEM_INDENT, 0);
	}
}

void help_item(struct help *h, const char *term, const char *text)
{
	unsigned used = ITEM_INDENT + utf8_width(term);

	if (h->form == HELP_MAN) {
		fputs(".TP\n.B ", h->out);
		roff(h->out, term);
		roff(h->out, text);
		return;
	}
	fprintf(h->out, "%*s%s", ITEM_INDENT, "", term);
	if (used + 2 > TEXT_COLUMN) {
		fputc('\n', h->out);
		used = 0;
	}
	fill(h->out, text, TEXT_COLUMN, used);
}

void help_example(struct help *h, const char *text)
{
	char **lines = g_strsplit(text, "\n", -1);

	if (h->form == HELP_MAN)
		fputs(".PP\n.nf\n.RS\n", h->out);
	for (char **line = lines; *line; line++) {
		if (h->form == HELP_MAN)
			roff(h->out, *line);
		else
			fprintf(h->out, "    %s\n", *line);
	}
	if (h->form == HELP_MAN)
		fputs(".RE\n.fi\n", h->out);
	g_strfreev(lines);
}
