/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "graphs.h"
#include "unit.h"

/*
 * Graphs as text: each row is "TIME STATE TIME STATE … TIME", where the states
 * are those of letters[], 'i' is a wait for work and '.' a gap; links are
 * "ROW@TIME ROW@TIME KIND", KIND being one of W, F, N, and T for a packet's transit alone.
 * Paths as text: "ROW:STATE BEGIN-END", preceded by the link that leads to it ("W1>"), and followed by '~' for a
 * packet in transit, "?f", "?s" or "?a" for a fill, '!' for a segment that starts where the graph does.
 */
static const char letters[WAIT_STATES + 1] = "RPITDNUXB?";
static const char link_letters[] = "-WFN-T";

enum { ROWS_MAX = 8, EVENTS_MAX = 256 };

struct built {
	struct wait_graph *g;
	wait_row rows[ROWS_MAX];
};

struct graph_event {
	uint64_t t_ns, from_ns;
	int row, from;
	int state; /* -1: gap; -2: link; -3: a wait for work */
	enum wait_link link;
};

static int in_time(const void *a, const void *b)
{
	const struct graph_event *x = a, *y = b;

	if (x->t_ns != y->t_ns)
		return x->t_ns < y->t_ns ? -1 : 1;
	return (x->state == -2) - (y->state == -2); /* links after the vertices they need */
}

static int index_of(const char *set, char c)
{
	const char *at = strchr(set, c);

	ck_assert_msg(at && c, "no '%c' in \"%s\"", c, set);
	return (int)(at - set);
}

static unsigned parse_row(const char *text, int row, struct graph_event *events)
{
	char *copy = g_strdup(text), **words = g_strsplit(copy, " ", -1);
	unsigned n = 0;

	for (unsigned i = 0; words[i]; i += 2) {
		struct graph_event *e = &events[n++];

		*e = (struct graph_event){ .row = row, .t_ns = g_ascii_strtoull(words[i], NULL, 10), .state = -1 };
		if (i && words[i - 1][0] == 'i')
			e->state = -3;
		else if (i && words[i - 1][0] != '.')
			e->state = index_of(letters, words[i - 1][0]);
		if (!words[i + 1])
			break;
	}
	g_strfreev(words);
	g_free(copy);
	return n;
}

static void build_events(struct built *b, struct graph_event *events, unsigned n, unsigned n_rows)
{
	for (unsigned row = 0; row < n_rows; row++)
		b->rows[row] = graph_row_add(b->g);
	qsort(events, n, sizeof(*events), in_time);
	for (unsigned i = 0; i < n; i++) {
		struct graph_event *e = &events[i];

		if (e->state == -2)
			graph_link(b->g, b->rows[e->from], e->from_ns, b->rows[e->row], e->t_ns, e->link);
		else if (e->state == -1)
			graph_gap(b->g, b->rows[e->row], e->t_ns);
		else if (e->state == -3 && graph_vertex(b->g, b->rows[e->row], e->t_ns, WAIT_BLOCKED, NULL))
			graph_idle(b->g, b->rows[e->row], e->t_ns, e->t_ns, NULL);
		else
			ck_assert(graph_vertex(b->g, b->rows[e->row], e->t_ns, e->state, NULL));
	}
}

static struct built build(const char *const rows[], const char *const links[])
{
	struct built b = { .g = graph_create(0, 0) };
	struct graph_event events[EVENTS_MAX];
	unsigned n = 0, n_rows = 0;

	for (; rows[n_rows]; n_rows++)
		n += parse_row(rows[n_rows], (int)n_rows, events + n);
	for (unsigned i = 0; links[i]; i++) {
		struct graph_event *e = &events[n++];
		unsigned long long from_ns, to_ns;
		char kind;

		ck_assert_int_eq(sscanf(links[i], "%d@%llu %d@%llu %c", &e->from, &from_ns, &e->row, &to_ns, &kind), 5);
		e->from_ns = from_ns;
		e->t_ns = to_ns;
		e->state = -2;
		e->link = index_of(link_letters, kind);
	}
	build_events(&b, events, n, n_rows);
	graph_advance(b.g, events[n - 1].t_ns);
	return b;
}

