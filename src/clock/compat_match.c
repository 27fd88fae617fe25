/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>

#include "base/map64.h"
#include "clock/compat.h"

enum { TCP = 6 };

struct waiting {
	struct compat_key key;
	struct match_end end;
	bool gone; /* matched, still in the queue */
};

/* What waits on a host in one direction, by key and by age. */
struct table {
	GHashTable *by_key; /* struct compat_key → struct waiting, both in the queue's element */
	GQueue by_age;      /* struct waiting, owned */
};

struct last_match {
	bool any;
	uint64_t ts_ns[2]; /* receive, send: as `sent` counts */
};

struct compat_matcher {
	unsigned n_hosts;
	compat_match_fn *fn;
	void *data;
	struct table *tables;    /* host * 2 + sent */
	struct last_match *last; /* from * n_hosts + to */
};

bool compat_key_of_packet(const struct clock_packet *packet, struct compat_key *key)
{
	if (packet->protocol != TCP)
		return false;
	key->numbers = (uint64_t)packet->seq << 32 | packet->ack_seq;
	key->flags = packet->flags;
	return true;
}

static guint hash_key(gconstpointer key)
{
	const struct compat_key *k = key;

	return (guint)map64_hash(k->numbers ^ (uint64_t)k->flags << 7);
}

static gboolean equal_key(gconstpointer a, gconstpointer b)
{
	const struct compat_key *x = a, *y = b;

	return x->numbers == y->numbers && x->flags == y->flags;
}

struct compat_matcher *compat_matcher_create(unsigned n_hosts, compat_match_fn *fn, void *data)
{
	struct compat_matcher *m = g_new0(struct compat_matcher, 1);

	m->n_hosts = n_hosts;
	m->fn = fn;
	m->data = data;
	m->tables = g_new0(struct table, (size_t)n_hosts * 2);
	m->last = g_new0(struct last_match, (size_t)n_hosts * n_hosts);
	for (unsigned n = 0; n < n_hosts * 2; n++) {
		m->tables[n].by_key = g_hash_table_new(hash_key, equal_key);
		g_queue_init(&m->tables[n].by_age);
	}
	return m;
}

void compat_matcher_destroy(struct compat_matcher *m)
{
	if (!m)
		return;
	for (unsigned n = 0; n < m->n_hosts * 2; n++) {
		g_hash_table_destroy(m->tables[n].by_key);
		g_queue_clear_full(&m->tables[n].by_age, g_free);
	}
	g_free(m->tables);
	g_free(m->last);
	g_free(m);
}

static struct table *table_of(const struct compat_matcher *m, unsigned host, bool sent)
{
	return &m->tables[host * 2 + sent];
}

static void drop_front(struct table *t)
{
	struct waiting *w = g_queue_pop_head(&t->by_age);

	if (!w->gone)
		g_hash_table_remove(t->by_key, &w->key);
	g_free(w);
}

/*
 * Once the host has a match with every other one in this direction, nothing
 * older than the oldest of those last matches is waited for any more.
 */
static void clean_up(struct compat_matcher *m, unsigned host, bool sent)
{
	struct table *t = table_of(m, host, sent);
	uint64_t earliest = UINT64_MAX;
	unsigned others = 0;

	for (unsigned h = 0; h < m->n_hosts; h++) {
		const struct last_match *l = sent ? &m->last[host * m->n_hosts + h] : &m->last[h * m->n_hosts + host];

		if (!l->any)
			continue;
		others += h != host;
		earliest = MIN(earliest, l->ts_ns[sent]);
	}
	if (others != m->n_hosts - 1)
		return;
	while (t->by_age.length && ((struct waiting *)t->by_age.head->data)->end.ts_ns < earliest)
		drop_front(t);
}

void compat_matcher_feed(struct compat_matcher *m, unsigned host, uint64_t ts_ns, bool sent,
			 const struct compat_key *key, const uint64_t cookie[2])
{
	struct match_end fed = { .host = host, .ts_ns = ts_ns }, found = { .host = UINT32_MAX }, from, to;
	struct table *mine = table_of(m, host, sent);
	struct last_match *l;

	if (cookie)
		memcpy(fed.cookie, cookie, sizeof(fed.cookie));
	/* Every host's table is looked at, and loses the key: the last host that had it is the partner. */
	for (unsigned h = 0; h < m->n_hosts; h++) {
		struct table *t = table_of(m, h, !sent);
		struct waiting *w = g_hash_table_lookup(t->by_key, key);

		if (!w || (sent && h == host))
			continue;
		found = w->end;
		w->gone = true;
		g_hash_table_remove(t->by_key, key);
		while (t->by_age.length && ((struct waiting *)t->by_age.head->data)->gone)
			drop_front(t);
	}
	if (found.host == UINT32_MAX) {
		struct waiting *w;

		if (g_hash_table_contains(mine->by_key, key))
			return;
		w = g_new(struct waiting, 1);
		*w = (struct waiting){ .key = *key, .end = fed };
		g_hash_table_insert(mine->by_key, &w->key, w);
		g_queue_push_tail(&mine->by_age, w);
		return;
	}
	from = sent ? fed : found;
	to = sent ? found : fed;
	m->fn(m->data, &from, &to);
	l = &m->last[from.host * m->n_hosts + to.host];
	*l = (struct last_match){ .any = true, .ts_ns = { to.ts_ns, from.ts_ns } };
	clean_up(m, from.host, true);
	clean_up(m, to.host, false);
}

unsigned compat_matcher_waiting(const struct compat_matcher *m, unsigned host, bool sent)
{
	return g_hash_table_size(table_of(m, host, sent)->by_key);
}
