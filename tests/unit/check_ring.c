/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ring between a worker and the parent: order, wrap-around, sleeping, and a lying producer. */
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "event/payload.h"
#include "reader/emit.h"
#include "source/ring.h"

enum { SMALL = 256 * 1024 };

static struct ring_consumer consumer;
static struct ring_producer producer;

static void open_ring(void)
{
	struct ring_fds fds;

	ck_assert_int_eq(ring_create(&consumer, SMALL), LT_OK);
	fds = (struct ring_fds){ dup(consumer.fds.memory), dup(consumer.producer_wake) };
	ck_assert_int_eq(ring_producer_open(&producer, fds), LT_OK);
}

static void close_ring(void)
{
	ring_producer_release(&producer);
	ring_consumer_release(&consumer);
}

/* A record with its number in ts_ns and in its text, whose length varies. */
static void write_numbered(uint64_t i)
{
	char text[TEXT_MAX];
	const size_t len = i * 7919 % 3000;
	struct event *ev = emit_begin(&producer, EVENT_NOTE, i, TEXT_MAX);

	memset(text, 'a' + (int)(i % 26), len);
	emit_text(ev, 0, text, len);
	emit_end(&producer, ev);
}

static void check_numbered(const struct event *ev, uint64_t i)
{
	const struct event_str s = event_payload(ev, ev_note)->text;
	char expected[3000];

	ck_assert_uint_eq(ev->ts_ns, i);
	ck_assert_uint_eq(s.len, i * 7919 % 3000);
	memset(expected, 'a' + (int)(i % 26), sizeof(expected));
	ck_assert_mem_eq(event_text(ev, s), expected, s.len);
	/* what fills it up does not come from older records */
	for (uint32_t at = s.offset + s.len; at < ev->size; at++)
		ck_assert_int_eq(((const char *)ev)[at], 0);
}

static void (*on_clock)(void); /* NULL: nothing happens when the producer looks at the clock */

/* Replaces the C library's: the producer calls it between two looks at what was consumed. */
int clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (on_clock)
		on_clock();
	return (int)syscall(SYS_clock_gettime, clock, ts);
}

static uint64_t consumed;

static void consume_all(void)
{
	const struct event *ev;
	const char *wrong;

	while (ring_peek(&consumer, &ev, &wrong) == LT_OK) {
		check_numbered(ev, consumed++);
		ring_next(&consumer);
	}
}

/* The ring is full up to its end; just when its producer starts to wait, all of it is consumed. */
START_TEST(test_emptied_before_the_wait)
{
	uint64_t written = 0;

	open_ring();
	while (!consumed) {
		on_clock = consume_all;
		write_numbered(written++);
		on_clock = NULL;
		ring_publish(&producer);
	}
	consume_all();
	ck_assert_uint_eq(consumed, written);
	close_ring();
}
END_TEST

/* If its consumer keeps up, a producer uses only a small part of the buffer, and no record is lost by that. */
START_TEST(test_little_memory)
{
	const struct event *ev;
	const char *wrong;

	ck_assert_int_eq(ring_create(&consumer, RING_LIVE_CAPACITY), LT_OK);
	ck_assert_int_eq(ring_producer_open(&producer,
					    (struct ring_fds){ dup(consumer.fds.memory), dup(consumer.producer_wake) }),
			 LT_OK);
	for (uint64_t i = 0; i < 20000; i++) {
		ck_assert(ring_has_room(&producer));
		write_numbered(i);
		if (i % 10 < 9)
			continue;
		ring_publish(&producer);
		for (uint64_t j = i - 9; j <= i; j++) {
			ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_OK);
			check_numbered(ev, j);
			ring_next(&consumer);
		}
		ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_AGAIN);
		ring_beat(&producer);
		ck_assert_uint_lt(consumer.tail % RING_LIVE_CAPACITY, RING_LIVE_CAPACITY / 4);
	}
	ck_assert_uint_gt(consumer.tail, RING_LIVE_CAPACITY);
	close_ring();
}
END_TEST

START_TEST(test_empty)
{
	const struct event *ev;
	const char *wrong;

	open_ring();
	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_AGAIN);
	ck_assert(ring_is_empty(&consumer));
	write_numbered(1);
	/* Nothing is visible before it is published. */
	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_AGAIN);
	ring_publish(&producer);
	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_OK);
	check_numbered(ev, 1);
	/* The same record again, until it is consumed. */
	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_OK);
	check_numbered(ev, 1);
	ring_next(&consumer);
	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_AGAIN);
	close_ring();
}
END_TEST

