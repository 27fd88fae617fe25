/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_CHANNELS_H
#define LT_MODEL_CHANNELS_H

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
#include "model/endpoint.h"
#include "model/relations.h"

enum {
	CHANNELS_MAX = 8192,
	ID_INDEX_BITS = 16,
	QUEUE_ITEMS = 4,
};

_Static_assert(CHANNELS_MAX < 1 << ID_INDEX_BITS, "an index fits into an id");

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

struct channel {
	/* what every transfer touches stands together */
	uint64_t id;   /* how many were made before << 16 | index */
	uint64_t twin; /* id of the other end, of a pipe its own; 0: none is known */
	uint64_t used_ns;
	struct recent_hint last; /* the relation it was used in last */
	enum relation_kind kind;
	strid object;
	bool bound;         /* inet: local and the flows are known */
	bool inside;        /* inet: both ends are on this host */
	bool accepted;      /* inet: the service is this end's */
	bool guessed;       /* inet: accept() did not tell the remote: the packet that woke it did, or none yet */
	struct party owner; /* who used it last */
	struct queue out;
	/* inet */
	struct queue in; /* until it is bound: what was read */
	struct endpoint local, remote;
	uint64_t out_flow, in_flow;
	uint64_t user_uid; /* of struct party: who its connection is said to belong to, 0 nobody yet */
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

static inline struct channel *channel_at(const struct channels *c, uint32_t index)
{
	return index == MAP64_NONE ? NULL : &g_array_index(c->list, struct channel, index);
}

static inline uint32_t index_of(const struct channels *c, const struct channel *ch)
{
	return (uint32_t)(ch - &g_array_index(c->list, struct channel, 0));
}

/* Removes the key from a map of channels if it leads to this one. */
static inline void channel_unmap(struct map64 *map, uint64_t key, uint32_t index)
{
	if (map64_get(map, key) == index)
		map64_del(map, key);
}

/* ---- channels.c ---- */

/* A new one, maybe in the place of one long unused. Valid until the next one is made. */
struct channel *channel_new(struct model *m, enum relation_kind kind);

/* The channel of that number; NULL: it is forgotten. */
struct channel *channel_find(const struct channels *c, uint64_t id);

/* The life of the fd is an end of that channel; file may be NO_ROW. */
void channel_set_file(struct model *m, uint32_t file, uint64_t id);

/* A transfer between the two. */
void channel_count(struct model *m, const struct relation *what, uint64_t bytes, struct recent_hint *hint);

/* The same of one end, on this host, of a connection between hosts. */
void channel_count_half(struct model *m, struct channel *ch, const struct party *who, uint64_t bytes, bool read);

/* Sets bytes of who against what the queue has of the other side; the rest, if any, goes into it. */
void channel_match(struct model *m, struct queue *q, struct channel *ch, const struct party *who, uint64_t bytes,
		   bool read);

#endif