static char *path_text(const struct wait_path *p)
{
	GString *s = g_string_new(NULL);

	for (uint32_t i = 0; i < p->n; i++) {
		const struct wait_segment *q = &p->segments[i];

		g_string_append_printf(s, "%s", i ? " " : "");
		if (q->link)
			g_string_append_printf(s, "%c%d>", link_letters[q->link], (int)q->from);
		g_string_append_printf(s, "%u:%c%ju-%ju", q->row, letters[q->state], (uintmax_t)q->begin_ns,
				       (uintmax_t)q->end_ns);
		g_string_append_printf(s, "%s%s%s", q->wire ? "~" : "",
				       (const char *[]){ "", "?f", "?s", "?a" }[q->fill], q->cut ? "!" : "");
	}
	return g_string_free(s, FALSE);
}

static void check_path(struct built *b, unsigned row, uint64_t begin_ns, uint64_t end_ns, const char *want)
{
	struct wait_path path;
	char *text;

	wait_path_init(&path);
	wait_path_resolve(b->g, b->rows[row], begin_ns, end_ns, &path);
	text = path_text(&path);
	ck_assert_str_eq(text, want);
	ck_assert(!path.partial);
	g_free(text);
	wait_path_release(&path);
}

#define ROWS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define LINKS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define NO_LINKS ((const char *const[]){ NULL })

/* Checks the complete path of row 0. */
static void check_whole(const char *const rows[], const char *const links[], const char *want)
{
	struct built b = build(rows, links);

	check_path(&b, 0, 0, UINT64_MAX, want);
	graph_destroy(b.g);
}

/* States that explain themselves, waits without explanation, gaps, neighbours that are merged. */
START_TEST(test_own_edges)
{
	check_whole(ROWS("10 R 20 P 30 T 40 D 50 I 60 U 70 X 80 ? 90"), NO_LINKS,
		    "0:R10-20 0:P20-30 0:T30-40 0:D40-50 0:I50-60 0:U60-70 0:X70-80 0:?80-90");
	check_whole(ROWS("10 R 20 B 30 R 40 N 50 R 60"), NO_LINKS, "0:R10-20 0:B20-30 0:R30-40 0:N40-50 0:R50-60");
	check_whole(ROWS("10 R 20 R 30 . 40 R 50"), NO_LINKS, "0:R10-30 0:?30-40 0:R40-50");
	check_whole(ROWS("10"), NO_LINKS, "");
}
END_TEST

/* A waker, its own waits, and the waits of their wakers; links start within edges. */
START_TEST(test_chain)
{
	check_whole(ROWS("10 R 20 B 60 P 70 R 80", "0 R 90"), LINKS("1@60 0@60 W"),
		    "0:R10-20 1:R20-60 W1>0:P60-70 0:R70-80");
	check_whole(ROWS("10 R 20 B 60 R 80", "0 R 30 B 50 P 55 R 90", "0 R 90"), LINKS("1@60 0@60 W", "2@50 1@50 W"),
		    "0:R10-20 1:R20-30 2:R30-50 W2>1:P50-55 1:R55-60 W1>0:R60-80");
	/* a wait within a wait, started earlier: cut at the start of the outer one */
	check_whole(ROWS("10 R 40 B 60 R 80", "0 R 30 B 50 P 55 R 90", "0 R 90"), LINKS("1@60 0@60 W", "2@50 1@50 W"),
		    "0:R10-40 2:R40-50 W2>1:P50-55 1:R55-60 W1>0:R60-80");
	/* a thread created during the wait: its creator, by a fork */
	check_whole(ROWS("10 R 20 B 60 R 80", "40 P 45 R 90", "0 R 90"), LINKS("1@60 0@60 W", "2@40 1@40 F"),
		    "0:R10-20 2:R20-40 F2>1:P40-45 1:R45-60 W1>0:R60-80");
	/* a packet that it sent itself */
	check_whole(ROWS("10 R 20 B 60 R 80"), LINKS("0@15 0@60 N"), "0:R10-20 N0>0:N20-60 0:R60-80");
}
END_TEST

