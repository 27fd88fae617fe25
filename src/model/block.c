/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of block devices: see block.h.
 *
 * The figures are those of /proc/diskstats: bytes count at completion, in parts if it completes in parts; the request
 * counts once, when its last part is done. Discards and flushes are neither reads nor writes; but a write of nothing
 * (an fsync with nothing left to write) is one write. Its sector 0 distinguishes it from the end of a
 * forced-unit-access write, which has no sectors either.
 */
#include "model/block.h"

#include "model/bios.h"
#include "model/context.h"
#include "model/parts_internal.h"

/* The tracer's bits of rwbs. */
enum {
	RWBS_WRITE = 1 << 0,
	RWBS_DISCARD = 1 << 1,
	RWBS_READ = 1 << 2,
	RWBS_RAHEAD = 1 << 3,
	RWBS_FLUSH = 1 << 8,
	RWBS_FUA = 1 << 9,
	RWBS_PREFLUSH = 1 << 10,
	RWBS_OPERATIONS = RWBS_WRITE | RWBS_DISCARD | RWBS_READ | RWBS_RAHEAD | RWBS_FLUSH | RWBS_PREFLUSH,
};

enum { SECTOR_BYTES = 512, LOOP_MAJOR = 7 };

void block_create(struct model *m)
{
	m->block = g_new0(struct block, 1);
	m->block->requests = g_array_new(FALSE, FALSE, sizeof(struct request));
	m->block->free = NO_ROW;
	m->block->stacked = g_byte_array_new();
	m->block->whole = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	m->block->ends = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	m->bios = bios_create();
}

void block_destroy(struct model *m)
{
	struct block *b = m->block;

	map64_release(&b->disks);
	map64_release(&b->got);
	map64_release(&b->waiting);
	map64_release(&b->driver);
	map64_release(&b->remaps);
	g_array_free(b->requests, TRUE);
	g_byte_array_free(b->stacked, TRUE);
	g_array_free(b->whole, TRUE);
	g_array_free(b->ends, TRUE);
	bios_destroy(m->bios);
	g_free(b);
	m->block = NULL;
}

/*
 * The disk of an event; NO_ROW: too many disks. After a loss it is unknown which requests are still in the queues: they
 * start empty.
 */
static uint32_t disk_of_event(struct model *m, uint64_t dev)
{
	struct block *b = m->block;

	if (b->forgot_ns != m->lost_ns) {
		b->forgot_ns = m->lost_ns;
		requests_forget(m);
	}
	return disk_of_dev(m, dev);
}

static bool is_flush(const struct ev_block_rq *p)
{
	return p->nr_sector == 0 && p->rwbs & (RWBS_FLUSH | RWBS_PREFLUSH);
}

static uint64_t key_of_event(uint32_t disk, const struct ev_block_rq *p)
{
	return request_key(disk, is_flush(p) ? FLUSH_SECTOR : p->sector);
}

/* ---- remaps ---- */

static void remap_add(struct block *b, uint64_t key, uint64_t old_key)
{
	uint32_t index = b->n_remaps++ % REMAPS_MAX;

	if (map64_get(&b->remaps, b->ring[index].key) == index)
		map64_del(&b->remaps, b->ring[index].key);
	b->ring[index] = (struct remap){ key, old_key };
	map64_put(&b->remaps, key, index);
}

static void remap_move(struct block *b, uint64_t key, uint64_t to)
{
	const uint32_t index = map64_get(&b->remaps, key);

	if (index == MAP64_NONE)
		return;
	map64_del(&b->remaps, key);
	map64_put(&b->remaps, to, index);
	b->ring[index].key = to;
}

/* The devices whose bios became the request with that key, nearest first. */
static void find_owners(struct block *b, struct request *rq, uint64_t key)
{
	uint32_t index;

	rq->n_owners = 0;
	while (rq->n_owners < OWNERS_MAX && (index = map64_get(&b->remaps, key)) != MAP64_NONE) {
		map64_del(&b->remaps, key);
		key = b->ring[index].old_key;
		rq->owners[rq->n_owners++] = (uint32_t)(key >> 48);
	}
}

