/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parser for filters as typed by users. */
#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "view/filter_internal.h"
#include "view/internal.h"

enum { DEPTH_MAX = 50 }; /* nesting of parentheses and '!' */

struct filter_parser {
	struct view_filter *f;
	const struct view_table *table; /* NULL: any */
	const char *text, *p;
	unsigned depth;
};

/* Adds the position of p to the error chain, in characters from 1. */
static enum lt_status at_column(const struct filter_parser *parser, const char *p)
{
	parser->f->error_at = (size_t)(p - parser->text);
	return error_wrap("column %ld", g_utf8_strlen(parser->text, p - parser->text) + 1);
}

static void skip_blanks(struct filter_parser *parser)
{
	parser->p += strspn(parser->p, " \t");
}

/* ---- words ---- */

/* A name typed without wildcards matches anywhere. */
static char *typed_glob(const char *text)
{
	return strpbrk(text, "*?[") ? g_strdup(text) : g_strdup_printf("*%s*", text);
}

static bool is_number(const char *text, int64_t *n)
{
	char *end;

	if (!g_ascii_isdigit(*text))
		return false;
	*n = g_ascii_strtoll(text, &end, 10);
	return *end == '\0';
}

enum { NAMESPACE_DIGITS = 10 }; /* in a namespace's number, from 4026531834 on */

bool filter_is_container(const char *name)
{
	return *name && strcmp(name, "/") != 0;
}

/*
 * A container without a name is shown as the name of its first process and the number of its namespace,
 * "bash:4026532318"; the name may change, the number does not. Returns the position of the number.
 */
static const char *number_in(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon && strspn(colon + 1, "0123456789") == NAMESPACE_DIGITS && !colon[1 + NAMESPACE_DIGITS] ? colon + 1
													    : name;
}

void filter_set_container(struct view_node *term, const char *name)
{
	term->nested = g_str_has_suffix(name, "/");
	term->text = g_strndup(name, strlen(name) - term->nested);
	term->number_given = is_number(number_in(term->text), &term->number);
	term->host_itself = strcmp(term->text, VIEW_HOST_NAME) == 0;
	term->glob = typed_glob(term->text);
}

/* ---- terms ---- */

static const struct {
	const char *name; /* including the colon */
	enum view_fact fact;
	const char *wants;
} terms[] = {
	{ "host:", VIEW_FACT_HOST, "a name" },
	{ "comm:", VIEW_FACT_COMM, "a name" },
	{ "pid:", VIEW_FACT_PID, "a number" },
	{ "tid:", VIEW_FACT_TID, "a number" },
	{ "tree:", VIEW_FACT_TREE, "a process ID" },
	{ "user:", VIEW_FACT_USER, "a name or number" },
	{ "container:", VIEW_FACT_CONTAINER, "a name" },
	{ "state:", VIEW_FACT_STATE, "a name" },
	{ "call:", VIEW_FACT_CALL, "a name" },
	{ "file:", VIEW_FACT_FILE, "part of a path" },
	{ "peer:", VIEW_FACT_PEER, "part of an address" },
};

/* Whether a word is the name of a column and a colon. */
static bool is_column(const struct filter_parser *parser, const char *word)
{
	const char *colon = strchr(word, ':');
	char *name = g_strndup(word, colon ? (gsize)(colon - word) : 0);
	const bool is = *name && filter_has_column(name, parser->table);

	g_free(name);
	return is;
}

/* Whether a word is meant to be a term, "name:…", as opposed to the kernel's "socket:[25052]" or "kworker/0:1". */
static bool is_term(const struct filter_parser *parser, const char *word)
{
	const char *p = word;

	for (unsigned i = 0; i < G_N_ELEMENTS(terms); i++)
		if (g_str_has_prefix(word, terms[i].name))
			return true;
	while (g_ascii_isalpha(*p))
		p++;
	return (p > word && p[0] == ':' && p[1] != '[') || is_column(parser, word);
}

const char *view_term_name(const struct view_node *node)
{
	if (node->fact == VIEW_FACT_COLUMN)
		return node->column;
	for (unsigned i = 0; i < G_N_ELEMENTS(terms); i++)
		if (terms[i].fact == node->fact)
			return terms[i].name;
	return "text";
}

static enum lt_status unknown_term(const struct filter_parser *parser, const char *word)
{
	const int len = (int)strcspn(word, ":");
	GString *known;

	if (is_column(parser, word))
		return error_set("unknown term '%.*s:': as a column, write '%.*s=%s'", len, word, len, word,
				 word + len + 1);
	known = g_string_new(NULL);
	for (unsigned i = 0; i < G_N_ELEMENTS(terms); i++)
		g_string_append_printf(known, "%s %s", i ? "," : "", terms[i].name);
	error_set("unknown term '%.*s': use one of%s", len + 1, word, known->str);
	g_string_free(known, TRUE);
	return LT_ERROR;
}

