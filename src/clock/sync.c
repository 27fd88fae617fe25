/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "clock/sync.h"

#include "base/nstime.h"
#include "clock/internal.h"

enum { SAMPLES_SHOWN = 512 };

#define UPDATE_NS NS_PER_S

static const char *const STATE_NAMES[] = {
	[CLOCK_REFERENCE] = "reference",     [CLOCK_ABSENT] = "absent",     [CLOCK_INCOMPLETE] = "incomplete",
	[CLOCK_APPROXIMATE] = "approximate", [CLOCK_ACCURATE] = "accurate", [CLOCK_FAILED] = "failed",
};

const char *clock_state_name(enum clock_state state)
{
	return STATE_NAMES[state];
}

const char *clock_obstacle_text(enum clock_obstacle obstacle)
{
	static const char *const texts[] = {
		[CLOCK_NO_EVENTS] = "no packet was recorded",
		[CLOCK_NO_HEADERS] = "received packets have no headers: receive offload (GRO) was off",
		[CLOCK_NO_PARTNER] = "no packet between it and another host was recorded",
		[CLOCK_IGNORED] = "no packet between it and another host was recorded except on ignored ports",
		[CLOCK_ONE_WAY] = "packets were recorded in one direction only",
		[CLOCK_BY_HAND] = "it depends on an offset set by hand",
		[CLOCK_JUMPED] = "a clock jumped, or a packet contradicts the others",
	};

	return texts[obstacle];
}

static void destroy_host(void *data)
{
	struct clock_host *h = data;

	clock_map_destroy(h->map);
	g_free(h->name);
	g_free(h->uuid);
	g_free(h);
}

static void destroy_pair(void *data)
{
	clock_pair_destroy(data);
}

static struct clock_pair *need_pair(struct clock_sync *s, unsigned a, unsigned b)
{
	uint64_t key = (uint64_t)MIN(a, b) << 32 | MAX(a, b);
	uint32_t n = map64_get(&s->pair_numbers, key);

	if (n == MAP64_NONE) {
		n = s->pairs->len;
		g_ptr_array_add(s->pairs, clock_pair_create(MIN(a, b), MAX(a, b), &s->options));
		map64_put(&s->pair_numbers, key, n);
	}
	return clock_pair_at(s, n);
}

void clock_sync_add_match(struct clock_sync *s, const struct clock_match *match)
{
	s->kept[s->n_kept++ % CLOCK_MATCHES_KEPT] = *match;
	if (s->on_match)
		s->on_match(s->on_match_data, match);
}

static void take_match(void *data, const struct match *match)
{
	struct clock_sync *s = data;
	struct clock_match told = {
		.from = match->from.host,
		.to = match->to.host,
		.sent_ns = match->from.ts_ns,
		.received_ns = match->to.ts_ns,
		.packet = *match->packet,
		.part = match->part,
		.ambiguous = match->ambiguous,
		.used = match->certain,
	};

	if (told.from != told.to) {
		struct clock_sample sample = { told.sent_ns, told.received_ns };
		struct clock_sample certain = { match->certain_sent_ns, match->certain_received_ns };
		struct clock_pair *p = need_pair(s, told.from, told.to);

		clock_pair_add(p, told.from < told.to ? CLOCK_FROM_A : CLOCK_FROM_B, &sample,
			       match->certain ? &certain : NULL, s->pairs->len);
	}
	clock_sync_add_match(s, &told);
}

struct clock_sync *clock_sync_create(const struct clock_options *options)
{
	const struct match_options match_options = {
		.packets_per_host = CLOCK_PACKETS_KEPT,
		.memory_bytes = CLOCK_PACKETS_BYTES,
	};
	struct clock_sync *s = g_new0(struct clock_sync, 1);

	s->options = *options;
	s->common = NO_HOST;
	s->options.ref = g_strdup(options->ref);
	s->options.ignore_ports = g_memdup2(options->ignore_ports, options->n_ignore_ports * sizeof(uint16_t));
	s->rho = (options->rho_ppm > 0 ? options->rho_ppm : CLOCK_RHO_PPM) * 1e-6;
	if (!s->options.window_ns)
		s->options.window_ns = CLOCK_WINDOW_NS;
	s->hosts = g_ptr_array_new_with_free_func(destroy_host);
	s->pairs = g_ptr_array_new_with_free_func(destroy_pair);
	s->kept = g_new(struct clock_match, CLOCK_MATCHES_KEPT);
	s->matcher = matcher_create(&match_options, take_match, s);
	return s;
}

