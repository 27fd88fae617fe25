/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nstime.h"

#define RING_MAGIC UINT64_C(0x31676e69726f7474)

enum {
	WAKE_BYTES = 256 * 1024,    /* worth a wake-up, which costs as much as 50 records */
	WAKE_NS = NS_PER_MS,        /* and so is data that has waited this long */
	WAIT_MS = 100,              /* between two beats of a producer that waits for room */
	FOLD_BYTES = 4 * RING_ROOM, /* of the buffer, which are enough while the consumer keeps up */
	COPY_BYTES = 16 * 1024,     /* about 150 records, which stay in a core's nearest cache */
	DRAIN_MAX = 16, /* datagrams received at once: one or two are sent, unless the other side is hostile */
};

/* A full queue is just as good: the other side then has something to read. */
static void wake(int fd)
{
	const char one = 1;
	ssize_t n;

	do {
		n = send(fd, &one, sizeof(one), MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
}

static void drain(int fd)
{
	char one;

	for (unsigned i = 0; i < DRAIN_MAX; i++)
		if (recv(fd, &one, sizeof(one), MSG_DONTWAIT) < 0 && errno != EINTR)
			return;
}

static void close_fds(struct ring_fds *fds)
{
	if (fds->memory >= 0)
		close(fds->memory);
	if (fds->wake >= 0)
		close(fds->wake);
	*fds = (struct ring_fds){ -1, -1 };
}

enum lt_status ring_create(struct ring_consumer *c, uint64_t capacity)
{
	const size_t bytes = RING_HEADER_BYTES + capacity;
	void *map = MAP_FAILED;
	int pair[2] = { -1, -1 };

	*c = (struct ring_consumer){ .capacity = capacity };
	c->fds.memory = memfd_create("lttngtop-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (c->fds.memory >= 0 && socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) < 0)
		pair[0] = pair[1] = -1;
	c->fds.wake = pair[0];
	c->producer_wake = pair[1];
	/* Sealed: by shrinking the file, a worker could kill the parent with SIGBUS. */
	if (c->fds.wake >= 0 && ftruncate(c->fds.memory, bytes) == 0 &&
	    fcntl(c->fds.memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->fds.memory, 0);
	if (map == MAP_FAILED) {
		error_set("cannot create shared memory: %s", error_of_errno(errno));
		ring_consumer_release(c);
		return LT_ERROR;
	}
	c->shared = map;
	c->buffer = (const char *)map + RING_HEADER_BYTES;
	c->copy = malloc(EVENT_SIZE_MAX);
	if (!c->copy) {
		ring_consumer_release(c);
		return error_set("out of memory");
	}
	c->shared->magic = RING_MAGIC;
	c->shared->capacity = capacity;
	atomic_store(&c->shared->beat_ns, monotonic_ns());
	return LT_OK;
}

void ring_give_away(struct ring_consumer *c)
{
	close(c->fds.memory);
	close(c->producer_wake);
	c->fds.memory = c->producer_wake = -1;
}

void ring_consumer_release(struct ring_consumer *c)
{
	if (c->shared)
		munmap(c->shared, RING_HEADER_BYTES + c->capacity);
	close_fds(&c->fds);
	if (c->producer_wake >= 0)
		close(c->producer_wake);
	c->producer_wake = -1;
	free(c->copy);
	c->shared = NULL;
	c->copy = NULL;
}

enum lt_status ring_producer_open(struct ring_producer *p, struct ring_fds fds)
{
	struct stat st;
	void *map;

	*p = (struct ring_producer){ .room = RING_ROOM, .fds = fds };
	if (fstat(fds.memory, &st) < 0 || st.st_size <= RING_HEADER_BYTES)
		return error_set("the ring's memory was not inherited");
	map = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fds.memory, 0);
	if (map == MAP_FAILED)
		return error_set("cannot map the ring: %s", strerror(errno));
	p->shared = map;
	p->capacity = st.st_size - RING_HEADER_BYTES;
	p->buffer = (char *)map + RING_HEADER_BYTES;
	if (p->shared->magic != RING_MAGIC || p->shared->capacity != p->capacity) {
		munmap(map, st.st_size);
		p->shared = NULL;
		return error_set("the inherited memory is not a ring");
	}
	return LT_OK;
}

void ring_producer_release(struct ring_producer *p)
{
	if (p->shared)
		munmap(p->shared, RING_HEADER_BYTES + p->capacity);
	close_fds(&p->fds);
	p->shared = NULL;
}

static void pad(struct ring_producer *p, uint64_t at, uint64_t bytes)
{
	const struct {
		uint32_t size;
		uint16_t kind;
		uint16_t unused;
	} padding = { .size = bytes, .kind = EVENT_NONE };

	memcpy(p->buffer + at, &padding, sizeof(padding));
	p->head += bytes;
}

/* Between two batches: starts the buffer again once FOLD_BYTES have been used and everything was consumed. */
static void fold(struct ring_producer *p)
{
	const uint64_t at = p->head & (p->capacity - 1);

	if (at < FOLD_BYTES || p->head != p->published)
		return;
	p->tail_seen = atomic_load_explicit(&p->shared->tail, memory_order_acquire);
	if (p->tail_seen == p->head)
		pad(p, at, p->capacity - at);
}

static void publish(struct ring_producer *p, uint64_t wake_bytes, uint64_t wake_ns)
{
	struct ring_shared *s = p->shared;
	const uint64_t now = monotonic_ns();

	fold(p);
	atomic_store_explicit(&s->beat_ns, now, memory_order_relaxed);
	p->published = p->head;
	atomic_store_explicit(&s->head, p->head, memory_order_release);
	/* if there is nothing new since then, it was woken or has seen everything before it slept */
	if (p->head == p->woken_at || (p->head - p->woken_at < wake_bytes && now - p->woken_ns < wake_ns))
		return;
	/* Pairs with look_again(): either that sees this head, or this sees that it sleeps. */
	atomic_thread_fence(memory_order_seq_cst);
	p->woken_at = p->head;
	p->woken_ns = now;
	if (atomic_load_explicit(&s->consumer_sleeps, memory_order_relaxed) && atomic_exchange(&s->consumer_sleeps, 0))
		wake(p->fds.wake);
}

void ring_publish(struct ring_producer *p)
{
	publish(p, 0, 0);
}

void ring_beat(struct ring_producer *p)
{
	publish(p, WAKE_BYTES, WAKE_NS);
}

/* Waits until that many bytes are free after head. */
static void wait_for_room(struct ring_producer *p, uint64_t bytes)
{
	struct ring_shared *s = p->shared;
	struct pollfd pfd = { .fd = p->fds.wake, .events = POLLIN };

	p->tail_seen = atomic_load_explicit(&s->tail, memory_order_acquire);
	while (p->head + bytes - p->tail_seen > p->capacity) {
		ring_publish(p);
		atomic_store(&s->producer_sleeps, 1);
		atomic_thread_fence(memory_order_seq_cst);
		p->tail_seen = atomic_load_explicit(&s->tail, memory_order_acquire);
		if (p->head + bytes - p->tail_seen <= p->capacity)
			break;
		if (poll(&pfd, 1, WAIT_MS) > 0)
			drain(p->fds.wake);
		p->tail_seen = atomic_load_explicit(&s->tail, memory_order_acquire);
	}
	atomic_store_explicit(&s->producer_sleeps, 0, memory_order_relaxed);
}

/* Whether there is .room, as far as is known, plus padding of the same size before the end of the buffer. */
static bool fits(const struct ring_producer *p)
{
	return p->head + 2 * p->room - p->tail_seen <= p->capacity;
}

bool ring_has_room(struct ring_producer *p)
{
	struct ring_shared *s = p->shared;

	if (fits(p))
		return true;
	p->tail_seen = atomic_load_explicit(&s->tail, memory_order_acquire);
	if (fits(p))
		return true;
	ring_publish(p);
	atomic_store(&s->producer_sleeps, 1);
	atomic_thread_fence(memory_order_seq_cst);
	p->tail_seen = atomic_load_explicit(&s->tail, memory_order_acquire);
	if (!fits(p))
		return false;
	atomic_store_explicit(&s->producer_sleeps, 0, memory_order_relaxed);
	return true;
}

void ring_room_woken(struct ring_producer *p)
{
	drain(p->fds.wake);
}

void *ring_reserve_slow(struct ring_producer *p, uint32_t bytes)
{
	uint64_t at, padding;

	bytes = (bytes + 7) & ~7u;
	/* the head may move during the wait: fold() */
	for (;;) {
		at = p->head & (p->capacity - 1);
		padding = bytes > p->capacity - at ? p->capacity - at : 0;
		if (p->head + padding + bytes - p->tail_seen <= p->capacity)
			break;
		wait_for_room(p, padding + bytes);
	}
	if (padding)
		pad(p, at, padding);
	return p->buffer + (p->head & (p->capacity - 1));
}

/* Publishes what was consumed; wakes the producer if it sleeps and there is enough room. */
static void publish_tail(struct ring_consumer *c)
{
	struct ring_shared *s = c->shared;

	if (c->published == c->tail)
		return;
	c->published = c->tail;
	atomic_store_explicit(&s->tail, c->tail, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&s->producer_sleeps, memory_order_relaxed) &&
	    c->head_seen - c->tail <= c->capacity / 2 && atomic_exchange(&s->producer_sleeps, 0))
		wake(c->fds.wake);
}

static uint64_t head_of(const struct ring_consumer *c)
{
	const uint64_t head = atomic_load_explicit(&c->shared->head, memory_order_acquire);
	uint64_t committed;

	if (!c->orphaned)
		return head;
	committed = atomic_load_explicit(&c->shared->committed, memory_order_acquire);
	return committed > head ? committed : head;
}

static bool load_head(struct ring_consumer *c)
{
	c->head_seen = head_of(c);
	return c->head_seen - c->tail <= c->capacity && c->head_seen % 8 == 0;
}

/* Nothing to read was seen: looks again, and goes to sleep if there really is nothing. */
static enum lt_status look_again(struct ring_consumer *c, const char **wrong)
{
	if (!load_head(c))
		goto nonsense;
	if (c->head_seen != c->tail) {
		if (c->sleeps)
			atomic_store(&c->shared->consumer_sleeps, 0);
		c->sleeps = false;
		return LT_OK;
	}
	publish_tail(c);
	c->sleeps = true;
	atomic_store(&c->shared->consumer_sleeps, 1);
	atomic_thread_fence(memory_order_seq_cst);
	if (!load_head(c))
		goto nonsense;
	return c->head_seen == c->tail ? LT_AGAIN : LT_OK;

nonsense:
	*wrong = "an impossible fill level";
	return LT_ERROR;
}

/* Whether the record is a source's last one. The records before it are returned without it. */
static bool is_last_word(const struct event *ev)
{
	return ev->kind == EVENT_END || ev->kind == EVENT_FAILED;
}

/* How many bytes of the copy are complete, valid records; 0: *wrong says what is wrong with the first one. */
static size_t check_copy(const struct ring_consumer *c, size_t bytes, const char **wrong)
{
	const struct event *ev = c->copy;
	size_t at = 0;

	*wrong = "a record of impossible size";
	for (; bytes - at >= sizeof(*ev) && ev->size <= bytes - at; ev = event_next(ev)) {
		if (at && is_last_word(ev))
			break;
		*wrong = event_check(ev, bytes - at);
		if (*wrong)
			break;
		at += ev->size;
	}
	return at;
}

/* Copies a reasonable number of the records at the tail, at least one. NULL, or what is wrong with the first one. */
static const char *take_copy(struct ring_consumer *c, const char *records, size_t avail)
{
	const size_t some = avail < COPY_BYTES ? avail : COPY_BYTES;
	const char *wrong;
	size_t taken;

	memcpy(c->copy, records, some);
	taken = check_copy(c, some, &wrong);
	if (!taken && some < avail) {
		/* a longer record */
		const size_t most = avail < EVENT_SIZE_MAX ? avail : EVENT_SIZE_MAX;

		memcpy(c->copy, records, most);
		taken = check_copy(c, most, &wrong);
	}
	if (!taken)
		return wrong;
	c->at = c->copy;
	c->end = (const struct event *)(const void *)((const char *)c->copy + taken);
	c->tail += taken;
	if (c->tail - c->published >= RING_BATCH)
		publish_tail(c);
	return NULL;
}

enum lt_status ring_refill(struct ring_consumer *c, const char **wrong)
{
	for (;;) {
		const uint64_t at = c->tail & (c->capacity - 1);
		const char *record = c->buffer + at;
		uint64_t avail = c->head_seen - c->tail;

		if (avail == 0) {
			enum lt_status status = look_again(c, wrong);

			if (status != LT_OK)
				return status;
			continue;
		}
		if (avail > c->capacity - at)
			avail = c->capacity - at;
		if (*(const volatile uint16_t *)(const void *)(record + offsetof(struct event, kind)) != EVENT_NONE) {
			*wrong = take_copy(c, record, avail);
			c->after_padding = false;
			return *wrong ? LT_ERROR : LT_OK;
		}
		/*
		 * Padding extends to the end of the buffer, whatever its size field says, and a record follows: a
		 * producer must not keep the consumer here with padding alone.
		 */
		if (avail != c->capacity - at || c->after_padding) {
			*wrong = "padding in the middle";
			return LT_ERROR;
		}
		c->after_padding = true;
		c->tail += avail;
	}
}

void ring_woken(struct ring_consumer *c)
{
	drain(c->fds.wake);
}

void ring_inherit(struct ring_consumer *c)
{
	c->orphaned = true;
}

bool ring_is_empty(const struct ring_consumer *c)
{
	return c->at == c->end && head_of(c) == c->tail;
}

bool ring_was_at_work(const struct ring_consumer *c)
{
	return atomic_load_explicit(&c->shared->at_work, memory_order_relaxed) != 0;
}

uint64_t ring_beat_ns(const struct ring_consumer *c)
{
	return atomic_load_explicit(&c->shared->beat_ns, memory_order_relaxed);
}

uint64_t ring_time_ns(const struct ring_consumer *c)
{
	return atomic_load_explicit(&c->shared->time_ns, memory_order_relaxed);
}
