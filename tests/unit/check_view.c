/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Properties of every table of view/: names, columns, keys, distributions. */
#include "views.h"

#include <stddef.h>

#include "view/dist.h"

/* ---- the tables themselves ---- */

START_TEST(test_tables_are_whole)
{
	for (unsigned t = 0; t < view_table_count(); t++) {
		const struct view_table *table = view_table_get(t);
		const bool two_hosts = !strcmp(table->name, "matches") || !strcmp(table->name, "latencies");
		char **screen = g_strsplit(table->screen, " ", -1);

		ck_assert_ptr_eq(view_table_find(table->name), table);
		ck_assert(table->title && *table->title && table->row && *table->row);
		ck_assert_msg(table->meaning && g_str_has_suffix(table->meaning, "."), "%s", table->name);
		/* derived rows need only the names of their processes from the model, and the threads of paths */
		ck_assert_msg(table->supply.needs ? table->source == TABLES &&
							    (table->supply.needs & VIEW_PATH ||
							     table->tables == (table->process ? 1u << TABLE_THREAD : 0))
			      : table->collect
				      ? table->source == TABLES && table->tables && table->cells && table->n_cells
				      : table->tables >> table->source & 1,
			      "%s", table->name);
		/*
		 * tables of hosts, of all events, and of contexts and probes need no tracepoint; instances use
		 * another's
		 */
		ck_assert_msg(!table->needs ==
				      !!strstr(" hosts events probes emitters counters perf instances ", table->name),
			      "%s: needs", table->name);
		ck_assert_str_eq(table->columns[0].name, two_hosts ? "from_host" : "host");
		ck_assert_msg(table->flags & VIEW_PIVOT ||
				      view_column_find(table->columns, table->n_columns, table->sort),
			      "%s: sort", table->name);
		for (char **name = screen; *name; name++)
			ck_assert_msg(view_column_find(table->columns, table->n_columns, *name) != NULL,
				      "%s: no column %s", table->name, *name);
		g_strfreev(screen);
	}
}
END_TEST

START_TEST(test_columns_are_whole)
{
	for (unsigned t = 0; t < view_table_count(); t++) {
		const struct view_table *table = view_table_get(t);
		bool counter = false, report = true;

		for (unsigned i = 0; i < table->n_columns; i++) {
			const struct column *c = &table->columns[i];

			ck_assert_msg(c->name && *c->name, "%s: column %u", table->name, i);
			ck_assert_ptr_eq(view_column_find(table->columns, table->n_columns, c->name), c);
			ck_assert_msg(c->header && *c->header, "%s.%s", table->name, c->name);
			ck_assert_msg(c->meaning && g_str_has_suffix(c->meaning, ".") &&
					      g_ascii_isupper(c->meaning[c->meaning[0] == '"']) ==
						      (c->meaning[0] != '"'),
				      "%s.%s: %s", table->name, c->name, c->meaning);
			ck_assert_uint_lt(c->unit, COLUMN_UNITS);
			ck_assert_ptr_nonnull(column_unit_name(c->unit));
			ck_assert_ptr_nonnull((const void *)(uintptr_t)c->get);
			/* columns of the report come first: its order is that of the list */
			if (!(c->flags & COLUMN_IN_REPORT))
				report = false;
			ck_assert_msg(report == !!(c->flags & COLUMN_IN_REPORT), "%s.%s", table->name, c->name);
			counter = counter || c->flags & COLUMN_COUNTER;
			if (g_str_has_suffix(c->name, "_bytes"))
				ck_assert_int_eq(c->unit, COLUMN_BYTES);
			if (c->unit == COLUMN_TIME)
				ck_assert_uint_ge(c->width, strlen("11-20 12:03:05"));
		}
		ck_assert_msg(counter || table->flags & (VIEW_ALL_ROWS | VIEW_PIVOT), "%s", table->name);
	}
}
END_TEST

