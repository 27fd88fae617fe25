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
 * A byte ring in shared memory between one worker (producer) and the parent (consumer): records of event/event.h,
 * contiguous, 8-byte aligned. A record that does not fit before the end of the buffer is preceded by padding up to the
 * end (a word whose size field covers it and whose kind is EVENT_NONE). The producer also starts the buffer again in
 * this way when everything before has been consumed: as long as the consumer keeps up, only little of the buffer is
 * ever touched and takes memory.
 *
 *   head: bytes ever written, advanced by the producer     (release / acquire)
 *   tail: bytes ever consumed, advanced by the consumer
 *
 *          tail            head        capacity
 *   |------|###############|-----------|
 *    free    records         free
 *
 * Each side sleeps on its end of a pair of datagram sockets only when it finds the ring empty (or full), and only then
 * does the other side send to it. A full ring blocks the producer: no record is ever dropped. Both sides publish their
 * counters in batches; before a side sleeps it publishes everything. If a producer dies in the middle of a batch,
 * committed is the end of its last complete record.
 *
 * The consumer does not trust the shared memory: it keeps its own tail and capacity, checks that head is within a
 * capacity of tail, copies some records at a time, and looks only at the copy, which nobody can change during or after
 * the check. Nor can the producer make it wait. An eventfd or one end of a pipe would be a single open file for both
 * sides, whose O_NONBLOCK either side can clear, and a pipe's lock is held while its writer's memory is read. The ends
 * of a socket pair share neither, and a datagram socket never reports that the other end was closed.
 */
enum {
	RING_CAPACITY = 512 * 1024,       /* few pages to create for a small recording; a larger one is no faster */
	RING_LIVE_CAPACITY = 1024 * 1024, /* there may be hundreds, which fill up only when the parent is behind */
};

/* The first page of the shared memory; the buffer follows at RING_HEADER_BYTES. */
struct ring_shared {
	uint64_t magic;
	uint64_t capacity;
	_Alignas(64) _Atomic uint64_t head;
	_Atomic uint64_t beat_ns; /* CLOCK_MONOTONIC: when the producer last showed that it is alive */
	_Atomic uint32_t consumer_sleeps;
	_Atomic uint32_t at_work; /* the producer is working for this ring, not for another one of its process */
	_Alignas(64) _Atomic uint64_t tail;
	_Atomic uint32_t producer_sleeps;
	_Alignas(64) _Atomic uint64_t committed; /* like head, but after each record; used once the producer is dead */
	_Atomic uint64_t time_ns;                /* ring_set_time() */
};

enum { RING_HEADER_BYTES = 4096 };

/* What each side needs to map the same ring. The fds are close-on-exec. */
struct ring_fds {
	int memory; /* memfd of RING_HEADER_BYTES + capacity, sealed against resizing */
	int wake;   /* this side's socket: readable when the other side has woken it */
};

struct ring_producer {
	struct ring_shared *shared;
	char *buffer;
	uint64_t capacity;
	uint64_t head; /* bytes written, not all published */
	uint64_t published;
	uint64_t woken_at; /* head when the consumer was last woken, or found awake */
	uint64_t woken_ns;
	uint64_t tail_seen;
	uint32_t room; /* for ring_has_room() */
	struct ring_fds fds;
};

struct ring_consumer {
	struct ring_shared *shared;
	const char *buffer;
	uint64_t capacity;
	uint64_t tail; /* bytes copied, not all published */
	uint64_t published;
	uint64_t head_seen;
	struct event *copy;           /* EVENT_SIZE_MAX bytes */
	const struct event *at, *end; /* the records in it that have not been consumed; checked */
	bool after_padding;           /* at the start of the buffer, where padding is an error */
	bool sleeps;                  /* ring_peek() has returned LT_AGAIN */
	bool orphaned;                /* ring_inherit() was called */
	struct ring_fds fds;
	int producer_wake; /* the producer's socket, for it to inherit */
};

/*
 * Creates a ring: memory, sockets, consumer's side mapped. capacity: a power of two, at least 4 * EVENT_SIZE_MAX.
 * LT_ERROR: a system call failed; there is nothing to release.
 */
enum lt_status ring_create(struct ring_consumer *c, uint64_t capacity);

/* The producer has inherited its side: closes our copy of it. */
void ring_give_away(struct ring_consumer *c);

/* Unmaps and closes the consumer's side. */
void ring_consumer_release(struct ring_consumer *c);

/* Opens the producer's side from inherited fds, and takes ownership of them. LT_ERROR: they are not a ring. */
enum lt_status ring_producer_open(struct ring_producer *p, struct ring_fds fds);

