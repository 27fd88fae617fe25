/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A window that is read again, against the graph of the whole recording: at every moment, every thread's path is on
 * the same row in the same state, except for the differences listed.
 */
#include "unit.h"

#include <glib.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include "base/error.h"
#include "base/strpool.h"
#include "clock/map_build.h"
#include "ingest/ingest.h"
#include "ingest/window.h"
#include "source/source.h"

enum { WINDOWS = 12 };

/* What may differ, and where. */
enum difference {
	DIFFERS_OPEN,    /* a wait that ends after everything that was read: only the whole recording explains it */
	DIFFERS_OFFLINE, /* the last thread of a CPU that went offline before the window, which runs on in the whole
			    recording; or one of a CPU that comes online, whose wake-up was not seen */
	DIFFERENCES
};

static const char *const differences[] = {
	"open end",
	"offline",
};

static const char *build_directory(void)
{
	return getenv("BUILD") ? getenv("BUILD") : "build";
}

static struct ingest *start(const char *name)
{
	struct ingest_options options = { .workers = 1 };
	struct ingest *in = ingest_create(&options);
	char *program = g_build_filename(build_directory(), "lttngtop", NULL);
	char *directory = g_build_filename(build_directory(), "traces", name, NULL);

	source_set_worker_program(g_intern_string(program));
	ck_assert_msg(ingest_open(in, directory) == LT_OK, "%s", error_text());
	ck_assert_msg(ingest_start(in, NULL) == LT_OK, "%s", error_text());
	g_free(directory);
	g_free(program);
	return in;
}

/* The clocks of three-tier when it was made, measured from outside: at two times of each, by the client's clock. */
static const struct {
	const char *host;
	uint64_t host_ns[2], client_ns[2];
} clocks[] = {
	{ "db",
	  { UINT64_C(1795183592681292344), UINT64_C(1795183615014830226) },
	  { UINT64_C(1795183610117674841), UINT64_C(1795183632452028866) } },
	{ "web",
	  { UINT64_C(1795183614685490952), UINT64_C(1795183637153521184) },
	  { UINT64_C(1795183609828044457), UINT64_C(1795183632295674485) } },
};

/* NULL: the reference itself. */
static struct clock_map *clock_of(const char *host)
{
	struct clock_map *map = NULL;

	for (unsigned i = 0; i < G_N_ELEMENTS(clocks); i++) {
		const double host_ns = clocks[i].host_ns[1] - clocks[i].host_ns[0];
		const double client_ns = clocks[i].client_ns[1] - clocks[i].client_ns[0];

		if (strcmp(host, clocks[i].host) != 0)
			continue;
		map = clock_map_create();
		clock_map_begin_epoch(map);
		clock_map_add(map, clocks[i].host_ns[0], clocks[i].client_ns[0], client_ns / host_ns - 1);
		ck_assert_uint_le(clock_to_ref(map, clocks[i].host_ns[1]), clocks[i].client_ns[1] + 1);
	}
	return map;
}

struct recording {
	struct ingest *in;
	struct clock_map *maps[8]; /* NULL: the host's clock is the reference */
	uint64_t begin_ns, end_ns; /* all of it, reference time */
};

static struct recording open_recording(const char *name)
{
	struct recording r = { .in = start(name), .begin_ns = UINT64_MAX };

	ck_assert_uint_le(ingest_host_count(r.in), G_N_ELEMENTS(r.maps));
	for (unsigned i = 0; i < ingest_host_count(r.in); i++) {
		const struct ingest_host *h = ingest_host(r.in, i);

		if (strcmp(name, "three-tier") == 0)
			r.maps[i] = clock_of(h->name);
		r.begin_ns = MIN(r.begin_ns, clock_to_ref(r.maps[i], h->begin_ns));
		r.end_ns = MAX(r.end_ns, clock_to_ref(r.maps[i], h->end_hint_ns));
	}
	ck_assert_uint_lt(r.end_ns - r.begin_ns, UINT64_C(30000000000));
	return r;
}

static void close_recording(struct recording *r)
{
	for (unsigned i = 0; i < ingest_host_count(r->in); i++)
		if (r->maps[i])
			clock_map_destroy(r->maps[i]);
	ingest_destroy(r->in);
}

/* end_ns 0: the whole recording. */
static struct window *open_window(const struct recording *r, uint64_t begin_ns, uint64_t end_ns)
{
	const struct window_options options = {
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.whole = !end_ns,
		.maps = (const struct clock_map *const *)r->maps,
	};
	struct window *w = window_open(r->in, &options);

