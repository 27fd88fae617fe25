/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/tables.h"

#include <stdbool.h>
#include <stddef.h>

#define ACCRUAL_DESC(member, states, st, since, meaning) \
	{ #member, meaning, CELL_ACCRUAL, TYPE_NS, ROW_CELL(st), ROW_CELL(since), states },

#define ROW_CELL(member) CELL(host, member)
ROW_CELLS(host, HOST_CELLS);
#undef ROW_CELL
#define ROW_CELL(member) CELL(cpu, member)
ROW_CELLS(cpu, CPU_CELLS);
#undef ROW_CELL
#define ROW_CELL(member) CELL(thread, member)
ROW_CELLS(thread, THREAD_CELLS);
#undef ROW_CELL
#define ROW_CELL(member) CELL(pressure, member)
ROW_CELLS(pressure, PRESSURE_CELLS);
#undef ROW_CELL
#define ROW_CELL(member) 0
ROW_CELLS(file, FILE_CELLS);
ROW_CELLS(disk, DISK_CELLS);
ROW_CELLS(netif, NETIF_CELLS);
ROW_CELLS(irq, IRQ_CELLS);
ROW_CELLS(syscall, SYSCALL_CELLS);
ROW_CELLS(syserr, SYSERR_CELLS);
ROW_CELLS(perf, PERF_CELLS);
ROW_CELLS(pages, PAGES_CELLS);
ROW_CELLS(blocking, BLOCKING_CELLS);
ROW_CELLS(relation, RELATION_CELLS);
ROW_CELLS(preemption, PREEMPTION_CELLS);
ROW_CELLS(connection, CONNECTION_CELLS);
ROW_CELLS(container, CONTAINER_CELLS);
ROW_CELLS(vtid, VTID_CELLS);
ROW_CELLS(event, EVENT_CELLS);
ROW_CELLS(bucket, BUCKET_CELLS);
ROW_CELLS(instance, INSTANCE_CELLS);

#define TABLE(id, table) [id] = { #table, table##_cells, sizeof(struct table##_row) / 8 }

const struct table_desc table_descs[TABLES] = {
	TABLE(TABLE_HOST, host),
	TABLE(TABLE_CPU, cpu),
	TABLE(TABLE_THREAD, thread),
	TABLE(TABLE_FILE, file),
	TABLE(TABLE_DISK, disk),
	TABLE(TABLE_NETIF, netif),
	TABLE(TABLE_IRQ, irq),
	TABLE(TABLE_SYSCALL, syscall),
	TABLE(TABLE_SYSERR, syserr),
	TABLE(TABLE_PERF, perf),
	TABLE(TABLE_PAGES, pages),
	TABLE(TABLE_PRESSURE, pressure),
	TABLE(TABLE_BLOCKING, blocking),
	TABLE(TABLE_RELATION, relation),
	TABLE(TABLE_PREEMPTION, preemption),
	TABLE(TABLE_CONNECTION, connection),
	TABLE(TABLE_CONTAINER, container),
	TABLE(TABLE_VTID, vtid),
	TABLE(TABLE_EVENT, event),
	TABLE(TABLE_BUCKET, bucket),
	TABLE(TABLE_INSTANCE, instance),
};

/* Adds b - a (NULL: b), each 128 bits in two cells. */
static void add_square(uint64_t *to, const uint64_t *a, const uint64_t *b)
{
	unsigned __int128 sum = (unsigned __int128)to[1] << 64 | to[0];

	sum += (unsigned __int128)b[1] << 64 | b[0];
	if (a)
		sum -= (unsigned __int128)a[1] << 64 | a[0];
	to[0] = (uint64_t)sum;
	to[1] = (uint64_t)(sum >> 64);
}

void cells_add(const struct table_desc *desc, uint64_t *cells, const uint64_t *a, uint64_t a_ns, const uint64_t *b)
{
	bool higher = false;

	for (unsigned i = 1; i < desc->n_cells; i++) {
		switch (desc->cells[i].kind) {
		case CELL_COUNTER:
		case CELL_ACCRUAL:
			cells[i] += b[i] - (a ? cell_value(desc->cells, a, i, a_ns) : 0);
			break;
		case CELL_SQ_LO:
			add_square(cells + i, a ? a + i : NULL, b + i);
			break;
		case CELL_MIN:
			if (b[i] < cells[i])
				cells[i] = b[i];
			break;
		case CELL_MAX:
			higher = b[i] > cells[i];
			if (higher)
				cells[i] = b[i];
			break;
		case CELL_MAX_AT:
			if (higher)
				cells[i] = b[i];
			break;
		default:
			break;
		}
	}
}
