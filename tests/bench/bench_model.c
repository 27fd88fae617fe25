/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model alone: a recording's records are first read into memory, then applied in frames of one second as in the
 * monitor, in turn with and without the figures that can be omitted and concern most events, and read again without
 * being kept; then once with a history of these frames. Times are those of CPUs, the least of the rounds. Prints
 * `name value unit`.
 *
 *	LTTNGTOP=build/lttngtop bench_model DIRECTORY [ROUNDS]
 */
#include <glib.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/error.h"
#include "history/history.h"
#include "model/model.h"
#include "source/source.h"

/* CPU seconds of this process and of its children that have ended. */
static double used_s(void)
{
	double s = 0;
	struct rusage u;

	for (int who = 0; who < 2; who++) {
		getrusage(who ? RUSAGE_CHILDREN : RUSAGE_SELF, &u);
		s += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		     (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
	}
	return s;
}

G_GNUC_NORETURN static void die(void)
{
	fprintf(stderr, "bench_model: %s\n", error_text());
	exit(1);
}

/* What CPUs run at first starts with the record, as in an ingest: without a time of its own. */
static void append(GByteArray *records, const struct event *ev)
{
	const guint at = records->len;

	g_byte_array_append(records, (const guint8 *)ev, ev->size);
	if (ev->kind == EVENT_CPU_START)
		((struct event *)(void *)(records->data + at))->ts_ns = 0;
}

/* Reads all records of the directory's first recording, and appends them to a list unless it is NULL. */
static void read_all(const char *directory, GByteArray *records)
{
	GPtrArray *specs = g_ptr_array_new();
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
		if (records)
			append(records, ev);
		source_next(source);
	}
	source_stop(source);
	source_wait_for_workers();
	source_spec_free(g_ptr_array_index(specs, 0));
	g_ptr_array_free(specs, TRUE);
}

/* Without keeping the records, as an ingest does not keep them either. */
static double read_s(const char *directory)
{
	const double begin_s = used_s();

	read_all(directory, NULL);
	return used_s() - begin_s;
}

/* The memory that the frames of a recording take. */
struct kept {
	struct history *history;
	uint64_t active; /* threads with any event, over all frames */
	size_t rows_max; /* bytes of the model's rows at the end of a frame */
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

static uint64_t apply(const GByteArray *records, bool extras, struct kept *kept)
{
	enum {
		FRAME_NS = 1000000000,
		EXTRAS = 1 << TABLE_PREEMPTION | 1 << TABLE_CONNECTION | 1 << TABLE_PRESSURE,
	};
	struct model *m = model_create();
	struct host_state *s = model_state(m);
	uint64_t events = 0, begin_ns = 0, end_ns = 0;

	if (!extras) {
		model_set_figures(m, MODEL_ALL_FIGURES & ~EXTRAS);
		model_set_buckets(m, 0);
	}

	for (guint at = 0; at < records->len;) {
		const struct event *ev = (const struct event *)(const void *)(records->data + at);

		if (ev->ts_ns && !begin_ns)
			model_begin(m, ev->ts_ns);
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
	apply(records, true, &kept);
	printf("history_thread_second %.1f bytes\n", (double)history_bytes(kept.history) / (double)MAX(kept.active, 1));
	printf("model_rows %.1f MB\n", (double)kept.rows_max / 1e6);
	history_destroy(kept.history);
}

static double apply_s(const GByteArray *records, bool extras, uint64_t *events)
{
	const double begin_s = used_s();

	*events = apply(records, extras, NULL);
	return used_s() - begin_s;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 5;
	double all_s = INFINITY, without_s = INFINITY, reading_s = INFINITY;
	GByteArray *records = g_byte_array_new();
	uint64_t events = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: LTTNGTOP=PROGRAM bench_model DIRECTORY [ROUNDS]\n");
		return 2;
	}
	source_set_worker_program(getenv("LTTNGTOP"));
	read_all(argv[1], records);
	for (int i = 0; i < rounds; i++) {
		reading_s = fmin(reading_s, read_s(argv[1]));
		all_s = fmin(all_s, apply_s(records, true, &events));
		without_s = fmin(without_s, apply_s(records, false, &events));
	}
	printf("model_alone %.2f Mevents/s\n", (double)events / all_s / 1e6);
	printf("model_extras %.1f %% more than without buckets, preemption, connections, pressure\n",
	       100 * (all_s / without_s - 1));
	printf("ingest_extras %.1f %% more than reading, decoding and the model without them\n",
	       100 * (all_s - without_s) / (reading_s + without_s));
	printf("record_size %.1f bytes/record\n", (double)records->len / (double)MAX(events, 1));
	print_history(records);
	g_byte_array_unref(records);
	return 0;
}
