/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internet sockets as channels: which connection a socket belongs to. connect() and accept() give the other end's
 * address; the socket's own address, which no call reports, comes from the packets that its calls cause, and from those
 * that wake the threads waiting for it.
 */
#include "model/channels.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "event/packet.h"
#include "model/connections.h"
#include "model/context.h"
#include "model/parts_internal.h"
#include "model/received.h"

/* ---- endpoints ---- */

/* Whether packets between the two never leave the host. */
static bool stays_inside(const struct endpoint *a, const struct endpoint *b)
{
	const unsigned char *bytes = (const unsigned char *)a->addr;

	return (a->v6 == b->v6 && a->addr[0] == b->addr[0] && a->addr[1] == b->addr[1]) || (!a->v6 && bytes[0] == 127);
}

/* If nothing shows which end is the service, it is the one with the lower port, as most are. */
static strid service_name(const struct model *m, const struct endpoint *local, const struct endpoint *remote)
{
	const enum socket_side role = connections_role(m, local, remote);
	const bool here = role ? role == SIDE_ACCEPTED : local->port < remote->port;

	return endpoint_name(here ? local : remote);
}

/* ---- creating channels ---- */

uint64_t channels_connect(struct model *m, uint32_t thread, bool v6, const uint64_t addr[2], uint64_t port)
{
	struct channel *ch;

	if (!m->relations)
		return 0;
	ch = channel_new(m, RELATION_INET);
	ch->remote = endpoint_of(v6, addr, port);
	ch->object = endpoint_name(&ch->remote);
	ch->owner = relations_party(m, thread);
	return ch->id;
}

/* The channel of a listening socket; 0: the socket is unknown. Copies of its fd, in forked workers say, share it. */
static uint64_t listener_of(struct model *m, uint32_t listening)
{
	struct channel *ch;

	if (listening == NO_ROW)
		return 0;
	ch = channel_find(m->relations->channels, FILE_ROW(m, listening)->channel);
	if (!ch) {
		ch = channel_new(m, RELATION_INET);
		channel_set_file(m, listening, ch->id);
	}
	ch->used_ns = m->now_ns;
	return ch->id;
}

/*
 * Packets show the peer of a file if no call has: the file is older than the record, or accept() was not asked for it.
 * learnt: they have just shown it.
 */
static void name_file(struct model *m, uint32_t file, const struct channel *ch, bool learnt)
{
	struct file_row *f = file == NO_ROW ? NULL : FILE_ROW(m, file);

	if (!f || !ch->bound || (f->peer && !learnt))
		return;
	f->peer = endpoint_name(&ch->remote);
	if (f->kind == FD_UNKNOWN || f->kind == FD_SOCKET)
		f->kind = FD_SOCKET_INET;
	if (ch->accepted)
		f->client = fdkind_address(ch->remote.v6 ? AF_INET6 : AF_INET, ch->remote.addr);
	state_touch(&m->state, TABLE_FILE, file);
}

/*
 * Programs often do not ask accept() for the address. If the thread had to wait, the connection's own packet most
 * likely woke it: id is the channel that was created then, 0 none.
 */
void channels_accept_unseen(struct model *m, uint32_t thread, uint32_t listening, uint32_t file, uint64_t id)
{
	struct channel *ch;
	uint64_t listener;

	if (!m->relations)
		return;
	listener = listener_of(m, listening);
	ch = channel_find(m->relations->channels, id);
	if (!ch) {
		ch = channel_new(m, RELATION_INET);
		ch->accepted = ch->guessed = true;
	} else {
		name_file(m, file, ch, true);
	}
	ch->listener = listener;
	ch->owner = relations_party(m, thread);
	if (ch->bound)
		connections_set_owner(m, ch->out_flow, &ch->owner, false);
	channel_set_file(m, file, ch->id);
}

/* ---- learning addresses ---- */

/* Connects the channel to the other end on this host, and assigns what was written and read before. */
static void bind_inside(struct model *m, struct channel *ch)
{
	struct channels *c = m->relations->channels;
	struct channel *twin = channel_at(c, map64_get(&c->by_flow, ch->in_flow));

	if (!twin || !twin->inside || twin == ch)
		return;
	ch->twin = twin->id;
	twin->twin = ch->id;
	/* one object for both: the service */
	if (ch->accepted)
		twin->object = ch->object;
	else
		ch->object = twin->object;
	for (unsigned i = 0; i < ch->in.n; i++)
		channel_match(m, &twin->out, ch, &ch->in.items[i].who, ch->in.items[i].bytes, true);
	for (unsigned i = 0; i < twin->in.n; i++)
		channel_match(m, &ch->out, ch, &twin->in.items[i].who, twin->in.items[i].bytes, true);
	ch->in.n = twin->in.n = 0;
}

