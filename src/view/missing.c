/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/missing.h"

#include <string.h>

#include "event/tracepoints.h"
#include "view/derived.h"

/* Maximum number of tracepoints named; of more only the first. */
enum { NAMED_MAX = 2 };

/* What is missing; each name once. */
struct missing_list {
	GPtrArray *events; /* const char * */
	GPtrArray *hosts;
	bool syscalls;
	bool memory; /* some are in the addition 'memory' to the sets of 'record' */
};

static void add_once(GPtrArray *names, const char *name)
{
	for (guint i = 0; i < names->len; i++)
		if (strcmp(g_ptr_array_index(names, i), name) == 0)
			return;
	g_ptr_array_add(names, (char *)name);
}

/* The state dump comes with every session: its events need not be enabled. */
static bool is_dump(const char *name)
{
	return g_str_has_prefix(name, "lttng_statedump_");
}

/* Returns whether the host lacks anything. */
static bool add_host(struct missing_list *list, uint32_t needs, const struct view_host *host)
{
	bool any = false;

	for (unsigned i = 0; i < host->n_missing; i++) {
		const char *name = host->missing[i];
		uint32_t need = tracepoint_desc(tracepoint_find(name, NULL))->need;

		if (!(need & needs) || is_dump(name))
			continue;
		any = true;
		list->memory |= (need & (NEED_PAGES | NEED_FAULTS)) != 0;
		if (need & NEED_SYSCALL)
			list->syscalls = true;
		else
			add_once(list->events, name);
	}
	if (any)
		g_ptr_array_add(list->hosts, (char *)host->name);
	return any;
}

static void append_names(GString *s, const GPtrArray *names, unsigned n, const char *separator)
{
	for (guint i = 0; i < MIN(names->len, n); i++)
		g_string_append_printf(s, "%s%s", i ? separator : "", (const char *)g_ptr_array_index(names, i));
}

static char *describe(const struct missing_list *list, bool all_hosts)
{
	const bool both = list->events->len && list->syscalls;
	GString *s = g_string_new(NULL);

	if (!all_hosts) {
		append_names(s, list->hosts, list->hosts->len, ", ");
		g_string_append(s, ": ");
	}
	if (list->events->len) {
		g_string_append(s, "no ");
		append_names(s, list->events, NAMED_MAX, ", ");
		g_string_append(s, list->events->len > NAMED_MAX ? " … events" : " events");
	}
	if (list->syscalls)
		g_string_append_printf(s, "%sno system calls", both ? " and " : "");
	g_string_append_printf(s, " were recorded: use 'lttngtop record --set %s'%s or ",
			       list->memory ? "full,memory" : "full", both ? "," : "");
	if (list->events->len) {
		g_string_append(s, "'lttng enable-event -k ");
		append_names(s, list->events, list->events->len, ",");
		g_string_append_c(s, '\'');
	}
	if (list->syscalls)
		g_string_append_printf(s, "%s'lttng enable-event -k --syscall --all'", both ? " and " : "");
	return g_string_free(s, FALSE);
}

/* Else only programs were traced there. */
static bool has_kernel(const struct view_host *host)
{
	const struct interval_table *t = host->iv ? &host->iv->tables[TABLE_HOST] : NULL;

	for (uint32_t i = 0; t && i < t->n_rows; i++)
		if (INTERVAL_ROW(host, &t->rows[i])->cpus)
			return true;
	return false;
}

char *view_missing_text(uint32_t needs, const struct view_host *hosts, unsigned n_hosts,
			const struct view_filter *filter)
{
	struct missing_list list = { .events = g_ptr_array_new(), .hosts = g_ptr_array_new() };
	bool all_hosts = true, any_kernel = false;
	char *text = NULL;

	for (unsigned i = 0; i < n_hosts; i++)
		any_kernel |= has_kernel(&hosts[i]);
	for (unsigned i = 0; i < n_hosts; i++) {
		if (!hosts[i].iv || (filter && !view_filter_host(filter, hosts[i].name)))
			continue;
		if (any_kernel && !has_kernel(&hosts[i]))
			continue;
		if (!add_host(&list, needs, &hosts[i]))
			all_hosts = false;
	}
	if (list.hosts->len)
		text = describe(&list, all_hosts);
	g_ptr_array_free(list.events, TRUE);
	g_ptr_array_free(list.hosts, TRUE);
	return text;
}

static bool has_row(const struct view_table *table, const struct interval *iv)
{
	const struct interval_table *t = &iv->tables[table->source];

	for (uint32_t i = 0; i < t->n_rows; i++)
		if (!table->belongs || table->belongs(&t->rows[i]))
			return true;
	return false;
}

bool view_any_recorded(const struct view_table *table, const struct view_host *hosts, unsigned n_hosts,
		       const struct view_derived *derived)
{
	if (table->supply.needs)
		return derived->rows->len > 0;
	for (unsigned i = 0; i < n_hosts; i++)
		if (hosts[i].iv && has_row(table, hosts[i].iv))
			return true;
	return false;
}

/* The length of an interruption needs all four interrupt events; the raising of softirqs is not needed. */
static uint32_t lacks_without(enum event_kind kind)
{
	switch (kind) {
	case EVENT_SYSCALL_ENTRY:
	case EVENT_SYSCALL_EXIT:
		return VIEW_LACKS_CALLS;
	case EVENT_IRQ_ENTRY:
	case EVENT_IRQ_EXIT:
		return VIEW_LACKS_IRQS | VIEW_LACKS_HARD_IRQS;
	case EVENT_SOFTIRQ_ENTRY:
	case EVENT_SOFTIRQ_EXIT:
		return VIEW_LACKS_IRQS;
	case EVENT_SCHED_SWITCH:
		return VIEW_LACKS_SWITCHES;
	case EVENT_SCHED_WAKING:
		return VIEW_LACKS_WAKEUPS;
	case EVENT_BLOCK_ISSUE:
		return VIEW_LACKS_DISKS;
	case EVENT_BLOCK_COMPLETE:
		return VIEW_LACKS_DISKS | VIEW_LACKS_DISK_DONE;
	case EVENT_NET_QUEUE:
		return VIEW_LACKS_SENT;
	case EVENT_NET_RECEIVE:
		return VIEW_LACKS_RECEIVED;
	case EVENT_PAGE_ALLOC:
		return VIEW_LACKS_PAGE_ALLOC;
	case EVENT_PAGE_FREE:
		return VIEW_LACKS_PAGE_FREE;
	case EVENT_FAULT_USER:
		return VIEW_LACKS_FAULT_USER;
	case EVENT_FAULT_KERNEL:
		return VIEW_LACKS_FAULT_KERNEL;
	default:
		return 0;
	}
}

uint32_t view_column_lacks(const struct column *column)
{
	return (column->flags & COLUMN_SWITCHES ? VIEW_LACKS_SWITCHES : 0) |
	       (column->flags & COLUMN_IRQS ? VIEW_LACKS_HARD_IRQS : 0) |
	       (column->flags & COLUMN_SOFTIRQS ? VIEW_LACKS_IRQS : 0);
}

uint32_t view_host_lacks(const struct view_host *host)
{
	uint32_t lacks = 0;

	for (unsigned i = 0; i < host->n_missing; i++)
		lacks |= lacks_without(tracepoint_find(host->missing[i], NULL));
	return lacks;
}
