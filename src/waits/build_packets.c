/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets: the thread on whose behalf each was sent, the row that received it, and
 * the link between the two.
 *
 * A packet sent by a softirq or a timer (the window opened, a time-out) did not originate there: it belongs to the task
 * that last sent on its flow, and its link starts when that task sent. But if the packet has data which the task may
 * have written later, and who receives it ran in between, that time explains nothing: only the packet's own transit is
 * a link then. What is sent again did exist, and a thread that was asleep all the time waited for no other packet.
 */
#include "waits/build_internal.h"

#include <string.h>

#include "base/nstime.h"

enum { FLOWS = 1 << 13 };

enum { TCP = 6, FIN = 0x01, SYN = 0x02, ACK = 0x10 };

#define TRANSIT_MAX_NS (5 * NS_PER_S) /* what arrives later is another packet */

/*
 * The two words that the matcher returns for each end: the row with its life, and the reference time; of a send, twice
 * that time, and 1 if the data may have been written later.
 */
enum { COOKIE_ROW, COOKIE_TIME };

static void cookie_set(uint64_t cookie[2], wait_row row, uint32_t life, uint64_t t_ns, bool later)
{
	cookie[COOKIE_ROW] = (uint64_t)life << 32 | row;
	cookie[COOKIE_TIME] = t_ns << 1 | later;
}

/* ---- which end opened a connection ---- */

struct end {
	const uint64_t *addr;
	uint16_t port;
};

static bool end_less(struct end a, struct end b)
{
	int order = memcmp(a.addr, b.addr, 2 * sizeof(uint64_t));

	return order ? order < 0 : a.port < b.port;
}

static struct opening *opening_of(const struct build *b, struct end least, struct end other, uint64_t *key)
{
	uint64_t h = map64_mix(map64_mix(least.addr[0], least.addr[1]), least.port);

	*key = map64_mix(map64_mix(map64_mix(h, other.addr[0]), other.addr[1]), other.port) | 1;
	return &b->openings[*key >> 1 & (FLOWS - 1)];
}

/* A packet with SYN and without ACK comes from the end that connects. */
static void note_opening(struct build *b, const struct clock_packet *p)
{
	struct end from = { p->saddr, p->sport }, to = { p->daddr, p->dport };
	const bool by_least = end_less(from, to);
	struct opening *o;
	uint64_t key;

	if (p->protocol != TCP || (p->flags & (SYN | ACK)) != SYN)
		return;
	o = by_least ? opening_of(b, from, to, &key) : opening_of(b, to, from, &key);
	*o = (struct opening){ .key = key, .by_least = by_least };
}

/*
 * The receiver is the client if it opened the connection. If the SYN was not seen, the client is the end with the
 * higher port, because the ports that the system chooses for clients are high.
 */
static enum wait_role role_of_receiver(const struct build *b, const struct clock_packet *p)
{
	struct end from = { p->saddr, p->sport }, to = { p->daddr, p->dport };
	const bool from_is_least = end_less(from, to);
	const struct opening *o;
	uint64_t key;

	o = from_is_least ? opening_of(b, from, to, &key) : opening_of(b, to, from, &key);
	if (o->key == key)
		return o->by_least == from_is_least ? WAIT_ROLE_SERVER : WAIT_ROLE_CLIENT;
	if (p->sport == p->dport)
		return WAIT_ROLE_NONE;
	return p->dport > p->sport ? WAIT_ROLE_CLIENT : WAIT_ROLE_SERVER;
}

/* ---- matches ---- */

static struct build_received *received_on(const struct build *b, unsigned host, unsigned cpu)
{
	const struct build_host *h = build_host(b, host);

	return cpu < h->received->len ? &g_array_index(h->received, struct build_received, cpu) : NULL;
}

/* The packet received then, if its CPU is still delivering it; NULL: it is not. */
static struct pending_link *still_delivered(const struct build *b, unsigned host, wait_row receiver, uint64_t to_ns)
{
	const struct wait_who *who = &build_row(b, receiver)->who;
	struct build_received *r = who->cpu < 0 ? NULL : received_on(b, host, (unsigned)who->cpu);

	for (unsigned i = 0; r && i < r->n; i++)
		if (r->links[i].to == receiver && r->links[i].to_ns == to_ns)
			return &r->links[i];
	return NULL;
}