/* Unknown parts on the way. */
START_TEST(test_fills)
{
	/* the waker has no past */
	check_whole(ROWS("10 R 20 B 60 R 80", "40 R 90"), LINKS("1@60 0@60 W"),
		    "0:R10-20 1:?20-40?f 1:R40-60 W1>0:R60-80");
	/* its wait is unexplained: as the first piece, and in the middle */
	check_whole(ROWS("10 R 20 B 60 R 80", "0 B 40 R 90"), LINKS("1@60 0@60 W"),
		    "0:R10-20 1:B20-40?f 1:R40-60 W1>0:R60-80");
	check_whole(ROWS("10 R 20 B 60 R 80", "0 R 30 B 40 R 90"), LINKS("1@60 0@60 W"),
		    "0:R10-20 1:R20-30 1:B30-40?s 1:R40-60 W1>0:R60-80");
	/* a packet without a sender does not explain a network wait, which stays as it is */
	check_whole(ROWS("10 R 20 B 60 R 80", "0 R 30 N 40 R 90"), LINKS("1@60 0@60 W"),
		    "0:R10-20 1:R20-30 1:N30-40 1:R40-60 W1>0:R60-80");
	/* the waker's waker has no past */
	check_whole(ROWS("10 R 20 B 60 R 80", "0 R 30 B 50 R 90", "45 R 90"), LINKS("1@60 0@60 W", "2@50 1@50 W"),
		    "0:R10-20 1:R20-30 2:?30-45?a 2:R45-50 W2>1:R50-60 W1>0:R60-80");
	/* a wake-up takes no time: what happened in between is unknown */
	check_whole(ROWS("10 R 20 B 60 R 80", "0 R 15"), LINKS("1@15 0@60 W"), "0:R10-20 W1>0:?20-60?a 0:R60-80");
	/* an unexplained wait before one whose explanation started earlier */
	check_whole(ROWS("10 R 20 B 60 R 80", "0 R 30 B 40 B 50 R 90", "0 R 90"), LINKS("1@60 0@60 W", "2@50 1@50 W"),
		    "0:R10-20 1:R20-30 1:B30-40?s 2:R40-50 W2>1:R50-60 W1>0:R60-80");
}
END_TEST

/* Packets: time in transit; a packet older than the wait; going back to a packet when a row's past ends. */
START_TEST(test_packets)
{
	check_whole(ROWS("10 R 20 B 60 R 80", "0 R 90"), LINKS("1@50 0@60 N"),
		    "0:R10-20 1:R20-50 N1>0:N50-60~ 0:R60-80");
	/* request and reply: 1 has worked since the request came, which was sent before 0 waited */
	check_whole(ROWS("10 R 20 N 60 R 80", "0 R 25 R 90"), LINKS("0@15 1@25 N", "1@55 0@60 N"),
		    "0:R10-20 N0>1:N20-25~ 1:R25-55 N1>0:N55-60~ 0:R60-80");
	/* the same, received while it worked: sent during the wait, it explains nothing */
	check_whole(ROWS("10 R 20 N 60 R 80", "0 R 35 R 90", "0 R 90"), LINKS("2@30 1@35 N", "1@55 0@60 N"),
		    "0:R10-20 1:R20-55 N1>0:N55-60~ 0:R60-80");
	/* but it does if nothing is known before it, although something is known after it */
	check_whole(ROWS("10 R 20 N 60 R 80", "33 R 35 R 40 R 90", "0 R 90"), LINKS("2@30 1@35 N", "1@55 0@60 N"),
		    "0:R10-20 2:R20-30 N2>1:N30-35~ 1:R35-55 N1>0:N55-60~ 0:R60-80");
	/* a row of packets has gaps */
	check_whole(ROWS("10 R 20 N 60 R 80", "5 R 6 . 50 R 52 R 60", "0 R 90"), LINKS("2@40 1@52 N", "1@60 0@60 N"),
		    "0:R10-20 2:R20-40 N2>1:N40-52~ 1:R52-60 N1>0:R60-80");
	/* within a row, nothing is in transit */
	check_whole(ROWS("10 R 20 N 60 R 80"), LINKS("0@15 0@60 N"), "0:R10-20 N0>0:N20-60 0:R60-80");
	/* sent by a thread that waits for an unknown reason */
	check_whole(ROWS("10 R 20 N 60 R 80", "0 B 90"), LINKS("1@50 0@60 N"),
		    "0:R10-20 1:B20-50?f N1>0:N50-60~ 0:R60-80");
}
END_TEST

