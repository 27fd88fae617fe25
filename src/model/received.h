/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_RECEIVED_H
#define LT_MODEL_RECEIVED_H

/*
 * The packets that a CPU is delivering, and which of them wakes a thread.
 *
 * Since Linux 5.3, an interface's packets are received up to eight at a time: net_if_receive_skb is seen for all of
 * them, then they are delivered in the same order, and threads are woken.
 *
 *   softirq NET_RX ─ receive a ─ receive b ─ wake the thread that waits for a ─ wake the one that waits for b
 *
 * Packets of one connection count as one, the last, as they wake the same threads. A softirq that receives after it has
 * woken a thread, or sent something, has delivered what it had. Elsewhere, a CPU has one packet. Inside model/ only.
 */
#include "model/channels.h"
#include "model/internal.h"
#include "model/waitlog.h"

struct received {
	struct packet packets[WAIT_PLACES];
	uint64_t ts_ns; /* when the last one came; 0: none has */
	uint8_t last;   /* its place */
	uint8_t n;
	uint8_t at;      /* the one being delivered: those before it have been delivered */
	bool woke;       /* it has woken a thread */
	bool delivering; /* since the last one came, one has, or something was sent */
	bool local;      /* the last one was seen by inet_sock_local_in */
	/* the last answer, which is for this wake-up */
	int64_t tid;
	uint64_t woken_ns;
	uint8_t place;
};

/* A packet was received, or sent, on the CPU. */
void received_add(const struct model *m, const struct apply *a, const struct ev_net *p);
void received_sent(const struct model *m, const struct apply *a);

/* The same for inet_sock_local_in: one packet of the IP layer, which has no addresses. */
void received_local(const struct model *m, const struct apply *a);

/*
 * A wake-up, perhaps by a packet, which is delivered then. To be called for every wake-up, so that the answers below do
 * not depend on whether somebody asked about the one before.
 */
void received_wakes(struct model *m, const struct apply *a);

/*
 * The packet that wakes the thread of the event, a wake-up; NULL: none does, or it is neither TCP nor UDP. However
 * often it is asked, the answer for an event is the same.
 */
const struct packet *received_that_wakes(struct model *m, const struct apply *a);

/* For the log: the place of that packet, and of the one just received: see struct wait_event. */
uint8_t received_place_waking(struct model *m, const struct apply *a);
uint8_t received_place(const struct apply *a);

void received_free(struct cpu *cpu);

#endif
