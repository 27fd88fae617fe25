/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The relations table as a graph in the DOT language. Processes are nodes, grouped in a box per host; each way in which
 * one acts on another is an edge. The rows that two hosts have for a connection become one edge: bytes as sent, waits
 * as received.
 */
#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "out/internal.h"

struct node {
	char *id;   /* "host/pid" or, for a peer on no known host, its address */
	char *host; /* NULL: unknown */
	char *label;
};

struct dot_edge {
	const struct node *from, *to;
	char *means; /* "pipe", "inet 10.0.0.2:80" */
	uint64_t count, bytes, wakeups, wait_ns;
};

struct graph {
	const struct writer_page *page;
	GPtrArray *nodes, *edges; /* in the order of their first row */
	GHashTable *by_id, *by_ends;
};

static void node_free(void *data)
{
	struct node *n = data;

	g_free(n->id);
	g_free(n->host);
	g_free(n->label);
	g_free(n);
}

static void edge_free(void *data)
{
	struct dot_edge *e = data;

	g_free(e->means);
	g_free(e);
}

static struct value value_of(const struct graph *g, unsigned row, const char *name)
{
	struct value v = { .kind = VALUE_NULL };

	view_rows_value(g->page->rows, row, view_rows_column(g->page->rows, name), &v);
	return v;
}

/* A copy, which the caller frees; NULL if the value is null. */
static char *text_of(const struct graph *g, unsigned row, const char *name)
{
	struct value v = value_of(g, row, name);

	return v.kind == VALUE_TEXT ? g_strdup(v.text) : NULL;
}

static uint64_t figure_of(const struct graph *g, unsigned row, const char *name)
{
	struct value v = value_of(g, row, name);

	return v.kind == VALUE_UINT ? v.u : 0;
}

static const struct node *find_node(struct graph *g, unsigned row, const char *host_name, const char *pid_name,
				    const char *comm_name, const char *means)
{
	char *host = text_of(g, row, host_name), *comm = text_of(g, row, comm_name), *id;
	struct value pid = value_of(g, row, pid_name);
	struct node *n;

	id = host && pid.kind == VALUE_INT ? g_strdup_printf("%s/%" PRId64, host, pid.i) : g_strdup(means);
	n = g_hash_table_lookup(g->by_id, id);
	if (!n) {
		n = g_new0(struct node, 1);
		n->id = g_strdup(id);
		n->host = g_strdup(host);
		n->label = host && pid.kind == VALUE_INT ? g_strdup_printf("%s\n%" PRId64, comm ? comm : "?", pid.i)
							 : g_strdup(means);
		g_ptr_array_add(g->nodes, n);
		g_hash_table_insert(g->by_id, n->id, n);
	}
	g_free(id);
	g_free(host);
	g_free(comm);
	return n;
}

static struct dot_edge *find_edge(struct graph *g, const struct node *from, const struct node *to, const char *means)
{
	char *key = g_strdup_printf("%s>%s>%s", from->id, to->id, means);
	struct dot_edge *e = g_hash_table_lookup(g->by_ends, key);

	if (e) {
		g_free(key);
		return e;
	}
	e = g_new0(struct dot_edge, 1);
	e->from = from;
	e->to = to;
	e->means = g_strdup(means);
	g_ptr_array_add(g->edges, e);
	g_hash_table_insert(g->by_ends, key, e);
	return e;
}

static void add_row(struct graph *g, unsigned row)
{
	char *kind = text_of(g, row, "kind"), *object = text_of(g, row, "object"), *side = text_of(g, row, "side");
	char *means = object ? g_strdup_printf("%s %s", kind, object) : g_strdup(kind);
	const struct node *from = find_node(g, row, "from_host", "from_pid", "from_comm", means);
	const struct node *to = find_node(g, row, "to_host", "to_pid", "to_comm", means);
	struct dot_edge *e = find_edge(g, from, to, means);
	bool received = side && strcmp(side, "received") == 0;

	/* sent and received are the same bytes: prefer the sender's figure */
	if (!received || !e->count) {
		e->count = figure_of(g, row, "count");
		e->bytes = figure_of(g, row, "bytes");
	}
	e->wakeups += figure_of(g, row, "wakeups");
	e->wait_ns += figure_of(g, row, "wait_ns");
	g_free(kind);
	g_free(object);
	g_free(side);
	g_free(means);
}

static void write_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '\n') {
			fputs("\\n", out);
			continue;
		}
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void write_node(FILE *out, const struct node *n, const char *indent)
{
	fputs(indent, out);
	write_string(out, n->id);
	fputs(" [label=", out);
	write_string(out, n->label);
	fputs("];\n", out);
}

static void write_host(FILE *out, const struct graph *g, const char *host)
{
	for (guint i = 0; i < g->nodes->len; i++) {
		const struct node *n = g_ptr_array_index(g->nodes, i);

		if (g_strcmp0(n->host, host) == 0)
			write_node(out, n, host ? "\t\t" : "\t");
	}
}

/* With --host, peers on other hosts are nodes, too. */
static void write_nodes(FILE *out, const struct graph *g)
{
	GPtrArray *hosts = g_ptr_array_new();

	for (guint i = 0; i < g->nodes->len; i++) {
		const struct node *n = g_ptr_array_index(g->nodes, i);

		if (!n->host || g_ptr_array_find_with_equal_func(hosts, n->host, g_str_equal, NULL))
			continue;
		fprintf(out, "\tsubgraph cluster_%u {\n\t\tlabel=", hosts->len);
		write_string(out, n->host);
		fputs(";\n", out);
		write_host(out, g, n->host);
		fputs("\t}\n", out);
		g_ptr_array_add(hosts, n->host);
	}
	write_host(out, g, NULL);
	g_ptr_array_free(hosts, TRUE);
}

static void write_edge(FILE *out, const struct dot_edge *e, bool ascii)
{
	GString *label = g_string_new(e->means);
	char text[FORMAT_SIZE];

	if (e->count)
		g_string_append_printf(label, "\n%" PRIu64 " times", e->count);
	if (e->bytes)
		g_string_append_printf(label, "\n%s bytes", format_bytes(text, sizeof(text), (double)e->bytes));
	if (e->wakeups)
		g_string_append_printf(label, "\nwaited %s", format_duration(text, sizeof(text), e->wait_ns, ascii));
	fputc('\t', out);
	write_string(out, e->from->id);
	fputs(" -> ", out);
	write_string(out, e->to->id);
	fputs(" [label=", out);
	write_string(out, label->str);
	fputs("];\n", out);
	g_string_free(label, TRUE);
}

void writer_dot_page(struct writer *w, const struct writer_page *page)
{
	struct graph g = {
		.page = page,
		.nodes = g_ptr_array_new_with_free_func(node_free),
		.edges = g_ptr_array_new_with_free_func(edge_free),
		.by_id = g_hash_table_new(g_str_hash, g_str_equal),
		.by_ends = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
	};
	FILE *out = w->options.out;

	for (unsigned i = 0; i < page->rows->n; i++)
		add_row(&g, i);
	fputs("digraph relations {\n\tnode [shape=box];\n", out);
	write_nodes(out, &g);
	for (guint i = 0; i < g.edges->len; i++)
		write_edge(out, g_ptr_array_index(g.edges, i), w->options.format.ascii);
	fputs("}\n", out);
	g_hash_table_unref(g.by_ends);
	g_hash_table_unref(g.by_id);
	g_ptr_array_free(g.edges, TRUE);
	g_ptr_array_free(g.nodes, TRUE);
}
