/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_PANE_H
#define LT_UI_PANE_H

#include "base/strpool.h"
#include "ui/action.h"
#include "ui/list.h"

/*
 * A pane: what stands between timeline and function bar. Most are one or more
 * lists of view tables under each other; a pane may have text of its own above
 * them. A new pane is a row in pane.c and, if it has more than lists, a file pane_*.c.
 */
enum { PANE_LISTS = 3 };

struct ui;
struct pane;

struct pane_type {
	const char *title;
	const char *about;              /* what it shows, for the menu of panes */
	const char *tables[PANE_LISTS]; /* names of view tables, NULL after the last */
	const char *empty[PANE_LISTS];  /* what an empty list says if the hosts have something in the interval */
	const char *(*explain)(const struct ui *ui); /* a better reason why lists are empty, NULL: there is none */
	/* Opens a row of a list in its own way; false: the usual one. NULL: always the usual one. */
	bool (*open_row)(struct ui *ui, const struct list *l, const struct view_row *row);
	/* All NULL for panes of lists only: */
	uint32_t reads; /* 1 << enum table_id that head reads beyond the lists' */
	void (*adjust)(struct ui *ui, struct pane *p, unsigned list, struct view_query *query);
	/* Draws into at most max rows from y, returns how many it took. */
	int (*head)(struct ui *ui, struct pane *p, int y, int max);
	/*
	 * Does a part of what it has to compute, for a few ms; at a time of the wall clock. Returns when it wants
	 * to go on, UINT64_MAX: not before something changes. NULL: never.
	 */
	uint64_t (*work)(struct ui *ui, uint64_t now_ns);
	bool window;                  /* its lists are of the window of critical paths, not of the shown interval */
	const struct pane_body *body; /* it is no list: what it is instead */
};

/* A pane that is neither lists nor only text: it draws all of itself, and has rows of its own to walk. */
struct pane_body {
	enum action_where where;
	void (*update)(struct ui *ui, struct pane *p); /* brings it up to date before it is drawn or gets a key */
	void (*draw)(struct ui *ui, struct pane *p, int y, int h);
	void (*move)(struct pane *p, int by); /* far beyond the ends: to the end */
	void (*open)(struct ui *ui, struct pane *p);
	char *(*status)(struct ui *ui, struct pane *p); /* which of its rows is selected; free with g_free() */
	bool (*click)(struct pane *p, int x, int y);
	void (*release)(struct pane *p);
	int (*page)(const struct pane *p); /* rows of a page */
	/*
	 * Selects the next row that has the text, for step 1 or -1; for step 0 the first from where it was when that
	 * was asked with text NULL. false: there is none. NULL: it cannot be searched.
	 */
	bool (*search)(struct pane *p, const char *text, int step);
};

struct pane {
	const struct pane_type *type;
	struct list lists[PANE_LISTS];
	unsigned n_lists, focus;
	struct view_filter filter; /* with what adjust() adds to the user's */
	struct view_key entity;    /* what a pane of details shows */
	char name[64];             /* what it was called when it was last there */
	void *state;               /* of its body */
	bool stale;                /* rows must be built before they are drawn */
};

const struct pane_type *pane_type(enum pane_id id);

struct pane *pane_create(const struct pane_type *type);
void pane_destroy(struct pane *p);

/* The tables of the model it reads. */
uint32_t pane_tables(struct ui *ui, struct pane *p);

/* Builds the rows if they are stale. The hosts' data is up to date. */
void pane_build(struct ui *ui, struct pane *p);

/* Draws it into h rows from y. */
void pane_draw(struct ui *ui, struct pane *p, int y, int h);

/* The list that has the keys. */
static inline struct list *pane_list(struct pane *p)
{
	return &p->lists[p->focus];
}

/* Moves the selection, from list to list where there are several. */
void pane_move(struct pane *p, int by);

/* A click at (x, y) on a head or a row; returns whether a row was hit. */
bool pane_click(struct pane *p, int x, int y);

/* Details of the thread of that key, and of its process. */
struct pane *pane_details_create(const struct view_key *key);

/* A thread whose critical path or calls are shown. Times by its host's clock. */
struct path_subject {
	unsigned host;
	int32_t tid, pid; /* pid -1: not known */
	strid comm;
	uint64_t born_ns, exited_ns; /* 0: not known */
	uint64_t alive_ns;           /* it lived then */
};

struct pane *pane_path_create(const struct path_subject *subject);

static inline bool pane_is_path(const struct pane *p)
{
	return p->type->body && p->type->body->where == WHERE_PATH;
}

/* The system calls of a thread or its process, as text. */
struct pane *pane_calls_create(struct ui *ui, const struct path_subject *subject);

/* The same for the events of the shown interval and hosts that the filter of lists takes, with all their fields. */
struct pane *pane_events_create(struct ui *ui);

/* Either of them. */
static inline bool pane_is_calls(const struct pane *p)
{
	return p->type->body && p->type->body->where == WHERE_CALLS;
}

/* Not of system calls, but of events. */
bool pane_calls_has_events(const struct pane *p);

/* Of the thread, or of its process. */
void pane_calls_toggle(struct ui *ui, struct pane *p);

/* Lines follow the time again. */
void pane_calls_follow(struct pane *p);

/* Which calls are shown, as lttngtop attach takes it with -e, or the filter of events; "" all. */
const char *pane_calls_filter(const struct pane *p);
void pane_calls_set_filter(struct ui *ui, struct pane *p, const char *calls);

/* The thread that made the selected call, at_ns: when it began, reference time; false: none is selected. */
bool pane_calls_selected(const struct ui *ui, const struct pane *p, struct path_subject *subject, uint64_t *at_ns);

/* The packets between a host and the others: latencies over time, before and after its clock is corrected. */
struct pane *pane_clock_create(unsigned host);

/* Its path is remembered to be compared with others, or no longer. */
void pane_path_compare(struct ui *ui, struct pane *p);

/* Segments, or totals. */
void pane_path_toggle(struct pane *p);
bool pane_path_shows_totals(const struct pane *p);

/* The thread that the selected segment is on; false: none. */
bool pane_path_selected(const struct ui *ui, const struct pane *p, struct path_subject *subject);

#endif