static void bio_goes_on(struct model *m, uint64_t from, uint64_t to)
{
	remap_add(m->block, to, from);
	bios_move(m->bios, from, to);
}

/*
 * The disk of an event about a bio: since Linux 5.12 such an event names the partition, but gives the sector on the
 * disk, while requests name the disk.
 */
static uint32_t disk_of_bio(struct model *m, uint64_t dev)
{
	uint32_t disk = disk_of_event(m, dev);

	return disk == NO_ROW ? NO_ROW : g_array_index(m->block->whole, uint32_t, disk);
}

/*
 * A bio of a partition or of a mapped device goes to the device below; since Linux 5.12 both devices of the former's
 * event are the partition. For whole requests (rq_remap) both devices have events of their own; the bytes of the upper
 * one are not added to the host's.
 */
void apply_block_remap(struct model *m, const struct apply *a)
{
	const struct ev_block_remap *p = event_payload(a->ev, ev_block_remap);
	uint32_t disk = disk_of_event(m, p->dev), old = disk_of_event(m, p->old_dev);
	uint64_t from, to;

	if (disk == NO_ROW || old == NO_ROW)
		return;
	if (a->ev->kind == EVENT_BLOCK_RQ_REMAP) {
		m->block->stacked->data[old] |= disk != old;
		return;
	}
	from = request_key(old, p->old_sector);
	to = request_key(disk == old ? disk_of_bio(m, p->dev) : disk, p->sector);
	if (from != to)
		bio_goes_on(m, from, to);
}

/* A bio is split in two: the second part starts a request of its own. */
void apply_block_split(struct model *m, const struct apply *a)
{
	const struct ev_block_remap *p = event_payload(a->ev, ev_block_remap);
	uint32_t disk = disk_of_bio(m, p->dev), index;

	if (disk == NO_ROW)
		return;
	index = map64_get(&m->block->remaps, request_key(disk, p->sector));
	if (index != MAP64_NONE)
		remap_add(m->block, request_key(disk, p->old_sector), m->block->ring[index].old_key);
}

/* ---- who asks ---- */

/* Whether the device below counts its requests again: then neither the host nor threads count them here. */
static bool is_stacked(const struct model *m, uint32_t disk)
{
	return m->block->stacked->data[disk];
}

/* A request starts where no bio of that disk does, but the last bio of another device: that is its partition. */
static void find_whole(struct model *m, uint32_t disk, uint64_t key)
{
	struct block *b = m->block;
	const uint32_t part = (uint32_t)(b->asked >> 48);

	if (((b->asked ^ key) & SECTOR_MASK) != 0 || part == disk || !bios_has(m->bios, b->asked) ||
	    bios_has(m->bios, key))
		return;
	g_array_index(b->whole, uint32_t, part) = disk;
	bios_move(m->bios, b->asked, key);
	remap_move(b, b->asked, key);
}

/*
 * Whether the request's way from block_getrq to the scheduler can be followed. Of a partition whose disk is not known
 * yet, the insertion would not be found. A request that is merged into another is not inserted; where that is not
 * recorded, only those count that the kernel never merges.
 */
static bool can_be_got(const struct model *m, uint32_t disk, uint64_t rwbs)
{
	return g_array_index(m->block->ends, uint64_t, disk) != NO_SECTOR &&
	       (m->declared[EVENT_BLOCK_MERGE] || rwbs & (RWBS_FLUSH | RWBS_PREFLUSH | RWBS_FUA));
}

static void bio_asks(struct model *m, const struct apply *a, uint32_t disk)
{
	const struct ev_block_rq *p = event_payload(a->ev, ev_block_rq);
	const bool first = a->ev->kind == EVENT_BLOCK_BIO_QUEUE || !m->declared[EVENT_BLOCK_BIO_QUEUE];
	const uint64_t key = key_of_event(disk, p);

	bios_add(m, key, p->nr_sector, a->thread, first || is_flush(p));
	m->block->asked = key;
	if (a->ev->kind == EVENT_BLOCK_GETRQ && can_be_got(m, disk, p->rwbs))
		got_add(m, key, a->thread);
}

