/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of whole hosts, their event classes and their CPUs: hosts, events, probes, cpus. */
#include <stddef.h>

#include "base/nstime.h"
#include "view/declare.h"
#include "view/missing.h"

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
	view_set_time(at, at->host->iv->begin_ns, v);
}

static void get_end(const struct view_cell *at, struct value *v)
{
	view_set_time(at, at->host->iv->end_ns, v);
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
	static const char *const names[] = { [HOST_OK] = "ok",
					     [HOST_ENDED] = "ended",
					     [HOST_DEGRADED] = "degraded",
					     [HOST_SILENT] = "silent",
					     [HOST_AWAY] = "away" };
	uint64_t status = INTERVAL_ROW(host, &at->row->row)->status;

	value_set_text(v, status < G_N_ELEMENTS(names) ? names[status] : "unknown");
}

/* What only the kernel's trace shows: it has at least one CPU. */
static void get_of_kernel(const struct view_cell *at, struct value *v)
{
	view_get_by_form(at, v);
	if (!INTERVAL_ROW(host, &at->row->row)->cpus)
		value_set_null(v);
}

static const struct column hosts_columns[] = {
	COLUMN_HOST,
	OTHER(get_source, "source", "SOURCE", "Directory or URL of the source.", COLUMN_TEXT, 24, REPORTED),
	OTHER(get_tracer, "tracer", "TRACER", "Name and version of the tracer.", COLUMN_TEXT, 20, REPORTED),
	OTHER(get_begin, "begin_ns", "BEGIN", "Start of its recorded time inside the interval.", COLUMN_TIME, 15,
	      REPORTED),
	OTHER(get_end, "end_ns", "END", "End of its recorded time inside the interval.", COLUMN_TIME, 15, REPORTED),
	COLUMN(host, events, "EVENTS", 9, FIGURE),
	COLUMN(host, lost_events, "LOST", 8, FIGURE),
	COLUMN(host, lost_packets, "LOST PKT", 8, FIGURE),
	COLUMN(host, backward_steps, "BACKWARD", 8, FIGURE),
	COLUMN(host, late_events, "LATE", 6, FIGURE),
	COLUMN_BY(get_of_kernel, host, cpus, "CPUS", 4, LEVEL),
	COLUMN_BY(get_of_kernel, host, threads, "THREADS", 7, LEVEL),
	COLUMN_BY(get_of_kernel, host, fds, "FDS", 6, LEVEL),
	OTHER(get_missing, "missing_events", "MISSING EVENTS",
	      "Tracepoints needed by some table but missing in the trace.", COLUMN_LIST, 0, REPORTED),
	COLUMN(host, reason, "REASON", 20, REPORTED | COLUMN_IF_KNOWN),
	OTHER(view_get_host_kernel, "kernel", "KERNEL", "Release of the kernel.", COLUMN_TEXT, 20,
	      REPORTED | COLUMN_IF_KNOWN),
	OTHER(view_get_host_boot_id, "boot_id", "BOOT ID", "Boot ID of the recorded boot.", COLUMN_TEXT, 36,
	      REPORTED | COLUMN_IF_KNOWN),
	OTHER(view_get_host_clock, "clock", "CLOCK", "Whether the clock was synchronised when it was recorded.",
	      COLUMN_TEXT, 20, REPORTED | COLUMN_IF_KNOWN),
	OTHER(get_status, "status", "STATUS",
	      "Status at the end of the interval: ok; ended (its live session is over); degraded (part of its data is "
	      "missing); silent (no events come from it); away (no session of it is attached).",
	      COLUMN_TEXT, 8, 0),
	RATE_SAID("event_rate", host, events, "EVENTS/s", 8, "Events per second."),
	COLUMN(host, threads_new, "+THR", 6, 0),
	COLUMN(host, threads_gone, "-THR", 6, 0),
	COLUMN(host, fds_opened, "+FDS", 6, 0),
	COLUMN(host, fds_closed, "-FDS", 6, 0),
	RATE("disk_read_rate", host, disk_read_bytes, "DISK R/s", 8),
	RATE("disk_write_rate", host, disk_write_bytes, "DISK W/s", 8),
	RATE("rx_rate", host, rx_bytes, "NET R/s", 8),
	RATE("tx_rate", host, tx_bytes, "NET W/s", 8),
};

const struct view_table view_hosts_table = {
	.name = "hosts",
	.title = "Hosts",
	.row = "a host",
	.meaning = "Data read from each host, and data that is missing.",
	.flags = VIEW_REPORT,
	.source = TABLE_HOST,
	.tables = USES(HOST) | MODEL_FDS,
	N_COLUMNS(hosts_columns),
	.screen = "host status event_rate lost_events lost_packets late_events cpus threads fds tracer reason",
	.sort = "host",
};

static const struct column events_columns[] = {
	COLUMN_HOST,
	COLUMN(event, name, "EVENT", 0, REPORTED | COLUMN_KEY),
	COLUMN(event, count, "COUNT", 9, FIGURE),
	COLUMN(event, used, "USED", 5, REPORTED),
	RATE("rate", event, count, "RATE/s", 8),
};

