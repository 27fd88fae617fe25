/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/path.h"

#include "base/strpool.h"
#include "base/timetext.h"
#include "unit.h"

/*
 * A request: wget on the client asks php on the web server, which reads from
 * its disk and answers; at the end wget waits for a second answer.
 *
 *   row 0  wget 10     run  net..........................................  run  [wait
 *   row 1  php 20               run  disk.................  run
 *   wire                   ~~~~                                 ~~~~
 */
enum { WGET, PHP, KERNEL, ROWS };

#define MS UINT64_C(1000000)

static struct wait_who who_is(const void *data, wait_row row)
{
	struct wait_who who[ROWS] = {
		[WGET] = { .host = 0, .tid = 10, .pid = 10, .cpu = -1, .comm = strpool_intern("wget", 4) },
		[PHP] = { .host = 1, .tid = 21, .pid = 20, .cpu = -1, .comm = strpool_intern("php", 3) },
		[KERNEL] = { .host = 1, .tid = -1, .pid = -1, .cpu = 1 },
	};

	(void)data;
	ck_assert_uint_lt(row, ROWS);
	return who[row];
}

static struct wait_segment segment(unsigned begin_ms, unsigned end_ms, wait_row row, enum wait_state state)
{
	return (struct wait_segment){
		.begin_ns = begin_ms * MS,
		.end_ns = end_ms * MS,
		.row = row,
		.state = state,
		.from = WAIT_NO_ROW,
		.cause = { .fd = -1 },
	};
}

static struct path *request(void)
{
	struct wait_segment s[7] = {
		segment(0, 10, WGET, WAIT_RUNNING),   segment(10, 12, PHP, WAIT_NETWORK),
		segment(12, 20, PHP, WAIT_RUNNING),   segment(20, 80, PHP, WAIT_BLOCK_DEVICE),
		segment(80, 85, PHP, WAIT_RUNNING),   segment(85, 90, WGET, WAIT_NETWORK),
		segment(90, 100, WGET, WAIT_BLOCKED),
	};
	const struct wait_path answer = { .segments = s, .n = 7, .open = true, .begin_ns = 0, .end_ns = 100 * MS };
	const struct wait_who subject = who_is(NULL, WGET);

	s[1].wire = s[5].wire = true;
	s[1].link = s[5].link = WAIT_LINK_NETWORK;
	s[1].from = WGET;
	s[3].cause.name = strpool_intern("vda", 3);
	s[5].from = PHP;
	s[6].cause = (struct wait_cause){
		.call = strpool_intern("read", 4),
		.object = strpool_intern("10.0.0.3:5432", 13),
		.fd = 5,
	};
	return path_create(&answer, &subject, who_is, NULL);
}

static const char *const hosts[] = { "client", "web" };

/* With the date before a given time, as the screen does it for what is of another day than its interval. */
static const char *write_time(const void *data, char *buffer, size_t size, uint64_t t_ns, unsigned digits)
{
	const uint64_t *dates_until_ns = data;

	return timetext_format(buffer, size, t_ns, digits, dates_until_ns && t_ns < *dates_until_ns, true);
}

static const struct path_names names = { .hosts = hosts, .n_hosts = 2, .time = write_time };

static void check_row(const struct canvas *c, int y, const char *wanted)
{
	char *text = canvas_row_text(c, y);

	ck_assert_str_eq(text, wanted);
	g_free(text);
}

START_TEST(sums_tile_the_path)
{
	struct path *p = request();
	uint64_t lanes = 0, sums = 0, states = p->wire_ns;

	for (unsigned i = 0; i < p->lanes->len; i++)
		lanes += path_lane(p, i)->total_ns;
	for (unsigned i = 0; i < p->sums->len; i++)
		sums += g_array_index(p->sums, struct path_sum, i).ns;
	for (unsigned i = 0; i < WAIT_STATES; i++)
		states += p->state_ns[i];
	ck_assert_uint_eq(p->total_ns, 100 * MS);
	ck_assert_uint_eq(lanes, p->total_ns);
	ck_assert_uint_eq(sums, p->total_ns);
	ck_assert_uint_eq(states, p->total_ns);
	ck_assert_uint_eq(p->wire_ns, 7 * MS);
	ck_assert_uint_eq(p->unexplained_ns, 10 * MS);
	/* greatest first */
	ck_assert_int_eq(g_array_index(p->sums, struct path_sum, 0).state, WAIT_BLOCK_DEVICE);
	path_destroy(p);
}
END_TEST

static void check_cause(struct wait_segment s, const char *wanted)
{
	GString *text = g_string_new(NULL);

	path_add_cause(text, &s);
	ck_assert_str_eq(text->str, wanted);
	g_string_free(text, TRUE);
}

START_TEST(who_ran_instead)
{
	struct wait_segment s = segment(0, 10, WGET, WAIT_PREEMPTED);

	check_cause(s, "");
	s.cause.name = strpool_intern_z("idle");
	check_cause(s, "the CPU was idle");
	s.state = WAIT_BLOCKED; /* a thread without work */
	check_cause(s, "idle");
	s.state = WAIT_PREEMPTED;
	s.cause.name = strpool_intern_z("sort");
	s.cause.tid = 812;
	check_cause(s, "sort/812");
}
END_TEST