/* Whether a state that rows of a table may have matches the glob. */
static bool has_state(const struct view_table *table, const char *glob)
{
	bool any = false;
	const char *name;

	for (unsigned i = 0; table->state_name && (name = table->state_name(i)); i++)
		any = any || text_glob(glob, name) || filter_is_wait_state(table, name, glob);
	return any;
}

static void add_states(const struct view_table *table, GPtrArray *known)
{
	const char *name;

	for (unsigned i = 0; table->state_name && (name = table->state_name(i)); i++)
		if (!g_ptr_array_find_with_equal_func(known, name, g_str_equal, NULL))
			g_ptr_array_add(known, (gpointer)name);
}

static enum lt_status unknown_state(const struct view_table *of, const char *glob)
{
	GPtrArray *known = g_ptr_array_new();
	char *list;

	for (unsigned i = 0; i < (of ? 1 : view_table_count()); i++)
		add_states(of ? of : view_table_get(i), known);
	g_ptr_array_add(known, NULL);
	list = g_strjoinv(", ", (char **)known->pdata);
	error_set("unknown state '%s': use one of %s", glob, list);
	g_free(list);
	g_ptr_array_free(known, TRUE);
	return LT_ERROR;
}

/* LT_ERROR: no row can have such a state. */
static enum lt_status check_state(const struct filter_parser *parser, const char *glob)
{
	const struct view_table *shown = parser->f->shown;

	for (unsigned i = 0; i < (parser->table ? 1 : view_table_count()); i++)
		if (has_state(parser->table ? parser->table : view_table_get(i), glob))
			return LT_OK;
	return unknown_state(parser->table || !shown || !shown->state_name ? parser->table : shown, glob);
}

/* Parses what follows the colon. False: invalid. */
static bool set_argument(struct view_node *term, const char *arg)
{
	switch ((enum view_fact)term->fact) {
	case VIEW_FACT_PID:
	case VIEW_FACT_TID:
	case VIEW_FACT_TREE:
		return is_number(arg, &term->number);
	case VIEW_FACT_CONTAINER:
		if (filter_is_container(arg))
			filter_set_container(term, arg);
		return filter_is_container(arg);
	case VIEW_FACT_USER:
		term->number_given = is_number(arg, &term->number);
		term->glob = g_strdup(arg);
		return *arg;
	case VIEW_FACT_STATE:
	case VIEW_FACT_CALL:
		term->glob = g_strdup(arg);
		return *arg;
	default:
		term->glob = typed_glob(arg);
		return *arg;
	}
}

static struct view_node *parse_term(struct filter_parser *parser, const char *word)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(terms); i++) {
		struct view_node *term;

		if (!g_str_has_prefix(word, terms[i].name))
			continue;
		if (parser->table && !view_table_has_fact(parser->table, terms[i].fact)) {
			error_set("rows of table '%s' have no %.*s", parser->table->name,
				  (int)strlen(terms[i].name) - 1, terms[i].name);
			if (parser->table->source == TABLE_INSTANCE && terms[i].fact == VIEW_FACT_CALL)
				error_set("rows of table '%s' have no call: of system calls, write 'cause=%s'",
					  parser->table->name, word + strlen(terms[i].name));
			return NULL;
		}
		word += strlen(terms[i].name);
		if (terms[i].fact == VIEW_FACT_STATE && *word && check_state(parser, word) != LT_OK)
			return NULL;
		term = filter_term_new(parser->f, terms[i].fact);
		if (set_argument(term, word))
			return term;
		filter_node_free(term);
		error_set("'%s%s': '%s' needs %s", terms[i].name, word, terms[i].name, terms[i].wants);
		return NULL;
	}
	unknown_term(parser, word);
	return NULL;
}

/* ---- COLUMN>VALUE ---- */

static const struct {
	const char *sign;
	enum view_operator op;
} operators[] = {
	/* longer ones first */
	{ "<=", VIEW_AT_MOST }, { ">=", VIEW_AT_LEAST }, { "!=", VIEW_UNEQUAL }, { "==", VIEW_EQUAL },
	{ "<", VIEW_LESS },     { ">", VIEW_MORE },      { "=", VIEW_EQUAL },
};

/* Finds the operator in a word; NULL: it has none. */
static const char *operator_of(const char *word, enum view_operator *op, const char **value)
{
	const char *p = word + strcspn(word, "<>=");

	if (*p == '=' && p > word && p[-1] == '!')
		p--;
	for (unsigned i = 0; i < G_N_ELEMENTS(operators); i++) {
		if (!g_str_has_prefix(p, operators[i].sign))
			continue;
		*op = operators[i].op;
		*value = p + strlen(operators[i].sign);
		return p;
	}
	return NULL;
}

/* LT_ERROR: the comparison's unit is the next word, which would be taken for text. */
static enum lt_status check_next_word(const struct filter_parser *parser, const char *column, const char *value)
{
	const char *next = parser->p + strspn(parser->p, " \t");
	char *word = g_strndup(next, strcspn(next, " \t|)\""));
	enum lt_status status = filter_check_unit(column, value, word, parser->table);

	g_free(word);
	return status;
}

