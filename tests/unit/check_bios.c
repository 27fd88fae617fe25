/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attribution of disk requests and bytes: model/bios.c through model/block.c, on hand-built events. */
#include "unit.h"

#include "events.h"

enum { VDA = 254 << 20, VDA1 = 254 << 20 | 1, DM = 253 << 20 };
enum { CAT = 7, FIND = 8, KBLOCKD = 30 };
enum { READ = 4, WRITE = 1, DISCARD = 2, SYNC = 32, PREFLUSH = 1 << 10 };

static void begin(struct events *e)
{
	events_init(e);
	model_begin(e->m, 1000);
}

#define RQ(e, t, tid, KIND, on_dev, at, n, flags) \
	EVENT(e, t, 0, tid, BLOCK_##KIND, block_rq, .dev = on_dev, .sector = at, .nr_sector = n, .rwbs = flags)

/* Bytes in sectors, times in ns. */
#define ASSERT_DISK(e, tid, read, written, requests, wait)             \
	do {                                                           \
		const struct thread_row *r = events_thread(e, tid);    \
		ck_assert_uint_eq(r->disk_read_bytes, (read)*512);     \
		ck_assert_uint_eq(r->disk_write_bytes, (written)*512); \
		ck_assert_uint_eq(r->disk_requests, requests);         \
		ck_assert_uint_eq(r->disk_wait_ns, wait);              \
	} while (0)

/* Of the bytes that the thread wrote, in sectors, those that another thread wrote back for it. */
#define ASSERT_WRITTEN_BACK(e, tid, sectors) \
	ck_assert_uint_eq(events_thread(e, tid)->disk_writeback_bytes, (sectors)*512)

static const struct thread_row *other(struct events *e)
{
	ck_assert_uint_ne(e->m->other_thread, NO_ROW);
	return THREAD_ROW(e->m, e->m->other_thread);
}

/* A kworker passes the request to the driver; on completion it is charged to its originator, from the time it asked. */
START_TEST(test_request_is_due_to_who_asked)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, CAT, GETRQ, VDA, 100, 8, READ);
	RQ(&e, 1110, KBLOCKD, INSERT, VDA, 100, 8, READ);
	RQ(&e, 1120, KBLOCKD, ISSUE, VDA, 100, 8, READ);
	ASSERT_DISK(&e, CAT, 0, 0, 0, 0);
	RQ(&e, 1150, 0, COMPLETE, VDA, 100, 8, READ);
	ASSERT_DISK(&e, CAT, 8, 0, 1, 50);
	ASSERT_DISK(&e, KBLOCKD, 0, 0, 0, 0);
	events_release(&e);
}
END_TEST

/* If the getrq was not seen, the thread that inserted it counts, else the one that issued it. */
START_TEST(test_earliest_event_counts)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, CAT, INSERT, VDA, 100, 8, WRITE);
	RQ(&e, 1120, KBLOCKD, ISSUE, VDA, 100, 8, WRITE);
	RQ(&e, 1150, 0, COMPLETE, VDA, 100, 8, WRITE);
	RQ(&e, 1200, FIND, ISSUE, VDA, 100, 8, READ);
	RQ(&e, 1230, 0, COMPLETE, VDA, 100, 8, READ);
	ASSERT_DISK(&e, CAT, 0, 8, 1, 50);
	ASSERT_DISK(&e, FIND, 8, 0, 1, 30);
	events_release(&e);
}
END_TEST

/*
 * Merged at both ends and with another request: each thread gets its own bytes; the first bio is that of the request.
 */
START_TEST(test_merged_bytes_are_their_threads)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, CAT, GETRQ, VDA, 100, 8, READ);
	RQ(&e, 1101, CAT, BACKMERGE, VDA, 108, 16, READ);
	RQ(&e, 1102, FIND, BACKMERGE, VDA, 124, 8, READ);
	RQ(&e, 1103, CAT, INSERT, VDA, 100, 32, READ);
	RQ(&e, 1105, FIND, FRONTMERGE, VDA, 92, 8, READ);
	RQ(&e, 1106, CAT, GETRQ, VDA, 132, 8, READ);
	RQ(&e, 1107, CAT, INSERT, VDA, 132, 8, READ);
	EVENT(&e, 1110, 0, CAT, BLOCK_ELV_MERGE, block_remap, .dev = VDA, .sector = 92, .old_sector = 132);
	RQ(&e, 1120, KBLOCKD, ISSUE, VDA, 92, 48, READ);
	/* completed in parts that end inside a thread's share */
	RQ(&e, 1140, 0, COMPLETE, VDA, 92, 4, READ);
	ASSERT_DISK(&e, FIND, 4, 0, 0, 0);
	RQ(&e, 1150, 0, COMPLETE, VDA, 96, 44, READ);
	ASSERT_DISK(&e, CAT, 32, 0, 0, 0);
	ASSERT_DISK(&e, FIND, 16, 0, 1, 45);
	events_release(&e);
}
END_TEST

