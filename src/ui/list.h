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
 * A scrolling list: rows of a view table, with a head. The selection is an
 * entity (struct view_key), not a line: it stays on it when rows move, and
 * is found again when time comes back to where it lives. Before the user has
 * moved it, it is whatever row comes first.
 */
enum { LIST_COLUMNS = 40, LIST_MIN_TEXT = 12 };

/* A column as it is laid out. */
struct list_column {
	const struct column *column;
	int x, width;
	int graph; /* columns of a bar right of it, 0 none */
};

/* Where a selection is. */
struct list_place {
	struct view_key selected;
	bool chosen;
	unsigned index, top;
};

struct list {
	const struct view_table *table;
	struct view_derived derived; /* the rows that are none of the model, if the table's are not */
	struct view_rows rows;
	struct view_query query;   /* of the last build */
	struct view_rows baseline; /* of another interval, if query.baseline is set: figures are differences to it */
	char *sort;                /* name of the sort column */
	bool reverse;
	bool sorted;      /* by the user's choice */
	bool flat;        /* of a table that is a tree by itself: it is shown as none */
	GPtrArray *names; /* columns wanted, in order (char *) */
	struct view_key selected;
	bool chosen;    /* the user has moved the selection */
	bool follow;    /* the list scrolls with the selection */
	unsigned index; /* row of the selection; if it is not there: where it was */
	bool present;   /* the selection is among the rows */
	unsigned top;   /* first row shown */
	struct list_column columns[LIST_COLUMNS];
	int n_columns;
	int y, h; /* where its rows were drawn last: first row of the screen, how many */
};

/* How a list is to be drawn; the same for all of a pane. */
struct list_look {
	struct format format;
	bool hosts;         /* rows are of several hosts */
	bool virtual_ids;   /* ids inside namespaces instead of the global ones */
	bool focus;         /* it has the keys */
	GHashTable *marked; /* set of struct view_key */
	const char *search; /* what is searched, NULL or "" nothing */
	const char *empty;  /* what to say when there are no rows */
};

void list_init(struct list *l, const struct view_table *table);
void list_release(struct list *l);

/*
 * Builds the rows again, and fills in query->sort, .table and .baseline. baseline: the same hosts (struct view_host)
 * in the interval that figures are compared with, NULL: none.
 */
void list_build(struct list *l, struct view_query *query, const struct view_host *hosts, unsigned n_hosts,
		const GArray *baseline);

/* Draws head and rows into h rows from y. */
void list_draw(struct list *l, struct canvas *c, int y, int h, const struct list_look *look);

/* Moves the selection; returns how far it could not (to hand on to the next list). */
int list_move(struct list *l, int by);

/* To the first or last row. */
void list_move_end(struct list *l, int direction);

/* Puts the selection on a row; scrolls so that it shows. */
void list_select(struct list *l, unsigned row);

/* Remembers an entity as the selection, whether it is there now or not. */
void list_select_key(struct list *l, const struct view_key *key);

/* The thread (of merged rows: the leader) that a row is or belongs to, NULL: none. */
const struct interval_row *list_row_thread(const struct list *l, const struct view_row *row);

/* The selected row, NULL: none. */
const struct view_row *list_selected(const struct list *l);

/* Whether the selected row is in sight: time and order move rows, and the list does not follow by itself. */
bool list_shows_selection(const struct list *l);

/* The selection's place, to go back to it. */
struct list_place list_place(const struct list *l);
void list_return(struct list *l, const struct list_place *place);

/* The next row that contains text from the selection on; false: none. here: the selected row counts too. */
bool list_search(struct list *l, const char *text, bool backward, bool here);

/* The sort column one to the left or right among those shown. Returns its header. */
const char *list_sort_step(struct list *l, int direction);

/* Sorts by a column in its natural order; the same once more inverts. */
void list_sort_by(struct list *l, const char *name);

/* The column under x of the head, NULL: none. */
const struct column *list_column_at(const struct list *l, int x);

/* All columns wanted, whether or not they fit the screen; columns: room for LIST_COLUMNS. Returns how many. */
unsigned list_all_columns(struct list *l, const struct list_look *look, const struct column **columns);

/* Whether some column wanted is COLUMN_SPREAD: for view_query.spread. */
bool list_wants_spread(const struct list *l);

bool list_shows_column(const struct list *l, const char *name);

/* Shows and sorts by one column instead of another, where there is the other. */
void list_replace_column(struct list *l, const char *name, const char *by);

/* Shows these columns (names of the table's, char *, copied) in this order. */
void list_set_columns(struct list *l, const GPtrArray *names);

/* Sorts by a column of the table; reverse: against its natural order. */
void list_set_sort(struct list *l, const char *name, bool reverse);

/* Adds a column at its place in the table, or takes it away. */
void list_toggle_column(struct list *l, const char *name);

#endif
