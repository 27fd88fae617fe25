/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TCP connections. Each end is a row on its own host; the other end's row is looked up by the initial sequence numbers
 * of both (which address translation does not change) or, failing that, by the addresses.
 */
#include <stddef.h>
#include <string.h>

#include "view/declare.h"

/* Bounds the search among rows with the same key: a hostile trace may have many. */
enum { LOOKS = 64 };

static const struct connection_row *connection_of(const struct interval_row *row)
{
	return INTERVAL_ROW(connection, row);
}

/* The connection is between other hosts and only passes through this one. */
static bool is_passing(const struct connection_row *c)
{
	return (c->flags & (CONNECTION_HERE | CONNECTION_PASSING)) == CONNECTION_PASSING;
}

/* ---- the other end ---- */

static uint64_t opening_key(const struct connection_row *c)
{
	return map64_mix(1, c->opening);
}

static uint64_t address_key(uint64_t local, uint64_t peer)
{
	return map64_mix(map64_mix(2, local), peer);
}

static void put_end(struct view_rows_internal *in, uint64_t key, unsigned host, const struct interval_row *row)
{
	struct view_far_end end = { host, row, map64_get(&in->far_index, key) };

	map64_put(&in->far_index, key, in->far_ends->len);
	g_array_append_val(in->far_ends, end);
}

static void index_connections(struct view_rows *r)
{
	struct view_rows_internal *in = r->internal;

	map64_clear(&in->far_index);
	g_array_set_size(in->far_ends, 0);
	for (unsigned host = 0; host < r->n_hosts; host++) {
		const struct interval *iv = r->hosts[host].iv;

		for (uint32_t i = 0; iv && i < iv->tables[TABLE_CONNECTION].n_rows; i++) {
			const struct interval_row *row = &iv->tables[TABLE_CONNECTION].rows[i];
			const struct connection_row *c = connection_of(row);

			if (is_passing(c))
				continue;
			if (c->opening)
				put_end(in, opening_key(c), host, row);
			put_end(in, address_key(c->local, c->peer), host, row);
		}
	}
}

/* Addresses that every host has. */
static bool is_loopback(const struct connection_row *c)
{
	const char *text = strpool_text((strid)c->peer);

	return g_str_has_prefix(text, "127.") || g_str_has_prefix(text, "[::1]");
}

/* How well a candidate matches as the other end of a host's row; 0: not at all. */
static unsigned fit_of(const struct connection_row *c, unsigned host, const struct view_far_end *end)
{
	const struct connection_row *o = connection_of(end->row);
	const bool swapped = o->local == c->peer && o->peer == c->local;
	unsigned fit = 1;

	if (o == c || (c->opening && o->opening && (c->opening != o->opening || c->side == o->side)))
		return 0;
	if (!swapped && (!c->opening || c->opening != o->opening))
		return 0;
	if (end->host != host && is_loopback(c))
		return 0;
	fit += swapped;
	fit += 2 * (end->host == host);
	return fit + 4 * (o->thread_uid != 0);
}

static void best_of(const struct view_rows *r, const struct view_row *row, uint64_t key,
		    const struct view_far_end **best, unsigned *fit)
{
	const struct view_rows_internal *in = r->internal;

	uint32_t i = map64_get(&in->far_index, key);

	for (unsigned n = 0; n < LOOKS && i != MAP64_NONE; n++) {
		const struct view_far_end *end = &g_array_index(in->far_ends, struct view_far_end, i);
		unsigned f = fit_of(connection_of(&row->row), row->key.host, end);

		if (f > *fit) {
			*fit = f;
			*best = end;
		}
		i = end->next;
	}
}

/* NULL: no traced host has it. */
static const struct view_far_end *far_end(const struct view_cell *at)
{
	const struct connection_row *c = connection_of(&at->row->row);
	const struct view_far_end *best = NULL;
	unsigned fit = 0;

	if (c->opening)
		best_of(at->rows, at->row, opening_key(c), &best, &fit);
	if (!best)
		best_of(at->rows, at->row, address_key(c->peer, c->local), &best, &fit);
	return best;
}

