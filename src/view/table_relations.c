/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who talks to whom and who wakes whom. Each host of a connection has its own half; both carry the flow's hash, which
 * is used to find the process of the other half. Figures stay with their half.
 */
#include <stddef.h>

#include "view/declare.h"

/* The ends that a row was seen from. */
enum side { SIDE_BOTH, SIDE_SENT, SIDE_RECEIVED };

static enum side side_of(const struct relation_row *row)
{
	if (!row->flow)
		return SIDE_BOTH;
	return row->from_uid ? SIDE_SENT : SIDE_RECEIVED;
}

static const struct relation_row *relation_of(const struct view_cell *at)
{
	return INTERVAL_ROW(relation, &at->row->row);
}

static uint64_t half_key(const struct relation_row *row)
{
	return row->flow ^ (side_of(row) == SIDE_SENT);
}

static uint64_t process_of(const struct relation_row *row)
{
	return side_of(row) == SIDE_SENT ? row->from_uid : row->to_uid;
}

/* Below 0 if a's process has the weaker claim. */
static int compare_claims(const struct view_half *a, const struct view_half *b)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(a->claim); i++)
		if (a->claim[i] != b->claim[i])
			return a->claim[i] < b->claim[i] ? -1 : 1;
	return 0;
}

/*
 * If several processes share a socket, the one with the most traffic represents it, in the interval or else until its
 * end. Packets also wake processes that do not get the connection: without traffic, the one woken most often does.
 */
static void add_half(struct view_rows_internal *in, const struct interval *iv, unsigned host,
		     const struct interval_row *row)
{
	const struct view_half half = {
		.host = host,
		.row = INTERVAL_ROW(relation, row),
		.claim = { INTERVAL_VALUE(iv, RELATION, relation, row, bytes), INTERVAL_ROW(relation, row)->bytes,
			   INTERVAL_VALUE(iv, RELATION, relation, row, wait.count) },
	};
	struct view_half *known;
	uint32_t i;
	int order;

	if (!half.row->flow)
		return;
	i = map64_get(&in->half_index, half_key(half.row));
	if (i == MAP64_NONE) {
		map64_put(&in->half_index, half_key(half.row), in->halves->len);
		g_array_append_val(in->halves, half);
		return;
	}
	known = &g_array_index(in->halves, struct view_half, i);
	order = compare_claims(known, &half);
	if (order < 0)
		*known = half;
	else if (!order && known->row && (known->host != host || process_of(known->row) != process_of(half.row)))
		known->row = NULL;
}

static void index_halves(struct view_rows *r)
{
	struct view_rows_internal *in = r->internal;

	map64_clear(&in->half_index);
	g_array_set_size(in->halves, 0);
	for (unsigned host = 0; host < r->n_hosts; host++) {
		const struct interval *iv = r->hosts[host].iv;

		for (uint32_t i = 0; iv && i < iv->tables[TABLE_RELATION].n_rows; i++)
			add_half(in, iv, host, &iv->tables[TABLE_RELATION].rows[i]);
	}
}

/* The other half of a row; NULL: it is on no traced host. */
static const struct view_half *other_half(const struct view_rows *r, const struct relation_row *row)
{
	uint32_t i = row->flow ? map64_get(&r->internal->half_index, half_key(row) ^ 1) : MAP64_NONE;

	return i == MAP64_NONE ? NULL : &g_array_index(r->internal->halves, struct view_half, i);
}

/* ---- processes ---- */

/* One end of a row: the host and the cells that contain its process; row NULL: unknown. */
static struct view_half end_of(const struct view_rows *r, unsigned host, const struct relation_row *row, bool to)
{
	const struct view_half *other;

	if (to ? row->to_uid : row->from_uid)
		return (struct view_half){ .host = host, .row = row };
	other = other_half(r, row);
	return other ? *other : (struct view_half){ .row = NULL };
}

/* column.cell: a cell of either end. */
static struct view_half end_at(const struct view_cell *at)
{
	bool to = at->column->cell == CELL(relation, to_pid) || at->column->cell == CELL(relation, to_comm) ||
		  at->column->cell == CELL(relation, to_uid);

	return end_of(at->rows, at->row->key.host, relation_of(at), to);
}

static uint64_t end_cell(const struct view_half *end, unsigned cell)
{
	return ((const uint64_t *)(const void *)end->row)[cell];
}

static void get_end_host(const struct view_cell *at, struct value *v)
{
	struct view_half end = end_at(at);

	value_set_text(v, end.row ? at->rows->hosts[end.host].name : NULL);
}

static void get_end_pid(const struct view_cell *at, struct value *v)
{
	struct view_half end = end_at(at);

	value_set_null(v);
	if (end.row && (int64_t)end_cell(&end, at->column->cell) >= 0)
		*v = (struct value){ .kind = VALUE_INT, .i = (int64_t)end_cell(&end, at->column->cell) };
}

static strid end_comm(const struct view_rows *r, const struct view_half *end, bool to)
{
	return view_last_comm(r->hosts[end->host].iv, to ? end->row->to_uid : end->row->from_uid,
			      to ? end->row->to_comm : end->row->from_comm);
}

static void get_end_comm(const struct view_cell *at, struct value *v)
{
	const bool to = at->column->cell == CELL(relation, to_comm);
	struct view_half end = end_at(at);
	strid comm = end.row ? end_comm(at->rows, &end, to) : STRID_NONE;

	value_set_text(v, comm ? strpool_text(comm) : NULL);
}