static void bind_to(struct model *m, struct channel *ch, const struct endpoint *local, uint8_t protocol)
{
	struct channels *c = m->relations->channels;

	if (ch->bound)
		channel_unmap(&c->by_flow, ch->out_flow, index_of(c, ch));
	else if (ch->accepted && !ch->guessed)
		channel_unmap(&c->by_remote, endpoint_hash(&ch->remote), index_of(c, ch));
	ch->local = *local;
	ch->protocol = protocol;
	ch->bound = true;
	ch->out_flow = endpoint_flow(&ch->local, &ch->remote);
	ch->in_flow = endpoint_flow(&ch->remote, &ch->local);
	if (ch->accepted)
		ch->object = endpoint_name(&ch->local);
	map64_put(&c->by_flow, ch->out_flow, index_of(c, ch));
	connections_set_owner(m, ch->out_flow, &ch->owner, false);
	ch->inside = stays_inside(&ch->local, &ch->remote);
	if (ch->inside) {
		bind_inside(m, ch);
		return;
	}
	for (unsigned i = 0; i < ch->out.n; i++)
		channel_count_half(m, ch, &ch->out.items[i].who, ch->out.items[i].bytes, false);
	for (unsigned i = 0; i < ch->in.n; i++)
		channel_count_half(m, ch, &ch->in.items[i].who, ch->in.items[i].bytes, true);
	ch->out.n = ch->in.n = 0;
}

void channels_accept(struct model *m, uint32_t thread, uint32_t listening, uint32_t file, bool v6,
		     const uint64_t addr[2], uint64_t port)
{
	struct endpoint local;
	struct channel *ch;
	uint64_t listener;
	uint16_t listening_port;

	if (!m->relations)
		return;
	listener = listener_of(m, listening);
	ch = channel_find(m->relations->channels, listener);
	listening_port = ch ? ch->local.port : 0;
	ch = channel_new(m, RELATION_INET);
	ch->remote = endpoint_of(v6, addr, port);
	ch->accepted = true;
	ch->listener = listener;
	ch->owner = relations_party(m, thread);
	if (connections_accepted(m, &ch->remote, listening_port, &local))
		bind_to(m, ch, &local, IPPROTO_TCP);
	else
		map64_put(&m->relations->channels->by_remote, endpoint_hash(&ch->remote),
			  index_of(m->relations->channels, ch));
	channel_set_file(m, file, ch->id);
}

/*
 * The channel belongs to that connection: sets its local address, and the remote one where that was a guess. Returns
 * whether that was not known yet.
 */
static bool learn(struct model *m, struct channel *ch, const struct endpoint *local, const struct endpoint *remote,
		  uint8_t protocol)
{
	if (endpoint_same(&ch->remote, remote)) {
		if (ch->bound)
			return false;
	} else if (ch->guessed) {
		ch->remote = *remote;
	} else {
		return false;
	}
	bind_to(m, ch, local, protocol);
	return true;
}

/* A connection older than the record, or whose start was lost. */
static struct channel *channel_of_packet(struct model *m, uint32_t file, const struct endpoint *local,
					 const struct endpoint *remote)
{
	struct channel *ch = channel_new(m, RELATION_INET);

	ch->remote = *remote;
	ch->object = service_name(m, local, remote);
	bind_to(m, ch, local, IPPROTO_TCP);
	channel_set_file(m, file, ch->id);
	name_file(m, file, ch, true);
	return ch;
}

static bool may_be_inet(const struct model *m, uint32_t file)
{
	const struct file_row *f = FILE_ROW(m, file);

	return f->kind == FD_SOCKET_INET || f->kind == FD_SOCKET || f->kind == FD_UNKNOWN;
}

/*
 * UDP has no connections: what a call sends goes to the destination of the packet. Of fragments, the first one counts
 * for all.
 */
static void count_datagram(struct model *m, uint32_t thread, const struct endpoint *from, const struct endpoint *to,
			   const struct ev_net *p)
{
	struct relation what = {
		.from = relations_party(m, thread),
		.kind = RELATION_INET,
		.object = service_name(m, from, to),
		.flow = endpoint_flow(from, to),
	};
	/* old tracers do not record the header of UDP */
	const int64_t len = p->udp_len ? (int64_t)MIN(p->udp_len, INT32_MAX) - PACKET_UDP_HEADER
				       : packet_payload_len(p, PACKET_UDP);
	struct recent_hint hint = { 0, 0 };

	channel_count(m, &what, (uint64_t)MAX(len, 0), &hint);
}

