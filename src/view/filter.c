/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filter expressions: construction, and evaluation given the truth of their terms. */
#include "view/filter.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "view/filter_internal.h"
#include "view/table.h"

static void node_free(gpointer p)
{
	struct view_node *node = p;

	if (node->parts)
		g_ptr_array_free(node->parts, TRUE);
	g_free(node->glob);
	g_free(node->text);
	g_free(node->column);
	g_free(node);
}

struct view_node *filter_node_new(enum view_node_kind kind)
{
	struct view_node *node = g_new0(struct view_node, 1);

	node->kind = (uint8_t)kind;
	if (kind != VIEW_NODE_FACT)
		node->parts = g_ptr_array_new_with_free_func(node_free);
	return node;
}

void filter_node_free(struct view_node *node)
{
	if (node)
		node_free(node);
}

struct view_node *filter_term_new(struct view_filter *f, enum view_fact fact)
{
	struct view_node *node = filter_node_new(VIEW_NODE_FACT);

	node->fact = (uint8_t)fact;
	node->place = f->n_terms++;
	f->facts |= 1u << fact;
	return node;
}

void view_filter_init(struct view_filter *f)
{
	memset(f, 0, sizeof(*f));
	f->root = filter_node_new(VIEW_NODE_ALL);
}

void view_filter_release(struct view_filter *f)
{
	filter_node_free(f->root);
	memset(f, 0, sizeof(*f));
}

void view_filter_clear(struct view_filter *f)
{
	g_ptr_array_set_size(f->root->parts, 0);
	f->n_terms = 0;
	f->facts = 0;
	f->files_id = 0;
}

bool view_filter_empty(const struct view_filter *f)
{
	return !f->root->parts->len && !f->files_id;
}

/* ---- options ---- */

/* The node that collects the alternatives given by options for a fact. */
static GPtrArray *alternatives(struct view_filter *f, enum view_fact fact)
{
	struct view_node *any;

	for (guint i = 0; i < f->root->parts->len; i++) {
		any = g_ptr_array_index(f->root->parts, i);
		if (any->kind == VIEW_NODE_ANY && any->fact == fact)
			return any->parts;
	}
	any = filter_node_new(VIEW_NODE_ANY);
	any->fact = (uint8_t)fact;
	g_ptr_array_add(f->root->parts, any);
	return any->parts;
}

static struct view_node *add_alternative(struct view_filter *f, enum view_fact fact)
{
	struct view_node *term = filter_term_new(f, fact);

	g_ptr_array_add(alternatives(f, fact), term);
	return term;
}

void view_filter_add_host(struct view_filter *f, const char *glob)
{
	add_alternative(f, VIEW_FACT_HOST)->glob = g_strdup(glob);
}

void view_filter_add_comm(struct view_filter *f, const char *glob)
{
	add_alternative(f, VIEW_FACT_COMM)->glob = g_strdup(glob);
}

void view_filter_add_tid(struct view_filter *f, int64_t tid)
{
	add_alternative(f, VIEW_FACT_TID)->number = tid;
}

void view_filter_add_pid(struct view_filter *f, int64_t pid)
{
	add_alternative(f, VIEW_FACT_PID)->number = pid;
}

enum lt_status view_filter_add_container(struct view_filter *f, const char *name)
{
	char **parts = g_strsplit(name, "\"", -1), *plain = g_strjoinv("", parts);
	const bool is = filter_is_container(plain);
	struct view_node *term;

	if (is) {
		term = add_alternative(f, VIEW_FACT_CONTAINER);
		filter_set_container(term, plain);
		term->exact = strlen(plain) < strlen(name);
	} else {
		error_set("'%s' is not a valid container name", name);
	}
	g_free(plain);
	g_strfreev(parts);
	return is ? LT_OK : LT_ERROR;
}

enum lt_status view_filter_add_comparison(struct view_filter *f, const struct column *columns, unsigned n_columns,
					  const char *name, enum view_operator op, const char *value)
{
	const struct column *column = view_column_typed(columns, n_columns, name);
	struct view_node *term;

	if (filter_check_value(column, op, value) != LT_OK)
		return LT_ERROR;
	term = filter_term_new(f, VIEW_FACT_COLUMN);
	term->op = (uint8_t)op;
	term->column = g_strdup(column->name);
	term->text = g_strdup(value);
	g_ptr_array_add(f->root->parts, term);
	return LT_OK;
}

/* ---- evaluation ---- */

/* Kleene's three-valued logic: an untouched part leaves the whole untouched unless the other parts decide it. */
static enum view_truth judge(const struct view_node *node, view_term_fn *term, void *data)
{
	const enum view_truth decides = node->kind == VIEW_NODE_ANY ? VIEW_YES : VIEW_NO;
	enum view_truth whole = decides == VIEW_YES ? VIEW_NO : VIEW_YES;

	if (node->kind == VIEW_NODE_FACT)
		return term(data, node);
	for (guint i = 0; i < node->parts->len; i++) {
		const enum view_truth truth = judge(g_ptr_array_index(node->parts, i), term, data);

		if (node->kind == VIEW_NODE_NOT)
			return truth == VIEW_UNTOUCHED ? truth : truth == VIEW_NO ? VIEW_YES : VIEW_NO;
		if (truth == decides)
			return truth;
		if (truth == VIEW_UNTOUCHED)
			whole = truth;
	}
	return whole;
}

bool view_filter_wants(const struct view_filter *f, view_term_fn *term, void *data)
{
	return judge(f->root, term, data) != VIEW_NO;
}

static enum view_truth host_term(void *name, const struct view_node *node)
{
	if (node->fact != VIEW_FACT_HOST)
		return VIEW_UNTOUCHED;
	return text_glob(node->glob, name) ? VIEW_YES : VIEW_NO;
}

bool view_filter_host(const struct view_filter *f, const char *name)
{
	return view_filter_wants(f, host_term, (void *)name);
}
