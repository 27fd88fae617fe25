/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_MISSING_H
#define LT_VIEW_MISSING_H

#include "view/rows.h"

/*
 * Why a table has no rows where it lacks what they are made of (view_table.needs): the tracepoints that the traces
 * of the hosts in the interval do not have, and how to record them, in front of it the hosts if others have
 * them: "web: no block_rq_issue events: lttng enable-event -k block_rq_issue". filter: NULL, or which hosts count.
 * NULL: nothing is missing. Free with g_free().
 */
char *view_missing_text(const struct view_table *table, const struct view_host *hosts, unsigned n_hosts,
			const struct view_filter *filter);

/* What columns are null without. */
enum view_lacks {
	VIEW_LACKS_CALLS = 1 << 0, /* system calls */
	VIEW_LACKS_IRQS = 1 << 1,  /* entries and exits of interrupts and softirqs */
	VIEW_LACKS_PAGE_ALLOC = 1 << 2,
	VIEW_LACKS_PAGE_FREE = 1 << 3,
	VIEW_LACKS_FAULT_USER = 1 << 4,
	VIEW_LACKS_FAULT_KERNEL = 1 << 5,
};

/* Which of them the host's trace does not have (bits). */
uint32_t view_host_lacks(const struct view_host *host);

#endif
