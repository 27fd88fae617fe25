/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_CONNECTIONS_H
#define LT_MODEL_CONNECTIONS_H

/*
 * TCP connections as their packets show them: rows of TABLE_CONNECTION, one for each end on this host, so two for a
 * connection inside it.
 *
 *   net_dev_queue       A → B   sent by the end whose local address is A
 *   net_if_receive_skb  A → B   received by the end whose local address is B
 *
 * A host also sees packets that it only forwards, and its own once for each interface they pass (bridge, bond, veth): a
 * packet that an end has already seen on another interface counts once. Packets are those of the trace: before
 * segmentation, after receive offload. Inside model/ only.
 */
#include "model/endpoint.h"
#include "model/relations.h"

void connections_create(struct model *m);
void connections_destroy(struct model *m);

/* A packet was queued at an interface, or received by one; netif: its row of TABLE_NETIF, NO_ROW: unknown. */
void connections_packet(struct model *m, const struct apply *a, const struct ev_net *p, uint32_t netif, bool sent);

/* Which end is the server, by the connection's SYN or by the ports; SIDE_UNKNOWN: neither shows it. */
enum socket_side connections_role(const struct model *m, const struct endpoint *local, const struct endpoint *remote);

/* The process at that end. flow: endpoint_flow(local, remote); sure: known from what it did, not guessed. */
void connections_set_owner(struct model *m, uint64_t flow, const struct party *who, bool sure);

/*
 * The connection that accept() returned, by its remote end and the port of the listening socket, 0: unknown. Returns
 * whether it is known; then sets its local end.
 */
bool connections_accepted(struct model *m, const struct endpoint *remote, uint16_t port, struct endpoint *local);

/* A packet of that connection ended a thread's wait, of which only the time since its first packet counts. */
void connections_waited(struct model *m, uint64_t flow, uint64_t waited_ns);

/* Ends the rows of the connections that were idle longest, one in 8. Returns how many. */
unsigned connections_forget(struct model *m);

#endif
