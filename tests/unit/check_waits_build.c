/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From wait events to the graph: hand-built events of hosts, and the resulting rows as text:
 * "10 R 20 B<7@20 30" is a vertex at 10, one at 20 whose edge was running, and one at 30 whose edge was
 * blocked and to which a link from thread 7 at 20 leads. 'i' is a wait for work, '.' a gap, K0 the kernel row of CPU 0.
 */
#include <glib.h>
#include <string.h>

#include "clock/map_build.h"
#include "unit.h"
#include "waits/internal.h"
#include "waits/waits.h"

static const char letters[WAIT_STATES + 1] = "RPITDNUXB?";
static const char link_letters[] = "-<+~t=";

enum { HOSTS = 7 };

struct test {
	struct waits *w;
	struct wait_log log[HOSTS];
	struct clock_map *map[HOSTS]; /* NULL: no map */
};

static void begin(struct test *t, unsigned hosts)
{
	const struct waits_options options = { 0 };

	memset(t, 0, sizeof(*t));
	t->w = waits_create(&options);
	for (unsigned h = 0; h < hosts; h++) {
		wait_log_init(&t->log[h]);
		waits_add_host(t->w, t->map[h]);
	}
}

static void end(struct test *t)
{
	for (unsigned h = 0; h < HOSTS; h++) {
		wait_log_release(&t->log[h]);
		if (t->map[h])
			clock_map_destroy(t->map[h]);
	}
	waits_destroy(t->w);
}

static struct wait_event *add(struct test *t, unsigned host, uint64_t t_ns, enum wait_event_kind kind, unsigned cpu)
{
	struct wait_log *log = &t->log[host];

	if (log->n_events == log->events_capacity) {
		log->events_capacity = 2 * log->events_capacity + 16;
		log->events = g_renew(struct wait_event, log->events, log->events_capacity);
	}
	log->events[log->n_events] = (struct wait_event){
		.ts_ns = t_ns,
		.kind = (uint8_t)kind,
		.cpu = (uint16_t)cpu,
		.tid = -1,
		.pid = -1,
		.from_tid = -1,
		.from_pid = -1,
		.fd = -1,
		.packet = WAIT_NO_PACKET,
	};
	return &log->events[log->n_events++];
}

static void switched(struct test *t, unsigned host, uint64_t t_ns, unsigned cpu, int from, int prev_state, int to)
{
	struct wait_event *e = add(t, host, t_ns, WAIT_EVENT_SWITCH, cpu);

	e->tid = to;
	e->from_tid = from;
	e->prev_state = prev_state;
}

static struct wait_event *woken(struct test *t, unsigned host, uint64_t t_ns, unsigned cpu, int tid)
{
	struct wait_event *e = add(t, host, t_ns, WAIT_EVENT_WAKE, cpu);

	e->tid = tid;
	e->state = WAIT_BLOCKED;
	return e;
}

static struct wait_event *woken_by_softirq(struct test *t, unsigned host, uint64_t t_ns, unsigned cpu, int tid,
					   unsigned vec, enum wait_state state)
{
	struct wait_event *e = woken(t, host, t_ns, cpu, tid);

	e->context = e->below = WAIT_CONTEXT_SOFTIRQ;
	e->vec = (uint8_t)vec;
	e->state = (uint8_t)state;
	return e;
}

/* A segment of a TCP connection between 10.0.0.1:1000 and 10.0.0.2:80; softirq: sent or received there. */
static void packet(struct test *t, unsigned host, uint64_t t_ns, unsigned cpu, bool sent, bool softirq, bool answer,
		   uint32_t seq)
{
	struct wait_event *e = add(t, host, t_ns, sent ? WAIT_EVENT_SEND : WAIT_EVENT_RECEIVE, cpu);
	struct wait_log *log = &t->log[host];
	struct clock_packet p = {
		.saddr = { 1 },
		.daddr = { 2 },
		.sport = 1000,
		.dport = 80,
		.seq = seq,
		.ack_seq = 77,
		.flags = 0x10,
		.payload_len = 100,
		.ip_version = 4,
		.protocol = 6,
	};

	if (answer) {
		p.saddr[0] = 2;
		p.daddr[0] = 1;
		p.sport = 80;
		p.dport = 1000;
	}
	if (softirq)
		e->context = e->below = WAIT_CONTEXT_SOFTIRQ;
	if (log->n_packets == log->packets_capacity) {
		log->packets_capacity = 2 * log->packets_capacity + 16;
		log->packets = g_renew(struct clock_packet, log->packets, log->packets_capacity);
	}
	e->packet = log->n_packets;
	log->packets[log->n_packets++] = p;
}

