/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_FILTER_INTERNAL_H
#define LT_VIEW_FILTER_INTERNAL_H

/* What the files of filters share: filter.c, filter_parse.c, filter_value.c. */

#include "view/column.h"
#include "view/filter.h"

/* ---- filter.c ---- */

/* A new node; of a term as the filter's next one. Who made it owns it until it is a part of another. */
struct view_node *filter_node_new(enum view_node_kind kind);
struct view_node *filter_term_new(struct view_filter *f, enum view_fact fact);
void filter_node_free(struct view_node *node);

/* ---- filter_parse.c ---- */

/* Whether a container can be called so, which is then what a term is about. */
bool filter_is_container(const char *name);
void filter_set_container(struct view_node *term, const char *name);

/* ---- filter_value.c: what columns are compared with ---- */

/* The column of that name, whose unit may be left out, that can be compared with the text; else any of that name. */
const struct column *filter_find_column(const struct column *columns, unsigned n_columns, const char *name,
					const char *text);

/* LT_ERROR: the table (NULL: any) has no such column, or that is no value of it, or has no such order. */
enum lt_status filter_check_column(const char *column, enum view_operator operator, const char * value,
				   const struct view_table *table);

/* LT_ERROR: that is no value of the column, or it has no such order. */
enum lt_status filter_check_value(const struct column *column, enum view_operator operator, const char * value);

/*
 * Whether a value compares so with a text, which is of the column's kind. Null compares with nothing. begin_ns: what
 * times relative to the record's begin count from. LT_ERROR: the text is not of that kind; *out is untouched.
 */
enum lt_status filter_compare(const struct column *column, const struct value *value, enum view_operator operator,
			      const char * text, uint64_t begin_ns, bool utc, bool *out);

#endif
