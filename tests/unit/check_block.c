/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Block devices: model/block.c, disks.c and requests.c on hand-built events. */
#include "unit.h"

#include "events.h"

enum { BEGIN = 1000, UNINTERRUPTIBLE = 2 };
enum { VDA = 254 << 20, VDB = 254 << 20 | 16, VDA1 = 254 << 20 | 1 };
enum { READ = 4, WRITE = 1, SYNC = 32, DISCARD = 2, META = 64, FLUSH = 1 << 8 | 1 << 10 };

static void begin(struct events *e)
{
	events_init(e);
	model_begin(e->m, BEGIN);
}

static const struct disk_row *disk_find(struct events *e, uint64_t dev)
{
	const struct state_table *t = &e->m->state.tables[TABLE_DISK];

	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;)
		if (STATE_ROW(&e->m->state, DISK, disk, row)->dev == dev)
			return STATE_ROW(&e->m->state, DISK, disk, row);
	return NULL;
}

static const struct disk_row *disk(struct events *e, uint64_t dev)
{
	const struct disk_row *r = disk_find(e, dev);

	ck_assert_msg(r != NULL, "no disk %#x", (unsigned)dev);
	return r;
}

#define RQ(e, t, KIND, on_dev, at, n, flags) \
	EVENT(e, t, 0, 7, BLOCK_##KIND, block_rq, .dev = on_dev, .sector = at, .nr_sector = n, .rwbs = flags)
#define ASSERT_QUEUES(e, dev, waits, driver)                     \
	do {                                                     \
		ck_assert_uint_eq(disk(e, dev)->waiting, waits); \
		ck_assert_uint_eq(disk(e, dev)->queue, driver);  \
	} while (0)

START_TEST(test_request_goes_through_both_queues)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, INSERT, VDA, 444, 8, WRITE);
	ASSERT_QUEUES(&e, VDA, 1, 0);
	RQ(&e, 1200, ISSUE, VDA, 444, 8, WRITE);
	ASSERT_QUEUES(&e, VDA, 0, 1);
	ck_assert_uint_eq(disk(&e, VDA)->write_bytes, 0);
	RQ(&e, 1250, COMPLETE, VDA, 444, 8, WRITE);
	ASSERT_QUEUES(&e, VDA, 0, 0);
	ck_assert_uint_eq(disk(&e, VDA)->write_bytes, 8 * 512);
	ck_assert_uint_eq(disk(&e, VDA)->read_bytes, 0);
	ck_assert_uint_eq(disk(&e, VDA)->writes, 1);
	ck_assert_uint_eq(disk(&e, VDA)->reads, 0);
	ck_assert_uint_eq(disk(&e, VDA)->latency.count, 1);
	ck_assert_uint_eq(disk(&e, VDA)->latency.sum, 50);
	ck_assert_uint_eq(HOST_ROW(e.m)->disk_write_bytes, 8 * 512);
	ck_assert_uint_eq(HOST_ROW(e.m)->disk_read_bytes, 0);
	events_release(&e);
}
END_TEST

/* Issued straight to the driver; devices and sectors are kept apart; the highest queue length is kept. */
START_TEST(test_direct_issue_and_queue_max)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, ISSUE, VDA, 8, 8, READ);
	RQ(&e, 1110, ISSUE, VDA, 16, 8, READ | META);
	RQ(&e, 1120, ISSUE, VDB, 8, 8, READ);
	ASSERT_QUEUES(&e, VDA, 0, 2);
	ASSERT_QUEUES(&e, VDB, 0, 1);
	RQ(&e, 1130, COMPLETE, VDA, 8, 8, READ);
	RQ(&e, 1140, COMPLETE, VDA, 16, 8, READ | META);
	ASSERT_QUEUES(&e, VDA, 0, 0);
	ck_assert_uint_eq(disk(&e, VDA)->queue_max, 2);
	ck_assert_uint_eq(disk(&e, VDB)->queue_max, 1);
	ck_assert_uint_eq(disk(&e, VDA)->reads, 2);
	ck_assert_uint_eq(disk(&e, VDA)->latency.max, 30);
	ck_assert_uint_eq(disk(&e, VDA)->latency.max_at, 1140);
	ck_assert_uint_eq(disk(&e, VDB)->reads, 0);
	/* if the queue only shrinks in an interval, its maximum is the length at the start */
	RQ(&e, 1150, ISSUE, VDA, 8, 8, READ);
	state_extremes_clear(model_state(e.m));
	RQ(&e, 1160, COMPLETE, VDA, 8, 8, READ);
	ck_assert_uint_eq(disk(&e, VDA)->queue_max, 1);
	events_release(&e);
}
END_TEST