static void take(struct test *t, unsigned host, uint64_t watermark_ns)
{
	waits_take(t->w, host, &t->log[host]);
	waits_watermark(t->w, host, watermark_ns);
}

static void finish(struct test *t, unsigned hosts)
{
	for (unsigned h = 0; h < hosts; h++)
		take(t, h, UINT64_MAX);
	waits_run(t->w);
}

static char *row_text(const struct test *t, wait_row row)
{
	const struct graph_row *r = &waits_graph(t->w)->rows[row];
	GString *s = g_string_new(NULL);

	for (uint64_t i = r->head; i < r->end; i++) {
		const struct vertex *v = &r->ring[i & r->mask];

		if (i > r->head)
			g_string_append_printf(s, " %c", v->gap ? '.' : v->idle ? 'i' : letters[v->state]);
		if (v->link != WAIT_LINK_NONE) {
			const struct wait_who who = waits_who(t->w, v->from);

			g_string_append_c(s, link_letters[v->link]);
			if (who.tid < 0)
				g_string_append_printf(s, "K%d", who.cpu);
			else
				g_string_append_printf(s, "%d", who.tid);
			g_string_append_printf(s, "@%d", (int)v->from_ns);
		}
		g_string_append_printf(s, "%s%d", s->len ? " " : "", (int)v->t_ns);
	}
	return g_string_free(s, FALSE);
}

static void check_row(const struct test *t, wait_row row, const char *want)
{
	char *got;

	ck_assert_uint_ne(row, WAIT_NO_ROW);
	got = row_text(t, row);
	ck_assert_str_eq(got, want);
	g_free(got);
}

static void check(const struct test *t, unsigned host, int tid, const char *want)
{
	check_row(t, waits_find(t->w, host, tid, UINT64_MAX), want);
}

/* The row of an idle task (TID 0), or of the packets that a CPU receives (-1). */
static wait_row row_of_cpu(const struct test *t, unsigned host, int tid, int cpu)
{
	for (wait_row row = 0; row < waits_graph(t->w)->n_rows; row++) {
		const struct wait_who who = waits_who(t->w, row);

		if (who.host == host && who.tid == tid && who.cpu == cpu)
			return row;
	}
	return WAIT_NO_ROW;
}

/* ---- threads ---- */

START_TEST(test_wake_up_by_a_task)
{
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 7, 1, 8);
	woken(&t, 0, 20, 0, 7);
	woken(&t, 0, 22, 0, 7); /* it is already ready */
	woken(&t, 0, 23, 0, 8); /* it is running */
	switched(&t, 0, 30, 0, 8, 0x100, 7);
	finish(&t, 1);
	check(&t, 0, 7, "10 B<8@20 20 P 30");
	check(&t, 0, 8, "10 R 30"); /* a link may start within an edge that is running */
	ck_assert_uint_eq(waits_now(t.w), 31);
	end(&t);
}
END_TEST

/* The state of a thread that was switched out, by prev_state. */
START_TEST(test_states_when_switched_out)
{
	static const struct {
		int prev_state;
		const char *state;
	} cases[] = {
		{ 0, "P" },     { 1, "B" },    { 2, "B" },     { 0x100, "P" },
		{ 0x101, "P" }, { 0x80, "i" }, { 0x402, "i" }, { 0x40, "B" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char want[32];
		struct test t;

		begin(&t, 1);
		switched(&t, 0, 10, 0, 7, cases[i].prev_state, 8);
		switched(&t, 0, 30, 0, 8, 1, 7);
		finish(&t, 1);
		g_snprintf(want, sizeof(want), "10 %s 30", cases[i].state);
		check(&t, 0, 7, want);
		end(&t);
	}
}
END_TEST

/* Stopped and traced are not waits. */
START_TEST(test_stopped)
{
	const struct wait_graph *g;
	const struct graph_row *r;
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 7, 4, 8);
	switched(&t, 0, 20, 0, 8, 8, 7);
	switched(&t, 0, 30, 0, 7, 1, 8);
	finish(&t, 1);
	check(&t, 0, 7, "10 B 20 R 30");
	g = waits_graph(t.w);
	r = &g->rows[waits_find(t.w, 0, 7, UINT64_MAX)];
	ck_assert_str_eq(strpool_text(causes_get(&g->causes, row_vertex(r, 1)->cause)->name), "stopped");
	r = &g->rows[waits_find(t.w, 0, 8, UINT64_MAX)];
	ck_assert_str_eq(strpool_text(causes_get(&g->causes, row_vertex(r, 2)->cause)->name), "traced");
	end(&t);
}
END_TEST

