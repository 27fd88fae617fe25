/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frames of a live host that was away: their times, and what ran in them. This program is its worker, too. */
#include "own_worker.h"

#include <glib/gstdio.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "base/nstime.h"
#include "clock/map_build.h"
#include "event/payload.h"
#include "ingest/internal.h"
#include "play/frames.h"
#include "reader/emit.h"

/* Records of the worker, separated by blanks: what happens, and when, in ms. */
#define RECORDS "LTTNGTOP_TEST_RECORDS"

/* The file that the worker waits for before it continues. */
#define GO "LTTNGTOP_TEST_GO"

enum { FRAMES_MAX = 32 };

/* ---- the worker ---- */

static void emit_switch(struct ring_producer *ring, uint64_t ts_ns, int64_t prev_tid, int64_t next_tid)
{
	struct event *ev = emit_begin(ring, EVENT_SCHED_SWITCH, ts_ns, 0);
	struct ev_sched_switch *p = (void *)ev->words;

	ev->cpu = 0;
	ev->present = ~(1u << SWITCH_OFFLINE_UNTIL);
	p->prev_tid = prev_tid;
	p->next_tid = next_tid;
	emit_end(ring, ev);
}

static void emit_record(struct ring_producer *ring, const char *record)
{
	const uint64_t ts_ns = g_ascii_strtoull(record + 1, NULL, 10) * NS_PER_MS;
	struct event *ev;

	switch (record[0]) {
	case 'r': /* a thread runs */
		emit_switch(ring, ts_ns, 0, 7);
		break;
	case 'i': /* the CPU is idle */
		emit_switch(ring, ts_ns, 7, 0);
		break;
	case 'o': /* another event */
		ev = emit_begin(ring, EVENT_OTHER, ts_ns, 0);
		ev->cpu = 0;
		emit_end(ring, ev);
		break;
	case 'f': /* the relayd no longer knows the session */
		ev = emit_begin(ring, EVENT_FAILED, 0, TEXT_MAX);
		((struct ev_failed *)(void *)ev->words)->cause = FAILED_NO_SESSION;
		emit_text(ev, offsetof(struct ev_failed, text), "gone", 4);
		emit_end(ring, ev);
		break;
	case 'w': /* the test has to let it continue */
		ring_publish(ring);
		while (access(getenv(GO), F_OK) != 0)
			g_usleep(1000);
		break;
	case 'p': /* nothing more comes */
		ring_publish(ring);
		pause();
		break;
	case 'b': /* a beacon */
		emit_end(ring, emit_begin(ring, EVENT_BEACON, ts_ns, 0));
		break;
	}
}

static int work(const char *ring_fd, const char *wake_fd)
{
	char **records = g_strsplit(getenv(RECORDS), " ", 0);
	struct ring_producer ring;
	struct event *ev;

	if (ring_producer_open(&ring, (struct ring_fds){ atoi(ring_fd), atoi(wake_fd) }) != LT_OK)
		return EXIT_FAILURE;
	ev = emit_begin(&ring, EVENT_TRACE, 0, TEXT_MAX);
	((struct ev_trace *)(void *)ev->words)->domain = DOMAIN_KERNEL;
	emit_text(ev, offsetof(struct ev_trace, hostname), "web", 3);
	emit_end(&ring, ev);
	emit_end(&ring, emit_begin(&ring, EVENT_READY, 0, 0));
	for (unsigned i = 0; records[i]; i++)
		emit_record(&ring, records[i]);
	emit_end(&ring, emit_begin(&ring, EVENT_END, 0, 0));
	ring_publish(&ring);
	g_strfreev(records);
	return EXIT_SUCCESS;
}

/* ---- the monitor ---- */

/* Reads until the host is away. */
static void read_all(struct ingest *in, struct frames *f, uint64_t end_ms)
{
	for (;;) {
		ingest_watch(in);
		frames_advance(f, NS_PER_MS);
		if (ingest_host(in, 0)->away && ingest_host(in, 0)->end_ns > end_ms * NS_PER_MS)
			return;
		ingest_wait(in, 10);
	}
}

/* Starts the worker, as that of a session. */
static struct ingest *start(const char *records)
{
	struct ingest *in;

	setenv(RECORDS, records, 1);
	in = own_worker_start();
	input_at(in, 0)->follow = true;
	ingest_host(in, 0)->live = true;
	return in;
}

