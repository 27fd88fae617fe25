/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "clock/match.h"

#include "clock/match_table.h"
#include "event/packet.h"

enum {
	TCP = PACKET_TCP,
	UDP = PACKET_UDP,
	PACKETS_PER_HOST = 65536,
	LEAST_PACKETS = 64, /* whatever the limit on memory */
	/*
	 * Only the latest of the packets with the same key are examined (there may be thousands of duplicate
	 * acknowledgements).
	 */
	COPIES_MAX = 64,
	LIST_MAX = 256,
	PLACES_MAX = 64,
};

struct matcher {
	struct match_options options;
	match_fn *fn;
	void *data;
	struct match_table table;
	GArray *parts; /* uint32_t: entries found by range, while feeding */
};

bool clock_packet_of_event(const struct ev_net *event, enum clock_packet_layout layout, struct clock_packet *out)
{
	/* Without an IP header there may be a TCP header, which always has a flag. */
	uint8_t protocol = event->ip_version ? event->protocol : event->flags ? TCP : 0;
	const uint32_t offset = packet_fragment_offset(event);

	if ((protocol != TCP && protocol != UDP) || (layout == CLOCK_PACKET_NET_DEV && !event->ip_version))
		return false;
	if (offset && protocol == TCP) /* it is matched by a header that it does not have */
		return false;
	*out = (struct clock_packet){
		.saddr = { event->saddr[0], event->saddr[1] },
		.daddr = { event->daddr[0], event->daddr[1] },
		.seq = offset ? offset : event->seq,
		.ack_seq = event->ack_seq,
		.sport = offset ? 0 : event->sport,
		.dport = offset ? 0 : event->dport,
		.flags = event->flags,
		.id = event->ip_version == 4 ? event->ip_id : 0,
		.payload_len = packet_payload_len(event, protocol),
		.ip_version = event->ip_version,
		.protocol = protocol,
		.layout = layout,
	};
	return true;
}

static uint32_t most_packets(size_t memory_bytes)
{
	return memory_bytes ? (uint32_t)CLAMP(memory_bytes / MATCH_ENTRY_BYTES, LEAST_PACKETS, NO_ENTRY) : NO_ENTRY;
}

struct matcher *matcher_create(const struct match_options *options, match_fn *fn, void *data)
{
	struct matcher *m = g_new0(struct matcher, 1);

	if (options)
		m->options = *options;
	if (!m->options.packets_per_host)
		m->options.packets_per_host = PACKETS_PER_HOST;
	m->fn = fn;
	m->data = data;
	match_table_init(&m->table, most_packets(m->options.memory_bytes));
	m->parts = g_array_new(false, false, sizeof(uint32_t));
	return m;
}

void matcher_destroy(struct matcher *m)
{
	if (!m)
		return;
	match_table_release(&m->table);
	g_array_free(m->parts, true);
	g_free(m);
}

/*
 * Whether the times allow two packets to be one. A host sees the cause of what it receives before it receives it; in
 * the other order they are two packets.
 */
static bool may_be_one(const struct matcher *m, const struct match_entry *fed, const struct match_entry *earlier)
{
	if (m->options.transit_max_ns && fed->ts_ns > earlier->ts_ns + m->options.transit_max_ns)
		return false;
	return earlier->host != fed->host || !fed->sent;
}

/* Certainly copies of one packet, except that in a flow without ids retransmissions also count as copies. */
static bool same_packet(const struct clock_packet *a, const struct clock_packet *b)
{
	return match_same_key(a, b) && a->id == b->id && (a->id || match_same_flow(a, b));
}

/* ---- by key ---- */

/* How well two packets with the same key fit; 0: not at all. */
enum fit { FIT_NOT, FIT_NAT_WITHOUT_ID, FIT_OTHER_ID, FIT_NAT, FIT_FLOW };

static enum fit fit_of(const struct clock_packet *a, const struct clock_packet *b)
{
	bool with_id = a->id && b->id;

	if (match_same_flow(a, b))
		return with_id && a->id != b->id ? FIT_OTHER_ID : FIT_FLOW;
	if (with_id)
		return a->id == b->id ? FIT_NAT : FIT_NOT;
	return FIT_NAT_WITHOUT_ID;
}

/*
 * The partner of a datagram without an id, or NO_ENTRY. In order of time, a send that is older than another one, or
 * than one that has arrived, is lost: if it could be a partner, all later receives would get one that is too old.
 */
