/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Actions on the pane's list: moving, searching, selecting, ordering. */
#include <string.h>

#include "base/error.h"
#include "ui/internal.h"
#include "view/unknown.h"

static struct list *current_list(struct ui *ui)
{
	return pane_list(ui_pane(ui));
}

static void say_no_row(struct ui *ui)
{
	const struct list *l = current_list(ui);

	ui_say(ui, l->chosen && l->rows.n ? "the selected row is not in this interval" : "no row is selected");
}

const struct view_row *ui_selected_row(struct ui *ui)
{
	struct pane *p = ui_pane(ui);
	struct list *l = pane_list(p);
	const struct view_row *row = list_selected(l);

	if (!row) {
		say_no_row(ui);
	} else if (!pane_shows_selection(p)) {
		pane_show_lists(p);
		list_select(l, l->index);
		ui_say(ui, "the selected row was not visible: showing it");
		row = NULL;
	} else {
		/* whoever acts on a row has chosen it, even if it was selected as the first one */
		l->chosen = true;
	}
	return row;
}

const struct view_row *ui_acting_row(struct ui *ui)
{
	const struct view_row *row = ui_selected_row(ui);

	if (row && current_list(ui)->query.sum_by > VIEW_SUM_PROCESS) {
		ui_say(ui, "this row sums up %u row%s: press %s to show %s", row->summed, row->summed == 1 ? "" : "s",
		       ui->details ? "G" : "Enter", row->summed == 1 ? "it" : "them");
		row = NULL;
	}
	return row;
}

/* ---- moving ---- */

void do_move(struct ui *ui, int argument)
{
	pane_move(ui_pane(ui), argument);
}

void do_page(struct ui *ui, int argument)
{
	struct pane *p = ui_pane(ui);
	int page = p->type->body ? p->type->body->page(p) : current_list(ui)->h - 1;

	pane_move(p, argument * MAX(page, 1));
}

void do_move_end(struct ui *ui, int argument)
{
	struct pane *p = ui_pane(ui);

	if (p->type->body) {
		pane_move(p, argument * (G_MAXINT / 2));
		return;
	}
	pane_show_lists(p);
	/* an empty list cannot receive keys */
	for (unsigned i = 0; i < p->n_lists; i++) {
		const unsigned at = argument < 0 ? p->n_lists - 1 - i : i;

		if (p->lists[at].rows.n)
			p->focus = at;
	}
	same_rows_forget(ui, pane_list(p));
	list_move_end(pane_list(p), argument);
}

void do_follow(struct ui *ui, int argument)
{
	struct list *l = current_list(ui);

	(void)argument;
	if (pane_is_calls(ui_pane(ui))) {
		pane_calls_follow(ui_pane(ui));
		ui_say(ui, "following the time");
		return;
	}
	if (!l->follow && !list_selected(l)) {
		say_no_row(ui);
		return;
	}
	l->follow = !l->follow;
	if (l->follow)
		list_select(l, l->index);
	ui_say(ui, l->follow ? "following the selected row" : "no longer following");
}

/* ---- searching and filtering ---- */

static void start_search(struct ui *ui)
{
	ui->search_list = ui->search_found = current_list(ui);
	ui->search_from = list_place(ui->search_list);
}

/* Searches from where the search started, or from where a click has moved to since. */
static bool search_lists(struct ui *ui, const char *text)
{
	struct pane *p = ui_pane(ui);
	bool found;

	if (ui->search_found != current_list(ui))
		start_search(ui);
	p->focus = (unsigned)(ui->search_list - p->lists);
	list_return(ui->search_list, &ui->search_from);
	found = !*text || pane_search(p, text, false, true);
	ui->search_found = current_list(ui);
	return found;
}

static void say_not_found(struct ui *ui, const char *text)
{
	const struct pane *p = ui_pane(ui);
	const char *keys = pane_is_calls(p) ? pane_calls_unread(ui, p) : NULL;

	if (keys)
		ui_say(ui, "not found in the lines read so far; %s read%s more: %s", keys, strchr(keys, ' ') ? "" : "s",
		       text);
	else
		ui_say(ui, "not found: %s", text);
}

static void search_change(struct ui *ui, const char *text)
{
	struct pane *p = ui_pane(ui);

	g_string_assign(ui->search_text, text);
	if (!(p->type->body ? p->type->body->search(p, text, 0) : search_lists(ui, text)))
		say_not_found(ui, text);
}

static bool search_done(struct ui *ui, const char *text)
{
	if (text)
		search_change(ui, text);
	else
		search_change(ui, "");
	ui->search_list = ui->search_found = NULL;
	return true;
}