/* TASK_IDLE: a worker without work, whichever thread brings it some; it did not wait for a disk or a timer. */
START_TEST(test_idle)
{
	const struct wait_graph *g;
	const struct graph_row *r;
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 7, 0x80, 8);
	woken(&t, 0, 20, 0, 7);
	switched(&t, 0, 30, 0, 8, 0, 7);
	switched(&t, 0, 40, 0, 7, 0x402, 8); /* the form before 4.14 */
	woken_by_softirq(&t, 0, 50, 0, 7, 4, WAIT_BLOCK_DEVICE);
	switched(&t, 0, 60, 0, 8, 0, 7);
	switched(&t, 0, 70, 0, 7, 2, 8); /* in the middle of its work, it waits like any other thread */
	woken_by_softirq(&t, 0, 80, 0, 7, 4, WAIT_BLOCK_DEVICE);
	switched(&t, 0, 90, 0, 8, 0, 7);
	switched(&t, 0, 100, 0, 7, 0x80, 8);
	switched(&t, 0, 110, 0, 8, 0, 7); /* its wake-up was not seen */
	finish(&t, 1);
	check(&t, 0, 7, "10 i<8@20 20 P 30 R 40 i 50 P 60 R 70 D 80 P 90 R 100 i 110");
	g = waits_graph(t.w);
	r = &g->rows[waits_find(t.w, 0, 7, UINT64_MAX)];
	ck_assert_str_eq(strpool_text(causes_get(&g->causes, row_vertex(r, 4)->cause)->name), "idle");
	end(&t);
}
END_TEST

static void work(struct test *t, uint64_t t_ns, unsigned cpu, enum wait_event_kind kind, int32_t number)
{
	struct wait_event *e = add(t, 0, t_ns, kind, cpu);

	e->work = number;
	if (kind == WAIT_EVENT_WORK_START)
		e->cause = strpool_intern_z("wb_workfn");
}

/* The path of thread 7 through the time in which it is blocked; its sums are the path's. */
static char *path_text(const struct test *t, uint64_t begin_ns, uint64_t end_ns)
{
	const wait_row row = waits_find(t->w, 0, 7, UINT64_MAX);
	struct wait_totals totals, sums = { 0 };
	GString *s = g_string_new(NULL);
	struct wait_path path;

	wait_path_init(&path);
	waits_path(t->w, row, begin_ns, end_ns, &path);
	for (uint32_t i = 0; i < path.n; i++) {
		const struct wait_segment *segment = &path.segments[i];

		g_string_append_printf(s, "%s%d %c %s", i ? ", " : "", waits_who(t->w, segment->row).tid,
				       letters[segment->state], strpool_text(segment->cause.name));
		if (segment->link)
			g_string_append_printf(s, "%c%d", link_letters[segment->link],
					       waits_who(t->w, segment->from).tid);
		g_string_append_printf(s, " until %d", (int)segment->end_ns);
		wait_totals_add(&sums, row, segment);
	}
	waits_totals(t->w, row, begin_ns, end_ns, &totals);
	for (unsigned i = 0; i < WAIT_STATES; i++)
		ck_assert_uint_eq(totals.ns[i], sums.ns[i]);
	ck_assert_uint_eq(totals.own_ns, sums.own_ns);
	wait_path_release(&path);
	return g_string_free(s, FALSE);
}

/* Thread 7 waits for what kworker 9 does: queued at 20 by 7 or by 6, or in an interrupt, started at 40. */
static void check_work(unsigned queuer_cpu, bool in_interrupt, bool lost, const char *want_row, const char *want_path)
{
	struct test t;
	char *got;

	begin(&t, 1);
	switched(&t, 0, 5, 0, 0, 0, 7);
	switched(&t, 0, 5, 1, 0, 0, 9);
	switched(&t, 0, 5, 2, 0, 0, 6);
	work(&t, 12, 1, WAIT_EVENT_WORK_START, NO_WORK);
	work(&t, 20, queuer_cpu, WAIT_EVENT_WORK_QUEUED, 3);
	if (in_interrupt)
		t.log[0].events[t.log[0].n_events - 1].context = WAIT_CONTEXT_SOFTIRQ;
	if (lost)
		add(&t, 0, 21, WAIT_EVENT_INTERRUPT, 3);
	switched(&t, 0, 25, 0, 7, 2, 0);
	work(&t, 35, 1, WAIT_EVENT_WORK_END, NO_WORK);
	work(&t, 40, 1, WAIT_EVENT_WORK_START, 3);
	woken(&t, 0, 60, 1, 7);
	work(&t, 70, 1, WAIT_EVENT_WORK_END, NO_WORK);
	switched(&t, 0, 80, 0, 0, 0, 7);
	switched(&t, 0, 90, 1, 9, 0x402, 0);
	finish(&t, 1);
	check(&t, 0, 9, want_row);
	got = path_text(&t, 10, 80);
	ck_assert_str_eq(got, want_path);
	g_free(got);
	end(&t);
}

