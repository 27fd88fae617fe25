/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <jansson.h>
#include <string.h>

#include "graphs.h"
#include "unit.h"

/*
 * Trace Compass's own test graphs and the results of its bounded critical path algorithm, from
 * $SHARED/conformance/cpgraph_NAME. Both paths are written as lines of text in one order: edges (equal neighbours are
 * joined) and links, including those without a duration.
 */
static const char *const cases[] = {
	"basic",
	"nested",
	"net1",
	"opened",
	"opened_delay",
	"wakeup_embedded",
	"wakeup_interleave",
	"wakeup_missing",
	"wakeup_mutual",
	"wakeup_new",
	"wakeup_self",
	"wakeup_unknown",
};

static const char *const state_names[WAIT_STATES] = {
	[WAIT_RUNNING] = "RUNNING",           [WAIT_PREEMPTED] = "PREEMPTED",
	[WAIT_INTERRUPTED] = "INTERRUPTED",   [WAIT_TIMER] = "TIMER",
	[WAIT_BLOCK_DEVICE] = "BLOCK_DEVICE", [WAIT_NETWORK] = "NETWORK",
	[WAIT_USER_INPUT] = "USER_INPUT",     [WAIT_IPI] = "IPI",
	[WAIT_BLOCKED] = "BLOCKED",           [WAIT_UNKNOWN] = "UNKNOWN",
};

enum { ROWS_MAX = 8 };

struct read_graph {
	struct wait_graph *g;
	wait_row rows[ROWS_MAX];
};

static json_int_t number(const json_t *object, const char *key)
{
	ck_assert_msg(json_is_integer(json_object_get(object, key)), "%s", key);
	return json_integer_value(json_object_get(object, key));
}

static const char *string(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static int state_of(const char *name)
{
	for (int i = 0; i < WAIT_STATES; i++)
		if (!strcmp(state_names[i], name))
			return i;
	ck_abort_msg("no state %s", name);
}

/* A thread that waits for a timer has no link to where it set it; a packet that it sends itself takes its place. */
static const char *stand_in(const char *state)
{
	return strcmp(state, "TIMER") == 0 ? "NETWORK" : state;
}

static json_int_t end_of(const json_t *link, const char *key, int index)
{
	return json_integer_value(json_array_get(json_object_get(link, key), (size_t)index));
}

static bool same_end(const json_t *link, const char *key, int row, json_int_t t_ns)
{
	return end_of(link, key, 0) == row && end_of(link, key, 1) == t_ns;
}

static void add_vertex(struct read_graph *r, const json_t *graph, int row, json_int_t t_ns)
{
	const json_t *item;
	size_t i;

	json_array_foreach(json_object_get(graph, "segments"), i, item) {
		if (number(item, "worker") == row && number(item, "end") == t_ns) {
			struct wait_cause cause = { .name = strpool_intern_z(string(item, "qualifier")), .fd = -1 };

			graph_vertex(r->g, r->rows[row], (uint64_t)t_ns, state_of(string(item, "state")), &cause);
			return;
		}
	}
	graph_gap(r->g, r->rows[row], (uint64_t)t_ns);
}

static void add_links(struct read_graph *r, const json_t *graph, int row, json_int_t t_ns)
{
	const json_t *link;
	size_t i;

	json_array_foreach(json_object_get(graph, "links"), i, link) {
		const char *state = stand_in(string(link, "state"));
		enum wait_link kind = strcmp(state, "NETWORK") == 0 ? WAIT_LINK_NETWORK : WAIT_LINK_WAKEUP;

		ck_assert(kind != WAIT_LINK_WAKEUP || !strcmp(state, "DEFAULT"));
		if (same_end(link, "to", row, t_ns))
			graph_link(r->g, r->rows[end_of(link, "from", 0)], (uint64_t)end_of(link, "from", 1),
				   r->rows[row], (uint64_t)t_ns, kind);
	}
}

static void read_vertices(struct read_graph *r, const json_t *graph, json_int_t t_ns, bool links)
{
	const json_t *workers = json_object_get(graph, "workers"), *times;
	const char *name;

	json_object_foreach((json_t *)workers, name, times) {
		for (size_t i = 0; i < json_array_size(times); i++) {
			if (json_integer_value(json_array_get(times, i)) != t_ns)
				continue;
			if (links)
				add_links(r, graph, atoi(name), t_ns);
			else
				add_vertex(r, graph, atoi(name), t_ns);
		}
	}
}

static struct read_graph read_graph(const json_t *graph)
{
	enum { TIMES = 32 };
	struct read_graph r = { .g = graph_create(0, 0) };

	for (unsigned i = 0; i < ROWS_MAX; i++)
		r.rows[i] = graph_row_add(r.g);
	for (json_int_t t_ns = 0; t_ns < TIMES; t_ns++) {
		read_vertices(&r, graph, t_ns, false);
		read_vertices(&r, graph, t_ns, true);
	}
	graph_advance(r.g, TIMES);
	return r;
}

static gint by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static char *lines_text(GPtrArray *lines)
{
	char *text;

	g_ptr_array_sort(lines, by_text);
	g_ptr_array_add(lines, NULL);
	text = g_strjoinv("\n", (char **)lines->pdata);
	g_ptr_array_free(lines, TRUE);
	return text;
}

static void add_edge(GPtrArray *lines, wait_row row, uint64_t begin_ns, uint64_t end_ns, const char *state, strid cause)
{
	g_ptr_array_add(lines, g_strdup_printf("edge %u %ju-%ju %s %s", row, (uintmax_t)begin_ns, (uintmax_t)end_ns,
					       state, strpool_text(cause)));
}

static void add_link(GPtrArray *lines, wait_row from, uint64_t from_ns, wait_row to, uint64_t to_ns, const char *state)
{
	g_ptr_array_add(
		lines, g_strdup_printf("link %u@%ju %u@%ju %s", from, (uintmax_t)from_ns, to, (uintmax_t)to_ns, state));
}

static char *expected_text(const json_t *path)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	const json_t *item, *items = json_object_get(path, "segments");
	size_t i;

	for (i = 0; i < json_array_size(items); i++) {
		uint64_t begin_ns = (uint64_t)number(item = json_array_get(items, i), "begin");

		/* they are in the order of rows and times */
		for (; i + 1 < json_array_size(items); i++) {
			const json_t *next = json_array_get(items, i + 1);

			if (number(next, "worker") != number(item, "worker") ||
			    number(next, "begin") != number(item, "end") ||
			    strcmp(string(next, "state"), string(item, "state")) != 0 ||
			    strcmp(string(next, "qualifier"), string(item, "qualifier")) != 0)
				break;
			item = next;
		}
		add_edge(lines, (wait_row)number(item, "worker"), begin_ns, (uint64_t)number(item, "end"),
			 stand_in(string(item, "state")), strpool_intern_z(string(item, "qualifier")));
	}
	json_array_foreach(json_object_get(path, "links"), i, item)
		add_link(lines, (wait_row)end_of(item, "from", 0), (uint64_t)end_of(item, "from", 1),
			 (wait_row)end_of(item, "to", 0), (uint64_t)end_of(item, "to", 1), string(item, "state"));
	return lines_text(lines);
}

