/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/tcp.h"

#include "event/packet.h"

/* More than any window: anything so far ahead belongs to another connection, or to a damaged trace. */
#define GAP_MAX (UINT32_C(1) << 30)

/* The kernel passes on no longer packets than this. */
enum { LENGTH_MAX = 1 << 20 };

bool tcp_segment_of(const struct ev_net *p, struct tcp_segment *out)
{
	int32_t len;

	if (packet_protocol(p) != PACKET_TCP)
		return false;
	len = packet_payload_len(p, PACKET_TCP);
	if (len < 0 || len > LENGTH_MAX)
		return false;
	*out = (struct tcp_segment){
		.seq = (uint32_t)p->seq,
		.ack = (uint32_t)p->ack_seq,
		.len = (uint32_t)len,
		.syn = (p->flags & PACKET_SYN) != 0,
		.fin = (p->flags & PACKET_FIN) != 0,
		.rst = (p->flags & PACKET_RST) != 0,
		.has_ack = (p->flags & PACKET_ACK) != 0,
	};
	return true;
}

/* How far number a is ahead of b, the shorter way round. */
static int32_t ahead_of(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b);
}

static uint32_t end_of(const struct tcp_segment *s)
{
	return s->seq + s->len + s->syn + s->fin;
}

bool tcp_way_has(const struct tcp_way *way, const struct tcp_segment *s)
{
	return way->seen && ahead_of(end_of(s), way->next) <= 0 &&
	       (!s->has_ack || (way->acks && ahead_of(s->ack, way->ack) <= 0));
}

/* Counts its payload: what is after way->next, and what fills a gap before it. */
static void count_bytes(struct tcp_way *way, const struct tcp_segment *s, struct tcp_news *news)
{
	const int32_t ahead = ahead_of(s->seq, way->next);
	const uint32_t end = end_of(s), fresh = end - way->next;
	uint32_t late;

	if (ahead >= 0) {
		news->bytes = s->len;
		way->missing = (uint32_t)ahead < GAP_MAX - way->missing ? way->missing + (uint32_t)ahead : 0;
		way->next = end;
		return;
	}
	if (end == s->seq)
		return;
	if (ahead_of(end, way->next) > 0) {
		news->bytes = fresh - s->fin < s->len ? fresh - s->fin : s->len;
		way->next = end;
	}
	news->again = true;
	late = s->len - news->bytes;
	late = late < way->missing ? late : way->missing;
	way->missing -= late;
	news->bytes += late;
}

struct tcp_news tcp_way_packet(struct tcp_way *way, const struct tcp_segment *s, uint32_t netif)
{
	struct tcp_news news = { .copy = way->seen && way->netif != netif && (s->rst || tcp_way_has(way, s)) };

	if (news.copy || s->rst)
		return news;
	if (!way->seen)
		way->next = s->seq;
	way->seen = true;
	way->netif = netif;
	count_bytes(way, s, &news);
	if (s->has_ack && (!way->acks || ahead_of(s->ack, way->ack) > 0))
		way->ack = s->ack;
	way->acks |= s->has_ack;
	if (s->syn) {
		way->first = s->seq;
		way->syn_seen = true;
	}
	if (s->fin) {
		way->fin = end_of(s);
		way->fin_seen = true;
	}
	return news;
}

bool tcp_way_closed(const struct tcp_way *way, const struct tcp_way *other)
{
	return way->fin_seen && other->acks && ahead_of(other->ack, way->fin) >= 0;
}