/* A kworker that was busy when the work was queued works for whoever queued it. */
START_TEST(test_work)
{
	check_work(0, false, false, "5 i 12 R 35 i=7@20 40 R 70 R 90",
		   "7 R  until 25, 9 P =7 until 40, 9 R wb_workfn until 60, 7 P <9 until 80");
	check_work(2, false, false, "5 i 12 R 35 i=6@20 40 R 70 R 90",
		   "7 R  until 25, 9 P =6 until 40, 9 R wb_workfn until 60, 7 P <9 until 80");
	/* what the kworker did before does not explain it */
	check_work(0, true, false, "5 i 12 R 35 i 40 R 70 R 90",
		   "7 R  until 25, 7 B  until 40, 9 R wb_workfn until 60, 7 P <9 until 80");
	check_work(0, false, true, "5 i 12 R 35 i 40 R 70 R 90",
		   "7 R  until 25, 7 B  until 40, 9 R wb_workfn until 60, 7 P <9 until 80");
}
END_TEST

/* A kworker that was woken for the work: the wake-up is more exact. */
START_TEST(test_woken_for_work)
{
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 5, 0, 0, 0, 7);
	switched(&t, 0, 6, 1, 9, 0x402, 0);
	work(&t, 20, 0, WAIT_EVENT_WORK_QUEUED, 3);
	woken(&t, 0, 21, 0, 9);
	work(&t, 22, 0, WAIT_EVENT_WORK_QUEUED, 4);
	switched(&t, 0, 30, 1, 0, 0, 9);
	work(&t, 31, 1, WAIT_EVENT_WORK_START, 3);
	work(&t, 40, 1, WAIT_EVENT_WORK_END, NO_WORK);
	work(&t, 41, 1, WAIT_EVENT_WORK_START, 4);
	work(&t, 50, 1, WAIT_EVENT_WORK_END, NO_WORK);
	switched(&t, 0, 60, 1, 9, 0x402, 0);
	finish(&t, 1);
	check(&t, 0, 9, "6 i<7@21 21 P 30 R 31 R 40 i=7@22 41 R 50 R 60");
	end(&t);
}
END_TEST

START_TEST(test_fork_and_reuse_of_a_tid)
{
	struct wait_event *e;
	wait_row first;
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 5, 1, 7);
	add(&t, 0, 12, WAIT_EVENT_EXIT, 0)->tid = 7;
	switched(&t, 0, 20, 0, 7, 0x20, 8);
	e = add(&t, 0, 30, WAIT_EVENT_FORK, 0);
	e->tid = 7;
	e->from_tid = 8;
	e->comm = strpool_intern_z("second");
	woken(&t, 0, 31, 0, 7)->new_task = true;
	switched(&t, 0, 40, 0, 8, 1, 7);
	finish(&t, 1);
	check(&t, 0, 7, "+8@31 31 P 40");
	first = waits_find(t.w, 0, 7, 25);
	check_row(&t, first, "10 R 12 R 20");
	ck_assert_str_eq(strpool_text(waits_who(t.w, waits_find(t.w, 0, 7, UINT64_MAX)).comm), "second");
	ck_assert_uint_eq(waits_find(t.w, 0, 9, UINT64_MAX), WAIT_NO_ROW);
	end(&t);
}
END_TEST

