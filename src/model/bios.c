/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/dirty.h"
#include "model/parts_internal.h"

enum {
	BIOS_FIRST = 256,
	BIOS_MAX = 1 << 16,   /* more than are ever in flight for a device; the oldest are forgotten */
	SHARES_MAX = 1 << 16, /* beyond them, the last thread of a request is charged for the rest */
	SECTOR_BYTES = 512,
	STEP = 8,         /* sectors: a page, at which bios start and end */
	LOOKS_MAX = 4096, /* bios looked up for one request; the rest of an impossibly long one is not */
};

/* Consecutive sectors that one thread asked for. */
struct bio {
	uint64_t key;
	uint64_t queued_ns;
	struct asker who;
	uint32_t sectors;
	bool from_above; /* sent on by another device, not seen on its own yet */
};

struct share {
	struct asker who;
	uint64_t sectors;
	uint32_t next;
};

struct bios {
	struct map64 by_key; /* -> ring[] */
	struct bio *ring;
	uint32_t size, next; /* of ring[]; the entry to overwrite next */
	GArray *shares;      /* struct share */
	uint32_t free;       /* first unused one, NO_ROW none */
};

struct bios *bios_create(void)
{
	struct bios *b = g_new0(struct bios, 1);

	b->shares = g_array_new(FALSE, FALSE, sizeof(struct share));
	b->free = NO_ROW;
	return b;
}

void bios_destroy(struct bios *b)
{
	map64_release(&b->by_key);
	g_array_free(b->shares, TRUE);
	g_free(b->ring);
	g_free(b);
}

void bios_forget(struct bios *b)
{
	map64_clear(&b->by_key);
	g_array_set_size(b->shares, 0);
	b->free = NO_ROW;
}

uint32_t bios_payer(const struct model *m, const struct asker *who)
{
	const struct state_table *t = &m->state.tables[TABLE_THREAD];
	const struct thread *thread;

	if (!who->thread_uid || !state_alive(t, who->thread) || THREAD_ROW(m, who->thread)->uid != who->thread_uid)
		return NO_ROW;
	thread = g_ptr_array_index(m->threads, who->thread);
	return thread->in_use || thread->kept ? who->thread : NO_ROW; /* a row that ended stays until the frame ends */
}

uint32_t bios_thread(const struct model *m, const struct asker *who)
{
	const uint32_t row = bios_payer(m, who);

	return row != NO_ROW && ((const struct thread *)g_ptr_array_index(m->threads, row))->in_use ? row : NO_ROW;
}

/* ---- bios ---- */

/* An entry of the ring: a new one while most are in use and the ring may grow. */
static struct bio *ring_next(struct bios *b)
{
	struct bio *bio;

	if (b->next == b->size) {
		if (b->by_key.count >= b->size / 2 && b->size < BIOS_MAX) {
			b->size = b->size ? 2 * b->size : BIOS_FIRST;
			b->ring = g_renew(struct bio, b->ring, b->size);
			for (uint32_t i = b->next; i < b->size; i++)
				b->ring[i].key = UINT64_MAX;
		} else {
			b->next = 0;
		}
	}
	bio = &b->ring[b->next];
	if (map64_get(&b->by_key, bio->key) == b->next)
		map64_del(&b->by_key, bio->key);
	b->next++;
	return bio;
}

static struct bio *bio_find(const struct bios *b, uint64_t key)
{
	const uint32_t index = map64_get(&b->by_key, key);

	return index == MAP64_NONE ? NULL : &b->ring[index];
}

bool bios_has(const struct bios *b, uint64_t key)
{
	return bio_find(b, key) != NULL;
}

/* Replaces one with the same key. */
static void bio_put(struct bios *b, const struct bio *bio)
{
	struct bio *place = bio_find(b, bio->key);

	if (!place) {
		place = ring_next(b);
		map64_put(&b->by_key, bio->key, (uint32_t)(place - b->ring));
	}
	*place = *bio;
}

void bios_add(struct model *m, uint64_t key, uint64_t sectors, uint32_t thread, bool anew)
{
	const struct bio *old = bio_find(m->bios, key);
	struct bio bio = {
		.key = key,
		.queued_ns = m->now_ns,
		.who = { .thread_uid = thread == NO_ROW ? 0 : THREAD_ROW(m, thread)->uid, .thread = thread },
		.sectors = (uint32_t)MIN(sectors, UINT32_MAX),
	};

	if (old && (old->from_above || !anew)) {
		bio.queued_ns = old->queued_ns;
		bio.who = old->who;
	} else if (thread != NO_ROW) {
		bio.who.batch = dirty_batch(m, thread);
	}
	bio_put(m->bios, &bio);
}

void bios_move(struct bios *b, uint64_t key, uint64_t to)
{
	const uint32_t index = map64_get(&b->by_key, key);

	if (index == MAP64_NONE || key == to)
		return;
	map64_del(&b->by_key, key);
	map64_put(&b->by_key, to, index);
	b->ring[index].key = to;
	b->ring[index].from_above = true;
}

/* ---- shares ---- */

static struct share *share_get(struct bios *b, uint32_t index)
{
	return &g_array_index(b->shares, struct share, index);
}

static bool is_same(const struct asker *a, const struct asker *b)
{
	return a->thread_uid == b->thread_uid && a->back == b->back && a->batch == b->batch;
}

