/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/dirty.h"

#include <string.h>

#include "base/nstime.h"
#include "model/parts_internal.h"

enum { SECTOR_BYTES = 512, PAGE_BYTES = 4096 };

/*
 * The kernel writes back after 30 s and checks every 5: anything older was deleted, or dirtied twice and written once.
 */
#define DEBT_MAX_NS (60 * NS_PER_S)

/* A request that takes longer is not charged to a thread that has ended. */
#define IN_FLIGHT_MAX_NS (10 * NS_PER_S)

#define LOOK_EVERY_NS NS_PER_S

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

static void end_kept(struct model *m, uint32_t row)
{
	thread_info(m, row)->kept = false;
	container_kept_end(m, row);
	state_end(&m->state, TABLE_THREAD, row);
}

/* Ends rows for which nothing more is expected, now or when some time has passed. */
static void look_at_kept(struct model *m, bool now)
{
	struct dirty *d = &m->dirty;
	uint32_t ended[DEBTS_MAX], n = 0, n_ended = 0;

	if (!d->n_kept || !(now || is_past(m, d->looked_ns, LOOK_EVERY_NS)))
		return;
	d->looked_ns = m->now_ns;
	for (uint32_t i = 0; i < d->n_kept; i++) {
		if (is_to_keep(m, d->kept[i])) {
			d->kept[n++] = d->kept[i];
			continue;
		}
		ended[n_ended++] = d->kept[i];
	}
	d->n_kept = n;
	for (uint32_t i = 0; i < n_ended; i++)
		end_kept(m, ended[i]);
}

unsigned dirty_forget_kept(struct model *m)
{
	const unsigned n = m->dirty.n_kept;

	while (m->dirty.n_kept)
		end_kept(m, m->dirty.kept[--m->dirty.n_kept]);
	return n;
}

bool dirty_keeps_container(const struct model *m, uint32_t container)
{
	const struct thread *t;

	for (uint32_t i = 0; i < m->dirty.n_kept; i++) {
		t = g_ptr_array_index(m->threads, m->dirty.kept[i]);
		if (t->container == container)
			return true;
	}
	return false;
}

bool dirty_keep(struct model *m, uint32_t thread)
{
	struct dirty *d = &m->dirty;

	look_at_kept(m, d->n_kept == DEBTS_MAX);
	if (!is_to_keep(m, thread) || d->n_kept == DEBTS_MAX)
		return false;
	d->kept[d->n_kept++] = thread;
	thread_info(m, thread)->kept = true;
	return true;
}

/* ---- debts ---- */

