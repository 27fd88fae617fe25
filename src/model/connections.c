/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The set of a host's TCP connections, and what each packet changes in the row of its end. */
#include "model/connections.h"

#include <stdlib.h>

#include "base/nstime.h"
#include "model/context.h"
#include "model/endpoint.h"
#include "model/tcp.h"

enum {
	CONNECTIONS_MAX = 16384,
	LOOKS = 4,
	LOOKS_WHEN_FULL = 64,
	FORGET_SHARE = 8,
};

/* The row of a closed connection waits at least this long for late packets. */
#define LINGER_NS (2 * NS_PER_S)

#define CONNECTION_ROW(m, row) STATE_ROW(&(m)->state, CONNECTION, connection, row)

/* Whose data came last. */
enum turn { TURN_NONE, TURN_REQUEST, TURN_REPLY };

/* State of a connection that is not a figure; belongs to a row. */
struct tcp_connection {
	bool in_use;
	enum socket_side role; /* as shown by a SYN, else by the ports */
	bool ambiguous;        /* another connection from the remote end may be the one that accept() returns */
	struct endpoint local, remote;
	uint64_t flow;             /* its key: endpoint_flow(local, remote) */
	uint64_t seen_ns, used_ns; /* its first and last packet */
	uint64_t sender_uid;       /* of the thread last seen to send, 0 none */
	struct tcp_way out, in;
	enum turn turn;
	uint64_t data_ns; /* time of the last new data */
};

struct connections {
	GArray *list;         /* struct tcp_connection, by row */
	struct map64 by_flow; /* flow -> row */
	struct map64 arrived; /* hash of remote -> row of the last one whose SYN was received from there */
	uint32_t n;
	bool hears[2]; /* packets received ([1]: sent) have TCP headers in this trace */
	uint32_t hand; /* row the hand is at: see model/recent.h */
};

void connections_create(struct model *m)
{
	m->connections = g_new0(struct connections, 1);
	m->connections->list = g_array_new(FALSE, TRUE, sizeof(struct tcp_connection));
}

void connections_destroy(struct model *m)
{
	g_array_free(m->connections->list, TRUE);
	map64_release(&m->connections->by_flow);
	map64_release(&m->connections->arrived);
	g_free(m->connections);
	m->connections = NULL;
}

/* ---- the set ---- */

static struct tcp_connection *connection_at(const struct connections *c, uint32_t row)
{
	return &g_array_index(c->list, struct tcp_connection, row);
}

static uint32_t row_of(const struct connections *c, const struct tcp_connection *conn)
{
	return (uint32_t)(conn - connection_at(c, 0));
}

static struct tcp_connection *find(const struct connections *c, uint64_t flow)
{
	const uint32_t row = map64_get(&c->by_flow, flow);

	return row == MAP64_NONE ? NULL : connection_at(c, row);
}

static void end_connection(struct model *m, struct tcp_connection *conn)
{
	struct connections *c = m->connections;
	const uint64_t arrived = endpoint_hash(&conn->remote);

	map64_del(&c->by_flow, conn->flow);
	if (map64_get(&c->arrived, arrived) == row_of(c, conn))
		map64_del(&c->arrived, arrived);
	conn->in_use = false;
	state_end(&m->state, TABLE_CONNECTION, row_of(c, conn));
	c->n--;
}

static struct tcp_connection *turn_hand(struct connections *c)
{
	c->hand = c->hand + 1 < c->list->len ? c->hand + 1 : 0;
	return connection_at(c, c->hand);
}

/* Ends closed connections, faster than others are added. */
static void end_closed(struct model *m)
{
	for (int i = 0; i < LOOKS; i++) {
		struct tcp_connection *conn = turn_hand(m->connections);

		if (conn->in_use && m->now_ns - conn->used_ns > LINGER_NS &&
		    CONNECTION_ROW(m, m->connections->hand)->end_ns)
			end_connection(m, conn);
	}
}

/* Ends the least recently used of a few. */
static void end_one(struct model *m)
{
	struct tcp_connection *oldest = NULL;

	for (int i = 0; i < LOOKS_WHEN_FULL; i++) {
		struct tcp_connection *conn = turn_hand(m->connections);

		if (conn->in_use && (!oldest || conn->used_ns < oldest->used_ns))
			oldest = conn;
	}
	if (oldest)
		end_connection(m, oldest);
}