	ck_assert_ptr_nonnull(w);
	return w;
}

/* Reads all of it. */
static void finish_window(struct window *w, uint64_t max_events)
{
	enum lt_status status;
	double progress = 0;

	while ((status = window_run(w, max_events)) == LT_OK || status == LT_AGAIN) {
		struct pollfd fd = { .fd = window_fd(w), .events = POLLIN };

		ck_assert(window_progress(w) >= progress && window_progress(w) <= 1);
		progress = window_progress(w);
		if (status == LT_AGAIN)
			poll(&fd, 1, 100);
	}
	ck_assert_int_eq(status, LT_END);
	ck_assert(window_progress(w) == 1);
	ck_assert_ptr_null(window_trouble(w));
}

static struct window *read_window(const struct recording *r, uint64_t begin_ns, uint64_t end_ns, uint64_t max_events)
{
	struct window *w = open_window(r, begin_ns, end_ns);

	finish_window(w, max_events);
	return w;
}

/* Reads the whole recording as for the first time: its hosts get their numbers. */
static struct waits *read_all(const struct recording *r, struct wait_log *logs)
{
	const struct waits_options options = { 0 };
	struct waits *all = waits_create(&options);

	for (unsigned i = 0; i < ingest_host_count(r->in); i++) {
		wait_log_init(&logs[i]);
		model_set_wait_log(ingest_host(r->in, i)->model, &logs[i]);
		ck_assert_uint_eq(waits_add_host(all, r->maps[i]), i);
	}
	for (unsigned i = 0; i < ingest_host_count(r->in); i++) {
		ck_assert_int_eq(ingest_advance_wait(r->in, i, UINT64_MAX, NULL), LT_END);
		waits_take(all, i, &logs[i]);
		waits_end(all, i, ingest_host(r->in, i)->end_ns);
		waits_watermark(all, i, clock_from_ref(r->maps[i], r->end_ns + 10 * WINDOW_MARGIN_NS));
		wait_log_release(&logs[i]);
	}
	waits_run(all);
	return all;
}

/* ---- comparing ---- */

static uint64_t differ_ns[DIFFERENCES], same_ns;

/* Whether both are the same row in the same state, whatever the row numbers. */
static bool same_segment(struct window *w, const struct wait_segment *x, struct waits *all,
			 const struct wait_segment *y)
{
	const struct wait_who p = waits_who(window_waits(w), x->row), q = waits_who(all, y->row);

	return x->state == y->state && x->wire == y->wire && p.tid == q.tid && p.cpu == q.cpu &&
	       window_host_of(w, p.host) == q.host;
}

/* Whether the wait at the end of the path is not ended by anything that was read. */
static bool is_open(struct window *w, wait_row row, const struct wait_path *p)
{
	struct wait_path further;
	bool open;

	if (!p->open)
		return false;
	wait_path_init(&further);
	waits_path(window_waits(w), row, p->segments[p->n - 1].begin_ns, p->end_ns + WINDOW_MARGIN_NS, &further);
	open = further.open && further.n == 1;
	wait_path_release(&further);
	return open;
}

/* From some time on, p is at segment x, and the whole recording's path at y. */
static enum difference classify(const struct wait_path *p, const struct wait_segment *x, const struct waits *all,
				const struct wait_segment *y, bool open)
{
	static const char migration[] = "migration/";

	if (open && x == &p->segments[p->n - 1])
		return DIFFERS_OPEN;
	if (y->state == WAIT_RUNNING &&
	    strncmp(strpool_text(waits_who(all, y->row).comm), migration, strlen(migration)) == 0)
		return DIFFERS_OFFLINE;
	if (x == &p->segments[0] && x->state == WAIT_PREEMPTED && y->state == WAIT_BLOCKED)
		return DIFFERS_OFFLINE;
	return DIFFERENCES;
}

