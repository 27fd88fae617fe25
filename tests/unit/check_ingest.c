/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sources, merge and models together, on a bundled recording: the result does not depend on the number of workers or
 * on the steps in which the pump is driven.
 */
#include "unit.h"

#include <glib.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/strpool.h"
#include "event/fields.h"
#include "event/payload.h"
#include "ingest/visit.h"
#include "model/interval.h"
#include "source/source.h"

enum { PATIENCE_MS = 60000 };

static char *recording(const char *name)
{
	return g_build_filename(getenv("BUILD") ? getenv("BUILD") : "build", "traces", name, NULL);
}

static void read_recording(struct ingest *in, const char *name)
{
	char *program = g_build_filename(getenv("BUILD") ? getenv("BUILD") : "build", "lttngtop", NULL);
	char *directory = recording(name);

	source_set_worker_program(g_intern_string(program));
	ck_assert_msg(ingest_open(in, directory) == LT_OK, "%s", error_text());
	ck_assert_msg(ingest_start(in, NULL) == LT_OK, "%s", error_text());
	g_free(directory);
	g_free(program);
}

static struct ingest *start_with(const char *name, const struct ingest_options *options)
{
	struct ingest *in = ingest_create(options);

	read_recording(in, name);
	return in;
}

static struct ingest *start(const char *name, unsigned workers)
{
	struct ingest_options options = { .workers = workers };

	return start_with(name, &options);
}

