/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "clock/match_table.h"

enum {
	LEAST_CAPACITY = 1024,
	TCP = 6,
	FLAGS_MOVED = 0x1c8, /* PSH moves to another piece; CWR, ECE and NS are set on the way */
};

static uint16_t lasting_flags(const struct clock_packet *p)
{
	return p->layout == CLOCK_PACKET_SOCK_LOCAL ? p->flags : p->flags & ~FLAGS_MOVED;
}

/* No payload, some, unknown: data and the acknowledgement before it have the same numbers. */
static unsigned payload_class(const struct clock_packet *p)
{
	return p->payload_len > 0 ? 1 : p->payload_len == 0 ? 0 : 2;
}

static uint64_t flow_hash(const struct clock_packet *p)
{
	uint64_t h = map64_mix((uint64_t)p->protocol << 16 | (uint64_t)p->layout << 8 | p->ip_version,
			       (uint64_t)p->sport << 16 | p->dport);

	h = map64_mix(map64_mix(h, p->saddr[0]), p->saddr[1]);
	return map64_mix(map64_mix(h, p->daddr[0]), p->daddr[1]);
}

static uint64_t key_hash(const struct clock_packet *p)
{
	if (p->protocol != TCP)
		return map64_mix(flow_hash(p),
				 (uint64_t)p->id << 48 | (uint64_t)p->seq << 32 | (uint32_t)p->payload_len);
	return map64_mix(map64_mix(p->layout, (uint64_t)p->seq << 32 | p->ack_seq),
			 (uint64_t)lasting_flags(p) << 8 | payload_class(p));
}

static uint64_t range_hash(const struct clock_packet *p, unsigned k, uint32_t seq)
{
	return map64_mix(flow_hash(p), (uint64_t)k << 32 | seq >> k);
}

/* The smallest k such that the payload fits into 2^k bytes; 0: unknown. */
static unsigned magnitude(const struct clock_packet *p)
{
	unsigned k = RANGE_LEAST;

	if (p->protocol != TCP || !p->ip_version || p->payload_len <= 0 || p->payload_len > 1 << RANGE_GREATEST)
		return 0;
	while (p->payload_len > 1 << k)
		k++;
	return k;
}

bool match_same_flow(const struct clock_packet *a, const struct clock_packet *b)
{
	return a->sport == b->sport && a->dport == b->dport && a->protocol == b->protocol &&
	       a->ip_version == b->ip_version && a->layout == b->layout &&
	       memcmp(a->saddr, b->saddr, sizeof(a->saddr)) == 0 && memcmp(a->daddr, b->daddr, sizeof(a->daddr)) == 0;
}

bool match_same_key(const struct clock_packet *a, const struct clock_packet *b)
{
	if (a->protocol != b->protocol || a->layout != b->layout)
		return false;
	if (a->protocol != TCP)
		return a->id == b->id && a->seq == b->seq && a->payload_len == b->payload_len && match_same_flow(a, b);
	return a->seq == b->seq && a->ack_seq == b->ack_seq && lasting_flags(a) == lasting_flags(b) &&
	       payload_class(a) == payload_class(b);
}

void match_table_init(struct match_table *t, uint32_t most)
{
	memset(t, 0, sizeof(*t));
	t->most = most;
	t->free = NO_ENTRY;
}

void match_table_release(struct match_table *t)
{
	for (int list = 0; list < LISTS; list++)
		map64_release(&t->heads[list]);
	g_free(t->entries);
	g_free(t->hosts);
	match_table_init(t, 0);
}

static uint32_t take_free(struct match_table *t)
{
	uint32_t i = t->free;

	if (i != NO_ENTRY) {
		t->free = t->entries[i].later;
		return i;
	}
	if (t->n == t->capacity) {
		t->capacity = MIN(t->capacity ? t->capacity * 2 : LEAST_CAPACITY, t->most);
		t->entries = g_renew(struct match_entry, t->entries, t->capacity);
	}
	return t->n++;
}