/* Only merges were seen: the rest of the request belongs to the thread that inserted it. */
START_TEST(test_merge_into_a_request_not_seen_asked)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, CAT, INSERT, VDA, 96, 16, READ);
	RQ(&e, 1110, FIND, BACKMERGE, VDA, 112, 8, READ);
	RQ(&e, 1120, KBLOCKD, ISSUE, VDA, 96, 24, READ);
	RQ(&e, 1130, 0, COMPLETE, VDA, 96, 24, READ);
	ASSERT_DISK(&e, CAT, 16, 0, 1, 30);
	ASSERT_DISK(&e, FIND, 8, 0, 0, 0);
	events_release(&e);
}
END_TEST

/* Requeued by the driver and issued again: owners stay, and time counts from when it was first queued. */
START_TEST(test_requeue_keeps_owners)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, CAT, GETRQ, VDA, 96, 8, WRITE);
	RQ(&e, 1105, FIND, BACKMERGE, VDA, 104, 8, WRITE);
	RQ(&e, 1110, KBLOCKD, ISSUE, VDA, 96, 16, WRITE);
	RQ(&e, 1120, KBLOCKD, REQUEUE, VDA, 96, 16, WRITE);
	RQ(&e, 1130, KBLOCKD, ISSUE, VDA, 96, 16, WRITE);
	RQ(&e, 1200, 0, COMPLETE, VDA, 96, 16, WRITE);
	ASSERT_DISK(&e, CAT, 0, 8, 1, 100);
	ASSERT_DISK(&e, FIND, 0, 8, 0, 0);
	events_release(&e);
}
END_TEST

/*
 * The originator was not seen or is gone: counted in the row "other", so that sums hold. Discards belong to no thread.
 */
START_TEST(test_nobody_s_bytes)
{
	struct events e;

	begin(&e);
	RQ(&e, 1050, 0, COMPLETE, VDA, 8, 8, READ);
	ck_assert_uint_eq(other(&e)->disk_read_bytes, 8 * 512);
	ck_assert_uint_eq(other(&e)->disk_requests, 1);
	ck_assert_uint_eq(other(&e)->disk_wait_ns, 0);
	RQ(&e, 1100, CAT, GETRQ, VDA, 96, 8, READ);
	RQ(&e, 1110, CAT, ISSUE, VDA, 96, 8, READ);
	EVENT(&e, 1120, 0, CAT, EXIT, task, .tid = CAT);
	EVENT(&e, 1130, 0, FIND, FREE, task, .tid = CAT);
	RQ(&e, 1140, 0, COMPLETE, VDA, 96, 8, READ);
	ck_assert_uint_eq(other(&e)->disk_read_bytes, 16 * 512);
	ck_assert_uint_eq(other(&e)->disk_requests, 2);
	RQ(&e, 1200, FIND, GETRQ, VDA, 96, 8, DISCARD);
	RQ(&e, 1210, FIND, ISSUE, VDA, 96, 8, DISCARD);
	RQ(&e, 1220, 0, COMPLETE, VDA, 96, 8, DISCARD);
	ASSERT_DISK(&e, FIND, 0, 0, 0, 0);
	ck_assert_uint_eq(other(&e)->disk_write_bytes, 0);
	events_release(&e);
}
END_TEST

/* fsync() with nothing left to write: an empty write by the caller. */
START_TEST(test_write_of_nothing)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, CAT, GETRQ, VDA, 0, 0, WRITE | SYNC | PREFLUSH);
	RQ(&e, 1160, 0, COMPLETE, VDA, 0, 0, WRITE | SYNC);
	ASSERT_DISK(&e, CAT, 0, 0, 1, 60);
	events_release(&e);
}
END_TEST