START_TEST(a_segment_is_found_by_time)
{
	struct path *p = request();

	ck_assert_uint_eq(path_find(p, 0), 0);
	ck_assert_uint_eq(path_find(p, 10 * MS - 1), 0);
	ck_assert_uint_eq(path_find(p, 10 * MS), 1);
	ck_assert_uint_eq(path_find(p, 79 * MS), 3);
	ck_assert_uint_eq(path_find(p, 99 * MS), 6);
	ck_assert_uint_eq(path_find(p, 1000 * MS), 6);
	path_destroy(p);
}
END_TEST

static void check_words(const struct path *p, unsigned i, const char *words, const char *link)
{
	char *text = path_words(p, i, &names), *why = path_link_words(p, i, &names);

	ck_assert_str_eq(text, words);
	ck_assert_str_eq(why ? why : "-", link);
	g_free(text);
	g_free(why);
}

START_TEST(segments_in_words)
{
	struct path *p = request();

	check_words(p, 0, "wget 10 on client runs for 10.0ms", "-");
	check_words(p, 1, "a packet is in transit to php 21 on web for 2.00ms", "a packet from wget 10 on client");
	check_words(p, 3, "php 21 on web waits for block device vda for 60.0ms", "-");
	check_words(p, 6,
		    "wget 10 on client has been blocked since 00:00:00.090000 in read(fd 5 → 10.0.0.3:5432); "
		    "it has not ended",
		    "-");
	path_destroy(p);
}
END_TEST

/* How long comes before that nothing explains it, and what is known nevertheless. */
START_TEST(unexplained_in_words)
{
	struct path *p = request();
	struct wait_segment *last = &g_array_index(p->steps, struct path_step, 6).segment;

	p->open = false;
	check_words(p, 6, "wget 10 on client is blocked in read(fd 5 → 10.0.0.3:5432) for 10.0ms, unexplained", "-");
	last->cause = (struct wait_cause){ .fd = -1, .name = strpool_intern_z("RCU") };
	last->cut = true;
	check_words(p, 6,
		    "wget 10 on client is blocked for 10.0ms, unexplained (RCU) (its start is no longer in memory)",
		    "-");
	path_destroy(p);
}
END_TEST

/* The length is that of the wait: who is named ran longest, not for all of it. */
START_TEST(waits_for_a_cpu_in_words)
{
	struct path *p = request();
	struct wait_segment *s = &g_array_index(p->steps, struct path_step, 2).segment;

	s->state = WAIT_PREEMPTED;
	check_words(p, 2, "php 21 on web waits 8.00ms for a CPU", "-");
	s->cause.name = strpool_intern_z("idle");
	check_words(p, 2, "php 21 on web waits 8.00ms for a CPU that was mostly idle", "-");
	s->cause.name = strpool_intern_z("sort");
	s->cause.tid = 812;
	check_words(p, 2, "php 21 on web waits 8.00ms for a CPU, used longest by sort/812", "-");
	path_destroy(p);
}
END_TEST

