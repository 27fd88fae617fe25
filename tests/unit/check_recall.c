/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log of the latest data: order, what is dropped, a reader beside the writer, and a hostile writer. */
#include "unit.h"

#include <glib.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "source/recall.h"

enum { SMALL = 64 * 1024, HEADER = 64 * 1024, SOURCES = 3, LONGEST = 9000 };

static struct recall writer, reader;
static int fd;

static void open_log(void)
{
	fd = recall_create(SMALL);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(recall_open(&writer, fd, true), LT_OK);
	ck_assert_int_eq(recall_open(&reader, fd, false), LT_OK);
}

static void close_log(void)
{
	recall_close(&writer);
	recall_close(&reader);
	close(fd);
}

static uint64_t length_of(uint64_t i)
{
	return i * 7919 % LONGEST;
}

/* An entry with its number in .stream and in its bytes; returns its position. */
static uint64_t add_numbered(uint64_t i)
{
	static uint8_t bytes[LONGEST];
	struct recall_entry e = {
		.kind = RECALL_PACKET,
		.source = (uint32_t)(i % SOURCES),
		.trace = i + 1,
		.stream = i,
		.len = length_of(i),
	};

	memset(bytes, (int)(i % 251), sizeof(bytes));
	ck_assert(recall_add(&writer, &e, bytes));
	return e.position;
}

/* false: it is no longer kept. */
static bool is_numbered(const struct recall_entry *e)
{
	uint8_t bytes[LONGEST], expected[LONGEST];

	ck_assert_uint_eq(e->len, length_of(e->stream));
	ck_assert_uint_eq(e->trace, e->stream + 1);
	ck_assert_uint_eq(e->source, e->stream % SOURCES);
	if (!recall_copy(&reader, e, bytes, e->len))
		return false;
	memset(expected, (int)(e->stream % 251), sizeof(expected));
	ck_assert_mem_eq(bytes, expected, e->len);
	return true;
}

/* Checks that what is kept are the latest entries up to number last, and returns how many they are. */
static uint64_t count_kept(uint64_t last)
{
	struct recall_entry e;
	uint64_t n = 0, next = 0;

	for (uint64_t at = 0; recall_look(&reader, at, &e); at = recall_after(&e), n++, next++) {
		if (n)
			ck_assert_uint_eq(e.stream, next);
		next = e.stream;
		ck_assert(is_numbered(&e));
	}
	ck_assert(n > 0 && next == last + 1);
	return n;
}

START_TEST(test_latest_are_kept)
{
	uint64_t bytes;

	for (uint64_t i = 0; i < 2000; i++) {
		add_numbered(i);
		bytes = 0;
		for (uint64_t k = count_kept(i); k > 0; k--)
			bytes += length_of(i + 1 - k);
		ck_assert_uint_le(bytes, recall_used(fd));
		ck_assert_uint_le(recall_used(fd), SMALL);
		/* at most one entry and a gap less than would fit */
		if (recall_is_cut(&reader))
			ck_assert_uint_gt(bytes, SMALL - 3 * (LONGEST + sizeof(struct recall_entry)));
	}
	ck_assert(recall_is_cut(&reader));
}
END_TEST

START_TEST(test_what_is_dropped)
{
	struct recall_entry first, e;
	uint8_t byte;
	uint64_t position;

	add_numbered(1);
	ck_assert(!recall_is_cut(&reader));
	ck_assert(recall_look(&reader, 0, &first));
	ck_assert(recall_copy(&reader, &first, &byte, 1));
	for (uint64_t i = 2; !recall_is_cut(&reader); i++)
		add_numbered(i);
	ck_assert(!recall_copy(&reader, &first, &byte, 1));
	/* from a position that is no longer kept: what is */
	ck_assert(recall_look(&reader, first.position, &e));
	ck_assert_uint_gt(e.position, first.position);
	position = add_numbered(1);
	ck_assert(!recall_is_old(&writer, position));
	for (uint64_t i = 0; i < SMALL / 2; i += length_of(3))
		add_numbered(3);
	ck_assert(!recall_is_old(&writer, position));
	for (uint64_t i = 0; i < SMALL / 3; i += length_of(3))
		add_numbered(3);
	ck_assert(recall_is_old(&writer, position));
}
END_TEST

START_TEST(test_too_large)
{
	static uint8_t bytes[SMALL];
	struct recall_entry e = { .kind = RECALL_PACKET, .len = SMALL / 2 };

	add_numbered(1);
	ck_assert(!recall_add(&writer, &e, bytes));
	e.len = UINT64_MAX;
	ck_assert(!recall_add(&writer, &e, bytes));
	e.len = UINT64_MAX - 3;
	ck_assert(!recall_add(&writer, &e, bytes));
	ck_assert_uint_eq(count_kept(1), 1);
	/* more than it has */
	ck_assert(recall_look(&reader, 0, &e));
	ck_assert(!recall_copy(&reader, &e, bytes, e.len + 1));
}
END_TEST

static _Atomic bool done;