static void get_peer_host(const struct view_cell *at, struct value *v)
{
	const struct view_far_end *end = far_end(at);

	value_set_text(v, end ? at->rows->hosts[end->host].name : NULL);
}

static void set_pid(struct value *v, const struct connection_row *c)
{
	value_set_null(v);
	if (c && (int64_t)c->pid >= 0)
		*v = (struct value){ .kind = VALUE_INT, .i = (int64_t)c->pid };
}

static void get_peer_pid(const struct view_cell *at, struct value *v)
{
	const struct view_far_end *end = far_end(at);

	set_pid(v, end ? connection_of(end->row) : NULL);
}

/* The last name of its process. */
static strid name_of(const struct view_rows *r, unsigned host, const struct connection_row *c)
{
	const struct interval *iv = r->hosts[host].iv;
	const struct interval_row *thread = c->thread_uid ? interval_find(iv, TABLE_THREAD, c->thread_uid) : NULL;

	return (strid)(thread ? INTERVAL_ROW(thread, thread)->comm : c->comm);
}

static void set_comm(struct value *v, strid comm)
{
	value_set_text(v, comm ? strpool_text(comm) : NULL);
}

static void get_peer_comm(const struct view_cell *at, struct value *v)
{
	const struct view_far_end *end = far_end(at);

	set_comm(v, end ? name_of(at->rows, end->host, connection_of(end->row)) : STRID_NONE);
}

/* ---- this end ---- */

static void get_comm(const struct view_cell *at, struct value *v)
{
	set_comm(v, name_of(at->rows, at->row->key.host, connection_of(&at->row->row)));
}

static void get_side(const struct view_cell *at, struct value *v)
{
	static const char *const names[] = { [SIDE_CONNECTED] = "client", [SIDE_ACCEPTED] = "server" };
	const uint64_t side = connection_of(&at->row->row)->side;

	value_set_text(v, side < G_N_ELEMENTS(names) ? names[side] : NULL);
}

/* Null if the connection has one of these flags, enum connection_flag. */
static void get_unless(const struct view_cell *at, struct value *v, uint64_t flags)
{
	view_get_by_form(at, v);
	if (connection_of(&at->row->row)->flags & flags)
		value_set_null(v);
}

static void get_sent(const struct view_cell *at, struct value *v)
{
	get_unless(at, v, CONNECTION_SENT_UNSEEN);
}

static void get_received(const struct view_cell *at, struct value *v)
{
	get_unless(at, v, CONNECTION_RECEIVED_UNSEEN);
}

/* Of requests and replies. */
static void get_turns(const struct view_cell *at, struct value *v)
{
	get_unless(at, v, CONNECTION_ROLE_UNKNOWN | CONNECTION_SENT_UNSEEN | CONNECTION_RECEIVED_UNSEEN);
}

/* A connection that ended before the interval starts is not included, but late packets may bring it up. */
static bool is_of_interval(const struct interval_row *row)
{
	const struct connection_row *a = (const struct connection_row *)(const void *)row->a, *b = connection_of(row);

	if (is_passing(b))
		return false;
	return !a || !a->end_ns || a->sent_packets != b->sent_packets || a->received_packets != b->received_packets;
}

static uint64_t same_connection(const struct view_rows *r, const struct view_row *row)
{
	(void)r;
	return map64_mix(1, row->key.uid);
}

