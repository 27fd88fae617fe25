/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_RING_H
#define LT_SOURCE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cold.h"
#include "base/status.h"
#include "event/event.h"

/*
 * A byte ring in shared memory between one worker (producer) and the parent
 * (consumer): records of event/event.h, contiguous, 8-byte aligned. A record
 * that does not fit before the end of the buffer is preceded by padding (a
 * word whose size field covers it and whose kind is EVENT_NONE). So it may be where everything before was
 * consumed: as long as the consumer keeps up, little of the buffer is ever touched, and takes memory.
 *
 *   head: bytes ever written, advanced by the producer     (release / acquire)
 *   tail: bytes ever consumed, advanced by the consumer
 *
 *          tail            head        capacity
 *   |------|###############|-----------|
 *    free    records         free
 *
 * Each side sleeps on its end of a pair of datagram sockets only when it finds the
 * ring empty (full), and only then the other side sends to it. A full ring blocks the producer:
 * nothing is ever dropped. Both sides publish their counter in batches; before
 * a side sleeps it publishes what it has. A producer that dies in the midst of a
 * batch leaves it behind: committed is where its last whole record ends.
 *
 * The consumer trusts nothing in the shared memory: it keeps its own tail and
 * capacity, checks that head lies within a capacity of it, copies what is there, some records at a time, and looks only
 * at the copy, which nobody changes while it is checked and afterwards. Nor can
 * the producer make it wait: an eventfd or the same end of a pipe would be one open file for both, whose O_NONBLOCK
 * either side can clear, and the lock of a pipe is held while its writer's memory is read. The ends of a
 * socket pair share neither, and a datagram's end never says that the other was closed.
 */
enum {
	RING_CAPACITY = 1024 * 1024,      /* few pages to be made for a small recording; more makes nothing faster */
	RING_LIVE_CAPACITY = 1024 * 1024, /* there may be hundreds of them, which fill only when the parent is behind */
};

/* The first page of the shared memory; the buffer follows at RING_HEADER_BYTES. */
struct ring_shared {
	uint64_t magic;
	uint64_t capacity;
	_Alignas(64) _Atomic uint64_t head;
	_Atomic uint64_t beat_ns; /* CLOCK_MONOTONIC: the producer was alive then */
	_Atomic uint32_t consumer_sleeps;
	_Atomic uint32_t at_work; /* the producer works for this ring, not for another one of its process */
	_Alignas(64) _Atomic uint64_t tail;
	_Atomic uint32_t producer_sleeps;
	_Alignas(64) _Atomic uint64_t committed; /* as head, with each record; for when the producer is dead */
	_Atomic uint64_t time_ns;                /* ring_set_time() */
};

enum { RING_HEADER_BYTES = 4096 };

/* What both sides need to map the same ring. The fds are close-on-exec. */
struct ring_fds {
	int memory; /* memfd of RING_HEADER_BYTES + capacity, sealed against resizing */
	int wake;   /* this side's socket: readable when the other side has something for it */
};

struct ring_producer {
	struct ring_shared *shared;
	char *buffer;
	uint64_t capacity;
	uint64_t head; /* written, not all published */
	uint64_t published;
	uint64_t woken_at; /* head when the consumer was last woken, if it slept */
	uint64_t woken_ns;
	uint64_t tail_seen;
	uint32_t room; /* ring_has_room() */
	struct ring_fds fds;
};

struct ring_consumer {
	struct ring_shared *shared;
	const char *buffer;
	uint64_t capacity;
	uint64_t tail; /* copied, not all published */
	uint64_t published;
	uint64_t head_seen;
	struct event *copy;           /* EVENT_SIZE_MAX bytes */
	const struct event *at, *end; /* the records in it that were not consumed, checked */
	bool after_padding;           /* the buffer begins again: padding there is nonsense */
	bool sleeps;                  /* ring_peek() said LT_AGAIN */
	bool orphaned;                /* ring_inherit() */
	struct ring_fds fds;
	int producer_wake; /* the producer's socket, to be inherited by it */
};

/*
 * Makes a ring: memory, sockets, consumer's side mapped. capacity: a power of two, at least
 * 4 * EVENT_SIZE_MAX. LT_ERROR: a system call failed; nothing is left behind.
 */
enum lt_status ring_create(struct ring_consumer *c, uint64_t capacity);

/* The producer has its side: what it needs of it is closed here. */
void ring_give_away(struct ring_consumer *c);

/* Unmaps and closes the consumer's side. */
void ring_consumer_release(struct ring_consumer *c);

/*
 * The producer's side from inherited fds (owned by it from here on).
 * LT_ERROR: they are no ring.
 */
enum lt_status ring_producer_open(struct ring_producer *p, struct ring_fds fds);

void ring_producer_release(struct ring_producer *p);

