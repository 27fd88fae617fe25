/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of whole hosts, their event classes and their CPUs: hosts, events, probes, cpus. */
#include <stddef.h>

#include "view/internal.h"

static void get_source(const struct view_cell *at, struct value *v)
{
	value_set_text(v, at->host->source);
}

static void get_tracer(const struct view_cell *at, struct value *v)
{
	value_set_text(v, at->host->tracer);
}

static void get_begin(const struct view_cell *at, struct value *v)
{
	value_set_uint(v, at->host->iv->begin_ns);
}

static void get_end(const struct view_cell *at, struct value *v)
{
	value_set_uint(v, at->host->iv->end_ns);
}

static void get_missing(const struct view_cell *at, struct value *v)
{
	GArray *items = at->rows->internal->items;

	for (unsigned i = 0; i < at->host->n_missing; i++) {
		struct value_item item = { at->host->missing[i], 0 };

		g_array_append_val(items, item);
	}
	v->kind = VALUE_LIST;
	v->list.n = items->len;
	v->list.items = (const struct value_item *)(const void *)items->data;
}

static void get_status(const struct view_cell *at, struct value *v)
{
	static const char *const names[] = {
		[HOST_OK] = "ok", [HOST_ENDED] = "ended", [HOST_DEGRADED] = "degraded", [HOST_SILENT] = "silent",
		[HOST_AWAY] = "away"
	};
	uint64_t status = INTERVAL_ROW(host, &at->row->row)->status;

	value_set_text(v, status < G_N_ELEMENTS(names) ? names[status] : "unknown");
}

