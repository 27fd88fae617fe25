/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_COMPAT_H
#define LT_CLOCK_COMPAT_H

#include "clock/decimal.h"
#include "clock/formula.h"
#include "clock/match.h"

/*
 * Packets and clocks as Trace Compass treats them, to the last digit, only to be compared with it. Its
 * tables are without bound, its hull covers the whole trace. Main thread only.
 */

/* ---- matching (tmf.core, TmfEventMatching) ---- */

/* TCP only: sequence number, acknowledgement and all flags; no addresses. */
struct compat_key {
	uint64_t numbers;
	uint64_t flags;
};

/* False: Trace Compass does not match such a packet. */
bool compat_key_of_packet(const struct clock_packet *packet, struct compat_key *key);

typedef void compat_match_fn(void *data, const struct match_end *from, const struct match_end *to);

/*
 * One for each class of keys. Hosts are 0 … n_hosts - 1, and must be known
 * beforehand: what is cleaned up depends on how many there are. Fed in the order of time over all hosts.
 */
struct compat_matcher;
struct compat_matcher *compat_matcher_create(unsigned n_hosts, compat_match_fn *fn, void *data);
void compat_matcher_destroy(struct compat_matcher *m);
void compat_matcher_feed(struct compat_matcher *m, unsigned host, uint64_t ts_ns, bool sent,
			 const struct compat_key *key, const uint64_t cookie[2]);
unsigned compat_matcher_waiting(const struct compat_matcher *m, unsigned host, bool sent);

/* ---- synchronisation of two hosts (tmf.core, SyncAlgorithmFullyIncremental) ---- */

enum compat_quality { COMPAT_ABSENT, COMPAT_INCOMPLETE, COMPAT_APPROXIMATE, COMPAT_ACCURATE, COMPAT_FAIL };

/*
 * other's time = alpha * reference's time + beta, from all messages so far. Products of
 * coordinates wrap at 64 bits, as its do; after a failure the last good line is kept.
 */
struct compat_hull;
struct compat_hull *compat_hull_create(void);
void compat_hull_destroy(struct compat_hull *h);

/* A message; to_reference: sent by the other host, received by the reference. */
void compat_hull_add(struct compat_hull *h, bool to_reference, int64_t sent_ns, int64_t received_ns);

struct compat_line {
	enum compat_quality quality;
	const struct decimal *alpha, *beta; /* of the hull, until it is added to */
	unsigned matches, accurate;         /* messages, and those that moved the line */
	unsigned upper_points, lower_points;
};

struct compat_line compat_hull_line(const struct compat_hull *h);

/* From the other's time to the reference's; NULL: no line. The caller destroys it. */
struct clock_formula *compat_hull_formula(const struct compat_hull *h);

#endif
