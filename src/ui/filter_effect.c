/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the user's filter does to the pane that is shown. It stays when another pane is opened, whose rows may lack what
 * its terms are about.
 */
#include "ui/internal.h"

struct effect {
	const struct ui *ui;
	const struct list *lists;
	unsigned n_lists;
	GPtrArray *idle; /* names of terms that affect no row, each once (const char *) */
	unsigned n_idle;
};

static bool affects(const struct effect *e, const struct view_node *term)
{
	for (unsigned i = 0; i < e->n_lists; i++) {
		const struct list *l = &e->lists[i];

		/* the details of a thread have a filter of their own */
		if (l->query.filter == &e->ui->filter && view_rows_have_term(&l->rows, term))
			return true;
	}
	return false;
}

static enum view_truth visit_term(void *data, const struct view_node *term)
{
	const char *name = view_term_name(term);
	struct effect *e = data;

	if (affects(e, term))
		return VIEW_UNTOUCHED;
	e->n_idle++;
	if (!g_ptr_array_find_with_equal_func(e->idle, name, g_str_equal, NULL))
		g_ptr_array_add(e->idle, (char *)name);
	return VIEW_UNTOUCHED;
}

/* Looks for terms that affect none of the lists. Free effect.idle. */
static struct effect effect_on(const struct ui *ui, const struct list *lists, unsigned n_lists)
{
	struct effect e = { .ui = ui, .lists = lists, .n_lists = n_lists, .idle = g_ptr_array_new() };

	view_filter_wants(&ui->filter, visit_term, &e); /* of untouched terms it visits all */
	return e;
}

bool filter_affects(const struct ui *ui, const struct list *l)
{
	const struct effect e = effect_on(ui, l, 1);

	g_ptr_array_free(e.idle, TRUE);
	return e.n_idle < ui->filter.n_terms;
}

/* Its start, if it is wider. */
static void add_filter(const struct ui *ui, int width, GString *s)
{
	const size_t size = ui->filter_text->len + FORMAT_SIZE;
	char *fit = g_malloc(size);

	width = CLAMP(canvas_text_width(ui->filter_text->str), 1, width);
	g_string_append_printf(s, "filter: %s",
			       format_fit(fit, size, ui->filter_text->str, (unsigned)width, false, &ui->format));
	g_free(fit);
}

static void add_idle_terms(const struct effect *e, bool brief, GString *s)
{
	const bool one = (brief ? e->n_idle : e->idle->len) == 1;

	if (brief)
		g_string_append_printf(s, " (%u term%s", e->n_idle, one ? "" : "s");
	for (guint i = 0; i < e->idle->len && !brief; i++)
		g_string_append_printf(s, "%s%s", i ? ", " : " (", (const char *)g_ptr_array_index(e->idle, i));
	g_string_append(s, one ? " does not apply here)" : " do not apply here)");
}

void filter_add_status(const struct ui *ui, const struct pane *p, int width, bool brief, GString *s)
{
	const struct effect e = effect_on(ui, p->lists, p->n_lists);

	if (ui->filter_text->len)
		add_filter(ui, width, s);
	if (e.n_idle && e.n_idle == ui->filter.n_terms)
		g_string_append(s, " (does not apply here)");
	else if (e.n_idle)
		add_idle_terms(&e, brief, s);
	if (ui->filter_text->len)
		g_string_append(s, "  ");
	g_ptr_array_free(e.idle, TRUE);
}
