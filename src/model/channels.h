/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_CHANNELS_H
#define LT_MODEL_CHANNELS_H

/*
 * Pipes and connected sockets, and which process reads what another one wrote. Each end of a connection is a channel; a
 * pipe is one channel with both its ends, and a listening socket is one that only has a port. The lives of fds
 * (TABLE_FILE) refer to channels by number.
 *
 *   write: its bytes go to the channel's out queue │ read: takes bytes from the
 *          with the writer's name                  │       other end's queue: relation writer → reader
 *
 *   pipe                 out ─▶ itself
 *   socketpair, unix     a.out ─▶ b, b.out ─▶ a     (twins)
 *   inet on one host     the same, matched by the addresses and ports of the connection
 *   inet between hosts   no queue: each host counts its half, under the hash of the flow, by which
 *                        a reader of several hosts finds the other half
 *
 * A reader on one CPU may return before the writer on another does: the queue then holds readers until the writers have
 * returned. No call reports a socket's own address: it comes from the packets that the socket causes.
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

/* Bytes written and not yet read; if owed, bytes read whose writers have not returned yet. */
struct queue {
	uint8_t n;
	bool owed;
	struct queue_item items[QUEUE_ITEMS];
};

struct channel {
	/* members that every transfer touches are next to each other */
	uint64_t id;   /* number of channels created until then << ID_INDEX_BITS | index */
	uint64_t twin; /* id of the other end, for a pipe its own; 0: unknown */
	uint64_t used_ns;
	struct recent_hint last; /* the relation last used */
	enum relation_kind kind;
	strid object;
	uint64_t name;      /* key in by_name, 0: it is not there */
	bool bound;         /* inet: local and the flows are known */
	bool inside;        /* inet: both ends are on this host */
	bool accepted;      /* inet: the service is at this end */
	bool guessed;       /* inet: accept() did not return the remote address: a packet did, or none yet */
	struct party owner; /* the process that used it last */
	struct queue out;
	/* inet */
	struct queue in; /* bytes read before it was bound */
	struct endpoint local, remote;
	uint8_t protocol; /* IPPROTO_…, once it is bound */
	uint64_t out_flow, in_flow;
	uint64_t listener; /* channel of the socket that it was accepted from, until its port is known */
	uint64_t user_uid; /* of struct party: recorded owner of its connection, 0 none yet */
};

/* A packet that was received. */
struct packet {
	struct endpoint from, to;
	uint8_t protocol; /* IPPROTO_TCP, IPPROTO_UDP; 0: neither */
	bool carries;     /* it has data, or opens or closes the connection: more than an acknowledgement */
};

/* How likely it is that a packet wakes a thread, by the call in which that waits and the owner of the connection. */
enum packet_fit {
	FIT_NONE,   /* the thread waits for something else */
	FIT_OTHERS, /* the connection is another process' */
	FIT_ACK,    /* unknown, and it only acknowledges */
	FIT_UNKNOWN,
	FIT_PROCESS, /* the connection is its process' */
	FIT_ITS,     /* it waits for this connection */
};

struct channels {
	GArray *list;           /* struct channel */
	struct map64 by_flow;   /* out_flow -> index */
	struct map64 by_remote; /* hash of remote -> index: accepted channels that are not bound */
	struct map64 by_name;   /* a pipe's name or a fifo's path, and its place -> index */
	uint32_t hand;          /* index after which the search for one to reuse continues */
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

/* Removes the key from a map of channels if it refers to this one. */
static inline void channel_unmap(struct map64 *map, uint64_t key, uint32_t index)
{
	if (map64_get(map, key) == index)
		map64_del(map, key);
}

/* ---- channels.c ---- */

/* Creates a channel, possibly in place of one long unused. Valid until the next one is created. */
struct channel *channel_new(struct model *m, enum relation_kind kind);

/* The channel with that number; NULL: it has been forgotten. */
struct channel *channel_find(const struct channels *c, uint64_t id);

/* Makes the life of an fd an end of that channel; file may be NO_ROW. */
void channel_set_file(struct model *m, uint32_t file, uint64_t id);

/* Counts a transfer between the two. */
void channel_count(struct model *m, const struct relation *what, uint64_t bytes, struct recent_hint *hint);

/* The same for the end on this host of a connection between hosts. */
void channel_count_half(struct model *m, struct channel *ch, const struct party *who, uint64_t bytes, bool read);

/* Matches who's bytes with those of the other side in the queue; the rest, if any, is queued. */
void channel_match(struct model *m, struct queue *q, struct channel *ch, const struct party *who, uint64_t bytes,
		   bool read);

/* ---- sockets.c ---- */

/* thread: its row, NO_ROW: unknown. */
enum packet_fit channels_fit(struct model *m, uint32_t thread, const struct packet *p);

#endif