/* What is sent on an accepted connection shows the port of the socket that accepted it. */
static void note_listener(const struct channels *c, struct channel *ch)
{
	struct channel *listener = ch->bound ? channel_find(c, ch->listener) : NULL;

	if (!listener)
		return;
	listener->local.port = ch->local.port;
	ch->listener = 0;
}

/* A call of the thread caused the packet. */
static void caused_packet(struct model *m, uint32_t thread, const struct endpoint *from, const struct endpoint *to,
			  const struct ev_net *p)
{
	const struct call_in_flight *call = &thread_info(m, thread)->call;
	struct channels *c = m->relations->channels;
	enum syscall_action action = call->active && call->desc ? call->desc->action : SYSCALL_NAMED;
	struct channel *ch;
	uint32_t file;

	if (action == SYSCALL_CONNECT) {
		ch = channel_find(c, call->channel);
		if (ch)
			learn(m, ch, from, to, (uint8_t)p->protocol);
		return;
	}
	if (action != SYSCALL_WRITE && action != SYSCALL_COPY && action != SYSCALL_MESSAGES)
		return;
	file = files_resolve(m, action == SYSCALL_COPY ? call->file2 : call->file);
	if (file == NO_ROW || !may_be_inet(m, file))
		return;
	ch = channel_find(c, FILE_ROW(m, file)->channel);
	if (ch) {
		name_file(m, file, ch, learn(m, ch, from, to, (uint8_t)p->protocol));
		note_listener(c, ch);
	} else if (p->protocol == IPPROTO_TCP) {
		channel_of_packet(m, file, from, to);
	} else {
		count_datagram(m, thread, from, to, p);
	}
}

static void bind_accepted(struct model *m, const struct endpoint *remote, const struct endpoint *local,
			  uint8_t protocol)
{
	struct channels *c = m->relations->channels;
	struct channel *ch;

	if (!c->by_remote.count)
		return;
	ch = channel_at(c, map64_get(&c->by_remote, endpoint_hash(remote)));
	if (ch)
		bind_to(m, ch, local, protocol);
}

void channels_packet_sent(struct model *m, const struct apply *a, const struct ev_net *p)
{
	struct endpoint from, to;

	if (!m->relations || !packet_protocol(p))
		return;
	from = endpoint_of(p->ip_version == 6, p->saddr, p->sport);
	to = endpoint_of(p->ip_version == 6, p->daddr, p->dport);
	if (a->thread != NO_ROW && context_now(m, a->cpu).kind == WAIT_CONTEXT_TASK)
		caused_packet(m, a->thread, &from, &to, p);
	bind_accepted(m, &to, &from, (uint8_t)p->protocol);
}

void channels_packet_received(struct model *m, const struct ev_net *p)
{
	struct endpoint from, to;

	if (!m->relations || !packet_protocol(p))
		return;
	from = endpoint_of(p->ip_version == 6, p->saddr, p->sport);
	to = endpoint_of(p->ip_version == 6, p->daddr, p->dport);
	bind_accepted(m, &from, &to, (uint8_t)p->protocol);
}

/* ---- threads woken by packets ---- */

static void end_of_channel(const struct channels *c, const struct channel *ch, struct channel_end *end)
{
	const struct channel *other = ch->inside ? channel_at(c, map64_get(&c->by_flow, ch->in_flow)) : NULL;

	*end = (struct channel_end){
		.object = ch->object,
		.flow = ch->in_flow,
		.out_flow = ch->out_flow,
		.peer = { 0, -1, STRID_NONE },
	};
	if (other && other->owner.uid) {
		end->peer = other->owner;
		end->flow = 0;
	}
}

/* The channel of the call that the thread waits in. */
static struct channel *waited_channel(const struct model *m, const struct call_in_flight *call, uint32_t *file)
{
	const struct channels *c = m->relations->channels;

