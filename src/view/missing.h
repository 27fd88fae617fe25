/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_MISSING_H
#define LT_VIEW_MISSING_H

#include "view/rows.h"

/*
 * Explains why a table is empty, or figures are null, if the events that are needed for it are missing: names the
 * tracepoints that the hosts' traces lack in the interval, and how to record them, preceded by the hosts if others have
 * them: "web: no block_rq_issue events were recorded: use …". needs: enum need, such as view_table.needs. filter: which
 * hosts count; NULL: all. Returns NULL if nothing is missing; free with g_free().
 */
char *view_missing_text(uint32_t needs, const struct view_host *hosts, unsigned n_hosts,
			const struct view_filter *filter);

/* view_table.unrecorded of tables of perf counters. */
#define VIEW_PERF_UNRECORDED                                                                                \
	"no perf counters up to here: use 'lttngtop record --perf page-fault' or 'lttng add-context -k -t " \
	"perf:cpu:page-fault …'"

/*
 * Whether there is any row that the table could show, whatever its figures and the filter: in a host's interval or, of
 * a table with a supply, in what was derived. If not, view_table.unrecorded says why.
 */
bool view_any_recorded(const struct view_table *table, const struct view_host *hosts, unsigned n_hosts,
		       const struct view_derived *derived);

/* Events without which columns are null. */
enum view_lacks {
	VIEW_LACKS_CALLS = 1 << 0, /* system calls */
	VIEW_LACKS_IRQS = 1 << 1,  /* entries and exits of interrupts and softirqs */
	VIEW_LACKS_PAGE_ALLOC = 1 << 2,
	VIEW_LACKS_PAGE_FREE = 1 << 3,
	VIEW_LACKS_FAULT_USER = 1 << 4,
	VIEW_LACKS_FAULT_KERNEL = 1 << 5,
	VIEW_LACKS_WAKEUPS = 1 << 6,
	VIEW_LACKS_DISKS = 1 << 7, /* requests: issued, done */
	VIEW_LACKS_SWITCHES = 1 << 8,
	VIEW_LACKS_SENT = 1 << 9,       /* packets queued for sending */
	VIEW_LACKS_HARD_IRQS = 1 << 10, /* entries and exits of interrupts */
	VIEW_LACKS_RECEIVED = 1 << 11,  /* packets received */
	VIEW_LACKS_DISK_DONE = 1 << 12, /* requests done, which have the bytes */
};

/* The column is null where any of these events were not recorded. */
uint32_t view_column_lacks(const struct column *column);

/* The events that the host's trace lacks, as bits. */
uint32_t view_host_lacks(const struct view_host *host);

#endif
