/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pipes and connected sockets, and who reads what whom wrote. An end of a
 * connection is a channel, a pipe is one with both its ends; the lives of fds
 * (TABLE_FILE) say by number which one they are.
 *
 *   write: its bytes go to the channel's out queue │ read: takes bytes from the
 *          with the writer's name                  │       other end's queue: relation writer → reader
 *
 *   pipe                 out ─▶ itself
 *   socketpair, unix     a.out ─▶ b, b.out ─▶ a     (twins)
 *   inet on one host     the same, joined by the four numbers of the connection
 *   inet between hosts   no queue: each host counts its half, under the flow's hash, in which
 *                        whoever reads several hosts finds the other half
 *
 * A reader on one CPU may return before the writer on another does: then the
 * queue holds readers until the writers have come. A socket learns its own address, which no
 * call tells, from the packets it causes.
 */
#include "model/relations.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "model/context.h"

enum {
	CHANNELS_MAX = 8192,
	ID_INDEX_BITS = 16,
	LOOKS = 64,
	QUEUE_ITEMS = 4,
	PROTOCOL_TCP = 6,
	PROTOCOL_UDP = 17,
	UDP_HEADER = 8,
};

_Static_assert(CHANNELS_MAX < 1 << ID_INDEX_BITS, "an index fits into an id");

/* More than any pipe or socket holds: somebody reads or writes unseen. */
#define QUEUE_BYTES_MAX (UINT64_C(64) << 20)

struct queue_item {
	struct party who;
	uint64_t bytes;
};

/* Bytes written and not read yet or, if owed, read by those whose writers have not returned. */
struct queue {
	uint8_t n;
	bool owed;
	struct queue_item items[QUEUE_ITEMS];
};

/* Addresses that IPv6 has for IPv4 are IPv4. */
struct endpoint {
	uint64_t addr[2]; /* network byte order, IPv4 in the first 4 bytes */
	uint16_t port;
	bool v6;
};

struct channel {
	/* what every transfer touches stands together */
	uint64_t id;             /* how many were made before << 16 | index */
	uint64_t twin;           /* id of the other end, of a pipe its own; 0: none is known */
	uint64_t used_ns;
	struct recent_hint last; /* the relation it was used in last */
	enum relation_kind kind;
	strid object;
	bool bound;              /* inet: local and the flows are known */
	bool inside;             /* inet: both ends are on this host */
	bool accepted;           /* inet: the service is this end's */
	bool guessed;            /* inet: accept() did not tell the remote: the packet that woke it did, or none yet */
	struct party owner;      /* who used it last */
	struct queue out;
	/* inet */
	struct queue in;         /* until it is bound: what was read */
	struct endpoint local, remote;
	uint64_t out_flow, in_flow;
};

/* The last packet that a CPU received. */
struct packet {
	struct endpoint from, to;
	uint8_t protocol; /* 0: none */
	uint64_t ts_ns;
};

struct channels {
	GArray *list;           /* struct channel */
	GArray *packets;        /* struct packet, by CPU number */
	struct map64 by_flow;   /* out_flow -> index */
	struct map64 by_remote; /* hash of remote -> index: accepted ones that are not bound */
	struct map64 by_name;   /* strid of a pipe's name or a fifo's path -> index */
	uint32_t hand;          /* the next ones are looked at for one to use again */
	uint64_t made;
};

void channels_create(struct model *m)
{
	struct channels *c = g_new0(struct channels, 1);

	c->list = g_array_new(FALSE, TRUE, sizeof(struct channel));
	c->packets = g_array_new(FALSE, TRUE, sizeof(struct packet));
	m->relations->channels = c;
}

void channels_destroy(struct model *m)
{
	struct channels *c = m->relations->channels;

	g_array_free(c->list, TRUE);
	g_array_free(c->packets, TRUE);
	map64_release(&c->by_flow);
	map64_release(&c->by_remote);
	map64_release(&c->by_name);
	g_free(c);
}

/* ---- endpoints ---- */

