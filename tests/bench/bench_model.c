/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model alone: a recording's records are first read into memory, then
 * applied in frames of one second as the monitor does. Prints `name value unit`.
 *
 *	LTTNGTOP=build/lttngtop bench_model DIRECTORY [ROUNDS]
 */
#include <glib.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "model/model.h"
#include "source/source.h"

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(void)
{
	fprintf(stderr, "bench_model: %s\n", error_text());
	exit(1);
}

/* All records of the directory's first recording, one behind the other. */
static GByteArray *load(const char *directory)
{
	GPtrArray *specs = g_ptr_array_new();
	GByteArray *records = g_byte_array_new();
	struct source *source;
	const struct event *ev;

	if (source_find(directory, specs, NULL) != LT_OK ||
	    source_start(g_ptr_array_index(specs, 0), 0, 1, &source) != LT_OK)
		die();
	for (;;) {
		enum lt_status status = source_peek(source, &ev);

		if (status == LT_AGAIN) {
			struct pollfd fd = { .fd = source_fd(source), .events = POLLIN };

			poll(&fd, 1, 1000);
			continue;
		}
		if (status == LT_ERROR)
			die();
		if (status == LT_END)
			break;
		g_byte_array_append(records, (const guint8 *)ev, ev->size);
		source_next(source);
	}
	source_stop(source);
	source_spec_free(g_ptr_array_index(specs, 0));
	g_ptr_array_free(specs, TRUE);
	return records;
}

static uint64_t apply(const GByteArray *records)
{
	enum { FRAME_NS = 1000000000 };
	struct model *m = model_create();
	struct host_state *s = model_state(m);
	uint64_t events = 0, frame_end_ns = 0;

	for (guint at = 0; at < records->len;) {
		const struct event *ev = (const struct event *)(const void *)(records->data + at);

		if (ev->ts_ns && ev->ts_ns >= frame_end_ns) {
			state_reap(s, NULL, NULL);
			state_frame_begin(s);
			frame_end_ns = ev->ts_ns + FRAME_NS;
		}
		model_apply(m, 0, ev);
		events += ev->kind >= EVENT_OTHER;
		at += ev->size;
	}
	model_destroy(m);
	return events;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 5;
	GByteArray *records;
	double best = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: LTTNGTOP=PROGRAM bench_model DIRECTORY [ROUNDS]\n");
		return 2;
	}
	source_set_worker_program(getenv("LTTNGTOP"));
	records = load(argv[1]);
	for (int i = 0; i < rounds; i++) {
		double begin = now_s();
		uint64_t events = apply(records);

		best = MAX(best, (double)events / (now_s() - begin));
	}
	printf("model_alone %.2f Mevents/s\n", best / 1e6);
	printf("record_size %.1f bytes/record\n", (double)records->len / (double)MAX(apply(records), 1));
	g_byte_array_unref(records);
	return 0;
}
