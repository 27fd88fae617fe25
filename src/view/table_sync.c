/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of the hosts' clocks: sync, matches. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/nstime.h"
#include "view/declare.h"

/* ---- sync ---- */

static const char *state_name(unsigned i)
{
	return i < CLOCK_STATES ? clock_state_name((enum clock_state)i) : NULL;
}

#define SYNC_CELLS(C, A, D)                                                                                           \
	C(host, KEY, HOST, "Host that the row belongs to")                                                            \
	C(ref, GAUGE, TEXT,                                                                                           \
	  "Host whose clock is its reference; null if none can be derived from packets or, live, from arrival times") \
	C(state, GAUGE, TEXT,                                                                                         \
	  "State of its clock: reference, absent (no packets exchanged), incomplete (packets in one direction "       \
	  "only), approximate (no bound, or --offset for it or a host on the way), accurate, failed (no plausible "   \
	  "drift fits the packets, at the end of the interval: a clock jumped)")                                      \
	C(matched, GAUGE, COUNT, "Packets between it and the next host on the way to the reference")                  \
	C(used, GAUGE, COUNT, "Packets used for the estimate")                                                        \
	C(offset_ns, GAUGE, SPAN,                                                                                     \
	  "Offset to add to this host's clock to get reference time, at the end of the interval")                     \
	C(drift_ppm, GAUGE, PPM,                                                                                      \
	  "Drift: how much faster its clock runs than the reference. It is an estimate, even where the offset is "    \
	  "accurate: in a short recording, its sign may be wrong")                                                    \
	C(bound_ns, GAUGE, SPAN, "Upper bound of the error of the offset; null if unknown, and where a clock jumped") \
	C(latency_to_min_ns, GAUGE, SPAN, "Shortest latency of packets sent to that next host")                       \
	C(latency_from_min_ns, GAUGE, SPAN, "Shortest latency of packets received from it")                           \
	C(latency_to_median_ns, GAUGE, SPAN, "Median latency of packets sent to it")                                  \
	C(latency_from_median_ns, GAUGE, SPAN, "Median latency of packets received from it")                          \
	C(negative, GAUGE, COUNT, "Packets received before they were sent, by the corrected clocks")                  \
	C(reason, GAUGE, TEXT,                                                                                        \
	  "Why its clock is absent, incomplete or without a bound; live, also whether the offset is estimated from "  \
	  "arrival times")

OWN_ROW(sync, SYNC_CELLS);

static const struct column sync_columns[] = {
	COLUMN(sync, host, "HOST", 10, REPORTED),
	COLUMN(sync, ref, "REF", 10, REPORTED),
	COLUMN(sync, state, "STATE", 11, REPORTED),
	COLUMN(sync, matched, "MATCHED", 8, REPORTED),
	COLUMN(sync, used, "USED", 8, REPORTED),
	COLUMN(sync, offset_ns, "OFFSET", 9, REPORTED),
	COLUMN(sync, drift_ppm, "DRIFT ppm", 9, REPORTED),
	COLUMN(sync, bound_ns, "BOUND", 9, REPORTED),
	COLUMN(sync, latency_to_min_ns, "MIN TO", 9, REPORTED),
	COLUMN(sync, latency_from_min_ns, "MIN FROM", 9, REPORTED),
	COLUMN(sync, latency_to_median_ns, "MEDIAN TO", 9, REPORTED),
	COLUMN(sync, latency_from_median_ns, "MEDIAN FROM", 9, REPORTED),
	COLUMN(sync, negative, "NEGATIVE", 8, REPORTED),
	COLUMN(sync, reason, "REASON", 12, REPORTED),
};

static view_collect_fn collect_clocks;