/* A request that completes in parts: bytes count at each part, the request and its latency at the last. */
START_TEST(test_completion_in_parts)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, ISSUE, VDA, 100, 24, READ);
	RQ(&e, 1110, COMPLETE, VDA, 100, 8, READ);
	ck_assert_uint_eq(disk(&e, VDA)->read_bytes, 8 * 512);
	ck_assert_uint_eq(disk(&e, VDA)->reads, 0);
	ASSERT_QUEUES(&e, VDA, 0, 1);
	RQ(&e, 1120, COMPLETE, VDA, 108, 16, READ);
	ck_assert_uint_eq(disk(&e, VDA)->read_bytes, 24 * 512);
	ck_assert_uint_eq(disk(&e, VDA)->reads, 1);
	ck_assert_uint_eq(disk(&e, VDA)->latency.count, 1);
	ck_assert_uint_eq(disk(&e, VDA)->latency.sum, 20);
	ASSERT_QUEUES(&e, VDA, 0, 0);
	events_release(&e);
}
END_TEST

/* The rest of a request starts where another starts whose end was not seen: only one remains. */
START_TEST(test_part_meets_stale_request)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, ISSUE, VDA, 108, 8, READ);
	RQ(&e, 1110, ISSUE, VDA, 100, 16, READ);
	RQ(&e, 1120, COMPLETE, VDA, 100, 8, READ);
	ASSERT_QUEUES(&e, VDA, 0, 1);
	RQ(&e, 1130, COMPLETE, VDA, 108, 8, READ);
	ASSERT_QUEUES(&e, VDA, 0, 0);
	ck_assert_uint_eq(disk(&e, VDA)->latency.sum, 20);
	events_release(&e);
}
END_TEST

/* Sizes from a damaged trace: the rest of a request seems to start where it did, as keys have 48 bits of the sector. */
START_TEST(test_part_of_absurd_size)
{
	const uint64_t part = UINT64_C(1) << 48;
	struct events e;

	begin(&e);
	RQ(&e, 1100, ISSUE, VDA, 100, 2 * part, READ);
	RQ(&e, 1110, COMPLETE, VDA, 100, part, READ);
	ASSERT_QUEUES(&e, VDA, 0, 1);
	RQ(&e, 1120, ISSUE, VDA, 200, 8, READ);
	RQ(&e, 1130, ISSUE, VDA, 300, 8, READ);
	ASSERT_QUEUES(&e, VDA, 0, 3);
	RQ(&e, 1140, COMPLETE, VDA, 200, 8, READ);
	ck_assert_uint_eq(disk(&e, VDA)->latency.sum, 20);
	RQ(&e, 1150, COMPLETE, VDA, 300, 8, READ);
	ck_assert_uint_eq(disk(&e, VDA)->latency.sum, 40);
	ASSERT_QUEUES(&e, VDA, 0, 1);
	events_release(&e);
}
END_TEST

START_TEST(test_completion_without_issue)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, COMPLETE, VDA, 333, 16, READ);
	ASSERT_QUEUES(&e, VDA, 0, 0);
	ck_assert_uint_eq(disk(&e, VDA)->reads, 1);
	ck_assert_uint_eq(disk(&e, VDA)->read_bytes, 16 * 512);
	ck_assert_uint_eq(disk(&e, VDA)->latency.count, 0);
	/* a waiting request stays: its issue may still come */
	RQ(&e, 1110, INSERT, VDA, 333, 8, WRITE);
	RQ(&e, 1120, COMPLETE, VDA, 333, 8, WRITE);
	ASSERT_QUEUES(&e, VDA, 1, 0);
	ck_assert_uint_eq(disk(&e, VDA)->writes, 1);
	events_release(&e);
}
END_TEST

/* A flush: in the driver's queue, but neither a read nor a write. */
START_TEST(test_flush)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, ISSUE, VDA, 0, 0, FLUSH);
	ASSERT_QUEUES(&e, VDA, 0, 1);
	RQ(&e, 1110, COMPLETE, VDA, UINT64_MAX, 0, FLUSH);
	ASSERT_QUEUES(&e, VDA, 0, 0);
	ck_assert_uint_eq(disk(&e, VDA)->writes, 0);
	ck_assert_uint_eq(disk(&e, VDA)->latency.count, 0);
	events_release(&e);
}
END_TEST

