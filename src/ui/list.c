/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/list.h"

#include <string.h>

void list_init(struct list *l, const struct view_table *table)
{
	*l = (struct list){ .table = table, .sort = g_strdup(table->sort) };
	view_derived_init(&l->derived);
	view_rows_init(&l->rows);
	view_rows_init(&l->baseline);
	l->names = g_ptr_array_new_with_free_func(g_free);
	l->figures = g_ptr_array_new();
	l->first = g_strsplit(table->screen, " ", -1);
	for (char **name = l->first; *name; name++)
		if (**name)
			g_ptr_array_add(l->names, g_strdup(*name));
}

void list_release(struct list *l)
{
	view_rows_release(&l->rows);
	view_rows_release(&l->baseline);
	view_derived_release(&l->derived);
	g_ptr_array_free(l->names, TRUE);
	g_ptr_array_free(l->figures, TRUE);
	g_strfreev(l->first);
	g_clear_pointer(&l->sums, g_array_unref);
	g_free(l->sort);
}

static void keep_selection(struct list *l, unsigned row)
{
	l->selected = l->rows.rows[row].key;
	l->selected_sum = l->rows.rows[row].sum;
	l->index = row;
	l->present = true;
}

/* The selection's row. A sum has the key of its first row, which may be idle in other intervals. */
static unsigned selected_row(const struct list *l)
{
	if (!l->query.sum_by || !l->selected_sum)
		return view_rows_index(&l->rows, &l->selected);
	for (unsigned i = 0; i < l->rows.n; i++)
		if (l->rows.rows[i].sum == l->selected_sum)
			return i;
	return VIEW_NO_ROW;
}

/* Finds the selection among the rows. */
static void find_selection(struct list *l)
{
	unsigned row;

	l->present = false;
	if (!l->rows.n) {
		if (!l->chosen)
			l->index = 0;
		return;
	}
	if (!l->chosen) {
		keep_selection(l, 0);
		l->top = 0;
		return;
	}
	row = selected_row(l);
	if (row != VIEW_NO_ROW) {
		/* a sum has another key now, or may be one that was selected by its key */
		l->selected_sum = l->query.sum_by ? l->rows.rows[row].sum : l->selected_sum;
		l->selected = l->rows.rows[row].key;
		l->index = row;
		l->present = true;
	} else {
		l->index = MIN(l->index, l->rows.n - 1);
	}
}

static void scroll_to_selection(struct list *l)
{
	unsigned h = (unsigned)MAX(l->h, 1);

	if (l->index < l->top)
		l->top = l->index;
	else if (l->index >= l->top + h)
		l->top = l->index - h + 1;
}

/*
 * A table of counters is sorted by its first counter, or by another one chosen before; which ones there are depends on
 * the traces. by: the column by which the rows were sorted; NULL: none. Whether they have to be made again.
 */
static bool choose_counter(struct list *l, const char *by)
{
	const struct column *column;

	if (l->query.sum_by || l->rows.n_columns == l->table->n_columns)
		return false;
	column = l->sorted ? view_rows_column(&l->rows, l->sort) : &l->rows.columns[l->table->n_columns];
	if (!column) /* this recording lacks the one that was chosen */
		column = &l->rows.columns[l->table->n_columns];
	if (by && !strcmp(by, column->name))
		return false;
	if (!l->sorted) {
		g_free(l->sort);
		l->sort = g_strdup(column->name);
	}
	l->query.sort = column;
	return true;
}

/*
 * Columns per counter are made again with the rows, and others may be elsewhere in memory then: finds those that were
 * drawn last by their names.
 */
static void find_columns(struct list *l, const char *const *names)
{
	int n = 0;

	for (int i = 0; i < l->n_columns; i++) {
		l->columns[n] = l->columns[i];
		l->columns[n].column = view_rows_column(&l->rows, names[i]);
		n += l->columns[n].column != NULL;
	}
	l->n_columns = n;
}

static void find_figure(struct list *l, const char *name)
{
	const struct column *column = view_column_find(l->table->columns, l->table->n_columns, name);

	if (column && !g_strv_contains((const char *const *)l->first, name))
		g_ptr_array_add(l->figures, (void *)column);
}

/* Whoever adds a column, or sorts by it, wants to see the rows that have something in it. */
static void find_figures(struct list *l)
{
	g_ptr_array_set_size(l->figures, 0);
	for (unsigned i = 0; i < l->names->len; i++)
		find_figure(l, g_ptr_array_index(l->names, i));
	find_figure(l, l->sort);
}