/* A packet's transit: its sender explains nothing before it, but what the receiver itself did. */
START_TEST(test_transits)
{
	check_whole(ROWS("10 R 20 N 60 R 80", "0 R 90"), LINKS("1@50 0@60 T"),
		    "0:R10-20 0:N20-50 N1>0:N50-60~ 0:R60-80");
	check_whole(ROWS("10 R 20 N 60 R 80", "0 R 90"), LINKS("1@20 0@60 T"), "0:R10-20 N1>0:N20-60~ 0:R60-80");
	/* met on the way, and before the wait */
	check_whole(ROWS("10 R 20 B 60 R 80", "0 R 30 N 50 R 90", "0 R 90"), LINKS("1@60 0@60 W", "2@40 1@50 T"),
		    "0:R10-20 1:R20-30 1:N30-40 N2>1:N40-50~ 1:R50-60 W1>0:R60-80");
	check_whole(ROWS("10 R 35 B 60 R 80", "0 R 30 N 50 R 90", "0 R 90"), LINKS("1@60 0@60 W", "2@40 1@50 T"),
		    "0:R10-35 1:N35-40 N2>1:N40-50~ 1:R50-60 W1>0:R60-80");
	check_whole(ROWS("10 R 45 B 60 R 80", "0 R 30 N 50 R 90", "0 R 90"), LINKS("1@60 0@60 W", "2@40 1@50 T"),
		    "0:R10-45 N2>1:N45-50~ 1:R50-60 W1>0:R60-80");
	/* of a row's own packet, nothing is in transit */
	check_whole(ROWS("10 R 20 N 60 R 80"), LINKS("0@30 0@60 T"), "0:R10-20 0:N20-30 N0>0:N30-60 0:R60-80");
}
END_TEST

/*
 * A worker without work explains nothing about the time before it got some: its waker does, through all its own waits;
 * or nothing does, if an interrupt woke it.
 */
START_TEST(test_idle_workers)
{
	/* what the worker did before, 15-40, was not for row 0 */
	check_whole(ROWS("10 R 20 B 60 R 80", "0 R 15 i 25 R 40 i 50 R 90", "0 R 90", "0 R 90"),
		    LINKS("1@60 0@60 W", "2@25 1@25 W", "3@50 1@50 W"), "0:R10-20 3:R20-50 W3>1:R50-60 W1>0:R60-80");
	/* woken by an interrupt: the wait stays as it is */
	check_whole(ROWS("10 R 20 B 60 R 80", "0 R 25 T 30 R 40 i 50 P 55 R 90"), LINKS("1@60 0@60 W"),
		    "0:R10-20 0:B20-50 1:P50-55 1:R55-60 W1>0:R60-80");
	/* the thread that gave the work waited for another worker: that wait stays its own */
	check_whole(ROWS("10 R 20 B 60 R 80", "0 R 5 i 50 R 90", "0 R 30 B 45 R 90", "0 R 5 i 40 R 90"),
		    LINKS("1@60 0@60 W", "2@50 1@50 W", "3@45 2@45 W"),
		    "0:R10-20 2:R20-30 2:B30-40 3:R40-45 W3>2:R45-50 W2>1:R50-60 W1>0:R60-80");
	/* work that came as a packet */
	check_whole(ROWS("10 R 20 B 60 R 80", "0 R 15 i 50 R 90", "0 R 90"), LINKS("1@60 0@60 W", "2@35 1@50 N"),
		    "0:R10-20 2:R20-35 N2>1:N35-50~ 1:R50-60 W1>0:R60-80");
	/* it had its work before the wait: only from then on, or for the whole wait */
	check_whole(ROWS("10 R 20 B 60 R 80", "0 R 5 i 15 R 90", "0 R 90"), LINKS("1@60 0@60 W", "2@15 1@15 W"),
		    "0:R10-20 1:R20-60 W1>0:R60-80");
	/* its own path: the thread that gave it work; with an interrupt, nothing is known */
	check_whole(ROWS("10 R 20 i 60 R 80", "0 R 90"), LINKS("1@60 0@60 W"), "0:R10-20 1:R20-60 W1>0:R60-80");
	check_whole(ROWS("10 R 20 i 60 R 80"), NO_LINKS, "0:R10-20 0:B20-60 0:R60-80");
}
END_TEST

