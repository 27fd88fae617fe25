/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UNIT_WAITS_EVENTS_H
#define LT_UNIT_WAITS_EVENTS_H

/*
 * Hand-built wait events of hosts, and the resulting rows as text: "10 R 20 B<7@20 30" is a vertex at 10, one at 20
 * whose edge was running, and one at 30 whose edge was blocked and to which a link from thread 7 at 20 leads. 'i' is a
 * wait for work, '.' a gap, K0 the kernel row of CPU 0.
 */
#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "clock/map_build.h"
#include "unit.h"
#include "waits/internal.h"
#include "waits/waits.h"

static const char letters[WAIT_STATES + 1] = "RPITDNUXB?";
static const char link_letters[] = "-<+~=^";

enum { HOSTS = 7 };

struct test {
	struct waits *w;
	struct wait_log log[HOSTS];
	struct clock_map *map[HOSTS]; /* NULL: no map */
};

static inline void begin_hosts(struct test *t, unsigned hosts, const struct waits_options *options, bool mapped)
{
	memset(t, 0, sizeof(*t));
	t->w = waits_create(options);
	for (unsigned h = 0; h < hosts; h++) {
		if (mapped)
			t->map[h] = clock_map_create();
		wait_log_init(&t->log[h]);
		waits_add_host(t->w, t->map[h]);
	}
}

static inline void begin_with(struct test *t, unsigned hosts, size_t memory_bytes)
{
	const struct waits_options options = { .memory_bytes = memory_bytes };

	begin_hosts(t, hosts, &options, false);
}

static inline void begin(struct test *t, unsigned hosts)
{
	begin_with(t, hosts, 0);
}

/* With a map of each host's clock, which says nothing yet. */
static inline void begin_mapped(struct test *t, unsigned hosts)
{
	const struct waits_options options = { 0 };

	begin_hosts(t, hosts, &options, true);
}

static inline void end(struct test *t)
{
	for (unsigned h = 0; h < HOSTS; h++) {
		wait_log_release(&t->log[h]);
		if (t->map[h])
			clock_map_destroy(t->map[h]);
	}
	waits_destroy(t->w);
}

static inline struct wait_event *add(struct test *t, unsigned host, uint64_t t_ns, enum wait_event_kind kind,
				     unsigned cpu)
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

static inline void switched(struct test *t, unsigned host, uint64_t t_ns, unsigned cpu, int from, int prev_state,
			    int to)
{
	struct wait_event *e = add(t, host, t_ns, WAIT_EVENT_SWITCH, cpu);

	e->tid = to;
	e->from_tid = from;
	e->prev_state = prev_state;
}

static inline struct wait_event *woken(struct test *t, unsigned host, uint64_t t_ns, unsigned cpu, int tid)
{
	struct wait_event *e = add(t, host, t_ns, WAIT_EVENT_WAKE, cpu);

	e->tid = tid;
	e->state = WAIT_BLOCKED;
	return e;
}

static inline struct wait_event *woken_by_softirq(struct test *t, unsigned host, uint64_t t_ns, unsigned cpu, int tid,
						  unsigned vec, enum wait_state state)
{
	struct wait_event *e = woken(t, host, t_ns, cpu, tid);

	e->context = e->below = WAIT_CONTEXT_SOFTIRQ;
	e->vec = (uint8_t)vec;
	e->state = (uint8_t)state;
	return e;
}

/* A segment of a TCP connection between 10.0.0.1:1000 and 10.0.0.2:80; softirq: sent or received there. */
static inline void packet(struct test *t, unsigned host, uint64_t t_ns, unsigned cpu, bool sent, bool softirq,
			  bool answer, uint32_t seq)
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

/* A packet received in a softirq that is neither TCP nor UDP. */
static inline void packet_without_headers(struct test *t, unsigned host, uint64_t t_ns, unsigned cpu)
{
	struct wait_event *e = add(t, host, t_ns, WAIT_EVENT_RECEIVE, cpu);

	e->context = e->below = WAIT_CONTEXT_SOFTIRQ;
}

static inline void take(struct test *t, unsigned host, uint64_t watermark_ns)
{
	waits_take(t->w, host, &t->log[host]);
	waits_watermark(t->w, host, watermark_ns);
}

static inline void take_all(struct test *t, unsigned hosts, uint64_t watermark_ns)
{
	for (unsigned h = 0; h < hosts; h++)
		take(t, h, watermark_ns);
	waits_run(t->w);
}

static inline void finish(struct test *t, unsigned hosts)
{
	take_all(t, hosts, UINT64_MAX);
}

static inline char *row_text(const struct test *t, wait_row row)
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
		g_string_append_printf(s, "%s%" PRIu64, s->len ? " " : "", v->t_ns);
	}
	return g_string_free(s, FALSE);
}

static inline void check_row(const struct test *t, wait_row row, const char *want)
{
	char *got;

	ck_assert_uint_ne(row, WAIT_NO_ROW);
	got = row_text(t, row);
	ck_assert_str_eq(got, want);
	g_free(got);
}

static inline void check(const struct test *t, unsigned host, int tid, const char *want)
{
	check_row(t, waits_find(t->w, host, tid, UINT64_MAX), want);
}

/* The row of an idle task (TID 0), or of the packets that a CPU receives (-1). */
static inline wait_row row_of_cpu(const struct test *t, unsigned host, int tid, int cpu)
{
	for (wait_row row = 0; row < waits_graph(t->w)->n_rows; row++) {
		const struct wait_who who = waits_who(t->w, row);

		if (who.host == host && who.tid == tid && who.cpu == cpu)
			return row;
	}
	return WAIT_NO_ROW;
}

#endif