/* Merges all connections of the same kind between the same two processes. */
static uint64_t same_relation(const struct view_rows *r, const struct view_row *row)
{
	const struct relation_row *b = INTERVAL_ROW(relation, &row->row);
	struct view_half from = end_of(r, row->key.host, b, false), to = end_of(r, row->key.host, b, true);
	uint64_t hash = map64_mix(b->kind << 8 | side_of(b), b->object);

	if (from.row)
		hash = map64_mix(hash, (uint64_t)from.host << 48 ^ from.row->from_uid);
	return to.row ? map64_mix(hash + 1, (uint64_t)to.host << 48 ^ to.row->to_uid) : hash;
}

bool view_relation_end(const struct view_rows *r, const struct view_row *row, bool to, struct view_end *end)
{
	struct view_half half = end_of(r, row->key.host, INTERVAL_ROW(relation, &row->row), to);

	if (!half.row)
		return false;
	end->host = half.host;
	end->pid = to ? half.row->to_pid : half.row->from_pid;
	end->comm = end_comm(r, &half, to);
	return true;
}

/* ---- means ---- */

static void get_kind(const struct view_cell *at, struct value *v)
{
	static const char *const names[RELATION_KINDS] = {
		[RELATION_PIPE] = "pipe",     [RELATION_UNIX] = "unix",       [RELATION_INET] = "inet",
		[RELATION_SIGNAL] = "signal", [RELATION_FUTEX] = "futex",     [RELATION_LOCK] = "lock",
		[RELATION_CHILD] = "child",   [RELATION_EVENTFD] = "eventfd", [RELATION_OTHER] = "other",
	};
	uint64_t kind = relation_of(at)->kind;

	value_set_text(v, kind < RELATION_KINDS ? names[kind] : NULL);
}

static void get_side(const struct view_cell *at, struct value *v)
{
	static const char *const names[] = {
		[SIDE_BOTH] = "both",
		[SIDE_SENT] = "sent",
		[SIDE_RECEIVED] = "received",
	};

	value_set_text(v, names[side_of(relation_of(at))]);
}

static const struct column relations_columns[] = {
	COLUMN_HOST,
	OTHER_OF(CELL(relation, from_uid), get_end_host, "from_host", "FROM HOST",
		 "Host of the process that acts; null if it is on no traced host, or unknown.", COLUMN_TEXT, 10,
		 REPORTED),
	COLUMN_BY(get_end_pid, relation, from_pid, "FROM", 7, REPORTED | COLUMN_KEY),
	COLUMN_BY(get_end_comm, relation, from_comm, "PROCESS", 15, REPORTED | COLUMN_MAIN),
	OTHER_OF(CELL(relation, to_uid), get_end_host, "to_host", "TO HOST",
		 "Host of the process acted upon; null if it is on no traced host, or unknown.", COLUMN_TEXT, 10,
		 REPORTED),
	COLUMN_BY(get_end_pid, relation, to_pid, "TO", 7, REPORTED | COLUMN_KEY),
	COLUMN_BY(get_end_comm, relation, to_comm, "PROCESS", 15, REPORTED | COLUMN_MAIN),
	OTHER(get_kind, "kind", "BY",
	      "Means: pipe (or fifo), unix, inet, signal, futex, lock (of a file), child (its exit is waited for), "
	      "eventfd; other: a wake-up by unknown means.",
	      COLUMN_TEXT, 8, REPORTED | COLUMN_KEY),
	COLUMN(relation, object, "THROUGH", 0, REPORTED | COLUMN_KEY),
	OTHER(get_side, "side", "SEEN",
	      "Which end counted these figures: both on this host, or only the end that sent or "
	      "received.",
	      COLUMN_TEXT, 8, REPORTED | COLUMN_KEY),
	COLUMN(relation, count, "COUNT", 7, FIGURE),
	COLUMN(relation, bytes, "BYTES", 7, FIGURE),
	DIST_AS(COUNT, "wakeups", relation, wait, "WAKES", 7, FIGURE | COLUMN_SWITCHES),
	DIST_AS(TOTAL, "wait_ns", relation, wait, "WAITED", 8, FIGURE | COLUMN_SWITCHES),
	DIST(relation, wait, "wait_", "", FIGURE | COLUMN_SWITCHES, MAX),
	DIST(relation, wait, "wait_", "", COLUMN_SWITCHES, AVG, MAX_AT),
};

const struct view_table view_relations_table = {
	.name = "relations",
	.title = "Relations",
	.row = "an action of one process upon another",
	.meaning =
		"Which processes write to, wake or signal which others, or are waited for by them, on the same host "
		"or on another. Communication through shared memory and busy waiting leave no trace and are not "
		"included; bytes are known for pipes and sockets whose creation or state dump was recorded. Waits in "
		"which events were lost are not counted.",
	.flags = VIEW_REPORT,
	.source = TABLE_RELATION,
	.tables = USES(RELATION) | USES(THREAD),
	.needs = NEED_SYSCALL | NEED_SCHED,
	N_COLUMNS(relations_columns),
	.screen = "from_host from_pid from_comm to_host to_pid to_comm kind wait_ns bytes count object wakeups "
		  "wait_max_ns",
	.sort = "wait_ns",
	.about = "which process writes to, wakes or waits for which",
	.empty = "no process wrote to, woke, signalled or waited for another in this interval",
	.same = same_relation,
	.index = index_halves,
};