static void compare_paths(struct window *w, wait_row row, struct waits *all, wait_row in_all, uint64_t begin_ns,
			  uint64_t end_ns)
{
	struct wait_path p, q;
	uint64_t t_ns = begin_ns;
	uint32_t i = 0, j = 0;
	bool open;

	wait_path_init(&p);
	wait_path_init(&q);
	waits_path(window_waits(w), row, begin_ns, end_ns, &p);
	waits_path(all, in_all, begin_ns, end_ns, &q);
	open = is_open(w, row, &p);
	/* if one of them has a path, so has the other */
	ck_assert_uint_eq(p.n > 0, q.n > 0);
	if (p.n) {
		t_ns = p.segments[0].begin_ns;
		ck_assert_uint_eq(t_ns, q.segments[0].begin_ns);
		ck_assert_uint_eq(p.segments[p.n - 1].end_ns, q.segments[q.n - 1].end_ns);
	}
	while (i < p.n) {
		const struct wait_segment *x = &p.segments[i];
		const struct wait_segment *y = &q.segments[j];
		const uint64_t until_ns = MIN(x->end_ns, y->end_ns);

		if (same_segment(w, x, all, y)) {
			same_ns += until_ns - t_ns;
		} else {
			const enum difference d = classify(&p, x, all, y, open);

			ck_assert_msg(d < DIFFERENCES,
				      "thread %d of host %u at %" PRIu64 ": %s on thread %d, not %s on %d",
				      waits_who(window_waits(w), row).tid, waits_who(window_waits(w), row).host, t_ns,
				      wait_state_name(x->state), waits_who(window_waits(w), x->row).tid,
				      wait_state_name(y->state), waits_who(all, y->row).tid);
			differ_ns[d] += until_ns - t_ns;
		}
		t_ns = until_ns;
		i += t_ns == x->end_ns;
		j += t_ns == y->end_ns;
	}
	wait_path_release(&p);
	wait_path_release(&q);
}

/* The number of rows of threads in the window. */
static unsigned compare_window(struct window *w, struct waits *all, uint64_t begin_ns, uint64_t end_ns)
{
	unsigned n = 0;

	for (wait_row row = WAIT_NO_ROW; (row = waits_next(window_waits(w), row)) != WAIT_NO_ROW; n++) {
		const struct wait_who who = waits_who(window_waits(w), row);
		const unsigned host = window_host_of(w, who.host);
		const wait_row in_all = waits_find(all, host, who.tid, end_ns);

		ck_assert_uint_eq(window_host(w, host), who.host);
		ck_assert_uint_ne(in_all, WAIT_NO_ROW);
		compare_paths(w, row, all, in_all, begin_ns, end_ns);
	}
	return n;
}

static void compare_recording(const char *name, uint32_t seed)
{
	struct recording r = open_recording(name);
	struct wait_log logs[G_N_ELEMENTS(r.maps)];
	struct waits *all = read_all(&r, logs);
	struct window *w;
	GRand *rand = g_rand_new_with_seed(seed);
	unsigned rows = 0;

	for (unsigned i = 0; i < WINDOWS; i++) {
		const uint64_t begin_ns = r.begin_ns + g_rand_double(rand) * (r.end_ns - r.begin_ns);
		const uint64_t end_ns = begin_ns + 1 + g_rand_double(rand) * 1e9;

		w = read_window(&r, begin_ns, MIN(end_ns, r.end_ns), 1 + g_rand_int_range(rand, 0, 20000));
		rows += compare_window(w, all, begin_ns, MIN(end_ns, r.end_ns));
		window_close(w);
	}
	ck_assert_uint_gt(rows, 0);
	g_rand_free(rand);
	waits_destroy(all);
	close_recording(&r);
}

START_TEST(test_windows_are_as_in_the_whole)
{
	const char *other = getenv("SEED"); /* other windows; not all of them have every difference */
	const uint32_t seed = other ? strtoul(other, NULL, 10) : 1;

	compare_recording("three-tier", seed);
	compare_recording("hotplug", seed);
	compare_recording("kprobe", seed);
	ck_assert_uint_gt(same_ns, 0);
	for (unsigned i = 0; i < DIFFERENCES && !other; i++)
		ck_assert_msg(differ_ns[i], "nothing differs by '%s'", differences[i]);
	g_print("same %.3f s", same_ns / 1e9);
	for (unsigned i = 0; i < DIFFERENCES; i++)
		g_print(", %s %.3f s", differences[i], differ_ns[i] / 1e9);
	g_print("\n");
}
END_TEST

/* Windows that start before the first event. */
START_TEST(test_windows_at_the_start)
{
	compare_recording("three-tier", 3);
	compare_recording("kprobe", 3);
	compare_recording("kprobe", 4);
}
END_TEST

static unsigned count_rows(const struct waits *w)
{
	unsigned n = 0;

	for (wait_row row = WAIT_NO_ROW; (row = waits_next(w, row)) != WAIT_NO_ROW;)
		n++;
	return n;
}