const struct view_table view_events_table = {
	.name = "events",
	.title = "Events",
	.row = "an event class",
	.meaning = "Number of recorded events of each class.",
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
	COLUMN_SAID("name", event, name, "PROBE", 0, REPORTED | COLUMN_KEY, "Name of the probe's event."),
	COLUMN_SAID("count", event, count, "COUNT", 9, FIGURE, "Number of hits."),
	RATE_SAID("rate", event, count, "RATE/s", 8, "Hits per second."),
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
	.unrecorded =
		"no probe was hit up to here: use 'lttngtop record --kprobe NAME=SYMBOL' or 'lttng enable-event -k "
		"--probe SYMBOL NAME'",
};

/* column.cell: a cell of the CPU */
static void get_busy_percent(const struct view_cell *at, struct value *v)
{
	uint64_t online = VIEW_FIGURE(at, cpu, online_ns);

	value_set_null(v);
	if (online)
		value_set_real(v, 100.0 * (double)view_figure(at, at->column->cell) / (double)online);
}

static const char *cpu_state_name(unsigned i)
{
	static const char *const names[] = {
		[CPU_UNKNOWN] = "unknown", [CPU_IDLE] = "idle", [CPU_BUSY] = "busy", [CPU_OFFLINE] = "offline"
	};

	return i < G_N_ELEMENTS(names) ? names[i] : NULL;
}

static void get_cpu_state(const struct view_cell *at, struct value *v)
{
	const uint64_t state = INTERVAL_ROW(cpu, &at->row->row)->state;
	const char *name = cpu_state_name((unsigned)state);

	value_set_text(v, name ? name : "unknown");
	if (state != CPU_OFFLINE && view_lacks(at, VIEW_LACKS_SWITCHES))
		value_set_null(v);
}

static void get_running(const struct view_cell *at, struct value *v)
{
	const struct interval_row *thread =
		interval_find(at->host->iv, TABLE_THREAD, INTERVAL_ROW(cpu, &at->row->row)->thread_uid);

	value_set_null(v);
	if (thread)
		value_set_text(v, strpool_text((strid)INTERVAL_ROW(thread, thread)->comm));
}

/* What the sum of kHz * us would be at that time. */
static uint64_t khz_us_at(const struct cpu_row *r, uint64_t at_ns)
{
	return r->khz_us + (at_ns > r->khz_since_ns ? r->khz * ((at_ns - r->khz_since_ns) / NS_PER_US) : 0);
}

/* The mean over that part of the interval in which it is known. */
static void get_frequency(const struct view_cell *at, struct value *v)
{
	const struct interval *iv = at->host->iv;
	const struct cpu_row *a = (const struct cpu_row *)(const void *)at->row->row.a;
	const struct cpu_row *b = INTERVAL_ROW(cpu, &at->row->row);
	const bool known_before = a && a->khz;
	const uint64_t begin_ns = known_before ? iv->begin_ns : b->khz_first_ns;

	value_set_null(v);
	if (!b->khz || iv->end_ns < begin_ns + NS_PER_US)
		return;
	value_set_uint(v, (khz_us_at(b, iv->end_ns) - (known_before ? khz_us_at(a, begin_ns) : 0)) /
				  ((iv->end_ns - begin_ns) / NS_PER_US));
}

#define CPU_PERCENT(name, cell, header, flags, meaning) \
	OTHER_OF(CELL(cpu, cell), get_busy_percent, name, header, meaning, COLUMN_PERCENT, 6, flags)

static const struct column cpus_columns[] = {
	COLUMN_HOST,
	COLUMN(cpu, cpu, "CPU", 4, REPORTED | COLUMN_KEY),
	COLUMN(cpu, busy_ns, "BUSY", 8, FIGURE | COLUMN_SWITCHES),
	COLUMN(cpu, idle_ns, "IDLE", 8, FIGURE | COLUMN_SWITCHES),
	COLUMN(cpu, irq_ns, "IRQ", 8, FIGURE | COLUMN_IRQS),
	COLUMN(cpu, softirq_ns, "SOFTIRQ", 8, FIGURE | COLUMN_SOFTIRQS),
	COLUMN(cpu, online_ns, "ONLINE", 8, FIGURE),
	COLUMN(cpu, switches, "SWITCH", 8, FIGURE | COLUMN_SWITCHES),
	OTHER(get_frequency, "frequency_khz", "kHz",
	      "Mean frequency in kHz over time, idle or not, as set by the kernel, from the first power_cpu_frequency "
	      "event on; null before it.",
	      COLUMN_COUNT, 8, LEVEL | COLUMN_IF_KNOWN),
	CPU_PERCENT("busy_percent", busy_ns, "BUSY%", COLUMN_SWITCHES, "Busy time, in percent of the time online."),
	CPU_PERCENT("irq_percent", irq_ns, "IRQ%", COLUMN_IRQS,
		    "Time in interrupt handlers, in percent of the time online."),
	CPU_PERCENT("softirq_percent", softirq_ns, "SIRQ%", COLUMN_SOFTIRQS,
		    "Time in softirqs, in percent of the time online."),
	OTHER(get_cpu_state, "state", "STATE", "State at the end of the interval.", COLUMN_TEXT, 7, 0),
	OTHER(get_running, "running", "RUNNING",
	      "Name of the thread running at the end of the "
	      "interval.",
	      COLUMN_TEXT, 0, COLUMN_SWITCHES),
	COLUMN(cpu, lost_events, "LOST", 8, 0),
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
	.state_name = cpu_state_name,
};