/* A bio names the partition and a sector of the whole disk; a request names the disk. */
START_TEST(test_partition_of_a_bio)
{
	struct events e;

	begin(&e);
	for (unsigned i = 0; i < 2; i++) {
		RQ(&e, 1100 + 100 * i, CAT, GETRQ, VDA1, 2148, 8, READ);
		RQ(&e, 1110 + 100 * i, FIND, GETRQ, VDA, 8, 8, READ);
		RQ(&e, 1120 + 100 * i, KBLOCKD, ISSUE, VDA, 8, 8, READ);
		if (!i)
			RQ(&e, 1125, CAT, GETRQ, VDA1, 2148, 8, READ);
		RQ(&e, 1130 + 100 * i, KBLOCKD, ISSUE, VDA, 2148, 8, READ);
		RQ(&e, 1140 + 100 * i, 0, COMPLETE, VDA, 8, 8, READ);
		RQ(&e, 1150 + 100 * i, 0, COMPLETE, VDA, 2148, 8, READ);
	}
	ASSERT_DISK(&e, CAT, 16, 0, 2, 25 + 50);
	ASSERT_DISK(&e, FIND, 16, 0, 2, 60);
	events_release(&e);
}
END_TEST

/* A thread of a mapped device passes the bio on: it is charged to the user of the upper device. */
START_TEST(test_bio_from_above)
{
	struct events e;

	begin(&e);
	for (unsigned i = 0; i < 2; i++) {
		const int64_t tid = i ? FIND : CAT;
		const uint64_t t = 1100 + 100 * i;

		RQ(&e, t, tid, BIO_QUEUE, DM, 100, 8, WRITE);
		EVENT(&e, t + 10, 0, KBLOCKD, BLOCK_BIO_REMAP, block_remap, .dev = VDA, .sector = 2148, .old_dev = DM,
		      .old_sector = 100);
		RQ(&e, t + 11, KBLOCKD, BIO_QUEUE, VDA, 2148, 8, WRITE);
		RQ(&e, t + 12, KBLOCKD, GETRQ, VDA, 2148, 8, WRITE);
		RQ(&e, t + 20, KBLOCKD, ISSUE, VDA, 2148, 8, WRITE);
		RQ(&e, t + 40, 0, COMPLETE, VDA, 2148, 8, WRITE);
		ASSERT_DISK(&e, tid, 0, 8, 1, 40);
	}
	ASSERT_DISK(&e, KBLOCKD, 0, 0, 0, 0);
	events_release(&e);
}
END_TEST

/* The same for a device on a partition, since Linux 5.12: the bio remains the partition's. */
START_TEST(test_bio_from_above_a_partition)
{
	struct events e;

	begin(&e);
	for (unsigned i = 0; i < 2; i++) {
		const int64_t tid = i ? FIND : CAT;
		const uint64_t t = 1100 + 100 * i;

		RQ(&e, t, tid, BIO_QUEUE, DM, 10, 8, WRITE);
		EVENT(&e, t + 10, 0, KBLOCKD, BLOCK_BIO_REMAP, block_remap, .dev = VDA1, .sector = 100, .old_dev = DM,
		      .old_sector = 10);
		EVENT(&e, t + 11, 0, KBLOCKD, BLOCK_BIO_REMAP, block_remap, .dev = VDA1, .sector = 2148,
		      .old_dev = VDA1, .old_sector = 100);
		RQ(&e, t + 12, KBLOCKD, BIO_QUEUE, VDA1, 2148, 8, WRITE);
		RQ(&e, t + 13, KBLOCKD, GETRQ, VDA1, 2148, 8, WRITE);
		RQ(&e, t + 20, KBLOCKD, ISSUE, VDA, 2148, 8, WRITE);
		RQ(&e, t + 40, 0, COMPLETE, VDA, 2148, 8, WRITE);
		ASSERT_DISK(&e, tid, 0, 8, 1, 40);
	}
	ASSERT_DISK(&e, KBLOCKD, 0, 0, 0, 0);
	events_release(&e);
}
END_TEST

/* Multipath: only the lower disk counts. */
START_TEST(test_stacked_requests_count_once)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, CAT, ISSUE, DM, 8, 8, READ);
	EVENT(&e, 1110, 0, CAT, BLOCK_RQ_REMAP, block_remap, .dev = VDA, .sector = 8, .old_dev = DM, .old_sector = 8);
	RQ(&e, 1120, CAT, ISSUE, VDA, 8, 8, READ);
	RQ(&e, 1130, 0, COMPLETE, VDA, 8, 8, READ);
	RQ(&e, 1140, 0, COMPLETE, DM, 8, 8, READ);
	ASSERT_DISK(&e, CAT, 8, 0, 1, 10);
	events_release(&e);
}
END_TEST