/* A send and a receive are the same packet: until the receiver's next vertex, and as long as it is delivered. */
static void matched(void *data, const struct match *m)
{
	const struct build *b = data;
	const struct match_end *from = &m->from, *to = &m->to;
	const wait_row receiver = (wait_row)to->cookie[COOKIE_ROW];
	struct build_row *r = build_row(b, receiver);
	struct pending_link *received;

	if (r->life != to->cookie[COOKIE_ROW] >> 32)
		return;
	r->pending = (struct pending_link){
		.set = true,
		.from = (wait_row)from->cookie[COOKIE_ROW],
		.to = receiver,
		.from_life = (uint32_t)(from->cookie[COOKIE_ROW] >> 32),
		.from_ns = from->cookie[COOKIE_TIME] >> 1,
		.to_ns = to->cookie[COOKIE_TIME] >> 1,
		.written_ns = from->cookie[COOKIE_TIME] & 1 ? from->ts_ns : from->cookie[COOKIE_TIME] >> 1,
		.role = m->packet->ip_version ? role_of_receiver(b, m->packet) : WAIT_ROLE_NONE,
	};
	received = b->receiving ? b->receiving : still_delivered(b, to->host, receiver, r->pending.to_ns);
	if (received)
		*received = r->pending;
}

void build_packets_create(struct build *b, size_t memory_bytes)
{
	const struct match_options options = { .memory_bytes = memory_bytes, .transit_max_ns = TRANSIT_MAX_NS };

	b->matcher = matcher_create(&options, matched, b);
	b->flows = g_new0(struct flow, FLOWS);
	b->openings = g_new0(struct opening, FLOWS);
}

void build_packets_destroy(struct build *b)
{
	matcher_destroy(b->matcher);
	g_free(b->flows);
	g_free(b->openings);
}

size_t build_packet_bytes(const struct build *b)
{
	return matcher_bytes(b->matcher);
}

void build_packets_restart(struct build *b)
{
	matcher_forget(b->matcher, UINT32_MAX);
	memset(b->flows, 0, FLOWS * sizeof(struct flow));
	memset(b->openings, 0, FLOWS * sizeof(struct opening));
}

static void link_packet(struct build *b, const struct pending_link *p, uint64_t from_ns, wait_row to, uint64_t to_ns,
			enum wait_link kind)
{
	if (build_row(b, p->from)->life != p->from_life)
		return;
	graph_link(b->graph, p->from, from_ns, to, to_ns, kind);
	b->links++;
}

void build_packets_settle(struct build *b, wait_row row)
{
	struct build_row *r = build_row(b, row);

	if (!r->pending.set)
		return;
	r->pending.set = false;
	link_packet(b, &r->pending, r->pending.from_ns, row, r->pending.to_ns, WAIT_LINK_NETWORK);
}

const struct pending_link *build_packets_waking(const struct build *b, unsigned host, const struct wait_event *e,
						wait_row row)
{
	const struct build_received *r = received_on(b, host, e->cpu);
	const struct pending_link *packet = r && e->place < r->n ? &r->links[e->place] : NULL;

	return packet && packet->set && packet->to == row ? packet : NULL;
}

void build_packets_redirect(struct build *b, const struct pending_link *packet, wait_row woken, uint64_t asleep_ns,
			    bool waited)
{
	struct pending_link *pending = &build_row(b, packet->to)->pending;
	const uint64_t since_ns = MAX(packet->written_ns, asleep_ns);

	if (packet->from_ns == packet->written_ns || asleep_ns <= packet->from_ns)
		link_packet(b, packet, packet->from_ns, woken, b->now_ns, WAIT_LINK_NETWORK);
	else if (waited && since_ns < b->now_ns)
		link_packet(b, packet, since_ns, woken, b->now_ns, WAIT_LINK_TRANSIT);
	if (pending->from == packet->from && pending->from_ns == packet->from_ns && pending->to_ns == packet->to_ns)
		pending->set = false;
}

void build_packets_forget(const struct build *b, unsigned host, unsigned cpu)
{
	struct build_received *r = received_on(b, host, cpu);

	if (r)
		r->n = 0;
}

/* The place of a packet that is received on that row now; NULL: the event names none. */
static struct pending_link *place_of(const struct build *b, unsigned host, const struct wait_event *e, wait_row row)
{
	GArray *of_host = build_host(b, host)->received;
	struct build_received *r;

	if (e->place > WAIT_PLACE_LOCAL || e->cpu == WAIT_ALL_CPUS)
		return NULL;
	if (e->cpu >= of_host->len)
		g_array_set_size(of_host, e->cpu + 1u);
	r = received_on(b, host, e->cpu);
	while (r->n <= e->place)
		r->links[r->n++] = (struct pending_link){ .set = false };
	r->links[e->place] = (struct pending_link){ .to = row, .to_ns = b->now_ns };
	return &r->links[e->place];
}