void clock_sync_destroy(struct clock_sync *s)
{
	if (!s)
		return;
	matcher_destroy(s->matcher);
	g_ptr_array_free(s->hosts, true);
	g_ptr_array_free(s->pairs, true);
	map64_release(&s->pair_numbers);
	g_free((char *)s->options.ref);
	g_free((uint16_t *)s->options.ignore_ports);
	g_free(s->kept);
	g_free(s);
}

unsigned clock_sync_add_host(struct clock_sync *s, const char *name, const char *clock_uuid)
{
	struct clock_host *h = g_new0(struct clock_host, 1);

	h->name = g_strdup(name);
	h->uuid = g_strdup(clock_uuid ? clock_uuid : "");
	h->map = clock_map_create();
	h->ref = h->up = NO_HOST;
	h->clock = s->hosts->len;
	for (unsigned n = 0; h->uuid[0] && n < s->hosts->len; n++)
		if (strcmp(clock_host_at(s, n)->uuid, h->uuid) == 0)
			h->clock = MIN(h->clock, n);
	g_ptr_array_add(s->hosts, h);
	s->due |= clock_owner(s, s->hosts->len - 1)->shift_ns != 0;
	return s->hosts->len - 1;
}

unsigned clock_sync_host_count(const struct clock_sync *s)
{
	return s->hosts->len;
}

void clock_sync_set_offset(struct clock_sync *s, unsigned host, int64_t offset_ns)
{
	struct clock_host *h = clock_host_at(s, host);

	h->by_hand = true;
	h->offset_ns = offset_ns;
	clock_map_begin_epoch(h->map);
	clock_map_add(h->map, 0, (uint64_t)offset_ns, 0);
}

void clock_sync_time(struct clock_sync *s, unsigned host, uint64_t ts_ns)
{
	struct clock_host *h = clock_host_at(s, host);

	h->now_ns = MAX(h->now_ns, ts_ns);
	s->due |= h->seen && h->now_ns >= h->updated_ns + UPDATE_NS;
}

static bool is_ignored(const struct clock_sync *s, const struct clock_packet *p)
{
	for (unsigned n = 0; n < s->options.n_ignore_ports; n++)
		if (p->sport == s->options.ignore_ports[n] || p->dport == s->options.ignore_ports[n])
			return true;
	return false;
}

void clock_sync_packet(struct clock_sync *s, unsigned host, uint64_t ts_ns, bool sent,
		       const struct clock_packet *packet)
{
	struct clock_host *h = clock_host_at(s, host);

	h->received += !sent;
	if (is_ignored(s, packet)) {
		h->ignored = true;
		return;
	}
	h->first_ns = h->seen ? h->first_ns : ts_ns;
	h->last_ns = ts_ns;
	h->seen = true;
	clock_sync_time(s, host, ts_ns);
	matcher_feed(s->matcher, host, ts_ns, sent, packet, NULL);
}

void clock_sync_bare_packet(struct clock_sync *s, unsigned host)
{
	clock_host_at(s, host)->bare++;
}

void clock_sync_arrival(struct clock_sync *s, unsigned host, uint64_t host_ns, uint64_t now_ns)
{
	struct clock_host *owner = clock_owner(s, host);

	s->n_seconds += now_ns / NS_PER_S != s->arrived_ns / NS_PER_S;
	s->arrived_ns = now_ns;
	s->arrived |= clock_arrival_note(&owner->arrival, host_ns, now_ns);
	owner->heard = s->n_seconds;
}

/* The pair whose packets tell how good a host's map is: also if that was given by hand. NULL: there is none. */
static struct clock_pair *pair_judged(const struct clock_sync *s, unsigned host)
{
	const struct clock_host *h = clock_host_at(s, host);

	if (h->pair || !h->by_hand || h->up == NO_HOST)
		return h->pair;
	for (unsigned n = 0; n < s->pairs->len; n++) {
		struct clock_pair *p = clock_pair_at(s, n);

		if ((p->a == host && p->b == (unsigned)h->up) || (p->b == host && p->a == (unsigned)h->up))
			return p;
	}
	return NULL;
}

/* Latencies of other pairs are not shown. */
static bool is_shown(const struct clock_sync *s, const struct clock_pair *p)
{
	return pair_judged(s, p->a) == p || pair_judged(s, p->b) == p;
}

/* Whether its time depends on an offset given by hand, its own or that of a host on the way to its reference. */
static bool follows_hand(const struct clock_sync *s, unsigned host)
{
	const struct clock_host *h = clock_host_at(s, host);

	while (h->up != NO_HOST && !h->by_hand)
		h = clock_host_at(s, (unsigned)h->up);
	return h->up != NO_HOST;
}

/*
 * If no live host has a backlog, hosts are read in step: packets that are still unmatched will not be matched, and the
 * best maps for the whole recording will not be needed. A host from which nothing arrives for as long as packets are
 * kept is not waited for: it may never be heard from again.
 */