static char *dump_row(const struct state_table *table, uint32_t row)
{
	GString *line = g_string_new(table->desc->name);

	for (unsigned c = 1 /* after the uid */; c < table->desc->n_cells; c++)
		g_string_append_printf(line, " %" PRIu64, state_cells(table, row)[c]);
	g_string_append_c(line, '\n');
	return g_string_free(line, FALSE);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Every cell of every row, in row order, except CPUs, which may be announced in any order. */
static GString *dump(struct ingest *in)
{
	GString *out = g_string_new(NULL);
	GPtrArray *cpus = g_ptr_array_new_with_free_func(g_free);

	for (unsigned h = 0; h < ingest_host_count(in); h++) {
		struct host_state *s = model_state(ingest_host(in, h)->model);

		g_string_append_printf(out, "host %s %" PRIu64 " %" PRIu64 "\n", ingest_host(in, h)->name,
				       ingest_host(in, h)->begin_ns, ingest_host(in, h)->end_ns);
		g_ptr_array_set_size(cpus, 0);
		for (int t = 0; t < TABLES; t++) {
			const struct state_table *table = &s->tables[t];

			for (uint32_t row = STATE_NO_ROW; (row = state_next(table, row)) != STATE_NO_ROW;) {
				char *line = dump_row(table, row);

				if (t == TABLE_CPU) {
					g_ptr_array_add(cpus, line);
					continue;
				}
				g_string_append(out, line);
				g_free(line);
			}
		}
		g_ptr_array_sort(cpus, by_text);
		for (guint i = 0; i < cpus->len; i++)
			g_string_append(out, g_ptr_array_index(cpus, i));
	}
	g_ptr_array_free(cpus, TRUE);
	return out;
}

static void advance_all(struct ingest *in, uint64_t step_ns)
{
	for (unsigned h = 0; h < ingest_host_count(in); h++) {
		uint64_t until_ns = ingest_begin_ns(in);
		enum lt_status status;

		do {
			until_ns = step_ns ? until_ns + step_ns : UINT64_MAX;
			status = ingest_advance_wait(in, h, until_ns, NULL);
			ck_assert_int_ne(status, LT_INTERRUPTED);
		} while (status == LT_OK);
		ck_assert_int_eq(status, LT_END);
		ck_assert(ingest_host(in, h)->ended);
	}
}

static bool is_ready(const struct ingest *in, unsigned host)
{
	unsigned n;
	const unsigned *ready = ingest_ready(in, &n);

	for (unsigned i = 0; i < n; i++)
		if (ready[i] == host)
			return true;
	return false;
}

/* Advances only hosts that are ready, and waits if there are none. */
static void advance_ready(struct ingest *in)
{
	struct pollfd fd = { .fd = ingest_fd(in), .events = POLLIN };
	unsigned left = ingest_host_count(in), n;

	while (left) {
		const unsigned *ready = ingest_ready(in, &n);

		if (!n) {
			ck_assert_int_eq(poll(&fd, 1, PATIENCE_MS), 1);
			ingest_watch(in);
			continue;
		}
		n = ready[0];
		switch (ingest_advance(in, n, UINT64_MAX, 1000)) {
		case LT_END:
			ck_assert(!is_ready(in, n));
			left--;
			break;
		case LT_AGAIN:
			break;
		default:
			ck_abort_msg("all of time is over");
		}
	}
}

static GString *run(const char *name, unsigned workers, uint64_t step_ns)
{
	struct ingest *in = start(name, workers);
	GString *out;

	advance_all(in, step_ns);
	ck_assert(!ingest_broken(in));
	out = dump(in);
	ingest_destroy(in);
	return out;
}

START_TEST(test_same_with_any_number_of_workers)
{
	GString *one = run("three-tier", 1, 0), *other;
	static const unsigned workers[] = { 2, 6 };

	ck_assert_uint_gt(one->len, 10000);
	for (size_t i = 0; i < G_N_ELEMENTS(workers); i++) {
		other = run("three-tier", workers[i], 0);
		ck_assert_msg(g_string_equal(one, other), "%u workers give other figures than one", workers[i]);
		g_string_free(other, TRUE);
	}
	g_string_free(one, TRUE);
}
END_TEST

START_TEST(test_same_in_steps)
{
	GString *one = run("hotplug", 1, 0), *steps = run("hotplug", 2, 333333);

	ck_assert(g_string_equal(one, steps));
	g_string_free(one, TRUE);
	g_string_free(steps, TRUE);
}
END_TEST

/* Hosts that are not ready have no data: reading only ready ones reads everything. */
START_TEST(test_ready_hosts_have_everything)
{
	GString *whole = run("three-tier", 2, 0), *out;
	struct ingest *in = start("three-tier", 2);

	advance_ready(in);
	out = dump(in);
	ck_assert_str_eq(out->str, whole->str);
	g_string_free(whole, TRUE);
	g_string_free(out, TRUE);
	ingest_destroy(in);
}
END_TEST

START_TEST(test_hosts_and_record)
{
	struct ingest *in = start("three-tier", 0);
	static const char *const names[] = { "client", "db", "web" };

	ck_assert_uint_eq(ingest_host_count(in), 3);
	for (unsigned h = 0; h < 3; h++) {
		const struct ingest_host *host = ingest_host(in, h);

		ck_assert_str_eq(host->name, names[h]);
		ck_assert_uint_ge(host->begin_ns, ingest_begin_ns(in));
		ck_assert_str_eq(host->tracer, "lttng-modules 2.13.9");
		ck_assert_uint_gt(host->end_hint_ns, host->begin_ns);
		ck_assert(!host->ended);
	}
	advance_all(in, 0);
	for (unsigned h = 0; h < 3; h++) {
		const struct ingest_host *host = ingest_host(in, h);
		const struct host_state *s = model_state(host->model);
		const struct host_row *row = STATE_ROW(s, HOST, host, 0);

		ck_assert_uint_eq(row->first_ns, host->begin_ns);
		ck_assert_uint_eq(row->last_ns + 1, host->end_ns);
		ck_assert_uint_le(host->end_ns, host->end_hint_ns + 1);
	}
	ingest_destroy(in);
}
END_TEST

/*
 * For every CPU at every cut, busy + idle = online; and online is the length of the recording if no CPU went offline.
 */
START_TEST(test_cpu_time_is_complete_at_every_cut)
{
	struct ingest *in = start("three-tier", 2);

	for (unsigned h = 0; h < ingest_host_count(in); h++) {
		const struct ingest_host *host = ingest_host(in, h);
		struct host_state *s = model_state(host->model);
		const struct state_table *cpus = &s->tables[TABLE_CPU];
		enum lt_status status;
		uint64_t t = host->begin_ns;

		do {
			const struct cell_desc *d = table_descs[TABLE_CPU].cells;

			t += 100000000;
			status = ingest_advance_wait(in, h, t, NULL);
			if (status == LT_END)
				t = host->end_ns;
			ck_assert_uint_eq(cpus->n_alive, 2);
			for (uint32_t row = STATE_NO_ROW; (row = state_next(cpus, row)) != STATE_NO_ROW;) {
				const uint64_t *cells = state_cells(cpus, row);

				ck_assert_uint_eq(cell_value(d, cells, CELL(cpu, online_ns), t), t - host->begin_ns);
				ck_assert_uint_eq(cell_value(d, cells, CELL(cpu, busy_ns), t) +
							  cell_value(d, cells, CELL(cpu, idle_ns), t),
						  t - host->begin_ns);
			}
		} while (status == LT_OK);
	}
	ingest_destroy(in);
}
END_TEST

START_TEST(test_nothing_to_read)
{
	struct ingest_options options = { 0 };
	struct ingest *in = ingest_create(&options);

	ck_assert_int_eq(ingest_open(in, "/nonexistent/recording"), LT_ERROR);
	ck_assert_ptr_nonnull(strstr(error_text(), "/nonexistent/recording"));
	ck_assert_int_eq(ingest_start(in, NULL), LT_ERROR);
	ck_assert(ingest_broken(in));
	ingest_destroy(in);
}
END_TEST

/*
 * A survey finds the clocks; when the recording is then read with them, the figures in each host's own time are the
 * same.
 */
START_TEST(test_survey)
{
	struct clock_options clock_options = { .ref = "web" };
	struct clocks *clocks = clocks_create(&clock_options, CLOCKS_AWAIT);
	struct waits_options waits = { 0 };
	struct ingest_options options = { .clocks = clocks, .waits = &waits, .survey = true };
	struct ingest *in = start_with("three-tier", &options);
	GString *plain = run("three-tier", 2, 0), *joined;
	uint64_t ends[3], begin_ns = UINT64_MAX;

	advance_all(in, 0);
	ck_assert_ptr_null(ingest_waits(in));
	ck_assert_uint_eq(ingest_host_count(in), 3);
	for (unsigned h = 0; h < 3; h++) {
		const struct ingest_host *host = ingest_host(in, h);

		ends[h] = host->end_ns;
		ck_assert_uint_eq(clock_to_ref(host->map, host->end_ns), host->end_ns);
		/* the model was not filled: the state dump alone has a hundred threads */
		ck_assert_uint_lt(model_state(host->model)->tables[TABLE_THREAD].n_alive, 10);
	}
	clocks_finish(clocks);
	ingest_destroy(in);

	options.survey = false;
	in = start_with("three-tier", &options);
	for (unsigned h = 0; h < 3; h++) {
		const struct ingest_host *host = ingest_host(in, h);

		ck_assert_int_eq(clock_to_ref(host->map, host->begin_ns) == host->begin_ns, !strcmp(host->name, "web"));
		begin_ns = MIN(begin_ns, clock_to_ref(host->map, host->begin_ns));
	}
	ck_assert_uint_eq(ingest_begin_ns(in), begin_ns);
	advance_all(in, 0);
	joined = dump(in);
	ck_assert_msg(g_string_equal(plain, joined), "clocks and waits change what is known of hosts");
	for (unsigned h = 0; h < 3; h++)
		ck_assert_uint_eq(ingest_host(in, h)->end_ns, ends[h]);
	ck_assert_uint_gt(waits_info(ingest_waits(in)).links, 100);
	ck_assert_uint_eq(waits_info(ingest_waits(in)).late, 0);
	ck_assert_uint_eq(waits_info(ingest_waits(in)).queued, 0);
	ingest_destroy(in);
	clocks_destroy(clocks);
	g_string_free(plain, TRUE);
	g_string_free(joined, TRUE);
}
END_TEST

static uint64_t vertices_of(uint64_t retention_ns, uint64_t afterwards_ns)
{
	struct waits_options waits = { .retention_ns = retention_ns };
	struct ingest_options options = { .waits = &waits };
	struct ingest *in = ingest_create(&options);
	uint64_t n;

	waits.retention_ns = afterwards_ns;
	read_recording(in, "lossy-overwrite");
	advance_all(in, 0);
	n = waits_info(ingest_waits(in)).graph.vertices;
	ingest_destroy(in);
	return n;
}

/* The caller's options for the wait graph may be freed before a host comes. */
START_TEST(test_options_are_read_at_once)
{
	const uint64_t n = vertices_of(0, 0);

	ck_assert_uint_lt(vertices_of(1000000, 1000000), n);
	ck_assert_uint_eq(vertices_of(0, 1000000), n);
}
END_TEST

/* ---- visitors ---- */

struct visits {
	struct ingest *in;
	uint64_t events, with_fields, switches, applied, last_ns;
	uint64_t begin_ns, end_ns, inside; /* inside: number of events in the interval */
	bool ordered, paired;
};

static uint64_t host_switches(const struct visits *v, unsigned host)
{
	const struct state_table *t = &model_state(ingest_host(v->in, host)->model)->tables[TABLE_CPU];
	uint64_t n = 0;

	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;)
		n += ((const struct cpu_row *)(const void *)state_cells(t, row))->switches;
	return n;
}

