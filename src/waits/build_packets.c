/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets: on whose behalf they were sent, who received them, and the link
 * between the two.
 *
 * A packet that a softirq or a timer sends (the window opened, a time-out) was not made there: it
 * belongs to the task that sent last on its flow, and so does the link, from that time on.
 */
#include "clock/compat.h"
#include "waits/build_internal.h"

#include <string.h>

enum { FLOWS = 1 << 13 };

/* What a matcher hands back of an end: row and its life, time as built. */
enum { COOKIE_ROW, COOKIE_TIME };

static uint64_t cookie_row(wait_row row, uint32_t life)
{
	return (uint64_t)life << 32 | row;
}

/* A send and a receive are the same packet: kept until the receiver's next vertex, the latest only. */
static void ends_matched(void *data, const struct match_end *from, const struct match_end *to)
{
	const struct build *b = data;
	const wait_row sender = (wait_row)from->cookie[COOKIE_ROW], receiver = (wait_row)to->cookie[COOKIE_ROW];
	struct build_row *r = build_row(b, receiver);

	if (r->life != to->cookie[COOKIE_ROW] >> 32)
		return;
	r->pending = (struct pending_link){
		.set = true, .from = sender, .from_life = (uint32_t)(from->cookie[COOKIE_ROW] >> 32),
		.from_ns = from->cookie[COOKIE_TIME], .to_ns = to->cookie[COOKIE_TIME],
	};
}

static void matched(void *data, const struct match *m)
{
	ends_matched(data, &m->from, &m->to);
}

void build_packets_create(struct build *b)
{
	if (b->compat)
		return; /* its matcher wants to know all hosts first */
	b->matcher = matcher_create(NULL, matched, b);
	b->flows = g_new0(struct flow, FLOWS);
}

void build_packets_destroy(struct build *b)
{
	compat_matcher_destroy(b->compat_matcher);
	if (b->matcher)
		matcher_destroy(b->matcher);
	g_free(b->flows);
}

void build_packets_restart(struct build *b)
{
	if (b->compat) {
		compat_matcher_destroy(b->compat_matcher);
		b->compat_matcher = NULL;
		return;
	}
	matcher_forget(b->matcher, UINT32_MAX);
	memset(b->flows, 0, FLOWS * sizeof(struct flow));
}

static void link_packet(struct build *b, const struct pending_link *p, wait_row to, uint64_t to_ns)
{
	if (build_row(b, p->from)->life != p->from_life)
		return;
	graph_link(b->graph, p->from, p->from_ns, to, to_ns, WAIT_LINK_NETWORK);
	b->links++;
}

void build_packets_settle(struct build *b, wait_row row)
{
	struct build_row *r = build_row(b, row);

	if (!r->pending.set)
		return;
	r->pending.set = false;
	link_packet(b, &r->pending, row, r->pending.to_ns);
}

void build_packets_redirect(struct build *b, wait_row row, wait_row woken)
{
	struct build_row *r = build_row(b, row);

	if (!r->pending.set)
		return;
	r->pending.set = false;
	link_packet(b, &r->pending, woken, b->now_ns);
}

/* ---- whose a packet is ---- */

static struct flow *flow_of(struct build *b, unsigned host, const struct clock_packet *p, uint64_t *key)
{
	uint64_t h = map64_hash(p->saddr[0] ^ map64_hash(p->saddr[1] ^ map64_hash(p->daddr[0] ^ map64_hash(p->daddr[1]))));

	*key = map64_hash(h ^ ((uint64_t)host << 48 | (uint64_t)p->protocol << 40) ^
			  ((uint64_t)p->sport << 16 | p->dport)) | 1;
	return &b->flows[*key >> 1 & (FLOWS - 1)];
}

/* The task that sent last on the packet's flow, as a cookie; false: nobody knows. */
static bool flow_sender(struct build *b, unsigned host, const struct clock_packet *p, uint64_t cookie[2])
{
	const struct flow *f;
	uint64_t key;

	if (!p || !p->ip_version)
		return false;
	f = flow_of(b, host, p, &key);
	if (f->key != key || build_row(b, f->row)->life != f->life)
		return false;
	cookie[COOKIE_ROW] = cookie_row(f->row, f->life);
	cookie[COOKIE_TIME] = f->sent_ns;
	return true;
}

static void flow_sent(struct build *b, unsigned host, const struct clock_packet *p, wait_row row)
{
	struct flow *f;
	uint64_t key;

	if (!p || !p->ip_version)
		return;
	f = flow_of(b, host, p, &key);
	*f = (struct flow){ .key = key, .row = row, .life = build_row(b, row)->life, .sent_ns = b->now_ns };
}

/* The thread that has the packet now; NULL: nobody's. */
static struct build_thread *owner(struct build *b, unsigned host, const struct wait_event *e, bool sent)
{
	const bool in_interrupt = e->below == WAIT_CONTEXT_SOFTIRQ || e->below == WAIT_CONTEXT_IRQ;

	if (!sent)
		return in_interrupt ? build_thread_kernel(b, host, e->cpu) : build_current(b, host, e);
	if (e->below == WAIT_CONTEXT_TASK)
		return build_current(b, host, e);
	return e->below == WAIT_CONTEXT_SOFTIRQ ? build_thread_kernel(b, host, e->cpu) : NULL;
}

static void feed_compat(struct build *b, unsigned host, bool sent, const struct clock_packet *packet,
			const uint64_t cookie[2])
{
	struct compat_key key;

	if (!compat_key_of_packet(packet, &key))
		return;
	if (!b->compat_matcher)
		b->compat_matcher = compat_matcher_create(b->hosts->len, ends_matched, b);
	compat_matcher_feed(b->compat_matcher, host, b->now_ns, sent, &key, cookie);
}

void build_packet(struct build *b, unsigned host, const struct wait_event *e, const struct clock_packet *packet)
{
	const bool sent = e->kind == WAIT_EVENT_SEND;
	const struct build_thread *t;
	uint64_t cookie[2];
	wait_row row;

	if (sent && !b->compat && e->below != WAIT_CONTEXT_TASK && flow_sender(b, host, packet, cookie)) {
		matcher_feed(b->matcher, host, b->now_ns, true, packet, cookie);
		return;
	}
	t = owner(b, host, e, sent);
	if (!t)
		return;
	row = build_extend(b, t);
	if (!packet)
		return;
	cookie[COOKIE_ROW] = cookie_row(row, build_row(b, row)->life);
	cookie[COOKIE_TIME] = b->now_ns;
	if (b->compat) {
		feed_compat(b, host, sent, packet, cookie);
		return;
	}
	if (sent && e->below == WAIT_CONTEXT_TASK)
		flow_sent(b, host, packet, row);
	matcher_feed(b->matcher, host, b->now_ns, sent, packet, cookie);
}
