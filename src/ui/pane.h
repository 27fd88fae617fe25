/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_PANE_H
#define LT_UI_PANE_H

#include "base/strpool.h"
#include "ui/action.h"
#include "ui/list.h"

/*
 * A pane: the area between timeline and function bar. Most panes are one or more lists of view tables, one below the
 * other; a pane may have its own text above them. A new pane is a row in pane.c and, if it has more than lists, a file
 * pane_*.c.
 */
enum { PANE_LISTS = 3 };

struct ui;
struct ui_export;
struct pane;

struct pane_type {
	const char *title;
	const char *about;                           /* what it shows, for the menu of panes */
	const char *report;                          /* reports with the same data, if .tables are not */
	const char *tables[PANE_LISTS];              /* names of view tables; NULL after the last */
	const char *titles[PANE_LISTS];              /* whose rows they are, if that is not obvious; or NULL */
	const char *empty[PANE_LISTS];               /* text of an empty list if the hosts have data in the interval */
	const char *instead[PANE_LISTS];             /* what shows more about a row without details; or NULL */
	const char *(*explain)(const struct ui *ui); /* a better reason for empty lists; NULL: there is none */
	/* Opens a row of a list in a special way; false: open it as usual. NULL: always as usual. */
	bool (*open_row)(struct ui *ui, const struct list *l, const struct view_row *row);
	/* NULL in panes that only have lists: */
	uint32_t reads; /* 1 << enum table_id: tables read by head in addition to the lists' */
	void (*adjust)(struct ui *ui, struct pane *p, unsigned list, struct view_query *query);
	/* Draws into at most max rows from y; returns the number of rows used. */
	int (*head)(struct ui *ui, struct pane *p, int y, int max);
	/*
	 * Computes for a few ms. Returns the wall-clock time at which to continue; UINT64_MAX: not before something
	 * changes. NULL: there is nothing to compute.
	 */
	uint64_t (*work)(struct ui *ui, uint64_t now_ns);
	bool window;                  /* its lists cover the window of critical paths, not the shown interval */
	const struct pane_body *body; /* instead of lists */
};

/*
 * A pane that consists neither of lists nor only of text: it draws everything itself and has its own rows to move in.
 */
struct pane_body {
	enum action_where where;
	void (*update)(struct ui *ui, struct pane *p); /* called before it is drawn or receives a key */
	void (*draw)(struct ui *ui, struct pane *p, int y, int h);
	void (*move)(struct pane *p, int by); /* far beyond an end: to the end */
	void (*open)(struct ui *ui, struct pane *p);
	char *(*status)(struct ui *ui, struct pane *p); /* which of its rows is selected; free with g_free() */
	bool (*click)(struct pane *p, int x, int y);
	void (*release)(struct pane *p);
	int (*page)(const struct pane *p); /* rows of a page */
	/*
	 * Selects the next row that contains the text, for step 1 or -1; for step 0, the first one from where the
	 * selection was at a call with text NULL. false: there is none. NULL: it cannot be searched.
	 */
	bool (*search)(struct pane *p, const char *text, int step);
};

struct pane {
	const struct pane_type *type;
	struct list lists[PANE_LISTS];
	unsigned n_lists, focus;
	struct view_filter filter; /* the user's, plus what adjust() adds */
	struct view_key entity;    /* the entity shown by a pane of details */
	char name[64];             /* its last known name */
	int head_first, head_next; /* the first line shown above the lists, and the first of the next ones */
	void *state;               /* of its body */
	bool stale;                /* rows must be rebuilt before drawing */
};

const struct pane_type *pane_type(enum pane_id id);

struct pane *pane_create(const struct pane_type *type);
void pane_destroy(struct pane *p);

/* The tables of the model that it reads. */
uint32_t pane_tables(struct ui *ui, struct pane *p);

/* Rebuilds the rows if they are stale. The hosts' data must be up to date. */
void pane_build(struct ui *ui, struct pane *p);

