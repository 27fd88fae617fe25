/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_WINDOW_H
#define LT_CLOCK_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pack.h"

/*
 * The difference of two clocks from the messages between them, with a bound that
 * is certain: x is the time of clock a, d(x) what clock b shows more than it.
 *
 *   d                 ╷  L: a → b, sent at x, received at b: d is not above
 *   │   ╷    ╷     ╷  ▼
 *   │   ▼    ▼ ────▼───── hi(x)
 *   │  ═══════════════════ every line between them, of a slope within rho, may be the truth
 *   │     ▲ ─────▲──────── lo(x)
 *   │     ╵  ▲   ╵  U: b → a, received at x, sent at b: d is not below
 *   └────────╵──────────── x
 *
 * Messages are kept per bucket of BUCKET_NS, of each bucket only the hull of
 * either kind. A frequency is not constant (temperature, NTP): a point counts as less certain by
 * `wander` times its distance from the time that is asked for. Arithmetic is exact (128 bits),
 * results are rounded outwards. After Duda et al., "Estimating global time in distributed systems", ICDCS 1987.
 */
struct clock_window;

/* Both in 10^-9. */
struct clock_window *clock_window_create(uint32_t rho_ppb, uint32_t wander_ppb);
void clock_window_destroy(struct clock_window *w);

/*
 * A message: from_a: sent by a at x, received by b when b showed x + d; else sent by b at x + d, received by
 * a at x. In any order. Points more than 36 years from the first are refused (false).
 */
bool clock_window_add(struct clock_window *w, bool from_a, uint64_t x_ns, int64_t d_ns);

/* Drops the oldest until at most n buckets are left. */
void clock_window_trim(struct clock_window *w, unsigned n);

/* Times of the first and last message; false: there is none. */
bool clock_window_span(const struct clock_window *w, uint64_t *first_ns, uint64_t *last_ns);

enum clock_window_result {
	WINDOW_EMPTY,      /* no message, or in one direction only */
	WINDOW_INFEASIBLE, /* no line fits */
	WINDOW_BOUND,
};

struct clock_bound {
	int64_t lo_ns, hi_ns;               /* of d at the time asked for */
	double slope_least, slope_greatest; /* of the lines that fit */
	bool both_ways;                     /* messages, not rho alone, limit the slope on both sides */
};

/* What the messages with x in [from_ns, to_ns], rounded to buckets outwards, say of d(at_ns). */
enum clock_window_result clock_window_solve(struct clock_window *w, uint64_t from_ns, uint64_t to_ns, uint64_t at_ns,
					    struct clock_bound *out);

/* Its messages as bytes; and back, into an empty one of the same bounds. */
void clock_window_pack(const struct clock_window *w, GByteArray *out);
void clock_window_unpack(struct clock_window *w, struct unpack *in);

#endif
