/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Table paths: where each thread's critical path spent its time, and how much of it on other hosts. */
#include "view/paths.h"

#include "view/declare.h"

void view_paths_init(struct view_paths *p)
{
	*p = (struct view_paths){ .totals = g_array_new(FALSE, TRUE, sizeof(struct wait_totals)) };
}

void view_paths_release(struct view_paths *p)
{
	g_array_free(p->totals, TRUE);
	map64_release(&p->by_thread);
	map64_release(&p->by_process);
	map64_release(&p->requests);
	map64_release(&p->requesters);
}

void view_paths_clear(struct view_paths *p)
{
	g_array_set_size(p->totals, 0);
	map64_clear(&p->by_thread);
	map64_clear(&p->by_process);
	map64_clear(&p->requests);
	map64_clear(&p->requesters);
}

static struct wait_totals *totals_at(const struct view_paths *p, uint32_t i)
{
	return &g_array_index(p->totals, struct wait_totals, i);
}

void view_paths_add(struct view_paths *p, uint64_t thread_uid, int64_t pid, const struct wait_totals *totals)
{
	uint32_t process;
	struct wait_totals *sum;

	map64_put(&p->by_thread, thread_uid, p->totals->len);
	g_array_append_val(p->totals, *totals);
	if (pid < 0)
		return;
	process = map64_get(&p->by_process, (uint64_t)pid);
	if (process == MAP64_NONE) {
		map64_put(&p->by_process, (uint64_t)pid, p->totals->len);
		g_array_append_val(p->totals, *totals);
		return;
	}
	sum = totals_at(p, process);
	for (unsigned i = 0; i < WAIT_STATES; i++)
		sum->ns[i] += totals->ns[i];
	sum->wire_ns += totals->wire_ns;
	sum->own_ns += totals->own_ns;
}

void view_paths_add_request(struct view_paths *p, uint64_t thread_uid, int64_t pid)
{
	map64_put(&p->requests, thread_uid, 0);
	if (pid >= 0)
		map64_put(&p->requesters, (uint64_t)pid, 0);
}

/* The sum of all totals, including time on the network. */
static uint64_t sum_of(const struct wait_totals *totals)
{
	uint64_t total_ns = totals->wire_ns;

	for (unsigned i = 0; i < WAIT_STATES; i++)
		total_ns += totals->ns[i];
	return total_ns;
}

/* ---- columns; .cell: a state or one of these ---- */

enum { TOTAL = WAIT_STATES, OWN, OTHERS, WIRE };

static const struct wait_totals *find_totals(const struct view_cell *at)
{
	const struct view_paths *p = at->host->paths;
	uint32_t i;

	if (!p)
		return NULL;
	i = at->row->members > 1 ? map64_get(&p->by_process, at->row->row.b[CELL(thread, pid)])
				 : map64_get(&p->by_thread, at->row->key.uid);
	return i == MAP64_NONE ? NULL : totals_at(p, i);
}

static void get_total(const struct view_cell *at, struct value *v)
{
	const struct wait_totals *t = find_totals(at);

	value_set_null(v);
	if (!t)
		return;
	switch (at->column->cell) {
	case TOTAL:
		value_set_uint(v, sum_of(t));
		break;
	case OWN:
		value_set_uint(v, t->own_ns);
		break;
	case OTHERS:
		value_set_uint(v, sum_of(t) - MIN(t->own_ns, sum_of(t)));
		break;
	case WIRE:
		value_set_uint(v, t->wire_ns);
		break;
	default:
		value_set_uint(v, t->ns[at->column->cell]);
		break;
	}
}

#define NS(name, header, meaning, flags, cell) OTHER_OF(cell, get_total, name, header, meaning, COLUMN_NS, 7, flags)

static const struct column paths_columns[] = {
	COLUMN_HOST,
	COLUMN_TID,
	COLUMN_PID,
	COLUMN_COMM,
	NS("others_ns", "OTHERS", "Time that its critical path spends on other threads and on the wire.", 0, OTHERS),
	NS("own_ns", "OWN",
	   "Time that its critical path spends on the thread itself, including its waits for devices "
	   "and timers.",
	   0, OWN),
	NS("running", "RUNNING", "Running on a CPU, on whichever thread of the path.", 0, WAIT_RUNNING),
	NS("preempted", "PREEMPT", "Ready to run, waiting for a CPU.", 0, WAIT_PREEMPTED),
	NS("interrupted", "INTERR", "Waiting for an interrupt handler to finish.", 0, WAIT_INTERRUPTED),
	NS("timer", "TIMER", "Waiting for a timer.", 0, WAIT_TIMER),
	NS("block_device", "DISK", "Waiting for a block device.", 0, WAIT_BLOCK_DEVICE),
	NS("network", "NET", "Waiting for a packet from an unknown sender.", 0, WAIT_NETWORK),
	NS("wire", "WIRE", "Packets in transit, between two hosts or within one.", 0, WIRE),
	NS("user_input", "INPUT", "Waiting for user input.", 0, WAIT_USER_INPUT),
	NS("ipi", "IPI", "Waiting for another CPU.", 0, WAIT_IPI),
	NS("blocked", "UNEXPL", "Blocked, and nothing in the trace explains why.", 0, WAIT_BLOCKED),
	NS("unknown", "UNKNOWN", "Unknown.", 0, WAIT_UNKNOWN),
	NS("total_ns", "TOTAL", "Length of its critical path in the window.", COLUMN_COUNTER, TOTAL),
	COLUMN_VTID,
	COLUMN_VPID,
	COLUMN_CONTAINER(COLUMN_IF_KNOWN),
};

/* ---- order ---- */

bool view_paths_row_is_request(const struct view_rows *r, const struct view_row *row)
{
	const struct view_paths *p = view_row_host(r, row)->paths;

	if (!p)
		return false;
	return row->members > 1 ? map64_get(&p->requesters, row->row.b[CELL(thread, pid)]) != MAP64_NONE
				: map64_get(&p->requests, row->key.uid) != MAP64_NONE;
}

/* Requests come first, what only observes or serves the machine last. */
static unsigned get_rank(const struct view_rows *r, const struct view_row *row)
{
	if (view_paths_row_is_request(r, row))
		return 0;
	return INTERVAL_ROW(thread, &row->row)->flags & THREAD_KERNEL || view_row_is_tracing(r, row) ? 2 : 1;
}

const struct view_table view_paths_table = {
	.name = "paths",
	.title = "Critical path",
	.row = "a thread",
	.meaning =
		"What each thread waited for, followed from thread to thread and host to host: its critical path in "
		"the window. Threads that handle requests come first, those of the kernel and of LTTng last, until you "
		"choose an order (F6).",
	.source = TABLE_THREAD,
	.tables = USES(THREAD),
	.needs = NEED_CPU | NEED_SCHED,
	N_COLUMNS(paths_columns),
	.screen = "tid pid host container others_ns own_ns running block_device wire network timer blocked preempted "
		  "unknown comm",
	.sort = "others_ns",
	.rank = get_rank,
	.ranked = "requests first",
};