START_TEST(names_in_words)
{
	static const struct {
		struct wait_who who;
		const char *wanted;
	} cases[] = {
		{ { .host = 1, .tid = 0, .cpu = 3 }, "idle CPU 3 of web" },
		{ { .host = 1, .tid = -1, .cpu = 0 }, "kernel on CPU 0 of web" },
		{ { .host = 1, .tid = -1, .cpu = -1 }, "kernel of web" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		GString *text = g_string_new(NULL);

		path_add_who(text, &cases[i].who, &names);
		ck_assert_str_eq(text->str, cases[i].wanted);
		g_string_free(text, TRUE);
	}
}
END_TEST

START_TEST(lanes_by_host)
{
	const struct wait_who subject = who_is(NULL, WGET);
	struct wait_segment s[4] = {
		segment(0, 10, PHP, WAIT_RUNNING),
		segment(10, 20, WGET, WAIT_NETWORK),
		segment(20, 30, WGET, WAIT_RUNNING),
		segment(30, 31, KERNEL, WAIT_RUNNING),
	};
	const struct wait_path answer = { .segments = s, .n = 4, .begin_ns = 0, .end_ns = 31 * MS };
	static const char *const wanted[] = { "client wget 10", "web php 20", "web kernel", "wire" };
	struct path *p;

	s[1].wire = true;
	p = path_create(&answer, &subject, who_is, NULL);
	ck_assert_uint_eq(p->lanes->len, 4);
	for (unsigned i = 0; i < 4; i++) {
		GString *text = g_string_new(NULL);

		path_add_lane(text, path_lane(p, i), &names);
		ck_assert_str_eq(text->str, wanted[i]);
		g_string_free(text, TRUE);
	}
	path_destroy(p);
}
END_TEST

START_TEST(axis_of_lanes)
{
	struct canvas *c = canvas_create(67, 5, false), *ascii = canvas_create(67, 5, true);
	struct path_look look = { .names = names, .selected = 3 };
	struct path *p = request();

	/* 50 columns of 2 ms each */
	ck_assert_int_eq(path_draw_axis(p, c, 0, 5, &look), 4);
	check_row(c, 0, " client wget 10 █████                                        ?????");
	check_row(c, 1, " web php 20           ████dddddddddddddddddddddddddddddd██▅");
	check_row(c, 2, " wire                ~                                    ~~~");
	check_row(c, 3, "                │00:00:00.000            │+50ms");
	ck_assert_int_eq(canvas_at(c, 26, 1)->style, STYLE_CURSOR);
	path_draw_axis(p, ascii, 0, 5, &look);
	check_row(ascii, 1, " web php 20           ####dddddddddddddddddddddddddddddd##+");
	canvas_destroy(c);
	canvas_destroy(ascii);
	path_destroy(p);
}
END_TEST

START_TEST(lanes_without_room_share_one)
{
	struct canvas *c = canvas_create(67, 5, false);
	struct path_look look = { .names = names, .selected = 0 };
	struct path *p = request();

	/* two rows for three lanes: one for the subject, one for the other two */
	ck_assert_int_eq(path_draw_axis(p, c, 0, 3, &look), 3);
	check_row(c, 0, " client wget 10 █████                                        ?????");
	check_row(c, 1, " 2 more              ~████dddddddddddddddddddddddddddddd███~~");
	canvas_destroy(c);
	path_destroy(p);
}
END_TEST

START_TEST(lists_fit_their_rows)
{
	struct canvas *c = canvas_create(80, 6, false);
	struct path_look look = { .names = names, .selected = 6 };
	struct path *p = request();
	unsigned top = 0;

	path_draw_steps(p, c, 0, 0, 80, 4, &top, &look);
	ck_assert_uint_eq(top, 4);
	check_row(c, 0, " BEGIN            LENGTH STATE          THREAD");
	check_row(c, 1, " 00:00:00.080000  5.00ms █ running      php 21 on web");
	check_row(c, 2, " 00:00:00.085000  5.00ms ~ wire         wget 10 on client");
	check_row(c, 3, " 00:00:00.090000  10.0ms ? unexplained  wget 10 on client: read(fd 5 → 10.0.0.3…");
	check_row(c, 4, "");
	canvas_clear(c);
	path_draw_sums(p, c, 0, 0, 80, 4, &look);
	check_row(c, 1, "  60.0ms  60.0% d disk         web php 20                           ███████▏");
	check_row(c, 3, " and 3 more");
	check_row(c, 4, "");
	canvas_destroy(c);
	path_destroy(p);
}
END_TEST

/* Where a time has a date, the others leave it room, on the ruler and in the list. */
START_TEST(dates_have_room)
{
	const uint64_t dates_until_ns = 3 * MS;
	struct canvas *c = canvas_create(90, 9, false);
	struct path_look look = { .names = names, .selected = 0 };
	struct path *p = request();
	unsigned top = 0;

	look.names.data = &dates_until_ns;
	ck_assert_int_eq(path_draw_axis(p, c, 0, 5, &look), 4);
	check_row(c, 3, "                │1970-01-01 00:00:00.000            │+50ms");
	path_draw_steps(p, c, 0, 4, 80, 4, &top, &look);
	check_row(c, 4, " BEGIN                       LENGTH STATE          THREAD");
	check_row(c, 5, " 1970-01-01 00:00:00.000000  10.0ms █ running      wget 10 on client");
	check_row(c, 6, "            00:00:00.010000  2.00ms ~ wire         php 21 on web");
	canvas_destroy(c);
	path_destroy(p);
}
END_TEST

START_TEST(two_paths_side_by_side)
{
	struct canvas *c = canvas_create(80, 12, false);
	struct path_look look = { .names = names };
	const struct wait_who subject = who_is(NULL, WGET);
	struct wait_segment s[1] = { segment(0, 10, WGET, WAIT_RUNNING) };
	const struct wait_path answer = { .segments = s, .n = 1, .begin_ns = 0, .end_ns = 10 * MS };
	struct path *cold = request(), *hot = path_create(&answer, &subject, who_is, NULL);

	path_draw_comparison(cold, hot, c, 0, 12, &look);
	check_row(c, 0, " STATE             FIRST      THIS     CHANGE  PROGRAM");
	check_row(c, 1, " █ running        23.0ms    10.0ms    −13.0ms  in all");
	check_row(c, 2, " d disk           60.0ms         0    −60.0ms  in all");
	check_row(c, 5, "   total           100ms    10.0ms    −90.0ms");
	check_row(c, 7, " d disk           60.0ms         0    −60.0ms  web php");
	canvas_destroy(c);
	path_destroy(cold);
	path_destroy(hot);
}
END_TEST

UNIT_MAIN("path", sums_tile_the_path, who_ran_instead, a_segment_is_found_by_time, segments_in_words,
	  unexplained_in_words, waits_for_a_cpu_in_words, names_in_words, lanes_by_host, axis_of_lanes,
	  lanes_without_room_share_one, lists_fit_their_rows, dates_have_room, two_paths_side_by_side)