static void forget_old(struct clock_sync *s)
{
	const uint64_t kept_ns = CLOCK_LIVE_KEPT_S * UPDATE_NS;
	uint64_t spread_ns;
	int64_t delay_ns;

	for (unsigned n = 0; n < s->hosts->len; n++)
		if (clock_arrival_is_recent(&clock_owner(s, n)->arrival, s->arrived_ns, CLOCK_LIVE_KEPT_S) &&
		    !clock_arrival_delay(&clock_owner(s, n)->arrival, &delay_ns, &spread_ns))
			return;
	for (unsigned n = 0; n < s->hosts->len; n++)
		if (clock_owner(s, n)->arrival.n && clock_host_at(s, n)->now_ns > kept_ns)
			matcher_forget_before(s->matcher, n, clock_host_at(s, n)->now_ns - kept_ns);
	for (unsigned n = 0; n < s->pairs->len; n++)
		clock_pair_forget(clock_pair_at(s, n), SAMPLES_SHOWN, is_shown(s, clock_pair_at(s, n)));
}

/* Updates the latencies in info, from the samples since the last call, or from all of them if whole is set. */
static void judge_latencies(struct clock_sync *s, bool whole)
{
	for (unsigned n = 0; n < s->hosts->len; n++) {
		struct clock_host *h = clock_host_at(s, n);
		struct clock_pair *p = pair_judged(s, n);

		if (!p)
			continue;
		if (whole)
			p->negative = 0;
		for (int d = CLOCK_FROM_A; d <= CLOCK_FROM_B; d++) {
			bool to_neighbour = (d == CLOCK_FROM_A) == (p->a == n);
			struct clock_latencies l;
			uint64_t again = 0;

			/* New samples are judged once; the figures shown come from the latest ones. */
			if (!whole)
				clock_pair_latencies(p, d, p->judged[d], clock_host_at(s, p->a)->map,
						     clock_host_at(s, p->b)->map, &l, &p->negative);
			p->judged[d] = p->n_samples[d];
			if (!clock_pair_latencies(
				    p, d,
				    whole || p->n_samples[d] < SAMPLES_SHOWN ? 0 : p->n_samples[d] - SAMPLES_SHOWN,
				    clock_host_at(s, p->a)->map, clock_host_at(s, p->b)->map, &l,
				    whole ? &p->negative : &again))
				continue;
			if (to_neighbour) {
				h->info.has_latency_to = true;
				h->info.latency_to_min_ns = l.min_ns;
				h->info.latency_to_median_ns = l.median_ns;
			} else {
				h->info.has_latency_from = true;
				h->info.latency_from_min_ns = l.min_ns;
				h->info.latency_from_median_ns = l.median_ns;
			}
		}
	}
}

void clock_sync_update(struct clock_sync *s)
{
	if (s->arrived) {
		s->due |= !s->options.match_only && clock_shift(s);
		forget_old(s);
	}
	s->arrived = false;
	if (!s->due)
		return;
	s->due = false;
	for (unsigned n = 0; n < s->hosts->len; n++)
		clock_host_at(s, n)->updated_ns = clock_host_at(s, n)->now_ns;
	if (!s->options.match_only) {
		s->moving = true;
		clock_move_maps(s);
		judge_latencies(s, false);
	}
	for (unsigned n = 0; n < s->pairs->len; n++)
		clock_pair_trim(clock_pair_at(s, n));
}

void clock_sync_finish(struct clock_sync *s)
{
	if (s->options.match_only)
		return;
	s->whole = true;
	clock_make_whole_maps(s);
	judge_latencies(s, true);
}

const struct clock_map *clock_sync_map(const struct clock_sync *s, unsigned host)
{
	return clock_host_at(s, host)->map;
}

/* If no pair leads to a reference: the one with most packets. */
static const struct clock_pair *busiest_pair(const struct clock_sync *s, unsigned host)
{
	const struct clock_pair *best = NULL;

	for (unsigned n = 0; n < s->pairs->len; n++) {
		const struct clock_pair *p = clock_pair_at(s, n);

		if ((p->a == host || p->b == host) && (!best || p->matched > best->matched))
			best = p;
	}
	return best;
}

static bool lacks_headers(const struct clock_host *h)
{
	return h->bare > h->received;
}

static enum clock_obstacle find_obstacle(const struct clock_sync *s, unsigned host, enum clock_state state)
{
	const struct clock_host *h = clock_host_at(s, host);