/* A request of impossible length takes no longer than others, and every byte belongs to a thread. */
START_TEST(test_endless_request)
{
	const uint64_t sectors = UINT64_C(1) << 50;
	struct events e;

	begin(&e);
	RQ(&e, 1100, CAT, GETRQ, VDA, 100, 8, READ);
	RQ(&e, 1101, CAT, GETRQ, VDA, 1 << 30, 8, READ);
	RQ(&e, 1110, FIND, ISSUE, VDA, 100, sectors, READ);
	RQ(&e, 1150, 0, COMPLETE, VDA, 100, sectors, READ);
	ASSERT_DISK(&e, CAT, 8, 0, 1, 50);
	ASSERT_DISK(&e, FIND, sectors - 8, 0, 0, 0);
	events_release(&e);
}
END_TEST

/* Bios whose requests never come, and requests of more threads than are told apart, remain within their limits. */
START_TEST(test_bounds)
{
	enum { MANY = 200000, WIDE = 70000 };
	struct events e;
	uint64_t sum = 0;

	begin(&e);
	for (uint64_t i = 0; i < MANY; i++)
		RQ(&e, 1100 + i, CAT, GETRQ, VDA, 1000 + 8 * i, 8, READ);
	RQ(&e, 300000, KBLOCKD, ISSUE, VDA, 1000 + 8 * (MANY - 1), 8, READ);
	RQ(&e, 300001, 0, COMPLETE, VDA, 1000 + 8 * (MANY - 1), 8, READ);
	ASSERT_DISK(&e, CAT, 8, 0, 1, 300001 - 1100 - (MANY - 1));
	for (uint64_t i = 0; i < WIDE; i++)
		RQ(&e, 400000 + i, i % 2 ? CAT : FIND, GETRQ, VDA, 16000000 + 8 * i, 8, WRITE);
	for (uint64_t i = 0; i < 2; i++) {
		RQ(&e, 500000 + i, KBLOCKD, ISSUE, VDA, 16000000 + 4 * WIDE * i, 4 * WIDE, WRITE);
		RQ(&e, 500002 + i, KBLOCKD, ISSUE, VDA, 32000000 + 8 * i, 8, WRITE);
	}
	for (uint64_t i = 0; i < 2; i++)
		RQ(&e, 600000 + i, 0, COMPLETE, VDA, 16000000 + 4 * WIDE * i, 4 * WIDE, WRITE);
	for (int64_t tid = CAT; tid <= FIND; tid++)
		sum += events_thread(&e, tid)->disk_write_bytes;
	sum += events_thread(&e, KBLOCKD)->disk_write_bytes;
	ck_assert_uint_eq(sum, (uint64_t)WIDE * 8 * 512);
	events_release(&e);
}
END_TEST

/* The thread opens that path and calls write(); the call's end is still to come. */
static void begin_to_write_to(struct events *e, uint64_t t, int64_t tid, const char *path)
{
	SYSCALL_ENTRY(e, t, 0, tid, "openat", .path = str(&rec, path));
	SYSCALL_EXIT(e, t + 1, 0, tid, "openat", .ret = 3);
	SYSCALL_ENTRY(e, t + 2, 0, tid, "write", .fd = 3);
}

static void begin_to_write(struct events *e, uint64_t t, int64_t tid)
{
	begin_to_write_to(e, t, tid, "/data/file");
}

/* The thread writes to a file. */
static void write_file(struct events *e, uint64_t t, int64_t tid, uint64_t bytes)
{
	begin_to_write(e, t, tid);
	SYSCALL_EXIT(e, t + 3, 0, tid, "write", .ret = (int64_t)bytes);
}

/* With a thread of that name that writes what others have written. */
static void begin_with_thread(struct events *e, const char comm[16], bool kernel)
{
	uint32_t row;

	begin(e);
	row = thread_of_tid(e->m, KBLOCKD);
	thread_set_comm(e->m, row, comm);
	if (kernel)
		THREAD_ROW(e->m, row)->flags |= THREAD_KERNEL;
}

