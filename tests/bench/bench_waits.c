/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of the wake-up graph: a recording is ingested without it, with it, and with
 * 1, 10 and 100 threads followed, in turn; then paths are computed, and its last
 * second is read again. Prints `name value unit`.
 *
 *	LTTNGTOP=build/lttngtop bench_waits DIRECTORY [ROUNDS]
 */
#include <glib.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "ingest/ingest.h"
#include "ingest/window.h"
#include "source/source.h"

enum { ROUNDS = 3, ROUNDS_MAX = 15, QUERIES = 1000, WINDOWS = 5 };

/* The number of threads followed; NO_GRAPH: there is no graph. */
enum { NO_GRAPH = -1 };
static const int cases[] = { NO_GRAPH, 0, 1, 10, 100 };

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

G_GNUC_NORETURN static void die(void)
{
	fprintf(stderr, "bench_waits: %s\n", error_text());
	exit(1);
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The values are sorted. */
static double quantile(double *values, unsigned n, double q)
{
	qsort(values, n, sizeof(*values), compare_doubles);
	return values[MIN((unsigned)(q * n), n - 1)];
}

/* ---- ingest ---- */

/* Follows threads as they appear, until there are n. */
static int follow_more(struct waits *w, int n, int followed)
{
	int seen = 0;

	for (wait_row row = WAIT_NO_ROW; seen < n && (row = waits_next(w, row)) != WAIT_NO_ROW; seen++)
		if (seen >= followed)
			waits_follow(w, row);
	return MAX(seen, followed);
}

/* Reads everything, host by host in steps of 100 ms; returns the seconds it took. The caller owns *out. */
static double ingest_all(const char *directory, int n_followed, struct ingest **out)
{
	static const struct waits_options graph = { 0 };
	const struct ingest_options options = { .waits = n_followed == NO_GRAPH ? NULL : &graph };
	const double begin_s = now_s();
	struct ingest *in = ingest_create(&options);
	bool more = true;
	int followed = 0;

	if (ingest_open(in, directory) != LT_OK || ingest_start(in, NULL) != LT_OK)
		die();
	for (uint64_t until_ns = ingest_begin_ns(in); more; until_ns += 100000000) {
		more = false;
		for (unsigned i = 0; i < ingest_host_count(in); i++)
			more |= ingest_advance_wait(in, i, until_ns, NULL) == LT_OK;
		if (followed < n_followed)
			followed = follow_more(ingest_waits(in), n_followed, followed);
	}
	*out = in;
	return now_s() - begin_s;
}

static void bench_ingest(const char *directory, unsigned rounds)
{
	double seconds[G_N_ELEMENTS(cases)][ROUNDS_MAX];
	struct ingest *in;
	char name[32];

	for (unsigned r = 0; r < rounds; r++) {
		for (unsigned c = 0; c < G_N_ELEMENTS(cases); c++) {
			seconds[c][r] = ingest_all(directory, cases[c], &in);
			ingest_destroy(in);
		}
	}
	for (unsigned c = 1; c < G_N_ELEMENTS(cases); c++) {
		if (cases[c])
			g_snprintf(name, sizeof(name), "waits_follow_%d", cases[c]);
		else
			g_snprintf(name, sizeof(name), "waits_ingest");
		printf("%s %.3f x ingest without the graph\n", name,
		       quantile(seconds[0], rounds, 0.5) / quantile(seconds[c], rounds, 0.5));
	}
}

/* ---- queries ---- */

static uint64_t end_of(struct ingest *in)
{
	uint64_t end_ns = 0;

	for (unsigned i = 0; i < ingest_host_count(in); i++)
		end_ns = MAX(end_ns, clock_to_ref(ingest_host(in, i)->map, ingest_host(in, i)->end_ns));
	return end_ns;
}

/* Any thread, any window: what a key press requests. */
static void bench_queries(struct waits *w, uint64_t begin_ns, uint64_t end_ns)
{
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(wait_row));
	GRand *rand = g_rand_new_with_seed(1);
	double *ms = g_new(double, QUERIES);
	struct wait_path path;

	for (wait_row row = WAIT_NO_ROW; (row = waits_next(w, row)) != WAIT_NO_ROW;)
		g_array_append_val(rows, row);
	wait_path_init(&path);
	for (unsigned i = 0; i < QUERIES; i++) {
		const wait_row row = g_array_index(rows, wait_row, g_rand_int_range(rand, 0, rows->len));
		const uint64_t from_ns = begin_ns + g_rand_double(rand) * (end_ns - begin_ns);
		const uint64_t length_ns = g_rand_double(rand) * (end_ns - from_ns);
		const double asked_s = now_s();

		waits_path(w, row, from_ns, from_ns + length_ns, &path);
		ms[i] = (now_s() - asked_s) * 1000;
	}
	printf("waits_query_p99 %.3f ms\n", quantile(ms, QUERIES, 0.99));
	wait_path_release(&path);
	g_free(ms);
	g_rand_free(rand);
	g_array_free(rows, TRUE);
}

/* ---- windows ---- */

static double window_ms(const struct ingest *in, uint64_t begin_ns, uint64_t end_ns)
{
	const struct window_options options = { .begin_ns = begin_ns, .end_ns = end_ns };
	const double begin_s = now_s();
	struct window *w = window_open(in, &options);
	enum lt_status status;

	if (!w)
		die();
	while ((status = window_run(w, 20000)) == LT_OK || status == LT_AGAIN) {
		struct pollfd fd = { .fd = window_fd(w), .events = POLLIN };

		if (status == LT_AGAIN)
			poll(&fd, 1, 100);
	}
	if (status == LT_ERROR)
		die();
	window_close(w);
	return (now_s() - begin_s) * 1000;
}

int main(int argc, char **argv)
{
	const unsigned rounds = argc > 2 ? MIN(strtoul(argv[2], NULL, 10), ROUNDS_MAX) : ROUNDS;
	struct wait_graph_info graph;
	double ms[WINDOWS], seconds;
	uint64_t begin_ns, end_ns;
	struct ingest *in;

	if (argc < 2 || !rounds)
		return 2;
	source_set_worker_program(getenv("LTTNGTOP"));
	bench_ingest(argv[1], rounds);
	seconds = ingest_all(argv[1], 0, &in);
	printf("waits_whole %.3f s, a recording with its graph\n", seconds);
	begin_ns = clock_to_ref(ingest_host(in, 0)->map, ingest_begin_ns(in));
	end_ns = end_of(in);
	graph = waits_info(ingest_waits(in)).graph;
	printf("waits_memory %.3f MB per s of retention\n",
	       (double)graph.bytes / 1e6 / ((double)graph.retention_ns / 1e9));
	bench_queries(ingest_waits(in), end_ns - MIN(graph.retention_ns, end_ns - begin_ns), end_ns);
	for (unsigned i = 0; i < WINDOWS; i++)
		ms[i] = window_ms(in, end_ns - 1000000000, end_ns);
	printf("window_end %.0f ms, the last second read again\n", quantile(ms, WINDOWS, 0.5));
	ingest_destroy(in);
	return 0;
}
