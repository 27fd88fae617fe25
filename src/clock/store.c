/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "clock/store.h"

#include <string.h>

#include "clock/internal.h"

enum { HOST_PACKED = 24 * sizeof(uint64_t), PAIR_PACKED = 16 * sizeof(uint64_t), MATCH_PACKED = 7 * sizeof(uint64_t) };

/* There are few hosts; a number is the index + 1. */
enum { HOSTS_MAX = 1 << 16 };

/* ---- packing ---- */

static void pack_double(GByteArray *out, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	pack_u64(out, bits);
}

static uint64_t pair_number(const struct clock_sync *s, const struct clock_pair *p)
{
	guint i;

	return p && g_ptr_array_find(s->pairs, p, &i) ? i + UINT64_C(1) : 0;
}

static void pack_host(const struct clock_sync *s, const struct clock_host *h, GByteArray *out)
{
	pack_text(out, h->name);
	pack_text(out, h->uuid);
	pack_u64(out, h->seen);
	pack_u64(out, h->received);
	pack_u64(out, h->bare);
	pack_u64(out, h->first_ns);
	pack_u64(out, h->last_ns);
	pack_u64(out, h->by_hand);
	pack_u64(out, (uint64_t)h->offset_ns);
	clock_map_pack(h->map, out);
	pack_u64(out, (uint64_t)h->ref + 1);
	pack_u64(out, (uint64_t)h->up + 1);
	pack_u64(out, pair_number(s, h->pair));
	pack_u64(out, h->has_bound);
	pack_double(out, h->bound_ns);
	pack_double(out, h->info.drift_ppm);
	pack_u64(out, h->info.has_latency_to);
	pack_u64(out, h->info.has_latency_from);
	pack_u64(out, (uint64_t)h->info.latency_to_min_ns);
	pack_u64(out, (uint64_t)h->info.latency_from_min_ns);
	pack_u64(out, (uint64_t)h->info.latency_to_median_ns);
	pack_u64(out, (uint64_t)h->info.latency_from_median_ns);
}

static void pack_pair(const struct clock_pair *p, GByteArray *out)
{
	pack_u64(out, p->a);
	pack_u64(out, p->b);
	clock_window_pack(p->window, out);
	pack_u64(out, p->matched);
	pack_u64(out, p->used);
	pack_u64(out, p->negative);
	pack_u64(out, p->state);
	for (int d = CLOCK_FROM_A; d <= CLOCK_FROM_B; d++) {
		pack_u64(out, p->seen[d]);
		pack_u64(out, p->last_match_ns[d]);
	}
	pack_u64(out, p->has_line);
	pack_u64(out, p->line_x_ns);
	pack_u64(out, (uint64_t)p->line_d_ns);
	pack_double(out, p->line_slope);
	pack_double(out, p->line_half_ns);
	pack_u64(out, p->whole != NULL);
	if (!p->whole)
		return;
	clock_map_pack(p->whole, out);
	pack_u64(out, p->stretches != NULL);
}

static void pack_matches(const struct clock_sync *s, GByteArray *out)
{
	const struct clock_match **matches = g_new(const struct clock_match *, CLOCK_MATCHES_KEPT);
	unsigned n = clock_sync_matches(s, matches, CLOCK_MATCHES_KEPT);

	pack_u64(out, n);
	for (unsigned i = 0; i < n; i++) {
		const struct clock_match *m = matches[i];

		pack_u64(out, m->from);
		pack_u64(out, m->to);
		pack_u64(out, m->sent_ns);
		pack_u64(out, m->received_ns);
		pack_u64(out, m->part);
		pack_u64(out, m->ambiguous);
		pack_u64(out, m->used);
	}
	g_free(matches);
}

void clock_sync_pack(const struct clock_sync *s, GByteArray *out)
{
	pack_u64(out, s->whole);
	pack_u64(out, s->hosts->len);
	for (unsigned i = 0; i < s->hosts->len; i++)
		pack_host(s, clock_host_at(s, i), out);
	pack_u64(out, s->pairs->len);
	for (unsigned i = 0; i < s->pairs->len; i++)
		pack_pair(clock_pair_at(s, i), out);
	pack_matches(s, out);
}

/* ---- unpacking ---- */