/* Before 4.14 a thread that exits shows TASK_DEAD; parked threads and idle sleepers show the same bits. */
/* Its path ends with its exit, whether its last switch is seen or not; events in between count. */
START_TEST(test_path_ends_with_the_exit)
{
	struct wait_path path;
	struct test t;

	wait_path_init(&path);
	for (unsigned seen = 0; seen < 2; seen++) {
		begin(&t, 1);
		switched(&t, 0, 10, 0, 5, 1, 7);
		add(&t, 0, 12, WAIT_EVENT_EXIT, 0)->tid = 7;
		woken(&t, 0, 15, 0, 5);
		if (seen)
			switched(&t, 0, 20, 0, 7, 0x10, 8);
		woken(&t, 0, 90, 1, 9);
		finish(&t, 1);
		check(&t, 0, 7, seen ? "10 R 12 R 15 R 20" : "10 R 12 R 15");
		check(&t, 0, 5, "10 B<7@15 15");
		waits_path(t.w, waits_find(t.w, 0, 7, UINT64_MAX), 0, 100, &path);
		ck_assert_uint_eq(path.end_ns, seen ? 20 : 15);
		end(&t);
	}
	wait_path_release(&path);
}
END_TEST

START_TEST(test_end_of_old_kernels)
{
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 5, 1, 7);
	add(&t, 0, 12, WAIT_EVENT_EXIT, 0)->tid = 7;
	switched(&t, 0, 20, 0, 7, 0x40, 8);
	switched(&t, 0, 30, 0, 8, 0x40, 7);
	switched(&t, 0, 40, 0, 7, 1, 8);
	finish(&t, 1);
	check(&t, 0, 7, "30 R 40");
	check_row(&t, waits_find(t.w, 0, 7, 25), "10 R 12 R 20");
	check(&t, 0, 8, "20 R 30 B 40");
	end(&t);
}
END_TEST

START_TEST(test_idle_rows)
{
	struct test t;

	begin(&t, 2);
	switched(&t, 0, 10, 0, 7, 1, 0);
	switched(&t, 1, 20, 0, 9, 1, 0);
	switched(&t, 0, 30, 1, 8, 1, 0);
	switched(&t, 1, 40, 0, 0, 0, 9);
	finish(&t, 2);
	check_row(&t, row_of_cpu(&t, 0, 0, 0), "10");
	check_row(&t, row_of_cpu(&t, 0, 0, 1), "30");
	check_row(&t, row_of_cpu(&t, 1, 0, 0), "20 R 40");
	end(&t);
}
END_TEST

/* ---- packets ---- */

START_TEST(test_packet_wakes_on_another_host)
{
	struct test t;

	begin(&t, 2);
	switched(&t, 0, 10, 0, 0, 0, 7);
	switched(&t, 1, 11, 0, 9, 1, 0);
	packet(&t, 0, 20, 0, true, false, false, 1);
	add(&t, 1, 30, WAIT_EVENT_NET_SOFTIRQ, 0)->vec = 3;
	packet(&t, 1, 31, 0, false, true, false, 1);
	woken_by_softirq(&t, 1, 32, 0, 9, 3, WAIT_NETWORK);
	finish(&t, 2);
	check(&t, 0, 7, "10 R 20");
	check(&t, 1, 9, "11 N~7@20 32");
	check_row(&t, row_of_cpu(&t, 1, -1, 0), "30 R 31");
	ck_assert_uint_eq(waits_info(t.w).links, 1);
	end(&t);
}
END_TEST

/* The packet wakes all threads woken while it is received, even after the softirq has answered it, but none later. */
START_TEST(test_packet_that_wakes_several)
{
	struct test t;

	begin(&t, 2);
	switched(&t, 0, 10, 0, 0, 0, 7);
	switched(&t, 1, 11, 0, 9, 1, 8);
	switched(&t, 1, 12, 0, 8, 1, 6);
	switched(&t, 1, 13, 0, 6, 1, 0);
	packet(&t, 0, 20, 0, true, false, false, 1);
	add(&t, 1, 30, WAIT_EVENT_NET_SOFTIRQ, 0)->vec = 3;
	packet(&t, 1, 31, 0, false, true, false, 1);
	packet(&t, 1, 32, 0, true, true, true, 2);
	woken_by_softirq(&t, 1, 33, 0, 9, 3, WAIT_NETWORK);
	woken_by_softirq(&t, 1, 34, 0, 8, 3, WAIT_NETWORK);
	add(&t, 1, 40, WAIT_EVENT_NET_SOFTIRQ, 0)->vec = 3;
	woken_by_softirq(&t, 1, 41, 0, 6, 3, WAIT_NETWORK);
	finish(&t, 2);
	check(&t, 1, 9, "11 N~7@20 33");
	check(&t, 1, 8, "11 R 12 N~7@20 34");
	check(&t, 1, 6, "12 R 13 N 41");
	end(&t);
}
END_TEST

