/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The set of channels, pipes and pairs of sockets, and the bytes in them; internet sockets are in sockets.c. */
#include "model/channels.h"

#include <string.h>
#include <sys/socket.h>

#include "model/connections.h"
#include "model/parts_internal.h"

enum { LOOKS = 64 };

/* More than any pipe or socket holds: something reads or writes unseen. */
#define QUEUE_BYTES_MAX (UINT64_C(64) << 20)

void channels_create(struct model *m)
{
	struct channels *c = g_new0(struct channels, 1);

	c->list = g_array_new(FALSE, TRUE, sizeof(struct channel));
	m->relations->channels = c;
}

void channels_destroy(struct model *m)
{
	struct channels *c = m->relations->channels;

	g_array_free(c->list, TRUE);
	map64_release(&c->by_flow);
	map64_release(&c->by_remote);
	map64_release(&c->by_name);
	g_free(c);
}

/* ---- the set of channels ---- */

static void forget(struct channels *c, struct channel *ch)
{
	uint32_t index = index_of(c, ch);

	if (ch->bound)
		channel_unmap(&c->by_flow, ch->out_flow, index);
	else if (ch->accepted && !ch->guessed)
		channel_unmap(&c->by_remote, endpoint_hash(&ch->remote), index);
	if (ch->object && ch->kind == RELATION_PIPE)
		channel_unmap(&c->by_name, ch->name, index);
}

/* The least recently used of a few. */
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

struct channel *channel_new(struct model *m, enum relation_kind kind)
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
		.id = ++c->made << ID_INDEX_BITS | index_of(c, ch),
		.kind = kind,
		.used_ns = m->now_ns,
	};
	return ch;
}

struct channel *channel_find(const struct channels *c, uint64_t id)
{
	struct channel *ch = id ? channel_at(c, (uint32_t)(id & ((1 << ID_INDEX_BITS) - 1))) : NULL;

	return ch && ch->id == id ? ch : NULL;
}

void channel_set_file(struct model *m, uint32_t file, uint64_t id)
{
	if (file == NO_ROW)
		return;
	FILE_ROW(m, file)->channel = id;
	state_touch(&m->state, TABLE_FILE, file);
}

/* ---- creating channels ---- */

void channels_pipe(struct model *m, uint32_t read_end, uint32_t write_end)
{
	struct channel *ch;

	if (!m->relations)
		return;
	ch = channel_new(m, RELATION_PIPE);
	ch->twin = ch->id;
	channel_set_file(m, read_end, ch->id);
	channel_set_file(m, write_end, ch->id);
}

static void join_twins(struct model *m, uint32_t file, uint32_t other)
{
	struct channels *c = m->relations->channels;
	uint64_t a = channel_new(m, RELATION_UNIX)->id, b = channel_new(m, RELATION_UNIX)->id;

	channel_find(c, a)->twin = b;
	channel_find(c, b)->twin = a;
	channel_set_file(m, file, a);
	channel_set_file(m, other, b);
}

void channels_socketpair(struct model *m, uint32_t file, uint32_t other)
{
	if (m->relations)
		join_twins(m, file, other);
}

void channels_join(struct model *m, uint32_t writer_file, uint32_t reader_file)
{
	if (writer_file == NO_ROW || reader_file == NO_ROW)
		return;
	if (!FILE_ROW(m, writer_file)->channel && !FILE_ROW(m, reader_file)->channel)
		join_twins(m, writer_file, reader_file);
}

static uint64_t name_key(strid name, uint64_t place)
{
	return map64_mix(place, name);
}

void channels_named(struct model *m, uint32_t file, strid name, uint64_t place)
{
	const uint64_t key = name_key(name, place);
	struct channels *c;
	struct channel *ch;

	if (!m->relations)
		return;
	c = m->relations->channels;
	ch = channel_at(c, map64_get(&c->by_name, key));
	if (!ch) {
		ch = channel_new(m, RELATION_PIPE);
		ch->twin = ch->id;
		ch->object = name;
		ch->name = key;
		map64_put(&c->by_name, key, index_of(c, ch));
	}
	channel_set_file(m, file, ch->id);
}

void channels_forget_name(struct model *m, strid name, uint64_t place)
{
	if (m->relations)
		map64_del(&m->relations->channels->by_name, name_key(name, place));
}

/* ---- bytes ---- */

void channel_count(struct model *m, const struct relation *what, uint64_t bytes, struct recent_hint *hint)
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

void channel_match(struct model *m, struct queue *q, struct channel *ch, const struct party *who, uint64_t bytes,
		   bool read)
{
	struct relation what = { .kind = ch->kind, .object = ch->object };

	while (bytes && q->n && q->owed != read) {
		struct queue_item *first = &q->items[0];
		uint64_t part = MIN(bytes, first->bytes);

		what.from = read ? first->who : *who;
		what.to = read ? *who : first->who;
		channel_count(m, &what, part, &ch->last);
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

void channel_count_half(struct model *m, struct channel *ch, const struct party *who, uint64_t bytes, bool read)
{
	struct relation what = { .kind = RELATION_INET, .object = ch->object };

	what.flow = read ? ch->in_flow : ch->out_flow;
	if (read)
		what.to = *who;
	else
		what.from = *who;
	channel_count(m, &what, bytes, &ch->last);
}

/* If several processes share a socket, the one that used it last has the connection. */
static void note_user(struct model *m, struct channel *ch, const struct party *who)
{
	if (ch->user_uid == who->uid || !ch->bound)
		return;
	ch->user_uid = who->uid;
	connections_set_owner(m, ch->out_flow, who, true);
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
	if (ch->kind == RELATION_INET)
		note_user(m, ch, &who);
	if (ch->bound && !ch->inside)
		channel_count_half(m, ch, &who, bytes, false);
	else
		channel_match(m, &ch->out, ch, &who, bytes, false);
}

void channels_read(struct model *m, uint32_t thread, uint32_t file, uint64_t bytes)
{
	struct channels *c = m->relations->channels;
	struct channel *ch = channel_find(c, FILE_ROW(m, file)->channel), *twin;
	const struct call_in_flight *call = &thread_info(m, thread)->call;
	struct party who;

	/* whoever only peeks will read the same bytes again */
	if (!ch || (call->active && call->present >> ENTRY_FLAGS & 1 && call->flags & MSG_PEEK))
		return;
	ch->used_ns = m->now_ns;
	who = relations_party(m, thread);
	if (ch->kind == RELATION_INET)
		note_user(m, ch, &who);
	twin = channel_find(c, ch->twin);
	if (ch->bound && !ch->inside)
		channel_count_half(m, ch, &who, bytes, true);
	else if (twin)
		channel_match(m, &twin->out, ch, &who, bytes, true);
	else if (ch->kind == RELATION_INET)
		queue_put(&ch->in, &who, bytes);
}
