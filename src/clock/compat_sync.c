/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All hosts as Trace Compass treats them: packets in the order of raw time, a
 * hull for each two hosts with the lower clock UUID as its reference, lines put one behind the other
 * breadth first from the first host on, whatever their accuracy.
 */
#include "clock/compat.h"

#include "clock/internal.h"

struct stored {
	struct clock_packet packet;
	uint64_t ts_ns;
	uint64_t number; /* order of arrival */
	unsigned host;
	bool sent;
};

struct compat_pair {
	unsigned ref, other;
	struct compat_hull *hull;
	struct clock_formula *formula; /* other → ref */
	uint64_t last_match_ns[2];     /* by the clock of ref, of other */
};

struct compat_sync {
	GArray *packets;
	GPtrArray *pairs;
	struct clock_formula **formulas; /* per host, NULL: none */
	unsigned n_formulas;
	struct clock_sync *sync; /* while finishing */
};

static void destroy_pair(void *data)
{
	struct compat_pair *p = data;

	compat_hull_destroy(p->hull);
	clock_formula_destroy(p->formula);
	g_free(p);
}

struct compat_sync *compat_sync_create(void)
{
	struct compat_sync *c = g_new0(struct compat_sync, 1);

	c->packets = g_array_new(false, false, sizeof(struct stored));
	c->pairs = g_ptr_array_new_with_free_func(destroy_pair);
	return c;
}

static void forget_formulas(struct compat_sync *c)
{
	for (unsigned n = 0; n < c->n_formulas; n++)
		clock_formula_destroy(c->formulas[n]);
	g_clear_pointer(&c->formulas, g_free);
	c->n_formulas = 0;
}

void compat_sync_destroy(struct compat_sync *c)
{
	if (!c)
		return;
	forget_formulas(c);
	g_array_free(c->packets, true);
	g_ptr_array_free(c->pairs, true);
	g_free(c);
}

void compat_sync_packet(struct compat_sync *c, unsigned host, uint64_t ts_ns, bool sent,
			const struct clock_packet *packet)
{
	struct stored stored = {
		.packet = *packet,
		.ts_ns = ts_ns,
		.number = c->packets->len,
		.host = host,
		.sent = sent,
	};

	g_array_append_val(c->packets, stored);
}

static const struct stored *stored_at(const struct compat_sync *c, uint64_t n)
{
	return &g_array_index(c->packets, struct stored, n);
}

/* Hosts in the order of their clocks' UUIDs, of equal ones by name. */
static int compare_hosts(const struct clock_sync *s, unsigned a, unsigned b)
{
	const struct clock_host *x = clock_host_at(s, a), *y = clock_host_at(s, b);
	int order = strcmp(x->uuid, y->uuid);

	if (!order)
		order = strcmp(x->name, y->name);
	return order ? order : (int)a - (int)b;
}

static struct compat_pair *need_pair(struct compat_sync *c, unsigned a, unsigned b)
{
	unsigned ref = compare_hosts(c->sync, a, b) < 0 ? a : b;
	struct compat_pair *p;

	for (unsigned n = 0; n < c->pairs->len; n++) {
		p = g_ptr_array_index(c->pairs, n);
		if (p->ref == ref && p->other == (ref == a ? b : a))
			return p;
	}
	p = g_new0(struct compat_pair, 1);
	p->ref = ref;
	p->other = ref == a ? b : a;
	p->hull = compat_hull_create();
	g_ptr_array_add(c->pairs, p);
	return p;
}

static void take_match(void *data, const struct match_end *from, const struct match_end *to)
{
	struct compat_sync *c = data;
	struct clock_match match = {
		.from = from->host,
		.to = to->host,
		.sent_ns = from->ts_ns,
		.received_ns = to->ts_ns,
		.packet = stored_at(c, from->cookie[0])->packet,
		.used = from->host != to->host,
	};

	if (match.used) {
		struct compat_pair *p = need_pair(c, match.from, match.to);
		bool to_ref = match.to == p->ref;

		compat_hull_add(p->hull, to_ref, (int64_t)match.sent_ns, (int64_t)match.received_ns);
		p->last_match_ns[0] = to_ref ? match.received_ns : match.sent_ns;
		p->last_match_ns[1] = to_ref ? match.sent_ns : match.received_ns;
	}
	clock_sync_add_match(c->sync, &match);
}