void list_build(struct list *l, struct view_query *query, const struct view_host *hosts, unsigned n_hosts,
		const GArray *baseline)
{
	const char *drawn[LIST_COLUMNS], *by;

	for (int i = 0; i < l->n_columns; i++)
		drawn[i] = l->columns[i].column->name;
	query->table = l->table;
	find_figures(l);
	query->figures = l->figures;
	if (baseline) {
		query->sort = NULL;
		view_rows_build(&l->baseline, query, (const struct view_host *)(const void *)baseline->data,
				baseline->len);
		query->baseline = &l->baseline;
	}
	query->sort = query->sum_by ? NULL : view_rows_column(&l->rows, l->sort);
	if (!query->sort) {
		unsigned n;
		const struct column *columns = list_columns(l, &n);

		query->sort = view_column_find(columns, n, l->sort);
	}
	by = query->sort ? query->sort->name : NULL; /* the column may be gone after view_rows_build() */
	query->reverse = l->reverse;
	query->ranked = !l->sorted && !l->reverse && !query->sum_by;
	l->query = *query;
	view_rows_build(&l->rows, &l->query, hosts, n_hosts);
	if (choose_counter(l, by))
		view_rows_build(&l->rows, &l->query, hosts, n_hosts);
	find_columns(l, drawn);
	find_selection(l);
	if (l->follow && l->present)
		scroll_to_selection(l);
}

int list_move(struct list *l, int by)
{
	int from = (int)l->index, to = from + by, last = (int)l->rows.n - 1;

	if (!l->rows.n)
		return by;
	/* the selected row is gone: start from where it was */
	if (!l->present && by > 0)
		to--;
	list_select(l, (unsigned)CLAMP(to, 0, last));
	return to < 0 ? to : to > last ? to - last : 0;
}

void list_move_end(struct list *l, int direction)
{
	if (!l->rows.n)
		return;
	list_select(l, direction < 0 ? 0 : l->rows.n - 1);
	/* at the top the list returns to its initial state, in which the first row is selected */
	if (direction < 0 && !l->follow)
		l->chosen = false;
}

void list_select(struct list *l, unsigned row)
{
	if (row >= l->rows.n)
		return;
	keep_selection(l, row);
	l->chosen = true;
	scroll_to_selection(l);
}

void list_select_key(struct list *l, const struct view_key *key)
{
	l->selected = *key;
	l->selected_sum = 0;
	l->chosen = true;
	find_selection(l);
	scroll_to_selection(l);
}

const struct interval_row *list_row_thread(const struct list *l, const struct view_row *row)
{
	if (row->key.table == TABLE_THREAD)
		return interval_find(view_row_host(&l->rows, row)->iv, TABLE_THREAD, row->key.uid);
	return row->thread;
}

const struct view_row *list_selected(const struct list *l)
{
	return l->present && l->index < l->rows.n ? &l->rows.rows[l->index] : NULL;
}

bool list_shows_selection(const struct list *l)
{
	return l->present && l->index >= l->top && l->index < l->top + (unsigned)MAX(l->h, 1);
}

struct list_place list_place(const struct list *l)
{
	return (struct list_place){ l->selected, l->selected_sum, l->chosen, l->index, l->top };
}

void list_return(struct list *l, const struct list_place *place)
{
	l->selected = place->selected;
	l->selected_sum = place->selected_sum;
	l->chosen = place->chosen;
	l->index = place->index;
	l->top = place->top;
	find_selection(l);
}

bool list_search(struct list *l, const char *text, bool backward, enum list_start start)
{
	const unsigned n = l->rows.n;
	unsigned from = l->index, found;

	if (!n || !*text || (start == LIST_BESIDE && from == (backward ? 0 : n - 1)))
		return false;
	if (start == LIST_BESIDE)
		from = backward ? from - 1 : from + 1;
	else if (start == LIST_EDGE)
		from = backward ? n - 1 : 0;
	found = view_rows_search(&l->rows, from, text, backward);
	if (found == VIEW_NO_ROW || (backward ? found > from : found < from))
		return false;
	list_select(l, found);
	return true;
}

static int sort_index(const struct list *l)
{
	for (int i = 0; i < l->n_columns; i++)
		if (!strcmp(l->columns[i].column->name, l->sort))
			return i;
	return -1;
}

const char *list_sort_step(struct list *l, int direction)
{
	int i = sort_index(l);

	if (!l->n_columns)
		return "";
	i = i < 0 ? 0 : CLAMP(i + direction, 0, l->n_columns - 1);
	if (strcmp(l->columns[i].column->name, l->sort) != 0)
		list_sort_by(l, l->columns[i].column->name);
	return l->columns[i].column->header;
}