static enum socket_side role_by_ports(const struct endpoint *local, const struct endpoint *remote)
{
	if (endpoint_serves(local, remote))
		return SIDE_ACCEPTED;
	return endpoint_serves(remote, local) ? SIDE_CONNECTED : SIDE_UNKNOWN;
}

enum socket_side connections_role(const struct model *m, const struct endpoint *local, const struct endpoint *remote)
{
	const struct tcp_connection *conn = m->connections ? find(m->connections, endpoint_flow(local, remote)) : NULL;

	return conn ? conn->role : role_by_ports(local, remote);
}

static struct tcp_connection *add(struct model *m, uint64_t flow, const struct endpoint *local,
				  const struct endpoint *remote)
{
	struct connections *c = m->connections;
	struct connection_row *r;
	uint32_t row;

	if (c->n) {
		end_closed(m);
		if (c->n >= CONNECTIONS_MAX)
			end_one(m);
	}
	row = state_add(&m->state, TABLE_CONNECTION);
	r = CONNECTION_ROW(m, row);
	r->local = endpoint_name(local);
	r->peer = endpoint_name(remote);
	r->pid = (uint64_t)-1;
	if (row >= c->list->len)
		g_array_set_size(c->list, row + 1);
	*connection_at(c, row) = (struct tcp_connection){
		.in_use = true,
		.local = *local,
		.remote = *remote,
		.flow = flow,
		.seen_ns = m->now_ns,
		.role = role_by_ports(local, remote),
	};
	map64_put(&c->by_flow, flow, row);
	c->n++;
	return connection_at(c, row);
}

unsigned connections_forget(struct model *m)
{
	const struct connections *c = m->connections;
	uint64_t *times, until_ns;
	unsigned n = 0, left;

	if (!c)
		return 0;
	times = g_new(uint64_t, MAX(c->n, 1));
	for (uint32_t row = 0; row < c->list->len; row++)
		if (connection_at(c, row)->in_use)
			times[n++] = connection_at(c, row)->used_ns;
	left = n / FORGET_SHARE;
	qsort(times, n, sizeof(*times), nstime_compare);
	until_ns = left ? times[left - 1] : 0;
	g_free(times);
	n = left;
	for (uint32_t row = 0; left && row < c->list->len; row++) {
		struct tcp_connection *conn = connection_at(c, row);

		if (!conn->in_use || conn->used_ns > until_ns)
			continue;
		end_connection(m, conn);
		left--;
	}
	return n;
}

/* ---- owners ---- */

static void set_owner(struct model *m, uint32_t row, const struct party *who)
{
	struct connection_row *r = CONNECTION_ROW(m, row);

	r->thread_uid = who->uid;
	r->pid = (uint64_t)who->pid;
	r->comm = who->comm;
	state_touch(&m->state, TABLE_CONNECTION, row);
}

void connections_set_owner(struct model *m, uint64_t flow, const struct party *who, bool sure)
{
	const struct tcp_connection *conn = m->connections ? find(m->connections, flow) : NULL;
	uint32_t row;

	if (!conn || !who->uid)
		return;
	row = row_of(m->connections, conn);
	if (sure || !CONNECTION_ROW(m, row)->thread_uid)
		set_owner(m, row, who);
}

/* What a thread sends outside interrupts is its own. Where softirqs are not recorded, this is unknown. */
static void note_sender(struct model *m, const struct apply *a, struct tcp_connection *conn)
{
	struct party who;

	if (a->thread == NO_ROW || THREAD_ROW(m, a->thread)->uid == conn->sender_uid ||
	    !m->declared[EVENT_SOFTIRQ_ENTRY] || context_now(m, a->cpu).kind != WAIT_CONTEXT_TASK)
		return;
	conn->sender_uid = THREAD_ROW(m, a->thread)->uid;
	who = relations_party(m, a->thread);
	set_owner(m, row_of(m->connections, conn), &who);
}

/* No process has the connection, which is open. */
static bool awaits_accept(const struct connection_row *r)
{
	return !r->thread_uid && !r->end_ns;
}

static void note_arrival(struct model *m, struct tcp_connection *conn)
{
	struct connections *c = m->connections;
	const uint64_t key = endpoint_hash(&conn->remote);
	const uint32_t before = map64_get(&c->arrived, key);

	conn->ambiguous = before != MAP64_NONE &&
			  (connection_at(c, before)->ambiguous || awaits_accept(CONNECTION_ROW(m, before)));
	map64_put(&c->arrived, key, row_of(c, conn));
}

