/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Table latencies: distribution of packet latencies from one host to another. */
#include <stddef.h>
#include <stdlib.h>

#include "view/declare.h"

#define LATENCY_CELLS(C, A, D)                                                                              \
	C(host, KEY, HOST, "Host that sent them")                                                           \
	C(to_host, KEY, HOST, "Host that received them")                                                    \
	C(packets, COUNTER, COUNT, "Packets seen by both sender and receiver, sent in the interval")        \
	C(negative, COUNTER, COUNT, "Packets received before they were sent, by the corrected clocks")      \
	C(min_ns, MIN, SPAN, "Shortest latency by the corrected clocks")                                    \
	C(p50_ns, GAUGE, SPAN, "Median latency by the corrected clocks")                                    \
	C(p90_ns, GAUGE, SPAN, "The 90th percentile of the latency by the corrected clocks")                \
	C(p99_ns, GAUGE, SPAN, "The 99th percentile of the latency by the corrected clocks")                \
	C(max_ns, MAX, SPAN, "Longest latency by the corrected clocks")                                     \
	C(raw_negative, COUNTER, COUNT, "Packets received before they were sent, by the hosts' own clocks") \
	C(raw_min_ns, MIN, SPAN, "Shortest latency by the hosts' own clocks")                               \
	C(raw_p50_ns, GAUGE, SPAN, "Median latency by the hosts' own clocks")                               \
	C(raw_p90_ns, GAUGE, SPAN, "The 90th percentile of the latency by the hosts' own clocks")           \
	C(raw_p99_ns, GAUGE, SPAN, "The 99th percentile of the latency by the hosts' own clocks")           \
	C(raw_max_ns, MAX, SPAN, "Longest latency by the hosts' own clocks")                                \
	C(p999_ns, GAUGE, SPAN, "The 99.9th percentile of the latency by the corrected clocks")

OWN_ROW(latency, LATENCY_CELLS);

