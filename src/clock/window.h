/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_WINDOW_H
#define LT_CLOCK_WINDOW_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/pack.h"

/*
 * Bounds the difference of two clocks by the messages between them, with certainty: x is the time of clock a, d(x) is
 * clock b's time minus x.
 *
 *   d                 ╷  a → b: sent at x, received at b, d is not above
 *   │   ╷    ╷     ╷  ▼
 *   │   ▼    ▼ ────▼───── hi(x)
 *   │  ═══════════════════ every line between them with a slope within rho may be the truth
 *   │     ▲ ─────▲──────── lo(x)
 *   │     ╵  ▲   ╵  b → a: received at x, sent at b, d is not below
 *   └────────╵──────────── x
 *
 * Messages are kept in buckets of a second, or more if there are too many of them, each reduced to the hulls of both
 * kinds. A frequency is not constant (temperature, NTP): a point is widened by `wander` times its distance from the
 * time in question. Arithmetic is exact (128 bits), results are rounded outwards. After Duda et al., "Estimating global
 * time in distributed systems", ICDCS 1987.
 */
struct clock_window;

/* Both in parts per billion. */
struct clock_window *clock_window_create(uint32_t rho_ppb, uint32_t wander_ppb);
void clock_window_destroy(struct clock_window *w);

/*
 * Adds a message. from_a: sent by a at x, received by b at x + d; else sent by b at x + d, received by a at x. In any
 * order. Returns false for points more than 36 years from the first, which are ignored.
 */
bool clock_window_add(struct clock_window *w, bool from_a, uint64_t x_ns, int64_t d_ns);

/* Drops the oldest buckets until at most n are left. */
void clock_window_trim(struct clock_window *w, unsigned n);

/*
 * Doubles the length of the buckets until at most n are left, n > 1. Bounds remain true, but may be wider: messages
 * that matter only close to their own time are lost.
 */
void clock_window_coarsen(struct clock_window *w, unsigned n);

/* Times of the first and last message; false: there are no messages. */
bool clock_window_span(const struct clock_window *w, uint64_t *first_ns, uint64_t *last_ns);

enum clock_window_result {
	WINDOW_EMPTY,      /* no message, or in one direction only */
	WINDOW_INFEASIBLE, /* no line fits */
	WINDOW_BOUND,
};

struct clock_bound {
	int64_t lo_ns, hi_ns;               /* of d at the given time */
	double slope_least, slope_greatest; /* of the lines that fit */
	bool both_ways;                     /* the slope is limited on both sides by messages, not only by rho */
};

/* Bounds d(at_ns) by the messages with x in [from_ns, to_ns], rounded outwards to buckets. */
enum clock_window_result clock_window_solve(struct clock_window *w, uint64_t from_ns, uint64_t to_ns, uint64_t at_ns,
					    struct clock_bound *out);

/* A time in which neither clock jumped. */
struct clock_stretch {
	uint64_t first_ns, last_ns; /* of its messages; 0, UINT64_MAX: there are none before, none after it */
	struct clock_window *window;
};

/*
 * Splits the messages where a clock jumped: where the difference of the clocks changed by more than rho and the wander
 * permit between two messages. Returns the stretches of LEAST_STRETCH_NS or longer, in order of time: struct
 * clock_stretch, with windows of their own, freed with the array; NULL: there was no jump.
 */
GArray *clock_window_split(const struct clock_window *w);

/* Messages as bytes, and back into an empty window with the same bounds. */
void clock_window_pack(const struct clock_window *w, GByteArray *out);
void clock_window_unpack(struct clock_window *w, struct unpack *in);

#endif
