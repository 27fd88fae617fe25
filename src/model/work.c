/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work items: which thread queued what a thread of a work queue (kworker) executes now. For the wait log only.
 *
 *   workqueue_queue_work    of dd ──────▶ slot 5 of the work's address ─────┐
 *   workqueue_execute_start of kworker/u8:6, same address: works for dd ◀───┘   and the slot is free
 *
 * The kernel calls a work item by its address, which is reused; an item can be queued only once at a time. The latest
 * WORKS_MAX items are remembered.
 */
#include <inttypes.h>

#include "model/parts_internal.h"

/* The kernel has some hundred functions for work items. */
enum { FUNCTIONS_MAX = 4096 };

struct works {
	struct map64 slots; /* address -> slot */
	uint64_t addresses[WORKS_MAX];
	uint32_t n;             /* queued so far */
	struct map64 functions; /* address -> strid */
	model_symbol_fn *symbol;
	const void *symbol_data;
};

static struct works *works_of(struct model *m)
{
	if (!m->works)
		m->works = g_new0(struct works, 1);
	return m->works;
}

void works_destroy(struct model *m)
{
	if (!m->works)
		return;
	map64_release(&m->works->slots);
	map64_release(&m->works->functions);
	g_free(m->works);
	m->works = NULL;
}

void model_set_symbols(struct model *m, model_symbol_fn *symbol, const void *data)
{
	works_of(m)->symbol = symbol;
	works_of(m)->symbol_data = data;
}

static strid function_name(struct works *w, uint64_t address)
{
	const uint32_t known = map64_get(&w->functions, address);
	const char *symbol;
	char hex[24];
	strid name;

	if (known != MAP64_NONE)
		return known;
	if (!address || w->functions.count >= FUNCTIONS_MAX)
		return STRID_NONE;
	symbol = w->symbol ? w->symbol(w->symbol_data, address) : NULL;
	g_snprintf(hex, sizeof(hex), "0x%" PRIx64, address);
	name = strpool_intern_z(symbol ? symbol : hex);
	map64_put(&w->functions, address, name);
	return name;
}

/* Frees the slot of an item; NO_WORK: it has none. */
static int32_t take_slot(struct works *w, uint64_t address)
{
	const uint32_t slot = map64_get(&w->slots, address);

	if (slot == MAP64_NONE)
		return NO_WORK;
	map64_del(&w->slots, address);
	return (int32_t)slot;
}

void apply_work_queue(struct model *m, const struct apply *a)
{
	const uint64_t address = event_payload(a->ev, ev_work)->work;
	struct works *w = works_of(m);
	uint32_t slot;

	if (!m->wait_log || !a->cpu)
		return;
	take_slot(w, address);
	slot = w->n++ % WORKS_MAX;
	if (map64_get(&w->slots, w->addresses[slot]) == slot)
		map64_del(&w->slots, w->addresses[slot]);
	w->addresses[slot] = address;
	map64_put(&w->slots, address, slot);
	waitlog_work(m, a, WAIT_EVENT_WORK_QUEUED, (int32_t)slot, STRID_NONE);
}

void apply_work_start(struct model *m, const struct apply *a)
{
	const struct ev_work *p = event_payload(a->ev, ev_work);
	struct works *w = works_of(m);

	if (m->wait_log && a->cpu)
		waitlog_work(m, a, WAIT_EVENT_WORK_START, take_slot(w, p->work), function_name(w, p->function));
}

void apply_work_end(struct model *m, const struct apply *a)
{
	if (m->wait_log && a->cpu)
		waitlog_work(m, a, WAIT_EVENT_WORK_END, NO_WORK, STRID_NONE);
}
