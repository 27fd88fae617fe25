/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the thread used: CPU time, and on what; bytes, also at disks; counters and pages. */
#include "ui/details.h"
#include "ui/internal.h"
#include "view/missing.h"

enum { PERF_COUNTERS = 8 };

static void add_cpu(struct details *h, const struct interval_row *row)
{
	const uint64_t cpu_ns = FIGURE(h, row, cpu_ns);
	const uint64_t switches = FIGURE(h, row, switches), migrations = FIGURE(h, row, migrations);
	char share[FORMAT_SIZE], cpu[FORMAT_SIZE], ready[FORMAT_SIZE], blocked[FORMAT_SIZE];

	details_line(h, "cpu", "%s  %s on a CPU, %s ready, %s blocked; %" PRIu64 " switch%s, %" PRIu64 " migration%s",
		     details_share(h, share, cpu_ns), details_duration(h, cpu, cpu_ns),
		     details_duration(h, ready, FIGURE(h, row, ready_ns)),
		     details_duration(h, blocked, FIGURE(h, row, blocked_ns)), switches, switches == 1 ? "" : "es",
		     migrations, migrations == 1 ? "" : "s");
}

/* What CPU time was spent on, if the trace shows it. */
static void add_modes(struct details *h, const struct interval_row *row)
{
	const uint64_t system_ns = FIGURE(h, row, system_ns);
	const uint32_t lacks = data_host_lacks(h->host);
	const uint64_t interrupted_ns = lacks & VIEW_LACKS_IRQS ? 0 : FIGURE(h, row, interrupted_ns);
	char text[FORMAT_SIZE];
	GString *s = g_string_new(NULL);

	if (!(lacks & VIEW_LACKS_CALLS)) {
		g_string_append_printf(s, "%s user, ",
				       details_duration(h, text, FIGURE(h, row, cpu_ns) - system_ns - interrupted_ns));
		g_string_append_printf(s, "%s system", details_duration(h, text, system_ns));
	}
	if (!(lacks & VIEW_LACKS_IRQS))
		g_string_append_printf(s, "%s%s interrupted", s->len ? ", " : "",
				       details_duration(h, text, interrupted_ns));
	if (s->len)
		details_line(h, "cpu time", "%s", s->str);
	g_string_free(s, TRUE);
}

/* Of the classes, in the order of enum io_class. */
static void add_bytes(struct details *h, const char *label, const uint64_t bytes[5])
{
	const uint64_t netfs = bytes[4];
	char all[16], d[16], n[16], p[16], o[16], f[16];

	details_line(h, label, "%s (disk %s, net %s, pipe %s, other %s%s%s)",
		     format_bytes(all, sizeof(all), (double)(bytes[0] + bytes[1] + bytes[2] + bytes[3] + netfs)),
		     format_bytes(d, sizeof(d), (double)bytes[0]), format_bytes(n, sizeof(n), (double)bytes[1]),
		     format_bytes(p, sizeof(p), (double)bytes[2]), format_bytes(o, sizeof(o), (double)bytes[3]),
		     netfs ? ", netfs " : "", netfs ? format_bytes(f, sizeof(f), (double)netfs) : "");
}

/* What disks did for it, where they did something. */
static void add_disks(struct details *h, const struct interval_row *row)
{
	const uint64_t back = FIGURE(h, row, disk_writeback_bytes), requests = FIGURE(h, row, disk_requests);
	const uint64_t read = FIGURE(h, row, disk_read_bytes), written = FIGURE(h, row, disk_write_bytes);
	char r[16], w[16], b[16], took[FORMAT_SIZE];

	if (!read && !written && !requests)
		return;
	details_line(h, "at disks", "read %s, written %s%s%s%s, %" PRIu64 " request%s that took %s",
		     format_bytes(r, sizeof(r), (double)read), format_bytes(w, sizeof(w), (double)written),
		     back ? " (" : "", back ? format_bytes(b, sizeof(b), (double)back) : "",
		     back ? " of it by write-back)" : "", requests, requests == 1 ? "" : "s",
		     details_duration(h, took, FIGURE(h, row, disk_wait_ns)));
}