/* Windows cut the complete path; a window's first segment has no link, unless it is a packet. */
START_TEST(test_windows)
{
	struct built b = build(ROWS("10 R 20 B 60 R 80", "0 R 30 B 50 P 55 R 90", "0 R 90"),
			       LINKS("1@60 0@60 W", "2@50 1@50 W"));

	check_path(&b, 0, 25, 52, "1:R25-30 2:R30-50 W2>1:P50-52");
	check_path(&b, 0, 50, 60, "1:P50-55 1:R55-60");
	check_path(&b, 0, 60, 61, "0:R60-61");
	check_path(&b, 0, 0, 10, "");
	check_path(&b, 0, 80, 100, "");
	check_path(&b, 0, 30, 30, "");
	check_path(&b, 1, 20, 52, "1:R20-30 2:R30-50 W2>1:P50-52");
	graph_destroy(b.g);
	b = build(ROWS("10 R 20 N 60 R 80", "0 R 50 R 90"), LINKS("1@50 0@60 N"));
	check_path(&b, 0, 45, 70, "1:R45-50 N1>0:N50-60~ 0:R60-70");
	check_path(&b, 0, 50, 70, "N1>0:N50-60~ 0:R60-70");
	check_path(&b, 0, 55, 57, "N1>0:N55-57~");
	graph_destroy(b.g);
}
END_TEST

/* A window with unknown ends is as long as was asked for, whether something of it is known or nothing. */
START_TEST(test_filled_windows)
{
	static const struct {
		uint64_t begin_ns, end_ns;
		const char *want;
	} cases[] = {
		{ 5, 30, "0:?5-10 0:R10-20 0:B20-30" },
		{ 15, 90, "0:R15-20 0:B20-60 0:R60-80 0:?80-90" },
		{ 0, 90, "0:?0-10 0:R10-20 0:B20-60 0:R60-80 0:?80-90" },
		{ 15, 25, "0:R15-20 0:B20-25" },
		{ 0, 10, "0:?0-10" },
		{ 0, 5, "0:?0-5" },
		{ 80, 90, "0:?80-90" },
		{ 85, 90, "0:?85-90" },
		{ 30, 30, "" },
	};
	struct built b = build(ROWS("10 R 20 B 60 R 80"), NO_LINKS);
	struct wait_path path;

	wait_path_init(&path);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char *text;

		wait_path_resolve(b.g, b.rows[0], cases[i].begin_ns, cases[i].end_ns, &path);
		wait_path_fill(&path, b.rows[0], cases[i].begin_ns, cases[i].end_ns);
		text = path_text(&path);
		ck_assert_str_eq(text, cases[i].want);
		ck_assert_uint_eq(path.begin_ns, cases[i].begin_ns);
		ck_assert_uint_eq(path.end_ns, cases[i].end_ns);
		g_free(text);
	}
	wait_path_release(&path);
	graph_destroy(b.g);
}
END_TEST