/* One line per frame: its limits in ms, and "?" or how busy its CPU was. */
static void expect_kept(const struct history *h, const char *expected)
{
	struct frame_summary summaries[FRAMES_MAX];
	GString *text = g_string_new(NULL);
	const unsigned n = history_summaries(h, 0, 0, UINT64_MAX, summaries, FRAMES_MAX);

	for (unsigned i = 0; i < n; i++) {
		const struct frame_summary *s = &summaries[i];

		g_string_append_printf(text, "%s%u-%u ", i ? ", " : "", (unsigned)(s->begin_ns / NS_PER_MS),
				       (unsigned)(s->end_ns / NS_PER_MS));
		if (s->gap)
			g_string_append_c(text, '?');
		else
			g_string_append_printf(text, "%u", s->busy_permille);
	}
	ck_assert_str_eq(text->str, expected);
	g_string_free(text, TRUE);
}

static void expect_frames(const char *first, uint64_t first_end_ms, const char *second, uint64_t second_end_ms,
			  const char *expected)
{
	struct ingest *in = start(first);
	struct history *h = history_create(64 << 20);
	struct frames *f = frames_create(in, h, NS_PER_S, false);

	setenv(RECORDS, second, 1);
	read_all(in, f, first_end_ms);
	read_all(in, f, second_end_ms);
	expect_kept(h, expected);
	frames_destroy(f);
	history_destroy(h);
	ingest_destroy(in);
}

#define FIRST "r100000 i101500 r102250 o103400"
#define FIRST_FRAMES "100000-101000 1000, 101000-102000 500, 102000-103000 750, 103000-103400 1000, "

/* The first frame after the gap starts on the grid; nothing of the time away counts. */
START_TEST(test_long_gap)
{
	expect_frames(FIRST, 103400, "r170300 i170650 r171000 o172500", 172500,
		      FIRST_FRAMES "103400-170000 ?, 170000-171000 500, 171000-172000 1000, 172000-172500 1000");
}
END_TEST

/* Longer than any hole that is kept in frames. */
START_TEST(test_very_long_gap)
{
	expect_frames(FIRST, 103400, "r9170300 i9170650 r9171000 o9172500", 9172500,
		      FIRST_FRAMES "103400-9170000 ?, 9170000-9171000 500, 9171000-9172000 1000, 9172000-9172500 1000");
}
END_TEST

/* Shorter than a frame: the frame has what was seen. */
START_TEST(test_short_gap)
{
	expect_frames(FIRST, 103400, "r103500 i103750 r104000 o104500", 104500,
		      FIRST_FRAMES "103400-104000 500, 104000-104500 1000");
}
END_TEST

/* A session that was attached again and has no events yet says nothing of the time before. */
START_TEST(test_beacons_in_gap)
{
	expect_frames(FIRST, 103400, "b150000 b160250 r170300 i170650 r171000 o172500", 172500,
		      FIRST_FRAMES "103400-170000 ?, 170000-171000 500, 171000-172000 1000, 172000-172500 1000");
}
END_TEST

/* Neither does a session that was stopped, or a machine that froze, while a thread ran: its beacons continue. */
START_TEST(test_still)
{
	expect_frames("r100000 i101500 r102250 b150000 r170300 i170650 r171000 o172500", 172500, "o180500", 180500,
		      "100000-101000 1000, 101000-102000 500, 102000-103000 750, 103000-104000 1000, "
		      "104000-105000 1000, 105000-170000 ?, 170000-171000 500, 171000-172000 1000, "
		      "172000-172500 1000, 172500-180000 ?, 180000-180500 0");
}
END_TEST

static void read_up_to(struct ingest *in, struct frames *f, uint64_t end_ms)
{
	while (ingest_host(in, 0)->end_ns <= end_ms * NS_PER_MS) {
		ingest_watch(in);
		frames_advance(f, NS_PER_MS);
		ingest_wait(in, 10);
	}
}

/*
 * The map moves, so that an edge of the grid lies before the last events applied: the frame must not end there, without
 * them and with their figures.
 */
START_TEST(test_clocks_change)
{
	char *directory = g_dir_make_tmp("frames-XXXXXX", NULL), *go = g_build_filename(directory, "go", NULL);
	struct clock_map *map = clock_map_create();
	struct history *h = history_create(64 << 20);
	struct ingest *in;
	struct frames *f;

	setenv(GO, go, 1);
	in = start("r100000 i100500 b101000 r101500 i101600 o101700 w o102500 p");
	f = frames_create(in, h, NS_PER_S, false);
	read_up_to(in, f, 101700);
	clock_map_add(map, 100000 * NS_PER_MS, 100000 * NS_PER_MS, 0.25);
	ingest_host(in, 0)->map = map;
	frames_clocks_changed(f);
	g_assert_true(g_file_set_contents(go, "", 0, NULL));
	read_up_to(in, f, 102500);
	expect_kept(h, "100000-101000 500, 101000-102400 71");
	frames_destroy(f);
	history_destroy(h);
	ingest_destroy(in);
	clock_map_destroy(map);
	g_unlink(go);
	g_rmdir(directory);
	g_free(go);
	g_free(directory);
}
END_TEST