/* A packet that has woken a thread is not a link to its receiver, though that row continues. */
START_TEST(test_packet_that_woke_is_forgotten)
{
	struct test t;

	begin(&t, 2);
	switched(&t, 0, 10, 0, 0, 0, 7);
	switched(&t, 1, 11, 0, 9, 1, 0);
	packet(&t, 0, 20, 0, true, false, false, 1);
	packet(&t, 1, 31, 0, false, true, false, 1);
	woken_by_softirq(&t, 1, 32, 0, 9, 3, WAIT_NETWORK);
	packet(&t, 1, 33, 0, true, true, true, 50);
	finish(&t, 2);
	check(&t, 1, 9, "11 N~7@20 32");
	check_row(&t, row_of_cpu(&t, 1, -1, 0), "31 R 33");
	ck_assert_uint_eq(waits_info(t.w).links, 1);
	end(&t);
	/* and one that became a link to its receiver wakes no thread in the next softirq */
	begin(&t, 2);
	switched(&t, 0, 10, 0, 0, 0, 7);
	switched(&t, 1, 11, 0, 9, 1, 0);
	packet(&t, 0, 20, 0, true, false, false, 1);
	packet(&t, 1, 31, 0, false, true, false, 1);
	packet(&t, 1, 33, 0, true, true, true, 50);
	add(&t, 1, 40, WAIT_EVENT_NET_SOFTIRQ, 0)->vec = 3;
	woken_by_softirq(&t, 1, 41, 0, 9, 3, WAIT_NETWORK);
	finish(&t, 2);
	check(&t, 1, 9, "11 N 41");
	check_row(&t, row_of_cpu(&t, 1, -1, 0), "~7@20 31 R 33 . 40");
	end(&t);
}
END_TEST

/* Two packets in one ns share a vertex: the link from the earlier one stays, the later one goes to the woken thread. */
START_TEST(test_two_packets_in_one_ns)
{
	struct test t;

	begin(&t, 2);
	switched(&t, 0, 10, 0, 0, 0, 7);
	switched(&t, 0, 11, 1, 0, 0, 8);
	switched(&t, 1, 12, 0, 9, 1, 0);
	packet(&t, 0, 20, 0, true, false, false, 1);
	packet(&t, 0, 25, 1, true, false, false, 200);
	packet(&t, 1, 31, 0, false, true, false, 1);
	packet(&t, 1, 31, 0, false, true, false, 200);
	woken_by_softirq(&t, 1, 32, 0, 9, 3, WAIT_NETWORK);
	finish(&t, 2);
	check(&t, 1, 9, "12 N~8@25 32");
	check_row(&t, row_of_cpu(&t, 1, -1, 0), "~7@20 31");
	ck_assert_uint_eq(waits_info(t.w).links, 2);
	end(&t);
	/* in either order, and with no thread woken: both links end at the receiver's vertex */
	for (unsigned i = 0; i < 2; i++) {
		begin(&t, 2);
		switched(&t, 0, 10, 0, 0, 0, 7);
		switched(&t, 0, 11, 1, 0, 0, 8);
		packet(&t, 0, 20, 0, true, false, false, 1);
		packet(&t, 0, 25, 1, true, false, false, 200);
		packet(&t, 1, 31, 0, false, true, false, i ? 200 : 1);
		packet(&t, 1, 31, 0, false, true, false, i ? 1 : 200);
		packet(&t, 1, 33, 0, true, true, true, 50);
		finish(&t, 2);
		check_row(&t, row_of_cpu(&t, 1, -1, 0), "~7@20 31 R 33");
		end(&t);
	}
}
END_TEST

/* A packet that wakes no thread is a link to its receiver, once that row continues. */
START_TEST(test_packet_that_wakes_nobody)
{
	struct test t;

	begin(&t, 2);
	switched(&t, 0, 10, 0, 0, 0, 7);
	switched(&t, 1, 11, 0, 0, 0, 9);
	packet(&t, 0, 20, 0, true, false, false, 1);
	packet(&t, 1, 31, 0, false, false, false, 1);
	switched(&t, 1, 40, 0, 9, 1, 0);
	finish(&t, 2);
	check(&t, 1, 9, "11 R~7@20 31 R 40");
	end(&t);
}
END_TEST

/* A softirq sends on behalf of the task that last sent on the flow. */
START_TEST(test_softirq_sends_for_the_task)
{
	struct test t;

	begin(&t, 2);
	switched(&t, 0, 10, 0, 0, 0, 7);
	switched(&t, 1, 11, 0, 9, 1, 0);
	packet(&t, 0, 20, 0, true, false, false, 1);
	add(&t, 0, 50, WAIT_EVENT_NET_SOFTIRQ, 0)->vec = 3;
	packet(&t, 0, 51, 0, true, true, false, 101);
	packet(&t, 1, 60, 0, false, true, false, 101);
	woken_by_softirq(&t, 1, 61, 0, 9, 3, WAIT_NETWORK);
	finish(&t, 2);
	check(&t, 1, 9, "11 N~7@20 61");
	end(&t);
}
END_TEST

