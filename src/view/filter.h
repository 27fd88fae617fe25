/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_FILTER_H
#define LT_VIEW_FILTER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct column;
struct view_table;

/*
 * Which rows are wanted: an expression over facts of a row.
 *
 *     tid:5 host:web*             both must hold
 *     comm:a | comm:b             either
 *     !state:blocked (a | b)      not; parentheses
 *     cpu_ns>5ms                  a column of the table; also < >= <= = !=
 *     "a | b"                     in quotes: just a text
 *
 * A fact that a table does not have (a pid among disks) neither holds nor fails: terms about it do not touch the rows.
 */
enum view_fact {
	VIEW_FACT_HOST,      /* host:GLOB; without wildcards a part of the name, as of comm, file, peer, container */
	VIEW_FACT_COMM,      /* comm:GLOB */
	VIEW_FACT_PID,       /* pid:N */
	VIEW_FACT_TID,       /* tid:N */
	VIEW_FACT_TREE,      /* tree:PID, it and all below it */
	VIEW_FACT_USER,      /* user:NAME or user:UID */
	VIEW_FACT_CONTAINER, /* container:NAME, with '/' behind it those nested in it too */
	VIEW_FACT_STATE,     /* state:NAME */
	VIEW_FACT_CALL,      /* call:NAME */
	VIEW_FACT_FILE,      /* file:GLOB */
	VIEW_FACT_PEER,      /* peer:GLOB */
	VIEW_FACT_COLUMN,    /* COLUMN>VALUE … */
	VIEW_FACT_TEXT,      /* a part of some text of the row */
	VIEW_FACT_NONE,
};

enum view_node_kind { VIEW_NODE_FACT, VIEW_NODE_ALL, VIEW_NODE_ANY, VIEW_NODE_NOT };

enum view_operator { VIEW_LESS, VIEW_AT_MOST, VIEW_EQUAL, VIEW_UNEQUAL, VIEW_AT_LEAST, VIEW_MORE };

/* A term, or several joined to one. What it points to is its own. */
struct view_node {
	uint8_t kind;      /* enum view_node_kind */
	uint8_t fact;      /* VIEW_NODE_FACT: enum view_fact; VIEW_NODE_ANY: that of its parts if they are options */
	uint8_t operator;  /* VIEW_FACT_COLUMN: enum view_operator */
	bool number_given; /* user, container: by number */
	bool host_itself;  /* container: what is in none */
	bool nested;       /* container: those nested in it too */
	GPtrArray *parts;  /* struct view_node *, owned */
	char *glob;        /* names */
	char *text;        /* as typed: a name, a part of a text, the value that a column is compared with */
	char *column;      /* VIEW_FACT_COLUMN: its name */
	int64_t number;    /* pid, tid, tree; user, container by number */
	unsigned place;    /* which of the filter's terms it is, in the order in which they were added */
};

struct view_filter {
	struct view_node *root; /* VIEW_NODE_ALL */
	unsigned n_terms;       /* VIEW_NODE_FACT that were added */
	unsigned facts;         /* 1 << enum view_fact: there are terms about it */
	uint64_t files_id;      /* TABLE_FILE: only this fd table, 0: any */
	bool utc;               /* times that columns are compared with; else local time */
};

void view_filter_init(struct view_filter *f);
void view_filter_release(struct view_filter *f);

/* Makes it empty: everything is wanted. */
void view_filter_clear(struct view_filter *f);

bool view_filter_empty(const struct view_filter *f);

/* Options that may be repeated: those of one fact are alternatives. */
void view_filter_add_host(struct view_filter *f, const char *glob);
void view_filter_add_comm(struct view_filter *f, const char *glob);
void view_filter_add_tid(struct view_filter *f, int64_t tid);
void view_filter_add_pid(struct view_filter *f, int64_t pid);

/* What stands behind "container:". LT_ERROR: it is empty. */
enum lt_status view_filter_add_container(struct view_filter *f, const char *name);

/*
 * Adds what a user typed; it must hold together with what was there. Columns are those of table, NULL: of any.
 * LT_ERROR: it cannot be understood, nothing is added, and the error chain says what and at which column of the text.
 */
enum lt_status view_filter_parse(struct view_filter *f, const char *text, const struct view_table *table);

/*
 * Adds "column operator value", name being that of one of the columns, without unit if it wants. LT_ERROR: that is no
 * value of it.
 */
enum lt_status view_filter_add_comparison(struct view_filter *f, const struct column *columns, unsigned n_columns,
					  const char *name, enum view_operator operator, const char * value);

/* Whether there are terms about a fact. */
static inline bool view_filter_asks(const struct view_filter *f, enum view_fact fact)
{
	return f->facts >> fact & 1;
}

enum view_truth { VIEW_NO, VIEW_YES, VIEW_UNTOUCHED };

/* What a term says of something; node is a VIEW_NODE_FACT. */
typedef enum view_truth view_term_fn(void *data, const struct view_node *node);

/* Whether the filter wants something, of which terms know what term() says. */
bool view_filter_wants(const struct view_filter *f, view_term_fn *term, void *data);

/* Whether a host of that name can have something that is wanted. */
bool view_filter_host(const struct view_filter *f, const char *name);

/* Whether text contains part, upper and lower case being the same. */
bool view_text_contains(const char *text, const char *part);

#endif
