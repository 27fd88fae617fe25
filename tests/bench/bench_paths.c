/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wake-up graph and the critical path of every thread, starting from the wait
 * events, without reading and decoding: the part that tests/bench/reference_paths.py also times. Prints
 * `name value unit`.
 *
 *	LTTNGTOP=build/lttngtop bench_paths DIRECTORY
 */
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "ingest/ingest.h"
#include "source/source.h"
#include "waits/waits.h"

enum { ROUNDS = 5, HOSTS_MAX = 16, PIECE = 8192 };

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Every host's wait events, as its model logs them. */
static unsigned read_logs(const char *directory, struct wait_log logs[HOSTS_MAX])
{
	const struct ingest_options options = { 0 };
	struct ingest *in = ingest_create(&options);
	unsigned n;

	if (ingest_open(in, directory) != LT_OK || ingest_start(in, NULL) != LT_OK) {
		fprintf(stderr, "bench_paths: %s\n", error_text());
		exit(1);
	}
	n = MIN(ingest_host_count(in), HOSTS_MAX);
	for (unsigned i = 0; i < n; i++) {
		struct host_state *state = model_state(ingest_host(in, i)->model);

		wait_log_init(&logs[i]);
		model_set_wait_log(ingest_host(in, i)->model, &logs[i]);
		for (uint64_t t_ns = ingest_begin_ns(in); ingest_advance_wait(in, i, t_ns, NULL) == LT_OK;
		     t_ns += 1000000000) {
			state_reap(state, NULL, NULL);
			state_frame_begin(state);
		}
	}
	ingest_destroy(in);
	return n;
}

/* Takes a host's events from events[*at] on, in pieces as ingest does; false: there are no more. */
static bool take_piece(struct waits *w, unsigned host, const struct wait_log *all, uint32_t *at)
{
	struct wait_log piece = {
		.events = all->events + *at,
		.n_events = MIN(all->n_events - *at, (uint32_t)PIECE),
		.packets = all->packets,
		.n_packets = all->n_packets,
	};

	*at += piece.n_events;
	waits_take(w, host, &piece);
	waits_watermark(w, host, *at < all->n_events ? all->events[*at].ts_ns : UINT64_MAX);
	return *at < all->n_events;
}

static double all_paths_s(const struct wait_log *logs, unsigned n, uint64_t *segments)
{
	const struct waits_options options = { .memory_bytes = SIZE_MAX };
	const double begin_s = now_s();
	struct waits *w = waits_create(&options);
	uint32_t at[HOSTS_MAX] = { 0 };
	struct wait_path path;
	bool more = true;
	double seconds;

	for (unsigned i = 0; i < n; i++)
		waits_add_host(w, NULL);
	while (more) {
		more = false;
		for (unsigned i = 0; i < n; i++)
			more |= at[i] < logs[i].n_events && take_piece(w, i, &logs[i], &at[i]);
		waits_run(w);
	}
	wait_path_init(&path);
	*segments = 0;
	for (wait_row row = WAIT_NO_ROW; (row = waits_next(w, row)) != WAIT_NO_ROW;) {
		waits_path(w, row, 0, UINT64_MAX - 1, &path);
		*segments += path.n;
	}
	seconds = now_s() - begin_s;
	wait_path_release(&path);
	waits_destroy(w);
	return seconds;
}

int main(int argc, char **argv)
{
	struct wait_log logs[HOSTS_MAX];
	double best_s = 1e9;
	uint64_t segments;
	unsigned n;

	if (argc < 2)
		return 2;
	source_set_worker_program(getenv("LTTNGTOP"));
	n = read_logs(argv[1], logs);
	for (unsigned r = 0; r < ROUNDS; r++)
		best_s = fmin(best_s, all_paths_s(logs, n, &segments));
	printf("waits_all_paths %.2f ms, the graph and every thread's path\n", best_s * 1000);
	fprintf(stderr, "bench_paths: %ju segments\n", (uintmax_t)segments);
	for (unsigned i = 0; i < n; i++)
		wait_log_release(&logs[i]);
	return 0;
}
