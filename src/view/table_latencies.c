/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Table of the packets' latencies: from one host to another, as they are spread. */
#include <stddef.h>
#include <stdlib.h>

#include "view/internal.h"

#define REPORTED COLUMN_IN_REPORT

/* What is known of a number of latencies: signed. */
struct spread {
	uint64_t negative;
	uint64_t min_ns, p50_ns, p90_ns, p99_ns, max_ns;
};

struct latency_row {
	uint64_t uid, host;
	uint64_t to; /* index of the host */
	uint64_t packets;
	struct spread corrected, raw;
};

static void get_to_host(const struct view_cell *at, struct value *v)
{
	value_set_text(v, at->rows->hosts[at->row->row.b[CELL(latency, to)]].name);
}

#define LATENCY(name, cell, header, meaning) \
	{ name, header, meaning, COLUMN_NS, 9, REPORTED, CELL(latency, cell), view_get_int }
#define LATENCY_COUNT(name, cell, header, meaning) \
	{ name, header, meaning, COLUMN_COUNT, 8, REPORTED, CELL(latency, cell), view_get_number }

static const struct column latencies_columns[] = {
	{ "from_host", "FROM", "Host that sent them.", COLUMN_TEXT, 10, REPORTED, 0, view_get_host },
	{ "to_host", "TO", "Host that received them.", COLUMN_TEXT, 10, REPORTED, CELL(latency, to), get_to_host },
	LATENCY_COUNT("packets", packets, "PACKETS", "Packets that were seen on both ends, sent in the interval."),
	LATENCY_COUNT("negative", corrected.negative, "NEGATIVE",
		      "Those that arrive before they were sent, by the corrected clocks."),
	LATENCY("min_ns", corrected.min_ns, "MIN", "Least latency by the corrected clocks."),
	LATENCY("p50_ns", corrected.p50_ns, "MEDIAN", "The median: as many are above as below."),
	LATENCY("p90_ns", corrected.p90_ns, "P90", "Nine of ten are below."),
	LATENCY("p99_ns", corrected.p99_ns, "P99", "All but one in a hundred are below."),
	LATENCY("max_ns", corrected.max_ns, "MAX", "The greatest."),
	LATENCY_COUNT("raw_negative", raw.negative, "RAW NEG", "The same by the hosts' own clocks: negative ones."),
	LATENCY("raw_min_ns", raw.min_ns, "RAW MIN", "By the hosts' own clocks: least."),
	LATENCY("raw_p50_ns", raw.p50_ns, "RAW MEDIAN", "By the hosts' own clocks: median."),
	LATENCY("raw_p90_ns", raw.p90_ns, "RAW P90", "By the hosts' own clocks: 90 % are below."),
	LATENCY("raw_p99_ns", raw.p99_ns, "RAW P99", "By the hosts' own clocks: 99 % are below."),
	LATENCY("raw_max_ns", raw.max_ns, "RAW MAX", "By the hosts' own clocks: the greatest."),
};

const struct view_table view_latencies_table = {
	.name = "latencies",
	.title = "Latencies",
	.row = "a direction between two hosts",
	.meaning = "How long packets took from host to host, before and after the clocks were corrected.",
	.flags = VIEW_REPORT | VIEW_OWN | VIEW_ALL_ROWS,
	.source = TABLES,
	.needs = NEED_NET,
	N_COLUMNS(latencies_columns),
	.screen = "from_host to_host packets negative min_ns p50_ns p90_ns p99_ns max_ns",
	.sort = "from_host",
};

static int compare_values(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* The value below which percent % are. */
static uint64_t rank(const GArray *sorted, unsigned percent)
{
	return (uint64_t)g_array_index(sorted, int64_t, (guint)((uint64_t)sorted->len * percent / 100));
}

static struct spread spread_of(GArray *values)
{
	struct spread s = { 0 };

	g_array_sort(values, compare_values);
	while (s.negative < values->len && g_array_index(values, int64_t, s.negative) < 0)
		s.negative++;
	s.min_ns = rank(values, 0);
	s.p50_ns = rank(values, 50);
	s.p90_ns = rank(values, 90);
	s.p99_ns = rank(values, 99);
	s.max_ns = (uint64_t)g_array_index(values, int64_t, values->len - 1);
	return s;
}

/* A direction's latencies while they are collected. */
struct direction {
	GArray *corrected, *raw; /* int64_t; NULL: no packet */
};

static unsigned host_index(const struct view_host *hosts, unsigned n_hosts, unsigned clock)
{
	unsigned i = 0;

	while (i < n_hosts && hosts[i].clock != clock)
		i++;
	return i;
}

static void collect(struct direction *directions, const struct view_match *m, uint64_t begin_ns, uint64_t end_ns,
		    const struct view_host *hosts, unsigned n_hosts)
{
	unsigned from = host_index(hosts, n_hosts, m->from), to = host_index(hosts, n_hosts, m->to);
	int64_t raw = (int64_t)(m->received_ns - m->sent_ns), corrected;
	struct direction *d;
	uint64_t sent_ns;

	if (from == n_hosts || to == n_hosts || from == to)
		return;
	sent_ns = clock_to_ref(hosts[from].map, m->sent_ns);
	if (sent_ns < begin_ns || sent_ns >= end_ns)
		return;
	corrected = (int64_t)(clock_to_ref(hosts[to].map, m->received_ns) - sent_ns);
	d = &directions[from * n_hosts + to];
	if (!d->raw) {
		d->corrected = g_array_new(FALSE, FALSE, sizeof(int64_t));
		d->raw = g_array_new(FALSE, FALSE, sizeof(int64_t));
	}
	g_array_append_val(d->corrected, corrected);
	g_array_append_val(d->raw, raw);
}

void view_own_latencies(struct view_own *own, const GArray *matches, const struct view_filter *filter,
			uint64_t begin_ns, uint64_t end_ns, const struct view_host *hosts, unsigned n_hosts)
{
	struct direction *directions = g_new0(struct direction, (size_t)n_hosts * n_hosts);

	for (guint i = 0; i < matches->len; i++)
		collect(directions, &g_array_index(matches, struct view_match, i), begin_ns, end_ns, hosts, n_hosts);
	for (unsigned i = 0; i < n_hosts * n_hosts; i++) {
		struct direction *d = &directions[i];
		const unsigned from = i / n_hosts, to = i % n_hosts;
		struct latency_row *row;

		if (!d->raw)
			continue;
		if (view_filter_host(filter, hosts[from].name) || view_filter_host(filter, hosts[to].name)) {
			row = view_own_add(own, sizeof(*row), from);
			row->to = to;
			row->packets = d->raw->len;
			row->corrected = spread_of(d->corrected);
			row->raw = spread_of(d->raw);
		}
		g_array_free(d->corrected, TRUE);
		g_array_free(d->raw, TRUE);
	}
	g_free(directions);
}