static uint64_t switches_before;

static void see_before(void *user, const struct ingest_visit *visit)
{
	struct visits *v = user;
	struct field_value cpu, next;

	v->events++;
	v->ordered &= visit->ref_ns >= v->last_ns;
	v->last_ns = visit->ref_ns;
	v->with_fields += visit->fields != NULL;
	v->inside += visit->ref_ns >= v->begin_ns && visit->ref_ns < v->end_ns;
	if (visit->event->kind != EVENT_SCHED_SWITCH)
		return;
	v->switches++;
	switches_before = host_switches(v, visit->host);
	v->paired &= visit->fields && strcmp(visit->shape->name, "sched_switch") == 0 &&
		     fields_get(visit->shape, visit->fields,
				(uint32_t)shape_find(visit->shape, FIELDS_PACKET, "cpu_id"), &cpu) &&
		     cpu.u == visit->event->cpu && fields_find(visit->shape, visit->fields, "next_tid", &next) &&
		     next.i == event_payload(visit->event, ev_sched_switch)->next_tid;
}

static void see_after(void *user, const struct ingest_visit *visit)
{
	struct visits *v = user;

	if (visit->event->kind == EVENT_SCHED_SWITCH)
		v->applied += host_switches(v, visit->host) == switches_before + 1;
}

