/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Table memory: pages and page faults of threads. */
#include <stddef.h>

#include "view/declare.h"
#include "view/missing.h"

static void get_allocated(const struct view_cell *at, struct value *v)
{
	view_set_recorded(at, v, VIEW_LACKS_PAGE_ALLOC);
}

static void get_freed(const struct view_cell *at, struct value *v)
{
	view_set_recorded(at, v, VIEW_LACKS_PAGE_FREE);
}

static void get_user_faults(const struct view_cell *at, struct value *v)
{
	view_set_recorded(at, v, VIEW_LACKS_FAULT_USER);
}

static void get_kernel_faults(const struct view_cell *at, struct value *v)
{
	view_set_recorded(at, v, VIEW_LACKS_FAULT_KERNEL);
}

static void get_net(const struct view_cell *at, struct value *v)
{
	value_set_null(v);
	if (view_lacks(at, VIEW_LACKS_PAGE_ALLOC | VIEW_LACKS_PAGE_FREE))
		return;
	v->kind = VALUE_INT;
	v->i = (int64_t)(VIEW_FIGURE(at, pages, allocated_pages) - VIEW_FIGURE(at, pages, freed_pages));
}

static const struct column memory_columns[] = {
	COLUMN_HOST,
	COLUMN_TID,
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN_BY(get_allocated, pages, allocated_pages, "ALLOC PG", 8, FIGURE),
	COLUMN_BY(get_freed, pages, freed_pages, "FREED PG", 8, FIGURE),
	OTHER(get_net, "net_pages", "NET PG", "Pages allocated minus pages freed; negative if more were freed.",
	      COLUMN_COUNT, 8, FIGURE | COLUMN_SIGNED),
	COLUMN_BY(get_allocated, pages, allocations, "ALLOCS", 7, FIGURE),
	COLUMN_BY(get_freed, pages, frees, "FREES", 7, FIGURE),
	COLUMN_BY(get_allocated, pages, failures, "FAILED", 6, FIGURE),
	COLUMN_BY(get_user_faults, pages, user_faults, "FAULTS U", 8, FIGURE),
	COLUMN_BY(get_kernel_faults, pages, kernel_faults, "FAULTS K", 8, FIGURE),
	RATE_SAID("allocated_rate", pages, allocated_pages, "ALLOC/s", 7, "Pages allocated per second."),
	RATE_SAID("freed_rate", pages, freed_pages, "FREED/s", 7, "Pages freed per second."),
	RATE_SAID("user_fault_rate", pages, user_faults, "FLT U/s", 7, "Page faults in user mode per second."),
	RATE_SAID("kernel_fault_rate", pages, kernel_faults, "FLT K/s", 7, "Page faults in the kernel per second."),
	COLUMN_VTID,
	COLUMN_VPID,
	COLUMN_CONTAINER(COLUMN_IF_KNOWN),
};

const struct view_table view_memory_table = {
	.name = "memory",
	.title = "Memory",
	.row = "a thread; without tid: idle CPUs and unknown threads",
	.meaning =
		"Pages that the kernel allocated and freed while threads ran, and page faults. A page is the kernel's, "
		"usually 4096 bytes. Memory that the kernel keeps in caches and reuses, or that is taken from caches "
		"in bulk, causes no event; LTTng does not record how much memory a process has resident.",
	.flags = VIEW_REPORT,
	.source = TABLE_PAGES,
	.tables = USES(PAGES) | USES(THREAD),
	.needs = NEED_PAGES | NEED_FAULTS,
	N_COLUMNS(memory_columns),
	.screen =
		"tid pid host container allocated_pages freed_pages net_pages allocated_rate user_faults kernel_faults "
		"comm",
	.sort = "allocated_pages",
	.about = "pages allocated and freed, and page faults",
	.empty = "no page was allocated or freed, and no page fault occurred, in this interval",
	.thread = CELL(pages, thread_uid),
};