/* The sum over the threads of the process, if there are several. */
void details_process(struct details *h, const struct thread_row *t)
{
	const struct interval_table *table = &h->iv->tables[TABLE_THREAD];
	char share[FORMAT_SIZE], cpu[FORMAT_SIZE];
	uint64_t cpu_ns = 0;
	unsigned n = 0;

	for (uint32_t i = 0; i < table->n_rows; i++) {
		const struct interval_row *row = &table->rows[i];

		if (INTERVAL_ROW(thread, row)->pid != t->pid)
			continue;
		cpu_ns += FIGURE(h, row, cpu_ns);
		n++;
	}
	if (n > 1 && (int64_t)t->pid >= 0 && !(data_host_lacks(h->host) & VIEW_LACKS_SWITCHES))
		details_line(h, "process", "%s  %s on a CPU in %u threads", details_share(h, share, cpu_ns),
			     details_duration(h, cpu, cpu_ns), n);
}

static void add_perf(struct details *h, uint64_t thread_uid)
{
	const struct interval_table *t = &h->iv->tables[TABLE_PERF];
	GString *s = g_string_new(NULL);
	char count[24];
	unsigned n = 0;

	for (uint32_t i = 0; i < t->n_rows && n < PERF_COUNTERS; i++) {
		const struct perf_row *row = INTERVAL_ROW(perf, &t->rows[i]);
		uint64_t value = INTERVAL_VALUE(h->iv, PERF, perf, &t->rows[i], value);

		if (row->thread_uid != thread_uid || !value)
			continue;
		g_string_append_printf(s, "%s%s %s", s->len ? ", " : "",
				       view_counter_name(strpool_text((strid)row->counter)),
				       format_count(count, sizeof(count), value, 9));
		n++;
	}
	if (s->len)
		details_line(h, "perf", "%s", s->str);
	g_string_free(s, TRUE);
}

static void append_recorded(GString *s, const char *what, uint64_t n, bool lacking)
{
	char count[24];

	if (!lacking)
		g_string_append_printf(s, "%s%s %s", s->len ? ", " : "", format_count(count, sizeof(count), n, 9),
				       what);
}

/* Where they were recorded. */
static void add_pages(struct details *h, uint64_t thread_uid)
{
	const struct interval_table *t = &h->iv->tables[TABLE_PAGES];
	const uint32_t lacks = data_host_lacks(h->host);
	GString *s = g_string_new(NULL);

	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct interval_row *row = &t->rows[i];

		if (INTERVAL_ROW(pages, row)->thread_uid != thread_uid || !interval_row_active(h->iv, TABLE_PAGES, row))
			continue;
		append_recorded(s, "pages allocated", INTERVAL_VALUE(h->iv, PAGES, pages, row, allocated_pages),
				lacks & VIEW_LACKS_PAGE_ALLOC);
		append_recorded(s, "freed", INTERVAL_VALUE(h->iv, PAGES, pages, row, freed_pages),
				lacks & VIEW_LACKS_PAGE_FREE);
		append_recorded(s, "page faults of the program", INTERVAL_VALUE(h->iv, PAGES, pages, row, user_faults),
				lacks & VIEW_LACKS_FAULT_USER);
		append_recorded(s, "of the kernel", INTERVAL_VALUE(h->iv, PAGES, pages, row, kernel_faults),
				lacks & VIEW_LACKS_FAULT_KERNEL);
		break;
	}
	if (s->len)
		details_line(h, "memory", "%s", s->str);
	g_string_free(s, TRUE);
}

void details_use(struct details *h, const struct interval_row *row)
{
	if (!(data_host_lacks(h->host) & VIEW_LACKS_SWITCHES)) {
		add_cpu(h, row);
		if (FIGURE(h, row, cpu_ns))
			add_modes(h, row);
	}
	add_bytes(h, "read",
		  (const uint64_t[]){ FIGURE(h, row, read_disk), FIGURE(h, row, read_net), FIGURE(h, row, read_pipe),
				      FIGURE(h, row, read_other), FIGURE(h, row, read_netfs) });
	add_bytes(h, "written",
		  (const uint64_t[]){ FIGURE(h, row, write_disk), FIGURE(h, row, write_net), FIGURE(h, row, write_pipe),
				      FIGURE(h, row, write_other), FIGURE(h, row, write_netfs) });
	add_disks(h, row);
}

void details_counters(struct details *h, uint64_t thread_uid)
{
	add_perf(h, thread_uid);
	add_pages(h, thread_uid);
}