/* kinds: of struct ingest_visitor. */
static struct visits visit_some(const char *name, const struct fields_wanted *wanted, const bool *kinds)
{
	struct visits v = { .ordered = true, .paired = true };
	const struct ingest_visitor visitor = {
		.wanted = wanted,
		.kinds = kinds,
		.before = see_before,
		.after = see_after,
		.user = &v,
	};
	struct ingest_options options = { .workers = 4, .visitor = &visitor };
	struct ingest *in = ingest_create(&options);

	v.in = in;
	read_recording(in, name);
	ck_assert_int_eq(ingest_advance_in_order(in, ingest_begin_ns(in) + 1000000000, NULL), LT_OK);
	ck_assert_uint_le(v.last_ns, ingest_begin_ns(in) + 1000000000);
	ck_assert_int_eq(ingest_advance_in_order(in, UINT64_MAX, NULL), LT_END);
	v.in = NULL;
	for (unsigned i = 0; i < ingest_host_count(in); i++)
		ck_assert(!ingest_host(in, i)->trouble);
	ingest_destroy(in);
	return v;
}

static struct visits visit_all(const char *name, const struct fields_wanted *wanted)
{
	return visit_some(name, wanted, NULL);
}

/* Events of three hosts, each with its fields, in the order of their reference times. */
START_TEST(test_visitor_sees_all_in_order)
{
	struct fields_wanted wanted;
	struct visits v;

	fields_wanted_init(&wanted);
	wanted.classes = WANTED_ALL;
	v = visit_all("three-tier", &wanted);
	ck_assert(v.ordered && v.paired);
	ck_assert_uint_eq(v.events, v.with_fields);
	ck_assert_uint_gt(v.applied, 1000);
	fields_wanted_release(&wanted);
}
END_TEST