bool connections_accepted(struct model *m, const struct endpoint *remote, uint16_t port, struct endpoint *local)
{
	const struct connections *c = m->connections;
	const uint32_t row = c ? map64_get(&c->arrived, endpoint_hash(remote)) : MAP64_NONE;
	const struct tcp_connection *conn = row == MAP64_NONE ? NULL : connection_at(c, row);

	if (!conn || conn->ambiguous || !awaits_accept(CONNECTION_ROW(m, row)) ||
	    !(CONNECTION_ROW(m, row)->flags & CONNECTION_HERE) || (port && port != conn->local.port))
		return false;
	*local = conn->local;
	return true;
}

void connections_waited(struct model *m, uint64_t flow, uint64_t waited_ns)
{
	const struct tcp_connection *conn = m->connections ? find(m->connections, flow) : NULL;
	struct connection_row *r;

	if (!conn)
		return;
	r = CONNECTION_ROW(m, row_of(m->connections, conn));
	r->waits++;
	r->waited_ns += MIN(waited_ns, m->now_ns - conn->seen_ns);
	state_touch(&m->state, TABLE_CONNECTION, row_of(m->connections, conn));
}

/* ---- from SYN to FIN ---- */

static bool opens(const struct tcp_segment *s)
{
	return s->syn && !s->has_ack;
}

/* Whether the segment is the first of another connection between the same two addresses and ports. */
static bool is_another(const struct tcp_connection *conn, const struct connection_row *r, const struct tcp_segment *s,
		       bool sent)
{
	const struct tcp_way *way = sent ? &conn->out : &conn->in, *back = sent ? &conn->in : &conn->out;
	/* both may open it at the same time */
	const bool underway = way->seen || (back->seen && (!back->syn_seen || back->acks));

	if (!opens(s))
		return false;
	return r->end_ns || (way->syn_seen ? way->first != s->seq : underway);
}

static void note_opening(struct model *m, struct tcp_connection *conn, struct connection_row *r,
			 const struct tcp_segment *s, bool sent)
{
	if (opens(s) && !r->begin_ns && !r->side) {
		r->begin_ns = m->now_ns;
		r->side = sent ? SIDE_CONNECTED : SIDE_ACCEPTED;
		conn->role = (enum socket_side)r->side;
		if (!sent)
			note_arrival(m, conn);
	} else if (s->syn && s->has_ack && !r->side) {
		conn->role = sent ? SIDE_ACCEPTED : SIDE_CONNECTED;
	}
	if (conn->out.syn_seen && conn->in.syn_seen && !r->opening)
		r->opening = r->side == SIDE_ACCEPTED ? (uint64_t)conn->in.first << 32 | conn->out.first
						      : (uint64_t)conn->out.first << 32 | conn->in.first;
	if (sent || !r->begin_ns || r->handshake_ns || s->rst || !s->has_ack || !conn->out.syn_seen)
		return;
	/* at the connecting end, the acknowledgement of the SYN is a SYN itself */
	if (s->syn == (r->side == SIDE_CONNECTED))
		r->handshake_ns = m->now_ns - r->begin_ns;
}

/* New data: one side continues, or it is the other side's turn. What a server sends first is not a reply. */
static void note_turn(struct model *m, struct tcp_connection *conn, struct connection_row *r, bool sent)
{
	const enum turn turn = sent == (conn->role == SIDE_ACCEPTED) ? TURN_REPLY : TURN_REQUEST;
	const uint64_t since_ns = m->now_ns - conn->data_ns;

	if (!conn->role || (turn == TURN_REPLY && conn->turn == TURN_NONE))
		return;
	if (turn == TURN_REPLY && conn->turn == TURN_REQUEST)
		dist_add(&r->answer, since_ns, m->now_ns);
	else if (turn == conn->turn)
		*(turn == TURN_REPLY ? &r->reply_ns : &r->request_ns) += since_ns;
	conn->turn = turn;
	conn->data_ns = m->now_ns;
}

static void note_end(struct model *m, const struct tcp_connection *conn, struct connection_row *r,
		     const struct tcp_segment *s)
{
	if (r->end_ns || !(s->rst || (tcp_way_closed(&conn->out, &conn->in) && tcp_way_closed(&conn->in, &conn->out))))
		return;
	r->end_ns = m->now_ns;
	r->reset = s->rst;
}