const struct view_table view_sync_table = {
	.name = "sync",
	.title = "Clocks",
	.row = "a host",
	.meaning = "Offsets between the hosts' clocks, from the packets they exchange.",
	.flags = VIEW_REPORT | VIEW_ALL_ROWS | VIEW_UNLIKE,
	.source = TABLES,
	.needs = NEED_NET,
	N_COLUMNS(sync_columns),
	.screen = "host ref state matched used offset_ns drift_ppm bound_ns latency_to_min_ns latency_from_min_ns "
		  "negative reason",
	.sort = "host",
	.state_name = state_name,
	.supply = { VIEW_CLOCKS, false, collect_clocks },
};

/* NULL: there is none, as with a clock below 0. */
static const char *name_of_clock(const struct view_host *hosts, unsigned n_hosts, int clock)
{
	for (unsigned i = 0; i < n_hosts && clock >= 0; i++)
		if (hosts[i].clock == (unsigned)clock)
			return hosts[i].name;
	return NULL;
}

static uint64_t known_or_not(bool known, int64_t value)
{
	return (uint64_t)(known ? value : CELL_UNKNOWN);
}

static uint64_t ppm_cell(double ppm)
{
	uint64_t cell;

	memcpy(&cell, &ppm, sizeof(cell));
	return cell;
}

static strid reason_of(const struct clock_host_info *info)
{
	const char *why = clock_obstacle_text(info->obstacle);
	char text[160];

	if (!info->by_arrival || info->ref < 0)
		return strpool_intern_z(why);
	g_snprintf(text, sizeof(text), "by arrival, within %" PRIu64 " ms%s%s", info->arrival_half_ns / NS_PER_MS,
		   why ? ": " : "", why ? why : "");
	return strpool_intern_z(text);
}

/* One row per host that is shown. */
static void collect_clocks(struct view_derived *derived, const struct view_sources *from)
{
	const struct clock_sync *clocks = from->clocks;
	const struct view_host *hosts = from->hosts;
	const unsigned n_hosts = from->n_hosts;

	for (unsigned i = 0; clocks && i < n_hosts; i++) {
		struct clock_host_info info;
		struct sync_row *row;
		uint64_t host_ns;

		if (hosts[i].clock == UINT_MAX || hosts[i].gone)
			continue;
		host_ns = clock_from_ref(clock_sync_map(clocks, hosts[i].clock), from->end_ns);
		info = clock_sync_info_at(clocks, hosts[i].clock, host_ns);
		row = view_derived_add(derived, sizeof(*row), i);
		row->ref = strpool_intern_z(name_of_clock(hosts, n_hosts, info.ref));
		row->state = strpool_intern_z(clock_state_name(info.state));
		row->reason = reason_of(&info);
		row->matched = info.matched;
		row->used = info.used;
		row->negative = info.negative;
		row->offset_ns = known_or_not(info.ref >= 0, clock_sync_offset(clocks, hosts[i].clock, host_ns));
		row->drift_ppm = ppm_cell(info.ref >= 0 ? info.drift_ppm : NAN);
		row->bound_ns = known_or_not(info.has_bound, (int64_t)info.bound_ns);
		row->latency_to_min_ns = known_or_not(info.has_latency_to, info.latency_to_min_ns);
		row->latency_from_min_ns = known_or_not(info.has_latency_from, info.latency_from_min_ns);
		row->latency_to_median_ns = known_or_not(info.has_latency_to, info.latency_to_median_ns);
		row->latency_from_median_ns = known_or_not(info.has_latency_from, info.latency_from_median_ns);
	}
}

/* ---- matches ---- */