static bool is_vertex(const json_t *graph, wait_row row, uint64_t t_ns)
{
	char name[16];
	const json_t *times;

	snprintf(name, sizeof(name), "%u", row);
	times = json_object_get(json_object_get(graph, "workers"), name);
	for (size_t i = 0; i < json_array_size(times); i++)
		if ((uint64_t)json_integer_value(json_array_get(times, i)) == t_ns)
			return true;
	return false;
}

/* Links that take no time: through the path's own row, where one of its edges ends and the next starts. */
static void add_jumps(GPtrArray *lines, const json_t *graph, wait_row start, wait_row from, wait_row to, uint64_t t_ns)
{
	if (from == to)
		return;
	if (from != start && to != start && is_vertex(graph, start, t_ns)) {
		add_link(lines, from, t_ns, start, t_ns, "DEFAULT");
		from = start;
	}
	add_link(lines, from, t_ns, to, t_ns, "DEFAULT");
}

static char *path_text(const struct read_graph *r, const json_t *graph, wait_row start)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	struct wait_path p;
	wait_row at = start;

	wait_path_init(&p);
	wait_path_resolve(r->g, r->rows[start], 0, UINT64_MAX, &p);
	for (uint32_t i = 0; i < p.n; i++) {
		const struct wait_segment *s = &p.segments[i];

		if (s->wire || s->fill == WAIT_FILL_ACROSS) {
			wait_row from = s->link ? s->from : at;

			add_jumps(lines, graph, start, at, from, s->begin_ns);
			add_link(lines, from, s->begin_ns, s->row, s->end_ns, s->wire ? "NETWORK" : "DEFAULT");
		} else {
			add_jumps(lines, graph, start, at, s->row, s->begin_ns);
			add_edge(lines, s->row, s->begin_ns, s->end_ns,
				 s->fill == WAIT_FILL_STITCH ? "DEFAULT"
				 : s->fill                   ? "UNKNOWN"
							     : state_names[s->state],
				 s->cause.name);
		}
		at = s->row;
	}
	wait_path_release(&p);
	return lines_text(lines);
}

START_TEST(test_cases)
{
	const char *shared = getenv("SHARED");

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char *file = g_strdup_printf("%s/conformance/cpgraph_%s/expected.json", shared, cases[i]);
		json_error_t error;
		json_t *root = json_load_file(file, 0, &error);
		const json_t *graph = json_object_get(root, "graph");
		wait_row start = (wait_row)json_integer_value(json_object_get(root, "start_worker"));
		struct read_graph r;
		char *got, *want;

		ck_assert_msg(root, "%s: %s", file, error.text);
		r = read_graph(graph);
		got = path_text(&r, graph, start);
		want = expected_text(json_object_get(root, "critical_path"));
		ck_assert_msg(!strcmp(got, want), "%s: got\n%s\nwant\n%s", cases[i], got, want);
		ck_assert(strstr(want, "edge"));
		graph_destroy(r.g);
		json_decref(root);
		g_free(got);
		g_free(want);
		g_free(file);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { test_cases };

	if (!getenv("SHARED")) {
		printf("skip check_waits_cases: no directory of conformance cases\n");
		return 77;
	}
	return unit_run("waits_cases", NULL, NULL, tests, 1);
}