/* Adds to the last thread's sectors, or adds a share after it. */
static void share_add(struct bios *b, struct shares *shares, const struct asker *who, uint64_t sectors)
{
	struct share *last = shares->last == NO_ROW ? NULL : share_get(b, shares->last);
	uint32_t index = b->free;

	if (!sectors)
		return;
	if (last && (is_same(&last->who, who) || (index == NO_ROW && b->shares->len >= SHARES_MAX))) {
		last->sectors += sectors;
		return;
	}
	if (index != NO_ROW) {
		b->free = share_get(b, index)->next;
	} else if (b->shares->len < SHARES_MAX) {
		index = b->shares->len;
		g_array_set_size(b->shares, index + 1);
	} else {
		return;
	}
	*share_get(b, index) = (struct share){ *who, sectors, NO_ROW };
	if (shares->last == NO_ROW)
		shares->first = index;
	else
		share_get(b, shares->last)->next = index;
	shares->last = index;
}

static void share_pop(struct bios *b, struct shares *shares)
{
	const uint32_t index = shares->first;

	shares->first = share_get(b, index)->next;
	if (shares->first == NO_ROW)
		shares->last = NO_ROW;
	share_get(b, index)->next = b->free;
	b->free = index;
}

void bios_drop(struct bios *b, struct shares *shares)
{
	while (shares->first != NO_ROW)
		share_pop(b, shares);
}

void bios_return(struct bios *b, uint64_t key, struct shares *shares, uint64_t queued_ns)
{
	const struct share *share;
	struct bio bio = { .key = key, .queued_ns = queued_ns };

	for (; shares->first != NO_ROW; share_pop(b, shares)) {
		share = share_get(b, shares->first);
		bio.who = share->who;
		bio.sectors = (uint32_t)MIN(share->sectors, UINT32_MAX);
		bio_put(b, &bio);
		bio.key += share->sectors;
	}
}

uint64_t bios_take(struct bios *b, uint64_t key, uint64_t sectors, struct asker *who, struct shares *shares)
{
	const struct asker missing = *who;
	uint64_t queued_ns = 0, n;
	unsigned looks = 0;
	const struct bio *bio;

	*shares = NO_SHARES;
	for (uint64_t at = 0; at < sectors; at += n) {
		if (!b->by_key.count || looks++ == LOOKS_MAX) {
			share_add(b, shares, &missing, sectors - at);
			break;
		}
		bio = bio_find(b, key + at);
		n = bio && bio->sectors ? bio->sectors : STEP;
		n = MIN(n, sectors - at);
		if (bio && !at) {
			*who = bio->who;
			queued_ns = bio->queued_ns;
		}
		share_add(b, shares, bio ? &bio->who : &missing, n);
		if (bio)
			map64_del(&b->by_key, key + at);
	}
	return queued_ns;
}

static void write_back(struct model *m, struct shares *shares, const struct share *share)
{
	const uint32_t thread = bios_thread(m, &share->who);
	struct asker who = share->who;
	uint64_t n;

	if (thread == NO_ROW || who.back || !dirty_is_flusher(m, thread)) {
		if (thread != NO_ROW && !who.back)
			dirty_wrote(m, thread, share->sectors);
		share_add(m->bios, shares, &who, share->sectors);
		return;
	}
	for (uint64_t left = share->sectors; left; left -= n) {
		who = share->who;
		n = dirty_take(m, left, &who);
		share_add(m->bios, shares, &who, n);
	}
}

void bios_write_back(struct model *m, struct shares *shares)
{
	struct shares old = *shares;
	struct share share;

	*shares = NO_SHARES;
	while (old.first != NO_ROW) {
		share = *share_get(m->bios, old.first);
		share_pop(m->bios, &old);
		write_back(m, shares, &share);
	}
}

/* ---- charging threads ---- */

static struct thread_row *payer(struct model *m, const struct asker *who)
{
	uint32_t row = bios_payer(m, who);

	if (row == NO_ROW)
		row = thread_other(m);
	state_touch(&m->state, TABLE_THREAD, row);
	return THREAD_ROW(m, row);
}

static void pay(struct model *m, const struct asker *who, uint64_t sectors, enum bio_direction dir)
{
	struct thread_row *r = payer(m, who);

	if (dir == DIR_READ) {
		r->disk_read_bytes += sectors * SECTOR_BYTES;
		return;
	}
	r->disk_write_bytes += sectors * SECTOR_BYTES;
	if (who->back)
		r->disk_writeback_bytes += sectors * SECTOR_BYTES;
}

void bios_pay(struct model *m, struct shares *shares, const struct asker *rest, uint64_t sectors,
	      enum bio_direction dir)
{
	struct bios *b = m->bios;
	struct share *share;
	uint64_t n;

	while (sectors && shares->first != NO_ROW) {
		share = share_get(b, shares->first);
		n = MIN(sectors, share->sectors);
		if (dir != DIR_NONE)
			pay(m, &share->who, n, dir);
		sectors -= n;
		share->sectors -= n;
		if (!share->sectors)
			share_pop(b, shares);
	}
	if (sectors && dir != DIR_NONE)
		pay(m, rest, sectors, dir);
}

void bios_count_request(struct model *m, const struct asker *who, uint64_t ns)
{
	struct thread_row *r = payer(m, who);

	r->disk_requests++;
	r->disk_wait_ns += ns;
}