/* ---- lost events ---- */

START_TEST(test_lost_events)
{
	struct wait_event *e;
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 7, 1, 8);
	switched(&t, 0, 10, 1, 5, 1, 6);
	woken(&t, 0, 40, 0, 3);
	add(&t, 0, 50, WAIT_EVENT_INTERRUPT, 0);
	e = woken(&t, 0, 60, 0, 7); /* by the thread that runs there now */
	e->from_tid = 9;
	woken(&t, 0, 65, 1, 5); /* this CPU lost no events */
	switched(&t, 0, 70, 0, 9, 1, 7);
	switched(&t, 0, 80, 1, 6, 1, 8);
	finish(&t, 1);
	check(&t, 0, 7, "10 ? 50 B<9@60 60 P 70"); /* certainly blocked since the end of the loss */
	check(&t, 0, 9, "60 R 70");
	check(&t, 0, 6, "10 R 80");
	check(&t, 0, 5, "10 ? 50 B<6@65 65");
	check(&t, 0, 8, "10 R 40 ? 50 P 80"); /* before the loss, it ran when it woke a thread */
	end(&t);
}
END_TEST

START_TEST(test_host_was_away)
{
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 7, 1, 8);
	add(&t, 0, 50, WAIT_EVENT_INTERRUPT, WAIT_ALL_CPUS);
	switched(&t, 0, 70, 0, 8, 1, 7);
	finish(&t, 1);
	check(&t, 0, 7, "10 ? 50 P 70");
	check(&t, 0, 8, "10 ? 50 R 70");
	end(&t);
}
END_TEST

/* ---- the order of events ---- */

/* Hosts wait for each other up to the lowest watermark, in reference time. */
START_TEST(test_order_of_hosts)
{
	const struct waits_options options = { 0 };
	struct test t = { 0 };

	t.w = waits_create(&options);
	t.map[1] = clock_map_create();
	clock_map_add(t.map[1], 1000, 15, 0.0); /* its clock is 985 ahead */
	for (unsigned h = 0; h < 2; h++) {
		wait_log_init(&t.log[h]);
		waits_add_host(t.w, t.map[h]);
	}
	switched(&t, 0, 10, 0, 7, 1, 8);
	switched(&t, 0, 30, 0, 8, 1, 7);
	switched(&t, 1, 1005, 0, 3, 1, 4);
	take(&t, 0, 40);
	waits_run(t.w);
	ck_assert_uint_eq(waits_now(t.w), 0); /* it is not known how far the other host is */
	take(&t, 1, 1010);
	waits_run(t.w);
	ck_assert_uint_eq(waits_now(t.w), 25);
	ck_assert_uint_eq(waits_info(t.w).queued, 1);
	check(&t, 0, 7, "10");
	check(&t, 1, 3, "20");
	switched(&t, 1, 1006, 0, 4, 1, 3); /* not before its watermark */
	switched(&t, 1, 1040, 0, 4, 1, 3);
	take(&t, 1, UINT64_MAX);
	waits_run(t.w);
	ck_assert_uint_eq(waits_now(t.w), 40);
	ck_assert_uint_eq(waits_info(t.w).late, 1);
	check(&t, 1, 3, "20");
	finish(&t, 2);
	check(&t, 1, 3, "20 B 55");
	end(&t);
}
END_TEST

/* With any number of hosts, the one with the earliest event is next: none is late. */
START_TEST(test_order_of_many_hosts)
{
	enum { EVENTS = 500 };
	struct test t;
	uint64_t now = 10;

	begin(&t, HOSTS);
	/* the hosts take turns without a simple pattern; the last one runs out early */
	for (unsigned i = 0, turn = 1; i < EVENTS; i++, now++) {
		turn = turn * 1103515245 + 12345;
		switched(&t, (turn >> 16) % HOSTS % (i < EVENTS / 2 ? HOSTS : HOSTS - 1), now, 0, 7, 1, 8);
	}
	finish(&t, HOSTS);
	ck_assert_uint_eq(waits_info(t.w).queued, 0);
	ck_assert_uint_eq(waits_info(t.w).late, 0);
	end(&t);
}
END_TEST

