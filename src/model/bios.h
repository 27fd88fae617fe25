/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_BIOS_H
#define LT_MODEL_BIOS_H

/*
 * Who asked a disk for which sectors: what becomes of a request's bytes. The threads' side of block.c.
 *
 *   block_bio_queue, block_getrq, merges ──▶ bios, by disk and first sector, each due to its thread
 *   block_rq_issue   ──▶ its sectors are looked up: shares in a row, one for each thread that has some
 *   block_rq_complete ──▶ the foremost shares are paid, in bytes, by their threads
 *
 * So it does not matter which of the requests that became one a bio was in, nor in whose context the driver got it.
 * Sectors whose bio was not seen are due to whoever inserted the request, else issued it. What cannot be told, and
 * what is due to threads whose rows have ended, goes to the row "other": the threads' sums are the disks'.
 */
#include "model/internal.h"

enum bio_direction { DIR_NONE, DIR_READ, DIR_WRITE };

/* What is left of a request, by whom. */
struct shares {
	uint32_t first, last; /* NO_ROW: none */
};

#define NO_SHARES ((struct shares){ NO_ROW, NO_ROW })

struct bios *bios_create(void);
void bios_destroy(struct bios *b);

/* All that is on its way is forgotten. */
void bios_forget(struct bios *b);

/* The row of that thread, NO_ROW if it is unknown or has ended. */
uint32_t bios_thread(const struct model *m, const struct asker *who);

/*
 * A thread asks for those sectors; key: the disk and the first of them. One that is there already is that bio on its
 * way, still its first thread's; anew: it cannot be, unless it came from a device above.
 */
void bios_add(struct model *m, uint64_t key, uint64_t sectors, uint32_t thread, bool anew);

/* The bio goes on to another device. */
void bios_move(struct bios *b, uint64_t key, uint64_t to);

/* A bio is there that begins at that sector. */
bool bios_has(const struct bios *b, uint64_t key);

/*
 * A request of those sectors goes to the driver: takes its bios. Whose are missing are the asker's.
 * Returns when the first was queued, 0: not seen; who: becomes its thread.
 */
uint64_t bios_take(struct bios *b, uint64_t key, uint64_t sectors, struct asker *who, struct shares *shares);

/* Sectors to be written: those of kernel threads that write back become their dirtiers'. */
void bios_write_back(struct model *m, struct shares *shares);

/* They will not be paid any more. */
void bios_drop(struct bios *b, struct shares *shares);

/* The request of that key comes back from the driver: they are bios again, queued at that time. */
void bios_return(struct bios *b, uint64_t key, struct shares *shares, uint64_t queued_ns);

/* So many sectors were read or written: their threads' bytes; those that are in no share the other one's. */
void bios_pay(struct model *m, struct shares *shares, const struct asker *rest, uint64_t sectors,
	      enum bio_direction dir);

/* A request is done that took so long, 0: unknown. */
void bios_count_request(struct model *m, const struct asker *who, uint64_t ns);

#endif