	if (follows_hand(s, host))
		return CLOCK_BY_HAND;
	if (state == CLOCK_INCOMPLETE)
		return lacks_headers(h) ? CLOCK_NO_HEADERS : CLOCK_ONE_WAY;
	if (state == CLOCK_FAILED)
		return CLOCK_JUMPED;
	if (state != CLOCK_ABSENT)
		return CLOCK_NO_OBSTACLE;
	if (lacks_headers(h))
		return CLOCK_NO_HEADERS;
	if (h->ignored)
		return CLOCK_IGNORED;
	return h->seen || h->bare ? CLOCK_NO_PARTNER : CLOCK_NO_EVENTS;
}

static struct clock_host_info host_info(const struct clock_sync *s, unsigned host)
{
	const struct clock_host *h = clock_host_at(s, host);
	const struct clock_pair *judged = pair_judged(s, host), *p = judged ? judged : busiest_pair(s, host);
	struct clock_host_info info = h->info;

	info.ref = h->ref;
	info.has_bound = h->has_bound && h->bound_ns >= 0;
	info.bound_ns = info.has_bound ? h->bound_ns : 0;
	info.state = p ? p->state : CLOCK_ABSENT;
	if (h->pair && !info.has_bound)
		info.state = CLOCK_FAILED;
	if (h->ref == (int)host)
		info.state = CLOCK_REFERENCE;
	else if (h->by_hand || (follows_hand(s, host) && info.state == CLOCK_ACCURATE))
		info.state = CLOCK_APPROXIMATE;
	else if (h->ref == NO_HOST && info.state != CLOCK_ABSENT && info.state != CLOCK_FAILED)
		info.state = CLOCK_INCOMPLETE;
	if (s->common != NO_HOST && (h->ref == NO_HOST || h->ref == (int)host) && !h->by_hand) {
		const struct clock_host *owner = clock_owner(s, host);

		info.by_arrival = owner->by_arrival;
		info.arrival_half_ns = owner->half_ns;
		info.ref = owner->shift_ns ? s->common : info.ref;
	}
	if (p) {
		info.matched = p->matched;
		info.used = p->used;
		info.negative = judged ? p->negative : 0;
		info.last_match_ns = p->last_match_ns[p->b == host];
	}
	/* nobody knows how exact an offset given by hand is; packets do not change it */
	if (follows_hand(s, host)) {
		info.has_bound = false;
		info.used = h->by_hand ? 0 : info.used;
	}
	return info;
}

struct clock_host_info clock_sync_info(const struct clock_sync *s, unsigned host)
{
	struct clock_host_info info = host_info(s, host);

	info.obstacle = find_obstacle(s, host, info.state);
	return info;
}

int64_t clock_sync_offset(const struct clock_sync *s, unsigned host, uint64_t host_ns)
{
	return (int64_t)(clock_to_ref(clock_host_at(s, host)->map, host_ns) - host_ns);
}

bool clock_sync_bound(const struct clock_sync *s, unsigned host, uint64_t host_ns, uint64_t *bound_ns)
{
	const struct clock_host *h = clock_host_at(s, host);
	double half_ns;

	if (!h->has_bound || follows_hand(s, host))
		return false;
	half_ns = s->whole ? clock_whole_bound(s, host, host_ns) : clock_moving_bound(s, host, host_ns);
	if (half_ns < 0)
		return false;
	*bound_ns = (uint64_t)half_ns;
	return true;
}

static enum clock_state state_at(const struct clock_sync *s, unsigned host, uint64_t host_ns)
{
	const enum clock_state state = clock_sync_info(s, host).state;
	uint64_t bound_ns;

	if (state != CLOCK_APPROXIMATE && state != CLOCK_ACCURATE && state != CLOCK_FAILED)
		return state;
	if (!clock_host_at(s, host)->pair || follows_hand(s, host))
		return state;
	if (!clock_sync_bound(s, host, host_ns, &bound_ns))
		return CLOCK_FAILED;
	return state == CLOCK_FAILED ? clock_host_at(s, host)->pair->state : state;
}

struct clock_host_info clock_sync_info_at(const struct clock_sync *s, unsigned host, uint64_t host_ns)
{
	struct clock_host_info info = clock_sync_info(s, host);

	info.state = state_at(s, host, host_ns);
	info.obstacle = find_obstacle(s, host, info.state);
	info.has_bound = clock_sync_bound(s, host, host_ns, &info.bound_ns);
	return info;
}

void clock_sync_on_match(struct clock_sync *s, clock_match_fn *fn, void *data)
{
	s->on_match = fn;
	s->on_match_data = data;
}

unsigned clock_sync_matches(const struct clock_sync *s, const struct clock_match **matches, unsigned max)
{
	unsigned n = MIN(MIN(s->n_kept, CLOCK_MATCHES_KEPT), max);

	for (unsigned i = 0; i < n; i++)
		matches[i] = &s->kept[(s->n_kept - n + i) % CLOCK_MATCHES_KEPT];
	return n;
}