static struct endpoint endpoint_of(bool v6, const uint64_t addr[2], uint64_t port)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct endpoint e = { .port = (uint16_t)port, .v6 = v6 };

	memcpy(e.addr, addr, v6 ? 16 : 4);
	if (v6 && memcmp(addr, mapped, sizeof(mapped)) == 0) {
		e = (struct endpoint){ .port = (uint16_t)port };
		memcpy(e.addr, (const char *)addr + sizeof(mapped), 4);
	}
	return e;
}

static bool same_endpoint(const struct endpoint *a, const struct endpoint *b)
{
	return a->port == b->port && a->v6 == b->v6 && a->addr[0] == b->addr[0] && a->addr[1] == b->addr[1];
}

static uint64_t endpoint_hash(const struct endpoint *e)
{
	return recent_mix(recent_mix(e->addr[0], e->addr[1]), (uint64_t)e->v6 << 16 | e->port);
}

/* Never 0. */
static uint64_t flow_hash(const struct endpoint *from, const struct endpoint *to)
{
	return recent_mix(endpoint_hash(from), endpoint_hash(to)) | 1;
}

static strid endpoint_name(const struct endpoint *e)
{
	return fdkind_peer(e->v6 ? AF_INET6 : AF_INET, e->port, e->addr);
}

/* Whether packets between the two never leave the host. */
static bool stays_inside(const struct endpoint *a, const struct endpoint *b)
{
	const unsigned char *bytes = (const unsigned char *)a->addr;

	return (a->v6 == b->v6 && a->addr[0] == b->addr[0] && a->addr[1] == b->addr[1]) || (!a->v6 && bytes[0] == 127);
}

/* Of a connection whose beginning was not seen: ports of services are below those of clients. */
static strid service_name(const struct endpoint *from, const struct endpoint *to)
{
	return endpoint_name(from->port < to->port ? from : to);
}

/* ---- the set of channels ---- */

static struct channel *channel_at(const struct channels *c, uint32_t index)
{
	return index == MAP64_NONE ? NULL : &g_array_index(c->list, struct channel, index);
}

static uint32_t index_of(const struct channels *c, const struct channel *ch)
{
	return (uint32_t)(ch - &g_array_index(c->list, struct channel, 0));
}

static void del_if_own(struct map64 *map, uint64_t key, uint32_t index)
{
	if (map64_get(map, key) == index)
		map64_del(map, key);
}

static void forget(struct channels *c, struct channel *ch)
{
	uint32_t index = index_of(c, ch);

	if (ch->bound)
		del_if_own(&c->by_flow, ch->out_flow, index);
	else if (ch->accepted && !ch->guessed)
		del_if_own(&c->by_remote, endpoint_hash(&ch->remote), index);
	if (ch->object && ch->kind == RELATION_PIPE)
		del_if_own(&c->by_name, ch->object, index);
}

/* The one least used of some. */
static struct channel *channel_to_reuse(struct channels *c)
{
	struct channel *oldest = NULL;

	for (int i = 0; i < LOOKS; i++) {
		struct channel *ch;

		c->hand = (c->hand + 1) % CHANNELS_MAX;
		ch = channel_at(c, c->hand);
		if (!oldest || ch->used_ns < oldest->used_ns)
			oldest = ch;
	}
	return oldest;
}

/* Valid until the next one is made. */
static struct channel *channel_new(struct model *m, enum relation_kind kind)
{
	struct channels *c = m->relations->channels;
	struct channel *ch;

	if (c->list->len < CHANNELS_MAX) {
		g_array_set_size(c->list, c->list->len + 1);
		ch = channel_at(c, c->list->len - 1);
	} else {
		ch = channel_to_reuse(c);
		forget(c, ch);
	}
	*ch = (struct channel){
		.id = ++c->made << ID_INDEX_BITS | index_of(c, ch), .kind = kind, .used_ns = m->now_ns,
	};
	return ch;
}

/* NULL: it is forgotten. */
static struct channel *channel_find(const struct channels *c, uint64_t id)
{
	struct channel *ch = id ? channel_at(c, (uint32_t)(id & ((1 << ID_INDEX_BITS) - 1))) : NULL;