/* The columns that scripts rely on, in their order. */
START_TEST(test_report_columns)
{
	static const struct {
		const char *table, *columns;
	} reports[] = {
		{ "hosts", "host source tracer begin_ns end_ns events lost_events lost_packets backward_steps "
			   "late_events cpus threads fds missing_events reason kernel boot_id clock" },
		{ "events", "host name count used" },
		{ "cpus", "host cpu busy_ns idle_ns irq_ns softirq_ns online_ns switches "
			  "frequency_khz" },
		{ "cpu", "host tid pid ppid comm cpu_ns ready_ns blocked_ns switches migrations prio born_ns "
			 "exited_ns user_ns system_ns interrupted_ns uid user exe cmdline cgroup container tracing" },
		{ "io", "host tid pid comm read_bytes write_bytes read_bytes_disk read_bytes_net read_bytes_pipe "
			"read_bytes_other read_bytes_netfs write_bytes_disk write_bytes_net write_bytes_pipe "
			"write_bytes_other write_bytes_netfs syscalls disk_read_bytes disk_write_bytes "
			"disk_writeback_bytes disk_requests disk_wait_ns" },
		{ "containers", "host container parent nesting kind ns pid comm processes threads cpu_ns ready_ns "
				"waited blocked_ns read_bytes write_bytes read_bytes_disk write_bytes_disk "
				"read_bytes_net write_bytes_net syscalls" },
		{ "files", "host pid fd path kind read_bytes write_bytes opened_ns closed_ns" },
		{ "disks", "host dev name reads writes read_bytes write_bytes latency_min_ns latency_avg_ns "
			   "latency_max_ns queue_max queue waiting errors p50_ns p90_ns p99_ns p999_ns" },
		{ "net", "host name rx_packets rx_bytes tx_packets tx_bytes" },
		{ "irqs", "host kind nr name cpu count min_ns avg_ns max_ns stdev_ns total_ns raise_avg_ns "
			  "raise_max_ns p50_ns p90_ns p99_ns p999_ns" },
		{ "syscalls", "host tid pid comm name count total_ns min_ns avg_ns max_ns stdev_ns errors "
			      "p50_ns p90_ns p99_ns p999_ns" },
		{ "sched", "host tid pid comm count min_ns avg_ns max_ns stdev_ns total_ns p50_ns p90_ns "
			   "p99_ns p999_ns" },
		{ "perf", "host tid pid comm counter value" },
		{ "pressure", "host container cpu_some_ns cpu_full_ns io_some_ns io_full_ns" },
		{ "memory", "host tid pid comm allocated_pages freed_pages net_pages allocations frees failures "
			    "user_faults kernel_faults" },
		{ "probes", "host name count" },
		{ "emitters", "host tid pid comm events" },
		{ "preemption", "host tid pid comm by_tid by_pid by_comm count total_ns max_ns" },
		{ "blocking", "host tid pid comm state syscall fd path count total_ns max_ns avg_ns cause" },
		{ "relations", "host from_host from_pid from_comm to_host to_pid to_comm kind object side count bytes "
			       "wakeups wait_ns wait_max_ns" },
		{ "connections", "host pid comm local peer side peer_host peer_pid peer_comm begin_ns handshake_ns "
				 "first_byte_ns sent_bytes received_bytes sent_packets received_packets retransmits "
				 "requests request_ns answer_ns reply_ns answer_max_ns waits waited_ns end_ns reset" },
		{ "sync", "host ref state matched used offset_ns drift_ppm bound_ns latency_to_min_ns "
			  "latency_from_min_ns latency_to_median_ns latency_from_median_ns negative reason" },
		{ "matches", "from_host to_host flow sent_ns received_ns latency_ns raw_latency_ns part ambiguous "
			     "used" },
		{ "latencies", "from_host to_host packets negative min_ns p50_ns p90_ns p99_ns max_ns raw_negative "
			       "raw_min_ns raw_p50_ns raw_p90_ns raw_p99_ns raw_max_ns p999_ns" },
		{ "critical-path", "host begin_ns end_ns duration_ns tid pid comm state cause link from_host from_tid "
				   "call fd object wire cut path_host path_tid path_comm cause_tid" },
		{ "critical-totals", "host pid comm state wire total_ns" },
		{ "bottleneck", "host resource total_ns total_percent for_others_ns paths max_ns max_host max_tid "
				"max_comm" },
		{ "accounting", "host pid comm client_host client_pid client_comm cpu_self_ns cpu_sub_ns cpu_total_ns "
				"disk_self_ns disk_sub_ns disk_total_ns "
				"network_self_ns network_sub_ns network_total_ns" },
	};
	unsigned n = 0;

	for (unsigned i = 0; i < G_N_ELEMENTS(reports); i++) {
		const struct view_table *table = view_table_find(reports[i].table);
		GString *names = g_string_new(NULL);

		for (unsigned c = 0; c < table->n_columns; c++)
			if (table->columns[c].flags & COLUMN_IN_REPORT)
				g_string_append_printf(names, "%s%s", c ? " " : "", table->columns[c].name);
		ck_assert_str_eq(names->str, reports[i].columns);
		g_string_free(names, TRUE);
	}
	for (unsigned t = 0; t < view_table_count(); t++)
		n += (view_table_get(t)->flags & VIEW_REPORT) != 0;
	ck_assert_uint_eq(n, G_N_ELEMENTS(reports));
}
END_TEST

/* ---- names as people type them ---- */