void do_search(struct ui *ui, int argument)
{
	struct pane *p = ui_pane(ui);

	(void)argument;
	g_string_truncate(ui->search_text, 0);
	if (p->type->body)
		p->type->body->search(p, NULL, 0);
	else
		start_search(ui);
	ui_prompt(ui, "Search:", "", search_change, search_done);
}

void do_search_step(struct ui *ui, int argument)
{
	const char *text = ui->search_text->str;
	struct pane *p = ui_pane(ui);

	if (!ui->search_text->len)
		do_search(ui, 0);
	else if (!(p->type->body ? p->type->body->search(p, text, argument)
				 : pane_search(p, text, argument < 0, false)))
		say_not_found(ui, text);
}

/* Sets the filter; if it is invalid, the one from before the prompt stays and the error chain says why. */
static enum lt_status set_filter(struct ui *ui, const char *text)
{
	enum lt_status status;

	view_filter_clear(&ui->filter);
	ui->filter.shown = pane_list(ui_pane(ui))->table;
	status = view_filter_parse(&ui->filter, text, NULL);
	if (status != LT_OK) {
		const size_t error_at = ui->filter.error_at;

		view_filter_clear(&ui->filter);
		view_filter_parse(&ui->filter, ui->filter_before->str, NULL);
		ui->filter.error_at = error_at;
	}
	g_string_assign(ui->filter_text, status == LT_OK ? text : ui->filter_before->str);
	ui_rebuild(ui);
	return status;
}

enum lt_status ui_set_filter(struct ui *ui, const char *text)
{
	g_string_assign(ui->filter_before, ui->filter_text->str);
	return set_filter(ui, text);
}

static void filter_change(struct ui *ui, const char *text)
{
	/* a term that is being typed may be incomplete */
	set_filter(ui, text);
}

static bool filter_done(struct ui *ui, const char *text)
{
	char *unknown;

	/* Esc removes the filter */
	if (set_filter(ui, text ? text : "") == LT_OK) {
		unknown = view_unknown_call(&ui->filter);
		if (unknown)
			ui_say(ui, "%s", unknown);
		g_free(unknown);
		return true;
	}
	ui_say(ui, "%s", error_text());
	ui->prompt.caret = ui->filter.error_at;
	return false;
}

/*
 * Changing the filter rereads events, so it takes effect only at the end; an invalid one leaves the old. Esc removes
 * the filter here, too.
 */
static bool calls_filter_done(struct ui *ui, const char *text)
{
	struct pane *p = ui_pane(ui);

	if (!pane_is_calls(p))
		return true;
	if (text && *text && ui->options.check(text, pane_calls_has_events(p)) != LT_OK)
		ui_say(ui, "%s", error_text());
	else
		pane_calls_set_filter(ui, p, text ? text : "");
	return true;
}

void do_filter(struct ui *ui, int argument)
{
	(void)argument;
	if (pane_is_calls(ui_pane(ui))) {
		ui_prompt(ui,
			  pane_calls_has_events(ui_pane(ui)) ? "Events of:" : "Calls:", pane_calls_filter(ui_pane(ui)),
			  NULL, calls_filter_done);
		return;
	}
	g_string_assign(ui->filter_before, ui->filter_text->str);
	ui_prompt(ui, "Filter:", ui->filter_text->str, filter_change, filter_done);
}

/* ---- highlighting ---- */

/* A copy of the fields used for hashing and comparison, owned by a table. */
static struct view_key *key_copy(const struct view_key *key)
{
	struct view_key *copy = g_new0(struct view_key, 1);

	*copy = *key;
	return copy;
}

/* Adds the key to the set, or removes it. */
static void toggle_key(GHashTable *set, const struct view_key *key)
{
	if (!g_hash_table_remove(set, key))
		g_hash_table_add(set, key_copy(key));
}

void do_highlight(struct ui *ui, int argument)
{
	struct list *l = current_list(ui);

	(void)argument;
	if (!ui_acting_row(ui))
		return;
	toggle_key(ui->marked, &list_selected(l)->key);
	/* on to the next row, so that several rows can be highlighted quickly */
	list_select(l, MIN(l->index + 1, l->rows.n - 1));
	ui_rebuild(ui);
}

void do_highlight_only(struct ui *ui, int argument)
{
	(void)argument;
	if (!ui->only_marked && !g_hash_table_size(ui->marked) && !same_rows_misses(ui, ui->marked)) {
		ui_say(ui, "no row is highlighted; press Space to highlight one");
		return;
	}
	ui->only_marked = !ui->only_marked;
	ui_rebuild(ui);
}