/* ---- the thread to which a packet belongs ---- */

static struct flow *flow_of(struct build *b, unsigned host, const struct clock_packet *p, uint64_t *key)
{
	uint64_t h = map64_mix(map64_mix(p->daddr[0], p->daddr[1]), p->saddr[0]);

	h = map64_mix(map64_mix(h, p->saddr[1]), (uint64_t)p->sport << 16 | p->dport);
	*key = map64_mix(h, (uint64_t)host << 8 | p->protocol) | 1;
	return &b->flows[*key >> 1 & (FLOWS - 1)];
}

/* TCP: of the byte after the packet. */
static uint32_t end_seq(const struct clock_packet *p)
{
	return p->seq + (uint32_t)MAX(p->payload_len, 0) + (p->flags & (SYN | FIN) ? 1 : 0);
}

/* Whether the task sent the packet itself, the last time. */
static bool sent_again(const struct flow *f, const struct clock_packet *p)
{
	return p->protocol == TCP && (int32_t)(p->seq - f->end_seq) < 0;
}

/* The task that last sent on the packet's flow, as a cookie; false: unknown. */
static bool flow_sender(struct build *b, unsigned host, const struct clock_packet *p, uint64_t cookie[2])
{
	const struct flow *f;
	uint64_t key;

	if (!p || !p->ip_version)
		return false;
	f = flow_of(b, host, p, &key);
	if (f->key != key || build_row(b, f->row)->life != f->life)
		return false;
	cookie_set(cookie, f->row, f->life, f->sent_ns, !sent_again(f, p));
	return true;
}

static void flow_sent(struct build *b, unsigned host, const struct clock_packet *p, wait_row row)
{
	struct flow *f;
	uint64_t key;

	if (!p || !p->ip_version)
		return;
	f = flow_of(b, host, p, &key);
	*f = (struct flow){
		.key = key,
		.row = row,
		.life = build_row(b, row)->life,
		.end_seq = end_seq(p),
		.sent_ns = b->now_ns,
	};
}

static bool is_idle(const struct build_thread *t)
{
	return t && t->tid == TID_IDLE;
}

struct build_thread *build_receiver(struct build *b, unsigned host, const struct wait_event *e)
{
	const bool in_interrupt = e->below == WAIT_CONTEXT_SOFTIRQ || e->below == WAIT_CONTEXT_IRQ;
	struct build_thread *current = in_interrupt ? NULL : build_current(b, host, e);

	return in_interrupt || is_idle(current) ? build_thread_kernel(b, host, e->cpu) : current;
}

/* Whether the CPU's task sends the packet. An idle one sends nothing: it was an interrupt that was not recorded. */
static bool in_task(struct build *b, unsigned host, const struct wait_event *e)
{
	return e->below == WAIT_CONTEXT_TASK && !is_idle(build_current(b, host, e));
}

/* The thread that sends the packet; NULL: none. */
static struct build_thread *sender(struct build *b, unsigned host, const struct wait_event *e)
{
	if (in_task(b, host, e))
		return build_current(b, host, e);
	return e->below == WAIT_CONTEXT_SOFTIRQ ? build_thread_kernel(b, host, e->cpu) : NULL;
}

void build_packet(struct build *b, unsigned host, const struct wait_event *e, const struct clock_packet *packet)
{
	const bool sent = e->kind == WAIT_EVENT_SEND;
	const bool by_task = sent && in_task(b, host, e);
	const struct build_thread *t;
	uint64_t cookie[2];
	wait_row row;

	if (packet && packet->ip_version)
		note_opening(b, packet);
	b->receiving = NULL;
	if (sent && !by_task && flow_sender(b, host, packet, cookie)) {
		matcher_feed(b->matcher, host, b->now_ns, true, packet, cookie);
		return;
	}
	t = sent ? sender(b, host, e) : build_receiver(b, host, e);
	if (!t)
		return;
	row = build_extend(b, t);
	if (!sent)
		b->receiving = place_of(b, host, e, row);
	if (!packet)
		return;
	cookie_set(cookie, row, build_row(b, row)->life, b->now_ns, false);
	if (by_task)
		flow_sent(b, host, packet, row);
	matcher_feed(b->matcher, host, b->now_ns, sent, packet, cookie);
}