/* A bio reaches a device, or gets a request of its own there. */
void apply_block_bio(struct model *m, const struct apply *a)
{
	const struct ev_block_rq *p = event_payload(a->ev, ev_block_rq);
	uint32_t disk = disk_of_bio(m, p->dev);

	if (disk != NO_ROW)
		bio_asks(m, a, disk);
}

/* ---- requests ---- */

void apply_block_insert(struct model *m, const struct apply *a)
{
	const struct ev_block_rq *p = event_payload(a->ev, ev_block_rq);
	uint32_t disk = disk_of_event(m, p->dev);

	if (disk == NO_ROW)
		return;
	find_whole(m, disk, request_key(disk, p->sector));
	waiting_add(m, disk, key_of_event(disk, p), request_begin(m, a->thread));
}

static enum bio_direction direction_of(uint64_t rwbs)
{
	if (rwbs & RWBS_DISCARD)
		return DIR_NONE;
	if (rwbs & RWBS_WRITE)
		return DIR_WRITE;
	return rwbs & (RWBS_READ | RWBS_RAHEAD) ? DIR_READ : DIR_NONE;
}

/* "vda read" */
static strid request_name(const struct model *m, uint32_t disk, enum bio_direction dir)
{
	char text[64];

	g_snprintf(text, sizeof(text), "%s %s", strpool_text((strid)DISK_ROW(m, disk)->name),
		   dir == DIR_READ ? "read" : "write");
	return strpool_intern_z(text);
}

static void count_queued_at(struct model *m, uint32_t disk, enum bio_direction dir, uint64_t ns, uint32_t thread)
{
	if (dir == DIR_READ)
		DIST_ADD(m, DISK, disk, disk, read_queue, ns, thread, request_name(m, disk, dir));
	else
		DIST_ADD(m, DISK, disk, disk, write_queue, ns, thread, request_name(m, disk, dir));
	state_touch(&m->state, TABLE_DISK, disk);
}

/* It waited for ns in the scheduler of the disk; this also counts for the disks that it belongs to. */
static void count_queued(struct model *m, uint32_t disk, const struct request *rq, enum bio_direction dir, uint64_t ns)
{
	if (dir == DIR_NONE)
		return;
	count_queued_at(m, disk, dir, ns, bios_thread(m, &rq->who));
	for (uint32_t i = 0; i < rq->n_owners; i++)
		count_queued_at(m, rq->owners[i], dir, ns, bios_thread(m, &rq->who));
}

/* How far the disk has to go from the last request that it was given. */
static void count_distance(struct model *m, uint32_t disk, const struct ev_block_rq *p)
{
	uint64_t *end = &g_array_index(m->block->ends, uint64_t, disk);
	const uint64_t sector = p->sector & SECTOR_MASK;

	if (*end != NO_SECTOR) {
		DIST_ADD(m, DISK, disk, disk, distance, (sector > *end ? sector - *end : *end - sector) * SECTOR_BYTES,
			 NO_ROW, STRID_NONE);
		state_touch(&m->state, TABLE_DISK, disk);
	}
	*end = (sector + p->nr_sector) & SECTOR_MASK;
}

void apply_block_issue(struct model *m, const struct apply *a)
{
	const struct ev_block_rq *p = event_payload(a->ev, ev_block_rq);
	uint32_t disk = disk_of_event(m, p->dev);
	struct request *rq, begun;
	uint64_t key, queued_ns;

	if (disk == NO_ROW)
		return;
	key = key_of_event(disk, p);
	find_whole(m, disk, key);
	begun = waiting_del(m, disk, key);
	rq = driver_add(m, disk, key);
	bios_drop(m->bios, &rq->shares);
	request_note(m, &rq->who, -1); /* a previous one whose end was not seen */
	*rq = begun.insert_ns ? begun : request_begin(m, a->thread);
	rq->issue_ns = m->now_ns;
	rq->left = p->nr_sector ? p->nr_sector : p->bytes / SECTOR_BYTES;
	queued_ns = bios_take(m->bios, key, rq->left, &rq->who, &rq->shares);
	if (queued_ns)
		rq->queued_ns = queued_ns;
	request_note(m, &rq->who, 1);
	if (direction_of(p->rwbs) == DIR_WRITE && !is_stacked(m, disk))
		bios_write_back(m, &rq->shares);
	find_owners(m->block, rq, key);
	if (p->nr_sector && direction_of(p->rwbs) != DIR_NONE)
		count_distance(m, disk, p);
	if (begun.insert_ns)
		count_queued(m, disk, rq, direction_of(p->rwbs), m->now_ns - begun.insert_ns);
}

