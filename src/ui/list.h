/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_LIST_H
#define LT_UI_LIST_H

#include <glib.h>
#include <stdbool.h>

#include "ui/canvas.h"
#include "view/format.h"
#include "view/derived.h"
#include "view/rows.h"

/*
 * A scrolling list: rows of a view table, with a header. The selection is an entity (struct view_key), not a line: it
 * stays on its row when rows move, and is found again when time returns to where the entity exists. Until the user
 * moves it or acts on a row, the first row is selected.
 */
enum { LIST_COLUMNS = 40, LIST_MIN_TEXT = 12 };

/* The layout of a column. */
struct list_column {
	const struct column *column;
	int x, width;
	int graph; /* width of a bar to its right; 0: none */
};

/* A saved selection. */
struct list_place {
	struct view_key selected;
	uint32_t selected_sum;
	bool chosen;
	unsigned index, top;
};

struct list {
	const struct view_table *table;
	struct view_derived derived; /* the rows, for a table with a supply */
	struct view_rows rows;
	struct view_query query;   /* of the last build */
	struct view_rows baseline; /* of the baseline, if query.baseline is set: figures are differences from it */
	char *sort; /* name of the sort column; if the user chose it, it is shown though it is not one of names */
	bool reverse;
	bool sorted;          /* chosen by the user */
	enum view_sum sum_by; /* merge rows that have this in common */
	GArray *sums;         /* struct column: the columns of the sums; NULL: no sums */
	int min_text;         /* least width of texts without one of their own, when last drawn */
	bool flat;            /* show a table that forms a tree as a flat list */
	GPtrArray *names;     /* wanted columns, in order (char *) */
	char **first;         /* columns that are shown at first */
	GPtrArray *figures;   /* those that are not shown at first (const struct column *): view_query.figures */
	struct view_key selected;
	uint32_t selected_sum; /* its view_row.sum; 0: it is not a sum */
	bool chosen;           /* the user has moved the selection, or acted on it */
	bool follow;           /* the list scrolls with the selection */
	unsigned index;        /* row of the selection or, if it is absent, where it was */
	bool present;          /* the selection is among the rows */
	unsigned top;          /* first row shown */
	struct list_column columns[LIST_COLUMNS];
	int n_columns;
	int y, h; /* where the rows were drawn last: first row on the screen, number of rows */
};

/* How to draw a list; the same for all lists of a pane. */
struct list_look {
	struct format format;
	bool hosts;         /* rows belong to several hosts */
	bool virtual_ids;   /* show ids inside namespaces instead of global ones */
	bool focus;         /* it receives the keys */
	GHashTable *marked; /* set of struct view_key */
	const char *search; /* search text; NULL or "": none */
	const char *title;  /* in the row of headers if there is room; or NULL */
	const char *empty;  /* text if there are no rows */
};

void list_init(struct list *l, const struct view_table *table);
void list_release(struct list *l);

/*
 * Rebuilds the rows; fills in query->sort, .table and .baseline. baseline: the same hosts (struct view_host) in the
 * interval to compare figures with; NULL: none.
 */
void list_build(struct list *l, struct view_query *query, const struct view_host *hosts, unsigned n_hosts,
		const GArray *baseline);

/* Draws header and rows into h rows from y. */
void list_draw(struct list *l, struct canvas *c, int y, int h, const struct list_look *look);

/* Moves the selection; returns the part of by that was not possible, for the next list. */
int list_move(struct list *l, int by);

/* Moves to the first or last row. */
void list_move_end(struct list *l, int direction);

/* Selects a row and scrolls to it. */
void list_select(struct list *l, unsigned row);

/* Selects an entity, whether it is present or not. */
void list_select_key(struct list *l, const struct view_key *key);

/* The thread (of merged rows: the leader) that a row is or belongs to; NULL: none. */
const struct interval_row *list_row_thread(const struct list *l, const struct view_row *row);

/* The selected row; NULL: none. */
const struct view_row *list_selected(const struct list *l);

/* Whether the selected row is visible: rows move with time and order, and the list does not follow them. */
bool list_shows_selection(const struct list *l);

/* Saves the selection, to return to it. */
struct list_place list_place(const struct list *l);
void list_return(struct list *l, const struct list_place *place);

enum list_start { LIST_SELECTED, LIST_BESIDE, LIST_EDGE };

/* Moves to the next row that contains text, counting from the selected row, the one beside it or the list's edge. */
bool list_search(struct list *l, const char *text, bool backward, enum list_start start);

/* Moves the sort column to the left or right among those shown. Returns its header. */
const char *list_sort_step(struct list *l, int direction);

/* Sorts by a column in its natural order; by the same column again, reverses it. */
void list_sort_by(struct list *l, const char *name);

/* Sorts as at first. */
void list_sort_default(struct list *l);

/* The column at x in the header; NULL: none. */
const struct column *list_column_at(const struct list *l, int x);

/* All wanted columns, whether they fit on the screen or not; columns: room for LIST_COLUMNS. Returns their number. */
unsigned list_all_columns(struct list *l, const struct list_look *look, const struct column **columns);

/* Whether a wanted column, or the order, is COLUMN_SPREAD: for view_query.spread. */
bool list_wants_spread(const struct list *l);

bool list_shows_column(const struct list *l, const char *name);

/* Replaces a column in the list, unless both are shown, and as the sort order, if it is there. */
void list_replace_column(struct list *l, const char *name, const char *by);

/* Shows these columns of the table (names, char *, copied) in this order. */
void list_set_columns(struct list *l, const GPtrArray *names);

/* Sorts by a column of the table; reverse: reverses its natural order. */
void list_set_sort(struct list *l, const char *name, bool reverse);

/* Shows sums of rows that have that in common; VIEW_SUM_NONE: each row. */
void list_sum_by(struct list *l, enum view_sum sum);

/* The columns that it can be sorted by: the table's, or those of the sums. */
const struct column *list_columns(const struct list *l, unsigned *n);

/* Adds a column at its place in the table, or removes it. */
void list_toggle_column(struct list *l, const char *name);

#endif