/* A producer that died left complete records that it had not published. */
START_TEST(test_inherited)
{
	const struct event *ev;
	const char *wrong;
	uint64_t n = 0;

	open_ring();
	write_numbered(0);
	ring_publish(&producer);
	/* past the end of the buffer, so that there is padding among them */
	for (uint64_t i = 1; i <= 300; i++) {
		write_numbered(i);
		while (ring_peek(&consumer, &ev, &wrong) == LT_OK) {
			check_numbered(ev, n++);
			ring_next(&consumer);
		}
	}
	ck_assert_uint_lt(n, 301);
	emit_begin(&producer, EVENT_NOTE, 301, TEXT_MAX);
	ring_inherit(&consumer);
	ck_assert(!ring_is_empty(&consumer));
	while (ring_peek(&consumer, &ev, &wrong) == LT_OK) {
		check_numbered(ev, n++);
		ring_next(&consumer);
	}
	ck_assert_uint_eq(n, 301);
	ck_assert(ring_is_empty(&consumer));
	close_ring();
}
END_TEST

START_TEST(test_wake_fd_wakes)
{
	struct pollfd pfd;
	const struct event *ev;
	const char *wrong;

	open_ring();
	pfd = (struct pollfd){ .fd = consumer.fds.wake, .events = POLLIN };
	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_AGAIN);
	/* a beat alone wakes no one */
	ring_publish(&producer);
	ck_assert_int_eq(poll(&pfd, 1, 0), 0);
	write_numbered(5);
	ring_publish(&producer);
	ck_assert_int_eq(poll(&pfd, 1, 0), 1);
	ring_woken(&consumer);
	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_OK);
	ring_next(&consumer);
	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_AGAIN);
	ck_assert_int_eq(poll(&pfd, 1, 0), 0);
	close_ring();
}
END_TEST

/* Data written before the wake-up is consumed is found after it, and later data causes another wake-up. */
START_TEST(test_late_wake)
{
	struct pollfd pfd;
	const struct event *ev;
	const char *wrong;

	open_ring();
	pfd = (struct pollfd){ .fd = consumer.fds.wake, .events = POLLIN };
	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_AGAIN);
	write_numbered(5);
	ring_publish(&producer);
	/* read before it was woken: the wake-up is still pending when there is no more data */
	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_OK);
	ring_next(&consumer);
	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_AGAIN);
	ck_assert_int_eq(poll(&pfd, 1, 0), 1);
	write_numbered(6);
	ring_publish(&producer);
	ring_woken(&consumer);
	ck_assert_int_eq(poll(&pfd, 1, 0), 0);
	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_OK);
	check_numbered(ev, 6);
	ring_next(&consumer);
	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_AGAIN);
	write_numbered(7);
	ring_publish(&producer);
	ck_assert_int_eq(poll(&pfd, 1, 0), 1);
	close_ring();
}
END_TEST

enum { MANY = 20000 };

static void *produce_many(void *arg)
{
	(void)arg;
	for (uint64_t i = 0; i < MANY; i++)
		write_numbered(i);
	ring_publish(&producer);
	return NULL;
}

/* Until the producer has filled the ring and waits for room; if it never does, Check ends the test. */
static void wait_until_full(void)
{
	while (!atomic_load(&consumer.shared->producer_sleeps))
		usleep(1000);
}

/* 28 MB through 256 KiB: both sides sleep and wake, records wrap around, and nothing is lost. */
START_TEST(test_two_threads)
{
	pthread_t thread;
	const struct event *ev;
	const char *wrong;

	open_ring();
	ck_assert_int_eq(pthread_create(&thread, NULL, produce_many, NULL), 0);
	for (uint64_t i = 0; i < MANY;) {
		struct pollfd pfd = { .fd = consumer.fds.wake, .events = POLLIN };
		const enum lt_status status = ring_peek(&consumer, &ev, &wrong);

		ck_assert_int_ne(status, LT_ERROR);
		if (status == LT_AGAIN) {
			ck_assert_int_eq(poll(&pfd, 1, -1), 1);
			ring_woken(&consumer);
			continue;
		}
		check_numbered(ev, i++);
		ring_next(&consumer);
		if (i == MANY / 2)
			wait_until_full();
	}
	pthread_join(thread, NULL);
	ck_assert(ring_is_empty(&consumer));
	close_ring();
}
END_TEST

