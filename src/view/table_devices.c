/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of devices: disks, net, irqs. */
#include <stddef.h>

#include "view/declare.h"

/* ---- disks ---- */

uint64_t view_queue_max(const struct interval_row *row)
{
	const uint64_t max = INTERVAL_ROW(disk, row)->queue_max;

	return row->a ? MAX(max, row->a[CELL(disk, queue)]) : max;
}

static void get_queue_max(const struct view_cell *at, struct value *v)
{
	value_set_uint(v, view_queue_max(&at->row->row));
}

static const struct column disks_columns[] = {
	COLUMN_HOST,
	COLUMN(disk, dev, "DEV", 8, REPORTED | COLUMN_KEY),
	COLUMN(disk, name, "NAME", 10, REPORTED),
	COLUMN(disk, reads, "READS", 8, FIGURE),
	COLUMN(disk, writes, "WRITES", 8, FIGURE),
	COLUMN(disk, read_bytes, "READ", 8, FIGURE),
	COLUMN(disk, write_bytes, "WRITTEN", 8, FIGURE),
	DIST(disk, latency, "latency_", "", FIGURE, MIN, AVG, MAX),
	COLUMN_BY(get_queue_max, disk, queue_max, "QUEUE", 6, FIGURE | COLUMN_LEVEL),
	COLUMN(disk, queue, "NOW", 6, FIGURE | COLUMN_LEVEL),
	COLUMN(disk, waiting, "WAITING", 7, FIGURE | COLUMN_LEVEL),
	COLUMN(disk, errors, "ERRORS", 6, FIGURE),
	DIST(disk, latency, "", "", REPORTED, P50, P90, P99, P999),
	DIST(disk, latency, "latency_", "", 0, STDEV),
	DIST_FREQ(disk, latency, "", "LATENCY"),
	DIST_ALL(disk, read_queue, "read_queue_", "R QUEUE "),
	DIST_ALL(disk, write_queue, "write_queue_", "W QUEUE "),
	DIST_ALL(disk, read_device, "read_device_", "R DEVICE "),
	DIST_ALL(disk, write_device, "write_device_", "W DEVICE "),
	DIST_AS(COUNT, "distance_count", disk, distance, "DIST COUNT", 10, 0),
	DIST_AS(AVG, "distance_avg_bytes", disk, distance, "DIST AVG", 8, DIST_LEVEL(0)),
	DIST_AS(MAX, "distance_max_bytes", disk, distance, "DIST MAX", 8, DIST_LEVEL(0)),
	DIST_AS(P50, "distance_p50_bytes", disk, distance, "DIST p50", 8, DIST_SPREAD(0)),
	DIST_AS(P90, "distance_p90_bytes", disk, distance, "DIST p90", 8, DIST_SPREAD(0)),
	DIST_AS(P99, "distance_p99_bytes", disk, distance, "DIST p99", 8, DIST_SPREAD(0)),
	DIST_AS(P999, "distance_p999_bytes", disk, distance, "DIST p99.9", 10, DIST_SPREAD(0)),
	DIST_FREQ(disk, distance, "distance_", "DISTANCE"),
	RATE("read_rate", disk, read_bytes, "READ/s", 8),
	RATE("write_rate", disk, write_bytes, "WRITE/s", 8),
	RATE("reads_rate", disk, reads, "READS/s", 8),
	RATE("writes_rate", disk, writes, "WRITES/s", 8),
};

const struct view_table view_disks_table = {
	.name = "disks",
	.title = "Disks",
	.row = "a block device",
	.meaning = "Requests completed by block devices. Those of a partition, or of a device made of others, are the "
		   "requests of the disks below it: a mirror counts each of its copies.",
	.flags = VIEW_REPORT,
	.source = TABLE_DISK,
	.tables = USES(DISK),
	.needs = NEED_DISK,
	N_COLUMNS(disks_columns),
	.screen = "host name dev read_rate write_rate reads_rate writes_rate latency_avg_ns latency_max_ns queue_max "
		  "errors",
	.sort = "read_rate",
};

/* ---- net ---- */

/* Of many interfaces, those that were not used for a while come back in a new row. */
static uint64_t same_interface(const struct view_rows *r, const struct view_row *row)
{
	(void)r;
	return INTERVAL_ROW(netif, &row->row)->name;
}