static void add(struct model *m, uint32_t thread, uint64_t inode, uint64_t bytes)
{
	struct dirty *d = &m->dirty;
	struct debt *last = d->n ? debt_at(d, d->n - 1) : NULL;
	const uint64_t uid = THREAD_ROW(m, thread)->uid;

	look_at_kept(m, false);
	if (!last || last->who.thread_uid != uid || last->inode != inode) {
		if (d->n == DEBTS_MAX)
			drop_first(m);
		last = debt_at(d, d->n++);
		*last = (struct debt){ .since_ns = m->now_ns, .inode = inode };
		last->who = (struct asker){ .thread_uid = uid, .thread = thread, .back = true };
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
	const bool saw_inode = t->dirties_ns && t->dirties_ns >= t->call.entry_ns;
	uint64_t dirtied = (pages(before + bytes) - pages(before)) * PAGE_BYTES;

	if (m->dirty.sees_pages || (m->dirty.sees_inodes && !saw_inode))
		dirtied = 0; /* counted one by one, or all were dirty before */
	if (t->wrote_ns && t->wrote_ns >= t->call.entry_ns)
		dirtied -= MIN(dirtied, t->wrote_ahead); /* it wrote those to the disk itself, during the call */
	t->wrote_ahead = 0;
	if (dirtied)
		add(m, thread, saw_inode ? t->dirties : 0, dirtied);
}

/* ---- inodes ---- */

/* include/linux/fs.h, before and since Linux 6.12. What else the bits mean is never set when an inode is marked. */
enum { I_DIRTY_PAGES_OLD = 1 << 2, I_DIRTY_PAGES = 1 << 5 };

/* "8:0" as in block events; 0: the inode is not on a disk. */
static uint64_t dev_of(const struct event *ev, const struct ev_inode *p)
{
	const char *text = event_text(ev, p->dev), *end = text + p->dev.len;
	uint64_t number[2] = { 0, 0 };
	unsigned i = 0;

	for (; text < end && *text; text++) {
		if (*text == ':' && !i)
			i = 1;
		else if (*text >= '0' && *text <= '9' && number[i] < 1 << 20)
			number[i] = 10 * number[i] + (uint64_t)(*text - '0');
		else
			return 0;
	}
	return number[0] << 20 | number[1];
}

static uint64_t inode_key(const struct event *ev, const struct ev_inode *p)
{
	return map64_mix(map64_mix(0, dev_of(ev, p)), p->ino) | 1;
}

/* A page of a file becomes dirty. */
void apply_page_dirty(struct model *m, const struct apply *a)
{
	m->dirty.sees_pages = true;
	if (a->thread != NO_ROW)
		add(m, a->thread, inode_key(a->ev, event_payload(a->ev, ev_inode)), PAGE_BYTES);
}

/* Nothing but its pages: of a page that was clean, the thread's call or fault has made it dirty. */
void apply_inode_dirty(struct model *m, const struct apply *a)
{
	const struct ev_inode *p = event_payload(a->ev, ev_inode);

	if (a->thread == NO_ROW || (p->flags != I_DIRTY_PAGES_OLD && p->flags != I_DIRTY_PAGES))
		return;
	m->dirty.sees_inodes = true;
	thread_info(m, a->thread)->dirties_ns = m->now_ns;
	thread_info(m, a->thread)->dirties = inode_key(a->ev, p);
}

uint16_t dirty_batch(struct model *m, uint32_t thread)
{
	struct dirty *d = &m->dirty;
	struct thread *t = thread_info(m, thread);

	if (!m->declared[EVENT_INODE_WRITTEN] || !dirty_is_flusher(m, thread))
		return 0;
	if (!t->batch) {
		d->n_batches += d->n_batches == UINT16_MAX ? 2 : 1;
		t->batch = d->n_batches;
		d->batches[t->batch % BATCHES_MAX] = (struct written_batch){ .number = t->batch };
	}
	return t->batch;
}

/* The thread has passed on what it writes of this inode. */
void apply_inode_written(struct model *m, const struct apply *a)
{
	const struct ev_inode *p = event_payload(a->ev, ev_inode);
	struct written_batch *b;
	struct thread *t;

	if (a->thread == NO_ROW)
		return;
	t = thread_info(m, a->thread);
	b = &m->dirty.batches[t->batch % BATCHES_MAX];
	if (t->batch && b->number == t->batch) {
		b->inode = inode_key(a->ev, p);
		b->is_device = block_is_on(m, p->ino, dev_of(a->ev, p));
	}
	t->batch = 0;
}

/* NULL: it is not known which inode the batch is of. */
static const struct written_batch *known_batch(const struct dirty *d, uint16_t number)
{
	const struct written_batch *b = &d->batches[number % BATCHES_MAX];

	return number && b->number == number && b->inode ? b : NULL;
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

/* The thread of an array (drivers/md): md0_raid5; of a named one: md_home_raid1; of LVM's: mdX_raid1. */
static bool is_array_s(const char *comm)
{
	const char *work = strrchr(comm, '_');

	return work && g_str_has_prefix(comm, "md") && g_str_has_prefix(work, "_raid");
}

/* By name: flushers, reclaim, and the threads through which all writes of an encrypted disk or an array pass. */
bool dirty_is_flusher(const struct model *m, uint32_t thread)
{
	static const char *const names[] = { "kworker/u", "kswapd", "dmcrypt_write" };
	const struct thread *t = g_ptr_array_index(m->threads, thread);
	char comm[sizeof(t->comm) + 1] = "";

	if (!(THREAD_ROW(m, thread)->flags & THREAD_KERNEL))
		return false;
	memcpy(comm, t->comm, sizeof(comm) - 1);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (g_str_has_prefix(comm, names[i]))
			return true;
	return is_array_s(comm);
}

/* The oldest debt of the batch's inode, else of an unknown inode, which is taken to be a file's; NULL: none. */
static struct debt *due(struct dirty *d, uint16_t number)
{
	const struct written_batch *b = known_batch(d, number);
	struct debt *maybe = NULL;

	if (!b)
		return d->n ? debt_at(d, 0) : NULL;
	for (uint32_t i = 0; i < d->n; i++) {
		struct debt *debt = debt_at(d, i);

		if (debt->bytes && debt->inode == b->inode)
			return debt;
		if (debt->bytes && !debt->inode && !b->is_device && !maybe)
			maybe = debt;
	}
	return maybe;
}

uint64_t dirty_take(struct model *m, uint64_t sectors, struct asker *who)
{
	struct debt *debt;
	uint32_t row;

	look_at_kept(m, false);
	drop_front(m);
	debt = due(&m->dirty, who->batch);
	if (!debt)
		return sectors;
	sectors = MIN(sectors, (debt->bytes + SECTOR_BYTES - 1) / SECTOR_BYTES);
	row = bios_payer(m, &debt->who);
	if (row != NO_ROW) {
		*who = debt->who;
		thread_info(m, row)->repaid_ns = m->now_ns;
	}
	reduce(m, debt, MIN(debt->bytes, sectors * SECTOR_BYTES));
	return sectors;
}