static int by_time(const void *a, const void *b)
{
	const struct stored *x = a, *y = b;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void match_all(struct clock_sync *s, struct compat_sync *c)
{
	struct compat_matcher *m = compat_matcher_create(s->hosts->len, take_match, c);
	struct compat_key key;

	if (c->packets->len)
		qsort(c->packets->data, c->packets->len, sizeof(struct stored), by_time);
	for (uint64_t n = 0; n < c->packets->len; n++) {
		const struct stored *p = stored_at(c, n);
		const uint64_t cookie[2] = { n, 0 };

		if (compat_key_of_packet(&p->packet, &key))
			compat_matcher_feed(m, p->host, p->ts_ns, p->sent, &key, cookie);
	}
	compat_matcher_destroy(m);
}

/* The neighbours of a host, lowest first: the next one after `last` (NO_HOST: the first). */
static struct compat_pair *next_neighbour(const struct clock_sync *s, const struct compat_sync *c, unsigned host,
					  int last, unsigned *neighbour)
{
	struct compat_pair *best = NULL;

	for (unsigned n = 0; n < c->pairs->len; n++) {
		struct compat_pair *p = g_ptr_array_index(c->pairs, n);
		unsigned other = p->ref == host ? p->other : p->ref;

		if (!p->formula || (p->ref != host && p->other != host) ||
		    (last != NO_HOST && compare_hosts(s, other, (unsigned)last) <= 0) ||
		    (best && compare_hosts(s, other, *neighbour) >= 0))
			continue;
		best = p;
		*neighbour = other;
	}
	return best;
}

static int first_host(const struct clock_sync *s, const struct compat_sync *c)
{
	int chosen = clock_sync_chosen(s), first = NO_HOST;

	for (unsigned n = 0; n < c->pairs->len; n++) {
		const struct compat_pair *p = g_ptr_array_index(c->pairs, n);

		if (!p->formula)
			continue;
		if ((int)p->ref == chosen || (int)p->other == chosen)
			return chosen;
		if (first == NO_HOST || compare_hosts(s, p->ref, (unsigned)first) < 0)
			first = (int)p->ref;
	}
	return first;
}

static enum clock_state state_of(enum compat_quality quality)
{
	static const enum clock_state states[] = {
		[COMPAT_ABSENT] = CLOCK_ABSENT,
		[COMPAT_INCOMPLETE] = CLOCK_INCOMPLETE,
		[COMPAT_APPROXIMATE] = CLOCK_APPROXIMATE,
		[COMPAT_ACCURATE] = CLOCK_ACCURATE,
		[COMPAT_FAIL] = CLOCK_FAILED,
	};

	return states[quality];
}

static void describe(struct clock_host_info *info, const struct compat_pair *p, unsigned host)
{
	struct compat_line line = compat_hull_line(p->hull);

	info->state = state_of(line.quality);
	info->matched = line.matches;
	info->used = line.accurate;
	info->last_match_ns = p->last_match_ns[p->other == host];
}

/* The formula of a host from that of its neighbour, which is the root if it has none. */
static struct clock_formula *formula_via(const struct compat_pair *p, unsigned host, const struct clock_formula *up)
{
	struct clock_formula *own = host == p->other ? NULL : clock_formula_inverse(p->formula), *composed;
	const struct clock_formula *step = own ? own : p->formula;

	if (!up) {
		char *slope = clock_formula_slope(step), *intercept = clock_formula_intercept(step);

		composed = clock_formula_create(slope, intercept);
		g_free(slope);
		g_free(intercept);
	} else {
		composed = clock_formula_compose(up, step);
	}
	clock_formula_destroy(own);
	return composed;
}

static void relate_from(struct clock_sync *s, struct compat_sync *c, unsigned root)
{
	GQueue todo = G_QUEUE_INIT;

	clock_host_at(s, root)->info.ref = (int)root;
	clock_host_at(s, root)->info.state = CLOCK_REFERENCE;
	g_queue_push_tail(&todo, GUINT_TO_POINTER(root));
	while (todo.length) {
		unsigned host = GPOINTER_TO_UINT(g_queue_pop_head(&todo)), other = 0;
		struct compat_pair *p;

		for (int last = NO_HOST; (p = next_neighbour(s, c, host, last, &other)); last = (int)other) {
			struct clock_host *h = clock_host_at(s, other);
			struct clock_formula *f;

			if (h->info.ref != NO_HOST)
				continue;
			f = formula_via(p, other, c->formulas[host]);
			if (!f)
				continue;
			c->formulas[other] = f;
			h->info.ref = (int)root;
			describe(&h->info, p, other);
			g_queue_push_tail(&todo, GUINT_TO_POINTER(other));
		}
	}
}

/* Maps, drifts and latencies once the formulas are known. */
static void publish(struct clock_sync *s, struct compat_sync *c)
{
	for (unsigned n = 0; n < s->hosts->len; n++) {
		struct clock_host *h = clock_host_at(s, n);
		char *slope, *intercept;

		if (!c->formulas[n])
			continue;
		slope = clock_formula_slope(c->formulas[n]);
		intercept = clock_formula_intercept(c->formulas[n]);
		h->info.drift_ppm = (1 / g_ascii_strtod(slope, NULL) - 1) * 1e6;
		clock_map_set_formula(h->map, clock_formula_create(slope, intercept));
		g_free(slope);
		g_free(intercept);
	}
}

void compat_sync_finish(struct clock_sync *s, struct compat_sync *c)
{
	int root;

	c->sync = s;
	g_ptr_array_set_size(c->pairs, 0);
	match_all(s, c);
	forget_formulas(c);
	c->n_formulas = s->hosts->len;
	c->formulas = g_new0(struct clock_formula *, c->n_formulas);
	for (unsigned n = 0; n < s->hosts->len; n++)
		clock_host_at(s, n)->info = (struct clock_host_info){ .state = CLOCK_ABSENT, .ref = NO_HOST };
	for (unsigned n = 0; n < c->pairs->len; n++) {
		struct compat_pair *p = g_ptr_array_index(c->pairs, n);

		p->formula = compat_hull_formula(p->hull);
		describe(&clock_host_at(s, p->other)->info, p, p->other);
	}
	root = s->options.match_only ? NO_HOST : first_host(s, c);
	if (root != NO_HOST)
		relate_from(s, c, (unsigned)root);
	publish(s, c);
}

bool compat_sync_formula(const struct compat_sync *c, unsigned host, char *slope, char *intercept, size_t size)
{
	char *text;

	if (host >= c->n_formulas || !c->formulas[host])
		return false;
	text = clock_formula_slope(c->formulas[host]);
	g_strlcpy(slope, text, size);
	g_free(text);
	text = clock_formula_intercept(c->formulas[host]);
	g_strlcpy(intercept, text, size);
	g_free(text);
	return true;
}