/* The clocks become known: the graph built before is not in their time. */
START_TEST(test_clocks_begin_anew)
{
	const struct waits_options options = { 0 };
	struct test t = { 0 };

	t.w = waits_create(&options);
	t.map[0] = clock_map_create();
	wait_log_init(&t.log[0]);
	waits_add_host(t.w, t.map[0]);
	switched(&t, 0, 1000, 0, 7, 1, 8);
	take(&t, 0, 2000);
	waits_run(t.w);
	check(&t, 0, 7, "1000");
	clock_map_begin_epoch(t.map[0]);
	clock_map_add(t.map[0], 2000, 500, 0.0);
	switched(&t, 0, 2010, 0, 8, 1, 7);
	switched(&t, 0, 2020, 0, 7, 1, 8);
	finish(&t, 1);
	ck_assert_uint_eq(waits_info(t.w).epoch, 1);
	check(&t, 0, 7, "510 R 520");
	end(&t);
}
END_TEST

/* From a damaged record: 7 ends but is still there; and lost events across a change of the clocks. */
START_TEST(test_whose_row_is_not_there)
{
	struct test t;

	begin(&t, 1);
	switched(&t, 0, 10, 0, 0, 0, 7);
	switched(&t, 0, 20, 0, 7, 0x10, 7);
	woken(&t, 0, 30, 0, 9);
	packet(&t, 0, 31, 0, true, false, false, 1);
	finish(&t, 1);
	check(&t, 0, 7, "10 R 20");
	check(&t, 0, 9, "30");
	end(&t);
}
END_TEST

START_TEST(test_times_of_other_clocks)
{
	const struct waits_options options = { 0 };
	struct test t = { 0 };

	t.w = waits_create(&options);
	t.map[0] = clock_map_create();
	wait_log_init(&t.log[0]);
	waits_add_host(t.w, t.map[0]);
	switched(&t, 0, 1000, 0, 7, 1, 8);
	woken(&t, 0, 1500, 0, 3); /* 8 ran then, by the old clock */
	take(&t, 0, 2000);
	waits_run(t.w);
	clock_map_begin_epoch(t.map[0]);
	clock_map_add(t.map[0], 2000, 500, 0.0);
	switched(&t, 0, 2010, 0, 8, 1, 7);
	add(&t, 0, 2015, WAIT_EVENT_INTERRUPT, WAIT_ALL_CPUS);
	switched(&t, 0, 2020, 0, 7, 1, 8);
	finish(&t, 1);
	check(&t, 0, 8, "510 ? 515 P 520");
	end(&t);
}
END_TEST

/* Many events and packets pass through the queues, in batches. */
START_TEST(test_queues_grow)
{
	struct test t;
	uint64_t now = 10;

	begin(&t, 2);
	switched(&t, 1, 5, 0, 9, 1, 0);
	for (unsigned round = 0; round < 50; round++) {
		for (unsigned i = 0; i < 100; i++, now += 10) {
			switched(&t, 0, now, 0, 0, 0, 7);
			packet(&t, 0, now + 1, 0, true, false, false, (uint32_t)now);
			switched(&t, 0, now + 2, 0, 7, 1, 0);
			packet(&t, 1, now + 3, 0, false, true, false, (uint32_t)now);
		}
		take(&t, 0, round % 3 ? now - 500 : now);
		take(&t, 1, round % 2 ? now - 700 : now);
		waits_run(t.w);
	}
	finish(&t, 2);
	ck_assert_uint_eq(waits_info(t.w).queued, 0);
	ck_assert_uint_eq(waits_info(t.w).late, 0);
	ck_assert_uint_eq(waits_info(t.w).links, 4999); /* the last one is still pending */
	end(&t);
}
END_TEST

UNIT_MAIN("waits_build", test_wake_up_by_a_task, test_states_when_switched_out, test_stopped, test_idle, test_work,
	  test_woken_for_work, test_fork_and_reuse_of_a_tid, test_path_ends_with_the_exit, test_end_of_old_kernels,
	  test_idle_rows, test_packet_wakes_on_another_host, test_packet_that_wakes_several,
	  test_packet_that_wakes_nobody, test_packet_that_woke_is_forgotten, test_two_packets_in_one_ns,
	  test_softirq_sends_for_the_task, test_lost_events, test_host_was_away, test_order_of_hosts,
	  test_order_of_many_hosts, test_clocks_begin_anew, test_whose_row_is_not_there, test_times_of_other_clocks,
	  test_queues_grow)