#define REPORTED COLUMN_IN_REPORT
#define LEVEL (COLUMN_IN_REPORT | COLUMN_LEVEL)
#define FIGURE (COLUMN_IN_REPORT | COLUMN_COUNTER)
#define HOST_COUNT(name, header, meaning, width, flags) \
	{ #name, header, meaning, COLUMN_COUNT, width, flags, CELL(host, name), view_get_value }
#define HOST_RATE(name, cell, header, meaning) \
	{ name, header, meaning, COLUMN_BYTE_RATE, 8, 0, CELL(host, cell), view_get_rate }

static const struct column hosts_columns[] = {
	COLUMN_HOST,
	{ "source", "SOURCE", "Directory or URL that it comes from.", COLUMN_TEXT, 24, REPORTED, 0, get_source },
	{ "tracer", "TRACER", "Tracer and its version.", COLUMN_TEXT, 20, REPORTED, 0, get_tracer },
	{ "begin_ns", "BEGIN", "Begin of its record inside the interval.", COLUMN_TIME, 15, REPORTED, 0, get_begin },
	{ "end_ns", "END", "End of its record inside the interval.", COLUMN_TIME, 15, REPORTED, 0, get_end },
	HOST_COUNT(events, "EVENTS", "Events in its traces.", 9, FIGURE),
	HOST_COUNT(lost_events, "LOST", "Events that the tracer discarded.", 8, FIGURE),
	HOST_COUNT(lost_packets, "LOST PKT", "Packets that the tracer overwrote.", 8, FIGURE),
	HOST_COUNT(backward_steps, "BACKWARD", "How often time went back inside a stream.", 8, FIGURE),
	HOST_COUNT(late_events, "LATE", "Events that came after their time had been passed.", 6, FIGURE),
	HOST_COUNT(cpus, "CPUS", "CPUs online at the interval's end.", 4, LEVEL),
	HOST_COUNT(threads, "THREADS", "Threads alive at the interval's end.", 7, LEVEL),
	HOST_COUNT(fds, "FDS", "Open file descriptors known at the interval's end.", 6, LEVEL),
	{ "missing_events", "MISSING EVENTS", "Tracepoints that some table needs and the trace does not have.",
	  COLUMN_LIST, 0, REPORTED, 0, get_missing },
	{ "reason", "REASON", "Why it is incomplete or absent; which of several sessions its figures come from.",
	  COLUMN_TEXT, 20, REPORTED | COLUMN_IF_KNOWN, CELL(host, reason), view_get_text },
	{ "kernel", "KERNEL", "Release of its kernel.", COLUMN_TEXT, 20, REPORTED | COLUMN_IF_KNOWN, 0,
	  view_get_host_kernel },
	{ "boot_id", "BOOT ID", "Which boot of it was recorded.", COLUMN_TEXT, 36, REPORTED | COLUMN_IF_KNOWN, 0,
	  view_get_host_boot_id },
	{ "clock", "CLOCK", "Whether its clock was synchronised when it was recorded.", COLUMN_TEXT, 20,
	  REPORTED | COLUMN_IF_KNOWN, 0, view_get_host_clock },
	{ "status", "STATUS", "Whether it still sends, has ended, or is degraded.", COLUMN_TEXT, 8, 0,
	  CELL(host, status), get_status },
	{ "event_rate", "EVENTS/s", "Events per second.", COLUMN_RATE, 8, 0, CELL(host, events), view_get_rate },
	HOST_COUNT(threads_new, "+THR", "Threads born.", 6, 0),
	HOST_COUNT(threads_gone, "-THR", "Threads that exited.", 6, 0),
	HOST_COUNT(fds_opened, "+FDS", "File descriptors made.", 6, 0),
	HOST_COUNT(fds_closed, "-FDS", "File descriptors closed.", 6, 0),
	HOST_RATE("disk_read_rate", disk_read_bytes, "DISK R/s", "Bytes per second read from block devices."),
	HOST_RATE("disk_write_rate", disk_write_bytes, "DISK W/s", "Bytes per second written to block devices."),
	HOST_RATE("rx_rate", rx_bytes, "NET R/s", "Bytes per second received, loopback excepted."),
	HOST_RATE("tx_rate", tx_bytes, "NET W/s", "Bytes per second sent, loopback excepted."),
};

const struct view_table view_hosts_table = {
	.name = "hosts",
	.title = "Hosts",
	.row = "a host",
	.meaning = "What was read of each host, and what is missing.",
	.flags = VIEW_REPORT,
	.source = TABLE_HOST,
	.tables = USES(HOST),
	N_COLUMNS(hosts_columns),
	.screen = "host status event_rate lost_events lost_packets late_events cpus threads fds tracer reason",
	.sort = "host",
};

static const struct column events_columns[] = {
	COLUMN_HOST,
	{ "name", "EVENT", "Name of the event class.", COLUMN_TEXT, 0, REPORTED | COLUMN_KEY, CELL(event, name),
	  view_get_text },
	{ "count", "COUNT", "Events of this class.", COLUMN_COUNT, 9, FIGURE, CELL(event, count), view_get_value },
	{ "used", "USED", "Whether some figure comes from it.", COLUMN_FLAG, 5, REPORTED, CELL(event, used),
	  view_get_flag },
	{ "rate", "RATE/s", "Events of this class per second.", COLUMN_RATE, 8, 0, CELL(event, count),
	  view_get_rate },
};

const struct view_table view_events_table = {
	.name = "events",
	.title = "Events",
	.row = "an event class",
	.meaning = "How many events of each class were recorded.",
	.flags = VIEW_REPORT,
	.source = TABLE_EVENT,
	.tables = USES(EVENT),
	N_COLUMNS(events_columns),
	.screen = "host count rate used name",
	.sort = "count",
};

static bool is_probe(const struct interval_row *row)
{
	return INTERVAL_ROW(event, row)->probe;
}

static const struct column probes_columns[] = {
	COLUMN_HOST,
	{ "name", "PROBE", "Name of the probe's event.", COLUMN_TEXT, 0, REPORTED | COLUMN_KEY, CELL(event, name),
	  view_get_text },
	{ "count", "COUNT", "How often it was hit.", COLUMN_COUNT, 9, FIGURE, CELL(event, count), view_get_value },
	{ "rate", "RATE/s", "Hits per second.", COLUMN_RATE, 8, 0, CELL(event, count), view_get_rate },
};

const struct view_table view_probes_table = {
	.name = "probes",
	.title = "Probes",
	.row = "a kprobe or function event",
	.meaning = "How often each probe was hit.",
	.flags = VIEW_REPORT,
	.source = TABLE_EVENT,
	.tables = USES(EVENT),
	N_COLUMNS(probes_columns),
	.screen = "host count rate name",
	.sort = "count",
	.belongs = is_probe,
};

static void get_busy_percent(const struct view_cell *at, struct value *v)
{
	uint64_t online = VIEW_FIGURE(at, cpu, online_ns);

	value_set_null(v);
	if (online)
		value_set_real(v, 100.0 * (double)view_figure(at, at->column->cell) / (double)online);
}

static void get_cpu_state(const struct view_cell *at, struct value *v)
{
	static const char *const names[] = {
		[CPU_UNKNOWN] = "unknown", [CPU_IDLE] = "idle", [CPU_BUSY] = "busy", [CPU_OFFLINE] = "offline"
	};
	uint64_t state = INTERVAL_ROW(cpu, &at->row->row)->state;

	value_set_text(v, state < G_N_ELEMENTS(names) ? names[state] : "unknown");
}

static void get_running(const struct view_cell *at, struct value *v)
{
	const struct interval_row *thread =
		interval_find(at->host->iv, TABLE_THREAD, INTERVAL_ROW(cpu, &at->row->row)->thread_uid);

	value_set_null(v);
	if (thread)
		value_set_text(v, strpool_text((strid)INTERVAL_ROW(thread, thread)->comm));
}

#define CPU_NS(name, header, meaning) \
	{ #name, header, meaning, COLUMN_NS, 8, FIGURE, CELL(cpu, name), view_get_value }
#define CPU_PERCENT(name, cell, header, meaning) \
	{ name, header, meaning, COLUMN_PERCENT, 6, 0, CELL(cpu, cell), get_busy_percent }

static const struct column cpus_columns[] = {
	COLUMN_HOST,
	{ "cpu", "CPU", "Its number.", COLUMN_ID, 4, REPORTED | COLUMN_KEY, CELL(cpu, cpu), view_get_value },
	CPU_NS(busy_ns, "BUSY", "Time with a thread running."),
	CPU_NS(idle_ns, "IDLE", "Time with the idle task running."),
	CPU_NS(irq_ns, "IRQ", "Time in interrupt handlers, part of the two before."),
	CPU_NS(softirq_ns, "SOFTIRQ", "Time in softirqs without nested interrupts, part of busy and idle."),
	CPU_NS(online_ns, "ONLINE", "Time it was online: busy and idle."),
	{ "switches", "SWITCH", "Context switches.", COLUMN_COUNT, 8, FIGURE, CELL(cpu, switches), view_get_value },
	CPU_PERCENT("busy_percent", busy_ns, "BUSY%", "Busy time in percent of the time online."),
	CPU_PERCENT("irq_percent", irq_ns, "IRQ%", "Time in interrupt handlers in percent of the time online."),
	CPU_PERCENT("softirq_percent", softirq_ns, "SIRQ%", "Time in softirqs in percent of the time online."),
	{ "state", "STATE", "State at the interval's end.", COLUMN_TEXT, 7, 0, CELL(cpu, state), get_cpu_state },
	{ "running", "RUNNING", "Name of the thread that runs at the interval's end.", COLUMN_TEXT, 0, 0,
	  CELL(cpu, thread_uid), get_running },
	{ "lost_events", "LOST", "Events discarded on this CPU.", COLUMN_COUNT, 8, 0, CELL(cpu, lost_events),
	  view_get_value },
};

const struct view_table view_cpus_table = {
	.name = "cpus",
	.title = "CPUs",
	.row = "a CPU",
	.meaning = "How the CPUs spent their time.",
	.flags = VIEW_REPORT,
	.source = TABLE_CPU,
	.tables = USES(CPU) | USES(THREAD),
	.needs = NEED_CPU,
	N_COLUMNS(cpus_columns),
	.screen = "host cpu state busy_percent irq_percent softirq_percent busy_ns idle_ns switches lost_events "
		  "running",
	.sort = "host",
};