static void begin_with_flusher(struct events *e)
{
	begin_with_thread(e, "kworker/u4:1\0\0\0", true);
}

static void written_at(struct events *e, uint64_t t, int64_t tid, uint64_t sector, uint64_t n)
{
	RQ(e, t, tid, GETRQ, VDA, sector, n, WRITE);
	RQ(e, t + 1, tid, ISSUE, VDA, sector, n, WRITE);
	RQ(e, t + 5, 0, COMPLETE, VDA, sector, n, WRITE);
}

/* Kernel threads through which all writes of an encrypted disk or an array pass write for others too. */
START_TEST(test_threads_that_write_for_others)
{
	static const struct {
		char comm[16];
		bool kernel, for_others;
	} threads[] = {
		{ "dmcrypt_write/2", true, true }, { "md0_raid5", true, true },       { "md127_raid10", true, true },
		{ "kswapd0", true, true },         { "md0_resync", true, false },     { "mdadm", false, false },
		{ "md0_raid5", false, false },     { "jbd2/vda1-8", true, false },    { "mdX_raid1", true, true },
		{ "md_home_raid1", true, true },   { "md_raid_resync", true, false },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(threads); i++) {
		const uint64_t sectors = threads[i].for_others ? 8 : 0;
		struct events e;

		begin_with_thread(&e, threads[i].comm, threads[i].kernel);
		write_file(&e, 1100, CAT, 4096);
		written_at(&e, 1200, KBLOCKD, 1000, 8);
		ASSERT_DISK(&e, CAT, 0, sectors, 0, 0);
		ASSERT_WRITTEN_BACK(&e, CAT, sectors);
		events_release(&e);
	}
}
END_TEST

/* Writeback by a kworker is charged to the writers of files, in order; the rest, and the requests, are its own. */
START_TEST(test_write_back)
{
	struct events e;

	begin_with_flusher(&e);
	write_file(&e, 1100, CAT, 4096);
	write_file(&e, 1110, FIND, 8192);
	written_at(&e, 1200, KBLOCKD, 800, 16);
	ASSERT_DISK(&e, CAT, 0, 8, 0, 0);
	ASSERT_DISK(&e, FIND, 0, 8, 0, 0);
	written_at(&e, 1300, KBLOCKD, 800, 16);
	ASSERT_DISK(&e, FIND, 0, 16, 0, 0);
	ASSERT_DISK(&e, KBLOCKD, 0, 8, 2, 10);
	ASSERT_WRITTEN_BACK(&e, CAT, 8);
	ASSERT_WRITTEN_BACK(&e, FIND, 16);
	ASSERT_WRITTEN_BACK(&e, KBLOCKD, 0);
	events_release(&e);
}
END_TEST

/* Data written to a block device is in the page cache first, like a file's, unless it goes straight to the disk. */
START_TEST(test_write_back_to_a_device)
{
	struct events e;

	begin_with_flusher(&e);
	begin_to_write_to(&e, 1100, CAT, "/dev/vda");
	SYSCALL_EXIT(&e, 1103, 0, CAT, "write", .ret = 4096);
	written_at(&e, 1200, KBLOCKD, 0, 8);
	ASSERT_WRITTEN_BACK(&e, CAT, 8);
	SYSCALL_ENTRY(&e, 1300, 0, CAT, "write", .fd = 3);
	written_at(&e, 1301, CAT, 8, 8);
	SYSCALL_EXIT(&e, 1310, 0, CAT, "write", .ret = 4096);
	written_at(&e, 1400, KBLOCKD, 16, 8);
	ASSERT_WRITTEN_BACK(&e, CAT, 8);
	ASSERT_DISK(&e, CAT, 0, 16, 1, 5);
	ASSERT_DISK(&e, KBLOCKD, 0, 8, 2, 10);
	events_release(&e);
}
END_TEST