static uint64_t recorded_ms(const struct history *h, uint64_t begin_s, uint64_t end_s)
{
	struct history_load load;
	uint64_t recorded_ns;

	history_load_init(&load);
	ck_assert_int_eq(history_load(h, 0, begin_s * NS_PER_S, end_s * NS_PER_S, 1 << TABLE_HOST, &load), LT_OK);
	recorded_ns = interval_recorded_ns(&load.interval);
	history_load_release(&load);
	return recorded_ns / NS_PER_MS;
}

/*
 * A beacon closes the frame in which the first session's last event lies, and the session ends in the next one. In the
 * frame in which the second session starts, so much is recorded.
 */
static void expect_recorded(const char *second, uint64_t second_end_ms, uint64_t frame_s, uint64_t expected_ms)
{
	struct ingest *in = start("r100000 i101500 o102500 b103200");
	struct history *h = history_create(64 << 20);
	struct frames *f = frames_create(in, h, NS_PER_S, false);

	setenv(RECORDS, second, 1);
	read_all(in, f, 102500);
	read_all(in, f, second_end_ms);
	ck_assert_uint_eq(recorded_ms(h, 102, 103), 1000);
	ck_assert_uint_eq(recorded_ms(h, frame_s, frame_s + 1), expected_ms);
	ck_assert_uint_eq(recorded_ms(h, 102, frame_s + 2), 1000 + expected_ms + 1000);
	frames_destroy(f);
	history_destroy(h);
	ingest_destroy(in);
}

START_TEST(test_recorded)
{
	expect_recorded("r170300 i170650 r171000 o172500", 172500, 170, 700);
	expect_recorded("r103600 o105500", 105500, 103, 400);
}
END_TEST

/* Of a machine that was rebooted nothing stays in memory but its past. */
START_TEST(test_replaced)
{
	struct ingest *in = start(FIRST);
	struct history *h = history_create(64 << 20);
	struct frames *f = frames_create(in, h, NS_PER_S, false);
	struct history_load load;
	size_t bytes;

	in->memory.limit = 64 << 20;
	model_set_memory(ingest_host(in, 0)->model, &in->memory);
	model_set_declares(ingest_host(in, 0)->model, EVENT_SCHED_SWITCH);
	read_all(in, f, 103400);
	ck_assert_uint_gt(in->memory.used, 0);
	bytes = history_bytes(h);
	ingest_host(in, 0)->replaced = true;
	input_at(in, 0)->state = INPUT_ENDED;
	ingest_set_ready(in, host_at(in, 0), true);
	ck_assert_int_eq(frames_advance(f, NS_PER_S), LT_END);
	ck_assert_uint_eq(in->memory.used, 0);
	ck_assert_uint_lt(history_bytes(h), bytes / 2);
	ck_assert(model_declares(ingest_host(in, 0)->model, EVENT_SCHED_SWITCH));
	history_load_init(&load);
	ck_assert_int_eq(history_load(h, 0, 101 * NS_PER_S, 102 * NS_PER_S, STATE_ALL_TABLES, &load), LT_OK);
	ck_assert_uint_gt(load.interval.tables[TABLE_THREAD].n_rows, 0);
	history_load_release(&load);
	frames_destroy(f);
	history_destroy(h);
	ingest_destroy(in);
}
END_TEST

/* Adds a host that has ended and whose data declared this kind of event. */
static struct host *add_ended(struct ingest *in, const char *name, enum event_kind kind)
{
	struct ingest_host known = { .name = (char *)name, .source = (char *)"", .tracer = (char *)"", .live = true };
	struct host *host = host_restore(name, name, &known);

	model_set_declares(host->public.model, kind);
	host->public.ended = host->public.replaced = true;
	g_ptr_array_add(in->hosts, host);
	return host;
}

/* However many of them there were, they need the model of one for each set of tracepoints. */
START_TEST(test_replaced_share)
{
	struct ingest *in = start(FIRST);
	struct host *hosts[] = { add_ended(in, "a", EVENT_SCHED_SWITCH), add_ended(in, "b", EVENT_FORK),
				 add_ended(in, "c", EVENT_SCHED_SWITCH) };

	for (unsigned i = 0; i < G_N_ELEMENTS(hosts); i++)
		ingest_forget(in, in->hosts->len - G_N_ELEMENTS(hosts) + i);
	ck_assert_ptr_eq(hosts[0]->public.model, hosts[2]->public.model);
	ck_assert(model_declares(hosts[0]->public.model, EVENT_SCHED_SWITCH));
	ck_assert(!model_declares(hosts[0]->public.model, EVENT_FORK));
	ck_assert(model_declares(hosts[1]->public.model, EVENT_FORK));
	ck_assert(!model_declares(hosts[1]->public.model, EVENT_SCHED_SWITCH));
	ingest_destroy(in);
}
END_TEST