/* A producer that waits for room still beats. */
START_TEST(test_full_ring_beats)
{
	pthread_t thread;
	const struct event *ev;
	const char *wrong;
	uint64_t last;

	open_ring();
	ck_assert_int_eq(pthread_create(&thread, NULL, produce_many, NULL), 0);
	wait_until_full();
	last = ring_beat_ns(&consumer);
	for (unsigned beats = 0; beats < 3; beats++) {
		const uint64_t before = last;

		while ((last = ring_beat_ns(&consumer)) == before)
			usleep(1000);
		ck_assert_uint_gt(last, before);
	}
	for (uint64_t i = 0; i < MANY;) {
		if (ring_peek(&consumer, &ev, &wrong) == LT_OK) {
			ring_next(&consumer);
			i++;
		}
	}
	pthread_join(thread, NULL);
	close_ring();
}
END_TEST

static void expect_nonsense(void)
{
	const struct event *ev;
	const char *wrong = NULL;

	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_ERROR);
	ck_assert_ptr_nonnull(wrong);
}

START_TEST(test_lying_head)
{
	static const uint64_t heads[] = { SMALL + 8, UINT64_MAX, UINT64_C(1) << 63, 12 };

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		open_ring();
		atomic_store(&consumer.shared->head, heads[i]);
		expect_nonsense();
		close_ring();
	}
}
END_TEST

START_TEST(test_lying_records)
{
	for (int lie = 0; lie < 8; lie++) {
		struct event *ev;

		open_ring();
		ev = emit_begin(&producer, EVENT_SCHED_SWITCH, 1, 0);
		emit_end(&producer, ev);
		switch (lie) {
		case 0:
			ev->size = 0;
			break;
		case 1:
			ev->size = 12;
			break;
		case 2:
			ev->size = UINT32_MAX;
			break;
		case 3:
			ev->size = EVENT_SIZE_MAX + 8;
			break;
		case 4:
			ev->kind = EVENT_KINDS;
			break;
		case 5:
			ev->n_words = 1000;
			break;
		case 6:
			ev->cpu = EVENT_CPU_MAX;
			break;
		case 7:
			ev->kind = EVENT_NONE;
			break; /* padding that is not at the end */
		}
		ring_publish(&producer);
		expect_nonsense();
		close_ring();
	}
}
END_TEST

/* Neither a producer's flags nor a queue that it fills or never reads make the consumer wait, or loop for ever. */
START_TEST(test_hostile_wakes)
{
	const struct event *ev;
	const char *wrong;
	int flags;

	open_ring();
	flags = fcntl(producer.fds.wake, F_GETFL);
	ck_assert_int_eq(fcntl(producer.fds.wake, F_SETFL, flags & ~O_NONBLOCK), 0);
	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_AGAIN);
	/* it sleeps all the time and never takes its wake-ups */
	for (uint64_t i = 0; i < 4096; i++) {
		write_numbered(i);
		ring_publish(&producer);
		atomic_store(&producer.shared->producer_sleeps, 1);
		ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_OK);
		ring_next(&consumer);
		ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_AGAIN);
	}
	while (send(producer.fds.wake, "", 1, MSG_DONTWAIT) > 0)
		;
	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_AGAIN);
	shutdown(producer.fds.wake, SHUT_RDWR);
	close_ring();
}
END_TEST

static atomic_bool over;

/* Always one capacity ahead, with only padding. */
static void *pad_for_ever(void *arg)
{
	(void)arg;
	memset(producer.buffer, 0, SMALL);
	while (!atomic_load(&over))
		atomic_store(&producer.shared->head, atomic_load(&producer.shared->tail) + SMALL);
	return NULL;
}

START_TEST(test_endless_padding)
{
	pthread_t thread;
	const struct event *ev;
	const char *wrong;
	enum lt_status status;

	open_ring();
	ck_assert_int_eq(pthread_create(&thread, NULL, pad_for_ever, NULL), 0);
	while ((status = ring_peek(&consumer, &ev, &wrong)) == LT_AGAIN)
		;
	ck_assert_int_eq(status, LT_ERROR);
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	close_ring();
}
END_TEST