static const struct column net_columns[] = {
	COLUMN_HOST,
	COLUMN(netif, name, "NAME", 12, REPORTED | COLUMN_KEY),
	COLUMN(netif, rx_packets, "RX PKTS", 9, FIGURE),
	COLUMN(netif, rx_bytes, "RX BYTES", 8, FIGURE),
	COLUMN(netif, tx_packets, "TX PKTS", 9, FIGURE),
	COLUMN(netif, tx_bytes, "TX BYTES", 8, FIGURE),
	RATE("rx_rate", netif, rx_bytes, "RX/s", 8),
	RATE("tx_rate", netif, tx_bytes, "TX/s", 8),
	RATE("rx_packet_rate", netif, rx_packets, "RX PKT/s", 8),
	RATE("tx_packet_rate", netif, tx_packets, "TX PKT/s", 8),
};

const struct view_table view_net_table = {
	.name = "net",
	.title = "Network",
	.row = "a network interface",
	.meaning = "Packets and bytes of network interfaces.",
	.flags = VIEW_REPORT,
	.source = TABLE_NETIF,
	.tables = USES(NETIF),
	.needs = NEED_NET,
	N_COLUMNS(net_columns),
	.screen = "host name rx_rate tx_rate rx_packet_rate tx_packet_rate rx_bytes tx_bytes",
	.sort = "rx_rate",
	.same = same_interface,
};

/* ---- irqs ---- */

static void get_irq_kind(const struct view_cell *at, struct value *v)
{
	value_set_text(v, INTERVAL_ROW(irq, &at->row->row)->soft ? "soft" : "hard");
}

static void get_irq_cpu(const struct view_cell *at, struct value *v)
{
	const uint64_t cpu = INTERVAL_ROW(irq, &at->row->row)->cpu;

	value_set_null(v);
	if (at->rows->per_cpu && cpu != (uint64_t)-1)
		value_set_uint(v, cpu);
}

/* A raise is counted at the entry: if the exit is in the next interval, it is the only figure in its row. */
#define RAISED (FIGURE | COLUMN_LEVEL)

static const struct column irqs_columns[] = {
	COLUMN_HOST,
	OTHER(get_irq_kind, "kind", "KIND", "\"hard\" or \"soft\".", COLUMN_TEXT, 4, REPORTED | COLUMN_KEY),
	COLUMN(irq, nr, "NR", 4, REPORTED | COLUMN_KEY),
	COLUMN(irq, name, "NAME", 18, REPORTED),
	OTHER(get_irq_cpu, "cpu", "CPU", "CPU on which it ran; null if the row covers all CPUs.", COLUMN_ID, 4,
	      REPORTED | COLUMN_KEY),
	COLUMN(irq, count, "COUNT", 8, FIGURE),
	DIST(irq, time, "", "", FIGURE, MIN, AVG, MAX, STDEV, TOTAL),
	DIST_AS(AVG, "raise_avg_ns", irq, raise, "RAISE AVG", 8, RAISED),
	DIST_AS(MAX, "raise_max_ns", irq, raise, "RAISE MAX", 8, RAISED),
	DIST(irq, time, "", "", REPORTED, P50, P90, P99, P999),
	DIST_FREQ(irq, time, "", "TIME"),
	DIST(irq, raise, "raise_", "RAISE ", 0, P50, P90, P99, P999),
	DIST_FREQ(irq, raise, "raise_", "RAISE TO ENTRY"),
	RATE_SAID("rate", irq, count, "RATE/s", 8, "Number of times it ran per second."),
	DIST(irq, time, "", "", 0, MAX_AT),
};

const struct view_table view_irqs_table = {
	.name = "irqs",
	.title = "Interrupts",
	.row = "an interrupt or softirq (with --per-cpu: on a CPU)",
	.meaning = "How often interrupts and softirqs ran, and for how long.",
	.flags = VIEW_REPORT | VIEW_PER_CPU,
	.source = TABLE_IRQ,
	.tables = USES(IRQ),
	.needs = NEED_IRQ,
	N_COLUMNS(irqs_columns),
	.screen = "host kind nr name rate count avg_ns max_ns total_ns raise_avg_ns raise_max_ns",
	.sort = "total_ns",
	.group = { CELL(irq, soft), CELL(irq, nr) },
};