/* Bytes that a thread wrote to the disk itself, with fsync(), or before it ended, are not written back for it. */
START_TEST(test_paid_before_write_back)
{
	struct events e;

	begin_with_flusher(&e);
	write_file(&e, 1100, CAT, 8192);
	written_at(&e, 1150, CAT, 96, 8);
	write_file(&e, 1160, FIND, 4096);
	SYSCALL_ENTRY(&e, 1170, 0, FIND, "fsync", .fd = 3);
	SYSCALL_EXIT(&e, 1171, 0, FIND, "fsync", .ret = 0);
	/* straight to the disk, within the call */
	SYSCALL_ENTRY(&e, 1180, 0, FIND, "write", .fd = 3);
	written_at(&e, 1181, FIND, 960, 8);
	SYSCALL_EXIT(&e, 1190, 0, FIND, "write", .ret = 4096);
	written_at(&e, 1200, KBLOCKD, 800, 24);
	ASSERT_DISK(&e, CAT, 0, 16, 1, 5);
	ASSERT_DISK(&e, FIND, 0, 8, 1, 5);
	ASSERT_DISK(&e, KBLOCKD, 0, 16, 1, 5);
	events_release(&e);
}
END_TEST

static void ends(struct events *e, uint64_t t, int64_t tid)
{
	EVENT(e, t, 0, tid, EXIT, task, .tid = tid);
	EVENT(e, t + 1, 0, KBLOCKD, FREE, task, .tid = tid);
}

/* A thread that has ended is charged like others, also when another has its TID; then its row ends. */
START_TEST(test_write_back_after_the_end)
{
	const uint64_t second = UINT64_C(1000000000);
	struct events e;
	uint32_t row;

	begin_with_flusher(&e);
	write_file(&e, 1100, CAT, 4096);
	row = thread_find(e.m, CAT);
	ends(&e, 1200, CAT);
	ck_assert_uint_eq(thread_find(e.m, CAT), NO_ROW);
	write_file(&e, 1300, CAT, 4096);
	written_at(&e, 1400, KBLOCKD, 800, 24);
	ck_assert_uint_eq(THREAD_ROW(e.m, row)->disk_write_bytes, 8 * 512);
	ck_assert_uint_eq(THREAD_ROW(e.m, row)->disk_writeback_bytes, 8 * 512);
	ck_assert_uint_eq(THREAD_ROW(e.m, row)->exited_ns, 1200);
	ck_assert_uint_eq(THREAD_ROW(e.m, row)->state, THREAD_DEAD);
	ASSERT_DISK(&e, CAT, 0, 8, 0, 0);
	ASSERT_DISK(&e, KBLOCKD, 0, 8, 1, 5);
	ck_assert(!(e.m->state.tables[TABLE_THREAD].flags[row] & ROW_ENDED));
	write_file(&e, 20 * second, FIND, 4096);
	ck_assert(e.m->state.tables[TABLE_THREAD].flags[row] & ROW_ENDED);
	/* without debts it ends at once */
	row = thread_find(e.m, CAT);
	ends(&e, 21 * second, CAT);
	ck_assert(e.m->state.tables[TABLE_THREAD].flags[row] & ROW_ENDED);
	/* and where nothing is written back, after a minute */
	row = thread_find(e.m, FIND);
	ends(&e, 22 * second, FIND);
	write_file(&e, 50 * second, CAT, 4096);
	ck_assert(!(e.m->state.tables[TABLE_THREAD].flags[row] & ROW_ENDED));
	write_file(&e, 83 * second, CAT, 4096);
	ck_assert(e.m->state.tables[TABLE_THREAD].flags[row] & ROW_ENDED);
	events_release(&e);
}
END_TEST

/* The thread makes the inode's pages dirty, in a call. */
static void write_inode(struct events *e, uint64_t t, int64_t tid, uint64_t inode, uint64_t bytes)
{
	begin_to_write_to(e, t, tid, inode == VDA ? "/dev/vda" : "/data/file");
	EVENT(e, t + 3, 0, tid, INODE_DIRTY, inode, .ino = inode, .flags = inode % 2 ? 1 << 2 : 1 << 5,
	      .dev = str(&rec, "254:0")); /* as before and since Linux 6.12 */
	EVENT(e, t + 3, 0, tid, INODE_DIRTY, inode, .ino = 99, .flags = 7, .dev = str(&rec, "254:0"));
	SYSCALL_EXIT(e, t + 4, 0, tid, "write", .ret = (int64_t)bytes);
}