/* As in diskstats: an empty write counts, the second completion of a forced-unit-access write does not. */
START_TEST(test_writes_of_nothing)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, COMPLETE, VDA, 0, 0, WRITE | SYNC);
	ck_assert_uint_eq(disk(&e, VDA)->writes, 1);
	RQ(&e, 1200, ISSUE, VDA, 80, 8, WRITE | SYNC | META);
	RQ(&e, 1210, COMPLETE, VDA, 80, 8, WRITE | SYNC | META);
	RQ(&e, 1230, COMPLETE, VDA, 80, 0, WRITE | SYNC | META);
	ck_assert_uint_eq(disk(&e, VDA)->writes, 2);
	ck_assert_uint_eq(disk(&e, VDA)->write_bytes, 8 * 512);
	/* nor does it complete a new write to the same place */
	RQ(&e, 1300, ISSUE, VDA, 80, 8, WRITE);
	RQ(&e, 1310, COMPLETE, VDA, 80, 0, WRITE | SYNC | META);
	ASSERT_QUEUES(&e, VDA, 0, 1);
	RQ(&e, 1320, COMPLETE, VDA, 80, 8, WRITE);
	ASSERT_QUEUES(&e, VDA, 0, 0);
	ck_assert_uint_eq(disk(&e, VDA)->latency.max, 20);
	events_release(&e);
}
END_TEST

/* A request that failed without transferring data has ended, too. */
START_TEST(test_failed_request)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, ISSUE, VDA, 80, 8, READ);
	EVENT(&e, 1150, 0, 7, BLOCK_COMPLETE, block_rq, .dev = VDA, .sector = 80, .rwbs = READ, .error = -5);
	ASSERT_QUEUES(&e, VDA, 0, 0);
	ck_assert_uint_eq(disk(&e, VDA)->reads, 1);
	ck_assert_uint_eq(disk(&e, VDA)->read_bytes, 0);
	events_release(&e);
}
END_TEST

#define FAIL(e, t, at, n, flags)                                                                             \
	EVENT(e, t, 0, 7, BLOCK_COMPLETE, block_rq, .dev = VDA, .sector = at, .nr_sector = n, .rwbs = flags, \
	      .error = -5)

/* Errors count for the disk and the partition; that a program's own command failed (no flags) is not one. */
START_TEST(test_errors)
{
	struct events e;

	begin(&e);
	EVENT(&e, 1100, 0, 7, BLOCK_BIO_REMAP, block_remap, .dev = VDA, .sector = 2148, .old_dev = VDA1,
	      .old_sector = 100);
	RQ(&e, 1110, ISSUE, VDA, 2148, 8, READ);
	FAIL(&e, 1150, 2148, 8, READ);
	ck_assert_uint_eq(disk(&e, VDA)->errors, 1);
	ck_assert_uint_eq(disk(&e, VDA1)->errors, 1);
	FAIL(&e, 1200, 0, 0, 0);
	RQ(&e, 1210, ISSUE, VDA, 80, 8, WRITE);
	RQ(&e, 1220, COMPLETE, VDA, 80, 8, WRITE);
	ck_assert_uint_eq(disk(&e, VDA)->errors, 1);
	FAIL(&e, 1300, 88, 8, DISCARD | WRITE);
	FAIL(&e, 1310, UINT64_MAX, 0, WRITE | FLUSH);
	ck_assert_uint_eq(disk(&e, VDA)->errors, 3);
	ck_assert_uint_eq(disk(&e, VDA1)->errors, 1);
	events_release(&e);
}
END_TEST

START_TEST(test_discard_is_no_write)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, ISSUE, VDA, 80, 8, DISCARD | WRITE);
	ASSERT_QUEUES(&e, VDA, 0, 1);
	RQ(&e, 1150, COMPLETE, VDA, 80, 8, DISCARD | WRITE);
	ASSERT_QUEUES(&e, VDA, 0, 0);
	ck_assert_uint_eq(disk(&e, VDA)->writes, 0);
	ck_assert_uint_eq(disk(&e, VDA)->write_bytes, 0);
	ck_assert_uint_eq(HOST_ROW(e.m)->disk_write_bytes, 0);
	events_release(&e);
}
END_TEST

/* A passthrough command has bytes, but no sectors and no direction; a request may have its size in bytes only. */
START_TEST(test_size_in_bytes)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, ISSUE, VDA, 5, 0, 0);
	RQ(&e, 1110, COMPLETE, VDA, 5, 0, 0);
	ASSERT_QUEUES(&e, VDA, 0, 0);
	ck_assert_uint_eq(disk(&e, VDA)->reads + disk(&e, VDA)->writes, 0);
	EVENT(&e, 1200, 0, 7, BLOCK_ISSUE, block_rq, .dev = VDA, .sector = 80, .bytes = 8192, .rwbs = READ);
	RQ(&e, 1210, COMPLETE, VDA, 80, 8, READ);
	ASSERT_QUEUES(&e, VDA, 0, 1);
	RQ(&e, 1220, COMPLETE, VDA, 88, 8, READ);
	ASSERT_QUEUES(&e, VDA, 0, 0);
	ck_assert_uint_eq(disk(&e, VDA)->latency.sum, 20);
	events_release(&e);
}
END_TEST

