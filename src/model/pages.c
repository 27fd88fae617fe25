/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages that the kernel allocated and freed, and page faults, by the thread that ran: mostly for that thread, but also
 * for interrupts that occurred meanwhile. Events on a CPU that is idle, or runs an unknown thread, go to a row without
 * a thread, so that the rows of a host add up to its events.
 *
 * kmem_mm_page_alloc has pfn -1 if the kernel had no page to give (lttng-modules 2.9 and later).
 * kmem_mm_page_free_batched comes in addition to kmem_mm_page_free for the same page and is not counted.
 * A row is created by its first event: where no such events are recorded there are no rows.
 */
#include "model/parts_internal.h"

enum {
	ORDER_MAX = 32, /* higher orders are damage */
	PAGE_PFN = 1,   /* its bit in event.present */
};

#define NO_PFN UINT64_MAX

#define PAGES_ROW(m, row) STATE_ROW(&(m)->state, PAGES, pages, row)

uint32_t pages_row(struct model *m, uint32_t thread)
{
	uint32_t *row = thread == NO_ROW ? &m->idle_pages : &thread_info(m, thread)->pages;

	if (*row != NO_ROW)
		return *row;
	*row = state_add(&m->state, TABLE_PAGES);
	PAGES_ROW(m, *row)->thread_uid = thread == NO_ROW ? 0 : THREAD_ROW(m, thread)->uid;
	return *row;
}

/* The row of the running thread, about to be changed. */
static struct pages_row *row_to_change(struct model *m, const struct apply *a)
{
	const uint32_t row = pages_row(m, a->thread);

	state_touch(&m->state, TABLE_PAGES, row);
	return PAGES_ROW(m, row);
}

void apply_page_alloc(struct model *m, const struct apply *a)
{
	const struct ev_page *p = event_payload(a->ev, ev_page);
	struct pages_row *r;

	if (p->order >= ORDER_MAX)
		return;
	r = row_to_change(m, a);
	if (event_has(a->ev, PAGE_PFN) && p->pfn == NO_PFN) {
		r->failures++;
		return;
	}
	r->allocations++;
	r->allocated_pages += UINT64_C(1) << p->order;
}

void apply_page_free(struct model *m, const struct apply *a)
{
	const struct ev_page *p = event_payload(a->ev, ev_page);
	struct pages_row *r;

	if (p->order >= ORDER_MAX)
		return;
	r = row_to_change(m, a);
	r->frees++;
	r->freed_pages += UINT64_C(1) << p->order;
}

void apply_fault_user(struct model *m, const struct apply *a)
{
	row_to_change(m, a)->user_faults++;
}

void apply_fault_kernel(struct model *m, const struct apply *a)
{
	row_to_change(m, a)->kernel_faults++;
}

void pages_thread_end(struct model *m, uint32_t thread)
{
	if (thread_info(m, thread)->pages != NO_ROW)
		state_end(&m->state, TABLE_PAGES, thread_info(m, thread)->pages);
	thread_info(m, thread)->pages = NO_ROW;
}