/* Draws it into h rows from y. */
void pane_draw(struct ui *ui, struct pane *p, int y, int h);

/* The list that receives keys. */
static inline struct list *pane_list(struct pane *p)
{
	return &p->lists[p->focus];
}

/* Moves the selection, across lists if there are several. */
void pane_move(struct pane *p, int by);

/* Brings back lists whose room lines have taken. */
void pane_show_lists(struct pane *p);

/* Whether the selected row is on the screen. */
bool pane_shows_selection(struct pane *p);

/* Selects the next row of its lists that contains text; false: there is none. here: the selected row counts, too. */
bool pane_search(struct pane *p, const char *text, bool backward, bool here);

/* Handles a click at (x, y) on a header or a row; returns whether it hit a row. */
bool pane_click(struct pane *p, int x, int y);

/* Details of the thread with that key and of its process. */
struct pane *pane_details_create(const struct view_key *key);

/* A thread whose critical path or calls are shown. Times are on its host's clock. */
struct path_subject {
	unsigned host;
	int32_t tid, pid; /* pid -1: unknown */
	strid comm;
	uint64_t born_ns, exited_ns; /* 0: unknown */
	uint64_t alive_ns;           /* a time at which it existed */
};

struct pane *pane_path_create(const struct path_subject *subject);

static inline bool pane_is_path(const struct pane *p)
{
	return p->type->body && p->type->body->where == WHERE_PATH;
}

/* The system calls of a thread or its process, as text. */
struct pane *pane_calls_create(struct ui *ui, const struct path_subject *subject);

/* The events, with all fields, of the shown interval and hosts that pass the lists' filter. */
struct pane *pane_events_create(struct ui *ui);

/* Its interval keeps its place in the trace when clocks are corrected. Does nothing for a pane of calls. */
void pane_events_clocks_changed(struct ui *ui, struct pane *p);

/* Whether it shows calls or events. */
static inline bool pane_is_calls(const struct pane *p)
{
	return p->type->body && p->type->body->where == WHERE_CALLS;
}

/* Whether it shows events rather than system calls. */
bool pane_calls_has_events(const struct pane *p);

/*
 * The keys that read lines before or after those that have been read: "End", "Home and End"; NULL: none, all that there
 * are have been read.
 */
const char *pane_calls_unread(const struct ui *ui, const struct pane *p);

/*
 * Sets the lines, what they cover and whether their threads are shown in *what, and appends the hosts' numbers on the
 * screen (unsigned) to hosts. false: there are no lines yet.
 */
bool pane_calls_export(const struct ui *ui, const struct pane *p, struct ui_export *what, GArray *hosts);

/* Switches between the thread and its process. */
void pane_calls_toggle(struct ui *ui, struct pane *p);

/* Makes the lines follow the time again. */
void pane_calls_follow(struct pane *p);

/* Which calls are shown, as in -e of lttngtop attach, or the filter for events; "": all. */
const char *pane_calls_filter(const struct pane *p);
void pane_calls_set_filter(struct ui *ui, struct pane *p, const char *calls);

/* The thread that made the selected call, and when that started (reference time); false: none is selected. */
bool pane_calls_selected(const struct ui *ui, const struct pane *p, struct path_subject *subject, uint64_t *at_ns);

/* The packets between a host and the others: latencies over time, before and after clock correction. */
struct pane *pane_clock_create(unsigned host);

/* Keeps the names that a pane of a path or of calls shows in the string pool: see strpool_round_begin(). */
void pane_path_keep_names(const struct pane *p);
void pane_calls_keep_names(const struct pane *p);

/* Remembers its path for comparison with others, or forgets it. */
void pane_path_compare(struct ui *ui, struct pane *p);

/* Switches between segments and totals. */
void pane_path_toggle(struct pane *p);
bool pane_path_shows_totals(const struct pane *p);

/* The thread of the selected segment; false: none. */
bool pane_path_selected(const struct ui *ui, const struct pane *p, struct path_subject *subject);

#endif
