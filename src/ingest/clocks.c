/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/clocks.h"

#include <string.h>

#include "clock/store.h"

struct known_host {
	char *name, *clock_uuid;
};

struct by_hand {
	char *host;
	int64_t offset_ns;
};

struct clocks {
	struct clock_sync *sync;
	struct clock_options options;
	enum clocks_use use;
	bool finished;
	GArray *hosts;   /* struct known_host, by number */
	GArray *by_hand; /* struct by_hand */
};

static void clear_host(void *data)
{
	struct known_host *host = data;

	g_free(host->name);
	g_free(host->clock_uuid);
}

static void clear_by_hand(void *data)
{
	g_free(((struct by_hand *)data)->host);
}

struct clocks *clocks_create(const struct clock_options *options, enum clocks_use use)
{
	struct clocks *c = g_new0(struct clocks, 1);
	uint16_t *ports = g_new(uint16_t, options->n_ignore_ports);

	c->options = *options;
	c->options.match_only = use == CLOCKS_RAW;
	c->options.ref = g_strdup(options->ref);
	c->options.ignore_ports = ports;
	for (unsigned i = 0; i < options->n_ignore_ports; i++)
		ports[i] = options->ignore_ports[i];
	c->sync = clock_sync_create(&c->options);
	c->use = use;
	c->hosts = g_array_new(FALSE, FALSE, sizeof(struct known_host));
	c->by_hand = g_array_new(FALSE, FALSE, sizeof(struct by_hand));
	g_array_set_clear_func(c->hosts, clear_host);
	g_array_set_clear_func(c->by_hand, clear_by_hand);
	return c;
}

void clocks_destroy(struct clocks *c)
{
	if (!c)
		return;
	clock_sync_destroy(c->sync);
	g_free((void *)c->options.ref);
	g_free((void *)c->options.ignore_ports);
	g_array_free(c->hosts, TRUE);
	g_array_free(c->by_hand, TRUE);
	g_free(c);
}

void clocks_set_offset(struct clocks *c, const char *host, int64_t offset_ns)
{
	struct by_hand by_hand = { g_strdup(host), offset_ns };

	g_array_append_val(c->by_hand, by_hand);
	for (guint i = 0; i < c->hosts->len; i++)
		if (strcmp(g_array_index(c->hosts, struct known_host, i).name, host) == 0)
			clock_sync_set_offset(c->sync, i, offset_ns);
}

unsigned clocks_host(struct clocks *c, const char *name, const char *clock_uuid)
{
	struct known_host host;
	unsigned number;

	for (guint i = 0; i < c->hosts->len; i++) {
		const struct known_host *known = &g_array_index(c->hosts, struct known_host, i);

		if (strcmp(known->name, name) == 0 && strcmp(known->clock_uuid, clock_uuid) == 0)
			return i;
	}
	host = (struct known_host){ g_strdup(name), g_strdup(clock_uuid) };
	g_array_append_val(c->hosts, host);
	number = clock_sync_add_host(c->sync, name, clock_uuid);
	for (guint i = 0; i < c->by_hand->len; i++) {
		const struct by_hand *by_hand = &g_array_index(c->by_hand, struct by_hand, i);

		if (strcmp(by_hand->host, name) == 0)
			clock_sync_set_offset(c->sync, number, by_hand->offset_ns);
	}
	return number;
}

void clocks_packet(struct clocks *c, unsigned host, uint64_t ts_ns, bool sent, const struct clock_packet *packet)
{
	if (!c->finished)
		clock_sync_packet(c->sync, host, ts_ns, sent, packet);
}

void clocks_bare_packet(struct clocks *c, unsigned host)
{
	if (!c->finished)
		clock_sync_bare_packet(c->sync, host);
}

void clocks_arrival(struct clocks *c, unsigned host, uint64_t host_ns, uint64_t now_ns)
{
	if (c->use != CLOCKS_AWAIT && !c->finished)
		clock_sync_arrival(c->sync, host, host_ns, now_ns);
}

void clocks_update(struct clocks *c)
{
	if (c->use != CLOCKS_AWAIT && !c->finished)
		clock_sync_update(c->sync);
}

void clocks_finish(struct clocks *c)
{
	if (!c->finished)
		clock_sync_finish(c->sync);
	c->finished = true;
}

void clocks_pack(const struct clocks *c, GByteArray *out)
{
	g_assert(c->finished);
	pack_u64(out, c->hosts->len);
	for (guint i = 0; i < c->hosts->len; i++) {
		pack_text(out, g_array_index(c->hosts, struct known_host, i).name);
		pack_text(out, g_array_index(c->hosts, struct known_host, i).clock_uuid);
	}
	clock_sync_pack(c->sync, out);
}

bool clocks_unpack(struct clocks *c, struct unpack *in)
{
	size_t n = unpack_count(in, 2 * sizeof(uint64_t));

	g_assert(!c->hosts->len);
	for (size_t i = 0; i < n && !in->failed; i++) {
		struct known_host host = { .name = unpack_text(in) };

		host.clock_uuid = unpack_text(in);
		in->failed |= !host.name || !host.clock_uuid;
		g_array_append_val(c->hosts, host);
	}
	c->finished = true;
	return !in->failed && clock_sync_unpack(c->sync, in) && clock_sync_host_count(c->sync) == n;
}

struct clock_sync *clocks_sync(const struct clocks *c)
{
	return c->sync;
}