/* A choice by thread names gives a part of the events. */
START_TEST(test_fields_of_chosen_threads)
{
	struct fields_wanted wanted;
	struct visits all, some, none;

	fields_wanted_init(&wanted);
	wanted.classes = WANTED_CALLS;
	all = visit_all("three-tier", &wanted);
	g_ptr_array_add(wanted.names, g_strdup("postgres"));
	some = visit_all("three-tier", &wanted);
	g_ptr_array_set_size(wanted.names, 0);
	g_ptr_array_add(wanted.names, g_strdup("no such thread"));
	none = visit_all("three-tier", &wanted);
	ck_assert_uint_gt(all.with_fields, some.with_fields);
	ck_assert_uint_gt(some.with_fields, 100);
	ck_assert_uint_eq(none.with_fields, 0);
	ck_assert_uint_eq(all.events, none.events);
	wanted.renames = true; /* a few calls of every thread */
	none = visit_all("three-tier", &wanted);
	ck_assert_uint_gt(none.with_fields, 0);
	ck_assert_uint_lt(none.with_fields, 1000);
	fields_wanted_release(&wanted);
}
END_TEST

/* A host without events for a long time does not hold up the wait graph. */
START_TEST(test_gap)
{
	const struct ingest_visitor visitor = { .user = NULL };
	struct ingest_options options = { .workers = 4, .visitor = &visitor };
	struct ingest *in = ingest_create(&options);
	char *later = g_build_filename(getenv("BUILD") ? getenv("BUILD") : "build", "traces", "hotplug", NULL);
	unsigned gaps = 0;
	uint64_t until_ns;

	ck_assert_int_eq(ingest_open(in, later), LT_OK);
	read_recording(in, "kprobe");
	until_ns = ingest_begin_ns(in) + 1000000000;
	ck_assert_int_eq(ingest_advance_in_order(in, until_ns, NULL), LT_OK);
	ck_assert_uint_eq(ingest_host_count(in), 2);
	for (unsigned i = 0; i < 2; i++)
		if (ingest_host(in, i)->next_ns > until_ns + 60 * UINT64_C(1000000000)) {
			gaps++;
			ck_assert_uint_eq(ingest_host(in, i)->applied_ns, until_ns);
		}
	ck_assert_uint_eq(gaps, 1);
	ingest_destroy(in);
	g_free(later);
}
END_TEST

/* The same recording again, only from its second second to its third. */
static struct visits visit_limited(const char *name, const struct fields_wanted *wanted, bool limit, bool models)
{
	struct visits v = { .ordered = true, .paired = true };
	const struct ingest_visitor visitor = { .wanted = wanted, .before = see_before, .user = &v };
	struct ingest_options options = { .workers = 3 }, limited = { .workers = 3, .visitor = &visitor };
	struct ingest *like = ingest_create(&options), *in = ingest_create(&limited);
	char *directory = g_build_filename(getenv("BUILD") ? getenv("BUILD") : "build", "traces", name, NULL);

	read_recording(like, name);
	v.in = in;
	v.begin_ns = ingest_begin_ns(like) + 1000000000;
	v.end_ns = v.begin_ns + 1000000000;
	ck_assert_int_eq(ingest_open(in, directory), LT_OK);
	if (limit)
		ingest_limit(in, like, v.begin_ns, v.end_ns, models);
	ck_assert_int_eq(ingest_start(in, NULL), LT_OK);
	ck_assert_int_eq(ingest_advance_in_order(in, UINT64_MAX, NULL), LT_END);
	ingest_destroy(like);
	ingest_destroy(in);
	g_free(directory);
	return v;
}