void do_highlight_clear(struct ui *ui, int argument)
{
	(void)argument;
	g_hash_table_remove_all(ui->marked);
	same_rows_forget(ui, ui->marked);
	ui->only_marked = false;
	ui_rebuild(ui);
}

/* ---- order and form ---- */

const char *ui_no_tree(struct ui *ui)
{
	const struct list *l = current_list(ui);

	if (!l->table || !view_table_has_tree(l->table))
		return "this pane has no tree";
	return l->query.sum_by ? "sums have no tree: press G to show each row" : NULL;
}

void do_tree(struct ui *ui, int argument)
{
	const char *none = ui_no_tree(ui);
	struct list *l = current_list(ui);

	(void)argument;
	if (none) {
		ui_say(ui, "%s", none);
		return;
	}
	if (l->table->parent)
		l->flat = !l->flat;
	else
		ui->tree = !ui->tree;
	ui_rebuild(ui);
}

void do_collapse(struct ui *ui, int argument)
{
	const char *none = ui_no_tree(ui);
	const struct view_row *row;

	(void)argument;
	if (none || !current_list(ui)->query.tree) {
		ui_say(ui, "%s", none ? none : "not a tree: press F5 to show it");
		return;
	}
	row = ui_acting_row(ui);
	if (!row)
		return;
	if (!row->has_children && !row->hidden) {
		ui_say(ui, "this row has no children");
		return;
	}
	toggle_key(ui->collapsed, &row->key);
	ui_rebuild(ui);
}

void do_threads(struct ui *ui, int argument)
{
	(void)argument;
	if (pane_is_calls(ui_pane(ui))) {
		pane_calls_toggle(ui, ui_pane(ui));
		return;
	}
	if (!view_table_sums_threads(current_list(ui)->table)) {
		ui_say(ui, "the rows of this pane are not threads");
		return;
	}
	if (current_list(ui)->query.sum_by) {
		ui_say(ui, "these rows are sums: press G to show each row");
		return;
	}
	ui->processes = !ui->processes;
	ui_say(ui, ui->processes ? "processes, each with the sum of its threads" : "threads");
	ui_rebuild(ui);
}

void do_virtual_ids(struct ui *ui, int argument)
{
	const struct view_table *table = current_list(ui)->table;

	(void)argument;
	if (!view_column_find(table->columns, table->n_columns, "vtid")) {
		ui_say(ui, "this pane has no IDs inside namespaces");
		return;
	}
	ui->virtual_ids = !ui->virtual_ids;
	ui_say(ui, ui->virtual_ids ? "IDs inside namespaces next to the host's" : "the host's IDs");
}

enum { SORT_DEFAULT = -1 }; /* in place of a column's number */

static void sort_chosen(struct ui *ui, int value, bool keep)
{
	struct list *l = current_list(ui);

	(void)keep;
	if (value == SORT_DEFAULT)
		list_sort_default(l);
	else if (value < (int)l->rows.n_columns && strcmp(l->rows.columns[value].name, l->sort) != 0)
		list_sort_by(l, l->rows.columns[value].name);
	else
		l->sorted = true;
	ui_rebuild(ui);
}

void do_sort_menu(struct ui *ui, int argument)
{
	struct list *l = current_list(ui);
	struct overlay *menu = overlay_menu("Sort by", sort_chosen);

	(void)argument;
	if (l->table->rank && !l->query.sum_by)
		overlay_item(menu, SORT_DEFAULT, -1, l->table->ranked);
	for (unsigned i = 0; i < l->rows.n_columns; i++) {
		char *text = help_column(&l->rows.columns[i], 16);

		overlay_item(menu, (int)i, -1, text);
		if (!strcmp(l->rows.columns[i].name, l->sort) && !(l->table->rank && l->query.ranked))
			overlay_select(menu, (int)i);
		g_free(text);
	}
	ui_set_overlay(ui, menu);
}

void do_sort_step(struct ui *ui, int argument)
{
	ui_say(ui, "sorted by %s", list_sort_step(current_list(ui), argument));
	ui_rebuild(ui);
}

void do_invert(struct ui *ui, int argument)
{
	struct list *l = current_list(ui);

	(void)argument;
	l->reverse = !l->reverse;
	ui_rebuild(ui);
}

void do_percent(struct ui *ui, int argument)
{
	(void)argument;
	ui->host_percent = !ui->host_percent;
	for (unsigned i = 0; i < PANES; i++)
		if (ui->panes[i])
			ui_show_percent(ui, ui->panes[i]);
	ui_say(ui,
	       ui->host_percent ? "CPU time as a percentage of the whole host" : "CPU time as a percentage of one CPU");
	ui_rebuild(ui);
}