static double unpack_double(struct unpack *in)
{
	uint64_t bits = unpack_u64(in);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* References to other hosts and pairs, resolved once these exist. */
struct links {
	uint64_t ref, up, pair; /* index + 1, 0: none */
};

static struct links unpack_host(struct clock_sync *s, struct unpack *in)
{
	char *name = unpack_text(in), *uuid = unpack_text(in);
	struct clock_host *h = clock_host_at(s, clock_sync_add_host(s, name ? name : "", uuid));
	struct links links;

	in->failed |= !name || !uuid;
	g_free(name);
	g_free(uuid);
	h->seen = unpack_upto(in, 1);
	h->received = unpack_u64(in);
	h->bare = unpack_u64(in);
	h->first_ns = unpack_u64(in);
	h->last_ns = h->now_ns = h->updated_ns = unpack_u64(in);
	h->by_hand = unpack_upto(in, 1);
	h->offset_ns = (int64_t)unpack_u64(in);
	clock_map_unpack(h->map, in);
	links.ref = unpack_upto(in, HOSTS_MAX);
	links.up = unpack_upto(in, HOSTS_MAX);
	links.pair = unpack_u64(in);
	h->has_bound = unpack_upto(in, 1);
	h->bound_ns = unpack_double(in);
	h->info.drift_ppm = unpack_double(in);
	h->info.has_latency_to = unpack_upto(in, 1);
	h->info.has_latency_from = unpack_upto(in, 1);
	h->info.latency_to_min_ns = (int64_t)unpack_u64(in);
	h->info.latency_from_min_ns = (int64_t)unpack_u64(in);
	h->info.latency_to_median_ns = (int64_t)unpack_u64(in);
	h->info.latency_from_median_ns = (int64_t)unpack_u64(in);
	return links;
}

static void unpack_pair(struct clock_sync *s, struct unpack *in)
{
	unsigned a = (unsigned)unpack_upto(in, HOSTS_MAX), b = (unsigned)unpack_upto(in, HOSTS_MAX);
	struct clock_pair *p;

	in->failed |= a >= b || b >= s->hosts->len;
	if (in->failed)
		return;
	p = clock_pair_create(a, b, &s->options);
	map64_put(&s->pair_numbers, (uint64_t)a << 32 | b, s->pairs->len);
	g_ptr_array_add(s->pairs, p);
	clock_window_unpack(p->window, in);
	p->matched = unpack_u64(in);
	p->used = unpack_u64(in);
	p->negative = unpack_u64(in);
	p->state = unpack_upto(in, CLOCK_FAILED);
	for (int d = CLOCK_FROM_A; d <= CLOCK_FROM_B; d++) {
		p->seen[d] = unpack_upto(in, 1);
		p->last_match_ns[d] = unpack_u64(in);
	}
	p->has_line = unpack_upto(in, 1);
	p->line_x_ns = unpack_u64(in);
	p->line_d_ns = (int64_t)unpack_u64(in);
	p->line_slope = unpack_double(in);
	p->line_half_ns = unpack_double(in);
	if (!unpack_upto(in, 1))
		return;
	p->whole = clock_map_create();
	clock_map_unpack(p->whole, in);
	if (unpack_upto(in, 1))
		clock_pair_split(p);
}

static void unpack_match(struct clock_sync *s, struct unpack *in)
{
	struct clock_match m = { 0 };

	m.from = (unsigned)unpack_upto(in, HOSTS_MAX);
	m.to = (unsigned)unpack_upto(in, HOSTS_MAX);
	m.sent_ns = unpack_u64(in);
	m.received_ns = unpack_u64(in);
	m.part = unpack_upto(in, 1);
	m.ambiguous = unpack_upto(in, 1);
	m.used = unpack_upto(in, 1);
	in->failed |= m.from >= s->hosts->len || m.to >= s->hosts->len;
	if (!in->failed)
		clock_sync_add_match(s, &m);
}

/* A pair that links a host to its neighbour must have a map between exactly these two. */
static bool is_pair_of(const struct clock_pair *p, unsigned host, uint64_t up)
{
	return p->whole && up && ((p->a == host && p->b == up - 1) || (p->b == host && p->a == up - 1));
}

static void link_host(struct clock_sync *s, struct unpack *in, unsigned host, const struct links *links)
{
	struct clock_host *h = clock_host_at(s, host);

	in->failed |= links->ref > s->hosts->len || links->up > s->hosts->len || links->pair > s->pairs->len ||
		      (links->pair && !is_pair_of(clock_pair_at(s, (unsigned)links->pair - 1), host, links->up));
	if (in->failed)
		return;
	h->ref = (int)links->ref - 1;
	h->up = (int)links->up - 1;
	h->pair = links->pair ? clock_pair_at(s, (unsigned)links->pair - 1) : NULL;
}

/* Whether there are no cycles. */
static bool is_forest(const struct clock_sync *s)
{
	for (unsigned i = 0; i < s->hosts->len; i++) {
		unsigned steps = 0;

		for (int host = (int)i; host != NO_HOST; host = clock_host_at(s, (unsigned)host)->up)
			if (steps++ > s->hosts->len)
				return false;
	}
	return true;
}

bool clock_sync_unpack(struct clock_sync *s, struct unpack *in)
{
	struct links *links;
	size_t n_hosts, n;

	g_assert(!s->hosts->len);
	s->whole = unpack_upto(in, 1);
	n_hosts = unpack_count(in, HOST_PACKED);
	in->failed |= n_hosts > HOSTS_MAX;
	links = g_new0(struct links, n_hosts);
	for (size_t i = 0; i < n_hosts && !in->failed; i++)
		links[i] = unpack_host(s, in);
	n = unpack_count(in, PAIR_PACKED);
	for (size_t i = 0; i < n && !in->failed; i++)
		unpack_pair(s, in);
	for (unsigned i = 0; i < s->hosts->len && !in->failed; i++)
		link_host(s, in, i, &links[i]);
	n = unpack_count(in, MATCH_PACKED);
	for (size_t i = 0; i < n && !in->failed; i++)
		unpack_match(s, in);
	g_free(links);
	in->failed |= !in->failed && !is_forest(s);
	return !in->failed;
}
