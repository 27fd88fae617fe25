/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_DIRTY_H
#define LT_MODEL_DIRTY_H

/*
 * What threads wrote to files and no disk has yet: to whom the kernel's write-back is due.
 *
 *   a write-like call to a file, or a page that got dirty (writeback_dirty_folio, where recorded) ──▶ a debt
 *   the thread itself writes to a disk, or fsync() ──▶ its debt is paid
 *   a kernel thread writes back                    ──▶ the oldest debts are
 *
 * Requests do not tell the inode, so this is a guess: the kernel too writes first what was dirty first, but inode by
 * inode, device by device, and does not write what was deleted meanwhile. Debts of threads that ended, and what is in
 * no debt, stay with the kernel thread.
 */
#include "model/bios.h"

/* The thread made so many bytes of files dirty; by a call: unless it wrote them to the disk itself in that call. */
void dirty_add(struct model *m, uint32_t thread, uint64_t bytes, bool by_call);

/* The thread itself had a disk write so many sectors. */
void dirty_wrote(struct model *m, uint32_t thread, uint64_t sectors);

/* Nothing that it wrote is dirty any more. */
void dirty_synced(struct model *m, uint32_t thread);

/* Whether the thread writes back for others. */
bool dirty_is_flusher(const struct model *m, uint32_t thread);

/* Of so many sectors written back, how many are due to *who, until then the kernel thread that writes. */
uint64_t dirty_take(struct model *m, uint64_t sectors, struct asker *who);

#endif