static uint32_t find_datagram(const struct matcher *m, uint32_t fed)
{
	const struct match_entry *e = match_entry(&m->table, fed);
	const bool in_order = m->options.transit_max_ns != 0;
	uint32_t best = NO_ENTRY, i = e->link[LIST_KEY].older;

	if (in_order && e->sent)
		return NO_ENTRY;
	for (unsigned n = 0; i != NO_ENTRY && n < COPIES_MAX; n++) {
		const struct match_entry *c = match_entry(&m->table, i);
		const uint32_t candidate = i;

		i = c->link[LIST_KEY].older;
		if (!match_same_key(&e->packet, &c->packet) || (in_order && !c->sent))
			continue;
		if (best != NO_ENTRY || c->matched || c->sent == e->sent || !may_be_one(m, e, c))
			return NO_ENTRY;
		best = candidate;
		if (in_order)
			break;
	}
	return best;
}

/* The partner that fits best, the oldest if there are several, or NO_ENTRY. */
static uint32_t find_partner(const struct matcher *m, uint32_t fed, enum fit *fit)
{
	const struct match_entry *e = match_entry(&m->table, fed);
	uint32_t best = NO_ENTRY, i = e->link[LIST_KEY].older;
	unsigned equal = 0;

	*fit = FIT_NOT;
	if (e->packet.protocol == UDP && !e->packet.id) {
		*fit = FIT_FLOW;
		return find_datagram(m, fed);
	}
	for (unsigned n = 0; i != NO_ENTRY && n < COPIES_MAX; n++) {
		const struct match_entry *c = match_entry(&m->table, i);
		enum fit f = FIT_NOT;

		if (!c->matched && c->sent != e->sent && may_be_one(m, e, c) && match_same_key(&e->packet, &c->packet))
			f = fit_of(&e->packet, &c->packet);
		if (f != FIT_NOT && f >= *fit) {
			equal = f > *fit ? 1 : equal + 1;
			*fit = f;
			best = i;
		}
		i = c->link[LIST_KEY].older;
	}
	return *fit == FIT_NAT_WITHOUT_ID && equal > 1 ? NO_ENTRY : best;
}

/* Judges a match by the copies seen so far on its two hosts. */
static void judge_copies(const struct matcher *m, uint32_t sent, uint32_t received, enum fit fit, struct match *out)
{
	const struct match_entry *s = match_entry(&m->table, sent), *r = match_entry(&m->table, received);
	unsigned sends = 0, receives = 0, n = 0;
	bool origin = true; /* the receiver had not sent it before, and the sender had not received it */
	uint64_t first_ns = s->ts_ns, before_ns = UINT64_MAX;
	uint32_t i = map64_get(&m->table.heads[LIST_KEY], s->hash[LIST_KEY]);

	for (; i != NO_ENTRY && n < COPIES_MAX; n++) {
		const struct match_entry *c = match_entry(&m->table, i);

		i = c->link[LIST_KEY].older;
		if (!same_packet(&c->packet, &s->packet) && !same_packet(&c->packet, &r->packet))
			continue;
		if (c->host == s->host && c->sent) {
			sends++;
			first_ns = MIN(first_ns, c->ts_ns);
		}
		if (c->host == r->host && !c->sent)
			receives++;
		if (c->host != s->host && c->host == r->host && c->sent && c->ts_ns <= r->ts_ns)
			origin = false;
		if (c->host == s->host && !c->sent)
			before_ns = c->ts_ns;
	}
	origin &= before_ns > first_ns;
	out->ambiguous = sends > 1 || receives > 1 || i != NO_ENTRY || fit == FIT_OTHER_ID;
	if (s->host == r->host || !origin || i != NO_ENTRY || s->packet.id != r->packet.id || fit == FIT_OTHER_ID ||
	    fit == FIT_NAT_WITHOUT_ID)
		return;
	if (s->packet.protocol == UDP)
		out->certain = s->packet.id && !out->ambiguous;
	else
		out->certain = s->packet.id || sends == 1;
	out->certain_sent_ns = first_ns;
	out->certain_received_ns = r->ts_ns;
}

/* ---- by range ---- */

static bool covers(const struct clock_packet *p, uint32_t byte)
{
	return byte - p->seq < (uint32_t)p->payload_len;
}

/* Which entries of a list to take: those that cover a byte, or those that start within len bytes after it. */
struct wanted {
	uint32_t seq, len; /* len 0: cover seq */
};

/* Examines only the latest entries of a very long list. */
static void collect_list(struct matcher *m, const struct clock_packet *flow, unsigned k, uint32_t seq,
			 struct wanted wanted)
{
	uint32_t i = match_table_range(&m->table, flow, k, seq);