/* After the last vertex: what the row does now, if that is known. */
START_TEST(test_present)
{
	struct built b = build(ROWS("10 R 20", "0 R 20 B 30"), NO_LINKS);
	const struct wait_cause reads = { .call = 7, .fd = 3 };
	struct wait_path path;

	wait_path_init(&path);
	check_path(&b, 0, 0, 50, "0:R10-20");
	graph_present(b.g, b.rows[0], WAIT_BLOCKED, &reads);
	check_path(&b, 0, 0, 50, "0:R10-20 0:B20-50");
	wait_path_resolve(b.g, b.rows[0], 15, 50, &path);
	ck_assert(path.open);
	ck_assert_uint_eq(path.segments[1].cause.call, 7);
	ck_assert_int_eq(path.segments[1].cause.fd, 3);
	wait_path_resolve(b.g, b.rows[0], 15, 20, &path);
	ck_assert(!path.open);
	/* a waker whose edge is open, and known to be running */
	graph_present(b.g, b.rows[1], WAIT_RUNNING, NULL);
	graph_vertex(b.g, b.rows[0], 60, WAIT_BLOCKED, NULL);
	graph_link(b.g, b.rows[1], 60, b.rows[0], 60, WAIT_LINK_WAKEUP);
	graph_present(b.g, b.rows[0], WAIT_PREEMPTED, NULL);
	check_path(&b, 0, 0, 70, "0:R10-20 1:B20-30?f 1:R30-60 W1>0:P60-70");
	wait_path_resolve(b.g, b.rows[0], 15, 70, &path);
	ck_assert(!path.open);
	/* ended by its next vertex */
	graph_vertex(b.g, b.rows[1], 80, WAIT_RUNNING, NULL);
	check_path(&b, 1, 0, 100, "1:R0-20 1:B20-30 1:R30-80");
	check_path(&b, 0, 0, 70, "0:R10-20 1:B20-30?f 1:R30-60 W1>0:P60-70");
	/* a thread that is gone does nothing */
	graph_row_free(b.g, b.rows[0]);
	graph_present(b.g, b.rows[0], WAIT_RUNNING, NULL);
	check_path(&b, 0, 0, 70, "0:R10-20 1:B20-30?f 1:R30-60");
	wait_path_release(&path);
	graph_destroy(b.g);
}
END_TEST

/* Two threads that wake each other in the same instant, and a pipeline too long to be followed. */
START_TEST(test_bounds)
{
	enum { LENGTH = 3000 };
	struct built b = build(ROWS("10 R 20 B 60 R 80", "0 R 15 B 60 R 90"), LINKS("1@60 0@60 W", "0@60 1@60 W"));
	struct wait_graph *g = graph_create(0, 0);
	wait_row rows[LENGTH];
	struct wait_path path;

	wait_path_init(&path);
	wait_path_resolve(b.g, b.rows[0], 0, 80, &path);
	ck_assert(path.partial);
	ck_assert_uint_eq(path.segments[0].begin_ns, 10);
	ck_assert_uint_eq(path.segments[path.n - 1].end_ns, 80);
	graph_destroy(b.g);

	for (int i = 0; i < LENGTH; i++) {
		rows[i] = graph_row_add(g);
		graph_gap(g, rows[i], 10);
	}
	for (int i = 0; i < LENGTH; i++) {
		uint64_t t_ns = 100 + (uint64_t)i;

		graph_vertex(g, rows[i], t_ns, i ? WAIT_BLOCKED : WAIT_RUNNING, NULL);
		if (i)
			graph_link(g, rows[i - 1], t_ns - 1, rows[i], t_ns, WAIT_LINK_NETWORK);
	}
	graph_advance(g, 10000);
	wait_path_resolve(g, rows[500], 0, 10000, &path);
	ck_assert(!path.partial);
	ck_assert_uint_eq(path.n, 501); /* the first's running, 500 packets */
	wait_path_resolve(g, rows[LENGTH - 1], 0, 10000, &path);
	ck_assert(path.partial);
	for (uint32_t i = 1; i < path.n; i++)
		ck_assert_uint_eq(path.segments[i].begin_ns, path.segments[i - 1].end_ns);
	wait_path_release(&path);
	graph_destroy(g);
}
END_TEST

