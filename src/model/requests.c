/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The requests that are in a disk's scheduler, and those its driver works on: see block.h.
 */
#include "model/bios.h"
#include "model/block.h"
#include "model/parts_internal.h"

enum { REQUESTS_MAX = 1 << 16 }; /* more than any device can queue: the trace lacks their ends */

static void queue_changes(struct model *m, uint32_t disk, int by)
{
	struct disk_row *r = DISK_ROW(m, disk);

	r->queue_max = MAX(r->queue_max, r->queue);
	r->queue += (uint64_t)by;
	r->queue_max = MAX(r->queue_max, r->queue);
	state_touch(&m->state, TABLE_DISK, disk);
}

/* Looks at the requests, not at all threads; some are free, but no thread has any after this. */
static void forget_threads_requests(struct model *m)
{
	for (guint i = 0; i < m->block->requests->len; i++) {
		const uint32_t thread = bios_thread(m, &g_array_index(m->block->requests, struct request, i).who);

		if (thread != NO_ROW)
			pressure_forget_requests(m, thread);
	}
}

void requests_forget(struct model *m)
{
	const struct state_table *t = &m->state.tables[TABLE_DISK];

	forget_threads_requests(m);
	map64_clear(&m->block->got);
	map64_clear(&m->block->waiting);
	map64_clear(&m->block->driver);
	map64_clear(&m->block->remaps);
	bios_forget(m->bios);
	g_array_set_size(m->block->requests, 0);
	m->block->free = NO_ROW;
	for (uint32_t row = NO_ROW; (row = state_next(t, row)) != NO_ROW;) {
		DISK_ROW(m, row)->queue = 0;
		DISK_ROW(m, row)->waiting = 0;
		g_array_index(m->block->ends, uint64_t, row) = NO_SECTOR;
		state_touch(&m->state, TABLE_DISK, row);
	}
}

static struct request *request_get(const struct block *b, uint32_t index)
{
	return &g_array_index(b->requests, struct request, index);
}

static uint32_t request_new(struct block *b)
{
	uint32_t index = b->free;

	if (index == NO_ROW) {
		index = b->requests->len;
		g_array_set_size(b->requests, index + 1);
	} else {
		b->free = request_get(b, index)->next_free;
	}
	return index;
}

static void request_free(struct block *b, uint32_t index)
{
	request_get(b, index)->next_free = b->free;
	b->free = index;
}

void request_note(struct model *m, const struct asker *who, int by)
{
	const uint32_t thread = bios_thread(m, who);

	if (thread != NO_ROW)
		pressure_request(m, thread, by);
}

struct request request_begin(const struct model *m, uint32_t thread)
{
	return (struct request){
		.queued_ns = m->now_ns,
		.insert_ns = m->now_ns,
		.who = { .thread_uid = thread == NO_ROW ? 0 : THREAD_ROW(m, thread)->uid, .thread = thread },
		.shares = NO_SHARES,
	};
}

/* The one under that key is inserted, issued or merged: returns who has got it. */
static struct asker got_del(struct model *m, uint64_t key)
{
	struct block *b = m->block;
	const uint32_t index = map64_get(&b->got, key);
	struct asker who = { 0 };

	if (index == MAP64_NONE)
		return who;
	who = request_get(b, index)->who;
	map64_del(&b->got, key);
	request_free(b, index);
	request_note(m, &who, -1);
	return who;
}

void got_add(struct model *m, uint64_t key, uint32_t thread)
{
	struct block *b = m->block;
	uint32_t index;

	got_del(m, key); /* a previous one whose end was not seen */
	if (b->got.count >= REQUESTS_MAX)
		requests_forget(m);
	index = request_new(b);
	*request_get(b, index) = request_begin(m, thread);
	map64_put(&b->got, key, index);
	request_note(m, &request_get(b, index)->who, 1);
}

void waiting_add(struct model *m, uint32_t disk, uint64_t key, struct request rq)
{
	struct block *b = m->block;
	const struct asker who = got_del(m, key);
	uint32_t index;

	if (map64_get(&b->waiting, key) != MAP64_NONE)
		return;
	if (who.thread_uid)
		rq.who = who;
	if (b->waiting.count >= REQUESTS_MAX)
		requests_forget(m);
	index = request_new(b);
	*request_get(b, index) = rq;
	map64_put(&b->waiting, key, index);
	request_note(m, &rq.who, 1);
	DISK_ROW(m, disk)->waiting++;
	state_touch(&m->state, TABLE_DISK, disk);
}

struct request waiting_del(struct model *m, uint32_t disk, uint64_t key)
{
	struct block *b = m->block;
	const uint32_t index = map64_get(&b->waiting, key);
	struct request rq = { .who = got_del(m, key), .shares = NO_SHARES };

	if (index == MAP64_NONE)
		return rq;
	rq = *request_get(b, index);
	map64_del(&b->waiting, key);
	request_free(b, index);
	request_note(m, &rq.who, -1);
	DISK_ROW(m, disk)->waiting--;
	state_touch(&m->state, TABLE_DISK, disk);
	return rq;
}

struct request *driver_add(struct model *m, uint32_t disk, uint64_t key)
{
	struct block *b = m->block;
	uint32_t index = map64_get(&b->driver, key);

	if (index != MAP64_NONE)
		return request_get(b, index);
	if (b->driver.count >= REQUESTS_MAX)
		requests_forget(m);
	index = request_new(b);
	*request_get(b, index) = (struct request){ .shares = NO_SHARES };
	map64_put(&b->driver, key, index);
	queue_changes(m, disk, 1);
	return request_get(b, index);
}

struct request *driver_find(const struct model *m, uint64_t key)
{
	const uint32_t index = map64_get(&m->block->driver, key);

	return index == MAP64_NONE ? NULL : request_get(m->block, index);
}

bool driver_del(struct model *m, uint32_t disk, uint64_t key)
{
	struct block *b = m->block;
	uint32_t index = map64_get(&b->driver, key);

	if (index == MAP64_NONE)
		return false;
	bios_drop(m->bios, &request_get(b, index)->shares);
	request_note(m, &request_get(b, index)->who, -1);
	map64_del(&b->driver, key);
	request_free(b, index);
	queue_changes(m, disk, -1);
	return true;
}

void driver_advance(struct model *m, uint32_t disk, uint64_t sector, uint64_t by)
{
	struct block *b = m->block;
	const uint64_t key = request_key(disk, sector), rest = request_key(disk, sector + by);
	const uint32_t index = map64_get(&b->driver, key);

	/* sectors that differ by 2^48 have the same key */
	if (index == MAP64_NONE || rest == key)
		return;
	driver_del(m, disk, rest); /* there cannot be two */
	request_get(b, index)->left -= by;
	map64_del(&b->driver, key);
	map64_put(&b->driver, rest, index);
}
