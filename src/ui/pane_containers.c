/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nested containers; Enter shows what runs in one. */
#include <string.h>

#include "ui/internal.h"

static struct value value_of(const struct list *l, const struct view_row *row, const char *column)
{
	struct value v = { .kind = VALUE_NULL };

	view_rows_value(&l->rows, (unsigned)(row - l->rows.rows), view_rows_column(&l->rows, column), &v);
	return v;
}

/* The filter without the terms that a container replaces; each term is followed by a blank. */
static GString *other_terms(const struct ui *ui)
{
	char **words = g_strsplit_set(ui->filter_text->str, " \t", -1);
	GString *text = g_string_new(NULL);

	for (char **word = words; *word; word++)
		if (**word && !g_str_has_prefix(*word, "container:") && !g_str_has_prefix(*word, "host:"))
			g_string_append_printf(text, "%s ", *word);
	g_strfreev(words);
	return text;
}

/* Filters by its name if that can be typed, otherwise by its number; for a collapsed row, including nested ones. */
bool containers_open(struct ui *ui, const struct list *l, const struct view_row *row)
{
	const struct value name = value_of(l, row, "container");
	char *shown = g_strdup(name.text);
	GString *text = other_terms(ui);

	if (ui->hosts->len > 1)
		g_string_append_printf(text, "host:%s ", ui_host(ui, row->key.host)->info.name);
	if (strpbrk(shown, " \t*?[/"))
		g_string_append_printf(text, "container:%" G_GUINT64_FORMAT, value_of(l, row, "ns").u);
	else
		g_string_append_printf(text, "container:%s", shown);
	if (row->hidden)
		g_string_append_c(text, '/');
	containers_release(ui);
	ui->opened_container = (struct ui_opened_container){ .pane = ui->current,
							     .filter_before = g_strdup(ui->filter_text->str),
							     .filter = g_string_free(text, FALSE) };
	do_pane(ui, PANE_CPU);
	ui_set_filter(ui, ui->opened_container.filter);
	ui_say(ui, "showing what runs in %s; press Esc to go back to the containers", shown);
	g_free(shown);
	return true;
}

bool containers_return(struct ui *ui)
{
	const struct ui_opened_container *o = &ui->opened_container;

	if (!o->filter || ui->current == o->pane || strcmp(ui->filter_text->str, o->filter) != 0)
		return false;
	do_pane(ui, (int)o->pane);
	ui_set_filter(ui, o->filter_before);
	containers_release(ui);
	return true;
}

void containers_release(struct ui *ui)
{
	g_free(ui->opened_container.filter_before);
	g_free(ui->opened_container.filter);
	ui->opened_container = (struct ui_opened_container){ 0 };
}