#define MATCH_CELLS(C, A, D)                                                                                   \
	C(host, KEY, HOST, "Host that sent it")                                                                \
	C(to_host, KEY, HOST, "Host that received it")                                                         \
	C(flow, KEY, TEXT,                                                                                     \
	  "Addresses and ports: sender > receiver, as sent; the ports of a datagram's later fragments are 0")  \
	C(sent_ns, KEY, REF_TIME, "Time at which it was passed to the sender's device")                        \
	C(received_ns, KEY, REF_TIME, "Time at which the receiver's device delivered it")                      \
	C(latency_ns, KEY, SPAN, "Time from sending to reception, by the corrected clocks")                    \
	C(raw_latency_ns, KEY, SPAN, "Time from sending to reception, by the hosts' own clocks")               \
	C(part, KEY, FLAG, "Whether it was split or merged on the way")                                        \
	C(ambiguous, KEY, FLAG, "Whether it was seen more than once: retransmitted, or on several interfaces") \
	C(used, KEY, FLAG, "Whether it was used for the clocks")

OWN_ROW(match, MATCH_CELLS);

static const struct column matches_columns[] = {
	COLUMN_AS("from_host", match, host, "FROM", 10, REPORTED),
	COLUMN(match, to_host, "TO", 10, REPORTED),
	COLUMN(match, flow, "FLOW", 36, REPORTED),
	COLUMN(match, sent_ns, "SENT", 18, REPORTED),
	COLUMN(match, received_ns, "RECEIVED", 18, REPORTED),
	COLUMN(match, latency_ns, "LATENCY", 9, REPORTED),
	COLUMN(match, raw_latency_ns, "RAW LATENCY", 9, REPORTED),
	COLUMN(match, part, "PART", 4, REPORTED),
	COLUMN(match, ambiguous, "AMBIGUOUS", 4, REPORTED),
	COLUMN(match, used, "USED", 4, REPORTED),
};

static view_collect_fn collect_matches;

const struct view_table view_matches_table = {
	.name = "matches",
	.title = "Matches",
	.row = "a packet",
	.meaning =
		"Packets seen by both sender and receiver, in sending order. UDP datagrams without an IPv4 ID may be "
		"left out if several have the same addresses, ports and length.",
	.flags = VIEW_REPORT | VIEW_ALL_ROWS,
	.source = TABLES,
	.needs = NEED_NET,
	N_COLUMNS(matches_columns),
	.screen = "from_host to_host flow sent_ns latency_ns raw_latency_ns ambiguous",
	.sort = "sent_ns",
	.supply = { VIEW_MATCHES, true, collect_matches },
	OWN_CELLS(match),
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

	return a->sent_ns != b->sent_ns ? (a->sent_ns > b->sent_ns) - (a->sent_ns < b->sent_ns)
					: (a->uid > b->uid) - (a->uid < b->uid);
}

/* One row per packet between two hosts, at least one of which passes the filter; in sending order. */
static void collect_matches(struct view_derived *derived, const struct view_sources *sources)
{
	const struct view_host *hosts = sources->hosts;
	const unsigned n_hosts = sources->n_hosts;

	for (guint i = 0; i < sources->matches->len; i++) {
		const struct view_match *m = &g_array_index(sources->matches, struct view_match, i);
		const struct view_host *from = host_of_clock(hosts, n_hosts, m->from);
		const struct view_host *to = host_of_clock(hosts, n_hosts, m->to);
		uint64_t sent_ns = from ? clock_to_ref(from->map, m->sent_ns) : 0;
		struct match_row *row;

		if (!from || !to || sent_ns < sources->begin_ns || sent_ns >= sources->end_ns ||
		    (!view_filter_host(sources->filter, from->name) && !view_filter_host(sources->filter, to->name)))
			continue;
		row = view_derived_add(derived, sizeof(*row), (unsigned)(from - hosts));
		row->to_host = (uint64_t)(to - hosts);
		row->flow = m->flow;
		row->sent_ns = sent_ns;
		row->received_ns = clock_to_ref(to->map, m->received_ns);
		row->latency_ns = row->received_ns - row->sent_ns;
		row->raw_latency_ns = m->received_ns - m->sent_ns;
		row->part = m->part;
		row->ambiguous = m->ambiguous;
		row->used = m->used;
	}
	g_ptr_array_sort(derived->rows, compare_sent);
}