/* Issued again: the latency counts from the last issue. */
START_TEST(test_requeue_and_abort)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, ISSUE, VDA, 80, 8, READ);
	RQ(&e, 1150, REQUEUE, VDA, 80, 8, READ);
	ASSERT_QUEUES(&e, VDA, 1, 0);
	RQ(&e, 1160, INSERT, VDA, 80, 8, READ);
	ASSERT_QUEUES(&e, VDA, 1, 0);
	RQ(&e, 1200, ISSUE, VDA, 80, 8, READ);
	RQ(&e, 1210, COMPLETE, VDA, 80, 8, READ);
	ASSERT_QUEUES(&e, VDA, 0, 0);
	ck_assert_uint_eq(disk(&e, VDA)->latency.sum, 10);
	RQ(&e, 1300, ISSUE, VDA, 80, 8, READ);
	RQ(&e, 1310, INSERT, VDA, 96, 8, READ);
	RQ(&e, 1320, ABORT, VDA, 80, 8, READ);
	ASSERT_QUEUES(&e, VDA, 1, 0);
	RQ(&e, 1330, ABORT, VDA, 96, 8, READ);
	ASSERT_QUEUES(&e, VDA, 0, 0);
	ck_assert_uint_eq(disk(&e, VDA)->reads, 1);
	ck_assert_uint_eq(disk(&e, VDA)->read_bytes, 8 * 512);
	events_release(&e);
}
END_TEST

/* A second issue of a request in the driver's queue is the same request. */
START_TEST(test_issue_twice)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, ISSUE, VDA, 80, 8, READ);
	RQ(&e, 1200, ISSUE, VDA, 80, 8, READ);
	ASSERT_QUEUES(&e, VDA, 0, 1);
	RQ(&e, 1250, COMPLETE, VDA, 80, 8, READ);
	ck_assert_uint_eq(disk(&e, VDA)->latency.sum, 50);
	events_release(&e);
}
END_TEST

START_TEST(test_front_and_back_merge)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, INSERT, VDA, 444, 8, WRITE);
	RQ(&e, 1110, FRONTMERGE, VDA, 436, 8, WRITE);
	RQ(&e, 1120, BACKMERGE, VDA, 452, 8, WRITE);
	ASSERT_QUEUES(&e, VDA, 1, 0);
	RQ(&e, 1130, ISSUE, VDA, 436, 24, WRITE);
	ASSERT_QUEUES(&e, VDA, 0, 1);
	RQ(&e, 1140, COMPLETE, VDA, 436, 24, WRITE);
	ASSERT_QUEUES(&e, VDA, 0, 0);
	/* a merge shows that a request waits, even if its insertion was not seen */
	RQ(&e, 1200, FRONTMERGE, VDA, 36, 8, WRITE);
	ASSERT_QUEUES(&e, VDA, 1, 0);
	events_release(&e);
}
END_TEST

START_TEST(test_two_requests_merge)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, INSERT, VDA, 100, 8, READ);
	RQ(&e, 1110, INSERT, VDA, 108, 8, READ);
	RQ(&e, 1120, INSERT, VDA, 116, 8, READ);
	EVENT(&e, 1130, 0, 7, BLOCK_ELV_MERGE, block_remap, .dev = VDA, .sector = 108, .old_sector = 116);
	ASSERT_QUEUES(&e, VDA, 2, 0);
	RQ(&e, 1140, MERGE, VDA, 108, 16, READ);
	ASSERT_QUEUES(&e, VDA, 1, 0);
	RQ(&e, 1150, ISSUE, VDA, 100, 24, READ);
	ASSERT_QUEUES(&e, VDA, 0, 1);
	/* neither insertion was seen: one request waits */
	EVENT(&e, 1160, 0, 7, BLOCK_ELV_MERGE, block_remap, .dev = VDA, .sector = 8, .old_sector = 16);
	ASSERT_QUEUES(&e, VDA, 1, 1);
	events_release(&e);
}
END_TEST

/* A partition's bio becomes a request of the disk and of the partition; the host's bytes count once. */
START_TEST(test_remap_to_the_disk_below)
{
	struct events e;

	begin(&e);
	EVENT(&e, 1100, 0, 7, BLOCK_BIO_REMAP, block_remap, .dev = VDA, .sector = 2148, .old_dev = VDA1,
	      .old_sector = 100);
	RQ(&e, 1110, ISSUE, VDA, 2148, 16, READ);
	RQ(&e, 1120, COMPLETE, VDA, 2148, 8, READ);
	RQ(&e, 1130, COMPLETE, VDA, 2156, 8, READ);
	for (int i = 0; i < 2; i++) {
		const struct disk_row *r = disk(&e, i ? VDA1 : VDA);

		ck_assert_uint_eq(r->reads, 1);
		ck_assert_uint_eq(r->read_bytes, 16 * 512);
		ck_assert_uint_eq(r->latency.sum, 20);
	}
	ck_assert_uint_eq(HOST_ROW(e.m)->disk_read_bytes, 16 * 512);
	/* used up: the same sector again, but not from that partition */
	RQ(&e, 1210, ISSUE, VDA, 2148, 8, READ);
	RQ(&e, 1220, COMPLETE, VDA, 2148, 8, READ);
	ck_assert_uint_eq(disk(&e, VDA1)->reads, 1);
	events_release(&e);
}
END_TEST

