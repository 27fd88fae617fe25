/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_CONNECTIONS_H
#define LT_MODEL_CONNECTIONS_H

/*
 * TCP connections as their packets show them: rows of TABLE_CONNECTION, one for each end on this host,
 * so two for a connection inside of it.
 *
 *   net_dev_queue       A → B   sent by the end whose local address is A
 *   net_if_receive_skb  A → B   received by the end whose local address is B
 *
 * A host also sees packets that it only passes on, and its own once for each interface on their way (bridge,
 * bond, veth): what an end has seen already on another interface counts once. Packets are those
 * of the trace: before segmentation, behind receive offload. Inside model/ only.
 */
#include "model/relations.h"

void connections_create(struct model *m);
void connections_destroy(struct model *m);

/* A packet was handed to an interface's queue, or received by one: its row of TABLE_NETIF, NO_ROW unknown. */
void connections_packet(struct model *m, const struct apply *a, const struct ev_net *p, uint32_t netif, bool sent);

/* The process at that end. flow: endpoint_flow(local, remote); sure: it is known by what it did, not by a guess. */
void connections_set_owner(struct model *m, uint64_t flow, const struct party *who, bool sure);

/* A packet of that connection ended a wait of a thread; of its time counts what is behind the first packet. */
void connections_waited(struct model *m, uint64_t flow, uint64_t waited_ns);

/* The rows of those that did nothing for the longest time end, one of 8; how many. */
unsigned connections_forget(struct model *m);

#endif