/* For an interval, workers send only its events, or only the fields of its events; and all of these. */
START_TEST(test_limit)
{
	struct fields_wanted wanted;
	struct visits all, part, models;

	fields_wanted_init(&wanted);
	wanted.classes = WANTED_ALL;
	all = visit_limited("three-tier", &wanted, false, false);
	part = visit_limited("three-tier", &wanted, true, false);
	models = visit_limited("three-tier", &wanted, true, true);
	ck_assert_uint_gt(all.inside, 1000);
	ck_assert_uint_gt(all.events, 3 * all.inside);
	ck_assert_uint_eq(part.inside, all.inside);
	ck_assert_uint_eq(models.inside, all.inside);
	/* 1 ns more at each end for each host */
	ck_assert_uint_le(part.events, all.inside + 6);
	ck_assert_uint_eq(part.with_fields, part.events);
	ck_assert_uint_eq(models.events, all.events);
	ck_assert_uint_ge(models.with_fields, all.inside);
	ck_assert_uint_le(models.with_fields, all.inside + 6);
	fields_wanted_release(&wanted);
}
END_TEST

/* Of the other kinds it sees the events with fields; before and after each, the model has the corresponding state. */
START_TEST(test_visitor_sees_some_kinds)
{
	const bool none[EVENT_KINDS] = { false }, switches[EVENT_KINDS] = { [EVENT_SCHED_SWITCH] = true };
	struct fields_wanted wanted;
	struct visits all, some;

	fields_wanted_init(&wanted);
	wanted.classes = WANTED_CALLS;
	g_ptr_array_add(wanted.names, g_strdup("postgres"));
	all = visit_all("three-tier", &wanted);
	some = visit_some("three-tier", &wanted, none);
	ck_assert_uint_eq(some.events, all.with_fields);
	ck_assert_uint_eq(some.with_fields, all.with_fields);
	some = visit_some("three-tier", &wanted, switches);
	ck_assert_uint_eq(some.with_fields, all.with_fields);
	ck_assert_uint_eq(some.switches, all.switches);
	ck_assert_uint_eq(some.applied, all.applied);
	ck_assert_uint_eq(some.events, all.with_fields + all.switches);
	ck_assert(some.ordered);
	fields_wanted_release(&wanted);
}
END_TEST

/*
 * That there is no room where the relayd stores is why a session's source stops, unless the user detaches it. No relayd
 * answers here, at a port that nobody listens to or a socket that nobody serves; and /proc never has room.
 */
START_TEST(test_full_disk)
{
	for (int served = 0; served < 2; served++) {
		const struct ingest_options options = { .store = "/proc", .follow = true };
		struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		socklen_t size = sizeof(address);
		const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		char *program = g_build_filename(getenv("BUILD") ? getenv("BUILD") : "build", "lttngtop", NULL);
		struct ingest *in = ingest_create(&options);
		char *url;

		source_set_worker_program(g_intern_string(program));
		ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, size), 0);
		ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &size), 0);
		ck_assert(!served || listen(fd, 1) == 0);
		url = g_strdup_printf("net://127.0.0.1:%u/host/web/s", ntohs(address.sin_port));
		ck_assert_msg(ingest_open(in, url) == LT_OK, "%s", error_text());
		ingest_start_some(in);
		ck_assert_uint_eq(ingest_input_count(in), 1);
		if (served)
			ingest_detach(in, ingest_input(in, 0).id);
		while (ingest_input(in, 0).runs) {
			ingest_wait(in, 100);
			ingest_start_some(in);
		}
		ck_assert_msg(served || strstr(ingest_input(in, 0).state, "disk is full, in '/proc'"), "%s",
			      ingest_input(in, 0).state);
		ck_assert_int_eq(ingest_broken(in), !served);
		ingest_destroy(in);
		close(fd);
		g_free(url);
		g_free(program);
	}
}
END_TEST

UNIT_MAIN("ingest", test_same_with_any_number_of_workers, test_same_in_steps, test_ready_hosts_have_everything,
	  test_hosts_and_record, test_cpu_time_is_complete_at_every_cut, test_nothing_to_read, test_survey,
	  test_options_are_read_at_once, test_visitor_sees_all_in_order, test_fields_of_chosen_threads, test_limit,
	  test_visitor_sees_some_kinds, test_gap, test_full_disk)
