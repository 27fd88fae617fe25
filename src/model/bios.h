/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_BIOS_H
#define LT_MODEL_BIOS_H

/*
 * Which threads asked a disk for which sectors, and so whose a request's bytes are. The threads' side of block.c.
 *
 *   block_bio_queue, block_getrq, merges ──▶ bios, by disk and first sector, each with its thread
 *   block_rq_issue    ──▶ looks up the request's sectors: a list of shares, one for each thread that asked for some
 *   block_rq_complete ──▶ the first shares in the list are charged, in bytes, to their threads
 *
 * So it does not matter which of the merged requests a bio was in, nor in whose context the driver got it. Sectors
 * whose bio was not seen belong to the thread that inserted the request, else to the one that issued it. Sectors that
 * cannot be attributed, and those of threads whose rows have ended, go to the row "other": the threads add up to the
 * disks.
 */
#include "model/internal.h"

enum bio_direction { DIR_NONE, DIR_READ, DIR_WRITE };

/* The part of a request that is not completed yet, by thread. */
struct shares {
	uint32_t first, last; /* NO_ROW: empty */
};

#define NO_SHARES ((struct shares){ NO_ROW, NO_ROW })

struct bios *bios_create(void);
void bios_destroy(struct bios *b);

/* Forgets everything in flight. */
void bios_forget(struct bios *b);

/* The row of that thread, NO_ROW if it is unknown or has ended. */
uint32_t bios_thread(const struct model *m, const struct asker *who);

/* The same, but also of a thread that has ended and whose row has not. */
uint32_t bios_payer(const struct model *m, const struct asker *who);

/*
 * A thread asks for those sectors; key: the disk and the first of them. A bio that already exists under the key is
 * taken to be the same one moving along, and keeps its first thread; but if the last argument is true it is a different
 * one, unless the existing one came from a device above.
 */
void bios_add(struct model *m, uint64_t key, uint64_t sectors, uint32_t thread, bool anew);

/* The bio moves to another device. */
void bios_move(struct bios *b, uint64_t key, uint64_t to);

/* Whether there is a bio that starts at that sector. */
bool bios_has(const struct bios *b, uint64_t key);

/*
 * A request for those sectors goes to the driver: takes its bios. Sectors without a bio belong to *who. Returns when
 * the first bio was queued, with *who set to its thread; 0: not seen, *who unchanged.
 */
uint64_t bios_take(struct bios *b, uint64_t key, uint64_t sectors, struct asker *who, struct shares *shares);

/*
 * The sectors are to be written: those of kernel threads that write back become those of the threads that dirtied them.
 */
void bios_write_back(struct model *m, struct shares *shares);

/* Frees shares that will not be charged any more. */
void bios_drop(struct bios *b, struct shares *shares);

/* The request of that key comes back from the driver: its shares become bios again, queued at that time. */
void bios_return(struct bios *b, uint64_t key, struct shares *shares, uint64_t queued_ns);

/*
 * Charges sectors that were read or written to the threads of the shares; those beyond the shares are charged to rest.
 */
void bios_pay(struct model *m, struct shares *shares, const struct asker *rest, uint64_t sectors,
	      enum bio_direction dir);

/* A request of the thread is done; ns: how long it took, 0: unknown. */
void bios_count_request(struct model *m, const struct asker *who, uint64_t ns);

#endif