/* A mapped device on a partition on a disk; the bio is split on the way. */
START_TEST(test_remap_chain_and_split)
{
	enum { DM = 253 << 20 };
	struct events e;

	begin(&e);
	EVENT(&e, 1100, 0, 7, BLOCK_BIO_REMAP, block_remap, .dev = VDA1, .sector = 100, .old_dev = DM);
	EVENT(&e, 1110, 0, 7, BLOCK_BIO_REMAP, block_remap, .dev = VDA, .sector = 2148, .old_dev = VDA1,
	      .old_sector = 100);
	EVENT(&e, 1120, 0, 7, BLOCK_SPLIT, block_remap, .dev = VDA, .sector = 2148, .old_sector = 2156);
	RQ(&e, 1130, ISSUE, VDA, 2156, 8, WRITE);
	RQ(&e, 1140, COMPLETE, VDA, 2156, 8, WRITE);
	ck_assert_uint_eq(disk(&e, VDA1)->write_bytes, 8 * 512);
	RQ(&e, 1150, ISSUE, VDA, 2148, 8, WRITE);
	RQ(&e, 1160, COMPLETE, VDA, 2148, 8, WRITE);
	ck_assert_uint_eq(disk(&e, VDA1)->write_bytes, 16 * 512);
	ck_assert_uint_ne(disk(&e, DM)->write_bytes, 0);
	ck_assert_uint_eq(HOST_ROW(e.m)->disk_write_bytes, 16 * 512);
	events_release(&e);
}
END_TEST

/* The same since Linux 5.12: events of bios name the partition; its first request shows the disk. */
START_TEST(test_remap_within_a_partition)
{
	enum { DM = 253 << 20, VDA2 = 254 << 20 | 2 };
	struct events e;
	uint64_t t, at;

	begin(&e);
	for (unsigned i = 0; i < 3; i++) {
		t = 1100 + 100 * i;
		at = 2148 + 100 * i;
		EVENT(&e, t, 0, 7, BLOCK_BIO_REMAP, block_remap, .dev = VDA1, .sector = at - 2048, .old_dev = DM,
		      .old_sector = at - 2148);
		EVENT(&e, t + 1, 0, 7, BLOCK_BIO_REMAP, block_remap, .dev = VDA1, .sector = at, .old_dev = VDA1,
		      .old_sector = at - 2048);
		if (i == 2)
			EVENT(&e, t + 2, 0, 7, BLOCK_SPLIT, block_remap, .dev = VDA1, .sector = at,
			      .old_sector = at + 8);
		RQ(&e, t + 3, GETRQ, VDA1, at, 8, WRITE);
		RQ(&e, t + 10, ISSUE, VDA, at, 8, WRITE);
		RQ(&e, t + 30, COMPLETE, VDA, at, 8, WRITE);
		ck_assert_uint_eq(disk(&e, VDA)->writes, i + 1);
		ck_assert_uint_eq(disk(&e, VDA1)->writes, i + 1);
		ck_assert_uint_eq(disk(&e, DM)->writes, i + 1);
	}
	RQ(&e, 1400, ISSUE, VDA, at + 8, 8, WRITE);
	RQ(&e, 1410, COMPLETE, VDA, at + 8, 8, WRITE);
	for (unsigned i = 0; i < 2; i++) {
		const struct disk_row *r = disk(&e, i ? VDA1 : VDA);

		ck_assert_uint_eq(r->writes, 4);
		ck_assert_uint_eq(r->write_bytes, 4 * 8 * 512);
		ck_assert_uint_eq(r->latency.sum, 3 * 20 + 10);
	}
	ck_assert_uint_eq(HOST_ROW(e.m)->disk_write_bytes, 4 * 8 * 512);
	/* without a device above the partition */
	EVENT(&e, 1500, 0, 7, BLOCK_BIO_REMAP, block_remap, .dev = VDA2, .sector = 9000, .old_dev = VDA2,
	      .old_sector = 8);
	RQ(&e, 1501, GETRQ, VDA2, 9000, 8, READ);
	RQ(&e, 1510, INSERT, VDA, 9000, 8, READ);
	RQ(&e, 1520, ISSUE, VDA, 9000, 8, READ);
	RQ(&e, 1530, COMPLETE, VDA, 9000, 8, READ);
	ck_assert_uint_eq(disk(&e, VDA2)->reads, 1);
	ck_assert_uint_eq(disk(&e, VDA2)->read_queue.sum, 10);
	ck_assert_uint_eq(disk(&e, VDA1)->reads, 0);
	events_release(&e);
}
END_TEST