static void compare_whole(const char *name)
{
	struct recording r = open_recording(name);
	struct wait_log logs[G_N_ELEMENTS(r.maps)];
	struct waits *all = read_all(&r, logs);
	struct window *w = read_window(&r, 0, 0, 10000);
	const uint64_t half_ns = r.begin_ns + (r.end_ns - r.begin_ns) / 2;

	ck_assert_uint_eq(compare_window(w, all, r.begin_ns, r.end_ns), count_rows(all));
	compare_window(w, all, half_ns, half_ns + 1000000000);
	window_close(w);
	waits_destroy(all);
	close_recording(&r);
}

/* Everything in a recording is known as when it was first read, to the last row. */
START_TEST(test_all_of_it)
{
	compare_whole("three-tier");
	compare_whole("hotplug");
	compare_whole("kprobe");
	ck_assert_uint_gt(same_ns, 0);
	for (unsigned i = 0; i < DIFFERENCES; i++)
		ck_assert_msg(!differ_ns[i], "%" PRIu64 " ns differ by '%s'", differ_ns[i], differences[i]);
}
END_TEST

static void intern_names(int from, int to)
{
	char name[32];

	for (int i = from; i < to; i++) {
		snprintf(name, sizeof(name), "other-%d", i);
		strpool_intern_brief(name, strlen(name));
	}
}

/* All that the window's graph names, one a line. */
static char *names_of(struct window *w)
{
	GString *s = g_string_new(NULL);
	struct wait_path p;

	wait_path_init(&p);
	for (wait_row row = WAIT_NO_ROW; (row = waits_next(window_waits(w), row)) != WAIT_NO_ROW;) {
		g_string_append_printf(s, "%s\n", strpool_text(waits_who(window_waits(w), row).comm));
		waits_path(window_waits(w), row, 0, UINT64_MAX, &p);
		for (uint32_t i = 0; i < p.n; i++)
			g_string_append_printf(s, "%s %s\n", strpool_text(p.segments[i].cause.name),
					       strpool_text(p.segments[i].cause.object));
	}
	wait_path_release(&p);
	return g_string_free(s, FALSE);
}

/* Names of threads and files that are treated as paths stay while a window has them. */
START_TEST(test_names_stay)
{
	enum { ROOM = 1 << 20, NAMES = 200000, AT_ONCE = 100 };
	struct recording r;
	struct window *w;
	char *before, *after;

	strpool_set_limit(ROOM, 4 * ROOM);
	intern_names(0, ROOM / 40);
	r = open_recording("three-tier");
	w = read_window(&r, 0, 0, 1000);
	before = names_of(w);
	for (int i = ROOM; i < ROOM + NAMES; i += AT_ONCE) {
		intern_names(i, i + AT_ONCE);
		if (!strpool_round_due())
			continue;
		strpool_round_begin();
		window_keep_paths(w);
		strpool_round_end();
	}
	ck_assert_uint_gt(strpool_forgotten(), NAMES / 2);
	after = names_of(w);
	ck_assert_ptr_nonnull(strstr(before, "\npostgres\n"));
	ck_assert_ptr_nonnull(strstr(before, "/pg_wal/"));
	ck_assert(strcmp(after, before) == 0);
	g_free(before);
	g_free(after);
	window_close(w);
	close_recording(&r);
	strpool_release();
	strpool_set_limit(64 << 20, 256 << 20);
}
END_TEST

/* Rows that ended while it is read are not kept to its end. */
START_TEST(test_ended_rows_are_freed)
{
	struct recording r = open_recording("three-tier");
	struct window *w = read_window(&r, 0, 0, 1000);
	struct ingest *in = window_ingest(w);
	uint64_t gone = 0;

	for (unsigned i = 0; i < ingest_host_count(in); i++) {
		const struct host_state *s = model_state(ingest_host(in, i)->model);
		const struct host_row *host =
			STATE_ROW(s, HOST, host, state_next(&s->tables[TABLE_HOST], STATE_NO_ROW));

		gone += host->threads_gone;
		for (unsigned table = 0; table < TABLES; table++)
			ck_assert_uint_eq(s->tables[table].n_ended, 0);
	}
	ck_assert_uint_gt(gone, 20);
	window_close(w);
	close_recording(&r);
}
END_TEST

