/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_DIRTY_H
#define LT_MODEL_DIRTY_H

/*
 * Data that threads wrote to files and that is not on a disk yet: for which threads the kernel writes back.
 *
 *   a write-like call to a file, or a page that got dirty (writeback_dirty_folio, where recorded) ──▶ a debt
 *   the thread itself writes to a disk, or calls fsync() ──▶ its debt is paid
 *   a kernel thread writes back                          ──▶ the oldest debts are paid
 *
 * Requests do not name the inode, so this is a guess: the kernel, too, first writes what was dirty first, but inode by
 * inode and device by device, and does not write data deleted in the meantime. Debts of threads that have ended, and
 * data without a debt, stay with the kernel thread.
 */
#include "model/bios.h"

/* The thread made bytes of files dirty. by_call: except those that it wrote to the disk itself during the call. */
void dirty_add(struct model *m, uint32_t thread, uint64_t bytes, bool by_call);

/* Sectors were written to a disk on the thread's own request. */
void dirty_wrote(struct model *m, uint32_t thread, uint64_t sectors);

/* Nothing that it wrote is dirty any longer. */
void dirty_synced(struct model *m, uint32_t thread);

/* Whether the thread writes back for others. */
bool dirty_is_flusher(const struct model *m, uint32_t thread);

/*
 * Attributes up to sectors sectors that are written back. *who, the kernel thread that writes, becomes the thread that
 * dirtied them, if that still exists. Returns how many of the sectors this holds for.
 */
uint64_t dirty_take(struct model *m, uint64_t sectors, struct asker *who);

#endif