/* ring_reserve() where the buffer ends soon or may be full. */
void *ring_reserve_slow(struct ring_producer *p, uint32_t bytes);

/*
 * Room for a record of up to bytes (<= EVENT_SIZE_MAX, rounded up to 8 by the callee), 8-byte
 * aligned and contiguous, its contents undefined. Blocks while the ring is full. One
 * reservation at a time; without ring_commit() it has no effect.
 */
static inline void *ring_reserve(struct ring_producer *p, uint32_t bytes)
{
	const uint64_t at = p->head & (p->capacity - 1);

	/* EVENT_SIZE_MAX: whatever bytes is rounded up to */
	if (p->capacity - at >= EVENT_SIZE_MAX && p->head + EVENT_SIZE_MAX - p->tail_seen <= p->capacity)
		return p->buffer + at;
	return ring_reserve_slow(p, bytes);
}

/* For an event, its context, and what is said about it and its stream: in practice some hundred bytes. */
enum { RING_ROOM = EVENT_SIZE_MAX / 2 };

/* For all fields of the event, and what those of its class are, too: ring_set_room(). */
enum { RING_FIELDS_ROOM = RING_ROOM + EVENT_SIZE_MAX };

/* How much room ring_has_room() is to look for, if not RING_ROOM. */
static inline void ring_set_room(struct ring_producer *p, uint32_t bytes)
{
	p->room = bytes;
}

/*
 * Whether ring_reserve() of up to that many bytes in all would not block. false: everything was published, and
 * fds.wake becomes readable when there is room again, and now and then although there is not.
 */
bool ring_has_room(struct ring_producer *p);

/* fds.wake is readable: makes it so no longer. After that ring_has_room(). */
void ring_room_woken(struct ring_producer *p);

/*
 * How far the time of what is read has come, by its own clock: for ring_time_ns(), which need not wait until the
 * records have been consumed.
 */
static inline void ring_set_time(struct ring_producer *p, uint64_t ns)
{
	atomic_store_explicit(&p->shared->time_ns, ns, memory_order_relaxed);
}

/* For ring_was_at_work(). */
static inline void ring_set_at_work(struct ring_producer *p, bool at_work)
{
	atomic_store_explicit(&p->shared->at_work, at_work, memory_order_relaxed);
}

/* Lets the consumer see everything committed; wakes it if it sleeps. Beats. Before anything that may take long. */
void ring_publish(struct ring_producer *p);

/* The same in the midst of work: a sleeping consumer is only woken when it is worth it. */
LT_COLD void ring_beat(struct ring_producer *p);

/* A batch: about 300 records, well below the size of a core's cache. */
enum { RING_BATCH = 32 * 1024 };

/* The record in the room ring_reserve() gave is bytes long (a multiple of 8, not more than reserved). */
static inline void ring_commit(struct ring_producer *p, uint32_t bytes)
{
	p->head += bytes;
	atomic_store_explicit(&p->shared->committed, p->head, memory_order_release);
	if (p->head - p->published >= RING_BATCH)
		ring_beat(p);
}

/* Copies and checks the next records. Status as of ring_peek(). */
enum lt_status ring_refill(struct ring_consumer *c, const char **wrong);

/*
 * The next record, borrowed until it is consumed and ring_peek() called again, checked by event_check(). LT_AGAIN:
 * empty; fds.wake becomes readable when it is not any more, and now and then although it still is. LT_ERROR: nonsense
 * in the ring; *wrong says what. Those that follow it up to .end have been checked, too; a record that says how its
 * source ended is never behind others.
 */
static inline enum lt_status ring_peek(struct ring_consumer *c, const struct event **ev, const char **wrong)
{
	const enum lt_status status = c->at != c->end ? LT_OK : ring_refill(c, wrong);

	*ev = c->at;
	return status;
}

/*
 * fds.wake is readable: makes it so no longer. After that, not before, ring_peek(): what is taken here may belong
 * to records that are there already.
 */
void ring_woken(struct ring_consumer *c);

/* The producer is dead: what it committed and did not publish counts too. */
void ring_inherit(struct ring_consumer *c);

/* Consumes the record ring_peek() gave. */
static inline void ring_next(struct ring_consumer *c)
{
	c->at = event_next(c->at);
}

/* Consumes all up to .end, which is given back. */
static inline const struct event *ring_next_all(struct ring_consumer *c)
{
	c->at = c->end;
	return c->end;
}

/* Nothing left to be consumed, and the producer's last sign of life (CLOCK_MONOTONIC ns). */
bool ring_is_empty(const struct ring_consumer *c);

/* Of a producer that is dead or hangs: whether it came to that while it worked for this ring, as it says. */
bool ring_was_at_work(const struct ring_consumer *c);
uint64_t ring_beat_ns(const struct ring_consumer *c);

/* 0: nothing was said. */
uint64_t ring_time_ns(const struct ring_consumer *c);

#endif