	return ch && ch->id == id ? ch : NULL;
}

static void set_channel(struct model *m, uint32_t file, uint64_t id)
{
	if (file == NO_ROW)
		return;
	FILE_ROW(m, file)->channel = id;
	state_touch(&m->state, TABLE_FILE, file);
}

/* ---- making them ---- */

void channels_pipe(struct model *m, uint32_t read_end, uint32_t write_end)
{
	struct channel *ch = channel_new(m, RELATION_PIPE);

	ch->twin = ch->id;
	set_channel(m, read_end, ch->id);
	set_channel(m, write_end, ch->id);
}

static void join_twins(struct model *m, uint32_t file, uint32_t other)
{
	struct channels *c = m->relations->channels;
	uint64_t a = channel_new(m, RELATION_UNIX)->id, b = channel_new(m, RELATION_UNIX)->id;

	channel_find(c, a)->twin = b;
	channel_find(c, b)->twin = a;
	set_channel(m, file, a);
	set_channel(m, other, b);
}

void channels_socketpair(struct model *m, uint32_t file, uint32_t other)
{
	join_twins(m, file, other);
}

void channels_join(struct model *m, uint32_t writer_file, uint32_t reader_file)
{
	if (writer_file == NO_ROW || reader_file == NO_ROW)
		return;
	if (!FILE_ROW(m, writer_file)->channel && !FILE_ROW(m, reader_file)->channel)
		join_twins(m, writer_file, reader_file);
}

void channels_named(struct model *m, uint32_t file, strid name)
{
	struct channels *c = m->relations->channels;
	struct channel *ch = channel_at(c, map64_get(&c->by_name, name));

	if (!ch) {
		ch = channel_new(m, RELATION_PIPE);
		ch->twin = ch->id;
		ch->object = name;
		map64_put(&c->by_name, name, index_of(c, ch));
	}
	set_channel(m, file, ch->id);
}

uint64_t channels_connect(struct model *m, uint32_t thread, bool v6, const uint64_t addr[2], uint64_t port)
{
	struct channel *ch = channel_new(m, RELATION_INET);

	ch->remote = endpoint_of(v6, addr, port);
	ch->object = endpoint_name(&ch->remote);
	ch->owner = relations_party(m, thread);
	return ch->id;
}

void channels_accept(struct model *m, uint32_t thread, uint32_t file, bool v6, const uint64_t addr[2], uint64_t port)
{
	struct channels *c = m->relations->channels;
	struct channel *ch = channel_new(m, RELATION_INET);

	ch->remote = endpoint_of(v6, addr, port);
	ch->accepted = true;
	ch->owner = relations_party(m, thread);
	map64_put(&c->by_remote, endpoint_hash(&ch->remote), index_of(c, ch));
	set_channel(m, file, ch->id);
}

/*
 * Programs often do not ask accept() for the address. A thread that had to wait was
 * woken by the connection's own packet, most probably: id is what came of that, 0 nothing.
 */
void channels_accept_unseen(struct model *m, uint32_t thread, uint32_t file, uint64_t id)
{
	struct channels *c = m->relations->channels;
	struct channel *ch = channel_find(c, id);

	if (!ch) {
		ch = channel_new(m, RELATION_INET);
		ch->accepted = ch->guessed = true;
	} else {
		FILE_ROW(m, file)->peer = endpoint_name(&ch->remote);
		FILE_ROW(m, file)->client = fdkind_address(ch->remote.v6 ? AF_INET6 : AF_INET, ch->remote.addr);
	}
	ch->owner = relations_party(m, thread);
	set_channel(m, file, ch->id);
}

/* ---- bytes ---- */

static void count_bytes(struct model *m, const struct relation *what, uint64_t bytes, struct recent_hint *hint)
{
	struct relation_row *r = relations_row(m, what, hint);

	r->count++;
	r->bytes += bytes;
}