/* Records handed out do not change when the producer overwrites them later. */
START_TEST(test_records_are_copies)
{
	const struct event *ev;
	const char *wrong;
	struct event *shared;

	open_ring();
	shared = emit_begin(&producer, EVENT_SCHED_SWITCH, 7, 0);
	emit_end(&producer, shared);
	ring_publish(&producer);
	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_OK);
	shared->n_words = 60000;
	shared->ts_ns = 8;
	ck_assert_uint_eq(ev->ts_ns, 7);
	ck_assert_uint_eq(ev->n_words, tracepoint_desc(EVENT_SCHED_SWITCH)->n_words);
	close_ring();
}
END_TEST

/* Nor do later ones, which have been checked by then; records before an invalid one are handed out. */
START_TEST(test_lie_behind_records)
{
	struct event *shared[3];
	const struct event *ev;
	const char *wrong;

	open_ring();
	for (unsigned i = 0; i < 3; i++) {
		shared[i] = emit_begin(&producer, EVENT_SCHED_SWITCH, i, 0);
		emit_end(&producer, shared[i]);
	}
	shared[2]->kind = EVENT_KINDS;
	ring_publish(&producer);
	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_OK);
	shared[1]->size = 16;
	shared[1]->cpu = EVENT_CPU_MAX;
	for (unsigned i = 0; i < 2; i++) {
		ck_assert(!ring_is_empty(&consumer));
		ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_OK);
		ck_assert_uint_eq(ev->ts_ns, i);
		ck_assert_ptr_null(event_check(ev, ev->size));
		ring_next(&consumer);
	}
	expect_nonsense();
	close_ring();
}
END_TEST

/* A record longer than a batch of copies, after others and alone. */
START_TEST(test_long_records)
{
	static const uint32_t lens[] = { 8, EVENT_SIZE_MAX - 4096, EVENT_SIZE_MAX - 4096, 40000, 8, 8, 20000 };
	enum { RECORDS = sizeof(lens) / sizeof(*lens) };
	static char text[EVENT_SIZE_MAX];
	const struct event *ev;
	const char *wrong;

	open_ring();
	memset(text, 'x', sizeof(text));
	for (unsigned i = 0; i < RECORDS; i++) {
		struct event *at = emit_begin(&producer, EVENT_NOTE, i, lens[i]);
		const struct event_str s = { at->size, lens[i] };

		memcpy(at->words, &s, sizeof(s));
		memcpy((char *)at + s.offset, text, s.len);
		at->size += s.len;
		emit_end(&producer, at);
	}
	ring_publish(&producer);
	for (unsigned i = 0; i < RECORDS; i++) {
		ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_OK);
		ck_assert_uint_eq(ev->ts_ns, i);
		ck_assert_uint_eq(event_payload(ev, ev_note)->text.len, lens[i]);
		ck_assert_mem_eq(event_text(ev, event_payload(ev, ev_note)->text), text, lens[i]);
		ring_next(&consumer);
	}
	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_AGAIN);
	close_ring();
}
END_TEST

/* All records at hand are taken at once, but the end of the source comes alone. */
START_TEST(test_last_word)
{
	const struct event *ev, *end;
	const char *wrong;

	open_ring();
	for (unsigned i = 0; i < 3; i++)
		emit_end(&producer, emit_begin(&producer, i < 2 ? EVENT_SCHED_SWITCH : EVENT_END, i, 0));
	ring_publish(&producer);
	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_OK);
	end = ring_next_all(&consumer);
	ck_assert_ptr_eq(event_next(event_next(ev)), end);
	ck_assert(!ring_is_empty(&consumer));
	ck_assert_int_eq(ring_peek(&consumer, &ev, &wrong), LT_OK);
	ck_assert_uint_eq(ev->kind, EVENT_END);
	ring_next(&consumer);
	ck_assert(ring_is_empty(&consumer));
	close_ring();
}
END_TEST

START_TEST(test_no_ring)
{
	struct ring_producer p;

	ck_assert_int_eq(ring_producer_open(&p, (struct ring_fds){ -1, -1 }), LT_ERROR);
}
END_TEST

UNIT_MAIN("ring", test_emptied_before_the_wait, test_little_memory, test_empty, test_inherited, test_wake_fd_wakes,
	  test_late_wake, test_two_threads, test_full_ring_beats, test_lying_head, test_lying_records,
	  test_hostile_wakes, test_endless_padding, test_records_are_copies, test_lie_behind_records, test_long_records,
	  test_last_word, test_no_ring)
