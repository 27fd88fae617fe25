/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of devices: disks, net, irqs. */
#include <stddef.h>

#include "view/internal.h"

#define REPORTED COLUMN_IN_REPORT
#define LEVEL (COLUMN_IN_REPORT | COLUMN_LEVEL)
#define FIGURE (COLUMN_IN_REPORT | COLUMN_COUNTER)

/* ---- disks ---- */

/* The queue may have been longest before it changed for the first time. */
static void get_queue_max(const struct view_cell *at, struct value *v)
{
	const struct interval_row *row = &at->row->row;
	uint64_t max = INTERVAL_ROW(disk, row)->queue_max;

	if (row->a)
		max = MAX(max, row->a[CELL(disk, queue)]);
	value_set_uint(v, max);
}

#define DISK_COUNT(name, header, meaning) \
	{ #name, header, meaning, COLUMN_COUNT, 8, FIGURE, CELL(disk, name), view_get_value }
#define DISK_BYTES(name, header, meaning) \
	{ #name, header, meaning, COLUMN_BYTES, 8, FIGURE, CELL(disk, name), view_get_value }
#define DISK_LATENCY(name, header, meaning, flags, get) \
	{ name, header, meaning, COLUMN_NS, 8, flags, CELL(disk, latency.count), get }
#define DISK_RATE(name, cell, header, meaning, unit) \
	{ name, header, meaning, unit, 8, 0, CELL(disk, cell), view_get_rate }

static const struct column disks_columns[] = {
	COLUMN_HOST,
	{ "dev", "DEV", "Kernel device number: major * 2^20 + minor.", COLUMN_DEVICE, 8, REPORTED | COLUMN_KEY,
	  CELL(disk, dev), view_get_value },
	{ "name", "NAME", "Its name; null if the trace does not tell.", COLUMN_TEXT, 10, REPORTED, CELL(disk, name),
	  view_get_text },
	DISK_COUNT(reads, "READS", "Read requests completed."),
	DISK_COUNT(writes, "WRITES", "Write requests completed."),
	DISK_BYTES(read_bytes, "READ", "Bytes read by them."),
	DISK_BYTES(write_bytes, "WRITTEN", "Bytes written by them."),
	DISK_LATENCY("latency_min_ns", "MIN", "Shortest time from issue to completion.", LEVEL, view_get_dist_min),
	DISK_LATENCY("latency_avg_ns", "AVG", "Mean time from issue to completion, to the nearest ns.", LEVEL,
		     view_get_dist_avg),
	DISK_LATENCY("latency_max_ns", "MAX", "Longest time from issue to completion.", LEVEL, view_get_dist_max),
	{ "queue_max", "QUEUE", "Most requests issued and not completed at a time.", COLUMN_COUNT, 6,
	  FIGURE | COLUMN_LEVEL, 0, get_queue_max },
	{ "queue", "NOW", "Requests issued and not completed at the interval's end.", COLUMN_COUNT, 6,
	  FIGURE | COLUMN_LEVEL, CELL(disk, queue), view_get_value },
	{ "waiting", "WAITING", "Requests inserted and not issued at the interval's end.", COLUMN_COUNT, 7,
	  FIGURE | COLUMN_LEVEL, CELL(disk, waiting), view_get_value },
	DISK_LATENCY("latency_stdev_ns", "STDEV", "Standard deviation of the time from issue to completion.",
		     COLUMN_LEVEL, view_get_dist_stdev),
	DISK_RATE("read_rate", read_bytes, "READ/s", "Bytes read per second.", COLUMN_BYTE_RATE),
	DISK_RATE("write_rate", write_bytes, "WRITE/s", "Bytes written per second.", COLUMN_BYTE_RATE),
	DISK_RATE("reads_rate", reads, "READS/s", "Read requests per second.", COLUMN_RATE),
	DISK_RATE("writes_rate", writes, "WRITES/s", "Write requests per second.", COLUMN_RATE),
};

const struct view_table view_disks_table = {
	.name = "disks",
	.title = "Disks",
	.row = "a block device",
	.meaning = "Requests that block devices completed.",
	.flags = VIEW_REPORT,
	.source = TABLE_DISK,
	.tables = USES(DISK),
	.needs = NEED_DISK,
	N_COLUMNS(disks_columns),
	.screen = "host name dev read_rate write_rate reads_rate writes_rate latency_avg_ns latency_max_ns queue_max",
	.sort = "read_rate",
};

/* ---- net ---- */

#define NET_COUNT(name, header, meaning) \
	{ #name, header, meaning, COLUMN_COUNT, 9, FIGURE, CELL(netif, name), view_get_value }
#define NET_BYTES(name, header, meaning) \
	{ #name, header, meaning, COLUMN_BYTES, 8, FIGURE, CELL(netif, name), view_get_value }
#define NET_RATE(name, cell, header, meaning, unit) \
	{ name, header, meaning, unit, 8, 0, CELL(netif, cell), view_get_rate }

static const struct column net_columns[] = {
	COLUMN_HOST,
	{ "name", "NAME", "Name of the interface.", COLUMN_TEXT, 12, REPORTED | COLUMN_KEY, CELL(netif, name),
	  view_get_text },
	NET_COUNT(rx_packets, "RX PKTS", "Packets received."),
	NET_BYTES(rx_bytes, "RX BYTES", "Bytes received."),
	NET_COUNT(tx_packets, "TX PKTS", "Packets sent."),
	NET_BYTES(tx_bytes, "TX BYTES", "Bytes sent."),
	NET_RATE("rx_rate", rx_bytes, "RX/s", "Bytes received per second.", COLUMN_BYTE_RATE),
	NET_RATE("tx_rate", tx_bytes, "TX/s", "Bytes sent per second.", COLUMN_BYTE_RATE),
	NET_RATE("rx_packet_rate", rx_packets, "RX PKT/s", "Packets received per second.", COLUMN_RATE),
	NET_RATE("tx_packet_rate", tx_packets, "TX PKT/s", "Packets sent per second.", COLUMN_RATE),
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
};

/* ---- irqs ---- */

static void get_irq_kind(const struct view_cell *at, struct value *v)
{
	value_set_text(v, INTERVAL_ROW(irq, &at->row->row)->soft ? "soft" : "hard");
}

static void get_irq_cpu(const struct view_cell *at, struct value *v)
{
	value_set_null(v);
	if (at->rows->per_cpu)
		value_set_uint(v, INTERVAL_ROW(irq, &at->row->row)->cpu);
}

#define IRQ_TIME(name, header, meaning, flags, get) \
	{ name, header, meaning, COLUMN_NS, 8, flags, CELL(irq, time.count), get }
/* A raise counts at the entry: with the exit in the next interval it is the only figure of its row. */
#define IRQ_RAISE(name, header, meaning, get) \
	{ name, header, meaning, COLUMN_NS, 8, FIGURE | COLUMN_LEVEL, CELL(irq, raise.count), get }

static const struct column irqs_columns[] = {
	COLUMN_HOST,
	{ "kind", "KIND", "\"hard\" or \"soft\".", COLUMN_TEXT, 4, REPORTED | COLUMN_KEY, CELL(irq, soft),
	  get_irq_kind },
	{ "nr", "NR", "Number of the irq, or vector of the softirq.", COLUMN_ID, 4, REPORTED | COLUMN_KEY,
	  CELL(irq, nr), view_get_value },
	{ "name", "NAME", "Name of the handler or of the softirq.", COLUMN_TEXT, 18, REPORTED, CELL(irq, name),
	  view_get_text },
	{ "cpu", "CPU", "CPU it ran on; null where a row stands for all of them.", COLUMN_ID, 4,
	  REPORTED | COLUMN_KEY, CELL(irq, cpu), get_irq_cpu },
	{ "count", "COUNT", "How often the handler ran (exits).", COLUMN_COUNT, 8, FIGURE, CELL(irq, count),
	  view_get_value },
	IRQ_TIME("min_ns", "MIN", "Shortest time from entry to exit.", LEVEL, view_get_dist_min),
	IRQ_TIME("avg_ns", "AVG", "Mean time, to the nearest ns.", LEVEL, view_get_dist_avg),
	IRQ_TIME("max_ns", "MAX", "Longest time.", LEVEL, view_get_dist_max),
	IRQ_TIME("stdev_ns", "STDEV", "Standard deviation of the time.", LEVEL, view_get_dist_stdev),
	IRQ_TIME("total_ns", "TOTAL", "Sum of the times of those whose entry was seen.", FIGURE, view_get_dist_sum),
	IRQ_RAISE("raise_avg_ns", "RAISE AVG", "Softirqs: mean time from the raise to the entry.", view_get_dist_avg),
	IRQ_RAISE("raise_max_ns", "RAISE MAX", "Softirqs: longest time from the raise to the entry.",
		  view_get_dist_max),
	{ "rate", "RATE/s", "How often it ran per second.", COLUMN_RATE, 8, 0, CELL(irq, count),
	  view_get_rate },
	{ "max_at_ns", "MAX AT", "When the longest one ended.", COLUMN_TIME, 15, 0, CELL(irq, time.max_at),
	  view_get_known },
};

const struct view_table view_irqs_table = {
	.name = "irqs",
	.title = "Interrupts",
	.row = "an interrupt or softirq (with --per-cpu: on a CPU)",
	.meaning = "How often interrupts and softirqs ran, and how long.",
	.flags = VIEW_REPORT | VIEW_PER_CPU,
	.source = TABLE_IRQ,
	.tables = USES(IRQ),
	.needs = NEED_IRQ,
	N_COLUMNS(irqs_columns),
	.screen = "host kind nr name rate count avg_ns max_ns total_ns raise_avg_ns raise_max_ns",
	.sort = "total_ns",
	.group = { CELL(irq, soft), CELL(irq, nr) },
};
