/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Network interfaces, counted as in /proc/net/dev: sent is what a driver accepted (net_dev_xmit, after segmentation),
 * received is what reached the protocols (net_if_receive_skb). There are two differences: with receive offload several
 * packets arrive as one, as they do in the trace, and drops and errors are not seen.
 *
 * Bytes include the link header. The len of a received packet is without it, that of a sent one with it; loopback
 * packets carry one that the kernel does not count.
 */
#include <string.h>

#include "model/connections.h"
#include "model/context.h"
#include "model/parts_internal.h"
#include "model/received.h"
#include "model/recent.h"

enum net_link {
	LINK_ETHERNET, /* until known otherwise */
	LINK_NONE,     /* packets have no link header: tunnels */
	LINK_LOOPBACK,
};

/* Containers come and go, each with an interface of its own: of many, those that are not used end. */
enum { NETIFS_FEW = 256, NETIFS_MAX = 4096 };

enum { ETHERNET_HEADER = 14, IPV6_HEADER = 40, NAME_MAX_LEN = 16 };

#define NETIF_ROW(m, row) STATE_ROW(&(m)->state, NETIF, netif, row)

struct netifs {
	struct recent rows;
	GByteArray *links; /* enum net_link, by row */
};

/* An interface as found. */
struct netif {
	uint32_t row;
	enum net_link link;
};

void net_create(struct model *m)
{
	m->netifs = g_new0(struct netifs, 1);
	m->netifs->links = g_byte_array_new();
	recent_init(&m->netifs->rows, TABLE_NETIF, NETIFS_MAX);
	m->netifs->rows.few = NETIFS_FEW;
}

void net_destroy(struct model *m)
{
	recent_release(&m->netifs->rows);
	g_byte_array_free(m->netifs->links, TRUE);
	g_free(m->netifs);
}

static void set_link(struct model *m, struct netif *n, enum net_link link)
{
	GByteArray *links = m->netifs->links;

	if (n->row >= links->len)
		g_byte_array_set_size(links, n->row + 1);
	links->data[n->row] = (uint8_t)link;
	n->link = link;
}

/* The name as a number: names have at most 15 bytes; two of them collide with a chance of 1 in 2^64. */
static uint64_t name_key(const char *text, uint32_t len)
{
	uint64_t word[NAME_MAX_LEN / 8] = { 0 };

	memcpy(word, text, MIN(len, NAME_MAX_LEN));
	return map64_mix(word[0], word[1]);
}

/* False: the event has no name. */
static bool netif_of_event(struct model *m, const struct event *ev, struct event_str name, struct netif *n)
{
	struct netif_row *r;
	bool made;

	if (!name.len)
		return false;
	n->row = recent_row(m, &m->netifs->rows, name_key(event_text(ev, name), name.len), &made);
	if (!made) {
		n->link = (enum net_link)m->netifs->links->data[n->row];
		return true;
	}
	r = NETIF_ROW(m, n->row);
	r->name = strpool_intern_brief(event_text(ev, name), name.len);
	set_link(m, n, strcmp(strpool_text((strid)r->name), "lo") == 0 ? LINK_LOOPBACK : LINK_ETHERNET);
	return true;
}

static void count_sent(struct model *m, const struct netif *n, uint64_t len)
{
	struct netif_row *r = NETIF_ROW(m, n->row);

	if (n->link == LINK_LOOPBACK && len >= ETHERNET_HEADER)
		len -= ETHERNET_HEADER;
	r->tx_packets++;
	r->tx_bytes += len;
	if (n->link != LINK_LOOPBACK) {
		HOST_ROW(m)->tx_bytes += len;
		touch_host(m);
	}
}

/* Bytes of the packet from its IP header on, 0 if the event does not include them. */
static uint64_t ip_len(const struct ev_net *p)
{
	if (p->ip_version == 4)
		return p->tot_len;
	return p->ip_version == 6 && p->tot_len ? p->tot_len + IPV6_HEADER : 0;
}

/* A packet is queued at the interface: shows whether packets carry a link header. */
void apply_net_queue(struct model *m, const struct apply *a)
{
	const struct ev_net *p = event_payload(a->ev, ev_net);
	struct netif n;
	const bool named = netif_of_event(m, a->ev, p->name, &n);

	connections_packet(m, a, p, named ? n.row : NO_ROW, true);
	channels_packet_sent(m, a, p);
	received_sent(m, a);
	if (!named)
		return;
	if (n.link == LINK_ETHERNET && p->len && ip_len(p) == p->len)
		set_link(m, &n, LINK_NONE);
	if (!m->declared[EVENT_NET_XMIT])
		count_sent(m, &n, p->len);
}

void apply_net_xmit(struct model *m, const struct apply *a)
{
	const struct ev_net_xmit *p = event_payload(a->ev, ev_net_xmit);
	struct netif n;

	if (p->rc == 0 && netif_of_event(m, a->ev, p->name, &n))
		count_sent(m, &n, p->len);
}

void apply_net_receive(struct model *m, const struct apply *a)
{
	const struct ev_net *p = event_payload(a->ev, ev_net);
	struct netif_row *r;
	struct netif n;
	const bool named = netif_of_event(m, a->ev, p->name, &n);
	uint64_t len;

	connections_packet(m, a, p, named ? n.row : NO_ROW, false);
	channels_packet_received(m, p);
	received_add(m, a, p);
	if (!named)
		return;
	context_note_netif(a->cpu, n.row);
	len = p->len + (n.link == LINK_ETHERNET ? ETHERNET_HEADER : 0);
	r = NETIF_ROW(m, n.row);
	r->rx_packets++;
	r->rx_bytes += len;
	if (n.link != LINK_LOOPBACK) {
		HOST_ROW(m)->rx_bytes += len;
		touch_host(m);
	}
}

void apply_sock_receive(struct model *m, const struct apply *a)
{
	received_local(m, a);
}

void apply_dump_netif(struct model *m, const struct apply *a)
{
	struct netif n;

	netif_of_event(m, a->ev, event_payload(a->ev, ev_dump_netif)->name, &n);
}