/* Whole requests of a multipath device: each device counts its own; the host's bytes are those of the lower one. */
START_TEST(test_request_remap)
{
	enum { DM = 253 << 20 };
	struct events e;

	begin(&e);
	RQ(&e, 1100, ISSUE, DM, 8, 8, READ);
	EVENT(&e, 1110, 0, 7, BLOCK_RQ_REMAP, block_remap, .dev = VDA, .sector = 8, .old_dev = DM, .old_sector = 8);
	RQ(&e, 1120, ISSUE, VDA, 8, 8, READ);
	RQ(&e, 1130, COMPLETE, VDA, 8, 8, READ);
	RQ(&e, 1140, COMPLETE, DM, 8, 8, READ);
	ck_assert_uint_eq(disk(&e, DM)->read_bytes, 8 * 512);
	ck_assert_uint_eq(disk(&e, DM)->reads, 1);
	ck_assert_uint_eq(disk(&e, VDA)->read_bytes, 8 * 512);
	ck_assert_uint_eq(HOST_ROW(e.m)->disk_read_bytes, 8 * 512);
	events_release(&e);
}
END_TEST

/* An image file on a disk: each device counts its own requests, the host those of the disk. */
START_TEST(test_loop_device)
{
	enum { LOOP = 7 << 20 };
	struct events e;

	begin(&e);
	RQ(&e, 1100, ISSUE, LOOP, 8, 8, READ);
	RQ(&e, 1110, ISSUE, VDA, 2000, 8, READ);
	RQ(&e, 1120, COMPLETE, VDA, 2000, 8, READ);
	RQ(&e, 1130, COMPLETE, LOOP, 8, 8, READ);
	RQ(&e, 1200, ISSUE, LOOP, 16, 8, WRITE);
	RQ(&e, 1210, COMPLETE, LOOP, 16, 8, WRITE);
	ck_assert_uint_eq(disk(&e, LOOP)->read_bytes, 8 * 512);
	ck_assert_uint_eq(disk(&e, LOOP)->write_bytes, 8 * 512);
	ck_assert_uint_eq(disk(&e, VDA)->read_bytes, 8 * 512);
	ck_assert_uint_eq(HOST_ROW(e.m)->disk_read_bytes, 8 * 512);
	ck_assert_uint_eq(HOST_ROW(e.m)->disk_write_bytes, 0);
	events_release(&e);
}
END_TEST

/* I/O pressure on the host until t. */
static uint64_t waited_for_disk(struct events *e, uint64_t t)
{
	const struct state_table *table = &e->m->state.tables[TABLE_PRESSURE];
	const uint32_t row = state_next(table, STATE_NO_ROW);

	return row == STATE_NO_ROW ? 0
				   : EVENTS_VALUE(PRESSURE, pressure, STATE_ROW(&e->m->state, PRESSURE, pressure, row),
						  io_some_ns, t);
}

/* Requests queued before a loss may have left since: the queues start empty. */
START_TEST(test_loss_empties_the_queues)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, ISSUE, VDA, 8, 8, READ);
	RQ(&e, 1110, INSERT, VDA, 80, 8, READ);
	events_lose(&e, 1200, 5, 1190);
	RQ(&e, 1300, ISSUE, VDA, 16, 8, READ);
	ASSERT_QUEUES(&e, VDA, 0, 1);
	RQ(&e, 1310, COMPLETE, VDA, 8, 8, READ);
	ASSERT_QUEUES(&e, VDA, 0, 1);
	ck_assert_uint_eq(disk(&e, VDA)->reads, 1);
	ck_assert_uint_eq(disk(&e, VDA)->latency.count, 0);
	events_release(&e);
}
END_TEST

/* Requests after a loss are kept apart, although some before it were over and their memory was free. */
START_TEST(test_requests_after_a_loss)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, ISSUE, VDA, 8, 8, READ);
	RQ(&e, 1110, COMPLETE, VDA, 8, 8, READ);
	events_lose(&e, 1200, 5, 1190);
	RQ(&e, 1300, ISSUE, VDB, 8, 8, READ);
	RQ(&e, 1400, ISSUE, VDB, 16, 8, READ);
	RQ(&e, 1500, COMPLETE, VDB, 8, 8, READ);
	RQ(&e, 1510, COMPLETE, VDB, 16, 8, READ);
	ck_assert_uint_eq(disk(&e, VDB)->latency.count, 2);
	ck_assert_uint_eq(disk(&e, VDB)->latency.sum, 200 + 110);
	events_release(&e);
}
END_TEST