static void check_tiles(const struct wait_path *p)
{
	uint64_t at_ns = p->begin_ns;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct wait_segment *s = &p->segments[i];

		ck_assert_uint_eq(s->begin_ns, at_ns);
		ck_assert_uint_gt(s->end_ns, s->begin_ns);
		ck_assert_uint_lt(s->state, WAIT_STATES);
		ck_assert(!s->wire || (s->state == WAIT_NETWORK && s->link == WAIT_LINK_NETWORK));
		ck_assert(!s->link == (s->from == WAIT_NO_ROW));
		at_ns = s->end_ns;
	}
	ck_assert_uint_eq(at_ns, p->end_ns);
}

/* Rows that are linked to each other at one time: the walk does not go round and round. */
START_TEST(test_cycles)
{
	static const struct {
		const char *const rows[4], *const links[4], *want;
	} cases[] = {
		/* workers that got their work from each other */
		{ { "10 R 20 B 60 R 80", "0 R 15 i 50 R 90", "0 R 15 i 50 R 90" },
		  { "1@60 0@60 W", "2@50 1@50 W", "1@50 2@50 W" },
		  "0:R10-20 2:?20-50?f W2>1:R50-60 W1>0:R60-80" },
		/* threads that do not wait, with something known about them before, which is undone each time */
		{ { "10 R 20 B 60 R 80", "30 R 50 R 90", "30 R 50 R 90" },
		  { "1@60 0@60 W", "2@50 1@50 W", "1@50 2@50 W" },
		  "0:R10-20 2:?20-50?f W2>1:R50-60 W1>0:R60-80" },
		/* the same, with nothing known before */
		{ { "10 R 20 B 60 R 80", "50 R 90", "50 R 90" },
		  { "1@60 0@60 W", "2@50 1@50 W", "1@50 2@50 W" },
		  "0:R10-20 2:?20-50?f W2>1:R50-60 W1>0:R60-80" },
	};
	struct wait_path path;

	wait_path_init(&path);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct built b = build(cases[i].rows, cases[i].links);
		char *text;

		wait_path_resolve(b.g, b.rows[0], 0, UINT64_MAX, &path);
		text = path_text(&path);
		ck_assert_str_eq(text, cases[i].want);
		ck_assert(path.partial);
		ck_assert_uint_eq(resolve_info(b.g).bounded, 1);
		ck_assert_uint_lt(resolve_info(b.g).pieces, 1000);
		g_free(text);
		graph_destroy(b.g);
	}
	wait_path_release(&path);
}
END_TEST

/*
 * Levels of rows whose start is not explained; two links of each row come from the row below it, so that there are
 * 2^LEVELS ways back from the last row added, which is returned.
 */
static wait_row add_levels(struct wait_graph *g, unsigned levels, uint64_t t_ns)
{
	wait_row row = WAIT_NO_ROW, below;

	for (unsigned i = 0; i < levels; i++, t_ns += 10) {
		below = row;
		row = graph_row_add(g);
		graph_gap(g, row, t_ns + 4);
		for (unsigned k = 6; k <= 14; k += k == 6 ? 2 : 6)
			ck_assert(graph_vertex(g, row, t_ns + k, WAIT_RUNNING, NULL));
		for (unsigned k = 6; k <= 8 && i; k += 2)
			graph_link(g, below, t_ns + k / 2 - 1, row, t_ns + k, WAIT_LINK_NETWORK);
	}
	return row;
}