static void queue_put(struct queue *q, const struct party *who, uint64_t bytes)
{
	struct queue_item *last = q->n ? &q->items[q->n - 1] : NULL;

	if (last && last->who.uid == who->uid) {
		last->bytes += bytes;
		if (last->bytes > QUEUE_BYTES_MAX)
			q->n = 0;
		return;
	}
	if (q->n == QUEUE_ITEMS) {
		memmove(q->items, q->items + 1, sizeof(q->items) - sizeof(q->items[0]));
		q->n--;
	}
	q->items[q->n++] = (struct queue_item){ *who, bytes };
}

/* Sets bytes of who against what the queue has of the other side; the rest, if any, goes into it. */
static void queue_match(struct model *m, struct queue *q, struct channel *ch, const struct party *who,
			uint64_t bytes, bool read)
{
	struct relation what = { .kind = ch->kind, .object = ch->object };

	while (bytes && q->n && q->owed != read) {
		struct queue_item *first = &q->items[0];
		uint64_t part = MIN(bytes, first->bytes);

		what.from = read ? first->who : *who;
		what.to = read ? *who : first->who;
		count_bytes(m, &what, part, &ch->last);
		bytes -= part;
		first->bytes -= part;
		if (!first->bytes) {
			q->n--;
			memmove(q->items, q->items + 1, q->n * sizeof(q->items[0]));
		}
	}
	if (!bytes)
		return;
	q->owed = read;
	queue_put(q, who, bytes);
}

/* A half of a relation between hosts. */
static void count_half(struct model *m, struct channel *ch, const struct party *who, uint64_t bytes, bool read)
{
	struct relation what = { .kind = RELATION_INET, .object = ch->object };

	what.flow = read ? ch->in_flow : ch->out_flow;
	if (read)
		what.to = *who;
	else
		what.from = *who;
	count_bytes(m, &what, bytes, &ch->last);
}

void channels_written(struct model *m, uint32_t thread, uint32_t file, uint64_t bytes)
{
	struct channel *ch = channel_find(m->relations->channels, FILE_ROW(m, file)->channel);
	struct party who;

	if (!ch)
		return;
	ch->used_ns = m->now_ns;
	who = relations_party(m, thread);
	ch->owner = who;
	if (ch->bound && !ch->inside)
		count_half(m, ch, &who, bytes, false);
	else
		queue_match(m, &ch->out, ch, &who, bytes, false);
}

void channels_read(struct model *m, uint32_t thread, uint32_t file, uint64_t bytes)
{
	struct channels *c = m->relations->channels;
	struct channel *ch = channel_find(c, FILE_ROW(m, file)->channel), *twin;
	struct party who;

	if (!ch)
		return;
	ch->used_ns = m->now_ns;
	who = relations_party(m, thread);
	twin = channel_find(c, ch->twin);
	if (ch->bound && !ch->inside)
		count_half(m, ch, &who, bytes, true);
	else if (twin)
		queue_match(m, &twin->out, ch, &who, bytes, true);
	else if (ch->kind == RELATION_INET)
		queue_put(&ch->in, &who, bytes);
}

/* ---- sockets learn who they are ---- */

/* What was written and read before goes where it belongs. */
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
		queue_match(m, &twin->out, ch, &ch->in.items[i].who, ch->in.items[i].bytes, true);
	for (unsigned i = 0; i < twin->in.n; i++)
		queue_match(m, &ch->out, ch, &twin->in.items[i].who, twin->in.items[i].bytes, true);
	ch->in.n = twin->in.n = 0;
}