const struct column *list_columns(const struct list *l, unsigned *n)
{
	*n = l->sums ? l->sums->len : l->table->n_columns;
	return l->sums ? (const struct column *)(const void *)l->sums->data : l->table->columns;
}

void list_sum_by(struct list *l, enum view_sum sum)
{
	const struct column *columns;
	const char *sort = sum ? "rows" : l->table->sort;
	unsigned n;

	g_clear_pointer(&l->sums, g_array_unref);
	l->sum_by = sum;
	l->sums = sum ? view_sum_columns(l->table, sum) : NULL;
	l->chosen = false; /* other rows */
	columns = list_columns(l, &n);
	if (view_column_find(columns, n, l->sort))
		return;
	for (unsigned i = 0; sum && i < n; i++)
		if (columns[i].flags & COLUMN_COUNTER && column_adds_up(&columns[i]) &&
		    list_shows_column(l, columns[i].name)) {
			sort = columns[i].name;
			break;
		}
	g_free(l->sort);
	l->sort = g_strdup(sort);
	l->sorted = l->reverse = false;
}

void list_sort_by(struct list *l, const char *name)
{
	l->sorted = true;
	if (!strcmp(name, l->sort)) {
		l->reverse = !l->reverse;
		return;
	}
	g_free(l->sort);
	l->sort = g_strdup(name);
	l->reverse = false;
}

void list_sort_default(struct list *l)
{
	g_free(l->sort);
	l->sort = g_strdup(l->table->sort);
	l->sorted = l->reverse = false;
}

const struct column *list_column_at(const struct list *l, int x)
{
	for (int i = 0; i < l->n_columns; i++)
		if (x >= l->columns[i].x && x < l->columns[i].x + l->columns[i].width + l->columns[i].graph)
			return l->columns[i].column;
	return NULL;
}

static bool is_spread(const struct view_table *table, const char *name)
{
	const struct column *column = view_column_find(table->columns, table->n_columns, name);

	return column && column->flags & COLUMN_SPREAD;
}

bool list_wants_spread(const struct list *l)
{
	bool wants = is_spread(l->table, l->sort);

	for (unsigned i = 0; i < l->names->len && !wants; i++)
		wants = is_spread(l->table, g_ptr_array_index(l->names, i));
	return wants;
}

bool list_shows_column(const struct list *l, const char *name)
{
	for (unsigned i = 0; i < l->names->len; i++)
		if (!strcmp(g_ptr_array_index(l->names, i), name))
			return true;
	return false;
}

void list_replace_column(struct list *l, const char *name, const char *by)
{
	if (!view_column_find(l->table->columns, l->table->n_columns, by))
		return;
	for (unsigned i = 0; i < l->names->len && !list_shows_column(l, by); i++)
		if (!strcmp(g_ptr_array_index(l->names, i), name)) {
			g_free(g_ptr_array_index(l->names, i));
			g_ptr_array_index(l->names, i) = g_strdup(by);
		}
	if (!strcmp(l->sort, name)) {
		g_free(l->sort);
		l->sort = g_strdup(by);
	}
}

void list_set_columns(struct list *l, const GPtrArray *names)
{
	g_ptr_array_set_size(l->names, 0);
	for (unsigned i = 0; i < names->len; i++)
		g_ptr_array_add(l->names, g_strdup(g_ptr_array_index(names, i)));
}

void list_set_sort(struct list *l, const char *name, bool reverse)
{
	g_free(l->sort);
	l->sort = g_strdup(name);
	l->sorted = true;
	l->reverse = reverse;
}

void list_toggle_column(struct list *l, const char *name)
{
	GPtrArray *names;

	for (unsigned i = 0; i < l->names->len; i++)
		if (!strcmp(g_ptr_array_index(l->names, i), name)) {
			if (l->names->len > 1)
				g_ptr_array_remove_index(l->names, i);
			return;
		}
	/* a column that is shown again returns to its place: before the first one that follows it in the table */
	names = l->names;
	for (const struct column *c = view_column_find(l->table->columns, l->table->n_columns, name);
	     c && ++c < l->table->columns + l->table->n_columns;)
		for (unsigned i = 0; i < names->len; i++)
			if (!strcmp(g_ptr_array_index(names, i), c->name)) {
				g_ptr_array_insert(names, (int)i, g_strdup(name));
				return;
			}
	g_ptr_array_add(names, g_strdup(name));
}