	for (unsigned n = 0; i != NO_ENTRY && n < LIST_MAX; n++) {
		const struct match_entry *c = match_entry(&m->table, i);
		bool take = wanted.len ? c->packet.seq - wanted.seq < wanted.len : covers(&c->packet, wanted.seq);

		if (take && match_same_flow(&c->packet, flow))
			g_array_append_val(m->parts, i);
		i = c->link[LIST_RANGE].older;
	}
}

/* In the order they were fed. */
static void sort_parts(struct matcher *m)
{
	for (guint k = 1; k < m->parts->len; k++) {
		uint32_t i = g_array_index(m->parts, uint32_t, k);
		guint to = k;

		for (; to > 0; to--) {
			uint32_t before = g_array_index(m->parts, uint32_t, to - 1);

			if (match_entry(&m->table, before)->number < match_entry(&m->table, i)->number)
				break;
			g_array_index(m->parts, uint32_t, to) = before;
		}
		g_array_index(m->parts, uint32_t, to) = i;
	}
}

/* Collects the entries of a flow that cover this byte in m->parts. */
static void collect_covering(struct matcher *m, const struct clock_packet *flow, uint32_t byte)
{
	const struct wanted wanted = { .seq = byte };

	g_array_set_size(m->parts, 0);
	for (unsigned k = RANGE_LEAST; k <= RANGE_GREATEST; k++) {
		collect_list(m, flow, k, byte, wanted);
		collect_list(m, flow, k, byte - (1u << k), wanted);
	}
	sort_parts(m);
}

/*
 * Collects the entries of a flow whose first byte the packet covers in m->parts. Pieces smaller than a 64th of the
 * packet are not searched for, as they could be in too many places, except one at its end.
 */
static void collect_inside(struct matcher *m, const struct clock_packet *p)
{
	const struct wanted wanted = { .seq = p->seq, .len = (uint32_t)p->payload_len };
	unsigned least = RANGE_LEAST;
	uint32_t end = p->seq;

	g_array_set_size(m->parts, 0);
	while (wanted.len >> least > PLACES_MAX)
		least++;
	for (unsigned k = least; k <= RANGE_GREATEST; k++) {
		uint32_t places = ((p->seq & ((1u << k) - 1)) + wanted.len - 1) >> k;

		for (uint32_t n = 0; n <= places; n++)
			collect_list(m, p, k, p->seq + (n << k), wanted);
	}
	for (guint k = 0; k < m->parts->len; k++) {
		const struct clock_packet *c = &match_entry(&m->table, g_array_index(m->parts, uint32_t, k))->packet;

		if (c->seq != p->seq || c->payload_len != p->payload_len)
			end = p->seq + MAX(end - p->seq, c->seq + (uint32_t)c->payload_len - p->seq);
	}
	if (end - p->seq < wanted.len)
		for (unsigned k = RANGE_LEAST; k < least; k++)
			collect_list(m, p, k, end, (struct wanted){ .seq = end, .len = 1 });
	sort_parts(m);
}

/* Judges a match of two packets by all packets that cover this byte. */
static void judge_parts(struct matcher *m, const struct match_entry *s, const struct match_entry *r, struct match *out)
{
	uint32_t byte = covers(&s->packet, r->packet.seq) ? r->packet.seq : s->packet.seq;
	uint64_t first_ns = s->ts_ns;
	unsigned sends = 0;
	bool one_id = s->packet.id != 0, origin = true;

	collect_covering(m, &s->packet, byte);
	for (guint k = 0; k < m->parts->len; k++) {
		const struct match_entry *c = match_entry(&m->table, g_array_index(m->parts, uint32_t, k));

		if (c->sent && c->host == s->host) {
			sends++;
			one_id &= c->packet.id == s->packet.id;
			first_ns = MIN(first_ns, c->ts_ns);
		} else if (c->sent) {
			origin = false;
		}
	}
	out->ambiguous = sends > 1;
	out->certain = s->host != r->host && origin && (sends == 1 || one_id);
	out->certain_sent_ns = first_ns;
	out->certain_received_ns = r->ts_ns;
}

/* ---- both ---- */

static struct match_end end_of(const struct match_entry *e)
{
	return (struct match_end){ .host = e->host, .ts_ns = e->ts_ns, .cookie = { e->cookie[0], e->cookie[1] } };
}

static void tell(struct matcher *m, uint32_t a, uint32_t b, enum fit fit)
{
	bool a_sent = match_entry(&m->table, a)->sent;
	uint32_t sent = a_sent ? a : b, received = a_sent ? b : a;
	const struct match_entry *s = match_entry(&m->table, sent), *r = match_entry(&m->table, received);
	struct match match = { .from = end_of(s), .to = end_of(r), .packet = &s->packet, .part = fit == FIT_NOT };

	if (match.part)
		judge_parts(m, s, r, &match);
	else
		judge_copies(m, sent, received, fit, &match);
	match_table_found(&m->table, sent);
	match_table_found(&m->table, received);
	m->fn(m->data, &match);
}