static void watch_for_a_while(struct ingest *in)
{
	for (int i = 0; i < 4; i++) {
		g_usleep(60 * US_PER_MS);
		ingest_watch(in);
	}
}

/* Hosts without a session leave their memory to others when it becomes short, but the last one stays. */
START_TEST(test_short_of_memory)
{
	struct ingest *in = start("r100000 p");
	struct host *first = add_ended(in, "first", EVENT_FORK), *last = add_ended(in, "last", EVENT_FORK);

	first->public.ended = last->public.ended = first->public.replaced = last->public.replaced = false;
	first->public.away = last->public.away = true;
	first->heard_us = 1;
	last->heard_us = 2;
	in->memory.limit = 1000;
	in->memory.used = 800;
	watch_for_a_while(in);
	ck_assert(!first->public.replaced);
	in->memory.used = 900;
	watch_for_a_while(in);
	ck_assert(first->public.replaced);
	ck_assert(!last->public.replaced);
	ingest_destroy(in);
}
END_TEST

static void watch(struct ingest *in)
{
	ingest_watch(in);
	ingest_advance(in, 0, UINT64_MAX, 1000);
	ingest_wait(in, 10);
}

/* Until the lag of its record at that time was measured. */
static void await_lag(struct ingest *in, uint64_t at_ms)
{
	while (host_at(in, 0)->lag.at_ns != at_ms * NS_PER_MS)
		watch(in);
}

/*
 * Its clock is decades behind, and so known to differ. After half a second in which its worker was away, its data is
 * 50 ms newer: that is not its usual delay.
 */
START_TEST(test_lag_of_the_same_session)
{
	struct ingest *in = start("r100000 o103400 p");

	await_lag(in, 103400);
	ck_assert_uint_eq(ingest_host(in, 0)->lag_ns, 0);
	setenv(RECORDS, "o103450 p", 1);
	source_kill(input_at(in, 0)->source, "killed");
	await_lag(in, 103450);
	ck_assert_uint_gt(ingest_host(in, 0)->lag_ns, 0);
	ingest_destroy(in);
}
END_TEST

/* The clock of another session may have another offset. */
START_TEST(test_lag_of_the_next_session)
{
	struct ingest *in = start("r100000 o103400");

	setenv(RECORDS, "o103450 p", 1);
	host_at(in, 0)->lag.least_ns = 0;
	await_lag(in, 103450);
	ck_assert_uint_eq(ingest_host(in, 0)->lag_ns, 0);
	ingest_destroy(in);
}
END_TEST

/* That a session no longer exists is its end, and no fault of the host's figures. */
START_TEST(test_no_trouble_at_the_end)
{
	struct ingest *in = start("r100000 i101500 f");

	input_at(in, 0)->follow = false;
	while (input_at(in, 0)->state != INPUT_ENDED)
		watch(in);
	ck_assert(input_at(in, 0)->session_over);
	ck_assert_ptr_null(ingest_host(in, 0)->trouble);
	ingest_destroy(in);
}
END_TEST

/* Nobody hears a source while the monitor itself is stopped. */
START_TEST(test_own_pause)
{
	struct ingest *in = start("r100000 p");
	struct input *input = input_at(in, 0);

	((struct source_spec *)input->spec)->is_growing = true;
	in->options.stall_limit_ns = NS_PER_S; /* twice that for a directory */
	while (!ingest_host(in, 0)->end_ns || !in->watched_us || input->heard_us + 100 * US_PER_MS > in->watched_us)
		watch(in);
	g_usleep(3000 * US_PER_MS);
	watch(in);
	ck_assert(!input->stalled);
	while (!input->stalled)
		watch(in);
	((struct source_spec *)input->spec)->is_growing = false;
	ingest_destroy(in);
}
END_TEST

int main(int argc, char **argv)
{
	const TTest *const tests[] = { test_long_gap,
				       test_very_long_gap,
				       test_short_gap,
				       test_beacons_in_gap,
				       test_still,
				       test_clocks_change,
				       test_recorded,
				       test_replaced,
				       test_replaced_share,
				       test_short_of_memory,
				       test_lag_of_the_same_session,
				       test_lag_of_the_next_session,
				       test_no_trouble_at_the_end,
				       test_own_pause };

	return own_worker_main(argc, argv, work, "frames", tests, G_N_ELEMENTS(tests));
}