/* Back from the driver: it will be issued again. */
void apply_block_requeue(struct model *m, const struct apply *a)
{
	const struct ev_block_rq *p = event_payload(a->ev, ev_block_rq);
	uint32_t disk = disk_of_event(m, p->dev);
	struct request *rq;
	uint64_t key;

	if (disk == NO_ROW)
		return;
	key = key_of_event(disk, p);
	rq = driver_find(m, key);
	if (rq)
		bios_return(m->bios, key, &rq->shares, rq->queued_ns);
	driver_del(m, disk, key);
	waiting_add(m, disk, key, request_begin(m, a->thread));
}

static void count_bytes(struct model *m, uint32_t disk, enum bio_direction dir, uint64_t bytes)
{
	if (dir == DIR_READ)
		DISK_ROW(m, disk)->read_bytes += bytes;
	else
		DISK_ROW(m, disk)->write_bytes += bytes;
	state_touch(&m->state, TABLE_DISK, disk);
}

/* A loop device: its bytes are those of a file, in memory or on a disk that counts them itself. */
static bool is_loop(const struct model *m, uint32_t disk)
{
	return DISK_ROW(m, disk)->dev >> 20 == LOOP_MAJOR;
}

static void count_host_bytes(struct model *m, uint32_t disk, enum bio_direction dir, uint64_t bytes)
{
	if (is_stacked(m, disk) || is_loop(m, disk))
		return;
	if (dir == DIR_READ)
		HOST_ROW(m)->disk_read_bytes += bytes;
	else
		HOST_ROW(m)->disk_write_bytes += bytes;
	touch_host(m);
}

static void count_latency(struct model *m, uint32_t disk, enum bio_direction dir, uint64_t ns, uint32_t thread)
{
	DIST_ADD(m, DISK, disk, disk, latency, ns, thread, request_name(m, disk, dir));
	if (dir == DIR_READ)
		DIST_ADD(m, DISK, disk, disk, read_device, ns, thread, request_name(m, disk, dir));
	else
		DIST_ADD(m, DISK, disk, disk, write_device, ns, thread, request_name(m, disk, dir));
}

/* A request is done; issue_ns 0: its issue was not seen. */
static void count_request(struct model *m, uint32_t disk, enum bio_direction dir, uint64_t issue_ns, uint32_t thread)
{
	struct disk_row *r = DISK_ROW(m, disk);

	if (dir == DIR_READ)
		r->reads++;
	else
		r->writes++;
	if (issue_ns)
		count_latency(m, disk, dir, m->now_ns - issue_ns, thread);
	state_touch(&m->state, TABLE_DISK, disk);
}

/*
 * Whether a request, or a part of it, failed. That programs' own commands fail is normal, such as whether a drive has a
 * medium.
 */
static bool has_failed(const struct event *ev)
{
	const struct ev_block_rq *p = event_payload(ev, ev_block_rq);

	return (p->error || ev->kind == EVENT_BLOCK_ABORT) && p->rwbs & RWBS_OPERATIONS;
}

/* rq: NULL if its issue was not seen. */
static void count_error(struct model *m, uint32_t disk, const struct request *rq)
{
	DISK_ROW(m, disk)->errors++;
	state_touch(&m->state, TABLE_DISK, disk);
	for (uint32_t i = 0; rq && i < rq->n_owners; i++) {
		DISK_ROW(m, rq->owners[i])->errors++;
		state_touch(&m->state, TABLE_DISK, rq->owners[i]);
	}
}

static void complete_unknown(struct model *m, uint32_t disk, enum bio_direction dir, const struct ev_block_rq *p)
{
	struct shares shares = NO_SHARES;
	struct asker who = { 0 };
	uint64_t queued_ns = 0;

	if (dir == DIR_NONE || (!p->nr_sector && (p->sector != 0 || dir != DIR_WRITE)))
		return;
	count_request(m, disk, dir, 0, NO_ROW);
	if (is_stacked(m, disk))
		return;
	if (!p->nr_sector)
		queued_ns = bios_take(m->bios, request_key(disk, FLUSH_SECTOR), 1, &who, &shares);
	bios_drop(m->bios, &shares);
	bios_pay(m, &shares, &who, p->nr_sector, dir);
	bios_count_request(m, &who, queued_ns ? m->now_ns - queued_ns : 0);
}