static void bind_to(struct model *m, struct channel *ch, const struct endpoint *local)
{
	struct channels *c = m->relations->channels;

	if (ch->bound)
		del_if_own(&c->by_flow, ch->out_flow, index_of(c, ch));
	else if (ch->accepted && !ch->guessed)
		del_if_own(&c->by_remote, endpoint_hash(&ch->remote), index_of(c, ch));
	ch->local = *local;
	ch->bound = true;
	ch->out_flow = flow_hash(&ch->local, &ch->remote);
	ch->in_flow = flow_hash(&ch->remote, &ch->local);
	if (ch->accepted)
		ch->object = endpoint_name(&ch->local);
	map64_put(&c->by_flow, ch->out_flow, index_of(c, ch));
	ch->inside = stays_inside(&ch->local, &ch->remote);
	if (ch->inside) {
		bind_inside(m, ch);
		return;
	}
	for (unsigned i = 0; i < ch->out.n; i++)
		count_half(m, ch, &ch->out.items[i].who, ch->out.items[i].bytes, false);
	for (unsigned i = 0; i < ch->in.n; i++)
		count_half(m, ch, &ch->in.items[i].who, ch->in.items[i].bytes, true);
	ch->out.n = ch->in.n = 0;
}

/* The channel takes part in that connection: tells its local address, and the remote one where that was a guess. */
static void learn(struct model *m, struct channel *ch, const struct endpoint *local, const struct endpoint *remote)
{
	if (same_endpoint(&ch->remote, remote)) {
		if (!ch->bound)
			bind_to(m, ch, local);
	} else if (ch->guessed) {
		ch->remote = *remote;
		bind_to(m, ch, local);
	}
}

/* A connection older than the record, or whose making was lost. */
static struct channel *channel_of_packet(struct model *m, uint32_t file, const struct endpoint *local,
					 const struct endpoint *remote)
{
	struct channel *ch = channel_new(m, RELATION_INET);

	ch->remote = *remote;
	ch->object = service_name(local, remote);
	bind_to(m, ch, local);
	set_channel(m, file, ch->id);
	return ch;
}

static bool may_be_inet(const struct model *m, uint32_t file)
{
	const struct file_row *f = FILE_ROW(m, file);

	return f->kind == FD_SOCKET_INET || f->kind == FD_SOCKET || f->kind == FD_UNKNOWN;
}

/* UDP has no connection: what a call sends goes to whom the packet says. */
static void count_datagram(struct model *m, uint32_t thread, const struct endpoint *from, const struct endpoint *to,
			   const struct ev_net *p)
{
	uint64_t header = UDP_HEADER + (p->ip_version == 4 ? (p->header_words >> 8) * 4 : 0);
	struct relation what = {
		.from = relations_party(m, thread), .kind = RELATION_INET,
		.object = service_name(from, to), .flow = flow_hash(from, to),
	};
	struct recent_hint hint = { 0, 0 };

	count_bytes(m, &what, p->tot_len > header ? p->tot_len - header : 0, &hint);
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
			learn(m, ch, from, to);
		return;
	}
	if (action != SYSCALL_WRITE && action != SYSCALL_COPY && action != SYSCALL_MESSAGES)
		return;
	file = files_resolve(m, action == SYSCALL_COPY ? call->file2 : call->file);
	if (file == NO_ROW || !may_be_inet(m, file))
		return;
	ch = channel_find(c, FILE_ROW(m, file)->channel);
	if (ch)
		learn(m, ch, from, to);
	else if (p->protocol == PROTOCOL_TCP)
		channel_of_packet(m, file, from, to);
	else
		count_datagram(m, thread, from, to, p);
}

static bool has_ports(const struct ev_net *p)
{
	return p->ip_version && (p->protocol == PROTOCOL_TCP || p->protocol == PROTOCOL_UDP);
}

static void bind_accepted(struct model *m, const struct endpoint *remote, const struct endpoint *local)
{
	struct channels *c = m->relations->channels;
	struct channel *ch;

	if (!c->by_remote.count)
		return;
	ch = channel_at(c, map64_get(&c->by_remote, endpoint_hash(remote)));
	if (ch)
		bind_to(m, ch, local);
}

void channels_packet_sent(struct model *m, const struct apply *a, const struct ev_net *p)
{
	struct endpoint from, to;

	if (!has_ports(p))
		return;
	from = endpoint_of(p->ip_version == 6, p->saddr, p->sport);
	to = endpoint_of(p->ip_version == 6, p->daddr, p->dport);
	if (a->thread != NO_ROW && context_now(m, a->cpu).kind == WAIT_CONTEXT_TASK)
		caused_packet(m, a->thread, &from, &to, p);
	bind_accepted(m, &to, &from);
}

