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
 * Which rows are wanted: an expression about facts of a row.
 *
 *     tid:5 host:web*             both must hold
 *     comm:a | comm:b             either
 *     !state:blocked (a | b)      not; parentheses
 *     cpu_ns>5ms                  a column of the table; also < >= <= = !=
 *     "a | b"                     in quotes: plain text
 *
 * A fact that a table does not have (a pid, for disks) neither holds nor fails: terms about it do not affect its rows.
 */
enum view_fact {
	VIEW_FACT_HOST,      /* host:GLOB; without wildcards a substring, as with comm, file, peer, container */
	VIEW_FACT_COMM,      /* comm:GLOB */
	VIEW_FACT_PID,       /* pid:N */
	VIEW_FACT_TID,       /* tid:N */
	VIEW_FACT_TREE,      /* tree:PID, the process and all its descendants */
	VIEW_FACT_USER,      /* user:NAME or user:UID */
	VIEW_FACT_CONTAINER, /* container:GLOB, or GLOB/ to include nested ones; "NAME": exactly */
	VIEW_FACT_STATE,     /* state:NAME */
	VIEW_FACT_CALL,      /* call:NAME */
	VIEW_FACT_FILE,      /* file:GLOB */
	VIEW_FACT_PEER,      /* peer:GLOB */
	VIEW_FACT_COLUMN,    /* COLUMN>VALUE … */
	VIEW_FACT_TEXT,      /* a substring of some text that is displayed in the row: view_filter.of_pane */
	VIEW_FACT_NONE,
};

enum view_node_kind { VIEW_NODE_FACT, VIEW_NODE_ALL, VIEW_NODE_ANY, VIEW_NODE_NOT };

enum view_operator { VIEW_LESS, VIEW_AT_MOST, VIEW_EQUAL, VIEW_UNEQUAL, VIEW_AT_LEAST, VIEW_MORE };

/* A term or a combination of terms. Owns what it points to. */
struct view_node {
	uint8_t kind; /* enum view_node_kind */
	/* VIEW_NODE_FACT: enum view_fact; VIEW_NODE_ANY: that of its parts if they come from options */
	uint8_t fact;
	uint8_t op;        /* VIEW_FACT_COLUMN: enum view_operator */
	bool number_given; /* user, container: given as a number */
	bool host_itself;  /* container: rows outside any container */
	bool nested;       /* container: including nested ones */
	bool exact;        /* container: in quotes, so exactly of that name */
	GPtrArray *parts;  /* struct view_node *, owned */
	char *glob;        /* for names */
	char *text;        /* as typed: a name, a substring, the value to compare a column with */
	char *column;      /* VIEW_FACT_COLUMN: its name */
	int64_t number;    /* pid, tid, tree; user and container given as a number */
	unsigned place;    /* its index among the filter's terms, in the order they were added */
};

struct view_filter {
	struct view_node *root; /* VIEW_NODE_ALL */
	unsigned n_terms;       /* number of VIEW_NODE_FACT nodes */
	unsigned facts;         /* 1 << enum view_fact: facts that have terms */
	uint64_t files_id;      /* TABLE_FILE: only this fd table; 0: any */
	bool utc;               /* times compared with columns are UTC; otherwise local time */
	bool of_pane;           /* displayed are the columns that a pane has at first; otherwise those of a report */
	/* Displayed is this table: an error lists its states, those of all if NULL or if it has none; borrowed. */
	const struct view_table *shown;
	size_t error_at; /* the byte at which view_filter_parse() last found an error */
};

void view_filter_init(struct view_filter *f);
void view_filter_release(struct view_filter *f);

/* Empties the filter, so that everything passes. */
void view_filter_clear(struct view_filter *f);

bool view_filter_empty(const struct view_filter *f);

/* Repeatable options: those about the same fact are alternatives. */
void view_filter_add_host(struct view_filter *f, const char *glob);
void view_filter_add_comm(struct view_filter *f, const char *glob);
void view_filter_add_tid(struct view_filter *f, int64_t tid);
void view_filter_add_pid(struct view_filter *f, int64_t pid);

/* Adds what follows "container:", with its quotes. LT_ERROR: the name is empty. */
enum lt_status view_filter_add_container(struct view_filter *f, const char *name);

/*
 * Adds an expression typed by the user, which must hold in addition to the rest. Columns are looked up in table; NULL:
 * in any table. LT_ERROR: invalid; nothing is added, and the error chain says what is wrong at which character.
 */
enum lt_status view_filter_parse(struct view_filter *f, const char *text, const struct view_table *table);

/*
 * Adds "column operator value". name: one of the columns, with or without its unit. LT_ERROR: value is not valid for
 * it.
 */
enum lt_status view_filter_add_comparison(struct view_filter *f, const struct column *columns, unsigned n_columns,
					  const char *name, enum view_operator op, const char *value);

/*
 * Append a value to the text of a filter, in quotes if necessary; pattern: what it is compared with may have wildcards.
 * A container is named as behind "container:". LT_ERROR: no filter can name it.
 */
enum lt_status filter_put_text(GString *filter, const char *text, bool pattern);
enum lt_status filter_put_container(GString *filter, const char *name);

/* The text of a filter that holds where both do. */
char *filter_both(const char *filter, const char *more);

/* What a term is about: "file:", the name of a column; "text" for plain text. node is a VIEW_NODE_FACT. */
const char *view_term_name(const struct view_node *node);

/* Whether there are terms about a fact. */
static inline bool view_filter_asks(const struct view_filter *f, enum view_fact fact)
{
	return f->facts >> fact & 1;
}

enum view_truth { VIEW_NO, VIEW_YES, VIEW_UNTOUCHED };

/* Evaluates a term; node is a VIEW_NODE_FACT. */
typedef enum view_truth view_term_fn(void *data, const struct view_node *node);

/* Whether an object passes the filter, with term() evaluating the terms for it. */
bool view_filter_wants(const struct view_filter *f, view_term_fn *term, void *data);

/* Whether anything on a host of that name can pass. */
bool view_filter_host(const struct view_filter *f, const char *name);

#endif