/* Nor is a request the one that was remapped before the loss to where it is: that may be over. */
START_TEST(test_remap_before_a_loss)
{
	struct events e;

	begin(&e);
	EVENT(&e, 1100, 0, 7, BLOCK_BIO_REMAP, block_remap, .dev = VDA, .sector = 2056, .old_dev = VDA1,
	      .old_sector = 8);
	RQ(&e, 1110, ISSUE, VDA, 2056, 8, READ);
	RQ(&e, 1120, COMPLETE, VDA, 2056, 8, READ);
	ck_assert_uint_eq(disk(&e, VDA1)->reads, 1);
	EVENT(&e, 1130, 0, 7, BLOCK_BIO_REMAP, block_remap, .dev = VDA, .sector = 2056, .old_dev = VDA1,
	      .old_sector = 8);
	events_lose(&e, 1200, 5, 1190);
	RQ(&e, 1300, ISSUE, VDA, 2056, 8, READ);
	RQ(&e, 1310, COMPLETE, VDA, 2056, 8, READ);
	ck_assert_uint_eq(disk(&e, VDA)->reads, 2);
	ck_assert_uint_eq(disk(&e, VDA1)->reads, 1);
	events_release(&e);
}
END_TEST

/* Nor do threads wait for them any more, which would be I/O pressure. */
START_TEST(test_loss_ends_the_wait_for_requests)
{
	struct events e;

	begin(&e);
	events_switch(&e, 1090, 0, 0, 0, 7, "seven");
	RQ(&e, 1100, ISSUE, VDA, 8, 8, READ);
	RQ(&e, 1110, INSERT, VDA, 80, 8, READ);
	ck_assert_uint_eq(waited_for_disk(&e, 1200), 0);
	events_lose(&e, 1200, 5, 1190);
	RQ(&e, 1300, INSERT, VDB, 16, 8, READ);
	RQ(&e, 1310, COMPLETE, VDB, 16, 8, READ);
	RQ(&e, 1320, ISSUE, VDB, 16, 8, READ);
	RQ(&e, 1330, COMPLETE, VDB, 16, 8, READ);
	events_switch(&e, 1400, 0, 7, UNINTERRUPTIBLE, 0, "swapper/0");
	ck_assert_uint_eq(waited_for_disk(&e, 1500), 0);
	EVENT(&e, 1600, 0, 0, SCHED_WAKING, wakeup, .tid = 7);
	events_switch(&e, 1610, 0, 0, 0, 7, "seven");
	RQ(&e, 1620, ISSUE, VDA, 8, 8, READ);
	events_switch(&e, 1700, 0, 7, UNINTERRUPTIBLE, 0, "swapper/0");
	ck_assert_uint_eq(waited_for_disk(&e, 1800), 100);
	events_release(&e);
}
END_TEST

/* Requests whose end is never seen do not fill the memory. */
START_TEST(test_queues_are_bounded)
{
	enum { MANY = 70000 };
	struct events e;

	begin(&e);
	for (uint64_t i = 0; i < MANY; i++)
		RQ(&e, 1100 + i, INSERT, VDA, 8 * i, 8, READ);
	ck_assert_uint_eq(disk(&e, VDA)->waiting, MANY - 65536);
	for (uint64_t i = 0; i < MANY; i++)
		RQ(&e, 100000 + i, ISSUE, VDB, 8 * i, 8, READ);
	ASSERT_QUEUES(&e, VDB, 0, MANY - 65536);
	ASSERT_QUEUES(&e, VDA, 0, 0);
	events_release(&e);
}
END_TEST

static const char *name_of(const void *data, unsigned major, unsigned minor)
{
	ck_assert_uint_eq(major, 254);
	return minor == 16 ? data : NULL;
}

/* The state dump has names of disks first, then other sources of names, then device numbers. */
START_TEST(test_known_disk_names)
{
	struct events e;

	begin(&e);
	model_set_disk_names(e.m, name_of, "backup");
	RQ(&e, 1100, ISSUE, VDB, 444, 8, WRITE);
	RQ(&e, 1200, ISSUE, VDA, 444, 8, WRITE);
	ck_assert_str_eq(strpool_text((strid)disk(&e, VDB)->name), "backup");
	ck_assert_str_eq(strpool_text((strid)disk(&e, VDA)->name), "254:0");
	EVENT(&e, 1300, 0, 7, DUMP_DISK, dump_disk, .dev = VDB, .name = str(&rec, "vdb"));
	ck_assert_str_eq(strpool_text((strid)disk(&e, VDB)->name), "vdb");
	events_release(&e);
}
END_TEST