static void list_add(struct match_table *t, uint32_t i, enum match_list list, uint64_t hash)
{
	struct match_entry *e = match_entry(t, i);
	uint32_t head = map64_get(&t->heads[list], hash);

	e->hash[list] = hash;
	e->link[list].newer = NO_ENTRY;
	e->link[list].older = head;
	if (head != NO_ENTRY)
		match_entry(t, head)->link[list].newer = i;
	map64_put(&t->heads[list], hash, i);
}

static void list_del(struct match_table *t, uint32_t i, enum match_list list)
{
	struct match_entry *e = match_entry(t, i);
	uint32_t newer = e->link[list].newer, older = e->link[list].older;

	if (older != NO_ENTRY)
		match_entry(t, older)->link[list].newer = newer;
	if (newer != NO_ENTRY)
		match_entry(t, newer)->link[list].older = older;
	else if (older != NO_ENTRY)
		map64_put(&t->heads[list], e->hash[list], older);
	else
		map64_del(&t->heads[list], e->hash[list]);
}

static struct match_host *need_host(struct match_table *t, unsigned host)
{
	if (host >= t->n_hosts) {
		t->hosts = g_renew(struct match_host, t->hosts, host + 1);
		for (; t->n_hosts <= host; t->n_hosts++)
			t->hosts[t->n_hosts] = (struct match_host){ .first = NO_ENTRY, .last = NO_ENTRY };
	}
	return &t->hosts[host];
}

uint32_t match_table_add(struct match_table *t, unsigned host, uint64_t ts_ns, bool sent,
			 const struct clock_packet *packet, const uint64_t cookie[2])
{
	struct match_host *h = need_host(t, host);
	uint32_t i = take_free(t);
	struct match_entry *e = match_entry(t, i);

	*e = (struct match_entry){
		.packet = *packet,
		.ts_ns = ts_ns,
		.later = NO_ENTRY,
		.host = host,
		.sent = sent,
		.range = magnitude(packet),
		.number = t->added++,
	};
	if (cookie)
		memcpy(e->cookie, cookie, sizeof(e->cookie));
	if (h->last != NO_ENTRY)
		match_entry(t, h->last)->later = i;
	else
		h->first = i;
	h->last = i;
	h->kept++;
	t->kept++;
	h->waiting[sent]++;
	list_add(t, i, LIST_KEY, key_hash(packet));
	if (e->range)
		list_add(t, i, LIST_RANGE, range_hash(packet, e->range, packet->seq));
	t->ranged[e->range]++;
	return i;
}

void match_table_drop(struct match_table *t, unsigned host)
{
	struct match_host *h = &t->hosts[host];
	uint32_t i = h->first;
	struct match_entry *e = match_entry(t, i);

	list_del(t, i, LIST_KEY);
	if (e->range)
		list_del(t, i, LIST_RANGE);
	t->ranged[e->range]--;
	h->first = e->later;
	if (h->first == NO_ENTRY)
		h->last = NO_ENTRY;
	h->kept--;
	t->kept--;
	if (!e->matched)
		h->waiting[e->sent]--;
	e->later = t->free;
	t->free = i;
}

unsigned match_table_fullest(const struct match_table *t)
{
	unsigned fullest = 0;

	for (unsigned h = 1; h < t->n_hosts; h++)
		if (t->hosts[h].kept > t->hosts[fullest].kept)
			fullest = h;
	return fullest;
}

size_t match_table_bytes(const struct match_table *t)
{
	size_t bytes = t->capacity * sizeof(*t->entries) + t->n_hosts * sizeof(*t->hosts);

	for (int list = 0; list < LISTS; list++)
		if (t->heads[list].slots)
			bytes += ((size_t)t->heads[list].mask + 1) * sizeof(*t->heads[list].slots);
	return bytes;
}

uint32_t match_table_range(const struct match_table *t, const struct clock_packet *packet, unsigned k, uint32_t seq)
{
	return t->ranged[k] ? map64_get(&t->heads[LIST_RANGE], range_hash(packet, k, seq)) : NO_ENTRY;
}

void match_table_found(struct match_table *t, uint32_t i)
{
	struct match_entry *e = match_entry(t, i);

	if (e->matched)
		return;
	e->matched = true;
	t->hosts[e->host].waiting[e->sent]--;
}
