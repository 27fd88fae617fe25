/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nested containers; Enter shows what runs in one. */
#include <string.h>

#include "base/error.h"
#include "ui/internal.h"

static struct value value_of(const struct list *l, const struct view_row *row, const char *column)
{
	struct value v = { .kind = VALUE_NULL };

	view_rows_value(&l->rows, (unsigned)(row - l->rows.rows), view_rows_column(&l->rows, column), &v);
	return v;
}

/* Also at a sign that combines terms. */
static const char *end_of_word(const char *p)
{
	bool in_quotes = false;

	for (; *p && (in_quotes || !strchr(" \t|()!", *p)); p++)
		in_quotes ^= *p == '"';
	return p;
}

/* The filter without the terms that a container replaces, if it is a list of terms. */
static char *other_terms(const struct ui *ui)
{
	const char *filter = ui->filter_text->str;
	GString *text = g_string_new(NULL);

	for (const char *word = filter, *end; *word; word = end + strspn(end, " \t")) {
		end = end_of_word(word);
		if (*end && strchr("|()!", *end))
			return g_string_free(g_string_assign(text, filter), FALSE);
		if (end > word && !g_str_has_prefix(word, "container:") && !g_str_has_prefix(word, "host:") &&
		    !g_str_has_prefix(word, "host="))
			g_string_append_printf(text, "%s%.*s", text->len ? " " : "", (int)(end - word), word);
	}
	return g_string_free(text, FALSE);
}

/* The container's name, or its number if no filter can name it; for a collapsed row, including nested ones. */
static char *container_terms(const struct ui *ui, const struct list *l, const struct view_row *row, const char *name)
{
	GString *text = g_string_new(NULL), *term = g_string_new(NULL);

	if (ui->hosts->len > 1) {
		g_string_append(term, "host=");
		if (filter_put_text(term, ui_host(ui, row->key.host)->info.name, true) == LT_OK)
			g_string_append_printf(text, "%s ", term->str);
	}
	g_string_assign(term, "container:");
	if (!value_of(l, row, "nesting").u)
		g_string_append(term, name); /* the host itself */
	else if (filter_put_container(term, name) != LT_OK)
		g_string_append_printf(term, "%" G_GUINT64_FORMAT, value_of(l, row, "ns").u);
	error_clear();
	g_string_append_printf(text, "%s%s", term->str, row->hidden ? "/" : "");
	g_string_free(term, TRUE);
	return g_string_free(text, FALSE);
}

bool containers_open(struct ui *ui, const struct list *l, const struct view_row *row)
{
	char *shown = g_strdup(value_of(l, row, "container").text), *before = g_strdup(ui->filter_text->str);
	char *others = other_terms(ui), *terms = container_terms(ui, l, row, shown);
	char *filter = filter_both(others, terms);

	containers_release(ui);
	if (ui_set_filter(ui, filter) == LT_OK) {
		ui->opened_container = (struct ui_opened_container){
			.pane = ui->current,
			.filter_before = g_steal_pointer(&before),
			.filter = g_steal_pointer(&filter),
		};
		do_pane(ui, PANE_CPU);
		ui_say(ui, "showing what runs in %s; press Esc to go back to the containers", shown);
	} else {
		ui_say(ui, "%s", error_text());
	}
	g_free(filter);
	g_free(terms);
	g_free(others);
	g_free(before);
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