/* Passed on for one inode after another; issued later, all at once. */
START_TEST(test_write_back_by_inode)
{
	static const uint64_t inodes[] = { VDA, 52, 51, 52, 53 };
	struct events e;

	begin_with_flusher(&e);
	e.m->declared[EVENT_INODE_WRITTEN] = e.m->declared[EVENT_INODE_DIRTY] = 1;
	write_inode(&e, 1100, CAT, 51, 8192);
	write_inode(&e, 1110, FIND, 52, 4096);
	write_inode(&e, 1120, CAT, 51, 4096);
	/* dirty already */
	SYSCALL_ENTRY(&e, 1130, 0, CAT, "write", .fd = 3);
	SYSCALL_EXIT(&e, 1131, 0, CAT, "write", .ret = 40960);
	for (uint64_t i = 0; i < 5; i++) {
		RQ(&e, 1200 + 10 * i, KBLOCKD, GETRQ, VDA, 800 + 100 * i, 16, WRITE);
		EVENT(&e, 1205 + 10 * i, 0, KBLOCKD, INODE_WRITTEN, inode, .ino = inodes[i], .dev = str(&rec, "254:0"));
	}
	for (uint64_t i = 0; i < 5; i++)
		RQ(&e, 1300 + i, KBLOCKD, ISSUE, VDA, 800 + 100 * i, 16, WRITE);
	for (uint64_t i = 0; i < 5; i++)
		RQ(&e, 1400 + i, 0, COMPLETE, VDA, 800 + 100 * i, 16, WRITE);
	ASSERT_WRITTEN_BACK(&e, CAT, 16);
	ASSERT_WRITTEN_BACK(&e, FIND, 8);
	ck_assert_uint_eq(events_thread(&e, KBLOCKD)->disk_write_bytes, (80 - 24) * 512);
	/* not told yet: the oldest */
	written_at(&e, 1500, KBLOCKD, 2000, 8);
	ASSERT_WRITTEN_BACK(&e, CAT, 24);
	events_release(&e);
}
END_TEST

/*
 * With a device's inode, data that threads wrote to the device is written back, and not what they wrote to files. The
 * rest is data of the file system.
 */
START_TEST(test_write_back_of_a_device_by_inode)
{
	struct events e;

	begin_with_flusher(&e);
	e.m->declared[EVENT_INODE_WRITTEN] = e.m->declared[EVENT_INODE_DIRTY] = 1;
	write_inode(&e, 1100, FIND, 52, 4096);
	write_inode(&e, 1110, CAT, VDA, 4096);
	RQ(&e, 1200, KBLOCKD, GETRQ, VDA, 0, 16, WRITE);
	EVENT(&e, 1205, 0, KBLOCKD, INODE_WRITTEN, inode, .ino = VDA, .dev = str(&rec, "254:0"));
	RQ(&e, 1210, KBLOCKD, ISSUE, VDA, 0, 16, WRITE);
	RQ(&e, 1220, 0, COMPLETE, VDA, 0, 16, WRITE);
	ASSERT_WRITTEN_BACK(&e, CAT, 8);
	ASSERT_WRITTEN_BACK(&e, FIND, 0);
	ck_assert_uint_eq(events_thread(&e, KBLOCKD)->disk_write_bytes, 8 * 512);
	events_release(&e);
}
END_TEST

/* Data of a file system on a partition: its inode is on the disk and has the partition's number. */
START_TEST(test_write_back_of_a_partition)
{
	const uint64_t part = VDA1, unknown = VDA + 2;
	struct events e;

	begin_with_flusher(&e);
	e.m->declared[EVENT_INODE_WRITTEN] = e.m->declared[EVENT_INODE_DIRTY] = 1;
	EVENT(&e, 1000, 0, 0, DUMP_DISK, dump_disk, .dev = VDA, .name = str(&rec, "vda"));
	EVENT(&e, 1001, 0, 0, DUMP_DISK, dump_disk, .dev = part, .name = str(&rec, "vda1"));
	write_file(&e, 1100, CAT, 65536);
	for (uint64_t i = 0; i < 2; i++) {
		RQ(&e, 1200 + 100 * i, KBLOCKD, GETRQ, VDA, 800 + 100 * i, 16, WRITE);
		EVENT(&e, 1205 + 100 * i, 0, KBLOCKD, INODE_WRITTEN, inode, .ino = i ? unknown : part,
		      .dev = str(&rec, "254:0"));
		RQ(&e, 1210 + 100 * i, KBLOCKD, ISSUE, VDA, 800 + 100 * i, 16, WRITE);
		RQ(&e, 1220 + 100 * i, 0, COMPLETE, VDA, 800 + 100 * i, 16, WRITE);
		ASSERT_WRITTEN_BACK(&e, CAT, i * 16);
		ck_assert_uint_eq(events_thread(&e, KBLOCKD)->disk_write_bytes, 16 * 512);
	}
	events_release(&e);
}
END_TEST

