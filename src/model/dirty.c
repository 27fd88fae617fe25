/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/dirty.h"

#include <string.h>

#include "base/nstime.h"

enum { SECTOR_BYTES = 512, PAGE_BYTES = 4096 };

/*
 * The kernel writes back after 30 s and checks every 5: anything older was deleted, or dirtied twice and written once.
 */
#define DEBT_MAX_NS (60 * NS_PER_S)

static struct debt *debt_at(struct dirty *d, uint32_t i)
{
	return &d->debts[(d->first + i) % DEBTS_MAX];
}

/* Drops debts at the front that are paid or too old. */
static void drop_front(struct dirty *d, uint64_t now_ns)
{
	while (d->n && (!debt_at(d, 0)->bytes || now_ns - MIN(now_ns, debt_at(d, 0)->since_ns) > DEBT_MAX_NS)) {
		d->first = (d->first + 1) % DEBTS_MAX;
		d->n--;
	}
}

void dirty_add(struct model *m, uint32_t thread, uint64_t bytes, bool by_call)
{
	struct thread *t = thread_info(m, thread);
	struct dirty *d = &m->dirty;
	struct debt *last = d->n ? debt_at(d, d->n - 1) : NULL;
	const uint64_t uid = THREAD_ROW(m, thread)->uid;

	if (by_call && t->wrote_ns && t->wrote_ns >= t->call.entry_ns)
		bytes -= MIN(bytes, t->wrote_ahead);
	t->wrote_ahead = 0;
	if (!bytes)
		return;
	if (last && last->who.thread_uid == uid) {
		last->bytes += bytes;
		return;
	}
	if (d->n == DEBTS_MAX) {
		d->first = (d->first + 1) % DEBTS_MAX;
		d->n--;
	}
	*debt_at(d, d->n++) = (struct debt){ { uid, thread, true }, m->now_ns, bytes };
}

void dirty_wrote(struct model *m, uint32_t thread, uint64_t sectors)
{
	const uint64_t uid = THREAD_ROW(m, thread)->uid;
	struct thread *t = thread_info(m, thread);
	uint64_t bytes = sectors * SECTOR_BYTES, paid;
	struct debt *debt;

	for (uint32_t i = 0; bytes && i < m->dirty.n; i++) {
		debt = debt_at(&m->dirty, i);
		if (debt->who.thread_uid != uid)
			continue;
		paid = MIN(bytes, debt->bytes);
		debt->bytes -= paid;
		bytes -= paid;
	}
	if (!t->wrote_ns || t->wrote_ns < t->call.entry_ns)
		t->wrote_ahead = 0;
	t->wrote_ns = m->now_ns;
	t->wrote_ahead += bytes;
	drop_front(&m->dirty, m->now_ns);
}

void dirty_synced(struct model *m, uint32_t thread)
{
	const uint64_t uid = THREAD_ROW(m, thread)->uid;

	for (uint32_t i = 0; i < m->dirty.n; i++)
		if (debt_at(&m->dirty, i)->who.thread_uid == uid)
			debt_at(&m->dirty, i)->bytes = 0;
	drop_front(&m->dirty, m->now_ns);
}

bool dirty_is_flusher(const struct model *m, uint32_t thread)
{
	const struct thread *t = g_ptr_array_index(m->threads, thread);

	return THREAD_ROW(m, thread)->flags & THREAD_KERNEL &&
	       (!strncmp(t->comm, "kworker/u", 9) || !strncmp(t->comm, "kswapd", 6));
}

uint64_t dirty_take(struct model *m, uint64_t sectors, struct asker *who)
{
	struct dirty *d = &m->dirty;
	struct debt *debt;

	drop_front(d, m->now_ns);
	if (!d->n)
		return sectors;
	debt = debt_at(d, 0);
	sectors = MIN(sectors, (debt->bytes + SECTOR_BYTES - 1) / SECTOR_BYTES);
	if (bios_thread(m, &debt->who) != NO_ROW)
		*who = debt->who;
	debt->bytes -= MIN(debt->bytes, sectors * SECTOR_BYTES);
	return sectors;
}

/* A page of a file becomes dirty. */
void apply_page_dirty(struct model *m, const struct apply *a)
{
	if (a->thread != NO_ROW)
		dirty_add(m, a->thread, PAGE_BYTES, false);
}
