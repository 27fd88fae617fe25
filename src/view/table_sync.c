/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of the hosts' clocks: sync, matches. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "view/internal.h"

#define REPORTED COLUMN_IN_REPORT

/* ---- sync ---- */

struct sync_row {
	uint64_t uid, host;
	uint64_t ref, state; /* strid */
	uint64_t matched, used, negative;
	uint64_t offset_ns; /* signed, as are the following; VIEW_UNKNOWN */
	double drift_ppm;
	uint64_t bound_ns;
	uint64_t to_min_ns, from_min_ns, to_median_ns, from_median_ns;
	uint64_t slope, intercept; /* strid */
	uint64_t reason; /* strid */
};

static void get_drift(const struct view_cell *at, struct value *v)
{
	const struct sync_row *row = (const struct sync_row *)(const void *)at->row->row.b;

	value_set_null(v);
	if (row->ref != STRID_NONE)
		value_set_real(v, row->drift_ppm);
}

#define SYNC_INT(name, cell, header, meaning) \
	{ name, header, meaning, COLUMN_NS, 9, REPORTED, CELL(sync, cell), view_get_int }
#define SYNC_COUNT(name, header, meaning) \
	{ #name, header, meaning, COLUMN_COUNT, 8, REPORTED, CELL(sync, name), view_get_number }

#define SYNC_TEXT(name, header, meaning) \
	{ #name, header, meaning, COLUMN_TEXT, 12, REPORTED, CELL(sync, name), view_get_text }

static const struct column sync_columns[] = {
	COLUMN_HOST,
	{ "ref", "REF", "Host whose time is its reference; null where neither packets nor, live, arrival lead to one.",
	  COLUMN_TEXT, 10, REPORTED, CELL(sync, ref), view_get_text },
	{ "state", "STATE",
	  "How its clock is known: reference, absent (no packet to go by), incomplete (one direction only), "
	  "approximate (no bound), accurate, failed (no line of bounded drift fits).",
	  COLUMN_TEXT, 11, REPORTED, CELL(sync, state), view_get_text },
	SYNC_COUNT(matched, "MATCHED", "Packets between it and its neighbour on the way to the reference."),
	SYNC_COUNT(used, "USED", "Packets that the estimate rests on."),
	SYNC_INT("offset_ns", offset_ns, "OFFSET", "At the interval's end: its time and this is the reference's."),
	{ "drift_ppm", "DRIFT ppm", "How much faster than the reference its clock is.", COLUMN_PPM, 9, REPORTED,
	  CELL(sync, drift_ppm), get_drift },
	SYNC_INT("bound_ns", bound_ns, "BOUND", "The offset is wrong by no more than this; null where nobody knows."),
	SYNC_INT("latency_to_min_ns", to_min_ns, "MIN TO", "Least latency of packets it sent to that neighbour."),
	SYNC_INT("latency_from_min_ns", from_min_ns, "MIN FROM", "Least latency of packets it got from it."),
	SYNC_INT("latency_to_median_ns", to_median_ns, "MEDIAN TO", "Median latency of packets it sent."),
	SYNC_INT("latency_from_median_ns", from_median_ns, "MEDIAN FROM", "Median latency of packets it got."),
	SYNC_COUNT(negative, "NEGATIVE", "Packets that arrive before they were sent, even by the corrected clocks."),
	SYNC_TEXT(slope, "SLOPE", "With --compat: the reference's time is slope times its time plus intercept."),
	SYNC_TEXT(intercept, "INTERCEPT", "With --compat: see slope."),
	SYNC_TEXT(reason, "REASON", "Why its clock is absent or incomplete; live, whether its offset is by arrival."),
};

const struct view_table view_sync_table = {
	.name = "sync",
	.title = "Clocks",
	.row = "a host",
	.meaning = "How the hosts' clocks differ, by the packets they exchange.",
	.flags = VIEW_REPORT | VIEW_OWN | VIEW_ALL_ROWS,
	.source = TABLES,
	.needs = NEED_NET,
	N_COLUMNS(sync_columns),
	.screen = "host ref state matched used offset_ns drift_ppm bound_ns latency_to_min_ns latency_from_min_ns "
		  "negative reason",
	.sort = "host",
};

static const char *name_of_clock(const struct view_host *hosts, unsigned n_hosts, int clock)
{
	for (unsigned i = 0; i < n_hosts; i++)
		if ((int)hosts[i].clock == clock)
			return hosts[i].name;
	return NULL;
}

static uint64_t known_or_not(bool known, int64_t value)
{
	return (uint64_t)(known ? value : VIEW_UNKNOWN);
}

static strid reason_of(const struct clock_host_info *info)
{
	const char *why = clock_obstacle_text(info->obstacle);
	char text[160];

	if (!info->by_arrival || info->ref < 0)
		return strpool_intern_z(why);
	g_snprintf(text, sizeof(text), "by arrival, within %" PRIu64 " ms%s%s", info->arrival_half_ns / 1000000,
		   why ? ": " : "", why ? why : "");
	return strpool_intern_z(text);
}

void view_own_sync(struct view_own *own, const struct clock_sync *clocks, uint64_t end_ns,
		   const struct view_host *hosts, unsigned n_hosts)
{
	for (unsigned i = 0; i < n_hosts; i++) {
		struct clock_host_info info = clock_sync_info(clocks, hosts[i].clock);
		uint64_t host_ns = clock_from_ref(clock_sync_map(clocks, hosts[i].clock), end_ns);
		struct sync_row *row = view_own_add(own, sizeof(*row), i);
		char slope[CLOCK_FORMULA_SIZE], intercept[CLOCK_FORMULA_SIZE];
		uint64_t bound_ns = 0;
		bool bounded = clock_sync_bound(clocks, hosts[i].clock, host_ns, &bound_ns);

		row->ref = strpool_intern_z(name_of_clock(hosts, n_hosts, info.ref));
		row->state = strpool_intern_z(clock_state_name(info.state));
		row->reason = reason_of(&info);
		row->matched = info.matched;
		row->used = info.used;
		row->negative = info.negative;
		row->offset_ns = known_or_not(info.ref >= 0, clock_sync_offset(clocks, hosts[i].clock, host_ns));
		row->drift_ppm = info.drift_ppm;
		row->bound_ns = known_or_not(bounded, (int64_t)bound_ns);
		row->to_min_ns = known_or_not(info.has_latency_to, info.latency_to_min_ns);
		row->from_min_ns = known_or_not(info.has_latency_from, info.latency_from_min_ns);
		row->to_median_ns = known_or_not(info.has_latency_to, info.latency_to_median_ns);
		row->from_median_ns = known_or_not(info.has_latency_from, info.latency_from_median_ns);
		if (clock_sync_formula(clocks, hosts[i].clock, slope, intercept)) {
			row->slope = strpool_intern_z(slope);
			row->intercept = strpool_intern_z(intercept);
		}
	}
}

/* ---- matches ---- */

struct match_row {
	uint64_t uid, host;
	uint64_t to; /* index of the host */
	uint64_t flow; /* strid */
	uint64_t sent_ns, received_ns, latency_ns, raw_latency_ns;
	uint64_t part, ambiguous, used;
};

static void get_to_host(const struct view_cell *at, struct value *v)
{
	value_set_text(v, at->rows->hosts[at->row->row.b[CELL(match, to)]].name);
}

#define MATCH_FLAG(name, header, meaning) \
	{ #name, header, meaning, COLUMN_FLAG, 4, REPORTED, CELL(match, name), view_get_flag }

static const struct column matches_columns[] = {
	{ "from_host", "FROM", "Host that sent it.", COLUMN_TEXT, 10, REPORTED, 0, view_get_host },
	{ "to_host", "TO", "Host that received it.", COLUMN_TEXT, 10, REPORTED, CELL(match, to), get_to_host },
	{ "flow", "FLOW", "Addresses and ports: sender > receiver, as sent.", COLUMN_TEXT, 36, REPORTED,
	  CELL(match, flow), view_get_text },
	{ "sent_ns", "SENT", "When it was handed to the sender's device.", COLUMN_TIME, 18, REPORTED,
	  CELL(match, sent_ns), view_get_signed },
	{ "received_ns", "RECEIVED", "When the receiver's device handed it over.", COLUMN_TIME, 18, REPORTED,
	  CELL(match, received_ns), view_get_signed },
	{ "latency_ns", "LATENCY", "From the one to the other.", COLUMN_NS, 9, REPORTED, CELL(match, latency_ns),
	  view_get_int },
	{ "raw_latency_ns", "RAW LATENCY", "The same by the hosts' own clocks.", COLUMN_NS, 9, REPORTED,
	  CELL(match, raw_latency_ns), view_get_int },
	MATCH_FLAG(part, "PART", "Whether it was split or merged on the way."),
	MATCH_FLAG(ambiguous, "AMBIGUOUS", "Whether it was seen more than once: retransmitted, on several interfaces."),
	MATCH_FLAG(used, "USED", "Whether the clocks rest on it."),
};

const struct view_table view_matches_table = {
	.name = "matches",
	.title = "Matches",
	.row = "a packet",
	.meaning = "The packets that were seen on both their ends, in the order of sending.",
	.flags = VIEW_REPORT | VIEW_OWN | VIEW_ALL_ROWS,
	.source = TABLES,
	.needs = NEED_NET,
	N_COLUMNS(matches_columns),
	.screen = "from_host to_host flow sent_ns latency_ns raw_latency_ns ambiguous",
	.sort = "sent_ns",
};

static void append_end(GString *text, bool v6, const uint64_t addr[2], uint64_t port)
{
	char buf[INET6_ADDRSTRLEN];

	if (!inet_ntop(v6 ? AF_INET6 : AF_INET, addr, buf, sizeof(buf)))
		buf[0] = '\0';
	g_string_append_printf(text, v6 ? "[%s]:%u" : "%s:%u", buf, (unsigned)port);
}

struct view_match view_match_of(const struct clock_match *match)
{
	const struct clock_packet *packet = &match->packet;
	struct view_match out = {
		.sent_ns = match->sent_ns,
		.received_ns = match->received_ns,
		.from = (uint16_t)match->from,
		.to = (uint16_t)match->to,
		.part = match->part,
		.ambiguous = match->ambiguous,
		.used = match->used,
	};
	GString *flow;

	if (packet->ip_version) {
		flow = g_string_new(NULL);
		append_end(flow, packet->ip_version == 6, packet->saddr, packet->sport);
		g_string_append_c(flow, '>');
		append_end(flow, packet->ip_version == 6, packet->daddr, packet->dport);
		out.flow = strpool_intern_path(flow->str, flow->len);
		g_string_free(flow, TRUE);
	}
	return out;
}

static const struct view_host *host_of_clock(const struct view_host *hosts, unsigned n_hosts, unsigned clock)
{
	for (unsigned i = 0; i < n_hosts; i++)
		if (hosts[i].clock == clock)
			return &hosts[i];
	return NULL;
}

static int compare_sent(gconstpointer pa, gconstpointer pb)
{
	const struct match_row *a = *(const struct match_row *const *)pa, *b = *(const struct match_row *const *)pb;

	return a->sent_ns != b->sent_ns ? (a->sent_ns > b->sent_ns) - (a->sent_ns < b->sent_ns) :
					  (a->uid > b->uid) - (a->uid < b->uid);
}

void view_own_matches(struct view_own *own, const GArray *matches, const struct view_filter *filter, uint64_t begin_ns,
		      uint64_t end_ns, const struct view_host *hosts, unsigned n_hosts)
{
	for (guint i = 0; i < matches->len; i++) {
		const struct view_match *m = &g_array_index(matches, struct view_match, i);
		const struct view_host *from = host_of_clock(hosts, n_hosts, m->from);
		const struct view_host *to = host_of_clock(hosts, n_hosts, m->to);
		uint64_t sent_ns = from ? clock_to_ref(from->map, m->sent_ns) : 0;
		struct match_row *row;

		if (!from || !to || sent_ns < begin_ns || sent_ns >= end_ns ||
		    (!view_filter_host(filter, from->name) && !view_filter_host(filter, to->name)))
			continue;
		row = view_own_add(own, sizeof(*row), (unsigned)(from - hosts));
		row->to = (uint64_t)(to - hosts);
		row->flow = m->flow;
		row->sent_ns = sent_ns;
		row->received_ns = clock_to_ref(to->map, m->received_ns);
		row->latency_ns = row->received_ns - row->sent_ns;
		row->raw_latency_ns = m->received_ns - m->sent_ns;
		row->part = m->part;
		row->ambiguous = m->ambiguous;
		row->used = m->used;
	}
	g_ptr_array_sort(own->rows, compare_sent);
}
