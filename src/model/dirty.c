/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/dirty.h"

#include <string.h>

#include "base/nstime.h"

enum { SECTOR_BYTES = 512, PAGE_BYTES = 4096 };

/*
 * The kernel writes back after 30 s and checks every 5: anything older was deleted, or dirtied twice and written once.
 */
#define DEBT_MAX_NS (60 * NS_PER_S)

/* A request that takes longer is not charged to a thread that has ended. */
#define IN_FLIGHT_MAX_NS UINT64_C(10000000000)

#define LOOK_EVERY_NS UINT64_C(1000000000)

static struct debt *debt_at(struct dirty *d, uint32_t i)
{
	return &d->debts[(d->first + i) % DEBTS_MAX];
}

/* bytes of it are paid, or given up. */
static void reduce(struct model *m, struct debt *debt, uint64_t bytes)
{
	const uint32_t row = bios_payer(m, &debt->who);

	debt->bytes -= bytes;
	if (row != NO_ROW)
		thread_info(m, row)->owed -= bytes;
}

static void drop_first(struct model *m)
{
	reduce(m, debt_at(&m->dirty, 0), debt_at(&m->dirty, 0)->bytes);
	m->dirty.first = (m->dirty.first + 1) % DEBTS_MAX;
	m->dirty.n--;
}

static bool is_past(const struct model *m, uint64_t t_ns, uint64_t ns)
{
	return m->now_ns - MIN(m->now_ns, t_ns) > ns;
}

/* Drops debts at the front that are paid or too old. */
static void drop_front(struct model *m)
{
	while (m->dirty.n &&
	       (!debt_at(&m->dirty, 0)->bytes || is_past(m, debt_at(&m->dirty, 0)->since_ns, DEBT_MAX_NS)))
		drop_first(m);
}

/* ---- threads that have ended ---- */

static bool is_to_keep(struct model *m, uint32_t row)
{
	const struct thread *t = thread_info(m, row);

	if (is_past(m, THREAD_ROW(m, row)->exited_ns, DEBT_MAX_NS))
		return false;
	return t->owed || (t->repaid_ns && !is_past(m, t->repaid_ns, IN_FLIGHT_MAX_NS));
}

/* Ends rows for which nothing more is expected. */
static void look_at_kept(struct model *m)
{
	struct dirty *d = &m->dirty;
	uint32_t n = 0;

	if (!d->n_kept || (d->n_kept < DEBTS_MAX && !is_past(m, d->looked_ns, LOOK_EVERY_NS)))
		return;
	d->looked_ns = m->now_ns;
	for (uint32_t i = 0; i < d->n_kept; i++) {
		if (is_to_keep(m, d->kept[i])) {
			d->kept[n++] = d->kept[i];
			continue;
		}
		thread_info(m, d->kept[i])->kept = false;
		state_end(&m->state, TABLE_THREAD, d->kept[i]);
	}
	d->n_kept = n;
}

bool dirty_keep(struct model *m, uint32_t thread)
{
	struct dirty *d = &m->dirty;

	look_at_kept(m);
	if (!is_to_keep(m, thread) || d->n_kept == DEBTS_MAX)
		return false;
	d->kept[d->n_kept++] = thread;
	thread_info(m, thread)->kept = true;
	return true;
}

/* ---- debts ---- */

static void add(struct model *m, uint32_t thread, uint64_t bytes)
{
	struct dirty *d = &m->dirty;
	struct debt *last = d->n ? debt_at(d, d->n - 1) : NULL;
	const uint64_t uid = THREAD_ROW(m, thread)->uid;

	look_at_kept(m);
	if (!last || last->who.thread_uid != uid) {
		if (d->n == DEBTS_MAX)
			drop_first(m);
		last = debt_at(d, d->n++);
		*last = (struct debt){ { uid, thread, true }, m->now_ns, 0 };
	}
	last->bytes += bytes;
	thread_info(m, thread)->owed += bytes;
}

static uint64_t pages(uint64_t bytes)
{
	return bytes / PAGE_BYTES + !!(bytes % PAGE_BYTES);
}

void dirty_write(struct model *m, uint32_t thread, uint64_t before, uint64_t bytes)
{
	struct thread *t = thread_info(m, thread);
	uint64_t dirtied = (pages(before + bytes) - pages(before)) * PAGE_BYTES;

	if (t->wrote_ns && t->wrote_ns >= t->call.entry_ns)
		dirtied -= MIN(dirtied, t->wrote_ahead); /* it wrote those to the disk itself, during the call */
	t->wrote_ahead = 0;
	if (dirtied)
		add(m, thread, dirtied);
}

/* A page of a file becomes dirty. */
void apply_page_dirty(struct model *m, const struct apply *a)
{
	if (a->thread != NO_ROW)
		add(m, a->thread, PAGE_BYTES);
}

/* Up to bytes of the thread's debts are paid. Returns what is left of the bytes. */
static uint64_t repay(struct model *m, uint32_t thread, uint64_t bytes)
{
	const uint64_t uid = THREAD_ROW(m, thread)->uid;
	const struct thread *t = thread_info(m, thread);
	struct debt *debt;
	uint64_t paid;

	for (uint32_t i = 0; bytes && t->owed && i < m->dirty.n; i++) {
		debt = debt_at(&m->dirty, i);
		if (debt->who.thread_uid != uid)
			continue;
		paid = MIN(bytes, debt->bytes);
		reduce(m, debt, paid);
		bytes -= paid;
	}
	drop_front(m);
	return bytes;
}

void dirty_wrote(struct model *m, uint32_t thread, uint64_t sectors)
{
	struct thread *t = thread_info(m, thread);

	if (!t->wrote_ns || t->wrote_ns < t->call.entry_ns)
		t->wrote_ahead = 0;
	t->wrote_ns = m->now_ns;
	t->wrote_ahead += repay(m, thread, sectors * SECTOR_BYTES);
}

void dirty_synced(struct model *m, uint32_t thread)
{
	repay(m, thread, UINT64_MAX);
}

/* ---- writeback ---- */

bool dirty_is_flusher(const struct model *m, uint32_t thread)
{
	const struct thread *t = g_ptr_array_index(m->threads, thread);

	return THREAD_ROW(m, thread)->flags & THREAD_KERNEL &&
	       (!strncmp(t->comm, "kworker/u", 9) || !strncmp(t->comm, "kswapd", 6));
}

uint64_t dirty_take(struct model *m, uint64_t sectors, struct asker *who)
{
	struct debt *debt;
	uint32_t row;

	look_at_kept(m);
	drop_front(m);
	if (!m->dirty.n)
		return sectors;
	debt = debt_at(&m->dirty, 0);
	sectors = MIN(sectors, (debt->bytes + SECTOR_BYTES - 1) / SECTOR_BYTES);
	row = bios_payer(m, &debt->who);
	if (row != NO_ROW) {
		*who = debt->who;
		thread_info(m, row)->repaid_ns = m->now_ns;
	}
	reduce(m, debt, MIN(debt->bytes, sectors * SECTOR_BYTES));
	return sectors;
}