/*
 * Matches the packet with unmatched ones whose first byte is inside it: pieces of it, or the packet they were merged
 * into.
 */
static bool match_inside(struct matcher *m, uint32_t fed)
{
	const struct match_entry *e = match_entry(&m->table, fed);
	bool first_byte = false;
	GArray *inside;

	collect_inside(m, &e->packet);
	inside = g_array_sized_new(false, false, sizeof(uint32_t), m->parts->len);
	for (guint k = 0; k < m->parts->len; k++) {
		uint32_t i = g_array_index(m->parts, uint32_t, k);
		const struct match_entry *c = match_entry(&m->table, i);

		if (c->sent != e->sent && !c->matched && may_be_one(m, e, c))
			g_array_append_val(inside, i);
	}
	for (guint k = 0; k < inside->len; k++) {
		uint32_t i = g_array_index(inside, uint32_t, k);

		first_byte |= match_entry(&m->table, i)->packet.seq == e->packet.seq;
		tell(m, fed, i, FIT_NOT);
	}
	g_array_free(inside, true);
	return first_byte;
}

/*
 * Matches the packet with one that contains its first byte but is not a copy; of several with the latest, the nearest
 * hop.
 */
static void match_around(struct matcher *m, uint32_t fed)
{
	const struct match_entry *e = match_entry(&m->table, fed);
	uint32_t best = NO_ENTRY;

	collect_covering(m, &e->packet, e->packet.seq);
	for (guint k = 0; k < m->parts->len; k++) {
		uint32_t i = g_array_index(m->parts, uint32_t, k);
		const struct match_entry *c = match_entry(&m->table, i);

		if (c->sent != e->sent && may_be_one(m, e, c) &&
		    (c->packet.seq != e->packet.seq || c->packet.payload_len != e->packet.payload_len))
			best = i;
	}
	if (best != NO_ENTRY)
		tell(m, fed, best, FIT_NOT);
}

void matcher_forget_before(struct matcher *m, unsigned host, uint64_t ts_ns)
{
	struct match_table *t = &m->table;

	while (host < t->n_hosts && t->hosts[host].kept && match_entry(t, t->hosts[host].first)->ts_ns < ts_ns)
		match_table_drop(t, host);
}

/* Makes room for another packet of the host. */
static void drop_old(struct matcher *m, unsigned host)
{
	struct match_table *t = &m->table;
	const uint32_t share = MAX(t->most / MAX(t->n_hosts, 1), 1);

	if (host < t->n_hosts)
		while (t->hosts[host].kept >= m->options.packets_per_host)
			match_table_drop(t, host);
	if (t->kept == t->most)
		match_table_drop(t, host < t->n_hosts && t->hosts[host].kept >= share ? host : match_table_fullest(t));
}

bool matcher_feed(struct matcher *m, unsigned host, uint64_t ts_ns, bool sent, const struct clock_packet *packet,
		  const uint64_t cookie[2])
{
	int32_t partner_len = -1;
	uint32_t fed, partner;
	enum fit fit;

	if (packet->protocol != TCP && packet->protocol != UDP)
		return false;
	drop_old(m, host);
	fed = match_table_add(&m->table, host, ts_ns, sent, packet, cookie);
	partner = find_partner(m, fed, &fit);
	if (partner != NO_ENTRY) {
		partner_len = match_entry(&m->table, partner)->packet.payload_len;
		tell(m, fed, partner, fit);
	}
	if (match_entry(&m->table, fed)->range && partner_len != packet->payload_len && !match_inside(m, fed) &&
	    partner == NO_ENTRY)
		match_around(m, fed);
	return true;
}

void matcher_forget(struct matcher *m, unsigned host)
{
	for (unsigned h = 0; h < m->table.n_hosts; h++)
		while ((host == h || host == UINT32_MAX) && m->table.hosts[h].kept)
			match_table_drop(&m->table, h);
}

uint32_t matcher_waiting(const struct matcher *m, unsigned host, bool sent)
{
	return host < m->table.n_hosts ? m->table.hosts[host].waiting[sent] : 0;
}

uint32_t matcher_kept(const struct matcher *m, unsigned host)
{
	return host < m->table.n_hosts ? m->table.hosts[host].kept : 0;
}

size_t matcher_bytes(const struct matcher *m)
{
	return match_table_bytes(&m->table);
}