/* What one direction acknowledges came in the other: if no packet there has headers, its figures are unknown. */
static void note_unknown(const struct connections *c, const struct tcp_connection *conn, struct connection_row *r)
{
	r->flags &= ~(uint64_t)(CONNECTION_RECEIVED_UNSEEN | CONNECTION_SENT_UNSEEN | CONNECTION_ROLE_UNKNOWN);
	if (!conn->role)
		r->flags |= CONNECTION_ROLE_UNKNOWN;
	if (!c->hears[0] && conn->out.acks)
		r->flags |= CONNECTION_RECEIVED_UNSEEN;
	if (!c->hears[1] && conn->in.acks)
		r->flags |= CONNECTION_SENT_UNSEEN;
}

static void count(struct model *m, const struct tcp_connection *conn, struct connection_row *r,
		  const struct tcp_news *news, bool sent)
{
	if (sent) {
		r->sent_packets++;
		r->sent_bytes += news->bytes;
		r->retransmits += news->again;
		return;
	}
	r->received_packets++;
	r->received_bytes += news->bytes;
	if (news->bytes && !r->first_byte_ns && r->begin_ns && conn->in.syn_seen)
		r->first_byte_ns = m->now_ns - r->begin_ns;
}

/*
 * A packet that the receiver's end has already received here was only forwarded: neither end is on this host, unless it
 * has also sent something by itself.
 */
static void note_passing(struct model *m, const struct tcp_connection *conn, const struct endpoint *from,
			 const struct endpoint *to, const struct tcp_segment *s)
{
	struct connection_row *r = CONNECTION_ROW(m, row_of(m->connections, conn));
	const struct tcp_connection *other;

	if (r->flags & CONNECTION_HERE)
		return;
	other = find(m->connections, endpoint_flow(to, from));
	if (!other || !tcp_way_has(&other->in, s)) {
		r->flags |= CONNECTION_HERE;
		return;
	}
	r->flags |= CONNECTION_PASSING;
	CONNECTION_ROW(m, row_of(m->connections, other))->flags |= CONNECTION_PASSING;
	state_touch(&m->state, TABLE_CONNECTION, row_of(m->connections, other));
}

/* The connection of the packet; NULL: there is none. */
static struct tcp_connection *connection_of(struct model *m, const struct endpoint *local,
					    const struct endpoint *remote, const struct tcp_segment *s, bool sent)
{
	const uint64_t flow = endpoint_flow(local, remote);
	struct tcp_connection *conn = find(m->connections, flow);

	if (conn && is_another(conn, CONNECTION_ROW(m, row_of(m->connections, conn)), s, sent)) {
		end_connection(m, conn);
		conn = NULL;
	}
	/* a reset of something that never was a connection, or long after its end */
	if (!conn && s->rst)
		return NULL;
	return conn ? conn : add(m, flow, local, remote);
}

void connections_packet(struct model *m, const struct apply *a, const struct ev_net *p, uint32_t netif, bool sent)
{
	struct endpoint from, to;
	struct tcp_connection *conn;
	struct connection_row *r;
	struct tcp_segment s;
	struct tcp_news news;

	if (!m->connections || !tcp_segment_of(p, &s))
		return;
	from = endpoint_of(p->ip_version == 6, p->saddr, p->sport);
	to = endpoint_of(p->ip_version == 6, p->daddr, p->dport);
	m->connections->hears[sent] = true;
	conn = connection_of(m, sent ? &from : &to, sent ? &to : &from, &s, sent);
	if (!conn)
		return;
	if (sent)
		note_passing(m, conn, &from, &to, &s);
	news = tcp_way_packet(sent ? &conn->out : &conn->in, &s, netif);
	if (news.copy)
		return;
	conn->used_ns = m->now_ns;
	r = CONNECTION_ROW(m, row_of(m->connections, conn));
	note_opening(m, conn, r, &s, sent);
	count(m, conn, r, &news, sent);
	if (news.bytes)
		note_turn(m, conn, r, sent);
	note_end(m, conn, r, &s);
	note_unknown(m->connections, conn, r);
	state_touch(&m->state, TABLE_CONNECTION, row_of(m->connections, conn));
	if (sent)
		note_sender(m, a, conn);
}