/* A window before the recording, one closed before it is read, and one closed while it is read. */
START_TEST(test_windows_at_the_edges)
{
	struct recording r = open_recording("three-tier");
	struct window *w = read_window(&r, r.begin_ns - 20000000000, r.begin_ns - 10000000000, 1000);

	ck_assert_uint_eq(waits_next(window_waits(w), WAIT_NO_ROW), WAIT_NO_ROW);
	window_close(w);
	w = open_window(&r, r.begin_ns, r.end_ns);
	ck_assert(window_progress(w) < 1);
	window_close(w);
	w = open_window(&r, r.begin_ns, r.end_ns);
	while (window_progress(w) < 0.3)
		window_run(w, 1000);
	window_close(w);
	close_recording(&r);
}
END_TEST

/* ---- parts ---- */

struct parts {
	struct {
		uint64_t begin_ns, end_ns;
	} of[8][2]; /* of each host of the window */
	unsigned n[8];
};

static void on_part(void *data, unsigned i, uint64_t begin_ns, uint64_t end_ns)
{
	struct parts *p = data;

	ck_assert_uint_lt(p->n[i], 2);
	p->of[i][p->n[i]].begin_ns = begin_ns;
	p->of[i][p->n[i]++].end_ns = end_ns;
}

static struct window *read_parts(const struct recording *r, uint64_t begin_ns, uint64_t end_ns, struct parts *p)
{
	const struct window_options options = {
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.maps = (const struct clock_map *const *)r->maps,
		.part = on_part,
		.part_data = p,
	};
	struct window *w = window_open(r->in, &options);

	ck_assert_ptr_nonnull(w);
	memset(p, 0, sizeof(*p));
	finish_window(w, 1000);
	return w;
}

/* What is read before the window, and the window: one ends where the other begins, each host by its own clock. */
START_TEST(test_parts)
{
	struct recording r = open_recording("three-tier");
	struct parts p;

	for (uint64_t t_ns = r.begin_ns + 100000000; t_ns + 1000000000 < r.end_ns; t_ns += 1000000000) {
		struct window *w = read_parts(&r, t_ns, t_ns + 500000000, &p);

		for (unsigned i = 0; i < ingest_host_count(window_ingest(w)); i++) {
			const struct ingest_host *host = ingest_host(window_ingest(w), i);
			const struct ingest_host *of = ingest_host(r.in, window_host_of(w, host->wait));
			const uint64_t begin_ns = clock_from_ref(host->map, t_ns);
			const uint64_t end_ns = clock_from_ref(host->map, t_ns + 500000000);

			if (of->begin_ns >= begin_ns || of->end_hint_ns <= end_ns + 2 * WINDOW_MARGIN_NS)
				continue;
			ck_assert_uint_eq(p.n[i], 2);
			ck_assert_uint_lt(p.of[i][0].begin_ns, begin_ns);
			ck_assert_uint_eq(p.of[i][0].end_ns, begin_ns);
			ck_assert_uint_eq(p.of[i][1].begin_ns, begin_ns);
			ck_assert_uint_eq(p.of[i][1].end_ns, end_ns);
		}
		window_close(w);
	}
	close_recording(&r);
}
END_TEST

/*
 * In lossy-overwrite nothing was recorded for 1.39 s, more than is read after a window. One that ends in this time is
 * complete, because the recording continues; the last one ends with the recording.
 */
START_TEST(test_parts_in_silence)
{
	const uint64_t last_ns = UINT64_C(1795185084792699706);
	struct recording r = open_recording("lossy-overwrite");
	struct parts p;
	struct window *w = read_parts(&r, last_ns - 100000000, last_ns + 100000000, &p);

	ck_assert_uint_eq(p.n[0], 2);
	ck_assert_uint_eq(p.of[0][1].end_ns, last_ns + 100000000);
	window_close(w);
	w = read_parts(&r, r.end_ns - 100000000, r.end_ns + 100000000, &p);
	ck_assert_uint_eq(p.n[0], 2);
	ck_assert_uint_le(p.of[0][1].end_ns, r.end_ns);
	ck_assert_uint_eq(p.of[0][1].end_ns, ingest_host(window_ingest(w), 0)->end_ns);
	window_close(w);
	close_recording(&r);
}
END_TEST

UNIT_MAIN("window", test_windows_are_as_in_the_whole, test_windows_at_the_start, test_all_of_it,
	  test_windows_at_the_edges, test_names_stay, test_ended_rows_are_freed, test_parts, test_parts_in_silence)