/* What is undone is limited for a path, however many waits it has. */
START_TEST(test_undone)
{
	enum { LEVELS = 24, WAITS = 4, UNDONE_MAX = 1 << 22 };
	struct wait_graph *g = graph_create(0, 0);
	const uint64_t end_ns = WAITS * 1000;
	wait_row waits = graph_row_add(g), runs;
	struct wait_path path;

	graph_gap(g, waits, 0);
	for (uint64_t i = 0; i < WAITS; i++) {
		wait_row last = add_levels(g, LEVELS, i * 1000 + 20);

		ck_assert(graph_vertex(g, waits, i * 1000 + 10, WAIT_RUNNING, NULL));
		ck_assert(graph_vertex(g, waits, i * 1000 + 900, WAIT_NETWORK, NULL));
		graph_link(g, last, 20 + i * 1000 + 10 * LEVELS, waits, i * 1000 + 900, WAIT_LINK_NETWORK);
	}
	runs = graph_row_add(g);
	graph_gap(g, runs, end_ns);
	ck_assert(graph_vertex(g, waits, end_ns + 10, WAIT_RUNNING, NULL));
	ck_assert(graph_vertex(g, waits, end_ns + 90, WAIT_BLOCKED, NULL));
	ck_assert(graph_vertex(g, runs, end_ns + 90, WAIT_RUNNING, NULL));
	graph_link(g, runs, end_ns + 90, waits, end_ns + 90, WAIT_LINK_WAKEUP);
	graph_advance(g, end_ns + 90);
	wait_path_init(&path);
	wait_path_resolve(g, waits, 0, UINT64_MAX, &path);
	ck_assert(path.partial);
	ck_assert_uint_eq(resolve_info(g).bounded, WAITS);
	ck_assert_uint_gt(resolve_info(g).pieces, UNDONE_MAX);
	ck_assert_uint_lt(resolve_info(g).pieces, 2 * UNDONE_MAX);
	/* a wait for which nothing is undone is still explained */
	ck_assert_uint_eq(path.segments[path.n - 1].row, runs);
	/* each path has its own limit */
	wait_path_resolve(g, waits, 0, 1000, &path);
	ck_assert(path.partial);
	ck_assert_uint_gt(resolve_info(g).pieces, 2 * UNDONE_MAX);
	wait_path_release(&path);
	graph_destroy(g);
}
END_TEST

/* Any graph: segments tile the window; each window equals that part of the complete path. */
START_TEST(test_random)
{
	struct wait_path whole, part;

	wait_path_init(&whole);
	wait_path_init(&part);
	for (uint32_t seed = 1; seed <= 60; seed++) {
		struct wait_graph *g = graph_create(0, 0);
		struct sim *s = sim_create(seed, 4 + seed % 13, g, NULL, NULL);

		for (int i = 0; i < 1500; i++)
			sim_step(s);
		graph_advance(g, s->now_ns);
		for (int i = 0; i < 60; i++) {
			wait_row row = s->rows[sim_pick(s, s->n_rows)].in[0];
			uint64_t begin_ns = (uint64_t)sim_pick(s, (int)s->now_ns);
			uint64_t end_ns = begin_ns + (uint64_t)sim_pick(s, 3000);
			uint32_t at = 0;

			end_ns = MIN(end_ns, s->now_ns);

			wait_path_resolve(g, row, 0, s->now_ns, &whole);
			check_tiles(&whole);
			wait_path_resolve(g, row, begin_ns, end_ns, &part);
			check_tiles(&part);
			if (part.n) {
				ck_assert_uint_eq(part.begin_ns, MAX(begin_ns, whole.begin_ns));
				ck_assert_uint_eq(part.end_ns, MIN(end_ns, whole.end_ns));
			}
			for (uint32_t k = 0; k < part.n; k++) {
				const struct wait_segment *p = &part.segments[k], *w;

				while (whole.segments[at].end_ns <= p->begin_ns)
					at++;
				w = &whole.segments[at];
				ck_assert_uint_eq(p->begin_ns, MAX(w->begin_ns, part.begin_ns));
				ck_assert_uint_eq(p->end_ns, MIN(w->end_ns, part.end_ns));
				ck_assert_uint_eq(p->row, w->row);
				ck_assert_uint_eq(p->state, w->state);
				ck_assert_uint_eq(p->link, k || p->wire ? w->link : WAIT_LINK_NONE);
				ck_assert_uint_eq(p->from, k || p->wire ? w->from : WAIT_NO_ROW);
			}
		}
		sim_destroy(s);
		graph_destroy(g);
	}
	wait_path_release(&whole);
	wait_path_release(&part);
}
END_TEST

UNIT_MAIN("waits_path", test_own_edges, test_chain, test_fills, test_packets, test_transits, test_idle_workers,
	  test_windows, test_filled_windows, test_present, test_bounds, test_cycles, test_undone, test_random)
