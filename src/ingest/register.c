/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers hosts with the two structures that span all of them: the clocks, which receive their packets, and the wait
 * graph, which receives the waits that their models log and the time up to which each host has been read.
 */
#include "event/payload.h"
#include "ingest/internal.h"

/* Recordings of this size have up to twice as many bytes of wait events. */
#define HELD_BYTES (UINT64_C(32) << 20)

/* A clock that was set back is another one. */
static unsigned add_clock(struct clocks *clocks, const struct host *host)
{
	char *uuid = host->n_others ? g_strdup_printf("%s, %u", host->clock, host->n_others) : g_strdup(host->clock);
	const unsigned number = clocks_host(clocks, host->public.name, uuid);

	g_free(uuid);
	return number;
}

static void register_host(struct ingest *in, struct host *host, unsigned number)
{
	struct ingest_host *h = &host->public;

	if (in->options.clocks) {
		h->clock = add_clock(in->options.clocks, host);
		if (!in->options.own_time)
			h->map = clock_sync_map(clocks_sync(in->options.clocks), h->clock);
	}
	if (in->waits)
		h->wait = waits_add_host(in->waits, h->map);
	if (in->waits || in->options.graph)
		model_set_wait_log(h->model, &host->log);
	host->number = number;
	host->registered = true;
	ingest_set_ready(in, host, true);
}

void ingest_register_hosts(struct ingest *in)
{
	for (guint i = 0; in->named && i < in->hosts->len; i++)
		if (!host_at(in, i)->registered)
			register_host(in, host_at(in, i), i);
}

void ingest_drop_waits(struct ingest *in)
{
	for (guint i = 0; i < in->hosts->len; i++)
		model_set_wait_log(host_at(in, i)->public.model, NULL);
	waits_destroy(in->waits);
	in->waits = NULL;
}

void ingest_add_packet(struct ingest *in, const struct host *host, const struct event *ev)
{
	const bool sent = ev->kind == EVENT_NET_QUEUE || ev->kind == EVENT_SOCK_SEND;
	const bool sock = ev->kind == EVENT_SOCK_SEND || ev->kind == EVENT_SOCK_RECEIVE;
	const struct ev_net *net = event_payload(ev, ev_net);
	struct clock_packet packet;

	if (clock_packet_of_event(net,
				  sock              ? CLOCK_PACKET_SOCK_LOCAL
				  : net->ip_version ? CLOCK_PACKET_NET_DEV
						    : CLOCK_PACKET_TRANSPORT,
				  &packet))
		clocks_packet(in->options.clocks, host->public.clock, ev->ts_ns, sent, &packet);
	else if (ev->kind == EVENT_NET_RECEIVE && !net->ip_version)
		clocks_bare_packet(in->options.clocks, host->public.clock);
}

/* Whether the wait graph may continue without events of this host. */
static bool holds_nobody_up(const struct host *host)
{
	return host->public.ended || host->public.away || ingest_is_mute(host);
}

/* Nothing is expected of the host, at least for now. */
static void release(struct ingest *in, const struct host *host)
{
	const struct ingest_host *h = &host->public;

	waits_watermark(in->waits, h->wait, UINT64_MAX);
	waits_end(in->waits, h->wait, h->ended || h->away ? h->end_ns : UINT64_MAX);
}

void ingest_pass_waits(struct waits *waits, unsigned number, struct host *host)
{
	/* each thread would run from its first event to its last */
	if (!model_declares(host->public.model, EVENT_SCHED_SWITCH))
		wait_log_clear(&host->log);
	waits_take(waits, number, &host->log);
}

void ingest_advance_shared(struct ingest *in, struct host *host)
{
	const struct ingest_host *h = &host->public;

	if (in->options.clocks) {
		if (host->registered)
			clock_sync_time(clocks_sync(in->options.clocks), h->clock, host->last_ns);
		clocks_update(in->options.clocks);
	}
	if (!in->waits || !host->registered)
		return;
	ingest_pass_waits(in->waits, h->wait, host);
	if (holds_nobody_up(host)) {
		release(in, host);
	} else {
		waits_watermark(in->waits, h->wait, MAX(host->last_ns, h->applied_ns));
		waits_end(in->waits, h->wait, UINT64_MAX);
	}
	if (!in->waits_held)
		waits_run(in->waits);
}

void ingest_release_shared(struct ingest *in, const struct host *host)
{
	if (!in->waits || !host->registered || !holds_nobody_up(host))
		return;
	release(in, host);
	if (!in->waits_held)
		waits_run(in->waits);
}

bool ingest_hold_waits(struct ingest *in)
{
	uint64_t bytes = 0;

	for (guint i = 0; i < in->specs->len; i++)
		bytes += ((const struct source_spec *)g_ptr_array_index(in->specs, i))->extent.bytes;
	in->waits_held = in->waits && bytes <= HELD_BYTES;
	return in->waits_held;
}

void ingest_release_waits(struct ingest *in)
{
	if (in->waits_held)
		waits_run(in->waits);
	in->waits_held = false;
}