void channels_packet_received(struct model *m, const struct apply *a, const struct ev_net *p)
{
	struct channels *c = m->relations->channels;
	struct packet *packet;

	if (!a->cpu || a->ev->cpu == EVENT_NO_CPU)
		return;
	if (a->ev->cpu >= c->packets->len)
		g_array_set_size(c->packets, a->ev->cpu + 1u);
	packet = &g_array_index(c->packets, struct packet, a->ev->cpu);
	packet->protocol = has_ports(p) ? (uint8_t)p->protocol : 0;
	if (!packet->protocol)
		return;
	packet->ts_ns = m->now_ns;
	packet->from = endpoint_of(p->ip_version == 6, p->saddr, p->sport);
	packet->to = endpoint_of(p->ip_version == 6, p->daddr, p->dport);
	bind_accepted(m, &packet->from, &packet->to);
}

/* ---- whom a packet woke ---- */

/* The packet that the CPU works on; NULL: none since its softirq began. */
static const struct packet *packet_at_work(const struct model *m, const struct apply *a)
{
	const struct channels *c = m->relations->channels;
	const struct packet *packet;

	if (!a->cpu || a->ev->cpu >= c->packets->len)
		return NULL;
	packet = &g_array_index(c->packets, struct packet, a->ev->cpu);
	if (!packet->protocol)
		return NULL;
	for (unsigned i = a->cpu->irq_depth; i-- > 0;)
		if (a->cpu->irqs[i].soft)
			return packet->ts_ns >= a->cpu->irqs[i].entry_ns ? packet : NULL;
	return packet;
}

static void end_of_channel(const struct channels *c, const struct channel *ch, struct channel_end *end)
{
	const struct channel *other = ch->inside ? channel_at(c, map64_get(&c->by_flow, ch->in_flow)) : NULL;

	*end = (struct channel_end){ .object = ch->object, .flow = ch->in_flow, .peer = { 0, -1, STRID_NONE } };
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

bool channels_woken_by(struct model *m, const struct apply *a, uint32_t thread, struct channel_end *end)
{
	struct channels *c = m->relations->channels;
	const struct packet *packet = packet_at_work(m, a);
	uint32_t file;
	struct call_in_flight *call = &thread_info(m, thread)->call;
	struct channel *ch = waited_channel(m, call, &file);

	if (ch && ch->kind == RELATION_INET && !ch->bound && packet)
		learn(m, ch, &packet->to, &packet->from);
	if (packet && call->active && call->desc && call->desc->action == SYSCALL_ACCEPT && !call->channel) {
		ch = channel_new(m, RELATION_INET);
		ch->remote = packet->from;
		ch->accepted = ch->guessed = true;
		bind_to(m, ch, &packet->to);
		call->channel = ch->id;
	}
	if (ch && ch->bound) {
		end_of_channel(c, ch, end);
		return true;
	}
	if (!packet)
		return false;
	ch = channel_at(c, map64_get(&c->by_flow, flow_hash(&packet->to, &packet->from)));
	if (!ch && file != NO_ROW && packet->protocol == PROTOCOL_TCP && may_be_inet(m, file) &&
	    !FILE_ROW(m, file)->channel)
		ch = channel_of_packet(m, file, &packet->to, &packet->from);
	if (ch) {
		end_of_channel(c, ch, end);
		return true;
	}
	*end = (struct channel_end){
		.object = service_name(&packet->from, &packet->to),
		.flow = flow_hash(&packet->from, &packet->to),
		.peer = { 0, -1, STRID_NONE },
	};
	/* nobody has accepted it yet: whoever connects here from this host is known all the same */
	ch = stays_inside(&packet->from, &packet->to) ?
		     channel_at(c, map64_get(&c->by_flow, flow_hash(&packet->from, &packet->to))) :
		     NULL;
	if (ch && ch->owner.uid) {
		end->peer = ch->owner;
		end->object = ch->object;
		end->flow = 0;
	}
	return true;
}
