/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_DIRTY_H
#define LT_MODEL_DIRTY_H

/*
 * Data that threads wrote to files or block devices and that is not on a disk yet: for which threads the kernel writes
 * back.
 *
 *   a write-like call to one of them, or a page that got dirty (writeback_dirty_folio, where recorded) ──▶ a debt
 *   the thread itself writes to a disk, or calls fsync() ──▶ its debt is paid
 *   a kernel thread writes back                          ──▶ the oldest debts are paid
 *
 * Requests do not name the inode, so this is a guess: the kernel, too, first writes what was dirty first, but inode by
 * inode and device by device, and does not write data deleted in the meantime. Data without a debt stays with the
 * kernel thread.
 *
 * Two more tracepoints, where recorded, leave less to guess: writeback_mark_inode_dirty shows which inode a thread
 * dirties in a call (Linux 5.18 and later have no writeback_dirty_page, and tracers up to 2.13 no
 * writeback_dirty_folio), and writeback_single_inode which inode the kernel thread has just passed on to the disk. Most
 * of that is issued later:
 *
 *   bios of the kernel thread ──▶ a batch ──writeback_single_inode──▶ its inode ──issue──▶ debts of that inode
 *
 * Most data is written back after its writer has ended. So the row of a thread that ends with debts stays until they
 * are paid, and not longer than a minute if anything else is written.
 */
#include "model/bios.h"

/*
 * The thread wrote bytes to a file or a block device, in a call, through an fd through which before bytes had been
 * written.
 */
void dirty_write(struct model *m, uint32_t thread, uint64_t before, uint64_t bytes);

/* Sectors were written to a disk on the thread's own request. */
void dirty_wrote(struct model *m, uint32_t thread, uint64_t sectors);

/* Nothing that it wrote is dirty any longer. */
void dirty_synced(struct model *m, uint32_t thread);

/* The batch that a bio of the thread belongs to, 0: none. */
uint16_t dirty_batch(struct model *m, uint32_t thread);

/* Whether the thread writes back for others. */
bool dirty_is_flusher(const struct model *m, uint32_t thread);

/*
 * Attributes up to sectors sectors that are written back. *who, the kernel thread that writes, with its batch, becomes
 * the thread that dirtied them, if its row still exists. Returns how many of the sectors this holds for.
 */
uint64_t dirty_take(struct model *m, uint64_t sectors, struct asker *who);

/* The thread ends. Whether its row is kept, and ended here later. */
bool dirty_keep(struct model *m, uint32_t thread);

/* Whether the row of a thread of that container (row of TABLE_CONTAINER) is kept. */
bool dirty_keeps_container(const struct model *m, uint32_t container);

/* Ends all rows that are kept: what is still to be written for them stays with the kernel thread. Returns how many. */
unsigned dirty_forget_kept(struct model *m);

#endif