static const struct column connections_columns[] = {
	COLUMN_HOST,
	COLUMN(connection, pid, "PID", 7, REPORTED),
	OTHER(get_comm, "comm", "COMMAND", "Name of that process.", COLUMN_TEXT, 15, REPORTED),
	COLUMN(connection, local, "LOCAL", 21, REPORTED | COLUMN_KEY | COLUMN_SPARE),
	COLUMN(connection, peer, "PEER", 21, REPORTED | COLUMN_KEY),
	OTHER(get_side, "side", "SIDE",
	      "Role of this end: client if it sent the first SYN, server if it received it; null if the SYN was not "
	      "seen. Figures of requests and replies then follow from the SYN that answered it, or from the ports: the "
	      "server has port 2049 (NFS), or one from 1 to 511 or from 1024 to 32767 while the other is 32768 or "
	      "higher; otherwise they are null.",
	      COLUMN_TEXT, 6, REPORTED),
	OTHER(get_peer_host, "peer_host", "PEER HOST",
	      "Host of the other end; null if that host is not "
	      "traced.",
	      COLUMN_TEXT, 10, REPORTED),
	OTHER(get_peer_pid, "peer_pid", "PEER PID", "Process at the other end; null if unknown.", COLUMN_ID, 8,
	      REPORTED),
	OTHER(get_peer_comm, "peer_comm", "PEER COMMAND", "Name of that process.", COLUMN_TEXT, 15, REPORTED),
	COLUMN(connection, begin_ns, "BEGAN", 15, REPORTED | COLUMN_KEY),
	COLUMN(connection, handshake_ns, "HANDSHAKE", 9, REPORTED),
	COLUMN(connection, first_byte_ns, "1ST BYTE", 8, REPORTED),
	COLUMN_BY(get_sent, connection, sent_bytes, "SENT", 7, FIGURE),
	COLUMN_BY(get_received, connection, received_bytes, "RECEIVED", 8, FIGURE),
	COLUMN_BY(get_sent, connection, sent_packets, "PKTS OUT", 8, FIGURE),
	COLUMN_BY(get_received, connection, received_packets, "PKTS IN", 7, FIGURE),
	COLUMN_BY(get_sent, connection, retransmits, "AGAIN", 5, FIGURE),
	DIST_BY(get_turns, COUNT, "requests", connection, answer, "REQUESTS", 8, FIGURE),
	COLUMN_BY(get_turns, connection, request_ns, "ASKING", 8, FIGURE),
	DIST_BY(get_turns, TOTAL, "answer_ns", connection, answer, "TO ANSWER", 9, FIGURE),
	COLUMN_BY(get_turns, connection, reply_ns, "REPLYING", 8, FIGURE),
	DIST_BY(get_turns, MAX, "answer_max_ns", connection, answer, "LONGEST", 8, REPORTED | COLUMN_LEVEL),
	COLUMN(connection, waits, "WAITS", 5, FIGURE),
	COLUMN(connection, waited_ns, "WAITED", 8, FIGURE),
	COLUMN(connection, end_ns, "ENDED", 15, REPORTED),
	COLUMN(connection, reset, "RESET", 5, REPORTED),
	DIST_BY(get_turns, AVG, "answer_avg_ns", connection, answer, "ANSWER AVG", 10, COLUMN_LEVEL),
	DIST_BY(get_turns, MAX_AT, "answer_max_at_ns", connection, answer, "LONGEST AT", 15, 0),
	RATE_BY(get_sent, "sent_rate", connection, sent_bytes, "SENT/s", 7),
	RATE_BY(get_received, "received_rate", connection, received_bytes, "RECV/s", 7),
	COLUMN_CONTAINER(COLUMN_IF_KNOWN),
};

const struct view_table view_connections_table = {
	.name = "connections",
	.title = "Connections",
	.row = "an end of a TCP connection",
	.meaning = "TCP connections as seen in their packets: peers, start, volume, delays. Each end has a row on its "
		   "own host; a connection between two traced hosts, or within one, has two rows.",
	.flags = VIEW_REPORT | VIEW_ALL_ROWS,
	.source = TABLE_CONNECTION,
	.tables = USES(CONNECTION) | USES(THREAD),
	.needs = NEED_NET,
	N_COLUMNS(connections_columns),
	.screen = "pid host container comm local peer peer_host peer_comm sent_rate received_rate sent_bytes "
		  "received_bytes requests answer_avg_ns waited_ns retransmits",
	.sort = "received_bytes",
	.about = "TCP connections: peers, volume, waits",
	.empty = "no TCP connection was open in this interval",
	.belongs = is_of_interval,
	.same = same_connection,
	.thread = CELL(connection, thread_uid),
	.index = index_connections,
};