	*file = NO_ROW;
	if (!call->active || !call->desc || call->fd < 0)
		return NULL;
	switch (call->desc->action) {
	case SYSCALL_CONNECT:
		return channel_find(c, call->channel);
	case SYSCALL_READ:
	case SYSCALL_WRITE:
		*file = files_resolve(m, call->file);
		break;
	case SYSCALL_COPY:
		*file = files_resolve(m, call->file);
		if (*file == NO_ROW || !channel_find(c, FILE_ROW(m, *file)->channel))
			*file = files_resolve(m, call->file2);
		break;
	default:
		return NULL;
	}
	return *file == NO_ROW ? NULL : channel_find(c, FILE_ROW(m, *file)->channel);
}

static bool accepts(const struct call_in_flight *call)
{
	return call->active && call->desc && call->desc->action == SYSCALL_ACCEPT;
}

/* The packet that ends a handshake, of a connection that no process has yet, to the port of the socket if known. */
static enum packet_fit fits_accept(const struct model *m, const struct call_in_flight *call, const struct packet *p,
				   const struct channel *ch)
{
	const uint32_t file = files_resolve(m, call->file);
	const struct channel *listener =
		file == NO_ROW ? NULL : channel_find(m->relations->channels, FILE_ROW(m, file)->channel);
	const uint16_t port = listener ? listener->local.port : 0;

	if (p->protocol != IPPROTO_TCP || (port && port != p->to.port))
		return FIT_NONE;
	return ch && ch->owner.uid ? FIT_OTHERS : FIT_UNKNOWN;
}

enum packet_fit channels_fit(struct model *m, uint32_t thread, const struct packet *p)
{
	const struct channels *c = m->relations ? m->relations->channels : NULL;
	const struct call_in_flight *call;
	const struct channel *own, *ch;
	uint32_t file;

	if (!p->protocol || !c)
		return p->protocol && !p->carries ? FIT_ACK : FIT_UNKNOWN;
	ch = channel_at(c, map64_get(&c->by_flow, endpoint_flow(&p->to, &p->from)));
	if (thread != NO_ROW) {
		call = &thread_info(m, thread)->call;
		own = waited_channel(m, call, &file);
		if (own && own->bound)
			return own == ch ? FIT_ITS : FIT_NONE;
		if (own && own->kind == RELATION_INET && endpoint_same(&own->remote, &p->from))
			return FIT_ITS;
		if (accepts(call))
			return fits_accept(m, call, p, ch);
		if (ch && ch->owner.uid)
			return ch->owner.uid == relations_party(m, thread).uid ? FIT_PROCESS : FIT_OTHERS;
	}
	return p->carries ? FIT_UNKNOWN : FIT_ACK;
}

bool channels_woken_by(struct model *m, const struct apply *a, uint32_t thread, struct channel_end *end)
{
	struct channels *c = m->relations->channels;
	const struct packet *packet = received_that_wakes(m, a);
	uint32_t file;
	struct call_in_flight *call = &thread_info(m, thread)->call;
	struct channel *ch = waited_channel(m, call, &file);

	if (ch && ch->kind == RELATION_INET && !ch->bound && packet)
		name_file(m, file, ch, learn(m, ch, &packet->to, &packet->from, packet->protocol));
	if (packet && accepts(call) && !call->channel) {
		ch = channel_new(m, RELATION_INET);
		ch->remote = packet->from;
		ch->accepted = ch->guessed = true;
		bind_to(m, ch, &packet->to, packet->protocol);
		call->channel = ch->id;
	}
	if (ch && ch->bound) {
		end_of_channel(c, ch, end);
		return true;
	}
	if (!packet)
		return false;
	ch = channel_at(c, map64_get(&c->by_flow, endpoint_flow(&packet->to, &packet->from)));
	if (!ch && file != NO_ROW && packet->protocol == IPPROTO_TCP && may_be_inet(m, file) &&
	    !FILE_ROW(m, file)->channel)
		ch = channel_of_packet(m, file, &packet->to, &packet->from);
	if (ch) {
		end_of_channel(c, ch, end);
		return true;
	}
	*end = (struct channel_end){
		.object = service_name(m, &packet->to, &packet->from),
		.flow = endpoint_flow(&packet->from, &packet->to),
		.out_flow = endpoint_flow(&packet->to, &packet->from),
		.peer = { 0, -1, STRID_NONE },
	};
	/* not accepted yet: if the client is on this host, it is known all the same */
	ch = stays_inside(&packet->from, &packet->to)
		     ? channel_at(c, map64_get(&c->by_flow, endpoint_flow(&packet->from, &packet->to)))
		     : NULL;
	if (ch && ch->owner.uid) {
		end->peer = ch->owner;
		end->object = ch->object;
		end->flow = 0;
	}
	return true;
}