static void *write_many(void *unused)
{
	(void)unused;
	for (uint64_t i = 0; i < 200000; i++)
		add_numbered(i);
	done = true;
	return NULL;
}

/* What is copied is an entry as it was written, or is known not to be. */
START_TEST(test_reader_beside_writer)
{
	struct recall_entry e;
	uint64_t seen = 0, lost = 0;
	pthread_t thread;

	done = false;
	ck_assert_int_eq(pthread_create(&thread, NULL, write_many, NULL), 0);
	while (!done || !seen) {
		for (uint64_t at = 0; recall_look(&reader, at, &e); at = recall_after(&e))
			*(is_numbered(&e) ? &seen : &lost) += 1;
	}
	pthread_join(thread, NULL);
	ck_assert_uint_gt(seen, 1000);
	count_kept(199999);
}
END_TEST

static uint32_t random_state = 1;

static uint32_t next_random(void)
{
	random_state = random_state * 1664525 + 1013904223;
	return random_state >> 8;
}

/* Whatever the memory contains, reading ends and stays inside it, and a new writer can go on. */
START_TEST(test_hostile)
{
	static uint8_t bytes[SMALL];
	uint8_t *memory = mmap(NULL, HEADER + SMALL, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	struct recall_shared *shared = (void *)memory;
	struct recall_entry e;

	ck_assert(memory != MAP_FAILED);
	for (unsigned round = 0; round < 3000; round++) {
		for (uint64_t i = 0; i < 20; i++)
			add_numbered(next_random() % 1000);
		for (unsigned i = 0; i < 30; i++)
			memory[HEADER + next_random() % SMALL] = (uint8_t)next_random();
		if (recall_look(&reader, 0, &e))
			memory[HEADER + e.position % SMALL + next_random() % sizeof(e)] ^= (uint8_t)next_random();
		if (round % 3 == 1)
			shared->head = (uint64_t)next_random() << (next_random() % 40);
		if (round % 3 == 2)
			shared->tail = (uint64_t)next_random() << (next_random() % 40);
		for (uint64_t at = 0, n = 0; recall_look(&reader, at, &e); at = recall_after(&e), n++) {
			ck_assert_uint_le(n, SMALL / sizeof(e));
			if (e.len <= SMALL)
				recall_copy(&reader, &e, bytes, e.len);
		}
		add_numbered(round);
	}
	munmap(memory, HEADER + SMALL);
	close_log();
	open_log();
	add_numbered(5);
	ck_assert_uint_eq(count_kept(5), 1);
}
END_TEST

/* Positions at the end of what 64 bits can count, where an entry would precede itself. */
START_TEST(test_hostile_positions)
{
	uint8_t *memory = mmap(NULL, HEADER + SMALL, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	struct recall_shared *shared = (void *)memory;
	struct recall_entry e = { .kind = RECALL_PACKET, .position = UINT64_MAX - 4095 };

	ck_assert(memory != MAP_FAILED);
	e.len = 4096 - sizeof(e);
	for (int64_t i = 0; i < 2; i++) {
		shared->tail = e.position;
		shared->head = UINT64_MAX;
		memcpy(memory + HEADER + e.position % SMALL, &e, sizeof(e));
		ck_assert(!recall_look(&reader, 0, &e));
		e = (struct recall_entry){ .kind = RECALL_GAP, .position = UINT64_MAX - 4095, .len = 4096 - sizeof(e) };
	}
	/* they are the writer's own: it goes on where it was */
	add_numbered(7);
	ck_assert_uint_eq(count_kept(7), 1);
	munmap(memory, HEADER + SMALL);
	ck_assert_uint_le(recall_used(fd), HEADER + SMALL);
}
END_TEST

static void *move_positions(void *memory)
{
	struct recall_shared *shared = memory;

	for (uint64_t i = 0; !done; i++) {
		shared->head = i * 4096 + next_random() % 64 * 8;
		shared->tail = i * 4096;
	}
	return NULL;
}

/* Another process changes what is shared while the worker adds to the log: that stays inside its memory. */
START_TEST(test_hostile_beside_writer)
{
	uint8_t *memory = mmap(NULL, HEADER + SMALL, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pthread_t thread;

	ck_assert(memory != MAP_FAILED);
	done = false;
	ck_assert_int_eq(pthread_create(&thread, NULL, move_positions, memory), 0);
	for (uint64_t i = 0; i < 100000; i++)
		add_numbered(i);
	done = true;
	pthread_join(thread, NULL);
	munmap(memory, HEADER + SMALL);
	add_numbered(100000);
	count_kept(100000);
}
END_TEST

/* The traces of a source by their latest packets; the others are left out if there are too many. */
START_TEST(test_traces)
{
	enum { MAX = 4 };
	static const struct {
		uint64_t kind, source, trace;
	} added[] = {
		{ RECALL_PACKET, 1, 10 }, { RECALL_PACKET, 2, 20 },   { RECALL_METADATA, 1, 30 },
		{ RECALL_PACKET, 1, 11 }, { RECALL_PACKET, 1, 10 },   { RECALL_PACKET, 1, 12 },
		{ RECALL_PACKET, 1, 13 }, { RECALL_METADATA, 1, 11 }, { RECALL_PACKET, 1, 13 },
	};
	uint64_t traces[MAX];

	ck_assert_uint_eq(recall_traces(fd, 1, traces, MAX), 0);
	for (unsigned i = 0; i < G_N_ELEMENTS(added); i++) {
		struct recall_entry e = { .kind = added[i].kind, .source = added[i].source, .trace = added[i].trace };

		ck_assert(recall_add(&writer, &e, ""));
	}
	ck_assert_uint_eq(recall_traces(fd, 1, traces, MAX), 4);
	ck_assert_mem_eq(traces, ((const uint64_t[]){ 11, 10, 12, 13 }), sizeof(traces));
	ck_assert_uint_eq(recall_traces(fd, 1, traces, 2), 2);
	ck_assert_mem_eq(traces, ((const uint64_t[]){ 12, 13 }), 2 * sizeof(*traces));
	ck_assert_uint_eq(recall_traces(fd, 2, traces, MAX), 1);
	ck_assert_uint_eq(traces[0], 20);
	ck_assert_uint_eq(recall_traces(fd, 3, traces, MAX), 0);
}
END_TEST

START_TEST(test_read_only)
{
	const int again = recall_open_again(fd);
	struct recall r;

	ck_assert_int_ge(again, 0);
	ck_assert_int_eq(recall_open(&r, again, true), LT_ERROR);
	ck_assert_int_eq(recall_open(&r, again, false), LT_OK);
	ck_assert_int_eq(pwrite(again, &r, 1, 0), -1);
	recall_close(&r);
	close(again);
	ck_assert_int_eq(recall_open_again(-1), -1);
}
END_TEST

static uint64_t pages_of(int log)
{
	struct stat st;

	ck_assert_int_eq(fstat(log, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

static unsigned freed;

/* In place of the C library's: a kernel with pages of 64 KiB, as aarch64 and ppc64 may have, refuses parts of one. */
int madvise(void *start, size_t len, int advice)
{
	if (advice == MADV_REMOVE) {
		ck_assert_uint_eq((uint64_t)((uint8_t *)start - (uint8_t *)writer.shared) % 65536, 0);
		ck_assert_uint_eq(len % 65536, 0);
		freed++;
	}
	return (int)syscall(SYS_madvise, start, len, advice);
}

/* When there are more logs, each gets less memory and gives the rest back. */
START_TEST(test_limit)
{
	enum { LARGE = 4 << 20, LIMIT = 1 << 20 };

	close_log();
	fd = recall_create(LARGE);
	ck_assert_int_eq(recall_open(&writer, fd, true), LT_OK);
	ck_assert_int_eq(recall_open(&reader, fd, false), LT_OK);
	for (uint64_t i = 0; i < 3000; i++)
		add_numbered(i);
	count_kept(2999);
	ck_assert_uint_gt(recall_used(fd), LARGE - LIMIT / 4);
	ck_assert_uint_gt(pages_of(fd), LARGE);
	ck_assert_int_eq(recall_set_limit(fd, LIMIT), LT_OK);
	ck_assert_int_eq(recall_set_limit(-1, LIMIT), LT_ERROR);
	for (uint64_t i = 3000; i < 6000; i++) {
		add_numbered(i);
		ck_assert_uint_le(recall_used(fd), LIMIT);
		ck_assert_uint_le(pages_of(fd), LIMIT + LARGE / 8 + 2 * HEADER);
		if (i % 100 == 0)
			count_kept(i);
	}
	ck_assert_uint_gt(recall_used(fd), LIMIT - 2 * LONGEST);
	ck_assert_uint_gt(freed, 0);
	/* and may grow again */
	ck_assert_int_eq(recall_set_limit(fd, LARGE), LT_OK);
	for (uint64_t i = 6000; i < 9000; i++)
		add_numbered(i);
	count_kept(8999);
	ck_assert_uint_gt(recall_used(fd), LARGE - LIMIT / 4);
}
END_TEST

START_TEST(test_not_a_log)
{
	struct recall r;
	const int other = memfd_create("other", 0);

	ck_assert_int_eq(recall_open(&r, other, false), LT_ERROR);
	ck_assert_int_eq(ftruncate(other, HEADER + SMALL), 0);
	ck_assert_int_eq(recall_open(&r, other, false), LT_ERROR);
	ck_assert_str_eq(error_text(), "the inherited memory is not a log of the latest data");
	ck_assert_uint_eq(recall_used(-1), 0);
	close(other);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		test_latest_are_kept,
		test_what_is_dropped,
		test_too_large,
		test_reader_beside_writer,
		test_hostile,
		test_hostile_positions,
		test_hostile_beside_writer,
		test_read_only,
		test_limit,
		test_not_a_log,
		test_traces,
	};

	return unit_run("recall", open_log, close_log, tests, G_N_ELEMENTS(tests));
}
