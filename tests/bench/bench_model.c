/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model alone: a recording's records are first read into memory, then
 * applied in frames of one second as the monitor does; once more with a history of
 * these frames. Prints `name value unit`.
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
#include "history/history.h"
#include "model/model.h"
#include "source/source.h"

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

G_GNUC_NORETURN static void die(void)
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

/* What the frames of a recording take. */
struct kept {
	struct history *history;
	uint64_t active; /* threads that something happened to, over all frames */
	size_t rows_max; /* bytes of the model's rows at a frame's end */
};

static void end_frame(struct host_state *s, struct kept *kept, uint64_t begin_ns, uint64_t end_ns)
{
	if (kept && begin_ns) {
		kept->active += s->tables[TABLE_THREAD].n_dirty;
		kept->rows_max = MAX(kept->rows_max, s->bytes);
		history_append(kept->history, 0, s, begin_ns, end_ns);
		state_extremes_clear_dirty(s);
	}
	state_reap(s, NULL, NULL);
	state_frame_begin(s);
}

static uint64_t apply(const GByteArray *records, struct kept *kept)
{
	enum { FRAME_NS = 1000000000 };
	struct model *m = model_create();
	struct host_state *s = model_state(m);
	uint64_t events = 0, begin_ns = 0, end_ns = 0;

	for (guint at = 0; at < records->len;) {
		const struct event *ev = (const struct event *)(const void *)(records->data + at);

		if (ev->ts_ns && ev->ts_ns >= end_ns) {
			end_frame(s, kept, begin_ns, end_ns);
			begin_ns = ev->ts_ns;
			end_ns = begin_ns + FRAME_NS;
		}
		model_apply(m, 0, ev);
		events += ev->kind >= EVENT_OTHER;
		at += ev->size;
	}
	end_frame(s, kept, begin_ns, end_ns);
	model_destroy(m);
	return events;
}

static void print_history(const GByteArray *records)
{
	struct kept kept = { .history = history_create(SIZE_MAX) };

	history_add_track(kept.history);
	apply(records, &kept);
	printf("history_thread_second %.1f bytes\n", (double)history_bytes(kept.history) / (double)MAX(kept.active, 1));
	printf("model_rows %.1f MB\n", (double)kept.rows_max / 1e6);
	history_destroy(kept.history);
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
		uint64_t events = apply(records, NULL);

		best = MAX(best, (double)events / (now_s() - begin));
	}
	printf("model_alone %.2f Mevents/s\n", best / 1e6);
	printf("record_size %.1f bytes/record\n", (double)records->len / (double)MAX(apply(records, NULL), 1));
	print_history(records);
	g_byte_array_unref(records);
	return 0;
}
