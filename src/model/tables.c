/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/tables.h"

#include <stdbool.h>
#include <stddef.h>

#define C(member, kind, unit, meaning) { #member, meaning, CELL_##kind, UNIT_##unit, 0, 0, 0 },
#define A(member, states, st, since, meaning) \
	{ #member, meaning, CELL_ACCRUAL, UNIT_NS, ROW_CELL(st), ROW_CELL(since), states },
#define D(member, meaning) \
	{ #member ".count", meaning, CELL_COUNTER, UNIT_COUNT, 0, 0, 0 }, \
	{ #member ".sum", meaning, CELL_COUNTER, UNIT_NS, 0, 0, 0 }, \
	{ #member ".sq_lo", meaning, CELL_SQ_LO, UNIT_NONE, 0, 0, 0 }, \
	{ #member ".sq_hi", meaning, CELL_SQ_HI, UNIT_NONE, 0, 0, 0 }, \
	{ #member ".min", meaning, CELL_MIN, UNIT_NS, 0, 0, 0 }, \
	{ #member ".max", meaning, CELL_MAX, UNIT_NS, 0, 0, 0 }, \
	{ #member ".max_at", meaning, CELL_MAX_AT, UNIT_NS, 0, 0, 0 },
#define UID C(uid, KEY, NONE, "unique among the rows that this table ever had")

#define CELLS(name, LIST) \
	static const struct cell_desc name##_cells[] = { UID LIST(C, A, D) }; \
	_Static_assert(sizeof(name##_cells) / sizeof(struct cell_desc) == sizeof(struct name##_row) / 8, \
		       "a description for every cell"); \
	_Static_assert(sizeof(struct name##_row) / 8 <= CELLS_MAX, "a cell fits into a 64-bit mask")

#define ROW_CELL(member) 0
CELLS(host, HOST_CELLS);
#undef ROW_CELL
#define ROW_CELL(member) CELL(cpu, member)
CELLS(cpu, CPU_CELLS);
#undef ROW_CELL
#define ROW_CELL(member) CELL(thread, member)
CELLS(thread, THREAD_CELLS);
#undef ROW_CELL
#define ROW_CELL(member) 0
CELLS(file, FILE_CELLS);
CELLS(disk, DISK_CELLS);
CELLS(netif, NETIF_CELLS);
CELLS(irq, IRQ_CELLS);
CELLS(syscall, SYSCALL_CELLS);
CELLS(syserr, SYSERR_CELLS);
CELLS(perf, PERF_CELLS);
CELLS(blocking, BLOCKING_CELLS);
CELLS(relation, RELATION_CELLS);
CELLS(container, CONTAINER_CELLS);
CELLS(vtid, VTID_CELLS);
CELLS(event, EVENT_CELLS);

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
	TABLE(TABLE_BLOCKING, blocking),
	TABLE(TABLE_RELATION, relation),
	TABLE(TABLE_CONTAINER, container),
	TABLE(TABLE_VTID, vtid),
	TABLE(TABLE_EVENT, event),
};

/* 128 bits in two cells. */
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
