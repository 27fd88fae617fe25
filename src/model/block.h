/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_BLOCK_H
#define LT_MODEL_BLOCK_H

/*
 * Block devices: the requests that wait in their scheduler and those their driver works on, the bytes read and written,
 * the time from issue to completion. Private to disks.c, requests.c and block.c.
 *
 *   insert ──▶ waiting ──issue──▶ driver ──complete──▶ counted
 *                 ▲ ▲               │
 *                 │ └───requeue─────┘
 *      front merge: its first sector moves; two merged: one remains
 *
 * Before that, a thread gets the request (block_getrq). It is in no queue yet, as it may have to wait for a flush, but
 * the thread may wait for it.
 *
 * A request is identified by its device and first sector.
 */
#include "model/bios.h"
#include "model/internal.h"

enum { REMAPS_MAX = 1024, OWNERS_MAX = 3 };

/* Bits of a key that are the sector: 2^48 sectors are 128 PiB. */
#define SECTOR_MASK ((UINT64_C(1) << 48) - 1)

/* A flush is issued for sector 0 and completes for sector -1; a device has one at a time. */
#define FLUSH_SECTOR UINT64_MAX

/* A request that waits in a scheduler, or that a driver works on. */
struct request {
	uint64_t queued_ns;   /* when its first bio was queued, else its insertion, else its issue */
	uint64_t insert_ns;   /* 0: not seen */
	struct asker who;     /* thread of the first bio, else that got, inserted or issued it */
	struct shares shares; /* who is charged for the sectors left, once it was issued */
	uint64_t issue_ns;
	uint64_t left;               /* sectors still to complete; 0: a flush, or unknown */
	uint32_t owners[OWNERS_MAX]; /* disks (partitions, mappings) of the bio that it started with */
	uint32_t n_owners;
	uint32_t next_free;
};

/* A bio was sent on from one device to another: the next request there also belongs to the first. */
struct remap {
	uint64_t key;     /* where it went */
	uint64_t old_key; /* where it came from */
};

struct block {
	struct map64 disks;   /* device number -> TABLE_DISK row */
	struct map64 got;     /* key -> requests[]: a thread has got it, but not inserted it yet */
	struct map64 waiting; /* key -> requests[] */
	struct map64 driver;  /* key -> requests[] */
	GArray *requests;     /* struct request */
	uint32_t free;        /* first unused of them, NO_ROW none */
	struct map64 remaps;  /* key -> ring[] */
	struct remap ring[REMAPS_MAX];
	uint32_t n_remaps;        /* created so far */
	GByteArray *stacked;      /* by row: its requests are issued again to another device */
	GArray *whole;            /* uint32_t by row: the disk of a partition, if known; else the row itself */
	GArray *ends;             /* uint64_t by row: the sector behind the last issued request; NO_SECTOR: unknown */
	uint64_t asked;           /* key of the last bio that got or joined a request */
	uint64_t forgot_ns;       /* time of the loss after which the queues were emptied */
	model_disk_name_fn *name; /* NULL: only the traces name disks */
	const void *name_data;
};

#define NO_SECTOR UINT64_MAX

#define DISK_ROW(m, row) STATE_ROW(&(m)->state, DISK, disk, row)

/* How requests and bios are found: by the row of the disk and the first sector. */
static inline uint64_t request_key(uint32_t disk, uint64_t sector)
{
	return (uint64_t)disk << 48 | (sector & SECTOR_MASK);
}

/* ---- disks.c ---- */

/* The row of the device with that number, created if there is none; NO_ROW: too many. */
uint32_t disk_of_dev(struct model *m, uint64_t dev);

/* ---- requests.c ---- */

/* Empties all queues: it is no longer known what is in them. */
void requests_forget(struct model *m);

/* A request that starts now, because of that thread. */
struct request request_begin(const struct model *m, uint32_t thread);

/* A request for a thread that still exists starts (by 1) or has ended (by -1). */
void request_note(struct model *m, const struct asker *who, int by);

/* The thread has got a request with that key, which is yet to be inserted or issued. */
void got_add(struct model *m, uint64_t key, uint32_t thread);

/*
 * Adds rq to the scheduler's queue, unless there is one with that key. rq.insert_ns 0: its insertion was not seen. It
 * becomes the request of the thread that has got it, if known.
 */
void waiting_add(struct model *m, uint32_t disk, uint64_t key, struct request rq);

/* Removes it from the scheduler's queue, and returns what is known of it; insert_ns 0: not queued, or not seen. */
struct request waiting_del(struct model *m, uint32_t disk, uint64_t key);

/* The request of the driver's queue with that key, valid until another is added to a queue; NULL: there is none. */
struct request *driver_find(const struct model *m, uint64_t key);

/* The same, created if there is none. */
struct request *driver_add(struct model *m, uint32_t disk, uint64_t key);

/* Removes it from the driver's queue; false: it was not there. */
bool driver_del(struct model *m, uint32_t disk, uint64_t key);

/* Part of a request is done: the rest is identified by its own first sector. */
void driver_advance(struct model *m, uint32_t disk, uint64_t sector, uint64_t by);

#endif
