/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_FILTER_INTERNAL_H
#define LT_VIEW_FILTER_INTERNAL_H

/* Shared by the filter*.c files only. */

#include "view/column.h"
#include "view/filter.h"

/* ---- filter.c ---- */

/* A new node; a term becomes the filter's next one. Owned by the caller until it is added to another node. */
struct view_node *filter_node_new(enum view_node_kind kind);
struct view_node *filter_term_new(struct view_filter *f, enum view_fact fact);
void filter_node_free(struct view_node *node);

/* ---- filter_parse.c ---- */

/* Whether a container can have this name; if so, the term is about that name. */
bool filter_is_container(const char *name);
void filter_set_container(struct view_node *term, const char *name);

/* ---- filter_row.c ---- */

/* Whether a table's states are those of waits, and the glob matches the word that the screen has for that state. */
bool filter_is_wait_state(const struct view_table *table, const char *name, const char *glob);

/* ---- filter_words.c ---- */

/*
 * Reads the word at *at, removes its quotes, and moves *at to its end. table: whose headings may have blanks; NULL:
 * any. quoted: it starts with a quote, which makes it plain text. NULL: unclosed quote. To be freed.
 */
char *filter_read_word(const char **at, const struct view_table *table, bool *quoted);

/* LT_ERROR: at p is a text in quotes, which an operator follows, as if it were a column. */
enum lt_status filter_check_quotes(const char *p);

/* LT_ERROR: at p is a word that joins terms in other languages, such as "and", with terms to be joined. */
enum lt_status filter_check_joining(const char *p, bool is_first);

/* ---- filter_value.c: values that columns are compared with ---- */

/* Whether the table (NULL: any) has this column. */
bool filter_has_column(const char *name, const struct view_table *table);

/* LT_ERROR: the table (NULL: any) has no such column, the value is invalid for it, or it cannot be ordered. */
enum lt_status filter_check_column(const char *column, enum view_operator op, const char *value,
				   const struct view_table *table);

/* LT_ERROR: the next word is the unit of the value: "5 ms". */
enum lt_status filter_check_unit(const char *column, const char *value, const char *next,
				 const struct view_table *table);

/* LT_ERROR: the value is invalid for the column, or the column cannot be ordered. */
enum lt_status filter_check_value(const struct column *column, enum view_operator op, const char *value);

/* Whether a text can be compared with the column's values. */
bool filter_can_compare(const struct column *column, const char *text);

/*
 * Compares a value with a text of the column's type. Null never matches. begin_ns: start of the trace, which relative
 * times count from. LT_ERROR: the text is not of that type; *out is unchanged.
 */
enum lt_status filter_compare(const struct column *column, const struct value *value, enum view_operator op,
			      const char *text, uint64_t begin_ns, bool utc, bool *out);

#endif