/* A tracepoint that the tracer knows and the kernel no longer has. */
START_TEST(test_page_events_never_come)
{
	struct events e;

	begin_with_flusher(&e);
	e.m->declared[EVENT_PAGE_DIRTY] = 1;
	write_file(&e, 1100, CAT, 4096);
	written_at(&e, 1200, KBLOCKD, 800, 8);
	ASSERT_DISK(&e, CAT, 0, 8, 0, 0);
	events_release(&e);
}
END_TEST

/* No more rows are kept than there are debts. */
START_TEST(test_many_ended_writers)
{
	struct events e;

	begin_with_flusher(&e);
	for (int64_t i = 0; i < 3 * DEBTS_MAX; i++) {
		write_file(&e, 1100 + 10 * (uint64_t)i, 1000 + i, 4096);
		ends(&e, 1105 + 10 * (uint64_t)i, 1000 + i);
	}
	ck_assert_uint_eq(e.m->dirty.n_kept, DEBTS_MAX);
	written_at(&e, 90000, KBLOCKD, 800, 8 * DEBTS_MAX);
	ASSERT_DISK(&e, KBLOCKD, 0, 0, 1, 5);
	events_release(&e);
}
END_TEST

/* Calls that write less than a page each dirty a page once. */
START_TEST(test_dirty_in_pages)
{
	struct events e;

	begin_with_flusher(&e);
	write_file(&e, 1100, CAT, 100);
	for (uint64_t t = 1200; t < 1240; t += 2) {
		SYSCALL_ENTRY(&e, t, 0, CAT, "write", .fd = 3);
		SYSCALL_EXIT(&e, t + 1, 0, CAT, "write", .ret = 200);
	}
	written_at(&e, 1300, KBLOCKD, 800, 24);
	ASSERT_DISK(&e, CAT, 0, 16, 0, 0);
	events_release(&e);
}
END_TEST

/* If pages show which thread dirtied them, calls do not count; debts are bounded and expire. */
START_TEST(test_dirty_pages)
{
	struct events e;

	begin_with_flusher(&e);
	EVENT(&e, 1100, 0, CAT, PAGE_DIRTY, inode, .ino = 7);
	write_file(&e, 1110, FIND, 4096);
	written_at(&e, 1200, KBLOCKD, 800, 16);
	ASSERT_DISK(&e, CAT, 0, 8, 0, 0);
	ASSERT_DISK(&e, KBLOCKD, 0, 8, 1, 5);
	for (uint64_t i = 0; i < 4000; i++)
		EVENT(&e, 2000 + i, 0, i % 2 ? CAT : FIND, PAGE_DIRTY, inode, .ino = 7);
	written_at(&e, 7000, KBLOCKD, 8000, 8 * 4000);
	ASSERT_DISK(&e, CAT, 0, 8 + 8 * DEBTS_MAX / 2, 0, 0);
	ASSERT_DISK(&e, FIND, 0, 8 * DEBTS_MAX / 2, 0, 0);
	EVENT(&e, 8000, 0, CAT, PAGE_DIRTY, inode, .ino = 7);
	written_at(&e, 70000000000, KBLOCKD, 800, 8);
	ASSERT_DISK(&e, CAT, 0, 8 + 8 * DEBTS_MAX / 2, 0, 0);
	events_release(&e);
}
END_TEST

UNIT_MAIN("bios", test_write_back_by_inode, test_write_back_of_a_partition, test_write_back_to_a_device,
	  test_write_back_of_a_device_by_inode, test_page_events_never_come, test_write_back,
	  test_threads_that_write_for_others, test_write_back_after_the_end, test_many_ended_writers,
	  test_dirty_in_pages, test_paid_before_write_back, test_dirty_pages, test_request_is_due_to_who_asked,
	  test_earliest_event_counts, test_merged_bytes_are_their_threads, test_merge_into_a_request_not_seen_asked,
	  test_requeue_keeps_owners, test_nobody_s_bytes, test_write_of_nothing, test_partition_of_a_bio,
	  test_bio_from_above, test_bio_from_above_a_partition, test_stacked_requests_count_once, test_endless_request,
	  test_bounds)