static struct view_node *parse_comparison(struct filter_parser *parser, const char *column, enum view_operator op,
					  const char *value)
{
	struct view_node *term = NULL;

	if (!*column) {
		error_set("column expected directly before the operator");
	} else if (filter_check_column(column, op, value, parser->table) == LT_OK &&
		   check_next_word(parser, column, value) == LT_OK) {
		term = filter_term_new(parser->f, VIEW_FACT_COLUMN);
		term->op = (uint8_t)op;
		term->column = g_strdup(column);
		term->text = g_strdup(value);
	}
	return term;
}

static struct view_node *make_term(struct filter_parser *parser, const char *word, bool quoted)
{
	enum view_operator op;
	struct view_node *term;
	const char *sign, *value;

	if (!quoted && is_term(parser, word))
		return parse_term(parser, word);
	sign = quoted ? NULL : operator_of(word, &op, &value);
	if (sign) {
		char *column = g_strndup(word, (gsize)(sign - word));

		term = parse_comparison(parser, column, op, value);
		g_free(column);
		return term;
	}
	term = filter_term_new(parser->f, VIEW_FACT_TEXT);
	term->text = g_strdup(word);
	return term;
}

static struct view_node *parse_word(struct filter_parser *parser)
{
	const char *start = parser->p;
	struct view_node *term;
	bool quoted;
	char *word;

	if (!*start || *start == '|' || *start == ')') {
		if (*start)
			error_set("term expected before '%c'", *start);
		else
			error_set("term expected at the end");
		at_column(parser, start);
		return NULL;
	}
	if (filter_check_quotes(start) != LT_OK) {
		at_column(parser, start);
		return NULL;
	}
	word = filter_read_word(&parser->p, parser->table, &quoted);
	if (!word) {
		error_set("missing closing quote");
		at_column(parser, start);
		return NULL;
	}
	term = make_term(parser, word, quoted);
	if (term)
		term->exact = term->fact == VIEW_FACT_CONTAINER && memchr(start, '"', (size_t)(parser->p - start));
	g_free(word);
	if (!term)
		at_column(parser, start);
	return term;
}

/* ---- expressions ---- */

static struct view_node *parse_any(struct filter_parser *parser);

static struct view_node *parse_not(struct filter_parser *parser)
{
	const char *start = parser->p;
	struct view_node *node = NULL, *part;

	if (*start != '!' && *start != '(')
		return parse_word(parser);
	if (parser->depth == DEPTH_MAX) {
		error_set("more than %d nested parentheses", DEPTH_MAX);
		at_column(parser, start);
		return NULL;
	}
	parser->depth++;
	parser->p++;
	skip_blanks(parser);
	if (*start == '!') {
		part = parse_not(parser);
		if (part) {
			node = filter_node_new(VIEW_NODE_NOT);
			g_ptr_array_add(node->parts, part);
		}
	} else {
		node = parse_any(parser);
		if (node && *parser->p != ')') {
			filter_node_free(node);
			node = NULL;
			error_set("missing ')'");
			at_column(parser, start);
		} else if (node) {
			parser->p++;
		}
	}
	parser->depth--;
	return node;
}

/* Parses a sequence of parts; NULL: one is invalid. */
static struct view_node *parse_all(struct filter_parser *parser)
{
	struct view_node *all = filter_node_new(VIEW_NODE_ALL);

	do {
		const bool is_part = filter_check_joining(parser->p, !all->parts->len) == LT_OK;
		struct view_node *part = NULL;

		if (is_part)
			part = parse_not(parser);
		else
			at_column(parser, parser->p);

		if (!part) {
			filter_node_free(all);
			return NULL;
		}
		g_ptr_array_add(all->parts, part);
		skip_blanks(parser);
	} while (*parser->p && *parser->p != '|' && *parser->p != ')');
	return all;
}

static struct view_node *parse_any(struct filter_parser *parser)
{
	struct view_node *any = filter_node_new(VIEW_NODE_ANY);

	any->fact = VIEW_FACT_NONE;
	for (;;) {
		struct view_node *part;

		skip_blanks(parser);
		part = parse_all(parser);
		if (!part) {
			filter_node_free(any);
			return NULL;
		}
		g_ptr_array_add(any->parts, part);
		if (*parser->p != '|')
			return any;
		parser->p++;
	}
}

enum lt_status view_filter_parse(struct view_filter *f, const char *text, const struct view_table *table)
{
	struct view_filter before = *f;
	struct filter_parser parser = { .f = f, .table = table, .text = text, .p = text };
	struct view_node *node;

	skip_blanks(&parser);
	if (!*parser.p)
		return LT_OK;
	node = parse_any(&parser);
	if (node && *parser.p) {
		error_set("')' without '('");
		at_column(&parser, parser.p);
		filter_node_free(node);
		node = NULL;
	}
	if (!node) {
		before.error_at = f->error_at;
		*f = before; /* discards its terms */
		return LT_ERROR;
	}
	g_ptr_array_add(f->root->parts, node);
	return LT_OK;
}