void ring_producer_release(struct ring_producer *p);

/* ring_reserve() near the end of the buffer, or when the ring may be full. */
void *ring_reserve_slow(struct ring_producer *p, uint32_t bytes);

/*
 * Room for a record of at most bytes (<= EVENT_SIZE_MAX, rounded up to 8 by the callee), 8-byte aligned and contiguous,
 * contents undefined. Blocks while the ring is full. One reservation at a time; without ring_commit() it has no effect.
 */
static inline void *ring_reserve(struct ring_producer *p, uint32_t bytes)
{
	const uint64_t at = p->head & (p->capacity - 1);

	/* EVENT_SIZE_MAX covers any rounding of bytes */
	if (p->capacity - at >= EVENT_SIZE_MAX && p->head + EVENT_SIZE_MAX - p->tail_seen <= p->capacity)
		return p->buffer + at;
	return ring_reserve_slow(p, bytes);
}

/* For an event, its context, and the records about it and its stream: some hundred bytes in practice. */
enum { RING_ROOM = EVENT_SIZE_MAX / 2 };

/* For all fields of the event as well, and the shape of its class: ring_set_room(). */
enum { RING_FIELDS_ROOM = RING_ROOM + EVENT_SIZE_MAX };

/* Sets the room that ring_has_room() looks for; RING_ROOM by default. */
static inline void ring_set_room(struct ring_producer *p, uint32_t bytes)
{
	p->room = bytes;
}

/*
 * Whether ring_reserve() for that many bytes in total would not block. false: everything has been published, and
 * fds.wake becomes readable when there is room again, and occasionally when there is not.
 */
bool ring_has_room(struct ring_producer *p);

/* Clears fds.wake, which was readable. Call ring_has_room() afterwards. */
void ring_room_woken(struct ring_producer *p);

/*
 * Sets how far the data read has come, by its own clock. ring_time_ns() returns it without waiting until the records
 * have been consumed.
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

/*
 * Lets the consumer see everything committed, and wakes it if it sleeps. Also a beat. Call it before anything that may
 * take long.
 */
void ring_publish(struct ring_producer *p);

/* The same in the middle of work: wakes a sleeping consumer only when that is worth it. */
LT_COLD void ring_beat(struct ring_producer *p);

/* A batch: about 300 records, much smaller than a core's cache. */
enum { RING_BATCH = 32 * 1024 };

/* Commits the record in the room from ring_reserve(), of bytes length (a multiple of 8, not more than reserved). */
static inline void ring_commit(struct ring_producer *p, uint32_t bytes)
{
	p->head += bytes;
	atomic_store_explicit(&p->shared->committed, p->head, memory_order_release);
	if (p->head - p->published >= RING_BATCH)
		ring_beat(p);
}

/* Copies and checks the next records. Returns the same as ring_peek(). */
enum lt_status ring_refill(struct ring_consumer *c, const char **wrong);

/*
 * The next record, checked by event_check(), borrowed until the first ring_peek() after it has been consumed. LT_AGAIN:
 * the ring is empty; fds.wake becomes readable when it no longer is, and occasionally while it still is. LT_ERROR: the
 * ring's contents are invalid; *wrong has the reason. The records that follow up to .end have been checked as well; a
 * record that ends its source is never among them.
 */
static inline enum lt_status ring_peek(struct ring_consumer *c, const struct event **ev, const char **wrong)
{
	const enum lt_status status = c->at != c->end ? LT_OK : ring_refill(c, wrong);

	*ev = c->at;
	return status;
}

/*
 * Clears fds.wake, which was readable. Call ring_peek() afterwards, not before: the wake-up cleared here may be for
 * records that are already in the ring.
 */
void ring_woken(struct ring_consumer *c);

/* The producer is dead: accepts records that it committed but did not publish. */
void ring_inherit(struct ring_consumer *c);

/* Consumes the record from ring_peek(). */
static inline void ring_next(struct ring_consumer *c)
{
	c->at = event_next(c->at);
}

/* Consumes all records up to .end, and returns .end. */
static inline const struct event *ring_next_all(struct ring_consumer *c)
{
	c->at = c->end;
	return c->end;
}

/* Whether there is nothing left to be consumed. */
bool ring_is_empty(const struct ring_consumer *c);

/*
 * Whether a dead or hanging producer was working for this ring, by its own account, when that happened; and its last
 * beat (CLOCK_MONOTONIC, ns).
 */
bool ring_was_at_work(const struct ring_consumer *c);
uint64_t ring_beat_ns(const struct ring_consumer *c);

/* The time from ring_set_time(); 0: it was never set. */
uint64_t ring_time_ns(const struct ring_consumer *c);

#endif