START_TEST(test_typed_columns)
{
	enum { SHOWN = COLUMN_IN_REPORT };
	static const struct column columns[] = {
		{ .name = "cpu", .header = "-" },        { .name = "cpu_ns", .header = "-", .flags = SHOWN },
		{ .name = "end_ns", .header = "-" },     { .name = "end", .header = "-", .flags = SHOWN },
		{ .name = "call_ns", .header = "-" },    { .name = "call", .header = "-" },
		{ .name = "size_ns", .header = "-" },    { .name = "size_bytes", .header = "-", .flags = SHOWN },
		{ .name = "sent_bytes", .header = "-" },
	};
	static const struct {
		const char *typed, *meant;
	} cases[] = {
		{ "cpu", "cpu_ns" },      { "cpu_ns", "cpu_ns" },   { "end", "end" },
		{ "end_ns", "end_ns" },   { "call", "call" },       { "size", "size_bytes" },
		{ "sent", "sent_bytes" }, { "call_ns", "call_ns" }, { "size_ns", "size_ns" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		ck_assert_str_eq(view_column_typed(columns, G_N_ELEMENTS(columns), cases[i].typed)->name,
				 cases[i].meant);
	ck_assert_ptr_null(view_column_typed(columns, G_N_ELEMENTS(columns), "sen"));
	ck_assert_ptr_null(view_column_typed(columns, G_N_ELEMENTS(columns), ""));
}
END_TEST

/* Every column of every table can be named. */
START_TEST(test_typed_names_are_unique)
{
	for (unsigned t = 0; t < view_table_count(); t++) {
		const struct view_table *table = view_table_get(t);

		for (unsigned i = 0; i < table->n_columns; i++)
			ck_assert_str_eq(
				view_column_typed(table->columns, table->n_columns, table->columns[i].name)->name,
				table->columns[i].name);
	}
}
END_TEST

/* ---- distributions ---- */

static struct dist dist_of(const uint64_t *values, unsigned n)
{
	struct dist d = { .min = UINT64_MAX };

	for (unsigned i = 0; i < n; i++)
		dist_add(&d, values[i], i);
	return d;
}

#define DIST(...) dist_of((const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

START_TEST(test_dist)
{
	struct dist d = DIST(5);

	ck_assert_uint_eq(view_dist_avg(&d), 5);
	ck_assert_uint_eq(view_dist_stdev(&d), 0);
	d = DIST(1, 2); /* 1.5, 0.5: halves are rounded up */
	ck_assert_uint_eq(view_dist_avg(&d), 2);
	ck_assert_uint_eq(view_dist_stdev(&d), 1);
	d = DIST(2, 4, 4, 4, 5, 5, 7, 9); /* 5, 2 */
	ck_assert_uint_eq(view_dist_avg(&d), 5);
	ck_assert_uint_eq(view_dist_stdev(&d), 2);
	d = DIST(1, 1, 2); /* 4/3, sqrt(2)/3 = 0.471 */
	ck_assert_uint_eq(view_dist_avg(&d), 1);
	ck_assert_uint_eq(view_dist_stdev(&d), 0);
	d = DIST(0, 3); /* 1.5, 1.5 */
	ck_assert_uint_eq(view_dist_stdev(&d), 2);
	/* far beyond floating-point precision: mean 2^60, deviation 1 */
	d = DIST((UINT64_C(1) << 60) - 1, (UINT64_C(1) << 60) + 1);
	ck_assert_uint_eq(view_dist_avg(&d), UINT64_C(1) << 60);
	ck_assert_uint_eq(view_dist_stdev(&d), 1);
	d = DIST(0, UINT64_C(1) << 61);
	ck_assert_uint_eq(view_dist_stdev(&d), UINT64_C(1) << 60);
}
END_TEST

/* The rounding of the deviation against its definition, for many small sets. */
START_TEST(test_stdev_rounds_right)
{
	uint64_t seed = 1;

	for (unsigned round = 0; round < 2000; round++) {
		uint64_t values[7], n = 1 + round % 7;
		struct dist d;
		double mean, squares = 0;

		for (unsigned i = 0; i < n; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			values[i] = (seed >> 40) % (1 + round);
		}
		d = dist_of(values, (unsigned)n);
		mean = (double)d.sum / (double)n;
		for (unsigned i = 0; i < n; i++)
			squares += ((double)values[i] - mean) * ((double)values[i] - mean);
		/* |s - sd| <= 1/2, compared as squares, with a margin for the rounding of doubles */
		double sd2 = squares / (double)n, s = (double)view_dist_stdev(&d);

		ck_assert(s == 0 || (s - 0.5) * (s - 0.5) <= sd2 + 1e-6);
		ck_assert((s + 0.5) * (s + 0.5) >= sd2 - 1e-6);
	}
}
END_TEST

UNIT_MAIN_AROUND("view", setup, teardown, test_tables_are_whole, test_columns_are_whole, test_report_columns,
		 test_typed_columns, test_typed_names_are_unique, test_dist, test_stdev_rounds_right)
