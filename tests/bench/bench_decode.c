/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decoding alone: the native reader writes a recording's records into a ring that another thread empties without
 * looking at them. Counts the CPU time of the reader's thread. Prints `name value unit`.
 *
 *	bench_decode DIRECTORY [ROUNDS]
 */
#include <glib.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "reader/native/native.h"
#include "source/source.h"

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

G_GNUC_NORETURN static void die(void)
{
	fprintf(stderr, "bench_decode: %s\n", error_text());
	exit(1);
}

/* In this time, less is decoded than a ring can hold. */
enum { NAP_US = 200 };

static atomic_bool done;
static uint64_t events;

/* Counts by kind only. */
static gpointer drain(gpointer data)
{
	struct ring_consumer *ring = data;
	const struct event *ev;
	const char *wrong;

	events = 0;
	for (;;) {
		const bool was_done = atomic_load(&done);
		const enum lt_status status = ring_peek(ring, &ev, &wrong);

		if (status == LT_OK) {
			events += ev->kind >= EVENT_OTHER;
			ring_next(ring);
		} else if (was_done || status == LT_ERROR) {
			return NULL;
		} else {
			g_usleep(NAP_US);
		}
	}
}

static double decode(const struct source_spec *spec)
{
	const char **paths = g_new0(const char *, spec->paths->len + 1);
	struct reader_args args = { .name = "bench", .paths = paths, .parts = 1, .end_ns = UINT64_MAX };
	struct ring_consumer consumer;
	struct ring_producer producer;
	struct reader *reader;
	double seconds = cpu_s();
	GThread *thread;

	for (guint i = 0; i < spec->paths->len; i++)
		paths[i] = g_ptr_array_index(spec->paths, i);
	if (ring_create(&consumer, RING_CAPACITY) != LT_OK ||
	    ring_producer_open(&producer, (struct ring_fds){ consumer.fds.memory, consumer.producer_wake }) != LT_OK ||
	    reader_native.open(&args, &producer, &reader) != LT_OK)
		die();
	atomic_store(&done, false);
	thread = g_thread_new("drain", drain, &consumer);
	while (reader_step(reader) == LT_OK)
		;
	ring_publish(&producer);
	seconds = cpu_s() - seconds;
	atomic_store(&done, true);
	g_thread_join(thread);
	reader_close(reader);
	g_free(paths);
	return seconds;
}

int main(int argc, char **argv)
{
	GPtrArray *specs = g_ptr_array_new();
	const int rounds = argc > 2 ? atoi(argv[2]) : 5;
	double best = 0;

	if (argc < 2 || source_find(argv[1], specs, NULL) != LT_OK)
		die();
	for (int i = 0; i < rounds; i++) {
		const double seconds = decode(g_ptr_array_index(specs, 0));

		best = i == 0 || seconds < best ? seconds : best;
	}
	printf("decode_alone %.1f million events per CPU second\n", (double)events / best / 1e6);
	return 0;
}