START_TEST(test_disk_names)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, ISSUE, VDB, 8, 8, READ);
	ck_assert_str_eq(strpool_text((strid)disk(&e, VDB)->name), "254:16");
	EVENT(&e, 1110, 0, 7, DUMP_DISK, dump_disk, .dev = VDB, .name = str(&rec, "vdb"));
	ck_assert_str_eq(strpool_text((strid)disk(&e, VDB)->name), "vdb");
	EVENT(&e, 1120, 0, 7, DUMP_DISK, dump_disk, .dev = 1, .name = str(&rec, "pmem0"));
	ck_assert(block_is_device(e.m, "/dev/vdb"));
	ck_assert(block_is_device(e.m, "/dev/pmem0"));
	ck_assert(block_is_device(e.m, "/dev/pmem0p1"));
	ck_assert(!block_is_device(e.m, "/dev/pmem1"));
	ck_assert(!block_is_device(e.m, "pmem0"));
	ck_assert(!block_is_device(e.m, "/tmp/pmem0"));
	/* without a dump, the usual names apply */
	ck_assert(block_is_device(e.m, "/dev/sda1"));
	ck_assert(block_is_device(e.m, "/dev/nvme0n1p2"));
	ck_assert(!block_is_device(e.m, "/dev/nvme0"));
	ck_assert(block_is_device(e.m, "/dev/dm-3"));
	ck_assert(block_is_device(e.m, "/dev/mapper/root"));
	ck_assert(!block_is_device(e.m, "/dev/mapper/control"));
	ck_assert(block_is_device(e.m, "/dev/disk/by-uuid/1234"));
	ck_assert(!block_is_device(e.m, "/dev/null"));
	ck_assert(!block_is_device(e.m, "/dev/random"));
	ck_assert(!block_is_device(e.m, "/dev/sdcard-control"));
	ck_assert(!block_is_device(e.m, "/dev/loop-control"));
	events_release(&e);
}
END_TEST

/* Time in the scheduler and time in the device, separately for reads and writes. */
START_TEST(test_queue_and_device)
{
	struct events e;

	begin(&e);
	RQ(&e, 1100, INSERT, VDA, 40, 8, READ);
	RQ(&e, 1105, ISSUE, VDA, 40, 8, READ);
	RQ(&e, 1125, COMPLETE, VDA, 40, 8, READ);
	/* a front merge does not reset the start of its wait, a requeue does */
	RQ(&e, 1200, INSERT, VDA, 48, 8, WRITE);
	RQ(&e, 1210, FRONTMERGE, VDA, 40, 8, WRITE);
	RQ(&e, 1230, ISSUE, VDA, 40, 16, WRITE);
	RQ(&e, 1300, REQUEUE, VDA, 40, 16, WRITE);
	RQ(&e, 1303, ISSUE, VDA, 40, 16, WRITE);
	RQ(&e, 1310, COMPLETE, VDA, 40, 16, WRITE);
	/* straight to the driver: no time in the scheduler; a flush is neither a read nor a write */
	RQ(&e, 1400, ISSUE, VDA, 80, 8, READ);
	RQ(&e, 1401, COMPLETE, VDA, 80, 8, READ);
	RQ(&e, 1410, INSERT, VDA, 0, 0, FLUSH);
	RQ(&e, 1420, ISSUE, VDA, 0, 0, FLUSH);
	ck_assert_uint_eq(disk(&e, VDA)->read_queue.count, 1);
	ck_assert_uint_eq(disk(&e, VDA)->read_queue.sum, 5);
	ck_assert_uint_eq(disk(&e, VDA)->read_device.count, 2);
	ck_assert_uint_eq(disk(&e, VDA)->read_device.sum, 20 + 1);
	ck_assert_uint_eq(disk(&e, VDA)->write_queue.count, 2);
	ck_assert_uint_eq(disk(&e, VDA)->write_queue.min, 3);
	ck_assert_uint_eq(disk(&e, VDA)->write_queue.max, 30);
	ck_assert_uint_eq(disk(&e, VDA)->write_device.count, 1);
	ck_assert_uint_eq(disk(&e, VDA)->write_device.sum, 7);
	ck_assert_uint_eq(disk(&e, VDA)->latency.count, 3);
	events_release(&e);
}
END_TEST

UNIT_MAIN("block", test_queue_and_device, test_request_goes_through_both_queues, test_direct_issue_and_queue_max,
	  test_completion_in_parts, test_part_meets_stale_request, test_part_of_absurd_size,
	  test_completion_without_issue, test_flush, test_writes_of_nothing, test_failed_request, test_errors,
	  test_discard_is_no_write, test_size_in_bytes, test_requeue_and_abort, test_issue_twice,
	  test_front_and_back_merge, test_two_requests_merge, test_remap_to_the_disk_below, test_remap_chain_and_split,
	  test_remap_within_a_partition, test_request_remap, test_loop_device, test_loss_empties_the_queues,
	  test_requests_after_a_loss, test_remap_before_a_loss, test_loss_ends_the_wait_for_requests,
	  test_queues_are_bounded, test_known_disk_names, test_disk_names)