/* The distribution is known by its first cell. */
#define SPREAD(getter, form, name, header, meaning)                    \
	CELL_COLUMN_BY(getter, form, name, latency, min_ns, header, 9, \
		       COLUMN_LEVEL | COLUMN_SPREAD | (FORM_##form == FORM_FREQ ? 0 : REPORTED), meaning)

static const struct column latencies_columns[] = {
	COLUMN_AS("from_host", latency, host, "FROM", 10, REPORTED),
	COLUMN(latency, to_host, "TO", 10, REPORTED),
	COLUMN(latency, packets, "PACKETS", 8, FIGURE),
	COLUMN(latency, negative, "NEGATIVE", 8, FIGURE),
	COLUMN(latency, min_ns, "MIN", 9, REPORTED),
	COLUMN(latency, p50_ns, "p50", 9, REPORTED),
	COLUMN(latency, p90_ns, "p90", 9, REPORTED),
	COLUMN(latency, p99_ns, "p99", 9, REPORTED),
	COLUMN(latency, max_ns, "MAX", 9, REPORTED),
	COLUMN(latency, raw_negative, "RAW NEG", 8, FIGURE),
	COLUMN(latency, raw_min_ns, "RAW MIN", 9, REPORTED),
	COLUMN(latency, raw_p50_ns, "RAW p50", 9, REPORTED),
	COLUMN(latency, raw_p90_ns, "RAW p90", 9, REPORTED),
	COLUMN(latency, raw_p99_ns, "RAW p99", 9, REPORTED),
	COLUMN(latency, raw_max_ns, "RAW MAX", 9, REPORTED),
	COLUMN(latency, p999_ns, "p99.9", 9, REPORTED),
	SPREAD(view_get_freq, FREQ, "freq", "LATENCY",
	       "Histogram of the latencies by the corrected clocks; those below 0 count as 0."),
};

/* Percentiles of a sum come from the buckets of its rows, which add up. */
static column_get_fn get_percentile;

static const struct column latencies_sum_columns[] = {
	SPREAD(get_percentile, P50, "p50_ns", "p50", "Median latency by the corrected clocks, to within 1/16."),
	SPREAD(get_percentile, P90, "p90_ns", "p90",
	       "The 90th percentile of the latency by the corrected clocks, to within 1/16."),
	SPREAD(get_percentile, P99, "p99_ns", "p99",
	       "The 99th percentile of the latency by the corrected clocks, to within 1/16."),
	SPREAD(get_percentile, P999, "p999_ns", "p99.9",
	       "The 99.9th percentile of the latency by the corrected clocks, to within 1/16."),
};

static view_collect_fn collect;

const struct view_table view_latencies_table = {
	.name = "latencies",
	.title = "Latencies",
	.row = "a direction between two hosts",
	.meaning =
		"How long packets took from host to host, before and after clock correction. Sums have percentiles of "
		"corrected latencies, accurate to within 1/16.",
	.flags = VIEW_REPORT | VIEW_ALL_ROWS,
	.source = TABLES,
	.needs = NEED_NET,
	.unrecorded = "latencies are those of packets from one host to another that were recorded on both",
	N_COLUMNS(latencies_columns),
	.screen = "from_host to_host packets negative min_ns p50_ns p90_ns p99_ns max_ns",
	.sort = "from_host",
	.supply = { VIEW_MATCHES, true, collect },
	.sum_columns = latencies_sum_columns,
	.n_sum_columns = G_N_ELEMENTS(latencies_sum_columns),
	OWN_CELLS(latency),
};

static void get_percentile(const struct view_cell *at, struct value *v)
{
	const uint64_t *cells = at->row->row.b;
	const struct view_spread *s = view_spread(at->rows, at->row, at->column->cell);
	const int64_t least = (int64_t)cells[CELL(latency, min_ns)], greatest = (int64_t)cells[CELL(latency, max_ns)];

	value_set_null(v);
	if (s->total)
		value_set_uint(v, view_spread_percentile(s, view_permille((enum column_form)at->column->form),
							 (uint64_t)MAX(least, 0), (uint64_t)MAX(greatest, 0)));
}

static int compare_values(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* The value that permille / 1000 of them do not exceed; 1000: the greatest. */
static uint64_t rank(const GArray *sorted, unsigned permille)
{
	/* rounded up, and from 1 on: as view_spread_percentile() */
	const guint number = (guint)(((uint64_t)sorted->len * permille + 999) / 1000);

	return (uint64_t)g_array_index(sorted, int64_t, MAX(number, 1) - 1);
}

static uint64_t count_negative(const GArray *sorted)
{
	uint64_t n = 0;

	while (n < sorted->len && g_array_index(sorted, int64_t, n) < 0)
		n++;
	return n;
}

static void set_spread(struct latency_row *row, GArray *corrected, GArray *raw)
{
	g_array_sort(corrected, compare_values);
	g_array_sort(raw, compare_values);
	row->packets = raw->len;
	row->negative = count_negative(corrected);
	row->min_ns = rank(corrected, 0);
	row->p50_ns = rank(corrected, 500);
	row->p90_ns = rank(corrected, 900);
	row->p99_ns = rank(corrected, 990);
	row->p999_ns = rank(corrected, 999);
	row->max_ns = rank(corrected, 1000);
	row->raw_negative = count_negative(raw);
	row->raw_min_ns = rank(raw, 0);
	row->raw_p50_ns = rank(raw, 500);
	row->raw_p90_ns = rank(raw, 900);
	row->raw_p99_ns = rank(raw, 990);
	row->raw_max_ns = rank(raw, 1000);
}

/* A direction's latencies while they are collected. */
struct latency_direction {
	GArray *corrected, *raw; /* int64_t; NULL: no packet */
};

static unsigned host_index(const struct view_host *hosts, unsigned n_hosts, unsigned clock)
{
	unsigned i = 0;

	while (i < n_hosts && hosts[i].clock != clock)
		i++;
	return i;
}

static void add_match(struct latency_direction *directions, const struct view_match *m, const struct view_sources *s)
{
	const struct view_host *hosts = s->hosts;
	const unsigned n_hosts = s->n_hosts;
	unsigned from = host_index(hosts, n_hosts, m->from), to = host_index(hosts, n_hosts, m->to);
	int64_t raw = (int64_t)(m->received_ns - m->sent_ns), corrected;
	struct latency_direction *d;
	uint64_t sent_ns;

	if (from == n_hosts || to == n_hosts || from == to)
		return;
	sent_ns = clock_to_ref(hosts[from].map, m->sent_ns);
	if (sent_ns < s->begin_ns || sent_ns >= s->end_ns)
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

/* Uses the packets of table "matches" except those that stayed on their host; ordered by the two hosts. */
static void collect(struct view_derived *derived, const struct view_sources *sources)
{
	const struct view_host *hosts = sources->hosts;
	const unsigned n_hosts = sources->n_hosts;
	struct latency_direction *directions = g_new0(struct latency_direction, (size_t)n_hosts * n_hosts);

	for (guint i = 0; i < sources->matches->len; i++)
		add_match(directions, &g_array_index(sources->matches, struct view_match, i), sources);
	for (unsigned i = 0; i < n_hosts * n_hosts; i++) {
		struct latency_direction *d = &directions[i];
		const unsigned from = i / n_hosts, to = i % n_hosts;
		struct latency_row *row;

		if (!d->raw)
			continue;
		if (view_filter_host(sources->filter, hosts[from].name) ||
		    view_filter_host(sources->filter, hosts[to].name)) {
			row = view_derived_add(derived, sizeof(*row), from);
			row->to_host = to;
			set_spread(row, d->corrected, d->raw);
			for (guint k = 0; k < d->corrected->len; k++)
				view_derived_count(derived, row, CELL(latency, min_ns),
						   (uint64_t)MAX(g_array_index(d->corrected, int64_t, k), 0));
		}
		g_array_free(d->corrected, TRUE);
		g_array_free(d->raw, TRUE);
	}
	g_free(directions);
}
