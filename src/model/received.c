/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/received.h"

#include "event/packet.h"
#include "model/context.h"
#include "model/parts_internal.h"

/* When the softirq that the CPU is in was entered; 0: it is in none. */
static uint64_t softirq_entry_ns(const struct cpu *cpu)
{
	for (unsigned i = cpu->irq_depth; i-- > 0;)
		if (cpu->irqs[i].soft)
			return cpu->irqs[i].entry_ns;
	return 0;
}

/* Of the CPU; NULL: it has received nothing since its softirq started. */
static struct received *at_work(const struct cpu *cpu)
{
	struct received *r = cpu ? cpu->received : NULL;

	return r && r->ts_ns && r->ts_ns >= softirq_entry_ns(cpu) ? r : NULL;
}

void received_free(struct cpu *cpu)
{
	g_clear_pointer(&cpu->received, g_free);
}

/* ---- packets ---- */

/* The packets that are not delivered yet; none if the CPU was not seen to receive several before it delivers them. */
static struct received *begin(struct cpu *cpu)
{
	struct received *r = at_work(cpu);

	if (!cpu->received)
		cpu->received = g_new0(struct received, 1);
	if (!r || r->delivering || r->n == WAIT_PLACES || !softirq_entry_ns(cpu)) {
		r = cpu->received;
		r->n = r->at = 0;
		r->woke = r->delivering = false;
	}
	return r;
}

/* Whether a thread may wait for it: it has data, or opens or closes a connection. */
static bool carries(const struct ev_net *p)
{
	enum { FIN = 0x01, SYN = 0x02, RST = 0x04 };

	return p->protocol != PACKET_TCP || p->flags & (FIN | SYN | RST) || packet_payload_len(p, PACKET_TCP) != 0;
}

static bool same_connection(const struct packet *a, const struct packet *b)
{
	return a->protocol && a->protocol == b->protocol && endpoint_same(&a->from, &b->from) &&
	       endpoint_same(&a->to, &b->to);
}

void received_add(const struct model *m, const struct apply *a, const struct ev_net *p)
{
	struct packet packet = { .protocol = 0 };
	struct received *r;
	uint8_t i = 0;

	if (!a->cpu)
		return;
	if (packet_protocol(p))
		packet = (struct packet){
			.from = endpoint_of(p->ip_version == 6, p->saddr, p->sport),
			.to = endpoint_of(p->ip_version == 6, p->daddr, p->dport),
			.protocol = (uint8_t)p->protocol,
			.carries = carries(p),
		};
	r = begin(a->cpu);
	while (i < r->n && !same_connection(&r->packets[i], &packet))
		i++;
	packet.carries = packet.carries || (i < r->n && r->packets[i].carries);
	r->packets[i] = packet;
	r->n = MAX(r->n, (uint8_t)(i + 1));
	r->last = i;
	r->local = false;
	r->ts_ns = m->now_ns;
}

void received_local(const struct model *m, const struct apply *a)
{
	struct received *r;

	if (!a->cpu)
		return;
	r = at_work(a->cpu);
	if (!r)
		r = begin(a->cpu);
	r->local = r->delivering = true;
	r->ts_ns = m->now_ns;
}

void received_sent(const struct model *m, const struct apply *a)
{
	struct received *r = at_work(a->cpu);

	if (r && context_now(m, a->cpu).kind != WAIT_CONTEXT_TASK)
		r->delivering = true;
}

uint8_t received_place(const struct apply *a)
{
	const struct received *r = a->cpu ? a->cpu->received : NULL;

	if (!r)
		return WAIT_NO_PLACE;
	return r->local ? WAIT_PLACE_LOCAL : r->last;
}

/* ---- wake-ups ---- */

/*
 * The packet that fits the thread best. Of several that fit as well, those that have woken their threads are the least
 * likely: the next one, or if there is none, the last one.
 */
static uint8_t best(struct model *m, const struct received *r, uint32_t thread)
{
	enum packet_fit fit, best_fit = FIT_NONE;
	uint8_t place = WAIT_NO_PLACE;

	for (uint8_t i = 0; i < r->n; i++) {
		fit = channels_fit(m, thread, &r->packets[i]);
		if (fit == FIT_NONE || (i < r->at && fit != FIT_ITS))
			continue;
		if (fit > best_fit || (fit == best_fit && place == r->at && r->woke)) {
			best_fit = fit;
			place = i;
		}
	}
	return place;
}

static uint8_t place_waking(struct model *m, const struct apply *a)
{
	const int64_t tid = event_payload(a->ev, ev_wakeup)->tid;
	struct received *r = at_work(a->cpu);
	struct context c;

	if (!r)
		return WAIT_NO_PLACE;
	c = context_now(m, a->cpu);
	if (context_explains(&c) != WAIT_NETWORK)
		return WAIT_NO_PLACE;
	if (r->tid == tid && r->woken_ns == m->now_ns)
		return r->place;
	r->delivering = true;
	r->tid = tid;
	r->woken_ns = m->now_ns;
	r->place = best(m, r, tid > 0 ? thread_find(m, tid) : NO_ROW);
	if (r->place == WAIT_NO_PLACE || r->place < r->at)
		return r->place;
	r->at = r->place;
	r->woke = true;
	return r->place;
}

void received_wakes(struct model *m, const struct apply *a)
{
	place_waking(m, a);
}

const struct packet *received_that_wakes(struct model *m, const struct apply *a)
{
	const uint8_t place = place_waking(m, a);
	const struct packet *p = place == WAIT_NO_PLACE ? NULL : &a->cpu->received->packets[place];

	return p && p->protocol ? p : NULL;
}

uint8_t received_place_waking(struct model *m, const struct apply *a)
{
	const uint8_t place = place_waking(m, a);
	const struct received *r = at_work(a->cpu);

	return r && r->local ? WAIT_PLACE_LOCAL : place;
}