static void complete_known(struct model *m, uint32_t disk, enum bio_direction dir, const struct ev_block_rq *p,
			   uint64_t key, struct request *rq)
{
	bios_pay(m, &rq->shares, &rq->who, p->nr_sector, is_stacked(m, disk) ? DIR_NONE : dir);
	for (uint32_t i = 0; dir != DIR_NONE && i < rq->n_owners; i++)
		count_bytes(m, rq->owners[i], dir, p->nr_sector * SECTOR_BYTES);
	if (p->nr_sector < rq->left) {
		/* no sectors: the end of an earlier forced-unit-access write here, unless it failed */
		if (p->nr_sector)
			driver_advance(m, disk, p->sector, p->nr_sector);
		if (p->nr_sector || !p->error)
			return;
	}
	if (dir != DIR_NONE) {
		count_request(m, disk, dir, rq->issue_ns, bios_thread(m, &rq->who));
		for (uint32_t i = 0; i < rq->n_owners; i++)
			count_request(m, rq->owners[i], dir, rq->issue_ns, bios_thread(m, &rq->who));
		if (!is_stacked(m, disk))
			bios_count_request(m, &rq->who, m->now_ns - rq->queued_ns);
	}
	driver_del(m, disk, key);
}

void apply_block_complete(struct model *m, const struct apply *a)
{
	const struct ev_block_rq *p = event_payload(a->ev, ev_block_rq);
	enum bio_direction dir = direction_of(p->rwbs);
	uint32_t disk = disk_of_event(m, p->dev);
	struct request *rq;
	uint64_t key;

	if (disk == NO_ROW)
		return;
	context_note_disk(m, a->cpu, disk);
	key = key_of_event(disk, p);
	rq = driver_find(m, key);
	if (has_failed(a->ev))
		count_error(m, disk, rq);
	if (a->ev->kind == EVENT_BLOCK_ABORT) {
		if (!driver_del(m, disk, key))
			waiting_del(m, disk, key);
		return;
	}
	if (dir != DIR_NONE && p->nr_sector) {
		count_bytes(m, disk, dir, p->nr_sector * SECTOR_BYTES);
		count_host_bytes(m, disk, dir, p->nr_sector * SECTOR_BYTES);
	}
	if (rq)
		complete_known(m, disk, dir, p, key, rq);
	else
		complete_unknown(m, disk, dir, p);
}

/*
 * Merges before the issue. Front: the request (which waits, seen or not) now starts where the bio does. Back: its key
 * stays. When two requests are merged (block_rq_merge), only the one that disappears is named.
 */
void apply_block_merge(struct model *m, const struct apply *a)
{
	const struct ev_block_rq *p = event_payload(a->ev, ev_block_rq);
	uint32_t disk = disk_of_bio(m, p->dev);
	struct request begun;

	if (disk == NO_ROW)
		return;
	if (a->ev->kind == EVENT_BLOCK_MERGE) {
		waiting_del(m, disk, request_key(disk, p->sector));
		return;
	}
	bio_asks(m, a, disk);
	if (a->ev->kind == EVENT_BLOCK_BACKMERGE)
		return;
	begun = waiting_del(m, disk, request_key(disk, p->sector + p->nr_sector));
	waiting_add(m, disk, request_key(disk, p->sector), begun);
}

/* Two requests become one, both are named: the first stays (and waits, even if its insertion was not seen). */
void apply_block_elv_merge(struct model *m, const struct apply *a)
{
	const struct ev_block_remap *p = event_payload(a->ev, ev_block_remap);
	uint32_t disk = disk_of_event(m, p->dev);

	if (disk == NO_ROW)
		return;
	waiting_del(m, disk, request_key(disk, p->old_sector));
	waiting_add(m, disk, request_key(disk, p->sector), (struct request){ .shares = NO_SHARES });
}
